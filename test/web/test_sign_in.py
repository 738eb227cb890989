"""Signing in with the admin token: the page, the cookie, and what it opens."""
from support import senders
from support.gateway import SECRETS, config
from support.http_client import post, request

TOKEN = "a token for the tests"


def guarded(start, backend):
    return start(config(backend.url, "stripe", server={"admin_token": TOKEN}))


def test_the_token_is_asked_for_once_and_forgotten_on_the_way_out(start, backend, window):
    gateway = guarded(start, backend)
    post(gateway.ingest, "/in/stripe", senders.stripe(SECRETS["stripe"], "evt_guarded"))
    view = window(gateway)
    view.expect_faults("status of 401")
    page = view.go("events")
    page.get_by_role("heading", name="Sign in").wait_for()
    assert view.serious_faults() == []
    view.screenshot("light-sign-in")
    assert page.get_by_text("evt_guarded").count() == 0
    page.get_by_label("Admin token").fill("wrong")
    page.keyboard.press("Enter")
    page.get_by_text("That is not the admin token.").wait_for()
    page.get_by_label("Admin token").fill(TOKEN)
    page.keyboard.press("Enter")
    page.get_by_role("link", name="evt_guarded").wait_for()
    cookies = view.context.cookies()
    assert [(cookie["httpOnly"], cookie["sameSite"], cookie["path"]) for cookie in cookies] == [(True, "Strict", "/")]
    assert TOKEN not in cookies[0]["value"]
    assert TOKEN not in page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie])")
    page.reload()
    page.get_by_role("link", name="evt_guarded").wait_for()
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("heading", name="Sign in").wait_for()
    page.reload()
    page.get_by_role("heading", name="Sign in").wait_for()
    assert request(gateway.admin, "GET", "/api/v1/events", [("Cookie", f"{cookies[0]['name']}={cookies[0]['value']}")]).status == 401


def test_a_session_that_ends_meanwhile_leads_back_to_the_sign_in_page(start, backend, window):
    gateway = guarded(start, backend)
    view = window(gateway)
    view.expect_faults("status of 401")
    page = view.go("destinations")
    page.get_by_label("Admin token").fill(TOKEN)
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="backend").wait_for()
    view.context.clear_cookies()
    page.get_by_role("heading", name="Sign in").wait_for()
    page.get_by_label("Admin token").fill(TOKEN)
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="backend").wait_for()


def test_many_wrong_tokens_are_answered_slowly_and_the_right_one_at_once(start, backend):
    gateway = guarded(start, backend)

    def sign_in(token):
        return gateway.api("POST", "/api/v1/session", {"token": token})

    import time
    for number in range(10):
        assert sign_in(f"guess {number}").status == 401
    began = time.monotonic()
    assert sign_in("one more guess").status == 401
    assert time.monotonic() - began > 0.9
    assert sign_in(TOKEN).status == 204
