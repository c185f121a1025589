package frazil.checker;

import java.io.ByteArrayInputStream;
import java.io.RandomAccessFile;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Consumer;
import org.apache.iceberg.PartitionField;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.transforms.Transform;
import org.apache.iceberg.types.Type;
import org.apache.iceberg.util.SerializableFunction;
import org.apache.parquet.column.ColumnDescriptor;
import org.apache.parquet.column.impl.ColumnReadStoreImpl;
import org.apache.parquet.column.page.PageReadStore;
import org.apache.parquet.example.data.simple.convert.GroupRecordConverter;
import org.apache.parquet.format.FileMetaData;
import org.apache.parquet.format.RowGroup;
import org.apache.parquet.format.Util;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.io.LocalInputFile;
import org.apache.parquet.schema.MessageType;

/** One file of a manifest entry, read whole: footer, every value, and what the entry says of them. */
final class DataFileCheck {
  private final Report report;
  private final TableMetadata table;

  DataFileCheck(Report report, TableMetadata table) {
    this.report = report;
    this.table = table;
  }

  void check(FileEntry entry, ManifestCheck manifest) {
    String where = LocalFiles.name(entry.path);
    if (!report.expect(LocalFiles.exists(entry.path), "FILE_MISSING", where, "no such file: " + entry.path)) {
      return;
    }
    try {
      report.expectEqual(entry.bytes, LocalFiles.size(entry.path), "FILE_SIZE", where, "file_size_in_bytes");
      if (entry.format.toUpperCase(Locale.ROOT).equals("PARQUET")) {
        checkParquet(entry, manifest, where);
      } else {
        report.expectOfOwnWriter(false, "FILE_FORMAT", where, "format " + entry.format + " is not checked");
      }
    } catch (Exception | LinkageError e) {
      report.problem("FILE_UNREADABLE", where, e.toString());
    }
    report.count("files", 1);
  }

