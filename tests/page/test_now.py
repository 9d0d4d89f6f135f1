"""What is saved at the moment, and the last requests as they come."""

import re
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import pytest

from tests.page.conftest import Open, Page, opened
from tests.page.talk import Talked
from tests.servers import eventually

pytestmark = pytest.mark.long  # in a browser; test_login.py is the quick one

Tab = Callable[..., Page]


def figures(page: Page) -> dict[str, str]:
    """What the small figures say, by their names."""
    page.tab.wait_for_selector(".now-stats .stat")
    pairs = page.tab.eval_on_selector_all(
        ".now-stats .stat",
        "all => all.map(e => [e.querySelector('dt').innerText, e.querySelector('.stat-value').innerText])",
    )
    return dict(pairs)


def asked(proxy: Open, said: str, **headers: str) -> str:
    """The id of a request made now."""
    body = {"model": "demo-chat", "messages": [{"role": "user", "content": said}]}
    answer = proxy.http.post("/v1/chat/completions", json=body, headers=headers).raise_for_status()
    return str(answer.headers["x-olvido-request"])


def test_the_figures_are_the_ledgers(page: Page, proxy: Open) -> None:
    shown = figures(page.open("#/now"))
    totals = proxy.api("summary")["totals"]
    assert shown["Requests"] == str(totals["requests"])
    assert shown["Original prompts"] == f"{totals['tokens_original']:,}"
    assert shown["Sent prompts"] == f"{totals['tokens_sent']:,}"
    assert float(shown["Exact hits"].rstrip("%")) == pytest.approx(100 * totals["hit_rate_exact"], abs=0.5)
    assert page.text("#tokens-saved") == f"{totals['tokens_saved']:,}"
    assert page.text("#dollars-saved").lstrip("$") == f"{abs(totals['dollars_saved']):.2g}"
    share = abs(totals["dollars_saved"] / totals["passthrough_cost"])
    assert float(page.text("#share-saved").rstrip("%")) == pytest.approx(100 * share, abs=0.5)


def test_what_is_nothing_has_no_tile(page: Page, proxy: Open) -> None:
    shown = figures(page.open("#/now"))
    totals = proxy.api("summary")["totals"]
    for name, tile in (
        ("over_budget", "Over budget"),
        ("failed_open", "Passed unmanaged"),
        ("reused_intent", "Intent hits"),
    ):
        assert (tile in shown) == bool(totals[name])
    assert "0" not in shown.values()


def test_what_went_through_unmanaged_is_told_with_what_would_have_it_managed(tab: Tab) -> None:
    with ExitStack() as stack:
        upstream = opened(stack)
        asked(upstream, "One that is managed")
        for path in ("completions", "completions", "completions", "models"):
            upstream.http.post(f"/v1/{path}", json={"model": "demo-chat", "input": "hi"})
        eventually(lambda: upstream.api("summary")["totals"]["unmanaged"] == 4)
        page = tab(upstream).open("#/now", ready=".now-unmanaged .callout")
        said = page.text(".now-unmanaged")
        assert "3 requests on /v1/completions went through unmanaged: 75%" in said
        assert "1 on /v1/models" in said
        page.open("#/facts", ready="h1")
        page.tab.wait_for_selector(".unmanaged-line:not([hidden])")
        line = page.tab.locator(".unmanaged-line")
        assert "3 requests on /v1/completions went through unmanaged in 24 hours: 75%" in line.inner_text()
        line.get_by_role("link", name="See them").click()
        page.tab.wait_for_selector(".view-requests tbody tr")
        assert page.tab.locator(".view-requests tbody tr").count() == 4
        page.tab.get_by_role("link", name="/v1/completions").first.click()
        page.tab.wait_for_selector(".view-request .callout")
        assert "went through unmanaged, on /v1/completions" in page.text(".view-request .callout")
        page.tab.locator(".unmanaged-line").get_by_role("link", name="How to have them managed").click()
        page.tab.wait_for_selector("h1:has-text('Clients')")
        page.tab.close()


def test_it_says_what_was_measured_and_what_the_providers_cache_did(page: Page, proxy: Open) -> None:
    page.open("#/now", ready=".honest")
    totals = proxy.api("summary")["totals"]
    said = page.text(".honest")
    assert f"{totals['tokens_measured']:,} of {totals['tokens_sent']:,} sent tokens" in said
    assert f"cache held {totals['tokens_cached']:,} of them" in said


