"""Two processes over one storage, and models of one session that call memory's tools in both at once: what they write
stays, messages have the same ids, and what a killed process had begun is done once."""

import asyncio
import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.types import Receive, Scope, Send

from tests.e2e.running import CHAT, Proxy, two_proxies
from tests.looping import run_upstream
from tests.playing import CALLS, Obedient
from tests.servers import eventually

pytestmark = pytest.mark.long

Json = Any
ROUNDS = 20
TAG = "x-together"
SESSION = {"x-olvido-session": "shared"}
DESK = {"session": "shared"}


class Together(Obedient):
    """Answers none of two requests with the same tag before both are there: then both have begun."""

    def __init__(self) -> None:
        super().__init__()
        self._gates: dict[bytes, asyncio.Event] = {}
        self._there: Counter[bytes] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if tag := dict(scope.get("headers", ())).get(TAG.encode()):
            gate = self._gates.setdefault(tag, asyncio.Event())
            self._there[tag] += 1
            if self._there[tag] > 1:
                gate.set()
            await gate.wait()
        await super().__call__(scope, receive, send)


@pytest.fixture(scope="module")
def upstream() -> Iterator[Obedient]:
    with run_upstream(Together()) as running:
        yield running


@pytest.fixture
def proxies(upstream: Obedient, tmp_path: Path) -> Iterator[list[Proxy]]:
    with two_proxies(upstream.url, tmp_path, dialect="openai") as both:
        yield both


def ask(proxy: Proxy, talk: list[Json], *calls: tuple[str, Json], tag: str = "") -> Json:
    """The answer's message."""
    asked = {"model": "m", "messages": talk}
    headers = {**SESSION, CALLS: json.dumps(calls), **({TAG: tag} if tag else {})}
    answer = proxy.http.post(CHAT, json=asked, headers=headers).raise_for_status()
    return answer.json()["choices"][0]["message"]


def begun(proxies: list[Proxy]) -> list[Json]:
    """A conversation that has a desk. Of a person whom no upstream has answered yet nothing is kept."""
    talk: list[Json] = []
    for question in ("Hello", "And now?"):
        talk.append({"role": "user", "content": question})
        talk.append(ask(proxies[0], talk))
    eventually(lambda: desk(proxies[1])["session"])
    return talk


def desk(proxy: Proxy) -> Json:
    answer = proxy.http.get("/admin/api/desk", params=DESK)
    return answer.json() if answer.is_success else {"session": "", "documents": [], "edits": []}


def text(proxy: Proxy, name: str) -> str:
    return str(
        proxy.http.get("/admin/api/desk/document", params={**DESK, "name": name}).raise_for_status().json()["text"]
    )


def at_once(*work: Callable[[], None]) -> None:
    threads = [threading.Thread(target=each) for each in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_no_edit_of_two_that_are_made_at_once_is_lost(proxies: list[Proxy], upstream: Obedient) -> None:
    talk = begun(proxies)

    def asks(at: int, round_: int) -> None:
        question = {"role": "user", "content": f"question {round_} of {at}"}
        save = ("save_to_disk", {"file_name": f"{round_}.md", "content": f"said by {at}"})
        ask(proxies[at], [*talk, question], save, tag=f"round {round_}")

    for round_ in range(ROUNDS):
        at_once(partial(asks, 0, round_), partial(asks, 1, round_))
    for proxy in proxies:
        kept = [sorted(text(proxy, f"{round_}.md").splitlines()) for round_ in range(ROUNDS)]
        assert kept == [["said by 0", "said by 1"]] * ROUNDS
    told = [upstream.told(f"question {round_} of {at}") for round_ in range(ROUNDS) for at in (0, 1)]
    assert all(len(each) == 1 and each[0].startswith("Saved") for each in told), told


def test_both_have_the_same_ids(proxies: list[Proxy], upstream: Obedient) -> None:
    talk = begun(proxies)
    for at in (0, 1, 0, 1):
        talk.append({"role": "user", "content": f"question {at} of {len(talk)}"})
        talk.append(ask(proxies[at], talk, ("remember", {"key": f"k{len(talk)}", "value": f"v{len(talk)}"})))
    recalls = [("recall_original", {"message_id": each}) for each in range(1, 9)]
    told = []
    for at in (0, 1):
        question = f"recall all, {at}"
        ask(proxies[at], [*talk, {"role": "user", "content": question}], *recalls)
        told.append(upstream.told(question))
    assert told[0] == told[1]
    assert len(set(told[0])) > 4


def test_what_a_killed_process_had_begun_is_done_once(proxies: list[Proxy], upstream: Obedient) -> None:
    talk = begun(proxies)
    question = [*talk, {"role": "user", "content": "killed"}]
    facts = [("remember", {"key": f"fact {at}", "value": f"The value is {at}"}) for at in range(12)]
    notes = [("save_to_disk", {"file_name": f"note{at}.md", "content": f"note {at}"}) for at in range(12)]
    calls = [each for pair in zip(facts, notes, strict=True) for each in pair]

    def killed() -> None:
        with pytest.raises(httpx.HTTPError):
            ask(proxies[0], question, *calls)

    victim = threading.Thread(target=killed)
    victim.start()
    eventually(lambda: any(each["name"] == "note2.md" for each in desk(proxies[1])["documents"]))
    proxies[0].process.kill()
    victim.join()
    ask(proxies[1], question, *calls)
    found = desk(proxies[1])
    edits = Counter((each["tool"], each["name"]) for each in found["edits"])
    assert set(edits.values()) == {1}
    assert {each["name"]: each["version"] for each in found["documents"]} == {f"note{at}.md": 1 for at in range(12)}
    listed = proxies[1].http.get("/admin/api/facts", params={"scope": found["scope"]}).raise_for_status().json()
    keys = [fact["key"] for fact in listed["facts"] if fact["key"].startswith("fact")]
    assert sorted(keys) == sorted(f"fact-{at}" for at in range(12))
