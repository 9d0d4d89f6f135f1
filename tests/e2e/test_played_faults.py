"""Faults in every round of an answer whose tools the proxy runs: the client gets an answer, what it asks again is
answered as if nothing had been, and no order of the model's is carried out twice."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import openai
import pytest

from proxy.tasks import Tasks
from proxy.types import Fact
from proxy.types.desk import Document, Edit
from tests.covering import swept
from tests.looping import run_upstream, settings
from tests.playing import FAULT, LOOK, NOTES, PATTERNS, Player
from tests.servers import Inside, eventually, proxy_app, run_proxy

pytestmark = pytest.mark.long

Json = Any
FIRST = {"enabled": True, "offer": "first"}
PATTERN = {name: PATTERNS[name] for name in (NOTES, "text between", "both behind ours")}
PATIENCE = 1.0  # seconds; what a busy machine takes for an answer is less
MIDWAY = ("hang", "cut", "reset", "garbage", "error event")  # faults with a part of the round, of a stream
SILENCES = ("silent", "hang")
FAULTS = ("500", "503", "silent", *MIDWAY)


@dataclass(frozen=True, slots=True)
class World:
    """The upstream, and a proxy before it into whose storage a test may look."""

    player: Player
    url: str
    inside: Inside
    app: Any

    def scope(self, key: str) -> str:
        headers = (("authorization", f"Bearer {key}"),)
        return f"{self.app.state.services.authenticator.tenant(headers)}/"

    def facts(self, key: str) -> list[Fact]:
        storage = self.app.state.services.storage
        found: list[Fact] = list(self.inside.do(lambda: storage.facts.all(self.scope(key))))
        return found

    def documents(self, key: str) -> list[Document]:
        found: list[Document] = self.inside.do(lambda: self.app.state.services.storage.desks.documents(self.scope(key)))
        return found

    def edits(self, key: str) -> list[Edit]:
        desks, scope = self.app.state.services.storage.desks, self.scope(key)

        async def read() -> list[Edit]:
            events = [
                event for card in await desks.sessions(scope) for event in await desks.events(scope, card.session)
            ]
            return [event.payload for event in events if isinstance(event.payload, Edit)]

        made: list[Edit] = self.inside.do(read)
        return made


@contextmanager
def running(timeout: float) -> Iterator[World]:
    with run_upstream(Player()) as player:
        patience = {"first_byte": timeout, "answer": timeout, "idle": timeout}
        given = settings(player.url, tools=FIRST, timeout=patience)
        app = proxy_app(given)
        inside = Inside(app)
        with run_proxy(given, inside) as url:
            yield World(player, f"{url}/v1", inside, app)


@pytest.fixture(scope="module")
def impatient() -> Iterator[World]:
    with running(PATIENCE) as made:
        yield made


@pytest.fixture(scope="module")
def patient() -> Iterator[World]:
    with running(30) as made:
        yield made


def said_by(client: openai.OpenAI, asked: Json, *, streamed: bool) -> Json:
    """The message of an answer."""
    if not streamed:
        return client.chat.completions.create(**asked).choices[0].to_dict()["message"]
    with client.chat.completions.stream(**asked) as stream:
        return stream.get_final_completion().choices[0].to_dict()["message"]


def to_go_on(said: Json) -> list[Json]:
    """An answer, and what the client's own tools say to its calls, as they are sent back."""
    message = {name: said[name] for name in ("role", "content", "tool_calls") if said.get(name)}
    calls = said.get("tool_calls") or ()
    return [message, *({"role": "tool", "tool_call_id": call["id"], "content": "seen"} for call in calls)]


