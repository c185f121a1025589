"""Several tables from one pipeline, on a real broker: who gets which row, each once, whatever happens to a process or a table."""
import json
import random
import re

import pytest

from exactly_once import expect_all_files, faults_of, letters_of, rows_of, SCHEMA
from judges import java_checker
from kill_harness import Stream, Victim
from pipeline import ROOT, Lake, Pipeline, frazil, log_ends, produce, topic_of

KINDS = [{"name": "id", "type": "long", "required": True}, {"name": "kind", "type": "string"}]
ANCHOR = "shop.orders_positions"
DEAD = "shop.orders_dead_letters"
KILLS = 8


def kinds(begin, end, of=("order", "refund", "gift")):
    return [{"id": i, "kind": of[i % len(of)]} for i in range(begin, end)]


def routed(lake, kafka, topics, tables, schema=KINDS, **settings):
    pipeline = Pipeline(lake, kafka, topics=topics, schema=schema, table={"name": ..., **settings.pop("table", {})}, **settings)
    pipeline.content["tables"] = tables
    pipeline.table = settings.get("anchor", ANCHOR)
    return pipeline


def by_kind(rest=True):
    tables = [{"name": "shop.orders", "when": {"field": "kind", "equals": "order"}},
              {"name": "shop.refunds", "when": {"field": "kind", "matches": "re.*"}, "create": {"partition_by": ["bucket(4, id)"]}}]
    return tables + ([{"name": "shop.rest"}] if rest else [])


def test_rows_go_where_topic_field_and_pattern_say(kafka, lake, topic):
    clicks = topic_of(kafka, f"{topic}_clicks", [{"id": i, "url": f"/{i}"} for i in range(20)])
    topic_of(kafka, topic, kinds(0, 90) + [b"nonsense", {"id": 90}])
    tables = [{"name": "shop.clicks", "when": {"topic": clicks}, "schema": [{"name": "id", "type": "long"}, {"name": "url", "type": "string"}]},
              *by_kind()]
    pipeline = routed(lake, kafka, [topic, clicks], tables)
    pipeline.run().expect()
    lake.expect_ids("shop.orders", range(0, 90, 3))
    lake.expect_ids("shop.refunds", range(1, 90, 3))
    lake.expect_ids("shop.rest", [*range(2, 90, 3), 90])
    assert sorted(row["url"] for row in lake.rows("shop.clicks")) == sorted(f"/{i}" for i in range(20))
    assert [row["offset"] for row in lake.rows(DEAD)] == [90]
    assert lake.positions(ANCHOR, "orders") == {topic: [92], clicks: [20]}
    assert lake.rows(ANCHOR) == []
    # What the anchor says of it.
    report = json.loads(frazil("inspect", pipeline.write(), "--json").expect().stdout)
    (told,) = [p for p in report["pipelines"] if p["name"] == "orders"]
    assert told["owed"] == [] and set(told["tables"]) == {"shop.clicks", "shop.orders", "shop.refunds", "shop.rest"}


def test_rows_that_no_table_takes(kafka, lake, topic):
    """A dead letter with its bytes; a skipped row; a halt that names the record."""
    topic_of(kafka, topic, [*kinds(0, 6), [{"id": 6, "kind": "order"}, {"id": 7, "kind": "gift"}]])
    pipeline = routed(lake, kafka, [topic], by_kind(rest=False), unrouted="halt")
    assert pipeline.run().expect_halt("ROW_UNROUTED")["range"] == f"{topic}/0[2,3)"
    pipeline.content["unrouted"] = "dead_letter"
    outcome = pipeline.run().expect()
    lake.expect_ids("shop.orders", [0, 3])   # an array is a row for each element or none
    lake.expect_ids("shop.refunds", [1, 4])
    assert sorted((row["offset"], row["code"], row["field"]) for row in lake.rows(DEAD)) == [(o, "NO_TABLE", "kind") for o in (2, 5, 6)]
    assert outcome.summary["dead_letters"] == 3
    pipeline.content["unrouted"] = "skip"
    produce(kafka, topic, kinds(8, 12))
    assert pipeline.run().expect().summary["skipped"] == 2
    lake.expect_ids("shop.orders", [0, 3, 9])
    assert len(lake.rows(DEAD)) == 3


def test_a_row_may_go_to_every_table_that_takes_it(kafka, lake, topic):
    topic_of(kafka, topic, kinds(0, 30))
    routed(lake, kafka, [topic], by_kind(), route="all", anchor="shop.rest").run().expect()
    lake.expect_ids("shop.orders", range(0, 30, 3))
    lake.expect_ids("shop.rest", range(30))
    assert not lake.has(ANCHOR) and lake.positions("shop.rest", "orders") == {topic: [30]}


def test_a_roll_back_takes_the_rows_out_of_every_table(kafka, lake, topic):
    topic_of(kafka, topic, kinds(0, 30))
    pipeline = routed(lake, kafka, [topic], by_kind())
    pipeline.run().expect()
    before = lake.load(ANCHOR).current_snapshot().snapshot_id
    produce(kafka, topic, kinds(30, 60))
    pipeline.run().expect()
    lake.load(ANCHOR).manage_snapshots().rollback_to_snapshot(before).commit()
    halted = pipeline.run()
    halted.expect_halt("TABLE_ROLLED_BACK")
    pipeline.run("--accept", halted.accept("table")).expect()
    lake.expect_ids("shop.orders", range(0, 60, 3))
    lake.expect_ids("shop.refunds", range(1, 60, 3))
    lake.expect_ids("shop.rest", range(2, 60, 3))
    voided = [s for s in lake.load("shop.orders").metadata.snapshots if s.summary.operation.value == "delete"]
    assert len(voided) == 1, "the rows were there, left, and came again"


