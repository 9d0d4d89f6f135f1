"""That everybody can use it: every view, in both themes, wide and narrow, in both languages."""

from collections.abc import Callable
from urllib.parse import quote

import pytest

from tests.page.conftest import Open, Page
from tests.page.talk import SESSION, Talked

pytestmark = pytest.mark.long  # in a browser; test_login.py is the quick one

Tab = Callable[..., Page]

WIDE = 2560
SIZES = ((360, 740), (1440, 900), (WIDE, 1300))
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]
VIEWS = (
    *("now", "requests", "request", "sessions", "session", "desk", "facts", "jobs"),
    *("reuse", "quality", "keys", "what-if"),
)
FOUND = """async (rules) => {
  const found = await axe.run(document, {runOnly: rules});
  return found.violations.map((each) => `${each.id}: ${each.nodes.map((node) => node.target.join(" ")).join(", ")}`);
}"""
WIDTH = "document.querySelector('main > .view').getBoundingClientRect().width"
MISSING = "import('/ui/lib/i18n.js').then(({missing}) => [...missing])"
DICTIONARIES = """async (names) => {
  const all = await Promise.all(names.map((name) => import(`/ui/i18n/${name}.js`)));
  return all.map(({default: {en, es}}) => [Object.keys(en).sort(), Object.keys(es).sort()]);
}"""


def address(view: str, talked: Talked) -> str:
    session = quote(SESSION, safe="")
    named = {"request": f"request/{talked.last}", "session": f"session/{session}", "desk": f"desk/{session}"}
    return f"#/{named.get(view, view)}"


def opened(tab: Tab, proxy: Open, view: str, talked: Talked, **how: object) -> Page:
    page = tab(proxy, **how).open(address(view, talked))
    page.tab.wait_for_selector(".loading", state="detached")
    page.tab.evaluate("for (const each of document.querySelectorAll('main details')) each.open = true")
    page.tab.wait_for_function(
        "[...document.querySelectorAll('.chart-numbers')].every((each) => each.querySelector('table'))"
    )
    return page


@pytest.mark.parametrize("language", ["en", "es"])
@pytest.mark.parametrize("view", VIEWS)
def test_nobody_is_kept_out_nothing_sticks_out_and_a_wide_screen_is_used(
    tab: Tab, proxy: Open, talked: Talked, axe: str, view: str, language: str
) -> None:
    page = opened(tab, proxy, view, talked, locale=language)
    page.tab.evaluate(axe)
    for width, height in SIZES:
        page.tab.set_viewport_size({"width": width, "height": height})
        assert page.tab.evaluate("document.documentElement.scrollWidth") <= width
        assert page.tab.evaluate(WIDTH) > (0.9 * width if width == WIDE else 0)
        for theme in ("light", "dark"):
            page.tab.emulate_media(color_scheme=theme)
            assert page.tab.evaluate(FOUND, RULES) == []
    assert page.tab.evaluate(MISSING) == []


def test_the_login_too(tab: Tab, locked: Open, axe: str) -> None:
    page = tab(locked, viewport={"width": 360, "height": 740}).open("#/now", ready="form")
    page.tab.evaluate(axe)
    assert page.tab.evaluate(FOUND, RULES) == []
    assert page.tab.evaluate("document.documentElement.scrollWidth") <= 360


def test_every_word_is_there_in_both_languages(page: Page, talked: Talked) -> None:
    from proxy.page.files import FOLDER

    names = sorted(file.stem for file in (FOLDER / "i18n").glob("*.js"))
    assert names
    page.open("#/now")
    for name, (english, spanish) in zip(names, page.tab.evaluate(DICTIONARIES, names), strict=True):
        assert english == spanish, name


def test_all_of_it_can_be_reached_by_keys(page: Page) -> None:
    page.open("#/now", ready=".headline")
    page.tab.keyboard.press("Tab")
    assert page.tab.evaluate("document.activeElement.className") == "skip"
    names = []
    for _ in range(10):
        page.tab.keyboard.press("Tab")
        names.append(page.tab.evaluate("document.activeElement.innerText.trim()"))
    assert names == ["Olvido", "Now", "Requests", "Sessions", "Facts", "Jobs", "Reuse", "Keys", "What if", "Docs"]
