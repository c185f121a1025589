"""The files of a table: all there, whole, named once, adding up (I6); none removed that anything names (I7); few that nothing names (I8)."""
import collections
import io

import fastavro
import pyarrow.parquet as parquet

from account.chain import ancestors
from judges import stores


def _avro(location):
    return list(fastavro.reader(io.BytesIO(stores.read(location))))


class Files:
    """Everything that the snapshots of one table name, read once."""

    def __init__(self, metadata, there):
        self.there = {stores.uri(location): size for location, size in there.items()}
        self.metadata = metadata
        self.faults = []
        self.lists, self.manifests, self.data = {}, {}, set()
        for snapshot in metadata.get("snapshots", []):
            entries = self._read(snapshot["manifest-list"], f"manifest list of snapshot {snapshot['snapshot-id']}")
            self.lists[snapshot["snapshot-id"]] = [entry["manifest_path"] for entry in entries]
            for entry in entries:
                self._take_manifest(entry)
        self.named = self.data | set(self.manifests) | {s["manifest-list"] for s in metadata.get("snapshots", [])}

    def _read(self, location, what):
        try:
            return _avro(location)
        except FileNotFoundError:
            self.faults.append(f"{what} is gone: {location}")
            return []

    def _take_manifest(self, entry):
        path = entry["manifest_path"]
        if path in self.manifests:
            return
        self.manifests[path] = self._read(path, "manifest")
        self.data |= {e["data_file"]["file_path"] for e in self.manifests[path] if e["status"] != 2}

    def live(self):
        """Data files of the head."""
        paths = self.lists.get(self.metadata.get("current-snapshot-id"), [])
        return [entry["data_file"] for path in paths for entry in self.manifests[path] if entry["status"] != 2]


def faults_of_metadata(files):
    """I6. Returns the number of files looked at too."""
    faults = list(files.faults)
    faults += [f"is named and gone: {path}" for path in sorted(files.named) if stores.uri(path) not in files.there]
    live = files.live()
    counts = collections.Counter(file["file_path"] for file in live)
    faults += [f"is listed {n} times: {path}" for path, n in counts.items() if n > 1]
    faults += [fault for file in live if stores.uri(file["file_path"]) in files.there for fault in _faults_of_data_file(file, files)]
    head = next((s for s in files.metadata.get("snapshots", []) if s["snapshot-id"] == files.metadata.get("current-snapshot-id")), None)
    totals = {"total-records": sum(file["record_count"] for file in live), "total-data-files": len(live),
              "total-files-size": sum(file["file_size_in_bytes"] for file in live)}
    for key, found in totals.items() if head else ():
        if int(head["summary"].get(key, found)) != found:
            faults.append(f"the head says {key}={head['summary'][key]}, its files have {found}")
    return len(files.named), faults


def _faults_of_data_file(file, files):
    path, size = file["file_path"], files.there[stores.uri(file["file_path"])]
    if size != file["file_size_in_bytes"]:
        return [f"has {size} bytes, its manifest says {file['file_size_in_bytes']}: {path}"]
    with stores.open_file(path) as source:
        rows = parquet.ParquetFile(source).metadata.num_rows
    return [f"has {rows} rows, its manifest says {file['record_count']}: {path}"] * (rows != file["record_count"])


def faults_of_removal(seen, there):
    """I7: no data file that was there once is gone, whoever names it. What a table still names is looked for by I6."""
    now = {stores.uri(location) for location in there}
    return len(seen), [f"was there and is gone: {path}" for path in sorted(seen) if stores.uri(path) not in now]


def faults_of_waste(tables, there, most):
    """I8: data files that no snapshot names, so many at most. Returns their number too."""
    named = {stores.uri(path) for files in tables for path in files.data}
    data = {stores.uri(path) for path in there if path.endswith(".parquet")}
    orphans = data - named
    return len(orphans), [f"{len(orphans)} orphans, what was lost leaves at most {most}"] * (len(orphans) > most)


def files_of_a_batch(metadata):
    """As many data files as one snapshot has added at most."""
    return max((int(s["summary"].get("added-data-files", 0)) for s in ancestors(metadata)), default=0)
