"""Conversations of two people under any course of turns, edits, branches, regenerations and restarts, the whole way to
an upstream over real sockets, with everything on that decides what is sent."""

import asyncio
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from proxy.pipeline import Services
from proxy.protocol.dialects import DIALECTS, violations
from proxy.services import build
from tests.builders import Said, assistant, body, encoding, messages, system, user
from tests.proxied import AT_ONCE, Upstream, ask, in_front_of, run_upstream

PEOPLE = ("ana", "ben")
SMALL = {
    "base": "lean",
    "budget": 900,
    "window": {"tokens": 250, "answer_tokens": 60},
    "summaries": {"slots": 2, "tokens": 40},
    "facts": {"tokens": 100},
}
TOPICS = ("the garden wall", "my sister's wedding", "a leaking tap", "el viaje a Salta", "pandas and numpy")
SAYINGS = (
    "Tell me more about {topic}, please: what should I think of first, and what can wait until later?",
    "Remember that I'm working on {topic} with {mark}.",
    "By the way, what did we say about {topic}?",
    "Contame algo más de {topic}, por favor.",
    "Forget what I said about {topic}.",
)
INSTRUCTIONS = "You are a patient helper who answers in one sentence."


class Sessions(RuleBasedStateMachine):
    upstream: Upstream

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.folder = Path(tempfile.mkdtemp())
        self.told: list[tuple[str, tuple[Said, ...]]] = []  # whose histories, each ended by an answer
        self.sessions: dict[tuple[str, bytes], str] = {}
        self.asked = 0

    @initialize()
    def begin(self) -> None:
        self.open()

    def open(self) -> None:
        sections: dict[str, Any] = {
            "profiles": {"small": SMALL},
            "context": {"profile": "small", "profile_with_tools": "small"},
            "storage": {"kind": "sqlite", "path": str(self.folder)},
            "tenancy": "personal",
        }
        made = in_front_of(self.upstream, **sections)
        self.services: Services = self.runner.run(build(made, encoding=encoding, writing=AT_ONCE))
        self.upstream.bodies()

    def send(self, person: str, history: Sequence[Said], *, goes_on: bool) -> None:
        raw = body(system(INSTRUCTIONS), *history, model="demo-chat")
        got = self.runner.run(ask(self.services, raw, key=f"sk-{person}"))
        self.asked += 1
        assert got.status == 200
        (sent,) = self.upstream.bodies()
        self.check(person, history, msgspec.json.decode(sent)["messages"])
        key = (person, msgspec.json.encode(history[:-1]))
        if goes_on and key in self.sessions:
            assert got.headers["x-olvido-session"] == self.sessions[key]
        answer = assistant(msgspec.json.decode(got.body)["choices"][0]["message"]["content"])
        after = (*history, answer)
        self.sessions.setdefault((person, msgspec.json.encode(after)), got.headers["x-olvido-session"])
        self.told.append((person, after))

    def check(self, person: str, history: Sequence[Said], sent: Sequence[Said]) -> None:
        assert sent[0] == system(INSTRUCTIONS)
        assert sent[-1]["role"] == "user"
        assert sent[-1]["content"].endswith(history[-1]["content"])
        assert not violations(messages(*sent), DIALECTS["openai"], 0)
        (other,) = {*PEOPLE} - {person}
        assert self.mark(other) not in msgspec.json.encode(sent).decode()

    @staticmethod
    def mark(person: str) -> str:
        return f"Zy{person}x"

    def saying(self, person: str, saying: str, topic: str) -> Said:
        return user(saying.format(topic=topic, mark=self.mark(person)))

    @rule(person=st.sampled_from(PEOPLE), saying=st.sampled_from(SAYINGS), topic=st.sampled_from(TOPICS))
    def start(self, person: str, saying: str, topic: str) -> None:
        self.send(person, [self.saying(person, saying, topic)], goes_on=False)

    @precondition(lambda self: self.told)
    @rule(data=st.data(), saying=st.sampled_from(SAYINGS), topic=st.sampled_from(TOPICS))
    def go_on(self, data: st.DataObject, saying: str, topic: str) -> None:
        """Behind any history there has been: the newest, or one that others have gone on from: a branch."""
        person, history = data.draw(st.sampled_from(self.told))
        is_tip = all(len(each) <= len(history) or each[: len(history)] != history for _, each in self.told)
        self.send(person, [*history, self.saying(person, saying, topic)], goes_on=is_tip)

    @precondition(lambda self: self.told)
    @rule(saying=st.sampled_from(SAYINGS), topic=st.sampled_from(TOPICS), turns=st.integers(1, 6))
    def go_on_for_long(self, saying: str, topic: str, turns: int) -> None:
        for _ in range(turns):
            person, history = self.told[-1]
            self.send(person, [*history, self.saying(person, saying, topic)], goes_on=False)

    @precondition(lambda self: self.told)
    @rule(data=st.data())
    def regenerate(self, data: st.DataObject) -> None:
        person, history = data.draw(st.sampled_from(self.told))
        self.send(person, history[:-1], goes_on=False)

    @precondition(lambda self: self.told)
    @rule(data=st.data(), topic=st.sampled_from(TOPICS))
    def edit(self, data: st.DataObject, topic: str) -> None:
        """Any earlier message of the user's is another one; what came after it is gone."""
        person, history = data.draw(st.sampled_from(self.told))
        at = data.draw(st.sampled_from(range(0, len(history), 2)))
        self.send(person, [*history[:at], self.saying(person, SAYINGS[0], topic)], goes_on=False)

    @rule()
    def restart(self) -> None:
        self.runner.run(self.services.close())
        self.open()

    @rule()
    def count(self) -> None:
        """Every request has its row."""

        async def rows() -> int:
            await self.services.storage.flush()
            return len(await self.services.storage.accounts.rows(limit=1_000))

        assert self.runner.run(rows()) == self.asked

    def teardown(self) -> None:
        self.count()
        self.runner.run(self.services.close())
        self.runner.close()
        shutil.rmtree(self.folder)


@pytest.mark.long
def test_whatever_happens_to_a_conversation_it_is_sent_whole_and_stays_its_owners() -> None:
    with run_upstream() as upstream:

        class BeforeThis(Sessions): ...

        BeforeThis.upstream = upstream
        run_state_machine_as_test(BeforeThis, settings=settings(max_examples=15, stateful_step_count=15, deadline=None))
