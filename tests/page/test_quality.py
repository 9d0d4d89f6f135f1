"""Did quality hold? The figure beside what was saved, and both answers side by side."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from proxy.config import key_hash
from tests.page.conftest import NARROW, TOKEN, Open, Page, opened
from tests.page.talk import talk
from tests.page.test_keys import logged_in
from tests.page.test_looks import FOUND, RULES
from tests.proxied import KEY
from tests.servers import eventually

pytestmark = pytest.mark.long  # in a browser; test_login.py is the quick one

Tab = Callable[..., Page]


@pytest.fixture(scope="module")
def proxy() -> Iterator[Open]:
    with ExitStack() as stack:
        found = opened(stack, quality={"share": 1.0, "max_spend": 5.0}, profiles={"lean": NARROW})
        talk(found.http)
        eventually(lambda: found.api("quality")["pairs"] >= 2, 60)
        yield found


@pytest.fixture
def page(tab: Tab, proxy: Open) -> Page:
    return tab(proxy)


def test_held_stands_beside_saved_and_leads_to_its_pairs(page: Page, proxy: Open) -> None:
    page.open("#/now", ready="#quality-held")
    told = proxy.api("quality")
    assert float(page.text("#quality-held").rstrip("%")) == pytest.approx(100 * told["share"], abs=0.5)
    note = page.tab.locator("dd", has=page.tab.locator("#quality-held")).inner_text()
    assert f"of {told['pairs']} compared answers" in note
    assert "Comparing answers has cost $0.00" in page.text("main")  # and it is taken off what was saved
    page.tab.locator("#quality-held a").click()
    page.tab.wait_for_selector(".view-quality .lines li")


def test_both_answers_stand_side_by_side(page: Page, proxy: Open) -> None:
    page.open("#/quality", ready=".lines li")
    listed = proxy.api("quality/pairs")["pairs"]
    lines = page.tab.locator(".lines > li")
    assert lines.count() == len(listed)
    lines.first.locator("summary").click()
    page.tab.wait_for_selector(".lines > li:first-child .questions dd")
    pair = proxy.api(f"quality/pairs/{listed[0]['request_id']}")
    shown = lines.first.locator("dd").all_text_contents()
    assert shown == [pair["question"], pair["managed"], pair["original"]]
    lines.first.get_by_role("link", name="Request").click()
    page.tab.wait_for_selector(".view-request h1")


def test_those_that_are_worse_can_be_seen_alone(page: Page, proxy: Open) -> None:
    page.open("#/quality", ready=".lines li")
    page.tab.get_by_role("button", name="Worse").click()
    lost = len(proxy.api("quality/pairs", only="lost")["pairs"])
    eventually(lambda: page.tab.locator(".lines > li").count() == lost)
    if not lost:
        page.tab.get_by_text("No answer of these was found to be worse").wait_for()


def test_where_nothing_is_compared_it_says_how(tab: Tab) -> None:
    with ExitStack() as stack:
        page = tab(opened(stack))
        page.open("#/quality", ready=".empty")
        assert "share: 0.02" in page.text("main")


@pytest.mark.parametrize("width", [360, 1440])
@pytest.mark.parametrize("language", ["en", "es"])
def test_it_fits_and_is_accessible(page: Page, axe: str, width: int, language: str) -> None:
    page.tab.set_viewport_size({"width": width, "height": 800})
    page.open("#/quality", ready=".lines li")
    if language == "es":
        page.tab.locator("#language").click()
        page.tab.get_by_role("heading", name="¿Se mantuvo la calidad?").wait_for()
        page.tab.wait_for_selector(".lines li")
    page.tab.locator("summary").first.click()
    page.tab.wait_for_selector(".questions dd")
    assert page.tab.evaluate("document.documentElement.scrollWidth") <= width
    page.tab.evaluate(axe)
    assert page.tab.evaluate(FOUND, RULES) == []


def test_a_key_sees_whether_its_own_answers_held_and_both_of_them(tab: Tab) -> None:
    with ExitStack() as stack:
        keys = {"mode": "keys", "keys": [{"name": "ana", "key": key_hash(KEY)}]}
        compared = {"share": 1.0, "max_spend": 5.0}
        admin = {"token": TOKEN, "show_content": True}
        found = opened(
            stack, admin=admin, auth=keys, upstream={"api_key": KEY}, quality=compared, profiles={"lean": NARROW}
        )
        talk(found.http)
        eventually(lambda: found.api("quality")["pairs"] >= 2, 60)
        page = logged_in(tab, found, KEY)
        page.tab.evaluate("location.hash = '#/now'")
        page.tab.wait_for_selector("#quality-held")
        page.tab.locator("#quality-held a").click()
        page.tab.wait_for_selector(".view-quality .lines li")
        assert "Spent today" not in page.text("main")  # that is everybody's
        page.tab.locator("summary").first.click()
        page.tab.wait_for_selector(".questions dd")


def test_a_key_is_not_told_to_change_a_configuration_that_it_cannot_change(tab: Tab) -> None:
    with ExitStack() as stack:
        keys = {"mode": "keys", "keys": [{"name": "ana", "key": key_hash(KEY)}]}
        found = opened(stack, admin={"token": TOKEN}, auth=keys, upstream={"api_key": KEY})
        page = logged_in(tab, found, KEY)
        page.tab.evaluate("location.hash = '#/quality'")
        page.tab.wait_for_selector(".empty")
        assert "No answers are compared." in page.text("main")
        assert "share:" not in page.text("main")
