"""A Debian that has never seen this project: a minimal root, unpacked anew, in which commands run as on another machine."""
import pathlib
import shutil
import subprocess

from conftest import DEPS

MOUNTS = "mount --make-rprivate / && mount -t proc proc {root}/proc && mount --rbind /dev {root}/dev && exec chroot {root} \"$@\""


class CleanRoot:
    """The root lies in `folder`; its mounts live only as long as each command, in a namespace of that command."""

    def __init__(self, folder):
        archive = DEPS / "clean_root/root.tar"
        assert archive.exists(), f"{archive} is missing: tools/setup --tests makes it"
        self.path = pathlib.Path(folder)
        subprocess.run(["tar", "--extract", "--numeric-owner", "--file", archive, "--directory", self.path, "--exclude=./dev/*"], check=True)
        # Packages come from where this machine gets them.
        shutil.rmtree(self.path / "etc/apt")
        shutil.copytree("/etc/apt", self.path / "etc/apt", symlinks=True)
        for keyrings in ("usr/share/keyrings",):
            shutil.copytree(f"/{keyrings}", self.path / keyrings, dirs_exist_ok=True, symlinks=True)
        shutil.copy("/etc/resolv.conf", self.path / "etc/resolv.conf")
        shutil.copy("/etc/hosts", self.path / "etc/hosts")
        # As in a container build: installing a service starts nothing.
        policy = self.path / "usr/sbin/policy-rc.d"
        policy.write_text("#!/bin/sh\nexit 101\n")
        policy.chmod(0o755)

    def run(self, *command, user=None, code=0, seconds=600):
        """Runs a command inside; gives its output, and fails unless the exit code is the expected one."""
        inside = ["/usr/bin/env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/tmp", "LC_ALL=C.UTF-8", "DEBIAN_FRONTEND=noninteractive",
                  *map(str, command)]
        if user:
            inside = ["/sbin/runuser", "-u", user, "--", *inside]
        unshare = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-ec", MOUNTS.format(root=self.path), "sh", *inside]
        done = subprocess.run(unshare, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=seconds)
        assert done.returncode == code, f"{command} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}"
        return done.stdout + done.stderr

    def put(self, source, name):
        """Copies a file to /tmp of the root."""
        shutil.copy(source, self.path / "tmp" / name)
        return f"/tmp/{name}"
