"""The program as operators meet it: exit codes, signals, two at once, configuration, status server, secrets, state."""
import json
import os
import re
import shutil
import signal
import socket
import time

import pytest

from kafka_server import KafkaServer, free_port_pair
from pipeline import Pipeline, Record, frazil, ids, produce, topic_of, wait_until, write_file


# --- ends ---------------------------------------------------------------------------------------


def test_sigterm_commits_what_is_complete_and_the_next_run_goes_on(kafka, lake, topic):
    """The interval is an hour: only the signal can have made the commit."""
    topic_of(kafka, topic, ids(0, 2000))
    pipeline = Pipeline(lake, kafka, topics=[topic], commit={"interval": "1h"})
    pipeline.process_content["http"] = {"listen": "127.0.0.1:0"}
    with pipeline.start() as running:
        running.wait_until(lambda: lake.has(pipeline.table), "the table")
        status = lambda: json.loads(running.get("/status")[1])["pipelines"][0]  # noqa: E731
        running.wait_until(lambda: status()["records_read"] >= 2000, "all records to be read")
        assert lake.rows(pipeline.table) == []
        begun = time.monotonic()
        outcome = running.terminate().expect()
    print(f"ended {time.monotonic() - begun:.1f} s after SIGTERM")
    assert outcome.summary["state"] == "ended" and outcome.summary["rows_committed"] == 2000
    lake.expect_ids(pipeline.table, range(2000))
    produce(kafka, topic, ids(2000, 2100))
    pipeline.run().expect()
    lake.expect_ids(pipeline.table, range(2100))


def test_sigterm_keeps_positions_that_moved_without_rows(kafka, lake, topic):
    topic_of(kafka, topic, [Record(None) for _ in range(50)])
    pipeline = Pipeline(lake, kafka, topics=[topic])
    pipeline.process_content["http"] = {"listen": "127.0.0.1:0"}
    with pipeline.start() as running:
        running.wait_until(lambda: '"tombstones": 50' in running.get("/status")[1], "the tombstones to be read")
        running.terminate().expect()
    assert lake.positions(pipeline.table, "orders") == {topic: [50]}


def test_sigint_ends_like_sigterm_and_a_run_without_end_obeys_its_duration(kafka, lake, topic):
    topic_of(kafka, topic, ids(0, 100))
    pipeline = Pipeline(lake, kafka, topics=[topic])
    outcome = frazil(*pipeline.arguments("--duration", "4s")).expect()
    assert outcome.summary["state"] == "ended"
    with pipeline.start() as running:
        running.wait_for_log("pipeline starts")
        running.process.send_signal(signal.SIGINT)
        running.wait_for_end(30).expect()
    pipeline.run().expect()
    lake.expect_ids(pipeline.table, range(100))


def test_events_of_commits_add_up_to_the_summary(kafka, lake, topic):
    topic_of(kafka, topic, [Record({"id": i} if i % 10 else b"bad", partition=i % 3) for i in range(300)], partitions=3)
    pipeline = Pipeline(lake, kafka, topics=[topic])
    outcome = pipeline.run().expect()
    done = [e for e in outcome.of("commit") if e["outcome"] == "done"]
    assert sum(e["rows"] for e in done) == outcome.summary["rows_committed"] == 270
    assert sum(e["dead_letters"] for e in done) == outcome.summary["dead_letters"] == 30
    snapshots = {s.snapshot_id for s in lake.own_snapshots(pipeline.table, "orders")}
    assert done and {e["snapshot_id"] for e in done} <= snapshots
    assert outcome.summary["commits"]["count"] == len(done) and outcome.summary["lag"]["records"] == 0
    lake.expect_ids(pipeline.table, [i for i in range(300) if i % 10])


def test_without_json_stdout_is_silent_and_the_summary_is_on_stderr(kafka, lake, topic):
    topic_of(kafka, topic, ids(0, 5))
    pipeline = Pipeline(lake, kafka, topics=[topic])
    outcome = frazil(*pipeline.arguments("--until-caught-up", json_events=False)).expect()
    assert outcome.stdout == "" and "5 rows in 1 commits" in outcome.stderr


@pytest.mark.parametrize("arguments", [[], ["unknown"], ["run"], ["run", "FILE", "--no-such-flag"], ["run", "FILE", "--duration", "5"],
                                       ["run", "FILE", "--accept", "NONSENSE"], ["run", "/does/not/exist.yaml"]])
