"""What the benchmarks share: the program under measurement, records, settings of bench/orders.yaml, pages with figures."""
import json
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
DEPS = pathlib.Path(os.environ.get("FRAZIL_DEPS") or ROOT / ".deps")
BINARY = pathlib.Path(os.environ.get("FRAZIL_BINARY") or ROOT / "build/release/frazil")
PIPELINE = ROOT / "bench/orders.yaml"
PARTITIONS = 8
RECORD_BYTES = 1040   # about, of the generator's
ALL_CORES = os.sched_getaffinity(0)


def ensure_ready():
    """The program built, Kafka's jars and the Python packages there; then runs in the tests' Python."""
    if not (DEPS / "kafka").is_dir() or not (DEPS / "venv/bin/python").exists():
        subprocess.run([ROOT / "tools/setup", "--tests"], check=True)
    if "FRAZIL_BINARY" not in os.environ:
        subprocess.run(["cmake", "--preset", "release", "-DCMAKE_MESSAGE_LOG_LEVEL=WARNING"], cwd=ROOT, check=True)
        subprocess.run(["ninja", "-C", ROOT / "build/release", "frazil"], check=True)
    python = DEPS / "venv/bin/python"
    if pathlib.Path(sys.prefix) != DEPS / "venv":
        os.execve(python, [python, *sys.argv], {**os.environ, "FRAZIL_BINARY": str(BINARY)})


def run(arguments, cores, env=None):
    """stdout, seconds, CPU-seconds and peak memory in MB of the program on these cores."""
    begun = time.monotonic()
    process = subprocess.Popen([BINARY, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                               env={**os.environ, **(env or {})}, preexec_fn=lambda: os.sched_setaffinity(0, cores))
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"frazil {' '.join(map(str, arguments))} ended with {process.returncode}\n{output}")
    return {"stdout": output, "seconds": time.monotonic() - begun, "cpu_seconds": usage.ru_utime + usage.ru_stime,
            "peak_mb": usage.ru_maxrss / 1000}


def fill(kafka, topic, records, *more):
    measured = run(["generate", "--bootstrap-servers", kafka.bootstrap_servers, "--topic", topic, "--records", records,
                    "--partitions", PARTITIONS, "--codec", "lz4", "--json", *more], ALL_CORES)
    return json.loads(measured["stdout"]) | {"cpu_seconds": measured["cpu_seconds"]}


def settings(kafka, topic, folder, store=None):
    """`store`: an S3 server that holds the table; else this disk does."""
    found = {"BENCH_TOPIC": topic, "BENCH_BOOTSTRAP_SERVERS": kafka.bootstrap_servers, "BENCH_FOLDER": str(folder)}
    if store is None:
        return found | {"BENCH_WAREHOUSE": f"{folder}/warehouse", "BENCH_S3_ENDPOINT": "http://127.0.0.1:1",
                        "BENCH_S3_ACCESS_KEY": "none", "BENCH_S3_SECRET_KEY": "none"}
    return found | {"BENCH_WAREHOUSE": f"s3://{store.buckets[0]}/{folder.name}", "BENCH_S3_ENDPOINT": store.endpoint,
                    "BENCH_S3_ACCESS_KEY": store.access_key, "BENCH_S3_SECRET_KEY": store.secret_key}


def summary_of(stdout):
    (summary,) = [event for event in map(json.loads, stdout.splitlines()) if event["event"] == "summary"]
    return summary


def machine():
    model = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    memory = re.search(r"MemTotal:\s*(\d+)", pathlib.Path("/proc/meminfo").read_text())
    return f"{model.group(1) if model else 'unknown processor'}, {len(ALL_CORES)} cores, {int(memory.group(1)) / 1e6:.0f} GB, load before {os.getloadavg()[0]:.1f}"


def version():
    """Of the program that is measured, with its commit."""
    return subprocess.run([BINARY, "version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]


def write_between_marks(page, program, text):
    """Replaces what `program` has written into the page before."""
    begin, end = f"<!-- written by {program}: begin -->\n", f"<!-- written by {program}: end -->\n"
    before, rest = page.read_text().split(begin)
    _, after = rest.split(end)
    page.write_text(before + begin + text + end + after)
