"""The strict checker and the judges are tested themselves.

Tables of PyIceberg pass the checker and read alike in all judges. Then one fault at a time is put into
a copy, and the checker must name it: by its code, and by no code that the fault does not explain.
"""
import json
import os
import re
import struct
import sys
from pathlib import Path

import pyarrow as pa
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from judges import compare, java_checker, sample_tables  # noqa: E402
from judges.canonical import local_path  # noqa: E402
from judges.damaged_table import TableCopy, data_file_schema, without_attribute  # noqa: E402

# --- sound tables -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def catalog(tmp_path_factory):
    return sample_tables.open_catalog(tmp_path_factory.mktemp("sound"))


@pytest.fixture(scope="module")
def sound_tables(catalog):
    makers = (sample_tables.all_types, sample_tables.partitioned, sample_tables.typed_partitions, sample_tables.uuid_partitioned,
              sample_tables.fixed_partitioned, sample_tables.identity_partitioned, sample_tables.evolved)
    return {make.__name__: make(catalog) for make in makers}


# Judges that cannot read a sound table: iceberg-java 1.12 reads (and writes) fixed partition values as
# bytes with a length, against the manifest's own schema; iceberg-rust 0.11 takes fixed[16] for text.
UNABLE = {"fixed_partitioned": "java", "uuid_partitioned": "rust"}


def test_tables_of_pyiceberg_pass_the_rules_for_foreign_writers(sound_tables):
    locations = [table.metadata_location for name, (table, _) in sound_tables.items() if UNABLE.get(name) != "java"]
    for verdict in java_checker.expect_clean(locations, strict_writer="off"):
        for kind in ("tables", "snapshots", "manifest_lists", "manifests", "entries", "files", "rows", "columns", "values", "bounds", "filters"):
            assert verdict.checked[kind] > 0, (kind, verdict.checked)


def test_tables_of_pyiceberg_break_rules_for_own_files(sound_tables):
    verdict, = java_checker.check_tables([sound_tables["all_types"][0].metadata_location])
    assert {"MANIFEST_HEADER", "AVRO_TYPE", "METRICS_MISSING"} <= verdict.codes


@pytest.mark.parametrize("name", ["all_types", "partitioned", "typed_partitions", "uuid_partitioned", "fixed_partitioned", "identity_partitioned", "evolved"])
def test_all_judges_read_the_rows_that_were_written(sound_tables, name):
    table, rows = sound_tables[name]
    judges = [judge for judge in compare.JUDGES if judge != UNABLE.get(name)]
    compared = compare.compare_judges(table.metadata_location, rows, judges)
    assert compared == dict.fromkeys(judges, len(rows))
    assert len(judges) >= 3


@pytest.mark.parametrize("name,judge", UNABLE.items())
def test_what_a_judge_is_known_not_to_read_it_refuses_aloud(sound_tables, name, judge):
    table, rows = sound_tables[name]
    with pytest.raises(Exception):
        compare.compare_judges(table.metadata_location, rows, (judge,))


def test_checker_finds_nothing_itself_in_fixed_partitions(sound_tables):
    verdict, = java_checker.check_tables([sound_tables["fixed_partitioned"][0].metadata_location], strict_writer="off")
    assert verdict.codes == {"READER_REFUSES"}
    assert verdict.checked["files"] > 0 and verdict.checked["rows"] == 5


@pytest.mark.parametrize("column,op,key", [
    ("id", "=", lambda v: v == 17), ("id", ">=", lambda v: v >= 35), ("name", "<", lambda v: v < "b"),
    ("day", ">", None), ("local_time", "<=", None), ("instant", "=", None), ("money", "<", None), ("small", "!=", lambda v: v != 42),
])
def test_judges_find_rows_by_a_predicate(sound_tables, column, op, key):
    table, rows = sound_tables["partitioned"]
    value = {"id": 17 if op == "=" else 35, "name": "b", "small": 42}.get(column, rows[20][column])
    relation = {"=": value.__eq__, ">": lambda v: v > value, "<=": lambda v: v <= value, "<": lambda v: v < value}
    holds = key or relation[op]
    expected = [row for row in rows if row[column] is not None and holds(row[column])]
    compare.compare_where(table.metadata_location, column, op, value, expected)


