"""How the page looks: every view at 360, 1440 and 2560 pixels, beside pictures that were kept. `make pictures` takes
them anew. Coarse on purpose, since fonts differ: it finds what has moved, gone, or lost its colours, not a pixel."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import pytest

from tests.page import pictures
from tests.page.browser import Browser
from tests.page.pictures import SIZES, VIEWS, boxes, looked_at, shown, thumbnail

pytestmark = pytest.mark.long  # in a browser; test_login.py is the quick one

# Of what a picture may differ in on another machine: parts of its width, and of its height where lines break elsewhere.
WIDER, MOVED = 0.04, 0.22
PALER, WORST = 6.0, 0.03  # of 255, on average over a picture; share of it that may differ by more than `FAR`
FAR = 60

Answers = Mapping[str, Any]
Box = tuple[str, float, float, float, float]


@pytest.fixture(scope="module")
def answers() -> Answers:
    found: Answers = json.loads(pictures.ANSWERS.read_text(encoding="utf-8"))
    return found


@pytest.fixture(scope="module")
def kept() -> Mapping[str, Sequence[Box]]:
    found: Mapping[str, Sequence[Box]] = json.loads(pictures.BOXES.read_text(encoding="utf-8"))
    return found


@pytest.fixture(scope="module")
def tabs(browser: Browser, answers: Answers) -> Iterator[Callable[[int], Any]]:
    """A tab of each width, opened once."""
    with ExitStack() as stack:
        opened: dict[int, Any] = {}

        def of(width: int) -> Any:
            if width not in opened:
                opened[width] = stack.enter_context(shown(browser, width, answers))
            return opened[width]

        yield of


def misplaced(was: Sequence[Box], now: Sequence[Box], width: int) -> list[str]:
    """What of a view is not where it was, in words."""
    if [each[0] for each in was] != [each[0] for each in now]:
        return [f"other parts: {[each[0] for each in was]} are {[each[0] for each in now]}"]
    height = max(each[2] + each[4] for each in was)
    found = []
    for (name, *before), (_, *after) in zip(was, now, strict=True):
        sideways = max(abs(before[0] - after[0]), abs(before[2] - after[2])) / width
        down = max(abs(before[1] - after[1]), abs(before[3] - after[3])) / height
        if sideways > WIDER or down > MOVED:
            found.append(f"{name} was at {before}, is at {after}")
    return found


def difference(was: Mapping[str, Any], now: Mapping[str, Any]) -> tuple[float, float]:
    """How much two thumbnails differ: on average, and the share of pixels that differ far."""
    assert (was["width"], was["height"]) == (now["width"], now["height"])
    one, other = was["data"], now["data"]
    pixels = [max(abs(one[at + part] - other[at + part]) for part in range(3)) for at in range(0, len(one), 4)]
    return sum(pixels) / len(pixels), sum(each > FAR for each in pixels) / len(pixels)


def seen(tab: Any, view: str, width: int, kept: Mapping[str, Sequence[Box]]) -> tuple[list[str], float, float]:
    """What differs from the pictures that were kept."""
    reference = thumbnail(tab, pictures.file_of(view, width).read_bytes())
    return (
        misplaced(kept[f"{view}-{width}"], [tuple(each) for each in boxes(tab)], width),
        *difference(reference, thumbnail(tab, tab.screenshot())),
    )


@pytest.mark.parametrize("width", SIZES)
@pytest.mark.parametrize("view", VIEWS)
def test_a_view_looks_as_it_did(
    tabs: Callable[[int], Any], answers: Answers, kept: Mapping[str, Sequence[Box]], view: str, width: int
) -> None:
    tab = tabs(width)
    looked_at(tab, view, answers)
    moved, paler, worst = seen(tab, view, width, kept)
    assert moved == []
    assert paler < PALER
    assert worst < WORST


FONTS = ("Georgia, 'DejaVu Serif', serif", "'Liberation Sans', Arial, sans-serif", "'DejaVu Sans', Verdana, sans-serif")


@pytest.mark.parametrize("font", FONTS)
def test_other_fonts_make_no_other_picture(
    tabs: Callable[[int], Any], answers: Answers, kept: Mapping[str, Sequence[Box]], font: str
) -> None:
    for view, width in (("request", 360), ("facts", 1440), ("session", 2560), ("now", 1440)):
        tab = tabs(width)
        looked_at(tab, view, answers)
        tab.evaluate("(font) => document.documentElement.style.setProperty('--font', font)", font)
        tab.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        moved, paler, worst = seen(tab, view, width, kept)
        tab.evaluate("document.documentElement.style.removeProperty('--font')")
        assert (moved, paler < PALER, worst < WORST) == ([], True, True), (view, width, moved, paler, worst)


BREAKS = {
    "without its styles": "for (const each of document.querySelectorAll('link[rel=stylesheet]')) each.disabled = true",
    "in the other theme": "document.documentElement.dataset.theme = 'light'",
    "a panel is gone": "document.querySelector('.before').remove()",
    "a panel is as narrow as a word": "document.querySelector('.before').style.width = 'min-content'",
    "it sticks out": "document.querySelector('.before').style.width = '1400px'",
}


@pytest.mark.parametrize("how", BREAKS)
def test_what_is_broken_is_seen(
    tabs: Callable[[int], Any], answers: Answers, kept: Mapping[str, Sequence[Box]], how: str
) -> None:
    tab = tabs(360)
    looked_at(tab, "request", answers)
    tab.evaluate(BREAKS[how])
    moved, paler, worst = seen(tab, "request", 360, kept)
    assert moved or paler >= PALER or worst >= WORST


def test_the_pictures_take_little_room() -> None:
    sizes = [file.stat().st_size for file in pictures.KEPT.iterdir()]
    assert len(sizes) == len(VIEWS) * len(SIZES) + 2
    assert sum(sizes) < 400_000
