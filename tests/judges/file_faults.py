"""Faults in data files, and those of single column types.

A fault is a function that breaks one thing in a TableCopy. It is registered with the codes that the
checker must name, and those that it may name besides.
"""
import os
import struct
from pathlib import Path

import pyarrow as pa

from judges.canonical import local_path
from judges.damaged_table import data_file_schema
from judges.faults import FAULTS, double, each_fault, fault, typed_fault

# --- files ---


@fault("FILE_MISSING")
def data_file_missing(copy):
    os.remove(local_path(copy.data_files_of(-1)[0]["file_path"]))


@fault("FILE_MISSING")
def data_file_of_an_old_snapshot_missing(copy):
    os.remove(local_path(copy.data_files_of(0)[0]["file_path"]))


@fault("FILE_UNREADABLE", "FILE_SIZE")
def data_file_cut_short(copy):
    path = local_path(copy.data_files_of(-1)[0]["file_path"])
    os.truncate(path, os.path.getsize(path) - 5)


def rewritten(transform=lambda table: table, **options):
    return lambda copy: copy.rewrite_data_file(copy.data_files_of(-1)[0], transform, **options)


def with_field_metadata(change):
    def transform(table):
        fields = [field.with_metadata(change(field)) for field in table.schema]
        return pa.Table.from_arrays(table.columns, schema=pa.schema(fields))
    return transform


def swapped_id(field):
    ids = {"id": b"1", "name": b"3", "amount": b"2"}
    return {"PARQUET:field_id": ids[field.name]}


def with_type(name, type_):
    def transform(table):
        place = table.schema.get_field_index(name)
        field = table.schema.field(place)
        return table.set_column(place, field.with_type(type_), table.column(place).cast(type_))
    return transform


def optional_id(table):
    return table.cast(pa.schema([f.with_nullable(True) for f in table.schema]))


READS_WRONG = {"READ_ROWS", "READ_FILTER", "PARTITION_VALUE", "METRICS_FIELD"}
each_fault([
    ("parquet_without_field_ids", "PARQUET_FIELD_ID", rewritten(with_field_metadata(lambda f: {}))),
    ("parquet_with_swapped_field_ids", ["PARQUET_TYPE"], rewritten(with_field_metadata(swapped_id))),
    ("parquet_id_of_wrong_type", "PARQUET_TYPE", rewritten(with_type("id", pa.string()))),
    ("parquet_required_column_optional", "PARQUET_REPETITION", rewritten(optional_id)),
    ("parquet_without_statistics", "PARQUET_STATISTICS", rewritten(write_statistics=False)),
    ("parquet_without_required_column", "PARQUET_FIELD_MISSING", rewritten(lambda t: t.drop_columns(["id"]))),
])
for _name in ("parquet_without_field_ids", "parquet_with_swapped_field_ids", "parquet_id_of_wrong_type", "parquet_without_required_column"):
    FAULTS[_name][2].update(READS_WRONG | {"PARQUET_FIELD_MISSING", "PARQUET_FIELD_ID", "METRICS_COUNT", "BOUND_TOO_LOW", "BOUND_TOO_HIGH", "BOUND_LOOSE",
                                           "BOUND_ENCODING", "BOUND_MISSING", "METRICS_MISSING", "FILE_UNREADABLE", "PARQUET_STATISTICS"})


def patch(copy, old, new, begin=None):
    """Replaces bytes in the newest data file from an offset on (default: its footer)."""
    path = Path(local_path(copy.data_files_of(-1)[0]["file_path"]))
    data = path.read_bytes()
    if begin is None:
        begin = len(data) - 8 - struct.unpack("<i", data[-8:-4])[0]
    assert old in data[begin:], "the bytes to damage are not there"
    path.write_bytes(data[:begin] + data[begin:].replace(old, new))


