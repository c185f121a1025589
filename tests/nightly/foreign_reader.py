"""What the readers of their own Python environments share: jobs come in, canonical rows go out.

A job file is a list of {"table": "ns.name", "catalog": SQLite file, "location": metadata file, "columns": [[name, type, id], ...],
"rows": file to write}. Each row is one line of JSON, in any order. A reader is a function (job, columns) → Arrow table; it
reads every job, and an error in one ends in a file `<rows>.error` and not in the end of the others.
"""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from judges import canonical  # noqa: E402


ERROR_LETTERS = 1500


def serve(read):
    for job in json.loads(pathlib.Path(sys.argv[1]).read_text()):
        columns = [canonical.Column(*column) for column in job["columns"]]
        try:
            rows = canonical.canonical_table(columns, read(job, columns))
        except Exception as error:  # a message of Java ends in pages of its stack: its beginning tells
            pathlib.Path(job["rows"] + ".error").write_text(f"{type(error).__name__}: {str(error)[:ERROR_LETTERS]}")
            continue
        with open(job["rows"], "w") as file:
            file.writelines(canonical.sort_key(row) + "\n" for row in rows)


def quoted(columns):
    return [f"`{column.name}`" for column in columns]
