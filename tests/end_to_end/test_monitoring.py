"""What operators watch: every metric that the dashboard and the rules name is in the /metrics of a real pipeline."""
import json
import pathlib
import re

from pipeline import Pipeline, Record, produce, topic_of

ROOT = pathlib.Path(__file__).resolve().parents[2]
DASHBOARD = ROOT / "packaging/grafana/frazil.json"
RULES = ROOT / "packaging/prometheus/frazil.rules.yml"


def names_in(text):
    """Metrics of ours in PromQL; what the rules record themselves (frazil:...) is not one."""
    return set(re.findall(r"\bfrazil_[a-z_]+\b(?!:)", text))


def expressions(dashboard):
    return [target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", [])]


def series_of(metrics):
    return {re.match(r"\w+", line).group() for line in metrics.splitlines() if line and not line.startswith("#")}


def labels_of(metrics, name):
    found = re.findall(rf"^{name}{{([^}}]*)}}", metrics, re.M)
    return [dict(re.findall(r'(\w+)="([^"]*)"', labels)) for labels in found]


def metrics_of_several_tables(kafka, lake, topic):
    """Some are of pipelines with several tables alone."""
    pipeline = Pipeline(lake, kafka, name="routed", topics=[topic], table={"name": ...})
    pipeline.content["tables"] = [{"name": "shop.first", "when": {"field": "id", "matches": ".*1"}}, {"name": "shop.rest"}]
    pipeline.process_content["http"] = {"listen": "127.0.0.1:0"}
    with pipeline.start() as running:
        running.wait_until(lambda: 'frazil_rows_committed_total{pipeline="routed"} 181' in running.get("/metrics")[1], "the rows")
        metrics = running.get("/metrics")[1]
        running.terminate().expect()
    return metrics


def test_the_dashboard_and_the_rules_name_only_metrics_that_exist(kafka, lake, topic):
    records = [Record({"id": i, "surplus": 1} if i % 10 else b"bad", partition=i % 2) for i in range(200)]
    topic_of(kafka, topic, [*records, Record(b'{"id": 1000, "id": 1000}'), Record(None)], partitions=2)
    pipeline = Pipeline(lake, kafka, topics=[topic])
    pipeline.process_content["http"] = {"listen": "127.0.0.1:0"}
    with pipeline.start() as running:
        running.wait_until(lambda: 'frazil_rows_committed_total{pipeline="orders"} 181' in running.get("/metrics")[1], "the rows")
        running.wait_until(lambda: "frazil_lag_records" in running.get("/metrics")[1], "the lag")
        metrics = running.get("/metrics")[1]
        status = json.loads(running.get("/status")[1])["pipelines"][0]
        running.terminate().expect()
    dashboard = json.loads(DASHBOARD.read_text())
    series = series_of(metrics) | series_of(metrics_of_several_tables(kafka, lake, topic))
    wanted = names_in(" ".join(expressions(dashboard)))
    assert len(wanted) > 20 and wanted <= series, sorted(wanted - series)
    rules = names_in("\n".join(re.findall(r"expr: (.*)", RULES.read_text())))
    assert len(rules) > 10 and rules <= series, sorted(rules - series)
    # And the other way: what is measured can be seen.
    shown = {re.sub("_(sum|count)$", "", name) for name in series if name.startswith("frazil_")}
    assert shown <= {re.sub("_(sum|count)$", "", name) for name in wanted}, sorted(shown - wanted)
    told = set(re.findall(r"`(frazil_[a-z_]+)`", (ROOT / "docs/operate/monitoring.md").read_text()))
    assert told == shown, sorted(told ^ shown)
    for name in ("frazil_freshness_seconds", "frazil_commit_seconds", "frazil_file_bytes"):
        assert {labels["quantile"] for labels in labels_of(metrics, name)} == {"0.5", "0.95", "0.99"}
    assert {labels["split"] for labels in labels_of(metrics, "frazil_lag_records")} == {f"{topic}/0", f"{topic}/1"}
    # What was passed over or refused is counted by its kind.
    codes = {labels["code"] for labels in labels_of(metrics, "frazil_rejects_total")}
    assert codes == set(status["rejects"]) and sum(status["rejects"].values()) == status["dead_letters"] == 20
    assert status["unknown_fields"] == 180 and status["duplicate_keys"] == 1 and status["tombstones"] == 1


def test_panels_are_whole(kafka):
    """Each panel has a query of our data source, a place of its own and a unit."""
    dashboard = json.loads(DASHBOARD.read_text())
    panels = [panel for panel in dashboard["panels"] if panel["type"] != "row"]
    assert len({panel["id"] for panel in dashboard["panels"]}) == len(dashboard["panels"])
    titles = " ".join(panel["title"].lower() for panel in panels)
    for subject in ("freshness", "lag", "commits", "size of files", "dead letters"):
        assert subject in titles
    taken = set()
    for panel in panels:
        place = panel["gridPos"]
        cells = {(x, y) for x in range(place["x"], place["x"] + place["w"]) for y in range(place["y"], place["y"] + place["h"])}
        assert not cells & taken and place["x"] + place["w"] <= 24, panel["title"]
        taken |= cells
        assert panel["targets"] and panel["fieldConfig"]["defaults"]["unit"]


def test_the_first_reject_of_a_code_is_logged_and_the_second_is_not(kafka, lake, topic):
    topic_of(kafka, topic, [b"bad"])
    pipeline = Pipeline(lake, kafka, topics=[topic])
    with pipeline.start() as running:
        running.wait_until(lambda: lake.has(f"{pipeline.table}_dead_letters") and len(lake.rows(f"{pipeline.table}_dead_letters")) == 1, "the first dead letter")
        produce(kafka, topic, [b"worse", Record({"id": "no number"})])
        running.wait_until(lambda: len(lake.rows(f"{pipeline.table}_dead_letters")) == 3, "the others")
        outcome = running.terminate().expect()
    told = re.findall(r"record rejected.* at=\"?(\S+) offset (\d+)", outcome.stderr)
    assert told == [(f"{topic}/0", "0"), (f"{topic}/0", "2")], outcome.stderr
