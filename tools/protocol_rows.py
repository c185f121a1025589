#!/usr/bin/env python3
"""Holds the page of the protocol to its tests: every row names one, and every test that it names exists.

usage: protocol_rows.py [--self-test]

docs/protocol/kafka-to-iceberg.md has a row for each rule, answer, failure point and interference below. Its last cell names tests
in backquotes: `Suite.Name` (GoogleTest), `test_x.py::test_name` (pytest), `sim:NAME` (a mandatory count of the simulation) or
`mutation:NAME`. A row about something that Frazil does not do says `unsupported` there, and why. Exit 1 with every fault.
"""
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/protocol/kafka-to-iceberg.md"
ANSWERS = ["200", "not-sent", "409", "400-order", "400", "401", "403", "429-503", "unknown"]
FOREIGN = ["append", "compaction", "expiry", "orphan-removal", "roll-back", "branch-replaced", "drop", "recreate", "property-removed",
           "tag-removed", "watermark-lost", "other-branch", "schema", "spec", "rows-changed", "credential-expired"]
ROWS = ([f"R{n}" for n in range(1, 15)] + [f"answer:{name}" for name in ANSWERS] + [f"KI{n}" for n in range(1, 18)]
        + [f"KM{n}" for n in range(1, 9)] + [f"foreign:{name}" for name in FOREIGN])


def texts(folder, pattern):
    return (path.read_text(errors="replace") for path in sorted((ROOT / folder).rglob(pattern)))


def known_tests():
    """Every name that a row may give."""
    names = set()
    for folder in ("src", "tests"):
        for text in texts(folder, "*_test.cc"):
            names |= {".".join(found) for found in re.findall(r"^(?:TYPED_)?TEST(?:_[FP])?\(\s*(\w+),\s*(\w+)\)", text, re.M)}
    for path in sorted((ROOT / "tests").rglob("*test*.py")):
        names |= {f"{path.name}::{name}" for name in re.findall(r"^def (test_\w+)", path.read_text(), re.M)}
    names |= {f"mutation:{name}" for name in json.loads((ROOT / "tests/simulation/mutations.json").read_text())}
    counts = re.search(r"names\{(.*?)\};", (ROOT / "tests/simulation/tally.cc").read_text(), re.S)[1]
    return names | {f"sim:{name}" for name in re.findall(r'"([^"]+)"', counts)}


def rows_of(text):
    """From each name to its last cell; a row may begin with `name` or with a plain one and words behind it."""
    rows = {}
    for line in text.splitlines():
        found = re.match(r"\|\s*`?((?:R|KI|KM)\d+|(?:answer|foreign):[\w-]+)`?\b[^|]*\|(?:.*\|)?([^|]*)\|\s*$", line)
        if found:
            rows.setdefault(found[1], []).append(found[2])
    return rows


def is_test(word):
    return re.fullmatch(r"\w+\.\w+|\w+\.py::\w+|(?:sim|mutation):.+", word) is not None


def faults(text, tests):
    rows = rows_of(text)
    for name in ROWS:
        if len(rows.get(name, [])) != 1:
            yield f"{name} has {len(rows.get(name, []))} rows, not one"
            continue
        words = [word for word in re.findall(r"`([^`]+)`", rows[name][0]) if is_test(word)]
        if not words and "unsupported" not in rows[name][0]:
            yield f"{name} names no test"
        for word in words:
            if word not in tests:
                yield f"{name} names {word}, which does not exist"
    for name in sorted(set(rows) - set(ROWS)):
        yield f"{name} is a row that nobody asked for: is it misspelt?"


def self_test():
    """Each way to break the page must be noticed, and nothing else."""
    text, tests = PAGE.read_text(), known_tests()
    line = next(line for line in text.splitlines() if line.startswith("| KI5 "))
    cell = line.split("|")[-2]
    broken = {
        "KI5 has 0 rows, not one": text.replace(line + "\n", ""),
        "KI5 has 2 rows, not one": text.replace(line, line + "\n" + line),
        "KI5 names no test": text.replace(line, line.replace(cell, " somewhere, surely ")),
        "KI5 names Simulation.DreamsOfIt, which does not exist": text.replace(line, line.replace(cell, " `Simulation.DreamsOfIt` ")),
        "KI5 names test_halts.py::test_nothing, which does not exist": text.replace(line, line.replace(cell, " `test_halts.py::test_nothing` ")),
        "KI5 names sim:KI55, which does not exist": text.replace(line, line.replace(cell, " `sim:KI55` ")),
        "KI99 is a row that nobody asked for: is it misspelt?": text.replace(line, line + "\n" + line.replace("KI5", "KI99", 1)),
    }
    failed = [expected for expected, page in broken.items() if list(faults(page, tests)) != [expected]]
    for expected in failed:
        print(f"protocol_rows: not noticed, or not alone: {expected}", file=sys.stderr)
    return 1 if failed else 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    found = list(faults(PAGE.read_text(), known_tests()))
    for fault in found:
        print(f"{PAGE.relative_to(ROOT)}: {fault}", file=sys.stderr)
    print(f"{len(ROWS)} rows of the protocol, {len(found)} faults")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
