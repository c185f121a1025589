"""One place that knows how Frazil is run: lakes, pipeline files, the program itself, and records for Kafka.

Lake      a catalog and a warehouse of the kind that FRAZIL_LAKE names, read through PyIceberg and the judges
Pipeline  writes a pipeline file and runs `frazil run` on it, to its end or in the background
produce   writes records with librdkafka's Python client

Nothing here waits a fixed time: wait_until looks for a condition until a deadline.
"""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import urllib.request

from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import OffsetSpec
from pyiceberg.exceptions import NoSuchTableError, NoSuchNamespaceError

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

import lakes  # noqa: E402
from judges import canonical, compare, java_checker, stores  # noqa: E402

BINARY = pathlib.Path(os.environ.get("FRAZIL_BINARY") or ROOT / "build" / "release" / "frazil")
RUN_SECONDS = 90    # a run to its end, on a busy machine
WAIT_SECONDS = 60
TERM_SECONDS = 30   # what the program promises after SIGTERM


def wait_until(condition, what, seconds=WAIT_SECONDS):
    """Returns the first true value of condition(); fails after the deadline."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if value := condition():
            return value
        time.sleep(0.05)
    raise TimeoutError(f"waited {seconds} s for {what}")


# --- Kafka --------------------------------------------------------------------------------------


class Record:
    """A record to produce. value: bytes, None (no value), or anything that json.dumps takes."""

    def __init__(self, value, partition=0, key=None, headers=None, timestamp=0):
        self.value = value if value is None or isinstance(value, bytes) else json.dumps(value, ensure_ascii=False).encode()
        self.partition = partition
        self.key = key
        self.headers = headers
        self.timestamp = timestamp


def produce(kafka, topic, records, **settings):
    """Produces in order; records are Records, or values for partition 0. Returns how many."""
    producer = Producer({"bootstrap.servers": kafka.bootstrap_servers, "acks": "all", "linger.ms": 5, "message.max.bytes": 20_000_000, **settings})
    failures = []
    records = [r if isinstance(r, Record) else Record(r) for r in records]
    for record in records:
        arguments = {"partition": record.partition, "key": record.key, "timestamp": record.timestamp,
                     "on_delivery": lambda error, _: error and failures.append(error)}
        if record.headers is not None:
            arguments["headers"] = record.headers
        try:
            producer.produce(topic, record.value, **arguments)
        except BufferError:
            producer.flush(60)
            producer.produce(topic, record.value, **arguments)
    assert producer.flush(60) == 0 and not failures, failures
    return len(records)


def topic_of(kafka, name, records=(), partitions=1, config=None):
    """A new topic with these records in it. Records of any age stay."""
    kafka.create_topic(name, partitions, {"retention.ms": "-1", **(config or {})})
    produce(kafka, name, records)
    return name


def log_ends(kafka, topic, partitions=1):
    """The offset behind the last record (or marker) of each partition."""
    request = {TopicPartition(topic, p): OffsetSpec.latest() for p in range(partitions)}
    return {tp.partition: f.result(30).offset for tp, f in kafka.admin.list_offsets(request).items()}


# --- the lake -----------------------------------------------------------------------------------


class Lake:
    """A place for tables (lakes.py) and a folder for everything else of a test. foreign: somebody else writes into its tables too, so the
    strict checker leaves out the rules for Frazil's own files."""

    def __init__(self, folder, kind=lakes.KIND, place=None):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.place = place or lakes.SERVERS.place(self.folder, kind)
        self.foreign_tables = set()
        self.unchecked_tables = set()

    @property
    def kind(self):
        return self.place.kind

    @property
    def warehouse(self):
        return self.place.warehouse

    @property
    def is_local(self):
        """Its files lie on this machine's disk."""
        return self.warehouse.startswith("file:")

    @property
    def database(self):
        """The catalog's file: of a SQLite lake alone."""
        return self.place.database

    def catalog(self):
        return self.place.catalog()

    def open(self, location):
        """A file of the lake, local or in its store, to read and seek in."""
        return stores.open_file(location)

    def files(self):
        """location → bytes of all files in the warehouse, referenced or not."""
        return stores.files_below(self.warehouse)

    def load(self, name):
        return self.catalog().load_table(name)

    def has(self, name):
        return self.place.is_there and self.catalog().table_exists(name)

    def location_of(self, name):
        return self.load(name).metadata_location

    def tables(self):
        if not self.place.is_there:
            return []
        catalog = self.catalog()
        return [".".join(table) for ns in catalog.list_namespaces() for table in catalog.list_tables(ns)]

    def rows(self, name):
        """The rows as PyIceberg reads them, canonical, in any order; none when there is no table (yet)."""
        try:
            return compare.read_all(self.location_of(name), "pyiceberg")
        except (NoSuchTableError, NoSuchNamespaceError):
            return []

    def column(self, name, column):
        """One column, sorted."""
        return sorted(row[column] for row in self.rows(name))

    def expect_ids(self, name, expected, column="id"):
        """The table has these values, each as often as given."""
        expected = sorted(expected)
        assert expected, "nothing to compare"
        found = self.column(name, column)
        assert found == expected, f"{name}: {difference(found, expected)}"
        print(f"{name}: compared {len(found)} rows by {column}")

    def expect_rows(self, name, expected, judges=compare.JUDGES, columns=None):
        return compare.compare_judges(self.location_of(name), expected, judges, columns=columns)

    def expect_where(self, name, column, op, value, expected, judges=compare.FILTERING):
        return compare.compare_where(self.location_of(name), column, op, value, expected, judges)

    def property_of(self, name, key):
        return self.load(name).properties.get(key)

    def positions(self, name, pipeline):
        """topic → next offsets, as the pipeline's newest snapshot has them."""
        table = self.load(name)
        tag = table.metadata.refs.get(f"frazil-{pipeline}")
        if tag is None:
            return {}
        summary = table.metadata.snapshot_by_id(tag.snapshot_id).summary
        return {t: v["next"] for t, v in json.loads(summary["frazil.positions"])["topics"].items()}

    def data_files(self, name):
        """The manifest entries of the current snapshot, as dicts; the partition by field names, bounds by field ids."""
        table = self.load(name)
        files = []
        for file in (task.file for task in table.scan().plan_files()):
            fields = table.specs()[file.spec_id].fields
            files.append({"file_path": file.file_path, "record_count": file.record_count, "split_offsets": file.split_offsets,
                          "partition": {field.name: file.partition[i] for i, field in enumerate(fields)},
                          "lower_bounds": file.lower_bounds, "upper_bounds": file.upper_bounds})
        return files

    def own_snapshots(self, name, pipeline):
        return [s for s in self.load(name).metadata.snapshots if s.summary and s.summary.get("frazil.pipeline") == pipeline]


