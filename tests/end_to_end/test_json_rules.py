"""What the JSON rules do with records of a real topic, and what dead letters keep. Good + dead = produced."""
import ctypes
import ctypes.util
import json
import pathlib
import re

import pytest

from pipeline import Pipeline, Record, ids, produce, topic_of

DEAD = "shop.orders_dead_letters"


def dead(lake, name=DEAD):
    return sorted(lake.rows(name), key=lambda row: (row["topic"], row["partition"], row["offset"]))


def expect_dead(lake, codes, name=DEAD):
    """offset → code of every dead letter."""
    found = {row["offset"]: row["code"] for row in dead(lake, name)}
    assert found == codes
    print(f"compared {len(found)} dead letters")


def expect_sum(lake, pipeline, produced, skipped=0):
    rows, letters = len(lake.rows(pipeline.table)), len(lake.rows(DEAD))
    assert rows + letters + skipped == produced, (rows, letters, skipped, produced)
    print(f"{rows} rows + {letters} dead letters + {skipped} skipped = {produced} produced")


SIX_FORMS = [Record({"id": 1, "text": "a"}, key=b'{"id":1}'), Record(None, key=b'{"id":1}'), Record({"id": 2, "text": "b"}), Record(None),
             Record(b""), Record(b"null")]


def test_six_forms_of_nothing(kafka, lake, topic):
    """B112: a record without value is counted and skipped; empty bytes and JSON null are rejected."""
    topic_of(kafka, topic, SIX_FORMS)
    pipeline = Pipeline(lake, kafka, topics=[topic])
    outcome = pipeline.run().expect()
    lake.expect_ids(pipeline.table, [1, 2])
    expect_dead(lake, {4: "EMPTY", 5: "NOT_AN_OBJECT"})
    assert outcome.summary["tombstones"] == 2 and outcome.summary["dead_letters"] == 2
    assert lake.positions(pipeline.table, "orders") == {topic: [6]}
    expect_sum(lake, pipeline, 6, skipped=2)


def test_an_empty_array_is_a_counted_skip_under_every_policy(kafka, lake, topic):
    """No row and no fault: neither a dead letter nor a halt."""
    topic_of(kafka, topic, [b"[]", {"id": 1, "text": "a"}, b" [ ] ", [{"id": 2}, {"id": 3}]])
    pipeline = Pipeline(lake, kafka, topics=[topic], decode={"on_reject": "halt"})
    summary = pipeline.run().expect().summary
    lake.expect_ids(pipeline.table, [1, 2, 3])
    assert (summary["records_read"], summary["empty_arrays"], summary["skipped"], summary["dead_letters"]) == (4, 2, 0, 0)
    assert lake.positions(pipeline.table, "orders") == {topic: [4]}


def test_memory_bounds_what_the_rows_of_one_record_take(kafka, lake, topic):
    """900 kB that stand for 300,000 rows of 400 columns: 1 GB. The record is refused, and so are many at once; the next ones are taken."""
    many = b"[" + b",".join([b"{}"] * 300_000) + b"]"
    some = b"[" + b",".join([b"{}"] * 1_000) + b"]"   # 3 kB that stand for 3.2 MB
    topic_of(kafka, topic, [many, *[some] * 50, {"f7": 7}])
    schema = [{"name": f"f{i}", "type": "long"} for i in range(400)]
    pipeline = Pipeline(lake, kafka, topics=[topic], schema=schema)
    pipeline.content["memory"] = "64MiB"
    with pipeline.start() as running:
        running.wait_until(lambda: lake.has(pipeline.table) and lake.load(pipeline.table).scan(selected_fields=("f7",)).to_arrow().num_rows == 50_001,
                           "all rows", 120)
        peak_kb = int(re.search(r"VmHWM:\s+(\d+) kB", pathlib.Path(f"/proc/{running.process.pid}/status").read_text())[1])
        running.terminate().expect()
    expect_dead(lake, {0: "ROWS_TOO_LARGE"})
    assert peak_kb < 700_000, peak_kb


