"""Where a run with faults takes place: a broker behind a proxy, and a lake: SQLite and local files, or a REST catalog and S3 behind proxies.

A Round is a topic, its table, a stream that never rests, workers, and the history of what was done to them. When it is over, the tables are
held to the history by a program of its own (tests/account/check.py).
"""
import pathlib
import subprocess
import sys
import time
import urllib.parse

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), str(TESTS / "end_to_end")]

import lakes  # noqa: E402
from account.history import History  # noqa: E402
from exactly_once import SCHEMA  # noqa: E402
from judges import stores  # noqa: E402
from kafka_server import KafkaServer  # noqa: E402
from kill_harness import Stream, Victim  # noqa: E402
from pipeline import Lake, Pipeline, log_ends, topic_of, wait_until  # noqa: E402
from proxy.http_proxy import HttpProxy  # noqa: E402
from proxy.tcp_proxy import TcpProxy  # noqa: E402

PARTITIONS = 6
PER_SECOND = 1500
BAD_SHARE = 0.02
SESSION_SECONDS = 6        # the least that brokers allow: a pause of more makes a zombie
LAG_SECONDS = 120          # waited for at most; check.py says what is late
WRITERS = 2
SLOW_ANSWERS = {"FRAZIL_FAILPOINTS": "commit.post.answer=delay:150@2+"}
# Kept longer than a round lasts, so that the whole chain of snapshots can be walked.
KEEP = {"history.expire.max-snapshot-age-ms": "7200000", "commit.retry.min-wait-ms": "5", "commit.retry.max-wait-ms": "200"}


class Arena:
    """Servers and proxies of one run, started when first needed."""

    def __init__(self, folder, kind):
        self.folder, self.kind = folder, kind
        self.folder.mkdir(parents=True, exist_ok=True)
        lakes.SERVERS.folder = folder / "servers"
        lakes.SERVERS.folder.mkdir(exist_ok=True)
        self.broker_proxy = TcpProxy(0, name="kafka")
        self.catalog_proxy = self.store_proxy = None

    def __enter__(self):
        self.broker_proxy.start()
        self.kafka = KafkaServer(self.folder / "kafka", {"advertised.listeners": f"PLAINTEXT://127.0.0.1:{self.broker_proxy.port}"})
        self.kafka.start()
        self.broker_proxy.server_port = self.kafka.port
        return self

    def __exit__(self, *unused):
        for proxy in filter(None, (self.catalog_proxy, self.store_proxy)):
            proxy.stop()
        self.kafka.stop()
        self.broker_proxy.stop()
        lakes.SERVERS.stop()

    def lake(self, folder):
        """The lake, and what a pipeline's catalog block changes to come by the proxies."""
        lake = Lake(folder, self.kind)
        if self.kind == "sqlite":
            return lake, {}
        uri = urllib.parse.urlsplit(lake.place.block["uri"])
        if self.catalog_proxy is None:
            self.catalog_proxy = HttpProxy(uri.port, name="catalog")
            self.store_proxy = HttpProxy(lakes.SERVERS.store().port, name="s3")
            for proxy in (self.catalog_proxy, self.store_proxy):
                proxy.start()
        return lake, {"uri": self.catalog_proxy.url + uri.path, "properties": {"s3.endpoint": self.store_proxy.url}}