def difference(found, expected):
    from collections import Counter

    missing, excess = Counter(expected) - Counter(found), Counter(found) - Counter(expected)
    return (f"{len(found)} found, {len(expected)} expected; missing {sorted(missing.elements())[:10]}, "
            f"not expected {sorted(excess.elements())[:10]}")


# --- the program --------------------------------------------------------------------------------


class Outcome:
    """What a run left: exit code, events of --json, text on stderr."""

    def __init__(self, code, stdout, stderr):
        self.code = code
        self.stdout = stdout
        self.stderr = stderr
        self.events = [json.loads(line) for line in stdout.splitlines() if line.startswith('{"event"')]

    def of(self, kind, pipeline=None):
        return [e for e in self.events if e["event"] == kind and pipeline in (None, e["pipeline"])]

    @property
    def summary(self):
        (event,) = self.of("summary")
        return event

    @property
    def halt(self):
        (event,) = self.of("halt")
        return event

    def expect(self, code=0):
        assert self.code == code, f"exit {self.code}, expected {code}\n{self.stdout[-3000:]}\n{self.stderr[-5000:]}"
        return self

    def expect_halt(self, code):
        """Exit 1 with this halt, in both forms of output; returns its event."""
        self.expect(1)
        assert self.halt["code"] == code, self.halt
        assert code in self.stderr, self.stderr
        return self.halt

    def accept(self, choice):
        """The argument of --accept for this choice, as the halt printed it."""
        (found,) = [c["accept"] for c in self.halt["choices"] if c["choice"] == choice]
        assert found in self.stderr, (found, self.stderr)
        return found


def environment(**changes):
    """A plain environment: nothing of the tester's own settings reaches the program."""
    kept = {k: os.environ[k] for k in ("PATH", "HOME", "LANG", "TMPDIR", "ASAN_OPTIONS") if k in os.environ}
    return {**kept, "USER": "tester", **changes}


