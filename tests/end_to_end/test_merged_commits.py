"""Commits of several workers joined into one snapshot: three processes of one group, one of them commits for all."""
import hashlib
import hmac
import http.client
import json
import os
import pathlib
import re

from exactly_once import SCHEMA, judge_exactly_once
from judges import java_checker
from kill_harness import Stream
from pipeline import Lake, Pipeline, frazil, ids, log_ends, produce, topic_of, wait_until

PARTITIONS = 6
PER_SECOND = 600
BAD_SHARE = 0.005   # epochs with dead letters are committed by their own worker
BLOWS = 3


def make_pipeline(lake, kafka, topic, mode):
    pipeline = Pipeline(lake, kafka, topics=[topic], schema=SCHEMA, create={"partition_by": ["bucket(4, id)"]},
                        source={"kafka": {"properties": {"session.timeout.ms": "6000"}}},
                        table={"columns": {"kafka_metadata": True}}, commit={"interval": "300ms", "merge": {"mode": mode}})
    pipeline.process_content["control"] = {"socket": "off"}
    return pipeline


def merged(worker):
    """How many epochs each snapshot holds that this worker committed for all."""
    return [int(n) for n in re.findall(r"commit_merged .*? epochs=(\d+)", worker.stderr)]


def handed(worker, verdict):
    return len(re.findall(rf"epoch_handed_over .*? verdict={verdict}\b", worker.stderr))


def wait_for_joint_snapshots(workers):
    """The worker that commits for all, once it has joined epochs of others with its own, and theirs came back done."""
    def found():
        for worker in workers:
            if any(n > 1 for n in merged(worker)) and any(handed(other, "done") for other in workers if other is not worker):
                return worker
        return None
    return wait_until(found, "a snapshot with epochs of several workers")


def expect_account(kafka, lake, pipeline, topic, stream):
    ends = log_ends(kafka, topic, PARTITIONS)
    assert len(stream.produced) == sum(ends.values()), "the account of what was produced has gaps"
    pipeline.run().expect()
    locations = [lake.location_of(pipeline.table), lake.location_of(f"{pipeline.table}_dead_letters")]
    judge_exactly_once(stream, *locations)
    java_checker.expect_clean(locations)
    assert lake.positions(pipeline.table, "orders") == {topic: [ends[p] for p in range(PARTITIONS)]}


def test_one_worker_commits_for_three_and_its_death_costs_nothing(kafka, tmp_path, topic):
    lake = Lake(tmp_path / "lake")
    topic_of(kafka, topic, partitions=PARTITIONS)
    pipeline = make_pipeline(lake, kafka, topic, "always")
    workers, deaths = [], 0
    with Stream(kafka, topic, PARTITIONS, PER_SECOND, BAD_SHARE, seed=7) as stream:
        try:
            workers = [pipeline.start() for _ in range(3)]
            for _ in range(BLOWS):
                committer = wait_for_joint_snapshots(workers)
                committer.kill()
                deaths += 1
                workers.remove(committer)
                workers.append(pipeline.start())
            wait_for_joint_snapshots([w for w in workers if w is not committer])
            stream.stop()
            for worker in workers:
                worker.terminate().expect()
        finally:
            for worker in workers:
                worker.__exit__()
    assert deaths == BLOWS
    expect_account(kafka, lake, pipeline, topic, stream)


def test_without_a_verdict_in_time_each_worker_commits_by_itself(kafka, tmp_path, topic):
    """The group names an address at which nobody listens: every epoch is committed all the same, by its own worker."""
    lake = Lake(tmp_path / "lake")
    topic_of(kafka, topic, partitions=PARTITIONS)
    pipeline = make_pipeline(lake, kafka, topic, "always")
    start = lambda address: pipeline.start("--set", f"commit.merge.advertise={address}")  # noqa: E731
    with Stream(kafka, topic, PARTITIONS, PER_SECOND, BAD_SHARE, seed=8) as stream, start("127.0.0.1:1") as first, start("127.0.0.1:2") as second:
        # One of the two commits for all, as far as the group knows: the other one cannot reach it.
        wait_until(lambda: max(handed(first, "none"), handed(second, "none")) >= 3, "epochs without a verdict")
        for worker in (first, second):
            worker.wait_for_commit(rows=500)
        stream.stop()
        for worker in (first, second):
            worker.terminate().expect()
    expect_account(kafka, lake, pipeline, topic, stream)


def test_commits_that_are_alone_are_not_handed_over(kafka, tmp_path, topic):
    lake = Lake(tmp_path / "lake")
    topic_of(kafka, topic, partitions=PARTITIONS)
    pipeline = make_pipeline(lake, kafka, topic, "auto")
    with Stream(kafka, topic, PARTITIONS, PER_SECOND, BAD_SHARE, seed=9) as stream, pipeline.start() as only:
        only.wait_for_commit(rows=500)
        stream.stop()
        only.terminate().expect()
        assert handed(only, "done") + handed(only, "none") == 0
    expect_account(kafka, lake, pipeline, topic, stream)


def proof_of(key, body):
    return "Frazil " + hmac.new(key.encode(), b"epoch\n" + body, hashlib.sha256).hexdigest()


