#!/usr/bin/env python3
"""Breaks one line of the product at a time and demands that the simulation notices.

usage: run_mutations.py BUILD_FOLDER [--seeds N] [--page] [NAME...]

Each mutation of mutations.json names a source file, one exact line in it and its replacement.
The mutated copy is compiled with the flags of the build's compile_commands.json and linked, in
front of the libraries, into a simulation of its own in BUILD_FOLDER/mutations; the sources stay
untouched. Exit 1 when a line is not found exactly once, when a copy does not compile or link, or
when N seeds do not catch a mutation.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
MUTATIONS = json.loads((pathlib.Path(__file__).parent / "mutations.json").read_text())
PAGE = ROOT / "docs/protocol/simulation.md"
SEEDS = "400"
LIMIT_SECONDS = 180


class Broken(Exception):
    """A mutation that could not be made."""


def mutated_text(mutation):
    """The source with the one line replaced. `above`, if set, is the line before it, which tells it from its like."""
    text = (ROOT / mutation["file"]).read_text()
    above = mutation["above"] + "\n" if mutation["above"] else ""
    old = "\n" + above + mutation["line"] + "\n"
    if text.count(old) != 1:
        raise Broken(f"{mutation['file']}: found {text.count(old)} times, not once: {mutation['line'].strip()}")
    return text.replace(old, "\n" + above + mutation["by"] + "\n")


def run(command, folder):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        raise Broken(f"{shlex.join(command)}\n{done.stdout}{done.stderr}")


def compile_copy(build, mutation, source):
    """Returns the object of the mutated copy."""
    original = str(ROOT / mutation["file"])
    commands = json.loads((build / "compile_commands.json").read_text())
    entry = next((entry for entry in commands if entry["file"] == original), None)
    if entry is None:
        raise Broken(f"{mutation['file']} is not in {build / 'compile_commands.json'}")
    words = shlex.split(entry["command"])
    target = source.with_suffix(".o")
    words[words.index("-o") + 1] = str(target)
    words[words.index(original)] = str(source)
    run(words, entry["directory"])
    return target


def link(build, replaced, copy, program):
    """Links the simulation as the build does, with the copy in front of everything."""
    listed = subprocess.run(["ninja", "-C", str(build), "-t", "commands", "-s", "tests/frazil_simulation"],
                            capture_output=True, text=True, check=True).stdout.strip().splitlines()
    command = next(line for line in reversed(listed) if " -o tests/frazil_simulation " in line)
    words = [word for word in shlex.split(command) if word not in (":", "&&")]
    at = words.index("-o")
    words[at + 1] = str(program)
    words.insert(at, str(copy))
    run(words, build)


def try_mutation(build, name, seeds):
    """How it was caught: the number of seeds, their seconds, and what the last one found."""
    mutation = MUTATIONS[name]
    folder = build / "mutations"
    folder.mkdir(exist_ok=True)
    source = folder / f"{name}.cc"
    source.write_text(mutated_text(mutation))
    copy = compile_copy(build, mutation, source)
    program = folder / name
    link(build, mutation["file"], copy, program)
    begun = time.monotonic()
    try:
        done = subprocess.run([str(program), "--until-caught", seeds], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
                              timeout=LIMIT_SECONDS)
    except subprocess.TimeoutExpired:
        raise Broken(f"NOT CAUGHT: still running after {LIMIT_SECONDS} s") from None
    finally:
        program.unlink()
    lines = done.stdout.strip().splitlines()
    caught = re.search(r"^caught after (\d+) seeds", done.stdout, re.M)
    if done.returncode != 0 or caught is None:
        raise Broken("NOT CAUGHT: " + (lines or [f"exit {done.returncode}"])[-1])
    first = next(line for line in lines if line.startswith("seed "))
    return int(caught[1]), time.monotonic() - begun, first


def write_page(found):
    rows = [f"| `{name}` | {MUTATIONS[name]['what']} | {seeds} | {seconds:.1f} |" for name, (seeds, seconds, _) in found.items()]
    text = PAGE.read_text()
    head = "| mutation | what is broken | seeds | seconds |\n|---|---|---|---|\n"
    begin = text.index(head) + len(head)
    end = begin + re.search(r"(?:\|.*\n)*", text[begin:]).end()
    PAGE.write_text(text[:begin] + "\n".join(rows) + "\n" + text[end:])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--seeds", default=SEEDS)
    parser.add_argument("--page", action="store_true")
    parser.add_argument("name", nargs="*", help=f"any of {', '.join(MUTATIONS)}")
    arguments = parser.parse_args()
    names, found = arguments.name or list(MUTATIONS), {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as cores:
        tries = {name: cores.submit(try_mutation, arguments.build.resolve(), name, arguments.seeds) for name in names}
        for name, tried in tries.items():
            try:
                found[name] = tried.result()
                print(f"{name}: caught after {found[name][0]} seeds, {found[name][1]:.1f} s: {found[name][2][:200]}", flush=True)
            except Broken as broken:
                print(f"{name}: {broken}", file=sys.stderr, flush=True)
    if arguments.page:
        write_page(found)
    return 0 if len(found) == len(names) else 1


if __name__ == "__main__":
    sys.exit(main())
