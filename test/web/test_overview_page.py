"""The overview after a scripted load: its numbers, its plots, and what needs a person."""
import re

from playwright.sync_api import expect

from support.overview_load import ACCEPTED, CAUSES, DEAD, DELIVERED, PENDING, REJECTED, start_loaded


# How many pixels of a canvas are coloured; axes and grid are grey.
COLOURED = """canvas => {
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  let coloured = 0;
  for (let at = 0; at < data.length; at += 4) {
    const channels = data.slice(at, at + 3);
    if (data[at + 3] > 200 && Math.max(...channels) - Math.min(...channels) > 60) coloured += 1;
  }
  return coloured;
}"""


def test_the_overview_shows_the_numbers_of_the_load(start, backend, window):
    gateway = start_loaded(start, backend)
    gateway.wait_until(lambda: any(source["alarm"] for source in gateway.api("GET", "/api/v1/sources").json()["items"]))
    view = window(gateway)
    page = view.go()
    page.locator(".plots canvas").nth(3).wait_for()
    causes = {cause: count for of_source in CAUSES.values() for cause, count in of_source.items()}
    expected = {"accepted": sum(ACCEPTED.values()), "duplicates": sum(causes.values()), "rejected": sum(REJECTED.values()),
                "delivered": DELIVERED, "dead": DEAD, "waiting": PENDING}
    for name, number in expected.items():
        expect(page.locator(f"[data-tile={name}] strong")).to_have_text(str(number))
    view.until(lambda: sorted(map(int, page.locator(".shares .share .quiet").all_inner_texts())) == sorted(causes.values()))
    for part in ("stripe", "held", f"{DEAD} dead letters"):
        expect(page.locator(".needs")).to_contain_text(part)
    # Only a minute or two have anything to show, and they must be seen all the same.
    view.until(lambda: all(plot.evaluate(COLOURED) > 10 for plot in page.locator(".plots canvas").all()))
    assert view.serious_faults() == []
    view.screenshot("overview-loaded")
    page.get_by_label("Over time").last.select_option("1440")
    expect(page).to_have_url(re.compile("minutes=1440"))
    expect(page.get_by_label("Over time").last).to_have_value("1440")
    page.locator(".plots canvas").nth(3).wait_for()
