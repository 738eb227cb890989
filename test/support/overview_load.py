"""A load with something of everything that the dashboard's overview counts, and how many of each there are."""
import time

from support import senders
from support.gateway import SECRETS, config
from support.http_client import post

RETRY = {"first": "20ms", "max": "50ms", "attempts": 2, "give_up": "1h"}
STRIPE = SECRETS["stripe"]
ACCEPTED = {"stripe": 12, "slack": 5, "github": 4, "shop": 1}
CAUSES = {"stripe": {"concurrent_twin": 3, "same_id_other_body": 2}, "slack": {"provider_retry": 4}, "github": {}, "shop": {"semantic_twin": 1}}
REJECTED = {"stripe": 10, "slack": 0, "github": 1, "shop": 0}  # an alarm, and all of them kept
DEAD, PENDING = 2, ACCEPTED["github"]
DELIVERED = sum(ACCEPTED.values()) - DEAD - PENDING


def start_loaded(start, backend):
    """A gateway on SQLite after the load, at rest: events of github wait for a destination that is paused."""
    tables = config(backend.url, "stripe", "slack", "github", destination={"retry": RETRY})
    tables["sources"]["shop"] = {"provider": "stripe", "secrets": [STRIPE], "destinations": ["backend"], "dedup_also": ["json:/data/object/id"]}
    tables["sources"]["github"]["destinations"] = ["held"]
    tables["destinations"]["held"] = {"url": backend.url}
    gateway = start(tables)
    backend.answer_with(lambda request, nth: 500 if "dead" in (request.provider_id or "") else 200)
    assert gateway.api("POST", "/api/v1/destinations/held/pause").status == 200

    def send(path, request, expected):
        answer = post(gateway.ingest, path, request)
        assert (answer.status, answer.header("Hookonce-Status")) == expected, answer

    now = int(time.time())
    accepted, duplicate, forged = (200, "accepted"), (200, "duplicate"), (401, None)
    for number in range(ACCEPTED["stripe"] - DEAD):
        send("/in/stripe", senders.stripe(STRIPE, f"evt_{number}", at=now), accepted)
    for number in range(DEAD):
        send("/in/stripe", senders.stripe(STRIPE, f"evt_dead_{number}"), accepted)
    for number in range(CAUSES["stripe"]["concurrent_twin"]):
        send("/in/stripe", senders.stripe(STRIPE, f"evt_{number}", at=now - 1), duplicate)
    for number in range(CAUSES["stripe"]["same_id_other_body"]):
        send("/in/stripe", senders.stripe(STRIPE, "evt_9", body=senders.stripe_body("evt_9", amount=number)), duplicate)
    for number in range(ACCEPTED["slack"]):
        send("/in/slack", senders.slack(SECRETS["slack"], f"Ev{number}"), accepted)
    for number in range(CAUSES["slack"]["provider_retry"]):
        send("/in/slack", senders.slack(SECRETS["slack"], f"Ev{number}", retry=(1, "http_timeout")), duplicate)
    for number in range(ACCEPTED["github"]):
        send("/in/github", senders.github(SECRETS["github"], f"guid-{number}"), accepted)
    send("/in/shop", senders.stripe(STRIPE, "evt_one"), accepted)
    send("/in/shop", senders.stripe(STRIPE, "evt_two"), duplicate)
    for number in range(REJECTED["stripe"]):
        send("/in/stripe", senders.stripe("whsec_another", f"evt_forged_{number}"), forged)
    send("/in/github", ([("Content-Type", "application/json")], b"{}"), forged)

    def at_rest():
        deliveries = gateway.api("GET", "/api/v1/stats").json()["deliveries"]
        return (deliveries["pending"], deliveries["in_flight"], deliveries["dead"], deliveries["delivered"]) == (PENDING, 0, DEAD, DELIVERED)

    def counted():  # a moment after the store shows it, and by the last thing that is counted of a delivery
        points = gateway.api("GET", "/api/v1/history?minutes=60").json()["points"]
        measured = all(point["delivery_ms"] for point in points if point["delivered"])
        return measured and (sum(point["delivered"] for point in points), sum(point["dead"] for point in points)) == (DELIVERED, DEAD)
    gateway.wait_until(at_rest)
    gateway.wait_until(counted)
    return gateway
