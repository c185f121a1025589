"""kill -9, fifty times, on a real broker: every record exactly once, dead letters included.

A stream of records never rests. The victim is killed in an open epoch, at a random moment: at times anywhere, at times
soon after it entered a phase that was hit least so far. Then it is started again at once.
FRAZIL_KILL_SEED repeats the choices of a run (not its timing); FRAZIL_KILLS asks for another number of kills.
"""
import os
import random
import time

import pytest

from exactly_once import SCHEMA, judge_exactly_once
from judges import java_checker
from kill_harness import PHASES, Stream, Victim, strike
from pipeline import Lake, Pipeline, log_ends, topic_of

KILLS = int(os.environ.get("FRAZIL_KILLS") or 50)
ENOUGH_FOR_ALL = 30   # kills of which each phase must get one
PARTITIONS = 6
PER_SECOND = 2500
GROUP = "victims"
BAD_SHARE = 0.02


@pytest.fixture
def seed():
    chosen = int(os.environ.get("FRAZIL_KILL_SEED") or random.SystemRandom().randrange(2**31))
    print(f"FRAZIL_KILL_SEED={chosen}")
    return chosen


def make_pipeline(lake, kafka, topic):
    # A static member of its group: the broker gives the partitions back to the restarted process at once.
    source = {"kafka": {"group": GROUP, "properties": {"group.instance.id": "victim"}}}
    pipeline = Pipeline(lake, kafka, topics=[topic], schema=SCHEMA, create={"partition_by": ["bucket(4, id)"]}, source=source,
                        table={"columns": {"kafka_metadata": True}}, commit={"interval": "300ms"})
    pipeline.process_content["log"] = {"format": "json", "level": "debug"}
    return pipeline


def kill_again_and_again(arguments, dice):
    """Returns the hits by phase, and the blows that fell between two epochs and do not count."""
    hits, besides = dict.fromkeys(PHASES, 0), 0
    while sum(hits.values()) < KILLS:
        with Victim(arguments) as victim:
            phase = strike(victim, dice, hits)
        if phase is None:
            besides += 1
            assert besides <= KILLS, "too many blows fell between epochs"
        else:
            hits[phase] += 1
    return hits, besides


def test_fifty_kills_lose_and_double_nothing(kafka, tmp_path, topic, seed, lake_kind):
    dice = random.Random(seed)
    lake = Lake(tmp_path / "lake", lake_kind)
    topic_of(kafka, topic, partitions=PARTITIONS)
    pipeline = make_pipeline(lake, kafka, topic)
    begun = time.monotonic()
    with Stream(kafka, topic, PARTITIONS, PER_SECOND, BAD_SHARE, seed) as stream:
        hits, besides = kill_again_and_again(pipeline.arguments(json_events=False), dice)
        stream.stop()
    print(f"{sum(hits.values())} kills in {time.monotonic() - begun:.0f} s by phase: " + ", ".join(f"{p} {n}" for p, n in hits.items()) +
          f"; {besides} more between epochs")
    ends = log_ends(kafka, topic, PARTITIONS)
    assert len(stream.produced) == sum(ends.values()), "the account of what was produced has gaps"
    pipeline.run().expect()

    letters = f"{pipeline.table}_dead_letters"
    locations = [lake.location_of(pipeline.table), lake.location_of(letters)]
    judge_exactly_once(stream, *locations)
    java_checker.expect_clean(locations)
    assert sum(hits.values()) >= KILLS and (all(hits.values()) or KILLS < ENOUGH_FOR_ALL), f"a phase without a kill: {hits}"
    assert lake.positions(pipeline.table, "orders") == {topic: [ends[p] for p in range(PARTITIONS)]}
    assert kafka.group_offsets(GROUP, topic) == ends
