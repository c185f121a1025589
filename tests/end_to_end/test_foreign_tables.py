"""Tables that PyIceberg made, and tables in which PyIceberg and Frazil write by turns."""
import gzip
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import BucketTransform, DayTransform
from pyiceberg.types import (BooleanType, DoubleType, IntegerType, ListType, LongType, NestedField, StringType, StructType, TimestamptzType)

import lakes
from judges.canonical import load_metadata
from pipeline import Pipeline, canonical, compare, ids, produce, topic_of


def optional(id_, name, type_):
    return NestedField(id_, name, type_, required=False)


SCHEMA = Schema(
    NestedField(1, "id", LongType(), required=True),
    optional(2, "text", StringType()),
    optional(3, "amount", DoubleType()),
    optional(4, "tags", ListType(5, StringType(), element_required=False)),
    optional(6, "place", StructType(optional(7, "city", StringType()), optional(8, "zip", IntegerType()))),
    optional(9, "ts", TimestamptzType()),
)


def foreign_table(lake, schema=SCHEMA, spec=PartitionSpec(), properties=None, name="shop.orders", location=None):
    lake.catalog().create_namespace_if_not_exists("shop")
    return lake.catalog().create_table(name, schema, partition_spec=spec, properties=properties or {}, location=location)


def rows_of(begin, end):
    return [{"id": i, "text": f"row {i}", "amount": i / 4, "tags": [f"t{i % 3}", None], "place": {"city": "Turku", "zip": i},
             "ts": f"2026-01-{1 + i % 20:02d}T00:00:00.000000+00:00"} for i in range(begin, end)]


def append(table, rows):
    """Rows by PyIceberg, in the schema that the table has now."""
    import datetime
    rows = [{k: datetime.datetime.fromisoformat(v) if k == "ts" else v for k, v in row.items()} for row in rows]
    table.append(pa.Table.from_pylist(rows, schema=table.schema().as_arrow()))


def from_table(lake, kafka, topic, **settings):
    return Pipeline(lake, kafka, topics=[topic], schema="from_table", create=..., **settings)


@pytest.mark.only_on(*lakes.FREE_LAYOUT, reason="the server places tables and their files by itself")
def test_schema_ids_spec_and_location_are_the_tables(kafka, lake, topic):
    """Field ids of the foreign table, which are none of ours; a spec over them; a location of its own."""
    location = f"{lake.warehouse}/elsewhere"
    spec = PartitionSpec(PartitionField(1, 1000, BucketTransform(3), "pocket"), PartitionField(9, 1001, DayTransform(), "of day"))
    table = foreign_table(lake, spec=spec, location=location)
    with table.update_schema() as update:  # field ids with a hole, order by hand
        update.add_column("gone", StringType())
    with table.update_schema() as update:
        update.delete_column("gone")
        update.add_column("late", LongType())
        update.move_first("text")
    topic_of(kafka, topic, [{**row, "late": row["id"]} for row in rows_of(0, 60)])
    from_table(lake, kafka, topic).run().expect()
    table = lake.load("shop.orders")
    files = lake.data_files("shop.orders")
    assert files and all(f["file_path"].startswith(location + "/data/") for f in files)
    parquet = pq.ParquetFile(lake.open(files[0]["file_path"])).schema_arrow
    for field in table.schema().fields:
        assert parquet.field(field.name).metadata[b"PARQUET:field_id"] == str(field.field_id).encode()
    assert [f.name for f in table.schema().fields][0] == "text"
    lake.expect_rows("shop.orders", [{**row, "late": row["id"]} for row in rows_of(0, 60)])


# iceberg-java has no Brotli of its own: it needs a library of others for it.
CODECS = {codec: compare.JUDGES for codec in ("zstd", "gzip", "snappy", "uncompressed", "lz4")} | {"brotli": ("pyiceberg", "duckdb", "rust")}


@pytest.mark.parametrize("codec,judges", CODECS.items(), ids=CODECS)
def test_the_tables_codec_is_used_and_read_by_judges(kafka, lake, topic, codec, judges):
    foreign_table(lake, properties={"write.parquet.compression-codec": codec})
    if "java" not in judges:
        lake.unchecked_tables.add("shop.orders")
    topic_of(kafka, topic, rows_of(0, 300))
    from_table(lake, kafka, topic).run().expect()
    wanted = {"lz4": ("LZ4", "LZ4_RAW")}.get(codec, (codec.upper(),))
    for file in lake.data_files("shop.orders"):
        metadata = pq.ParquetFile(lake.open(file["file_path"])).metadata
        codecs = {metadata.row_group(g).column(c).compression for g in range(metadata.num_row_groups) for c in range(metadata.num_columns)}
        assert codecs <= set(wanted) and codecs, codecs
    lake.expect_rows("shop.orders", rows_of(0, 300), judges)


