#!/usr/bin/env python3
"""Checks every #include under src/ and tests/ against tools/layers.txt.

usage: layers.py               check this repository, exit 1 on a violation
       layers.py --self-test   check that each kind of violation is found

Refused are: an include between folders that layers.txt does not allow, an include that
is not a full path from src/, a circle (between files, or between folders in layers.txt),
a heavy library in a header or outside its folders, threads, clocks and random numbers
outside base, and a source in a folder that layers.txt does not know.
"""
import pathlib
import re
import sys
import tempfile

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)
SUFFIXES = {".h", ".cc"}


class Rules:
    """What layers.txt says."""

    def __init__(self, text):
        self.folders = {}    # folder → folders that it may include
        self.libraries = {}  # header or prefix with a slash → folders that may include it
        self.refused = {}    # std header → folders that may include it
        self.calls = {}      # function → folders that may call it
        self.generated = set()
        for number, line in enumerate(text.splitlines(), 1):
            line = line.split("#")[0].strip()
            if line:
                self._read(number, line)

    def _read(self, number, line):
        kind, _, rest = line.partition(" ")
        # A colon with names glued to it belongs to the name (std::rand).
        parts = re.split(r":(?=\s|$)", rest, maxsplit=1)
        names, targets = parts[0].split(), set(parts[-1].split())
        if kind == "generated":
            self.generated.update(names)
            return
        tables = {"folder": self.folders, "library": self.libraries, "refused": self.refused, "calls": self.calls}
        if kind not in tables or len(parts) != 2 or not names:
            raise ValueError(f"layers.txt:{number}: cannot read: {line}")
        tables[kind].update({name: targets for name in names})

    def folder_of(self, path):
        """The folder of a path below src/, or None. The longest name wins."""
        found = [name for name in self.folders if path.startswith(name + "/")]
        return max(found, key=len, default=None)

    def library_of(self, header):
        for name in self.libraries:
            if header == name or (name.endswith("/") and header.startswith(name)):
                return name
        return None


def circle(graph):
    """Some circle of the graph as a list whose last entry is its first, or None."""
    done, path, on_path = set(), [], set()

    def visit(node):
        path.append(node)
        on_path.add(node)
        for target in sorted(graph.get(node, ())):
            if target in on_path:
                return path[path.index(target):] + [target]
            if target not in done and (found := visit(target)):
                return found
        done.add(node)
        on_path.remove(path.pop())
        return None

    for node in sorted(graph):
        if node not in done and (found := visit(node)):
            return found
    return None


class Check:
    """One walk over a tree; violations gather in `problems`."""

    def __init__(self, root, rules):
        self.root, self.rules = root, rules
        self.problems, self.graph, self.files = [], {}, 0

    def run(self):
        for top in ("src", "tests", "bench"):
            for path in sorted((self.root / top).rglob("*")):
                if path.suffix in SUFFIXES and path.is_file():
                    self.files += 1
                    self._check_file(path)
        for name, graph in (("files", self.graph), ("folders in layers.txt", self.rules.folders)):
            if found := circle(graph):
                self.problems.append(f"circle between {name}: " + " -> ".join(found))
        return self.problems

    def _check_file(self, path):
        shown = str(path.relative_to(self.root))
        inside = shown.removeprefix("src/") if shown.startswith("src/") else None
        folder = self.rules.folder_of(inside) if inside else None
        if inside and folder is None:
            self.problems.append(f"{shown}: layers.txt names no such folder")
            return
        text = path.read_text(encoding="utf-8")
        is_test = inside is None or path.name.endswith("_test.cc")
        for match in INCLUDE.finditer(text):
            where = f"{shown}:{text.count(chr(10), 0, match.start(2)) + 1}"
            if match[1] == '"':
                self._check_own(where, inside, folder, match[2])
            else:
                self._check_foreign(where, folder, match[2], path.suffix == ".h", is_test)
        self._check_calls(shown, folder, text)

    def _check_own(self, where, inside, folder, target):
        if target in self.rules.generated:
            owner = target
        elif (self.root / "src" / target).is_file():
            owner = target
            self.graph.setdefault(inside or where.rsplit(":", 1)[0], set()).add(target)
        elif (inside is None or inside.endswith("_test.cc")) and (self.root / target).is_file() and target.startswith("tests/"):
            return  # what tests share stands in tests/
        else:
            self.problems.append(f'{where}: "{target}" is no path from src/')
            return
        other = self.rules.folder_of(owner)
        if folder and other != folder and other not in self.rules.folders[folder]:
            self.problems.append(f"{where}: {folder} may not include {other}")

    def _check_foreign(self, where, folder, header, is_header, is_test):
        if header in self.rules.refused and folder not in self.rules.refused[header]:
            self.problems.append(f"{where}: <{header}> is for {', '.join(self.rules.refused[header])} alone")
        library = self.rules.library_of(header)
        if library is None:
            return
        if is_header and not is_test:
            self.problems.append(f"{where}: <{header}> is heavy and may stand in .cc files only")
        if not is_test and folder not in self.rules.libraries[library]:
            self.problems.append(f"{where}: {folder} may not include <{header}>")

    def _check_calls(self, shown, folder, text):
        code = COMMENT.sub("", text)
        for name, owners in self.rules.calls.items():
            if folder not in owners and re.search(rf"(?<![\w.>]){re.escape(name)}\s*\(", code):
                self.problems.append(f"{shown}: {name}() is for {', '.join(owners)} alone")


