package frazil.checker;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.avro.generic.GenericRecord;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.types.Types;

/** One entry of a manifest, with what it says about its file. */
final class FileEntry {
  static final int EXISTING = 0;
  static final int ADDED = 1;
  static final int DELETED = 2;

  final int status;
  final long snapshotId; // -1: inherited
  final long sequenceNumber; // -1: inherited
  final long fileSequenceNumber; // -1: inherited
  final int content;
  final String path;
  final String format;
  final long records;
  final long bytes;
  /** Partition values in the domain of Values, in the order of the spec's fields. */
  final List<Object> partition = new ArrayList<>();
  private final GenericRecord file;

  FileEntry(GenericRecord entry, PartitionSpec spec) {
    status = (int) AvroFile.number(entry, "status", -1);
    snapshotId = AvroFile.number(entry, "snapshot_id", -1);
    sequenceNumber = AvroFile.number(entry, "sequence_number", -1);
    fileSequenceNumber = AvroFile.number(entry, "file_sequence_number", -1);
    file = (GenericRecord) entry.get("data_file");
    content = (int) AvroFile.number(file, "content", 0);
    path = AvroFile.text(file, "file_path");
    format = AvroFile.text(file, "file_format");
    records = AvroFile.number(file, "record_count", -1);
    bytes = AvroFile.number(file, "file_size_in_bytes", -1);
    GenericRecord tuple = (GenericRecord) AvroFile.get(file, "partition");
    List<Types.NestedField> fields = spec.partitionType().fields();
    for (int i = 0; i < fields.size(); i++) {
      boolean present = tuple != null && i < tuple.getSchema().getFields().size();
      partition.add(present ? Values.fromAvro(fields.get(i).type(), tuple.get(i)) : null);
    }
  }

  boolean isLive() {
    return status != DELETED;
  }

  /** A count map such as value_counts; empty when the field is null or absent. */
  Map<Integer, Long> counts(String field) {
    Map<Integer, Long> map = new HashMap<>();
    for (GenericRecord pair : pairs(field)) {
      map.put((Integer) pair.get("key"), ((Number) pair.get("value")).longValue());
    }
    return map;
  }

  Map<Integer, ByteBuffer> bounds(String field) {
    Map<Integer, ByteBuffer> map = new HashMap<>();
    for (GenericRecord pair : pairs(field)) {
      map.put((Integer) pair.get("key"), (ByteBuffer) pair.get("value"));
    }
    return map;
  }

  /** Null when the field is null or absent. */
  List<Long> splitOffsets() {
    Object value = AvroFile.get(file, "split_offsets");
    if (value == null) {
      return null;
    }
    List<Long> offsets = new ArrayList<>();
    for (Object offset : (Iterable<?>) value) {
      offsets.add(((Number) offset).longValue());
    }
    return offsets;
  }

  long sortOrderId() {
    return AvroFile.number(file, "sort_order_id", 0);
  }

  String partitionText() {
    StringBuilder text = new StringBuilder();
    partition.forEach(value -> text.append(Values.show(value)).append('/'));
    return text.toString();
  }

  @SuppressWarnings("unchecked")
  private Iterable<GenericRecord> pairs(String field) {
    Object value = AvroFile.get(file, field);
    return value == null ? List.of() : (Iterable<GenericRecord>) value;
  }
}
