"""Tables that PyIceberg writes for the tests of the judges themselves."""
import datetime
import decimal
import uuid

import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.io.pyarrow import write_file
from pyiceberg.partitioning import PartitionField, PartitionFieldValue, PartitionKey, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import WriteTask
from pyiceberg.transforms import BucketTransform, DayTransform, HourTransform, IdentityTransform, MonthTransform, TruncateTransform
from pyiceberg.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    FixedType,
    FloatType,
    IntegerType,
    ListType,
    LongType,
    MapType,
    NestedField,
    StringType,
    StructType,
    TimestampType,
    TimestamptzType,
    TimeType,
    UUIDType,
)

UTC = datetime.timezone.utc


def open_catalog(folder):
    """An SQLite catalog with its warehouse, both under folder."""
    catalog = SqlCatalog("local", uri=f"sqlite:///{folder}/catalog.db", warehouse=f"file://{folder}/warehouse")
    catalog.create_namespace_if_not_exists("db")
    return catalog


def _optional(field_id, name, type_):
    return NestedField(field_id, name, type_, required=False)


SCHEMA = Schema(
    NestedField(1, "id", LongType(), required=True),
    _optional(2, "flag", BooleanType()),
    _optional(3, "small", IntegerType()),
    _optional(4, "single", FloatType()),
    _optional(5, "wide", DoubleType()),
    _optional(6, "money", DecimalType(9, 2)),
    _optional(7, "large_money", DecimalType(30, 6)),
    _optional(8, "name", StringType()),
    _optional(9, "raw", BinaryType()),
    _optional(10, "token", UUIDType()),
    _optional(11, "code", FixedType(4)),
    _optional(12, "day", DateType()),
    _optional(13, "clock", TimeType()),
    _optional(14, "local_time", TimestampType()),
    _optional(15, "instant", TimestamptzType()),
    _optional(16, "tags", ListType(17, StringType(), element_required=False)),
    _optional(18, "scores", MapType(19, StringType(), 20, DoubleType(), value_required=False)),
    _optional(21, "place", StructType(_optional(22, "city", StringType()), _optional(23, "visits", ListType(24, DateType(), element_required=False)))),
)
NULLABLE = [field.name for field in SCHEMA.fields if not field.required]


def sample_rows(begin, end):
    """Rows of SCHEMA with nulls, extremes and nested values; every seventh row has only its id."""
    return [_sample_row(i) for i in range(begin, end)]


def _sample_row(i):
    if i % 7 == 3:
        return {"id": i, **dict.fromkeys(NULLABLE)}
    moment = datetime.datetime(2024, 2, 28, 23, 59, 59, 999_999) + datetime.timedelta(hours=i, microseconds=i)
    return {
        "id": i,
        "flag": i % 2 == 0,
        "small": [-(2**31), 2**31 - 1, 0, 42][i % 4],
        "single": [1.5, float("nan"), -0.0, float("inf"), 0.25][i % 5],
        "wide": [0.1, -0.0, float("nan"), 1e308, -5e-324][i % 5],
        "money": decimal.Decimal(i * 125 - 700).scaleb(-2),
        "large_money": decimal.Decimal((-1) ** i * (10**29 - i)).scaleb(-6),
        "name": ["", "plain", "a name that is longer than sixteen characters", "żółw 🐢 turtles all the way down"][i % 4] + str(i % 3),
        "raw": bytes([i % 256]) * (i % 5),
        "token": uuid.UUID(int=(i * 0x1111_2222_3333_4444_5555_6666_7777_8888) % 2**128),
        "code": bytes([i % 256, 0, 255, 1]),
        "day": moment.date(),
        "clock": moment.time(),
        "local_time": moment,
        "instant": moment.replace(tzinfo=UTC),
        "tags": [None, [], ["a"], ["b", None, "c"]][i % 4],
        "scores": [[("x", 1.0), ("y", None)], [], None][i % 3],
        "place": None if i % 5 == 4 else {"city": "Turku" if i % 2 else None, "visits": [moment.date(), None][: i % 3]},
    }


def arrow_rows(rows, schema):
    """schema is the table's own: creating a table numbers its fields anew."""
    arrow = schema.as_arrow()
    columns = []
    for field in arrow:
        values = [row.get(field.name) for row in rows]
        if values and any(isinstance(v, uuid.UUID) for v in values):
            values = [None if v is None else v.bytes for v in values]
            columns.append(_uuid_array(values, field.type))
        else:
            columns.append(pa.array(values, field.type))
    return pa.table(columns, schema=arrow)


def _uuid_array(values, type_):
    storage = pa.array(values, pa.binary(16))
    return pa.ExtensionArray.from_storage(type_, storage) if isinstance(type_, pa.BaseExtensionType) else storage


