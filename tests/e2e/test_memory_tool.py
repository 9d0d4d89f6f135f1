"""Anthropic's SDK and a model that keeps its memory by the provider's own tool, through the whole proxy: the client
sees one message that knows nothing of it; what was hidden goes back as the model gave it, signatures included; and the
files are the person's."""

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import anthropic
import msgspec
import pytest

from proxy.pipeline import Services
from tests.builders import config
from tests.minding import Minder, Round, remembers, run_minder, text, thought, use
from tests.proxied import total
from tests.servers import eventually, proxy_app, run_proxy

Json = Any
LOOK: Json = {"name": "look", "description": "Looks", "input_schema": {"type": "object"}}
MEMORY: Json = {"type": "memory_20250818", "name": "memory"}
STREAMED = pytest.mark.parametrize("streamed", [True, False], ids=["streamed", "whole"])


@pytest.fixture
def minder() -> Iterator[Minder]:
    with run_minder() as upstream:
        yield upstream
    assert upstream.refused == []


class Proxied:
    def __init__(self, url: str, services: Services, *, key: str = "sk-ana") -> None:
        self.client = anthropic.Anthropic(base_url=url, api_key=key, max_retries=0)
        self.url = url
        self.services = services
        self.talk: list[Json] = []
        self._others: list[Proxied] = []

    def other(self, key: str) -> "Proxied":
        self._others.append(Proxied(self.url, self.services, key=key))
        return self._others[-1]

    def close(self) -> None:
        for each in (self, *self._others):
            each.client.close()

    def ask(self, said: Json, *, streamed: bool = False, tools: tuple[Json, ...] = (LOOK,), **more: Json) -> Json:
        """Asks, and goes on from there as a client does; returns the message."""
        self.talk.append({"role": "user", "content": said})
        asked: Json = {"model": "claude-x", "max_tokens": 500, "messages": self.talk, "tools": list(tools), **more}
        if streamed:
            with self.client.messages.stream(**asked) as stream:
                answer = stream.get_final_message().to_dict()
        else:
            answer = self.client.messages.create(**asked).to_dict()
        assert answer["stop_reason"] is not None
        self.talk.append({"role": "assistant", "content": answer["content"]})
        return answer


@contextmanager
def proxied(minder: Minder, *, dialect: str = "anthropic", apis: tuple[str, ...] = ("messages",)) -> Iterator[Proxied]:
    given = config(
        upstreams=[
            {"name": "up", "base_url": f"{minder.url}/v1", "dialect": dialect, "apis": list(apis), "retries": 0}
        ],
        storage={"kind": "memory"},
        server={"port": 0, "drain": 5},
        embedding={"enabled": False},
        memory={"tools": {"enabled": True, "offer": "first"}},
    )
    app = proxy_app(given)
    with run_proxy(given, app) as url, closing(Proxied(url, app.state.services)) as made:
        yield made


def kinds(answer: Json) -> list[str]:
    return [block["type"] for block in answer["content"]]


@STREAMED
def test_the_model_keeps_a_file_and_the_client_sees_one_message(minder: Minder, *, streamed: bool) -> None:
    minder.will([text("Hello.")])
    with proxied(minder) as proxy:
        proxy.ask("Hi.")
        minder.will(
            [
                thought("I note it."),
                text("One moment."),
                remembers("m1", "create", path="/memories/a.md", file_text="x"),
            ],
            [thought("Now I answer."), text("Done.")],
        )
        answer = proxy.ask("Note it.", streamed=streamed)
        assert kinds(answer) == ["thinking", "text", "thinking", "text"]
        assert (answer["stop_reason"], answer["id"]) == ("end_turn", "msg_01")
        assert answer["usage"]["input_tokens"] == 20
        assert (answer["usage"]["cache_read_input_tokens"], answer["usage"]["output_tokens"]) == (200, 40)
        assert "memory" not in json.dumps(answer)
        (result,) = minder.asked[-1]["messages"][-1]["content"]
        assert result["content"] == "File created successfully at: /memories/a.md"
        assert total(proxy.services, "olvido_memory_tool_calls_total") == 1
    assert minder.asked[-1]["tools"] == [LOOK, MEMORY]


@STREAMED
def test_what_was_hidden_goes_back_as_the_model_gave_it(minder: Minder, *, streamed: bool) -> None:
    minder.will([text("Hello.")])
    with proxied(minder) as proxy:
        proxy.ask("Hi.")
        first = [thought("I look first."), remembers("m1", "view", path="/memories")]
        minder.will(first, [thought("Now I answer."), text("Nothing yet.")])
        proxy.ask("What do you know?", streamed=streamed)
        before = minder.asked[-1]["messages"]
        minder.will([text("Bye.")])
        proxy.ask("Thanks.", streamed=streamed)
    sent = minder.asked[-1]["messages"]
    assert sent[: len(before)] == before
    assert [each["role"] for each in sent] == ["user", "assistant"] * 3 + ["user"]
    assert sent[3]["content"] == first
    assert [block["type"] for block in sent[5]["content"]] == ["thinking", "text"]
    bodies = [msgspec.json.decode(raw, type=dict[str, msgspec.Raw]) for raw in minder.raw[-2:]]
    earlier, later = (bytes(each["messages"]) for each in bodies)
    assert later.startswith(earlier.removesuffix(b"]"))


