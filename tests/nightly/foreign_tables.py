"""Tables that Frazil writes from a real broker for the readers of the night, and the rows that must be in them.

Run by the tests' Python: foreign_tables.py FOLDER → FOLDER/tables.json,
[{"name", "table", "catalog": SQLite file, "location", "columns": [[name, type, id], ...], "rows": file of canonical rows, one JSON a line}].
"""
import datetime
import json
import pathlib
import sys

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), str(TESTS / "end_to_end")]

from judges import canonical  # noqa: E402
from kafka_server import KafkaServer  # noqa: E402
from pipeline import Lake, Pipeline, Record, produce, topic_of  # noqa: E402
import test_types  # noqa: E402

BUCKET_ROWS = 20_000
BUCKET_COMMITS = 4
BUCKET_COLUMNS = [{"name": "id", "type": "long", "required": True}, {"name": "text", "type": "string"}, {"name": "amount", "type": "double"},
                  {"name": "at", "type": "timestamptz"}, {"name": "day", "type": "date"}, {"name": "tags", "type": "list<string>"}]


def write_types(kafka, lake, name, without=()):
    """The table of every type, from test_types; some columns left out for readers that refuse their type altogether."""
    rows, documents = test_types.all_rows()
    columns = [column for column in test_types.COLUMNS if column["name"] not in without]
    topic_of(kafka, name, documents)
    pipeline = Pipeline(lake, kafka, name, [name], columns)
    pipeline.run().expect()
    return described(lake, name, pipeline.table, rows)


def bucket_row(i):
    at = datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc) + datetime.timedelta(seconds=i * 977, microseconds=i)
    return {"id": i * 2_654_435_761, "text": None if i % 13 == 0 else f"row {i}", "amount": i / 8, "at": at, "day": at.date(),
            "tags": [["a"], [], None, ["b", "c"]][i % 4]}


def write_buckets(kafka, lake):
    """64 buckets, several commits."""
    topic_of(kafka, "buckets", partitions=4)
    pipeline = Pipeline(lake, kafka, "buckets", ["buckets"], BUCKET_COLUMNS, {"partition_by": ["bucket(64, id)"]}, lanes=2)
    rows = [bucket_row(i) for i in range(BUCKET_ROWS)]
    for part in range(BUCKET_COMMITS):
        records = [Record({**row, "at": row["at"].isoformat(), "day": row["day"].isoformat()}, partition=i % 4)
                   for i, row in enumerate(rows[part::BUCKET_COMMITS])]
        produce(kafka, "buckets", records)
        pipeline.run().expect()
    assert len({file["partition"]["id_bucket"] for file in lake.data_files(pipeline.table)}) == 64
    return described(lake, "buckets", pipeline.table, rows)


def described(lake, name, table, rows):
    location = lake.location_of(table)
    columns = canonical.columns_of(location)
    path = lake.folder / f"{name}.rows"
    with open(path, "w") as file:
        file.writelines(canonical.sort_key(row) + "\n" for row in canonical.canonical_rows(columns, rows))
    return {"name": name, "table": table, "catalog": str(lake.database), "location": location,
            "columns": [[c.name, c.type, c.field_id] for c in columns], "rows": str(path)}


def main(folder):
    lake = Lake(folder / "lake")
    with KafkaServer(folder / "kafka") as kafka:
        tables = [write_types(kafka, lake, "types"), write_types(kafka, lake, "types_without_time", ("clock",)), write_buckets(kafka, lake)]
    (folder / "tables.json").write_text(json.dumps(tables))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]).resolve())