class Round:
    def __init__(self, arena, number, workers, seed):
        self.arena, self.number = arena, number
        self.folder = arena.folder / f"round_{number}"
        self.lake, catalog = arena.lake(self.folder)
        self.topic = topic_of(arena.kafka, f"round_{number}", partitions=PARTITIONS)
        self.history = History(self.folder / "history.jsonl")
        self.pipelines = [self._pipeline(f"w{i}", catalog) for i in range(workers)]
        self.stream = Stream(arena.kafka, self.topic, PARTITIONS, PER_SECOND, BAD_SHARE, seed)
        self.victims = []
        self.samples, self._broker_error = [], None
        self.first_commits, self.dropped = [], 0   # seconds from restart to first commit; epochs given up in order

    def _pipeline(self, member, catalog):
        properties = {"group.instance.id": member, "session.timeout.ms": str(SESSION_SECONDS * 1000), "heartbeat.interval.ms": "1000"}
        pipeline = Pipeline(self.lake, self.arena.kafka, topics=[self.topic], schema=SCHEMA, lanes=WRITERS,
                            source={"kafka": {"group": self.topic, "properties": properties}},
                            create={"partition_by": ["bucket(4, id)"], "properties": KEEP},
                            table={"columns": {"kafka_metadata": True}, "catalog": catalog}, commit={"interval": "300ms"})
        pipeline.process_content["log"] = {"format": "json", "level": "debug"}
        pipeline.path = self.lake.folder / f"{member}.yaml"
        return pipeline

    def __enter__(self):
        self.stream.__enter__()
        self.victims = [None] * len(self.pipelines)
        for worker in range(len(self.pipelines)):
            self.restart(worker)
        return self

    def __exit__(self, *unused):
        for victim in filter(None, self.victims):
            victim.__exit__()
        self.stream.stop()
        self.history.__exit__()

    # --- workers --------------------------------------------------------------------------------

    def restart(self, worker, slow_answers=False):
        """slow_answers: what the catalog answers reaches the program late, so that a blow finds commits that landed."""
        arguments = self.pipelines[worker].arguments(json_events=False)
        self.victims[worker] = Victim(arguments, SLOW_ANSWERS if slow_answers else {}, name=f"w{worker}")

    def note_death(self, worker):
        """The victim is dead: what it leaves in the history. Returns True when its last request had landed unanswered, None when it had none."""
        victim = self.victims[worker]
        progress = victim.progress
        if progress.begins_with is not None:
            self.first_commits.append(progress.begins_with)
        self.dropped += progress.counts["epoch_dropped"]
        self.history.add("batch", lost=progress.lost_so_far, letters=progress.counts["dead_letters_written_again"])
        landed = progress.unanswered and self.has_snapshot(progress.unanswered)
        victim.__exit__()
        return landed

    def sample(self, victims=None):
        """Memory, descriptors and threads, of all workers unless told otherwise."""
        for victim in victims or self.victims:
            if bounds := victim.bounds():
                self.history.add("sample", **bounds)
                self.samples.append(bounds)

    def expect_alive(self):
        for victim in self.victims:
            assert victim.process.poll() is None, f"{victim.name} ended by itself with {victim.process.returncode}:\n{victim.tail()}"

    # --- the table ------------------------------------------------------------------------------

    @property
    def table(self):
        return self.pipelines[0].table

    def has_snapshot(self, snapshot_id):
        return self.lake.has(self.table) and self.lake.load(self.table).metadata.snapshot_by_id(int(snapshot_id)) is not None

    def note_files(self):
        self.history.add("seen", files=[location for location in self.lake.files() if location.endswith(".parquet")])

    def await_no_lag(self, fault):
        """Until the table has everything that is in the topic now."""
        begun = time.monotonic()
        try:
            ends = wait_until(self._log_ends, "the broker", LAG_SECONDS)
        except TimeoutError as error:
            raise TimeoutError(f"{error} after {fault}: {self._broker_error!r}") from None
        try:
            wait_until(lambda: self._is_at(ends), f"no lag after {fault}", LAG_SECONDS)
        except TimeoutError as error:
            tails = "\n".join(f"--- {victim.name}\n{victim.tail()}" for victim in self.victims)
            raise TimeoutError(f"{error}: the log ends at {ends}\n{tails}") from None
        seconds = time.monotonic() - begun
        self.history.add("healed", seconds=seconds, fault=fault)
        return seconds

    def _log_ends(self):
        try:
            return log_ends(self.arena.kafka, self.topic, PARTITIONS)
        except Exception as error:  # the client's own errors: the broker is not back yet
            self._broker_error = error
            self.arena.kafka.forget_clients()
            return None

    def _is_at(self, ends):
        self.expect_alive()
        at = self.lake.positions(self.table, "orders").get(self.topic) if self.lake.has(self.table) else None
        return at is not None and all(end == 0 or (p < len(at) and (at[p] or 0) >= end) for p, end in ends.items())

    # --- the end --------------------------------------------------------------------------------

    def settle(self):
        """Everything is killed, one run goes to the end of the topic, and check.py judges. Returns its text."""
        for worker, victim in enumerate(self.victims):
            if victim.process.poll() is None:
                victim.kill()
                self.note_death(worker)
        self.victims = []
        self.stream.stop()
        self.pipelines[0].run().expect()
        self.history.add_stream(self.stream)
        ends = log_ends(self.arena.kafka, self.topic, PARTITIONS)
        letters = f"{self.table}_dead_letters"
        known = {prefix: vars(store) for prefix, store in stores.registered().items()}
        self.history.add("table", pipeline="orders", topic=self.topic, rows=self.lake.location_of(self.table), ends=ends, stores=known,
                         letters=self.lake.location_of(letters) if self.lake.has(letters) else None, warehouse=self.lake.warehouse)
        done = subprocess.run([sys.executable, str(TESTS / "account/check.py"), str(self.history.path)], capture_output=True, text=True)
        if done.returncode != 0:
            raise AssertionError(f"{self.history.path}:\n{done.stdout}{done.stderr[-2000:]}")
        return done.stdout
