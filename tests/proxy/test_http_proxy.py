"""The HTTP proxy does what its rules say, and nothing else. Upstream: a tiny server that counts what it applied."""
import http.client
import http.server
import json
import ssl
import sys
import threading
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from proxy import rules  # noqa: E402
from proxy.authority import Authority  # noqa: E402
from proxy.http_proxy import HttpProxy  # noqa: E402


class Upstream(http.server.BaseHTTPRequestHandler):
    """Applies a POST or PUT by noting its body, answers with how many it has applied; a GET lists them in chunks."""
    protocol_version = "HTTP/1.1"

    def _note(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        with self.server.lock:
            self.server.applied.append(body)
            self.server.hosts.append(self.headers.get("Host"))
            count = len(self.server.applied)
        answer = json.dumps({"count": count}).encode()
        self.send_response(200 if count == 1 else 409)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    do_POST = do_PUT = _note

    def do_GET(self):
        if self.path == "/nothing":
            self.send_response(204)
            self.end_headers()
            return
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for body in self.server.applied:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(body), body))
        self.wfile.write(b"0\r\n\r\n")

    def do_HEAD(self):
        self.send_response(200)
        self.send_header("Content-Length", "12345")
        self.end_headers()

    def log_message(self, *unused):
        pass


@pytest.fixture
def upstream():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
    server.applied, server.hosts, server.lock = [], [], threading.Lock()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def proxy(upstream):
    with HttpProxy(upstream.server_address[1]) as proxy:
        yield proxy


def ask(proxy, method="POST", path="/commit", body=b"a", headers=None):
    """(status, body) of one request on a connection of its own."""
    connection = http.client.HTTPConnection("127.0.0.1", proxy.port, timeout=10)
    try:
        connection.request(method, path, body if method in ("POST", "PUT") else None, headers or {})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


LOST = (ConnectionError, http.client.RemoteDisconnected)


def test_without_rules_everything_passes_and_host_stays(upstream, proxy):
    connection = http.client.HTTPConnection("127.0.0.1", proxy.port, timeout=10)
    for number in (1, 2):  # one connection of the client for all
        connection.request("POST", "/commit", b"b" * number, {"Host": "store.example"})
        answer = connection.getresponse()
        assert (answer.status, json.loads(answer.read())) == (200 if number == 1 else 409, {"count": number})
    connection.request("GET", "/list")
    assert connection.getresponse().read() == b"bbb"
    connection.request("HEAD", "/x")
    answer = connection.getresponse()
    assert (answer.read(), answer.getheader("Content-Length")) == (b"", "12345")
    connection.request("GET", "/nothing")
    assert connection.getresponse().status == 204
    connection.close()
    assert upstream.applied == [b"b", b"bb"] and upstream.hosts == ["store.example"] * 2
    assert [(e.method, e.sent, e.server, e.answered) for e in proxy.log[:2]] == [("POST", 1, [200], 200), ("POST", 1, [409], 409)]


def test_a_body_of_many_chunks_and_one_that_waits_for_continue(upstream, proxy):
    connection = http.client.HTTPConnection("127.0.0.1", proxy.port, timeout=10)
    connection.request("PUT", "/big", iter([b"x" * 100_000] * 3), encode_chunked=True, headers={"Transfer-Encoding": "chunked"})
    assert connection.getresponse().status == 200
    connection.close()
    assert upstream.applied == [b"x" * 300_000]
    assert ask(proxy, body=b"y", headers={"Expect": "100-continue"})[0] == 409
    assert upstream.applied[1] == b"y"


def test_dropped_before_was_never_applied_and_dropped_after_was(upstream, proxy):
    proxy.add(rules.Drop("before"), path="^/commit", times=1)
    with pytest.raises(LOST):
        ask(proxy)
    assert upstream.applied == []
    proxy.add(rules.Drop("after"), path="^/commit", times=1)
    with pytest.raises(LOST):
        ask(proxy)
    assert upstream.applied == [b"a"]
    assert ask(proxy)[0] == 409
    assert [(e.sent, e.answered) for e in proxy.log] == [(0, None), (1, None), (1, 409)]


@pytest.mark.parametrize("answer,status", [("first", 200), ("second", 409)])
def test_doubled_is_applied_twice_and_one_answer_comes_back(upstream, proxy, answer, status):
    proxy.add(rules.Double(answer), method="POST")
    assert ask(proxy)[0] == status
    assert upstream.applied == [b"a", b"a"] and proxy.log[0].server == [200, 409]


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
@pytest.mark.parametrize("when", ["before", "after"])
def test_an_answer_is_replaced(upstream, proxy, status, when):
    proxy.add(rules.Replace(status, when, rules.HTML, (("Retry-After", "1"),)), times=1)
    assert ask(proxy) == (status, rules.HTML[0])
    assert len(upstream.applied) == (when == "after")
    assert ask(proxy)[0] == (409 if when == "after" else 200)


