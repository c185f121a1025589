"""Several tables from one pipeline, on a real broker: who gets which row, each once, whatever happens to a process or a table."""
import json
import random
import re

import pytest
from pyiceberg.schema import Schema
from pyiceberg.types import DecimalType, ListType, LongType, NestedField, StringType, StructType

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
    assert told["owed"] == []
    assert {t["table"]: (t["rows"], t["files"], t["owed_epochs"]) for t in told["tables"]} == \
        {"shop.clicks": (20, 1, []), "shop.orders": (30, 1, []), "shop.refunds": (30, 4, []), "shop.rest": (31, 1, [])}
    text = frazil("inspect", pipeline.path).expect().stdout
    assert re.search(r"table +shop\.clicks: 20 rows in 1 files, owed nothing\n", text) and re.search(r"owed +nothing\n", text), text
    assert text.endswith(f"frazil inspect shop.clicks --file {pipeline.path}\n"), text
    assert "20 rows" in frazil("inspect", "shop.clicks", "--file", pipeline.path).expect().stdout


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


def test_a_list_of_tables_that_changed_is_told_once_and_takes_what_comes(kafka, lake, topic):
    topic_of(kafka, topic, kinds(0, 30))
    told = lambda outcome: re.findall(r'tables_changed .*came="([^"]*)" no_longer_listed=(\S*) ', outcome.stderr)  # noqa: E731
    first = routed(lake, kafka, [topic], by_kind()[:1] + [{"name": "shop.others"}], anchor=ANCHOR).run().expect()
    assert told(first) == []
    produce(kafka, topic, kinds(30, 60))
    pipeline = routed(lake, kafka, [topic], by_kind(), anchor=ANCHOR)
    outcome = pipeline.run().expect()
    assert told(outcome) == [("shop.refunds shop.rest", "shop.others")]
    assert told(pipeline.run().expect()) == []
    lake.expect_ids("shop.orders", range(0, 60, 3))
    lake.expect_ids("shop.others", [i for i in range(30) if i % 3])
    lake.expect_ids("shop.refunds", range(31, 60, 3))
    lake.expect_ids("shop.rest", range(32, 60, 3))


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


def test_a_rewind_tells_and_takes_what_each_table_got(kafka, lake, topic):
    """The dry run says what the rewind then does; a table of dead letters that nobody needed is not made."""
    topic_of(kafka, topic, kinds(0, 30))
    pipeline = routed(lake, kafka, [topic], by_kind())
    pipeline.run().expect()
    target = f"snapshot:{lake.load(ANCHOR).current_snapshot().snapshot_id}"
    for begin in (30, 60):
        produce(kafka, topic, kinds(begin, begin + 30))
        pipeline.run().expect()
    told = [json.loads(frazil("rewind", pipeline.write(), "--to", target, "--json", *more).expect().stdout) for more in (["--dry-run"], [])]
    for report in told:
        assert {table["table"]: table["rows"] for table in report["tables"]} == {"shop.orders": 20, "shop.refunds": 20, "shop.rest": 20}
        assert report["rows"] == 60 and report["files"] == sum(table["files"] for table in report["tables"])
        assert report["dead_letters"] == {"table": DEAD, "exists": False, "rows": 0, "files": 0, "problem": ""}
    assert told[0]["tables"] == told[1]["tables"] and not lake.has(DEAD)
    lake.expect_ids("shop.orders", range(0, 30, 3))
    pipeline.run().expect()
    assert not lake.has(DEAD)
    for number, name in enumerate(("shop.orders", "shop.refunds", "shop.rest")):
        lake.expect_ids(name, range(number, 90, 3))


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


# --- tables that others made and change -------------------------------------------------------------------------------------

def member(id_, name, type_=StringType()):
    return NestedField(id_, name, type_, required=False)


def foreign_tables(lake, *types):
    """shop.a, shop.b: id, kind, and a column v of one of the types."""
    lake.catalog().create_namespace_if_not_exists("shop")
    for name, type_ in zip("ab", types):
        lake.catalog().create_table(f"shop.{name}", Schema(NestedField(1, "id", LongType(), required=True), member(2, "kind"), member(3, "v", type_)))
        lake.foreign_tables.add(f"shop.{name}")


