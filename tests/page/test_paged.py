"""Lists that are longer than a page: the rest can be asked for."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.page.conftest import Open, Page
from tests.page.talk import Talked

pytestmark = pytest.mark.long  # in a browser; test_login.py is the quick one

MORE = ".more button"


def shortened(page: Page, path: str, size: int) -> None:
    """What the page asks for in pages of 1000 or 50 is told in smaller ones."""

    def ask(route: Any) -> None:
        url = route.request.url.replace("limit=1000", f"limit={size}").replace("limit=50", f"limit={size}")
        route.continue_(url=url)

    page.tab.route(f"**/admin/api/{path}?*", ask)


@pytest.mark.parametrize(
    ("path", "address", "row"), [("facts", "#/facts", "main [data-fact]"), ("sessions", "#/sessions", "main tbody tr")]
)
def test_what_does_not_fit_on_a_page_is_on_the_next(
    path: str, address: str, row: str, page: Page, proxy: Open, talked: Talked
) -> None:
    everything = len(proxy.api(path)[path])
    assert everything > 1
    shortened(page, path, 1)
    page.open(address)
    seen = 1
    page.tab.wait_for_selector(row)
    while page.tab.locator(MORE).count():
        assert page.tab.locator(row).count() == seen
        page.tab.click(MORE)
        seen += 1
        page.tab.wait_for_function("([row, n]) => document.querySelectorAll(row).length === n", arg=[row, seen])
    assert seen == everything


def test_so_is_the_reuse_log(page: Page, proxy: Open, talked: Talked) -> None:
    # Made up: the lines of a log that has more than a thousand.
    scope = proxy.api("scopes")["scopes"][0]["scope"]
    line = {"at": 1.0, "result": "far", "entry_id": "r-1", "cosine": 0.8, "question": "a", "earlier_question": "b"}
    lines = [{**line, "guards": "", "request_id": f"req_{number}"} for number in range(3)]

    def told(route: Any) -> None:
        place = int(parse_qs(urlsplit(route.request.url).query).get("before", ["0"])[0])
        after = str(place + 1) if place + 1 < len(lines) else None
        route.fulfill(json={"scope": scope, "log": [lines[place]], "reported": {}, "next": after})

    page.tab.route("**/admin/api/reuse?*", told)
    page.open(f"#/reuse?scope={scope}")
    row = "main .lines > li"
    for seen in range(1, len(lines) + 1):
        page.tab.wait_for_function("([row, n]) => document.querySelectorAll(row).length === n", arg=[row, seen])
        if seen < len(lines):
            page.tab.click(MORE)
    assert page.tab.locator(MORE).count() == 0
