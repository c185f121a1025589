"""The account of a stream: what was produced (kill_harness.Stream) against what tables hold, record by record; and that every file which a
table names is there.
"""
import collections
import io
import zlib

import fastavro
from pyiceberg.table import StaticTable

from judges import canonical, readers, stores

# Of the records that Stream produces; the pipeline's table has kafka_metadata columns too.
SCHEMA = [{"name": "id", "type": "long", "required": True}, {"name": "text", "type": "string", "required": True},
          {"name": "crc", "type": "long", "required": True}]


def faults_of(expected, found):
    """What is wrong with `found`, pairs of ((partition, offset), content), against the dict `expected`; each fault names its place."""
    counts = collections.Counter(place for place, _ in found)
    faults = [f"missing: partition {p} offset {o}" for p, o in sorted(set(expected) - set(counts))]
    faults += [f"not produced: partition {p} offset {o}" for p, o in sorted(set(counts) - set(expected))]
    faults += [f"{n} times: partition {p} offset {o}" for (p, o), n in sorted(counts.items()) if n > 1]
    faults += [f"altered: partition {place[0]} offset {place[1]}" for place, content in found
               if place in expected and expected[place] != content]
    return faults


def read_pyiceberg(location, columns):
    return StaticTable.from_metadata(readers.uri(location), stores.properties_of(location)).scan(selected_fields=columns).to_arrow()


def read_duckdb(location, columns):
    names = ", ".join(f'"{c}"' for c in columns)
    with readers.duckdb_connection(location) as connection:
        return connection.execute(f"SELECT {names} FROM iceberg_scan('{readers.uri(location)}')").to_arrow_table()


JUDGES = {"pyiceberg": read_pyiceberg, "duckdb": read_duckdb}


def columns_of(table, names):
    return [table.column(name).to_pylist() for name in names]


def rows_of(location, judge):
    """((partition, offset), (id, crc of the text)) of each row; the crc in the row must be that of its text."""
    names = ["_kafka_partition", "_kafka_offset", "id", "text", "crc"]
    rows = []
    for partition, offset, number, text, crc in zip(*columns_of(JUDGES[judge](location, names), names)):
        computed = zlib.crc32(text.encode())
        rows.append(((partition, offset), (number, computed if computed == crc else "the row's crc is not its text's")))
    return rows


def letters_of(location, judge):
    names = ["partition", "offset", "value"]
    return [((partition, offset), zlib.crc32(value)) for partition, offset, value in zip(*columns_of(JUDGES[judge](location, names), names))]


def judge_exactly_once(stream, rows_location, letters_location):
    """Each judge: every acknowledged (partition, offset) once, in the table or among the dead letters, values intact."""
    for judge in JUDGES:
        rows, letters = rows_of(rows_location, judge), letters_of(letters_location, judge)
        faults = faults_of(stream.good, rows) + [f"dead letters: {fault}" for fault in faults_of(stream.bad, letters)]
        assert not faults, f"{judge}: {len(faults)} faults, first {faults[:10]}"
        assert rows and letters, "nothing to compare"
        print(f"{judge}: compared {len(rows)} rows and {len(letters)} dead letters by partition, offset and crc")
    expect_the_account_to_notice(stream, rows)


def expect_the_account_to_notice(stream, rows):
    """The comparison itself is put to the test: one row less, one row twice, one row altered."""
    (partition, offset), _ = gone = rows[len(rows) // 2]
    assert faults_of(stream.good, [row for row in rows if row is not gone]) == [f"missing: partition {partition} offset {offset}"]
    assert faults_of(stream.good, [*rows, gone]) == [f"2 times: partition {partition} offset {offset}"]
    altered = [((partition, offset), (0, 0)) if row is gone else row for row in rows]
    assert faults_of(stream.good, altered) == [f"altered: partition {partition} offset {offset}"]


# --- files --------------------------------------------------------------------------------------


def referenced_files(metadata_location):
    """Locations of everything that any snapshot of the table names: manifest lists, manifests, live data files."""
    named, manifests = set(), set()
    for snapshot in canonical.load_metadata(metadata_location).get("snapshots", []):
        named.add(snapshot["manifest-list"])
        manifests |= {entry["manifest_path"] for entry in _avro(snapshot["manifest-list"])}
    for manifest in manifests:
        named |= {entry["data_file"]["file_path"] for entry in _avro(manifest) if entry["status"] != 2}
    return named | manifests


def _avro(location):
    return list(fastavro.reader(io.BytesIO(stores.read(location))))


def expect_all_files(lake, tables):
    """Every file that these tables name lies in the lake; returns how many."""
    there = {stores.uri(location) for location in lake.files()}
    named = set().union(*(referenced_files(lake.location_of(table)) for table in tables))
    missing = sorted(location for location in named if stores.uri(location) not in there)
    assert named and not missing, f"{len(missing)} of {len(named)} referenced files are gone, first {missing[:5]}"
    return len(named)


def data_files_of(lake):
    return {location for location in lake.files() if location.endswith(".parquet")}
