"""Disks and limits of the machine: full, read-only and slow disks, memory, descriptors, clocks that jump, certificates past their end.

Each time the program meets the limit (its log or its end says so), the limit is lifted, and every record is once in the table. Disks are small
tmpfs of the test's own; on a machine that lets nobody mount, these tests are left out and counted.
"""
import pathlib
import re
import resource
import signal
import subprocess

import pytest

import lakes
from exactly_once import SCHEMA, expect_all_files, faults_of, letters_of, rows_of
from kill_harness import Stream
from pipeline import BINARY, Lake, Pipeline, log_ends, topic_of, wait_until
from proxy.http_proxy import HttpProxy

PARTITIONS = 3
BAD_SHARE = 0.03
STARVES_FOR = 10   # seconds that a process with too little memory may wait
CLOCK = pathlib.Path(__file__).with_name("jumping_clock.c")
pytestmark = pytest.mark.only_on("sqlite", reason="limits of this machine, on local files")


class Bench:
    """A topic with a stream, a pipeline, and the account of both."""

    def __init__(self, kafka, lake, topic, per_second=500, buckets=2, **settings):
        self.kafka, self.lake, self.topic = kafka, lake, topic_of(kafka, topic, partitions=PARTITIONS)
        self.stream = Stream(kafka, topic, PARTITIONS, per_second, BAD_SHARE, 1)
        settings.setdefault("source", {"kafka": {"group": "none"}})
        self.pipeline = Pipeline(lake, kafka, topics=[topic], schema=SCHEMA, create={"partition_by": [f"bucket({buckets}, id)"]},
                                 table={"columns": {"kafka_metadata": True}}, commit={"interval": "100ms"}, **settings)

    def expect_exact(self):
        self.stream.stop()
        self.pipeline.run().expect()
        table, letters = self.pipeline.table, f"{self.pipeline.table}_dead_letters"
        ends = log_ends(self.kafka, self.topic, PARTITIONS)
        assert len(self.stream.produced) == sum(ends.values()), "the account of what was produced has gaps"
        faults = faults_of(self.stream.good, rows_of(self.lake.location_of(table), "pyiceberg"))
        faults += [f"dead letters: {fault}" for fault in faults_of(self.stream.bad, letters_of(self.lake.location_of(letters), "pyiceberg"))]
        assert not faults and self.stream.good and self.stream.bad, f"{len(faults)} faults, first {faults[:5]}"
        expect_all_files(self.lake, [table, letters])
        print(f"compared {len(self.stream.produced)} records")


def commits(running):
    return len(re.findall("commit_accepted", running.stderr))


def await_more_commits(running, more=3):
    before = commits(running)
    running.wait_until(lambda: commits(running) >= before + more, f"{more} more commits")


# --- disks ----------------------------------------------------------------------------------------


def mount(*arguments):
    return subprocess.run(["mount", *map(str, arguments)], capture_output=True, text=True)


@pytest.fixture
def small_disk(tmp_path):
    """(lake, folder of its warehouse): the warehouse has a disk of 16 MB of its own."""
    lake = Lake(tmp_path / "lake")
    folder = lake.folder / "warehouse"
    folder.mkdir()
    done = mount("-t", "tmpfs", "-o", "size=16m", "tmpfs", folder)
    assert done.returncode == 0, done.stderr
    yield lake, folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(path):
    with open(path, "wb", buffering=0) as file:
        try:
            while True:
                file.write(b"x" * 4096)
        except OSError:
            pass


@pytest.mark.mounts
def test_a_full_disk_holds_it_up_until_there_is_room(kafka, small_disk, topic):
    lake, disk = small_disk
    bench = Bench(kafka, lake, topic)
    with bench.stream, bench.pipeline.start() as running:
        await_more_commits(running)
        fill(disk / "filler")
        running.wait_for_log(r"(?s)attempt_failed.*No space left.*attempt_failed")
        (disk / "filler").unlink()
        await_more_commits(running)
        running.terminate().expect()
    bench.expect_exact()


@pytest.mark.mounts
def test_a_disk_that_turned_read_only_holds_it_up_until_it_is_writable(kafka, small_disk, topic):
    lake, disk = small_disk
    bench = Bench(kafka, lake, topic)
    with bench.stream, bench.pipeline.start() as running:
        await_more_commits(running)
        wait_until(lambda: mount("-o", "remount,ro", disk).returncode == 0, "a moment without an open file")
        running.wait_for_log(r"(?s)attempt_failed.*Read-only file system")
        assert mount("-o", "remount,rw", disk).returncode == 0
        await_more_commits(running)
        running.terminate().expect()
    bench.expect_exact()


def test_a_slow_disk_makes_commits_rare_and_loses_nothing(kafka, lake, topic):
    """Each file takes a fifth of a second longer."""
    bench = Bench(kafka, lake, topic)
    with bench.stream, bench.pipeline.start(env={"FRAZIL_FAILPOINTS": "upload.mid=delay:200@1+"}) as running:
        await_more_commits(running)
        assert len(re.findall("failpoint_met name=upload.mid", running.stderr)) > 5
        running.terminate().expect()
    bench.expect_exact()


