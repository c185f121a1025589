"""White box: kill -9 at each named place of the program, at its first, second and fifth pass; failures there; exact afterwards.

One case: a stream of records runs, the program dies at the place (the signal and the log say so), a second run goes to the end of the topic, and
every record is compared. FRAZIL_FAILPOINT_HITS (1) is a list such as 1,2,5: every night has all three. Places that need a situation of their own
(a new table, a halt, a token's end, an hour-old snapshot) have tests of their own below; a place without any test fails this file.
"""
import copy
import itertools
import os
import re
import signal

import pytest

import lakes
from exactly_once import SCHEMA, expect_all_files, faults_of, letters_of, rows_of
from kill_harness import Stream
from pipeline import Lake, Pipeline, frazil, log_ends, merged, produce, topic_of
from rest_server import RestServer

HITS = [int(hit) for hit in (os.environ.get("FRAZIL_FAILPOINT_HITS") or "1").split(",")]
EVERY_NIGHT = max(HITS) > 1
PARTITIONS = 3
PER_SECOND = 1500
BAD_SHARE = 0.03
CASES_OF_A_SITE = 8     # then another topic and table: reading all rows after each case stays quick
DIES_WITHIN = 30

# Places that a running pipeline passes again and again.
STEADY = ("poll.after", "decode.mid", "epoch.cut", "parquet.rowgroup", "upload.before", "upload.mid", "upload.after", "batch.close", "confirm.after",
          "manifest.write", "manifestlist.write", "manifest.merge", "commit.load.after", "commit.validate.after", "dlq.before", "dlq.after",
          "commit.post.before", "expire.commit", "commit.post.sent", "commit.post.answer", "commit.reload", "metadata.remove", "owed.before",
          "owed.sent", "owed.applied", "owed.after", "groupoffset.before", "groupoffset.after")
# Of these, what depends on the store or the catalog: run on REST and S3 too.
ON_SERVERS = ("upload.before", "upload.mid", "upload.after", "commit.post.sent", "commit.post.answer")
BY_TESTS_BELOW = ("assign.loaded", "revoke.start", "revoke.end", "ddl.before", "ddl.after", "begin.before", "accepted.before", "token.refresh",
                  "token.fetched", "expire.delete")
# What else must be armed so that a place is passed.
TOGETHER = {"commit.reload": "commit.post.answer=error@1+,"}
# Every commit expires the one before, merges manifests and forgets metadata files.
BUSY_TABLE = {"history.expire.max-snapshot-age-ms": "1", "commit.manifest.min-count-to-merge": "3", "write.metadata.previous-versions-max": "3",
              "commit.retry.min-wait-ms": "5", "commit.retry.max-wait-ms": "50"}


class Site:
    """A topic, a table, and everything that was ever produced to it."""

    def __init__(self, kafka, lake, topic):
        self.kafka, self.lake, self.topic = kafka, lake, topic_of(kafka, topic, partitions=PARTITIONS)
        source = {"kafka": {"group": topic, "properties": {"group.instance.id": "victim", "session.timeout.ms": "6000"}}}
        self.pipeline = Pipeline(lake, kafka, topics=[topic], schema=SCHEMA, create={"partition_by": ["bucket(2, id)"], "properties": BUSY_TABLE},
                                 source=source, table={"columns": {"kafka_metadata": True}}, commit={"interval": "60ms"}, lanes=1)
        self.good, self.bad, self.cases = {}, {}, 0

    def stream(self, seed=1):
        return Stream(self.kafka, self.topic, PARTITIONS, PER_SECOND, BAD_SHARE, seed)

    def kill_at(self, point, hit):
        """Runs beside a stream until the process is dead."""
        self.cases += 1
        armed = f"{TOGETHER.get(point, '')}{point}=kill@{hit}"
        with self.stream(self.cases) as stream, self.pipeline.start(env={"FRAZIL_FAILPOINTS": armed}) as running:
            outcome = running.wait_for_end(DIES_WITHIN)
            stream.stop()
        self.take(stream)
        expect_death_at(outcome, point, hit)

    def another_worker(self):
        """A second process of the pipeline: a member of the group that leaves it when it ends."""
        worker = copy.copy(self.pipeline)
        worker.content = merged(worker.content, {"source": {"kafka": {"properties": {"group.instance.id": ...}}}})
        worker.path = self.lake.folder / "another.yaml"
        worker._runs += 1000   # pylint: disable=protected-access
        return worker

    def take(self, stream):
        self.good.update(stream.good)
        self.bad.update(stream.bad)

    def expect_exact(self):
        """A run to the end of the topic; then each record once, in the table or among the dead letters, and the positions at the end."""
        self.pipeline.run().expect()
        ends = log_ends(self.kafka, self.topic, PARTITIONS)
        assert len(self.good) + len(self.bad) == sum(ends.values()), "the account of what was produced has gaps"
        table, letters = self.pipeline.table, f"{self.pipeline.table}_dead_letters"
        faults = faults_of(self.good, rows_of(self.lake.location_of(table), "pyiceberg"))
        if self.bad:
            faults += [f"dead letters: {fault}" for fault in faults_of(self.bad, letters_of(self.lake.location_of(letters), "pyiceberg"))]
        assert not faults, f"{len(faults)} faults, first {faults[:5]}"
        assert self.lake.positions(table, "orders") == {self.topic: [ends[p] for p in range(PARTITIONS)]}
        expect_all_files(self.lake, [table] + [letters] * bool(self.bad))


