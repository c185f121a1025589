"""Records larger than any usual limit, and batches that unpack to a thousand times their size."""
import resource

from confluent_kafka import Producer

from pipeline import Pipeline, ids, produce, topic_of

MIB = 1 << 20


def test_a_record_of_15_mib_between_small_ones(kafka, lake, topic):
    """B099: fetch limits far below the record's size; the broker still sends the first batch whole."""
    topic_of(kafka, topic, config={"max.message.bytes": str(20 * MIB)})
    produce(kafka, topic, ids(0, 10))
    produce(kafka, topic, [b'{"id":10,"text":"' + bytes(97 + i % 26 for i in range(15 * MIB)) + b'"}'])
    produce(kafka, topic, ids(11, 20))
    limits = {"fetch.message.max.bytes": str(MIB), "fetch.max.bytes": str(MIB), "message.max.bytes": str(MIB)}
    pipeline = Pipeline(lake, kafka, topics=[topic], source={"kafka": {"properties": limits}})
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    pipeline.run().expect()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"{spent:.1f} CPU-seconds")
    assert spent < 20  # a loop at full speed would take more until the deadline of the run
    lake.expect_ids(pipeline.table, range(20))
    (large,) = [row for row in lake.rows(pipeline.table) if row["id"] == 10]
    assert len(large["text"]) == 15 * MIB and large["text"][:27] == "abcdefghijklmnopqrstuvwxyza"


def test_a_batch_that_unpacks_to_49_mb(kafka, lake, topic):
    """B097: 6,000 records of 8 KiB of one letter, zstd, in one batch."""
    topic_of(kafka, topic, config={"max.message.bytes": str(20 * MIB)})
    producer = Producer({"bootstrap.servers": kafka.bootstrap_servers, "compression.type": "zstd", "linger.ms": 5000,
                         "batch.num.messages": 100_000, "batch.size": 60_000_000, "message.max.bytes": 100_000_000,
                         "queue.buffering.max.kbytes": 200_000})
    for i in range(6000):
        producer.produce(topic, b'{"id":%d,"text":"%s"}' % (i, b"a" * 8192), partition=0)
    assert producer.flush(60) == 0
    pipeline = Pipeline(lake, kafka, topics=[topic])
    pipeline.run().expect()
    lake.expect_ids(pipeline.table, range(6000))
    assert {row["text"] for row in lake.rows(pipeline.table)} == {"a" * 8192}
    assert lake.positions(pipeline.table, "orders") == {topic: [6000]}


def test_every_codec_of_producers_is_read(kafka, lake, topic):
    topic_of(kafka, topic)
    for n, codec in enumerate(("none", "gzip", "snappy", "lz4", "zstd")):
        for size in (1, 10, 1000):
            produce(kafka, topic, ids(n * 10_000 + size * 3, n * 10_000 + size * 3 + size), **{"compression.type": codec})
    pipeline = Pipeline(lake, kafka, topics=[topic])
    pipeline.run().expect()
    lake.expect_ids(pipeline.table, [n * 10_000 + size * 3 + i for n in range(5) for size in (1, 10, 1000) for i in range(size)])
