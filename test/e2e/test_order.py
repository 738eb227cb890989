"""Ordered destinations: one key after another, other keys meanwhile, over kills and changes of the configuration."""
import json
import os
import random
import signal
import threading

from support import senders
from support.gateway import SECRETS, config
from support.http_client import post

QUICK = {"first": "10ms", "factor": 1.0, "max": "10ms", "attempts": 1000}
ORDERED = {"ordering": True, "retry": QUICK, "breaker": False}
SLACK = SECRETS["slack"]
EVENTS, KEYS, FAILING = 1000, 50, 0.2

def ordered(backend, **destination):
    return config(backend.url, "slack", source={"ordering_key": "json:/event/channel"}, destination={**ORDERED, **destination})

def send(gateway, event, channel):
    answer = post(gateway.ingest, "/in/slack", senders.slack(SLACK, event, body=senders.slack_body(event, channel=channel)))
    assert answer.status == 200, answer
    return answer.json()["id"]

def test_each_key_keeps_the_order_of_acceptance_over_failures_and_a_kill(start, backend):
    """A thousand events of fifty keys; an attempt of unknown outcome may be repeated, so an event counts where it first succeeded."""
    seed = int(os.environ.get("HOOKONCE_SEED") or random.SystemRandom().randrange(1 << 32))
    print(f"seed {seed} (HOOKONCE_SEED={seed} repeats it)")
    chance, keys = random.Random(seed), random.Random(f"{seed} keys")
    lock = threading.Lock()
    delivered = {}

    def answer(request, _nth):
        channel = json.loads(request.body)["event"]["channel"]
        with lock:
            if chance.random() < FAILING:
                return 500
            seen = delivered.setdefault(channel, [])
            if request.provider_id not in seen:
                seen.append(request.provider_id)
        return 200

    backend.answer_with(answer)
    gateway = start(ordered(backend))
    accepted = {}
    for number in range(EVENTS):
        channel = f"C{keys.randrange(KEYS)}"
        send(gateway, f"Ev{number}", channel)
        accepted.setdefault(channel, []).append(f"Ev{number}")
        if number == EVENTS // 2:
            gateway.kill()
            gateway.start()
    backend.wait_until(lambda: sum(map(len, delivered.values())) >= EVENTS)
    assert delivered == accepted

def test_a_poison_event_holds_up_its_key_alone(start, backend):
    def answer(request, _nth):
        request.channel = "C"
        request.answered = 410 if request.provider_id == "EvPoison" and not repaired else 200
        return request.answered

    repaired = []
    backend.answer_with(answer)
    gateway = start(ordered(backend))
    poison = send(gateway, "EvPoison", "Cbad")
    behind = send(gateway, "EvBehind", "Cbad")
    other = send(gateway, "EvOther", "Cgood")
    gateway.wait_for_state(poison, "dead")
    gateway.wait_for_state(other, "delivered")
    delivery = gateway.event(behind)["deliveries"][0]
    assert (delivery["state"], delivery["next_attempt_at"], delivery["attempts"]) == ("pending", None, [])
    assert (delivery["held"], delivery["behind"]) == ("line", poison)
    repaired.append(True)
    assert gateway.api("POST", f"/api/v1/events/{poison}/replay").status == 202
    gateway.wait_for_state(poison, "delivered")
    gateway.wait_for_state(behind, "delivered")

def test_a_dead_event_is_skipped_where_that_is_configured_now(start, backend):
    backend.answer_with(lambda request, _nth: 410 if request.provider_id == "EvPoison" else 200)
    gateway = start(ordered(backend))
    gateway.wait_for_state(send(gateway, "EvPoison", "C1"), "dead")
    behind = send(gateway, "EvBehind", "C1")
    assert gateway.event(behind)["state"] == "pending"
    gateway.configure(ordered(backend, on_dead="skip"))
    gateway.process.send_signal(signal.SIGHUP)
    gateway.wait_for_state(behind, "delivered")
    gateway.wait_for_state(send(gateway, "EvPoison2", "C2"), "delivered")

def test_lines_end_where_a_destination_keeps_order_no_more(start, backend):
    backend.answer_with(lambda request, _nth: 503 if request.provider_id == "EvFirst" else 200)
    gateway = start(ordered(backend))
    send(gateway, "EvFirst", "C1")
    behind = send(gateway, "EvBehind", "C1")
    backend.wait_for(1)
    assert gateway.event(behind)["deliveries"][0]["attempts"] == []
    gateway.configure(ordered(backend, ordering=False))
    gateway.process.send_signal(signal.SIGHUP)
    gateway.wait_for_state(behind, "delivered")
