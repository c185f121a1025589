package frazil.checker;

import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.apache.iceberg.types.Type;
import org.apache.parquet.column.ColumnDescriptor;
import org.apache.parquet.column.ColumnReader;
import org.apache.parquet.schema.LogicalTypeAnnotation.DecimalLogicalTypeAnnotation;
import org.apache.parquet.schema.PrimitiveType;
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName;

/** One leaf column of a Parquet file: its place, its Iceberg meaning, and what its values are. */
final class Leaf {
  final ColumnDescriptor descriptor;
  final PrimitiveType parquet;
  final String path;
  /** -1 when the file has none. */
  final int fieldId;
  /** Null when the id is unknown to the table. */
  final Type type;
  final boolean isRepeated;
  final LeafStats stats = new LeafStats();
  long compressedBytes;
  private final boolean isDecimal;

  Leaf(ColumnDescriptor descriptor, Type type) {
    this.descriptor = descriptor;
    this.parquet = descriptor.getPrimitiveType();
    this.path = String.join(".", descriptor.getPath());
    this.fieldId = parquet.getId() == null ? -1 : parquet.getId().intValue();
    this.type = type;
    this.isRepeated = descriptor.getMaxRepetitionLevel() > 0;
    this.isDecimal = parquet.getLogicalTypeAnnotation() instanceof DecimalLogicalTypeAnnotation;
  }

  /** The reader's current value, in the domain of Values. */
  Object current(ColumnReader reader) {
    switch (parquet.getPrimitiveTypeName()) {
      case BOOLEAN: return reader.getBoolean() ? 1L : 0L;
      case INT32: return whole(reader.getInteger());
      case INT64: return whole(reader.getLong());
      case FLOAT: return (double) reader.getFloat();
      case DOUBLE: return reader.getDouble();
      default: return binary(reader.getBinary().getBytes());
    }
  }

  /** A minimum or maximum from statistics or a column index; null when its length is wrong. */
  Object fromStatistics(byte[] bytes) {
    ByteBuffer b = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    switch (parquet.getPrimitiveTypeName()) {
      case BOOLEAN: return bytes.length == 1 ? (Object) (bytes[0] == 0 ? 0L : 1L) : null;
      case INT32: return bytes.length == 4 ? whole(b.getInt()) : null;
      case INT64: return bytes.length == 8 ? whole(b.getLong()) : null;
      case FLOAT: return bytes.length == 4 ? (Object) (double) b.getFloat() : null;
      case DOUBLE: return bytes.length == 8 ? (Object) b.getDouble() : null;
      default: return isDecimal && bytes.length == 0 ? null : binary(bytes);
    }
  }

  boolean isFloating() {
    return parquet.getPrimitiveTypeName() == PrimitiveTypeName.FLOAT
        || parquet.getPrimitiveTypeName() == PrimitiveTypeName.DOUBLE;
  }

  /** Strings and binaries: their statistics may be cut short. */
  boolean isVariable() {
    return parquet.getPrimitiveTypeName() == PrimitiveTypeName.BINARY && !isDecimal;
  }

  /** INT96 has no order, so no statistics. */
  boolean isOrdered() {
    return parquet.getPrimitiveTypeName() != PrimitiveTypeName.INT96;
  }

  private Object whole(long value) {
    return isDecimal ? (Object) BigInteger.valueOf(value) : (Object) value;
  }

  private Object binary(byte[] bytes) {
    return isDecimal ? new BigInteger(bytes) : bytes;
  }
}
