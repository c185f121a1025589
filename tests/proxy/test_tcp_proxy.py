"""The TCP proxy passes, cuts, refuses and stalls."""
import socket
import socketserver
import sys
import threading
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from proxy.tcp_proxy import TcpProxy  # noqa: E402


class Echo(socketserver.BaseRequestHandler):
    def handle(self):
        while piece := self.request.recv(1000):
            self.request.sendall(piece)


@pytest.fixture
def proxy():
    socketserver.ThreadingTCPServer.daemon_threads = True
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Echo) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        with TcpProxy(server.server_address[1]) as proxy:
            yield proxy
        server.shutdown()
        thread.join()


def connect(proxy, seconds=5):
    return socket.create_connection(("127.0.0.1", proxy.port), seconds)


def echo(connection, text):
    connection.sendall(text)
    return connection.recv(1000)


def test_bytes_pass_both_ways(proxy):
    with connect(proxy) as connection:
        assert echo(connection, b"hello") == b"hello"
        assert (proxy.connections, proxy.bytes) == (1, 10)


def test_cut_resets_what_is_there_and_new_connections_pass(proxy):
    with connect(proxy) as connection:
        assert echo(connection, b"a") == b"a"
        assert proxy.cut() == 2
        with pytest.raises(ConnectionError):
            echo(connection, b"b")
            echo(connection, b"b")
    with connect(proxy) as connection:
        assert echo(connection, b"c") == b"c"


def test_refused_are_new_connections_alone(proxy):
    with connect(proxy) as old:
        assert echo(old, b"a") == b"a"
        proxy.refuse()
        with pytest.raises(ConnectionError), connect(proxy) as new:
            if echo(new, b"b") == b"":
                raise ConnectionError
        assert echo(old, b"c") == b"c" and proxy.refused == 1
        proxy.pass_on()
        with connect(proxy) as new:
            assert echo(new, b"d") == b"d"


def test_stalled_bytes_arrive_when_the_proxy_passes_on(proxy):
    with connect(proxy, 0.2) as connection:
        assert echo(connection, b"a") == b"a"
        proxy.stall()
        with pytest.raises(TimeoutError):
            echo(connection, b"b")
        proxy.pass_on()
        connection.settimeout(5)
        assert connection.recv(10) == b"b"
