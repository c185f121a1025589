"""Lets the readers of the night read what Frazil wrote, and compares row by row. Each reader has an environment of its own.

Returned for the results page: one Verdict for each reader and table. A reader that cannot start or read is a failure.
"""
import collections
import hashlib
import json
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
DEPS = pathlib.Path(os.environ.get("FRAZIL_DEPS") or ROOT / ".deps")
READ_S = 600
SHOWN = 3

# ClickHouse's arrays, maps and tuples cannot be null; and it takes a time of day for milliseconds, whatever its unit.
NO_NULL = "reads null as empty"
CHDB_NESTED = dict.fromkeys(("tags", "grid", "scores", "by_day", "place", "items"), NO_NULL)

# Which tables each reader reads, and the columns that it cannot, with the reason.
READERS = {
    "spark": {"types_without_time": {}, "buckets": {}},
    "sail": {"types": {}, "buckets": {}},
    "chdb": {"types": {**CHDB_NESTED, "clock": "reads microseconds of the day as milliseconds"}, "buckets": {"tags": NO_NULL}},
}
NAMES = {"spark": "Spark 4.1", "sail": "Sail 0.7", "chdb": "chDB 4.4 (ClickHouse)"}

Verdict = collections.namedtuple("Verdict", "reader table rows columns without fault")


def python_of(reader):
    """The reader's Python, made when its requirements have changed."""
    requirements = HERE / f"requirements_{reader}.txt"
    folder = DEPS / "nightly" / reader
    version = hashlib.sha256(requirements.read_bytes()).hexdigest()[:16] + " " + sys.version.split()[0]
    stamp = folder / ".stamp"
    if not stamp.exists() or stamp.read_text() != version:
        print(f"nightly: Python environment for {reader}", flush=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        subprocess.run([folder / "bin/pip", "install", "--quiet", "--disable-pip-version-check", "--requirement", requirements], check=True)
        stamp.write_text(version)
    return folder / "bin/python"


def spark_jars():
    """The folder with Iceberg's runtime for Spark and the driver of SQLite."""
    pom = HERE / "spark_pom.xml"
    version = hashlib.sha256(pom.read_bytes()).hexdigest()[:16]
    folder = DEPS / "nightly" / "spark_jars"
    stamp = folder / ".stamp"
    if not stamp.exists() or stamp.read_text() != version:
        subprocess.run(["mvn", "-B", "-q", "-f", pom, "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies",
                        f"-DoutputDirectory={folder}"], check=True)
        stamp.write_text(version)
    return folder


def write_tables(folder):
    subprocess.run([DEPS / "venv/bin/python", "-W", "ignore", HERE / "foreign_tables.py", folder], check=True, timeout=READ_S)
    return {table["name"]: table for table in json.loads((folder / "tables.json").read_text())}


def read_by(reader, tables, folder):
    """Runs one reader over its tables; the files with the rows it read. Raises when it cannot start."""
    jobs = []
    for name, without in READERS[reader].items():
        columns = [column for column in tables[name]["columns"] if column[0] not in without]
        jobs.append({**tables[name], "columns": columns, "rows": str(folder / f"{reader}_{name}.rows")})
    job_file = folder / f"{reader}.json"
    job_file.write_text(json.dumps(jobs))
    python = python_of(reader)
    environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "TZ": "UTC", "PYTHONWARNINGS": "ignore",
                   "PYSPARK_PYTHON": str(python), "FRAZIL_SPARK_JARS": str(spark_jars()) if reader == "spark" else ""}
    done = subprocess.run([python, HERE / f"read_{reader}.py", job_file], capture_output=True, text=True, timeout=READ_S,
                          env=environment, cwd=folder)
    if done.returncode != 0:
        raise RuntimeError(f"{reader} ended with {done.returncode}:\n{done.stderr[-3000:]}")
    return jobs


def projected(path, names):
    """The lines of a file of rows, these columns alone, sorted."""
    rows = (json.loads(line) for line in open(path))
    return sorted(json.dumps({name: row[name] for name in names}, sort_keys=True, ensure_ascii=False) for row in rows)


def compared(reader, table, job):
    names = [column[0] for column in job["columns"]]
    without = READERS[reader][table["name"]]
    error = pathlib.Path(job["rows"] + ".error")
    if error.exists():
        return Verdict(reader, table["name"], 0, len(names), without, error.read_text())
    wanted, found = projected(table["rows"], names), projected(job["rows"], names)
    fault = difference(wanted, found) if wanted != found else "" if wanted else "nothing to compare"
    return Verdict(reader, table["name"], len(found), len(names), without, fault)


def difference(wanted, found):
    missing = list((collections.Counter(wanted) - collections.Counter(found)).elements())
    excess = list((collections.Counter(found) - collections.Counter(wanted)).elements())
    by_id = {row["id"]: row for row in map(json.loads, excess)}
    columns = collections.Counter()
    for row in map(json.loads, missing):
        columns.update(name for name in row if row["id"] in by_id and row[name] != by_id[row["id"]][name])
    lines = [f"missing: {row[:600]}" for row in missing[:SHOWN]] + [f"not expected: {row[:600]}" for row in excess[:SHOWN]]
    return f"{len(missing)} missing, {len(excess)} not expected, columns that differ {dict(columns)}\n" + "\n".join(lines)


def judge_all(folder):
    tables = write_tables(folder)
    verdicts = []
    for reader in READERS:
        try:
            jobs = read_by(reader, tables, folder)
        except Exception as error:
            verdicts += [Verdict(reader, name, 0, 0, {}, str(error)) for name in READERS[reader]]
            continue
        verdicts += [compared(reader, tables[name], job) for name, job in zip(READERS[reader], jobs)]
    for verdict in verdicts:
        print(f"{verdict.reader} {verdict.table}: " + (verdict.fault or f"compared {verdict.rows} rows, {verdict.columns} columns"), flush=True)
    return verdicts


if __name__ == "__main__":
    import tempfile
    with tempfile.TemporaryDirectory(prefix="frazil-nightly-") as temporary:
        sys.exit(any(verdict.fault for verdict in judge_all(pathlib.Path(temporary))))
