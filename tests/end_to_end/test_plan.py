"""`frazil plan` on a real broker: what it measures, and that it changes nothing."""
import json
import time

from pyiceberg.schema import Schema as TableSchema
from pyiceberg.types import LongType, NestedField, StringType

from pipeline import ID_SCHEMA, Pipeline, Record, frazil, ids, log_ends, produce, topic_of
from test_halts import bytes_of


def plan(pipeline, *more):
    outcome = frazil("plan", pipeline.write(), "--json", *more)
    return outcome, json.loads(outcome.stdout)["pipelines"][0]


def test_a_table_that_would_be_created(kafka, lake, topic):
    """1,200 records of the last minute, and 300 of half an hour ago."""
    now = int(time.time() * 1000)
    old = [Record({"id": i, "text": "x" * 90}, partition=i % 4, timestamp=now - 1_800_000) for i in range(300)]
    new = [Record({"id": i, "text": "x" * 90}, partition=i % 4, timestamp=now) for i in range(1200)]
    topic_of(kafka, topic, old + new, partitions=4)
    create = {"partition_by": ["bucket(8, id)"], "properties": {"write.target-file-size-bytes": "1000000"}}
    pipeline = Pipeline(lake, kafka, topics=[topic], create=create, commit={"interval": "10s"})
    before = sorted(lake.files())
    outcome, found = plan(pipeline, "--workers", "1,2,16")
    outcome.expect()
    assert found["topics"]["partitions"] == 4 and found["topics"]["records"] == 1500
    assert [w["records"] for w in found["topics"]["windows"]] == [1200, 1200, 1500]
    assert abs(found["topics"]["bytes_per_record"] - 110) < 5 and found["topics"]["sampled_records"] > 0
    table = found["table"]
    assert not table["exists"] and [c["name"] for c in table["columns"]] == ["id", "text"] and table["problem"] == ""
    assert table["partition_by"] == ["bucket(8, id)"] and table["touched_partitions"] == 8 and table["target_file_bytes"] == 1_000_000
    one, two, many = found["workers"]
    assert one["files_per_commit"] == 1500 / 3600 * 10 and many["working"] == 4
    assert two["seconds_to_target"] == 2 * one["seconds_to_target"] and many["seconds_to_target"] == 4 * one["seconds_to_target"]
    assert all(a["allowed"] for a in found["access"]) and len(found["access"]) == 4, found["access"]
    # Nothing was made: no table, no file, no group.
    assert sorted(lake.files()) == before and not lake.has(pipeline.table)
    assert kafka.group_offsets(pipeline.group, topic) == {}
    assert pipeline.group not in [g.group_id for g in kafka.admin.list_consumer_groups().result(30).valid]
    text = frazil("plan", pipeline.path).expect().stdout
    assert "would be created" in text and "bucket(8, id)" in text and "time to" in text, text


def test_a_table_that_exists_and_does_not_fit(kafka, lake, topic):
    topic_of(kafka, topic, ids(0, 100))
    pipeline = Pipeline(lake, kafka, topics=[topic])
    pipeline.run().expect()
    before, end = bytes_of(lake), log_ends(kafka, topic)
    outcome, found = plan(pipeline)
    outcome.expect()
    assert found["table"]["exists"] and found["table"]["rows"] == 100 and found["table"]["differences"] == []
    assert not found["table"]["file_bytes_assumed"] and found["table"]["file_bytes_per_record"] > 0
    assert [w["workers"] for w in found["workers"]] == [1, 2, 4, 8]
    pipeline.content["decode"]["json"]["schema"] = [*ID_SCHEMA, {"name": "price", "type": "double"}]
    outcome, found = plan(pipeline)
    outcome.expect(1)
    assert found["table"]["differences"] == [{"column": "price", "table": "", "schema": "double"}]
    assert "price: the table has no such column" in found["table"]["problem"]
    assert bytes_of(lake) == before and log_ends(kafka, topic) == end
    pipeline.content["source"]["kafka"]["topics"] = [f"{topic}_misspelt"]
    assert f"{topic}_misspelt" in frazil("plan", pipeline.write()).expect(1).stderr


