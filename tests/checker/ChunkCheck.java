package frazil.checker;

import java.io.ByteArrayInputStream;
import java.io.RandomAccessFile;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.apache.parquet.column.ColumnReader;
import org.apache.parquet.format.BoundaryOrder;
import org.apache.parquet.format.ColumnChunk;
import org.apache.parquet.format.ColumnIndex;
import org.apache.parquet.format.ColumnMetaData;
import org.apache.parquet.format.OffsetIndex;
import org.apache.parquet.format.PageHeader;
import org.apache.parquet.format.PageLocation;
import org.apache.parquet.format.Statistics;
import org.apache.parquet.format.Util;

/** One column chunk: reads each value, then compares statistics and page index with what was read. */
final class ChunkCheck {
  private static final int MAX_STATISTICS_BYTES = 4096; // Arrow leaves longer ones out

  private final Report report;
  private final Leaf leaf;
  private final String where;
  private final RandomAccessFile file;
  private final ColumnChunk chunk;
  private final ColumnMetaData meta;
  private final long rows;

  ChunkCheck(Report report, Leaf leaf, String where, RandomAccessFile file, ColumnChunk chunk, long rows) {
    this.report = report;
    this.leaf = leaf;
    this.where = where + " column " + leaf.path;
    this.file = file;
    this.chunk = chunk;
    this.meta = chunk.getMeta_data();
    this.rows = rows;
  }

  /** Hands each value (null for null) to eachValue. */
  void check(ColumnReader reader, Consumer<Object> eachValue) throws Exception {
    OffsetIndex offsets = chunk.isSetOffset_index_offset()
        ? Util.readOffsetIndex(slice(chunk.getOffset_index_offset(), chunk.getOffset_index_length())) : null;
    if (offsets != null) {
      checkLocations(offsets);
    }
    List<LeafStats> pages = read(reader, offsets, eachValue);
    LeafStats all = new LeafStats();
    pages.forEach(all::merge);
    report.expectEqual(meta.getNum_values(), all.entries, "PARQUET_COUNTS", where, "num_values");
    checkStatistics(all);
    for (int i = 0; offsets != null && i < offsets.getPage_locationsSize(); i++) {
      checkPageHeader(offsets.getPage_locations().get(i), pages.get(i), where + " page " + i);
    }
    if (chunk.isSetColumn_index_offset()) {
      report.expect(offsets != null, "PARQUET_PAGE_INDEX", where, "column index without offset index");
      ColumnIndex index = Util.readColumnIndex(slice(chunk.getColumn_index_offset(), chunk.getColumn_index_length()));
      checkColumnIndex(index, pages);
    }
    leaf.stats.merge(all);
    leaf.compressedBytes += meta.getTotal_compressed_size();
    report.count("values", all.entries);
  }

  /** Values by page; one page stands for all when there is no offset index. */
  private List<LeafStats> read(ColumnReader reader, OffsetIndex offsets, Consumer<Object> eachValue) {
    int pageCount = offsets == null ? 1 : Math.max(1, offsets.getPage_locationsSize());
    List<LeafStats> pages = new ArrayList<>();
    for (int i = 0; i < pageCount; i++) {
      pages.add(new LeafStats());
    }
    int maxLevel = leaf.descriptor.getMaxDefinitionLevel();
    long row = -1;
    int page = 0;
    for (long i = 0, n = reader.getTotalValueCount(); i < n; i++, reader.consume()) {
      row += reader.getCurrentRepetitionLevel() == 0 ? 1 : 0;
      while (page + 1 < pageCount && row >= offsets.getPage_locations().get(page + 1).getFirst_row_index()) {
        page++;
      }
      Object value = reader.getCurrentDefinitionLevel() == maxLevel ? leaf.current(reader) : null;
      if (value == null) {
        pages.get(page).addNull();
      } else {
        pages.get(page).add(value);
      }
      eachValue.accept(value);
    }
    report.expectEqual(rows, row + 1, "PARQUET_COUNTS", where, "num_rows of the row group");
    return pages;
  }

  private void checkStatistics(LeafStats all) {
    Statistics s = meta.getStatistics();
    if (s == null) {
      report.expectOfOwnWriter(!leaf.isOrdered(), "PARQUET_STATISTICS", where, "no statistics");
      return;
    }
    report.expectOfOwnWriter(s.isSetNull_count(), "PARQUET_STATISTICS", where, "no null_count");
    if (s.isSetNull_count()) {
      report.expectEqual(s.getNull_count(), all.nulls, "PARQUET_STATISTICS", where, "null_count");
    }
    boolean unsigned = leaf.isOrdered() && (all.min instanceof byte[]);
    report.expect(!unsigned || (!s.isSetMin() && !s.isSetMax()) || sameAsOrdered(s), "PARQUET_STATISTICS", where,
        "deprecated min and max are set on a type of unsigned order");
    boolean minExact = !leaf.isVariable() || !s.isSetIs_min_value_exact() || s.isIs_min_value_exact();
    boolean maxExact = !leaf.isVariable() || !s.isSetIs_max_value_exact() || s.isIs_max_value_exact();
    checkExtreme(s.isSetMin_value() ? s.getMin_value() : null, all.min, true, minExact, "PARQUET_STATISTICS", "min_value");
    checkExtreme(s.isSetMax_value() ? s.getMax_value() : null, all.max, false, maxExact, "PARQUET_STATISTICS", "max_value");
  }

  /** Foreign writers may set the deprecated fields to the same bytes. */
  private boolean sameAsOrdered(Statistics s) {
    return !report.ownWriter && java.util.Arrays.equals(s.getMin(), s.getMin_value());
  }

