"""An unclean leader election on a real cluster: Kafka has lost records that the table has.

One election serves all tests of the file: topics that were written to again afterwards (their logs part below the table's
position), and topics that were not (their logs end there).
"""
import pytest

from kafka_cluster import KafkaCluster
from pipeline import Lake, Pipeline, ids, produce

PARTED = ["parted"]
SHORT = ["short_continue", "short_restart"]
UNCLEAN = {"unclean.leader.election.enable": "true", "min.insync.replicas": "1", "retention.ms": "-1"}


class Scene:
    """20 records are in each topic's table; ids 10 to 19 are lost to Kafka. Parted topics have 100 to 114 in their place."""

    def __init__(self, cluster, lakes):
        self.cluster = cluster
        self.lakes = lakes

    def pipeline(self, topic):
        return Pipeline(self.lakes[topic], self.cluster, name=topic, topics=[topic], source={"kafka": {"group": "none"}})


@pytest.fixture(scope="module")
def scene(tmp_path_factory, lakes_of_module):
    with KafkaCluster(tmp_path_factory.mktemp("cluster")) as cluster:
        scene = Scene(cluster, {topic: Lake(tmp_path_factory.mktemp(topic) / "lake") for topic in PARTED + SHORT})
        lakes_of_module.extend(scene.lakes.values())
        lose_records(scene)
        yield scene


def lose_records(scene):
    cluster, topics = scene.cluster, PARTED + SHORT
    for topic in topics:
        cluster.create_topic(topic, [2, 3], UNCLEAN)
        cluster.wait_until_led(topic, 2, [2, 3])
        produce(cluster, topic, ids(0, 10))
    cluster.nodes[3].kill()
    for topic in topics:
        cluster.wait_until_led(topic, 2, [2])
        produce(cluster, topic, ids(10, 20))
        scene.pipeline(topic).run().expect()
    cluster.nodes[2].kill()
    cluster.nodes[3].restart()
    for topic in topics:
        cluster.wait_until_led(topic, 3, [3])
    for topic in PARTED:
        produce(cluster, topic, ids(100, 115))


def halted(scene, topic, code):
    """The halt names the exact range, and nothing is written."""
    pipeline = scene.pipeline(topic)
    lake = scene.lakes[topic]
    lake.expect_ids(pipeline.table, range(20))
    location = lake.location_of(pipeline.table)
    outcome = pipeline.run()
    assert outcome.expect_halt(code)["range"] == f"{topic}/0[10,20)"
    assert lake.location_of(pipeline.table) == location
    return outcome


def test_logs_that_part_below_the_table(scene):
    outcome = halted(scene, "parted", "SOURCE_TRUNCATED")
    assert "unclean leader election" in outcome.halt["text"]
    pipeline = scene.pipeline("parted")
    pipeline.run("--accept", outcome.accept("continue")).expect()
    scene.lakes["parted"].expect_ids(pipeline.table, [*range(20), *range(100, 115)])
    produce(scene.cluster, "parted", ids(115, 120))
    pipeline.run().expect()
    scene.lakes["parted"].expect_ids(pipeline.table, [*range(20), *range(100, 120)])


@pytest.mark.parametrize("choice, again", [("continue", []), ("restart", range(10))])
def test_a_log_that_ends_below_the_table(scene, choice, again):
    topic = f"short_{choice}"
    outcome = halted(scene, topic, "SOURCE_BEHIND")
    pipeline = scene.pipeline(topic)
    pipeline.run("--accept", outcome.accept(choice)).expect()
    produce(scene.cluster, topic, ids(200, 205))
    pipeline.run().expect()
    scene.lakes[topic].expect_ids(pipeline.table, [*range(20), *again, *range(200, 205)])
