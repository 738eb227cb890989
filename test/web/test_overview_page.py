"""The overview after a scripted load: its numbers, its plots, and what needs a person."""
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


def tile(page, name):
    return int(page.locator(f"[data-tile={name}] strong").inner_text().replace(",", ""))


def test_the_overview_shows_the_numbers_of_the_load(start, backend, window):
    gateway = start_loaded(start, backend)
    gateway.wait_until(lambda: any(source["alarm"] for source in gateway.api("GET", "/api/v1/sources").json()["items"]))
    view = window(gateway)
    page = view.go()
    page.get_by_role("heading", name="Overview").wait_for(state="attached")
    page.locator(".plots canvas").nth(3).wait_for()
    causes = {cause: count for of_source in CAUSES.values() for cause, count in of_source.items()}
    expected = {"accepted": sum(ACCEPTED.values()), "duplicates": sum(causes.values()), "rejected": sum(REJECTED.values()),
                "delivered": DELIVERED, "dead": DEAD, "waiting": PENDING}
    assert {name: tile(page, name) for name in expected} == expected
    shares = page.locator(".shares .share .quiet").all_inner_texts()
    assert sorted(map(int, shares)) == sorted(causes.values())
    needs = page.locator(".needs").inner_text()
    for part in ("stripe", "held", f"{DEAD} dead letters"):
        assert part in needs, needs
    # Only a minute or two have anything to show, and they must be seen all the same.
    for plot in page.locator(".plots canvas").all():
        assert plot.evaluate(COLOURED) > 10
    assert view.serious_faults() == []
    view.screenshot("overview-loaded")
    page.get_by_label("Over time").last.select_option("1440")
    page.wait_for_url("**minutes=1440*")
    page.locator(".plots canvas").nth(3).wait_for()
