"""One form of a row for all judges.

A row is a dict by column name. Values by Iceberg type:

    boolean                 bool
    int, long               int
    float, double           text, as Python's repr of the 64-bit value ('1.5', 'nan', 'inf', '-0.0')
    decimal                 text with the column's scale ('12.30')
    string                  text
    uuid                    text, 8-4-4-4-12
    binary, fixed           text, lower-case hex
    date                    'YYYY-MM-DD'; years outside 0..9999 as '+12345-01-01', '-0001-01-01'
    time                    'HH:MM:SS.ffffff'
    timestamp               date, 'T', time
    timestamptz             as timestamp, in UTC, then '+00:00'
    list                    list
    map                     list of [key, value], sorted by the JSON text of the key
    struct                  dict

Arrow columns are converted from their integers, never through Python's datetime, which ends at the
year 9999.
"""
import datetime
import decimal
import json
import re
import struct
import uuid

import pyarrow as pa

MICROS_PER_DAY = 86_400_000_000


class Column:
    def __init__(self, name, type_, field_id):
        self.name = name
        self.type = type_
        self.field_id = field_id


def local_path(location):
    """file:///x, file:/x and /x as a path of this machine; locations are never percent-encoded."""
    path = location.removeprefix("file:")
    return "/" + path.lstrip("/") if path != location else path


def load_metadata(metadata_location):
    from judges import stores  # it knows local_path from here

    return json.loads(stores.read(metadata_location))


def columns_of(metadata_location):
    """The columns of the table's current schema."""
    metadata = load_metadata(metadata_location)
    current = metadata["current-schema-id"]
    schema = next(s for s in metadata["schemas"] if s["schema-id"] == current)
    return [Column(f["name"], f["type"], f["id"]) for f in schema["fields"]]


def canonical_rows(columns, rows):
    """Rows of Python values (natural or canonical already), each a dict, as canonical rows."""
    return [{c.name: canonical_value(c.type, row.get(c.name)) for c in columns} for row in rows]


def canonical_table(columns, table):
    """An Arrow table as canonical rows; columns are taken by name."""
    arrays = [canonical_array(c.type, _one_chunk(table.column(c.name))) for c in columns]
    names = [c.name for c in columns]
    return [dict(zip(names, values)) for values in zip(*arrays)]


def sort_key(row):
    return json.dumps(row, sort_keys=True, ensure_ascii=False)


# --- values -------------------------------------------------------------------------------------


def canonical_value(type_, value):
    if value is None:
        return None
    if isinstance(type_, dict):
        return _nested_value(type_, value)
    if type_ == "boolean":
        return bool(value)
    if type_ in ("int", "long"):
        return int(value)
    if type_ == "float":
        value = float(value)
        return repr(value if value != value or abs(value) == float("inf") else struct.unpack("f", struct.pack("f", value))[0])
    if type_ == "double":
        return repr(float(value))
    if type_ == "string":
        return str(value)
    if type_.startswith("decimal"):
        return _decimal_text(value, int(re.findall(r"\d+", type_)[1]))
    if type_ == "uuid":
        return str(uuid.UUID(bytes=bytes(value)) if isinstance(value, (bytes, bytearray)) else uuid.UUID(str(value)))
    if type_ == "binary" or type_.startswith("fixed"):
        return value if isinstance(value, str) else bytes(value).hex()
    return _temporal_value(type_, value)


def _nested_value(type_, value):
    kind = type_["type"]
    if kind == "struct":
        return {f["name"]: canonical_value(f["type"], value.get(f["name"])) for f in type_["fields"]}
    if kind == "list":
        return [canonical_value(type_["element"], v) for v in value]
    pairs = value.items() if isinstance(value, dict) else value
    return _sorted_pairs([canonical_value(type_["key"], k), canonical_value(type_["value"], v)] for k, v in pairs)


def _sorted_pairs(pairs):
    return sorted(pairs, key=lambda pair: json.dumps(pair[0], ensure_ascii=False))


def _decimal_text(value, scale):
    exact = decimal.Context(prec=60, traps=[decimal.Inexact])
    return format(exact.quantize(decimal.Decimal(value), decimal.Decimal(1).scaleb(-scale, exact)), "f")


