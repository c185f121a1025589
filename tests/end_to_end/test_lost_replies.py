"""Replies that never came, on real servers: a proxy loses, delays, doubles, cuts and replaces the answers of catalog and store.

One long run for each test, with a stream of records, some of them bad, and a short commit interval. In the end every record is once in the
table or among the dead letters; every file that the tables name is there; no request was sent twice; and the log says what became of each
commit and why. FRAZIL_FAULT_SEED repeats the order of the faults; on FRAZIL_LAKE=sqlite the servers are those of rest_local.
"""
import os
import random
import re
import urllib.parse

import pytest

import lakes
from exactly_once import SCHEMA, data_files_of, expect_all_files, judge_exactly_once
from fault_plan import STATUSES, CommitRequests, Plan, RunLog, faults, is_commit
from judges import java_checker
from kill_harness import Stream
from pipeline import Lake, Pipeline, log_ends, topic_of
from proxy import rules
from proxy.http_proxy import HttpProxy

LOST, LATE, DOUBLED = (int(os.environ.get("FRAZIL_FAULTS") or 200) // n for n in (1, 2, 2))
EACH = 3             # of every replacement, before and after
PARTITIONS = 3
PER_SECOND = 400
BAD_SHARE = 0.1
RUN_SECONDS = max(420, 2 * LOST)
KIND = "rest_local" if lakes.KIND == "sqlite" else lakes.KIND
QUICK = {"commit.retry.min-wait-ms": "5", "commit.retry.max-wait-ms": "100"}


@pytest.fixture
def dice():
    seed = int(os.environ.get("FRAZIL_FAULT_SEED") or random.SystemRandom().randrange(2**31))
    print(f"FRAZIL_FAULT_SEED={seed}")
    return random.Random(seed)


@pytest.fixture
def catalog_proxy(tmp_path, lake_kind):
    """(lake, proxy before its catalog, the catalog block's changes)."""
    lake = Lake(tmp_path / "lake", KIND)
    if KIND == "seaweed":
        proxy = lakes.SERVERS.fronts[1]
        proxy.forget()
        yield lake, proxy, {}
        proxy.clear()
        return
    uri = urllib.parse.urlsplit(lake.place.block["uri"])
    with HttpProxy(uri.port, name="catalog") as proxy:
        yield lake, proxy, {"uri": proxy.url + uri.path}


def make_pipeline(lake, kafka, topic, catalog, properties=None):
    pipeline = Pipeline(lake, kafka, topics=[topic], schema=SCHEMA, create={"partition_by": ["bucket(2, id)"], "properties": {**QUICK, **(properties or {})}},
                        table={"columns": {"kafka_metadata": True}, "catalog": catalog}, commit={"interval": "50ms"}, lanes=1)
    pipeline.process_content["log"] = {"format": "json", "level": "debug"}
    return pipeline


def run_through(kafka, lake, topic, pipeline, dice, is_done, before_end=lambda: None):
    """Runs beside a stream until is_done(), then to the end of what was produced. Returns the stream and the log of the first run."""
    with Stream(kafka, topic, PARTITIONS, PER_SECOND, BAD_SHARE, dice.getrandbits(31)) as stream, pipeline.start() as running:
        running.wait_until(is_done, "all faults", RUN_SECONDS)
        seen = data_files_of(lake)
        stream.stop()
        before_end()
        outcome = running.terminate().expect()
    ends = log_ends(kafka, topic, PARTITIONS)
    assert len(stream.produced) == sum(ends.values()), "the account of what was produced has gaps"
    pipeline.run().expect()
    assert lake.positions(pipeline.table, "orders") == {topic: [ends[p] for p in range(PARTITIONS)]}
    gone = seen - data_files_of(lake)
    assert not gone, f"data files were deleted: {sorted(gone)[:5]}"
    return stream, RunLog(outcome.stderr)


def expect_exact(lake, pipeline, stream):
    """Rows and dead letters by both readers, files, and the strict checker, which looks for paths that are listed twice too."""
    tables = [pipeline.table, f"{pipeline.table}_dead_letters"]
    locations = [lake.location_of(table) for table in tables]
    judge_exactly_once(stream, *locations)
    print(f"{expect_all_files(lake, tables)} referenced files are there")
    java_checker.expect_clean(locations)


def expect_decisions(log, requests):
    """Every commit ended in one of two ways, each told: accepted by its answer, or found by looking."""
    accepted = {e["snapshot"] for e in log.of("commit_accepted")}
    found = {e["snapshot"] for e in log.of("commit_found")}
    assert accepted | found == requests.ids and not accepted & found
    assert all(e["why"] for e in log.of("commit_found"))
    answers = log.of("commit_answer")
    assert all(e["code"] in ("unknown_outcome", "conflict", "unavailable") and e["answer"] and e["meaning"] for e in answers), answers
    assert len(answers) == len(requests.unclear()), (len(answers), len(requests.unclear()))
    print(f"{len(accepted)} commits accepted, {len(found)} found; {len(answers)} answers were unclear")
    return found


def test_replies_of_the_catalog_are_lost_late_doubled_and_replaced(kafka, catalog_proxy, topic, dice):
    lake, proxy, catalog = catalog_proxy
    proxy.keep_bodies = True
    topic_of(kafka, topic, partitions=PARTITIONS)
    pipeline = make_pipeline(lake, kafka, topic, catalog)
    plan = Plan(dice, faults(dice, LOST, LATE, DOUBLED, EACH))
    proxy.add(rules.Act(plan), method="POST", path="/tables/orders(_dead_letters)?$")
    stream, log = run_through(kafka, lake, topic, pipeline, dice, lambda: plan.left == 0, before_end=lambda: (proxy.clear(), proxy.release()))
    requests = CommitRequests(proxy, "orders")
    owed = CommitRequests(proxy, "orders_dead_letters")
    print(f"{plan.total} faults on {len(requests.exchanges)} commits of rows and {len(owed.exchanges)} of dead letters")
    assert requests.unclear() and owed.unclear()
    expect_exact(lake, pipeline, stream)
    requests.expect_each_sent_once(len(log.of("commit_sent")))
    owed.expect_each_sent_once(len(log.of("owed_sent")))
    assert expect_decisions(log, requests), "no commit was found by looking"
    assert len(log.of("owed_retry")) == len(owed.unclear()) and all(e["answer"] for e in log.of("owed_retry"))
    assert log.of("owed_found") and all(e["why"] for e in log.of("owed_found"))


class ReadFaults:
    """A rule's choice for all that is no commit: loads, the creation of namespace and tables, configuration, tokens. The first request of each
    kind meets a fault, and a third of the others."""

    def __init__(self, dice):
        self._dice = dice
        self._seen = set()
        self.left = LOST * 3 // 4

    def __call__(self, request):
        if is_any_commit(request) or not self.left:
            return None
        kind = (request.method, request.target)
        if kind in self._seen and self._dice.random() > 0.33:
            return None
        self._seen.add(kind)
        self.left -= 1
        when = self._dice.choice(("before", "after"))
        replaced = [rules.Replace(status, when) for status in STATUSES] + [rules.Replace(status, when, rules.HTML) for status in (200, 502)]
        return self._dice.choice((rules.Drop(when), rules.Drop(when), rules.Truncate(self._dice.random()), *replaced))


def is_any_commit(request):
    return is_commit(request.target.rsplit("/", 1)[1])(request) and "/tables/" in request.target


def test_other_answers_of_the_catalog_are_lost_cut_and_replaced(kafka, catalog_proxy, topic, dice):
    """From the first request on: configuration, token, namespace, tables."""
    lake, proxy, catalog = catalog_proxy
    topic_of(kafka, topic, partitions=PARTITIONS)
    pipeline = make_pipeline(lake, kafka, topic, catalog)
    choice = ReadFaults(dice)
    proxy.add(rules.Act(choice))
    stream, _ = run_through(kafka, lake, topic, pipeline, dice, lambda: choice.left == 0, before_end=proxy.clear)
    met = [e for e in proxy.log if e.action is not None]
    print(f"{len(met)} faults on " + ", ".join(sorted({f"{e.method} {re.sub(r'^.*/v1/', '', e.target)}" for e in met})))
    expect_exact(lake, pipeline, stream)


# --- the store ----------------------------------------------------------------------------------

STORE_FAULTS = LOST * 3 // 4
STORE_KIND = "seaweed" if lakes.KIND == "seaweed" else "rest_s3"


@pytest.fixture
def store_proxy(tmp_path, lake_kind):
    """(lake, proxy before its S3 store, the catalog block's changes)."""
    lake = Lake(tmp_path / "lake", STORE_KIND)
    if STORE_KIND == "seaweed":
        proxy = lakes.SERVERS.fronts[0]
        yield lake, proxy, {}
        proxy.clear()
        return
    with HttpProxy(lakes.SERVERS.store().port, name="s3") as proxy:
        yield lake, proxy, {"properties": {"s3.endpoint": proxy.url}}


def is_conditional(request):
    return request.header("if-none-match") is not None


class StoreFaults:
    """A rule's choice: a third of the conditional puts and a tenth of everything else meets a fault, until there were enough of both."""

    def __init__(self, dice):
        self._dice = dice
        self.lost_puts = 0   # conditional ones that the store has kept
        self.others = 0

    def __call__(self, request):
        when = self._dice.choice(("before", "after"))
        if is_conditional(request):
            if self.lost_puts >= STORE_FAULTS or self._dice.random() > 0.33:
                return None
            self.lost_puts += when == "after"
            return self._dice.choice((rules.Drop(when), rules.Replace(500, when), rules.Replace(503, when)))
        if self.others >= STORE_FAULTS or self._dice.random() > 0.1:
            return None
        self.others += 1
        cuts = [rules.Truncate(self._dice.random())] if request.method == "GET" else []
        return self._dice.choice((rules.Drop(when), rules.Replace(500, when), rules.Replace(503, when), *cuts))

    @property
    def is_done(self):
        return self.lost_puts >= STORE_FAULTS and self.others >= STORE_FAULTS


def test_answers_of_the_store_are_lost_replaced_and_cut(kafka, store_proxy, topic, dice):
    lake, proxy, catalog = store_proxy
    topic_of(kafka, topic, partitions=PARTITIONS)
    pipeline = make_pipeline(lake, kafka, topic, catalog)
    choice = StoreFaults(dice)
    proxy.add(rules.Act(choice))
    stream, _ = run_through(kafka, lake, topic, pipeline, dice, lambda: choice.is_done, before_end=proxy.clear)
    print(f"{choice.lost_puts} conditional puts were kept and their answers lost, {choice.others} other faults, {len(proxy.log)} requests")
    expect_exact(lake, pipeline, stream)