def test_tombstones_as_dead_letters(kafka, lake, topic):
    topic_of(kafka, topic, SIX_FORMS)
    pipeline = Pipeline(lake, kafka, topics=[topic], decode={"json": {"tombstone": "dead_letter"}})
    pipeline.run().expect()
    expect_dead(lake, {1: "TOMBSTONE", 3: "TOMBSTONE", 4: "EMPTY", 5: "NOT_AN_OBJECT"})
    assert [row["value"] for row in dead(lake)] == [None, None, "", b"null".hex()]
    assert [row["key"] for row in dead(lake)] == [b'{"id":1}'.hex(), None, None, None]
    assert [row["value_bytes"] for row in dead(lake)] == [None, None, 0, 4]
    expect_sum(lake, pipeline, 6)


def test_a_tombstone_may_halt(kafka, lake, topic):
    topic_of(kafka, topic, SIX_FORMS)
    pipeline = Pipeline(lake, kafka, topics=[topic], decode={"json": {"tombstone": "halt"}})
    halt = pipeline.run().expect_halt("RECORD_REJECTED")
    assert halt["range"] == f"{topic}/0[1,2)"
    assert all(row["id"] == 1 for row in lake.rows(pipeline.table))
    pipeline = Pipeline(lake, kafka, topics=[topic])
    pipeline.run().expect()
    lake.expect_ids(pipeline.table, [1, 2])


POISON = [b'{"id":0}', b"\x00\x00\x00\x2a\xff", b'{"id":1', b'{"id":1}{"id":2}', b'{"id":4,"text":NaN}', b'{"id":99,"id":5}', b'\xef\xbb\xbf{"id":6}',
          b'{"id":7,"text":"\\uD800"}', b'{"id":8,"text":"a\\u0000b"}', b'{"id":9,"text":"\xc3\x28"}', b"[" * 10_000, b'{"id":11}']
POISON_CODES = {1: "BAD_UTF8", 2: "NOT_JSON", 3: "NOT_JSON", 4: "NOT_JSON", 7: "NOT_JSON", 9: "BAD_UTF8", 10: "TOO_DEEP"}


def test_a_bad_record_blocks_nobody(kafka, lake, topic):
    """B114: the list, in order of offsets, with headers and bytes kept."""
    headers = [("trace", b"\x00\xff"), ("trace", None)]
    when = 1_760_000_000_123
    topic_of(kafka, topic, [Record(value, key=b"k%d" % i, headers=headers, timestamp=when) for i, value in enumerate(POISON)])
    pipeline = Pipeline(lake, kafka, topics=[topic])
    pipeline.run().expect()
    lake.expect_ids(pipeline.table, [0, 5, 6, 8, 11])
    assert {row["text"] for row in lake.rows(pipeline.table)} == {None, "a\0b"}
    expect_dead(lake, POISON_CODES)
    expect_sum(lake, pipeline, len(POISON))
    topic_id = json.loads(lake.property_of(pipeline.table, "frazil.orders"))["positions"]["topics"][topic]["id"]
    for row in dead(lake):
        value = POISON[row["offset"]]
        assert (row["topic"], row["topic_id"], row["partition"], row["pipeline"]) == (topic, topic_id, 0, "orders")
        assert row["value"] == value[:65536].hex() and row["value_bytes"] == len(value)
        assert row["key"] == b"k%d".replace(b"%d", str(row["offset"]).encode()).hex()
        assert row["headers"] == [{"key": "trace", "value": "00ff"}, {"key": "trace", "value": None}]
        assert row["timestamp"] == "2025-10-09T08:53:20.123000+00:00" and row["rejected_at"] > row["timestamp"]
        assert row["message"] and row["schema_id"] is not None and row["epoch"] > 0
        assert row["value_xxh128"] == xxh128(value), row
    assert {s.summary["frazil.orders.applied"] for s in lake.load(DEAD).metadata.snapshots} == {str(dead(lake)[0]["epoch"])}