# --- memory and descriptors -----------------------------------------------------------------------


def limited(which, soft):
    """Arguments that run the program below a limit of its own."""
    return ["prlimit", f"--{which}={soft}"]


def end_of(arguments, seconds):
    """The exit code; what still waits then is killed: without room for its threads, the Kafka client never reaches a broker."""
    with subprocess.Popen(list(map(str, arguments)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            return process.wait()


def test_without_memory_it_ends_and_loses_nothing(kafka, lake, topic):
    """Address space from far too little to enough: it fails below some size, works above, and is exact whatever happened before."""
    bench = Bench(kafka, lake, topic, per_second=3000)
    ends = []
    with bench.stream:
        wait_until(lambda: len(bench.stream.produced) > 3000, "records")
        for megabytes in (60, 100, 140, 180, 240, 2500):
            arguments = [*limited("as", megabytes << 20), BINARY, *bench.pipeline.arguments("--until-caught-up")]
            ends.append((megabytes, end_of(arguments, STARVES_FOR if megabytes < 2500 else 60)))
    print(f"ends by size: {ends}")
    assert ends[0][1] not in (0, -signal.SIGKILL) and ends[-1][1] == 0, ends
    assert all(code in (0, 1, 127, -signal.SIGABRT, -signal.SIGSEGV, -signal.SIGKILL) for _, code in ends), ends
    bench.expect_exact()


def test_without_descriptors_it_waits_until_there_are_some(kafka, lake, topic):
    bench = Bench(kafka, lake, topic, per_second=2000, buckets=64)
    with bench.stream, bench.pipeline.start() as running:
        await_more_commits(running, 2)
        pid = running.process.pid
        used = len(list(pathlib.Path(f"/proc/{pid}/fd").iterdir()))
        hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)[1]
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (used + 1, hard))
        running.wait_for_log("Too many open files")
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (hard, hard))
        await_more_commits(running, 2)
        running.terminate().expect()
    bench.expect_exact()


# --- clocks and certificates ----------------------------------------------------------------------


class WallClock:
    """The wall clock of a program that was started with `environment`: move(seconds) sets it that much off."""

    def __init__(self, folder):
        library, self._file = folder / "jumping_clock.so", folder / "clock"
        subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", library, CLOCK, "-ldl"], check=True)
        self._file.write_bytes(b"0\n".ljust(32))
        self.environment = {"LD_PRELOAD": str(library), "JUMPING_CLOCK": str(self._file)}

    def move(self, seconds):
        with open(self._file, "r+b") as file:
            file.write(f"{seconds}\n".encode().ljust(32))


@pytest.mark.parametrize("group", ["none", "clock"])
def test_a_wall_clock_that_jumps_by_hours_and_days_changes_nothing(kafka, lake, topic, group):
    """There and back, while it runs; the monotonic clock goes on."""
    clock = WallClock(lake.folder)
    bench = Bench(kafka, lake, topic, source={"kafka": {"group": group, "properties": {"group.instance.id": "a", "session.timeout.ms": "6000"}}})
    with bench.stream, bench.pipeline.start(env=clock.environment) as running:
        await_more_commits(running)
        for jump in (3600, -3600, 86400, -86400, 0):
            clock.move(jump)
            await_more_commits(running)
        days = set(re.findall(r"^(\d{4}-\d\d-\d\d)T", running.stderr, re.M))
        running.terminate().expect()
    assert len(days) >= 3, f"the clock did not jump: {days}"
    bench.expect_exact()
    stamps = [s.timestamp_ms for s in lake.load(bench.pipeline.table).metadata.snapshots]
    assert stamps == sorted(stamps), "a snapshot older than its parent"


def test_a_certificate_past_its_end_is_refused_and_a_new_one_is_taken(kafka, tmp_path, topic, lake_servers):
    """The catalog's certificate ends while the pipeline runs: new connections are refused until it is renewed, and nothing goes in the clear."""
    lake = Lake(tmp_path / "lake", "rest_local")
    authority = lake_servers.authority()
    context = authority.server_context()
    inner = lake.place.block["uri"]
    with HttpProxy(int(inner.split(":")[2].split("/")[0]), tls=context, name="tls") as proxy:
        path = inner.split("/", 3)[3]
        catalog = {"uri": f"https://localhost:{proxy.port}/{path}", "ca_file": str(authority.ca_file)}
        bench = Bench(kafka, lake, topic)
        bench.pipeline.content["table"]["catalog"].update(catalog)
        with bench.stream, bench.pipeline.start() as running:
            await_more_commits(running)
            context.load_cert_chain(*authority.issue("localhost", days="-1"))
            proxy.cut()
            running.wait_for_log(r"has expired")
            context.load_cert_chain(*authority.issue("localhost"))
            await_more_commits(running)
            running.terminate().expect()
        bench.expect_exact()