def all_types(catalog, name="db.all_types"):
    """Two appends of every type; returns the table and its rows."""
    table = catalog.create_table(name, SCHEMA)
    table.append(arrow_rows(sample_rows(0, 40), table.schema()))
    table.append(arrow_rows(sample_rows(40, 60), table.schema()))
    return table, sample_rows(0, 60)


def partitioned(catalog, name="db.partitioned"):
    """Four transforms at once, one of them over nulls."""
    spec = PartitionSpec(
        PartitionField(1, 1000, BucketTransform(4), "id_bucket"),
        PartitionField(12, 1001, DayTransform(), "day_day"),
        PartitionField(8, 1002, TruncateTransform(2), "name_trunc"),
        PartitionField(2, 1003, IdentityTransform(), "flag"),
    )
    table = catalog.create_table(name, SCHEMA, partition_spec=spec)
    table.append(arrow_rows(sample_rows(0, 30), table.schema()))
    table.append(arrow_rows(sample_rows(30, 40), table.schema()))
    return table, sample_rows(0, 40)


def typed_partitions(catalog, name="db.typed_partitions"):
    """Partition values of the types whose Avro form is easy to get wrong."""
    spec = PartitionSpec(
        PartitionField(6, 1002, IdentityTransform(), "money"),
        PartitionField(15, 1003, HourTransform(), "instant_hour"),
        PartitionField(12, 1004, IdentityTransform(), "day"),
        PartitionField(14, 1005, MonthTransform(), "local_time_month"),
        PartitionField(13, 1006, IdentityTransform(), "clock"),
    )
    table = catalog.create_table(name, SCHEMA, partition_spec=spec)
    table.append(arrow_rows(sample_rows(0, 9), table.schema()))
    return table, sample_rows(0, 9)


def fixed_partitioned(catalog, name="db.fixed_partitioned"):
    spec = PartitionSpec(PartitionField(11, 1000, IdentityTransform(), "code"))
    table = catalog.create_table(name, SCHEMA, partition_spec=spec)
    table.append(arrow_rows(sample_rows(0, 5), table.schema()))
    return table, sample_rows(0, 5)


def uuid_partitioned(catalog, name="db.uuid_partitioned"):
    """One file for each row; PyIceberg cannot split rows by a UUID, only write a file it is told the value of."""
    spec = PartitionSpec(PartitionField(10, 1000, IdentityTransform(), "token"))
    table = catalog.create_table(name, SCHEMA, partition_spec=spec)
    rows = [_sample_row(1), _sample_row(2)]
    with table.transaction() as transaction, transaction.update_snapshot().fast_append() as append:
        for i, row in enumerate(rows):
            key = PartitionKey([PartitionFieldValue(table.spec().fields[0], row["token"])], table.spec(), table.schema())
            batches = arrow_rows([row], table.schema()).to_batches()
            task = WriteTask(append.commit_uuid, i, table.schema(), batches, partition_key=key)
            for data_file in write_file(table.io, table.metadata, iter([task])):
                append.append_data_file(data_file)
    return table, rows


PLAIN_SCHEMA = Schema(
    NestedField(1, "id", LongType(), required=True),
    _optional(2, "name", StringType()),
    _optional(3, "amount", DoubleType()),
)


def plain_rows(begin, end):
    return [{"id": i, "name": f"name {i:03d}", "amount": i / 4} for i in range(begin, end)]


def identity_partitioned(catalog, name="db.identity"):
    """Small and easy to damage: two files in two partitions, then one more."""
    spec = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "name"))
    table = catalog.create_table(name, PLAIN_SCHEMA, partition_spec=spec)
    rows = [{"id": i, "name": "even" if i % 2 == 0 else "odd", "amount": i / 4} for i in range(20)]
    table.append(arrow_rows(rows, table.schema()))
    table.append(arrow_rows(rows[:3], table.schema()))
    return table, rows + rows[:3]


def evolved(catalog, name="db.evolved"):
    """A column added, one renamed, one widened, rows deleted by copy on write."""
    schema = Schema(NestedField(1, "id", LongType(), required=True), _optional(2, "name", StringType()), _optional(3, "n", IntegerType()))
    table = catalog.create_table(name, schema)
    table.append(arrow_rows([{"id": i, "name": f"n{i}", "n": i} for i in range(10)], table.schema()))
    with table.update_schema() as update:
        update.add_column("extra", StringType())
        update.rename_column("name", "title")
        update.update_column("n", LongType())
    table.append(arrow_rows([{"id": i, "title": f"t{i}", "n": 2**40 + i, "extra": "x"} for i in range(10, 20)], table.schema()))
    table.delete("id = 3")
    rows = [{"id": i, "title": f"n{i}", "n": i, "extra": None} for i in range(10) if i != 3]
    return table, rows + [{"id": i, "title": f"t{i}", "n": 2**40 + i, "extra": "x"} for i in range(10, 20)]
