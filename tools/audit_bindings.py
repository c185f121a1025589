#!/usr/bin/env python3
"""Checks that the private Arrow libraries and the system's libraries leave each other alone.

usage: audit_bindings.py PROGRAM [ARGUMENT...]

Runs PROGRAM with all symbols bound at start and reads from the dynamic linker which
library each symbol came from. Refused are:
  - a library or program that takes a symbol from an Arrow library which is no Arrow or
    Parquet name (that would be the OpenSSL or Thrift that is linked into it);
  - a private Arrow library that takes a symbol from anything but its siblings, the C and
    C++ runtime and the sanitizers.
Then the same program runs on the unmodified libraries, where the check must find
something: else it could not fail.
"""
import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
DEPS = pathlib.Path(os.environ.get("FRAZIL_DEPS") or ROOT / ".deps")
BINDING = re.compile(r"binding file (\S+) \[\d+\] to (\S+) \[\d+\]: normal symbol `([^']+)'")
ARROW_NAME = re.compile(r"5arrow|7parquet|^arrow|^parquet|Arrow")
ARROW_LIBRARY = re.compile(r"^lib(arrow|parquet)")
RUNTIME = re.compile(r"^(ld-linux|lib(c|m|dl|rt|pthread|gcc_s|stdc\+\+|asan|ubsan|tsan)\.so)")
# Instances of std templates: every C++ library may hold a copy, and the first one serves all.
STD_TEMPLATE = re.compile(r"^_Z(N[KVRO]*St|NK?9__gnu_cxx|St|T[VIS]St|GVNSt)")


def bindings(command, library_path):
    """All (from, to, symbol) of a run of `command`."""
    environment = {**os.environ, "LD_DEBUG": "bindings", "LD_BIND_NOW": "1"}
    environment.pop("LD_LIBRARY_PATH", None)
    if library_path:
        environment["LD_LIBRARY_PATH"] = str(library_path)
    with tempfile.TemporaryDirectory() as folder:
        environment["LD_DEBUG_OUTPUT"] = folder + "/bindings"
        done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            sys.exit(f"audit: {' '.join(command)} ended with {done.returncode}: {done.stderr[-2000:]}")
        found = []
        for file in pathlib.Path(folder).iterdir():
            found += BINDING.findall(file.read_text(errors="replace"))
    return found


def is_refused(source, target, symbol, program):
    """Whether one binding crosses the border between Arrow and the rest."""
    source_name, target_name = os.path.basename(source), os.path.basename(target)
    from_arrow, to_arrow = bool(ARROW_LIBRARY.match(source_name)), bool(ARROW_LIBRARY.match(target_name))
    if from_arrow == to_arrow:
        return False
    if to_arrow:
        is_ours = os.path.realpath(source) == program
        return not (is_ours and ARROW_NAME.search(symbol))
    if not is_private(source) or RUNTIME.match(target_name):
        return False
    # The linker lets the program serve the std templates that both instantiate.
    return not (os.path.realpath(target) == program and (STD_TEMPLATE.match(symbol) or ARROW_NAME.search(symbol)))


def is_private(library):
    """Whether this is a copy of ours and not a library of the system."""
    return not os.path.realpath(library).startswith(("/usr/lib", "/lib"))


def audit(command, library_path=None):
    """Returns the number of bindings that touch Arrow, and those refused."""
    program = os.path.realpath(command[0])
    # The dynamic linker names the program as it was called.
    found = [(os.path.abspath(a), os.path.abspath(b), symbol) for a, b, symbol in bindings(command, library_path)]
    touching = [b for b in found if any(ARROW_LIBRARY.match(os.path.basename(side)) for side in b[:2])]
    return len(touching), [b for b in touching if is_refused(*b, program)]


def show(refused):
    pairs = collections.defaultdict(list)
    for source, target, symbol in refused:
        pairs[os.path.basename(source), os.path.basename(target)].append(symbol)
    for (source, target), symbols in sorted(pairs.items(), key=lambda item: -len(item[1]))[:20]:
        print(f"audit: {source} binds {len(symbols)} symbols of {target}, as {' '.join(symbols[:4])}", file=sys.stderr)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    command = sys.argv[1:]
    examined, refused = audit(command)
    show(refused)
    print(f"audit: {examined} bindings with Arrow libraries examined, {len(refused)} refused")
    if examined == 0:
        sys.exit("audit: no binding touched an Arrow library, so nothing was checked")
    unmodified = DEPS / "arrow/unmodified"
    if unmodified.is_dir():
        control_examined, control_refused = audit(command, unmodified)
        print(f"audit: control with unmodified libraries: {control_examined} examined, {len(control_refused)} refused")
        if not control_refused:
            sys.exit("audit: the control found nothing, so the audit itself is broken")
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
