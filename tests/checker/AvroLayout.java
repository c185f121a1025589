package frazil.checker;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.avro.LogicalTypes;
import org.apache.avro.Schema;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.types.Type;
import org.apache.iceberg.types.TypeUtil;
import org.apache.iceberg.types.Types;

/**
 * Avro schemas of manifest lists and manifests, against the fixed table of the specification: every
 * field has its name, its id and its type, at all levels.
 */
final class AvroLayout {
  /** "name id type flags": type as in shape(); ! = required in v2, v3: absent before v3. */
  private static final String[] MANIFEST_LIST = {
    "manifest_path 500 string !", "manifest_length 501 long !", "partition_spec_id 502 int !",
    "content 517 int !", "sequence_number 515 long !", "min_sequence_number 516 long !",
    "added_snapshot_id 503 long !", "added_files_count 504 int !", "existing_files_count 505 int !",
    "deleted_files_count 506 int !", "added_rows_count 512 long !", "existing_rows_count 513 long !",
    "deleted_rows_count 514 long !", "partitions 507 list:508:record", "key_metadata 519 bytes",
    "first_row_id 520 long"};
  private static final String[] SUMMARY = {
    "contains_null 509 boolean !", "contains_nan 518 boolean", "lower_bound 510 bytes", "upper_bound 511 bytes"};
  private static final String[] ENTRY = {
    "status 0 int !", "snapshot_id 1 long", "sequence_number 3 long", "file_sequence_number 4 long",
    "data_file 2 record !"};
  private static final String[] DATA_FILE = {
    "content 134 int !", "file_path 100 string !", "file_format 101 string !", "partition 102 record !",
    "record_count 103 long !", "file_size_in_bytes 104 long !", "column_sizes 108 map:117:118:long",
    "value_counts 109 map:119:120:long", "null_value_counts 110 map:121:122:long",
    "nan_value_counts 137 map:138:139:long", "distinct_counts 111 map:123:124:long",
    "lower_bounds 125 map:126:127:bytes", "upper_bounds 128 map:129:130:bytes", "key_metadata 131 bytes",
    "split_offsets 132 list:133:long", "equality_ids 135 list:136:int", "sort_order_id 140 int",
    "first_row_id 142 long", "referenced_data_file 143 string", "content_offset 144 long",
    "content_size_in_bytes 145 long"};

  private final Report report;
  private final String where;

  AvroLayout(Report report, String where) {
    this.report = report;
    this.where = where;
  }

  void checkManifestList(Schema schema) {
    checkRecord(schema, MANIFEST_LIST, "manifest_file");
    Schema.Field partitions = schema.getField("partitions");
    if (partitions != null && value(partitions.schema()).getType() == Schema.Type.ARRAY) {
      checkRecord(value(value(partitions.schema()).getElementType()), SUMMARY, "field_summary");
    }
  }

  void checkManifest(Schema schema, PartitionSpec spec) {
    checkRecord(schema, ENTRY, "manifest_entry");
    Schema.Field file = schema.getField("data_file");
    if (file == null || value(file.schema()).getType() != Schema.Type.RECORD) {
      return;
    }
    Schema dataFile = value(file.schema());
    checkRecord(dataFile, DATA_FILE, "data_file");
    Schema.Field partition = dataFile.getField("partition");
    if (spec != null && partition != null && value(partition.schema()).getType() == Schema.Type.RECORD) {
      checkPartition(value(partition.schema()), spec);
    }
  }

  private void checkRecord(Schema record, String[] table, String name) {
    Map<String, String[]> rows = new LinkedHashMap<>();
    Arrays.stream(table).map(row -> row.split(" ")).forEach(row -> rows.put(row[0], row));
    for (Schema.Field field : record.getFields()) {
      String[] row = rows.remove(field.name());
      if (row == null) {
        report.expectOfOwnWriter(false, "AVRO_FIELD", where, name + "." + field.name() + " is not in the specification");
        continue;
      }
      checkId(field, "field-id", Integer.parseInt(row[1]), name);
      checkShape(value(field.schema()), row[2].split(":"), name + "." + field.name());
      report.expectOfOwnWriter(row.length < 4 || field.schema().getType() != Schema.Type.UNION, "AVRO_FIELD", where,
          name + "." + field.name() + " is required, yet written as optional");
    }
    rows.values().stream().filter(row -> row.length > 3).forEach(row ->
        report.problem("AVRO_FIELD", where, name + "." + row[0] + " is missing"));
  }

  private void checkShape(Schema schema, String[] shape, String name) {
    switch (shape[0]) {
      case "list":
        checkType(schema, "array", name);
        checkId(schema, "element-id", Integer.parseInt(shape[1]), name);
        if (schema.getType() == Schema.Type.ARRAY) {
          checkType(value(schema.getElementType()), shape[2], name + ".element");
        }
        break;
      case "map":
        checkMap(schema, shape, name);
        break;
      default:
        checkType(schema, shape[0], name);
    }
  }

