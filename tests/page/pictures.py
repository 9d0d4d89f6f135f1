"""Pictures of every view that tests compare: what the page shows of answers that were written down once, at the moment
at which they were. `python -m tests.page.pictures` writes answers and pictures anew (`make pictures`): look at them
before you commit them.

Fonts differ from machine to machine, and with them where lines break. So a picture is kept as two coarse things: the
boxes of what a view is built from, and a thumbnail of a few hundred pixels, in which text is but grey.
"""

import base64
import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from time import time
from typing import Any
from urllib.parse import parse_qsl, quote, urlsplit

from proxy.page.files import FOLDER, TYPES
from tests.page.browser import Browser, chromium, playing
from tests.page.conftest import NARROW, opened
from tests.page.talk import SESSION, talk

KEPT = Path(__file__).parent / "pictures"
ANSWERS, BOXES = KEPT / "answers.json", KEPT / "boxes.json"
ORIGIN = "http://olvido.test"
SIZES = {360: 740, 1440: 900, 2560: 1300}
# Each size has its theme and its language, so that every one of them is seen with each view.
LOOKS = {360: ("dark", "es"), 1440: ("light", "en"), 2560: ("dark", "en")}
VIEWS = ("now", "requests", "request", "sessions", "session", "facts", "jobs", "reuse", "what-if")
CELLS = 40  # pixels of a thumbnail's width
PARTS = (
    ".top, .nav, .view-head, .verdict, .stats, .panel, .chart, .table-wrap, .tabs, .request-parts > *, .preset, .foot"
)

BOXES_OF = """(parts) => [...document.querySelectorAll(parts)]
  .filter((each) => each.checkVisibility())
  .map((each) => {
    const {left, top, width, height} = each.getBoundingClientRect();
    const name = each.classList.length ? `.${each.classList[0]}` : each.localName;
    return [name, ...[left, top + scrollY, width, height].map(Math.round)];
  })"""
THUMBNAIL = """async ([picture, cells]) => {
  const image = await createImageBitmap(await (await fetch(picture)).blob());
  const canvas = new OffscreenCanvas(cells, Math.round((cells * image.height) / image.width));
  const context = canvas.getContext("2d", {willReadFrequently: true});
  context.imageSmoothingQuality = "high";
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  const {data} = context.getImageData(0, 0, canvas.width, canvas.height);
  const blob = await canvas.convertToBlob();
  const png = await new Promise((done) => {
    const reader = new FileReader();
    reader.onload = () => done(reader.result);
    reader.readAsDataURL(blob);
  });
  return {width: canvas.width, height: canvas.height, data: [...data], png};
}"""


def address(view: str, answers: Mapping[str, Any]) -> str:
    named = {"request": f"request/{answers['request']}", "session": f"session/{quote(SESSION, safe='')}"}
    return f"#/{named.get(view, view)}"


@contextmanager
def shown(browser: Browser, width: int, answers: Mapping[str, Any]) -> Iterator[Any]:
    """A tab of this width in which the page sees the answers that were written down, and their time."""
    theme, language = LOOKS[width]
    visitor = browser.new_context(
        viewport={"width": width, "height": SIZES[width]},
        color_scheme=theme,
        locale=language,
        timezone_id="UTC",
        reduced_motion="reduce",
    )
    try:
        tab = visitor.new_page()
        tab.set_default_timeout(20_000)
        tab.clock.set_fixed_time(answers["now"] * 1000)
        tab.route(f"{ORIGIN}/**", lambda route: _answer(route, answers["answers"]))
        yield tab
    finally:
        visitor.close()


