"""/metrics as Prometheus reads it, and what is made of it in deploy/."""
import json
import pathlib
import re
import shutil
import subprocess

import pytest

from support import senders
from support.gateway import SECRETS, Gateway, config
from support.http_client import post

DEPLOY = pathlib.Path(__file__).parents[2] / "deploy"
STRIPE = SECRETS["stripe"]
RULES = {"rules": ["check", "rules", "alerts.yml"], "tests of the rules": ["test", "rules", "alerts_test.yml"]}


def promtool(*arguments, **options):
    program = shutil.which("promtool")
    assert program, "promtool is missing; it comes with Debian's package `prometheus`, which ./x test installs"
    return subprocess.run([program, *arguments], capture_output=True, text=True, check=False, **options)


@pytest.fixture
def scraped(binary, tmp_path, backend):
    """What a gateway shows that has accepted, recognised a duplicate, rejected, delivered and failed."""
    backend.answer_with(lambda request, nth: 500 if request.provider_id == "evt_2" else 200)
    with Gateway(binary, tmp_path, config(backend.url, "stripe")) as gateway:
        for event in ("evt_1", "evt_1", "evt_2"):
            assert post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, event)).status == 200
        assert post(gateway.ingest, "/in/stripe", senders.stripe("whsec_" + "b" * 32, "evt_3")).status == 401
        backend.wait_for(2)
        gateway.wait_until(lambda: gateway.metric('hookonce_attempts_total') >= 2)
        answer = gateway.api("GET", "/metrics")
        assert answer.header("Content-Type").startswith("text/plain; version=0.0.4")
        return answer.body.decode()


def test_prometheus_reads_the_metrics(scraped):
    checked = promtool("check", "metrics", input=scraped)
    assert checked.returncode == 0 and checked.stdout + checked.stderr == "", checked


def test_labels_are_of_bounded_sets(scraped):
    names = {label for line in scraped.splitlines() if not line.startswith("#") for label in re.findall(r'([a-z_]+)="', line)}
    assert names <= {"source", "destination", "code", "cause", "outcome", "state", "le", "version"}, names


@pytest.mark.parametrize("what", RULES)
def test_prometheus_takes_the_alerts(what):
    checked = promtool(*RULES[what], cwd=DEPLOY / "prometheus")
    assert checked.returncode == 0, checked


def test_what_is_shown_and_watched_exists(scraped):
    exists = set(re.findall(r"^(?:# TYPE )?(hookonce_[a-z_]+)", scraped, re.MULTILINE))
    used = set()
    for file in ("grafana/hookonce.json", "prometheus/alerts.yml"):
        used |= set(re.findall(r"hookonce_[a-z_]+", (DEPLOY / file).read_text()))
    assert used and used <= exists, used - exists


def test_the_grafana_dashboard_asks_what_prometheus_understands():
    dashboard = json.loads((DEPLOY / "grafana" / "hookonce.json").read_text())
    rules = []
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            expression = target["expr"].replace("$__rate_interval", "5m").replace("$job", ".*").replace("$instance", ".*")
            rules.append({"record": f"panel:{panel['id']}_{target['refId']}", "expr": expression})
    checked = promtool("check", "rules", "/dev/stdin", input=json.dumps({"groups": [{"name": "panels", "rules": rules}]}))
    assert checked.returncode == 0, checked
    assert len({panel["id"] for panel in dashboard["panels"]}) == len(dashboard["panels"])