def expect_death_at(outcome, point, hit=1):
    assert outcome.code == -signal.SIGKILL, f"exit {outcome.code}\n{outcome.stderr[-3000:]}"
    assert re.search(rf"failpoint_met name={re.escape(point)} action=kill hit={hit}\n", outcome.stderr), outcome.stderr[-3000:]


@pytest.fixture(scope="module")
def sites(kafka, tmp_path_factory, lakes_of_module):
    """kind of lake → the site of the moment."""
    numbers, made = itertools.count(1), {}

    def site(kind=lakes.KIND, is_new=False):
        if is_new or kind not in made or made[kind].cases >= CASES_OF_A_SITE:
            lake = Lake(tmp_path_factory.mktemp("site") / "lake", kind)
            lakes_of_module.append(lake)
            made[kind] = Site(kafka, lake, f"failpoints_{next(numbers)}")
        return made[kind]
    return site


# --- places of a steady run -----------------------------------------------------------------------


@pytest.mark.parametrize("hit", HITS)
@pytest.mark.parametrize("point", STEADY if lakes.KIND == "sqlite" else [point for point in STEADY if point != "metadata.remove"])
def test_killed_at_a_place_it_goes_on_exactly(sites, point, hit):
    site = sites()
    site.kill_at(point, hit)
    site.expect_exact()


@pytest.mark.only_on("sqlite", reason="the other kinds run every place on servers")
@pytest.mark.parametrize("hit", HITS)
@pytest.mark.parametrize("point", ON_SERVERS)
def test_killed_at_a_place_of_catalog_or_store_it_goes_on_exactly(sites, point, hit):
    site = sites("rest_s3")
    site.kill_at(point, hit)
    site.expect_exact()


@pytest.mark.only_on("sqlite", reason="one kind is enough")
def test_failures_at_all_places_are_survived(sites):
    """Each place that can fail does so once, at its third pass, in one run that never ends by itself."""
    site = sites(is_new=True)
    failing = [name for name, can_fail in listed().items() if can_fail and name in STEADY]
    assert len(failing) > 12
    armed = ",".join(f"{name}=error@3" for name in failing)
    with site.stream() as stream, site.pipeline.start(env={"FRAZIL_FAILPOINTS": armed}) as running:
        met = lambda: set(re.findall(r"failpoint_met name=(\S+)", running.stderr))  # noqa: E731
        try:
            running.wait_until(lambda: met() >= set(failing), "all failures", 90)
        except TimeoutError as error:
            raise AssertionError(f"not met: {set(failing) - met()}\n{error}") from None
        stream.stop()
        running.terminate().expect()
    site.take(stream)
    site.expect_exact()


# --- places with a situation of their own ---------------------------------------------------------


@pytest.mark.parametrize("point", ["ddl.before", "ddl.after", "begin.before", "assign.loaded"])
def test_killed_at_a_place_of_the_start_it_begins_again(sites, point):
    site = sites(is_new=True)
    site.kill_at(point, 1)
    site.expect_exact()