def test_judges_compare_the_columns_that_are_named(sound_tables):
    table, rows = sound_tables["partitioned"]
    some = [{"id": row["id"], "instant": row["instant"]} for row in rows]
    assert set(compare.compare_judges(table.metadata_location, some, columns=["id", "instant"]).values()) == {len(rows)}
    with pytest.raises(AssertionError, match="no such columns"):
        compare.compare_judges(table.metadata_location, some, columns=["id", "nothing"])


@pytest.mark.parametrize("has_snapshot", [False, True])
def test_empty_tables_are_read_as_empty_only_where_that_is_expected(catalog, has_snapshot):
    table = catalog.create_table(f"db.empty_{has_snapshot}", sample_tables.SCHEMA)
    if has_snapshot:
        table.append(sample_tables.arrow_rows([], table.schema()))
    assert set(compare.compare_judges(table.metadata_location, [], may_be_empty=True).values()) == {0}
    java_checker.expect_clean([table.metadata_location], strict_writer="off", may_be_empty=True)
    with pytest.raises(AssertionError, match="no row"):
        java_checker.expect_clean([table.metadata_location], strict_writer="off")


def test_a_comparison_of_nothing_fails(sound_tables):
    table, _ = sound_tables["evolved"]
    with pytest.raises(AssertionError, match="nothing to compare"):
        compare.compare_judges(table.metadata_location, [])


@pytest.mark.parametrize("judge", compare.JUDGES)
def test_a_wrong_row_is_noticed_with_each_judge(sound_tables, judge):
    table, rows = sound_tables["evolved"]
    wrong = [dict(row, title="other") if row["id"] == 12 else row for row in rows]
    with pytest.raises(AssertionError, match="1 missing, 1 not expected"):
        compare.compare_judges(table.metadata_location, wrong, (judge,))


@pytest.mark.parametrize("judge", compare.JUDGES)
def test_a_judge_that_cannot_read_is_a_failure(sound_tables, tmp_path, judge):
    table, rows = sound_tables["evolved"]
    copy = TableCopy(table.metadata_location, tmp_path / "table")
    location = copy.save()
    for data_file in copy.data_files_of(-2):
        os.remove(local_path(data_file["file_path"]))
    with pytest.raises(Exception):
        compare.compare_judges(location, rows, (judge,))


# --- faults -------------------------------------------------------------------------------------

FAULTS = {}
TYPED_FAULTS = {}  # in tables of other types; by the rules for foreign files, unless strict
# What iceberg-java itself does not bear is reported as well.
ALWAYS_ALLOWED = {"TABLE_UNREADABLE", "READER_REFUSES"}


def fault(*codes, also=(), name=None):
    """Registers a function that breaks a copy. codes must be named, those of also may be."""
    def register(function):
        FAULTS[name or function.__name__] = (function, set(codes), set(also))
        return function
    return register


def typed_fault(table, *codes, also=(), strict=False):
    def register(function):
        TYPED_FAULTS[function.__name__] = (function, set(codes), set(also), table, strict)
        return function
    return register


def each_fault(cases):
    """Registers one fault for each (name, codes, function)."""
    for case, codes, function in cases:
        fault(*([codes] if isinstance(codes, str) else codes), name=case)(function)


def setter(*path):
    """A fault in the metadata JSON: the last element is the value, or a function of the old one."""
    *keys, value = path

    def apply(copy):
        node = copy.metadata
        for key in keys[:-1]:
            node = node[key]
        node[keys[-1]] = value(node[keys[-1]]) if callable(value) else value
    return apply


def remover(*path):
    def apply(copy):
        node = copy.metadata
        for key in path[:-1]:
            node = node[key]
        del node[path[-1]]
    return apply


def with_newest(function):
    return lambda copy: function(copy.snapshots[-1])