def test_wrong_usage_is_2(kafka, lake, topic, arguments):
    file = Pipeline(lake, kafka, topics=[topic]).write()
    outcome = frazil(*[str(file) if a == "FILE" else a for a in arguments]).expect(2)
    assert outcome.stderr and not lake.tables()


def test_catching_up_does_not_wait_for_the_interval(kafka, lake, topic):
    topic_of(kafka, topic, [Record({"id": i}, partition=i % 2) for i in range(1000)], partitions=2)
    pipeline = Pipeline(lake, kafka, topics=[topic], commit={"interval": "1h"})
    begun = time.monotonic()
    pipeline.run(seconds=60).expect()
    print(f"ended after {time.monotonic() - begun:.1f} s")
    lake.expect_ids(pipeline.table, range(1000))


# --- two at once --------------------------------------------------------------------------------


@pytest.mark.parametrize("group", ["shared", "none"])
def test_two_processes_of_one_pipeline_store_each_row_once(kafka, lake, topic, group):
    """With a group they share partitions; without one, one of them is stale each time and reads again."""
    partitions = 4
    topic_of(kafka, topic, partitions=partitions)
    source = {"kafka": {"group": "none"}} if group == "none" else {}
    pipeline = Pipeline(lake, kafka, topics=[topic], source=source, lanes=1)
    with pipeline.start() as one, pipeline.start() as two:
        for turn in range(10):
            produce(kafka, topic, [Record({"id": i} if i % 7 else b"bad %d" % i, partition=i % partitions) for i in range(turn * 50, turn * 50 + 50)])
            one.wait_until(lambda: len(lake.rows(pipeline.table)) >= turn * 40, "rows to arrive")
        good = [i for i in range(500) if i % 7]
        one.wait_until(lambda: len(lake.rows(pipeline.table)) >= len(good), "all rows")
        outcomes = [one.terminate().expect(), two.terminate().expect()]
    pipeline.run().expect()
    lake.expect_ids(pipeline.table, good)
    assert len(lake.rows(f"{pipeline.table}_dead_letters")) == 500 - len(good)
    print("rows by process:", [o.summary["rows_committed"] for o in outcomes], "stale:", [o.summary["commits"]["stale_epochs"] for o in outcomes])


def test_two_that_start_at_once_agree_on_one_start(kafka, lake, topic):
    topic_of(kafka, topic, [Record({"id": i}, partition=i % 2) for i in range(200)], partitions=2)
    pipeline = Pipeline(lake, kafka, topics=[topic], source={"kafka": {"group": "none"}})
    arguments = pipeline.arguments("--until-caught-up")
    with pipeline.start("--until-caught-up") as one, pipeline.start("--until-caught-up") as two:
        one.wait_for_end().expect()
        two.wait_for_end().expect()
    frazil(*arguments).expect()
    lake.expect_ids(pipeline.table, range(200))


def test_several_pipelines_of_one_file_run_side_by_side(kafka, lake, topic):
    topic_of(kafka, topic, ids(0, 50))
    pipelines = [Pipeline(lake, kafka, name, [topic]) for name in ("one", "two", "three")]
    file = lake.folder / "all.yaml"
    write_file(file, {"pipelines": [p.content for p in pipelines], "http": {"listen": "off"}})
    outcome = frazil("run", file, "--until-caught-up", "--json", "--set", "two:table.name=shop.second").expect()
    assert {e["pipeline"] for e in outcome.of("summary")} == {"one", "two", "three"}
    for table in ("shop.one", "shop.second", "shop.three"):
        lake.expect_ids(table, range(50))


# --- configuration ------------------------------------------------------------------------------


def test_validate_needs_no_network_and_names_place_and_nearest_key(kafka, lake, topic):
    pipeline = Pipeline(lake, "127.0.0.1:1", topics=[topic])
    frazil("validate", pipeline.write()).expect()
    path = lake.folder / "bad.yaml"
    path.write_text("""name: orders
source:
  kafka:
    topcis: [orders]
    properties: {bootstrap.servers: "127.0.0.1:1", enable.auto.commit: "true", sasl.password: secret-canary}
decode: {json: {schema: [{name: id, type: lnog}]}}
table:
  name: orders
  catalog: {type: sqlite, uri: c.db, warehouse: w}
commit: {interval: 5}
commit: {interval: 5s}
""")
    outcome = frazil("validate", path).expect(2)
    text = outcome.stdout + outcome.stderr
    assert f"{path}:4:5: " in text and "topcis" in text and "topics" in text
    assert "enable.auto.commit" in text and "lnog" in text and "namespace.table" in text
    assert re.search(r"bad\.yaml:1[01]:\d+: .*commit", text), text
    assert "sasl.password" in text and "secret-canary" not in text
    assert lake.tables() == []


