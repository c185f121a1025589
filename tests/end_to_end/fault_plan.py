"""Which commit requests meet which fault, and what a run with such faults must have left: for the tests of lost replies.

A Plan is a rule's choice for the proxy (rules.Act): each commit request takes the next fault of a shuffled list, or by the dice none, until the
list is used up. CommitRequests reads from the proxy's log what the catalog was asked, RunLog from Frazil's log what it decided and why.
"""
import json
import re
import threading

from proxy import rules

STATUSES = (429, 500, 502, 503, 504)
PASS_SHARE = 0.2   # commit requests between the faults that meet none


def is_load(table):
    return lambda request: request.method == "GET" and re.search(rf"/tables/{table}(\?|$)", request.target) is not None


def is_commit(table):
    return lambda request: request.method == "POST" and request.target.endswith(f"/tables/{table}") and b"assert-create" not in request.body


def late_fault(dice):
    """Lands after the next look at the table, after a later look, or after the next commit to it."""
    kind = dice.choice(("load", "loads", "commit"))
    return lambda table: rules.Late(after=3 if kind == "loads" else 1, of=(is_commit if kind == "commit" else is_load)(table))


def always(action):
    return lambda table: action


def faults(dice, lost, late, doubled, each):
    """The list: `each` times every replacement, before and after."""
    found = [always(rules.Drop("after"))] * lost
    found += [late_fault(dice) for _ in range(late)]
    found += [always(rules.Double(dice.choice(("first", "second")))) for _ in range(doubled)]
    for when in ("before", "after"):
        found += [always(rules.Replace(status, when)) for status in STATUSES] * each
        found += [always(rules.Replace(status, when, rules.HTML)) for status in (200, 502)] * each
        found += [always(rules.Replace(503, when, headers=(("Retry-After", "0"),)))] * each
    found += [always(rules.Drop("before")), always(rules.Truncate(0.5)), always(rules.Truncate(0.99))] * each
    dice.shuffle(found)
    return found


class Plan:
    def __init__(self, dice, found):
        self._dice = dice
        self._left = list(found)
        self._lock = threading.Lock()
        self.total = len(found)

    def __call__(self, request):
        with self._lock:
            table = request.target.rsplit("/", 1)[1]
            if not self._left or not is_commit(table)(request) or self._dice.random() < PASS_SHARE:
                return None
            return self._left.pop()(table)

    @property
    def left(self):
        return len(self._left)


class CommitRequests:
    """The commit requests to one table, as the proxy saw them."""

    def __init__(self, proxy, table):
        self.exchanges = [e for e in proxy.exchanges("POST") if e.target.endswith(f"/tables/{table}") and b"assert-create" not in e.body]
        self.bodies = [json.loads(e.body) for e in self.exchanges]
        self.snapshots = [next((u["snapshot"] for u in body["updates"] if u["action"] == "add-snapshot"), None) for body in self.bodies]
        assert None not in self.snapshots, "a commit without a snapshot"

    def expect_each_sent_once(self, attempts):
        """As many requests as attempts in the log; each names a manifest list that no other names, so none was repeated."""
        assert len(self.exchanges) == attempts, f"{len(self.exchanges)} requests for {attempts} attempts"
        lists = [snapshot["manifest-list"] for snapshot in self.snapshots]
        assert len(set(lists)) == len(lists), "a request was sent again as it was"

    @property
    def ids(self):
        return {snapshot["snapshot-id"] for snapshot in self.snapshots}

    def unclear(self):
        """Requests whose sender did not get the catalog's own, whole 200."""
        return [e for e in self.exchanges if e.answered != 200 or isinstance(e.action, rules.Replace)]


class RunLog:
    """Frazil's log in JSON lines, at level debug."""

    def __init__(self, text):
        self.events = [json.loads(line) for line in text.splitlines() if line.startswith("{")]

    def of(self, event, **fields):
        return [e for e in self.events if e.get("event") == event and all(e.get(k) == v for k, v in fields.items())]
