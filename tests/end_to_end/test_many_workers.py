"""Several workers of one pipeline on a real broker: the group shares the partitions, each commits its own ranges, the table decides.

Kills, pauses, storms and groups by mistake: every record once, and the workers get on. Each test is judged record by record.
FRAZIL_KILLS, FRAZIL_ZOMBIES and FRAZIL_STORM_SECONDS make them longer.
"""
import contextlib
import datetime
import json
import os
import random
import sqlite3
import time

import pytest

from exactly_once import SCHEMA, judge_exactly_once
from kill_harness import Stream
from pipeline import ID_SCHEMA, Lake, ids, log_ends, topic_of, wait_until
from workers import CLASSIC, SESSION_SECONDS, Worker, levels, make_pipeline, moment, wait_until_shared

PARTITIONS = 6
PER_SECOND = 400
BAD_SHARE = 0.02
KILLS = int(os.environ.get("FRAZIL_KILLS") or 2)
ZOMBIES = int(os.environ.get("FRAZIL_ZOMBIES") or 1)
STORM_SECONDS = int(os.environ.get("FRAZIL_STORM_SECONDS") or 8)
# The longest that a partition which stays may go without a commit while others change hands. Commits are 300 ms apart.
LONGEST_GAP_SECONDS = 5
COMMITS_OF_A_STAYING_PARTITION = 4   # that must have been seen before gaps between them say something

PROTOCOLS = {
    "cooperative": CLASSIC,
    "eager": {**CLASSIC, "partition.assignment.strategy": "range,roundrobin"},
    "new protocol": {"group.protocol": "consumer"},
}


class Group:
    """Workers of one pipeline over one stream, judged at the end."""

    def __init__(self, kafka, folder, lake_kind, topic, properties=None, seed=1):
        self.kafka, self.topic = kafka, topic
        self.lake = Lake(folder / "lake", lake_kind)
        topic_of(kafka, topic, partitions=PARTITIONS)
        self.pipeline = make_pipeline(self.lake, kafka, topic, SCHEMA, properties)
        self.stream = Stream(kafka, topic, PARTITIONS, PER_SECOND, BAD_SHARE, seed)
        self._open = contextlib.ExitStack()
        self._started = 0

    def __enter__(self):
        self._open.enter_context(self.stream)
        return self

    def __exit__(self, *unused):
        self._open.close()

    def start(self, pipeline=None):
        pipeline = pipeline or self.pipeline
        pipeline._runs = self._started   # files of one lake are namesakes: each run has a folder of its own
        self._started += 1
        return self._open.enter_context(Worker(pipeline))

    def start_sharing(self, count):
        """This many workers, each of which reads something."""
        workers = [self.start() for _ in range(count)]
        wait_until_shared(workers, PARTITIONS)
        return workers

    def end(self, workers):
        """Stops the stream, ends the workers in order, and judges."""
        self.stream.stop()
        outcomes = [worker.end() for worker in workers]
        ends = log_ends(self.kafka, self.topic, PARTITIONS)
        assert len(self.stream.produced) == sum(ends.values()), "the account of what was produced has gaps"
        self.pipeline.run().expect()
        table = self.pipeline.table
        judge_exactly_once(self.stream, self.lake.location_of(table), self.lake.location_of(f"{table}_dead_letters"))
        assert self.lake.positions(table, "orders") == {self.topic: [ends[p] for p in range(PARTITIONS)]}
        return outcomes


@pytest.fixture
def group(kafka, tmp_path, topic, lake_kind, request):
    with Group(kafka, tmp_path, lake_kind, topic, getattr(request, "param", None)) as made:
        yield made


def staying(group, worker):
    """Partitions that were never taken from the worker."""
    gone = {e["split"] for e in worker.of("kafka_partition_taken")}
    return [p for p in range(PARTITIONS) if f"{group.topic}/{p}" not in gone]


def now():
    return datetime.datetime.now(datetime.timezone.utc)


