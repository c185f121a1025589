"""The history of a run: JSON lines in a file that the program under test never sees. Every append is on the disk before it returns.

kind      fields                                        written
produced  p, o (partition, offset), id, crc, bad         when Kafka has acknowledged a record; bad: it is no row, crc is its value's
unknown   id, crc, bad                                   the producer never learned what became of it: it may be there once
batch     lost (epochs that were open), files, letters   when a process died or dropped its work: its files may be orphans; so may
                                                       files of dead letters that it wrote again, since their epoch's number was taken
sample    rss_mb, open_files, threads                    of a process that lives, or is about to be killed
healed    seconds, fault                                 from the end of a fault until nothing was left to do
halt      expected, code, exit, before, after            metadata files of the table before and after a run that had to halt
seen      files                                          data files that were in the warehouse at some moment
table     pipeline, topic, rows, letters, warehouse,     the last line: where everything is in the end
          ends (partition → log end), stores
"""
import json
import os
import threading


class History:
    """Any thread writes."""

    def __init__(self, path):
        self.path = path
        self._file = open(path, "a")
        self._lock = threading.Lock()

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self._file.close()

    def add(self, kind, **fields):
        self.add_all(kind, [fields])

    def add_all(self, kind, many):
        text = "".join(json.dumps({"kind": kind, **fields}) + "\n" for fields in many)
        with self._lock:
            self._file.write(text)
            self._file.flush()
            os.fsync(self._file.fileno())

    def add_stream(self, stream):
        """Everything that a kill_harness.Stream has acknowledged."""
        self.add_all("produced", [{"p": p, "o": o, "id": number, "crc": crc, "bad": False} for (p, o), (number, crc) in stream.good.items()])
        self.add_all("produced", [{"p": p, "o": o, "id": None, "crc": crc, "bad": True} for (p, o), crc in stream.bad.items()])


def read(path):
    """kind → entries. A last line without its end was never acknowledged to anybody, and is left out."""
    entries = {}
    with open(path) as file:
        for line in file:
            if line.endswith("\n"):
                entry = json.loads(line)
                entries.setdefault(entry.pop("kind"), []).append(entry)
    return entries
