"""The broker of the tests keeps its own promises: otherwise every test above it proves little."""
import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition

from kafka_server import KafkaServer
from pipeline import wait_until


@pytest.fixture(scope="module")
def kafka(tmp_path_factory):
    with KafkaServer(tmp_path_factory.mktemp("kafka")) as server:
        yield server


def produce(kafka, topic, count, partition=0):
    producer = Producer({"bootstrap.servers": kafka.bootstrap_servers, "acks": "all"})
    for number in range(count):
        producer.produce(topic, value=f"record {number}", partition=partition)
    assert producer.flush(60) == 0


def watermarks(kafka, topic, partition=0):
    """Asked again while the broker does not tell of a topic that it has just made."""
    consumer = Consumer({"bootstrap.servers": kafka.bootstrap_servers, "group.id": "watermarks"})

    def answer():
        try:
            return consumer.get_watermark_offsets(TopicPartition(topic, partition), timeout=30)
        except KafkaException as error:
            if error.args[0].code() not in (KafkaError._UNKNOWN_PARTITION, KafkaError.UNKNOWN_TOPIC_OR_PART):
                raise
            return None
    try:
        return wait_until(answer, f"{topic} to be known")
    finally:
        consumer.close()


def test_records_survive_kill_9_and_restart(kafka):
    kafka.create_topic("survivors", partitions=2)
    produce(kafka, "survivors", 100, partition=1)
    kafka.kill()
    kafka.restart()
    assert watermarks(kafka, "survivors", 1) == (0, 100)


def test_deleted_records_move_the_first_offset(kafka):
    kafka.create_topic("expired")
    produce(kafka, "expired", 10)
    kafka.delete_records("expired", 0, 7)
    assert watermarks(kafka, "expired") == (7, 10)


def test_a_recreated_topic_is_empty_and_can_grow(kafka):
    kafka.create_topic("reborn")
    produce(kafka, "reborn", 5)
    kafka.delete_topic("reborn")
    kafka.create_topic("reborn")
    assert watermarks(kafka, "reborn") == (0, 0)
    kafka.add_partitions("reborn", 3)
    produce(kafka, "reborn", 4, partition=2)
    assert watermarks(kafka, "reborn", 2) == (0, 4)


def test_group_offsets_are_readable(kafka):
    kafka.create_topic("grouped")
    produce(kafka, "grouped", 3)
    consumer = Consumer({"bootstrap.servers": kafka.bootstrap_servers, "group.id": "readers"})
    consumer.commit(offsets=[TopicPartition("grouped", 0, 2)], asynchronous=False)
    consumer.close()
    assert kafka.group_offsets("readers", "grouped") == {0: 2}
