#!/usr/bin/env python3
"""Prints the longest functions, files, headers and parameter lists of src/.

usage: shape.py [COUNT]   (default 12 of each)

A mirror to look into before finishing, not a gate: a long function often hides a concept
that has no name yet. Functions are found by counting braces, so a few odd ones are missed.
"""
import pathlib
import re
import statistics
import sys
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parents[1]
# Comments, raw strings, strings and characters: all that may hold braces which are no code.
NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|R"([^(\s]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'', re.DOTALL)
# The end of what stands before a function's body: parameters, then qualifiers or initializers.
HEAD = re.compile(r"([~\w:<>,]+|operator\S+)\s*\(([^;{}]*)\)\s*(?:const|noexcept|override|final|&{1,2}|\s)*(?:->\s*[\w:<>,&* ]+)?(?:\s*:\s[^;]*)?$")
NO_FUNCTION = {"if", "for", "while", "switch", "catch", "return", "sizeof", "TRY", "CHECK", "namespace"}


class Function(NamedTuple):
    lines: int
    parameters: int
    name: str
    place: str


def blank_out(match):
    return re.sub(r"[^\n]", " ", match[0])


def count_parameters(text):
    """Commas outside of brackets, plus one."""
    if not text.strip():
        return 0
    depth, count = 0, 1
    for character in text:
        depth += character in "(<[{"
        depth -= character in ")>]}"
        count += character == "," and depth == 0
    return count


def functions_of(path):
    code = NOISE.sub(blank_out, path.read_text())
    code = re.sub(r"^[ \t]*#[^\n]*", blank_out, code, flags=re.MULTILINE)
    stack, found, start = [], [], 0  # start: where the text before the next brace begins
    for position, character in enumerate(code):
        if character == "{":
            stack.append((position, opens_function(code[start:position]) if not inside_function(stack) else None))
        elif character == "}" and stack:
            opened, head = stack.pop()
            if head:
                first = code.count("\n", 0, opened) + 1
                last = code.count("\n", 0, position) + 1
                found.append(Function(last - first + 1, count_parameters(head[1]), head[0],
                                      f"{path.relative_to(ROOT)}:{first}"))
        if character in "{};":
            start = position + 1
    return found


def inside_function(stack):
    return any(head for _, head in stack)


def opens_function(text):
    """(name, parameters) when the text before a brace ends like a function's head."""
    match = HEAD.search(text.rstrip())
    if match and match[1].split("::")[-1] not in NO_FUNCTION and "=" not in text.rsplit(")", 1)[-1]:
        return match[1], match[2]
    return None


def table(title, rows):
    print(f"\n{title}")
    for number, text in rows:
        print(f"  {number:>5}  {text}")


def line_count(path):
    return path.read_text().count("\n")


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 12
    files = sorted(path for path in (ROOT / "src").rglob("*") if path.suffix in {".cc", ".h"})
    if not files:
        sys.exit("shape: src/ holds no source")
    sources = [path for path in files if path.suffix == ".cc" and not path.name.endswith("_test.cc")]
    headers = [path for path in files if path.suffix == ".h"]
    functions = [function for path in sources + headers for function in functions_of(path)]
    by_lines = sorted(functions, key=lambda f: -f.lines)[:count]
    by_parameters = sorted(functions, key=lambda f: -f.parameters)[:count]
    table("longest functions (lines)", [(f.lines, f"{f.place} {f.name}") for f in by_lines])
    for title, paths in (("longest sources", sources), ("longest headers", headers)):
        longest = sorted(paths, key=line_count, reverse=True)[:count]
        table(f"{title} (lines)", [(line_count(path), path.relative_to(ROOT)) for path in longest])
    table("longest parameter lists", [(f.parameters, f"{f.place} {f.name}") for f in by_parameters])
    if functions:
        lengths = [f.lines for f in functions]
        print(f"\n{len(functions)} functions, median {statistics.median(lengths):.0f} lines, "
              f"{sum(n > 70 for n in lengths)} over 70; {len(sources)} sources, {len(headers)} headers")


if __name__ == "__main__":
    main()
