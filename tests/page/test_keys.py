"""The view of keys: what each has spent, a key that is made and revoked; and what a key sees that logs in."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from time import time

import httpx
import pytest

from proxy.config import key_hash
from tests.page.conftest import TOKEN, Open, Page, opened
from tests.page.test_looks import FOUND, MISSING, RULES
from tests.proxied import KEY

pytestmark = pytest.mark.long  # in a browser; test_login.py is the quick one

Tab = Callable[..., Page]
ANA = "sk-the-key-of-ana-1234"
KEYS = [{"name": "ana", "key": key_hash(ANA), "team": "design", "limits": {"dollars_per_day": 5}}]


@pytest.fixture(scope="module")
def team() -> Iterator[Open]:
    """A proxy that gives out keys, of which one has asked something."""
    with ExitStack() as stack:
        proxy = opened(stack, admin={"token": TOKEN}, auth={"mode": "keys", "keys": KEYS}, upstream={"api_key": KEY})
        asked = {"model": "demo-chat", "messages": [{"role": "user", "content": "How are you today?"}]}
        answer = httpx.post(
            f"{proxy.url}/v1/chat/completions", json=asked, headers={"authorization": f"Bearer {ANA}"}, timeout=120
        )
        assert answer.status_code == 200
        until = time() + 100
        bearing = {"authorization": f"Bearer {TOKEN}"}
        while time() < until:
            told = httpx.get(f"{proxy.url}/admin/api/keys", headers=bearing).json()["keys"]
            if told[0]["today"]["requests"]:
                break
        yield proxy


def logged_in(tab: Tab, proxy: Open, token: str, view: str = "keys", **how: object) -> Page:
    page = tab(proxy, **how).open(f"#/{view}", ready="form")
    page.tab.locator("input[name=token]").fill(token)
    page.tab.keyboard.press("Enter")
    page.tab.wait_for_selector("nav")
    page.tab.wait_for_selector(".loading", state="detached")
    return page


def test_an_administrator_finds_todays_spend_of_a_key_makes_one_and_revokes_it(tab: Tab, team: Open) -> None:
    page = logged_in(tab, team, TOKEN)
    row = page.tab.locator("main tbody tr", has_text="ana")
    told = row.inner_text()
    assert "design" in told
    assert "1 request" in told
    assert "$5.00 a day" in told
    assert "$0.0" in told

    page.tab.get_by_role("button", name="New key").click()
    page.tab.get_by_label("Name").fill("ben")
    page.tab.get_by_label("Team").fill("sales")
    page.tab.get_by_label("Dollars a day").fill("2.50")
    page.tab.get_by_role("button", name="Make the key").click()
    made = page.tab.locator("#made-key").inner_text()
    assert made.startswith("sk-olvido-")
    page.tab.get_by_role("button", name="Close").click()
    row = page.tab.locator("main tbody tr", has_text="ben")
    assert "$2.50 a day" in row.inner_text()
    assert made not in page.tab.content()

    row.get_by_role("button", name="Revoke the key of ben").click()
    page.tab.locator("dialog").get_by_role("button", name="Revoke").click()
    page.tab.wait_for_selector("summary:text('1 revoked key')")
    bearing = {"authorization": f"Bearer {made}"}
    assert httpx.get(f"{team.url}/v1/models", headers=bearing).status_code == 401


def test_a_key_that_logs_in_sees_what_it_has_spent_today_first_and_no_view_that_is_not_its_own(
    tab: Tab, team: Open
) -> None:
    page = logged_in(tab, team, ANA, "now")
    page.tab.wait_for_selector("h1:text('Your key: ana')")
    first = page.tab.locator("dl.stats dt").first.inner_text()
    assert first.lower() == "today"
    assert "of $5.00" in page.tab.locator("dl.stats dd").first.inner_text()
    views = page.tab.locator("nav a").all_inner_texts()
    assert views == ["Keys", "Now", "Requests", "Sessions", "Docs"]
    assert page.tab.query_selector("#new-key") is None
    for view, ready in (("requests", "main tbody tr"), ("sessions", "main tbody tr"), ("now", "h1:text('Now')")):
        page.tab.evaluate(f"location.hash = '#/{view}'")
        page.tab.wait_for_selector(ready)


@pytest.mark.parametrize("token", [TOKEN, ANA])
def test_nobody_is_kept_out_of_the_view_and_nothing_sticks_out(tab: Tab, team: Open, axe: str, token: str) -> None:
    page = logged_in(tab, team, token, locale="es")
    page.tab.evaluate("location.hash = '#/keys'")
    page.tab.wait_for_selector("h1:has-text('lave')")
    page.tab.evaluate(axe)
    assert page.tab.evaluate(FOUND, RULES) == []
    assert page.tab.evaluate(MISSING) == []
    page.tab.emulate_media(color_scheme="dark")
    page.tab.set_viewport_size({"width": 360, "height": 740})
    assert page.tab.evaluate(FOUND, RULES) == []
    assert page.tab.evaluate("document.documentElement.scrollWidth") <= 360
