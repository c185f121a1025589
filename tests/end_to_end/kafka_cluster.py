"""Several brokers that are one cluster: what a single one cannot show, such as a leader that has less than the last one had.

Node 1 is the controller as well and is never killed by tests; the others are brokers alone, so that their end costs no quorum.
"""
import base64
import pathlib
import uuid
from concurrent.futures import ThreadPoolExecutor

from confluent_kafka.admin import AdminClient, NewTopic

from kafka_server import REQUEST_SECONDS, KafkaServer, free_port_pair


LOOK_SECONDS = 3


class Node(KafkaServer):
    """One broker of the cluster; its ports are chosen by the cluster, before any starts."""

    def __init__(self, folder, number, controller_port, cluster_id):
        self.number = number
        self._node_port = free_port_pair() if number > 1 else controller_port - 1
        properties = {
            "node.id": number,
            "controller.quorum.voters": f"1@127.0.0.1:{controller_port}",
            "offsets.topic.replication.factor": 3,
        }
        if number > 1:
            properties |= {"process.roles": "broker", "listeners": f"PLAINTEXT://127.0.0.1:{self._node_port}"}
        super().__init__(folder, properties, {"KAFKA_CLUSTER_ID": cluster_id})

    def start(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        self.port = self._node_port
        self._run("start", str(self.port))


class KafkaCluster:
    """Three nodes. Use it as a context manager."""

    def __init__(self, folder):
        cluster_id = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        first = free_port_pair()
        self.nodes = {n: Node(pathlib.Path(folder) / f"node{n}", n, first + 1, cluster_id) for n in (1, 2, 3)}
        self._admin = None

    @property
    def bootstrap_servers(self):
        return ",".join(node.bootstrap_servers for node in self.nodes.values())

    @property
    def admin(self):
        if self._admin is None:
            self._admin = AdminClient({"bootstrap.servers": self.bootstrap_servers, "log_level": 0})
        return self._admin

    def __enter__(self):
        try:
            # All at once: a broker is ready only when the controller is.
            with ThreadPoolExecutor(len(self.nodes)) as pool:
                list(pool.map(lambda node: node.start(), self.nodes.values()))
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *unused):
        for number in sorted(self.nodes, reverse=True):
            self.nodes[number].stop()

    def create_topic(self, name, replicas, config=None):
        """One partition on these nodes; the first leads."""
        topic = NewTopic(name, num_partitions=1, replica_assignment=[replicas], config=config or {})
        KafkaServer._result(self.admin.create_topics([topic], operation_timeout=REQUEST_SECONDS))

    def wait_until_led(self, name, leader, in_sync):
        """Until the only partition has this leader and exactly these replicas in sync."""
        def look():
            # A client of its own for each look: an older one may go on asking a node that was killed.
            client = AdminClient({"bootstrap.servers": self.nodes[1].bootstrap_servers, "log_level": 0})
            partition = client.list_topics(name, timeout=LOOK_SECONDS).topics[name].partitions.get(0)
            return partition and partition.leader == leader and sorted(partition.isrs) == sorted(in_sync)
        KafkaServer._await(look, f"{name} to be led by {leader} with {in_sync} in sync")
