"""Situations that only an operator can decide: the stable code, nothing written, and what each answer does."""
import datetime
import hashlib
import json

import pyarrow as pa
import pytest

from kafka_server import KafkaServer
from pipeline import Pipeline, Record, frazil, ids, produce, topic_of, write_file


def recreate(kafka, topic, records=()):
    kafka.delete_topic(topic)
    topic_of(kafka, topic, records)


def bytes_of(lake):
    """location → digest of every file in the warehouse, and what the catalog says of every table."""
    digests = {}
    for location in lake.files():
        with lake.open(location) as file:
            digests[location] = hashlib.sha256(file.read()).hexdigest()
    return digests | {table: lake.location_of(table) for table in lake.tables()}


def expect_same_bytes(lake, before, part=""):
    """Nothing of it was changed or removed, and nothing was added but data files that no metadata names: what an epoch had
    written when the halt was met. part: of locations that are looked at."""
    now = {k: v for k, v in bytes_of(lake).items() if part in k}
    before = {k: v for k, v in before.items() if part in k}
    assert before and {k: now.get(k) for k in before} == before
    added = [location for location in now if location not in before]
    assert [location for location in added if "/data/" not in location] == [], added


def expect_nothing_written(lake, table, location):
    """The very same metadata file."""
    assert lake.location_of(table) == location


CHOICES = {
    "SOURCE_RECREATED": {"restart"}, "SOURCE_GONE": {"forget"}, "SOURCE_GAP": {"skip"}, "SOURCE_BEHIND": {"continue", "restart"},
    "SOURCE_CLUSTER_CHANGED": {"same_offsets", "start"}, "TABLE_GONE": set(), "TABLE_REPLACED": {"start"},
    "TABLE_ROLLED_BACK": {"table", "source"}, "WATERMARK_LOST": {"property"},
    "POSITIONS_OF_ANOTHER_PIPELINE": {"take_over", "beside"}, "POSITIONS_TAKEN_OVER": set(),
}


def expect_told(outcome, code, choices=None):
    """Exit 1, the exact range in both forms of output, and these choices alone, each with the halt's token."""
    halt = outcome.expect_halt(code)
    assert {c["choice"] for c in halt["choices"]} == (CHOICES[code] if choices is None else choices)
    assert all(c["accept"] == f"{code}={c['choice']}@{halt['token']}" and c["meaning"] for c in halt["choices"])
    assert halt["range"] and f"affected: {halt['range']}" in outcome.stderr and halt["text"] in outcome.stderr
    assert outcome.summary["state"] == "halted" and outcome.summary["halt"] == code
    return halt


def halted(lake, pipeline, code, choices=None):
    """Runs into the halt, twice with the same token and without changing a byte of the lake; returns the outcome."""
    before = bytes_of(lake)
    first = pipeline.run()
    expect_told(first, code, choices)
    second = pipeline.run()
    assert second.expect_halt(code)["token"] == first.halt["token"]
    assert bytes_of(lake) == before
    return first


def expect_decision(lake, pipeline, code, choice):
    """The newest decision stands in a snapshot and in the property."""
    decisions = json.loads(lake.property_of(pipeline.table, f"frazil.{pipeline.name}.accepted"))
    assert len(decisions) == 1 and decisions[0]["code"] == code and decisions[0]["choice"] == choice and decisions[0]["user"] == "tester"
    assert any(code in str(dict(s.summary.additional_properties)) for s in lake.own_snapshots(pipeline.table, pipeline.name))


def begun(kafka, lake, topic, records=None, **settings):
    """A pipeline that has taken in ids 0 to 9."""
    topic_of(kafka, topic, ids(0, 10) if records is None else records)
    pipeline = Pipeline(lake, kafka, topics=[topic], **settings)
    pipeline.run().expect()
    return pipeline


# --- the source ---------------------------------------------------------------------------------