def test_row_groups_pages_and_level_come_from_the_table(kafka, lake, topic):
    sizes = {"write.parquet.row-group-size-bytes": "65536", "write.parquet.page-size-bytes": "8192", "write.parquet.compression-level": "9",
             "write.parquet.compression-codec": "zstd", "write.target-file-size-bytes": "1000000"}
    foreign_table(lake, properties=sizes)
    rows = [{"id": i, "text": f"{i * 2654435761 % 2**32:032x}"} for i in range(60_000)]
    topic_of(kafka, topic, rows)
    from_table(lake, kafka, topic, lanes=1, commit={"interval": "5s"}).run().expect()
    groups = []
    for file in lake.data_files("shop.orders"):
        metadata = pq.ParquetFile(lake.open(file["file_path"])).metadata
        groups += [metadata.row_group(g).num_rows for g in range(metadata.num_row_groups)]
        assert len(file["split_offsets"]) == metadata.num_row_groups
    assert len(groups) >= 2 and sum(groups) == len(rows), groups  # a row group has at least 16,384 rows
    lake.expect_rows("shop.orders", rows, ("pyiceberg",), columns=["id", "text"])


@pytest.mark.only_on(*lakes.FREE_LAYOUT, reason="the server places tables and their files by itself")
def test_metadata_is_gzipped_and_data_lie_where_the_table_says(kafka, lake, topic):
    properties = {"write.metadata.compression-codec": "gzip", "write.data.path": f"{lake.warehouse}/data here"}
    foreign_table(lake, properties=properties)
    topic_of(kafka, topic, rows_of(0, 40))
    from_table(lake, kafka, topic).run().expect()
    location = lake.location_of("shop.orders")
    assert location.endswith(".gz.metadata.json")
    with lake.open(location) as file:
        metadata = json.loads(gzip.decompress(file.read()))
    assert metadata["properties"]["write.metadata.compression-codec"] == "gzip"
    files = lake.data_files("shop.orders")
    assert files and all(f["file_path"].startswith(properties["write.data.path"] + "/") for f in files)
    found = lake.load("shop.orders").scan().to_arrow()
    columns = [canonical.Column(f["name"], f["type"], f["id"]) for f in metadata["schemas"][-1]["fields"]]
    assert sorted(r["id"] for r in canonical.canonical_table(columns, found)) == list(range(40))
    print("compared 40 rows by PyIceberg")
    # Back to plain metadata, which judges and checker read from the file alone.
    with lake.load("shop.orders").transaction() as transaction:
        transaction.set_properties({"write.metadata.compression-codec": "none"})
    produce(kafka, topic, rows_of(40, 50))
    from_table(lake, kafka, topic).run().expect()
    lake.expect_rows("shop.orders", rows_of(0, 50))


def test_a_property_that_is_not_honoured_is_named_once(kafka, lake, topic):
    foreign_table(lake, properties={"write.parquet.bloom-filter-enabled.column.id": "true", "write.wap.enabled": "true"})
    topic_of(kafka, topic, rows_of(0, 10))
    outcome = from_table(lake, kafka, topic).run().expect()
    for name in ("write.parquet.bloom-filter-enabled.column.id", "write.wap.enabled"):
        assert outcome.stderr.count(name) == 1, outcome.stderr
    lake.expect_ids("shop.orders", range(10))


