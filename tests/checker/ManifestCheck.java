package frazil.checker;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.avro.generic.GenericRecord;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.PartitionSpecParser;
import org.apache.iceberg.Schema;
import org.apache.iceberg.SchemaParser;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.types.Conversions;
import org.apache.iceberg.types.Type;
import org.apache.iceberg.types.Types;

/** One manifest, and what a manifest list says about it. */
final class ManifestCheck {
  private final Report report;
  private final TableMetadata table;
  final String where;
  final List<FileEntry> entries = new ArrayList<>();
  /** The schema and spec that the manifest says it was written with. */
  Schema schema;
  PartitionSpec spec;

  private ManifestCheck(Report report, TableMetadata table, String where) {
    this.report = report;
    this.table = table;
    this.where = where;
  }

  /** Reads and checks what does not depend on the list; null when it cannot be read at all. */
  static ManifestCheck read(Report report, TableMetadata table, String path, int specId) {
    ManifestCheck manifest = new ManifestCheck(report, table, LocalFiles.name(path));
    if (!report.expect(LocalFiles.exists(path), "MANIFEST_MISSING", manifest.where, "no such file: " + path)) {
      return null;
    }
    try {
      AvroFile file = AvroFile.read(path);
      manifest.checkHeader(file, specId);
      new AvroLayout(report, manifest.where).checkManifest(file.schema, manifest.spec);
      for (GenericRecord entry : file.records) {
        manifest.entries.add(new FileEntry(entry, manifest.spec));
      }
    } catch (Exception | LinkageError e) {
      report.problem("MANIFEST_UNREADABLE", manifest.where, e.toString());
      return null;
    }
    report.count("manifests", 1);
    report.count("entries", manifest.entries.size());
    return manifest;
  }

  private void checkHeader(AvroFile file, int specId) {
    schema = table.schema();
    spec = table.spec(specId) == null ? PartitionSpec.unpartitioned() : table.spec(specId);
    for (String key : new String[] {"schema", "partition-spec", "partition-spec-id", "format-version", "content"}) {
      report.expect(file.header(key) != null, "MANIFEST_HEADER", where, "Avro header lacks " + key);
    }
    report.expectOfOwnWriter(file.header("schema-id") != null, "MANIFEST_HEADER", where, "Avro header lacks schema-id");
    checkHeaderSchema(file);
    checkHeaderSpec(file, specId);
    String version = file.header("format-version");
    report.expect(version == null || version.equals("2") || version.equals("3"), "MANIFEST_HEADER", where,
        "format-version is " + version);
  }

  private void checkHeaderSchema(AvroFile file) {
    String json = file.header("schema");
    if (json == null) {
      return;
    }
    try {
      schema = SchemaParser.fromJson(json);
    } catch (RuntimeException e) {
      report.problem("MANIFEST_HEADER", where, "schema cannot be parsed: " + e.getMessage());
      return;
    }
    String id = file.header("schema-id");
    Schema known = id == null ? null : table.schemasById().get(Integer.parseInt(id));
    report.expect(known == null || known.asStruct().equals(schema.asStruct()), "MANIFEST_HEADER", where,
        "schema differs from the table's schema " + id);
    report.expectOfOwnWriter(id == null || known != null, "MANIFEST_HEADER", where,
        "schema-id " + id + " names no schema of the table");
    report.expectOfOwnWriter(id == null || schema.schemaId() == Integer.parseInt(id), "MANIFEST_HEADER", where,
        "schema-id of the header is not the schema's own");
  }

  private void checkHeaderSpec(AvroFile file, int specId) {
    String id = file.header("partition-spec-id");
    report.expect(id == null || id.equals(String.valueOf(specId)), "MANIFEST_HEADER", where,
        "partition-spec-id is " + id + ", the manifest list says " + specId);
    String json = file.header("partition-spec");
    if (json == null) {
      return;
    }
    try {
      if (!report.expect(new ObjectMapper().readTree(json).isArray(), "MANIFEST_HEADER", where,
          "partition-spec is not the array of fields")) {
        return;
      }
      String whole = "{\"spec-id\":" + specId + ",\"fields\":" + json + "}";
      PartitionSpec written = PartitionSpecParser.fromJson(schema, whole);
      report.expect(written.partitionType().equals(spec.partitionType()) && written.compatibleWith(spec),
          "MANIFEST_HEADER", where, "partition-spec differs from the table's spec " + specId);
    } catch (Exception e) {
      report.problem("MANIFEST_HEADER", where, "partition-spec cannot be parsed: " + e.getMessage());
    }
  }

