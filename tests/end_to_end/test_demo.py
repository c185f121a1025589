"""The demo as a newcomer meets it: its counts, its honesty about its Kafka, and the lines that it gives to paste."""
import json
import os
import shlex
import subprocess
import sys
import textwrap

import pytest

from judges import readers
from pipeline import compare, frazil, java_checker

RECORDS = 200_000


@pytest.fixture(scope="module")
def shell(tmp_path_factory):
    """Runs a pasted line in a shell whose `duckdb` is DuckDB's Python package and whose python3 has PyIceberg.

    The extensions lie where DuckDB looks for installed ones, so the line's INSTALL finds them without a network.
    """
    folder = tmp_path_factory.mktemp("shell")
    program = folder / "duckdb"
    extensions = {name: readers._duckdb_extension(name).strip("'") for name in ("iceberg", "avro")}
    program.write_text(textwrap.dedent(f"""\
        #!{sys.executable}
        import duckdb, os, pathlib, sys
        assert sys.argv[1] == "-c", sys.argv
        connection = duckdb.connect(config={{"allow_unsigned_extensions": "true", "extension_directory": {str(folder)!r}}})
        version, platform = (connection.execute(q).fetchone()[0] for q in ("SELECT library_version FROM pragma_version()", "PRAGMA platform"))
        home = pathlib.Path({str(folder)!r}) / version / platform
        home.mkdir(parents=True, exist_ok=True)
        for name, file in {extensions!r}.items():
            if not (home / f"{{name}}.duckdb_extension").exists():
                os.symlink(file, home / f"{{name}}.duckdb_extension")
        for statement in sys.argv[2].split(";"):
            if statement.strip().startswith("INSTALL"):
                continue
            answer = connection.execute(statement)
        print(answer.fetchall())
    """))
    program.chmod(0o755)

    def run(line):
        path = os.pathsep.join([str(folder), os.path.dirname(sys.executable), os.environ["PATH"]])
        done = subprocess.run(["bash", "-c", line], env={**os.environ, "PATH": path}, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
        return done.stdout

    return run


def run_demo(folder, *arguments):
    return frazil("demo", "--dir", folder, *arguments, seconds=120)


def test_counts_agree_and_foreign_readers_count_the_same(tmp_path, shell):
    report = json.loads(run_demo(tmp_path, "--records", RECORDS, "--bad", 0.1, "--json").expect().stdout)
    print({key: report[key] for key in ("rows", "dead_letters", "tombstones", "files", "seconds", "cpu_seconds_per_gb")})
    assert report["right"] is True and report["records_produced"] == RECORDS
    assert report["rows"] == report["rows_expected"] == report["distinct_keys"]
    assert report["rows"] + report["dead_letters"] + report["tombstones"] == RECORDS
    assert report["dead_letters"] > 0 and report["commits"] > 0 and report["file_bytes_median"] > 0
    assert 0 < report["freshness_seconds_p50"] <= report["freshness_seconds_p99"] <= report["seconds"]
    assert "mock" in report["kafka"] and "no guarantee" in report["kafka"]
    assert json.dumps([(report["rows"],)]).strip("[]") in shell(report["duckdb"])
    assert last_number(shell(report["pyiceberg"])) == report["rows"]
    for judge in ("pyiceberg", "duckdb", "rust"):
        ids = [row["id"] for row in compare.read_all(report["metadata_location"], judge, ["id"])]
        assert len(ids) == len(set(ids)) == report["rows"], judge
        print(f"{judge}: compared {len(ids)} keys")
    java_checker.expect_clean([report["metadata_location"]])


def test_the_printed_lines_work_as_they_stand(tmp_path, shell):
    folder = tmp_path / "a folder with spaces"
    outcome = run_demo(folder, "--records", 20_000).expect()
    lines = outcome.stdout.splitlines()
    (duckdb_line,) = [line for line in lines if line.startswith("duckdb ")]
    (readers_line,) = [line.strip() for line in lines if "pip install" in line]
    assert lines.index("  " + readers_line) < lines.index(duckdb_line) and "pyiceberg" in readers_line and "duckdb-cli" in readers_line
    (pyiceberg_line,) = [line for line in lines if line.startswith("python3 ")]
    (rows,) = [line.split("table")[1].split(",")[0:2] for line in lines if line.strip().startswith("rows in the table")]
    rows = int("".join(c for c in ",".join(rows) if c.isdigit()))
    assert "mock" in outcome.stdout and "proves no guarantee" in outcome.stdout
    assert last_number(shell(duckdb_line)) == last_number(shell(pyiceberg_line)) == rows > 0
    assert shlex.split(duckdb_line)[0] == "duckdb"


def test_each_demo_has_a_folder_of_its_own_and_leaves_older_ones_alone(tmp_path):
    first = json.loads(run_demo(tmp_path, "--records", 1000, "--json").expect().stdout)
    before = sorted(path for path in (tmp_path / "run-1").rglob("*"))
    second = json.loads(run_demo(tmp_path, "--records", 1000, "--json").expect().stdout)
    assert (first["folder"], second["folder"]) == (f"{tmp_path}/run-1", f"{tmp_path}/run-2")
    assert sorted((tmp_path / "run-1").rglob("*")) == before
    frazil("validate", tmp_path / "run-2" / "pipeline.yaml").expect()


def last_number(text):
    """The last whole number in a text such as `[(19803,)]`."""
    digits = "".join(c if c.isdigit() else " " for c in text.replace(",", "")).split()
    return int(digits[-1])
