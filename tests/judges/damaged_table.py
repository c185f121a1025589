"""A copy of a table, taken apart so that one thing in it can be broken and all else stays consistent.

The copy rewrites every location, and every length that follows from a rewritten file. make_strict()
brings what PyIceberg wrote up to the rules for Frazil's own files, so that the only problem left is
the one a test puts in.
"""
import json
import os
import shutil
from pathlib import Path

import fastavro
import pyarrow.compute as pc
import pyarrow.parquet as pq

from judges.canonical import load_metadata, local_path

ADDED, DELETED = 1, 2


class AvroContent:
    """An Avro object file in memory: schema as JSON, header without Avro's own keys, records."""

    def __init__(self, location):
        with open(local_path(location), "rb") as file:
            reader = fastavro.reader(file)
            self.records = list(reader)
            self.header = {k: v for k, v in reader.metadata.items() if not k.startswith("avro.")}
            self.schema = json.loads(reader.metadata["avro.schema"])

    def write(self, path):
        with open(path, "wb") as file:
            fastavro.writer(file, fastavro.parse_schema(_with_names(self.schema), _write_hint=False), self.records, metadata=self.header, codec="null")


def _with_names(schema):
    """fastavro edits the schema it parses; give it its own."""
    return json.loads(json.dumps(schema))