def test_a_table_that_is_dropped_halts_the_pipeline_and_no_other_table(kafka, lake, topic):
    topic_of(kafka, topic, kinds(0, 30))
    pipeline = routed(lake, kafka, [topic], by_kind())
    with pipeline.start() as running:
        running.wait_for_commit(30)
        running.wait_until(lambda: lake.column("shop.rest", "id") == list(range(2, 30, 3)), "rows in the last table")
        lake.catalog().drop_table("shop.refunds")
        produce(kafka, topic, kinds(30, 60))
        halted = running.wait_for_end()
    halted.expect_halt("OWED_TABLE_GONE")
    lake.expect_ids("shop.orders", range(0, 60, 3))
    lake.expect_ids("shop.rest", range(2, 60, 3))
    assert not lake.has("shop.refunds")
    pipeline.run().expect_halt("OWED_TABLE_GONE")
    produce(kafka, topic, kinds(60, 66))
    pipeline.run("--accept", halted.accept("forget")).expect()
    lake.expect_ids("shop.refunds", [61, 64])
    lake.expect_ids("shop.orders", range(0, 66, 3))


def test_a_table_that_is_partitioned_anew_while_it_is_owed_rows(kafka, lake, topic):
    """Files that were written for the former spec come in under it; the next ones follow the new one."""
    topic_of(kafka, topic, kinds(0, 30))
    pipeline = routed(lake, kafka, [topic], by_kind())
    with pipeline.start() as running:
        running.wait_for_commit(30)
        running.wait_until(lambda: lake.column("shop.rest", "id"), "rows in the last table")
        with lake.load("shop.orders").update_spec() as update:
            update.add_identity("kind")
        produce(kafka, topic, kinds(30, 60))
        running.wait_until(lambda: len(lake.rows("shop.orders")) == 20, "rows of the second load")
        produce(kafka, topic, kinds(60, 90))
        running.wait_until(lambda: len(lake.rows("shop.orders")) == 30, "rows of the third load")
        running.terminate().expect()
    lake.expect_ids("shop.orders", range(0, 90, 3))
    assert {file["partition"].get("kind") for file in lake.data_files("shop.orders")} == {None, "order"}


def test_the_example_of_the_page_is_valid(tmp_path):
    (example,) = re.findall(r"```yaml\n(.*?)```", (ROOT / "docs/operate/routing.md").read_text(), re.S)
    path = tmp_path / "shop.yaml"
    path.write_text(example)
    frazil("validate", path).expect()


@pytest.fixture
def dice():
    seed = random.SystemRandom().randrange(2**31)
    print(f"seed {seed}")
    return random.Random(seed)


def test_kills_lose_and_double_no_row_of_any_table(kafka, tmp_path, topic, lake_kind, dice):
    """kill -9 in open epochs, at times while the outbox brings rows to their tables."""
    partitions = 3
    lake = Lake(tmp_path / "lake", lake_kind)
    topic_of(kafka, topic, partitions=partitions)
    tables = [{"name": f"shop.t{n}", "when": {"field": "id", "matches": f".*[{n}{n + 1}{n + 2}]"}} for n in (0, 3)] + [{"name": "shop.rest"}]
    source = {"kafka": {"group": "routes", "properties": {"group.instance.id": "victim"}}}
    pipeline = routed(lake, kafka, [topic], tables, schema=SCHEMA, source=source, commit={"interval": "200ms"},
                      table={"columns": {"kafka_metadata": True}})
    pipeline.process_content["log"] = {"format": "json", "level": "debug"}
    with Stream(kafka, topic, partitions, 1000, 0.02, dice.randrange(2**31)) as stream:
        for kill in range(KILLS):
            with Victim(pipeline.arguments(json_events=False)) as victim:
                victim.follow(lambda p: p.is_open, "an epoch to open")
                step = ("dead letters", "answered", "commit sent")[kill % 3]
                before = victim.progress.entered[step]
                victim.follow(lambda p: p.entered[step] > before, step)
                victim.follow_for(dice.uniform(0, 0.05))
                victim.kill()
        stream.stop()
    pipeline.run().expect()
    names = [table["name"] for table in tables]
    rows = [row for name in names for row in rows_of(lake.location_of(name), "pyiceberg")]
    assert faults_of(stream.good, rows) == []
    assert faults_of(stream.bad, letters_of(lake.location_of(DEAD), "pyiceberg")) == []
    for number, name in enumerate(names):
        of_table = [row for _, row in rows_of(lake.location_of(name), "pyiceberg")]
        assert of_table and all((0 if id % 10 < 3 else 1 if id % 10 < 6 else 2) == number for id, _ in of_table)
    ends = log_ends(kafka, topic, partitions)
    assert len(stream.produced) == sum(ends.values()) and lake.positions(ANCHOR, "orders") == {topic: [ends[p] for p in range(partitions)]}
    expect_all_files(lake, [*names, ANCHOR, DEAD])
    java_checker.expect_clean([lake.location_of(name) for name in [*names, DEAD]])
    java_checker.expect_clean([lake.location_of(ANCHOR)], may_be_empty=True)
    print(f"{KILLS} kills: {len(rows)} rows of {len(names)} tables, {len(stream.bad)} dead letters, none missing, none twice")
