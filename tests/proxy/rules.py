"""What a proxy does to the requests that a rule matches.

A rule matches by method, by a regular expression that is searched in the target (path and query), and by a predicate over the request; it
lets `skip` matching requests pass and then acts `times` times (None: always). The first rule that matches acts, the others do not see
the request.

`when` says whether the server has seen the request at the moment of the fault: "before" it never sees it, "after" it has answered.
"""
import dataclasses
import re
import threading
from typing import Callable, Optional

HTML = (b"<html><head><title>Error</title></head><body><h1>It went wrong</h1></body></html>", "text/html")
JSON = (b'{"error":{"message":"said by the proxy","type":"ProxyFault","code":0}}', "application/json")


@dataclasses.dataclass
class Drop:
    """The connection is reset, without an answer."""
    when: str = "after"


@dataclasses.dataclass
class Delay:
    """The request waits before it goes on; nothing is lost."""
    seconds: float


@dataclasses.dataclass
class Hang:
    """No answer ever comes, and the connection stays open."""
    when: str = "after"


@dataclasses.dataclass
class Double:
    """The server gets the request twice, one after the other; the client gets one of the answers."""
    answer: str = "first"  # or "second"


@dataclasses.dataclass
class Truncate:
    """The answer's head promises the whole body, and the connection ends after a share of it."""
    share: float = 0.5


@dataclasses.dataclass
class Replace:
    """Another answer than the server's."""
    status: int
    when: str = "after"
    content: tuple = JSON
    headers: tuple = ()


@dataclasses.dataclass
class Rewrite:
    """The server's answer, changed."""
    change: Callable   # http_message.Answer → Answer


@dataclasses.dataclass
class Late:
    """The connection is reset at once, and the request reaches the server later: when `release` is called, or `after` further
    requests have been answered of those that `of` matches. The sender has then given up long ago."""
    after: int = 1
    of: Optional[Callable] = None  # request → bool; None: any request


@dataclasses.dataclass
class Act:
    """Which of the above for each request: a function of the request; None lets it pass."""
    choose: Callable


class Rule:
    def __init__(self, action, method=None, path="", where=None, skip=0, times=None):
        self.action = action
        self.method = method
        self.path = re.compile(path)
        self.where = where
        self.skip = skip
        self.times = times
        self.seen = 0    # matching requests
        self.acted = 0
        self._lock = threading.Lock()

    def take(self, request):
        """True when this rule acts on the request: counted."""
        if self.method not in (None, request.method) or not self.path.search(request.target) or (self.where and not self.where(request)):
            return False
        with self._lock:
            self.seen += 1
            if self.seen <= self.skip or (self.times is not None and self.acted >= self.times):
                return False
            self.acted += 1
            return True
