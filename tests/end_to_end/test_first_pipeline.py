"""docs/operate/first_pipeline.md, step by step as a reader takes it: its files written, its commands run, on a real broker."""
import os
import pathlib
import re
import subprocess
import sys

from pipeline import frazil

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/operate/first_pipeline.md"


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text(), re.M | re.S)


def test_the_page_does_what_it_says(kafka, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    own = lambda text: text.replace("localhost:9092", kafka.bootstrap_servers).replace("topics: [orders]", "topics: [first_pipeline]") \
        .replace("--topic orders", "--topic first_pipeline")  # noqa: E731
    (schema,), (file,), (reader, adder) = blocks("json"), blocks("yaml"), blocks("python")
    pathlib.Path("orders.avsc").write_text(schema)
    pathlib.Path("orders.yaml").write_text(own(file))
    commands = [line for block in blocks("console") for line in block.splitlines()]
    assert len(commands) == 7 and all(line.startswith("frazil ") for line in commands)
    outcomes = {}
    for line in commands:
        words = own(line).split()[1:]
        outcomes[words[0]] = frazil(*words).expect()
    rows = int(re.search(r"files: \d+, ([\d,]+) rows", outcomes["inspect"].stdout).group(1).replace(",", ""))
    assert "position" in outcomes["inspect"].stdout and "shop.orders" in outcomes["catalog"].stdout
    done = subprocess.run([sys.executable, "-c", reader], capture_output=True, text=True, timeout=120, env=os.environ)
    assert done.returncode == 0, done.stderr
    letters = int(re.search(r"(\d+) dead letters", done.stdout).group(1))
    assert rows == 20_000 and letters == 200 and "customer" in done.stdout
    again = frazil(*own("frazil run orders.yaml --until-caught-up").split()[1:]).expect()
    assert "0 rows in 0 commits" in again.stderr
    (field,) = re.findall(r'`(\{"name": "weight".*?\})`', PAGE.read_text())
    pathlib.Path("orders.avsc").write_text(schema.replace('"fields": [', f'"fields": [{field}, '))
    run = own("frazil run orders.yaml --until-caught-up").split()[1:]
    refused = frazil(*run)
    assert refused.code == 1 and "weight: the table has no such column" in refused.stderr
    done = subprocess.run([sys.executable, "-c", adder], capture_output=True, text=True, timeout=120, env=os.environ)
    assert done.returncode == 0, done.stderr
    frazil(*own("frazil generate --bootstrap-servers localhost:9092 --topic orders --records 100 --schema orders.avsc").split()[1:]).expect()
    assert "100 rows in" in frazil(*run).expect().stderr
    assert "weight" in frazil(*own("frazil catalog show shop.orders --catalog orders.yaml").split()[1:]).expect().stdout
