"""Each way to protect Kafka, against a real broker: the program itself reads through it, or says what is wrong.

Right settings are those of docs/operate/kafka_security.md: the blocks are read out of the page. A wrong one ends the run
within connect_timeout, with exit 1, a message that says what to mend, no table, and no secret anywhere.
"""
import re
import shutil
import time

import pytest

from kafka_secure_server import ELSEWHERE_HOST, KEY_PASSWORD, PASSWORD, SESSION_MILLIS, TOKEN_SECRET, SecureKafka, token_server
from pipeline import ROOT, Pipeline, ids, produce, topic_of

PAGE = ROOT / "docs" / "operate" / "kafka_security.md"
CONNECT_SECONDS = 8
# A run that is refused ends within connect_timeout; this is for a busy machine besides.
GRACE_SECONDS = 15

SECRETS = {"KAFKA_PASSWORD": PASSWORD, "KAFKA_KEY_PASSWORD": KEY_PASSWORD, "KAFKA_CLIENT_SECRET": TOKEN_SECRET}


def blocks_of_the_page():
    """The page's YAML blocks by the heading above each."""
    blocks, heading = {}, None
    for part in re.split(r"^(?=## |```)", PAGE.read_text(), flags=re.MULTILINE):
        if part.startswith("## "):
            heading = part.splitlines()[0].removeprefix("## ")
        elif part.startswith("```yaml\n"):
            assert heading not in blocks, f"two blocks under {heading}"
            blocks[heading] = part.removeprefix("```yaml\n")
    return blocks


BLOCKS = blocks_of_the_page()

# heading of the page → listener of the test's broker
LISTENERS = {
    "TLS": "TLS",
    "TLS with client certificates": "MTLS",
    "TLS with a PKCS#12 key store": "MTLS",
    "User and password: PLAIN": "PASSWORD",
    "User and password: SCRAM": "PASSWORD",
    "Kerberos": "KERBEROS",
    "Tokens: OAUTHBEARER": "TOKEN",
}


@pytest.fixture(scope="session")
def secure(tmp_path_factory):
    with SecureKafka(tmp_path_factory.mktemp("secure") / "kafka") as server:
        yield server


def pipeline_of(secure, lake, topic, heading, listener=None, **properties):
    """The page's block as a pipeline: only places and names of hosts are the test's. `...` takes a property out."""
    text = BLOCKS[heading].replace("/etc/frazil/", f"{secure.files}/")
    text = re.sub(r"https://tokens\.example\.com/\S+", secure.token_endpoint, text)
    assert text.startswith("source:\n  kafka:\n    topics: [orders]\n    properties:\n"), text
    block = dict(line.strip().split(": ", 1) for line in text.splitlines()[4:])
    assert "broker.example.com" in block["bootstrap.servers"]
    settings = {**block, "bootstrap.servers": secure.address(listener or LISTENERS[heading]), **properties}
    settings = {name: value for name, value in settings.items() if value is not ...}
    return Pipeline(lake, secure, topics=[topic], connect_timeout=f"{CONNECT_SECONDS}s",
                    source={"kafka": {"properties": settings}})


def environment_of(secure, **changes):
    return {**SECRETS, **secure.kerberos_environment, **changes}


def expect_no_secret(secure, lake, *texts):
    """Not in what the program wrote to its streams, and in no file of the lake but the environment's own."""
    secrets = [secret.encode() for secret in (*SECRETS.values(), "canary")]
    secrets += [request["token"].encode() for request in secure.issued_tokens() if request["token"]]
    assert len(secrets) >= 4
    for file in lake.folder.rglob("*"):
        if file.is_file():
            content = file.read_bytes()
            assert not any(secret in content for secret in secrets), file
    for text in texts:
        assert text and not any(secret.decode() in text for secret in secrets), text


def test_the_page_has_a_block_for_each_mechanism():
    assert set(BLOCKS) == set(LISTENERS)


