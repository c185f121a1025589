"""A pipeline whose table lies in Google Cloud Storage, beside its emulator: ended three times by kill -9, run to its end, and counted by pyarrow.

    fake_gcs.py run .deps/venv/bin/python tests/nightly/gcs_pipeline.py     ends with 0 and one line, or with what is wrong
"""
import io
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

import pyarrow.parquet

ENDPOINT = os.environ["FRAZIL_GCS_ENDPOINT"]
BUCKET = os.environ["FRAZIL_GCS_BUCKET"]
RECORDS = 60_000
KILLS = 3
RUN_SECONDS = 300


def get(path):
    with urllib.request.urlopen(ENDPOINT + path, timeout=30) as answer:
        return answer.read()


def pipeline_file(folder):
    """JSON is YAML."""
    store = {"gcs.no-auth": "true", "gcs.service.host": ENDPOINT}
    catalog = {"type": "sqlite", "uri": str(folder / "catalog.db"), "warehouse": f"gs://{BUCKET}/ware house", "properties": store}
    file = folder / "pipeline.yaml"
    file.write_text(json.dumps({"name": "made-up", "source": {"generator": {"splits": 3, "records": RECORDS}}, "commit": {"interval": "200ms"},
                                "http": {"listen": "off"}, "table": {"name": "shop.made_up", "catalog": catalog, "create": {}}}))
    return file


def start(file):
    return subprocess.Popen([os.environ["FRAZIL_BINARY"], "run", file, "--json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


def kill_while_it_commits(file):
    """True when it was killed before its end."""
    process = start(file)
    for line in process.stdout:
        if json.loads(line)["event"] == "commit":
            break
    # A random moment of the work on the next commits.
    time.sleep(random.uniform(0, 0.5))
    was_alive = process.poll() is None
    process.kill()
    process.wait()
    return was_alive


def data_files(file):
    shown = subprocess.run([os.environ["FRAZIL_BINARY"], "inspect", file, "--json"], capture_output=True, text=True, check=True)
    return [found["path"] for found in json.loads(shown.stdout)["files"]]


def ids_of(locations):
    ids = []
    for location in locations:
        name = urllib.parse.quote(location.removeprefix(f"gs://{BUCKET}/"), safe="")
        ids += pyarrow.parquet.read_table(io.BytesIO(get(f"/storage/v1/b/{BUCKET}/o/{name}?alt=media")), columns=["id"])["id"].to_pylist()
    return ids


def main():
    with tempfile.TemporaryDirectory(prefix="frazil-gcs-") as name:
        file = pipeline_file(pathlib.Path(name))
        killed = sum(kill_while_it_commits(file) for _ in range(KILLS))
        last = start(file)
        last.communicate(timeout=RUN_SECONDS)
        ids = ids_of(data_files(file))
    verdict = f"{len(ids)} rows, {len(set(ids))} of them distinct, of {RECORDS} after {killed} kills"
    print(verdict)
    return 0 if last.returncode == 0 and killed > 0 and len(ids) == len(set(ids)) == RECORDS else verdict


if __name__ == "__main__":
    sys.exit(main())