each_fault([
    ("last_column_id_zero", "METADATA_LAST_COLUMN_ID", setter("last-column-id", 0)),
    ("last_partition_id_too_low", "METADATA_LAST_PARTITION_ID", setter("last-partition-id", 999)),
    ("last_sequence_number_too_low", "METADATA_LAST_SEQUENCE_NUMBER", setter("last-sequence-number", 1)),
    ("snapshot_without_schema_id", "SNAPSHOT_SCHEMA_ID", with_newest(lambda s: s.pop("schema-id"))),
    ("snapshot_with_unknown_schema_id", "SNAPSHOT_SCHEMA_ID", with_newest(lambda s: s.update({"schema-id": 77}))),
    ("summary_without_operation", "SNAPSHOT_OPERATION", with_newest(lambda s: s["summary"].pop("operation"))),
    ("append_called_replace", "SNAPSHOT_OPERATION", with_newest(lambda s: s["summary"].update(operation="replace"))),
    ("main_is_not_current", "METADATA_REF_MAIN", lambda c: c.metadata["refs"]["main"].update({"snapshot-id": c.snapshots[0]["snapshot-id"]})),
    ("tag_of_no_snapshot", "METADATA_REF", lambda c: c.metadata["refs"].update(x={"snapshot-id": 5, "type": "tag"})),
    ("current_schema_unknown", "METADATA_CURRENT_SCHEMA", setter("current-schema-id", 9)),
    ("default_spec_unknown", "METADATA_DEFAULT_SPEC", setter("default-spec-id", 9)),
    ("default_sort_order_unknown", "METADATA_SORT_ORDER", setter("default-sort-order-id", 9)),
    ("uuid_malformed", "METADATA_UUID", setter("table-uuid", "not-a-uuid")),
    ("no_partition_specs", "METADATA_FIELD", remover("partition-specs")),
    ("no_last_updated", "METADATA_FIELD", remover("last-updated-ms")),
    ("property_is_a_number", "METADATA_PROPERTY", lambda c: c.metadata["properties"].update(x=1)),
    ("snapshot_log_out_of_order", "METADATA_SNAPSHOT_LOG", lambda c: c.metadata["snapshot-log"].reverse()),
    ("snapshot_log_ends_elsewhere", "METADATA_SNAPSHOT_LOG", lambda c: c.metadata["snapshot-log"].pop()),
    ("last_updated_before_the_logs", "METADATA_LAST_UPDATED", setter("last-updated-ms", lambda t: t - 3_600_000)),
    ("metadata_log_out_of_order", "METADATA_LOG", lambda c: c.metadata["metadata-log"].reverse()),
    ("metadata_log_of_missing_file", "METADATA_LOG", lambda c: c.metadata["metadata-log"][-1].update({"metadata-file": "/nowhere.metadata.json"})),
    ("sequence_number_twice", "SNAPSHOT_SEQUENCE_NUMBER", with_newest(lambda s: s.update({"sequence-number": 1}))),
    ("timestamp_before_its_parent", "SNAPSHOT_TIMESTAMP", with_newest(lambda s: s.update({"timestamp-ms": 1}))),
    ("field_id_twice", "METADATA_FIELD", lambda c: c.metadata["schemas"][0]["fields"][2].update(id=1)),
    ("snapshot_twice", ["SNAPSHOT_TWICE", "SNAPSHOT_SEQUENCE_NUMBER"], lambda c: c.metadata["snapshots"].append(c.metadata["snapshots"][0])),
    ("summary_holds_a_number", "SNAPSHOT_SUMMARY", with_newest(lambda s: s["summary"].update(x=1))),
    ("location_ends_in_a_slash", "METADATA_LOCATION", setter("location", lambda location: location + "/")),
    ("partition_field_id_below_1000", "METADATA_SPEC", lambda c: c.metadata["partition-specs"][0]["fields"][0].update({"field-id": 7})),
])

