#!/usr/bin/env python3
"""Runs the parts of the test, times each, and prints them against ci/budget.txt.

usage: run_tests.py [--preset release|asan|tsan] [PART...]

Parts run in the order of PARTS below; without names, all of them run. Those that spend their time waiting for servers run
beside each other, in the two rows of BESIDE; what they print goes to build/test_logs and is shown when each is done. A failed
part does not keep later parts from running, except that nothing runs after a failed set-up or build. Exit 1 when a part
failed or its program is missing. The report also goes to build/test_report.txt.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
DEPS = pathlib.Path(os.environ.get("FRAZIL_DEPS") or ROOT / ".deps")
JOBS = str(os.cpu_count() or 2)
SIMULATION_SEEDS = "5000"
DAY_SECONDS = "3600"  # of one-second commits; every night a whole day of them
# Tests of servers and networks that fail, and those that also run on each kind of lake. Every night all of them run on each.
LAKE_TESTS = ["lakes_test.py", "test_lost_replies.py", "test_kafka_outages.py", "test_tokens.py"]
# A part of the suite on each kind; the whole of it on all of them is for the nightly run.
ON_LAKES = {"rest_local": ["test_types.py", "test_program.py"],
            "rest_s3": ["test_partitions.py", "test_foreign_tables.py", "test_program.py", "test_kill9.py"],
            "seaweed": ["test_types.py", "test_partitions.py", "test_program.py", "test_foreign_tables.py", "test_kill9.py"]}
LAKE_KILLS = "10"
FAULT_TESTS = ["test_failpoints.py", "test_limits.py", "test_interference.py"]
CHAOS_MINUTES = "6"
GROUND = {"setup", "build"}  # parts without which no other can run
BESIDE = [["end_to_end", "operations"], ["lakes", "faults"]]
OUTCOMES = {0: "passed", 3: "MISSING"}  # exit codes of a part that runs in a process of its own; others: FAILED


class Missing(Exception):
    """A part of the project that the test needs is not there."""


def run(*command):
    print("+", " ".join(map(str, command)), flush=True)
    return subprocess.run(list(map(str, command)), cwd=ROOT, stdin=subprocess.DEVNULL).returncode == 0


def existing(path, hint):
    if not path.exists():
        raise Missing(f"{path.relative_to(ROOT)} is missing: {hint}")
    return path


def setup(build):
    return run("tools/setup", "--tests")


def compile_all(build):
    return run("cmake", "--preset", build.name, "-DCMAKE_MESSAGE_LOG_LEVEL=WARNING") and run("ninja", "-C", build, "-j", JOBS)


def layers(build):
    return (run("tools/layers.py", "--self-test") and run("tools/layers.py") and run("tools/protocol_rows.py", "--self-test")
            and run("tools/protocol_rows.py"))


def audit(build):
    program = existing(build / "frazil", "src/app/main.cc builds it")
    return run("tools/audit_bindings.py", program, "version")


def unit(build):
    os.environ.setdefault("TSAN_OPTIONS", f"suppressions={ROOT}/tools/sanitizers/tsan.supp")  # read by that preset's programs alone
    return run("ctest", "--test-dir", build, "--output-on-failure", "--no-tests=error", "-j", JOBS,
               "--exclude-regex", "^frazil_conformance_test$")


def conformance(build):
    program = existing(build / "tests/frazil_conformance_test", "tests/conformance builds it")
    return run(sys.executable, "tests/conformance/run_beside_servers.py", program)


def simulation(build):
    existing(build / "tests/frazil_simulation", "tests/simulation builds it")
    tests = existing(build / "tests/frazil_simulation_test", "tests/simulation builds it")
    return (run(sys.executable, "tests/simulation/run_seeds.py", build, "--seeds", SIMULATION_SEEDS)
            and run("env", f"FRAZIL_DAY_SECONDS={DAY_SECONDS}", tests, "--gtest_filter=LongDay.*"))


def mutations(build):
    existing(build / "tests/frazil_simulation", "tests/simulation builds it")
    return run(sys.executable, "tests/simulation/run_mutations.py", build)


def speed(build):
    """The hot path beside the reference path, in one run."""
    return run("ninja", "-C", build, "-j", JOBS, "frazil_decode_bench", "frazil_encode_bench") and run(sys.executable, "bench/gate", build)


def end_to_end(build):
    existing(ROOT / "tests/end_to_end", "it holds the tests on real servers")
    existing(build / "frazil", "src/app/main.cc builds it")
    return pytest("tests/end_to_end", *(f"--ignore=tests/end_to_end/{name}" for name in LAKE_TESTS + FAULT_TESTS))


def pytest(*arguments, **environment):
    os.environ.update(environment)
    return run(DEPS / "venv/bin/python", "-m", "pytest", "-q", "-ra", "--durations=10", *arguments)


def lakes(build):
    """Every kind of lake is asked, also when an earlier one failed."""
    existing(build / "frazil", "src/app/main.cc builds it")
    files = lambda names: [f"tests/end_to_end/{name}" for name in names]  # noqa: E731
    passed = [pytest("tests/proxy", *files(LAKE_TESTS), FRAZIL_LAKE="sqlite", FRAZIL_KILLS=LAKE_KILLS)]
    passed += [pytest(*files(names), FRAZIL_LAKE=kind) for kind, names in ON_LAKES.items()]
    return all(passed)


def faults(build):
    """The program that judges, then faults at named places, at the machine's limits, by other writers, and for some minutes at random."""
    existing(build / "frazil", "src/app/main.cc builds it")
    judged = pytest("tests/account", *(f"tests/end_to_end/{name}" for name in FAULT_TESTS), FRAZIL_BINARY=str(build / "frazil"))
    return run(DEPS / "venv/bin/python", "tests/soak/chaos", "--minutes", CHAOS_MINUTES) and judged


