"""Prometheus's own tool reads the rules and runs their unit tests."""
import re
import subprocess

from conftest import DEPS, ROOT

RULES = ROOT / "packaging/prometheus/frazil.rules.yml"


def promtool(*arguments):
    program = DEPS / "promtool/promtool"
    assert program.exists(), f"{program} is missing: tools/setup --tests brings it"
    return subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, timeout=120)


def test_prometheus_takes_the_rules():
    done = promtool("check", "rules", "--lint-fatal", RULES)
    assert done.returncode == 0 and "SUCCESS" in done.stdout, done.stdout + done.stderr


def test_each_alert_fires_when_it_should_and_not_before():
    done = promtool("test", "rules", RULES.with_name("frazil.rules_test.yml"))
    assert done.returncode == 0 and "SUCCESS" in done.stdout, done.stdout + done.stderr


def test_every_alert_has_such_a_test_and_a_line_in_the_documents():
    alerts = re.findall(r"- alert: (\w+)", RULES.read_text())
    tests = RULES.with_name("frazil.rules_test.yml").read_text()
    document = (ROOT / "docs/operate/monitoring.md").read_text()
    assert len(alerts) >= 12
    for alert in alerts:
        assert re.search(rf"alertname: {alert}\s+exp_alerts:", tests), f"{alert} is never shown to fire"
        assert f"`{alert}`" in document, f"{alert} is not in docs/operate/monitoring.md"
