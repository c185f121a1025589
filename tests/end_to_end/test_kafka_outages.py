"""A broker behind a network that fails: connections are reset, refused, and hang; nothing is lost or doubled."""
import random

import pytest

from exactly_once import SCHEMA, judge_exactly_once
from kafka_server import KafkaServer
from kill_harness import Stream
from pipeline import Pipeline, log_ends, topic_of, wait_until
from proxy.tcp_proxy import TcpProxy

PARTITIONS = 3
ROUNDS = 3


@pytest.fixture
def far_kafka(tmp_path):
    """A broker that tells its clients to come by the proxy: (server, proxy)."""
    with TcpProxy(0, name="kafka") as proxy:
        server = KafkaServer(tmp_path / "kafka", {"advertised.listeners": f"PLAINTEXT://127.0.0.1:{proxy.port}"})
        with server:
            proxy.server_port = server.port
            yield server, proxy


def fail(proxy, stream, how):
    """One outage, ended when its effect was seen."""
    if how == "cut":
        proxy.cut()
        return
    if how == "refuse":
        before = proxy.refused
        proxy.refuse()
        proxy.cut()
        wait_until(lambda: proxy.refused >= before + 5, "clients to be refused")
    if how == "stall":
        before = len(stream.produced)
        proxy.stall()
        wait_until(lambda: stream.sent > before + 2 * stream.per_second, "records that nobody acknowledges")
    proxy.pass_on()


def test_outages_of_the_network_lose_and_double_nothing(far_kafka, lake, topic):
    server, proxy = far_kafka
    topic_of(server, topic, partitions=PARTITIONS)
    pipeline = Pipeline(lake, server, topics=[topic], schema=SCHEMA, table={"columns": {"kafka_metadata": True}})
    dice = random.Random(1)
    outages = ["cut", "refuse", "stall"] * ROUNDS
    dice.shuffle(outages)
    with Stream(server, topic, PARTITIONS, 500, 0.05, 1) as stream, pipeline.start() as running:
        for how in outages:
            running.wait_for_commit(len(stream.good) // 2 + 1)
            fail(proxy, stream, how)
            acknowledged = len(stream.produced)
            running.wait_until(lambda: len(stream.produced) > acknowledged + 100, f"records after {how}", 120)
        running.wait_for_commit(len(stream.good))
        stream.stop()
        running.terminate().expect()
    ends = log_ends(server, topic, PARTITIONS)
    pipeline.run().expect()
    assert len(stream.produced) == sum(ends.values()), "the account of what was produced has gaps"
    judge_exactly_once(stream, lake.location_of(pipeline.table), lake.location_of(f"{pipeline.table}_dead_letters"))
    print(f"{len(outages)} outages, {proxy.connections} connections, {proxy.refused} refused")