def test_both_write_by_turns_while_pyiceberg_evolves_and_deletes(kafka, lake, topic):
    """Append, add, rename, widen, delete, overwrite by PyIceberg between runs of Frazil."""
    columns = [{"name": "id", "type": "long"}, {"name": "text", "type": "string"}, {"name": "n", "type": "int"}]
    topic_of(kafka, topic, [{"id": i, "text": f"t{i}", "n": i} for i in range(20)])
    pipeline = Pipeline(lake, kafka, topics=[topic], schema=columns, create={"partition_by": ["bucket(2, id)"]})
    pipeline.run().expect()
    lake.foreign_tables.add(pipeline.table)
    table = lake.load(pipeline.table)
    append(table, [{"id": 100 + i, "text": "py", "n": -1} for i in range(5)])
    with table.update_schema() as update:
        update.add_column("more", StringType())
        update.update_column("n", LongType())
    produce(kafka, topic, [{"id": i, "text": f"t{i}", "n": 2**31 - 1, "more": "x"} for i in range(20, 30)])
    # The pipeline's own schema still says int, and does not know `more`: both fit.
    pipeline = Pipeline(lake, kafka, topics=[topic], schema="from_table", create=...)
    pipeline.run().expect()
    rows = [{"id": i, "text": f"t{i}", "n": i, "more": None} for i in range(20)]
    rows += [{"id": 100 + i, "text": "py", "n": -1, "more": None} for i in range(5)]
    rows += [{"id": i, "text": f"t{i}", "n": 2**31 - 1, "more": "x"} for i in range(20, 30)]
    lake.expect_rows(pipeline.table, rows)

    table = lake.load(pipeline.table)
    with table.update_schema() as update:
        update.rename_column("text", "label")
    table = lake.load(pipeline.table)
    table.delete("id < 5")
    table.overwrite(pa.Table.from_pylist([{"id": 101, "label": "new", "n": 7, "more": None}], schema=table.schema().as_arrow()), "id >= 100")
    produce(kafka, topic, [{"id": i, "label": f"l{i}", "n": 2**40} for i in range(30, 40)])
    pipeline.run().expect()
    rows = [{"id": i, "label": f"t{i}", "n": i, "more": None} for i in range(5, 20)]
    rows += [{"id": i, "label": f"t{i}", "n": 2**31 - 1, "more": "x"} for i in range(20, 30)]
    rows += [{"id": 101, "label": "new", "n": 7, "more": None}]
    rows += [{"id": i, "label": f"l{i}", "n": 2**40, "more": None} for i in range(30, 40)]
    lake.expect_rows(pipeline.table, rows)
    table = lake.load(pipeline.table)
    table.append(pa.Table.from_pylist([{"id": 999, "label": None, "n": None, "more": None}], schema=table.schema().as_arrow()))
    assert pipeline.run().expect().summary["rows_committed"] == 0
    assert len(lake.rows(pipeline.table)) == len(rows) + 1


def test_a_table_that_evolves_while_the_pipeline_runs(kafka, lake, topic):
    """The epoch that was read for the old schema is read again for the new one."""
    topic_of(kafka, topic, ids(0, 10))
    pipeline = Pipeline(lake, kafka, topics=[topic])
    pipeline.run().expect()
    lake.foreign_tables.add(pipeline.table)
    pipeline = Pipeline(lake, kafka, topics=[topic], schema="from_table", create=...)
    with pipeline.start() as running:
        produce(kafka, topic, ids(10, 20))
        running.wait_until(lambda: len(lake.rows(pipeline.table)) == 20, "the rows before")
        with lake.load(pipeline.table).update_schema() as update:
            update.add_column("more", StringType())
        produce(kafka, topic, [{**d, "more": "m"} for d in ids(20, 30)])
        running.wait_until(lambda: len(lake.rows(pipeline.table)) == 30, "the rows after")
        running.terminate().expect()
    lake.expect_rows(pipeline.table, [{**d, "more": "m" if d["id"] >= 20 else None} for d in ids(0, 30)])


def test_dead_letters_go_on_in_a_table_that_others_have_extended_and_partitioned(kafka, lake, topic):
    """Its readers note what they have handled, and partition it by what they look for; a column that they take away is named."""
    topic_of(kafka, topic)
    pipeline, letters = Pipeline(lake, kafka, topics=[topic]), "shop.orders_dead_letters"

    def run_with(begin, end):
        produce(kafka, topic, [b"bad %d" % i if i % 2 else {"id": i} for i in range(begin, end)])
        return pipeline.run()

    run_with(0, 10).expect()
    lake.foreign_tables.add(letters)
    with lake.load(letters).update_schema() as update:
        update.add_column("handled", BooleanType())
        update.move_first("handled")
        update.update_column("code", doc="why it is here")
    with lake.load(letters).update_spec() as update:
        update.add_identity("code")
    run_with(10, 20).expect()
    with lake.load(letters).update_spec() as update:
        update.remove_field("code")
    run_with(20, 30).expect()
    rows = sorted(lake.rows(letters), key=lambda row: row["offset"])
    assert [(row["offset"], row["code"], row["handled"]) for row in rows] == [(i, "NOT_JSON", None) for i in range(1, 30, 2)]
    lake.expect_rows(letters, rows)
    with lake.load(letters).update_schema() as update:
        update.delete_column("headers")
    outcome = run_with(30, 40).expect(1)
    assert f"table {letters} cannot take dead letters" in outcome.stderr and "headers: the table has no such column" in outcome.stderr
    lake.expect_ids(pipeline.table, range(0, 30, 2))