each_fault([
    (f"summary_{key}", code, with_newest(lambda s, key=key: s["summary"].update({key: str(int(s["summary"].get(key, "0")) + 1)})))
    for code, keys in {
        "SNAPSHOT_TOTALS": ("total-records", "total-data-files", "total-files-size", "total-delete-files", "total-position-deletes", "total-equality-deletes"),
        "SNAPSHOT_DELTAS": ("added-records", "added-data-files", "added-files-size", "deleted-records", "deleted-data-files", "removed-files-size", "changed-partition-count"),
    }.items() for key in keys
])

each_fault([
    (f"summary_without_{key}", code, with_newest(lambda s, key=key: s["summary"].pop(key)))
    for code, key in (("SNAPSHOT_TOTALS", "total-records"), ("SNAPSHOT_TOTALS", "total-files-size"), ("SNAPSHOT_DELTAS", "added-records"))
])


_ALSO = {
    "no_partition_specs": {"METADATA_DEFAULT_SPEC"},
    "no_last_updated": {"METADATA_LAST_UPDATED"},
    "sequence_number_twice": {"MANIFEST_LIST_HEADER", "MANIFEST_SEQUENCE_NUMBER"},
    "partition_field_id_below_1000": {"MANIFEST_HEADER", "AVRO_FIELD_ID", "READ_FILTER"},
}
for _name, _codes in _ALSO.items():
    FAULTS[_name][2].update(_codes)

# --- manifest lists ---


def in_line(field, change):
    """A fault in the newest list's line for its own manifest."""
    def apply(copy):
        line = copy.lines_of(copy.manifest_of(-1))[0]
        line[field] = change(line[field])
    return apply


each_fault([
    (f"manifest_list_{field}", "MANIFEST_LIST_COUNTS", in_line(field, lambda n: n + 1))
    for field in ("added_files_count", "existing_files_count", "deleted_files_count", "added_rows_count", "existing_rows_count", "deleted_rows_count")
])
each_fault([
    (f"manifest_list_header_without_{key}", "MANIFEST_LIST_HEADER", lambda c, key=key: c.list_of(-1).header.pop(key))
    for key in ("snapshot-id", "parent-snapshot-id", "sequence-number", "format-version")
])
each_fault([
    ("min_sequence_number_too_high", "MANIFEST_MIN_SEQUENCE_NUMBER", in_line("min_sequence_number", lambda n: n + 1)),
    ("manifest_sequence_number_too_high", "MANIFEST_SEQUENCE_NUMBER", in_line("sequence_number", lambda n: n + 1)),
    ("manifest_content_deletes", "MANIFEST_CONTENT", in_line("content", lambda _: 1)),
])
FAULTS["manifest_sequence_number_too_high"][2].add("MANIFEST_MIN_SEQUENCE_NUMBER")
FAULTS["manifest_content_deletes"][2].update({"READ_ROWS", "READ_FILTER"})


def drop_field(schema, name):
    schema["fields"] = [field for field in schema["fields"] if field["name"] != name]


def rename_field(schema, name, new_name):
    next(field for field in schema["fields"] if field["name"] == name)["name"] = new_name


each_fault([
    ("manifest_list_of_unknown_spec", "MANIFEST_LIST_SPEC", in_line("partition_spec_id", lambda _: 9)),
    ("manifest_list_without_a_required_field", "AVRO_FIELD", lambda c: drop_field(c.list_of(-1).schema, "min_sequence_number")),
    ("manifest_without_a_required_field", "AVRO_FIELD", lambda c: drop_field(data_file_schema(c.manifest_of(-1)), "file_format")),
    ("manifest_with_a_field_misnamed", "AVRO_FIELD", lambda c: rename_field(data_file_schema(c.manifest_of(-1)), "sort_order_id", "sort_order")),
])
FAULTS["manifest_list_of_unknown_spec"][2].update({"MANIFEST_HEADER", "AVRO_PARTITION", "MANIFEST_PARTITIONS", "SNAPSHOT_DELTAS"})
FAULTS["manifest_list_without_a_required_field"][2].add("MANIFEST_MIN_SEQUENCE_NUMBER")
FAULTS["manifest_without_a_required_field"][2].add("FILE_FORMAT")


