"""Counts of a run with faults, what must not be zero, and the page of figures (docs/guarantees.md)."""
import collections
import datetime
import os
import pathlib
import platform
import re
import statistics
import subprocess

from faults import OUTAGES
from kill_harness import PHASES
from pipeline import BINARY

ROOT = pathlib.Path(__file__).resolve().parents[2]


def percentiles(values):
    """p50 and p99 as text; the p99 of few values is their largest."""
    if not values:
        return "not measured"
    ordered = sorted(values)
    return f"p50 {statistics.median(ordered):.2f} s, p99 {ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))]:.2f} s, of {len(ordered)}"


class Tally:
    def __init__(self, seed):
        self.seed, self.stage = seed, ""
        self.begun = datetime.datetime.now(datetime.timezone.utc)
        self.phases = dict.fromkeys(PHASES, 0)
        self.kills = collections.Counter()        # by number of workers
        self.between_epochs = 0
        self.kills_while_starting = 0
        self.requests = collections.Counter()     # of a killed process, to which no answer was known: landed, not landed
        self.zombies = 0
        self.faults = collections.Counter()       # by name
        self.replies = collections.Counter()      # replies that met a fault, by kind
        self.combinations = 0
        self.heals = {}                           # fault → seconds
        self.first_commits = []
        self.found = collections.Counter()        # rows, letters, records, orphans, lost batches
        self.rounds = 0
        self.bounds = {}

    def killed(self, phase, landed, workers):
        if phase is None:
            self.between_epochs += 1
        else:
            self.phases[phase] += 1
            self.kills[workers] += 1
        if landed is not None:
            self.requests["landed" if landed else "not landed"] += 1

    def begin(self, together):
        self.combinations += len(together) > 1
        for fault in together:
            self.faults[fault.name] += 1

    def healed(self, name, seconds):
        self.heals.setdefault(name, []).append(seconds)

    def judged(self, round_, text):
        """A round of which check.py found no fault."""
        self.rounds += 1
        self.first_commits += round_.first_commits
        rows, letters, records = map(int, re.search(r"I1 complete +(\d+) rows and (\d+) dead letters of (\d+) records", text).groups())
        orphans, lost, again = map(int, re.search(r"I8 waste +(\d+) orphans of (\d+) lost batches and (\d+) files", text).groups())
        self.found.update(rows=rows, letters=letters, records=records, orphans=orphans, lost=lost, again=again)
        self.found["stale"] += round_.dropped
        for sample in round_.samples:
            for name, value in sample.items():
                self.bounds[name] = max(self.bounds.get(name, 0), value)

    def lacks_landed_commits(self):
        return not self.requests["landed"] or not all(self.phases.values())

    def missing_faults(self):
        return [fault.name for fault in OUTAGES if not self.faults[fault.name] or ("replies" in fault.name and not self.replies[fault.name])]

    # --- the end --------------------------------------------------------------------------------

    def faults_of_the_run(self, stages):
        """A count of zero shows nothing."""
        faults = [f"no kill in phase {phase}" for phase, n in self.phases.items() if n == 0 and {"kills", "kills_of_three"} & set(stages)]
        if "kills" in stages and not self.requests["landed"]:
            faults.append("no commit landed unanswered")
        if "kills_of_three" in stages and not self.kills[3]:
            faults.append("no kill of one in three")
        if "outages" in stages:
            faults += [f"never happened: {name}" for name in self.missing_faults()]
        return faults + ["no round was judged"] * (not self.rounds)

    def lines(self):
        killed = sum(self.kills.values())
        minutes = (datetime.datetime.now(datetime.timezone.utc) - self.begun).total_seconds() / 60
        yield "records", (f"{self.found['records']} produced, {self.found['rows']} rows and {self.found['letters']} dead letters compared one by one in "
                          f"{self.rounds} tables: 0 lost, 0 doubled, 0 altered")
        yield "kill -9", (f"{killed} in an open epoch ({self.kills[1]} of one worker, {self.kills[3]} of one in three), by phase: " +
                          ", ".join(f"{phase} {n}" for phase, n in self.phases.items()) +
                          f"; {self.between_epochs} more between epochs, {self.kills_while_starting} of a process that had hardly begun")
        yield "commits without an answer", (f"{sum(self.requests.values())} processes died with a request under way: {self.requests['landed']} had landed, "
                                            f"{self.requests['not landed']} had not; the next process decided by the table")
        if self.faults:
            yield "outages", f"{sum(self.faults.values())}, {self.combinations} times three at once: " + ", ".join(f"{n} × {name}" for name, n in self.faults.items())
            yield "replies that met a fault", ", ".join(f"{n} × {name}" for name, n in self.replies.items())
            yield "zombies", f"{self.zombies} pauses beyond the session time-out of 6 s; {self.found['stale']} stale epochs were dropped, none was accepted"
        yield "orphans", (f"{self.found['orphans']} data files that no table names, of {self.found['lost']} batches that were lost and "
                          f"{self.found['again']} files of dead letters that were written again")
        yield "restart to first commit", percentiles(self.first_commits)
        for name, seconds in self.heals.items():
            yield f"to lag zero after {name}", percentiles(seconds)
        if self.bounds:
            yield "bounds", (f"at most {self.bounds['rss_mb']:.0f} MB resident, {self.bounds['open_files']} descriptors, "
                             f"{self.bounds['threads']} threads in one process")
        yield "time", f"{minutes:.0f} minutes, seed {self.seed}"

    def text(self, faults):
        return "\n".join([f"{name:<34} {text}" for name, text in self.lines()] + [f"FAULT {fault}" for fault in faults])

    def write_page(self, page, stages, faults, command):
        """Puts the figures between the marks of the page, in place of those of earlier runs of these stages; what stands around them is written by people."""
        begin, end = "<!-- figures: written by tests/soak/chaos -->\n", "<!-- end of figures -->"
        before, rest = page.read_text().split(begin)
        written, after = rest.split(end)
        rows = [f"| {name} | {text} |" for name, text in self.lines()] + [f"| FAULT | {fault} |" for fault in faults]
        told = [f"- Date: {self.begun:%Y-%m-%d %H:%M} UTC", f"- Commit: {commit()}; the program says: {version()}",
                f"- Command: `tests/soak/chaos {' '.join(command[1:])}`",
                f"- Machine: {platform.machine()}, {os.cpu_count()} cores, Linux {platform.release()}; broker, catalog, store and workers share it"]
        mine = "\n".join([f"### {', '.join(stages)}", "", *told, "", "| figure | found |", "|---|---|", *rows, "", ""])
        page.write_text(before + begin + "\n" + "".join(sections_but(written, stages)) + mine + end + after)


def sections_but(written, stages):
    """Sections of runs that had other stages too."""
    sections = re.split(r"^(?=### )", written, flags=re.M)[1:]
    return [section for section in sections if not set(section.splitlines()[0].removeprefix("### ").split(", ")) <= set(stages)]


def commit():
    return subprocess.run(["git", "rev-parse", "--short=12", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout.strip() or "unknown"


def version():
    return subprocess.run([BINARY, "version"], capture_output=True, text=True).stdout.strip()
