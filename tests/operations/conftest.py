"""The program under test, on a PATH of its own; folders to work in."""
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEPS = pathlib.Path(os.environ.get("FRAZIL_DEPS") or ROOT / ".deps")


@pytest.fixture(scope="session")
def binary():
    path = pathlib.Path(os.environ.get("FRAZIL_BINARY") or ROOT / "build/release/frazil").resolve()
    assert path.exists(), f"{path} is missing: build it, or name another with FRAZIL_BINARY"
    return path


@pytest.fixture(scope="session")
def path_with_frazil(binary, tmp_path_factory):
    """A PATH on which the program is called frazil, as for users."""
    folder = tmp_path_factory.mktemp("bin")
    (folder / "frazil").symlink_to(binary)
    return f"{folder}:{os.environ['PATH']}"


@pytest.fixture(scope="session")
def frazil(binary):
    """Runs the program; gives stdout, and fails unless the exit code is the expected one."""
    def run(*arguments, code=0, **options):
        done = subprocess.run([binary, *map(str, arguments)], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120, **options)
        assert done.returncode == code, f"frazil {arguments} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}"
        return done.stdout if code == 0 else done.stderr
    return run
