"""Long conversations through both servers, as users run them: the prompt that arrives is within its budget, holds what
is asked for, and survives a kill; a client needs to send no more than what is new."""

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import msgspec
import openai
import pytest

from tests.builders import counter
from tests.e2e.running import CHAT, FOLDS_PAY, Demo, Proxy, chat, run_proxy, upstream
from tests.servers import eventually

Json = Any
Said = Mapping[str, Any]

BUDGET = 900
SYSTEM = "Sos un asistente atento. Hoy es 3 de mayo.\n\t«Respondé» en una línea."
TOLD = "Let me describe the old lighthouse: its keeper was Melquiades, who painted the door green in 1931."
ASKED = "Do you remember what I said about the keeper of the old lighthouse?"
STATED = "From now on, call me Captain Ana."


def config(demo: Demo, *, pressure: float = 0.75, **entry: Json) -> dict[str, Json]:
    small = {
        "base": "lean",
        "budget": BUDGET,
        "pressure": pressure,
        "window": {"tokens": 300, "answer_tokens": 60},
        "summaries": {"slots": 2, "tokens": 40},
        "facts": {"tokens": 100},
    }
    return {
        "upstreams": [upstream("demo", demo, ["*"], **{"price": FOLDS_PAY, **entry})],
        "profiles": {"small": small},
        "context": {"profile": "small", "profile_with_tools": "small"},
        "reuse": {"exact": {"enabled": False}, "intent": {"enabled": False}},
    }