  private void checkExtreme(byte[] found, Object real, boolean isMin, boolean mustBeExact, String code, String what) {
    if (found == null) {
      boolean mayMiss = real == null || !leaf.isOrdered()
          || (real instanceof byte[] && ((byte[]) real).length > MAX_STATISTICS_BYTES);
      report.expectOfOwnWriter(mayMiss, code, where, what + " is missing");
      return;
    }
    Object value = leaf.fromStatistics(found);
    if (!report.expect(value != null, code, where, what + " has a wrong length: " + found.length)) {
      return;
    }
    report.expect(!(value instanceof Double && ((Double) value).isNaN()), code, where, what + " is NaN");
    if (real == null) {
      report.expect(false, code, where, what + " is set, yet there is no value");
      return;
    }
    int order = Values.compare(value, real);
    report.expect(isMin ? order <= 0 : order >= 0, code, where,
        what + " " + Values.show(value) + " does not cover " + Values.show(real));
    report.expect(!mustBeExact || Values.same(value, real), code, where,
        what + " " + Values.show(value) + " is not exact, is " + Values.show(real));
    if (value instanceof Double && (Double) value == 0) {
      report.expect((Double.compare((Double) value, 0.0) < 0) == isMin, code, where, what + ": the zero has the wrong sign");
    }
  }

  /** Before the values are read: readers break on what is wrong here. */
  private void checkLocations(OffsetIndex offsets) {
    List<PageLocation> locations = offsets.getPage_locations();
    long begin = meta.isSetDictionary_page_offset() && meta.getDictionary_page_offset() > 0
        ? Math.min(meta.getDictionary_page_offset(), meta.getData_page_offset()) : meta.getData_page_offset();
    long end = begin + meta.getTotal_compressed_size();
    long next = 0;
    for (int i = 0; i < locations.size(); i++) {
      PageLocation at = locations.get(i);
      String page = where + " page " + i;
      report.expect(i == 0 ? at.getFirst_row_index() == 0 : at.getFirst_row_index() > locations.get(i - 1).getFirst_row_index(),
          "PARQUET_PAGE_INDEX", page, "first_row_index is " + at.getFirst_row_index());
      report.expect(at.getOffset() >= begin && at.getOffset() >= next && at.getOffset() + at.getCompressed_page_size() <= end,
          "PARQUET_PAGE_INDEX", page, "its place is outside the column chunk or out of order");
      next = at.getOffset() + at.getCompressed_page_size();
    }
    report.count("pages", locations.size());
  }

  private void checkPageHeader(PageLocation at, LeafStats stats, String page) throws Exception {
    if (at.getOffset() < 0 || at.getOffset() + at.getCompressed_page_size() > file.length()) {
      return; // its place has been found wrong already
    }
    ByteArrayInputStream in = slice(at.getOffset(), at.getCompressed_page_size());
    PageHeader header = Util.readPageHeader(in);
    report.expectEqual(in.available(), header.getCompressed_page_size(), "PARQUET_PAGE_INDEX", page, "compressed_page_size");
    long values = header.isSetData_page_header_v2() ? header.getData_page_header_v2().getNum_values()
        : header.isSetData_page_header() ? header.getData_page_header().getNum_values() : -1;
    report.expectEqual(values, stats.entries, "PARQUET_PAGE_INDEX", page, "num_values, by first_row_index,");
  }

  private void checkColumnIndex(ColumnIndex index, List<LeafStats> pages) {
    if (!report.expect(index.getNull_pagesSize() == pages.size(), "PARQUET_PAGE_INDEX", where,
        "column index has " + index.getNull_pagesSize() + " pages of " + pages.size())) {
      return;
    }
    Object[] before = null;
    for (int i = 0; i < pages.size(); i++) {
      LeafStats page = pages.get(i);
      boolean isNull = index.getNull_pages().get(i);
      String what = "page " + i;
      report.expect(isNull == (page.entries == page.nulls), "PARQUET_PAGE_INDEX", where, what + ": null_pages is " + isNull);
      if (index.isSetNull_counts()) {
        report.expectEqual(index.getNull_counts().get(i), page.nulls, "PARQUET_PAGE_INDEX", where, what + " null_count");
      }
      if (isNull || page.min == null) {
        continue;
      }
      byte[] min = Values.bytes(index.getMin_values().get(i));
      byte[] max = Values.bytes(index.getMax_values().get(i));
      checkExtreme(min, page.min, true, !leaf.isVariable(), "PARQUET_PAGE_INDEX", what + " min");
      checkExtreme(max, page.max, false, !leaf.isVariable(), "PARQUET_PAGE_INDEX", what + " max");
      Object[] now = {leaf.fromStatistics(min), leaf.fromStatistics(max)};
      checkOrder(index.getBoundary_order(), before, now, what);
      before = now;
    }
  }

  private void checkOrder(BoundaryOrder order, Object[] before, Object[] now, String what) {
    if (before == null || order == BoundaryOrder.UNORDERED || now[0] == null || now[1] == null || before[0] == null || before[1] == null) {
      return;
    }
    int sign = order == BoundaryOrder.ASCENDING ? 1 : -1;
    report.expect(sign * Values.compare(now[0], before[0]) >= 0 && sign * Values.compare(now[1], before[1]) >= 0,
        "PARQUET_PAGE_INDEX", where, what + " breaks boundary_order " + order);
  }

  private ByteArrayInputStream slice(long offset, int length) throws Exception {
    byte[] bytes = new byte[length];
    file.seek(offset);
    file.readFully(bytes);
    return new ByteArrayInputStream(bytes);
  }
}