def from_tables(lake, kafka, topic):
    tables = [{"name": "shop.a", "when": {"field": "kind", "equals": "a"}}, {"name": "shop.b"}]
    return routed(lake, kafka, [topic], tables, schema="from_table", create=..., anchor="shop.a")


def places(begin, end):
    return [{"id": i, "kind": "ab"[i % 2], "v": {"x": f"x{i}", "y": f"y{i}", "z": f"z{i}"}} for i in range(begin, end)]


PLACE = StructType(member(10, "x"), member(11, "y"))
TURNED = StructType(member(10, "y"), member(11, "x"))


@pytest.mark.parametrize("types, difference", [
    ((DecimalType(12, 2), DecimalType(12, 4)), "v: decimal(12, 2) in shop.a, decimal(12, 4) in shop.b"),
    ((LongType(), StringType()), "v: long in shop.a, string in shop.b"),
    ((ListType(10, LongType(), False), ListType(10, StringType(), False)), "v.element: long in shop.a, string in shop.b"),
], ids=["digits", "kinds", "elements"])
def test_columns_of_other_types_in_tables_of_one_topic_are_refused(kafka, lake, topic, types, difference):
    foreign_tables(lake, *types)
    topic_of(kafka, topic, [{"id": 1, "kind": "a"}, {"id": 2, "kind": "b"}])
    outcome = from_tables(lake, kafka, topic).run().expect(1)
    assert difference in outcome.stderr, outcome.stderr
    assert lake.rows("shop.a") == lake.rows("shop.b") == []


def expect_places(lake, count, *members):
    for number, name in enumerate("ab"):
        rows = {row["id"]: row["v"] for row in lake.rows(f"shop.{name}")}
        assert rows == {i: {m: f"{m}{i}" for m in members} for i in range(number, count, 2)}, name


def test_struct_members_keep_their_names_while_a_table_turns_them(kafka, lake, topic):
    foreign_tables(lake, PLACE, TURNED)
    topic_of(kafka, topic, places(0, 10))
    with from_tables(lake, kafka, topic).start() as running:
        running.wait_until(lambda: len(lake.rows("shop.b")) == 5, "the rows before")
        expect_places(lake, 10, "x", "y")
        with lake.load("shop.a").update_schema() as update:
            update.move_first(("v", "y"))
        produce(kafka, topic, places(10, 20))
        running.wait_until(lambda: len(lake.rows("shop.a")) == len(lake.rows("shop.b")) == 10, "the rows after")
        running.terminate().expect()
    expect_places(lake, 20, "x", "y")


def test_a_member_that_one_table_gets_while_the_pipeline_runs_ends_it_with_a_reason(kafka, lake, topic):
    foreign_tables(lake, PLACE, PLACE)
    topic_of(kafka, topic, places(0, 10))
    pipeline = from_tables(lake, kafka, topic)
    with pipeline.start() as running:
        running.wait_until(lambda: len(lake.rows("shop.b")) == 5, "the rows before")
        with lake.load("shop.b").update_schema() as update:
            update.add_column(("v", "z"), StringType())
        produce(kafka, topic, places(10, 20))
        running.wait_until(lambda: len(lake.rows("shop.a")) == 10, "rows that were under way")
        produce(kafka, topic, places(20, 30))
        outcome = running.wait_for_end()
    assert outcome.code == 1 and "v.z: not in shop.a, string in shop.b" in outcome.stderr, outcome.stderr
    with lake.load("shop.a").update_schema() as update:
        update.add_column(("v", "z"), StringType())
    pipeline.run().expect()
    for number, name in enumerate("ab"):
        rows = {row["id"]: row["v"] for row in lake.rows(f"shop.{name}")}
        assert sorted(rows) == list(range(number, 30, 2))
        assert all(row["x"] == f"x{i}" and row["y"] == f"y{i}" and row["z"] in (None, f"z{i}") for i, row in rows.items()), rows
        assert rows[28 + number]["z"] == f"z{28 + number}"


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
