package frazil.checker;

import java.util.HashSet;
import java.util.Objects;
import java.util.Set;
import org.apache.iceberg.Schema;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.parquet.ParquetSchemaUtil;
import org.apache.iceberg.types.Types;
import org.apache.parquet.schema.GroupType;
import org.apache.parquet.schema.LogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.DecimalLogicalTypeAnnotation;
import org.apache.parquet.schema.PrimitiveType;
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName;
import org.apache.parquet.schema.Type;

/**
 * The schema of a Parquet file against the table's: the right field id on the right node, three-level
 * lists and maps, physical and logical types as the specification maps them.
 */
final class ParquetLayout {
  private final Report report;
  private final TableMetadata table;
  private final String where;
  private final Schema schema;
  private final Set<Integer> seen = new HashSet<>();
  private final Set<Integer> mistyped = new HashSet<>();

  ParquetLayout(Report report, TableMetadata table, Schema schema, String where) {
    this.report = report;
    this.table = table;
    this.schema = schema;
    this.where = where;
  }

  /** Returns the ids whose values cannot be compared with the table's, for their type is another. */
  Set<Integer> check(GroupType file) {
    struct(file, ParquetSchemaUtil.convert(schema, "table"), "");
    for (Types.NestedField field : schema.columns()) {
      report.expect(seen.contains(field.fieldId()) || field.isOptional(), "PARQUET_FIELD_MISSING", where,
          "required column " + field.name() + " is not in the file");
    }
    return mistyped;
  }

  private void struct(GroupType found, GroupType expected, String path) {
    for (Type field : found.getFields()) {
      String name = path + field.getName();
      if (!report.expect(field.getId() != null, "PARQUET_FIELD_ID", where, name + " has no field id")) {
        continue;
      }
      Type match = null;
      for (Type candidate : expected.getFields()) {
        match = candidate.getId().intValue() == field.getId().intValue() ? candidate : match;
      }
      if (match == null) { // dropped since, or never ours
        report.expect(knownElsewhere(field.getId().intValue()), "PARQUET_FIELD_ID", where,
            name + " has field id " + field.getId() + ", which the table's schema does not have there");
        mistyped.add(field.getId().intValue());
      } else {
        node(field, match, name);
      }
    }
  }

  private boolean knownElsewhere(int id) {
    return schema.findField(id) == null && table.schemas().stream().anyMatch(s -> s.findField(id) != null);
  }

  private void node(Type found, Type expected, String name) {
    if (!checkId(found, expected, name)) {
      return;
    }
    checkRepetition(found, expected, name);
    if (found.isPrimitive() != expected.isPrimitive()) {
      report.problem("PARQUET_TYPE", where, name + " is " + found + ", must be " + expected);
    } else if (found.isPrimitive()) {
      primitive(found.asPrimitiveType(), expected.asPrimitiveType(), name);
    } else if (expected.getLogicalTypeAnnotation() == null) {
      struct(found.asGroupType(), expected.asGroupType(), name + ".");
    } else {
      repeated(found.asGroupType(), expected.asGroupType(), name);
    }
  }

  private boolean checkId(Type found, Type expected, String name) {
    Object id = found.getId() == null ? "none" : found.getId().intValue();
    seen.add(expected.getId().intValue());
    boolean isRight = report.expect(id.equals(expected.getId().intValue()), "PARQUET_FIELD_ID", where,
        name + ": field id is " + id + ", must be " + expected.getId().intValue());
    if (!isRight && found.getId() != null) {
      mistyped.add(found.getId().intValue());
    }
    return isRight;
  }

  private void checkRepetition(Type found, Type expected, String name) {
    boolean tooLoose = found.isRepetition(Type.Repetition.OPTIONAL) && expected.isRepetition(Type.Repetition.REQUIRED);
    report.expectOfOwnWriter(!tooLoose, "PARQUET_REPETITION", where, name + " is required, the file has it optional");
    report.expect(!found.isRepetition(Type.Repetition.REPEATED), "PARQUET_REPETITION", where, name + " is repeated by itself");
  }

