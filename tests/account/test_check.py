"""Each invariant is broken by hand, one thing at a time: the program must name it, and nothing else."""
import copy
import json
import pathlib
import sys
import zlib

import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1])]

from account.check import LIMITS, check  # noqa: E402
from account.history import History  # noqa: E402

ROWS = pa.schema([pa.field("_kafka_partition", pa.int32(), False), pa.field("_kafka_offset", pa.int64(), False), pa.field("id", pa.int64(), False),
                  pa.field("text", pa.string(), False), pa.field("crc", pa.int64(), False)])
LETTERS = pa.schema([pa.field("partition", pa.int32(), False), pa.field("offset", pa.int64(), False), pa.field("value", pa.binary(), False)])
EPOCHS, EACH = 4, 6   # of each epoch's records of a partition, the last is a dead letter


def text_of(p, o):
    return f"record {p}/{o}"


def crc(text):
    return zlib.crc32(text.encode())


class Story:
    """What happened: epochs with their rows, letters and ranges, for one test to change before it is written."""

    def __init__(self):
        self.epochs = []
        self.produced = []
        for epoch in range(1, EPOCHS + 1):
            begin, end = (epoch - 1) * EACH, epoch * EACH
            places = [(p, o) for p in (0, 1) for o in range(begin, end)]
            bad = {(p, end - 1) for p in (0, 1)}
            self.epochs.append({"rows": [[p, o, p * 1000 + o, text_of(p, o), crc(text_of(p, o))] for p, o in places if (p, o) not in bad],
                                "letters": [[p, o, text_of(p, o).encode()] for p, o in sorted(bad)], "applied": epoch,
                                "marks": {"epoch": epoch, "ranges": {"t": {"0": [begin, end], "1": [begin, end]}}, "next": [end, end]}})
            self.produced += [{"p": p, "o": o, "id": None if (p, o) in bad else p * 1000 + o, "crc": crc(text_of(p, o)), "bad": (p, o) in bad}
                              for p, o in places]
        self.ends = {"0": EPOCHS * EACH, "1": EPOCHS * EACH}
        self.more = []         # (kind, fields) for the history
        self.tag_at = -1       # index of the snapshot
        self.afterwards = None  # called with the warehouse's folder

    def write(self, folder):
        catalog = SqlCatalog("default", uri=f"sqlite:///{folder}/catalog.db", warehouse=f"file://{folder}/warehouse")
        catalog.create_namespace("shop")
        rows, letters = catalog.create_table("shop.orders", ROWS), catalog.create_table("shop.letters", LETTERS)
        for epoch in self.epochs:
            rows.append(pa.Table.from_pylist([dict(zip(ROWS.names, row)) for row in epoch["rows"]], ROWS), marks(epoch["marks"]))
            with letters.transaction() as change:
                change.append(pa.Table.from_pylist([dict(zip(LETTERS.names, row)) for row in epoch["letters"]], LETTERS),
                              {"frazil.orders.applied": str(epoch["applied"])})
                change.set_properties({"frazil.orders.applied": str(epoch["applied"])})
        newest = rows.metadata.snapshots[-1].snapshot_id
        rows.manage_snapshots().create_tag(rows.metadata.snapshots[self.tag_at].snapshot_id, "frazil-orders").commit()
        with rows.transaction() as change:
            change.set_properties({"frazil.orders": json.dumps({"snapshot": newest}), "frazil.orders.owed": json.dumps([{"epoch": EPOCHS}])})
        seen = [str(path) for path in (folder / "warehouse").rglob("*.parquet")]
        if self.afterwards:
            self.afterwards(folder / "warehouse")
        with History(folder / "history.jsonl") as history:
            history.add_all("produced", self.produced)
            history.add("seen", files=seen)
            for kind, fields in self.more:
                history.add(kind, **fields)
            history.add("table", pipeline="orders", topic="t", rows=rows.metadata_location, letters=letters.metadata_location,
                        warehouse=f"file://{folder}/warehouse", ends=self.ends)
        return folder / "history.jsonl"


def marks(fields):
    positions = {"v": 1, "kind": "kafka", "cluster": "c", "topics": {"t": {"id": "i", "next": fields["next"], "leader_epoch": [0, 0]}}}
    return {"frazil.pipeline": "orders", "frazil.epoch": str(fields["epoch"]), "frazil.ranges": json.dumps(fields["ranges"]),
            "frazil.positions": json.dumps(positions)}


@pytest.fixture
def story():
    return Story()


def faults_after(story, folder):
    return check(story.write(folder)).all_faults


def test_a_run_without_fault_has_none_and_every_invariant_looked_at_something(story, tmp_path):
    story.more = [("healed", {"seconds": 2.0, "fault": "a cut"}), ("sample", dict.fromkeys(LIMITS, 1)), ("batch", {"lost": 1, "files": 1}),
                  ("halt", {"expected": "X", "code": "X", "exit": 1, "before": "m", "after": "m"})]
    verdict = check(story.write(tmp_path))
    assert verdict.all_faults == []
    assert len(verdict.looked_at) == 10 and not [text for text in verdict.looked_at.values() if text.startswith("0 ")
                                                 and "orphans" not in text], verdict.looked_at


def drop_a_row(story):
    del story.epochs[1]["rows"][2]


def double_a_row(story):
    story.epochs[2]["rows"].append(copy.copy(story.epochs[1]["rows"][2]))