@fault("MANIFEST_MISSING", also={"SNAPSHOT_TOTALS", "SNAPSHOT_DELTAS", "SNAPSHOT_STEP"})
def manifest_missing(copy):
    line = copy.lines_of(copy.manifest_of(-1))[0]
    line["manifest_path"] += ".gone"
    copy.manifests[line["manifest_path"]] = copy.manifests.pop(line["manifest_path"].removesuffix(".gone"))
    copy.after_save.append(lambda: os.remove(local_path(line["manifest_path"])))


@fault("MANIFEST_LIST_MISSING")
def manifest_list_missing(copy):
    copy.after_save.append(lambda: os.remove(local_path(copy.snapshots[-1]["manifest-list"])))


@fault("MANIFEST_LENGTH")
def manifest_length(copy):
    copy.length_errors[copy.lines_of(copy.manifest_of(-1))[0]["manifest_path"]] = 1


@fault("MANIFEST_PARTITIONS")
def partition_summary_contains_null(copy):
    copy.lines_of(copy.manifest_of(-1))[0]["partitions"][0]["contains_null"] = True


@fault("MANIFEST_PARTITIONS", also={"READ_FILTER"})
def partition_summary_upper_too_low(copy):
    copy.lines_of(copy.manifest_of(-1))[0]["partitions"][0]["upper_bound"] = b"even"


@fault("MANIFEST_PARTITIONS")
def partition_summary_missing(copy):
    copy.lines_of(copy.manifest_of(-1))[0]["partitions"] = None


@fault("MANIFEST_TWICE", "LIVE_PATH_TWICE", also={"SNAPSHOT_TOTALS", "SNAPSHOT_DELTAS", "SNAPSHOT_STEP", "READ_ROWS", "READ_FILTER"})
def manifest_listed_twice(copy):
    copy.list_of(-1).records.append(dict(copy.list_of(-1).records[0]))


@fault("SNAPSHOT_STEP", "SNAPSHOT_TOTALS")
def inherited_manifest_forgotten(copy):
    newest = copy.snapshots[-1]["snapshot-id"]
    copy.list_of(-1).records[:] = [line for line in copy.list_of(-1).records if line["added_snapshot_id"] == newest]


def remove_attribute(content, name):
    content.schema = without_attribute(content.schema, name)


each_fault([
    ("manifest_list_without_field_ids", "AVRO_FIELD_ID", lambda c: remove_attribute(c.list_of(-1), "field-id")),
    ("manifest_list_without_element_ids", "AVRO_FIELD_ID", lambda c: remove_attribute(c.list_of(-1), "element-id")),
    ("manifest_without_field_ids", "AVRO_FIELD_ID", lambda c: remove_attribute(c.manifest_of(-1), "field-id")),
    ("manifest_without_element_ids", "AVRO_FIELD_ID", lambda c: remove_attribute(c.manifest_of(-1), "element-id")),
])
for _name in ("manifest_list_without_field_ids", "manifest_without_field_ids", "manifest_list_without_element_ids", "manifest_without_element_ids"):
    FAULTS[_name][2].update({"READ_ROWS", "READ_FILTER"})


def data_file_field(copy, name):
    return next(f for f in data_file_schema(copy.manifest_of(-1))["fields"] if f["name"] == name)


@fault("AVRO_FIELD_ID")
def manifest_without_ids_inside_maps(copy):
    field = data_file_field(copy, "value_counts")
    field["type"] = without_attribute(field["type"], "field-id")


@fault("AVRO_LOGICAL_TYPE")
def manifest_map_without_logical_type(copy):
    field = data_file_field(copy, "lower_bounds")
    field["type"] = without_attribute(field["type"], "logicalType")


@fault("AVRO_PARTITION", also={"READ_ROWS", "READ_FILTER"})
def partition_string_written_as_bytes(copy):
    field = data_file_field(copy, "partition")
    field["type"]["fields"][0]["type"] = ["null", "bytes"]
    for data_file in copy.data_files_of(-1):
        data_file["partition"]["name"] = data_file["partition"]["name"].encode()


