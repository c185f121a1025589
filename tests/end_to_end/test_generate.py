"""`frazil generate`: what it says about its load is what lies in the topic."""
import hashlib
import json

import pytest
from confluent_kafka import Consumer, TopicPartition

from pipeline import Pipeline, frazil, log_ends

# The columns of the generator's records, version 1.
ORDER_SCHEMA = [
    {"name": "id", "type": "long", "required": True},
    *[{"name": name, "type": "long"} for name in ("order_number", "user_id")],
    *[{"name": name, "type": "timestamptz"} for name in ("event_time", "created_at")],
    {"name": "quantity", "type": "int"},
    *[{"name": name, "type": "double"} for name in ("price", "discount", "tax", "latitude", "longitude", "refund")],
    *[{"name": name, "type": "boolean"} for name in ("is_first", "is_gift", "is_paid")],
    {"name": "trace_id", "type": "uuid"},
    *[{"name": name, "type": "string"} for name in ("coupon", "referrer", "session", "ip", "url", "landing_url", "comment", "status",
                                                   "country", "currency", "city", "device", "browser", "user_agent")],
    {"name": "tags", "type": "list<string>"},
    {"name": "shipping", "type": "struct<carrier: string, days: int, weight: double>"},
]


def generate(kafka, topic, records, *arguments, **how):
    outcome = frazil("generate", "--bootstrap-servers", kafka.bootstrap_servers, "--topic", topic, "--records", records, "--json",
                     *arguments, **how).expect()
    report = json.loads(outcome.stdout)
    assert report["topic"] == topic and report["records"] == records
    return report


def consume(kafka, topic, partitions):
    """partition → its values (None: without), in order."""
    values = {p: [] for p in range(partitions)}
    ends = log_ends(kafka, topic, partitions)
    consumer = Consumer({"bootstrap.servers": kafka.bootstrap_servers, "group.id": "reader", "enable.auto.commit": False})
    try:
        consumer.assign([TopicPartition(topic, p, 0) for p in values if ends[p]])
        missing = sum(ends.values())
        while missing:
            messages = consumer.consume(min(missing, 10_000), timeout=30)
            assert messages, f"{missing} messages did not come within 30 s"
            for message in messages:
                assert not message.error(), message.error()
                values[message.partition()].append(message.value())
            missing -= len(messages)
    finally:
        consumer.close()
    return values


def digest(values):
    hashed = hashlib.sha256()
    for partition, messages in sorted(values.items()):
        for value in messages:
            hashed.update(repr((partition, value)).encode())
    return hashed.hexdigest()


def test_the_same_seed_gives_the_same_data(kafka, topic):
    digests = {}
    for name, seed, lanes in (("a", 7, 1), ("b", 7, 2), ("c", 8, 2)):
        generate(kafka, f"{topic}_{name}", 6000, "--partitions", 4, "--seed", seed, "--lanes", lanes)
        values = consume(kafka, f"{topic}_{name}", 4)
        assert sum(map(len, values.values())) == 6000 and all(values.values())
        digests[name] = digest(values)
    assert digests["a"] == digests["b"], "the number of lanes changes the data"
    assert digests["a"] != digests["c"], "the seed changes nothing"
    print("compared 2 x 6000 messages by hash:", digests["a"][:16])


def test_what_it_reports_is_what_lies_there(kafka, topic):
    report = generate(kafka, topic, 20_000, "--partitions", 8, "--codec", "lz4")
    values = [v for messages in consume(kafka, topic, 8).values() for v in messages]
    assert report["partitions"] == 8 and len(values) == 20_000 and report["bytes"] == sum(map(len, values))
    assert report["megabytes_per_second"] == pytest.approx(report["bytes"] / 1e6 / report["seconds"], rel=0.01)
    assert report["records_per_second"] == pytest.approx(20_000 / report["seconds"], rel=0.01)
    assert 900 < report["bytes"] / 20_000 < 1200, "a record has about 1,040 bytes"
    assert sorted(json.loads(v)["id"] for v in values) == sorted(set(json.loads(v)["id"] for v in values)), "ids are unique"
    print(f"{report['records_per_second']:.0f} records/s, {report['megabytes_per_second']:.0f} MB/s")


