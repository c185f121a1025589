"""Foreign tables that keep too many snapshots: what Frazil says, and how rarely it commits then."""
import json
import re

from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField

from pipeline import Pipeline, ids, produce, topic_of

KEEP = "history.expire.max-snapshot-age-ms"


def events(running, name):
    return [line for line in running.stderr.splitlines() if re.search(rf"\b{name}\b", line)]


def test_commits_get_rarer_before_a_foreign_tables_metadata_grows_too_large(kafka, lake, topic):
    """The table keeps snapshots for Iceberg's five days, and its metadata.json is over 4 MB already."""
    catalog = lake.catalog()
    catalog.create_namespace_if_not_exists("shop")
    catalog.create_table("shop.orders", Schema(NestedField(1, "id", LongType(), required=True)), properties={"note": "x" * 4_500_000})
    topic_of(kafka, topic, ids(0, 200))
    pipeline = Pipeline(lake, kafka, topics=[topic], schema="from_table", create=..., commit={"interval": "100ms"})
    pipeline.process_content["http"] = {"listen": "127.0.0.1:0"}
    with pipeline.start() as running:
        running.wait_for_log("commits_get_rarer")
        status = lambda: json.loads(running.get("/status")[1])["pipelines"][0]  # noqa: E731
        running.wait_until(lambda: status()["records_read"] >= 200, "all records to be read")
        produce(kafka, topic, ids(200, 300))
        running.wait_until(lambda: status()["records_read"] >= 300, "the later records, long after the interval")
        assert lake.rows("shop.orders") == [] and not running.complete_events()
        cost, rarer = events(running, "snapshots_pile_up")[0], events(running, "commits_get_rarer")[0]
        running.terminate().expect()
    print(cost, rarer, sep="\n")
    assert KEEP in cost and KEEP in rarer and "metadata_bytes_written_a_day" in cost
    lake.expect_ids("shop.orders", range(300))  # the end of the run does not wait
    assert lake.load("shop.orders").properties.get(KEEP) is None  # nobody's retention was shortened

    with lake.load("shop.orders").transaction() as transaction:
        transaction.set_properties({KEEP: "3600000"})
    with pipeline.start() as running:
        running.wait_for_log("pipeline starts")
        produce(kafka, topic, ids(300, 350))
        running.wait_until(lambda: len(lake.rows("shop.orders")) == 350, "rows at the configured interval")
        assert not events(running, "commits_get_rarer")
        running.terminate().expect()
    lake.expect_ids("shop.orders", range(350))
