"""One broker for all tests, a fresh lake for each, and the strict checker over every table that a file of tests leaves."""
import re

import pytest

from kafka_server import KafkaServer
from pipeline import Lake, check_lakes


@pytest.fixture(scope="session")
def kafka(tmp_path_factory):
    """The shared broker: tests use topics of their own and leave it running."""
    settings = {"message.max.bytes": 33554432, "replica.fetch.max.bytes": 33554432, "transaction.max.timeout.ms": 900000}
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
