package frazil.checker;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.avro.Schema;
import org.apache.avro.file.DataFileConstants;
import org.apache.avro.file.DataFileReader;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericRecord;

/**
 * An Avro object file as it stands on disk: header, writer's schema, records by the writer's names.
 * No projection and no logical-type conversion, so that nothing is repaired on the way.
 */
final class AvroFile {
  final Schema schema;
  final List<GenericRecord> records = new ArrayList<>();
  private final java.util.Map<String, String> header = new java.util.HashMap<>();

  private AvroFile(Schema schema) {
    this.schema = schema;
  }

  static AvroFile read(String location) throws Exception {
    GenericDatumReader<GenericRecord> datum = new GenericDatumReader<>(null, null, new GenericData());
    try (DataFileReader<GenericRecord> reader = new DataFileReader<>(LocalFiles.path(location).toFile(), datum)) {
      AvroFile file = new AvroFile(reader.getSchema());
      for (String key : reader.getMetaKeys()) {
        if (!DataFileConstants.SCHEMA.equals(key)) {
          file.header.put(key, new String(reader.getMeta(key), StandardCharsets.UTF_8));
        }
      }
      while (reader.hasNext()) {
        file.records.add(reader.next());
      }
      return file;
    }
  }

  /** The header's value, or null. */
  String header(String key) {
    return header.get(key);
  }

  /** A field's value, or null when it is null or not in the schema at all. */
  static Object get(GenericRecord record, String field) {
    return record.getSchema().getField(field) == null ? null : record.get(field);
  }

  static long number(GenericRecord record, String field, long otherwise) {
    Object value = get(record, field);
    return value instanceof Number ? ((Number) value).longValue() : otherwise;
  }

  static String text(GenericRecord record, String field) {
    Object value = get(record, field);
    return value == null ? "" : value.toString();
  }
}