def test_an_answer_is_rewritten(upstream, proxy):
    def change(answer):
        answer.body = answer.body.replace(b"count", b"number")
        return answer
    proxy.add(rules.Rewrite(change), times=1)
    assert ask(proxy) == (200, b'{"number": 1}')


def test_a_truncated_answer_promises_more_than_it_holds(upstream, proxy):
    proxy.add(rules.Truncate(0.5), method="POST")
    with pytest.raises(http.client.IncompleteRead) as error:
        ask(proxy)
    assert error.value.partial == b'{"coun' and upstream.applied == [b"a"]


def test_a_late_request_arrives_after_so_many_others(upstream, proxy):
    proxy.add(rules.Late(after=2, of=lambda r: r.method == "GET"), method="POST", times=1)
    with pytest.raises(LOST):
        ask(proxy, body=b"late")
    assert ask(proxy, body=b"early")[0] == 200
    assert ask(proxy, "GET", "/list")[1] == b"early"
    assert ask(proxy, "GET", "/list")[1] == b"early"
    deadline = time.monotonic() + 10
    while not proxy.log[0].done:
        assert time.monotonic() < deadline
    assert ask(proxy, "GET", "/list")[1] == b"earlylate"
    assert proxy.log[0].server == [409]


def test_a_late_request_can_be_released_by_hand(upstream, proxy):
    proxy.add(rules.Late(after=10), times=1)
    with pytest.raises(LOST):
        ask(proxy, body=b"late")
    assert upstream.applied == []
    assert proxy.release() == 1 and upstream.applied == [b"late"]
    assert proxy.release() == 0


def test_rules_choose_by_method_path_content_and_turn(upstream, proxy):
    rule = proxy.add(rules.Replace(503, "before"), method="POST", path=r"^/tables/t\?x", where=lambda r: b"commit" in r.body, skip=1, times=1)
    for path, body in [("/other", b"commit"), ("/tables/t?x=1", b"else"), ("/tables/t?x=1", b"commit 1")]:
        assert ask(proxy, path=path, body=body)[0] in (200, 409)
    assert ask(proxy, path="/tables/t?x=1", body=b"commit 2")[0] == 503
    assert ask(proxy, path="/tables/t?x=1", body=b"commit 3")[0] == 409
    assert (rule.seen, rule.acted) == (3, 1)
    proxy.add(rules.Act(lambda r: rules.Replace(500, "before") if r.body == b"7" else None))
    assert ask(proxy, body=b"7")[0] == 500 and ask(proxy, body=b"8")[0] == 409
    proxy.clear()
    assert ask(proxy, body=b"7")[0] == 409


def test_delay_holds_an_answer_back_and_loses_nothing(upstream, proxy):
    proxy.add(rules.Delay(0.2), times=1)
    assert ask(proxy)[0] == 200 and proxy.log[0].sent == 1


@pytest.mark.parametrize("when, applied", [("before", 0), ("after", 1)])
def test_a_request_that_hangs_is_applied_or_not_and_never_answered(upstream, proxy, when, applied):
    proxy.add(rules.Hang(when))
    connection = http.client.HTTPConnection("127.0.0.1", proxy.port, timeout=0.5)
    connection.request("POST", "/", b"x")
    with pytest.raises(TimeoutError):
        connection.getresponse()
    connection.close()
    assert len(upstream.applied) == applied


def test_secrets_do_not_enter_the_log(upstream, proxy):
    ask(proxy, headers={"Authorization": "Bearer abc"})
    assert ("Authorization", "***") in proxy.log[0].headers and proxy.log[0].body is None


def test_a_server_that_is_away_is_a_connection_that_breaks(upstream):
    with HttpProxy(1) as proxy, pytest.raises(LOST):
        ask(proxy)


def test_tls_in_front_is_verified_by_name(upstream, tmp_path):
    authority = Authority(tmp_path)
    with HttpProxy(upstream.server_address[1], tls=authority.server_context()) as proxy:
        trusting = ssl.create_default_context(cafile=str(authority.ca_file))
        for host in ("localhost", "127.0.0.1"):
            connection = http.client.HTTPSConnection(host, proxy.port, context=trusting, timeout=10)
            connection.request("GET", "/list")
            assert connection.getresponse().status == 200
            connection.close()
        with pytest.raises(ssl.SSLError):
            http.client.HTTPSConnection("localhost", proxy.port, context=ssl.create_default_context(), timeout=10).request("GET", "/")
