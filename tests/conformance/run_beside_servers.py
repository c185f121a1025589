#!/usr/bin/env python3
"""Runs a conformance program beside real servers: SeaweedFS (S3 and its REST catalog) and Apache's REST catalog.

    run_beside_servers.py PROGRAM [ARGUMENT...]

The program learns of them by its environment: FRAZIL_S3_ENDPOINT, FRAZIL_S3_ACCESS_KEY, FRAZIL_S3_SECRET_KEY, FRAZIL_S3_BUCKET,
FRAZIL_S3_CATALOG_URI, FRAZIL_S3_TABLE_BUCKET; FRAZIL_REST_URI, FRAZIL_REST_CREDENTIAL, FRAZIL_REST_ROOT. Exit as the program did.
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "servers"))
from rest_server import RestServer  # noqa: E402
from seaweedfs import SeaweedFS  # noqa: E402

TABLE_BUCKET = "tables"
READY_SECONDS = 60


def post(url, body):
    with urllib.request.urlopen(urllib.request.Request(url, data=body, method="POST"), timeout=10) as answer:
        return answer.read().decode()


def await_table_bucket(store):
    """The catalog serves a little before its buckets are there."""
    form = urllib.parse.urlencode({"grant_type": "client_credentials", "client_id": store.access_key,
                                   "client_secret": store.secret_key, "scope": "catalog"}).encode()
    deadline = time.monotonic() + READY_SECONDS
    while True:
        try:
            token = post(f"{store.catalog_uri}/v1/oauth/tokens", form).split('"access_token":"')[1].split('"')[0]
            request = urllib.request.Request(f"{store.catalog_uri}/v1/{TABLE_BUCKET}/namespaces", headers={"Authorization": f"Bearer {token}"})
            urllib.request.urlopen(request, timeout=10).close()
            return
        except (urllib.error.URLError, OSError):
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def environment_of(store, catalog):
    return {"FRAZIL_S3_ENDPOINT": store.endpoint, "FRAZIL_S3_ACCESS_KEY": store.access_key, "FRAZIL_S3_SECRET_KEY": store.secret_key,
            "FRAZIL_S3_BUCKET": store.buckets[0], "FRAZIL_S3_CATALOG_URI": store.catalog_uri, "FRAZIL_S3_TABLE_BUCKET": TABLE_BUCKET,
            "FRAZIL_REST_URI": catalog.uri, "FRAZIL_REST_CREDENTIAL": "frazil:secret-of-the-tests",
            "FRAZIL_REST_ROOT": catalog.warehouse.removeprefix("file://")}


def main(command):
    with tempfile.TemporaryDirectory(prefix="conformance-") as folder:
        with SeaweedFS(f"{folder}/seaweedfs", table_buckets=[TABLE_BUCKET], vends=True) as store, \
                RestServer(f"{folder}/rest", oauth2=("frazil", "secret-of-the-tests"), idempotency=True) as catalog:
            await_table_bucket(store)
            environment = {**os.environ, **environment_of(store, catalog)}
            return subprocess.run(command, env=environment, stdin=subprocess.DEVNULL).returncode


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1:]))