  private void checkParquet(FileEntry entry, ManifestCheck manifest, String where) throws Exception {
    Path path = LocalFiles.path(entry.path);
    try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "r")) {
      FileMetaData footer = footer(file);
      report.expectEqual(entry.records, footer.getNum_rows(), "RECORD_COUNT", where, "record_count");
      long rows = footer.getRow_groups().stream().mapToLong(RowGroup::getNum_rows).sum();
      report.expectEqual(footer.getNum_rows(), rows, "PARQUET_COUNTS", where, "num_rows of the footer");
      checkSplitOffsets(entry, footer, file.length(), where);
      if (entry.content != 0) {
        return; // a delete file: its columns are not the table's
      }
      try (ParquetFileReader reader = ParquetFileReader.open(new LocalInputFile(path))) {
        MessageType schema = reader.getFileMetaData().getSchema();
        Set<Integer> mistyped = new ParquetLayout(report, table, manifest.schema, where).check(schema);
        checkColumnOrders(footer, schema, where);
        List<Leaf> leaves = leaves(schema, manifest, mistyped);
        checkValues(reader, footer, leaves, new PartitionCheck(report, entry, manifest, where), file, where);
        new MetricsCheck(report, table, entry, manifest.schema, where).check(leaves);
      }
      report.count("rows", rows);
    }
  }

  private static FileMetaData footer(RandomAccessFile file) throws Exception {
    byte[] tail = new byte[8];
    file.seek(file.length() - tail.length);
    file.readFully(tail);
    if (!Arrays.equals(Arrays.copyOfRange(tail, 4, 8), new byte[] {'P', 'A', 'R', '1'})) {
      throw new IllegalStateException("no Parquet magic at the end");
    }
    int length = Integer.reverseBytes(java.nio.ByteBuffer.wrap(tail).getInt());
    byte[] footer = new byte[length];
    file.seek(file.length() - tail.length - length);
    file.readFully(footer);
    return Util.readFileMetaData(new ByteArrayInputStream(footer));
  }

  private void checkSplitOffsets(FileEntry entry, FileMetaData footer, long bytes, String where) {
    List<Long> offsets = entry.splitOffsets();
    if (offsets == null) {
      return;
    }
    report.expectEqual(offsets.size(), footer.getRow_groupsSize(), "SPLIT_OFFSETS", where, "number of split_offsets");
    long before = 0;
    for (int i = 0; i < offsets.size(); i++) {
      long offset = offsets.get(i);
      report.expect(offset > before && offset < bytes, "SPLIT_OFFSETS", where, "offset " + offset + " is unsorted or outside the file");
      before = offset;
      if (i < footer.getRow_groupsSize()) {
        report.expectEqual(offset, begin(footer.getRow_groups().get(i)), "SPLIT_OFFSETS", where, "offset of row group " + i);
      }
    }
  }

  private static long begin(RowGroup group) {
    var first = group.getColumns().get(0).getMeta_data();
    boolean hasDictionary = first.isSetDictionary_page_offset() && first.getDictionary_page_offset() > 0;
    return hasDictionary ? Math.min(first.getDictionary_page_offset(), first.getData_page_offset()) : first.getData_page_offset();
  }

  private void checkColumnOrders(FileMetaData footer, MessageType schema, String where) {
    boolean complete = footer.isSetColumn_orders() && footer.getColumn_ordersSize() == schema.getColumns().size()
        && footer.getColumn_orders().stream().allMatch(order -> order.isSetTYPE_ORDER());
    report.expectOfOwnWriter(complete, "PARQUET_COLUMN_ORDERS", where, "not every column has TYPE_ORDER in the footer");
  }

  private List<Leaf> leaves(MessageType schema, ManifestCheck manifest, Set<Integer> mistyped) {
    List<Leaf> leaves = new ArrayList<>();
    for (ColumnDescriptor column : schema.getColumns()) {
      var id = column.getPrimitiveType().getId();
      Type type = id == null || mistyped.contains(id.intValue()) ? null : manifest.schema.findType(id.intValue());
      leaves.add(new Leaf(column, type));
    }
    return leaves;
  }

  private void checkValues(ParquetFileReader reader, FileMetaData footer, List<Leaf> leaves, PartitionCheck partition,
      RandomAccessFile file, String where) throws Exception {
    MessageType schema = reader.getFileMetaData().getSchema();
    for (int g = 0; g < footer.getRow_groupsSize(); g++) {
      RowGroup group = footer.getRow_groups().get(g);
      PageReadStore pages = reader.readNextRowGroup();
      ColumnReadStoreImpl columns = new ColumnReadStoreImpl(pages, new GroupRecordConverter(schema).getRootConverter(),
          schema, reader.getFileMetaData().getCreatedBy());
      for (int c = 0; c < leaves.size(); c++) {
        Leaf leaf = leaves.get(c);
        ChunkCheck chunk = new ChunkCheck(report, leaf, where + " row group " + g, file, group.getColumns().get(c), group.getNum_rows());
        chunk.check(columns.getColumnReader(leaf.descriptor), partition.forLeaf(leaf));
      }
      report.count("row_groups", 1);
    }
  }

  /** Every row of a file belongs to the partition that its entry names. */
  private static final class PartitionCheck {
    private final Report report;
    private final FileEntry entry;
    private final ManifestCheck manifest;
    private final String where;
    private final Set<Integer> reported = new HashSet<>();

    PartitionCheck(Report report, FileEntry entry, ManifestCheck manifest, String where) {
      this.report = report;
      this.entry = entry;
      this.manifest = manifest;
      this.where = where;
    }

    Consumer<Object> forLeaf(Leaf leaf) {
      Consumer<Object> all = value -> { };
      List<PartitionField> fields = manifest.spec.fields();
      for (int i = 0; i < fields.size(); i++) {
        if (fields.get(i).sourceId() == leaf.fieldId && leaf.type != null && !leaf.isRepeated) {
          all = all.andThen(one(leaf, fields.get(i), i));
        }
      }
      return all;
    }

    @SuppressWarnings("unchecked")
    private Consumer<Object> one(Leaf leaf, PartitionField field, int index) {
      SerializableFunction<Object, Object> transform =
          ((Transform<Object, Object>) field.transform()).bind(leaf.type);
      Object expected = entry.partition.get(index);
      return value -> {
        Object of = value == null ? null : Values.fromIceberg(transform.apply(Values.toIceberg(leaf.type, value)));
        boolean same = of == null || expected == null ? of == expected : Values.compare(of, expected) == 0;
        if (!same && reported.add(index)) { // one line a file and field, not one a row
          report.problem("PARTITION_VALUE", where, field.name() + " is " + Values.show(expected) + ", a row belongs to " + Values.show(of));
        }
      };
    }
  }
}
