"""SIGTERM while a server does not answer any more: the program ends by itself, and the next start finds everything.

Servers of rest_local and rest_s3; what hangs is held by the proxies before them.
"""
import time

import pytest

import lakes
from pipeline import Lake, Pipeline, ids, produce, topic_of
from proxy import rules
from proxy.http_proxy import HttpProxy
from urllib.parse import urlsplit

ROWS = 200
SOON_SECONDS = 10    # when there is nothing to commit
DRAIN_SECONDS = 15   # else


class Hanging:
    """A pipeline of its own lake, behind a proxy before its catalog or its store."""

    def __init__(self, kafka, folder, name, kind, before):
        self.lake = Lake(folder / name, kind)
        block = self.lake.place.block
        uri = urlsplit(block["uri"])
        self.proxy = HttpProxy(lakes.SERVERS.store().port if before == "store" else uri.port, name=name)
        self.proxy.start()
        if before == "store":
            change = {"properties": {"s3.endpoint": self.proxy.url}}
        else:
            change = {"uri": self.proxy.url + uri.path}
        self.topic = topic_of(kafka, f"{folder.name}_{name}".replace("[", "_").replace("]", "_"), ids(0, ROWS))
        self.pipeline = Pipeline(self.lake, kafka, topics=[self.topic], table={"catalog": change})
        self.kafka = kafka

    def expect_exact_in_the_end(self, rows):
        self.proxy.clear()
        self.pipeline.run().expect()
        self.lake.expect_ids(self.pipeline.table, range(rows))


@pytest.fixture
def hanging(kafka, tmp_path, lake_kind):
    made = []

    def make(name, kind="rest_local", before="catalog"):
        made.append(Hanging(kafka, tmp_path, name, kind, before))
        return made[-1]
    yield make
    for each in made:
        each.proxy.stop()


def start_until(each, action, match):
    """Runs the pipeline until the first request hangs."""
    rule = each.proxy.add(action, **match)
    running = each.pipeline.start()
    running.wait_until(lambda: rule.acted, "a request that hangs")
    return running


def stopped(running, seconds):
    """What is left after SIGTERM, and how long it took."""
    begun = time.monotonic()
    outcome = running.terminate().expect()
    took = time.monotonic() - begun
    print(f"ended after {took:.1f} s")
    assert took < seconds
    return outcome


@pytest.mark.parametrize("path", ["/oauth/tokens", "/v1/config", "/tables/orders$"])
def test_a_catalog_that_hangs_at_the_start_does_not_hold_the_end_up(hanging, path):
    each = hanging("start")
    with start_until(each, rules.Hang("before"), {"path": path}) as running:
        outcome = stopped(running, SOON_SECONDS)
    assert "stopped_without_answer" in outcome.stderr
    each.expect_exact_in_the_end(ROWS)


def test_servers_that_hang_under_work_do_not_hold_the_end_up(hanging):
    """A commit that was applied, and one that was not; files on their way to the store; all at the same time."""
    cases = [hanging("applied"), hanging("lost"), hanging("store", "rest_s3", "store")]
    actions = [(rules.Hang("after"), {"method": "POST", "path": "/tables/orders$"}),
               (rules.Hang("before"), {"method": "POST", "path": "/tables/orders$"}),
               (rules.Hang("before"), {"method": "PUT", "path": "/data/"})]
    running = []
    try:
        for each in cases:
            running.append(each.pipeline.start())
            running[-1].wait_for_commit(ROWS)
        rules_of = [each.proxy.add(action, **match) for each, (action, match) in zip(cases, actions)]
        for each in cases:
            produce(each.kafka, each.topic, ids(ROWS, 2 * ROWS))
        for run, rule in zip(running, rules_of):
            run.wait_until(lambda rule=rule: rule.acted, "a request that hangs")
        for run in running:
            run.process.terminate()
        begun = time.monotonic()
        outcomes = [run.wait_for_end(30).expect() for run in running]
        print(f"ended after {time.monotonic() - begun:.1f} s")
    finally:
        for run in running:
            run.__exit__()
    assert all("drain_timed_out" in outcome.stderr for outcome in outcomes)
    assert ["commit_left_undecided" in outcome.stderr for outcome in outcomes] == [True, True, False]
    for each in cases:
        each.expect_exact_in_the_end(2 * ROWS)


def test_the_last_commit_is_waited_for(hanging):
    each = hanging("slow")
    with each.pipeline.start() as running:
        running.wait_for_commit(ROWS)
        rule = each.proxy.add(rules.Delay(4), method="POST", path="/tables/orders$", times=1)
        produce(each.kafka, each.topic, ids(ROWS, 2 * ROWS))
        running.wait_until(lambda: rule.acted, "a commit that is slow")
        outcome = stopped(running, DRAIN_SECONDS)
    assert sum(e["rows"] for e in outcome.of("commit")) == 2 * ROWS
    assert "commit_left_undecided" not in outcome.stderr
    each.lake.expect_ids(each.pipeline.table, range(2 * ROWS))
