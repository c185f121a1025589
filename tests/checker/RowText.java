package frazil.checker;

import java.io.Writer;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.format.DateTimeFormatter;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.apache.iceberg.data.Record;
import org.apache.iceberg.types.Type;
import org.apache.iceberg.types.Types;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;

/**
 * Rows as JSON lines in the one canonical form that all judges are brought into: decimals, floats,
 * dates and times as text (times with six digits, instants with +00:00), binary as hex, maps as lists
 * of [key, value].
 */
final class RowText implements AutoCloseable {
  private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("HH:mm:ss.SSSSSS");

  private final JsonGenerator json;

  RowText(Writer out) throws java.io.IOException {
    json = new JsonFactory().createGenerator(out);
    json.setRootValueSeparator(new com.fasterxml.jackson.core.io.SerializedString("\n"));
  }

  void write(Types.StructType type, Record row) throws java.io.IOException {
    struct(type, row);
  }

  @Override
  public void close() throws java.io.IOException {
    json.writeRaw('\n');
    json.close();
  }

  private void struct(Types.StructType type, Record row) throws java.io.IOException {
    json.writeStartObject();
    for (int i = 0; i < type.fields().size(); i++) {
      json.writeFieldName(type.fields().get(i).name());
      value(type.fields().get(i).type(), row.get(i));
    }
    json.writeEndObject();
  }

  private void value(Type type, Object value) throws java.io.IOException {
    if (value == null) {
      json.writeNull();
      return;
    }
    switch (type.typeId()) {
      case BOOLEAN: json.writeBoolean((Boolean) value); break;
      case INTEGER:
      case LONG: json.writeNumber(((Number) value).longValue()); break;
      case FLOAT:
      case DOUBLE: json.writeString(Double.toString(((Number) value).doubleValue())); break;
      case DECIMAL: json.writeString(((BigDecimal) value).toPlainString()); break;
      case BINARY: json.writeString(HexFormat.of().formatHex(Values.bytes((ByteBuffer) value))); break;
      case FIXED: json.writeString(HexFormat.of().formatHex((byte[]) value)); break;
      case DATE: json.writeString(((LocalDate) value).toString()); break;
      case TIME: json.writeString(((LocalTime) value).format(TIME)); break;
      case TIMESTAMP: json.writeString(timestamp(value)); break;
      case STRUCT: struct(type.asStructType(), (Record) value); break;
      case LIST: list(type.asListType(), (List<?>) value); break;
      case MAP: map(type.asMapType(), (Map<?, ?>) value); break;
      default: json.writeString(value.toString());
    }
  }

  private static String timestamp(Object value) {
    if (value instanceof OffsetDateTime) {
      LocalDateTime utc = ((OffsetDateTime) value).withOffsetSameInstant(java.time.ZoneOffset.UTC).toLocalDateTime();
      return utc.toLocalDate() + "T" + utc.toLocalTime().format(TIME) + "+00:00";
    }
    LocalDateTime local = (LocalDateTime) value;
    return local.toLocalDate() + "T" + local.toLocalTime().format(TIME);
  }

  private void list(Types.ListType type, List<?> values) throws java.io.IOException {
    json.writeStartArray();
    for (Object value : values) {
      value(type.elementType(), value);
    }
    json.writeEndArray();
  }

  private void map(Types.MapType type, Map<?, ?> values) throws java.io.IOException {
    json.writeStartArray();
    for (Map.Entry<?, ?> pair : values.entrySet()) {
      json.writeStartArray();
      value(type.keyType(), pair.getKey());
      value(type.valueType(), pair.getValue());
      json.writeEndArray();
    }
    json.writeEndArray();
  }
}