@fault("PARQUET_STATISTICS", also={"READ_FILTER"})
def row_group_maximum_too_low(copy):
    """amount of the first file is 0.0 and 0.5; its footer then says at most 0.25."""
    patch(copy, double(0.5), double(0.25))


@fault("PARQUET_STATISTICS")
def row_group_maximum_loose(copy):
    patch(copy, double(0.5), double(0.75))


@fault("PARQUET_STATISTICS")
def row_group_minimum_is_positive_zero(copy):
    patch(copy, double(-0.0), double(0.0))


@fault("PARQUET_COLUMN_ORDERS")
def column_orders_missing(copy):
    """Cuts the list, the footer's last field, out of its compact Thrift form."""
    data_file = copy.data_files_of(-1)[0]
    path = Path(local_path(data_file["file_path"]))
    data = path.read_bytes()
    begin = len(data) - 8 - struct.unpack("<i", data[-8:-4])[0]
    orders = b"\x19\x3c" + 3 * b"\x1c\x00\x00"
    assert data[begin:].count(orders) == 1
    footer = data[begin:-8].replace(orders, b"")
    path.write_bytes(data[:begin] + footer + struct.pack("<i", len(footer)) + b"PAR1")
    copy.resize(data_file)


def with_page_index(copy):
    copy.rewrite_data_file(copy.data_files_of(-1)[0], write_page_index=True)


def page_index_offset(copy):
    """Where the footer's neighbours, the page indexes, begin: after the last row group."""
    data_file = copy.data_files_of(-1)[0]
    return data_file["split_offsets"][0] + sum(size["value"] for size in data_file["column_sizes"])


def patch_page_index(copy, old, new):
    path = Path(local_path(copy.data_files_of(-1)[0]["file_path"]))
    data = path.read_bytes()
    begin, end = page_index_offset(copy), len(data) - 8 - struct.unpack("<i", data[-8:-4])[0]
    assert old in data[begin:end], "the bytes to damage are not there"
    path.write_bytes(data[:begin] + data[begin:end].replace(old, new) + data[end:])


@fault("PARQUET_PAGE_INDEX", also={"READ_FILTER"})
def page_maximum_too_low(copy):
    with_page_index(copy)
    patch_page_index(copy, double(0.5), double(0.25))


# --- types ---


def parquet_field(name, change, **options):
    """Rewrites the newest data file with one top-level field of its schema changed."""
    def transform(table):
        place = table.schema.get_field_index(name)
        field = change(table.schema.field(place))
        return pa.Table.from_arrays([table.column(i).cast(field.type) if i == place else table.column(i) for i in range(table.num_columns)],
                                    schema=table.schema.set(place, field))
    return lambda copy: copy.rewrite_data_file(copy.data_files_of(-1)[0], transform, **options)


def pair_of(copy, field, column_name):
    """The entry of a metrics map for a column, in the newest data file."""
    field_id = next(f["id"] for f in copy.metadata["schemas"][0]["fields"] if f["name"] == column_name)
    return next(pair for pair in copy.data_files_of(-1)[0][field] if pair["key"] == field_id)


@typed_fault("all_types", "PARQUET_FIELD_ID", also={"METRICS_FIELD", "READ_ROWS"})
def list_element_without_id(copy):
    parquet_field("tags", lambda f: f.with_type(pa.list_(f.type.value_field.with_metadata({}))))(copy)


@typed_fault("all_types", "PARQUET_FIELD_ID", also={"METRICS_FIELD", "METRICS_COUNT"})
def map_value_with_the_id_of_another(copy):
    wrong = {"PARQUET:field_id": b"1"}
    parquet_field("scores", lambda f: f.with_type(pa.map_(f.type.key_field, f.type.item_field.with_metadata(wrong))))(copy)


@typed_fault("all_types", "PARQUET_FIELD_ID", also={"METRICS_FIELD"})
def struct_field_without_id(copy):
    parquet_field("place", lambda f: f.with_type(pa.struct([f.type.field(0).with_metadata({}), f.type.field(1)])))(copy)


