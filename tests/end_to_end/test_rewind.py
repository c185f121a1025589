"""`frazil rewind`: rows, dead letters and positions go back together, and what is read again comes once."""
import datetime
import json

from pipeline import Pipeline, Record, frazil, ids, produce, topic_of
from test_halts import bytes_of


def three_runs(kafka, lake, topic, group="none", interval="60s"):
    """Two partitions. Runs took in ids 0-9, 10-19 and 20-29 by partition (even, odd), each in one commit; offset 5 of each partition of the
    second run is no row."""
    topic_of(kafka, topic, [], partitions=2)
    pipeline = Pipeline(lake, kafka, topics=[topic], source={"kafka": {"group": group}}, commit={"interval": interval})
    heads = []
    for begin in (0, 10, 20):
        records = [Record(b"bad" if i in (14, 15) else {"id": i, "text": "x"}, partition=i % 2) for i in range(begin, begin + 10)]
        produce(kafka, topic, records)
        pipeline.run().expect()
        heads.append(lake.load(pipeline.table).current_snapshot())
    return pipeline, heads


def rows_of(end):
    return [i for i in range(end) if i not in (14, 15)]


def rewind(pipeline, to, *more, target=None):
    return frazil("rewind", target or pipeline.write(), "--to", to, "--json", *more)


def expect_back_and_again(lake, kafka, pipeline, to, upto):
    """A dry run changes nothing and tells what the rewind then does; afterwards everything comes again, once."""
    before = bytes_of(lake)
    dry = json.loads(rewind(pipeline, to, "--dry-run").expect().stdout)
    assert bytes_of(lake) == before and dry["dry_run"] and not dry["changed"]
    done = json.loads(rewind(pipeline, to).expect().stdout)
    assert done["changed"] and {k: v for k, v in done.items() if k not in ("dry_run", "changed")} == \
        {k: v for k, v in dry.items() if k not in ("dry_run", "changed")}
    assert done["rows"] == len(rows_of(30)) - len(rows_of(upto))
    lake.expect_ids(pipeline.table, rows_of(upto))
    topic = pipeline.content["source"]["kafka"]["topics"][0]
    assert lake.positions(pipeline.table, pipeline.name) == {topic: [upto // 2, upto // 2]}
    assert done["read_again"] == {topic: {p: [upto // 2, 15] for p in "01"}}
    assert len(lake.rows(f"{pipeline.table}_dead_letters")) == (2 if upto >= 20 else 0)
    pipeline.run().expect()
    lake.expect_ids(pipeline.table, rows_of(30))
    assert sorted((row["partition"], row["offset"]) for row in lake.rows(f"{pipeline.table}_dead_letters")) == [(0, 7), (1, 7)]
    epochs = [int(s.summary["frazil.epoch"]) for s in lake.own_snapshots(pipeline.table, pipeline.name)]
    assert len(set(epochs)) == len(epochs), epochs


def test_to_a_snapshot(kafka, lake, topic):
    pipeline, heads = three_runs(kafka, lake, topic)
    expect_back_and_again(lake, kafka, pipeline, f"snapshot:{heads[0].snapshot_id}", 10)
    (decision,) = json.loads(lake.property_of(pipeline.table, "frazil.orders.accepted"))
    assert (decision["code"], decision["choice"], decision["user"]) == ("REWIND", f"snapshot:{heads[0].snapshot_id}", "tester")


def test_to_a_time(kafka, lake, topic):
    pipeline, heads = three_runs(kafka, lake, topic)
    moment = datetime.datetime.fromtimestamp(heads[1].timestamp_ms / 1000 + 0.001, datetime.timezone.utc)
    expect_back_and_again(lake, kafka, pipeline, f"time:{moment.isoformat(timespec='milliseconds').replace('+00:00', 'Z')}", 20)


def test_to_offsets(kafka, lake, topic):
    """The newest snapshot that is not beyond any of them."""
    pipeline, _ = three_runs(kafka, lake, topic)
    expect_back_and_again(lake, kafka, pipeline, f"offsets:{topic}/0=14,{topic}/1=9", 10)


def test_what_kafka_no_longer_has_is_not_given_up(kafka, lake, topic):
    pipeline, heads = three_runs(kafka, lake, topic)
    kafka.delete_records(topic, 0, 8)
    before = bytes_of(lake)
    refused = rewind(pipeline, f"snapshot:{heads[0].snapshot_id}").expect(1)
    assert f"{topic}/0[5,8)" in refused.stderr and bytes_of(lake) == before
    rewind(pipeline, f"snapshot:{heads[1].snapshot_id}").expect()
    pipeline.run().expect()
    lake.expect_ids(pipeline.table, rows_of(30))
    kafka.delete_topic(topic)  # made anew, its offsets are others
    topic_of(kafka, topic, ids(0, 100), partitions=2)
    before = bytes_of(lake)
    assert "SOURCE_RECREATED" in rewind(pipeline, f"snapshot:{heads[1].snapshot_id}").expect(1).stderr
    assert bytes_of(lake) == before


def test_a_running_worker_goes_on_from_there(kafka, lake, topic):
    """Records keep coming, and the worker commits all the while."""
    pipeline, heads = three_runs(kafka, lake, topic, f"rewind-{lake.folder.parent.name}", "200ms")
    with pipeline.start() as running:
        produce(kafka, topic, [Record({"id": i, "text": "x"}, partition=i % 2) for i in range(30, 40)])
        running.wait_until(lambda: len(lake.rows(pipeline.table)) == 38, "rows of the running worker")
        done = json.loads(rewind(pipeline, f"snapshot:{heads[0].snapshot_id}").expect().stdout)
        assert done["rows"] == 28
        produce(kafka, topic, [Record({"id": i, "text": "x"}, partition=i % 2) for i in range(40, 50)])
        running.wait_until(lambda: len(lake.rows(pipeline.table)) >= 48, "all rows again")
        outcome = running.terminate().expect()
    assert "verdict=gap" in outcome.stderr, outcome.stderr
    lake.expect_ids(pipeline.table, rows_of(50))
    assert sorted((row["partition"], row["offset"]) for row in lake.rows(f"{pipeline.table}_dead_letters")) == [(0, 7), (1, 7)]


def test_a_table_is_named_with_its_file_and_its_pipeline(kafka, lake, topic):
    pipeline, heads = three_runs(kafka, lake, topic)
    file, to = ("--file", pipeline.write()), f"snapshot:{heads[1].snapshot_id}"
    assert "orders (table shop.orders)" in rewind(pipeline, to, *file, target="shop.other").expect(2).stderr
    assert "orders (table shop.orders)" in rewind(pipeline, to, "--pipeline", "other").expect(2).stderr
    assert "snapshot:ID" in rewind(pipeline, "yesterday").expect(2).stderr
    assert "has no snapshot 4711" in rewind(pipeline, "snapshot:4711").expect(1).stderr
    assert "nothing to undo" in frazil("rewind", pipeline.write(), "--to", f"snapshot:{heads[2].snapshot_id}").expect().stdout
    text = frazil("rewind", "shop.orders", "--to", to, *file).expect().stdout
    assert "went back to snapshot" in text and f"snapshots, 10 rows in" in text, text
    assert f"    {topic}/0  from 10 up to 15\n" in text and text.endswith("restart them if the topic is quiet\n"), text
    lake.expect_ids(pipeline.table, rows_of(20))
