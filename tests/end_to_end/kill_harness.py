"""What tests by kill -9 are made of: a producer that never rests, and victims whose logs tell where they stand.

Phase of a kill, by the last events in the victim's log (written before it died, each by one write):

reading         an epoch is open, nothing of an earlier one is under way
writing         an epoch was cut; its files and manifests are being written
commit sent     the catalog was asked to swap; no answer yet
answered        the swap is done; what it owes is being prepared
dead letters    the commit to the dead-letter table was sent; no answer yet
group offsets   the consumer group's offsets were sent; no answer yet
"""
import collections
import json
import pathlib
import random
import signal
import subprocess
import threading
import time
import zlib

from confluent_kafka import Producer

from pipeline import BINARY, environment

PHASES = ("reading", "writing", "commit sent", "answered", "dead letters", "group offsets")

# How long after entering a phase the blow may fall, in seconds: about as long as the phase lasts.
WINDOW = {"reading": 0.3, "writing": 0.08, "commit sent": 0.02, "answered": 0.01, "dead letters": 0.02, "group offsets": 0.003}
AIMS = 6   # a phase of a few milliseconds may be over before the blow falls: then the next one is waited for

# Events of the log that begin a step of the commit lane, and those that end the step before the next begins.
BEGINS = {"commit_sent": "commit sent", "commit_accepted": "answered", "owed_sent": "dead letters", "owed_applied": "answered",
          "group_offsets_sent": "group offsets", "group_offsets_written": "answered"}


class Progress:
    """Where a process stands, told by its log events, one after the other."""

    def __init__(self):
        self.is_reading = False   # from the first position in the table on: the start's own commit is no epoch
        self.opened = set()       # epochs with records that are not settled
        self.cut = set()
        self.lost = 0             # epochs that were begun and given up; those of the attempt that goes on are not among them
        self.step = None
        self.entered = collections.Counter()
        self.counts = collections.Counter()   # of all events
        self.unanswered = None    # the snapshot of a commit request to which no answer is known
        self.begins_with = None   # seconds from the process's start to its first commit of an epoch

    def feed(self, event, age=0.0):
        """age: seconds since the process was started."""
        name, epoch = event.get("event"), event.get("epoch")
        self.counts[name] += 1
        if name == "commit_sent":
            self.unanswered = event.get("snapshot")
        elif name in ("commit_accepted", "commit_found", "commit_decided"):
            self.unanswered = None
        if name == "commit_accepted" and self.is_reading and self.begins_with is None:
            self.begins_with = age
        if name == "epoch_opened":
            self.is_reading = True
            self.opened.add(epoch)
            self.entered["reading"] += 1
        elif name == "epoch_cut":
            self.cut.add(epoch)
            self.entered["writing"] += 1
        elif name in ("reading_begins", "epoch_dropped"):   # an attempt counts its epochs from the start
            self.lost = self.lost_so_far
            self.opened, self.cut = set(), set()
            self.step = None
        elif name == "attempt_failed":
            self.lost += 1   # the epoch whose commit failed was settled before
        elif name == "epoch_settled":
            self.opened.discard(epoch)
            self.cut.discard(epoch)
            self.step = None
        elif name in BEGINS and self.is_reading and self.cut:
            self.step = BEGINS[name]
            self.entered[self.step] += 1

    @property
    def is_open(self):
        return bool(self.opened)

    @property
    def lost_so_far(self):
        """Epochs whose files may be orphans if the process is killed now."""
        return self.lost + len(self.opened | self.cut)

    @property
    def phase(self):
        if not self.opened:
            return None
        if self.step:
            return self.step
        return "writing" if self.opened & self.cut else "reading"


