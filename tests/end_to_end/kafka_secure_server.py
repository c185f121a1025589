"""A real broker that has a listener for each way to protect Kafka, with a Kerberos realm and a token endpoint beside it.

Everything a client needs lies in `files`, under the names that docs/operate/kafka_security.md uses; its passwords all
contain "canary", so that a test can look for them where they must not be.
"""
import contextlib
import pathlib
import shutil
import socket
import subprocess
import sys

from confluent_kafka.admin import ScramCredentialInfo, ScramMechanism, UserScramCredentialUpsertion

from kafka_server import REQUEST_SECONDS, KafkaServer, free_port_pair

SERVERS = pathlib.Path(__file__).resolve().parents[1] / "servers"
sys.path.insert(0, str(SERVERS))

import token_server  # noqa: E402

USER = "frazil"
PASSWORD = "canary-password"
TOKEN_SECRET = token_server.SECRET
KEY_PASSWORD = "canary-key-password"

# How long a session on the listeners that end them may last; the client has to prove itself anew before.
SESSION_MILLIS = 4000

# listener → protocol and the file of its key and chain
LISTENERS = {
    "TLS": ("SSL", "broker.pem"),
    "MTLS": ("SSL", "broker.pem"),
    "EXPIRED": ("SSL", "expired.pem"),
    "OTHERHOST": ("SSL", "other_host.pem"),
    "PASSWORD": ("SASL_SSL", "broker.pem"),
    "SESSION": ("SASL_SSL", "broker.pem"),
    "KERBEROS": ("SASL_SSL", "broker.pem"),
    "TOKEN": ("SASL_SSL", "broker.pem"),
    "CLEARPASSWORD": ("SASL_PLAINTEXT", None),
    "ELSEWHERE": ("PLAINTEXT", None),
}

# ELSEWHERE listens here as all do, but sends its clients on to this address, at which there is nobody.
ELSEWHERE_HOST = "192.0.2.1"

LOGIN = "org.apache.kafka.common.security"
SCRAM = f"{LOGIN}.scram.ScramLoginModule required;"