FIXTURE_RULES = """
folder base:
folder engine: base
folder iceberg: base
folder app: base engine iceberg
library arrow/: iceberg
refused thread chrono: base
calls usleep std::rand: base
generated app/build_version.h
"""
CLEAN = {
    "src/base/lane.h": "#include <thread>\n",
    "src/base/lane.cc": '#include "base/lane.h"\nvoid f() { usleep(1); }\n',
    "src/engine/worker.h": '#include "base/lane.h"\n// usleep(1) and std::rand() in a comment\n',
    "src/engine/worker_test.cc": '#include "engine/worker.h"\n#include "tests/simulation/world.h"\n#include <arrow/api.h>\n',
    "src/iceberg/table.cc": "#include <arrow/api.h>\n#include <vector>\n",
    "src/app/main.cc": '#include "app/build_version.h"\n#include "engine/worker.h"\n',
    "tests/simulation/world.h": '#include "engine/worker.h"\n',
    "tests/simulation/world.cc": '#include "tests/simulation/world.h"\n',
}
# Each: one file that breaks one rule, and what the check must say about it.
VIOLATIONS = [
    ("src/engine/bad.cc", '#include "iceberg/table.h"\n', "engine may not include iceberg"),
    ("src/iceberg/bad_test.cc", '#include "engine/worker.h"\n', "iceberg may not include engine"),
    ("src/base/bad.h", '#include "engine/worker.h"\n', "base may not include engine"),
    ("src/engine/bad.cc", '#include "worker.h"\n', "is no path from src/"),
    ("src/engine/bad.cc", '#include "tests/simulation/world.h"\n', "is no path from src/"),
    ("src/engine/bad.cc", '#include "app/build_version.h"\n', "engine may not include app"),
    ("src/engine/bad.h", "#  include  <thread>\n", "<thread> is for base alone"),
    ("src/engine/bad_test.cc", "#include <chrono>\n", "<chrono> is for base alone"),
    ("tests/simulation/bad.cc", "#include <thread>\n", "<thread> is for base alone"),
    ("src/engine/bad.cc", "void f() { usleep(5); }\n", "usleep() is for base alone"),
    ("src/engine/bad.cc", "int f() { return std::rand(); }\n", "std::rand() is for base alone"),
    ("src/iceberg/bad.h", "#include <arrow/type_fwd.h>\n", "is heavy and may stand in .cc files only"),
    ("src/engine/bad.cc", "#include <arrow/api.h>\n", "engine may not include <arrow/api.h>"),
    ("src/utils/bad.cc", "int x;\n", "layers.txt names no such folder"),
    ("src/engine/worker.h", '#include "engine/clock.h"\n', "circle between files"),
]


def write_tree(root, files):
    for name, text in {"src/iceberg/table.h": "", "src/engine/clock.h": '#include "engine/worker.h"\n', **files}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def problems_of(files, rules=FIXTURE_RULES):
    with tempfile.TemporaryDirectory() as folder:
        write_tree(pathlib.Path(folder), files)
        return Check(pathlib.Path(folder), Rules(rules)).run()


def self_test():
    failures = []
    if found := problems_of(CLEAN):
        failures.append(f"a clean tree gave {found}")
    for name, text, expected in VIOLATIONS:
        found = problems_of({**CLEAN, name: text})
        if not any(expected in problem for problem in found):
            failures.append(f"{name} with {text!r}: expected '{expected}', got {found}")
    if not any("circle between folders" in p for p in problems_of(CLEAN, FIXTURE_RULES + "folder base: app\n")):
        failures.append("a circle in layers.txt was not found")
    for failure in failures:
        print(f"layers self-test: {failure}", file=sys.stderr)
    print(f"layers self-test: {len(VIOLATIONS) + 2 - len(failures)} of {len(VIOLATIONS) + 2} cases well")
    return 1 if failures else 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if len(sys.argv) > 1:
        sys.exit(__doc__)
    root = pathlib.Path(__file__).resolve().parents[1]
    check = Check(root, Rules((root / "tools/layers.txt").read_text()))
    problems = check.run()
    for problem in problems:
        print(problem, file=sys.stderr)
    if check.files == 0:
        print("layers: no source found, so nothing was checked", file=sys.stderr)
        return 1
    print(f"layers: {check.files} files, {len(problems)} violations")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
