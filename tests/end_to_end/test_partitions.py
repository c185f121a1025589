"""Partition values: every transform as foreign readers understand it, and how many files a commit makes."""
import collections
import datetime
import decimal
import uuid

import pytest

import lakes
from pipeline import Pipeline, Record, topic_of

UTC = datetime.timezone.utc
COLUMNS = [
    {"name": "id", "type": "long", "required": True},
    {"name": "n", "type": "int"},
    {"name": "s", "type": "string"},
    {"name": "d", "type": "date"},
    {"name": "ts", "type": "timestamptz"},
    {"name": "local", "type": "timestamp"},
    {"name": "m", "type": "decimal(9,2)"},
    {"name": "b", "type": "binary"},
]


EMPTY = "" if lakes.KIND in lakes.FREE_LAYOUT else "e"


def row_of(i):
    moment = datetime.datetime(1969, 12, 30, 22, 59, 59, 999_999) + datetime.timedelta(hours=7 * i)
    return {"id": i, "n": i * 3 - 20, "s": [EMPTY, "a", "żółw 🐢 tail", None, "long enough to be cut"][i % 5], "d": moment.date(),
            "ts": moment.replace(tzinfo=UTC), "local": moment, "m": decimal.Decimal(i * 37 - 300).scaleb(-2), "b": bytes([i % 3]) * 4}


def document_of(row):
    import base64
    return {**row, "d": row["d"].isoformat(), "ts": row["ts"].isoformat(), "local": row["local"].isoformat(), "m": float(row["m"]),
            "b": base64.b64encode(row["b"]).decode()}


ROWS = [row_of(i) for i in range(24)]
TRANSFORMS = [
    "bucket(4, id)", "bucket(4, n)", "bucket(4, s)", "bucket(4, d)", "bucket(4, ts)", "bucket(4, local)", "bucket(4, m)", "bucket(4, b)",
    "truncate(10, id)", "truncate(7, n)", "truncate(3, s)", "truncate(50, m)", "truncate(2, b)",
    "year(d)", "month(d)", "day(d)", "year(ts)", "month(ts)", "day(ts)", "hour(ts)", "year(local)", "month(local)", "day(local)", "hour(local)",
    "n", "s", "d", "ts", "local", "m", "b", "void(n)",
]


@pytest.fixture(scope="module")
def source(kafka):
    """One topic that the pipelines of this file read."""
    return topic_of(kafka, "partitions_source", [document_of(row) for row in ROWS])


def run_by(lake, kafka, source, name, partition_by, **settings):
    pipeline = Pipeline(lake, kafka, name, [source], COLUMNS, {"partition_by": partition_by}, lanes=2, **settings)
    pipeline.run().expect()
    return pipeline


@pytest.mark.parametrize("first", range(0, len(TRANSFORMS), 8))
def test_each_transform_is_read_alike_and_checked(lake, kafka, source, first):
    """The strict checker applies iceberg-java's transform to every row and compares with the entry's partition."""
    from pipeline import frazil, write_file

    pipelines = [Pipeline(lake, kafka, f"p{first + i}", [source], COLUMNS, {"partition_by": [transform]}, lanes=1)
                 for i, transform in enumerate(TRANSFORMS[first:first + 8])]
    file = lake.folder / "all.yaml"
    write_file(file, {"pipelines": [p.content for p in pipelines], "http": {"listen": "off"}})
    frazil("run", file, "--until-caught-up", "--json").expect()
    for pipeline, transform in zip(pipelines, TRANSFORMS[first:first + 8]):
        print(transform)
        lake.expect_rows(pipeline.table, ROWS, ("pyiceberg", "duckdb", "rust"))


def test_several_transforms_at_once_are_read_by_all_judges(lake, kafka, source):
    pipeline = run_by(lake, kafka, source, "many", ["bucket(3, id)", "day(ts)", "truncate(2, s)", "hour(local)"])
    lake.expect_rows(pipeline.table, ROWS)
    wanted = ROWS[7]["ts"]
    lake.expect_where(pipeline.table, "ts", "=", wanted, [ROWS[7]])
    lake.expect_where(pipeline.table, "id", "<", 5, ROWS[:5])


