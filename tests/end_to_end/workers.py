"""Several processes of one pipeline, each followed by its log.

A worker's log is read from its file, so nobody waits for a reader; what it says tells where the worker stands (kill_harness.Progress) and
what its group has given and taken.
"""
import collections
import datetime
import json
import re
import signal

from kill_harness import Progress
from pipeline import Pipeline, wait_until

SESSION_SECONDS = 6   # what brokers allow at least
CLASSIC = {"session.timeout.ms": SESSION_SECONDS * 1000, "heartbeat.interval.ms": 500}


class Worker:
    """One process. As a context manager it never stays behind."""

    def __init__(self, pipeline):
        self.running = pipeline.start()
        self.progress = Progress()
        self.events = []
        self._at = 0

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        if self.running.process.poll() is None:
            self.running.process.send_signal(signal.SIGCONT)
        self.running.__exit__()

    def look(self):
        """Takes in what the log has gained; returns self."""
        with open(self.running._stderr, "rb") as log:
            log.seek(self._at)
            text = log.read()
        whole, newline, _ = text.rpartition(b"\n")
        self._at += len(whole) + len(newline)
        for line in whole.split(b"\n"):
            if line.startswith(b"{"):
                event = json.loads(line)
                self.events.append(event)
                self.progress.feed(event)
        return self

    def of(self, name, **fields):
        return [e for e in self.look().events if e.get("event") == name and all(e.get(k) == v for k, v in fields.items())]

    def wait_for(self, condition, what, seconds=60):
        return self.running.wait_until(lambda: condition(self.look()), what, seconds)

    def wait_for_event(self, name, count=1, seconds=60, **fields):
        return self.wait_for(lambda w: len(w.of(name, **fields)) >= count, f"{count} times {name}", seconds)

    @property
    def splits(self):
        """How many partitions it reads."""
        count = 0
        for event in self.look().events:
            name = event.get("event")
            if name == "splits_added":
                count += event["splits"]
            elif name == "splits_released":
                count -= event["splits"]
            elif name == "kafka_partitions_lost":
                count -= event["partitions"]
        return count

    def reads(self):
        """How many partitions it reads by its own word of the last second."""
        try:
            view = json.loads(self.running.get("/status")[1])["pipelines"][0]
        except OSError:   # it has just ended, or is not there yet
            return 0
        return len(view["lag"]["splits"])

    def kill_in_open_epoch(self):
        """kill -9; returns the phase it died in, None when the epoch ended under the blow."""
        self.wait_for(lambda w: w.progress.is_open, "an open epoch")
        self.running.kill()
        return self.look().progress.phase

    def stop(self):
        self.running.process.send_signal(signal.SIGSTOP)

    def resume(self):
        self.running.process.send_signal(signal.SIGCONT)

    def end(self):
        return self.running.terminate().expect()

    def metric(self, name):
        """Sum over labels; 0 when absent."""
        _, text = self.running.get("/metrics")
        return sum(float(value) for value in re.findall(rf"^{name}(?:{{[^}}]*}})? (\S+)$", text, re.MULTILINE))

    def largest_gap(self, topic, partition, after, until):
        """The longest time, in seconds, between two accepted commits with something of this partition, within these moments."""
        times = [after]
        committed = {e["snapshot"]: e["time"] for e in self.of("commit_accepted")}
        for event in self.of("batch_closed"):
            ranges = json.loads(event["ranges"]).get(topic, {})
            if str(partition) in ranges and event["snapshot"] in committed:
                times.append(moment(committed[event["snapshot"]]))
        times = sorted(t for t in times if after <= t <= until) + [until]
        return max((b - a).total_seconds() for a, b in zip(times, times[1:])), len(times) - 2


def moment(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


def followed(pipeline):
    """A pipeline whose workers can be followed."""
    pipeline.process_content = {"http": {"listen": "127.0.0.1:0"}, "log": {"format": "json", "level": "debug"}}
    return pipeline


def make_pipeline(lake, kafka, topic, schema, properties=None, **source):
    return followed(Pipeline(lake, kafka, topics=[topic], schema=schema, source={"kafka": {"properties": properties or CLASSIC, **source}},
                             table={"columns": {"kafka_metadata": True}}, commit={"interval": "300ms"}, lanes=1))


def wait_until_shared(workers, partitions, seconds=60):
    """Each has something, and together they have everything."""
    def shared():
        for worker in workers:
            assert worker.running.process.poll() is None, worker.running.stderr[-3000:]
        shares = [w.reads() for w in workers]
        return all(shares) and sum(shares) == partitions
    try:
        wait_until(shared, "partitions to be shared", seconds)
    except TimeoutError as error:
        raise TimeoutError(f"{error}: {[w.reads() for w in workers]}\n" + "\n".join(w.running.stderr[-1500:] for w in workers)) from None


def levels(workers, name):
    """How often an event was told, by level."""
    return collections.Counter(e["level"] for w in workers for e in w.of(name))
