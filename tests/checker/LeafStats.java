package frazil.checker;

/** Counts and extremes of the values of one leaf column in a page, a row group, or a file. */
final class LeafStats {
  /** Entries, nulls of the column and of its parents included. */
  long entries;
  long nulls;
  long nans;
  /** Extremes in the domain of Values, without NaN; null when there is no such value. */
  Object min;
  Object max;

  void addNull() {
    entries++;
    nulls++;
  }

  void add(Object value) {
    entries++;
    if (value instanceof Double && ((Double) value).isNaN()) {
      nans++;
      return;
    }
    if (min == null || Values.compare(value, min) < 0) {
      min = value;
    }
    if (max == null || Values.compare(value, max) > 0) {
      max = value;
    }
  }

  void merge(LeafStats other) {
    entries += other.entries;
    nulls += other.nulls;
    nans += other.nans;
    if (other.min != null && (min == null || Values.compare(other.min, min) < 0)) {
      min = other.min;
    }
    if (other.max != null && (max == null || Values.compare(other.max, max) > 0)) {
      max = other.max;
    }
  }
}
