"""Commands as an SDK's user types them: the upstream never sees one, nor what was said before a `/clear`."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import openai
import pytest

from tests.e2e.running import Demo, Proxy, run_proxy, upstream
from tests.servers import eventually

Json = Any
pytestmark = pytest.mark.long


def settings(demo: Demo, folder: Path) -> Mapping[str, Json]:
    return {
        "upstreams": [upstream("demo", demo, ["*"])],
        "memory": {"commands": True},
        "storage": {"path": str(folder / "kept")},
    }


@pytest.fixture(scope="module")
def commanded(running_demo: Demo, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    folder = tmp_path_factory.mktemp("commands")
    with run_proxy(settings(running_demo, folder), folder) as proxy:
        yield proxy


@dataclass
class Chat:
    """A conversation by the SDK, with a key of its own. `sends_all`: the client keeps the history, and sends it."""

    proxy: Proxy
    demo: Demo
    key: str
    sends_all: bool = True
    streams: bool = False
    session: str = ""
    messages: list[Json] = field(default_factory=list)
    sessions: set[str] = field(default_factory=set)

    def say(self, content: str, *, source: str, **more: Json) -> str:
        return self.send({"role": "user", "content": content}, source=source, **more).content or ""

    def send(self, *new: Json, source: str, **more: Json) -> Any:
        """Returns the message that answers; holds that it came from `source`."""
        self.messages = [*self.messages, *new] if self.sends_all else [*new]
        headers = {"x-olvido-session": self.session} if self.session else {}
        with openai.OpenAI(base_url=self.proxy.base_url, api_key=self.key, max_retries=0) as client:
            asked = {"model": "demo-chat", "messages": self.messages, "extra_headers": headers, **more}
            if self.streams:
                with client.chat.completions.with_streaming_response.create(**asked, stream=True) as streamed:
                    told = streamed.headers
                    text = "".join(chunk.choices[0].delta.content or "" for chunk in streamed.parse())
                message = openai.types.chat.ChatCompletionMessage(role="assistant", content=text)
            else:
                raw = client.chat.completions.with_raw_response.create(**asked)
                told, message = raw.headers, raw.parse().choices[0].message
        assert told["x-olvido-source"] == source
        self.sessions.add(told["x-olvido-session"])
        self.messages.append(message.model_dump(exclude_none=True))
        return message

    def sent(self) -> list[Json]:
        """The messages of the newest request that the upstream got."""
        messages: list[Json] = msgspec.json.decode(self.demo.arrived()[-1].body)["messages"]
        return messages


def contents(messages: list[Json]) -> list[Json]:
    return [said.get("content") for said in messages if said["role"] in ("user", "system")]


@pytest.mark.parametrize("streams", [False, True])
def test_a_client_that_sends_its_history_goes_on_behind_a_clear(commanded: Proxy, demo: Demo, streams: bool) -> None:
    chat = Chat(commanded, demo, f"sk-whole-{streams}", streams=streams)
    chat.messages = [{"role": "system", "content": "Be kind."}]
    chat.say("Tell me about the zebra.", source="upstream")
    assert chat.say("/memory", source="command") == "Nothing is remembered yet."
    chat.say("And about the okapi.", source="upstream")
    assert contents(chat.sent()) == ["Be kind.", "Tell me about the zebra.", "And about the okapi."]
    chat.say("/clear", source="command")
    chat.say("Tell me about bread.", source="upstream")
    assert contents(chat.sent()) == ["Be kind.", "Tell me about bread."]
    chat.say("/memory", source="command")
    chat.say("And about butter.", source="upstream")
    assert contents(chat.sent()) == ["Be kind.", "Tell me about bread.", "And about butter."]
    assert len(chat.sessions) == 1
    assert not any(b"/clear" in each.body or b"/memory" in each.body for each in demo.arrived())


def test_a_client_that_sends_only_what_is_new_goes_on_behind_a_clear_also_in_a_later_process(
    running_demo: Demo, tmp_path: Path
) -> None:
    running_demo.clear()
    system = {"role": "system", "content": "Be kind."}
    with run_proxy(settings(running_demo, tmp_path), tmp_path) as proxy:
        chat = Chat(proxy, running_demo, "sk-delta", sends_all=False, session="trip")
        chat.send(system, {"role": "user", "content": "Tell me about the zebra."}, source="upstream")
        chat.say("/memory", source="command")
        chat.say("And about the okapi.", source="upstream")
        assert contents(chat.sent()) == ["Be kind.", "Tell me about the zebra.", "And about the okapi."]
        chat.say("/remember pet: I have a cat", source="command")
        chat.say("/clear", source="command")
    with run_proxy(settings(running_demo, tmp_path), tmp_path) as proxy:
        chat = Chat(proxy, running_demo, "sk-delta", sends_all=False, session="trip")
        assert "I have a cat" in chat.say("/memory", source="command")
        chat.say("Tell me about the zebra.", source="upstream")  # as before: it is said anew
        assert [each.rpartition("\n")[2] for each in contents(chat.sent())] == ["Be kind.", "Tell me about the zebra."]
        chat.say("And about bread, please.", source="upstream")
        chat.say("/clear", source="command")
        chat.say("/clear", source="command")
        chat.say("And about butter, please.", source="upstream")
        assert [each.rpartition("\n")[2] for each in contents(chat.sent())] == ["Be kind.", "And about butter, please."]
        chat.say("And about jam, please.", source="upstream")
        assert [each.rpartition("\n")[2] for each in contents(chat.sent())] == [
            "Be kind.",
            "And about butter, please.",
            "And about jam, please.",
        ]
        told = proxy.http.post(
            "/olvido/context",
            json={"session": "trip", "query": "more"},
            headers={"authorization": "Bearer sk-delta"},
        ).json()
        asked = [said["content"] for said in told["history_messages"] if said["role"] == "user"]
        assert asked == ["And about butter, please.", "And about jam, please."]
        assert proxy.complaints() == []
    assert not any(b"/clear" in each.body or b"/remember" in each.body for each in running_demo.arrived())


TOOLS = [{"type": "function", "function": {"name": "weather", "parameters": {"type": "object", "properties": {}}}}]


def called(name: str) -> Json:
    call = {"id": name, "type": "function", "function": {"name": "weather", "arguments": "{}"}}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def test_calls_and_their_results_stay_together_whatever_is_commanded_in_between(commanded: Proxy, demo: Demo) -> None:
    chat = Chat(commanded, demo, "sk-tools")
    chat.say("Tell me about the zebra.", source="upstream")
    chat.messages += [{"role": "user", "content": "The weather?"}, called("call_1")]
    chat.say("/memory", source="command")
    chat.send({"role": "tool", "tool_call_id": "call_1", "content": "sun"}, source="upstream", tools=TOOLS)
    assert [said["role"] for said in chat.sent()] == ["user", "assistant", "user", "assistant", "tool"]
    chat.messages += [{"role": "user", "content": "And tomorrow?"}, called("call_2")]
    chat.say("/clear", source="command")
    late = {"role": "tool", "tool_call_id": "call_2", "content": "rain"}
    assert chat.send(late, source="command").content.startswith("There is nothing to answer here")
    chat.say("Tell me about bread.", source="upstream", tools=TOOLS)
    assert contents(chat.sent()) == ["Tell me about bread."]


def test_of_a_tool_loop_behind_a_clear_only_the_results_are_sent(commanded: Proxy, demo: Demo) -> None:
    chat = Chat(commanded, demo, "sk-loop", sends_all=False, session="loop")
    chat.say("Tell me about the zebra.", source="upstream")
    chat.say("/clear", source="command")
    question = {"role": "user", "content": "Have a look."}
    asked = chat.send(question, source="upstream", tools=TOOLS, tool_choice="required")
    (call,) = asked.tool_calls
    chat.say("/memory", source="command")
    chat.send({"role": "tool", "tool_call_id": call.id, "content": "It rains."}, source="upstream", tools=TOOLS)
    assert [said["role"] for said in chat.sent()] == ["user", "assistant", "tool"]
    chat.say("And what follows from it?", source="upstream", tools=TOOLS)
    assert contents(chat.sent()) == ["Have a look.", "And what follows from it?"]
    assert [said["role"] for said in chat.sent()] == ["user", "assistant", "tool", "assistant", "user"]


@pytest.mark.note("Rumi Sesión/4")
def test_the_end_of_a_session_has_a_route_and_a_header(commanded: Proxy, demo: Demo) -> None:
    chat = Chat(commanded, demo, "sk-test", sends_all=False, session="ends")
    chat.say("Hello there.", source="upstream")
    ended = commanded.http.post("/olvido/sessions/ends/end")
    assert (ended.status_code, ended.json()) == (200, {"session": "ends", "ended": True})
    assert commanded.http.post("/olvido/sessions/ends/end").json()["ended"] is False
    chat.say("Hello again.", source="upstream")
    assert commanded.http.post("/olvido/sessions/ends/end", json={"user": None}).json()["ended"] is True
    unknown = commanded.http.post("/olvido/sessions/nobodys/end")
    assert (unknown.status_code, unknown.json()["error"]["code"]) == (404, "session_not_found")
    other = commanded.http.post("/olvido/sessions/ends/end", headers={"authorization": "Bearer sk-other"})
    assert other.status_code == 404


def test_metrics_and_ledger_count_a_command_alike(commanded: Proxy, demo: Demo) -> None:
    chat = Chat(commanded, demo, "sk-counted")
    chat.say("Hello there.", source="upstream")
    before = commanded.metric("olvido_requests_total", source="command")
    chat.say("/memory", source="command")
    assert commanded.metric("olvido_requests_total", source="command") == before + 1
    eventually(
        lambda: len(commanded.rows(source="command")) == commanded.metric("olvido_requests_total", source="command")
    )
    for row in commanded.rows(source="command"):
        assert (row["cost"], row["cost_saved"], row["tokens_original"], row["tokens_sent"]) == (0, 0, 0, 0)
