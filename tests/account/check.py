#!/usr/bin/env python3
"""Holds tables to the history of a run: exactly once, or a list of what is wrong. Exit 1 then.

    tests/account/check.py HISTORY.jsonl

Reads through PyIceberg and from the files themselves; no code of the product takes part.

I1 complete   every acknowledged record is a row or a dead letter
I2 unique     none is there twice, and nothing that was not produced; one of unknown fate at most once
I3 intact     each has its content; the crc in a row is that of its text
I4 chain      ranges touch along the ancestors, positions never go back, tag and property name the newest; owed entries once, in order
I6 metadata   every named file is there with the size and rows that manifests tell, no path twice, totals add up
I7 removal    no data file that was there once is gone
I8 waste      orphans are files of batches that were lost, or of dead letters whose epoch got another number
I9 live       after each fault the lag was zero within a minute
I10 bounds    memory and descriptors stay below their limits
I12 halts     what had to halt did, with its code, and left the table as it was
"""
import pathlib
import sys

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), str(TESTS / "end_to_end")]

from account import chain, files, history  # noqa: E402
from exactly_once import faults_of, letters_of, rows_of  # noqa: E402
from judges import canonical, stores  # noqa: E402

HEALS_WITHIN_S = 60
LIMITS = {"rss_mb": 2048, "open_files": 400, "threads": 200}


class Verdict:
    """invariant → what was looked at, and what is wrong."""

    def __init__(self):
        self.looked_at, self.faults = {}, {}

    def add(self, name, looked_at, faults=()):
        self.looked_at[name] = looked_at
        self.faults.setdefault(name, []).extend(faults)

    @property
    def all_faults(self):
        return [f"{name}: {fault}" for name, faults in self.faults.items() for fault in faults]

    def text(self):
        lines = [f"{name:<14} {self.looked_at[name]}: {len(faults) or 'no'} faults" for name, faults in self.faults.items()]
        return "\n".join(lines + [f"FAULT {fault}" for fault in self.all_faults[:50]])


def check(path):
    entries = history.read(path)
    (table,) = entries["table"]
    for prefix, store in table.get("stores", {}).items():
        stores.register(prefix, stores.Store(**store))
    verdict = Verdict()
    check_records(verdict, entries, table)
    check_tables(verdict, entries, table)
    check_behaviour(verdict, entries)
    return verdict


# --- records --------------------------------------------------------------------------------------


def check_records(verdict, entries, table):
    good = {(e["p"], e["o"]): (e["id"], e["crc"]) for e in entries.get("produced", []) if not e["bad"]}
    bad = {(e["p"], e["o"]): e["crc"] for e in entries.get("produced", []) if e["bad"]}
    try:
        rows = rows_of(table["rows"], "pyiceberg")
        letters = letters_of(table["letters"], "pyiceberg") if table.get("letters") else []
    except OSError as error:
        return verdict.add("I1 complete", "nothing", [f"the rows cannot be read: {error}"])
    unknown = entries.get("unknown", [])
    rows, doubled = without_unknown(rows, good, {(e["id"], e["crc"]) for e in unknown if not e["bad"]})
    letters, doubled_letters = without_unknown(letters, bad, {e["crc"] for e in unknown if e["bad"]})
    found = faults_of(good, rows) + [f"dead letters: {fault}" for fault in faults_of(bad, letters)]
    sorts = {"I1 complete": [], "I2 unique": doubled + doubled_letters, "I3 intact": []}
    for fault in found:
        plain = fault.removeprefix("dead letters: ")
        sorts["I1 complete" if plain.startswith("missing") else "I3 intact" if plain.startswith("altered") else "I2 unique"].append(fault)
    if not good:
        sorts["I1 complete"].append("nothing was produced: nothing is shown")
    for name, faults in sorts.items():
        verdict.add(name, f"{len(rows)} rows and {len(letters)} dead letters of {len(good) + len(bad)} records", faults)


def without_unknown(found, produced, unknown):
    """Takes out what nobody acknowledged and may be there once; what is there more often is a fault."""
    kept, seen, faults = [], set(), []
    for place, content in found:
        if place in produced or content not in unknown:
            kept.append((place, content))
        elif content in seen:
            faults.append(f"2 times, of unknown fate: partition {place[0]} offset {place[1]}")
        seen.add(content)
    return kept, faults


# --- tables ---------------------------------------------------------------------------------------


def check_tables(verdict, entries, table):
    anchor = canonical.load_metadata(table["rows"])
    letters = canonical.load_metadata(table["letters"]) if table.get("letters") else None
    ends = {int(p): end for p, end in table["ends"].items()}
    links, faults = chain.faults_of_chain(anchor, table["pipeline"], table["topic"], ends)
    applied, owed_faults = chain.faults_of_outbox(letters, anchor, table["pipeline"])
    verdict.add("I4 chain", f"{links} snapshots, {applied} entries of the outbox", faults + owed_faults)
    there = stores.files_below(table["warehouse"])
    both = [files.Files(metadata, there) for metadata in (anchor, letters) if metadata]
    counts, found = zip(*(files.faults_of_metadata(one) for one in both))
    verdict.add("I6 metadata", f"{sum(counts)} files are named", [fault for faults in found for fault in faults])
    seen = {path for entry in entries.get("seen", []) for path in entry["files"]}
    count, faults = files.faults_of_removal(seen, there)
    verdict.add("I7 removal", f"{count} data files were seen on the way", faults)
    lost = sum(entry["lost"] for entry in entries.get("batch", []))
    per_batch = max([entry.get("files", 0) for entry in entries.get("batch", [])] + [files.files_of_a_batch(anchor) + 1])
    again = sum(entry.get("letters", 0) for entry in entries.get("batch", []))
    count, faults = files.faults_of_waste(both, there, lost * per_batch + again)
    verdict.add("I8 waste", f"{count} orphans of {lost} lost batches and {again} files of dead letters written again", faults)


# --- behaviour ------------------------------------------------------------------------------------


def check_behaviour(verdict, entries):
    heals = entries.get("healed", [])
    verdict.add("I9 live", f"{len(heals)} faults healed", [f"lag was not zero within {HEALS_WITHIN_S} s after {heal['fault']}: {heal['seconds']:.1f} s"
                                                         for heal in heals if heal["seconds"] > HEALS_WITHIN_S])
    samples = entries.get("sample", [])
    verdict.add("I10 bounds", f"{len(samples)} samples", [f"{name} {sample[name]} is above {limit}" for sample in samples
                                                        for name, limit in LIMITS.items() if sample[name] > limit][:10])
    halts = entries.get("halt", [])
    faults = [f"{halt['expected']} was due, it ended with {halt['exit']} and {halt['code']}" for halt in halts
              if halt["code"] != halt["expected"] or halt["exit"] != 1]
    faults += [f"{halt['expected']} changed the table" for halt in halts if halt["before"] != halt["after"]]
    verdict.add("I12 halts", f"{len(halts)} halts", faults)


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    verdict = check(sys.argv[1])
    print(verdict.text())
    return 1 if verdict.all_faults else 0


if __name__ == "__main__":
    sys.exit(main())
