"""Calls of Dataflow's template, Beam YAML and Kafka Connect sinks: run, or converted and run, on a real broker."""
import json
import re
import subprocess

import pytest

from pipeline import BINARY, ROOT, RUN_SECONDS, Record, environment, frazil, ids, produce, topic_of

SCHEMA = {"type": "record", "name": "Record", "fields": [{"name": "id", "type": "long"}, {"name": "text", "type": ["null", "string"]}]}


def catalog_properties(lake):
    """The lake's catalog as Iceberg's Java clients name it."""
    block = lake.place.block
    if block["type"] == "sqlite":
        return {"type": "jdbc", "uri": f"jdbc:sqlite:{block['uri']}", "warehouse": block["warehouse"]}
    return {**{key: block[key] for key in ("type", "uri", "warehouse", "credential")}, **block.get("properties", {})}


def settings(lake):
    """What no Java client has a name for."""
    more = {"http.listen": "off", **{f"files.{key}": value for key, value in lake.place.settings.get("files", {}).items()}}
    if "ca_file" in lake.place.block:
        more["table.catalog.ca_file"] = lake.place.block["ca_file"]
    return [part for key, value in more.items() for part in ("--set", f"{key}={json.dumps(value)}")]


def call(kafka, lake, topic, **more):
    """The arguments of --parameter, as a script for the template has them: unset ones are empty."""
    parameters = {
        "bootstrapServers": kafka.bootstrap_servers, "topic": topic, "table": "shop.orders", "catalogName": "default",
        "catalogProperties": json.dumps(catalog_properties(lake)), "triggeringFrequencySeconds": "1", "schema": json.dumps(SCHEMA),
        "format": "JSON", "consumerConfigUpdates": json.dumps({"group.id": f"g-{topic}"}), "keep": "", "filter": "", **more}
    return [part for key, value in parameters.items() for part in ("--parameter", f"{key}={value}")]


def run_template(kafka, lake, topic, *arguments, **more):
    return frazil("run", "--template", "kafka-to-iceberg", *call(kafka, lake, topic, **more), "--name", "orders", *settings(lake),
                  "--until-caught-up", "--json", *arguments)


def test_the_template_runs(kafka, lake, topic):
    topic_of(kafka, topic, [Record({"id": i, "text": f"row {i}"}, partition=i % 3) for i in range(90)], partitions=3)
    outcome = run_template(kafka, lake, topic, partitionFields='["bucket(id, 4)"]').expect()
    lake.expect_ids("shop.orders", range(90))
    (field,) = lake.load("shop.orders").spec().fields
    assert str(field.transform) == "bucket[4]"
    assert outcome.summary["rows_committed"] == 90
    # The same call goes on where the table ends.
    produce(kafka, topic, ids(90, 100))
    assert run_template(kafka, lake, topic).expect().summary["rows_committed"] == 10
    lake.expect_ids("shop.orders", range(100))


def test_records_that_are_no_rows_are_kept(kafka, lake, topic):
    topic_of(kafka, topic, [{"id": 1}, b"not json", {"id": 2, "text": "b"}, {"text": "without id"}])
    outcome = run_template(kafka, lake, topic).expect()
    lake.expect_ids("shop.orders", [1, 2])
    assert outcome.summary["dead_letters"] == 2
    assert lake.column("shop.orders_dead_letters", "offset") == [1, 3]


def test_a_converted_call_is_the_same_pipeline(kafka, lake, topic):
    """`convert` prints what `run --template` runs: the file goes on at the same positions."""
    topic_of(kafka, topic, ids(0, 20))
    run_template(kafka, lake, topic).expect()
    printed = frazil("convert", "--name", "orders", *call(kafka, lake, topic)).expect()
    file = lake.folder / "orders.yaml"
    file.write_text(printed.stdout)
    frazil("validate", file).expect()
    produce(kafka, topic, ids(20, 30))
    outcome = frazil("run", file, *settings(lake), "--until-caught-up", "--json").expect()
    assert outcome.summary["rows_committed"] == 10
    lake.expect_ids("shop.orders", range(30))


def test_a_converted_beam_pipeline_runs(kafka, lake, topic):
    topic_of(kafka, topic, [{"id": i, "name": f"n{i}", "secret": "x"} for i in range(25)])
    schema = {"type": "object", "properties": {"id": {"type": "integer"}, "name": {"type": "string"}, "secret": {"type": "string"}}, "required": ["id"]}
    beam = {"pipeline": {"type": "chain", "transforms": [
        {"type": "ReadFromKafka", "config": {"bootstrap_servers": kafka.bootstrap_servers, "topic": topic, "format": "JSON", "schema": json.dumps(schema),
                                             "auto_offset_reset_config": "earliest", "consumer_config": {"group.id": f"g-{topic}"}}},
        {"type": "WriteToIceberg", "config": {"table": "shop.orders", "catalog_name": "default", "catalog_properties": catalog_properties(lake),
                                              "triggering_frequency_seconds": 1, "drop": ["secret"], "partition_fields": ["truncate(name, 1)"],
                                              "distribution_mode": "hash", "autosharding": False}}]}, "options": {"streaming": True}}
    source = lake.folder / "beam.yaml"
    source.write_text(json.dumps(beam))
    printed = frazil("convert", "--from", "beam", "--name", "orders", source).expect()
    file = lake.folder / "orders.yaml"
    file.write_text(printed.stdout)
    frazil("run", file, *settings(lake), "--until-caught-up", "--json").expect()
    lake.expect_ids("shop.orders", range(25))
    assert [field.name for field in lake.load("shop.orders").schema().fields] == ["id", "name"]