def test_several_tables_are_planned_each_and_in_total(kafka, lake, topic):
    """Half of the rows are taken for each of two tables; one is there already, the other would be made."""
    topic_of(kafka, topic, [{"id": i, "kind": "order" if i % 3 else "gift"} for i in range(600)])
    schema = [{"name": "id", "type": "long"}, {"name": "kind", "type": "string"}]
    properties = {"write.target-file-size-bytes": "1000000"}
    tables = [{"name": "shop.orders", "when": {"field": "kind", "equals": "order"}, "create": {"properties": properties}},
              {"name": "shop.rest", "create": {"partition_by": ["bucket(4, id)"], "properties": properties}}]
    pipeline = Pipeline(lake, kafka, topics=[topic], schema=schema, table={"name": ...}, commit={"interval": "100s"})
    pipeline.content["tables"] = tables
    before = sorted(lake.files())
    outcome, found = plan(pipeline, "--workers", "1,2")
    outcome.expect()
    assert sorted(lake.files()) == before and lake.tables() == []
    orders, rest = found["tables"]
    assert found["table"]["name"] == "shop.orders_positions" and not found["table"]["exists"]
    assert [c["name"] for c in orders["columns"]] == ["id", "kind"] and orders["share_of_rows_assumed"] == rest["share_of_rows_assumed"] == 0.5
    assert rest["partition_by"] == ["bucket(4, id)"] and rest["touched_partitions"] == 4
    one = found["workers"][0]
    assert (orders["workers"][0]["files_per_commit"], rest["workers"][0]["files_per_commit"], one["files_per_commit"]) == (1, 4, 5)
    assert one["files_per_day"] == orders["workers"][0]["files_per_day"] + rest["workers"][0]["files_per_day"]
    assert one["seconds_to_target"] == rest["workers"][0]["seconds_to_target"] == 4 * orders["workers"][0]["seconds_to_target"]
    text = frazil("plan", pipeline.path).expect().stdout
    for line in ("anchor shop.orders_positions: does not exist, would be created; holds positions and no rows", "table shop.rest: does not exist, would be created",
                 "ASSUMED: rows are spread evenly over the 2 tables", "of these, table shop.orders:", "may ask the catalog for table shop.rest: yes"):
        assert line in text, (line, text)
    pipeline.run().expect()
    pipeline.content["decode"]["json"]["schema"] = [*schema, {"name": "price", "type": "double"}]
    outcome, found = plan(pipeline)
    outcome.expect(1)
    assert [t["rows"] for t in found["tables"]] == [400, 200] and found["table"]["exists"]
    assert all(t["differences"] == [{"column": "price", "table": "", "schema": "double"}] and "price" in t["problem"] for t in found["tables"])
    pipeline.content["tables"][1]["when"] = {"field": "id", "matches": ".*"}
    pipeline.content["route"] = "all"
    assert "each of the 2 tables takes every row" in frazil("plan", pipeline.write()).expect(1).stdout


def test_tables_that_do_not_fit_each_other_are_told_before_the_run(kafka, lake, topic):
    """Each fits its own columns; rows of one topic would need two types for one name."""
    topic_of(kafka, topic, ids(0, 5))
    lake.catalog().create_namespace_if_not_exists("shop")
    for name, kind in (("whole", LongType()), ("text", StringType())):
        lake.catalog().create_table(f"shop.{name}", TableSchema(NestedField(1, "id", LongType(), required=False), NestedField(2, "kind", kind, required=False)))
    pipeline = Pipeline(lake, kafka, topics=[topic], schema="from_table", table={"name": ...}, create=...)
    pipeline.content["tables"] = [{"name": "shop.whole", "when": {"field": "id", "equals": [1]}}, {"name": "shop.text"}]
    outcome, found = plan(pipeline)
    outcome.expect(1)
    assert found["problem"] in frazil("plan", pipeline.path).expect(1).stdout
    assert "kind: long in shop.whole, string in shop.text" in found["problem"]
    assert found["problem"] in pipeline.run().expect(1).stderr
