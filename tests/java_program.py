"""JavaProgram: a small Java main of the tests, compiled when its sources are newer than its classes, and the command that starts it.

Jars come from tools/setup --tests, into $FRAZIL_DEPS (default: .deps of the repository).
"""
import fcntl
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[1]
COMPILE_SECONDS = 600
# Short-lived programs: what the compiler of the machine's own code would do comes too late.
OPTIONS = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto", "-Djava.awt.headless=true", "-Duser.timezone=UTC"]


class JavaProgram:
    """name: of the folder of jars and of that of classes below build/. sources: a folder. main: a class. options: of the JVM, besides those of all."""

    def __init__(self, name, sources, main, options):
        self._name = name
        self._sources = sources
        self._main = main
        self._options = options
        self._classes = ROOT / "build" / name

    def command(self, arguments):
        """Compiled, and ready to be started."""
        self._compile_if_stale()
        return ["java", *OPTIONS, *self._options, "-cp", f"{self._classes}:{self._jars()}", self._main, *map(str, arguments)]

    def _jars(self):
        folder = pathlib.Path(os.environ.get("FRAZIL_DEPS") or ROOT / ".deps") / self._name
        if not any(folder.glob("*.jar")):
            raise FileNotFoundError(f"no jars in {folder}: run tools/setup --tests")
        return f"{folder}/*"

    def _compile_if_stale(self):
        """Once, also when several test processes ask at the same time."""
        self._classes.mkdir(parents=True, exist_ok=True)
        stamp = self._classes / "compiled"
        sources = sorted(self._sources.glob("*.java"))
        with open(self._classes / "lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            newest = max(source.stat().st_mtime_ns for source in sources)
            if stamp.exists() and stamp.stat().st_mtime_ns >= newest:
                return
            subprocess.run(["javac", "-nowarn", "-Xlint:none", "--release", "17", "-encoding", "UTF-8", "-d", str(self._classes),
                            "-cp", self._jars(), *map(str, sources)], check=True, timeout=COMPILE_SECONDS)
            stamp.touch()