def _temporal_value(type_, value):
    if isinstance(value, str):
        return value
    if type_ == "date":
        return date_text(value if isinstance(value, int) else value.toordinal() - datetime.date(1970, 1, 1).toordinal())
    if type_ == "time":
        micros = value if isinstance(value, int) else ((value.hour * 60 + value.minute) * 60 + value.second) * 1_000_000 + value.microsecond
        return time_text(micros)
    if isinstance(value, datetime.datetime):
        naive = value.astimezone(datetime.timezone.utc).replace(tzinfo=None) if value.tzinfo else value
        value = (naive - datetime.datetime(1970, 1, 1)) // datetime.timedelta(microseconds=1)
    return timestamp_text(value, type_ == "timestamptz")


def date_text(days):
    """Days since 1970-01-01 as text, in the proleptic Gregorian calendar without limits."""
    z = days + 719468
    era = z // 146097
    doe = z - era * 146097
    yoe = (doe - doe // 1460 + doe // 36524 - doe // 146096) // 365
    doy = doe - (365 * yoe + yoe // 4 - yoe // 100)
    mp = (5 * doy + 2) // 153
    day = doy - (153 * mp + 2) // 5 + 1
    month = mp + 3 if mp < 10 else mp - 9
    year = yoe + era * 400 + (1 if month <= 2 else 0)
    year_text = f"{year:04d}" if 0 <= year <= 9999 else f"+{year}" if year > 0 else f"-{-year:04d}"
    return f"{year_text}-{month:02d}-{day:02d}"


def time_text(micros):
    seconds, fraction = divmod(micros, 1_000_000)
    return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}.{fraction:06d}"


def timestamp_text(micros, is_instant):
    days, rest = divmod(micros, MICROS_PER_DAY)
    return f"{date_text(days)}T{time_text(rest)}" + ("+00:00" if is_instant else "")


# --- Arrow --------------------------------------------------------------------------------------


def _one_chunk(column):
    if isinstance(column, pa.ChunkedArray):
        return column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
    return column


def canonical_array(type_, array):
    if isinstance(array, pa.ChunkedArray):
        array = _one_chunk(array)
    if isinstance(array, pa.DictionaryArray):
        array = array.dictionary_decode()
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    if isinstance(type_, dict):
        return _nested_array(type_, array)
    integers = _temporal_integers(type_, array)
    values = (integers if integers is not None else array).to_pylist()
    return [canonical_value(type_, value) for value in values]


def _temporal_integers(type_, array):
    """Dates as days, times and timestamps as micros; a unit finer than that is refused by the cast."""
    if type_ == "date":
        return array.cast(pa.date32()).cast(pa.int32())
    if type_ == "time":
        return array.cast(pa.time64("us")).cast(pa.int64())
    if type_ in ("timestamp", "timestamptz"):
        _expect_zone(type_, array)
        return array.cast(pa.timestamp("us", array.type.tz)).cast(pa.int64())
    return None


def _expect_zone(type_, array):
    has_zone = array.type.tz is not None
    if has_zone != (type_ == "timestamptz"):
        raise ValueError(f"{type_} was read as {array.type}")


def _nested_array(type_, array):
    valid = array.is_valid().to_pylist()
    kind = type_["type"]
    if kind == "struct":
        fields = [f["name"] for f in type_["fields"]]
        parts = [canonical_array(f["type"], array.field(f["name"])) for f in type_["fields"]]
        return [dict(zip(fields, values)) if ok else None for ok, values in zip(valid, zip(*parts))]
    if pa.types.is_fixed_size_list(array.type):
        array = array.cast(pa.list_(array.type.value_type))
    offsets = array.offsets.to_pylist()
    if kind == "list":
        items = canonical_array(type_["element"], array.values)
        return [items[a:b] if ok else None for ok, a, b in zip(valid, offsets, offsets[1:])]
    keys = canonical_array(type_["key"], array.keys)
    items = canonical_array(type_["value"], array.items)
    pairs = [[k, v] for k, v in zip(keys, items)]
    return [_sorted_pairs(pairs[a:b]) if ok else None for ok, a, b in zip(valid, offsets, offsets[1:])]