@typed_fault("all_types", "PARQUET_TYPE", also={"READ_FILTER"})
def timestamp_in_nanoseconds(copy):
    parquet_field("local_time", lambda f: f.with_type(pa.timestamp("ns")))(copy)


@typed_fault("all_types", "PARQUET_TYPE")
def timestamp_without_its_zone(copy):
    parquet_field("instant", lambda f: f.with_type(pa.timestamp("us")))(copy)


@typed_fault("all_types", "BOUND_TOO_LOW", also={"READ_FILTER"})
def upper_bound_of_a_timestamp_floored_to_millis(copy):
    pair = pair_of(copy, "upper_bounds", "local_time")
    micros, = struct.unpack("<q", pair["value"])
    pair["value"] = struct.pack("<q", micros // 1000 * 1000)


@typed_fault("all_types", "BOUND_TOO_LOW", also={"READ_FILTER"})
def upper_bound_of_a_string_cut_but_not_raised(copy):
    pair = pair_of(copy, "upper_bounds", "name")
    pair["value"] = "żółw 🐢 turtles all".encode()[:16]


@typed_fault("all_types", "BOUND_TOO_HIGH")
def lower_bound_is_plus_zero_above_minus_zero(copy):
    pair = pair_of(copy, "lower_bounds", "single")
    assert struct.unpack("<f", pair["value"])[0] == 0
    pair["value"] = struct.pack("<f", 0.0)


@typed_fault("all_types", "BOUND_ENCODING")
def decimal_bound_longer_than_needed(copy):
    pair = pair_of(copy, "upper_bounds", "money")
    pair["value"] = b"\0" + pair["value"]


@typed_fault("all_types", "METRICS_COUNT")
def count_of_list_elements(copy):
    counts = copy.data_files_of(-1)[0]["value_counts"]
    element = copy.metadata["schemas"][0]["fields"][15]["type"]["element-id"]
    next(pair for pair in counts if pair["key"] == element)["value"] += 1


@typed_fault("all_types", "PARQUET_LEVELS", strict=True)
def list_element_named_item(copy):
    parquet_field("tags", lambda f: f.with_type(pa.list_(f.type.value_field.with_name("item"))), use_compliant_nested_type=False)(copy)


@typed_fault("all_types", "PARQUET_TYPE", strict=True)
def small_decimal_stored_as_bytes(copy):
    copy.rewrite_data_file(copy.data_files_of(-1)[0], store_decimal_as_integer=False)


def partition_schema(copy, name):
    record = next(f for f in data_file_schema(copy.manifest_of(-1))["fields"] if f["name"] == "partition")["type"]
    return next(f for f in record["fields"] if f["name"] == name)


@typed_fault("uuid_partitioned", "AVRO_PARTITION", also={"READ_ROWS"})
def uuid_partition_written_as_bytes(copy):
    partition_schema(copy, "token")["type"] = ["null", "bytes"]
    for data_file in copy.data_files_of(-1):
        value = data_file["partition"]["token"]
        data_file["partition"]["token"] = value.bytes if hasattr(value, "bytes") else value


@typed_fault("fixed_partitioned", "AVRO_PARTITION")
def fixed_partition_written_as_bytes(copy):
    partition_schema(copy, "code")["type"] = ["null", "bytes"]


@typed_fault("typed_partitions", "AVRO_PARTITION", also={"READ_ROWS"})
def hour_partition_written_as_long(copy):
    partition_schema(copy, "instant_hour")["type"] = ["null", "long"]


@typed_fault("typed_partitions", "PARTITION_VALUE", "MANIFEST_PARTITIONS", also={"READ_FILTER"})
def hour_partition_off_by_one(copy):
    """What a local time zone in the transform would do."""
    for data_file in copy.data_files_of(-1):
        if data_file["partition"]["instant_hour"] is not None:
            data_file["partition"]["instant_hour"] += 1