@pytest.mark.parametrize("heading", LISTENERS)
def test_the_block_of_the_page_works(secure, lake, topic, heading):
    topic_of(secure, topic, ids(0, 20))
    pipeline = pipeline_of(secure, lake, topic, heading)
    outcome = pipeline.run(env=environment_of(secure)).expect()
    lake.expect_ids(pipeline.table, range(20))
    expect_no_secret(secure, lake, outcome.stderr, outcome.stdout)


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_both_kinds_of_scram(secure, lake, topic, mechanism):
    topic_of(secure, topic, ids(0, 5))
    pipeline = pipeline_of(secure, lake, topic, "User and password: SCRAM", **{"sasl.mechanism": mechanism})
    pipeline.run(env=environment_of(secure)).expect()
    lake.expect_ids(pipeline.table, range(5))


def test_a_password_in_the_clear_on_loopback(secure, lake, topic):
    topic_of(secure, topic, ids(0, 5))
    pipeline = pipeline_of(secure, lake, topic, "User and password: PLAIN", "CLEARPASSWORD",
                           **{"security.protocol": "sasl_plaintext", "ssl.ca.location": ...})
    pipeline.run(env=environment_of(secure)).expect()
    lake.expect_ids(pipeline.table, range(5))


def test_files_beside_the_pipeline_file(secure, lake, topic):
    topic_of(secure, topic, ids(0, 5))
    (lake.folder / "keys").mkdir()
    shutil.copy(secure.files / "ca.pem", lake.folder / "keys" / "ca.pem")
    pipeline = pipeline_of(secure, lake, topic, "TLS", **{"ssl.ca.location": "keys/ca.pem"})
    pipeline.run(env=environment_of(secure)).expect()
    lake.expect_ids(pipeline.table, range(5))


def test_two_authorities_in_one_file(secure, lake, topic):
    """As while one takes over from the other."""
    topic_of(secure, topic, ids(0, 5))
    (lake.folder / "both.pem").write_text((secure.files / "other_ca.pem").read_text() + (secure.files / "ca.pem").read_text())
    pipeline_of(secure, lake, topic, "TLS", **{"ssl.ca.location": "both.pem"}).run(env=environment_of(secure)).expect()
    lake.expect_ids("shop.orders", range(5))


# --- what is wrong ------------------------------------------------------------------------------