def alter_a_row(story):
    story.epochs[1]["rows"][2][3] = "altered"


def alter_a_row_with_its_crc(story):
    story.epochs[1]["rows"][2][3:] = ["altered", crc("altered")]


def add_a_row_that_nobody_produced(story):
    story.epochs[1]["rows"].append([0, 999, 1, "x", crc("x")])


def drop_a_dead_letter(story):
    del story.epochs[0]["letters"][0]


def double_a_dead_letter(story):
    story.epochs[1]["letters"].append(story.epochs[0]["letters"][0])


def double_a_record_of_unknown_fate(story):
    story.more = [("unknown", {"id": 77, "crc": crc("lost reply"), "bad": False})]
    story.epochs[0]["rows"] += [[0, 1000 + i, 77, "lost reply", crc("lost reply")] for i in range(2)]


def leave_a_gap_between_ranges(story):
    story.epochs[2]["marks"]["ranges"]["t"]["1"][0] += 1


def move_positions_back(story):
    story.epochs[2]["marks"]["next"] = [3, 18]
    story.epochs[2]["marks"]["ranges"]["t"]["0"] = [12, 3]


def repeat_an_epoch(story):
    story.epochs[2]["marks"]["epoch"] = 2


def leave_the_tag_behind(story):
    story.tag_at = -2


def end_before_the_log(story):
    story.ends["1"] += 5


def apply_out_of_order(story):
    story.epochs[1]["applied"], story.epochs[2]["applied"] = 3, 2


def owe_what_was_not_applied(story):
    story.epochs[3]["applied"] = EPOCHS - 1
    story.epochs[2]["applied"] = EPOCHS - 2
    story.epochs[1]["applied"] = 1
    story.epochs[0]["applied"] = 0


def remove_a_live_file(story):
    story.afterwards = lambda warehouse: sorted((warehouse / "shop/orders/data").glob("*.parquet"))[0].unlink()


def cut_a_manifest_list_off(story):
    # Of the first snapshot: without that of the head no row could be read. Their names tell no order.
    story.afterwards = lambda warehouse: min((warehouse / "shop/orders/metadata").glob("snap-*.avro"), key=lambda path: path.stat().st_mtime_ns).unlink()


def leave_orphans(story):
    story.afterwards = lambda warehouse: [(warehouse / f"shop/orders/data/orphan_{i}.parquet").write_bytes(b"x") for i in range(3)]


def heal_slowly(story):
    story.more = [("healed", {"seconds": 61, "fault": "a stall"})]


def grow_without_end(story):
    story.more = [("sample", {**dict.fromkeys(LIMITS, 1), "open_files": LIMITS["open_files"] + 1})]


def halt_with_another_code(story):
    story.more = [("halt", {"expected": "SOURCE_GAP", "code": "SOURCE_GONE", "exit": 1, "before": "m", "after": "m"})]


def write_in_spite_of_a_halt(story):
    story.more = [("halt", {"expected": "SOURCE_GAP", "code": "SOURCE_GAP", "exit": 1, "before": "m1", "after": "m2"})]


@pytest.mark.parametrize("harm, invariant, words", [
    (drop_a_row, "I1", "missing: partition 0 offset 8"), (double_a_row, "I2", "2 times: partition 0 offset 8"),
    (alter_a_row, "I3", "altered: partition 0 offset 8"), (alter_a_row_with_its_crc, "I3", "altered: partition 0 offset 8"),
    (add_a_row_that_nobody_produced, "I2", "not produced: partition 0 offset 999"), (drop_a_dead_letter, "I1", "dead letters: missing"),
    (double_a_dead_letter, "I2", "dead letters: 2 times"), (double_a_record_of_unknown_fate, "I2", "of unknown fate"),
    (leave_a_gap_between_ranges, "I4", "begins at 13, the one before ended at 12"), (move_positions_back, "I4", "the one before ended at 3"),
    (repeat_an_epoch, "I4", "epoch 2 after epoch 2"), (leave_the_tag_behind, "I4", "the tag is at"), (end_before_the_log, "I4", "the log at 29"),
    (apply_out_of_order, "I4", "epoch 2 was applied after epoch 3"), (owe_what_was_not_applied, "I4", "epoch 4 is still owed"),
    (cut_a_manifest_list_off, "I6", "is gone"), (leave_orphans, "I8", "3 orphans"), (heal_slowly, "I9", "after a stall"),
    (grow_without_end, "I10", "open_files"), (halt_with_another_code, "I12", "SOURCE_GAP was due"), (write_in_spite_of_a_halt, "I12", "changed the table")])
def test_one_thing_that_is_wrong_is_named(story, tmp_path, harm, invariant, words):
    harm(story)
    faults = faults_after(story, tmp_path)
    assert [fault for fault in faults if fault.startswith(invariant) and words in fault], faults
    assert {fault.split()[0] for fault in faults} == {invariant}, faults


def test_a_live_file_that_is_gone_is_named_though_its_rows_cannot_be_read(story, tmp_path):
    remove_a_live_file(story)
    faults = faults_after(story, tmp_path)
    assert {fault.split()[0] for fault in faults} == {"I1", "I6", "I7"}, faults
    assert any("cannot be read" in fault for fault in faults) and any("was there and is gone" in fault for fault in faults)
