"""A program on a terminal of ours: what is typed, and what comes back."""
import os
import pty
import re
import select
import signal
import time


class Terminal:
    def __init__(self, command, env):
        self.output = ""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execvpe(command[0], command, {**env, "TERM": "dumb", "COLUMNS": "200", "LINES": "50"})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.fd)

    def type(self, text):
        """Sends text; what came before is forgotten."""
        self.output = ""
        os.write(self.fd, text.encode())

    def wait_for(self, pattern, seconds=30):
        """Reads until the pattern is seen in what came since the last typing."""
        deadline = time.monotonic() + seconds
        while not (match := re.search(pattern, self.output)):
            left = deadline - time.monotonic()
            assert left > 0, f"{pattern!r} did not come in {seconds} s; this did: {self.output!r}"
            if select.select([self.fd], [], [], left)[0]:
                self.output += os.read(self.fd, 65536).decode(errors="replace")
        return match