def test_a_request_shows_by_itself_and_leads_to_its_page(page: Page, proxy: Open) -> None:
    page.open("#/now", ready=".live[data-state=live]")
    before = figures(page)["Requests"]
    request_id = asked(proxy, "Hello from outside")
    link = page.tab.wait_for_selector(f"a[href*='{request_id}']")
    page.tab.wait_for_function("was => document.querySelector('.now-stats .stat-value').innerText !== was", arg=before)
    link.click()
    page.tab.wait_for_selector(".view-request h1")
    assert request_id in page.text(".view-request")


def test_without_a_stream_it_asks_again_and_again(page: Page, proxy: Open) -> None:
    page.tab.clock.install()
    page.tab.route("**/admin/api/live", lambda route: route.abort())
    page.open("#/now", ready=".live[data-state=polling]")
    request_id = asked(proxy, "Is anybody there?")
    eventually(lambda: request_id in {each["request_id"] for each in proxy.api("requests")["requests"]})
    page.tab.clock.run_for(4_000)
    page.tab.wait_for_selector(f"a[href*='{request_id}']")


def test_the_range_can_be_chosen_and_is_kept(page: Page) -> None:
    page.open("#/now", ready=".chart")
    assert "Tokens per minute" in page.text("main")
    page.tab.get_by_role("radio", name=re.compile("^7.d$")).check()
    page.tab.wait_for_selector("text=Tokens per hour")
    page.tab.reload()
    page.tab.wait_for_selector("text=Tokens per hour")
    assert page.tab.get_by_role("radio", name=re.compile("^7.d$")).is_checked()


def test_a_chart_can_be_read_by_keys_and_as_a_table(page: Page) -> None:
    page.open("#/now", ready=".chart canvas")
    stage = page.tab.locator(".chart-stage").first
    stage.focus()
    stage.press("End")
    assert re.search(r"Sent \d", page.tab.locator(".chart [aria-live]").first.text_content() or "")
    page.tab.get_by_text("As a table").first.click()
    shown = page.tab.locator(".chart-rows").first.inner_text()
    assert "Left out by context" in shown


def test_it_speaks_the_browsers_language_and_can_be_told_another(tab: Tab, proxy: Open, talked: Talked) -> None:
    page = tab(proxy, locale="es-AR").open("#/now")
    assert page.text("h1") == "Ahora"
    assert page.tab.get_attribute("html", "lang") == "es"
    page.tab.click("#language")
    page.tab.wait_for_selector("h1:text('Now')")
    page.tab.reload()
    page.tab.wait_for_selector("h1:text('Now')")


def test_the_theme_is_the_systems_until_another_is_chosen(tab: Tab, proxy: Open, talked: Talked) -> None:
    page = tab(proxy, color_scheme="dark").open("#/now")

    def background() -> Any:
        return page.tab.evaluate("getComputedStyle(document.body).backgroundColor")

    dark = background()
    page.tab.click("#theme")  # automatic -> light
    light = background()
    assert light != dark
    page.tab.reload()
    page.tab.wait_for_selector("h1")
    assert background() == light


def test_before_the_first_request_it_says_how_to_make_one(tab: Tab) -> None:
    with ExitStack() as stack:
        unasked = opened(stack)
        page = tab(unasked).open("#/now", ready=".live[data-state=live]")
        assert f'base_url="{unasked.url}/v1"' in page.text(".first")
        asked(unasked, "The first one")
        page.tab.wait_for_selector(".headline")
        page.tab.close()


def test_when_the_proxy_is_gone_what_is_known_stays_and_it_says_so(page: Page) -> None:
    page.tab.clock.install()
    page.open("#/now", ready=".headline")
    page.tab.route("**/admin/api/**", lambda route: route.abort())
    page.tab.get_by_role("radio", name=re.compile("^24.h$")).check()
    page.tab.wait_for_selector("#notice:not([hidden])")
    assert page.tab.is_visible(".headline")
    page.tab.unroute("**/admin/api/**")
    page.tab.clock.run_for(3_000)
    page.tab.wait_for_selector("#notice.notice-good")


def test_where_every_request_failed_it_says_so_and_where_to_look(tab: Tab) -> None:
    with ExitStack() as stack:
        away = opened(stack, upstream={"base_url": "http://127.0.0.1:9/v1", "price": None, "retries": 0})
        body = {"model": "demo-chat", "messages": [{"role": "user", "content": "Are you there?"}]}
        for _ in range(2):
            assert away.http.post("/v1/chat/completions", json=body).status_code == 502
        eventually(lambda: away.api("summary")["totals"]["errors"] == 2)
        page = tab(away).open("#/now", ready="#share-saved")
        assert "All 2 requests failed" in page.text("main")
        assert "olvido doctor" in page.text("main")
        assert "No price" not in page.text("main")
        assert page.tab.locator(".cell-session a").first.inner_text() == "never answered"