@pytest.mark.parametrize("group", PROTOCOLS.values(), ids=[name.replace(" ", "_") for name in PROTOCOLS], indirect=True)
def test_partitions_that_stay_flow_on_while_workers_join_and_leave(group):
    first = group.start()
    first.wait_for(lambda w: w.splits == PARTITIONS, "all partitions")
    first.wait_for_event("commit_accepted", 3)
    begun = now()
    second, third = group.start(), group.start()
    wait_until_shared([first, second, third], PARTITIONS)
    third.wait_for_event("commit_accepted")
    second.end()
    wait_until_shared([first, third], PARTITIONS)
    done = len(third.of("commit_accepted"))
    third.wait_for_event("commit_accepted", done + 2)
    wait_until(lambda: all(first.largest_gap(group.topic, p, begun, now())[1] >= COMMITS_OF_A_STAYING_PARTITION for p in staying(group, first)),
               "commits of the partitions that stayed")
    ended = now()
    given, taken = (sum(len(w.of("kafka_rebalance", change=c)) for w in (first, second, third)) for c in ("assigned", "revoked"))
    group.end([first, third])
    dropped = [e for w in (first, second, third) for e in w.of("epoch_dropped") + w.of("attempt_failed") + w.of("release_timed_out")]
    assert not dropped, dropped
    properties = group.pipeline.content["source"]["kafka"]["properties"]
    is_eager = "range" in properties.get("partition.assignment.strategy", "")
    assert all(len(w.of("reading_begins")) == 1 for w in (first, second, third)), "somebody started again"
    stayed = staying(group, first)
    assert bool(stayed) != is_eager, stayed
    for partition in stayed:
        gap, commits = first.largest_gap(group.topic, partition, begun, ended)
        print(f"partition {partition} stayed: {commits} commits in {(ended - begun).total_seconds():.1f} s, at most {gap:.2f} s apart; "
              f"{given} times given, {taken} times taken")
        assert commits >= COMMITS_OF_A_STAYING_PARTITION and gap < LONGEST_GAP_SECONDS


def test_a_worker_without_partitions_says_what_it_waits_for(kafka, lake, topic):
    topic_of(kafka, topic, ids(0, 10))   # one partition
    pipeline = make_pipeline(lake, kafka, topic, ID_SCHEMA)
    with Worker(pipeline) as first:
        first.wait_for_event("commit_accepted")
        with Worker(pipeline) as second:
            (told,) = second.wait_for(lambda w: w.of("waits_for_partitions"), "word of what it waits for")
            assert "session.timeout.ms" in told["why"] and told["level"] == "info"
            view = json.loads(second.running.get("/status")[1])["pipelines"][0]
            assert view["lag"] == {"records": None, "splits": []} and second.running.get("/readyz")[0] == 200
            first.end()
            second.wait_for(lambda w: w.splits == 1, "the partition of the one that ended")
            second.end()


def test_one_of_three_is_killed_again_and_again(group):
    """KM1: the others take its partitions over from the table, whatever it had open."""
    dice = random.Random(7)
    workers = group.start_sharing(3)
    phases, besides, took = {}, 0, []
    while sum(phases.values()) < KILLS:
        victim = workers.pop(dice.randrange(3))
        victim.wait_for(lambda w: w.progress.is_open, "an open epoch")
        time.sleep(dice.uniform(0, 0.3))   # the random moment
        phase = victim.kill_in_open_epoch()
        begun = time.monotonic()
        if phase is None:
            besides += 1
        else:
            phases[phase] = phases.get(phase, 0) + 1
        if sum(phases.values()) % 3 == 1:
            wait_until_shared(workers, PARTITIONS)   # without a third: its partitions move
            took.append(time.monotonic() - begun)
        workers.append(group.start())
        wait_until_shared(workers, PARTITIONS)
    group.end(workers)
    print(f"{sum(phases.values())} kills of one in three: {phases}; {besides} between epochs; taken over after {max(took):.1f} s at most")


def stop_while_open(zombie, lake):
    """Stops it with an open epoch. A process that holds the lock of a SQLite catalog holds it while it stands still too, and nobody commits:
    that moment is passed by."""
    while True:
        zombie.wait_for(lambda w: w.progress.is_open, "an open epoch")
        zombie.stop()
        if lake.kind != "sqlite" or not is_locked(lake.database):
            return
        zombie.resume()


def is_locked(database):
    """For longer than a commit takes."""
    with contextlib.closing(sqlite3.connect(database, timeout=3, isolation_level=None)) as connection:
        try:
            connection.execute("BEGIN EXCLUSIVE")
            connection.execute("ROLLBACK")
            return False
        except sqlite3.OperationalError:
            return True


