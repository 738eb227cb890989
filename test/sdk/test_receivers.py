"""`hammer` finds the doubles of naive handlers, and none with the gateway in front; the examples take each delivery once."""
import json
import subprocess
import threading
import urllib.request

import pytest

from support import senders
from support.gateway import SECRETS, config
from support.http_client import post
from support.sdks import PYTHON, ROOT

SDK = ROOT / "test" / "sdk"
STRIPE = {"STRIPE_WEBHOOK_SECRET": SECRETS["stripe"]}
SLACK = {"SLACK_SIGNING_SECRET": SECRETS["slack"]}
COPIES = 16
START_SECONDS = 180  # a bound for a broken program, never a pace
# A slow machine must not turn a slow answer into a second attempt: nothing else is judged here.
PATIENT = {"timeout": "5m"}


class Receiver:
    """A running backend: which provider it is for, and where it takes events and counts effects."""

    def __init__(self, application, provider, path):
        self.application = application
        self.provider = provider
        self.url = f"http://{application.address}{path}"
        self.path = path
        self.effects_url = f"http://{application.address}/effects"

    def effects(self):
        with urllib.request.urlopen(self.effects_url, timeout=START_SECONDS) as answer:
            return json.load(answer)


@pytest.fixture
def receiver(serve, tmp_path):
    """receiver(name) starts the backend of that name, and returns it when it answers: the hammer gives nobody time to start."""
    def naive_django():
        return Receiver(serve("gunicorn", "naive:application", SDK / "naive_django", **STRIPE), "stripe", "/webhook/")

    def naive_fastapi():
        return Receiver(serve("uvicorn", "naive:app", SDK / "naive_fastapi", **SLACK), "slack", "/slack/events")

    def example_django():
        place = ROOT / "examples" / "django"
        environment = {**STRIPE, "DATABASE": str(tmp_path / "payments.sqlite3")}
        subprocess.run([PYTHON, place / "manage.py", "migrate", "-v", "0"], check=True, env=environment, cwd=tmp_path)
        return Receiver(serve("gunicorn", "wsgi", place, **environment), "stripe", "/webhook/")

    def example_fastapi():
        environment = {**SLACK, "DATABASE": str(tmp_path / "tickets.sqlite3")}
        return Receiver(serve("uvicorn", "main:app", ROOT / "examples" / "fastapi", **environment), "slack", "/slack/events")

    makers = {"naive_django": naive_django, "naive_fastapi": naive_fastapi, "example_django": example_django,
              "example_fastapi": example_fastapi}

    def begin(name):
        backend = makers[name]()
        assert backend.effects() == {}
        return backend

    return begin


def hammer(binary, receiver, url):
    return subprocess.run([binary, "hammer", receiver.provider, "--to", url, "--secret", SECRETS[receiver.provider], "--events", "5",
                           "--copies", str(COPIES), "--effects", receiver.effects_url], capture_output=True, text=True, timeout=300, check=False)


@pytest.mark.parametrize("name", ["naive_django", "naive_fastapi"])
def test_hammer_finds_a_naive_backends_doubles_and_none_with_the_gateway_in_front(binary, start, receiver, name, pytestconfig):
    backend = receiver(name)
    gateway = start(config(backend.url, backend.provider, destination=PATIENT))
    for _ in range(pytestconfig.getoption("--hammers")):
        alone = hammer(binary, backend, backend.url)
        assert alone.returncode == 1 and "more than once" in alone.stdout, (alone, backend.application.log())
        before = backend.effects()
        assert max(before.values()) > 1, "doubles, and not only events without an effect"
        protected = hammer(binary, backend, f"http://{gateway.ingest}/in/{backend.provider}")
        assert protected.returncode == 0, (protected, backend.application.log())
        new = {event: count for event, count in backend.effects().items() if event not in before}
        assert sorted(new.values()) == [1] * 5


@pytest.mark.parametrize("name", ["example_django", "example_fastapi"])
def test_an_example_behind_the_gateway_passes_the_hammer(binary, start, receiver, name):
    backend = receiver(name)
    gateway = start(config(backend.url, backend.provider, destination=PATIENT))
    result = hammer(binary, backend, f"http://{gateway.ingest}/in/{backend.provider}")
    assert result.returncode == 0, (result, backend.application.log())


def delivery(provider, event_id, key):
    headers, body = getattr(senders, provider)(SECRETS[provider], event_id)
    return headers + ([("Idempotency-Key", key)] if key else []), body


def deliver_at_once(backend, messages):
    """Each on a connection and thread of its own; the statuses."""
    statuses = [None] * len(messages)

    def send(index):
        statuses[index] = post(backend.application.address, backend.path, messages[index], timeout=START_SECONDS).status

    threads = [threading.Thread(target=send, args=(index,)) for index in range(len(messages))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return statuses


@pytest.mark.parametrize("name", ["example_django", "example_fastapi"])
def test_an_example_takes_a_delivery_once_however_often_it_comes(receiver, name):
    backend = receiver(name)
    one = delivery(backend.provider, "evt_one", "key-1")
    assert deliver_at_once(backend, [one]) == [204], backend.application.log()
    assert deliver_at_once(backend, [one]) == [204], "done already is done"
    twins = delivery(backend.provider, "evt_twins", "key-2")
    assert deliver_at_once(backend, [twins] * COPIES) == [204] * COPIES, backend.application.log()
    assert backend.effects() == {"evt_one": 1, "evt_twins": 1}
    # A replay under a new key is a person's wish to have it done again.
    assert deliver_at_once(backend, [delivery(backend.provider, "evt_one", "key-1.1")]) == [204]
    assert backend.effects() == {"evt_one": 2, "evt_twins": 1}


@pytest.mark.parametrize("name", ["example_django", "example_fastapi"])
def test_an_example_refuses_what_is_forged_or_has_no_key(receiver, name):
    backend = receiver(name)
    headers, body = delivery(backend.provider, "evt_forged", "key-1")
    assert deliver_at_once(backend, [(headers, body.replace(b"evt_forged", b"evt_fooled"))]) == [401], backend.application.log()
    assert deliver_at_once(backend, [delivery(backend.provider, "evt_keyless", None)]) == [400]
    assert backend.effects() == {}
    # Neither has burnt the key.
    assert deliver_at_once(backend, [delivery(backend.provider, "evt_true", "key-1")]) == [204]
    assert backend.effects() == {"evt_true": 1}
