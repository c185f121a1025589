"""SeaweedFS on loopback, for tests: an S3 store that checks signatures and, beside it, an Iceberg REST catalog.

From Python (put tests/servers on sys.path):

    with SeaweedFS(folder, buckets=["lake"], table_buckets=["tables"]) as store:
        store.endpoint, store.catalog_uri, store.access_key, store.secret_key

From a shell, or from a test that is not Python:

    seaweedfs.py run DIR COMMAND...   runs COMMAND with FRAZIL_S3_ENDPOINT, FRAZIL_S3_ACCESS_KEY, FRAZIL_S3_SECRET_KEY,
                                      FRAZIL_S3_BUCKET in its environment; ends the server and exits as COMMAND did

The program comes from tools/setup --tests. It is slow to stop in order and nothing of a test has to survive, so stop()
kills. Data live in the given folder.
"""
import hashlib
import hmac
import http.client
import json
import os
import pathlib
import random
import signal
import socket
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("FRAZIL_DEPS") or ROOT / ".deps") / "seaweedfs" / "weed"
READY_SECONDS = 60
# The server's listeners, on neighbouring ports in this order. Each has to be named, or it binds a port of its own choice.
LISTENERS = ["s3.port", "s3.port.iceberg", "master.port", "volume.port", "filer.port", "master.port.grpc", "volume.port.grpc",
             "filer.port.grpc", "s3.port.grpc", "admin.port", "admin.port.grpc"]
VENDING_ROLE = "arn:aws:iam::role/frazil-tables"


def free_ports(count):
    """The first of `count` neighbouring ports that are free on loopback, below the range that clients get theirs from."""
    for _ in range(200):
        first = random.randrange(12_000, 32_000 - count)
        sockets = [socket.socket() for _ in range(count)]
        try:
            for number, listener in enumerate(sockets):
                listener.bind(("127.0.0.1", first + number))
            return first
        except OSError:
            continue
        finally:
            for listener in sockets:
                listener.close()
    raise RuntimeError(f"no {count} free neighbouring ports on 127.0.0.1")


def _identities(access_key, secret_key):
    """Who may do what: one administrator, and another who may only read."""
    return [
        {"name": "admin", "credentials": [{"accessKey": access_key, "secretKey": secret_key}],
         "actions": ["Admin", "Read", "Write", "List", "Tagging"]},
        {"name": "reader", "credentials": [{"accessKey": "reader", "secretKey": "reader-secret"}], "actions": ["Read", "List"]},
    ]


def _access_rules(identities):
    """The role that the catalog takes on to hand out credentials for one table."""
    full = {"Version": "2012-10-17",
            "Statement": [{"Effect": "Allow", "Action": ["s3:*", "s3tables:*", "sts:*"], "Resource": ["*"]}]}
    trust = {"Version": "2012-10-17",
             "Statement": [{"Effect": "Allow", "Principal": {"Federated": "iceberg-catalog"},
                            "Action": ["sts:AssumeRole", "sts:AssumeRoleWithCredentials", "sts:AssumeRoleWithWebIdentity"]}]}
    return {
        "sts": {"tokenDuration": "1h", "maxSessionLength": "12h", "issuer": "frazil-tests",
                "signingKey": "c2lnbmluZy1rZXktb2YtdGhlLXRlc3RzLW9mLWZyYXppbCE="},
        "policy": {"defaultEffect": "Deny", "storeType": "memory"},
        "policies": [{"name": "full", "document": full}],
        "roles": [{"roleName": "frazil-tables", "roleArn": VENDING_ROLE, "trustPolicy": trust, "attachedPolicies": ["full"]}],
        "identities": identities,
    }


