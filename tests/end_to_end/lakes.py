"""Where the tables of a test live: one of several kinds of lake, chosen by FRAZIL_LAKE.

kind        catalog                                       files
sqlite      a SQLite file of its own                      local
rest_local  Apache's REST server, OAuth2                  local
rest_s3     Apache's REST server, OAuth2                  SeaweedFS, signed requests with static keys
seaweed     SeaweedFS's own REST catalog, OAuth2, TLS     SeaweedFS, TLS, credentials vended for each table

A Place is a catalog with a warehouse for one test. Servers are started when the first place needs them, once for a session; tests write their
keys by reference to files, as the program demands.
"""
import itertools
import json
import os
import pathlib
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.catalog.sql import SqlCatalog
from sqlalchemy.exc import OperationalError

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), str(TESTS / "servers")]

from judges import stores  # noqa: E402
from proxy.authority import Authority  # noqa: E402
from proxy.http_proxy import HttpProxy  # noqa: E402
from rest_server import RestServer  # noqa: E402
from seaweedfs import SeaweedFS  # noqa: E402

KINDS = ("sqlite", "rest_local", "rest_s3", "seaweed")
KIND = os.environ.get("FRAZIL_LAKE") or "sqlite"
assert KIND in KINDS, f"FRAZIL_LAKE={KIND}: one of {', '.join(KINDS)}"
# SeaweedFS keeps table buckets to its own layout and answers 403 to other keys: <namespace>/<table>/data|metadata/…, folders of partitions with an
# ASCII name and a value that is not empty. Its administrator is refused alike.
FREE_LAYOUT = ("sqlite", "rest_local", "rest_s3")
CLIENT = ("tests", "secret-of-the-tests")   # of the REST server's OAuth2
BUCKET = "lake"                             # of rest_s3
TABLE_BUCKETS = 400                         # of seaweed: one for each place
READY_SECONDS = 60
# Each bucket takes volumes of its own, and their number is by default what the disk holds when all are full.
SMALL_VOLUMES = ["-master.volumeSizeLimitMB=64", "-volume.max=5000"]


class SqlitePlace:
    """A catalog file and a warehouse in a folder."""
    kind = "sqlite"
    entries = ("catalog.db", "warehouse")   # what of the place lies in the test's folder

    def __init__(self, folder):
        self.database = folder / "catalog.db"
        self.warehouse = f"file://{folder}/warehouse"
        self.block = {"type": "sqlite", "uri": str(self.database), "warehouse": self.warehouse}
        self.settings = {}

    @property
    def is_there(self):
        """False before anybody has used the catalog: looking must not create it."""
        return self.database.exists()

    def catalog(self):
        def attach():
            return SqlCatalog("default", uri=f"sqlite:///{self.database}", warehouse=self.warehouse)
        try:
            return attach()
        except OperationalError as error:  # SqlCatalog looks, then creates: Frazil may have created in between
            if "already exists" not in str(error):
                raise
            return attach()


class RestPlace:
    """A catalog of a REST server. block: as pipeline files name it, perhaps by a proxy; direct: PyIceberg's own way to it."""
    is_there = True
    entries = ()

    def __init__(self, kind, warehouse, block, direct, settings=None, keeps_catalog=True):
        self.kind = kind
        self.warehouse = warehouse   # where the files are
        self.block = block
        self.settings = settings or {}
        self._direct = direct
        self._keeps_catalog = keeps_catalog   # False where tokens live shorter than tests
        self._catalog = None

    def catalog(self):
        if self._catalog is None or not self._keeps_catalog:
            self._catalog = RestCatalog("default", **self._direct, **{"py-io-impl": "judges.stores.DirectFileIO",
                                                                      "oauth2-server-uri": f"{self._direct['uri']}/v1/oauth/tokens"})
        return self._catalog