@pytest.mark.parametrize("key", ["enable.auto.commit", "auto.offset.reset", "isolation.level", "plugin.library.paths"])
def test_properties_that_would_break_the_guarantees_are_refused_by_name(kafka, lake, topic, key):
    pipeline = Pipeline(lake, kafka, topics=[topic], source={"kafka": {"properties": {key: "x"}}})
    outcome = frazil("validate", pipeline.write()).expect(2)
    assert key in outcome.stdout + outcome.stderr


def test_set_overrides_the_file_and_is_checked_like_it(kafka, lake, topic):
    topic_of(kafka, topic, ids(0, 20))
    pipeline = Pipeline(lake, kafka, topics=["absent"])
    pipeline.run("--set", f"source.kafka.topics=[{topic}]", "--set", "table.name=other.place").expect()
    lake.expect_ids("other.place", range(20))
    outcome = pipeline.run("--set", "commit.intervall=2s").expect(2)
    assert "commit.intervall" in outcome.stderr and "interval" in outcome.stderr


def test_plaintext_is_for_loopback_alone(kafka, lake, topic):
    pipeline = Pipeline(lake, "broker.example:9092", topics=[topic])
    outcome = frazil("validate", pipeline.write())
    if outcome.code == 0:  # validate may leave it to the run
        outcome = pipeline.run("--set", "connect_timeout=1s")
        assert outcome.code in (1, 2)
    assert "allow_plaintext" in outcome.stdout + outcome.stderr


# --- connecting ---------------------------------------------------------------------------------


def test_a_broker_that_is_never_reached_fails_with_the_reason(kafka, lake, topic):
    port = free_port_pair()
    pipeline = Pipeline(lake, f"127.0.0.1:{port}", topics=[topic], connect_timeout="2s")
    begun = time.monotonic()
    outcome = pipeline.run(seconds=30).expect(1)
    assert time.monotonic() - begun < 20
    assert f"127.0.0.1:{port}" in outcome.stderr and re.search("refused|connect", outcome.stderr, re.I), outcome.stderr
    assert outcome.summary["state"] == "failed" and lake.tables() == []


def test_a_topic_that_does_not_exist_is_named(kafka, lake, topic):
    pipeline = Pipeline(lake, kafka, topics=[f"{topic}_absent"], connect_timeout="5s")
    outcome = pipeline.run().expect(1)
    assert f"{topic}_absent" in outcome.stderr


def test_a_broker_restart_is_ridden_out(lake, topic, tmp_path):
    """kill -9 of the broker while the pipeline runs: it goes on where the table stands."""
    with KafkaServer(tmp_path / "kafka") as server:
        topic_of(server, topic, ids(0, 100))
        pipeline = Pipeline(lake, server, topics=[topic])
        with pipeline.start() as running:
            running.wait_until(lambda: len(lake.rows(pipeline.table)) == 100, "the first rows")
            server.kill()
            server.restart()
            produce(server, topic, ids(100, 200))
            running.wait_until(lambda: len(lake.rows(pipeline.table)) >= 200, "the rows after the restart")
            running.terminate().expect()
        lake.expect_ids(pipeline.table, range(200))


# --- being seen ---------------------------------------------------------------------------------


