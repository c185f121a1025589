"""One SQLite catalog, used by PyIceberg and by Frazil at the same time: what one commits, the other sees, and neither
ever overwrites the other. Frazil's catalog answers through frazil_catalog_tool, which keeps its connection open.
"""
import json
import os
import subprocess
import threading
from pathlib import Path

import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import CommitFailedException, NamespaceAlreadyExistsError, TableAlreadyExistsError
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField, StringType, TimestamptzType

ROOT = Path(__file__).resolve().parents[2]
NASTY = ["with space", "quote's \"x\"", "emoji \U0001f9ca äö", "under_score", "n" * 200]
# PyIceberg itself loses these in its own default locations; Frazil's tables with such names must work in it all the same.
NASTIER = NASTY + ["100%", "per%20cent", "what?", "#1", "sl/ash"]


def tool_path():
    if "FRAZIL_CATALOG_TOOL" in os.environ:
        return Path(os.environ["FRAZIL_CATALOG_TOOL"])
    built = list(ROOT.glob("build/*/tests/frazil_catalog_tool"))
    assert built, "frazil_catalog_tool is not built: ninja -C build/release frazil_catalog_tool"
    return max(built, key=lambda path: path.stat().st_mtime)


class FrazilCatalog:
    """Frazil's side: sends a command, returns its answer; an expected failure is named by `error`."""

    def __init__(self, database, warehouse):
        self.process = subprocess.Popen([tool_path(), database, "lake", warehouse], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self("namespaces")  # the database is open once this is answered

    def __call__(self, *words, error=None):
        answer = self.try_(*words)
        assert answer.get("error") == error, answer
        return answer

    def try_(self, *words):
        self.process.stdin.write("\t".join(words) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, "frazil_catalog_tool ended"
        return json.loads(line)

    def close(self):
        self.process.stdin.close()
        assert self.process.wait(30) == 0


class Lake:
    def __init__(self, folder):
        self.database = str(folder / "catalog.db")
        self.warehouse = f"file://{folder}/ware house"
        self.frazils = []

    def python(self):
        return SqlCatalog("lake", uri="sqlite:///" + self.database, warehouse=self.warehouse)

    def frazil(self):
        self.frazils.append(FrazilCatalog(self.database, self.warehouse))
        return self.frazils[-1]


@pytest.fixture(params=["frazil first", "python first"])
def lake(request, tmp_path):
    """A catalog whose tables were made by the one or by the other."""
    lake = Lake(tmp_path)
    lake.frazil() if request.param == "frazil first" else lake.python()
    yield lake
    for frazil in lake.frazils:
        frazil.close()


SCHEMA = Schema(
    NestedField(1, "id", LongType(), required=True),
    NestedField(2, "ts", TimestamptzType(), required=False),
    NestedField(3, "text", StringType(), required=False),
)


def rows(*ids):
    schema = pa.schema([pa.field("id", pa.int64(), nullable=False), pa.field("ts", pa.timestamp("us", tz="UTC")), pa.field("text", pa.string())])
    return pa.table({"id": ids, "ts": [0] * len(ids), "text": [f"row {i}" for i in ids]}, schema=schema)


def ids_of(table):
    return sorted(table.refresh().scan().to_arrow()["id"].to_pylist())


def test_frazil_works_on_a_table_of_pyiceberg(lake):
    python, frazil = lake.python(), lake.frazil()
    python.create_namespace("db")
    table = python.create_table("db.orders", SCHEMA, properties={"owner": "python"})
    table.append(rows(1, 2, 3))

    seen = frazil("load", "db", "orders")
    assert seen["uuid"] == str(table.metadata.table_uuid)
    assert seen["metadata_location"] == table.metadata_location
    assert seen["head"] == table.current_snapshot().snapshot_id
    assert seen["properties"]["owner"] == "python"
    assert [(c["id"], c["name"], c["type"], c["required"]) for c in seen["columns"]] == [
        (1, "id", "long", True), (2, "ts", "timestamptz", False), (3, "text", "string", False)]

    text = '{"snapshot":1,"note":"it\'s ✓"}'
    written = frazil("set", "db", "orders", "frazil.orders", text)
    table.refresh()
    assert table.metadata_location == written["metadata_location"]
    assert table.properties["frazil.orders"] == text
    assert table.metadata.metadata_log[-1].metadata_file == seen["metadata_location"]
    assert ids_of(table) == [1, 2, 3]

    table.append(rows(4))
    with table.update_schema() as update:
        update.add_column("more", StringType())
    after = frazil("load", "db", "orders")
    assert len(after["snapshots"]) == 2
    assert after["columns"][-1]["name"] == "more"
    assert after["properties"]["frazil.orders"] == text
    frazil("set", "db", "orders", "again", "1")
    assert ids_of(table) == [1, 2, 3, 4]
    assert table.properties["again"] == "1"


def test_pyiceberg_works_on_a_table_of_frazil(lake):
    python, frazil = lake.python(), lake.frazil()
    frazil("create-namespace", "db")
    made = frazil("create-table", "db", "orders")
    assert made["location"] == lake.warehouse + "/db/orders"

    table = python.load_table("db.orders")
    assert str(table.metadata.table_uuid) == made["uuid"]
    assert table.schema() == SCHEMA
    assert [(field.name, str(field.transform)) for field in table.spec().fields] == [("id_bucket", "bucket[4]")]
    assert table.format_version == 2
    table.append(rows(*range(20)))
    assert ids_of(table) == list(range(20))
    seen = frazil("load", "db", "orders")
    assert seen["head"] == table.current_snapshot().snapshot_id
    frazil("set", "db", "orders", "a", "b")
    table.refresh().append(rows(20))
    assert ids_of(table) == list(range(21))
    assert table.properties["a"] == "b"


def test_neither_takes_a_name_that_the_other_has(lake):
    python, frazil = lake.python(), lake.frazil()
    frazil("create-namespace", "db")
    frazil("create-table", "db", "ours")
    python.create_table("db.theirs", SCHEMA)
    python.create_namespace("a.b")
    with pytest.raises(NamespaceAlreadyExistsError):
        python.create_namespace("db")
    with pytest.raises(TableAlreadyExistsError):
        python.create_table("db.ours", SCHEMA)
    frazil("create-namespace", "a.b", error="exists")
    frazil("create-namespace", "a", error="exists")
    frazil("create-table", "db", "theirs", error="exists")
    frazil("create-table", "absent", "t", error="not_found")
    assert frazil("namespaces")["names"] == ["a", "a.b", "db"]
    assert frazil("tables", "db")["names"] == ["ours", "theirs"]
    assert sorted(python.list_tables("db")) == [("db", "ours"), ("db", "theirs")]
    frazil("create-namespace", "c.d.e")
    assert python.list_namespaces("c.d") == [("c", "d", "e")]
    python.drop_table("db.ours")
    frazil("load", "db", "ours", error="not_found")


def test_frazil_loses_to_a_commit_of_pyiceberg_and_goes_on_after_reloading(lake):
    python, frazil = lake.python(), lake.frazil()
    python.create_namespace("db")
    table = python.create_table("db.orders", SCHEMA)
    frazil("load", "db", "orders")
    table.append(rows(1))
    lost = frazil("set-on-base", "db", "orders", "mine", "1", error="conflict")
    assert str(table.current_snapshot().snapshot_id) in lost["message"]
    assert "mine" not in table.refresh().properties
    frazil("load", "db", "orders")
    frazil("set-on-base", "db", "orders", "mine", "1")
    assert table.refresh().properties["mine"] == "1"
    assert ids_of(table) == [1]


def test_frazil_loses_to_a_table_that_pyiceberg_made_anew(lake):
    python, frazil = lake.python(), lake.frazil()
    python.create_namespace("db")
    python.create_table("db.orders", SCHEMA)
    frazil("load", "db", "orders")
    python.drop_table("db.orders")
    frazil("set-on-base", "db", "orders", "mine", "1", error="not_found")
    python.create_table("db.orders", SCHEMA)
    frazil("set-on-base", "db", "orders", "mine", "1", error="conflict")


def test_pyiceberg_loses_to_a_commit_of_frazil(lake):
    python, frazil = lake.python(), lake.frazil()
    python.create_namespace("db")
    table = python.create_table("db.orders", SCHEMA, properties={"commit.retry.num-retries": "0"})
    table.append(rows(1))
    first = table.current_snapshot().snapshot_id
    table.append(rows(2))
    stale = python.load_table("db.orders")
    frazil("load", "db", "orders")
    frazil("move-on-base", "db", "orders", str(first))
    with pytest.raises(CommitFailedException):
        stale.append(rows(3))
    assert table.refresh().current_snapshot().snapshot_id == first
    assert ids_of(table) == [1]


@pytest.mark.parametrize("name", NASTY)
def test_nasty_names_of_pyiceberg(lake, name):
    python, frazil = lake.python(), lake.frazil()
    python.create_namespace((name,))
    table = python.create_table((name, name), SCHEMA)
    table.append(rows(1))
    assert frazil("namespaces")["names"] == [name]
    assert frazil("tables", name)["names"] == [name]
    assert frazil("load", name, name)["head"] == table.current_snapshot().snapshot_id
    frazil("set", name, name, "name", name)
    assert table.refresh().properties["name"] == name
    assert ids_of(table) == [1]


@pytest.mark.parametrize("name", NASTIER)
def test_nasty_names_of_frazil(lake, name):
    python, frazil = lake.python(), lake.frazil()
    frazil("create-namespace", name)
    frazil("create-table", name, name)
    table = python.load_table((name, name))
    table.append(rows(1, 2))
    assert ids_of(python.load_table((name, name))) == [1, 2]
    assert frazil("load", name, name)["head"] == table.current_snapshot().snapshot_id


def test_both_commit_at_the_same_time_and_nothing_is_lost(lake):
    python = lake.python()
    python.create_namespace("db")
    python.create_table("db.orders", SCHEMA)
    rounds, failures = 15, []

    def append_rows():
        table = lake.python().load_table("db.orders")
        for number in range(rounds):
            while True:
                try:
                    table.append(rows(number))
                    break
                except CommitFailedException:
                    table.refresh()

    def set_properties(frazil, writer):
        for number in range(rounds):
            while (answer := frazil.try_("set", "db", "orders", f"{writer}.{number}", "1")).get("error") == "conflict":
                pass
            if "error" in answer:
                failures.append(answer)

    threads = [threading.Thread(target=append_rows)]
    threads += [threading.Thread(target=set_properties, args=(lake.frazil(), writer)) for writer in ("a", "b")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
        assert not thread.is_alive()
    assert failures == []
    table = python.load_table("db.orders")
    assert ids_of(table) == list(range(rounds))
    assert {f"{writer}.{number}" for writer in "ab" for number in range(rounds)} <= set(table.properties)
    assert len(table.metadata.snapshots) == rounds