@pytest.fixture(scope="module")
def managing(running_demo: Demo, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    with run_proxy(config(running_demo), tmp_path_factory.mktemp("context")) as proxy:
        yield proxy
        assert proxy.complaints() == []


@dataclass(frozen=True, slots=True)
class Prompt:
    body: bytes
    headers: Mapping[str, str]  # of the answer

    @property
    def messages(self) -> list[Said]:
        found: list[Said] = msgspec.json.decode(self.body)["messages"]
        return found

    @property
    def text(self) -> str:
        return "\n".join(str(said.get("content")) for said in self.messages)

    @property
    def tokens(self) -> int:
        return sum(counter().text(str(said.get("content"))) for said in self.messages)

    @property
    def plan(self) -> str:
        return self.headers["x-olvido-plan"]


@dataclass(slots=True)
class Talk:
    """A user of the OpenAI SDK who sends the whole history every time; or what is new alone."""

    proxy: Proxy
    demo: Demo
    key: str
    stream: bool = False
    headers: Mapping[str, str] = field(default_factory=dict)
    messages: list[Any] = field(default_factory=list)
    delta: bool = False

    def say(self, text: str) -> Prompt:
        said = {"role": "user", "content": text}
        self.messages = [said] if self.delta else [*self.messages, said]
        self.demo.clear()
        asked: dict[str, Any] = {"model": "demo-chat", "messages": self.messages, "extra_headers": self.headers}
        with openai.OpenAI(base_url=self.proxy.base_url, api_key=self.key, max_retries=0) as client:
            create = client.chat.completions.with_raw_response.create
            if self.stream:
                streamed = create(**asked, stream=True)
                with streamed.parse() as chunks:
                    pieces = [choice.delta.content or "" for chunk in chunks for choice in chunk.choices]
                headers, answer = streamed.headers, {"role": "assistant", "content": "".join(pieces)}
            else:
                whole = create(**asked)
                headers, answer = whole.headers, whole.parse().choices[0].message.to_dict()
        self.messages.append(answer)
        (arrived,) = self.demo.arrived()
        return Prompt(arrived.body, headers)

    def go_on(self, turns: int, first: int = 0) -> list[Prompt]:
        return [self.say(f"Tell me more about the garden, part {first + at}. 70 words") for at in range(turns)]


def goes_on(before: Prompt, now: Prompt) -> bool:
    """It begins with all that the one before said."""
    return now.messages[: len(before.messages)] == before.messages


# --- a conversation that grows ----------------------------------------------------------------------------------------


@pytest.mark.note("v2 Flujo/1")
@pytest.mark.parametrize("stream", [False, True], ids=["json", "stream"])
def test_a_long_chat_stays_within_its_budget_and_loses_nothing(stream: bool, managing: Proxy, demo: Demo) -> None:
    talk = Talk(managing, demo, f"sk-long-{stream}", stream, messages=[{"role": "system", "content": SYSTEM}])
    talk.say(TOLD)
    prompts = talk.go_on(16)
    assert [prompt.plan for prompt in prompts[:2]] == ["untouched"] * 2
    assert all(prompt.plan.startswith("managed") for prompt in prompts[8:])
    for prompt in prompts:
        assert prompt.tokens <= BUDGET
        assert prompt.messages[0] == {"role": "system", "content": SYSTEM}
        assert prompt.messages[-1]["content"].endswith("70 words")
    assert TOLD not in prompts[-1].text
    last = prompts[-1].headers
    assert int(last["x-olvido-tokens-sent"]) <= BUDGET < int(last["x-olvido-tokens-original"])

    asked = talk.say(ASKED)
    assert TOLD in asked.text
    assert asked.messages[-1]["content"].endswith(f"\n\n{ASKED}")
    assert asked.tokens <= BUDGET


def test_between_folds_a_prompt_goes_on_where_the_one_before_ended(managing: Proxy, demo: Demo) -> None:
    talk = Talk(managing, demo, "sk-prefix")
    prompts = talk.go_on(20)
    folds = sum(not goes_on(before, now) for before, now in pairwise(prompts))
    assert 1 <= folds <= len(prompts) // 2


def test_while_it_is_short_every_byte_arrives_as_it_was_sent(managing: Proxy, demo: Demo) -> None:
    raw = b'{ "messages":[{"content":"\\u00a1hola\\/","role":"user"}],  "model":"demo-chat", "temperature":1.0e0 }\n'
    for body in (raw, raw.replace(b" }\n", b',"stream":true}')):
        demo.clear()
        answer = managing.http.post(CHAT, content=body, headers={"content-type": "application/json"})
        assert [arrived.body for arrived in demo.arrived()] == [body]
        assert answer.headers["x-olvido-plan"] == "untouched"
        assert answer.headers["x-olvido-tokens-original"] == answer.headers["x-olvido-tokens-sent"] != "0"


def test_meter_tells_what_it_would_do_and_off_does_nothing(managing: Proxy, demo: Demo) -> None:
    talk = Talk(managing, demo, "sk-meter", headers={"x-olvido-mode": "meter"})
    metered = talk.go_on(14)[-1]
    assert metered.messages == talk.messages[:-1]
    kind, reason, would_send = metered.plan.replace("=", ";").split(";")[:3]
    assert (kind, reason) == ("untouched", "meter")
    assert int(metered.headers["x-olvido-tokens-sent"]) == int(metered.headers["x-olvido-tokens-original"]) > BUDGET
    assert int(metered.plan.rpartition("=")[2]) <= BUDGET, would_send
    talk.headers = {"x-olvido-mode": "off"}
    off = talk.say("And now? 10 words")
    assert (off.messages, off.plan) == (talk.messages[:-1], "untouched")
    talk.headers = {}
    assert talk.say("And now? 10 words").plan.startswith("managed")


# --- a client that sends only what is new -----------------------------------------------------------------------------


def test_only_what_is_new_is_sent_and_the_upstream_gets_everything(managing: Proxy, demo: Demo) -> None:
    talk = Talk(managing, demo, "sk-delta", headers={"x-olvido-session": "trip"}, delta=True)
    said: list[str] = []
    for number in range(4):
        said.append(f"Leg {number} of the trip. Say: noted {number}.")
        prompt = talk.say(said[-1])
        assert spoken(prompt, "user") == said
        assert spoken(prompt, "assistant") == [f"noted {earlier}." for earlier in range(number)]
    talk.headers = {"x-olvido-session": "another trip"}
    assert len(talk.say("Hello! Say: hi.").messages) == 1


def spoken(prompt: Prompt, role: str) -> list[str]:
    return [said["content"] for said in prompt.messages if said["role"] == role]


def test_instructions_that_come_with_what_is_new_are_not_sent_twice(managing: Proxy, demo: Demo) -> None:
    instructed = {"role": "system", "content": SYSTEM}
    prompts = []
    for number in range(3):
        demo.clear()
        body = chat("", messages=[instructed, {"role": "user", "content": f"Step {number}. Say: ok."}])
        managing.http.post(CHAT, json=body, headers={"x-olvido-session": "steps"}).raise_for_status()
        (arrived,) = demo.arrived()
        prompts.append(msgspec.json.decode(arrived.body)["messages"])
    assert [said["role"] for said in prompts[-1]] == ["system", *["user", "assistant"] * 2, "user"]
    assert prompts[-1][0] == instructed


def test_of_a_tool_loop_only_the_results_are_sent_and_may_be_sent_again(managing: Proxy, demo: Demo) -> None:
    tools = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]

    def ask(*new: Any) -> tuple[list[Any], httpx.Response]:
        """What the upstream got, and what it answered."""
        demo.clear()
        body = chat("", messages=new, tools=tools)
        answered = managing.http.post(CHAT, json=body, headers={"x-olvido-session": "loop"})
        return [said for each in demo.arrived() for said in msgspec.json.decode(each.body)["messages"]], answered

    ask({"role": "user", "content": "Hello! Say: hi."})
    _, answered = ask({"role": "user", "content": "Have a look."})
    (call,) = answered.json()["choices"][0]["message"]["tool_calls"]
    new = {"role": "tool", "tool_call_id": call["id"], "content": "It rains."}
    for _ in range(2):
        sent, answered = ask(new)
        assert [said["role"] for said in sent] == ["user", "assistant", "user", "assistant", "tool"]
        assert "It rains." in answered.json()["choices"][0]["message"]["content"]
    sent, answered = ask({**new, "tool_call_id": "another"})
    assert (sent, answered.status_code) == ([], 400)
    assert "the whole conversation" in answered.json()["error"]["message"]