@pytest.mark.only_on("sqlite", reason="one kind is enough")
@pytest.mark.parametrize("point", ["revoke.start", "revoke.end"])
def test_killed_while_partitions_go_to_another_worker_it_goes_on_exactly(sites, point):
    site = sites(is_new=True)
    armed = {"FRAZIL_FAILPOINTS": f"{point}=kill"}
    with site.stream() as stream, site.pipeline.start(env=armed) as running:
        running.wait_for_commit(500)
        with site.another_worker().start() as other:
            outcome = running.wait_for_end(DIES_WITHIN)
            other.wait_for_commit()   # what the dead one had is its own now
            stream.stop()
            other.terminate().expect()
    site.take(stream)
    expect_death_at(outcome, point)
    site.expect_exact()


def test_killed_before_an_accepted_choice_is_in_the_table_the_choice_is_asked_for_again(sites):
    site = sites(is_new=True)
    with site.stream() as stream, site.pipeline.start() as running:
        running.wait_for_commit(500)
        stream.stop()
        running.terminate().expect()
    site.take(stream)
    site.expect_exact()
    kept = {p: end - 10 for p, end in log_ends(site.kafka, site.topic, PARTITIONS).items()}
    site.kafka.delete_topic(site.topic)
    topic_of(site.kafka, site.topic, partitions=PARTITIONS)
    assert all(end > 0 for end in kept.values())
    produce(site.kafka, site.topic, [{"id": 1, "text": "", "crc": 0}])
    halted = site.pipeline.run()
    halted.expect_halt("SOURCE_RECREATED")
    choice = halted.accept("restart")
    died = site.pipeline.run("--accept", choice, env={"FRAZIL_FAILPOINTS": "accepted.before=kill"})
    expect_death_at(died, "accepted.before")
    site.pipeline.run().expect_halt("SOURCE_RECREATED")
    site.pipeline.run("--accept", choice).expect()
    assert site.lake.positions(site.pipeline.table, "orders") == {site.topic: [1] + [0] * (PARTITIONS - 1)}


@pytest.mark.only_on("sqlite", reason="needs a REST server of its own")
@pytest.mark.parametrize("hit", [hit for hit in HITS if hit <= 2])
@pytest.mark.parametrize("point", ["token.refresh", "token.fetched"])
def test_killed_while_a_token_is_fetched_it_goes_on_exactly(kafka, tmp_path, topic, short_tokens, point, hit):
    lake = Lake(tmp_path / "lake", place=lakes.SERVERS.rest_place("rest_local", short_tokens, next(PLACES), {}, keeps_catalog=False))
    site = Site(kafka, lake, topic)
    site.kill_at(point, hit)
    site.expect_exact()


PLACES = itertools.count(1)


@pytest.fixture(scope="module")
def short_tokens(lake_servers):
    with RestServer(lakes.SERVERS.folder / "failpoint_tokens", oauth2=lakes.CLIENT, token_life_seconds=6) as server:
        yield server


def expired_files_are_removed_and_no_live_file_is_gone(sites, hit):
    site = sites(is_new=True)
    site.pipeline.content["history"] = {"keep": "60s"}
    with site.stream() as stream, site.pipeline.start(env={"FRAZIL_FAILPOINTS": f"expire.delete=kill@{hit}"}) as running:
        outcome = running.wait_for_end(120)
        stream.stop()
    site.take(stream)
    expect_death_at(outcome, "expire.delete", hit)
    site.expect_exact()


if EVERY_NIGHT:   # an expired file is kept for a minute
    @pytest.mark.parametrize("hit", [1, 2])
    def test_killed_while_expired_files_are_removed_no_live_file_is_gone(sites, hit):
        expired_files_are_removed_and_no_live_file_is_gone(sites, hit)


# --- the list -------------------------------------------------------------------------------------


def listed():
    """name → whether it can fail, as the program lists them."""
    lines = frazil("run", "--failpoints").expect().stdout.splitlines()
    assert len(lines) > 30
    return {line.split()[0]: "(cannot fail)" not in line for line in lines}


@pytest.mark.only_on("sqlite", reason="uses no lake")
def test_every_place_has_a_case_here():
    assert set(listed()) == set(STEADY) | set(BY_TESTS_BELOW)
    assert set(ON_SERVERS) <= set(STEADY)


@pytest.mark.only_on("sqlite", reason="uses no lake")
def test_a_place_that_does_not_exist_is_refused_before_anything_runs(lake, kafka, topic):
    pipeline = Pipeline(lake, kafka, topics=[topic])
    outcome = pipeline.run(env={"FRAZIL_FAILPOINTS": "upload.sideways=kill"}).expect(2)
    assert "upload.sideways" in outcome.stderr and "--failpoints" in outcome.stderr