# --- manifests ---

each_fault([
    (f"manifest_header_without_{key}", "MANIFEST_HEADER", lambda c, key=key: c.manifest_of(-1).header.pop(key))
    for key in ("schema", "schema-id", "partition-spec", "partition-spec-id", "format-version", "content")
])
for _key in ("schema", "partition-spec"):
    FAULTS[f"manifest_header_without_{_key}"][2].update({"READ_ROWS"})


@fault("MANIFEST_HEADER")
def manifest_header_with_the_whole_spec(copy):
    header = copy.manifest_of(-1).header
    header["partition-spec"] = json.dumps({"spec-id": 0, "fields": json.loads(header["partition-spec"])})


@fault("MANIFEST_HEADER")
def manifest_header_with_another_spec(copy):
    header = copy.manifest_of(-1).header
    header["partition-spec"] = header["partition-spec"].replace("identity", "truncate[3]")


def in_file(change, recompute=False):
    """A fault in the newest manifest's first data file."""
    def apply(copy):
        change(copy.data_files_of(-1)[0])
        if recompute:
            copy.recompute_file_sizes()
    return apply


def plus_one(field):
    return lambda data_file: data_file.update({field: data_file[field] + 1})


def count_plus_one(field):
    return lambda data_file: data_file[field][-1].update(value=data_file[field][-1]["value"] + 1)


def bound(field, field_id, value):
    def change(data_file):
        next(pair for pair in data_file[field] if pair["key"] == field_id)["value"] = value
    return change


def drop_bound(field, field_id):
    return lambda data_file: data_file.update({field: [p for p in data_file[field] if p["key"] != field_id]})


def double(value):
    return struct.pack("<d", value)


each_fault([
    ("data_file_size", "FILE_SIZE", in_file(plus_one("file_size_in_bytes"), recompute=True)),
    ("split_offset_beyond_the_file", "SPLIT_OFFSETS", in_file(lambda f: f.update(split_offsets=[10**9]))),
    ("split_offsets_of_two_groups", "SPLIT_OFFSETS", in_file(lambda f: f.update(split_offsets=[4, 5]))),
    ("column_size", "METRICS_COUNT", in_file(count_plus_one("column_sizes"))),
    ("value_count", "METRICS_COUNT", in_file(count_plus_one("value_counts"))),
    ("null_value_count", "METRICS_COUNT", in_file(count_plus_one("null_value_counts"))),
    ("nan_value_count", "METRICS_COUNT", in_file(count_plus_one("nan_value_counts"))),
    ("value_counts_missing", "METRICS_MISSING", in_file(lambda f: f.update(value_counts=[]))),
    ("nan_value_counts_missing", "METRICS_MISSING", in_file(lambda f: f.update(nan_value_counts=None))),
    ("upper_bound_too_low", "BOUND_TOO_LOW", in_file(bound("upper_bounds", 3, double(0.1)))),
    ("lower_bound_too_high", "BOUND_TOO_HIGH", in_file(bound("lower_bounds", 3, double(0.1)))),
    ("long_upper_bound_too_low", "BOUND_TOO_LOW", in_file(bound("upper_bounds", 1, struct.pack("<q", 1)))),
    ("string_upper_bound_too_low", "BOUND_TOO_LOW", in_file(bound("upper_bounds", 2, b"eve"))),
    ("upper_bound_loose", "BOUND_LOOSE", in_file(bound("upper_bounds", 3, double(99.0)))),
    ("string_lower_bound_loose", "BOUND_LOOSE", in_file(bound("lower_bounds", 2, b""))),
    ("bound_is_nan", "BOUND_NAN", in_file(bound("upper_bounds", 3, double(float("nan"))))),
    ("bound_of_wrong_length", "BOUND_ENCODING", in_file(bound("upper_bounds", 1, b"\x01\x02"))),
    ("sort_order_unknown", "ENTRY_SORT_ORDER", in_file(lambda f: f.update(sort_order_id=8))),
    ("bound_missing", "BOUND_MISSING", in_file(drop_bound("lower_bounds", 1))),
    ("bound_of_unknown_field", "METRICS_FIELD", in_file(lambda f: f["lower_bounds"].append({"key": 99, "value": b"x"}))),
])
for _name in ("upper_bound_too_low", "lower_bound_too_high", "long_upper_bound_too_low", "string_upper_bound_too_low", "bound_is_nan"):
    FAULTS[_name][2].add("READ_FILTER")


