"""A real Iceberg REST catalog on loopback: Apache Iceberg's reference server, started by a small Java main of ours.

Its jars and classes: tests/java_program.py. Every request that reaches the server stands in its log: `requests()` reads it.
"""
import json
import pathlib
import random
import signal
import socket
import subprocess
import sys
import time
import urllib.request

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS))

from java_program import JavaProgram  # noqa: E402

READY_SECONDS = 60
STOP_SECONDS = 10
SERVER = JavaProgram("rest_server", TESTS / "servers" / "rest_server", "org.apache.iceberg.rest.RestServer",
                     ["-Xmx384m", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-Daws.region=us-east-1"])


def free_port():
    """A port below the range that clients get theirs from, so that a server can come back to it."""
    for _ in range(200):
        port = random.randrange(12_000, 32_000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue
    raise RuntimeError("no free port on 127.0.0.1")


class RestServer:
    """One server with its own SQLite file. Use it as a context manager, or call start and stop.

        RestServer(folder)                                    local files below folder/warehouse
        RestServer(folder, s3=dict(endpoint="http://127.0.0.1:1", access_key="k", secret_key="s", warehouse="s3://b/w"))
        RestServer(folder, oauth2=("id", "secret"), token_life_seconds=20)
        RestServer(folder, s3=..., vend=True, vend_life_seconds=20, vend_endpoint="https://...")
        RestServer(folder, idempotency=True)                  says that it honours Idempotency-Key

    Below uri/lakes/NAME there is another catalog for each name, with a database of its own and warehouse/NAME.
    `warehouse`, `database`, `uri` say what it was started with. A server that cannot start raises.
    """

    def __init__(self, folder, s3=None, oauth2=None, token_life_seconds=3600, vend=False, vend_life_seconds=0,
                 vend_endpoint=None, warehouse=None, idempotency=False):
        self.folder = pathlib.Path(folder).resolve()
        self.database = self.folder / "catalog.db"
        self.port = None
        self._process = None
        self._log_number = 0
        self._options = {"database": self.database}
        if s3:
            self._options |= {"s3-endpoint": s3["endpoint"], "s3-access-key": s3["access_key"], "s3-secret-key": s3["secret_key"]}
            self.warehouse = s3["warehouse"]
        else:
            self.warehouse = warehouse or f"file://{self.folder}/warehouse"
        self._options["warehouse"] = self.warehouse
        if oauth2:
            self._options |= {"client-id": oauth2[0], "client-secret": oauth2[1], "token-life-s": token_life_seconds}
        if vend:
            self._options |= {"vend": "static", "vend-life-s": vend_life_seconds}
        if idempotency:
            self._options["idempotency"] = "PT30M"
        if vend_endpoint:
            self._options["vend-endpoint"] = vend_endpoint

    @property
    def uri(self):
        return f"http://127.0.0.1:{self.port}"

    @property
    def pid(self):
        return self._process.pid

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *unused):
        self.stop()

    def start(self):
        """Returns when the server serves. The first time on a free port, later on the same one with the same tables."""
        self.folder.mkdir(parents=True, exist_ok=True)
        wanted = self.port
        for attempt in range(3):
            self.port = wanted or free_port()
            if self._launch():
                return
        raise RuntimeError(f"the REST catalog did not start:\n{(self.folder / 'server.log').read_text()[-4000:]}")

    def stop(self):
        """SIGTERM, then SIGKILL; does nothing when it is not running."""
        self._end(signal.SIGTERM)

    def kill(self):
        """kill -9: returns when the process is gone. Tables stay."""
        self._end(signal.SIGKILL)

    def requests(self, method=None, path_ends=None):
        """Requests that reached the server, in order: dicts with method, path, query, idempotency_key, status, ms.

        `status` is None while a request is being served. Counts over restarts too."""
        by_key = {}
        for number in range(1, self._log_number + 1):
            file = self.folder / f"requests_{number}.jsonl"
            for line in file.read_text().splitlines(keepends=True) if file.exists() else []:
                if line.endswith("\n"):
                    entry = json.loads(line)
                    by_key.setdefault((number, entry["n"]), {"status": None, "ms": None}).update(entry)
        found = list(by_key.values())
        if method:
            found = [r for r in found if r["method"] == method]
        if path_ends:
            found = [r for r in found if r["path"].endswith(path_ends)]
        return found

    def commits(self, namespace, table):
        """Requests that asked to commit to a table of a one-level namespace."""
        return self.requests("POST", f"/namespaces/{namespace}/tables/{table}")

    def revoke_tokens(self):
        """Every token issued so far is answered with 401 from now on."""
        request = urllib.request.Request(f"{self.uri}/_control/revoke_tokens", method="POST")
        urllib.request.urlopen(request, timeout=10).close()

    def _launch(self):
        self._log_number += 1
        options = self._options | {"port": self.port, "log": self.folder / f"requests_{self._log_number}.jsonl"}
        command = SERVER.command(f"{k}={v}" for k, v in options.items())
        with open(self.folder / "server.log", "ab") as log:
            self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        deadline = time.monotonic() + READY_SECONDS
        while time.monotonic() < deadline and self._process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return True
            except OSError:
                time.sleep(0.05)
        self.kill()
        return False

    def _end(self, number):
        if self._process is None:
            return
        if self._process.poll() is None:
            self._process.send_signal(number)
            try:
                self._process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
        self._process.wait()
        self._process = None