def test_the_status_server_tells_what_goes_on(kafka, lake, topic):
    topic_of(kafka, topic, [Record({"id": i} if i % 10 else b"bad", partition=i % 2) for i in range(100)], partitions=2)
    pipeline = Pipeline(lake, kafka, topics=[topic])
    pipeline.process_content["http"] = {"listen": "127.0.0.1:0"}
    with pipeline.start() as running:
        running.wait_until(lambda: len(lake.rows(pipeline.table)) == 90, "the rows")
        running.wait_until(lambda: running.get("/readyz")[0] == 200, "readiness")
        assert running.get("/healthz")[0] == 200
        view = running.wait_until(lambda: (v := json.loads(running.get("/status")[1])["pipelines"][0])["lag"]["records"] == 0 and v["lag"]["splits"] and v, "lag 0")
        assert view["state"] == "running" and view["rows_committed"] == 90 and view["dead_letters"] == 10
        assert {s["split"] for s in view["lag"]["splits"]} == {f"{topic}/0", f"{topic}/1"}
        assert view["freshness"]["rows"] == 90 and 0 < view["freshness"]["seconds_p50"] <= view["freshness"]["seconds_p99"]
        assert view["files"]["count"] >= 1 and view["commits"]["count"] >= 1 and view["memory"]["limit"] > 0
        code, metrics = running.get("/metrics")
        assert code == 200 and re.search(r'^frazil_\w*rows\w*\{[^}]*pipeline="orders"[^}]*\} 90$', metrics, re.M), metrics
        for line in metrics.splitlines():
            assert re.fullmatch(r'# (HELP|TYPE) .+|\w+(\{.*\})? [-+0-9.eEinfNa]+', line), line
        assert running.get("/nothing")[0] == 404
        running.terminate().expect()


def test_a_halted_pipeline_is_seen_while_the_other_runs(kafka, lake, topic):
    topic_of(kafka, topic, [b"bad"])
    topic_of(kafka, f"{topic}_sound", ids(0, 5))
    broken = Pipeline(lake, kafka, "broken", [topic], decode={"on_reject": "halt"})
    sound = Pipeline(lake, kafka, "sound", [f"{topic}_sound"])
    sound.content = {"pipelines": [broken.content, sound.content]}
    sound.process_content["http"] = {"listen": "127.0.0.1:0"}
    with sound.start() as running:
        running.wait_until(lambda: "RECORD_REJECTED" in running.get("/status")[1], "the halt in /status")
        code, text = running.get("/readyz")
        assert code == 503 and "broken" in text
        assert running.get("/healthz")[0] == 200, "a restart for the one would disturb the other"
        running.wait_until(lambda: len(lake.rows("shop.sound")) == 5, "the rows of the other")
        outcome = running.terminate().expect(1)
    assert {e["pipeline"]: e["state"] for e in outcome.of("summary")} == {"broken": "halted", "sound": "ended"}


def test_a_busy_port_that_was_set_is_an_error_and_the_default_moves(kafka, lake, topic):
    topic_of(kafka, topic, ids(0, 5))
    pipeline = Pipeline(lake, kafka, topics=[topic])
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        pipeline.process_content["http"] = {"listen": f"127.0.0.1:{busy.getsockname()[1]}"}
        outcome = pipeline.run().expect(1)
        assert str(busy.getsockname()[1]) in outcome.stderr and lake.tables() == []
    with socket.socket() as busy:
        try:
            busy.bind(("127.0.0.1", 9464))
            busy.listen()
        except OSError:
            pass  # somebody else holds the default port: as good
        pipeline.process_content = {}
        outcome = pipeline.run().expect()
        assert "default status port is busy" in outcome.stderr
    lake.expect_ids(pipeline.table, range(5))


@pytest.mark.parametrize("format_", ["text", "json"])
def test_logs_are_lines_and_never_hold_a_secret(kafka, lake, topic, format_):
    canary = "canary-7f3a9"
    (lake.folder / "password").write_text(canary + "\n")
    sasl = {"security.protocol": "sasl_plaintext", "sasl.mechanism": "PLAIN", "sasl.username": "u",
            "sasl.password": "${file:%s}" % (lake.folder / "password")}
    pipeline = Pipeline(lake, kafka, topics=[topic], source={"kafka": {"properties": sasl}}, connect_timeout="2s")
    pipeline.process_content["log"] = {"format": format_, "level": "debug"}
    outcome = pipeline.run(env={"ANOTHER_SECRET": canary + "-key"}).expect(1)
    assert outcome.stderr and canary not in outcome.stderr + outcome.stdout
    if format_ == "json":
        lines = [line for line in outcome.stderr.splitlines() if line.startswith("{")]
        assert lines and all("level" in json.loads(line) for line in lines)
    options = frazil("validate", pipeline.write(), env={"KEY_PASSWORD": canary})
    assert canary not in options.stdout + options.stderr


# --- state --------------------------------------------------------------------------------------