def test_epochs_without_proof_or_sense_are_refused(kafka, tmp_path, topic):
    lake = Lake(tmp_path / "lake")
    topic_of(kafka, topic, ids(0, 10))
    pipeline = Pipeline(lake, kafka, topics=[topic], commit={"interval": "300ms", "merge": {"mode": "always"}})
    with pipeline.start() as worker:
        worker.wait_for_commit(rows=10)
        address = re.search(r"merge_ready .*address=(\S+)", worker.stderr).group(1)
        metadata = lake.load(pipeline.table).metadata
        key = pathlib.Path(f"/tmp/frazil-{os.geteuid()}/merge.key")
        assert key.stat().st_mode & 0o777 == 0o600

        def post(proof=None, **changes):
            epoch = {"v": 1, "pipeline": "orders", "table": str(metadata.table_uuid), "schema_id": metadata.current_schema_id,
                     "spec_id": metadata.default_spec_id, "identity": {}, "manifest": "", "digest": "", "rows": 5, "times": [],
                     "ranges": [{"split": f"{topic}/0", "begin": "10", "end": "15", "first": False}]}
            body = json.dumps({**epoch, **changes}).encode()
            connection = http.client.HTTPConnection(address, timeout=30)
            connection.request("POST", "/v1/epochs", body, {"Authorization": proof or proof_of(key.read_text(), body)})
            answer = connection.getresponse()
            return answer.status, answer.read().decode()

        def ranges(begin, end, split=f"{topic}/0", first=False):
            return [{"split": split, "begin": begin, "end": end, "first": first}]

        assert [post(proof)[0] for proof in (" ", "Frazil " + "0" * 64, proof_of("0" * 64, b""))] == [403] * 3
        manifest = f"{metadata.location}/metadata/none-handed.avro"
        for bad in [{}, {"rows": 0}, {"manifest": manifest}, {"manifest": manifest, "rows": -1}, {"manifest": manifest, "ranges": []},
                    {"manifest": manifest, "times": [[-2**63, 2**63 - 1, 2**63 - 1, 2**63 - 1]]},
                    *({"manifest": manifest, "ranges": bad} for bad in (
                        ranges("0", "1", "x", True), ranges("0", "1", "zzz/0", True), ranges("0", "1", f"{topic}/2000", True),
                        ranges("0", "1", f"{topic}/3000000", True), ranges("10", "zz"), ranges("10", "-5"), ranges("10", "3"),
                        ranges("", "11"), ranges("garbage", "11"), ranges("10", "9" * 30), ranges("10", "15") * 2))]:
            status, text = post(**bad)
            assert status == 400 and text.strip(), (bad, status, text)
        assert len(re.findall("handed_epoch_refused", worker.stderr)) == 1
        assert lake.positions(pipeline.table, "orders") == {topic: [10]}
        produce(kafka, topic, ids(10, 20))
        worker.wait_for_commit(rows=20)
        worker.terminate().expect()
    pipeline.run().expect()
    lake.expect_ids(pipeline.table, range(20))


def test_workers_with_other_secrets_commit_by_themselves(kafka, tmp_path, topic):
    lake = Lake(tmp_path / "lake")
    topic_of(kafka, topic, partitions=PARTITIONS)
    pipeline = make_pipeline(lake, kafka, topic, "always")
    pipeline.content["commit"]["merge"]["secret"] = "${env:MERGE_SECRET}"
    start = lambda secret: pipeline.start(env={"MERGE_SECRET": secret})  # noqa: E731
    with Stream(kafka, topic, PARTITIONS, PER_SECOND, BAD_SHARE, seed=10) as stream, start("sixteen or more 1") as first, start("sixteen or more 2") as second:
        wait_until(lambda: "answered 403" in first.stderr + second.stderr, "a refused epoch")
        for worker in (first, second):
            worker.wait_for_commit(rows=500)
        stream.stop()
        for worker in (first, second):
            worker.terminate().expect()
            assert "sixteen or more" not in worker.stderr
    del pipeline.content["commit"]["merge"]
    expect_account(kafka, lake, pipeline, topic, stream)


def test_validate_says_what_merging_needs(tmp_path):
    lake = Lake(tmp_path / "lake")
    pipeline = Pipeline(lake, "127.0.0.1:9", topics=["t"], source={"kafka": {"group": "none"}},
                        commit={"merge": {"mode": "auto", "listen": "0.0.0.0:9470", "ca_file": "ca.pem"}})
    done = frazil("validate", pipeline.write())
    assert done.code == 2
    for part in ("only the workers of a Kafka group", "belong together", "beyond this machine", "commit.merge.advertise"):
        assert part in done.stderr + done.stdout, (part, done.stderr)
    pipeline.content["commit"]["merge"] = {"mode": "auto", "listen": "0.0.0.0:9470", "allow_plaintext": True}
    assert "missing key \"commit.merge.secret\"" in frazil("validate", pipeline.write()).stderr
    pipeline.content["commit"]["merge"]["secret"] = "${env:MERGE_SECRET}"
    assert "fewer than 16 characters" in frazil("validate", pipeline.write(), env={"MERGE_SECRET": "short"}).stderr
