"""HttpProxy: stands before one HTTP server, passes whole requests on, and does to some of them what its rules say.

Every request goes to the server over a connection of its own, so the proxy itself never sends one twice. Host and all other headers stay, so
signatures hold. With `tls` (an ssl.SSLContext) clients speak TLS to the proxy, while the server is spoken to in the clear.
`log` holds an Exchange for each request. Any thread may add rules and read the log.
"""
import asyncio
import itertools
import socket
import struct
import threading
import time

from proxy import rules
from proxy.http_message import LIMIT, Answer, bytes_of_answer, read_answer, read_request, write_request
from proxy.loop_thread import LoopThread


KEPT = 1 << 20


class Exchange:
    """What became of one request. sent: how often it was sent to the server; server: the statuses that came back; answered: the status the client got,
    or None; done: nothing more will happen."""

    def __init__(self, number, request):
        self.number = number
        self.at = time.time()
        self.method = request.method
        self.target = request.target
        self.headers = [(name, "***" if name.lower() == "authorization" else value) for name, value in request.headers]
        self.body = request.body if len(request.body) <= KEPT else None
        self.body_bytes = len(request.body)
        self.action = None
        self.sent = 0
        self.server = []
        self.answered = None
        self.done = False

    def __str__(self):
        told = f" {self.action}" if self.action else ""
        return f"#{self.number} {self.method} {self.target} ({self.body_bytes} bytes){told}: sent {self.sent}, server {self.server}, client {self.answered}"


class _Held:
    """A request whose sender was cut off and that the server has yet to see."""

    def __init__(self, request, exchange, action):
        self.request = request
        self.exchange = exchange
        self.action = action
        self.answered = 0


class HttpProxy:
    def __init__(self, server_port, server_host="127.0.0.1", tls=None, name="http"):
        self.server_port = server_port   # may be set later, when the server has to know the proxy first
        self._server_host = server_host
        self._tls = tls
        self._rules = []
        self._held = []
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._thread = LoopThread(f"proxy {name}")
        self._writers = set()
        self.keep_bodies = False   # of requests, up to KEPT bytes each, in the log
        self.log = []
        self.port = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *unused):
        self.stop()

    def start(self):
        self._listener = self._thread.call(asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self._tls, limit=LIMIT))
        self.port = self._listener.sockets[0].getsockname()[1]

    def stop(self):
        self._thread.call(self._close())
        self._thread.stop()

    async def _close(self):
        self._listener.close()

    @property
    def url(self):
        """By name under TLS: the tests' certificates are for localhost."""
        return f"https://localhost:{self.port}" if self._tls else f"http://127.0.0.1:{self.port}"

    # --- what tests say and ask -----------------------------------------------------------------

    def add(self, action, **match):
        """A rule (rules.Rule), behind those that are there."""
        rule = rules.Rule(action, **match)
        with self._lock:
            self._rules.append(rule)
        return rule

    def clear(self):
        """No rules any more; what is held stays held."""
        with self._lock:
            self._rules.clear()

    def release(self):
        """Every held request goes to the server now; returns how many, when they are answered."""
        return self._thread.call(self._release(self._take_held(lambda held: True)))

    def exchanges(self, method=None, path=""):
        with self._lock:
            return [e for e in self.log if method in (None, e.method) and path in e.target]

    def forget(self):
        """Empties the log: what comes now is another test's."""
        with self._lock:
            self.log.clear()

    # --- connections ----------------------------------------------------------------------------

    def cut(self):
        """Resets every connection of a client now."""
        self._thread.call(self._cut())

    async def _cut(self):
        for writer in list(self._writers):
            _reset(writer)

    async def _serve(self, reader, writer):
        self._writers.add(writer)
        try:
            while (request := await read_request(reader, writer)) is not None:
                if not await self._exchange(request, writer):
                    return
        except (ConnectionError, asyncio.IncompleteReadError, OSError, asyncio.CancelledError):
            pass   # cancelled: the proxy is stopped while a request hangs
        finally:
            self._writers.discard(writer)
            writer.close()

    async def _exchange(self, request, writer):
        """False when the connection must end."""
        with self._lock:
            exchange = Exchange(next(self._numbers), request)
            if not self.keep_bodies:
                exchange.body = None
            self.log.append(exchange)
            rule = next((rule for rule in self._rules if rule.take(request)), None)
        action = rule.action if rule else None
        if isinstance(action, rules.Act):
            action = action.choose(request)
        exchange.action = action
        try:
            return await self._act(action, request, exchange, writer)
        finally:
            if not isinstance(action, rules.Late):
                exchange.done = True
            await self._release(self._due(request))

    async def _act(self, action, request, exchange, writer):
        if isinstance(action, rules.Late):
            with self._lock:
                self._held.append(_Held(request, exchange, action))
            return _reset(writer)
        if isinstance(action, rules.Delay):
            await asyncio.sleep(action.seconds)
        if isinstance(action, (rules.Drop, rules.Hang, rules.Replace)) and action.when == "before":
            answer = None
        else:
            answer = await self._send(request, exchange)
            if answer is None:  # the server broke off: so do we
                return _reset(writer)
        if isinstance(action, rules.Double):
            second = await self._send(request, exchange)
            answer = second if action.answer == "second" and second else answer
        if isinstance(action, rules.Hang):
            await asyncio.Event().wait()   # until the proxy is stopped
        if isinstance(action, rules.Drop):
            return _reset(writer)
        if isinstance(action, rules.Rewrite):
            answer = action.change(answer)
        if isinstance(action, rules.Replace):
            content, kind = action.content
            is_head = request.method == "HEAD"
            answer = Answer(action.status, "Replaced", [("Content-Type", kind), *action.headers], None if is_head else content)
        return await self._answer(answer, exchange, writer, action)

    async def _answer(self, answer, exchange, writer, action):
        head, body = bytes_of_answer(answer)
        if isinstance(action, rules.Truncate):
            writer.write(head + body[:int(len(body) * action.share)])
            await writer.drain()
            return False
        exchange.answered = answer.status
        exchange.done = True
        writer.write(head + body)
        await writer.drain()
        return True

    async def _send(self, request, exchange):
        """The server's answer, or None when it broke off."""
        exchange.sent += 1
        writer = None
        try:
            reader, writer = await asyncio.open_connection(self._server_host, self.server_port, limit=LIMIT)
            await write_request(writer, request)
            answer = await read_answer(reader, request.method)
        except (ConnectionError, asyncio.IncompleteReadError, OSError):
            exchange.server.append(None)
            return None
        finally:
            if writer:
                writer.close()
        exchange.server.append(answer.status)
        return answer

    # --- late requests --------------------------------------------------------------------------

    def _due(self, request):
        def is_due(held):
            if held.action.of is not None and not held.action.of(request) or held.request is request:
                return False
            held.answered += 1
            return held.answered >= held.action.after
        return self._take_held(is_due)

    def _take_held(self, condition):
        with self._lock:
            due = [held for held in self._held if condition(held)]
            self._held = [held for held in self._held if held not in due]
        return due

    async def _release(self, due):
        for held in due:
            await self._send(held.request, held.exchange)
            held.exchange.done = True
        return len(due)


def _reset(writer):
    """Ends with RST, as a network that is cut does: no orderly end, nothing that waits to be sent."""
    sock = writer.get_extra_info("socket")
    if sock is not None:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
    return False