def xxh128(data):
    """By the system's library: big-endian canonical form, hex."""
    library = ctypes.CDLL(ctypes.util.find_library("xxhash") or "libxxhash.so.0")

    class Hash(ctypes.Structure):
        _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]

    library.XXH3_128bits.restype = Hash
    library.XXH3_128bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    value = library.XXH3_128bits(data, len(data))
    return f"{value.high:016x}{value.low:016x}"


def test_a_large_bad_value_keeps_its_beginning_size_and_hash(kafka, lake, topic):
    value = b'{"id":"' + bytes(range(97, 123)) * 2692 + b"!"
    assert len(value) == 70_000
    topic_of(kafka, topic, [Record(value), Record({"id": 1})])
    pipeline = Pipeline(lake, kafka, topics=[topic])
    pipeline.run().expect()
    (row,) = dead(lake)
    assert row["value"] == value[:65536].hex() and row["value_bytes"] == 70_000
    assert row["value_xxh128"] == xxh128(value)
    expect_sum(lake, pipeline, 2)


def test_documents_beyond_the_limit_are_rejected_and_named(kafka, lake, topic):
    topic_of(kafka, topic, [Record({"id": 1, "text": "x" * 5000}), Record({"id": 2, "text": "y"})])
    pipeline = Pipeline(lake, kafka, topics=[topic], decode={"json": {"max_document_bytes": "4KiB"}})
    pipeline.run().expect()
    expect_dead(lake, {0: "TOO_LARGE"})
    lake.expect_ids(pipeline.table, [2])


NUMBERS = [b'{"id":0,"temp":21,"count":42.0}', b'{"id":1,"count":42.5}', b'{"id":2,"count":"42"}', b'{"id":3,"temp":"21.5"}', b'{"id":4,"flag":1}',
           b'{"id":5,"flag":"true"}', b'{"id":6,"count":4.2e1,"temp":1e400}', b'{"id":7,"count":4.2e1,"temp":-0.0,"flag":true}',
           b'{"id":8,"count":2147483648}']
NUMBER_COLUMNS = [{"name": "id", "type": "long"}, {"name": "temp", "type": "double"}, {"name": "count", "type": "int"}, {"name": "flag", "type": "boolean"}]


@pytest.mark.parametrize("coerce", [False, True])
def test_numbers_between_types(kafka, lake, topic, coerce):
    """B117."""
    topic_of(kafka, topic, NUMBERS)
    pipeline = Pipeline(lake, kafka, topics=[topic], schema=NUMBER_COLUMNS, decode={"json": {"coerce_strings": coerce}})
    pipeline.run().expect()
    rows = [{"id": 0, "temp": 21.0, "count": 42, "flag": None}, {"id": 7, "temp": -0.0, "count": 42, "flag": True}]
    codes = {1: "NOT_INTEGRAL", 4: "TYPE_MISMATCH", 6: "OUT_OF_RANGE", 8: "OUT_OF_RANGE"}
    if coerce:
        rows += [{"id": 2, "temp": None, "count": 42, "flag": None}, {"id": 3, "temp": 21.5, "count": None, "flag": None},
                 {"id": 5, "temp": None, "count": None, "flag": True}]
    else:
        codes |= {2: "TYPE_MISMATCH", 3: "TYPE_MISMATCH", 5: "TYPE_MISMATCH"}
    lake.expect_rows(pipeline.table, rows)
    expect_dead(lake, codes)
    fields = {row["offset"]: row["field"] for row in dead(lake)}
    assert fields[1] == "count" and fields[4] == "flag" and fields[6] == "temp"
    expect_sum(lake, pipeline, len(NUMBERS))


CASES = [b'{"custId":1}', b'{"CUSTID":2}', b'{"custid":3,"custId":4}', b'{"custid":5}']


def test_names_that_differ_in_case(kafka, lake, topic):
    """B124, with the default of this program: case matters, and the log says so once."""
    topic_of(kafka, topic, CASES)
    pipeline = Pipeline(lake, kafka, topics=[topic], schema=[{"name": "custid", "type": "long"}], lanes=1)
    outcome = pipeline.run().expect()
    assert sorted(row["custid"] or 0 for row in lake.rows(pipeline.table)) == [0, 0, 3, 5]
    assert outcome.stderr.count("only by case") == 1 and "custId" in outcome.stderr
    assert [f.name for f in lake.load(pipeline.table).schema().fields] == ["custid"]