def test_partition_fields_are_named_as_java_names_them(lake, kafka, source):
    pipeline = run_by(lake, kafka, source, "named", ["bucket(4, id)", "truncate(2, s)", "day(ts)", "hour(local)", "n", "void(m)"])
    names = [(f.name, str(f.transform)) for f in lake.load(pipeline.table).spec().fields]
    assert names == [("id_bucket", "bucket[4]"), ("s_trunc", "truncate[2]"), ("ts_day", "day"), ("local_hour", "hour"),
                     ("n", "identity"), ("m_null", "void")]


@pytest.mark.parametrize("column,type_,judges", [
    # iceberg-rust 0.11 refuses UUID partition values, iceberg-java 1.12 fixed ones.
    ("u", "uuid", ("pyiceberg", "duckdb", "java")), ("f", "fixed[4]", ("pyiceberg", "duckdb", "rust")),
    ("x", "decimal(9,2)", ("pyiceberg", "duckdb", "rust", "java")), ("y", "decimal(38,3)", ("pyiceberg", "duckdb", "rust", "java"))])
def test_partition_values_of_fixed_length_types(lake, kafka, topic, column, type_, judges):
    """B054: uuid, fixed and decimal stand in the manifest as Avro fixed."""
    import base64
    make = {"u": lambda i: uuid.UUID(int=i * 2**120 + 7), "f": lambda i: bytes([i, 0, 255, i]),
            "x": lambda i: decimal.Decimal(i * 1001 - 2000).scaleb(-2), "y": lambda i: decimal.Decimal(10**30 * (i - 1) + 5).scaleb(-3)}[column]
    rows = [{"id": i, column: None if i == 7 else make(i % 4)} for i in range(9)]

    def text(value):
        return value if value is None else base64.b64encode(value).decode() if isinstance(value, bytes) else str(value)
    # Decimals as numbers with all their digits.
    values = [text(r[column]) if column in "uf" or r[column] is None else r[column] for r in rows]
    documents = [(b'{"id":%d,"%s":%s}' % (i, column.encode(), ("null" if v is None else f'"{v}"' if column in "uf" else format(v, "f")).encode()))
                 for i, v in enumerate(values)]
    topic_of(kafka, topic, documents)
    columns = [{"name": "id", "type": "long"}, {"name": column, "type": type_}]
    pipeline = Pipeline(lake, kafka, topics=[topic], schema=columns, create={"partition_by": [column]})
    pipeline.run().expect()
    assert len(lake.data_files(pipeline.table)) == 5
    lake.expect_rows(pipeline.table, rows, judges)
    if column == "f":
        lake.unchecked_tables.add(pipeline.table)
        from pipeline import java_checker
        (verdict,) = java_checker.check_tables([lake.location_of(pipeline.table)])
        assert verdict.codes == {"READER_REFUSES"} and verdict.checked["rows"] == 9


def test_hours_of_the_whole_day(lake, kafka, topic):
    """B083: midnight, noon and the last hour are three partitions."""
    hours = [("2023-12-31T00:30:00Z", 0), ("2023-12-31T12:30:00Z", 12), ("2023-12-31T23:59:59.999999Z", 23)]
    topic_of(kafka, topic, [{"id": i, "ts": text} for i, (text, _) in enumerate(hours)])
    columns = [{"name": "id", "type": "long"}, {"name": "ts", "type": "timestamptz"}]
    pipeline = Pipeline(lake, kafka, topics=[topic], schema=columns, create={"partition_by": ["hour(ts)"]})
    pipeline.run().expect()
    files = lake.data_files(pipeline.table)
    start = 19722 * 24
    assert sorted(f["partition"]["ts_hour"] for f in files) == [start + hour for _, hour in hours]
    assert sorted(f["file_path"].split("ts_hour=")[1].split("/")[0] for f in files) == [f"2023-12-31-{hour:02d}" for _, hour in hours]
    lake.expect_ids(pipeline.table, range(3))


