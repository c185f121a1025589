"""The manual pages: right roff, and complete."""
import re
import subprocess

import pytest

PAGES = ("frazil", "pipeline")


@pytest.mark.parametrize("page", PAGES)
def test_a_page_renders_without_a_warning(frazil, tmp_path, page):
    roff = tmp_path / page
    roff.write_text(frazil("man", page))
    for command in (["groff", "-ww", "-man", "-Tutf8", "-z", roff], ["mandoc", "-Tlint", "-Wwarning", roff]):
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        # The pages carry the version; a date would be one more thing that changes without a reason.
        lines = [line for line in (done.stdout + done.stderr).splitlines() if "missing date" not in line]
        assert lines == [], lines


def rendered(frazil, page, tmp_path):
    roff = tmp_path / page
    roff.write_text(frazil("man", page))
    text = subprocess.run(["mandoc", "-Tutf8", "-O", "width=300", roff], capture_output=True, text=True, check=True, timeout=60).stdout
    return re.sub(r".\x08", "", text)


def test_every_command_and_option_is_in_the_page(frazil, tmp_path):
    text = rendered(frazil, "frazil", tmp_path)
    commands = re.findall(r"^  (\w[\w-]*) ", frazil("--help").split("Subcommands:")[1], re.M)
    assert len(commands) >= 10
    for command in commands:
        assert f"frazil {command}" in text
        for option in re.findall(r"^ +(?:-\w,)?(--[\w-]+)", frazil(command, "--help"), re.M):
            assert option in text or option == "--help", f"{command} {option}"


def test_every_option_of_a_pipeline_file_is_in_the_page(frazil, tmp_path):
    text = rendered(frazil, "pipeline", tmp_path)
    paths = [line.split()[0] for line in frazil("options").splitlines()]
    assert len(paths) > 40 and [path for path in paths if path not in text] == []