def test_a_topic_recreated_while_stopped(kafka, lake, topic):
    """Longer than our position, so that Kafka itself would go on in silence."""
    pipeline = begun(kafka, lake, topic)
    recreate(kafka, topic, ids(100, 130))
    outcome = halted(lake, pipeline, "SOURCE_RECREATED")
    assert topic in outcome.halt["text"]
    pipeline.run("--accept", outcome.accept("restart")).expect()
    lake.expect_ids(pipeline.table, [*range(10), *range(100, 130)])
    expect_decision(lake, pipeline, "SOURCE_RECREATED", "restart")


@pytest.mark.parametrize("group", ["of its own", "none"])
def test_a_topic_recreated_while_running(kafka, lake, topic, group):
    topic_of(kafka, topic, ids(0, 10))
    source = {"discovery_interval": "1s"} | ({"group": "none"} if group == "none" else {})
    pipeline = Pipeline(lake, kafka, topics=[topic], source={"kafka": source})
    with pipeline.start() as running:
        running.wait_until(lambda: len(lake.rows(pipeline.table)) == 10, "the first rows")
        before = bytes_of(lake)
        recreate(kafka, topic, ids(100, 130))
        outcome = running.wait_for_end()
    assert outcome.expect(1).halt["code"] in ("SOURCE_RECREATED", "SOURCE_GONE")  # it may look in between
    expect_same_bytes(lake, before)
    lake.expect_ids(pipeline.table, range(10))
    outcome = halted(lake, pipeline, "SOURCE_RECREATED")
    pipeline.run("--accept", outcome.accept("restart")).expect()
    lake.expect_ids(pipeline.table, [*range(10), *range(100, 130)])


def test_a_topic_deleted_while_running_is_told_before_the_halt(kafka, lake, topic):
    topic_of(kafka, topic, ids(0, 10))
    pipeline = Pipeline(lake, kafka, topics=[topic], source={"kafka": {"discovery_interval": "45s"}})
    with pipeline.start() as running:
        running.wait_until(lambda: len(lake.rows(pipeline.table)) == 10, "the first rows")
        kafka.delete_topic(topic)
        running.wait_until(lambda: "kafka_topic_gone" in running.stderr, "the warning")
        outcome = running.wait_for_end()
    assert outcome.expect(1).halt["code"] == "SOURCE_GONE"


def test_a_topic_that_is_gone(kafka, lake, topic):
    topic_of(kafka, f"{topic}_other", ids(500, 510))
    topic_of(kafka, topic, ids(0, 10))
    pipeline = Pipeline(lake, kafka, topics=[topic, f"{topic}_other"])
    pipeline.run().expect()
    kafka.delete_topic(topic)
    outcome = halted(lake, pipeline, "SOURCE_GONE")
    assert outcome.halt["range"] == topic
    pipeline.content["source"]["kafka"]["topics"] = [f"{topic}_other"]
    produce(kafka, f"{topic}_other", ids(510, 515))
    pipeline.run("--accept", outcome.accept("forget")).expect()
    lake.expect_ids(pipeline.table, [*range(10), *range(500, 515)])


def test_records_removed_before_they_were_read(kafka, lake, topic):
    """SOURCE_GAP names the exact range."""
    pipeline = begun(kafka, lake, topic)
    produce(kafka, topic, ids(10, 40))
    kafka.delete_records(topic, 0, 25)
    outcome = halted(lake, pipeline, "SOURCE_GAP")
    assert outcome.halt["range"] == f"{topic}/0[10,25)" and f"{topic}/0[10,25)" in outcome.halt["text"]
    pipeline.run("--accept", outcome.accept("skip")).expect()
    lake.expect_ids(pipeline.table, [*range(10), *range(25, 40)])
    expect_decision(lake, pipeline, "SOURCE_GAP", "skip")


