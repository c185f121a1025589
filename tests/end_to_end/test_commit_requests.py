"""A commit request leaves once for each attempt: counted at the catalog itself, behind a proxy that cuts and replaces its answers.

Apache's REST server tells each request that reached it, with its Idempotency-Key; Frazil tells each attempt in its log. No Kafka.
"""
import re

import pytest
from pyiceberg.catalog.rest import RestCatalog

from pipeline import frazil, write_file
from proxy import rules
from proxy.http_proxy import HttpProxy
from rest_server import RestServer

RECORDS = 3_000
CLIENT = ("me", "canary-of-the-tests")


ACTIONS = {"lost": rules.Drop("after"), "cut_before": rules.Drop("before"), "truncated": rules.Truncate(0.5),
           "unavailable": rules.Replace(503, "after"), "page": rules.Replace(200, "before", rules.HTML)}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with RestServer(tmp_path_factory.mktemp("rest"), oauth2=CLIENT, idempotency=True) as server:
        yield server


class EveryThird:
    """Of the requests that it is asked about, the second, the fifth and so on meet the fault: the first creates the table."""

    def __init__(self, action):
        self.action = action
        self.asked = 0

    def __call__(self, request):
        self.asked += 1
        return self.action if self.asked % 3 == 2 else None


def pipeline_file(folder, server, uri, table):
    file = folder / "pipeline.yaml"
    write_file(file, {
        "name": "orders", "source": {"generator": {"records": RECORDS, "rate": 1500, "seed": 7}},
        "table": {"name": f"shop.{table}", "create": {"properties": {"commit.retry.min-wait-ms": "5", "commit.retry.max-wait-ms": "50"}},
                  "catalog": {"type": "rest", "uri": uri, "credential": "${env:CATALOG_CREDENTIAL}"}},
        "files": {"allowed_roots": [server.warehouse.removeprefix("file://")]},
        "commit": {"interval": "100ms"}, "lanes": 1, "log": {"format": "json", "level": "debug"}, "http": {"listen": "127.0.0.1:0"}})
    return file


@pytest.mark.parametrize("table", ACTIONS)
def test_each_attempt_sends_one_request(tmp_path, server, table):
    with HttpProxy(server.port, name="catalog") as proxy:
        proxy.add(rules.Act(EveryThird(ACTIONS[table])), method="POST", path=f"/tables/{table}$")
        file = pipeline_file(tmp_path, server, proxy.url, table)
        outcome = frazil("run", file, "--until-caught-up", env={"CATALOG_CREDENTIAL": ":".join(CLIENT)})
    assert outcome.code == 0, outcome.stderr
    assert CLIENT[1] not in outcome.stderr + outcome.stdout
    attempts = len(re.findall(r'"event":"commit_sent"', outcome.stderr))
    arrived = server.commits("shop", table)
    keys = [request["idempotency_key"] for request in arrived]
    assert None not in keys and len(set(keys)) == len(keys), "a request arrived twice"
    sent = sum(exchange.target.endswith(f"/tables/{table}") for exchange in proxy.exchanges("POST"))
    assert sent == attempts + 1, "the proxy saw more requests than there were attempts"
    assert len(arrived) <= sent and attempts >= 6
    judge = RestCatalog("judge", uri=server.uri, credential=":".join(CLIENT), **{"oauth2-server-uri": f"{server.uri}/v1/oauth/tokens"})
    ids = judge.load_table(f"shop.{table}").scan(selected_fields=("id",)).to_arrow()["id"].to_pylist()
    assert len(ids) == RECORDS and len(set(ids)) == RECORDS
