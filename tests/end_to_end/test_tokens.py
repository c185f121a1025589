"""Tokens and vended credentials that live twenty seconds: a pipeline outlives many of them, and no row waits for it.

FRAZIL_TOKENS asks for another number of lives than three: 30 are ten minutes. On SeaweedFS, which vends for 15 minutes at least, the proxies
before catalog and store shorten the lives and refuse what is over age, as a real service would.
"""
import json
import os
import re
import time

import lakes
from exactly_once import SCHEMA, expect_all_files, judge_exactly_once
from kill_harness import Stream
from pipeline import Lake, Pipeline, log_ends, topic_of
from proxy import rules
from rest_server import RestServer

LIVES = int(os.environ.get("FRAZIL_TOKENS") or 3)
LIFE_SECONDS = 20
PARTITIONS = 2
PER_SECOND = 200
EXPIRED = (b'<?xml version="1.0" encoding="UTF-8"?><Error><Code>ExpiredToken</Code><Message>The provided token has expired.</Message></Error>',
           "application/xml")


def run_beside_a_stream(kafka, lake, topic, is_over):
    """Until is_over(), and then to the end: exact."""
    topic_of(kafka, topic, partitions=PARTITIONS)
    pipeline = Pipeline(lake, kafka, topics=[topic], schema=SCHEMA, table={"columns": {"kafka_metadata": True}}, commit={"interval": "500ms"})
    with Stream(kafka, topic, PARTITIONS, PER_SECOND, 0.05, 1) as stream, pipeline.start() as running:
        running.wait_until(is_over, "the tokens to expire", LIVES * LIFE_SECONDS * 2 + 60)
        running.wait_for_commit(len(stream.good))
        stream.stop()
        running.terminate().expect()
    pipeline.run().expect()
    ends = log_ends(kafka, topic, PARTITIONS)
    assert len(stream.produced) == sum(ends.values()), "the account of what was produced has gaps"
    tables = [pipeline.table, f"{pipeline.table}_dead_letters"]
    judge_exactly_once(stream, *(lake.location_of(table) for table in tables))
    expect_all_files(lake, tables)


def test_a_catalogs_tokens_expire_and_are_revoked(kafka, tmp_path, topic, lake_kind):
    with RestServer(lakes.SERVERS.folder / topic, oauth2=lakes.CLIENT, token_life_seconds=LIFE_SECONDS) as server:
        lake = Lake(tmp_path / "lake", place=lakes.SERVERS.rest_place("rest_local", server, 1, {}, keeps_catalog=False))
        tokens = lambda: len(server.requests("POST", "/oauth/tokens"))  # noqa: E731
        begun = time.monotonic()

        def is_over():
            if tokens() == LIVES // 2 + 1:
                server.revoke_tokens()
            return tokens() > LIVES + 1 and time.monotonic() > begun + LIVES * LIFE_SECONDS
        run_beside_a_stream(kafka, lake, topic, is_over)
        refused = [r for r in server.requests() if r["status"] in (401, 419)]
        print(f"{tokens()} tokens in {time.monotonic() - begun:.0f} s, {len(refused)} requests refused")


class ShortLives:
    """Rules for the proxies before SeaweedFS: what it hands out is said to end, and does end, LIFE_SECONDS later."""

    def __init__(self, store_proxy, catalog_proxy):
        self.vended = {}    # access key → when
        self.tokens = {}    # bearer token → when
        self.refused = 0
        catalog_proxy.add(rules.Rewrite(self._shorten_token), method="POST", path="/oauth/tokens")
        catalog_proxy.add(rules.Act(self._judge_catalog))
        store_proxy.add(rules.Act(self._judge_store))

    def _shorten_token(self, answer):
        content = json.loads(answer.body)
        self.tokens[content["access_token"]] = time.monotonic()
        content["expires_in"] = LIFE_SECONDS
        answer.body = json.dumps(content).encode()
        return answer

    def _judge_catalog(self, request):
        token = (request.header("authorization") or "").removeprefix("Bearer ")
        if self._is_over(self.tokens.get(token)):
            return rules.Replace(401, "before")
        return rules.Rewrite(self._shorten_credentials)

    def _shorten_credentials(self, answer):
        if answer.body and b"s3.session-token-expires-at-ms" in answer.body:
            content = json.loads(answer.body)
            for config in [content.get("config", {}), *(c["config"] for c in content.get("storage-credentials", []))]:
                if "s3.session-token-expires-at-ms" in config:
                    config["s3.session-token-expires-at-ms"] = str(int((time.time() + LIFE_SECONDS) * 1000))
                    self.vended.setdefault(config["s3.access-key-id"], time.monotonic())
            answer.body = json.dumps(content).encode()
        return answer

    def _judge_store(self, request):
        key = re.search(r"Credential=([^/]+)/", request.header("authorization") or "")
        return rules.Replace(403, "before", EXPIRED) if key and self._is_over(self.vended.get(key[1])) else None

    def _is_over(self, since):
        over = since is not None and time.monotonic() > since + LIFE_SECONDS
        self.refused += over
        return over


def test_vended_credentials_expire(kafka, tmp_path, topic, lake_kind):
    lake = Lake(tmp_path / "lake", "seaweed")
    store_proxy, catalog_proxy = lakes.SERVERS.fronts
    lives = ShortLives(store_proxy, catalog_proxy)
    begun = time.monotonic()
    try:
        run_beside_a_stream(kafka, lake, topic, lambda: time.monotonic() > begun + LIVES * LIFE_SECONDS and len(lives.tokens) > LIVES)
    finally:
        store_proxy.clear()
        catalog_proxy.clear()
    print(f"{len(lives.tokens)} tokens and {len(lives.vended)} credentials in {time.monotonic() - begun:.0f} s, {lives.refused} requests refused")
    assert len(lives.vended) > LIVES