class Victim:
    """A `frazil run` that is going to be killed. A thread reads its log; a context manager never leaves a process behind."""

    def __init__(self, arguments, env=None, name="victim"):
        self.name = name
        self.progress = Progress()
        self.lines = collections.deque(maxlen=200)
        self.process = subprocess.Popen([str(BINARY), *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.PIPE, env=environment(**(env or {})))
        self._begun = time.monotonic()
        self._changed = threading.Condition()
        self._is_over = False
        self._reader = threading.Thread(target=self._read, name=f"log of {name}", daemon=True)
        self._reader.start()

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.kill()
        self.process.wait()
        self._reader.join()
        self.process.stderr.close()

    def follow(self, condition, what, seconds=60):
        """Waits until condition(progress) holds."""
        deadline = time.monotonic() + seconds
        with self._changed:
            while not condition(self.progress):
                if self._is_over:
                    raise AssertionError(f"{self.name} ended before {what}:\n{self.tail()}")
                if not self._changed.wait(deadline - time.monotonic()):
                    raise TimeoutError(f"waited {seconds} s for {what}:\n{self.tail()}")

    def follow_for(self, seconds):
        """Lets it work for this long: the random moment."""
        deadline = time.monotonic() + seconds
        with self._changed:
            while (left := deadline - time.monotonic()) > 0:
                if self._is_over:
                    raise AssertionError(f"{self.name} ended by itself:\n{self.tail()}")
                self._changed.wait(left)

    def kill(self):
        """kill -9, then reads what was still in the pipe. Returns the phase it died in, None when no epoch was open."""
        assert self.process.poll() is None, f"{self.name} ended by itself:\n{self.tail()}"
        self.process.kill()
        self.process.wait()
        self._reader.join()
        return self.progress.phase

    def bounds(self):
        """Resident memory, descriptors and threads, for history.py; None when it has just ended."""
        try:
            status = dict(line.split(":", 1) for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines())
            return {"rss_mb": int(status["VmRSS"].split()[0]) / 1024, "threads": int(status["Threads"]),
                    "open_files": len(list(pathlib.Path(f"/proc/{self.process.pid}/fd").iterdir()))}
        except (OSError, KeyError):
            return None

    def tail(self):
        return "\n".join(self.lines)[-4000:]

    def _read(self):
        for line in self.process.stderr:
            text = line.decode("utf-8", "replace").rstrip("\n")
            with self._changed:
                self.lines.append(text)
                if text.startswith("{"):
                    self.progress.feed(json.loads(text), time.monotonic() - self._begun)
                self._changed.notify_all()
        with self._changed:
            self._is_over = True
            self._changed.notify_all()


def strike(victim, dice, hits, seconds=60):
    """Lets the victim work, kills it in an open epoch, at times anywhere, at times soon after it entered the phase that `hits` has least of.
    Returns the phase (None: the epoch ended under the blow)."""
    victim.follow(lambda p: p.is_open, "an epoch to open", seconds)
    if dice.random() < 0.3:
        victim.follow_for(dice.uniform(0, 1.2))
    else:
        aim = min(PHASES, key=lambda phase: (hits[phase], dice.random()))
        for _ in range(dice.choice((0, 0, 1))):
            await_phase(victim, aim, seconds)
        for _ in range(AIMS):
            await_phase(victim, aim, seconds)
            victim.follow_for(dice.uniform(0, WINDOW[aim]))
            if victim.progress.phase == aim:
                break
    victim.follow(lambda p: p.is_open, "an open epoch", seconds)
    return victim.kill()


def await_phase(victim, phase, seconds=60):
    before = victim.progress.entered[phase]
    victim.follow(lambda p: p.entered[phase] > before, f"phase {phase}", seconds)


class Stream:
    """A producer in a thread of its own. Every record that Kafka has acknowledged is remembered by partition and offset."""

    def __init__(self, kafka, topic, partitions, per_second, bad_share, seed):
        self.topic = topic
        self.partitions = partitions
        self.per_second = per_second
        self.bad_share = bad_share
        self._random = random.Random(seed)
        self._producer = Producer({"bootstrap.servers": kafka.bootstrap_servers, "acks": "all", "enable.idempotence": True,
                                   "linger.ms": 5, "compression.type": "lz4", "log_level": 2})
        self._end = threading.Event()
        self._failures = []
        self.sent = 0    # handed to the client, acknowledged or not
        self.good = {}   # (partition, offset) → (id, crc of the text)
        self.bad = {}    # (partition, offset) → crc of the value
        self._thread = threading.Thread(target=self._run, name="stream")

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *unused):
        self.stop()

    def stop(self):
        """Returns when everything is acknowledged."""
        self._end.set()
        if self._thread.is_alive():
            self._thread.join()
        assert not self._failures, self._failures[:3]

    @property
    def produced(self):
        return {**self.good, **self.bad}

    def _run(self):
        try:
            begun = time.monotonic()
            while not self._end.is_set():
                due = int((time.monotonic() - begun) * self.per_second)
                while self.sent < due:
                    self._send(self.sent)
                    self.sent += 1
                self._producer.poll(0)
                self._end.wait(0.01)
            assert self._producer.flush(60) == 0, "records without acknowledgement"
        except Exception as error:  # pylint: disable=broad-except
            self._failures.append(error)

    def _send(self, number):
        partition = self._random.randrange(self.partitions)
        if self._random.random() < self.bad_share:
            value = f'{{"id": "not a number {number}"}}'.encode()
            fact = ("bad", zlib.crc32(value))
        else:
            text = f"{number} " + self._random.choice(("short", "mid " * 20, "é✓🧊 " * 10)) + str(self._random.getrandbits(64))
            value = json.dumps({"id": number, "text": text, "crc": zlib.crc32(text.encode())}, ensure_ascii=False).encode()
            fact = ("good", (number, zlib.crc32(text.encode())))
        while True:
            try:
                self._producer.produce(self.topic, value, partition=partition,
                                       on_delivery=lambda error, message, fact=fact: self._note(error, message, fact))
                return
            except BufferError:
                self._producer.poll(1)

    def _note(self, error, message, fact):
        if error:
            self._failures.append(error)
            return
        kind, content = fact
        (self.good if kind == "good" else self.bad)[(message.partition(), message.offset())] = content