@fault("RECORD_COUNT", also={"READ_ROWS"})
def record_count_everywhere_but_in_the_file(copy):
    copy.data_files_of(-1)[0]["record_count"] += 1
    for line in copy.lines_of(copy.manifest_of(-1)):
        line["added_rows_count"] += 1
    summary = copy.snapshots[-1]["summary"]
    for key in ("added-records", "total-records"):
        summary[key] = str(int(summary[key]) + 1)


@fault("RECORD_COUNT", "MANIFEST_LIST_COUNTS", "SNAPSHOT_TOTALS", "SNAPSHOT_DELTAS", also={"READ_ROWS"})
def record_count(copy):
    copy.data_files_of(-1)[0]["record_count"] += 1


@fault("LIVE_PATH_TWICE", also={"SNAPSHOT_STEP", "READ_ROWS", "READ_FILTER", "SNAPSHOT_TOTALS", "SNAPSHOT_DELTAS", "MANIFEST_LIST_COUNTS"})
def path_twice_in_a_manifest(copy):
    manifest = copy.manifest_of(-1)
    manifest.records.append(manifest.records[0])


@fault("LIVE_PATH_TWICE", "SNAPSHOT_STEP")
def path_of_an_earlier_snapshot_added_again(copy):
    """All counts are made to fit: only the path itself tells."""
    before = copy.data_files_of(-2)[0]
    entry = json.loads(json.dumps(copy.manifest_of(-1).records[0], default=lambda b: None))
    entry["data_file"] = before
    copy.manifest_of(-1).records.append(entry)
    for line in copy.lines_of(copy.manifest_of(-1)):
        line["added_files_count"] += 1
        line["added_rows_count"] += before["record_count"]
    summary = copy.snapshots[-1]["summary"]
    for kind in ("added", "total"):
        summary[f"{kind}-records"] = str(int(summary[f"{kind}-records"]) + before["record_count"])
        summary[f"{kind}-data-files"] = str(int(summary[f"{kind}-data-files"]) + 1)
    copy.recompute_file_sizes()


@fault("PARTITION_VALUE", also={"MANIFEST_PARTITIONS", "READ_FILTER"})
def wrong_partition_value(copy):
    for data_file in copy.data_files_of(-1):
        data_file["partition"]["name"] = "odd" if data_file["partition"]["name"] == "even" else "even"


@fault("ENTRY_SEQUENCE_NUMBER", "MANIFEST_LIST_COUNTS", also={"SNAPSHOT_STEP", "SNAPSHOT_DELTAS", "SNAPSHOT_OPERATION"})
def existing_entry_without_sequence_number(copy):
    copy.manifest_of(-1).records[0].update(status=0, sequence_number=None, file_sequence_number=None)


@fault("ENTRY_STATUS", "MANIFEST_LIST_COUNTS",
       also={"ENTRY_SEQUENCE_NUMBER", "SNAPSHOT_DELTAS", "SNAPSHOT_STEP", "READ_ROWS", "READ_FILTER", "SNAPSHOT_OPERATION"})
def entry_of_unknown_status(copy):
    copy.manifest_of(-1).records[0]["status"] = 7


@fault("ENTRY_SNAPSHOT_ID")
def added_entry_of_another_snapshot(copy):
    copy.manifest_of(-1).records[0]["snapshot_id"] = copy.snapshots[0]["snapshot-id"]


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


# --- checking them ---


@pytest.fixture(scope="module")
def base(sound_tables):
    return sound_tables["identity_partitioned"][0].metadata_location