def test_an_answer_is_for_one_halt_and_no_later_one(kafka, lake, topic):
    pipeline = begun(kafka, lake, topic)
    produce(kafka, topic, ids(10, 40))
    kafka.delete_records(topic, 0, 25)
    old = halted(lake, pipeline, "SOURCE_GAP").accept("skip")
    kafka.delete_records(topic, 0, 30)  # more is lost than was accepted
    location = lake.location_of(pipeline.table)
    outcome = pipeline.run("--accept", old)
    outcome.expect_halt("SOURCE_GAP")
    assert "stale_accept_ignored" in outcome.stderr and outcome.halt["range"] == f"{topic}/0[10,30)"
    expect_nothing_written(lake, pipeline.table, location)
    accepted = outcome.accept("skip")
    pipeline.run("--accept", old, "--accept", accepted).expect()
    lake.expect_ids(pipeline.table, [*range(10), *range(30, 40)])
    produce(kafka, topic, ids(40, 60))
    kafka.delete_records(topic, 0, 50)
    pipeline.run("--accept", accepted).expect_halt("SOURCE_GAP")


def test_a_log_that_ends_before_the_position(kafka, lake, topic, tmp_path):
    """SOURCE_BEHIND: the same topic, restored from an older copy. A broker of its own goes back in time."""
    import shutil

    with KafkaServer(tmp_path / "kafka") as server:
        topic_of(server, topic, ids(0, 10))
        server.stop()
        shutil.copytree(tmp_path / "kafka" / "data", tmp_path / "copy")
        server.restart()
        produce(server, topic, ids(10, 30))
        for name in ("orders", "again"):
            Pipeline(lake, server, name, [topic]).run().expect()
        server.stop()
        shutil.rmtree(tmp_path / "kafka" / "data")
        shutil.copytree(tmp_path / "copy", tmp_path / "kafka" / "data")
        server.restart()
        pipeline, again = Pipeline(lake, server, "orders", [topic]), Pipeline(lake, server, "again", [topic])
        outcome = halted(lake, pipeline, "SOURCE_BEHIND")
        assert outcome.halt["range"] == f"{topic}/0[10,30)"
        accept = halted(lake, again, "SOURCE_BEHIND").accept("restart")
        produce(server, topic, ids(100, 105))
        # Five records more, and the range is another one: the answer must be taken from the halt as it is now.
        assert again.run("--accept", accept).expect_halt("SOURCE_BEHIND")["range"] == f"{topic}/0[15,30)"
        pipeline.run("--accept", pipeline.run().accept("continue")).expect()
        again.run("--accept", again.run().accept("restart")).expect()
        produce(server, topic, ids(200, 203))
        pipeline.run().expect()
        again.run().expect()
        # continue: what was appended before the answer is left out; restart: everything that is there now comes again.
        lake.expect_ids(pipeline.table, [*range(30), *range(200, 203)])
        lake.expect_ids(again.table, [*range(30), *range(10), *range(100, 105), *range(200, 203)])


def test_another_cluster(kafka, lake, topic, tmp_path):
    """SOURCE_CLUSTER_CHANGED: bootstrap.servers points to a cluster with a topic of that name."""
    pipeline = begun(kafka, lake, topic)
    with KafkaServer(tmp_path / "kafka") as other:
        topic_of(other, topic, ids(100, 130))
        moved = Pipeline(lake, other, topics=[topic])
        outcome = halted(lake, moved, "SOURCE_CLUSTER_CHANGED")
        moved.run("--accept", outcome.accept("same_offsets")).expect()
        lake.expect_ids(pipeline.table, [*range(10), *range(110, 130)])


# --- the table ----------------------------------------------------------------------------------


def test_a_table_dropped_while_running(kafka, lake, topic):
    topic_of(kafka, topic, ids(0, 10))
    pipeline = Pipeline(lake, kafka, topics=[topic])
    with pipeline.start() as running:
        running.wait_until(lambda: len(lake.rows(pipeline.table)) == 10, "the first rows")
        lake.catalog().drop_table(pipeline.table)
        produce(kafka, topic, ids(10, 20))
        outcome = running.wait_for_end()
    expect_told(outcome, "TABLE_GONE")
    assert pipeline.table in outcome.halt["text"] and not lake.has(pipeline.table)


