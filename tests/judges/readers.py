"""One reader for each judge: a table's rows as a canonical list, from its metadata file alone.

read(metadata_location, columns, where) gives canonical rows of these columns; where is None or (column, op, value)
with op one of = != < <= > >= and value a Python value. The judge itself evaluates the predicate, so
that what it prunes is part of the test.
"""
import datetime
import decimal
import json
import uuid
import warnings

from judges import canonical, java_checker, stores
from judges.stores import uri

OPERATORS = ("=", "!=", "<", "<=", ">", ">=")


def read_pyiceberg(metadata_location, columns, where=None):
    warnings.simplefilter("ignore")
    from pyiceberg.table import StaticTable

    table = StaticTable.from_metadata(uri(metadata_location), stores.properties_of(metadata_location))
    options = {"row_filter": _pyiceberg_filter(*where)} if where else {}
    scan = table.scan(selected_fields=tuple(c.name for c in columns), **options)
    return canonical.canonical_table(columns, scan.to_arrow())


def _pyiceberg_filter(column, op, value):
    from pyiceberg import expressions

    kinds = {"=": "EqualTo", "!=": "NotEqualTo", "<": "LessThan", "<=": "LessThanOrEqual", ">": "GreaterThan", ">=": "GreaterThanOrEqual"}
    if isinstance(value, (datetime.datetime, datetime.time)):
        value = value.isoformat()
    if isinstance(value, datetime.date):
        value = value.isoformat()
    return getattr(expressions, kinds[op])(column, value)


def duckdb_connection(location):
    """A DuckDB that can read the table at this location by iceberg_scan."""
    import duckdb

    connection = duckdb.connect(config={"allow_unsigned_extensions": "true", "threads": 1})
    store = stores.store_of(location)
    for extension in ("avro", "iceberg", *(["httpfs"] if store else [])):
        connection.execute(f"LOAD {_duckdb_extension(extension)}")
    connection.execute("SET TimeZone='UTC'")
    if store:
        connection.execute(f"CREATE SECRET (TYPE s3, KEY_ID '{store.access_key}', SECRET '{store.secret_key}', REGION '{store.region}', "
                           f"ENDPOINT '{store.host}', URL_STYLE 'path', USE_SSL false)")
    return connection


def read_duckdb(metadata_location, columns, where=None):
    with duckdb_connection(metadata_location) as connection:
        source = uri(metadata_location).replace("'", "''")
        table = connection.execute(f"SELECT {_sql_names(columns)} FROM iceberg_scan('{source}')" + _sql_where(where)).to_arrow_table()
    return canonical.canonical_table(columns, table)


def _duckdb_extension(name):
    """The extension from its Python package when it is not in DuckDB's own folder."""
    import importlib.util
    from pathlib import Path

    package = importlib.util.find_spec(f"duckdb_extension_{name}")
    if package is None:
        raise ModuleNotFoundError(f"duckdb-extension-{name}")
    files = [file for root in package.submodule_search_locations for file in Path(root).rglob(f"{name}.duckdb_extension")]
    return f"'{files[0]}'" if files else name


def read_rust(metadata_location, columns, where=None):
    from datafusion import SessionContext
    from pyiceberg_core.datafusion import IcebergDataFusionTable

    context = SessionContext()
    provider = IcebergDataFusionTable(identifier=["judged", "t"], metadata_location=uri(metadata_location), 
                                      file_io_properties=stores.properties_of(metadata_location))
    context.register_table("t", provider)
    table = context.sql(f"SELECT {_sql_names(columns)} FROM t" + _sql_where(where)).to_arrow_table()
    return canonical.canonical_table(columns, table)


def read_java(metadata_location, columns, where=None):
    if where:
        raise NotImplementedError("the strict checker filters by itself")
    rows = [json.loads(line) for line in java_checker.dump_lines(metadata_location, [c.name for c in columns])]
    return canonical.canonical_rows(columns, rows)


def _sql_name(column):
    return '"' + column.replace('"', '""') + '"'


def _sql_names(columns):
    return ", ".join(_sql_name(c.name) for c in columns)


def _sql_where(where):
    if not where:
        return ""
    column, op, value = where
    if op not in OPERATORS:
        raise ValueError(f"no operator {op}")
    return f" WHERE {_sql_name(column)} {op} {_sql_literal(value)}"


def _sql_literal(value):
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, datetime.datetime):
        kind = "TIMESTAMPTZ" if value.tzinfo else "TIMESTAMP"
        return f"CAST('{value.isoformat()}' AS {kind})" if kind == "TIMESTAMP" else f"CAST('{value.isoformat()}' AS TIMESTAMP WITH TIME ZONE)"
    if isinstance(value, datetime.date):
        return f"CAST('{value.isoformat()}' AS DATE)"
    if isinstance(value, datetime.time):
        return f"CAST('{value.isoformat()}' AS TIME)"
    if isinstance(value, decimal.Decimal):
        digits = len(value.as_tuple().digits)
        scale = max(0, -value.as_tuple().exponent)
        return f"CAST('{value:f}' AS DECIMAL({max(digits, scale + 1)},{scale}))"
    if isinstance(value, float):
        return f"CAST('{value!r}' AS DOUBLE)"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, (str, uuid.UUID)):
        return "'" + str(value).replace("'", "''") + "'"
    raise TypeError(f"no SQL literal for {type(value).__name__}")


READERS = {"pyiceberg": read_pyiceberg, "duckdb": read_duckdb, "rust": read_rust, "java": read_java}
FILTERING = ("pyiceberg", "duckdb", "rust")
