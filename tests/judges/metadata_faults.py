"""Faults in the metadata JSON and in manifest lists.

A fault is a function that breaks one thing in a TableCopy. It is registered with the codes that the
checker must name, and those that it may name besides.
"""
import os

from judges.canonical import local_path
from judges.damaged_table import data_file_schema, without_attribute
from judges.faults import FAULTS, each_fault, fault

# --- metadata ---


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
