"""Facts: what people do about them on the page is what the next prompt has."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from tests.page.conftest import Open, Page
from tests.servers import eventually

pytestmark = pytest.mark.long  # in a browser; test_login.py is the quick one


def tell(proxy: Open, user: str, text: str) -> str:
    """Says it in a conversation of its own; the prompt that arrived upstream."""
    proxy.upstream.bodies()
    message = {"role": "user", "content": text}
    body = {"model": "demo-chat", "messages": [message], "user": user}
    proxy.http.post("/v1/chat/completions", json=body).raise_for_status()
    (arrived,) = proxy.upstream.bodies()
    return json.dumps(json.loads(arrived)["messages"], ensure_ascii=False)


def facts(proxy: Open, user: str) -> list[Mapping[str, Any]]:
    every = proxy.api("facts", limit=1000)["facts"]
    return [fact for fact in every if fact["scope"].endswith(f"/{user}")]


def learned(proxy: Open, user: str, text: str) -> Mapping[str, Any]:
    """What the proxy made of it."""
    tell(proxy, user, text)
    eventually(lambda: facts(proxy, user))
    (fact,) = facts(proxy, user)
    return fact


def row(page: Page, text: str) -> Any:
    return page.tab.get_by_role("row").filter(has_text=text)


def focused(page: Page) -> str:
    return str(page.tab.evaluate("document.activeElement.getAttribute('aria-label') ?? document.activeElement.tagName"))


def test_a_fact_that_was_forgotten_is_in_no_prompt_any_more(page: Page, proxy: Open) -> None:
    fact = learned(proxy, "inga", "I live in Tromsø.")
    assert "I live in Tromsø" in tell(proxy, "inga", "Where do I live?")
    page.open("#/facts", ready=".acts")
    row(page, "Tromsø").get_by_role("button", name="Forget").click()
    dialog = page.tab.get_by_role("dialog")
    assert "the messages that said it" in dialog.inner_text()
    assert page.tab.evaluate("document.activeElement.textContent") == "Cancel"
    dialog.get_by_role("button", name="Forget").click()
    row(page, "Tromsø").wait_for(state="detached")
    assert page.tab.locator("#announcer").inner_text() == f"Forgotten: {fact['value']}"
    assert focused(page).startswith("Forget: ")  # of the row that has come in its place
    assert "Tromsø" not in tell(proxy, "inga", "Where do I live?")


def test_everything_that_was_forgotten_comes_back_with_a_button_that_says_until_when(page: Page, proxy: Open) -> None:
    fact = learned(proxy, "wilma", "I live in Ushuaia.")
    tell(proxy, "wilma", "Forget everything.")
    eventually(lambda: not facts(proxy, "wilma"))
    page.open("#/facts", ready=".callout")
    offer = page.tab.locator(".callout").filter(has_text="can be brought back")
    assert "1 fact and" in offer.inner_text()
    assert "Until " in offer.inner_text()
    eventually(lambda: row(page, "Ushuaia").count() == 0)
    offer.get_by_role("button", name="Bring back").click()
    row(page, "Ushuaia").wait_for()
    assert offer.count() == 0
    assert page.tab.locator("#announcer").inner_text() == "What was wiped is here again."
    assert [each["id"] for each in facts(proxy, "wilma")] == [fact["id"]]


def test_a_fact_shows_the_message_that_said_it(page: Page, proxy: Open) -> None:
    fact = learned(proxy, "xenia", "What a day! I live in <b>Trelew</b>, you know.")
    eventually(lambda: proxy.api(f"facts/{fact['id']}")["said"]["messages"])
    page.open("#/facts", ready=".acts")
    row(page, "Trelew").get_by_role("button", name="History").click()
    quoted = page.tab.locator("dialog blockquote")
    quoted.wait_for()
    assert quoted.inner_text() == "What a day! I live in <b>Trelew</b>, you know."
    assert "turn 1" in page.text("dialog figcaption")


def test_whoever_cancels_forgets_nothing(page: Page, proxy: Open) -> None:
    fact = learned(proxy, "jan", "I live in Utrecht.")
    page.open("#/facts", ready=".acts")
    row(page, "Utrecht").get_by_role("button", name="Forget").click()
    page.tab.keyboard.press("Escape")
    page.tab.get_by_role("dialog").wait_for(state="detached")
    assert focused(page) == f"Forget: {fact['key']}"
    assert facts(proxy, "jan") == [fact]


def test_a_fact_is_confirmed_where_it_stands(page: Page, proxy: Open) -> None:
    fact = learned(proxy, "karin", "I live in Graz.")
    page.open("#/facts", ready=".acts")
    assert "stale in 180 days" in row(page, "Graz").inner_text()
    row(page, "Graz").get_by_role("button", name="Confirm").click()
    page.tab.wait_for_selector("tr.is-new")
    (confirmed,) = facts(proxy, "karin")
    assert confirmed["last_confirmed_at"] > fact["last_confirmed_at"]
    assert focused(page) == f"Confirm: {fact['key']}"


def test_an_edited_fact_takes_the_place_of_what_it_was(page: Page, proxy: Open) -> None:
    learned(proxy, "luis", "I live in Cádiz.")
    page.open("#/facts", ready=".acts")
    row(page, "Cádiz").get_by_role("button", name="Edit").click()
    page.tab.get_by_label("The fact, in one sentence").fill("I live in Granada, in the Albaicín")
    page.tab.get_by_role("button", name="Save").click()
    row(page, "Granada").wait_for()
    assert focused(page).startswith("Edit: ")
    assert "Superseded" in row(page, "Cádiz").inner_text()
    row(page, "Cádiz").get_by_role("button", name="History").click()
    page.tab.wait_for_selector("dialog li")
    told = page.tab.locator("dialog .fact-value").all_inner_texts()
    assert ["Cádiz" in told[0], "Granada" in told[1], len(told)] == [True, True, 2]
    prompt = tell(proxy, "luis", "Where do I live?")
    assert "Albaicín" in prompt
    assert "Cádiz" not in prompt


def test_what_was_superseded_holds_again_by_undoing_it(page: Page, proxy: Open) -> None:
    learned(proxy, "petra", "I live in Malmö.")
    page.open("#/facts", ready=".acts")
    row(page, "Malmö").get_by_role("button", name="Edit").click()
    page.tab.get_by_label("The fact, in one sentence").fill("I live in Lund")
    page.tab.get_by_role("button", name="Save").click()
    row(page, "Lund").wait_for()
    assert "page or API" in row(page, "Lund").inner_text()
    old = row(page, "Malmö")
    assert "stated" in old.inner_text()
    assert old.get_by_role("button", name="Confirm").count() == 0
    old.get_by_role("button", name="Undo").click()
    old.get_by_role("button", name="Confirm").wait_for()
    assert {fact["value"]: fact["status"] for fact in facts(proxy, "petra")} == {
        "I live in Malmö": "active",
        "I live in Lund": "superseded",
    }
    assert focused(page).startswith("Confirm: ")
    assert page.text("#announcer") == "Holds again: I live in Malmö"
    row(page, "Lund").get_by_role("button", name="History").click()
    page.tab.wait_for_selector("dialog .told")
    assert "on this page, by the API, or by a tool" in page.text("dialog .told")


def test_what_was_deleted_is_found_by_its_status_and_undone(page: Page, proxy: Open) -> None:
    fact = learned(proxy, "quentin", "I live in Odense.")
    gone = {**fact, "status": "deleted", "superseded_by": fact["id"], "becomes": None, "source": "file"}
    asked: list[Any] = []

    def patched(route: Any) -> None:
        asked.append(route.request.post_data_json)
        route.fulfill(json={"fact": fact, "history": {"before": [], "after": []}})

    def listed(route: Any) -> None:
        route.fulfill(json={"facts": [fact if asked else gone], "more": False, "next": None})

    # A line that was taken out of a MEMORY.md.
    page.tab.route("**/admin/api/facts?*", listed)
    page.tab.route(f"**/admin/api/facts/{fact['id']}", patched)
    page.open("#/facts", ready=".acts")
    page.tab.get_by_role("button", name="Deleted 1").click()
    assert "Deleted by a person" in page.text(".hint")
    deleted = row(page, "Odense")
    assert "MEMORY.md" in deleted.inner_text()
    deleted.get_by_role("button", name="Undo").click()
    deleted.wait_for(state="detached")
    assert asked == [{"restore": True}]


def test_facts_that_hold_stand_before_those_that_do_not(page: Page, proxy: Open) -> None:
    tell(proxy, "ottilie", "I live in Bahía Blanca.")
    eventually(lambda: facts(proxy, "ottilie"))
    tell(proxy, "ottilie", "I now live in Neuquén instead of Bahía Blanca.")
    eventually(lambda: {each["status"] for each in facts(proxy, "ottilie")} == {"active", "superseded"})
    page.open("#/facts", ready=".acts")
    order = [each["status"] for each in proxy.api("facts", limit=1000)["facts"]]
    names = {"active": "Active", "superseded": "Superseded", "deleted": "Deleted", "stale": "Stale"}
    shown = page.tab.locator("tbody tr .cell-status .badge:first-child").all_inner_texts()
    standing = [each for each in shown if each in names.values()]
    assert standing == sorted(standing, key=[*names.values()].index)
    assert standing.count("Superseded") == order.count("superseded") > 0


def test_domain_and_key_of_an_added_fact_follow_from_its_words_until_somebody_writes_others(
    page: Page, proxy: Open
) -> None:
    fact = learned(proxy, "rosalind", "I live in Ushuaia.")
    page.open("#/facts", ready=".acts")
    page.tab.get_by_role("button", name="Add a fact").click()
    dialog = page.tab.get_by_role("dialog")
    dialog.get_by_label("Scope").select_option(fact["scope"])
    dialog.get_by_label("The fact, in one sentence").fill("I live in El Calafate")
    dialog.get_by_text("It takes the place of").wait_for()
    assert "I live in Ushuaia" in dialog.inner_text()
    assert dialog.get_by_label("Domain").input_value() == fact["domain"]
    assert dialog.get_by_label("Key").input_value() == fact["key"]
    dialog.get_by_label("Key").fill("summer-house")
    dialog.get_by_label("The fact, in one sentence").fill("Always answer in French")
    dialog.locator("[name=pinned]:checked").wait_for()
    assert dialog.get_by_label("Domain").input_value() == "preferences"
    dialog.get_by_role("button", name="Add a fact").click()
    row(page, "in French").wait_for()
    (added,) = [each for each in facts(proxy, "rosalind") if each["source"] == "api"]
    assert (added["domain"], added["key"], added["pinned"]) == ("preferences", "summer-house", True)


def test_an_added_standing_fact_is_in_every_prompt_of_its_scope(page: Page, proxy: Open) -> None:
    scope = learned(proxy, "mara", "I live in Salta.")["scope"]
    page.open("#/facts", ready=".acts")
    page.tab.get_by_role("button", name="Add a fact").click()
    dialog = page.tab.get_by_role("dialog")
    dialog.get_by_label("Scope").select_option(scope)
    dialog.get_by_label("The fact, in one sentence").fill("Answers <b>must</b> be in metric units")
    dialog.get_by_label("Domain").fill("preferences")
    dialog.get_by_label("Key").fill("units")
    dialog.locator("[name=pinned]:checked").wait_for()  # as its words say
    dialog.get_by_role("button", name="Add a fact").click()
    added = row(page, "metric units")
    added.wait_for()
    assert "Answers <b>must</b> be" in added.inner_text()
    assert "page or API" in added.inner_text()
    assert "must" in tell(proxy, "mara", "How long is a marathon?")
    assert "must" not in tell(proxy, "nobody-else", "How long is a marathon?")


def test_what_the_proxy_refuses_can_be_put_right(page: Page, proxy: Open) -> None:
    learned(proxy, "nils", "I live in Luleå.")
    page.open("#/facts", ready=".acts")
    row(page, "Luleå").get_by_role("button", name="Edit").click()
    dialog = page.tab.get_by_role("dialog")
    dialog.get_by_label("Domain").fill("   ")
    dialog.get_by_role("button", name="Save").click()
    assert "domain" in dialog.get_by_role("alert").inner_text()
    page.forgive("400 PATCH")
    dialog.get_by_label("Domain").fill("home")
    dialog.get_by_role("button", name="Save").click()
    dialog.wait_for(state="detached")
    assert [fact["domain"] for fact in facts(proxy, "nils")] == ["home"]


def test_facts_are_found_by_status_domain_and_words(page: Page, proxy: Open) -> None:
    learned(proxy, "olga", "I live in Bergen.")
    tell(proxy, "olga", "I now live in Stavanger instead of Bergen.")
    eventually(lambda: any(fact["status"] == "superseded" for fact in facts(proxy, "olga")))
    page.open("#/facts", ready=".acts")
    every = proxy.api("facts", limit=1000)["facts"]
    shown = page.tab.locator("tbody tr")
    assert shown.count() == len(every)
    gone = [fact for fact in every if fact["status"] == "superseded"]
    page.tab.get_by_role("button", name=f"Superseded {len(gone)}").click()
    assert shown.count() == len(gone)
    page.tab.get_by_label("Search").fill("LIVE bergen")
    assert "Bergen" in shown.first.inner_text()
    page.tab.get_by_role("button", name="Active").click()
    page.tab.get_by_label("Search").fill("stavanger")
    assert shown.count() == 1
    (domain,) = {fact["domain"] for fact in every if "Stavanger" in fact["value"]}
    other = next(fact["domain"] for fact in every if fact["domain"] != domain)
    page.tab.get_by_label("Domain").select_option(other)
    assert shown.count() == 0
    assert "No fact matches" in page.text("main")