@STREAMED
def test_of_both_in_one_turn_the_client_has_its_own(minder: Minder, *, streamed: bool) -> None:
    minder.will([text("Hello.")])
    with proxied(minder) as proxy:
        proxy.ask("Hi.")
        both = [thought("Two things."), remembers("m1", "view", path="/memories"), use("c1", "look", at="x")]
        minder.will(both)
        answer = proxy.ask("Look and note.", streamed=streamed)
        assert kinds(answer) == ["thinking", "tool_use"]
        assert (answer["content"][1]["id"], answer["stop_reason"]) == ("c1", "tool_use")
        minder.will([text("Done.")])
        proxy.ask([{"type": "tool_result", "tool_use_id": "c1", "content": "a cat"}], streamed=streamed)
    sent = minder.asked[-1]["messages"]
    assert sent[-2]["content"] == both
    assert [block["tool_use_id"] for block in sent[-1]["content"]] == ["m1", "c1"]


def test_files_are_the_persons_in_every_session_and_nobody_elses(minder: Minder) -> None:
    minder.will([text("Hello.")])
    with proxied(minder) as proxy:
        proxy.ask("Hi.")
        minder.will(
            [remembers("m1", "create", path="/memories/plan.md", file_text="Sail at noon.\n")], [text("Noted.")]
        )
        proxy.ask("Plan it.")
        for key, is_there in (("sk-ana", True), ("sk-luis", False)):
            other = proxy.other(key)
            minder.will([text("Hello.")])
            other.ask(f"Good morning, I am new here with {key}.")
            minder.will([remembers("m1", "view", path="/memories/plan.md")], [text("So it is.")])
            other.ask("What is the plan?")
            (result,) = minder.asked[-1]["messages"][-1]["content"]
            assert ("Sail at noon." in result["content"]) is is_there
            assert ("does not exist" in result["content"]) is not is_there


@pytest.mark.parametrize("fault", ["error", "event", "cut"])
@STREAMED
def test_whatever_fails_in_a_round_the_client_gets_an_answer(minder: Minder, fault: str, *, streamed: bool) -> None:
    minder.will([text("Hello.")])
    with proxied(minder) as proxy:
        proxy.ask("Hi.")
        calls = [remembers("m1", "view", path="/memories")]
        minder.will(calls, Round([text("I say")], fault if streamed else "error"), [text("All the same.")])
        answer = proxy.ask("Go on.", streamed=streamed)
    assert "All the same." in [block.get("text") for block in answer["content"]]
    assert "memory" not in json.dumps(answer["content"])
    assert "memory" not in json.dumps(minder.asked[-1].get("tools"))


def test_a_message_that_comes_whole_to_a_stream_is_told_as_one(minder: Minder) -> None:
    minder.will([text("Hello.")])
    with proxied(minder) as proxy:
        proxy.ask("Hi.")
        minder.will([remembers("m1", "view", path="/memories")], Round([text("Done.")], as_stream=False))
        answer = proxy.ask("Go on.", streamed=True)
    assert [block["text"] for block in answer["content"]] == ["Done."]


def test_a_provider_without_the_tool_gets_ours(minder: Minder) -> None:
    minder.will([text("Hello.")])
    with proxied(minder, dialect="kimi") as proxy:
        proxy.ask("Hi.")
        minder.will([use("m1", "remember", key="boat", value="The boat is called Elsa.")], [text("Noted.")])
        answer = proxy.ask("My boat is called Elsa.", streamed=True)
        assert [block["text"] for block in answer["content"]] == ["Noted."]
        assert minder.asked[-1]["messages"][-1]["content"][0]["content"] == "Remembered: boat."
    offered = {tool["name"]: tool for tool in minder.asked[-1]["tools"]}
    assert {"look", "remember", "edit_section"} <= offered.keys()
    assert offered["remember"]["input_schema"]["required"] == ["key", "value"]


def test_a_client_with_a_memory_of_its_own_keeps_it(minder: Minder) -> None:
    minder.will([remembers("m1", "view", path="/memories")])
    with proxied(minder) as proxy:
        answer = proxy.ask("Hi.", tools=(MEMORY,))
    assert kinds(answer) == ["tool_use"]
    assert minder.asked[-1]["tools"] == [MEMORY]


def test_a_model_that_goes_on_and_on_is_stopped(minder: Minder) -> None:
    minder.will([text("Hello.")])
    with proxied(minder) as proxy:
        proxy.ask("Hi.")
        minder.will([text("Hm."), remembers("m1", "view", path="/memories")])
        answer = proxy.ask("Go on.")
        rounds = proxy.services.config.memory.tools.rounds
    assert kinds(answer) == ["text"] * (rounds + 1)
    assert answer["stop_reason"] == "end_turn"
    last = minder.asked[-1]["messages"][-1]["content"][-1]
    assert "No more memory calls" in last["content"]


@pytest.mark.parametrize("hidden", [[], [[remembers("m1", "view", path="/memories")]]], ids=["first", "later"])
def test_text_of_any_round_is_with_the_client_before_the_upstream_goes_on(minder: Minder, hidden: list[Json]) -> None:
    minder.will([text("Hello.")])
    with proxied(minder) as proxy:
        proxy.ask("Hi.")
        minder.will(*hidden, Round([text("I say")], "hang", 4))
        asked: Json = {"model": "claude-x", "max_tokens": 500, "messages": [{"role": "user", "content": "Go on."}]}
        with proxy.client.messages.create(**asked, stream=True) as stream:
            told: Json = next(event for event in stream if event.type == "content_block_delta")
            assert told.delta.text == "I "
            assert minder.hanging == 1
        eventually(lambda: minder.left == 1)
