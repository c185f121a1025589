"""Where reading begins, which topics and partitions take part, and where reading ends when there are transactions."""
import datetime
import time

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from pipeline import Pipeline, Record, ids, log_ends, produce, topic_of, wait_until


def by_partition(begin, end, partitions):
    return [Record({"id": i}, partition=i % partitions) for i in range(begin, end)]


def start_at(lake, kafka, topic, start, **settings):
    return Pipeline(lake, kafka, topics=[topic], source={"kafka": {"start": start}}, **settings)


def test_earliest_takes_everything(kafka, lake, topic):
    topic_of(kafka, topic, by_partition(0, 30, 3), partitions=3)
    pipeline = start_at(lake, kafka, topic, "earliest")
    pipeline.run().expect()
    lake.expect_ids(pipeline.table, range(30))
    assert lake.positions(pipeline.table, "orders") == {topic: [10, 10, 10]}


def test_latest_is_resolved_once_and_does_not_move(kafka, lake, topic):
    """The first start is committed before the first record is read; records of later count whatever happens between."""
    topic_of(kafka, topic, by_partition(0, 30, 3), partitions=3)
    pipeline = start_at(lake, kafka, topic, "latest")
    outcome = pipeline.run().expect()
    assert outcome.summary["rows_committed"] == 0
    (first,) = lake.own_snapshots(pipeline.table, "orders")
    assert lake.positions(pipeline.table, "orders") == {topic: [10, 10, 10]} and not int(first.summary.get("added-records") or 0)
    produce(kafka, topic, by_partition(30, 60, 3))
    pipeline.run().expect()
    lake.expect_ids(pipeline.table, range(30, 60))


def test_a_kill_before_the_first_rows_cannot_move_latest(kafka, lake, topic):
    topic_of(kafka, topic, ids(0, 10))
    # After kill -9 the group waits for the dead member until its session ends.
    source = {"kafka": {"start": "latest", "properties": {"session.timeout.ms": "6000"}}}
    pipeline = Pipeline(lake, kafka, topics=[topic], source=source, commit={"interval": "1h"})
    with pipeline.start() as running:
        running.wait_until(lambda: lake.has(pipeline.table) and lake.positions(pipeline.table, "orders") == {topic: [10]}, "the first start")
        produce(kafka, topic, ids(10, 20))  # read, perhaps, but not committed
        running.kill()
    assert lake.rows(pipeline.table) == []
    produce(kafka, topic, ids(20, 30))
    pipeline = start_at(lake, kafka, topic, "latest")
    pipeline.run().expect()
    lake.expect_ids(pipeline.table, range(10, 30))


def test_group_starts_at_committed_offsets_and_else_at_the_log_start(kafka, lake, topic):
    topic_of(kafka, topic, by_partition(0, 30, 3), partitions=3)
    group = f"old-{topic}"
    consumer = Consumer({"bootstrap.servers": kafka.bootstrap_servers, "group.id": group})
    consumer.commit(offsets=[TopicPartition(topic, 0, 4), TopicPartition(topic, 1, 10)], asynchronous=False)
    consumer.close()
    pipeline = Pipeline(lake, kafka, topics=[topic], source={"kafka": {"start": "group", "group": group}})
    outcome = pipeline.run()
    if outcome.code != 0:  # a partition without an offset is an error that says so
        assert "2" in outcome.stderr and "group" in outcome.stderr, outcome.stderr
        pytest.fail(outcome.stderr)
    lake.expect_ids(pipeline.table, [i for i in range(30) if not (i % 3 == 0 and i < 12) and i % 3 != 1])
    assert kafka.group_offsets(group, topic) == {0: 10, 1: 10, 2: 10}