def test_a_worker_that_stood_still_too_long_drops_its_work(group):
    """KM2: stopped beyond its session with an open epoch, it wakes up while others own its partitions."""
    workers = group.start_sharing(3)
    told = 0
    for turn in range(ZOMBIES):
        zombie = workers[turn % 3]
        others = [w for w in workers if w is not zombie]
        lost, stale = zombie.metric("frazil_assignments_lost_total"), zombie.metric("frazil_stale_epochs_total")
        stop_while_open(zombie, group.lake)
        wait_until_shared(others, PARTITIONS, SESSION_SECONDS + 60)
        commits = [len(w.of("commit_accepted")) for w in others]
        wait_until(lambda: all(len(w.of("commit_accepted")) > n for w, n in zip(others, commits)), "the others to commit")
        zombie.resume()
        # Either the group tells it first that its partitions are gone, or the table that its records are.
        zombie.wait_for(lambda w: w.metric("frazil_assignments_lost_total") > lost or w.metric("frazil_stale_epochs_total") > stale, "the loss to be noticed")
        told += int(zombie.metric("frazil_stale_epochs_total") - stale)
        wait_until_shared(workers, PARTITIONS)
    group.end(workers)
    print(f"{ZOMBIES} workers stood still for more than {SESSION_SECONDS} s: {told} epochs of theirs were stale, none accepted")


def test_two_groups_by_mistake_waste_work_only(group):
    """KM3: each group reads everything. The table takes each range once; one warning a minute names the likely cause."""
    other = make_pipeline(group.lake, group.kafka, group.topic, SCHEMA, group=f"{group.pipeline.group}-other")
    other.path = group.lake.folder / "other.yaml"
    workers = [group.start(), group.start(other)]
    wait_until(lambda: sum(w.metric("frazil_stale_epochs_total") for w in workers) >= 3, "stale epochs")
    commits = [len(w.of("commit_accepted")) for w in workers]
    wait_until(lambda: sum(len(w.of("commit_accepted")) for w in workers) > sum(commits) + 3, "commits to go on")
    group.end(workers)
    for worker in workers:
        told = levels([worker], "epoch_dropped")
        assert told["warn"] <= 1 + (moment(worker.events[-1]["time"]) - moment(worker.events[0]["time"])).total_seconds() // 60, told
    (warning, *_) = [e for w in workers for e in w.of("epoch_dropped", level="warn")]
    assert "another group" in warning["likely"], warning
    print(f"two groups: dropped epochs by level {dict(levels(workers, 'epoch_dropped'))}")


def test_a_storm_of_rebalances_does_not_stop_the_flow(group):
    """KM6: every two seconds a worker joins or leaves; those that stay go on committing."""
    steady = group.start()
    steady.wait_for_event("commit_accepted")
    until, guest, longest, last = time.monotonic() + STORM_SECONDS, None, 0, time.monotonic()
    seen, turns = len(steady.of("commit_accepted")), 0
    next_turn = time.monotonic()
    while time.monotonic() < until:
        if time.monotonic() >= next_turn:
            next_turn += 2
            turns += 1
            if guest is None:
                guest = group.start()
            elif guest.of("reading_begins"):   # before that, nothing would end it in order
                guest.end()
                guest = None
        if (count := len(steady.of("commit_accepted"))) > seen:
            longest, last, seen = max(longest, time.monotonic() - last), time.monotonic(), count
        time.sleep(0.1)
    longest = max(longest, time.monotonic() - last)
    if guest is not None:
        guest.wait_for_event("reading_begins")
    group.end([steady, *([guest] if guest else [])])
    print(f"{turns} joins and leaves in {STORM_SECONDS} s: {seen} commits of the worker that stayed, at most {longest:.1f} s apart")
    assert longest < 10 and not steady.of("attempt_failed")


def test_static_members_come_back_to_their_partitions(kafka, tmp_path, topic, lake_kind):
    """A restart within the session moves nothing: the group hears of no change."""
    with Group(kafka, tmp_path, lake_kind, topic) as group:
        named = [make_pipeline(group.lake, kafka, topic, SCHEMA, {**CLASSIC, "session.timeout.ms": 30000, "group.instance.id": f"worker-{i}"})
                 for i in range(2)]
        for i, pipeline in enumerate(named):
            pipeline.path = group.lake.folder / f"worker-{i}.yaml"
        one, two = group.start(named[0]), group.start(named[1])
        wait_until_shared([one, two], PARTITIONS)
        two.wait_for_event("commit_accepted")
        share, rebalances = two.splits, len(one.of("kafka_rebalance"))
        two.end()
        again = group.start(named[1])
        again.wait_for_event("commit_accepted")
        assert again.splits == share and len(one.of("kafka_rebalance")) == rebalances
        group.end([one, again])
