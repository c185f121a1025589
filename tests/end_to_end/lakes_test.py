"""Every kind of lake is written by PyIceberg and read by every judge: what a test finds on it is then Frazil's doing."""
import pyarrow as pa
import pytest
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField, StringType

import lakes
from pipeline import Lake, java_checker

SCHEMA = Schema(NestedField(1, "id", LongType(), required=True), NestedField(2, "text", StringType(), required=False))
ROWS = [{"id": 1, "text": "one"}, {"id": 2, "text": None}]


@pytest.mark.parametrize("kind", lakes.KINDS)
def test_what_pyiceberg_writes_all_judges_read(tmp_path, kind, lake_kind):
    lake = Lake(tmp_path / "lake", kind)
    assert lake.tables() == [] and not lake.has("shop.orders")
    lake.catalog().create_namespace("shop")
    table = lake.catalog().create_table("shop.orders", SCHEMA)
    table.append(pa.Table.from_pylist(ROWS, schema=SCHEMA.as_arrow()))
    assert lake.tables() == ["shop.orders"]
    location = lake.location_of("shop.orders")
    lake.expect_rows("shop.orders", ROWS)
    lake.expect_where("shop.orders", "id", "=", 1, ROWS[:1])
    java_checker.expect_clean([location], strict_writer="off")
    files = lake.files()
    assert sum(name.endswith(".parquet") for name in files) == 1 and all(name.startswith(lake.warehouse) for name in files)
    with lake.open(next(name for name in files if name.endswith(".parquet"))) as file:
        assert file.read()[:4] == b"PAR1"


@pytest.mark.parametrize("kind", lakes.KINDS)
def test_two_places_of_a_kind_know_nothing_of_each_other(tmp_path, kind, lake_kind):
    one, other = Lake(tmp_path / "one", kind), Lake(tmp_path / "other", kind)
    one.catalog().create_namespace("shop")
    one.catalog().create_table("shop.orders", SCHEMA)
    assert other.tables() == [] and one.tables() == ["shop.orders"]