def test_a_timestamp_starts_at_the_first_record_of_that_time(kafka, lake, topic):
    base = 1_760_000_000_000
    topic_of(kafka, topic, [Record({"id": i}, partition=i % 2, timestamp=base + i * 1000) for i in range(20)], partitions=3)
    when = datetime.datetime.fromtimestamp(base / 1000 + 7, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    pipeline = start_at(lake, kafka, topic, {"timestamp": when})
    pipeline.run().expect()
    lake.expect_ids(pipeline.table, range(7, 20))


def test_offsets_start_each_partition_where_it_is_told(kafka, lake, topic):
    topic_of(kafka, topic, by_partition(0, 20, 2), partitions=2)
    pipeline = start_at(lake, kafka, topic, {"offsets": {topic: {"0": 3, "1": 10}}})
    pipeline.run().expect()
    lake.expect_ids(pipeline.table, [6, 8, 10, 12, 14, 16, 18])


def test_start_means_nothing_once_the_table_has_positions(kafka, lake, topic):
    topic_of(kafka, topic, ids(0, 10))
    pipeline = start_at(lake, kafka, topic, "earliest")
    pipeline.run().expect()
    produce(kafka, topic, ids(10, 20))
    for start in ("latest", "earliest", {"offsets": {topic: {"0": 0}}}):
        start_at(lake, kafka, topic, start).run().expect()
    lake.expect_ids(pipeline.table, range(20))


def test_several_topics_go_into_one_table(kafka, lake, topic):
    topics = [topic_of(kafka, f"{topic}_{n}", by_partition(n * 100, n * 100 + 20, n + 1), partitions=n + 1) for n in range(3)]
    pipeline = Pipeline(lake, kafka, topics=topics)
    pipeline.run().expect()
    lake.expect_ids(pipeline.table, [n * 100 + i for n in range(3) for i in range(20)])
    assert set(lake.positions(pipeline.table, "orders")) == set(topics)


@pytest.mark.parametrize("group", ["of its own", "none"])
def test_a_topic_that_appears_later_joins_by_its_pattern(kafka, lake, topic, group):
    topic_of(kafka, f"{topic}_a", ids(0, 10))
    topic_of(kafka, f"not_{topic}_a", ids(1000, 1001))
    source = {"topics": ..., "topic_pattern": f"{topic}_.*", "discovery_interval": "1s", "start": "latest"}
    pipeline = Pipeline(lake, kafka, source={"kafka": source | ({"group": "none"} if group == "none" else {})})
    with pipeline.start() as running:
        running.wait_until(lambda: lake.has(pipeline.table) and lake.positions(pipeline.table, "orders"), "the first start")
        topic_of(kafka, f"{topic}_b", ids(100, 110))  # from its log start, though start says latest
        produce(kafka, f"{topic}_a", ids(10, 20))
        running.wait_until(lambda: len(lake.rows(pipeline.table)) >= 20, "rows of the new topic")
        running.terminate().expect()
    lake.expect_ids(pipeline.table, [*range(10, 20), *range(100, 110)])


@pytest.mark.parametrize("group", ["of its own", "none"])
def test_a_partition_that_is_added_later_is_read_from_its_log_start(kafka, lake, topic, group):
    """KI14."""
    topic_of(kafka, topic, ids(0, 10))
    source = {"discovery_interval": "1s", "start": "latest"} | ({"group": "none"} if group == "none" else {})
    pipeline = Pipeline(lake, kafka, topics=[topic], source={"kafka": source})
    with pipeline.start() as running:
        running.wait_until(lambda: lake.has(pipeline.table) and lake.positions(pipeline.table, "orders"), "the first start")
        kafka.add_partitions(topic, 3)
        produce(kafka, topic, [Record({"id": 100 + i}, partition=1 + i % 2) for i in range(20)])
        running.wait_until(lambda: len(lake.rows(pipeline.table)) >= 20, "rows of the new partitions")
        running.terminate().expect()
    lake.expect_ids(pipeline.table, range(100, 120))
    assert lake.positions(pipeline.table, "orders") == {topic: [10, 10, 10]}


def test_a_partition_that_is_added_while_nothing_runs_is_read_from_its_log_start(kafka, lake, topic):
    topic_of(kafka, topic, ids(0, 10))
    pipeline = start_at(lake, kafka, topic, "latest")
    pipeline.run().expect()
    kafka.add_partitions(topic, 2)
    produce(kafka, topic, [Record({"id": i}, partition=1) for i in range(50, 60)])
    pipeline.run().expect()
    lake.expect_ids(pipeline.table, range(50, 60))


def test_group_offsets_equal_the_positions_after_a_run(kafka, lake, topic):
    """In the group that is named after the pipeline, where none is set."""
    topic_of(kafka, topic, by_partition(0, 50, 4), partitions=4)
    pipeline = Pipeline(lake, kafka, topics=[topic], source={"kafka": {"group": ...}})
    pipeline.run().expect()
    (positions,) = lake.positions(pipeline.table, "orders").values()
    assert positions == [13, 13, 12, 12]
    assert kafka.group_offsets("frazil-orders", topic) == dict(enumerate(positions))
    print("compared 4 offsets")


def test_group_offsets_that_were_changed_by_others_mean_nothing(kafka, lake, topic):
    """KI15: positions come from the table alone."""
    topic_of(kafka, topic, ids(0, 20))
    pipeline = Pipeline(lake, kafka, topics=[topic], source={"kafka": {"group": f"g-{topic}"}})
    pipeline.run().expect()
    consumer = Consumer({"bootstrap.servers": kafka.bootstrap_servers, "group.id": f"g-{topic}"})
    consumer.commit(offsets=[TopicPartition(topic, 0, 5)], asynchronous=False)
    consumer.close()
    produce(kafka, topic, ids(20, 25))
    pipeline.run().expect()
    lake.expect_ids(pipeline.table, range(25))


# --- transactions -------------------------------------------------------------------------------


def transactional(kafka, name):
    producer = Producer({"bootstrap.servers": kafka.bootstrap_servers, "transactional.id": name, "transaction.timeout.ms": 600_000})
    producer.init_transactions(60)
    return producer


def test_aborted_records_are_not_read_and_markers_are_passed(kafka, lake, topic):
    """B100: the log ends with a marker that no record has."""
    topic_of(kafka, topic)
    producer = transactional(kafka, topic)
    for numbers, end in (((1, 2, 3, 4, 5), producer.commit_transaction), ((6, 7, 8, 9), producer.abort_transaction), ((10,), producer.commit_transaction)):
        producer.begin_transaction()
        for number in numbers:
            producer.produce(topic, b'{"id":%d}' % number, partition=0)
        producer.flush(60)
        end(60)
    pipeline = Pipeline(lake, kafka, topics=[topic])
    outcome = pipeline.run().expect()
    lake.expect_ids(pipeline.table, [1, 2, 3, 4, 5, 10])
    end = log_ends(kafka, topic)[0]
    assert end == 13 and lake.positions(pipeline.table, "orders") == {topic: [end]}
    assert kafka.group_offsets(pipeline.group, topic) == {0: end}
    assert all(split["lag"] == 0 for split in outcome.summary["lag"]["splits"])
    again = pipeline.run().expect()
    assert again.summary["rows_committed"] == 0
    lake.expect_ids(pipeline.table, [1, 2, 3, 4, 5, 10])


def test_a_log_of_aborted_records_alone_is_caught_up(kafka, lake, topic):
    topic_of(kafka, topic)
    producer = transactional(kafka, topic)
    producer.begin_transaction()
    for number in range(5):
        producer.produce(topic, b'{"id":%d}' % number, partition=0)
    producer.flush(60)
    producer.abort_transaction(60)
    pipeline = Pipeline(lake, kafka, topics=[topic])
    pipeline.run().expect()
    assert lake.rows(pipeline.table) == [] and lake.positions(pipeline.table, "orders") == {topic: [6]}
    produce(kafka, topic, ids(0, 3))
    pipeline.run().expect()
    lake.expect_ids(pipeline.table, range(3))


def test_an_open_transaction_ends_reading_at_the_last_stable_offset(kafka, lake, topic):
    """B101: and its records come when it ends."""
    topic_of(kafka, topic, ids(0, 5))
    producer = transactional(kafka, topic)
    producer.begin_transaction()
    producer.produce(topic, b'{"id":5}', partition=0)
    producer.flush(60)
    produce(kafka, topic, ids(100, 1100))
    pipeline = Pipeline(lake, kafka, topics=[topic])
    begun = time.monotonic()
    outcome = pipeline.run().expect()
    print(f"ended after {time.monotonic() - begun:.1f} s")
    lake.expect_ids(pipeline.table, range(5))
    assert lake.positions(pipeline.table, "orders") == {topic: [5]}
    assert all(split["lag"] == 0 for split in outcome.summary["lag"]["splits"])
    with pipeline.start() as running:
        running.wait_for_log("pipeline starts")
        producer.commit_transaction(60)
        running.wait_until(lambda: len(lake.rows(pipeline.table)) >= 1006, "the rows behind the transaction")
        running.terminate().expect()
    lake.expect_ids(pipeline.table, [*range(6), *range(100, 1100)])


def test_holes_of_a_compacted_topic_are_passed(kafka, lake, topic):
    """B100: offsets that compaction removed are no gap and no reason to wait."""
    config = {"cleanup.policy": "compact", "segment.ms": "100", "min.cleanable.dirty.ratio": "0.01", "delete.retention.ms": "0",
              "min.compaction.lag.ms": "0", "max.compaction.lag.ms": "100"}
    topic_of(kafka, topic, config=config)

    def offsets():
        consumer = Consumer({"bootstrap.servers": kafka.bootstrap_servers, "group.id": f"look-{topic}", "enable.partition.eof": True})
        consumer.assign([TopicPartition(topic, 0, 0)])
        found = []
        while (message := consumer.poll(10)) is not None and not message.error():
            found.append(message.offset())
        consumer.close()
        return found

    produced = 0

    def compacted():
        nonlocal produced
        produced += produce(kafka, topic, [Record({"id": produced + i}, key=b"k%d" % (i % 3)) for i in range(9)])
        return len(offsets()) < produced

    wait_until(compacted, "the cleaner", 90)
    pipeline = Pipeline(lake, kafka, topics=[topic])
    pipeline.run().expect()
    found = lake.column(pipeline.table, "id")
    assert found and len(found) == len(set(found)) and produced - 1 in found
    assert lake.positions(pipeline.table, "orders") == {topic: [produced]}
    print(f"compared {len(found)} rows of {produced} offsets")
