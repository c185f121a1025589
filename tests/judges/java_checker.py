"""Runs the strict checker (tests/checker) over iceberg-java.

Its jars and classes: tests/java_program.py.
"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS))

from java_program import JavaProgram  # noqa: E402

TIMEOUT_S = 600
CHECKER = JavaProgram("checker", TESTS / "checker", "frazil.checker.StrictChecker", ["-Xmx1g", "-Dorg.slf4j.simpleLogger.defaultLogLevel=error"])


class Verdict:
    """What the checker found in one table."""

    def __init__(self, location):
        self.location = location
        self.problems = []
        self.checked = {}

    @property
    def codes(self):
        return {problem.split(" ", 1)[0] for problem in self.problems}

    def __str__(self):
        return "\n".join([self.location, *self.problems, str(self.checked)])


def run(arguments):
    command = CHECKER.command(arguments)
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, env={**os.environ, **_store_environment(arguments)})
    if done.returncode not in (0, 1):
        raise RuntimeError(f"the checker ended with {done.returncode}: {done.stdout}{done.stderr}")
    return done


def _store_environment(arguments):
    """One store for all tables of a run."""
    stored = [str(argument) for argument in arguments if str(argument).startswith("s3://")]
    if not stored:
        return {}
    from judges import stores  # the checker alone needs none of what readers need

    return stores.store_of(stored[0]).environment


def check_tables(locations, strict_writer="frazil"):
    """One Verdict per table, in one JVM. strict_writer='off' for tables that Frazil did not write."""
    locations = [str(location) for location in locations]
    if not locations:
        raise ValueError("no table to check")
    done = run(["--strict-writer", strict_writer, *locations])
    verdicts = []
    for line in done.stdout.splitlines():
        if line.startswith("table "):
            verdicts.append(Verdict(line[len("table "):]))
        elif line.startswith("checked "):
            verdicts[-1].checked = {k: int(v) for k, v in (pair.split("=") for pair in line.split()[1:])}
        elif line:
            verdicts[-1].problems.append(line)
    is_clean = not any(verdict.problems for verdict in verdicts)
    if len(verdicts) != len(locations) or is_clean != (done.returncode == 0) or not all(v.checked for v in verdicts):
        raise RuntimeError(f"the checker broke off: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return verdicts


def expect_clean(locations, strict_writer="frazil", may_be_empty=False):
    """Fails with all problems, and for a table of which no row was read; prints and returns what was checked."""
    verdicts = check_tables(locations, strict_writer)
    bad = [str(verdict) for verdict in verdicts if verdict.problems]
    for verdict in verdicts:
        print(f"strict checker: {verdict.location} {verdict.checked}")
    if bad:
        raise AssertionError("the strict checker found:\n" + "\n".join(bad))
    empty = [verdict.location for verdict in verdicts if verdict.checked["rows"] == 0]
    if empty and not may_be_empty:
        raise AssertionError(f"the strict checker found no row in {empty}")
    return verdicts


def dump_lines(metadata_location, columns):
    """These columns of the current snapshot's rows, as iceberg-java reads them: canonical JSON lines."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "rows.jsonl"
        names = [part for column in columns for part in ("--column", column)]
        done = run(["--dump-only", "--dump", target, *names, metadata_location])
        if done.returncode != 0:
            raise RuntimeError(f"iceberg-java cannot read {metadata_location}: {done.stdout}{done.stderr}")
        return [line for line in target.read_text(encoding="utf-8").split("\n") if line]


def main(arguments):
    done = run(arguments)
    print(done.stdout, end="")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