  /** LIST: group / repeated list / element. MAP: group / repeated key_value / key, value. */
  private void repeated(GroupType found, GroupType expected, String name) {
    boolean isList = expected.getLogicalTypeAnnotation().equals(LogicalTypeAnnotation.listType());
    report.expect(expected.getLogicalTypeAnnotation().equals(found.getLogicalTypeAnnotation()), "PARQUET_TYPE", where,
        name + " is annotated " + found.getLogicalTypeAnnotation() + ", must be " + expected.getLogicalTypeAnnotation());
    if (!report.expect(found.getFieldCount() == 1 && found.getType(0).isRepetition(Type.Repetition.REPEATED)
        && !found.getType(0).isPrimitive(), "PARQUET_LEVELS", where, name + " is not of three levels")) {
      return;
    }
    GroupType middle = found.getType(0).asGroupType();
    GroupType expectedMiddle = expected.getType(0).asGroupType();
    report.expectOfOwnWriter(middle.getName().equals(expectedMiddle.getName()), "PARQUET_LEVELS", where,
        name + ": the repeated group is named " + middle.getName());
    if (!report.expect(middle.getFieldCount() == (isList ? 1 : 2), "PARQUET_LEVELS", where,
        name + ": the repeated group has " + middle.getFieldCount() + " fields")) {
      return;
    }
    for (int i = 0; i < middle.getFieldCount(); i++) {
      Type part = expectedMiddle.getType(i);
      report.expectOfOwnWriter(middle.getType(i).getName().equals(part.getName()), "PARQUET_LEVELS", where,
          name + ": " + part.getName() + " is named " + middle.getType(i).getName());
      node(middle.getType(i), part, name + "." + part.getName());
    }
  }

  private void primitive(PrimitiveType found, PrimitiveType expected, String name) {
    boolean physical = found.getPrimitiveTypeName() == expected.getPrimitiveTypeName()
        && found.getTypeLength() == expected.getTypeLength();
    boolean logical = Objects.equals(found.getLogicalTypeAnnotation(), expected.getLogicalTypeAnnotation());
    if ((physical && logical) || isPromoted(found, expected)) {
      return;
    }
    boolean unitDiffers = found.getLogicalTypeAnnotation() instanceof LogicalTypeAnnotation.TimestampLogicalTypeAnnotation && !logical;
    String text = name + " is " + found + ", must be " + expected;
    if (unitDiffers || (!physical && !isDecimal(expected))) {
      mistyped.add(expected.getId().intValue());
      report.problem("PARQUET_TYPE", where, text);
    } else {
      report.expectOfOwnWriter(false, "PARQUET_TYPE", where, text);
    }
  }

  /** Written before the column's type was widened. */
  private static boolean isPromoted(PrimitiveType found, PrimitiveType expected) {
    PrimitiveTypeName from = found.getPrimitiveTypeName();
    PrimitiveTypeName to = expected.getPrimitiveTypeName();
    if (isDecimal(found) && isDecimal(expected)) {
      DecimalLogicalTypeAnnotation narrow = (DecimalLogicalTypeAnnotation) found.getLogicalTypeAnnotation();
      DecimalLogicalTypeAnnotation wide = (DecimalLogicalTypeAnnotation) expected.getLogicalTypeAnnotation();
      return narrow.getScale() == wide.getScale() && narrow.getPrecision() < wide.getPrecision();
    }
    boolean plain = expected.getLogicalTypeAnnotation() == null;
    return plain && ((from == PrimitiveTypeName.INT32 && to == PrimitiveTypeName.INT64)
        || (from == PrimitiveTypeName.FLOAT && to == PrimitiveTypeName.DOUBLE));
  }

  private static boolean isDecimal(PrimitiveType type) {
    return type.getLogicalTypeAnnotation() instanceof DecimalLogicalTypeAnnotation;
  }
}
