"""Completion as users have it: real shells on a terminal, the TAB key."""
import os
import shutil
import subprocess

import pytest

from terminal import Terminal


def environment(path, home):
    return {"PATH": path, "HOME": str(home), "LC_ALL": "C.UTF-8"}


@pytest.fixture
def shell(request, path_with_frazil, tmp_path):
    """bash or zsh with the completion loaded as its help says, in a folder with one file."""
    name = request.param
    assert shutil.which(name), f"{name} is missing: tools/setup --tests installs it"
    (tmp_path / "orders.yaml").write_text("")
    command = {"bash": ["bash", "--norc", "--noprofile", "-i"], "zsh": ["zsh", "-f", "-i"]}[name]
    with Terminal(command, environment(path_with_frazil, tmp_path)) as terminal:
        terminal.type(f"cd {tmp_path}; PS1='REA''DY> '\n")
        terminal.wait_for("READY> ")
        if name == "zsh":
            terminal.type(f"unsetopt zle_bracketed_paste 2> /dev/null; autoload -U compinit && compinit -u -d {tmp_path}/.dump; echo com''pinit-done\n")
            terminal.wait_for("compinit-done")
        terminal.type(f"source <(frazil completion {name}); echo lo''aded\n")
        terminal.wait_for(r"loaded[\r\n]+.*READY> ")
        yield terminal


SHELLS = pytest.mark.parametrize("shell", ["bash", "zsh"], indirect=True)


@SHELLS
def test_a_command_is_completed(shell):
    shell.type("frazil vali\t")
    shell.wait_for("frazil validate ")


@SHELLS
def test_an_option_is_completed(shell):
    shell.type("frazil run --until\t")
    shell.wait_for("frazil run --until-caught-up")


@SHELLS
def test_the_words_of_an_option_are_offered(shell):
    shell.type("frazil options --format mark\t")
    shell.wait_for("--format markdown")


@SHELLS
def test_a_command_of_a_command_is_completed(shell):
    shell.type("frazil catalog create-n\t")
    shell.wait_for("create-namespace")


@SHELLS
def test_files_are_completed_where_one_is_meant(shell):
    shell.type("frazil run ord\t")
    shell.wait_for("frazil run orders.yaml")


@SHELLS
def test_paths_of_set_are_completed_without_a_space(shell):
    shell.type("frazil run --set commit.inter\t2s")
    shell.wait_for("--set commit.interval=2s")


@SHELLS
def test_all_commands_are_listed(shell):
    shell.type("frazil \t\t")
    for command in ("run", "inspect", "catalog", "completion"):
        shell.wait_for(rf"\b{command}\b")


def fish_offers(path, home, line):
    script = "frazil completion fish | source; complete -C " + "'" + line + "'"
    done = subprocess.run(["fish", "--no-config", "-c", script], capture_output=True, text=True, env=environment(path, home), cwd=home, timeout=60)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    return {offer.split("\t")[0] for offer in done.stdout.splitlines()}


@pytest.mark.parametrize("line, offered, kept_back", [
    ("frazil ", {"run", "catalog", "man"}, {"tables"}),
    ("frazil run --unt", {"--until-caught-up"}, set()),
    ("frazil run ", {"orders.yaml"}, {"run", "tables"}),
    ("frazil options --format ", {"text", "markdown", "json-schema"}, {"orders.yaml"}),
    ("frazil catalog ", {"tables", "create-namespace"}, {"run", "orders.yaml"}),
    ("frazil catalog show --", {"--file", "--catalog", "--namespace"}, {"--until-caught-up"}),
    ("frazil run --set commit.inter", {"commit.interval="}, {"orders.yaml"}),
    ("frazil completion ", {"bash", "zsh", "fish"}, {"orders.yaml"}),
])
def test_fish_offers_what_fits(path_with_frazil, tmp_path, line, offered, kept_back):
    assert shutil.which("fish"), "fish is missing: tools/setup --tests installs it"
    (tmp_path / "orders.yaml").write_text("")
    offers = fish_offers(path_with_frazil, tmp_path, line)
    assert offered <= offers and not kept_back & offers, offers
