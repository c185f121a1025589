#!/usr/bin/env python3
"""Runs seeds of the simulation on all cores, and prints how often each thing happened.

usage: run_seeds.py BUILD_FOLDER [--seeds N] [--first S] [--minutes M]

First come the seeds of seeds.txt that were found in the scenarios of today. Without --first, the others begin with the day's date
(2026-11-30: 202611300000). With --minutes, no slice begins later than that. Exit 1 when a seed found a problem, when a mandatory
count is zero, or when a process broke off.
"""
import argparse
import collections
import concurrent.futures
import datetime
import os
import pathlib
import re
import subprocess
import sys
import time

SLICE = 125  # seeds of one process
LISTED = pathlib.Path(__file__).with_name("seeds.txt")


def listed_seeds(version):
    """Lines are: version, seed, what it found."""
    lines = [line.split(maxsplit=2) for line in LISTED.read_text().splitlines() if line.strip() and not line.startswith("#")]
    return [int(seed) for found_in, seed, _ in lines if int(found_in) == version]


class Run:
    def __init__(self, program):
        self.program = program
        self.counts = collections.Counter()
        self.problems = []
        self.seeds = self.virtual_s = self.twice = 0

    def take(self, output, code):
        total = re.search(r"(\d+) seeds, (\d+) virtual seconds, (\d+) run twice", output)
        for count, name in re.findall(r"^ *(\d+)  (\S.*)$", output, re.M):
            self.counts[name] += int(count)
        self.problems += re.findall(r"^(?:seed \d+: .*|simulation: .*)$", output, re.M)
        if total:
            self.seeds, self.virtual_s, self.twice = self.seeds + int(total[1]), self.virtual_s + int(total[2]), self.twice + int(total[3])
        if not total or (code != 0 and not self.problems):
            self.problems.append(f"a process ended with {code}: {output[-500:]}")

    def play(self, *arguments):
        done = subprocess.run([self.program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        return done.stdout, done.returncode


def play_all(run, tasks, end):
    """Slices go to whichever core is free, until the time is over."""
    def play(arguments):
        return None if time.monotonic() >= end else run.play(*arguments)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as cores:
        for played in cores.map(play, tasks):
            if played is not None:
                run.take(*played)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--seeds", type=int, default=5000)
    parser.add_argument("--first", type=int, default=int(f"{datetime.date.today():%Y%m%d}0000"))
    parser.add_argument("--minutes", type=float, default=float("inf"))
    arguments = parser.parse_args()
    run, begun = Run(arguments.build.resolve() / "tests/frazil_simulation"), time.monotonic()
    version, *mandatory = run.play("--names")[0].splitlines()
    listed = listed_seeds(int(version.split()[1]))
    starts = range(arguments.first, arguments.first + arguments.seeds, SLICE)
    slices = [("--slice", str(min(SLICE, arguments.first + arguments.seeds - start)), "--first", str(start)) for start in starts]
    play_all(run, [("--seed", str(seed)) for seed in listed] + slices, begun + arguments.minutes * 60)
    for name, count in sorted(run.counts.items()):
        print(f"{count:>10}  {name}")
    run.problems += [f"{name}: it never happened, so the seeds prove nothing about it" for name in mandatory if run.counts[name] == 0]
    for problem in run.problems:
        print(problem)
    print(f"{run.seeds} seeds ({len(listed)} that once failed, then from {arguments.first} on), {run.virtual_s} virtual seconds, {run.twice} run twice "
          f"with the same hash, {len(run.problems)} problems, {time.monotonic() - begun:.0f} s")
    return 1 if run.problems or run.seeds == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
