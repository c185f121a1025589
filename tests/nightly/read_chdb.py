"""chDB: ClickHouse in the process; reads the table's folder.

ClickHouse has one type for text and bytes, and only points in time: bytes are asked for in hex, ids as text, and the zone is
taken off where the column has none.
"""
import io

import pyarrow as pa
from chdb import session as chdb_session

from foreign_reader import serve

SETTINGS = "output_format_arrow_string_as_string=1, session_timezone='UTC'"


def expression(column):
    name = f"`{column.name}`"
    if column.type == "binary" or str(column.type).startswith("fixed"):
        return f"lower(hex({name})) AS {name}"
    return f"toString({name}) AS {name}" if column.type == "uuid" else name


def without_zones(table, columns):
    for i, column in enumerate(columns):
        if column.type == "timestamp":
            table = table.set_column(i, column.name, table.column(i).cast(pa.timestamp("us")))
    return table


def main():
    session = chdb_session.Session()

    def read(job, columns):
        folder = job["location"].rsplit("/metadata/", 1)[0].removeprefix("file://")
        query = f"SELECT {', '.join(map(expression, columns))} FROM icebergLocal('{folder}') SETTINGS {SETTINGS}"
        answer = session.query(query, "ArrowStream")
        return without_zones(pa.ipc.open_stream(io.BytesIO(answer.bytes())).read_all(), columns)

    serve(read)


main()