  /** Maps with integer keys are arrays of records with two fields, logicalType map. */
  private void checkMap(Schema schema, String[] shape, String name) {
    checkType(schema, "array", name);
    if (schema.getType() != Schema.Type.ARRAY) {
      return;
    }
    report.expect("map".equals(schema.getProp("logicalType")), "AVRO_LOGICAL_TYPE", where, name + " lacks logicalType map");
    Schema pair = schema.getElementType();
    report.expectOfOwnWriter(pair.getName().equals("k" + shape[1] + "_v" + shape[2]), "AVRO_FIELD", where,
        name + ": record is named " + pair.getName());
    for (int i = 0; i < 2; i++) {
      Schema.Field part = pair.getField(i == 0 ? "key" : "value");
      if (report.expect(part != null, "AVRO_FIELD", where, name + " has no key or no value")) {
        checkId(part, "field-id", Integer.parseInt(shape[1 + i]), name);
        checkType(value(part.schema()), i == 0 ? "int" : shape[3], name + "." + part.name());
      }
    }
  }

  private void checkPartition(Schema record, PartitionSpec spec) {
    Types.StructType type = spec.partitionType();
    report.expectEqual(record.getFields().size(), type.fields().size(), "AVRO_PARTITION", where, "number of partition fields");
    for (int i = 0; i < Math.min(record.getFields().size(), type.fields().size()); i++) {
      Schema.Field field = record.getFields().get(i);
      Types.NestedField expected = type.fields().get(i);
      String name = "partition." + field.name();
      checkId(field, "field-id", expected.fieldId(), "partition");
      report.expect(field.name().matches("[A-Za-z_][A-Za-z0-9_]*"), "AVRO_PARTITION", where, name + " is no Avro name");
      Schema found = value(field.schema());
      String difference = differs(found, expected.type());
      report.expect(difference == null, "AVRO_PARTITION", where,
          name + " of type " + expected.type() + " is written as " + found + ": " + difference);
    }
  }

  /** What is wrong with the Avro type of a partition value, or null. */
  private static String differs(Schema found, Type type) {
    String logical = found.getProp("logicalType");
    switch (type.typeId()) {
      case BOOLEAN: return is(found, Schema.Type.BOOLEAN);
      case INTEGER: return is(found, Schema.Type.INT);
      case LONG: return is(found, Schema.Type.LONG);
      case FLOAT: return is(found, Schema.Type.FLOAT);
      case DOUBLE: return is(found, Schema.Type.DOUBLE);
      case STRING: return is(found, Schema.Type.STRING);
      case BINARY: return is(found, Schema.Type.BYTES);
      case DATE: return "date".equals(logical) ? is(found, Schema.Type.INT) : "no logicalType date";
      case TIME: return "time-micros".equals(logical) ? is(found, Schema.Type.LONG) : "no logicalType time-micros";
      case TIMESTAMP:
        boolean utc = ((Types.TimestampType) type).shouldAdjustToUTC();
        return !"timestamp-micros".equals(logical) ? "no logicalType timestamp-micros"
            : !Boolean.valueOf(utc).equals(found.getObjectProp("adjust-to-utc")) ? "adjust-to-utc is wrong or missing"
            : is(found, Schema.Type.LONG);
      case UUID: return !"uuid".equals(logical) ? "no logicalType uuid" : fixed(found, 16);
      case FIXED: return fixed(found, ((Types.FixedType) type).length());
      case DECIMAL: return decimal(found, (Types.DecimalType) type);
      default: return null;
    }
  }

  private static String decimal(Schema found, Types.DecimalType type) {
    if (!(found.getLogicalType() instanceof LogicalTypes.Decimal)) {
      return "no logicalType decimal";
    }
    LogicalTypes.Decimal logical = (LogicalTypes.Decimal) found.getLogicalType();
    if (logical.getPrecision() != type.precision() || logical.getScale() != type.scale()) {
      return "precision or scale differ";
    }
    return fixed(found, TypeUtil.decimalRequiredBytes(type.precision()));
  }

  private static String fixed(Schema found, int bytes) {
    return found.getType() == Schema.Type.FIXED && found.getFixedSize() == bytes ? null : "no fixed of " + bytes;
  }

  private static String is(Schema found, Schema.Type type) {
    return found.getType() == type ? null : "no " + type;
  }

  private void checkType(Schema schema, String type, String name) {
    String found = schema.getType().getName();
    boolean isWider = found.equals("long") && type.equals("int"); // PyIceberg's equality_ids
    String text = name + " is " + found + ", not " + type;
    if (isWider) {
      report.expectOfOwnWriter(false, "AVRO_TYPE", where, text);
    } else {
      report.expect(found.equals(type), "AVRO_TYPE", where, text);
    }
  }

  private void checkId(org.apache.avro.JsonProperties of, String key, int id, String name) {
    String field = of instanceof Schema.Field ? name + "." + ((Schema.Field) of).name() : name;
    report.expect(Integer.valueOf(id).equals(of.getObjectProp(key)), "AVRO_FIELD_ID", where,
        field + ": " + key + " is " + of.getObjectProp(key) + ", must be " + id);
  }

  /** The branch of an optional that holds the value. */
  static Schema value(Schema schema) {
    if (schema.getType() != Schema.Type.UNION) {
      return schema;
    }
    return schema.getTypes().stream().filter(s -> s.getType() != Schema.Type.NULL).findFirst().orElse(schema);
  }
}