  /** Compares with one line of a manifest list. */
  void checkAgainst(GenericRecord line, String list) throws Exception {
    String in = list + " " + where;
    String path = AvroFile.text(line, "manifest_path");
    report.expectEqual(AvroFile.number(line, "manifest_length", -1), LocalFiles.size(path),
        "MANIFEST_LENGTH", in, "manifest_length");
    String[] states = {"existing", "added", "deleted"};
    for (int status = 0; status < states.length; status++) {
      long files = 0;
      long rows = 0;
      for (FileEntry e : entries) {
        files += e.status == status ? 1 : 0;
        rows += e.status == status ? e.records : 0;
      }
      expectCount(line, states[status] + "_files_count", files, in);
      expectCount(line, states[status] + "_rows_count", rows, in);
    }
    checkSequenceNumbers(line, in);
    int content = (int) AvroFile.number(line, "content", -1);
    for (FileEntry e : entries) {
      report.expect((e.content == 0) == (content == 0), "MANIFEST_CONTENT", in,
          "content " + content + " holds a file of content " + e.content);
      report.expect(table.sortOrdersById().containsKey((int) e.sortOrderId()), "ENTRY_SORT_ORDER", in,
          "sort_order_id " + e.sortOrderId() + " names no order: " + e.path);
    }
    checkPartitions(line, in);
  }

  private void expectCount(GenericRecord line, String field, long recomputed, String in) {
    report.expectEqual(AvroFile.number(line, field, -1), recomputed, "MANIFEST_LIST_COUNTS", in, field);
  }

  private void checkSequenceNumbers(GenericRecord line, String in) {
    long sequence = AvroFile.number(line, "sequence_number", -1);
    long snapshot = AvroFile.number(line, "added_snapshot_id", -1);
    long min = Long.MAX_VALUE;
    for (FileEntry e : entries) {
      report.expect(e.status >= 0 && e.status <= 2, "ENTRY_STATUS", in, "status " + e.status);
      report.expect(e.status == FileEntry.ADDED || (e.sequenceNumber >= 0 && e.fileSequenceNumber >= 0 && e.snapshotId >= 0),
          "ENTRY_SEQUENCE_NUMBER", in, "only an added entry may inherit its numbers: " + e.path);
      report.expect(e.sequenceNumber <= sequence && e.fileSequenceNumber <= sequence, "ENTRY_SEQUENCE_NUMBER", in,
          "sequence number above the manifest's: " + e.path);
      report.expect(e.status == FileEntry.EXISTING || e.snapshotId == -1 || e.snapshotId == snapshot,
          "ENTRY_SNAPSHOT_ID", in, "added or deleted entry of another snapshot: " + e.path);
      if (e.isLive()) {
        min = Math.min(min, e.sequenceNumber == -1 ? sequence : e.sequenceNumber);
      }
    }
    if (min != Long.MAX_VALUE) {
      report.expectEqual(AvroFile.number(line, "min_sequence_number", -1), min, "MANIFEST_MIN_SEQUENCE_NUMBER", in, "min_sequence_number");
    }
  }

  private void checkPartitions(GenericRecord line, String in) {
    Object summaries = AvroFile.get(line, "partitions");
    List<Types.NestedField> fields = spec.partitionType().fields();
    if (summaries == null) {
      report.expectOfOwnWriter(fields.isEmpty(), "MANIFEST_PARTITIONS", in, "no partition summaries");
      return;
    }
    List<?> list = (List<?>) summaries;
    if (report.expect(list.size() == fields.size(), "MANIFEST_PARTITIONS", in,
        list.size() + " summaries for " + fields.size() + " partition fields")) {
      for (int i = 0; i < fields.size(); i++) {
        checkPartition((GenericRecord) list.get(i), i, fields.get(i).type(), in + " partition " + fields.get(i).name());
      }
    }
  }

  private void checkPartition(GenericRecord summary, int field, Type type, String in) {
    boolean hasNull = false;
    boolean hasNan = false;
    Object lower = null;
    Object upper = null;
    for (FileEntry e : entries) {
      Object value = e.partition.get(field);
      hasNull |= value == null;
      if (value instanceof Double && ((Double) value).isNaN()) {
        hasNan = true;
      } else if (value != null) {
        lower = lower == null || Values.compare(value, lower) < 0 ? value : lower;
        upper = upper == null || Values.compare(value, upper) > 0 ? value : upper;
      }
    }
    report.expect(Boolean.valueOf(hasNull).equals(AvroFile.get(summary, "contains_null")), "MANIFEST_PARTITIONS", in,
        "contains_null is wrong");
    Object nan = AvroFile.get(summary, "contains_nan");
    report.expect(nan == null || nan.equals(hasNan), "MANIFEST_PARTITIONS", in, "contains_nan is wrong");
    report.expectOfOwnWriter(nan != null || !Values.isFloating(type), "MANIFEST_PARTITIONS", in, "contains_nan is missing");
    expectBound(summary, "lower_bound", type, lower, in);
    expectBound(summary, "upper_bound", type, upper, in);
  }

  private void expectBound(GenericRecord summary, String name, Type type, Object value, String in) {
    Object found = AvroFile.get(summary, name);
    ByteBuffer expected = value == null ? null : Conversions.toByteBuffer(type, Values.toIceberg(type, value));
    boolean same = found == null ? expected == null : found.equals(expected);
    report.expect(same, "MANIFEST_PARTITIONS", in, name + " is not the recomputed " + Values.show(value));
  }

  /** No live path may stand twice, within a manifest and across those of one snapshot. */
  static void expectDistinct(Report report, String in, Iterable<FileEntry> live) {
    Set<String> paths = new HashSet<>();
    for (FileEntry e : live) {
      report.expect(paths.add(e.path), "LIVE_PATH_TWICE", in, e.path);
    }
  }
}
