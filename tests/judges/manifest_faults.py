"""Faults in manifests and their entries.

A fault is a function that breaks one thing in a TableCopy. It is registered with the codes that the
checker must name, and those that it may name besides.
"""
import json
import struct

from judges.faults import FAULTS, double, each_fault, fault

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
