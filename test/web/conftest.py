"""Fixtures of the dashboard's tests: the distribution's Chromium, driven by Playwright, on the real binary.

Every page that a test opens is watched: an error on its console, an uncaught exception, or a request to anywhere but the gateway fails the test.

A page follows an action, an answer or a signal in its own time. What a test says of a page is therefore awaited, by Playwright's `expect` or by
`Window.until`; only what must not be there is looked for at once, and after something that shows the page to be that far.
"""
import os
import pathlib
import shutil
import sys
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PREPARED = ROOT / "build" / "tools" / "sdk"
SCREENSHOTS = ROOT / "build" / "screenshots"
AXE = ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js"
CHROMIUM = shutil.which("chromium")
# The packages of test/sdk/requirements.txt are in an environment of their own, made with the Python that runs this.
sys.path += [str(path) for path in PREPARED.glob("lib/python3*/site-packages")]

WAIT_MS = 20_000  # a bound for a broken program, never a pace


def pytest_collection_modifyitems(items):
    if CHROMIUM is None:
        missing = pytest.mark.skip(reason="no chromium; ./x test installs it where the distribution has it")
        for item in items:
            if "browser" in getattr(item, "fixturenames", ()):
                item.add_marker(missing)


class Window:
    """One page in a browser of its own: no cookies, no memory of others."""

    def __init__(self, browser, address, **options):
        self.origin = f"http://{address}"
        self.context = browser.new_context(**{"locale": "en-US", "viewport": {"width": 1280, "height": 900},
                                             "reduced_motion": "reduce",  # a row that is still sliding in is judged as faint
                                             **options})
        self.context.set_default_timeout(WAIT_MS)
        self.page = self.context.new_page()
        self.faults = []
        self.expected = []  # parts of faults that the test provokes
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.faults.append(f"exception: {error}"))
        self.page.on("request", self._request)

    def _console(self, message):
        if message.type in ("error", "warning"):
            self.faults.append(f"console: {message.text} ({message.location.get('url', '')})")

    def _request(self, request):
        if not request.url.startswith((self.origin + "/", "data:", "blob:")):
            self.faults.append(f"foreign request: {request.url}")

    def go(self, place=""):
        self.page.goto("about:blank")  # where only the part behind `#` changes, the page before would be there to be judged for a while
        self.page.goto(f"{self.origin}/#/{place}")
        return self.page

    def until(self, look):
        """What `look` gives as soon as it is true. (The page itself cannot await it: its policy refuses what wait_for_function evaluates later.)"""
        end = time.monotonic() + WAIT_MS / 1000
        while True:
            found = look()
            if found:
                return found
            assert time.monotonic() < end, f"waited in vain on {self.page.url}; it shows:\n{self.page.inner_text('body')}"
            self.page.wait_for_timeout(20)  # Playwright's own events are handled meanwhile

    def expect_faults(self, *parts):
        self.expected += parts

    def check(self):
        """Nothing went wrong that the test did not provoke."""
        assert [fault for fault in self.faults if not any(part in fault for part in self.expected)] == []

    def serious_faults(self):
        """What axe-core finds against WCAG 2.1 A and AA, but for the minor and moderate."""
        self.page.evaluate(AXE.read_text())
        result = self.page.evaluate("axe.run({runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice']})")
        return [f"{fault['id']}: {fault['help']}: {[node['html'][:200] for node in fault['nodes']]}"
                for fault in result["violations"] if fault["impact"] in ("serious", "critical")]

    def screenshot(self, name):
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=SCREENSHOTS / f"{name}.png", full_page=True)


@pytest.fixture(scope="session")
def browser():
    from playwright.sync_api import expect, sync_playwright
    expect.set_options(timeout=WAIT_MS)
    # Chromium's own sandbox needs a user who is not root.
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield running
        running.close()


@pytest.fixture
def window(browser):
    """window(gateway, **options) opens a browser window on a gateway; all are looked through and closed at the end."""
    opened = []

    def begin(gateway, **options):
        opened.append(Window(browser, gateway.admin, **options))
        return opened[-1]

    yield begin
    for one in opened:
        one.context.close()
    for one in opened:
        one.check()