def test_names_without_regard_to_case(kafka, lake, topic):
    topic_of(kafka, topic, CASES)
    pipeline = Pipeline(lake, kafka, topics=[topic], schema=[{"name": "custid", "type": "long"}], decode={"json": {"case_insensitive": True}})
    pipeline.run().expect()
    lake.expect_ids(pipeline.table, [1, 2, 5], "custid")
    expect_dead(lake, {2: "AMBIGUOUS_FIELD"})
    expect_sum(lake, pipeline, 4)


# --- policies -----------------------------------------------------------------------------------

SOME_BAD = [Record({"id": 0}), Record({"id": "x"}), Record({"id": 2}), Record(b"{"), Record({"id": 4})]


def test_skipping_counts_and_says_so(kafka, lake, topic):
    topic_of(kafka, topic, SOME_BAD)
    pipeline = Pipeline(lake, kafka, topics=[topic], decode={"on_reject": "skip"})
    outcome = pipeline.run().expect()
    lake.expect_ids(pipeline.table, [0, 2, 4])
    assert outcome.summary["skipped"] == 2 and outcome.summary["dead_letters"] == 0
    assert "record skipped by policy" in outcome.stderr
    assert not lake.has(DEAD)
    assert lake.positions(pipeline.table, "orders") == {topic: [5]}


def test_halting_names_the_record_and_loses_nothing(kafka, lake, topic):
    topic_of(kafka, topic, SOME_BAD)
    pipeline = Pipeline(lake, kafka, topics=[topic], decode={"on_reject": "halt"})
    for _ in range(2):
        halt = pipeline.run().expect_halt("RECORD_REJECTED")
        assert f"{topic}/0 offset 1" in halt["text"] and "TYPE_MISMATCH" in halt["text"]
        assert {row["id"] for row in lake.rows(pipeline.table)} <= {0}
    pipeline = Pipeline(lake, kafka, topics=[topic])
    pipeline.run().expect()
    lake.expect_ids(pipeline.table, [0, 2, 4])
    expect_dead(lake, {1: "TYPE_MISMATCH", 3: "NOT_JSON"})


def test_bad_fields_become_null_where_that_is_asked_for(kafka, lake, topic):
    columns = [{"name": "id", "type": "long", "required": True}, {"name": "n", "type": "int"}, {"name": "tags", "type": "list<int>"}]
    topic_of(kafka, topic, [b'{"id":1,"n":"x","tags":[1,"y",3]}', b'{"id":"bad"}', b'{"id":2,"n":5}'])
    pipeline = Pipeline(lake, kafka, topics=[topic], schema=columns, decode={"json": {"on_bad_field": "null"}})
    pipeline.run().expect()
    lake.expect_rows(pipeline.table, [{"id": 1, "n": None, "tags": [1, None, 3]}, {"id": 2, "n": 5, "tags": None}])
    expect_dead(lake, {1: "TYPE_MISMATCH"})


def test_missing_fields_reject_where_that_is_asked_for(kafka, lake, topic):
    topic_of(kafka, topic, [b'{"id":1}', b'{"id":2,"text":null}', b'{"text":"no id"}'])
    pipeline = Pipeline(lake, kafka, topics=[topic], decode={"json": {"on_missing_field": "reject"}})
    pipeline.run().expect()
    lake.expect_rows(pipeline.table, [{"id": 2, "text": None}])
    expect_dead(lake, {0: "MISSING_FIELD", 2: "MISSING_FIELD"})


def test_arrays_explode_as_a_whole_or_not_at_all(kafka, lake, topic):
    topic_of(kafka, topic, [ids(0, 3), [{"id": 3}, {"id": "bad"}], [], ids(4, 5)])
    pipeline = Pipeline(lake, kafka, topics=[topic])
    pipeline.run().expect()
    lake.expect_ids(pipeline.table, [0, 1, 2, 4])
    expect_dead(lake, {1: "TYPE_MISMATCH"})
    other = Pipeline(lake, kafka, "plain", [topic], decode={"json": {"top_level_array": "reject"}})
    other.run().expect()
    expect_dead(lake, dict.fromkeys(range(4), "TOP_LEVEL_ARRAY"), "shop.plain_dead_letters")


