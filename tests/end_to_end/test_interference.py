"""Others at work on the table while a pipeline writes: compaction, expiry and roll-back by PyIceberg, by turns.

FRAZIL_INTERFERENCE is the seconds that it lasts (40), FRAZIL_INTERFERENCE_EVERY the seconds between two of them (4); every night it is 30 minutes, one
a minute. After a roll-back the pipeline must halt with TABLE_ROLLED_BACK; the harness answers `table` with the token that the halt printed, and
what was rolled back is read again. In the end every record is there once.
"""
import datetime
import itertools
import os
import random
import time

import pyarrow as pa
from pyiceberg.exceptions import CommitFailedException, ValidationException

from account.chain import ancestors
from exactly_once import SCHEMA, expect_all_files, judge_exactly_once
import lakes
from judges import canonical
from kill_harness import Stream
from pipeline import Pipeline, log_ends, topic_of

SECONDS = float(os.environ.get("FRAZIL_INTERFERENCE") or 40)
EVERY = float(os.environ.get("FRAZIL_INTERFERENCE_EVERY") or 4)
PARTITIONS = 3
PER_SECOND = 300
# Between two of our commits: who compacts a long history needs that time, and more where a catalog and a store are servers.
INTERVAL_MS = max(1000, int(EVERY * 50)) * (1 if lakes.KIND == "sqlite" else 2)
TRIES = 40   # of a foreign commit that others are faster than
MAY_HALT = {"TABLE_ROLLED_BACK": "table"}


def until_it_commits(change):
    """A foreign writer that loads the table again when somebody was faster."""
    for _ in range(TRIES):
        try:
            return change()
        except (CommitFailedException, ValidationException):   # the second: a new try of PyIceberg's own found new files
            continue
    raise AssertionError(f"{TRIES} commits of a foreign writer were overtaken")


def compact(lake, table):
    """All rows into new files, in one snapshot that replaces every older file."""
    def change():
        loaded = lake.load(table)
        rows = loaded.scan().to_arrow()
        loaded.overwrite(pa.Table.from_batches(rows.to_batches(), rows.schema))
    until_it_commits(change)


def expire(lake, table):
    """Everything that no ref needs, whatever its age."""
    until_it_commits(lambda: lake.load(table).maintenance.expire_snapshots().older_than(datetime.datetime.now() + datetime.timedelta(days=1)).commit())


def own_chain(lake, table):
    return [s["snapshot-id"] for s in ancestors(canonical.load_metadata(lake.location_of(table))) if "frazil.epoch" in s["summary"]]


def roll_back(lake, table):
    """One step back, to a snapshot that the pipeline wrote."""
    until_it_commits(lambda: lake.load(table).manage_snapshots().rollback_to_snapshot(own_chain(lake, table)[-2]).commit())


class Interference:
    def __init__(self, lake, table, dice):
        self.lake, self.table, self.dice = lake, table, dice
        self.counts, self.halts = {"compaction": 0, "expiry": 0, "roll-back": 0}, 0
        self._turns = itertools.cycle(("compaction", "expiry", "roll-back"))

    def act(self, running):
        """True when a halt is due now."""
        kind = next(self._turns)
        if kind == "roll-back":
            running.wait_until(lambda: len(own_chain(self.lake, self.table)) >= 3, "snapshots to go back over, which an expiry has left few of")
            roll_back(self.lake, self.table)
        if kind == "compaction":
            compact(self.lake, self.table)
        if kind == "expiry":
            expire(self.lake, self.table)
        self.counts[kind] += 1
        return kind == "roll-back"


def answer(pipeline, outcome):
    """The arguments that answer the halt that ended a run."""
    code = outcome.expect(1).halt["code"]
    assert code in MAY_HALT, outcome.halt
    return "--accept", outcome.accept(MAY_HALT[code])


def test_compaction_expiry_and_roll_back_by_others(kafka, lake, topic):
    topic_of(kafka, topic, partitions=PARTITIONS)
    pipeline = Pipeline(lake, kafka, topics=[topic], schema=SCHEMA, source={"kafka": {"group": "none"}}, create={"partition_by": ["bucket(2, id)"]},
                        table={"columns": {"kafka_metadata": True}}, commit={"interval": f"{INTERVAL_MS}ms"})
    lake.unchecked_tables.add(pipeline.table)   # expiry by others takes parents away, which the strict checker calls a fault
    others = Interference(lake, pipeline.table, random.Random(1))
    end, answered = time.monotonic() + SECONDS, ()
    with Stream(kafka, topic, PARTITIONS, PER_SECOND, 0.03, 1) as stream:
        while time.monotonic() < end:
            with pipeline.start(*answered) as running:
                answered = interfere(running, others, end) or ()
                outcome = running.wait_for_end() if answered == "halts" else running.terminate().expect()
                if answered == "halts":
                    others.halts += 1
                    answered = answer(pipeline, outcome)
        stream.stop()
    pipeline.run(*answered).expect()
    print(f"{others.counts}, {others.halts} halts were answered")
    assert all(others.counts.values()) and others.halts == others.counts["roll-back"], (others.counts, others.halts)
    ends = log_ends(kafka, topic, PARTITIONS)
    assert len(stream.produced) == sum(ends.values())
    tables = [pipeline.table, f"{pipeline.table}_dead_letters"]
    judge_exactly_once(stream, *(lake.location_of(table) for table in tables))
    expect_all_files(lake, tables)
    assert lake.positions(pipeline.table, "orders") == {topic: [ends[p] for p in range(PARTITIONS)]}


def interfere(running, others, end):
    """Others act again and again; "halts" after a roll-back, nothing when the time is over."""
    done = 0
    while time.monotonic() < end:
        done += 1
        running.wait_for_commit(done)
        due = time.monotonic() + EVERY
        running.wait_until(lambda: time.monotonic() > due, "the next interference", EVERY + 60)
        if others.act(running):
            return "halts"
    return None
