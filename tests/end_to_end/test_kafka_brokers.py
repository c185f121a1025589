"""Brokers that go away and come back, transactions that do not end, codecs of the broker's own, topics that are not there."""
import json
import re
import time

import pytest
from confluent_kafka import Consumer, Producer

from kafka_server import KafkaServer
from pipeline import Pipeline, ids, produce, topic_of

# The group's session ends after ten seconds without brokers, and the program then begins again at the table's positions.
OUTAGE_SECONDS = 14


@pytest.fixture
def own_kafka(tmp_path):
    """A broker that may be killed."""
    with KafkaServer(tmp_path / "kafka") as server:
        yield server


def metric(running, name):
    """The value of a metric that has one line."""
    (line,) = [line for line in running.get("/metrics")[1].splitlines() if line.startswith(f"{name}{{")]
    return float(line.rsplit(" ", 1)[1])


def test_an_outage_is_seen_and_ends_by_itself(own_kafka, lake, topic):
    topic_of(own_kafka, topic, ids(0, 10))
    pipeline = Pipeline(lake, own_kafka, topics=[topic])
    pipeline.process_content = {"http": {"listen": "127.0.0.1:0"}}
    with pipeline.start() as running:
        running.wait_for_commit(10)
        running.wait_until(lambda: running.get("/readyz")[0] == 200, "readiness")
        assert metric(running, "frazil_source_connected") == 1
        begin = time.monotonic()
        own_kafka.kill()
        running.wait_until(lambda: metric(running, "frazil_source_connected") == 0, "the outage in /metrics")
        running.wait_until(lambda: running.get("/readyz")[0] == 503, "the outage in /readyz")
        body = running.get("/readyz")[1]
        assert re.search(r"orders: .*Kafka does not answer: .+", body), body
        assert running.get("/healthz")[0] == 200
        assert json.loads(running.get("/status")[1])["pipelines"][0]["source"]["connected"] is False
        running.wait_until(lambda: time.monotonic() - begin >= OUTAGE_SECONDS, "an outage longer than the group's session")
        own_kafka.restart()
        produce(own_kafka, topic, ids(10, 20))
        running.wait_for_commit(20)
        running.wait_until(lambda: running.get("/readyz")[0] == 200, "readiness again")
        assert metric(running, "frazil_source_connected") == 1
        outcome = running.terminate().expect()
    lake.expect_ids(pipeline.table, range(20))
    lines = [re.sub(r"^\S+ ", "", line) for line in outcome.stderr.splitlines() if "kafka_client" in line or "kafka_error" in line]
    assert 1 <= len(lines) <= 12, "\n".join(lines)


def test_sigterm_during_an_outage(own_kafka, lake, topic):
    topic_of(own_kafka, topic, ids(0, 10))
    pipeline = Pipeline(lake, own_kafka, topics=[topic])
    with pipeline.start() as running:
        running.wait_for_commit(10)
        own_kafka.kill()
        running.wait_for_log("kafka_client|kafka_error")
        running.terminate().expect()
    lake.expect_ids(pipeline.table, range(10))


def test_an_open_transaction_is_named(kafka, lake, topic):
    topic_of(kafka, topic, ids(0, 10))
    pipeline = Pipeline(lake, kafka, topics=[topic], source={"kafka": {"open_transaction_warning": "2s"}})
    pipeline.process_content = {"http": {"listen": "127.0.0.1:0"}}
    hanging = Producer({"bootstrap.servers": kafka.bootstrap_servers, "transactional.id": f"{topic}-hangs", "transaction.timeout.ms": 600_000})
    hanging.init_transactions(60)
    with pipeline.start() as running:
        running.wait_for_commit(10)
        assert metric(running, "frazil_source_stuck_splits") == 0
        hanging.begin_transaction()
        hanging.produce(topic, json.dumps({"id": 999}).encode(), partition=0)
        assert hanging.flush(60) == 0
        produce(kafka, topic, ids(10, 15))
        running.wait_until(lambda: metric(running, "frazil_source_stuck_splits") == 1, "the stuck partition in /metrics")
        (stuck,) = json.loads(running.get("/status")[1])["pipelines"][0]["source"]["stuck"]
        assert (stuck["split"], stuck["position"], stuck["waiting"]) == (f"{topic}/0", "10", 6)
        assert f"describe-producers --topic {topic} --partition 0" in stuck["reason"]
        running.wait_for_log(r"LSO_STUCK.*last_stable_offset=10")
        assert running.get("/readyz")[0] == 200
        lake.expect_ids(pipeline.table, range(10))
        hanging.abort_transaction(60)
        running.wait_for_commit(15)
        running.wait_until(lambda: metric(running, "frazil_source_stuck_splits") == 0, "the end of the warning")
        outcome = running.terminate().expect()
    lake.expect_ids(pipeline.table, range(15))
    assert outcome.stderr.count("LSO_STUCK") == 1


@pytest.mark.parametrize("codec", ["zstd", "lz4"])
def test_a_topic_that_the_broker_compresses_itself(kafka, lake, topic, codec):
    """B098: such batches come only to clients that ask with a new enough version of the fetch request."""
    topic_of(kafka, topic, ids(0, 200), config={"compression.type": codec})
    pipeline = Pipeline(lake, kafka, topics=[topic])
    pipeline.run().expect()
    lake.expect_ids(pipeline.table, range(200))


def test_a_missing_topic_leaves_no_table(kafka, lake, topic):
    pipeline = Pipeline(lake, kafka, topics=[topic])
    outcome = pipeline.run().expect(1)
    assert topic in outcome.summary["detail"], outcome.summary
    assert not lake.has(pipeline.table)
    topic_of(kafka, topic, ids(0, 5))
    pipeline.run().expect()
    lake.expect_ids(pipeline.table, range(5))


def test_a_static_member_that_was_fenced_goes_on_with_a_new_client(kafka, lake, topic):
    """Somebody joins under its name, as its own request does that was delivered twice: the brokers end the first member for good."""
    topic_of(kafka, topic, ids(0, 100))
    member = {"group.instance.id": "twin", "session.timeout.ms": "6000"}
    pipeline = Pipeline(lake, kafka, topics=[topic], source={"kafka": {"properties": member}})
    with pipeline.start() as running:
        running.wait_for_commit(100)
        twin = Consumer({"bootstrap.servers": kafka.bootstrap_servers, "group.id": pipeline.group, "partition.assignment.strategy": "cooperative-sticky",
                         "log_level": 2, **member})
        twin.subscribe([topic])
        running.wait_until(lambda: (twin.poll(0.2), "FENCED_INSTANCE_ID" in running.stderr)[1], "the first member to be fenced")
        running.wait_for_log("attempt_failed.*FENCED_INSTANCE_ID")
        twin.close()
        running.wait_for_log("kafka_client_renewed")
        produce(kafka, topic, ids(100, 200))
        running.wait_for_commit(200)
        running.terminate().expect()
    lake.expect_ids(pipeline.table, range(200))
