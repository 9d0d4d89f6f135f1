"""What somebody who opens the page for the first time wants to do: each is a few clicks away, without the address of
anything being known. CONTRIBUTING.md tells how long they took."""

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from proxy.config import key_hash
from tests.page.conftest import NARROW, Open, Page, opened
from tests.page.talk import talk
from tests.proxied import KEY
from tests.servers import eventually

pytestmark = pytest.mark.long  # in a browser

Tab = Callable[..., Page]
KEYS = [{"name": "ana", "key": key_hash(KEY)}]


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Open]:
    """A proxy that gives out keys: one person has talked for a while, an SDK asks a route that is not managed."""
    with ExitStack() as stack:
        storage = {"path": str(tmp_path_factory.mktemp("first"))}
        keyed = {"auth": {"mode": "keys", "keys": KEYS}, "upstream": {"api_key": "sk-upstream-0123456789"}}
        proxy = opened(stack, storage=storage, profiles={"lean": NARROW}, **keyed)
        talk(proxy.http)
        proxy.http.post("/v1/completions", json={"model": "demo-chat", "prompt": "Why is the sky blue?"})
        eventually(lambda: any(row["route"] == "/v1/completions" for row in proxy.api("requests")["requests"]))
        eventually(lambda: proxy.api("facts")["facts"])
        yield proxy


@pytest.fixture
def page(tab: Tab, team: Open) -> Page:
    return tab(team).open("", ready=".headline")


def test_a_saving_is_the_first_thing_that_is_seen(page: Page) -> None:
    told = page.text(".headline")
    assert "%" in told
    assert "instead of" in told


def test_why_a_turn_was_left_out_is_three_clicks_away(page: Page) -> None:
    page.tab.click(".nav >> text=Requests")
    page.tab.locator("main tbody tr a", has_text="What was the booking code").first.click()
    page.tab.wait_for_selector("text=What the client sent")
    page.tab.get_by_role("button", name=re.compile(r"^(folded|left out) \d")).first.click()
    assert "left the window" in page.tab.locator(".message .why").first.inner_text()


def test_a_fact_is_corrected_in_four(page: Page) -> None:
    page.tab.click(".nav >> text=Facts")
    row = page.tab.get_by_role("row").filter(has_text="The hotel is called Aurora").first
    row.get_by_role("button", name="Edit").click()
    page.tab.locator("dialog[open]").locator("textarea, input[type=text]").first.fill("The hotel is called Borealis")
    page.tab.locator("dialog[open]").get_by_role("button", name="Save").click()
    page.tab.wait_for_selector("main tbody tr:has-text('Borealis')")


def test_what_is_not_managed_is_said_and_how_it_becomes_so_is_one_click_away(page: Page) -> None:
    page.tab.wait_for_selector("text=1 request on /v1/completions went through unmanaged")
    page.tab.click("text=How to have them managed")
    page.tab.wait_for_selector("h1:text('Clients')")
    assert page.tab.evaluate("location.hash") == "#make-an-unmanaged-client-a-managed-one"
    told = page.text("main")
    assert "is_chat_model=True" in told
    assert "responses.take_over" in told


def test_today_s_spend_of_a_key_is_one_click_away(page: Page) -> None:
    page.tab.click(".nav >> text=Keys")
    row = page.tab.locator("main tbody tr", has_text="ana").first
    row.wait_for()
    assert "$0.0" in row.inner_text()


def test_the_readme_leads_to_each_of_them() -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    for told in (
        "see what was saved",
        "why a turn was left out",
        "correct what is remembered",
        "one key has spent today",
    ):
        assert told in readme
    assert "[Clients](deploy/docs/clients.md)" in readme
    assert "[Responses and Messages](deploy/docs/apis.md)" in readme
