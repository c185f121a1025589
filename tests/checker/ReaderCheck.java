package frazil.checker;

import java.nio.ByteBuffer;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.util.Comparator;
import org.apache.iceberg.Table;
import org.apache.iceberg.data.IcebergGenerics;
import org.apache.iceberg.data.Record;
import org.apache.iceberg.expressions.Expression;
import org.apache.iceberg.expressions.Expressions;
import org.apache.iceberg.io.CloseableIterable;
import org.apache.iceberg.types.Comparators;
import org.apache.iceberg.types.Type;
import org.apache.iceberg.types.Types;
import org.apache.iceberg.util.DateTimeUtil;

/** The table as iceberg-java reads it: all rows, and the rows at each column's extremes by a filter. */
final class ReaderCheck {
  private final Report report;
  private final Table table;
  private final String where;

  ReaderCheck(Report report, Table table, String where) {
    this.report = report;
    this.table = table;
    this.where = where;
  }

  /** Compares with the rows that the live entries promise (-1: unknown). */
  void check(long promised, long filterRows) throws Exception {
    if (table.currentSnapshot() == null) {
      return;
    }
    long rows = count(Expressions.alwaysTrue());
    report.expect(promised == -1 || rows == promised, "READ_ROWS", where,
        "iceberg-java reads " + rows + " rows, the entries promise " + promised);
    for (Types.NestedField column : table.schema().columns()) {
      // iceberg-java orders UUIDs as signed numbers, the specification as unsigned: its filters lose rows.
      boolean isFilterable = column.type().isPrimitiveType() && column.type().typeId() != Type.TypeID.UUID;
      if (rows <= filterRows && isFilterable) {
        checkFilters(column);
      }
    }
  }

  private void checkFilters(Types.NestedField column) throws Exception {
    Comparator<Object> order = Comparators.forType(column.type().asPrimitiveType());
    Object min = null;
    Object max = null;
    long atMin = 0;
    long atMax = 0;
    long nulls = 0;
    try (CloseableIterable<Record> rows = IcebergGenerics.read(table).select(column.name()).build()) {
      for (Record row : rows) {
        Object value = literal(column.type(), row.get(0));
        nulls += value == null ? 1 : 0;
        if (value == null || isUnordered(value)) {
          continue;
        }
        int low = min == null ? -1 : order.compare(value, min);
        int high = max == null ? 1 : order.compare(value, max);
        atMin = low < 0 ? 1 : atMin + (low == 0 ? 1 : 0);
        atMax = high > 0 ? 1 : atMax + (high == 0 ? 1 : 0);
        min = low < 0 ? value : min;
        max = high > 0 ? value : max;
      }
    }
    expectFiltered(Expressions.isNull(column.name()), nulls);
    if (min != null) {
      expectFiltered(Expressions.equal(column.name(), min), atMin);
      expectFiltered(Expressions.equal(column.name(), max), atMax);
    }
  }

  private void expectFiltered(Expression filter, long expected) throws Exception {
    report.expectEqual(count(filter), expected, "READ_FILTER", where, "number of rows where " + filter);
    report.count("filters", 1);
  }

  private long count(Expression filter) throws Exception {
    long n = 0;
    try (CloseableIterable<Record> rows = IcebergGenerics.read(table).where(filter).build()) {
      for (Record ignored : rows) {
        n++;
      }
    }
    return n;
  }

  /** NaN has no place in a range; the two zeros are one number but two places. */
  private static boolean isUnordered(Object value) {
    double d = value instanceof Double ? (Double) value : value instanceof Float ? (Float) value : 1;
    return Double.isNaN(d) || d == 0;
  }

  /** A value of the generic reader as filters take it. */
  private static Object literal(Type type, Object value) {
    if (value instanceof LocalDate) {
      return DateTimeUtil.daysFromDate((LocalDate) value);
    }
    if (value instanceof LocalTime) {
      return DateTimeUtil.microsFromTime((LocalTime) value);
    }
    if (value instanceof LocalDateTime) {
      return DateTimeUtil.microsFromTimestamp((LocalDateTime) value);
    }
    if (value instanceof OffsetDateTime) {
      return DateTimeUtil.microsFromTimestamptz((OffsetDateTime) value);
    }
    return value instanceof byte[] ? ByteBuffer.wrap((byte[]) value) : value;
  }
}