def test_a_struct_that_evolves_while_the_pipeline_runs(kafka, lake, topic):
    """Members are told apart by name: one that comes in the middle, others that change places."""
    foreign_table(lake)
    lake.foreign_tables.add("shop.orders")
    topic_of(kafka, topic, rows_of(0, 10))
    with from_table(lake, kafka, topic).start() as running:
        running.wait_until(lambda: len(lake.rows("shop.orders")) == 10, "the rows before")
        with lake.load("shop.orders").update_schema() as update:
            update.add_column(("place", "street"), StringType())
            update.move_first(("place", "street"))
            update.move_first(("place", "zip"))
        produce(kafka, topic, [{**row, "place": {"city": "Oulu", "zip": row["id"], "street": "Kauppa"}} for row in rows_of(10, 30)])
        running.wait_until(lambda: len(lake.rows("shop.orders")) == 30, "the rows after")
        running.terminate().expect()
    for row in lake.rows("shop.orders"):
        street, city = (None, "Turku") if row["id"] < 10 else ("Kauppa", "Oulu")
        assert row["place"] == {"zip": row["id"], "street": street, "city": city}


def test_a_foreign_writer_commits_all_the_time_and_nobody_loses(kafka, lake, topic):
    """Both retry after a conflict; every row of both is there."""
    from pyiceberg.exceptions import CommitFailedException

    topic_of(kafka, topic)
    pipeline = Pipeline(lake, kafka, topics=[topic], commit={"interval": "50ms"})
    pipeline.run().expect()
    lake.foreign_tables.add(pipeline.table)
    written = 0
    with pipeline.start() as running:
        for turn in range(15):
            produce(kafka, topic, ids(turn * 10, turn * 10 + 10))
            table = lake.load(pipeline.table)
            try:
                append(table, [{"id": 10_000 + written, "text": "py"}])
                written += 1
            except CommitFailedException:
                pass
        running.wait_until(lambda: len(lake.rows(pipeline.table)) >= 150 + written, "all rows")
        running.terminate().expect()
    assert written > 0
    lake.expect_ids(pipeline.table, [*range(150), *range(10_000, 10_000 + written)])


def test_columns_that_the_table_lacks_are_listed_at_the_start(kafka, lake, topic):
    foreign_table(lake)
    topic_of(kafka, topic, rows_of(0, 1))
    columns = [{"name": "id", "type": "long"}, {"name": "first_new", "type": "string"}, {"name": "second_new", "type": "int"}]
    outcome = Pipeline(lake, kafka, topics=[topic], schema=columns, create=...).run().expect(1)
    assert "first_new" in outcome.stderr and "second_new" in outcome.stderr
    assert lake.load("shop.orders").current_snapshot() is None


def test_a_required_column_that_no_field_fills_is_an_error_at_the_start(kafka, lake, topic):
    foreign_table(lake, Schema(NestedField(1, "id", LongType(), required=True), NestedField(2, "must", StringType(), required=True)))
    topic_of(kafka, topic, ids(0, 1))
    outcome = Pipeline(lake, kafka, topics=[topic], schema=[{"name": "id", "type": "long"}], create=...).run().expect(1)
    assert "must" in outcome.stderr
    assert load_metadata(lake.location_of("shop.orders"))["snapshots"] == []


def test_without_create_the_table_must_exist(kafka, lake, topic):
    topic_of(kafka, topic, ids(0, 1))
    outcome = Pipeline(lake, kafka, topics=[topic], create=...).run().expect(1)
    assert "shop.orders does not exist" in outcome.stderr and "create" in outcome.stderr
    assert not lake.has("shop.orders")