WRONG = {
    "wrong password, PLAIN": ("User and password: PLAIN", None, {}, {"KAFKA_PASSWORD": "canary-wrong"}, r"refused our authentication.*Authentication failed.*sasl"),
    "wrong password, SCRAM": ("User and password: SCRAM", None, {}, {"KAFKA_PASSWORD": "canary-wrong"}, r"refused our authentication.*invalid credentials.*sasl"),
    "unknown user": ("User and password: SCRAM", None, {"sasl.username": "nobody"}, {}, r"refused our authentication"),
    "mechanism that the broker does not offer": ("User and password: SCRAM", "TOKEN", {}, {}, r"refused our authentication.*OAUTHBEARER"),
    "unknown authority": ("TLS", None, {"ssl.ca.location": "/etc/frazil/other_ca.pem"}, {}, r"signed by CN = ca, which is not trusted.*ssl\.ca\.location"),
    "no authority at all": ("TLS", None, {"ssl.ca.location": ...}, {}, r"which is not trusted.*ssl\.ca\.location"),
    "certificate of another host": ("TLS", "OTHERHOST", {}, {}, r"for another host: it names DNS:kafka\.example\.test"),
    "expired certificate": ("TLS", "EXPIRED", {}, {}, r"has expired: it was valid until \w+ +\d+ .* 20\d\d"),
    "no client certificate": ("TLS", "MTLS", {}, {}, r"no TLS with.*(bad certificate|certificate required).*client certificate"),
    "expired client certificate": ("TLS with client certificates", None, {"ssl.certificate.location": "/etc/frazil/expired_client.pem", "ssl.key.location": "/etc/frazil/expired_client.key", "ssl.key.password": ...}, {}, r"no TLS with.*certificate.*client certificate"),
    "wrong key password": ("TLS with client certificates", None, {}, {"KAFKA_KEY_PASSWORD": "canary-wrong"}, r"ssl\.key\.location"),
    "authority's file is missing": ("TLS", None, {"ssl.ca.location": "/etc/frazil/nothing.pem"}, {}, r"ssl\.ca\.location.*nothing\.pem|nothing\.pem.*ssl\.ca\.location"),
    "no TLS on a port that wants it": ("User and password: PLAIN", None, {"security.protocol": "sasl_plaintext", "ssl.ca.location": ...}, {}, r"security\.protocol"),
    "TLS on a port without it": ("User and password: PLAIN", "CLEARPASSWORD", {}, {}, r"speaks TLS"),
    "wrong client secret": ("Tokens: OAUTHBEARER", None, {}, {"KAFKA_CLIENT_SECRET": "canary-wrong"}, r"no token for Kafka.*invalid_client"),
    "token that has expired": ("Tokens: OAUTHBEARER", None, {"sasl.oauthbearer.client.id": "stale"}, {}, r"expired"),
    "token for another audience": ("Tokens: OAUTHBEARER", None, {"sasl.oauthbearer.client.id": "stranger"}, {}, r"refused our authentication.*invalid_token"),
    "token endpoint that is not there": ("Tokens: OAUTHBEARER", None, {"sasl.oauthbearer.token.endpoint.url": "https://localhost:1/token"}, {}, r"no token for Kafka.*connect"),
    "token endpoint that is not trusted": ("Tokens: OAUTHBEARER", None, {"https.ca.location": "/etc/frazil/other_ca.pem"}, {}, r"no token for Kafka.*certificate"),
    "Kerberos principal that is not in the keytab": ("Kerberos", None, {"sasl.kerberos.principal": "mallory@EXAMPLE.COM"}, {"KRB5CCNAME": "FILE:{}/no_tickets"}, r"kinit|GSSAPI|Kerberos"),
    "Kerberos service that is not known": ("Kerberos", None, {"sasl.kerberos.service.name": "nothing"}, {}, r"nothing/localhost|not found in Kerberos database"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_said_in_time(secure, lake, topic, case):
    heading, listener, properties, environment, said = WRONG[case]
    topic_of(secure, topic, ids(0, 3))
    properties = {name: value if value is ... else value.replace("/etc/frazil/", f"{secure.files}/") for name, value in properties.items()}
    environment = {name: value.format(lake.folder) for name, value in environment.items()}
    pipeline = pipeline_of(secure, lake, topic, heading, listener, **properties)
    begin = time.monotonic()
    outcome = pipeline.run(env=environment_of(secure, **environment), seconds=CONNECT_SECONDS + GRACE_SECONDS)
    print(f"{case}: {time.monotonic() - begin:.1f} s")
    outcome.expect(1)
    last = outcome.summary["detail"]
    assert re.search(said, last, re.DOTALL), last
    assert not lake.has(pipeline.table), "a table came into being although nothing could be read"
    expect_no_secret(secure, lake, outcome.stderr, outcome.stdout)
    assert outcome.stderr.count("\n") < 60, "a flood of lines:\n" + outcome.stderr


def test_a_broker_that_sends_us_elsewhere_is_not_followed_in_the_clear(secure, lake, topic):
    topic_of(secure, topic, ids(0, 3))
    pipeline = pipeline_of(secure, lake, topic, "TLS", "ELSEWHERE", **{"security.protocol": ..., "ssl.ca.location": ...})
    outcome = pipeline.run(env=environment_of(secure), seconds=CONNECT_SECONDS + GRACE_SECONDS).expect(1)
    assert re.search(rf"{ELSEWHERE_HOST}, outside of this machine.*allow_plaintext", outcome.summary["detail"]), outcome.summary
    assert not lake.has(pipeline.table)


REFUSED = {
    "password inline": ({"sasl.password": "canary-inline"}, r"sasl\.password.*(secret|reference)"),
    "code to load": ({"plugin.library.paths": "/tmp/x.so"}, r"plugin\.library\.paths.*load code"),
    "program to run": ({"sasl.kerberos.kinit.cmd": "id"}, r"kinit\.cmd.*run a program"),
    "shell in a principal": ({"sasl.kerberos.principal": "a$(id)"}, r"sasl\.kerberos\.principal"),
    "TLS that believes anybody": ({"enable.ssl.certificate.verification": "false", "bootstrap.servers": "broker.example.com:9093"}, r"would be believed"),
    "plaintext to elsewhere": ({"security.protocol": "plaintext", "ssl.ca.location": ..., "bootstrap.servers": "localhost:1,192.0.2.1:9092"}, r"192\.0\.2\.1:9092 would be reached without TLS"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_the_configuration_itself_is_refused(secure, lake, topic, case):
    properties, said = REFUSED[case]
    outcome = pipeline_of(secure, lake, topic, "TLS", **properties).run(env=environment_of(secure)).expect(2)
    assert re.search(said, outcome.stderr), outcome.stderr
    assert "canary" not in outcome.stderr


# --- while time passes --------------------------------------------------------------------------


def quiet_then_busy(secure, lake, topic, pipeline, rounds, is_over, what):
    """Runs while nothing comes, until is_over(); then records arrive and are committed. Several times."""
    topic_of(secure, topic, ids(0, 5))
    with pipeline.start(env=environment_of(secure, **getattr(pipeline, "environment", {}))) as running:
        running.wait_for_commit(5)
        for number in range(1, rounds + 1):
            running.wait_until(is_over(), what, 60)
            produce(secure, topic, ids(number * 5, number * 5 + 5))
            running.wait_for_commit(number * 5 + 5, 30)
        outcome = running.terminate().expect()
    lake.expect_ids(pipeline.table, range(rounds * 5 + 5))
    assert "Failed to acquire" not in outcome.stderr and "invalid credentials" not in outcome.stderr, outcome.stderr
    # A busy machine may miss the moment; then the broker ends the connection, and another one is made.
    assert outcome.stderr.count("Disconnected") <= 2, outcome.stderr
    expect_no_secret(secure, lake, outcome.stderr, outcome.stdout)
    return outcome


def passed(seconds):
    """A condition that comes true after this time: what is waited for is the broker's clock, not ours."""
    def make():
        end = time.monotonic() + seconds
        return lambda: time.monotonic() >= end
    return make


def test_tokens_are_renewed_on_a_quiet_topic(secure, lake, topic):
    """The broker ends a session with its token; when the records come, the first token is long over."""
    pipeline = pipeline_of(secure, lake, topic, "Tokens: OAUTHBEARER", **{"sasl.oauthbearer.client.id": "brief"})
    first_is_over = passed(token_server.BRIEF_SECONDS + 1)
    quiet_then_busy(secure, lake, topic, pipeline, 1, first_is_over, "the end of the first token")
    assert sum(request["client"] == "brief" for request in secure.issued_tokens()) >= 2


def test_sessions_that_the_broker_ends_are_renewed(secure, lake, topic):
    pipeline = pipeline_of(secure, lake, topic, "User and password: SCRAM", "SESSION")
    quiet_then_busy(secure, lake, topic, pipeline, 2, passed(SESSION_MILLIS / 1000 * 1.5), "the end of a session")


def test_kerberos_tickets_are_renewed(secure, lake, topic):
    """Tickets of six seconds, a login every two, and sessions of three: without new tickets the second round has none."""
    short = secure.files / "short_krb5.conf"
    text = (secure.folder / "kerberos" / "krb5.conf").read_text()
    short.write_text(text.replace("[libdefaults]", "[libdefaults]\n ticket_lifetime = 6s"))
    pipeline = pipeline_of(secure, lake, topic, "Kerberos", **{"sasl.kerberos.min.time.before.relogin": "2000"})
    pipeline.environment = {"KRB5_CONFIG": str(short), "KRB5CCNAME": f"FILE:{lake.folder}/short_tickets"}
    quiet_then_busy(secure, lake, topic, pipeline, 2, passed(8), "the end of a ticket")
