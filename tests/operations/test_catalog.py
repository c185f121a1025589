"""`frazil catalog` on a SQLite file and on Apache's REST server; PyIceberg judges what it made."""
import json
import sys

import pytest
from pyiceberg.catalog import load_catalog
from pyiceberg.exceptions import NoSuchTableError
from pyiceberg.types import DecimalType, ListType, LongType, TimestamptzType

from conftest import ROOT

sys.path.insert(0, str(ROOT / "tests/servers"))
from rest_server import RestServer  # noqa: E402

COLUMNS = '[{name: id, type: long, required: true}, {name: amount, type: "decimal(12, 2)"}, {name: at, type: timestamptz}, {name: tags, type: "list<string>"}]'


@pytest.fixture(scope="module")
def rest(tmp_path_factory):
    with RestServer(tmp_path_factory.mktemp("rest"), oauth2=("operator", "secret-of-tests")) as server:
        yield server


@pytest.fixture(params=["sqlite", "rest"])
def place(request, tmp_path):
    """A catalog file of Frazil and the same catalog in PyIceberg; each test has namespaces of its own."""
    if request.param == "sqlite":
        block = {"type": "sqlite", "uri": "catalog.db", "warehouse": "warehouse", "name": "default"}
        judge = load_catalog("default", type="sql", uri=f"sqlite:///{tmp_path}/catalog.db", warehouse=f"file://{tmp_path}/warehouse", init_catalog_tables="true")
    else:
        server = request.getfixturevalue("rest")
        (tmp_path / "credential").write_text("operator:secret-of-tests")
        block = {"type": "rest", "uri": server.uri, "credential": "${file:credential}", "files": {"allowed_roots": [str(server.folder)]}}
        judge = load_catalog("default", type="rest", uri=server.uri, credential="operator:secret-of-tests")
    file = tmp_path / "catalog.yaml"
    file.write_text(json.dumps(block))
    return file, judge, f"shop_{request.param}_{request.node.originalname[5:20]}"


@pytest.fixture
def catalog(frazil, place):
    """Runs `frazil catalog` on the place; gives its JSON."""
    def run(*arguments, code=0):
        output = frazil("catalog", *arguments, "--catalog", place[0], "--json", code=code)
        return json.loads(output) if code == 0 else output
    return run


def test_pyiceberg_sees_what_was_created(catalog, place):
    _, judge, ns = place
    catalog("create-namespace", ns, "--property", "owner=us")
    made = catalog("create-table", f"{ns}.orders", "--schema", COLUMNS, "--partition-by", "bucket(8, id)", "--partition-by", "day(at)",
                   "--property", "write.target-file-size-bytes=1000000")
    table = judge.load_table(f"{ns}.orders")
    assert table.metadata_location == made["metadata_location"]
    assert [(f.name, f.required) for f in table.schema().fields] == [("id", True), ("amount", False), ("at", False), ("tags", False)]
    assert [type(f.field_type) for f in table.schema().fields] == [LongType, DecimalType, TimestamptzType, ListType]
    assert [(f.name, str(f.transform)) for f in table.spec().fields] == [("id_bucket", "bucket[8]"), ("at_day", "day")]
    assert table.properties["write.target-file-size-bytes"] == "1000000"
    assert judge.load_namespace_properties(ns)["owner"] == "us"
    assert (ns,) in judge.list_namespaces()
    assert ns in catalog("namespaces") and catalog("tables", ns) == [f"{ns}.orders"]
    assert catalog("show", f"{ns}.orders")["partition_spec"] == ["bucket(8, id)", "day(at)"]


def test_properties_change_and_stay_as_pyiceberg_reads_them(catalog, place):
    _, judge, ns = place
    catalog("create-namespace", ns)
    catalog("create-table", f"{ns}.t", "--schema", COLUMNS, "--property", "a=1")
    assert catalog("properties", f"{ns}.t", "--set", "b=x=y", "--remove", "a").get("b") == "x=y"
    properties = judge.load_table(f"{ns}.t").properties
    assert properties["b"] == "x=y" and "a" not in properties
    with judge.load_table(f"{ns}.t").transaction() as transaction:
        transaction.set_properties(c="theirs")
    assert catalog("properties", f"{ns}.t")["c"] == "theirs"
    assert catalog("properties", ns, "--set", "team=lake")["team"] == "lake"
    assert judge.load_namespace_properties(ns)["team"] == "lake"
    assert "belongs to a pipeline" in catalog("properties", f"{ns}.t", "--set", "frazil.orders={}", code=2)


def test_rename_drop_and_register(catalog, place):
    _, judge, ns = place
    catalog("create-namespace", ns)
    made = catalog("create-table", f"{ns}.a", "--schema", COLUMNS)
    catalog("rename", f"{ns}.a", f"{ns}.b")
    assert judge.list_tables(ns) == [(ns, "b")]
    assert "--yes" in catalog("drop", f"{ns}.b", code=2) and catalog("tables", ns) == [f"{ns}.b"]
    dropped = catalog("drop", f"{ns}.b", "--yes")
    with pytest.raises(NoSuchTableError):
        judge.load_table(f"{ns}.b")
    catalog("register", f"{ns}.c", dropped["metadata_location"])
    assert str(judge.load_table(f"{ns}.c").metadata.table_uuid) == catalog("show", f"{ns}.c")["uuid"]
    assert judge.load_table(f"{ns}.c").location() == made["location"]
    assert ns in catalog("drop", ns, "--yes", code=1)  # it holds a table
    catalog("drop", f"{ns}.c", "--yes")
    catalog("drop", ns, "--yes")
    assert ns not in catalog("namespaces")


def test_what_is_not_there_or_there_already_is_said(catalog, place):
    _, _, ns = place
    assert ns in catalog("show", f"{ns}.t", code=1)
    assert catalog("tables", ns, code=1)
    catalog("create-namespace", ns)
    assert ns in catalog("create-namespace", ns, code=1)
    catalog("create-table", f"{ns}.t", "--schema", COLUMNS)
    assert "t" in catalog("create-table", f"{ns}.t", "--schema", COLUMNS, code=1)
    assert "lnog" in catalog("create-table", f"{ns}.u", "--schema", "[{name: id, type: lnog}]", code=2)
    assert catalog("tables", ns) == [f"{ns}.t"]