def test_a_table_dropped_and_made_again_while_running(kafka, lake, topic):
    topic_of(kafka, topic, ids(0, 10))
    pipeline = Pipeline(lake, kafka, topics=[topic])
    with pipeline.start() as running:
        running.wait_until(lambda: len(lake.rows(pipeline.table)) == 10, "the first rows")
        schema = lake.load(pipeline.table).schema()
        lake.catalog().drop_table(pipeline.table)
        lake.catalog().create_table(pipeline.table, schema)
        produce(kafka, topic, ids(10, 20))
        outcome = running.wait_for_end()
    outcome.expect(1)
    assert outcome.halt["code"] in ("TABLE_REPLACED", "TABLE_GONE")  # it may look in between
    assert lake.load(pipeline.table).metadata.snapshots == []
    # At the start too; accepted, the pipeline begins in the new table, which knows no positions, at its configured start.
    outcome = halted(lake, pipeline, "TABLE_REPLACED")
    pipeline.run("--accept", outcome.accept("start")).expect()
    lake.expect_ids(pipeline.table, range(20))


def with_dead_letters(kafka, lake, topic):
    """Two runs, each with rows and dead letters. Returns the pipeline and the head between the two."""
    topic_of(kafka, topic, [*ids(0, 10), Record(b"bad 1")])
    pipeline = Pipeline(lake, kafka, topics=[topic])
    pipeline.run().expect()
    between = lake.load(pipeline.table).current_snapshot().snapshot_id
    produce(kafka, topic, [*ids(11, 20), Record(b"bad 2")])
    pipeline.run().expect()
    assert len(lake.rows(f"{pipeline.table}_dead_letters")) == 2
    return pipeline, between


def roll_back(lake, table, snapshot_id):
    lake.load(table).manage_snapshots().rollback_to_snapshot(snapshot_id).commit()


def test_a_table_rolled_back_is_read_again(kafka, lake, topic):
    """=table: rows and dead letters of the epochs that are gone come again, each once."""
    pipeline, between = with_dead_letters(kafka, lake, topic)
    lake.foreign_tables.add(pipeline.table)
    roll_back(lake, pipeline.table, between)
    outcome = halted(lake, pipeline, "TABLE_ROLLED_BACK")
    assert {c["choice"] for c in outcome.halt["choices"]} == {"table", "source"}
    pipeline.run("--accept", outcome.accept("table")).expect()
    lake.expect_ids(pipeline.table, [*range(10), *range(11, 20)])
    letters = lake.rows(f"{pipeline.table}_dead_letters")
    assert sorted(row["offset"] for row in letters) == [10, 20], letters
    expect_decision(lake, pipeline, "TABLE_ROLLED_BACK", "table")
    epochs = [int(s.summary["frazil.epoch"]) for s in lake.own_snapshots(pipeline.table, "orders")]
    assert len(set(epochs)) == len(epochs), epochs
    pipeline.run().expect()
    lake.expect_ids(pipeline.table, [*range(10), *range(11, 20)])


def test_a_table_rolled_back_goes_on_without_what_was_removed(kafka, lake, topic):
    """=source: the rows that were rolled back stay away."""
    pipeline, between = with_dead_letters(kafka, lake, topic)
    lake.foreign_tables.add(pipeline.table)
    roll_back(lake, pipeline.table, between)
    outcome = halted(lake, pipeline, "TABLE_ROLLED_BACK")
    produce(kafka, topic, ids(21, 30))
    pipeline.run("--accept", outcome.accept("source")).expect()
    lake.expect_ids(pipeline.table, [*range(10), *range(21, 30)])
    assert sorted(row["offset"] for row in lake.rows(f"{pipeline.table}_dead_letters")) == [10, 20]


def test_a_table_rolled_back_while_running(kafka, lake, topic):
    pipeline, between = with_dead_letters(kafka, lake, topic)
    lake.foreign_tables.add(pipeline.table)
    with pipeline.start() as running:
        running.wait_for_log("pipeline starts")
        roll_back(lake, pipeline.table, between)
        before = bytes_of(lake)
        produce(kafka, topic, ids(21, 30))
        outcome = running.wait_for_end()
    expect_told(outcome, "TABLE_ROLLED_BACK")
    expect_same_bytes(lake, before)