def operations(build):
    existing(build / "frazil", "src/app/main.cc builds it")
    return run("env", f"FRAZIL_BINARY={build / 'frazil'}", DEPS / "venv/bin/python", "-m", "pytest", "-q", "-ra", "--durations=10", "tests/operations")


PARTS = {
    "setup": setup,
    "build": compile_all,
    "layers": layers,
    "audit": audit,
    "unit": unit,
    "conformance": conformance,
    "simulation": simulation,
    "mutations": mutations,
    "speed": speed,
    "end_to_end": end_to_end,
    "operations": operations,
    "lakes": lakes,
    "faults": faults,
}


def read_budget():
    lines = (ROOT / "ci/budget.txt").read_text().splitlines()
    fields = [line.split() for line in lines if line.strip() and not line.startswith("#")]
    return {name: float(minutes) for name, minutes in fields}


def run_part(name, build):
    """Returns what became of the part, and its minutes."""
    print(f"\n=== {name}", flush=True)
    start = time.monotonic()
    try:
        outcome = "passed" if PARTS[name](build) else "FAILED"
    except Missing as missing:
        print(f"{name}: {missing}", file=sys.stderr)
        outcome = "MISSING"
    return outcome, (time.monotonic() - start) / 60


def run_apart(name, build, results):
    """The part in a process of its own."""
    log = ROOT / "build/test_logs" / f"{name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    print(f"\n=== {name}: begun, its output is in {log.relative_to(ROOT)}", flush=True)
    start = time.monotonic()
    with open(log, "w") as output:
        done = subprocess.run([sys.executable, __file__, "--preset", build.name, "--apart", name], cwd=ROOT, stdin=subprocess.DEVNULL,
                              stdout=output, stderr=subprocess.STDOUT)
    results[name] = (OUTCOMES.get(done.returncode, "FAILED"), (time.monotonic() - start) / 60)
    print(log.read_text(errors="replace") + f"=== {name}: {results[name][0]}", flush=True)


def run_beside(wanted, build, results):
    """The rows of BESIDE at once, each in its order."""
    rows = [[name for name in row if name in wanted] for row in BESIDE]
    threads = [threading.Thread(target=lambda names=row: [run_apart(name, build, results) for name in names]) for row in rows if row]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def report(results, budget, total):
    rows = [f"{'part':<12} {'minutes':>8} {'budget':>8}  outcome"]
    for name, (outcome, minutes) in results.items():
        late = "  over budget" if minutes > budget.get(name, float("inf")) else ""
        rows.append(f"{name:<12} {minutes:>8.2f} {budget.get(name, 0):>8.0f}  {outcome}{late}")
    late = "  over budget" if total > budget["total"] else ""
    rows.append(f"{'by the clock':<12} {total:>8.2f} {budget['total']:>8.0f}{late}")
    return "\n".join(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--preset", default="release", choices=["dev", "release", "asan", "tsan"])
    parser.add_argument("--apart", action="store_true", help="one part, which another process of this program has asked for")
    parser.add_argument("part", nargs="*", help=f"any of {', '.join(PARTS)}")
    arguments = parser.parse_args()
    unknown = [part for part in arguments.part if part not in PARTS]
    if unknown:
        parser.error(f"unknown part {unknown[0]}")
    build = ROOT / "build" / arguments.preset
    wanted = [name for name in PARTS if name in arguments.part or not arguments.part]
    if arguments.apart:
        (outcome, _), = [run_part(name, build) for name in wanted]
        return next((code for code, text in OUTCOMES.items() if text == outcome), 1)
    results, begun = {}, time.monotonic()
    waiting = {name for row in BESIDE for name in row}
    for name in [name for name in wanted if name not in waiting]:
        results[name] = run_part(name, build)
        if results[name][0] != "passed" and name in GROUND:
            break
    else:
        run_beside(wanted, build, results)
    text = report(results, read_budget(), (time.monotonic() - begun) / 60)
    print("\n" + text)
    (ROOT / "build").mkdir(exist_ok=True)
    (ROOT / "build/test_report.txt").write_text(text + "\n")
    done = len(results) == len(wanted) and all(outcome == "passed" for outcome, _ in results.values())
    return 0 if done else 1


if __name__ == "__main__":
    sys.exit(main())