class Servers:
    """The servers of a session. A place is handed out to one test and never again."""

    def __init__(self):
        self.folder = None   # set by whoever runs the session
        self._running = []
        self._numbers = itertools.count(1)
        self._made = {}

    def place(self, folder, kind=KIND):
        if kind == "sqlite":
            return SqlitePlace(folder)
        number = next(self._numbers)
        return {"rest_local": self._rest_local, "rest_s3": self._rest_s3, "seaweed": self._seaweed}[kind](number)

    def stop(self):
        for server in reversed(self._running):
            server.stop()
        self._running.clear()
        self._made.clear()

    # --- places ---------------------------------------------------------------------------------

    def _rest_local(self, number):
        server = self._once("rest", lambda: RestServer(self.folder / "rest", oauth2=CLIENT))
        return self.rest_place("rest_local", server, number, {})

    def _rest_s3(self, number):
        store = self.store()
        server = self._once("rest_s3", lambda: RestServer(self.folder / "rest_s3", oauth2=CLIENT, s3={
            "endpoint": store.endpoint, "access_key": store.access_key, "secret_key": store.secret_key, "warehouse": f"s3://{BUCKET}/w"}))
        return self.rest_place("rest_s3", server, number, {
            "s3.endpoint": store.endpoint, "s3.region": store.region, "s3.path-style-access": "true",
            "s3.access-key-id": self._secret("access_key", store.access_key), "s3.secret-access-key": self._secret("secret_key", store.secret_key)})

    def rest_place(self, kind, server, number, properties, keeps_catalog=True):
        """A catalog of one of Apache's servers."""
        uri, warehouse = f"{server.uri}/lakes/l{number}", f"{server.warehouse}/l{number}"
        credential = ":".join(CLIENT)
        block = {"type": "rest", "uri": uri, "warehouse": warehouse, "credential": self._secret("credential", credential), "properties": properties}
        settings = {"files": {"allowed_roots": [warehouse.removeprefix("file://")]}} if warehouse.startswith("file:") else {}
        return RestPlace(kind, warehouse, block, {"uri": uri, "credential": credential, "warehouse": warehouse}, settings, keeps_catalog)

    def _seaweed(self, number):
        assert number <= TABLE_BUCKETS, f"more than {TABLE_BUCKETS} places in one session"
        store, catalog_proxy = self.tables()
        warehouse, credential = f"s3://lake{number}", f"{store.access_key}:{store.secret_key}"
        block = {"type": "rest", "uri": catalog_proxy.url, "warehouse": warehouse, "credential": self._secret("seaweed", credential),
                 "ca_file": str(self.authority().ca_file), "properties": {"access-delegation": "vended-credentials"}}
        direct = {"uri": store.catalog_uri, "credential": credential, "warehouse": warehouse}
        return RestPlace("seaweed", warehouse, block, direct, {"files": {"ca_file": str(self.authority().ca_file)}})

    # --- servers --------------------------------------------------------------------------------

    def store(self):
        """The S3 server of rest_s3."""
        def make():
            return SeaweedFS(self.folder / "store", buckets=[BUCKET], options=SMALL_VOLUMES)
        store = self._once("store", make)
        self._know(store)
        return store

    def tables(self):
        """SeaweedFS with its own catalog, and the TLS proxy before the catalog; the one before S3 is what it hands out as endpoint."""
        front = self._once("seaweed_front", lambda: HttpProxy(0, tls=self.authority().server_context(), name="s3"))
        names = [f"lake{number}" for number in range(1, TABLE_BUCKETS + 1)]
        store = self._once("seaweed", lambda: SeaweedFS(self.folder / "seaweed", table_buckets=names, vends=True, credential_seconds=900,
                                                         options=[f"-s3.externalUrl={front.url}", *SMALL_VOLUMES]))
        front.server_port = store.port
        self._know(store)
        catalog = self._once("seaweed_catalog", lambda: HttpProxy(store.port + 1, tls=self.authority().server_context(), name="catalog"))
        if "seaweed_ready" not in self._made:
            await_table_buckets(store, names[-1])
            self._made["seaweed_ready"] = True
        return store, catalog

    @property
    def fronts(self):
        """The proxies of seaweed: S3, catalog."""
        return self._made["seaweed_front"], self._made["seaweed_catalog"]

    def authority(self):
        if "authority" not in self._made:
            self._made["authority"] = Authority(self.folder / "authority")
        return self._made["authority"]

    def _once(self, name, make):
        if name not in self._made:
            server = make()
            server.start()
            self._running.append(server)
            self._made[name] = server
        return self._made[name]

    @staticmethod
    def _know(store):
        stores.register("s3://", stores.Store(f"127.0.0.1:{store.port}", store.access_key, store.secret_key, store.region))

    def _secret(self, name, value):
        """A reference to a file with the value."""
        file = self.folder / f"secret_{name}"
        file.write_text(value + "\n")
        file.chmod(0o600)
        return "${file:%s}" % file


def await_table_buckets(store, last):
    """SeaweedFS makes its table buckets after it has begun to serve, in their order."""
    form = urllib.parse.urlencode({"grant_type": "client_credentials", "client_id": store.access_key, "client_secret": store.secret_key})
    deadline = time.monotonic() + READY_SECONDS
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(f"{store.catalog_uri}/v1/oauth/tokens", form.encode(), timeout=5) as answer:
                token = json.load(answer)["access_token"]
            request = urllib.request.Request(f"{store.catalog_uri}/v1/{last}/namespaces", headers={"Authorization": f"Bearer {token}"})
            urllib.request.urlopen(request, timeout=5).close()
            return
        except urllib.error.HTTPError:
            time.sleep(0.1)
    raise TimeoutError(f"table bucket {last} was not there after {READY_SECONDS} s")


SERVERS = Servers()
