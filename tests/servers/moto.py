"""moto on loopback, for the long tests: a second S3 store, which keeps keys as they are and checks neither signatures nor checksums.

    moto.py run COMMAND...        runs COMMAND with FRAZIL_S3_ENDPOINT, FRAZIL_S3_KIND and the others in its environment; ends
                                  the server and exits as COMMAND did

Its packages get along with no others of the tests: they have a Python environment of their own in .deps/nightly/moto, pinned by
moto_requirements.txt and made at the first run.
"""
import http.client
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from seaweedfs import free_ports

HERE = pathlib.Path(__file__).resolve().parent
ENVIRONMENT = pathlib.Path(os.environ.get("FRAZIL_DEPS") or HERE.parents[1] / ".deps") / "nightly" / "moto"
REQUIREMENTS = HERE / "moto_requirements.txt"
READY_SECONDS = 60
BUCKET = "lake"


def ensure_environment():
    stamp = ENVIRONMENT / ".stamp"
    if stamp.is_file() and stamp.read_text() == REQUIREMENTS.read_text():
        return
    subprocess.run([sys.executable, "-m", "venv", "--clear", ENVIRONMENT], check=True)
    subprocess.run([ENVIRONMENT / "bin/pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--requirement", REQUIREMENTS],
                   check=True)
    stamp.write_text(REQUIREMENTS.read_text())


def bucket_is_made(port):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("PUT", f"/{BUCKET}", headers={"Authorization": "AWS4-HMAC-SHA256 Credential=k/20260101/us-east-1/s3/aws4_request"})
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()


def run_beside(command):
    """Runs a command while a server serves; its exit code."""
    ensure_environment()
    port = free_ports(1)
    with tempfile.TemporaryFile() as log:
        server = subprocess.Popen([ENVIRONMENT / "bin/moto_server", "-H", "127.0.0.1", "-p", str(port)], stdin=subprocess.DEVNULL, stdout=log,
                                  stderr=log)
        try:
            deadline = time.monotonic() + READY_SECONDS
            while not bucket_is_made(port):
                if server.poll() is not None or time.monotonic() > deadline:
                    log.seek(0)
                    raise RuntimeError(f"moto did not get ready:\n{log.read().decode(errors='replace')[-2000:]}")
                time.sleep(0.1)
            environment = {**os.environ, "FRAZIL_S3_ENDPOINT": f"http://127.0.0.1:{port}", "FRAZIL_S3_ACCESS_KEY": "any",
                           "FRAZIL_S3_SECRET_KEY": "any", "FRAZIL_S3_BUCKET": BUCKET, "FRAZIL_S3_KIND": "moto"}
            return subprocess.run(command, env=environment, stdin=subprocess.DEVNULL).returncode
        finally:
            server.kill()
            server.wait()


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] != "run":
        sys.exit(__doc__)
    sys.exit(run_beside(sys.argv[2:]))