def test_state_is_nowhere_but_in_warehouse_and_catalog(kafka, lake, topic):
    """Another folder, another home, no group offsets: only the lake is the same."""
    topic_of(kafka, topic, [Record({"id": i} if i % 9 else b"bad") for i in range(100)])
    home = lake.folder / "home"
    home.mkdir()
    pipeline = Pipeline(lake, kafka, topics=[topic])
    pipeline.run(env={"HOME": str(home), "TMPDIR": str(home)}).expect()
    assert list(home.iterdir()) == []
    for entry in lake.folder.iterdir():
        if entry.name not in lake.place.entries:
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    wait_until(lambda: _group_is_gone(kafka, pipeline.group), "the group to be deleted")
    produce(kafka, topic, ids(100, 150))
    pipeline.run().expect()
    lake.expect_ids(pipeline.table, [*(i for i in range(100) if i % 9), *range(100, 150)])
    assert len(lake.rows(f"{pipeline.table}_dead_letters")) == 12
    assert sorted(os.listdir(lake.folder)) == sorted([*lake.place.entries, "orders.yaml"])


def _group_is_gone(kafka, group):
    from confluent_kafka import KafkaException
    (future,) = kafka.admin.delete_consumer_groups([group]).values()
    try:
        future.result(30)
    except KafkaException as error:
        return "GROUP_ID_NOT_FOUND" in str(error) or "does not exist" in str(error)
    return True


def test_files_of_crashed_runs_are_no_part_of_the_table(kafka, lake, topic):
    topic_of(kafka, topic, ids(0, 5000))
    source = {"kafka": {"group": "none"}}
    pipeline = Pipeline(lake, kafka, topics=[topic], source=source, commit={"interval": "1h"})
    pipeline.process_content["http"] = {"listen": "127.0.0.1:0"}
    with pipeline.start() as running:
        running.wait_until(lambda: '"records_read": 5000' in running.get("/status")[1], "all records to be read")
        running.kill()
    assert lake.rows(pipeline.table) == []
    pipeline = Pipeline(lake, kafka, topics=[topic], source=source)
    pipeline.run().expect()
    lake.expect_ids(pipeline.table, range(5000))


def test_history_is_kept_as_long_as_the_table_says(kafka, lake, topic):
    """Snapshots beyond their age leave with an append; the positions' own stays."""
    topic_of(kafka, topic)
    create = {"properties": {"history.expire.max-snapshot-age-ms": "1", "history.expire.min-snapshots-to-keep": "2"}}
    pipeline = Pipeline(lake, kafka, topics=[topic], create=create)
    for turn in range(5):
        produce(kafka, topic, ids(turn * 10, turn * 10 + 10))
        pipeline.run().expect()
    assert 2 <= len(lake.load(pipeline.table).metadata.snapshots) <= 4
    lake.expect_ids(pipeline.table, range(50))


def test_inspect_tells_schema_files_and_positions(kafka, lake, topic):
    topic_of(kafka, topic, [Record({"id": i}, partition=i % 2) for i in range(20)], partitions=2)
    pipeline = Pipeline(lake, kafka, topics=[topic], create={"partition_by": ["bucket(4, id)"]})
    pipeline.run().expect()
    catalog = lake.folder / "catalog.yaml"
    write_file(catalog, {**pipeline.content["table"]["catalog"], **lake.place.settings})
    by_location = [[lake.location_of(pipeline.table)]] if lake.is_local else []  # a store's keys stand in the catalog's block
    answers = [frazil("inspect", *what, "--json").expect().stdout
               for what in ([pipeline.path], *by_location, [pipeline.table, "--catalog", catalog])]
    for answer in answers:
        for word in ('"id"', "bucket", str(lake.load(pipeline.table).current_snapshot().snapshot_id), ".parquet"):
            assert word in answer, (word, answer)
        assert isinstance(json.loads(answer), (dict, list))
    plain = frazil("inspect", pipeline.path).expect()
    assert topic in plain.stdout and "id" in plain.stdout


def test_version_and_options_answer(kafka):
    assert re.search(r"\d+\.\d+\.\d+", frazil("version").expect().stdout)
    schema = json.loads(frazil("options", "--format", "json-schema").expect().stdout)
    assert schema["$schema"].startswith("https://json-schema.org/") and "commit" in json.dumps(schema)
    assert "`commit.interval`" in frazil("options", "--format", "markdown").expect().stdout
