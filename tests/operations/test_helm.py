"""The Helm chart as helm rendered it (tools/render_chart, which also holds each object to the schemas of Kubernetes). It was installed in no cluster."""
import hashlib
import json

import pytest

from conftest import ROOT

CHART = ROOT / "packaging/helm/frazil"
RENDERED = ROOT / "tests/operations/helm"


@pytest.fixture(params=["default", "all", "own_config_map"])
def objects(request):
    return {o["kind"]: o for o in json.loads((RENDERED / f"{request.param}.json").read_text())}


def test_what_is_rendered_is_this_chart():
    total = hashlib.sha256()
    for file in sorted(p for p in CHART.rglob("*") if p.is_file()):
        total.update(file.relative_to(CHART).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    assert (RENDERED / "digest").read_text().strip() == total.hexdigest(), "the chart was changed: run tools/render_chart"


def test_no_worker_is_root_or_may_become_it(objects):
    pod = objects["StatefulSet"]["spec"]["template"]["spec"]
    assert pod["securityContext"]["runAsNonRoot"] and pod["securityContext"]["runAsUser"] > 0
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"} and pod["automountServiceAccountToken"] is False
    (container,) = pod["containers"]
    assert container["securityContext"] == {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}}


def test_each_mount_has_its_volume_and_each_probe_its_port(objects):
    pod = objects["StatefulSet"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    volumes = {v["name"]: v for v in pod["volumes"]}
    assert {m["name"] for m in container["volumeMounts"]} == set(volumes)
    ports = {p["name"]: p["containerPort"] for p in container["ports"]}
    for probe, path in (("startupProbe", "/healthz"), ("livenessProbe", "/healthz"), ("readinessProbe", "/readyz")):
        assert container[probe]["httpGet"] == {"path": path, "port": "status"}
    assert f"--set=http.listen=0.0.0.0:{ports['status']}" in container["args"]
    assert objects["Service"]["spec"]["ports"][0]["port"] == ports["status"] and objects["Service"]["spec"]["clusterIP"] == "None"
    config_map = volumes["pipeline"]["configMap"]["name"]
    assert config_map == (objects["ConfigMap"]["metadata"]["name"] if "ConfigMap" in objects else "mine")


def test_a_worker_keeps_its_name_and_secrets_stay_references(objects):
    stateful_set = objects["StatefulSet"]["spec"]
    (container,) = stateful_set["template"]["spec"]["containers"]
    env = {e["name"]: e for e in container["env"]}
    assert env["POD_NAME"]["valueFrom"]["fieldRef"]["fieldPath"] == "metadata.name"
    assert env["RUNTIME_DIRECTORY"]["value"] in [m["mountPath"] for m in container["volumeMounts"]]
    assert all("secretKeyRef" in env[name]["valueFrom"] for name in ("KAFKA_PASSWORD", "CATALOG_CREDENTIAL"))
    assert "Secret" not in objects
    labels = stateful_set["template"]["metadata"]["labels"].items()
    assert stateful_set["selector"]["matchLabels"].items() <= labels and objects["Service"]["spec"]["selector"].items() <= labels
    assert stateful_set["serviceName"] == objects["Service"]["metadata"]["name"]


def test_the_number_of_workers_has_one_owner():
    rendered = {name: {o["kind"]: o for o in json.loads((RENDERED / f"{name}.json").read_text())} for name in ("default", "all", "own_config_map")}
    assert rendered["default"]["StatefulSet"]["spec"]["replicas"] == 1 and rendered["own_config_map"]["StatefulSet"]["spec"]["replicas"] == 3
    scaled = rendered["all"]
    assert "replicas" not in scaled["StatefulSet"]["spec"]
    assert scaled["ScaledObject"]["spec"]["scaleTargetRef"]["name"] == scaled["StatefulSet"]["metadata"]["name"]
    assert scaled["ScaledObject"]["spec"]["triggers"][0]["metadata"]["consumerGroup"] == "frazil-orders"
    assert "PodDisruptionBudget" in rendered["default"] and "PodDisruptionBudget" not in rendered["own_config_map"]
