"""One broker for all tests, a fresh lake for each, and the strict checker over every table that a file of tests leaves.

On another kind of lake than sqlite (FRAZIL_LAKE) those tests run that use a lake, but for the few that are about SQLite or local files
themselves: these are marked `only_on(*kinds, reason=…)`. What is left out is counted at the end of the run.
"""
import collections
import functools
import re
import subprocess
import tempfile

import pytest

import lakes
from kafka_server import KafkaServer
from pipeline import Lake, check_lakes


LEFT_OUT = collections.Counter()


def pytest_configure(config):
    config.addinivalue_line("markers", "only_on(*kinds, reason): the test is about something that these kinds of lake alone have")
    config.addinivalue_line("markers", "mounts: the test mounts a small disk of its own")


def reason_to_leave_out(item):
    if lakes.KIND != "sqlite" and not {"lakes_of_module", "lake_kind"} & set(item.fixturenames):
        return "uses no lake"
    for mark in item.iter_markers("only_on"):
        if lakes.KIND not in mark.args:
            return mark.kwargs["reason"]
    if item.get_closest_marker("mounts") and not may_mount():
        return "not run: this machine does not let its tests mount a disk"
    return None


@functools.cache
def may_mount():
    with tempfile.TemporaryDirectory() as folder:
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], capture_output=True).returncode != 0:
            return False
        subprocess.run(["umount", folder], check=True)
        return True


def pytest_collection_modifyitems(config, items):
    kept = []
    for item in items:
        reason = reason_to_leave_out(item)
        LEFT_OUT[reason] += reason is not None
        (kept if reason is None else []).append(item)
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = kept


def pytest_terminal_summary(terminalreporter):
    terminalreporter.write_line(f"kind of lake: {lakes.KIND}")
    for reason, count in LEFT_OUT.items():
        if count:
            terminalreporter.write_line(f"left out: {count} tests: {reason}")


@pytest.fixture
def lake_kind():
    """For tests that make their lakes themselves."""
    return lakes.KIND


@pytest.fixture(scope="session", autouse=True)
def lake_servers(tmp_path_factory):
    """What the lakes of this session need is started when first asked for, and stopped here."""
    lakes.SERVERS.folder = tmp_path_factory.mktemp("servers")
    yield lakes.SERVERS
    lakes.SERVERS.stop()


@pytest.fixture(scope="session")
def kafka(tmp_path_factory):
    """The shared broker: tests use topics of their own and leave it running."""
    settings = {"message.max.bytes": 33554432, "replica.fetch.max.bytes": 33554432, "transaction.max.timeout.ms": 900000,
                # How often members of the new group protocol look at their group; by default every 5 s, and a rebalance takes several looks.
                "group.consumer.heartbeat.interval.ms": 500, "group.consumer.min.heartbeat.interval.ms": 500}
    with KafkaServer(tmp_path_factory.mktemp("kafka"), settings) as server:
        yield server


@pytest.fixture
def topic(request):
    """A topic name of this test alone."""
    return re.sub(r"[^a-zA-Z0-9]+", "_", f"{request.module.__name__} {request.node.name}".removeprefix("test_"))[:120].strip("_")


@pytest.fixture(scope="module")
def lakes_of_module(request):
    """Every lake of the file. At its end the strict checker reads their tables, all in one go: a JVM for each test
    would take longer than the tests. What it finds fails the file's last test and names table and folder."""
    lakes = []
    yield lakes
    if lakes:
        rows = check_lakes(lakes)
        print(f"strict checker: {rows} rows in the tables of {request.module.__name__}")
        assert rows > 0, "the strict checker saw no row"


@pytest.fixture
def lake(tmp_path, lakes_of_module):
    lake = Lake(tmp_path / "lake")
    lakes_of_module.append(lake)
    return lake