def test_a_converted_sink_of_connect_runs(kafka, lake, topic):
    """The table is there, as the connector left it; errors.tolerance=none stops at a bad record."""
    topic_of(kafka, topic, ids(0, 10))
    run_template(kafka, lake, topic).expect()
    other = topic_of(kafka, f"{topic}_events", [*ids(100, 110)])
    properties = {"name": "events", "connector.class": "org.apache.iceberg.connect.IcebergSinkConnector", "topics": other, "iceberg.tables": "shop.orders",
                  "value.converter": "org.apache.kafka.connect.json.JsonConverter", "value.converter.schemas.enable": "false", "iceberg.catalog": "default",
                  "iceberg.control.commit.interval-ms": "500", "consumer.override.group.id": f"g-{other}",
                  **{f"iceberg.catalog.{key}": value for key, value in catalog_properties(lake).items() if not str(value).startswith("${file:")}}
    source = lake.folder / "sink.properties"
    source.write_text("".join(f"{key}={value}\n" for key, value in properties.items()))
    references = {f"iceberg.catalog.{key}": value for key, value in catalog_properties(lake).items() if str(value).startswith("${file:")}
    given = {"bootstrap.servers": kafka.bootstrap_servers, **{key: "${directory:%s}" % ":".join(value[7:-1].rsplit("/", 1)) for key, value in references.items()}}
    arguments = [part for key, value in given.items() for part in ("--parameter", f"{key}={value}")]
    printed = frazil("convert", source, *arguments).expect()
    file = lake.folder / "events.yaml"
    file.write_text(printed.stdout)
    frazil("run", file, *settings(lake), "--until-caught-up", "--json").expect()
    lake.expect_ids("shop.orders", [*range(10), *range(100, 110)])
    produce(kafka, other, [b"not json"])
    frazil("run", file, *settings(lake), "--until-caught-up", "--json").expect_halt("RECORD_REJECTED")


@pytest.mark.parametrize("parameter, value, said", [
    ("catalogProperties", '{"type": "hadoop", "warehouse": "gs://bucket/warehouse"}', "catalogProperties.type: refused: a hadoop catalog"),
    ("catalogProperties", '{"type": "rest", "uri": "https://c.example", "credential": "a:HUSH"}', "CATALOG_CREDENTIAL"),
    ("table", "shop.orders_{id}", "table: refused: a table for each value"),
    ("filter", "id > 3", "filter: refused: rows are not filtered"),
    ("triggeringFrequency", "5", 'nearest known name "triggeringFrequencySeconds"'),
    ("partitionFields", '["bucket(nothing, 4)"]', "nothing"),
])
def test_what_is_not_taken_is_refused_by_name(lake, topic, parameter, value, said):
    class Nowhere:
        bootstrap_servers = "127.0.0.1:9"
    outcome = run_template(Nowhere, lake, topic, **{parameter: value})
    outcome.expect(2)
    assert said in outcome.stderr, outcome.stderr
    assert "HUSH" not in outcome.stderr + outcome.stdout


def test_a_file_and_a_template_exclude_each_other(lake):
    assert "--template" in frazil("run").expect(2).stderr
    assert "--template" in frazil("run", "x.yaml", "--template", "kafka-to-iceberg").expect(2).stderr
    assert "--template" in frazil("run", "x.yaml", "--parameter", "a=b").expect(2).stderr
    assert "kafka-to-iceberg" in frazil("run", "--template", "kafka-to-bigquery").expect(2).stderr


def test_convert_says_what_it_needs(tmp_path):
    assert "FILE" in frazil("convert").expect(2).stderr
    assert "cannot be read" in frazil("convert", tmp_path).expect(2).stderr
    other = tmp_path / "x.yaml"
    other.write_text("a: b\n")
    assert "--from" in frazil("convert", other).expect(2).stderr
    assert "name=value" in frazil("convert", "--parameter", "x").expect(2).stderr


def test_convert_as_json(tmp_path):
    source = tmp_path / "call.yaml"
    source.write_text(json.dumps({"bootstrapServers": "localhost:9092", "topic": "orders", "table": "shop.orders", "filter": "a > 1",
                                  "catalogProperties": {"type": "rest", "uri": "https://c.example"}, "schema": json.dumps(SCHEMA)}))
    refused = frazil("convert", source, "--json").expect(2)
    report = json.loads(refused.stdout)
    assert not report["valid"] and [n["name"] for n in report["names"] if n["outcome"] == "refused"] == ["filter"]
    assert "table: shop" not in refused.stderr
    partial = frazil("convert", source, "--partial").expect()
    assert "MISSING: filter" in partial.stdout and "name: shop.orders" in partial.stdout


@pytest.mark.only_on("sqlite", reason="its commands name a SQLite catalog")
def test_the_commands_of_the_page_work(kafka, lake, topic):
    """docs/operate/migrate.md: every block, as it stands but for the broker's port, the topic, and an end."""
    topic_of(kafka, topic, [{"id": i} for i in range(40)])
    (lake.folder / "tests").symlink_to(ROOT / "tests")
    blocks = re.findall(r"^```\n(.*?)^```$", (ROOT / "docs/operate/migrate.md").read_text(), re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 3
    for block in blocks:
        script = block.replace("localhost:9092", kafka.bootstrap_servers).replace("topic=orders", f"topic={topic}")
        script = script.replace("frazil run ", "frazil run --until-caught-up --set http.listen=off ").replace("frazil ", f"{BINARY.resolve()} ")
        done = subprocess.run(["bash", "-euc", script], cwd=lake.folder, capture_output=True, text=True, timeout=RUN_SECONDS, env=environment())
        assert done.returncode == 0, f"{script}\n{done.stdout}\n{done.stderr}"
    lake.expect_ids("shop.orders", range(40))