def conversation(client: openai.OpenAI, name: str, *, streamed: bool, fault: str = "") -> tuple[list[str], int]:
    """The texts of the answers, and how often the client had to ask again."""
    messages: Json = [{"role": "user", "content": "What now?"}]
    asked = {"model": name, "messages": messages, "tools": [LOOK], "extra_headers": {FAULT: fault} if fault else {}}
    texts, again = [], 0
    for question in ("And then?", ""):
        while True:
            try:
                said = said_by(client, asked, streamed=streamed)
            except (openai.APIError, httpx.HTTPError, ValueError):  # ValueError: an SDK that cannot read JSON
                again += 1
                assert again < 3
                continue
            messages += to_go_on(said)
            if not said.get("tool_calls"):
                break
        texts.append(said["content"])
        messages.append({"role": "user", "content": question})
    return texts, again


def nothing_was_done_twice(world: World, key: str, *, least: int) -> None:
    """Asserts that each order of the model's had its effect once. `least`: facts that there are, at least."""
    facts = world.facts(key)
    assert len({fact.key for fact in facts}) == len(facts) >= least
    assert all(document.version == 1 for document in world.documents(key))
    edits = world.edits(key)
    assert len({(edit.tool, edit.name) for edit in edits}) == len(edits)


@pytest.mark.parametrize(("name", "fault", "at", "streamed"), swept([*PATTERN], FAULTS, [0, 1, 2], [False, True]))
def test_a_fault_of_the_upstream_costs_no_answer(
    request: pytest.FixtureRequest, name: str, fault: str, at: int, streamed: bool
) -> None:
    world: World = request.getfixturevalue("impatient" if fault in SILENCES else "patient")
    key = f"sk-{name}-{fault}-{at}-{streamed}".replace(" ", "-")
    with openai.OpenAI(base_url=world.url, api_key=key, max_retries=0) as client:
        texts, again = conversation(client, name, streamed=streamed, fault=f"{fault}@{at}")
    assert again <= 1
    assert texts[0].endswith("It is noon.")
    assert texts[1] == "That is all."
    spoken = PATTERN[name].rounds[: at + (fault in MIDWAY)]
    again_whole = again and fault not in SILENCES  # half a second is short: a busy machine is silent once more, too
    was_said = streamed and not again_whole and any(each.text for each in spoken)
    if not was_said:  # else the answer to its own request follows that
        assert texts[0] == PATTERN[name].bare[-1].text
    nothing_was_done_twice(world, key, least=1 + (at > 0))


@pytest.mark.parametrize(("name", "fault", "at", "streamed"), swept([*PATTERN], SILENCES, [0, 1, 2], [False, True]))
async def test_a_client_that_hangs_up_in_any_round_may_ask_again(
    patient: World, name: str, fault: str, at: int, streamed: bool
) -> None:
    key = f"sk-{name}-left-{fault}-{at}-{streamed}".replace(" ", "-")
    messages: Json = [{"role": "user", "content": "What now?"}]
    hanging, left = patient.player.hanging, patient.player.left

    async def asks() -> None:
        """Asks, and goes on with its own tools, until it is held."""
        async with openai.AsyncOpenAI(base_url=patient.url, api_key=key, max_retries=0) as client:
            while True:
                given: Json = {"model": name, "messages": messages, "tools": [LOOK]}
                given["extra_headers"] = {FAULT: f"{fault}@{at}"}
                if streamed:
                    async with client.chat.completions.stream(**given) as stream:
                        said = (await stream.get_final_completion()).choices[0].to_dict()["message"]
                else:
                    said = (await client.chat.completions.create(**given)).choices[0].to_dict()["message"]
                messages.extend(to_go_on(said))

    asking = Tasks().spawn(asks(), name="asking")
    await asyncio.to_thread(eventually, lambda: patient.player.hanging == hanging + 1)
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    await asyncio.to_thread(eventually, lambda: patient.player.left == left + 1)

    def again() -> tuple[list[str], int]:
        with openai.OpenAI(base_url=patient.url, api_key=key, max_retries=0) as client:
            return conversation(client, name, streamed=streamed)

    assert await asyncio.to_thread(again) == ([PATTERN[name].bare[-1].text, "That is all."], 0)
    nothing_was_done_twice(patient, key, least=3)
