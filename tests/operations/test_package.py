"""The Debian package, the tarball and the container recipe, in a clean root: installed, run, removed.

Packages come from FRAZIL_PACKAGES (a folder), else they are made from build/release as `make package` does.
"""
import json
import os
import pathlib
import re
import subprocess

import pytest

from clean_root import CleanRoot
from conftest import ROOT


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    folder = os.environ.get("FRAZIL_PACKAGES")
    if not folder:
        folder = tmp_path_factory.mktemp("package")
        subprocess.run([ROOT / "packaging/build_package", ROOT / "build/release", folder], check=True, timeout=900)
    return pathlib.Path(folder)


@pytest.fixture(scope="module")
def deb(packages):
    (found,) = packages.glob("frazil_*.deb")
    return found


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    assert os.geteuid() == 0, "a clean root needs root"
    return CleanRoot(tmp_path_factory.mktemp("root"))


def recipe_steps():
    """The RUN lines of the container recipe, with what its ARG and COPY mean here."""
    text = (ROOT / "packaging/container/Containerfile").read_text()
    assert re.search(r"^COPY \$\{PACKAGE\} /tmp/frazil.deb$", text, re.M)
    return re.findall(r"^RUN (.+)$", text, re.M)


@pytest.fixture(scope="module")
def installed(root, deb):
    """The root after the steps of the container recipe, which install the package with what it depends on."""
    root.put(deb, "frazil.deb")
    for step in recipe_steps():
        root.run("sh", "-c", step)
    return root


def field(deb, name):
    return subprocess.run(["dpkg-deb", "--field", deb, name], capture_output=True, text=True, check=True).stdout.strip()


def test_dependencies_are_computed_and_private_libraries_are_none(deb):
    depends = field(deb, "Depends")
    for package in ("libc6", "libssl3", "libcurl4", "libsqlite3-0", "libyaml-cpp0.7"):
        assert re.search(rf"\b{re.escape(package)}\b", depends), depends
    assert "arrow" not in depends and "rdkafka" not in depends


def expect_demo(output):
    """The demo counts what it produced and what foreign code would read, and says whether both agree."""
    report, _ = json.JSONDecoder().raw_decode(output[output.index("{"):])
    assert report["right"] is True and report["rows"] > 900, report


def test_the_demo_runs_where_nothing_else_is_installed(installed):
    expect_demo(installed.run("frazil", "demo", "--records", "1000", "--dir", "/tmp/demo", "--json", user="frazil"))
    assert installed.run("frazil", "--version").startswith("frazil ")


def test_every_library_is_found_and_the_private_ones_are_private(installed):
    bound = installed.run("ldd", "/usr/bin/frazil")
    assert "not found" not in bound
    assert re.search(r"libarrow\.so\S* => /usr/bin/\.\./lib/frazil/", bound) and re.search(r"libparquet\.so\S* => /usr/bin/\.\./lib/frazil/", bound)


def test_the_service_has_its_user_and_folders_and_is_not_enabled(installed):
    assert re.search(r"^frazil:x:\d+:\d+:.*:/var/lib/frazil:/usr/sbin/nologin$", (installed.path / "etc/passwd").read_text(), re.M)
    listing = installed.run("stat", "-c", "%n %U %G %a", "/etc/frazil", "/var/lib/frazil", "/etc/default/frazil")
    assert listing.split("\n")[:3] == ["/etc/frazil root frazil 750", "/var/lib/frazil frazil frazil 750", "/etc/default/frazil root root 644"]
    assert (installed.path / "lib/systemd/system/frazil@.service").exists()
    assert not list((installed.path / "etc/systemd/system").rglob("*frazil*"))


def test_what_belongs_to_it_is_there(installed):
    share = installed.path / "usr/share"
    for name in ("man/man1/frazil.1.gz", "man/man5/frazil-pipeline.5.gz", "bash-completion/completions/frazil", "zsh/vendor-completions/_frazil",
                 "fish/vendor_completions.d/frazil.fish", "frazil/pipeline.schema.json", "frazil/prometheus/frazil.rules.yml", "frazil/grafana/frazil.json",
                 "doc/frazil/copyright", "doc/frazil/NOTICE", "doc/frazil/arrow/LICENSE.txt", "doc/frazil/examples/orders.yaml"):
        assert (share / name).stat().st_size > 0, name
    installed.run("frazil", "validate", "/usr/share/doc/frazil/examples/orders.yaml")
    installed.run("dpkg", "--verify", "frazil")


def test_a_change_of_the_conffile_survives_and_nobody_deletes_data(installed, deb):
    """Installing again keeps what the operator wrote; removing and purging keep pipeline files and tables."""
    default, pipeline, table = (installed.path / name for name in ("etc/default/frazil", "etc/frazil/orders.yaml", "var/lib/frazil/catalog.db"))
    default.write_text("KAFKA=here\n")
    pipeline.write_text("name: orders\n")
    table.write_text("data")
    installed.run("dpkg", "--force-confold", "--install", installed.put(deb, "again.deb"))
    assert default.read_text() == "KAFKA=here\n"
    installed.run("dpkg", "--remove", "frazil")
    assert default.exists() and not (installed.path / "usr/bin/frazil").exists()
    installed.run("dpkg", "--purge", "frazil")
    assert not default.exists() and pipeline.exists() and table.read_text() == "data"


def test_the_tarball_needs_nothing_of_the_system_but_the_run_time(tmp_path, packages):
    """A root of its own, without any library of Debian's beyond the minimal ones."""
    (tarball,) = packages.glob("frazil-*.tar.gz")
    root = CleanRoot(tmp_path)
    subprocess.run(["tar", "--extract", "--file", tarball, "--directory", root.path / "opt"], check=True)
    (folder,) = (root.path / "opt").iterdir()
    program = f"/opt/{folder.name}/bin/frazil"
    bound = root.run("ldd", program)
    assert "not found" not in bound
    system = {line.split()[0].split(".so")[0] for line in bound.splitlines() if "=> /lib/" in line or "=> /usr/lib/" in line}
    assert system <= {"libc", "libm", "libdl", "librt", "libpthread", "libresolv", "libstdc++", "libgcc_s"}, system
    expect_demo(root.run(program, "demo", "--records", "1000", "--dir", "/tmp/demo", "--json"))
    assert (folder / "share/doc/frazil/libraries").is_dir() and (folder / "share/doc/frazil/NOTICE").exists()
