"""Every type of the JSON decoder, from a foreign producer to four foreign readers, row by row and by predicate."""
import base64
import datetime
import decimal
import json
import uuid

import pytest
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField, StringType

import lakes
from pipeline import Lake, Pipeline, Record, compare, ids, produce, topic_of

UTC = datetime.timezone.utc
PLACE = "struct<city: string, geo: struct<lat: double, lon: double>, visits: list<date>>"
COLUMNS = [
    {"name": "id", "type": "long", "required": True},
    {"name": "flag", "type": "boolean"},
    {"name": "small", "type": "int"},
    {"name": "large", "type": "long"},
    {"name": "single", "type": "float"},
    {"name": "wide", "type": "double"},
    {"name": "money", "type": "decimal(9,2)"},
    {"name": "mid_money", "type": "decimal(18,4)"},
    {"name": "large_money", "type": "decimal(38,10)"},
    {"name": "text", "type": "string"},
    {"name": "raw", "type": "binary"},
    {"name": "token", "type": "uuid"},
    {"name": "code", "type": "fixed[4]"},
    {"name": "day", "type": "date"},
    {"name": "clock", "type": "time"},
    {"name": "local_time", "type": "timestamp"},
    {"name": "instant", "type": "timestamptz"},
    {"name": "tags", "type": "list<string>"},
    {"name": "grid", "type": "list<list<int>>"},
    {"name": "scores", "type": "map<string, double>"},
    {"name": "by_day", "type": "map<int, list<string>>"},
    {"name": "place", "type": PLACE},
    {"name": "items", "type": "list<struct<sku: string, prices: map<string, decimal(9,2)>>>"},
]
NAMES = [column["name"] for column in COLUMNS]
NULLS = dict.fromkeys(NAMES)


def b64(data):
    return base64.b64encode(data).decode()


# What is produced, and the row that must come of it where that is not the same.
LOW = dict(flag=False, small=-(2**31), large=-(2**63), single=-3.4028234663852886e38, wide=-1.7976931348623157e308,
           money=decimal.Decimal("-9999999.99"), mid_money=decimal.Decimal("-99999999999999.9999"),
           large_money=decimal.Decimal("-9999999999999999999999999999.9999999999"), text="", raw=b"", token=uuid.UUID(int=0),
           code=b"\0\0\0\0", day=datetime.date(1, 1, 1), clock=datetime.time(0, 0), local_time=datetime.datetime(1, 1, 1),
           instant=datetime.datetime(1, 1, 1, tzinfo=UTC), tags=[], grid=[], scores={}, by_day={},
           place={"city": "", "geo": {"lat": -90.0, "lon": -180.0}, "visits": []}, items=[])
HIGH = dict(flag=True, small=2**31 - 1, large=2**63 - 1, single=3.4028234663852886e38, wide=1.7976931348623157e308,
            money=decimal.Decimal("9999999.99"), mid_money=decimal.Decimal("99999999999999.9999"),
            large_money=decimal.Decimal("9999999999999999999999999999.9999999999"), text="\U0010ffff" * 40, raw=bytes(range(256)),
            token=uuid.UUID(int=2**128 - 1), code=b"\xff\xff\xff\xff", day=datetime.date(9999, 12, 31),
            clock=datetime.time(23, 59, 59, 999_999), local_time=datetime.datetime(9999, 12, 31, 23, 59, 59, 999_999),
            instant=datetime.datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC), tags=["a", None, "", "żółw 🐢"],
            grid=[[1, None, 3], None, []], scores={"": 0.5, "ключ": None, "z": -0.0}, by_day={1: ["x", None], -2: None, 3: []},
            place={"city": None, "geo": None, "visits": [datetime.date(2024, 2, 29), None]},
            items=[None, {"sku": "s", "prices": {"EUR": decimal.Decimal("1.20"), "USD": None}}, {"sku": None, "prices": None}])
MID = dict(flag=True, small=0, large=0, single=0.25, wide=5e-324, money=decimal.Decimal("0.00"), mid_money=decimal.Decimal("0.0001"),
           large_money=decimal.Decimal("0.0000000001"), text='quotes " \\ / \b\f\n\r\t \u0001 and 日本語', raw=b"\x00\xff",
           token=uuid.UUID("01234567-89ab-cdef-0123-456789abcdef"), code=b"\x00\xff\x00\xff", day=datetime.date(1969, 12, 31),
           clock=datetime.time(12, 0, 0, 1), local_time=datetime.datetime(1969, 12, 31, 23, 59, 59, 999_999),
           instant=datetime.datetime(2026, 3, 10, 20, 4, 53, 80_758, tzinfo=UTC), tags=["t"], grid=[[2**31 - 1]], scores={"a": 1.5},
           by_day={0: ["only"]}, place={"city": "Turku", "geo": {"lat": 60.45, "lon": None}, "visits": None},
           items=[{"sku": "k", "prices": {}}])


