"""The README, as a newcomer follows it: its pipeline, its commands, its lines of Python. Only ports, topics and paths are changed."""
import json
import re
import shlex
import subprocess
import sys

import pytest

from pipeline import ROOT, RUN_SECONDS, Running, environment, frazil, topic_of

README = (ROOT / "README.md").read_text()
ORDERS = [{"id": i, "customer": f"c{i % 7}", "amount": i / 4, "created_at": "2026-01-31T10:00:00.5Z", "tags": ["a", "b"]} for i in range(50)]


def block(language, word):
    """The one block of that language that holds the word."""
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    (found,) = [text for name, text in blocks if name == language and word in text]
    return found


@pytest.fixture
def orders(kafka, lake, topic):
    topic_of(kafka, topic, [*ORDERS, b"not an order"])
    file = lake.folder / "orders.yaml"
    content = block("yaml", "name: orders").replace("localhost:9092", kafka.bootstrap_servers).replace("topics: [orders]", f"topics: [{topic}]")
    file.write_text(content)
    return file


def commands():
    """What stands behind build/release/frazil in the block of commands, without the remarks."""
    lines = [line.split("#")[0] for line in block("", "frazil validate").splitlines()]
    return [shlex.split(line)[1:] for line in lines if line.startswith("build/release/frazil")]


@pytest.mark.only_on("sqlite", reason="its pipeline names a SQLite catalog")
def test_the_pipeline_its_commands_and_its_python(orders, kafka, lake, topic):
    (validate, run, inspect) = commands()
    assert [validate[0], run[0], inspect[0]] == ["validate", "run", "inspect"]
    frazil("validate", orders, *validate[2:]).expect()
    folder = lake.folder / "run"
    folder.mkdir()
    # A group of this test alone: the README's pipeline has namesakes among the tests.
    with Running(["run", orders, "--set", f"source.kafka.group=readme-{topic}", "--set", "commit.interval=200ms", "--json"], folder) as running:
        running.wait_for_commit(len(ORDERS))
        running.wait_until(lambda: lake.has("shop.orders_dead_letters"), "the dead letters")
        code, status = running.get("/status")
        assert code == 200 and "lag" in status, status
        assert running.get("/metrics")[0] == 200
        running.terminate().expect()
    lake.expect_ids("shop.orders", range(len(ORDERS)))
    shown = frazil(*[str(orders) if word == "orders.yaml" else word for word in inspect]).expect().stdout
    assert "bucket(16, id)" in shown and topic in shown, shown
    python = block("python", "SqlCatalog").replace("file:///path/to/warehouse", lake.warehouse)
    done = subprocess.run([sys.executable, "-c", python], cwd=lake.folder, capture_output=True, text=True, timeout=RUN_SECONDS, env=environment())
    assert done.returncode == 0, done.stderr
    assert "created_at" in done.stdout and "code" in done.stdout


@pytest.mark.only_on("sqlite", reason="its pipeline names a SQLite catalog")
def test_the_load_that_it_names_fits_its_table(kafka, lake, topic):
    shape = lake.folder / "orders.avsc"
    shape.write_text(block("json", '"Order"'))
    command = re.search(r"`(frazil generate [^`]*)`", README).group(1)
    changes = {"localhost:9092": kafka.bootstrap_servers, "orders": topic, "orders.avsc": str(shape), "100000": "5000"}
    arguments = [changes.get(word, word) for word in shlex.split(command)[1:]]
    assert {topic, str(shape), "5000"} <= set(arguments), arguments
    report = frazil(*arguments, "--json").expect()
    assert json.loads(report.stdout)["records"] == 5_000
    file = lake.folder / "orders.yaml"
    file.write_text(block("yaml", "name: orders").replace("localhost:9092", kafka.bootstrap_servers).replace("topics: [orders]", f"topics: [{topic}]"))
    summary = frazil("run", file, "--set", f"source.kafka.group=readme-{topic}", "--until-caught-up", "--json").expect().summary
    assert (summary["rows_committed"], summary["dead_letters"]) == (5_000, 0)


def test_every_page_that_it_names_is_there():
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", README)
    assert len(links) >= 5
    missing = [link for link in links if not link.startswith("http") and not (ROOT / link).exists()]
    assert not missing
