"""Conversations for many processes: those of the golden outputs and some about lists, each held by so many people as
are wanted; an upstream that answers as they are written; and what must hold of each prompt that it receives.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from itertools import cycle, islice
from typing import Any

import httpx
import msgspec

from proxy.protocol.dialects import DIALECTS, violations
from proxy.protocol.message import message
from tests.builders import config
from tests.golden.conversations import CONVERSATIONS, Conversation, Step
from tests.golden.play import PRICE, PROXIES, Upstream
from tests.servers import proxy_app

Said = Mapping[str, Any]

MODEL_PREFIX = "talk-"
AT_ONCE = 4  # requests
OURS = re.compile(r"(?:<(memory|recalled)>\n.*?\n</\1>\n{1,2})+", re.DOTALL)
SECONDS = 60.0  # that what follows an answer may take, on a busy machine, too
SECTIONS: Mapping[str, Any] = {
    "profiles": {
        "small": PROXIES["small"]["profiles"]["golden"],
        "strict": PROXIES["strict"]["profiles"]["golden"],
    },
    "context": {"profile": "small", "profile_with_tools": "strict"},
    "embedding": {"enabled": False},
    "reuse": {"intent": {"enabled": False}},
}


def _asks(*said: tuple[str, str] | str) -> tuple[Step, ...]:
    """Questions, some with their answers."""
    return tuple(
        Step(({"role": "user", "content": each},))
        if isinstance(each, str)
        else Step(({"role": "user", "content": each[0]},), reply={"role": "assistant", "content": each[1]})
        for each in said
    )


REFERENCES = (
    Conversation(
        "places",
        _asks(
            (
                "Where could I go in spring?",
                "1. Porto, for the river\n2. Ghent, for the altar\n3. Turku, for the castle",
            ),
            "How long is the way by train?",
            "What does breakfast cost?",
            "Which shoes do I need?",
            "Is there a market on Sunday?",
            "Tell me more about the second one.",
        ),
    ),
    Conversation(
        "lugares",
        _asks(
            (
                "¿Adónde puedo ir en otoño?",
                "- Cafayate, por el vino\n- Tilcara, por los cerros\n- Iruya, por el camino",
            ),
            "¿Cuánto dura el viaje en micro?",
            "¿Cuánto sale el desayuno?",
            "¿Qué zapatos llevo?",
            "¿Hay feria los domingos?",
            "Dame más info del tercero.",
        ),
        lang="es",
    ),
)


@dataclass(eq=False)
class Lane:
    """The conversations of one person, one after the other."""

    number: int
    talks: Sequence[Conversation]
    at: int = 0  # which of them
    step: int = 0
    history: list[Said] = field(default_factory=list)
    sent: Said = field(default_factory=dict)
    arrived: list[bytes] = field(default_factory=list)  # what the upstream got, in the order of the requests

    @property
    def key(self) -> str:
        return f"sk-lane-{self.number}"

    @property
    def model(self) -> str:
        return f"{MODEL_PREFIX}{self.number}"

    @property
    def talk(self) -> Conversation:
        return self.talks[self.at]

    @property
    def is_over(self) -> bool:
        return self.at >= len(self.talks)

    def ask(self) -> tuple[Said, Mapping[str, str]]:
        """The body and the headers of the next request."""
        talk, step = self.talk, self.talk.steps[self.step]
        if not self.step:
            self.history = [{"role": "system", "content": talk.system}] if talk.system else []
        del self.history[len(self.history) - step.back :]
        self.history += step.said
        self.sent = self.history[-1]
        messages = step.said if talk.delta and self.step else self.history
        headers = {"authorization": f"Bearer {self.key}", **talk.headers}
        return {"model": self.model, "messages": list(messages), **talk.fields}, headers

    def reply(self) -> Said:
        """What the upstream says to it."""
        return self.talk.answer(self.step)

    def answered(self) -> None:
        """Goes on to the next request."""
        self.history.append(self.reply())
        self.step += 1
        if self.step == len(self.talk.steps):
            self.at, self.step = self.at + 1, 0

    def wrong(self, arrived: bytes) -> list[str]:
        """What does not hold of a prompt: of the request under way."""
        body = msgspec.json.decode(arrived)
        prompt = body["messages"]
        found = [str(each) for each in violations([message(said) for said in prompt], DIALECTS["openai"], 0)]
        if self.sent["role"] == "user" and not str(prompt[-1]["content"]).endswith(str(self.sent["content"])):
            found.append("the newest message does not stand at the end")
        if self.sent["role"] != "user" and prompt[-1] != self.sent:
            found.append("the newest message is not the client's")
        own = {msgspec.json.encode(said) for said in self.history}
        # Beside the client's own: user messages that carry what is remembered, shortened answers, and what stands for
        # old results.
        other = [said for said in prompt if msgspec.json.encode(said) not in own and said["role"] == "user"]
        if any(msgspec.json.encode({**said, "content": _own(said["content"])}) not in own for said in other):
            found.append("user messages that nobody sent")
        if self.talk.system and prompt[0] != self.history[0]:
            found.append("the instructions are not the client's")
        return found


def _own(content: Any) -> Any:
    """The content of a user message without the blocks of ours in front of it."""
    if isinstance(content, str):
        return OURS.sub("", content, count=1)
    (first, *others) = content
    return [{**first, "text": OURS.sub("", first["text"], count=1)}, *others] if first["type"] == "text" else content


def lanes(conversations: int) -> list[Lane]:
    """So many conversations, those of one person in a lane; each lane's own key, model and length of answers."""
    of_persons: dict[str, list[Conversation]] = {}
    for talk in (*CONVERSATIONS, *REFERENCES):
        of_persons.setdefault(talk.person or talk.name, []).append(talk)
    found: list[Lane] = []
    for talks in islice(cycle(of_persons.values()), conversations):
        number = len(found)
        varied = [replace(talk, sentences=talk.sentences + number % 7) for talk in talks]
        found.append(Lane(number, varied[: max(0, conversations - sum(len(lane.talks) for lane in found))]))
        if sum(len(lane.talks) for lane in found) >= conversations:
            break
    return found


