"""A real Kafka broker for the end-to-end tests, started by tests/servers/kafka.sh."""
import os
import pathlib
import random
import socket
import subprocess
import time

from confluent_kafka import ConsumerGroupTopicPartitions, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic

SCRIPT = pathlib.Path(__file__).resolve().parents[1] / "servers" / "kafka.sh"
REQUEST_SECONDS = 30


def free_port_pair():
    """A port P such that P and P + 1 are free on loopback: broker and controller.

    Below the range that clients get their own ports from: a broker that comes back must find its port free, though
    clients have been trying to connect to it all the while (a connection to itself would hold it).
    """
    for _ in range(200):
        port = random.randrange(12_000, 32_000, 2)
        try:
            with socket.socket() as first, socket.socket() as second:
                first.bind(("127.0.0.1", port))
                second.bind(("127.0.0.1", port + 1))
                return port
        except OSError:
            continue
    raise RuntimeError("no two free neighbouring ports on 127.0.0.1")


class KafkaServer:
    """One broker with its own data folder. Use it as a context manager, or call start and stop.

    A broker that cannot start raises: tests that need it fail, none of them is skipped.
    """

    def __init__(self, folder, properties=None, environment=None):
        self.folder = pathlib.Path(folder)
        self.port = None
        self._properties = properties or {}
        self._environment = environment or {}
        self._admin = None

    @property
    def bootstrap_servers(self):
        return f"127.0.0.1:{self.port}"

    @property
    def admin(self):
        """An AdminClient of this broker, made when first asked for."""
        if self._admin is None:
            self._admin = AdminClient({"bootstrap.servers": self.bootstrap_servers, "log_level": 2})
        return self._admin

    def forget_clients(self):
        """The next request goes out by a new client: one that met a broker on its way down may wait long for what it once asked."""
        self._admin = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *unused):
        self.stop()

    def start(self):
        """Formats a fresh folder and returns when the broker serves."""
        self.folder.mkdir(parents=True, exist_ok=True)
        # Another process may take the port between our look and Java's bind: try again.
        for attempt in range(3):
            self.port = free_port_pair()
            self.prepare()
            try:
                self._run("start", str(self.port))
                return
            except RuntimeError as error:
                if attempt == 2 or "BindException" not in str(error):
                    raise

    def prepare(self):
        """For kinds of broker that need more: `port` is chosen, nothing runs yet."""

    def stop(self):
        """Shuts the broker down in order; does nothing when it is not running."""
        self._run("stop")

    def kill(self):
        """kill -9: returns when the process is gone. Data stay."""
        self._run("kill")

    def restart(self):
        """Starts again after stop or kill, on the same port with the same data."""
        self._run("start-node")

    def create_topic(self, name, partitions=1, config=None):
        topic = NewTopic(name, partitions, 1, config=config or {})
        self._result(self.admin.create_topics([topic], operation_timeout=REQUEST_SECONDS))

    def delete_topic(self, name):
        """Deletes, and returns when the broker no longer names the topic."""
        self._result(self.admin.delete_topics([name], operation_timeout=REQUEST_SECONDS))
        self._await(lambda: name not in self.admin.list_topics(timeout=REQUEST_SECONDS).topics,
                    f"topic {name} to go away")

    def add_partitions(self, name, total):
        """Grows a topic to `total` partitions."""
        self._result(self.admin.create_partitions([NewPartitions(name, total)]))
        self._await(lambda: len(self.admin.list_topics(name, timeout=REQUEST_SECONDS).topics[name].partitions) == total,
                    f"topic {name} to have {total} partitions")

    def delete_records(self, name, partition, before_offset):
        """Makes `before_offset` the first offset of the partition, as retention would."""
        self._result(self.admin.delete_records([TopicPartition(name, partition, before_offset)]))

    def group_offsets(self, group, name):
        """The offsets that a consumer group has committed: partition → offset."""
        request = [ConsumerGroupTopicPartitions(group)]
        answer = self._result(self.admin.list_consumer_group_offsets(request))
        return {p.partition: p.offset for p in answer.topic_partitions if p.topic == name and p.offset >= 0}

    def _run(self, command, *arguments):
        environment = {**os.environ, **self._environment}
        if self._properties:
            file = self.folder / "extra.properties"
            file.write_text("".join(f"{key}={value}\n" for key, value in self._properties.items()))
            environment["KAFKA_PROPERTIES"] = str(file)
        done = subprocess.run([str(SCRIPT), command, str(self.folder), *arguments],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, env=environment)
        if done.returncode != 0:
            raise RuntimeError(f"kafka.sh {command} failed:\n{done.stdout}{done.stderr}")

    @staticmethod
    def _result(futures):
        (future,) = futures.values()
        return future.result(timeout=REQUEST_SECONDS)

    @staticmethod
    def _await(condition, what):
        deadline = time.monotonic() + REQUEST_SECONDS
        while time.monotonic() < deadline:
            try:
                if condition():
                    return
            except KafkaException:
                pass
            time.sleep(0.05)
        raise TimeoutError(f"waited {REQUEST_SECONDS} s for {what}")