def as_json(value):
    """Documents hold what JSON can: bytes in base64, times as ISO text, decimals by their digits."""
    if isinstance(value, bytes):
        return b64(value)
    if isinstance(value, decimal.Decimal):
        return Digits(value)
    if isinstance(value, uuid.UUID):
        return str(value).upper()
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, list):
        return [as_json(v) for v in value]
    if isinstance(value, dict):
        return {str(k): as_json(v) for k, v in value.items()}
    return value


class Digits(float):
    """A number whose JSON text is exactly the decimal's."""

    def __new__(cls, value):
        made = super().__new__(cls, value)
        made.text = format(value, "f")
        return made

    def __repr__(self):
        return self.text


def document(row):
    return _dump({k: as_json(v) for k, v in row.items()}).encode()


def _dump(value):
    if isinstance(value, Digits):
        return value.text
    if isinstance(value, dict):
        return "{" + ",".join(json.dumps(k, ensure_ascii=False) + ":" + _dump(v) for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_dump, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def all_rows():
    rows = [{"id": 0, **LOW}, {"id": 1, **HIGH}, {"id": 2, **MID}, {**NULLS, "id": 3}]
    special = [("NaN", float("nan")), ("Infinity", float("inf")), ("-Infinity", float("-inf"))]
    documents = [document(row) for row in rows] + [b'{"id":4}']
    rows.append({**NULLS, "id": 4})
    for i, (text, value) in enumerate(special, 5):
        documents.append(json.dumps({"id": i, "single": text, "wide": text}).encode())
        rows.append({**NULLS, "id": i, "single": value, "wide": value})
    for i in range(8, 200):
        row = {"id": i, **{name: (LOW, MID, HIGH)[(i + k) % 3][name] for k, name in enumerate(NAMES[1:])}}
        row = {name: None if (i + k) % 11 == 0 and name != "id" else value for k, (name, value) in enumerate(row.items())}
        rows.append(row)
        documents.append(document(row))
    return rows, documents


def test_every_type_reads_back_alike_in_all_judges(kafka, lake, topic):
    rows, documents = all_rows()
    topic_of(kafka, topic, documents)
    pipeline = Pipeline(lake, kafka, topics=[topic], schema=COLUMNS)
    outcome = pipeline.run().expect()
    assert outcome.summary["dead_letters"] == 0
    expect_by_all_judges(lake, pipeline.table, rows, {"items"})


# PyIceberg 0.12 reads a null list of structs as an empty list (its projection drops the validity of the list).
WITHOUT_PYICEBERG = ("duckdb", "rust", "java")


def expect_by_all_judges(lake, table, rows, lists_of_structs):
    """Every judge compares every row; PyIceberg leaves out the columns named, where null is an empty list to it."""
    counts = lake.expect_rows(table, rows, WITHOUT_PYICEBERG)
    others = [name for name in rows[0] if name not in lists_of_structs]
    counts |= lake.expect_rows(table, [{k: row[k] for k in others} for row in rows], ("pyiceberg",), columns=others)
    assert counts == dict.fromkeys(compare.JUDGES, len(rows))


# Bounds that are off by one unit, or made of a part of the file, hide the row that stands at the edge.
EDGE_COLUMNS = ["small", "large", "wide", "money", "mid_money", "large_money", "text", "day", "local_time", "instant"]


@pytest.fixture(scope="module")
def edges(kafka, tmp_path_factory, lakes_of_module):
    """Three commits with different edges; a predicate at an edge must find its rows in each file."""
    lake = Lake(tmp_path_factory.mktemp("edges"))
    lakes_of_module.append(lake)
    topic_of(kafka, "types_edges")
    pipeline = Pipeline(lake, kafka, "edges", ["types_edges"], COLUMNS)
    rows = []
    for i, part in enumerate((dict(MID), dict(LOW), dict(HIGH))):
        row = {"id": i, **part}
        produce(kafka, "types_edges", [document(row), document({"id": 100 + i})])
        rows += [row, {**NULLS, "id": 100 + i}]
        pipeline.run().expect()
    assert len(lake.data_files(pipeline.table)) == 3
    return lake, pipeline, rows


@pytest.mark.parametrize("column", EDGE_COLUMNS)
def test_a_predicate_finds_the_row_at_each_edge(edges, column):
    lake, pipeline, rows = edges
    values = [row[column] for row in rows if row[column] is not None]
    for value in (min(values), max(values)):
        if isinstance(value, datetime.datetime) and value.year in (1, 9999):
            continue  # DuckDB's and PyIceberg's literals end before the year 9999; the middle row covers the micros
        for op, relation in (("=", value.__eq__), (">=", value.__le__), ("<=", value.__ge__)):
            expected = [row for row in rows if row[column] is not None and relation(row[column])]
            lake.expect_where(pipeline.table, column, op, value, expected)


def test_the_last_microsecond_of_a_file_is_found(kafka, lake, topic):
    """B073: a bound cut to milliseconds loses the row at its end."""
    last = datetime.datetime(2026, 3, 10, 20, 4, 53, 80_758, tzinfo=UTC)
    rows = [{"id": i, "ts": last - datetime.timedelta(microseconds=7 * i)} for i in range(50)]
    topic_of(kafka, topic, [{"id": row["id"], "ts": row["ts"].isoformat()} for row in rows])
    pipeline = Pipeline(lake, kafka, topics=[topic], schema=[{"name": "id", "type": "long"}, {"name": "ts", "type": "timestamptz"}])
    pipeline.run().expect()
    lake.expect_where(pipeline.table, "ts", "=", last, rows[:1])
    lake.expect_where(pipeline.table, "ts", ">=", last.replace(microsecond=80_500), [r for r in rows if r["ts"].microsecond >= 80_500])


def test_long_strings_among_row_groups_keep_the_range_of_the_file(kafka, lake, topic):
    """B074: a row group with values too long for statistics, between one of short values and one of nulls."""
    per_group = 20_000  # a row group has at least 16,384 rows
    values = [*"bc"] * (per_group // 2) + ["d"] * (per_group - 20) + ["x" * 5000 + f"{i:02d}" for i in range(20)] + [None] * per_group
    topic_of(kafka, topic, [{"id": i, "text": value} for i, value in enumerate(values)])
    create = {"properties": {"write.parquet.row-group-size-bytes": "16384", "write.parquet.page-size-bytes": "4096"}}
    pipeline = Pipeline(lake, kafka, topics=[topic], create=create, lanes=1, commit={"interval": "5s"})
    pipeline.run().expect()
    (file,) = lake.data_files(pipeline.table)
    assert len(file["split_offsets"]) >= 3
    rows = [{"id": i, "text": value} for i, value in enumerate(values) if value]
    lake.expect_where(pipeline.table, "text", ">=", "x", [r for r in rows if r["text"] >= "x"])
    lake.expect_where(pipeline.table, "text", "=", "x" * 5000 + "19", [r for r in rows if r["text"] == "x" * 5000 + "19"])
    lake.expect_where(pipeline.table, "text", "=", "c", [r for r in rows if r["text"] == "c"], ("duckdb",))


def test_nesting_goes_deep(kafka, lake, topic):
    """30 structs and lists, one in the other. Columns nest to 128; foreign readers do not go that far."""
    type_, value, row = "int", 7, 7
    for level in range(15):
        type_, value, row = f"list<struct<f{level}: {type_}>>", [{f"f{level}": value}], [{f"f{level}": row}]
    topic_of(kafka, topic, [{"id": 1, "deep": value}, {"id": 2, "deep": None}, {"id": 3, "deep": [None]}])
    pipeline = Pipeline(lake, kafka, topics=[topic], schema=[{"name": "id", "type": "long"}, {"name": "deep", "type": type_}])
    pipeline.run().expect()
    expect_by_all_judges(lake, pipeline.table, [{"id": 1, "deep": row}, {"id": 2, "deep": None}, {"id": 3, "deep": [None]}], {"deep"})


@pytest.mark.only_on(*lakes.FREE_LAYOUT, reason="the server refuses folders with other names than ASCII")
def test_names_that_are_not_ascii_serve_as_columns_and_partitions(kafka, lake, topic):
    """B056. The strict checker looks at the names in the manifests."""
    columns = [{"name": "id", "type": "long"}, {"name": "한글컬럼", "type": "string"}, {"name": "größe m²", "type": "double"},
               {"name": "9.lives", "type": "struct<ünter: int>"}]
    rows = [{"id": i, "한글컬럼": ["서울", "부산", None][i % 3], "größe m²": i / 2, "9.lives": {"ünter": i}} for i in range(30)]
    topic_of(kafka, topic, rows)
    pipeline = Pipeline(lake, kafka, topics=[topic], schema=columns, create={"partition_by": ["한글컬럼"]})
    pipeline.run().expect()
    lake.expect_rows(pipeline.table, rows)
    assert len(lake.data_files(pipeline.table)) == 3
    lake.expect_where(pipeline.table, "한글컬럼", "=", "부산", [r for r in rows if r["한글컬럼"] == "부산"], ("pyiceberg", "duckdb"))


def test_strings_of_megabytes_arrive_whole(kafka, lake, topic):
    rows = [{"id": i, "text": chr(0x4E00 + i) * (i * 40_000)} for i in range(10)]
    topic_of(kafka, topic, rows, config={"max.message.bytes": "8000000"})
    pipeline = Pipeline(lake, kafka, topics=[topic])
    pipeline.run().expect()
    lake.expect_rows(pipeline.table, rows)


# --- where the schema comes from ----------------------------------------------------------------

AVRO = {"type": "record", "name": "Order", "fields": [
    {"name": "id", "type": "long"},
    {"name": "name", "type": ["null", "string"], "default": None},
    {"name": "kind", "type": {"type": "enum", "name": "Kind", "symbols": ["A", "B"]}},
    {"name": "price", "type": ["null", {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}]},
    {"name": "at", "type": {"type": "long", "logicalType": "timestamp-micros"}},
    {"name": "local", "type": ["null", {"type": "long", "logicalType": "local-timestamp-micros"}]},
    {"name": "lines", "type": {"type": "array", "items": {"type": "record", "name": "Line", "fields": [
        {"name": "sku", "type": "string"}, {"name": "extra", "type": {"type": "map", "values": ["null", "int"]}}]}}},
    {"name": "hash", "type": {"type": "fixed", "name": "Hash", "size": 2}},
]}


def test_an_avro_schema_file_names_the_columns(kafka, lake, topic):
    (lake.folder / "order.avsc").write_text(json.dumps(AVRO))
    documents = [{"id": i, "name": None if i % 2 else f"n{i}", "kind": "AB"[i % 2], "price": i / 4, "at": "2026-01-31T10:00:00.000001+02:00",
                  "local": "2026-01-31 10:00:00", "lines": [{"sku": "s", "extra": {"k": i, "n": None}}], "hash": b64(bytes([i, 1]))}
                 for i in range(20)]
    topic_of(kafka, topic, documents)
    pipeline = Pipeline(lake, kafka, topics=[topic], schema="order.avsc")
    pipeline.run().expect()
    rows = [{**d, "price": decimal.Decimal(str(d["price"])), "at": datetime.datetime(2026, 1, 31, 8, 0, 0, 1, tzinfo=UTC),
             "local": datetime.datetime(2026, 1, 31, 10), "hash": bytes([d["id"], 1])} for d in documents]
    lake.expect_rows(pipeline.table, rows)
    types = {f.name: (str(f.field_type), f.required) for f in lake.load(pipeline.table).schema().fields}
    assert types["at"] == ("timestamptz", True) and types["local"] == ("timestamp", False) and types["name"] == ("string", False)


def test_the_schema_may_come_from_the_table(kafka, lake, topic):
    lake.catalog().create_namespace("shop")
    schema = Schema(NestedField(1, "id", LongType(), required=True), NestedField(2, "text", StringType(), required=False))
    lake.catalog().create_table("shop.orders", schema)
    topic_of(kafka, topic, [{**d, "unknown": [1, {}]} for d in ids(0, 50)])
    pipeline = Pipeline(lake, kafka, topics=[topic], schema="from_table", create=...)
    pipeline.run().expect()
    lake.expect_rows(pipeline.table, ids(0, 50))


def test_columns_are_kept_dropped_renamed_and_joined_by_kafkas_own(kafka, lake, topic):
    when = 1_760_000_000_123
    topic_of(kafka, topic, [Record(d, key=b"\x00key", headers=[("h", b"\xff"), ("h", None)], timestamp=when) for d in ids(0, 10)]
             + [Record([{"id": 10, "text": "a"}, {"id": 11, "text": "b"}])])
    columns = {"rename": {"text": "label"}, "kafka_metadata": True}
    pipeline = Pipeline(lake, kafka, topics=[topic], table={"columns": columns})
    pipeline.run().expect()
    rows = [{"id": i, "label": f"row {i}", "_kafka_topic": topic, "_kafka_partition": 0, "_kafka_offset": i, "_kafka_row": 0,
             "_kafka_timestamp": datetime.datetime(2025, 10, 9, 8, 53, 20, 123_000, tzinfo=UTC), "_kafka_key": b"\x00key",
             "_kafka_headers": [{"key": "h", "value": b"\xff"}, {"key": "h", "value": None}]} for i in range(10)]
    found = sorted(lake.rows(pipeline.table), key=lambda r: r["id"])
    columns_of_table = compare.columns_of(lake.location_of(pipeline.table))
    assert found[:10] == compare.canonical_rows(columns_of_table, rows)
    assert [(r["id"], r["label"], r["_kafka_offset"], r["_kafka_row"], r["_kafka_key"]) for r in found[10:]] == [
        (10, "a", 10, 0, None), (11, "b", 10, 1, None)]
    print(f"compared {len(found)} rows")