def test_a_snapshot_with_the_positions_removed_by_hand(kafka, lake, topic):
    """WATERMARK_LOST: the tag is removed, a foreign commit follows, then our snapshot expires."""
    pipeline = begun(kafka, lake, topic)
    lake.unchecked_tables.add(pipeline.table)  # see expire_all
    table = lake.load(pipeline.table)
    ours = table.current_snapshot().snapshot_id
    table.append(pa.Table.from_pylist([{"id": 999, "text": "py"}], schema=table.schema().as_arrow()))
    table = lake.load(pipeline.table)
    table.manage_snapshots().remove_tag("frazil-orders").commit()
    table = lake.load(pipeline.table)
    table.maintenance.expire_snapshots().by_id(ours).commit()
    produce(kafka, topic, ids(10, 20))
    outcome = halted(lake, pipeline, "WATERMARK_LOST")
    pipeline.run("--accept", outcome.accept("property")).expect()
    lake.expect_ids(pipeline.table, [*range(20), 999])
    expect_decision(lake, pipeline, "WATERMARK_LOST", "property")


def test_a_removed_property_is_no_harm(kafka, lake, topic):
    """The tag names the snapshot when somebody removed the property."""
    pipeline = begun(kafka, lake, topic)
    lake.foreign_tables.add(pipeline.table)
    with lake.load(pipeline.table).transaction() as transaction:
        transaction.remove_properties("frazil.orders")
    produce(kafka, topic, ids(10, 20))
    pipeline.run().expect()
    lake.expect_ids(pipeline.table, range(20))


def expire_all(lake, table):
    """Every snapshot that no ref needs. PyIceberg leaves the snapshots after a removed one without a parent, which the
    strict checker does not accept."""
    lake.unchecked_tables.add(table)
    lake.load(table).maintenance.expire_snapshots().older_than(datetime.datetime.now() + datetime.timedelta(days=1)).commit()


def append_foreign(lake, table, id_):
    loaded = lake.load(table)
    loaded.append(pa.Table.from_pylist([{"id": id_, "text": "py"}], schema=loaded.schema().as_arrow()))


def test_expiry_by_others_spares_the_positions(kafka, lake, topic):
    """The tag keeps our newest snapshot although it is not the head."""
    pipeline = begun(kafka, lake, topic)
    append_foreign(lake, pipeline.table, 900)
    before = len(lake.load(pipeline.table).metadata.snapshots)
    expire_all(lake, pipeline.table)
    assert len(lake.load(pipeline.table).metadata.snapshots) < before
    produce(kafka, topic, ids(10, 20))
    pipeline.run().expect()
    lake.expect_ids(pipeline.table, [*range(20), 900])


def test_an_ancestry_cut_by_expiry_is_no_roll_back(kafka, lake, topic):
    """Snapshots between ours and the head are gone: by others, who left ours, the tag and the head."""
    pipeline = begun(kafka, lake, topic)
    for id_ in (900, 901, 902):
        append_foreign(lake, pipeline.table, id_)
    expire_all(lake, pipeline.table)
    produce(kafka, topic, ids(10, 20))
    pipeline.run().expect()
    lake.expect_ids(pipeline.table, [*range(20), 900, 901, 902])


def test_a_roll_back_behind_a_cut_ancestry_is_noticed(kafka, lake, topic):
    """Rolled back, written to by others, and everything else expired."""
    pipeline, between = with_dead_letters(kafka, lake, topic)
    roll_back(lake, pipeline.table, between)
    append_foreign(lake, pipeline.table, 900)
    append_foreign(lake, pipeline.table, 901)
    expire_all(lake, pipeline.table)
    outcome = halted(lake, pipeline, "TABLE_ROLLED_BACK", {"source"})
    pipeline.run("--accept", outcome.accept("source")).expect()
    lake.expect_ids(pipeline.table, [*range(10), 900, 901])


