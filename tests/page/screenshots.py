"""`make screenshots`: a picture of every view in build/, of a proxy that has had the conversation of `olvido demo` and
some more. Its clock is moved on from request to request, so that an hour has passed."""

import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from time import time
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from proxy.config import load
from proxy.demo.show import CONVERSATION, SYSTEM, WEATHER_RESULT
from proxy.protocol.dialects import DIALECTS
from proxy.tokens import load_tokenizer
from tests.page.browser import Browser, chromium, playing
from tests.scripted.app import create_app
from tests.scripted.config import ScriptedConfig
from tests.servers import eventually, run_app, run_proxy

BUILD = Path(__file__).parent.parent.parent / "build"
SESSION = "lisbon-trip"
STEP = 67.0  # seconds from one request to the next
WORDS = (  # the same questions, word for word and in other words
    "¿Cuál es la capital de Australia?",
    "¿Cuál es la capital de Australia?",
    "Decime cuál es la capital de Australia",
    "How do I make pesto at home?",
    "How can I make pesto at home?",
)
VIEWS = ("now", "requests", "request", "sessions", "session", "facts", "reuse", "what-if")
SIZES = {"wide": (1440, 900), "narrow": (390, 844)}


def main() -> int:
    if chromium() is None:
        print("no chromium: install it, or name it in CHROMIUM", file=sys.stderr)
        return 1
    BUILD.mkdir(exist_ok=True)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="olvido-page-")))
        demo = create_app(ScriptedConfig(dialect=DIALECTS["openai"], encode=load_tokenizer().encode_ordinary))
        upstream = stack.enter_context(run_app(demo))
        url = stack.enter_context(run_proxy(load(_config(folder, upstream), {})))
        http = stack.enter_context(httpx.Client(base_url=url, timeout=60, headers={"authorization": "Bearer sk-demo"}))
        eventually(lambda: http.get("/readyz").json()["parts"]["reuse by intent"] == "ready", 60)
        asked = _talk(http)
        running = stack.enter_context(playing())
        for name in _pictures(running, url, asked):
            print(name)
    return 0


def _config(folder: Path, upstream: str) -> Path:
    """The prices are those of gpt-4o."""
    file = folder / "olvido.yaml"
    file.write_text(f"""
server: {{port: 0, drain: 2}}
upstreams:
  - name: demo
    base_url: {upstream}/v1
    dialect: openai
    price: {{input: 2.5, cached: 1.25, output: 10.0}}
storage: {{path: {folder / "storage"}}}
""")
    return file


def _talk(http: httpx.Client) -> str:
    """Returns the id of the request that shows most."""
    times = count()
    began = time() - STEP * (len(CONVERSATION) + len(WORDS) + 6)
    history: list[Mapping[str, Any]] = [{"role": "system", "content": SYSTEM}]
    with pytest.MonkeyPatch.context() as clock:
        clock.setattr("proxy.api.time", lambda: min(time(), began + STEP * next(times)))
        for ask in CONVERSATION:
            said = {"role": "user", "content": ask.text}
            if ask.alone:
                _ask(http, [said], temperature=0)
                continue
            tools = {"tools": ask.tools} if ask.tools else {}
            history.append(said)
            answer = _ask(http, history, session=SESSION, **tools)
            history.append(answer)
            if calls := answer.get("tool_calls"):
                history += [{"role": "tool", "tool_call_id": call["id"], "content": WEATHER_RESULT} for call in calls]
                history.append(_ask(http, history, session=SESSION, **tools))
        for words in WORDS:
            _ask(http, [{"role": "user", "content": words}], temperature=0)
    asked = next(times)
    eventually(lambda: len(_rows(http)) >= asked)
    return str(max(_rows(http), key=_worth)["request_id"])


def _worth(row: Any) -> tuple[bool, int]:
    """Turns leave, and others are recalled."""
    decided = (row["trail"] or {}).get("break_even") or {"leave": 0}
    return decided["leave"] > 0, row["mechanisms"].get("recall", 0)


def _rows(http: httpx.Client) -> list[Any]:
    told: list[Any] = http.get("/admin/api/requests", params={"limit": 500}).raise_for_status().json()["requests"]
    return told


def _ask(
    http: httpx.Client, messages: Sequence[Mapping[str, Any]], session: str = "", **fields: Any
) -> Mapping[str, Any]:
    headers = {"x-olvido-session": session} if session else {}
    body = {"model": "demo-chat", "messages": messages, **fields}
    answer = http.post("/v1/chat/completions", json=body, headers=headers).raise_for_status()
    said: Mapping[str, Any] = answer.json()["choices"][0]["message"]
    return said


def _pictures(browser: Browser, url: str, request_id: str) -> Iterator[str]:
    named = {"request": f"request/{request_id}", "session": f"session/{quote(SESSION, safe='')}"}
    for theme in ("light", "dark"):
        for size, (width, height) in SIZES.items():
            visitor = browser.new_context(
                viewport={"width": width, "height": height},
                color_scheme=theme,
                locale="en",
                reduced_motion="reduce",
                device_scale_factor=2,
            )
            tab = visitor.new_page()
            for view in VIEWS:
                tab.goto(f"{url}/ui#/{named.get(view, view)}")
                tab.wait_for_selector("main h1")
                tab.wait_for_selector(".loading", state="detached")
                tab.wait_for_timeout(500)  # charts are drawn when the browser finds the time
                file = BUILD / f"page-{view}-{size}-{theme}.png"
                tab.screenshot(path=str(file), full_page=size == "narrow")
                yield str(file.relative_to(BUILD.parent))
            visitor.close()


if __name__ == "__main__":
    sys.exit(main())