def strict_copy(base, folder):
    return TableCopy(base, folder).make_strict()


@pytest.fixture(scope="module")
def verdicts(base, tmp_path_factory):
    """All damaged copies, judged in one JVM."""
    folder = tmp_path_factory.mktemp("damaged")
    locations = {}
    for name, (damage, _, _) in FAULTS.items():
        copy = strict_copy(base, folder / name)
        damage(copy)
        locations[name] = copy.save()
    found = java_checker.check_tables(locations.values())
    return dict(zip(locations, found))


def test_undamaged_copies_pass_the_rules_for_own_files(base, tmp_path):
    plain = strict_copy(base, tmp_path / "plain")
    indexed = strict_copy(base, tmp_path / "indexed")
    for index in (0, 1):
        for data_file in indexed.data_files_of(index):
            indexed.rewrite_data_file(data_file, write_page_index=True, row_group_size=4, data_page_size=8, write_batch_size=1, use_dictionary=False)
    _, with_index = java_checker.expect_clean([plain.save(), indexed.save()])
    assert with_index.checked["row_groups"] > with_index.checked["files"]
    assert with_index.checked["pages"] > with_index.checked["row_groups"]


@pytest.fixture(scope="module")
def typed_verdicts(sound_tables, tmp_path_factory):
    folder = tmp_path_factory.mktemp("damaged_types")
    locations = {"frazil": {}, "off": {}}
    for name, (damage, _, _, table, strict) in TYPED_FAULTS.items():
        copy = TableCopy(sound_tables[table][0].metadata_location, folder / name)
        damage(copy.make_strict() if strict else copy)
        locations["frazil" if strict else "off"][name] = copy.save()
    found = {}
    for writer, damaged in locations.items():
        found.update(zip(damaged, java_checker.check_tables(damaged.values(), strict_writer=writer)))
    return found


def test_nested_columns_and_page_indexes_pass_the_rules_for_own_files(sound_tables, tmp_path):
    copy = strict_copy(sound_tables["all_types"][0].metadata_location, tmp_path / "table")
    for index in (0, 1):
        for data_file in copy.data_files_of(index):
            copy.rewrite_data_file(data_file, write_page_index=True, row_group_size=16, data_page_size=8, write_batch_size=1, use_dictionary=False)
    verdict, = java_checker.expect_clean([copy.save()])
    assert verdict.checked["pages"] > 5 * verdict.checked["columns"]


@pytest.mark.parametrize("name", FAULTS)
def test_checker_names_the_fault(verdicts, name):
    _, expected, allowed = FAULTS[name]
    expect_codes(verdicts[name], expected, allowed)


@pytest.mark.parametrize("name", TYPED_FAULTS)
def test_checker_names_the_fault_of_a_type(typed_verdicts, name):
    _, expected, allowed, _, _ = TYPED_FAULTS[name]
    expect_codes(typed_verdicts[name], expected, allowed)


def expect_codes(verdict, expected, allowed):
    assert expected <= verdict.codes, str(verdict)
    assert verdict.codes <= expected | allowed | ALWAYS_ALLOWED, str(verdict)


def test_checker_refuses_what_is_no_metadata(tmp_path):
    broken = tmp_path / "x.metadata.json"
    broken.write_text('{"format-version": 2, "format-version": 2}')
    missing = tmp_path / "y.metadata.json"
    for verdict in java_checker.check_tables([broken, missing]):
        assert verdict.codes == {"TABLE_UNREADABLE"}


def test_ids_that_went_through_a_double_are_noticed(base, tmp_path):
    copy = strict_copy(base, tmp_path / "table")
    location = Path(copy.save())
    text = location.read_text()
    snapshot_id = str(copy.snapshots[-1]["snapshot-id"])
    location.write_text(re.sub(rf'("current-snapshot-id": ){snapshot_id}', rf"\g<1>{float(snapshot_id)!r}", text))
    verdict, = java_checker.check_tables([location])
    assert verdict.codes & {"METADATA_FIELD", "METADATA_REF_MAIN"}, str(verdict)