class SeaweedFS:
    """One server with its own data folder. Use it as a context manager, or call start and stop.

    vends: the catalog hands out credentials that are good for one table and `credential_seconds`.
    A server that cannot start raises: tests that need it fail, none of them is skipped.
    """

    def __init__(self, folder, buckets=("lake",), table_buckets=(), vends=False, credential_seconds=3600, options=()):
        self.folder = pathlib.Path(folder)
        self.buckets = list(buckets)
        self.table_buckets = list(table_buckets)
        self.access_key = "test-access-key"
        self.secret_key = "test-secret-key"
        self.region = "us-east-1"
        self.port = None
        self._vends = vends
        self._credential_seconds = credential_seconds
        self._options = list(options)
        self._process = None

    @property
    def endpoint(self):
        """Of S3. Buckets are reached by path, and as <bucket>.s3.localhost:<port>."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def catalog_uri(self):
        """Of the Iceberg REST catalog, without /v1. Its warehouses are the table buckets; OAuth2 takes the S3 keys."""
        return f"http://127.0.0.1:{self.port + 1}"

    @property
    def store_properties(self):
        """What Iceberg clients need to reach the store."""
        return {"s3.endpoint": self.endpoint, "s3.access-key-id": self.access_key, "s3.secret-access-key": self.secret_key,
                "s3.region": self.region, "s3.path-style-access": "true"}

    @property
    def log_file(self):
        return self.folder / "server.log"

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *unused):
        self.stop()

    def start(self):
        """Returns when buckets and catalog serve. After stop() or kill(): again, on the same ports with the same data."""
        if not PROGRAM.exists():
            raise RuntimeError(f"no SeaweedFS at {PROGRAM}: run tools/setup --tests")
        self.folder.mkdir(parents=True, exist_ok=True)
        if self.port is not None:
            self._launch()
            return
        # Another process may take a port between our look and the server's bind: try again.
        for attempt in range(3):
            self.port = free_ports(len(LISTENERS))
            try:
                self._launch()
                return
            except RuntimeError:
                self.stop()
                if attempt == 2 or "address already in use" not in self.log_file.read_text(errors="replace"):
                    raise

    def stop(self):
        """Ends the server; does nothing when it is not running."""
        if self._process is not None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None

    kill = stop

    def cpu_seconds(self):
        """CPU time that the server has used since its start."""
        fields = pathlib.Path(f"/proc/{self._process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def _launch(self):
        identities = _identities(self.access_key, self.secret_key)
        (self.folder / "s3.json").write_text(json.dumps({"identities": identities}))
        (self.folder / "iam.json").write_text(json.dumps(_access_rules(identities)))
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("AWS_", "S3_", "WEED_"))}
        environment |= {"AWS_ACCESS_KEY_ID": self.access_key, "AWS_SECRET_ACCESS_KEY": self.secret_key}
        with open(self.log_file, "ab") as log:
            # A session of its own, so that a signal for the tests spares it.
            self._process = subprocess.Popen(self._command(), cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                             env=environment, start_new_session=True)
        self._await_ready()

    def _command(self):
        ports = [f"-{name}={self.port + offset}" for offset, name in enumerate(LISTENERS)]
        data = self.folder / "data"
        data.mkdir(exist_ok=True)
        command = [str(PROGRAM), "mini", f"-dir={data}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", *ports, "-s3.port.lance=0",
                   "-webdav=false", "-admin.ui=false", "-master.telemetry=false", "-s3.domainName=s3.localhost",
                   "-s3.autoCreateBucket=false", f"-s3.externalUrl={self.endpoint}", f"-s3.localSocket={self.folder}/s3.sock",
                   f"-s3.config={self.folder}/s3.json"]
        if self.buckets:
            command.append(f"-bucket={','.join(self.buckets)}")
        if self.table_buckets:
            command.append(f"-tableBucket={','.join(self.table_buckets)}")
        if self._vends:
            command += [f"-s3.iam.config={self.folder}/iam.json", f"-s3.iceberg.credentialRole={VENDING_ROLE}",
                        f"-s3.iceberg.credentialDurationSeconds={self._credential_seconds}"]
        return command + self._options

    def _await_ready(self):
        deadline = time.monotonic() + READY_SECONDS
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                self._process = None
                raise RuntimeError(f"SeaweedFS ended while it started:\n{self._log_end()}")
            if self._serves():
                return
            time.sleep(0.05)
        raise RuntimeError(f"SeaweedFS was not ready within {READY_SECONDS} s:\n{self._log_end()}")

    def _serves(self):
        if not self._answers(self.port + 1, "/v1/config", {}, below=500):
            return False
        return all(self._answers(self.port, f"/{bucket}", self._signature(f"/{bucket}"), below=300) for bucket in self.buckets)

    def _signature(self, path):
        """Headers that sign a GET of `path` without a query (AWS Signature Version 4)."""
        now = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        scope = f"{now[:8]}/{self.region}/s3/aws4_request"
        headers = {"host": f"127.0.0.1:{self.port}", "x-amz-content-sha256": hashlib.sha256(b"").hexdigest(), "x-amz-date": now}
        names = ";".join(sorted(headers))
        lines = "".join(f"{name}:{headers[name]}\n" for name in sorted(headers))
        canonical = f"GET\n{path}\n\n{lines}\n{names}\n{headers['x-amz-content-sha256']}"
        to_sign = f"AWS4-HMAC-SHA256\n{now}\n{scope}\n{hashlib.sha256(canonical.encode()).hexdigest()}"
        key = b"AWS4" + self.secret_key.encode()
        for part in [*scope.split("/"), to_sign]:
            key = hmac.new(key, part.encode(), hashlib.sha256).digest()
        return headers | {"authorization": f"AWS4-HMAC-SHA256 Credential={self.access_key}/{scope}, SignedHeaders={names}, "
                                           f"Signature={key.hex()}"}

    @staticmethod
    def _answers(port, path, headers, below):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        try:
            connection.request("GET", path, headers=headers)
            return connection.getresponse().status < below
        except OSError:
            return False
        finally:
            connection.close()

    def _log_end(self):
        return "\n".join(self.log_file.read_text(errors="replace").splitlines()[-20:])


def run_beside(folder, command):
    """Runs a command while a server serves; its exit code."""
    with SeaweedFS(folder) as store:
        environment = {**os.environ, "FRAZIL_S3_ENDPOINT": store.endpoint, "FRAZIL_S3_ACCESS_KEY": store.access_key,
                       "FRAZIL_S3_SECRET_KEY": store.secret_key, "FRAZIL_S3_BUCKET": store.buckets[0]}
        return subprocess.run(command, env=environment, stdin=subprocess.DEVNULL).returncode


if __name__ == "__main__":
    if len(sys.argv) < 4 or sys.argv[1] != "run":
        sys.exit(__doc__)
    sys.exit(run_beside(pathlib.Path(sys.argv[2]).resolve(), sys.argv[3:]))