def test_a_long_conversation_of_which_only_what_is_new_is_sent_stays_within_its_budget(
    managing: Proxy, demo: Demo
) -> None:
    talk = Talk(managing, demo, "sk-delta-long", headers={"x-olvido-session": "long"}, delta=True)
    talk.say(TOLD)
    prompts = talk.go_on(16)
    assert max(prompt.tokens for prompt in prompts) <= BUDGET
    assert TOLD in talk.say(ASKED).text


# --- what lasts, and what does not ------------------------------------------------------------------------------------


def count(proxy: Proxy, table: str) -> int:
    with closing(sqlite3.connect(f"file:{proxy.storage / 'olvido.db'}?mode=ro", uri=True)) as database:
        return int(database.execute(f"SELECT count(*) FROM {table}").fetchone()[0])


def max_at(proxy: Proxy, table: str) -> float:
    with closing(sqlite3.connect(f"file:{proxy.storage / 'olvido.db'}?mode=ro", uri=True)) as database:
        return float(database.execute(f"SELECT max(at) FROM {table}").fetchone()[0] or -1)


def tables_with(proxy: Proxy, text: str) -> list[str]:
    found = []
    with closing(sqlite3.connect(f"file:{proxy.storage / 'olvido.db'}?mode=ro", uri=True)) as database:
        for (table,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            rows = database.execute(f'SELECT * FROM "{table}"').fetchall()
            values = (value for row in rows for value in row if value is not None)
            if any(text.encode() in (value if isinstance(value, bytes) else str(value).encode()) for value in values):
                found.append(table)
    return sorted(found)


@pytest.mark.long
def test_a_kill_loses_no_fact_no_turn_and_no_place_in_the_conversation(
    demo: Demo, start_proxy: Callable[..., Proxy], tmp_path: Path
) -> None:
    # Only the budget forces a fold: the prompt after it goes on from there.
    settings = config(demo, pressure=1)
    first = start_proxy(settings, tmp_path)
    talk = Talk(first, demo, "sk-killed")
    delta = Talk(first, demo, "sk-delta", headers={"x-olvido-session": "trip"}, delta=True)
    delta.say("Leg 1 of the trip. Say: noted.")
    talk.say(STATED)
    talk.say(TOLD)
    before, now = talk.go_on(4)[-2:]
    number = 4
    while goes_on(before, now):
        before, now = now, talk.go_on(1, number)[0]
        number += 1
    turns = (len(talk.messages) + len(delta.messages)) // 2
    eventually(lambda: count(first, "archive") == turns and count(first, "facts") >= 1)
    eventually(lambda: max_at(first, "path_states") == max_at(first, "ledger"))
    first.process.kill()
    first.process.wait()

    talk.proxy = delta.proxy = second = start_proxy(settings, tmp_path)
    assert goes_on(now, talk.go_on(1, number + 1)[0])
    talk.go_on(6)
    assert TOLD in talk.say(ASKED).text
    assert "Captain Ana" in Talk(second, demo, "sk-killed").say("Hello!").text
    assert spoken(delta.say("Leg 2 of the trip."), "user") == ["Leg 1 of the trip. Say: noted.", "Leg 2 of the trip."]
    assert second.complaints() == []


BARS = "Acá van tres bares:\n\n1. **La Venencia**: jerez\n2. **Casa Labra**: croquetas\n3. **Urban**: azotea"


@pytest.mark.note("v2 Testing/1")
@pytest.mark.long
@pytest.mark.parametrize("delta", [False, True], ids=["whole", "delta"])
def test_an_item_of_a_list_that_was_folded_away_is_there_when_it_is_asked_for_also_after_a_restart(
    delta: bool, demo: Demo, start_proxy: Callable[..., Proxy], tmp_path: Path
) -> None:
    first = start_proxy(config(demo), tmp_path)
    history = [{"role": "user", "content": "Buscame bares cerca de Sol"}, {"role": "assistant", "content": BARS}]
    talk = Talk(first, demo, "sk-bars", headers={"x-olvido-session": "bars"}, messages=history)
    talk.say("Gracias. Say: De nada.")
    talk.delta = delta
    assert "La Venencia" not in talk.go_on(14)[-1].text
    asked = talk.say("Dame más info del segundo")
    assert "[2/3] 2. **Casa Labra**: croquetas" in asked.messages[-1]["content"]
    assert "La Venencia" not in asked.text
    eventually(lambda: count(first, "archive") == 17)
    first.stop()

    talk.proxy = second = start_proxy(config(demo), tmp_path)
    asked = talk.say("¿Y el primero?")
    assert "[1/3] 1. **La Venencia**: jerez" in asked.messages[-1]["content"]
    assert "Casa Labra" not in asked.text
    assert asked.tokens <= BUDGET
    assert second.complaints() == []


def test_where_nothing_was_listed_a_question_for_an_item_brings_back_nothing(managing: Proxy, demo: Demo) -> None:
    talk = Talk(managing, demo, "sk-nothing-listed")
    talk.say(TOLD)
    talk.go_on(14)
    assert "<recalled>" not in talk.say("Tell me more about the second one").text


@pytest.mark.parametrize("by", ["message", "api"])
def test_what_is_forgotten_is_gone_from_prompts_lists_and_files(by: str, managing: Proxy, demo: Demo) -> None:
    key, name = f"sk-forgetting-{by}", {"message": "Captain Octavia", "api": "Captain Leopoldina"}[by]
    talk = Talk(managing, demo, key)
    talk.say(f"From now on, call me {name}. Say: Fine.")
    talk.go_on(12)
    assert name in talk.say("Hello! 5 words").text
    eventually(lambda: {"archive", "facts", "path_states"} <= set(tables_with(managing, name)))

    def listed() -> list[Json]:
        facts: list[Json] = managing.http.get("/admin/api/facts").raise_for_status().json()["facts"]
        return [fact for fact in facts if name in fact["value"]]

    if by == "api":
        (fact,) = listed()
        managing.http.delete(f"/admin/api/facts/{fact['id']}").raise_for_status()
        prompts = [talk.say("And now? 5 words"), Talk(managing, demo, key).say("Hello!")]
    else:
        command = f"Forget that you call me {name}."
        told = talk.say(command)
        assert told.text.count(name) == command.count(name) == 1
        prompts = [Talk(managing, demo, key).say("Hello!")]
    assert not any(name in prompt.text for prompt in prompts)
    assert listed() == []
    eventually(lambda: tables_with(managing, name) == [])
