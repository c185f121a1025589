"""fake-gcs-server on loopback, for the long tests: an emulator of Google Cloud Storage's JSON API, with its files in memory.

    fake_gcs.py build             builds the program with Go (some minutes, once) into .deps/nightly
    fake_gcs.py run COMMAND...    runs COMMAND with FRAZIL_GCS_ENDPOINT and FRAZIL_GCS_BUCKET in its environment; ends the
                                  server and exits as COMMAND did

It asks for no credentials, takes wrong checksums, and forgets the preconditions of resumable uploads; for those there is a
fake of ours (tests/conformance/scripted_gcs.h). FRAZIL_FAKE_GCS names a program that was built elsewhere.
"""
import http.client
import json
import os
import pathlib
import socket
import subprocess
import sys
import time

MODULE = "github.com/fsouza/fake-gcs-server@v1.56.1"
ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = pathlib.Path(os.environ.get("FRAZIL_DEPS") or ROOT / ".deps") / "nightly"
PROGRAM = pathlib.Path(os.environ.get("FRAZIL_FAKE_GCS") or FOLDER / "fake-gcs-server")
BUCKET = "lake"
READY_SECONDS = 30


def build():
    """Its exit code; nothing to do when the program is there."""
    if PROGRAM.is_file():
        return 0
    FOLDER.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "GOBIN": str(FOLDER), "GOPATH": str(FOLDER / "go"), "GOFLAGS": "-modcacherw"}
    return subprocess.run(["go", "install", MODULE], env=environment).returncode


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def request(port, method, path, body=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request(method, path, body=body, headers={"Content-Type": "application/json"})
        return connection.getresponse().status
    except OSError:
        return 0
    finally:
        connection.close()


def await_ready(process, port):
    deadline = time.monotonic() + READY_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError("fake-gcs-server ended while it started")
        if request(port, "POST", "/storage/v1/b?project=p", json.dumps({"name": BUCKET})) == 200:
            return
        time.sleep(0.05)
    raise RuntimeError(f"fake-gcs-server was not ready within {READY_SECONDS} s")


def run_beside(command):
    """Runs a command while the server serves; its exit code."""
    port = free_port()
    endpoint = f"http://127.0.0.1:{port}"
    server = subprocess.Popen([PROGRAM, "-backend", "memory", "-scheme", "http", "-host", "127.0.0.1", "-port", str(port),
                               "-public-host", f"127.0.0.1:{port}", "-external-url", endpoint],
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        await_ready(server, port)
        environment = {**os.environ, "FRAZIL_GCS_ENDPOINT": endpoint, "FRAZIL_GCS_BUCKET": BUCKET}
        return subprocess.run(command, env=environment, stdin=subprocess.DEVNULL).returncode
    finally:
        server.kill()
        server.wait()


if __name__ == "__main__":
    if sys.argv[1:] == ["build"]:
        sys.exit(build())
    if len(sys.argv) < 3 or sys.argv[1] != "run":
        sys.exit(__doc__)
    sys.exit(run_beside(sys.argv[2:]))
