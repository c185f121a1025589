package frazil.checker;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.iceberg.MetricsConfig;
import org.apache.iceberg.Schema;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.types.Type;
import org.apache.iceberg.util.BinaryUtil;
import org.apache.iceberg.util.UnicodeUtil;

/** What a manifest entry says about the columns of its file, against the values that were read. */
final class MetricsCheck {
  private static final String[] COUNTS = {"column_sizes", "value_counts", "null_value_counts", "nan_value_counts"};

  private final Report report;
  private final FileEntry entry;
  private final String where;
  private final Schema schema;
  private final MetricsConfig modes;
  private final Map<String, Map<Integer, Long>> counts = new HashMap<>();
  private final Map<Integer, ByteBuffer> lower;
  private final Map<Integer, ByteBuffer> upper;

  MetricsCheck(Report report, TableMetadata table, FileEntry entry, Schema schema, String where) {
    this.report = report;
    this.entry = entry;
    this.where = where;
    this.schema = schema;
    this.modes = MetricsConfig.from(table.properties(), schema, table.sortOrder());
    for (String field : COUNTS) {
      counts.put(field, entry.counts(field));
    }
    lower = entry.bounds("lower_bounds");
    upper = entry.bounds("upper_bounds");
  }

  void check(List<Leaf> leaves) {
    Map<Integer, Leaf> byId = new HashMap<>();
    leaves.stream().filter(leaf -> leaf.fieldId >= 0).forEach(leaf -> byId.put(leaf.fieldId, leaf));
    counts.forEach((field, map) -> map.keySet().forEach(id -> expectKnown(byId, id, field)));
    lower.keySet().forEach(id -> expectKnown(byId, id, "lower_bounds"));
    upper.keySet().forEach(id -> expectKnown(byId, id, "upper_bounds"));
    byId.values().stream().filter(leaf -> leaf.type != null).forEach(this::checkLeaf);
  }

  private void expectKnown(Map<Integer, Leaf> byId, int id, String field) {
    boolean isKnown = byId.containsKey(id);
    // A column that the file lacks may be counted as all null by writers that know the schema.
    boolean isAbsentColumn = !report.ownWriter && schema.findField(id) != null;
    report.expect(isKnown || isAbsentColumn, "METRICS_FIELD", where, field + " names field " + id + ", no leaf of the file");
  }

  private void checkLeaf(Leaf leaf) {
    String name = schema.findColumnName(leaf.fieldId);
    String mode = name == null ? "none" : modes.columnMode(name).toString();
    boolean mustCount = !leaf.isRepeated && !mode.equals("none");
    count("column_sizes", leaf, leaf.compressedBytes, mustCount);
    count("value_counts", leaf, leaf.stats.entries, mustCount);
    count("null_value_counts", leaf, leaf.stats.nulls, mustCount);
    count("nan_value_counts", leaf, leaf.stats.nans, mustCount && leaf.isFloating());
    boolean mustBound = mustCount && !mode.equals("counts");
    bound(leaf, lower.get(leaf.fieldId), true, mustBound, mode);
    bound(leaf, upper.get(leaf.fieldId), false, mustBound, mode);
    report.count("columns", 1);
  }

  private void count(String field, Leaf leaf, long recomputed, boolean mustBe) {
    Long found = counts.get(field).get(leaf.fieldId);
    if (found == null) {
      report.expectOfOwnWriter(!mustBe, "METRICS_MISSING", where, field + " of " + leaf.path + " is missing");
    } else {
      report.expectEqual(found, recomputed, "METRICS_COUNT", where, field + " of " + leaf.path);
    }
  }

  private void bound(Leaf leaf, ByteBuffer found, boolean isLower, boolean mustBe, String mode) {
    String what = (isLower ? "lower" : "upper") + " bound of " + leaf.path;
    Object real = isLower ? leaf.stats.min : leaf.stats.max;
    Object tight = real == null ? null : tight(leaf, real, isLower, mode);
    if (found == null) {
      // Without an upper bound that covers the column a lower one is of no use: neither need stand.
      boolean mayMiss = tight == null || tight(leaf, leaf.stats.max, false, mode) == null;
      report.expectOfOwnWriter(!mustBe || mayMiss, "BOUND_MISSING", where, what + " is missing");
      return;
    }
    Object value = Values.fromBound(leaf.type, found);
    if (!report.expect(value != null, "BOUND_ENCODING", where, what + " is not encoded as " + leaf.type)) {
      return;
    }
    report.count("bounds", 1);
    if (value instanceof Double && ((Double) value).isNaN()) {
      report.problem("BOUND_NAN", where, what + " is NaN");
      return;
    }
    if (real == null) {
      report.expect(false, "BOUND_WITHOUT_VALUE", where, what + " stands although there is no value");
      return;
    }
    checkBound(value, real, tight, isLower, what);
  }

  private void checkBound(Object value, Object real, Object tight, boolean isLower, String what) {
    int order = Values.compare(value, real);
    report.expect(isLower ? order <= 0 : order >= 0, isLower ? "BOUND_TOO_HIGH" : "BOUND_TOO_LOW", where,
        what + " " + Values.show(value) + " does not cover " + Values.show(real));
    if (tight == null) {
      return;
    }
    boolean close = isLower ? Values.compare(value, tight) >= 0 || Values.same(value, tight)
        : Values.compare(value, tight) <= 0 || Values.same(value, tight);
    boolean isCut = real instanceof byte[] && !Values.same(real, tight);
    boolean shortEnough = !isCut || ((byte[]) value).length <= ((byte[]) tight).length + 3;
    report.expectOfOwnWriter(close && shortEnough, "BOUND_LOOSE", where,
        what + " " + Values.show(value) + " is not the tight " + Values.show(tight));
  }

  /** The bound that the column's metrics mode asks for; null when no bound can be given. */
  private static Object tight(Leaf leaf, Object real, boolean isLower, String mode) {
    if (!mode.startsWith("truncate(") || !(real instanceof byte[])) {
      return real;
    }
    int length = Integer.parseInt(mode.substring("truncate(".length(), mode.length() - 1));
    byte[] bytes = (byte[]) real;
    if (leaf.type.typeId() == Type.TypeID.STRING) {
      String text = new String(bytes, StandardCharsets.UTF_8);
      String cut = isLower ? UnicodeUtil.truncateStringMin(text, length) : UnicodeUtil.truncateStringMax(text, length);
      return cut == null ? null : cut.getBytes(StandardCharsets.UTF_8);
    }
    if (leaf.type.typeId() == Type.TypeID.BINARY) {
      ByteBuffer whole = ByteBuffer.wrap(bytes);
      ByteBuffer cut = isLower ? BinaryUtil.truncateBinaryMin(whole, length) : BinaryUtil.truncateBinaryMax(whole, length);
      return cut == null ? null : Values.bytes(cut);
    }
    return real;
  }
}
