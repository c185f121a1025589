"""The systemd unit: systemd itself reads it, finds it tight, and lets through what the program asks the kernel for."""
import os
import re
import shutil
import subprocess
import tempfile

import pytest

from conftest import ROOT

UNIT = ROOT / "packaging/systemd/frazil@.service"


@pytest.fixture
def unit(tmp_path, binary):
    """An instance whose program is there."""
    path = tmp_path / "frazil@orders.service"
    path.write_text(UNIT.read_text().replace("/usr/bin/frazil", str(binary)))
    return path


def test_systemd_finds_nothing_wrong(unit):
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", unit], capture_output=True, text=True, timeout=60)
    own = [line for line in (done.stdout + done.stderr).splitlines() if "frazil" in line]
    assert done.returncode == 0 and own == [], done.stdout + done.stderr


def test_the_service_is_exposed_to_little(unit):
    done = subprocess.run(["systemd-analyze", "security", "--offline=true", "--threshold=20", "--no-pager", unit], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout
    level = float(re.search(r"exposure level for \S+: ([\d.]+)", done.stdout).group(1))
    assert level <= 2.0, done.stdout


def allowed_calls():
    """What the unit's SystemCallFilter lines let through, as this systemd understands them."""
    def calls(group):
        text = subprocess.run(["systemd-analyze", "syscall-filter", group, "--no-pager"], capture_output=True, text=True, check=True).stdout
        found = set()
        for word in (line.strip() for line in text.splitlines()[1:]):
            if word.startswith("@"):
                found |= calls(word)
            elif word and not word.startswith("#"):
                found.add(word)
        return found
    allowed = set()
    for entry in re.findall(r"^SystemCallFilter=(.*)$", UNIT.read_text(), re.M):
        groups = set().union(*(calls(group) for group in entry.lstrip("~").split()))
        allowed = allowed - groups if entry.startswith("~") else allowed | groups
    return allowed


@pytest.fixture
def folder_of_nobody():
    """Root asks the kernel for more than the service's user ever would (SQLite sets the owner of its files then)."""
    with tempfile.TemporaryDirectory(prefix="frazil_service_") as folder:
        shutil.chown(folder, "nobody", "nogroup")
        yield folder


def test_the_kernel_is_asked_for_nothing_that_the_unit_forbids(binary, folder_of_nobody):
    """A whole life: a mock broker, threads, files, a catalog."""
    done = subprocess.run(["strace", "-f", "-qq", "-o", f"{folder_of_nobody}/trace", binary, "demo", "--records", "1000", "--dir", f"{folder_of_nobody}/demo"],
                          capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL, cwd=folder_of_nobody,
                          **({"user": "nobody", "group": "nogroup", "extra_groups": []} if os.geteuid() == 0 else {}))
    assert done.returncode == 0, done.stderr
    with open(f"{folder_of_nobody}/trace", errors="replace") as trace:
        used = set(re.findall(r"^\d+ +(\w+)\(", trace.read(), re.M)) - {"execve"}
    assert {"openat", "fsync", "futex", "socket"} <= used
    assert used <= allowed_calls(), sorted(used - allowed_calls())