def frazil(*arguments, env=None, seconds=RUN_SECONDS):
    """Runs the program to its end."""
    assert BINARY.exists(), f"{BINARY} is missing: build it first"
    done = subprocess.run([str(BINARY), *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds,
                          env=environment(**(env or {})))
    return Outcome(done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"))


class Running:
    """`frazil run` in the background. As a context manager it never leaves a process behind."""

    def __init__(self, arguments, folder, env=None):
        assert BINARY.exists(), f"{BINARY} is missing: build it first"
        self._stdout, self._stderr = folder / "stdout", folder / "stderr"
        with open(self._stdout, "wb") as out, open(self._stderr, "wb") as err:
            self.process = subprocess.Popen([str(BINARY), *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                            env=environment(**(env or {})))

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    @property
    def stderr(self):
        return self._stderr.read_text(errors="replace")

    @property
    def outcome(self):
        return Outcome(self.process.poll(), self._stdout.read_text(errors="replace"), self.stderr)

    def wait_until(self, condition, what, seconds=WAIT_SECONDS):
        """As wait_until, and fails at once when the program ends before."""
        def look():
            if value := condition():
                return value
            assert self.process.poll() is None, f"ended with {self.process.poll()} before {what}:\n{self.stderr[-3000:]}"
            return None
        try:
            return wait_until(look, what, seconds)
        except TimeoutError as error:
            raise TimeoutError(f"{error}\n{self.stderr[-3000:]}") from None

    def wait_for_commit(self, rows=0, seconds=WAIT_SECONDS):
        """Until commits of this many rows in all were reported."""
        def committed():
            done = [e for e in self.complete_events() if e["event"] == "commit" and e["outcome"] == "done"]
            return done and sum(e["rows"] for e in done) >= rows
        self.wait_until(committed, f"commits of {rows} rows", seconds)

    def complete_events(self):
        lines = self._stdout.read_text(errors="replace").split("\n")[:-1]
        return [json.loads(line) for line in lines if line.startswith("{")]

    def wait_for_log(self, pattern, seconds=WAIT_SECONDS):
        return self.wait_until(lambda: re.search(pattern, self.stderr), f"{pattern} in the log", seconds)

    def wait_for_end(self, seconds=WAIT_SECONDS):
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise TimeoutError(f"still running after {seconds} s:\n{self.stderr[-3000:]}") from None
        return self.outcome

    def terminate(self):
        """SIGTERM; the program promises to end within 30 s."""
        self.process.send_signal(signal.SIGTERM)
        return self.wait_for_end(TERM_SECONDS)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def get(self, path):
        """status code and body of an answer of the status server."""
        address = self.wait_for_log(r"127\.0\.0\.1:(\d+)").group(0)
        try:
            with urllib.request.urlopen(f"http://{address}{path}", timeout=10) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()


class Pipeline:
    """A pipeline file in the lake's folder. `settings` are laid over the defaults, key by key; `...` leaves a key out."""

    def __init__(self, lake, kafka, name="orders", topics=None, schema=None, create=None, **settings):
        self.lake = lake
        self.name = name
        self.table = settings.get("table", {}).get("name", f"shop.{name}")
        self._runs = 0
        bootstrap = kafka if isinstance(kafka, str) else kafka.bootstrap_servers
        content = {
            "name": name,
            # A group of this test alone: the tests' pipelines are namesakes.
            "source": {"kafka": {"topics": topics or [name], "group": f"{name}-{lake.folder.parent.name}",
                                 "properties": {"bootstrap.servers": bootstrap}}},
            "decode": {"json": {"schema": schema if schema is not None else ID_SCHEMA}},
            "table": {"name": self.table, "catalog": lake.place.block,
                      **({} if create is ... else {"create": create or {}})},
            "commit": {"interval": "200ms"},
        }
        self.content = merged({**content, **lake.place.settings}, settings)
        self.process_content = {"http": {"listen": "off"}}
        self.path = lake.folder / f"{name}.yaml"

    @property
    def group(self):
        return self.content["source"]["kafka"].get("group", f"frazil-{self.name}")

    def write(self):
        write_file(self.path, {**self.content, **self.process_content})
        return self.path

    def arguments(self, *more, json_events=True):
        return ["run", self.write(), *(["--json"] if json_events else []), *more]

    def run(self, *more, env=None, seconds=RUN_SECONDS):
        """Until everything that is there now is in the table."""
        return frazil(*self.arguments("--until-caught-up", *more), env=env, seconds=seconds)

    def start(self, *more, env=None):
        self._runs += 1
        folder = self.lake.folder / f"{self.name}_run_{self._runs}"
        folder.mkdir()
        return Running(self.arguments(*more), folder, env)


ID_SCHEMA = [{"name": "id", "type": "long", "required": True}, {"name": "text", "type": "string"}]


def merged(base, changes):
    """changes over base; a value of ... (Ellipsis) removes the key."""
    result = dict(base)
    for key, value in changes.items():
        if value is ...:
            result.pop(key, None)
        elif isinstance(value, dict) and isinstance(result.get(key), dict):
            result[key] = merged(result[key], value)
        else:
            result[key] = value
    return result


def write_file(path, content):
    """YAML holds JSON."""
    # All of it or nothing: a process started before may be about to read it.
    fresh = path.with_name(path.name + ".fresh")
    fresh.write_text(json.dumps(content, indent=1, ensure_ascii=False))
    fresh.replace(path)


def ids(begin, end):
    """Small documents for ID_SCHEMA."""
    return [{"id": i, "text": f"row {i}"} for i in range(begin, end)]


def check_lakes(lakes):
    """Runs the strict checker over every table of these lakes, in as few JVMs as can be; returns rows looked at."""
    groups = {"frazil": [], "off": []}
    for lake in lakes:
        for name in lake.tables():
            if name not in lake.unchecked_tables:
                groups["off" if name in lake.foreign_tables else "frazil"].append(lake.location_of(name))
    rows = 0
    for strict_writer, locations in groups.items():
        if locations:
            verdicts = java_checker.expect_clean(locations, strict_writer, may_be_empty=True)
            rows += sum(verdict.checked["rows"] for verdict in verdicts)
    return rows


__all__ = ["ID_SCHEMA", "Lake", "Outcome", "Pipeline", "Record", "canonical", "check_lakes", "compare", "environment", "frazil", "ids",
           "java_checker", "log_ends", "merged", "produce", "topic_of", "wait_until", "write_file"]
