package frazil.checker;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.UUID;
import org.apache.avro.generic.GenericFixed;
import org.apache.iceberg.types.Type;
import org.apache.iceberg.types.Types;
import org.apache.iceberg.util.UUIDUtil;

/**
 * One plain domain for values from four places (Parquet pages, Parquet statistics, Iceberg bounds,
 * Avro partition tuples), so that they can be compared with each other:
 * Long (boolean, integers, times), Double, byte[] (strings, uuid, fixed, binary: unsigned order),
 * BigInteger (decimals, unscaled).
 */
final class Values {
  private Values() {}

  /** Order of the domain; -0.0 is before +0.0, as the specification orders floats. */
  static int compare(Object a, Object b) {
    if (a instanceof Long) {
      return Long.compare((Long) a, (Long) b);
    }
    if (a instanceof Double) {
      return Double.compare((Double) a, (Double) b);
    }
    if (a instanceof BigInteger) {
      return ((BigInteger) a).compareTo((BigInteger) b);
    }
    return Arrays.compareUnsigned((byte[]) a, (byte[]) b);
  }

  /** Equal as numbers: -0.0 and +0.0 are the same here. */
  static boolean same(Object a, Object b) {
    return a instanceof Double ? ((Double) a).doubleValue() == ((Double) b).doubleValue() : compare(a, b) == 0;
  }

  static String show(Object value) {
    return value instanceof byte[] ? "0x" + java.util.HexFormat.of().formatHex((byte[]) value) : String.valueOf(value);
  }

  static boolean isFloating(Type type) {
    return type.typeId() == Type.TypeID.FLOAT || type.typeId() == Type.TypeID.DOUBLE;
  }

  /** Decodes the single-value serialization of the specification; null when its length is wrong. */
  static Object fromBound(Type type, ByteBuffer bound) {
    byte[] bytes = bytes(bound);
    ByteBuffer b = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    switch (type.typeId()) {
      case BOOLEAN:
        return bytes.length == 1 ? Long.valueOf(bytes[0] == 0 ? 0 : 1) : null;
      case INTEGER:
      case DATE:
        return bytes.length == 4 ? Long.valueOf(b.getInt()) : null;
      case LONG: // four bytes: written before int was promoted to long
        return bytes.length == 8 ? Long.valueOf(b.getLong()) : bytes.length == 4 ? Long.valueOf(b.getInt()) : null;
      case TIME:
      case TIMESTAMP:
      case TIMESTAMP_NANO:
        return bytes.length == 8 ? Long.valueOf(b.getLong()) : null;
      case FLOAT:
        return bytes.length == 4 ? Double.valueOf(b.getFloat()) : null;
      case DOUBLE:
        return bytes.length == 8 ? Double.valueOf(b.getDouble()) : bytes.length == 4 ? Double.valueOf(b.getFloat()) : null;
      case DECIMAL:
        BigInteger unscaled = bytes.length == 0 ? null : new BigInteger(bytes);
        return unscaled != null && unscaled.toByteArray().length == bytes.length ? unscaled : null;
      case UUID:
        return bytes.length == 16 ? bytes : null;
      case FIXED:
        return bytes.length <= ((Types.FixedType) type).length() ? bytes : null;
      default:
        return bytes;
    }
  }

  /** A value of this domain as Iceberg's transforms want it. */
  static Object toIceberg(Type type, Object value) {
    if (value == null) {
      return null;
    }
    switch (type.typeId()) {
      case BOOLEAN: return ((Long) value) != 0;
      case INTEGER:
      case DATE: return ((Long) value).intValue();
      case FLOAT: return ((Double) value).floatValue();
      case STRING: return new String((byte[]) value, StandardCharsets.UTF_8);
      case UUID: return UUIDUtil.convert((byte[]) value);
      case FIXED:
      case BINARY: return ByteBuffer.wrap((byte[]) value);
      case DECIMAL: return new BigDecimal((BigInteger) value, ((Types.DecimalType) type).scale());
      default: return value;
    }
  }

  /** An Iceberg value (as a transform gives it) in this domain. */
  static Object fromIceberg(Object value) {
    if (value instanceof Boolean) {
      return ((Boolean) value) ? 1L : 0L;
    }
    if (value instanceof Integer) {
      return ((Integer) value).longValue();
    }
    if (value instanceof Float) {
      return ((Float) value).doubleValue();
    }
    if (value instanceof CharSequence) {
      return value.toString().getBytes(StandardCharsets.UTF_8);
    }
    if (value instanceof UUID) {
      return UUIDUtil.convert((UUID) value);
    }
    if (value instanceof ByteBuffer) {
      return bytes((ByteBuffer) value);
    }
    return value instanceof BigDecimal ? ((BigDecimal) value).unscaledValue() : value;
  }

  /** A partition value as it stands in a manifest, in this domain. */
  static Object fromAvro(Type type, Object value) {
    if (value instanceof GenericFixed) {
      byte[] bytes = ((GenericFixed) value).bytes();
      return type.typeId() == Type.TypeID.DECIMAL ? new BigInteger(bytes) : bytes;
    }
    if (value instanceof ByteBuffer && type.typeId() == Type.TypeID.DECIMAL) {
      return new BigInteger(bytes((ByteBuffer) value));
    }
    return fromIceberg(value);
  }

  static byte[] bytes(ByteBuffer buffer) {
    byte[] bytes = new byte[buffer.remaining()];
    buffer.duplicate().get(bytes);
    return bytes;
  }
}
