"""The memory as files on the page of facts: what a scripted proxy tells of them."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.page.conftest import Open, Page
from tests.page.talk import Talked

pytestmark = pytest.mark.long  # in a browser; test_login.py is the quick one

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]
FOUND = """async (rules) => {
  const found = await axe.run(document, {runOnly: rules});
  return found.violations.map((each) => `${each.id}: ${each.nodes.map((node) => node.target.join(" ")).join(", ")}`);
}"""
SYNCS = [
    {
        "at": 1_700_000_000.0,
        "added": ["<b>Vivo</b> en Salta"],
        "changed": [["Tengo un perro", "Tengo dos perros"]],
        "removed": ["Uso vim"],
        "problem": None,
    },
    {"at": 1_600_000_000.0, "added": [], "changed": [], "removed": [], "problem": "the disk is full"},
]


@dataclass
class Files:
    """The answers about files, and what was asked for."""

    folders: list[Mapping[str, Any]]
    done: list[Mapping[str, Any]] = field(default_factory=list)
    after: list[Mapping[str, Any]] = field(default_factory=list)  # the folders once something was asked for

    def answer(self, route: Any) -> None:
        if route.request.method == "POST":
            self.done.append(route.request.post_data_json)
            self.folders = self.after
            route.fulfill(json={})
        else:
            route.fulfill(json={"folders": self.folders})

    def on(self, page: Page) -> Page:
        page.tab.route("**/admin/api/files", self.answer)
        page.tab.route("**/admin/api/files/syncs?*", lambda route: route.fulfill(json={"syncs": SYNCS}))
        return page.open("#/facts", ready=".panel")


def folder(scope: str, **differing: Any) -> dict[str, Any]:
    told = {"scope": scope, "folder": "ana-1f2e", "state": "synced", "waiting": None, "synced_at": time.time()}
    return {**told, "problem": None, **differing}


def scope_of(proxy: Open) -> str:
    return str(proxy.api("scopes")["scopes"][0]["scope"])


def waiting(proxy: Open) -> dict[str, Any]:
    return folder(scope_of(proxy), state="waiting", waiting={"deletions": 12, "of": 30})


def test_without_files_there_is_nothing_of_them(page: Page) -> None:
    with page.tab.expect_response("**/admin/api/files"):
        page.open("#/facts", ready=".panel")
    assert page.tab.locator("main").get_by_text("MEMORY.md").count() == 0


def test_a_file_in_step_says_since_when_and_is_synced_by_a_button(page: Page, proxy: Open) -> None:
    at = 1_700_000_000.0
    files = Files([folder(scope_of(proxy), synced_at=at)], after=[folder(scope_of(proxy), synced_at=None)])
    line = files.on(page).tab.locator(".memory-file")
    line.wait_for()
    assert "MEMORY.md: in step, " in line.inner_text()
    assert "2023" in str(line.locator("time").get_attribute("title"))
    line.get_by_role("button", name="Sync now").click()
    line.filter(has_text="not synced yet").wait_for()
    assert files.done == [{"scope": scope_of(proxy), "action": "sync"}]
    page.tab.locator("#announcer").filter(has_text="Synced.").wait_for(state="attached")


@pytest.mark.parametrize(("button", "action"), [("Confirm", "confirm"), ("Bring back", "restore")])
def test_many_deletions_wait_for_a_person(button: str, action: str, page: Page, proxy: Open) -> None:
    files = Files([waiting(proxy)], after=[folder(scope_of(proxy))])
    line = files.on(page).tab.locator(".memory-file")
    line.wait_for()
    assert "waits: 12 of 30 lines were deleted" in line.inner_text()
    line.get_by_role("button", name=button).click()
    line.filter(has_text="in step").wait_for()
    assert files.done == [{"scope": scope_of(proxy), "action": action}]


def test_the_last_syncs_are_shown_as_a_diff(page: Page, proxy: Open) -> None:
    Files([folder(scope_of(proxy))]).on(page).tab.get_by_text("Last syncs").click()
    first, second = (page.tab.locator(".syncs > li").nth(at) for at in (0, 1))
    first.wait_for()
    assert [" ".join(line.split()) for line in first.locator("li").all_inner_texts()] == [
        "+ added: <b>Vivo</b> en Salta",
        "~ changed: Tengo un perro Tengo dos perros",
        "\u2212 removed: Uso vim",
    ]
    assert first.locator("del").all_inner_texts() == ["Tengo un perro", "Uso vim"]
    assert "the disk is full" in second.inner_text()


def test_a_problem_is_told_in_its_own_words_and_what_fails_can_be_tried_again(page: Page, proxy: Open) -> None:
    files = Files([folder(scope_of(proxy), problem="MEMORY.md is a link")])
    line = files.on(page).tab.locator(".memory-file")
    line.wait_for()
    assert "MEMORY.md: MEMORY.md is a link" in line.inner_text()
    page.tab.route(
        "**/admin/api/files", lambda route: route.fulfill(status=400, json={"error": {"message": "no disk"}})
    )
    line.get_by_role("button", name="Sync now").click()
    page.tab.get_by_role("alert").wait_for()
    assert "no disk" in page.tab.get_by_role("alert").inner_text()
    assert line.get_by_role("button", name="Sync now").is_enabled()
    page.forgive("400 POST")


def test_of_many_people_those_who_wait_are_told(page: Page, proxy: Open) -> None:
    others = [folder(f"{'ab' * 16}/user-{number}", folder=f"user-{number}") for number in range(20)]
    Files([*others, waiting(proxy)]).on(page)
    page.tab.locator(".memory-file").wait_for()
    assert page.tab.locator(".memory-file").count() == 1
    assert "waits" in page.text(".memory-file")


def test_nobody_is_kept_out_of_it(tab: Callable[..., Page], proxy: Open, talked: Talked, axe: str) -> None:
    page = Files([waiting(proxy)]).on(tab(proxy, locale="es"))
    page.tab.locator(".memory-file summary").click()
    page.tab.wait_for_selector(".syncs")
    page.tab.evaluate(axe)
    assert page.tab.evaluate(FOUND, RULES) == []
    page.tab.emulate_media(color_scheme="dark")
    page.tab.set_viewport_size({"width": 360, "height": 740})
    assert page.tab.evaluate(FOUND, RULES) == []
    assert page.tab.evaluate("document.documentElement.scrollWidth") <= 360
    assert page.tab.evaluate("import('/ui/lib/i18n.js').then(({missing}) => [...missing])") == []