def looked_at(tab: Any, view: str, answers: Mapping[str, Any]) -> None:
    """Opens a view, and waits until it is drawn."""
    tab.goto("about:blank")  # else a page that is there already is not loaded anew
    tab.goto(f"{ORIGIN}/ui{address(view, answers)}")
    tab.wait_for_selector("main h1")
    tab.wait_for_selector(".loading", state="detached")
    tab.locator(".chart-stage:not(:has(canvas))").first.wait_for(state="detached")
    tab.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def boxes(tab: Any) -> list[list[Any]]:
    found: list[list[Any]] = tab.evaluate(BOXES_OF, PARTS)
    return found


def thumbnail(tab: Any, picture: bytes) -> dict[str, Any]:
    """A picture made small by the browser: its pixels, and itself as a PNG. Not in the tab of the page, whose policy
    forbids to fetch it."""
    blank = tab.context.new_page()
    try:
        data = f"data:image/png;base64,{base64.b64encode(picture).decode()}"
        small: dict[str, Any] = blank.evaluate(THUMBNAIL, [data, CELLS])
        return small
    finally:
        blank.close()


def file_of(view: str, width: int) -> Path:
    return KEPT / f"{view}-{width}.png"


# --- answers ---


def _key(url: str) -> str:
    """The name of a question, without the moment at which it is asked."""
    parts = urlsplit(url)
    query = sorted((name, value) for name, value in parse_qsl(parts.query) if name not in ("from", "to"))
    return "&".join([parts.path.partition("/admin/api/")[2], *(f"{name}={value}" for name, value in query)])


def _answer(route: Any, answers: Mapping[str, Any]) -> None:
    path = urlsplit(route.request.url).path
    if path.startswith("/admin/api/"):
        told = answers.get(_key(route.request.url))
        if told is None:
            route.fulfill(status=404, json={"error": {"message": f"not written down: {route.request.url}"}})
        else:
            route.fulfill(status=200, json=told)
        return
    file = FOLDER / (path.removeprefix("/ui").lstrip("/") or "index.html")
    if file.is_file():
        route.fulfill(status=200, body=file.read_bytes(), content_type=TYPES[file.suffix])
    else:
        route.fulfill(status=404, body="")


def _written_down(browser: Browser) -> dict[str, Any]:
    """Has a conversation with a real proxy, looks at every view, and keeps what it answered."""
    answers: dict[str, Any] = {}
    with ExitStack() as stack:
        proxy = opened(stack, profiles={"lean": NARROW})
        talked = talk(proxy.http)
        told: dict[str, Any] = {"now": round(time()), "request": talked.last, "answers": answers}
        visitor = browser.new_context(locale="en")
        tab = visitor.new_page()

        def keep(route: Any) -> None:
            if route.request.url.endswith("/live"):
                route.abort()  # a stream has no end
                return
            answer = route.fetch()
            if answer.ok:
                answers[_key(route.request.url)] = answer.json()
            route.fulfill(response=answer)

        tab.route("**/admin/api/**", keep)
        for view in VIEWS:
            tab.goto(f"{proxy.url}/ui{address(view, told)}")
            tab.wait_for_selector("main h1")
            tab.wait_for_selector(".loading", state="detached")
            tab.wait_for_timeout(1_500)
        visitor.close()
    return told


def main() -> int:
    if chromium() is None:
        print("no chromium: install it, or name it in CHROMIUM", file=sys.stderr)
        return 1
    KEPT.mkdir(exist_ok=True)
    with playing() as browser:
        answers = _written_down(browser)
        ANSWERS.write_text(json.dumps(answers, ensure_ascii=False, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        all_boxes: dict[str, list[list[Any]]] = {}
        for width in SIZES:
            with shown(browser, width, answers) as tab:
                for view in VIEWS:
                    looked_at(tab, view, answers)
                    all_boxes[f"{view}-{width}"] = boxes(tab)
                    png = thumbnail(tab, tab.screenshot())["png"]
                    file_of(view, width).write_bytes(base64.b64decode(png.partition(",")[2]))
                    print(file_of(view, width).name)
    lines = [f" {json.dumps(name)}: {json.dumps(found)}" for name, found in all_boxes.items()]
    BOXES.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