def test_timestamps_by_number_and_zone(kafka, lake, topic):
    import datetime
    columns = [{"name": "id", "type": "long"}, {"name": "ts", "type": "timestamptz"}]
    topic_of(kafka, topic, [b'{"id":0,"ts":1760000000123}', b'{"id":1,"ts":"2026-01-31 10:00:00"}', b'{"id":2,"ts":"2026-01-31T10:00:00.1234567Z"}'])
    pipeline = Pipeline(lake, kafka, topics=[topic], schema=columns, decode={"json": {"timestamp_numbers": "millis", "assume_zone": "+02:00"}})
    pipeline.run().expect()
    utc = datetime.timezone.utc
    lake.expect_rows(pipeline.table, [{"id": 0, "ts": datetime.datetime(2025, 10, 9, 8, 53, 20, 123_000, tzinfo=utc)},
                                      {"id": 1, "ts": datetime.datetime(2026, 1, 31, 8, tzinfo=utc)},
                                      {"id": 2, "ts": datetime.datetime(2026, 1, 31, 10, 0, 0, 123_456, tzinfo=utc)}])
    strict = Pipeline(lake, kafka, "strict", [topic], columns)
    strict.run().expect()
    expect_dead(lake, {0: "TYPE_MISMATCH", 1: "BAD_TIMESTAMP"}, "shop.strict_dead_letters")


# --- the table of dead letters ------------------------------------------------------------------


def test_dead_letters_of_several_epochs_and_partitions_are_exact(kafka, lake, topic):
    """Every dead letter once, one epoch a file, whatever the order of commits."""
    topic_of(kafka, topic, partitions=3)
    pipeline = Pipeline(lake, kafka, topics=[topic], dead_letters="audit.rejected")
    produced = 0
    for turn in range(3):
        records = [Record({"id": turn * 100 + i} if i % 3 else b"bad %d" % i, partition=i % 3 if i % 2 else 0) for i in range(60)]
        produced += produce(kafka, topic, records)
        pipeline.run().expect()
    letters = dead(lake, "audit.rejected")
    assert len(letters) == 60 and len({(r["partition"], r["offset"]) for r in letters}) == 60
    assert len(lake.rows(pipeline.table)) + len(letters) == produced
    epochs = {row["epoch"] for row in letters}
    files = lake.data_files("audit.rejected")
    epoch_id = lake.load("audit.rejected").schema().find_field("epoch").field_id
    assert len(epochs) >= 3 and len(files) >= 3
    assert all(f["lower_bounds"][epoch_id] == f["upper_bounds"][epoch_id] for f in files)
    assert lake.property_of(pipeline.table, "frazil.orders.owed") is not None
    lake.expect_rows("audit.rejected", letters)


def test_two_pipelines_share_one_table_of_dead_letters(kafka, lake, topic):
    topic_of(kafka, topic, SOME_BAD)
    for name in ("one", "two"):
        Pipeline(lake, kafka, name, [topic], dead_letters="audit.all").run().expect()
    found = sorted((row["pipeline"], row["offset"]) for row in lake.rows("audit.all"))
    assert found == [("one", 1), ("one", 3), ("two", 1), ("two", 3)]
    print("compared 4 dead letters")


def test_a_table_that_is_no_dead_letter_table_is_refused(kafka, lake, topic):
    topic_of(kafka, topic, SOME_BAD)
    Pipeline(lake, kafka, "first", [topic], decode={"on_reject": "skip"}).run().expect()
    pipeline = Pipeline(lake, kafka, topics=[topic], dead_letters="shop.first")
    outcome = pipeline.run().expect(1)
    assert "table shop.first cannot take dead letters" in outcome.stderr and "epoch: the table has no such column" in outcome.stderr
    assert len(lake.rows("shop.first")) == 3 and lake.rows(pipeline.table) == []