def settings(upstream: str, **sections: Any) -> dict[str, Any]:
    entry = {"name": "talks", "base_url": f"{upstream}/v1", "dialect": "openai", "price": PRICE, "retries": 0}
    return {"upstreams": [entry], **SECTIONS, **sections}


@dataclass(frozen=True, slots=True)
class Here:
    """A proxy in this process, and a client of it."""

    app: Any
    http: httpx.AsyncClient

    async def settle(self) -> None:
        """Returns when all that follows its answers has been done."""
        services = self.app.state.services
        assert await services.tasks.drain(SECONDS) == 0
        await services.storage.flush()


@asynccontextmanager
async def running(*configured: Mapping[str, Any]) -> AsyncIterator[list[Here]]:
    """Proxies in this process, one of each configuration."""
    async with AsyncExitStack() as stack:
        found = []
        for sections in configured:
            app = proxy_app(config(**sections))
            await stack.enter_async_context(app.router.lifespan_context(app))
            client = httpx.AsyncClient(
                transport=httpx.ASGITransport(app), base_url="http://127.0.0.1:8484", timeout=SECONDS
            )
            found.append(Here(app, await stack.enter_async_context(client)))
        yield found


async def in_rounds(
    talking: Sequence[Lane], upstream: Upstream, proxies: Sequence[Here], choose: Callable[[], int]
) -> None:
    """Holds the conversations: in each round each lane has its next request, at a proxy that is chosen for it; between
    two rounds all that follows is done. `Lane.arrived` has the prompts."""
    limit = asyncio.Semaphore(AT_ONCE)

    async def one(lane: Lane, proxy: Here) -> None:
        async with limit:
            body, headers = lane.ask()
            upstream.replies[lane.key] = lane.reply()
            answer = await proxy.http.post("/v1/chat/completions", json=body, headers=headers)
            assert answer.status_code == 200, answer.text

    while going_on := [lane for lane in talking if not lane.is_over]:
        await asyncio.gather(*(one(lane, proxies[choose()]) for lane in going_on))
        for proxy in proxies:
            await proxy.settle()
        got = {msgspec.json.decode(raw)["model"]: raw for raw in upstream.arrived}
        assert len(got) == len(upstream.arrived)
        upstream.arrived.clear()
        for lane in going_on:
            lane.arrived.append(got[lane.model])
            assert (found := lane.wrong(lane.arrived[-1])) == [], f"{lane.talk.name}: {found}"
            lane.answered()