class TableCopy:
    def __init__(self, metadata_location, folder):
        self.folder = Path(folder)
        self.metadata = load_metadata(metadata_location)
        self.old_location = self.metadata["location"]
        self.new_location = f"file://{self.folder}"
        self.metadata_name = os.path.basename(metadata_location)
        self.length_errors = {}
        self.after_save = []
        shutil.copytree(local_path(self.old_location), self.folder, dirs_exist_ok=True)
        self.metadata = json.loads(json.dumps(self.metadata).replace(self.old_location, self.new_location))
        self.lists = {s["manifest-list"]: AvroContent(s["manifest-list"]) for s in self.metadata["snapshots"]}
        self._move_lists()

    def _move_lists(self):
        self.manifests = {}
        for listed in self.lists.values():
            for line in listed.records:
                line["manifest_path"] = self._moved(line["manifest_path"])
                if line["manifest_path"] not in self.manifests:
                    self.manifests[line["manifest_path"]] = AvroContent(line["manifest_path"])
        for manifest in self.manifests.values():
            for entry in manifest.records:
                entry["data_file"]["file_path"] = self._moved(entry["data_file"]["file_path"])

    def _moved(self, location):
        return location.replace(self.old_location, self.new_location)

    # --- what tests reach for ---

    @property
    def snapshots(self):
        """Oldest first."""
        return sorted(self.metadata["snapshots"], key=lambda s: s["sequence-number"])

    def list_of(self, index):
        """The manifest list of a snapshot, by its place in time (-1: the newest)."""
        return self.lists[self.snapshots[index]["manifest-list"]]

    def manifest_of(self, index):
        """The manifest that this snapshot added."""
        snapshot = self.snapshots[index]["snapshot-id"]
        line = next(line for line in self.list_of(index).records if line["added_snapshot_id"] == snapshot)
        return self.manifests[line["manifest_path"]]

    def data_files_of(self, index):
        return [entry["data_file"] for entry in self.manifest_of(index).records]

    def lines_of(self, manifest):
        """All lines of manifest lists that name this manifest."""
        paths = {path for path, content in self.manifests.items() if content is manifest}
        return [line for content in self.lists.values() for line in content.records if line["manifest_path"] in paths]

    # --- consistency ---

    def make_strict(self):
        """What Frazil's own files hold and PyIceberg's lack."""
        floats = {f["name"]: f["id"] for f in self._schema()["fields"] if f["type"] in ("float", "double")}
        for manifest in self.manifests.values():
            schema_id = json.loads(manifest.header["schema"])["schema-id"]
            manifest.header["schema-id"] = str(schema_id)
            data_file = _field(manifest.schema, "data_file")["type"]
            _value_type(_field(data_file, "equality_ids"))["items"] = "int"
            for entry in manifest.records:
                self._complete_metrics(entry["data_file"], floats)
        for snapshot in self.metadata["snapshots"]:
            touched = {json.dumps(e["data_file"]["partition"], default=str) for e in self._own_entries(snapshot)}
            snapshot["summary"]["changed-partition-count"] = str(len(touched))
        return self

    def _complete_metrics(self, data_file, floats):
        """PyIceberg counts no NaN and gives no bounds to strings inside of structs."""
        table = pq.ParquetFile(local_path(data_file["file_path"])).read()
        nans = {i: pc.sum(pc.is_nan(table.column(name))).as_py() or 0 for name, i in floats.items()}
        data_file["nan_value_counts"] = [{"key": i, "value": n} for i, n in nans.items()]
        for field in self._schema()["fields"]:
            if isinstance(field["type"], dict) and field["type"]["type"] == "struct":
                column = table.column(field["name"]).combine_chunks()
                self._bound_strings(data_file, field["type"]["fields"], column)

    @staticmethod
    def _bound_strings(data_file, fields, column):
        for field in fields:
            values = [v[field["name"]] for v in column.to_pylist() if v and v[field["name"]] is not None]
            if field["type"] == "string" and values:
                data_file["lower_bounds"].append({"key": field["id"], "value": min(values).encode()})
                data_file["upper_bounds"].append({"key": field["id"], "value": max(values).encode()})

    def _schema(self):
        return next(s for s in self.metadata["schemas"] if s["schema-id"] == self.metadata["current-schema-id"])

    def _own_entries(self, snapshot):
        lines = self.lists[snapshot["manifest-list"]].records
        return [entry for line in lines if line["added_snapshot_id"] == snapshot["snapshot-id"]
                for entry in self.manifests[line["manifest_path"]].records]

    def rewrite_data_file(self, data_file, transform=lambda table: table, **options):
        """Writes the file anew by pyarrow and brings all sizes in line with it."""
        path = local_path(data_file["file_path"])
        table = transform(pq.ParquetFile(path).read())
        options = {"store_decimal_as_integer": True, "compression": "zstd", **options}
        pq.write_table(table, path, **options)
        self.resize(data_file)

    def resize(self, data_file):
        """Brings every size that follows from a data file in line with the file as it is."""
        path = local_path(data_file["file_path"])
        data_file["file_size_in_bytes"] = os.path.getsize(path)
        footer = pq.ParquetFile(path).metadata
        groups = [footer.row_group(i) for i in range(footer.num_row_groups)]
        first = [group.column(0) for group in groups]
        data_file["split_offsets"] = [c.dictionary_page_offset or c.data_page_offset for c in first]
        for position, size in enumerate(data_file["column_sizes"]):
            if position < footer.num_columns:
                size["value"] = sum(group.column(position).total_compressed_size for group in groups)
        self.recompute_file_sizes()

    def recompute_file_sizes(self):
        for snapshot in self.metadata["snapshots"]:
            lines = self.lists[snapshot["manifest-list"]].records
            live = [e for line in lines for e in self.manifests[line["manifest_path"]].records if e["status"] != DELETED]
            added = [e for e in self._own_entries(snapshot) if e["status"] == ADDED]
            snapshot["summary"]["total-files-size"] = str(sum(e["data_file"]["file_size_in_bytes"] for e in live))
            snapshot["summary"]["added-files-size"] = str(sum(e["data_file"]["file_size_in_bytes"] for e in added))

    def save(self):
        """Writes all that is held in memory; returns the location of the metadata file."""
        for path, manifest in self.manifests.items():
            manifest.write(local_path(path))
        for path, content in self.lists.items():
            for line in content.records:
                manifest_path = line["manifest_path"]
                line["manifest_length"] = os.path.getsize(local_path(manifest_path)) + self.length_errors.get(manifest_path, 0)
            content.write(local_path(path))
        location = self.folder / "metadata" / self.metadata_name
        location.write_text(json.dumps(self.metadata), encoding="utf-8")
        for action in self.after_save:
            action()
        return str(location)


def _field(record, name):
    return next(f for f in record["fields"] if f["name"] == name)


def _value_type(field):
    return next(t for t in field["type"] if t != "null") if isinstance(field["type"], list) else field["type"]


def data_file_schema(manifest):
    return _field(manifest.schema, "data_file")["type"]


def without_attribute(schema, name):
    """An Avro schema as JSON without an attribute, at every level."""
    if isinstance(schema, dict):
        return {k: without_attribute(v, name) for k, v in schema.items() if k != name}
    return [without_attribute(part, name) for part in schema] if isinstance(schema, list) else schema