def test_partitions_do_not_depend_on_the_zone_of_the_machine(lake, kafka, topic):
    """B082."""
    topic_of(kafka, topic, [{"id": i, "ts": f"2023-12-{d}T{h:02d}:00:00Z", "local": f"2023-12-{d}T{h:02d}:00:00", "d": f"2023-12-{d}"}
                            for i, (d, h) in enumerate([(31, 0), (31, 12), (31, 20), (30, 23)])])
    columns = [{"name": "id", "type": "long"}, {"name": "ts", "type": "timestamptz"}, {"name": "local", "type": "timestamp"},
               {"name": "d", "type": "date"}]
    seen = {}
    for number, zone in enumerate(("Asia/Kolkata", "America/Los_Angeles", "UTC")):
        pipeline = Pipeline(lake, kafka, f"zone{number}", [topic], columns, {"partition_by": ["day(ts)", "hour(local)", "d"]})
        pipeline.run(env={"TZ": zone}).expect()
        files = lake.data_files(pipeline.table)
        seen[zone] = sorted(str((f["partition"], f["file_path"].split("/data/")[1].rsplit("/", 1)[0], f["record_count"])) for f in files)
        assert any("datetime.date(2023, 12, 31)" in s or "19722" in s for s in seen[zone]), seen
    assert seen["Asia/Kolkata"] == seen["America/Los_Angeles"] == seen["UTC"]
    print(f"compared {len(seen['UTC'])} partitions in 3 zones")


def test_hash_distribution_makes_one_file_for_each_touched_partition(lake, kafka, topic):
    records = [Record({"id": i, "text": f"t{i}"}, partition=i % 4) for i in range(4000)]
    topic_of(kafka, topic, records, partitions=4)
    create = {"partition_by": ["bucket(8, id)"], "properties": {"write.distribution-mode": "hash"}}
    pipeline = Pipeline(lake, kafka, topics=[topic], create=create, lanes=2, commit={"interval": "500ms"})
    outcome = pipeline.run().expect()
    for snapshot in lake.own_snapshots(pipeline.table, "orders"):
        if int(snapshot.summary.get("added-records") or 0):
            added = int(snapshot.summary["added-data-files"])
            assert added == int(snapshot.summary["changed-partition-count"]) <= 8
    lake.expect_ids(pipeline.table, range(4000))
    assert sum(c["rows"] for c in outcome.of("commit")) == 4000


def test_without_distribution_every_lane_writes_what_it_reads(lake, kafka, topic):
    records = [Record({"id": i, "text": f"t{i}"}, partition=i % 2) for i in range(1000)]
    topic_of(kafka, topic, records, partitions=2)
    create = {"partition_by": ["bucket(3, id)"], "properties": {"write.distribution-mode": "none"}}
    pipeline = Pipeline(lake, kafka, topics=[topic], create=create, lanes=2)
    pipeline.run().expect()
    per_commit = collections.Counter((f["file_path"].rsplit("/", 1)[1].split("-")[0], str(f["partition"])) for f in lake.data_files(pipeline.table))
    assert per_commit and max(per_commit.values()) <= 2, per_commit
    lake.expect_ids(pipeline.table, range(1000))


def test_rows_that_alternate_between_partitions_make_few_files(lake, kafka, topic):
    """B084: 30,000 rows in turn for three partitions."""
    topic_of(kafka, topic, [b'{"id":%d,"text":"%d"}' % (i, i % 3) for i in range(30_000)])
    pipeline = Pipeline(lake, kafka, topics=[topic], create={"partition_by": ["text"]}, lanes=2)
    pipeline.run().expect()
    snapshots = [s for s in lake.own_snapshots(pipeline.table, "orders") if int(s.summary.get("added-records") or 0)]
    assert snapshots and all(int(s.summary["added-data-files"]) <= 3 for s in snapshots)
    assert {f["partition"]["text"] for f in lake.data_files(pipeline.table)} == {"0", "1", "2"}
    lake.expect_ids(pipeline.table, range(30_000))
