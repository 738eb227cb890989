"""Destinations: what waits, and the switch that holds and frees one."""
from playwright.sync_api import expect

from support import senders
from support.gateway import SECRETS, config
from support.http_client import post


def test_a_destination_is_paused_and_resumed(gateway, backend, window):
    view = window(gateway)
    page = view.go("destinations")
    card = page.get_by_role("region", name="backend")
    card.get_by_role("button", name="Pause backend").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_text("Nothing more is sent to it, by any gateway of the cluster, until it is resumed.").wait_for()
    assert view.serious_faults() == []
    dialog.get_by_role("button", name="Cancel").click()
    dialog.wait_for(state="detached")
    card.get_by_role("button", name="Pause backend").click()
    dialog.get_by_role("button", name="Pause", exact=True).click()
    page.get_by_text("backend is paused.").wait_for()
    card.get_by_text("paused", exact=True).wait_for()
    event = post(gateway.ingest, "/in/stripe", senders.stripe(SECRETS["stripe"], "evt_held")).json()["id"]
    card.locator("dd").get_by_text("1", exact=True).wait_for()
    assert gateway.event(event)["state"] == "pending" and backend.requests == []
    card.get_by_text("What waits").click()
    expect(card.locator("[data-row]")).to_contain_text("evt_held ◔ pending its destination is paused")
    assert view.serious_faults() == []
    view.screenshot("light-what-waits")
    overview = window(gateway).go()
    overview.get_by_role("status").get_by_text("backend is paused; 1 waiting").wait_for()
    card.get_by_role("button", name="Resume backend").click()
    page.get_by_text("backend is resumed.").wait_for()
    gateway.wait_for_state(event, "delivered")
    overview.get_by_text("All well").wait_for()


def test_a_failing_destination_shows_its_breaker(start, backend, window):
    gateway = start(config(backend.url, "stripe", destination={"breaker": {"attempts": 2, "after": "100ms", "open": "1m", "open_max": "1m"},
                                                               "retry": {"first": "50ms", "max": "100ms"}}))
    backend.answer_with(lambda request, nth: 500)
    for number in range(10):
        post(gateway.ingest, "/in/stripe", senders.stripe(SECRETS["stripe"], f"evt_breaker_{number}"))
    page = window(gateway).go("destinations")
    page.get_by_role("region", name="backend").get_by_text("left alone").wait_for()
    overview = window(gateway).go()
    overview.get_by_role("status").get_by_text("backend fails; it is asked again from time to time").wait_for()