def test_an_idle_pipeline_survives_the_expiry_of_its_neighbour(kafka, lake, topic):
    """Two pipelines on one table: one commits and expires while the other has nothing to do."""
    idle = begun(kafka, lake, topic, create={"properties": {"history.expire.max-snapshot-age-ms": "1"}})
    topic_of(kafka, f"{topic}_busy")
    busy = Pipeline(lake, kafka, "busy", [f"{topic}_busy"], table={"name": idle.table})
    for turn in range(4):
        produce(kafka, f"{topic}_busy", ids(100 + turn, 101 + turn))
        busy.run().expect()
    assert len(lake.load(idle.table).metadata.snapshots) < 5
    produce(kafka, topic, ids(10, 20))
    idle.run().expect()
    lake.expect_ids(idle.table, [*range(20), *range(100, 104)])


def test_another_pipeline_of_the_same_source_takes_over(kafka, lake, topic):
    """A rename must not double the topic."""
    old = begun(kafka, lake, topic)
    produce(kafka, topic, ids(10, 20))
    new = Pipeline(lake, kafka, "renamed", [topic], table={"name": old.table})
    outcome = halted(lake, new, "POSITIONS_OF_ANOTHER_PIPELINE")
    assert "pipeline orders" in outcome.halt["text"] and f"{topic}/0 next 10" in outcome.halt["text"], outcome.halt["text"]
    new.run("--accept", outcome.accept("take_over")).expect()
    lake.expect_ids(old.table, range(20))
    assert json.loads(lake.property_of(old.table, "frazil.orders")) == {"closed_by": "renamed"}
    assert "frazil-orders" not in lake.load(old.table).metadata.refs
    halted(lake, old, "POSITIONS_TAKEN_OVER")
    lake.expect_ids(old.table, range(20))


def test_a_living_pipeline_stops_when_another_takes_over(kafka, lake, topic):
    topic_of(kafka, topic, ids(0, 10))
    old = Pipeline(lake, kafka, topics=[topic])
    with old.start() as running:
        running.wait_until(lambda: len(lake.rows(old.table)) == 10, "the first rows")
        new = Pipeline(lake, kafka, "renamed", [topic], table={"name": old.table})
        new.run("--accept", new.run().accept("take_over")).expect()
        produce(kafka, topic, ids(10, 20))
        running.wait_for_end().expect_halt("POSITIONS_TAKEN_OVER")
    new.run().expect()
    lake.expect_ids(old.table, range(20))


def test_two_pipelines_run_beside_each_other_on_purpose(kafka, lake, topic):
    old = begun(kafka, lake, topic)
    new = Pipeline(lake, kafka, "beside", [topic], table={"name": old.table})
    new.run("--accept", new.run().accept("beside")).expect()
    produce(kafka, topic, ids(10, 15))
    old.run().expect()
    new.run().expect()
    lake.expect_ids(old.table, [i for i in range(15) for _ in range(2)])


def test_other_pipelines_of_the_file_live_on(kafka, lake, topic):
    """One halts, the other goes to its end; the exit code tells."""
    broken = begun(kafka, lake, topic)
    topic_of(kafka, f"{topic}_sound", ids(0, 20))
    sound = Pipeline(lake, kafka, "sound", [f"{topic}_sound"])
    produce(kafka, topic, ids(10, 20))
    kafka.delete_records(topic, 0, 15)
    file = lake.folder / "both.yaml"
    write_file(file, {"pipelines": [broken.content, sound.content], "http": {"listen": "off"}})
    outcome = frazil("run", file, "--until-caught-up", "--json")
    outcome.expect_halt("SOURCE_GAP")
    assert {e["pipeline"]: e["state"] for e in outcome.of("summary")} == {"orders": "halted", "sound": "ended"}
    lake.expect_ids(sound.table, range(20))
    lake.expect_ids(broken.table, range(10))