def test_shuffled_keys_change_the_order_of_fields_and_nothing_else(kafka, topic):
    generate(kafka, f"{topic}_plain", 2000, "--partitions", 2, "--seed", 3)
    generate(kafka, f"{topic}_shuffled", 2000, "--partitions", 2, "--seed", 3, "--shuffle-keys")
    plain, shuffled = consume(kafka, f"{topic}_plain", 2), consume(kafka, f"{topic}_shuffled", 2)
    orders = set()
    for partition in (0, 1):
        ours, theirs = [[json.loads(v) for v in values[partition]] for values in (plain, shuffled)]
        assert ours == theirs and ours
        orders |= {tuple(record) for record in theirs}
    assert len({tuple(json.loads(v)) for v in plain[0]}) == 1 and len(orders) > 1000
    print("compared 2000 records;", len(orders), "orders of fields")


def test_bad_records_become_dead_letters_of_many_kinds(kafka, lake, topic):
    records = 20_000
    report = generate(kafka, topic, records, "--partitions", 4, "--bad", 5)
    pipeline = Pipeline(lake, kafka, topics=[topic], schema=ORDER_SCHEMA)
    summary = pipeline.run().expect().summary
    letters = lake.rows(f"{pipeline.table}_dead_letters")
    assert len(letters) == report["spoiled_records"] == summary["dead_letters"]
    assert len(lake.rows(pipeline.table)) == records - report["spoiled_records"] - report["tombstones"]
    # 1,000 expected; five standard deviations of a binomial are 154.
    assert abs(report["spoiled_records"] + report["tombstones"] - records * 0.05) < 154
    codes = {letter["code"] for letter in letters}
    assert len(codes) >= 5, codes
    print(f"{len(letters)} dead letters of {len(codes)} kinds, {report['tombstones']} tombstones")


def test_the_rate_is_kept(kafka, topic):
    report = generate(kafka, topic, 20_000, "--partitions", 2, "--rate", "5MB/s")
    assert 3.5 < report["megabytes_per_second"] < 5.5, report


def test_a_thousand_partitions_all_get_records(kafka, topic):
    report = generate(kafka, topic, 64_000, "--partitions", 1000, "--lanes", 2)
    ends = log_ends(kafka, topic, 1000)
    assert report["partitions"] == 1000 and len(ends) == 1000
    assert sum(ends.values()) == 64_000 and min(ends.values()) == 64
    kafka.delete_topic(topic)


AVRO = {"type": "record", "name": "Sensor", "fields": [
    {"name": "sensor", "type": "long"},
    {"name": "at", "type": {"type": "long", "logicalType": "timestamp-micros"}},
    {"name": "celsius", "type": ["null", "double"], "default": None},
    {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}},
    {"name": "unit", "type": {"type": "enum", "name": "Unit", "symbols": ["C", "F"]}},
    {"name": "labels", "type": {"type": "map", "values": "string"}},
    {"name": "places", "type": {"type": "array", "items": {"type": "record", "name": "Place", "fields": [
        {"name": "x", "type": "int"}, {"name": "y", "type": "float"}]}}},
    {"name": "seal", "type": {"type": "fixed", "name": "Seal", "size": 8}}]}


def test_a_schema_of_the_users_own(kafka, lake, topic):
    file = lake.folder / "sensor.avsc"
    file.write_text(json.dumps(AVRO))
    generate(kafka, topic, 3000, "--partitions", 2, "--schema", file, "--seed", 5)
    pipeline = Pipeline(lake, kafka, topics=[topic], schema="sensor.avsc")
    summary = pipeline.run().expect().summary
    assert summary["rows_committed"] == 3000 and summary["dead_letters"] == 0
    documents = [json.loads(v) for messages in consume(kafka, topic, 2).values() for v in messages]
    assert {name for document in documents for name in document} == {field["name"] for field in AVRO["fields"]}
    rows = lake.rows(pipeline.table)
    assert sorted(row["sensor"] for row in rows) == sorted(document["sensor"] for document in documents)
    assert {row["unit"] for row in rows} == {"C", "F"} and any(row["celsius"] is None for row in rows)
    print(f"compared {len(rows)} records of a foreign schema")
