"""Whole HTTP/1.1 messages, read from and written to asyncio's streams. Bodies are kept in memory; nothing is decoded but chunks."""
import asyncio

LIMIT = 64 * 1024
NO_BODY = (204, 304)


class Request:
    """target and headers as they came: Host and a signature over it stay true."""

    def __init__(self, method, target, headers, body):
        self.method = method
        self.target = target
        self.headers = headers  # pairs, in their order
        self.body = body

    def header(self, name):
        return header_of(self.headers, name)


class Answer:
    """body is None where there is none to send (HEAD, 204, 304) though the headers may give a length."""

    def __init__(self, status, reason, headers, body):
        self.status = status
        self.reason = reason
        self.headers = headers
        self.body = body


def header_of(headers, name):
    return next((value for key, value in headers if key.lower() == name), None)


async def _head(reader):
    """The first line and the headers; None when the peer has closed before a byte came."""
    try:
        text = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except asyncio.IncompleteReadError as error:
        if not error.partial:
            return None
        raise
    first, *lines = text[:-4].split("\r\n")
    return first, [(name, value.strip()) for name, _, value in (line.partition(":") for line in lines)]


async def _chunks(reader):
    parts = []
    while size := int((await reader.readline()).split(b";")[0], 16):
        parts.append(await reader.readexactly(size))
        await reader.readexactly(2)
    while (await reader.readline()).strip():
        pass
    return b"".join(parts)


def _is_chunked(headers):
    return "chunked" in (header_of(headers, "transfer-encoding") or "").lower()


async def read_request(reader, writer):
    """The next request, whole; None at the end of the connection. A client that waits for 100 Continue gets it."""
    head = await _head(reader)
    if head is None:
        return None
    first, headers = head
    method, target, _ = first.split(" ", 2)
    if (header_of(headers, "expect") or "").lower() == "100-continue":
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        await writer.drain()
    if _is_chunked(headers):
        body = await _chunks(reader)
    else:
        body = await reader.readexactly(int(header_of(headers, "content-length") or 0))
    return Request(method, target, headers, body)


async def write_request(writer, request):
    """As it came, but for the framing: one length, no Expect, and the connection is used once."""
    dropped = ("content-length", "transfer-encoding", "expect", "connection")
    lines = [f"{request.method} {request.target} HTTP/1.1"]
    lines += [f"{name}: {value}" for name, value in request.headers if name.lower() not in dropped]
    had_length = request.header("content-length") is not None or request.header("transfer-encoding") is not None
    if request.body or had_length:
        lines.append(f"Content-Length: {len(request.body)}")
    lines += ["Connection: close", "", ""]
    writer.write("\r\n".join(lines).encode("latin-1") + request.body)
    await writer.drain()


async def read_answer(reader, method):
    """The answer, whole; interim answers (1xx) are passed over. Raises when the server breaks off."""
    while True:
        head = await _head(reader)
        if head is None:
            raise ConnectionError("the server closed without an answer")
        first, headers = head
        _, status, *reason = first.split(" ", 2)
        if int(status) >= 200:
            break
    status = int(status)
    if method == "HEAD" or status in NO_BODY:
        body = None
    elif _is_chunked(headers):
        body = await _chunks(reader)
    elif (length := header_of(headers, "content-length")) is not None:
        body = await reader.readexactly(int(length))
    else:
        body = await reader.read()
    return Answer(status, reason[0] if reason else "", headers, body)


def bytes_of_answer(answer):
    """The head with its true length, and the body."""
    dropped = ("transfer-encoding", "connection") + (() if answer.body is None else ("content-length",))
    lines = [f"HTTP/1.1 {answer.status} {answer.reason}"]
    lines += [f"{name}: {value}" for name, value in answer.headers if name.lower() not in dropped]
    if answer.body is not None:
        lines.append(f"Content-Length: {len(answer.body)}")
    return "\r\n".join(lines + ["", ""]).encode("latin-1"), answer.body or b""