class SecureKafka(KafkaServer):
    """One broker; `address(listener)` is where its listener answers, `bootstrap_servers` an unprotected one for the tests."""

    def __init__(self, folder):
        super().__init__(folder)
        self.files = self.folder / "files"
        self._ports = {}
        self._tokens = None
        self._token_port = None

    def address(self, listener):
        return f"localhost:{self._ports[listener]}"

    @property
    def token_endpoint(self):
        return f"https://localhost:{self._token_port}/token"

    @property
    def kerberos_environment(self):
        """For the client: which realm, and a ticket cache of its own."""
        return {"KRB5_CONFIG": str(self.folder / "kerberos" / "krb5.conf"), "KRB5CCNAME": f"FILE:{self.folder}/tickets"}

    def issued_tokens(self):
        """Requests that the token endpoint has answered, as it wrote them down."""
        import json
        file = self.files / "issued.jsonl"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    def start(self):
        self.files.mkdir(parents=True)
        run(SERVERS / "kafka_certificates.sh", self.files)
        shutil.copy(self.files / "ca.pem", self.files / "kafka-ca.pem")
        try:
            self._start_kerberos()
            self._start_tokens()
            super().start()
            self._create_users()
        except BaseException:
            self.stop()
            raise

    def prepare(self):
        with contextlib.ExitStack() as held:  # all at once, so that no two are the same
            self._ports = {name: free_port(held) for name in LISTENERS}
        self._properties = self._listener_properties()
        kerberos = f"-Djava.security.krb5.conf={self.folder}/kerberos/krb5.conf"
        self._environment = {"JDK_JAVA_OPTIONS": f"{kerberos} -Dorg.apache.kafka.sasl.oauthbearer.allowed.urls={self._jwks}"}

    def stop(self):
        super().stop()
        if self._tokens is not None:
            self._tokens.terminate()
            self._tokens.wait(REQUEST_SECONDS)
            self._tokens = None
        run(SERVERS / "kerberos.sh", "stop", self.folder / "kerberos")

    @property
    def _jwks(self):
        return f"file://{self.files}/jwks.json"

    def _start_kerberos(self):
        folder = self.folder / "kerberos"
        run(SERVERS / "kerberos.sh", "start", folder, free_port_pair(), "kafka/localhost", USER)
        shutil.copy(folder / f"{USER}.keytab", self.files / f"{USER}.keytab")

    def _start_tokens(self):
        self._token_port = free_port_pair()
        log = open(self.folder / "token_server.log", "wb")
        command = [sys.executable, SERVERS / "token_server.py", self.files, str(self._token_port), self.files / "broker.pem"]
        self._tokens = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self._await(lambda: answers(self._token_port), "the token endpoint to answer")

    def _create_users(self):
        wanted = [UserScramCredentialUpsertion(USER, ScramCredentialInfo(kind, 4096), PASSWORD.encode())
                  for kind in (ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512)]
        for user in wanted:
            self._result(self.admin.alter_user_scram_credentials([user]))

    def _listener_properties(self):
        ports = {"PLAINTEXT": self.port, **self._ports}
        protocols = {"PLAINTEXT": "PLAINTEXT", "CONTROLLER": "PLAINTEXT", **{name: kind for name, (kind, _) in LISTENERS.items()}}
        properties = {
            "listeners": ",".join([f"{name}://127.0.0.1:{port}" for name, port in ports.items()]
                                  + [f"CONTROLLER://127.0.0.1:{self.port + 1}"]),
            "advertised.listeners": ",".join(f"{name}://{ELSEWHERE_HOST if name == 'ELSEWHERE' else 'localhost'}:{port}"
                                             for name, port in ports.items()),
            "listener.security.protocol.map": ",".join(f"{name}:{kind}" for name, kind in protocols.items()),
            "ssl.truststore.type": "PEM", "ssl.truststore.location": self.files / "ca.pem",
            # The broker's own clock for sessions: short, so that tests see their end.
            "connections.max.reauth.ms": 0,
        }
        for name, (_, certificate) in LISTENERS.items():
            if certificate:
                properties |= listener(name, {"ssl.keystore.type": "PEM", "ssl.keystore.location": self.files / certificate})
        properties |= listener("MTLS", {"ssl.client.auth": "required"})
        properties |= passwords("PASSWORD") | passwords("CLEARPASSWORD") | passwords("SESSION")
        properties |= listener("SESSION", {f"{kind}.connections.max.reauth.ms": SESSION_MILLIS
                                           for kind in ("plain", "scram-sha-256", "scram-sha-512")})
        properties |= self._kerberos_properties() | self._token_properties()
        return properties

    def _kerberos_properties(self):
        login = (f'com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true storeKey=true '
                 f'keyTab="{self.folder}/kerberos/kafka.keytab" principal="kafka/localhost@EXAMPLE.COM";')
        return listener("KERBEROS", {"sasl.enabled.mechanisms": "GSSAPI", "sasl.kerberos.service.name": "kafka",
                                     "gssapi.sasl.jaas.config": login, "gssapi.connections.max.reauth.ms": SESSION_MILLIS})

    def _token_properties(self):
        return listener("TOKEN", {
            "sasl.enabled.mechanisms": "OAUTHBEARER",
            "oauthbearer.sasl.jaas.config": f'{LOGIN}.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="broker";',
            "oauthbearer.sasl.server.callback.handler.class": f"{LOGIN}.oauthbearer.OAuthBearerValidatorCallbackHandler",
            "oauthbearer.sasl.oauthbearer.jwks.endpoint.url": self._jwks,
            "oauthbearer.sasl.oauthbearer.expected.audience": token_server.AUDIENCE,
            "oauthbearer.sasl.oauthbearer.expected.issuer": token_server.ISSUER,
            "oauthbearer.sasl.oauthbearer.clock.skew.seconds": 0,
            # Sessions end with their token.
            "oauthbearer.connections.max.reauth.ms": 3_600_000,
        })


def listener(name, properties):
    return {f"listener.name.{name.lower()}.{key}": value for key, value in properties.items()}


def passwords(name):
    """PLAIN and both kinds of SCRAM."""
    plain = f'{LOGIN}.plain.PlainLoginModule required username="broker" password="{PASSWORD}" user_{USER}="{PASSWORD}";'
    return listener(name, {"sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512", "plain.sasl.jaas.config": plain,
                           "scram-sha-256.sasl.jaas.config": SCRAM, "scram-sha-512.sasl.jaas.config": SCRAM})


def free_port(held):
    """A port below the clients' range that stays bound while `held` is open."""
    for _ in range(50):
        probe = socket.socket()
        try:
            probe.bind(("127.0.0.1", free_port_pair()))
        except OSError:
            probe.close()
            continue
        held.callback(probe.close)
        return probe.getsockname()[1]
    raise RuntimeError("no free port on 127.0.0.1")


def answers(port):
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1):
            return True
    except OSError:
        return False


def run(*command):
    done = subprocess.run([*map(str, command)], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]} failed:\n{done.stdout}{done.stderr}")
