"""OpenAI's SDK, Responses, and a model that manages its memory within an upstream's own Responses, through the whole
proxy: the client sees one response that knows nothing of it, and what was hidden goes back as the model gave it,
encrypted reasoning included."""

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from itertools import product
from typing import Any

import httpx
import msgspec
import openai
import pytest

from proxy.app import create_app
from proxy.desk.schemas import NAMES
from proxy.pipeline import Services
from tests.builders import config
from tests.other_apis import misplaced_events
from tests.proxied import total
from tests.responding import Responder, Round, free, run_responder, searched, text, thought, use
from tests.servers import eventually, run_proxy

Json = Any
LOOK: Json = {"type": "function", "name": "look", "parameters": {"type": "object"}, "strict": False}
PATCH: Json = {"type": "custom", "name": "patch"}
STREAMED = pytest.mark.parametrize("streamed", [True, False], ids=["streamed", "whole"])
RULES = "You are a sailor."


@pytest.fixture
def responder() -> Iterator[Responder]:
    with run_responder() as upstream:
        yield upstream
    assert upstream.refused == []


class Proxied:
    def __init__(self, url: str, services: Services, *, key: str = "sk-ana") -> None:
        self.client = openai.OpenAI(base_url=f"{url}/v1", api_key=key, max_retries=0, _strict_response_validation=True)
        self.services = services
        self.talk: list[Json] = []
        self.plan = ""

    def ask(self, *said: Json, streamed: bool = False, tools: tuple[Json, ...] = (LOOK,), **more: Json) -> Json:
        """Asks, and goes on from there as a client does that keeps its history; returns the response."""
        self.talk += [{"role": "user", "content": each} if isinstance(each, str) else each for each in said]
        wanted: Json = {"store": False, "include": ["reasoning.encrypted_content"], "instructions": RULES, **more}
        asked: Json = {"model": "gpt-x", "input": self.talk, "tools": list(tools), **wanted}
        if streamed:
            with self.client.responses.with_streaming_response.create(**asked, stream=True) as got:
                self.plan = got.headers["x-olvido-plan"]
                events: Json = [event.to_dict(mode="json") for event in got.parse()]
            assert misplaced_events(events) == []
            answer: Json = events[-1]["response"]
            done = [event["item"] for event in events if event["type"] == "response.output_item.done"]
            assert answer["output"] == done
            created = events[0]["response"]
            assert [created[name] for name in ("id", "created_at", "tools", "instructions")] == [
                answer[name] for name in ("id", "created_at", "tools", "instructions")
            ]
            self.seen: Json = events
        else:
            raw = self.client.responses.with_raw_response.create(**asked)
            self.plan = raw.headers["x-olvido-plan"]
            answer = raw.parse().to_dict(mode="json")
            self.seen = answer
        assert [tool["name"] for tool in answer["tools"]] == [tool["name"] for tool in tools]
        assert answer["instructions"] == wanted["instructions"]
        told = json.dumps(self.seen)
        assert [name for name in NAMES if name in told] == []
        self.talk += answer["output"]
        return answer


@contextmanager
def proxied(responder: Responder, *, key: str = "sk-ana", **more: Any) -> Iterator[Proxied]:
    given = config(
        upstreams=[
            {
                "name": "up",
                "base_url": f"{responder.url}/v1",
                "dialect": "openai",
                "apis": ["chat", "responses"],
                "retries": 0,
                "breaker": {"failures": 0},
            }
        ],
        storage={"kind": "memory"},
        server={"port": 0, "drain": 5},
        embedding={"enabled": False},
        memory={"tools": {"enabled": True, "offer": "first"}},
        **more,
    )
    app = create_app(given)
    with run_proxy(given, app) as url:
        proxy = Proxied(url, app.state.services, key=key)
        with closing(proxy.client):
            yield proxy


def kinds(answer: Json) -> list[str]:
    return [item["type"] for item in answer["output"]]


def texts(answer: Json) -> list[str]:
    return [item["content"][0]["text"] for item in answer["output"] if item["type"] == "message"]


def offered(asked: Json) -> list[str]:
    return [tool["name"] for tool in asked.get("tools") or ()]


REMEMBER = {"key": "boat", "value": "The boat is called Elsa."}


@STREAMED
def test_the_model_remembers_and_the_client_sees_one_response(responder: Responder, *, streamed: bool) -> None:
    responder.will([text("0", "Hello.")])
    with proxied(responder) as proxy:
        proxy.ask("Hi.")
        responder.will(
            [thought("1", "I note it."), text("1", "One moment."), use("1", "remember", **REMEMBER)],
            [thought("2", "Now I answer."), text("2", "Done.")],
        )
        answer = proxy.ask("My boat is called Elsa.", streamed=streamed)
        assert kinds(answer) == ["reasoning", "message", "reasoning", "message"]
        assert [item["id"] for item in answer["output"]] == ["rs_1", "msg_1", "rs_2", "msg_2"]
        assert (answer["id"], answer["created_at"], answer["status"]) == ("resp_2", 2, "completed")
        usage = answer["usage"]
        assert (usage["input_tokens"], usage["output_tokens"], usage["total_tokens"]) == (200, 40, 240)
        assert usage["input_tokens_details"]["cached_tokens"] == 120
        assert responder.asked[-1]["input"][-1]["output"] == "Remembered: boat."
        assert total(proxy.services, "olvido_memory_tool_calls_total") == 1
    assert offered(responder.asked[-1]) == ["look", *NAMES]
    assert all(tool["strict"] is False for tool in responder.asked[-1]["tools"])


@STREAMED
@pytest.mark.parametrize("back", ["as given", "without ids", "as one text"])
def test_what_was_hidden_goes_back_as_the_model_gave_it(responder: Responder, back: str, *, streamed: bool) -> None:
    responder.will([text("0", "Hello.")])
    with proxied(responder) as proxy:
        proxy.ask("Hi.")
        first = [thought("1"), text("1", "I look."), use("1", "remember", **REMEMBER)]
        second = [text("2", "Hm."), use("2", "remember", **REMEMBER)]
        last = [thought("3"), text("3", "Noted.")]
        responder.will(first, second, last)
        answer = proxy.ask("What do you know?", streamed=streamed)
        assert texts(answer) == ["I look.", "Hm.", "Noted."]
        before = responder.asked[-1]["input"]
        if back == "without ids":
            for item in proxy.talk:
                item.pop("id", None)
                item.pop("status", None)
        elif back == "as one text":
            proxy.talk[-5:] = [{"role": "assistant", "content": "".join(texts(answer))}]
        responder.will([text("4", "Bye.")])
        proxy.ask("Thanks.", streamed=streamed)
    sent = responder.asked[-1]["input"]
    strip = {"id", "status"} if back == "without ids" else set()
    own = [{name: value for name, value in item.items() if name not in strip} for item in before[:3]]
    assert sent[:3] == own
    assert sent[3 : len(before)] == before[3:]
    assert sent[3:6] == first
    assert sent[6]["type"] == "function_call_output"
    assert sent[7:9] == second
    assert sent[10:12] == last
    assert sent[12]["content"].endswith("Thanks.")
    if back == "as given":
        bodies = [msgspec.json.decode(raw, type=dict[str, msgspec.Raw]) for raw in responder.raw[-2:]]
        earlier, later = (bytes(each["input"]) for each in bodies)
        assert later.startswith(earlier.removesuffix(b"]"))


@STREAMED
def test_of_both_in_one_turn_the_client_has_its_own(responder: Responder, *, streamed: bool) -> None:
    responder.will([text("0", "Hello.")])
    with proxied(responder) as proxy:
        proxy.ask("Hi.", tools=(LOOK, PATCH))
        both = [thought("1"), use("1", "remember", **REMEMBER), use("2", "look", at="x"), free("3", "patch", "*** a")]
        responder.will(both)
        answer = proxy.ask("Look and note.", streamed=streamed, tools=(LOOK, PATCH))
        assert kinds(answer) == ["reasoning", "function_call", "custom_tool_call"]
        responder.will([text("2", "Done.")])
        results = [
            {"type": "function_call_output", "call_id": "call_2", "output": "a cat"},
            {"type": "custom_tool_call_output", "call_id": "call_3", "output": "ok"},
        ]
        proxy.ask(*results, streamed=streamed, tools=(LOOK, PATCH))
    sent = responder.asked[-1]["input"]
    assert sent[-7:-3] == both
    assert [item["call_id"] for item in sent[-3:]] == ["call_1", "call_2", "call_3"]
    assert sent[-2:] == results


@STREAMED
def test_between_rounds_that_are_hidden_the_clients_own_calls_stand(responder: Responder, *, streamed: bool) -> None:
    responder.will([text("0", "Hello.")])
    with proxied(responder) as proxy:
        proxy.ask("Hi.")
        rounds = [
            [thought("1"), text("1", "First."), use("1", "remember", **REMEMBER)],
            [thought("2"), use("2", "look", at="x")],
            [use("3", "remember", **REMEMBER)],
            [thought("4"), text("4", "It is noon.")],
        ]
        responder.will(*rounds)
        answer = proxy.ask("What now?", streamed=streamed)
        assert kinds(answer) == ["reasoning", "message", "reasoning", "function_call"]
        output = {"type": "function_call_output", "call_id": "call_2", "output": "noon"}
        assert kinds(proxy.ask(output, streamed=streamed)) == ["reasoning", "message"]
        responder.will([text("5", "Bye.")])
        proxy.ask("Thanks.", streamed=streamed)
    sent = responder.asked[-1]["input"]
    assert sent[3:6] == rounds[0]
    assert sent[7:9] == rounds[1]
    assert sent[9] == output
    assert sent[10:11] == rounds[2]
    assert sent[12:14] == rounds[3]


MIDWAY = product(("event", "failed", "cut", "garbage"), (1, 3, 4, 6, -1), (True,))


@pytest.mark.parametrize(("fault", "passing", "streamed"), [("error", 0, False), ("error", 0, True), *MIDWAY])
def test_whatever_fails_in_a_round_the_client_gets_an_answer(
    responder: Responder, fault: str, passing: int, streamed: bool
) -> None:
    responder.will([text("0", "Hello.")])
    with proxied(responder) as proxy:
        proxy.ask("Hi.")
        broken = Round([thought("2", "Hm, hm."), text("2", "I say")], fault, passing)
        responder.will([use("1", "remember", **REMEMBER)], broken, [text("3", "All the same.")])
        answer = proxy.ask("Go on.", streamed=streamed)
        assert texts(answer)[-1] == "All the same."
        assert offered(responder.asked[-1]) == ["look"]
        assert total(proxy.services, "olvido_memory_tool_calls_total") == 1
        responder.will([text("4", "Bye.")])
        proxy.ask("Thanks.", streamed=streamed)  # what is left of the broken round does not break the conversation


def heard(url: str) -> list[Json]:
    """The data of all events of a stream that may break off."""
    found = bytearray()
    with suppress(httpx.HTTPError), httpx.Client(headers={"authorization": "Bearer sk-ana"}) as client:
        asked = {"model": "gpt-x", "input": "Go on.", "store": False, "stream": True}
        with client.stream("POST", f"{url}/responses", json=asked) as got:
            for piece in got.iter_bytes():
                found += piece
    return [each.partition(b"data: ")[2] for each in bytes(found).split(b"\n\n") if each]


@pytest.mark.parametrize("fault", ["event", "failed", "cut", "garbage"])
@pytest.mark.parametrize("said", [[text("2", "I say")], [thought("2", "Hm."), text("3", "I say")]])
def test_a_first_round_that_fails_breaks_off_as_it_would_without_us(
    responder: Responder, fault: str, said: list[Json]
) -> None:
    responder.will([text("0", "Hello.")])
    with proxied(responder) as proxy:
        proxy.ask("Hi.")
        responder.pick = lambda _asked, _headers: Round(said, fault)
        direct, told = heard(f"{responder.url}/v1"), heard(str(proxy.client.base_url).rstrip("/"))
    readable = [each for each in direct if each != b"{no"]
    assert [json.loads(each) for each in told[: len(readable)]] == [json.loads(each) for each in readable]
    assert not any(name.encode() in each for each in told for name in NAMES)
    assert len(told) == len(direct) + (fault in ("cut", "garbage"))  # the proxy says that it has broken off


@pytest.mark.parametrize("hidden", [[], [[thought("1"), use("1", "remember", **REMEMBER)]]], ids=["first", "later"])
def test_text_of_any_round_is_with_the_client_before_the_upstream_goes_on(
    responder: Responder, hidden: list[Json]
) -> None:
    responder.will([text("0", "Hello.")])
    with proxied(responder) as proxy:
        proxy.ask("Hi.")
        responder.will(*hidden, Round([text("2", "I say")], "hang", 5))
        made: Json = proxy.client.responses.create(model="gpt-x", input="Go on.", store=False, stream=True)
        with made as stream:
            assert next(event.delta for event in stream if event.type == "response.output_text.delta") == "I "
            assert responder.hanging == 1
        eventually(lambda: responder.left == 1)


def test_a_response_that_comes_whole_to_a_stream_is_told_as_one(responder: Responder) -> None:
    responder.will([text("0", "Hello.")])
    with proxied(responder) as proxy:
        proxy.ask("Hi.")
        responder.will(
            [use("1", "remember", **REMEMBER)],
            Round([thought("2", "So."), text("2", "Done."), use("3", "look", at="x")], as_stream=False),
        )
        answer = proxy.ask("Go on.", streamed=True)
    assert kinds(answer) == ["reasoning", "message", "function_call"]


def test_items_that_stand_in_the_end_alone_are_told(responder: Responder) -> None:
    responder.will([text("0", "Hello.")])
    with proxied(responder) as proxy:
        proxy.ask("Hi.")
        responder.will(
            Round([text("1", "Hm."), use("1", "remember", **REMEMBER)], only_ends=True),
            Round([text("2", "Done.")], only_ends=True),
        )
        assert texts(proxy.ask("Go on.", streamed=True)) == ["Hm.", "Done."]
        deltas = [event["delta"] for event in proxy.seen if event["type"] == "response.output_text.delta"]
    assert deltas == ["Hm.", "Done."]


@STREAMED
def test_what_the_provider_runs_itself_is_passed_in_any_round(responder: Responder, *, streamed: bool) -> None:
    responder.will([text("0", "Hello.")])
    with proxied(responder) as proxy:
        proxy.ask("Hi.")
        responder.will(
            [searched("1"), thought("1"), use("1", "remember", **REMEMBER)], [searched("2"), text("2", "Rain.")]
        )
        answer = proxy.ask("Weather?", streamed=streamed)
    assert kinds(answer) == ["web_search_call", "reasoning", "web_search_call", "message"]


def test_a_model_that_goes_on_and_on_is_stopped(responder: Responder) -> None:
    responder.will([text("0", "Hello.")])
    with proxied(responder) as proxy:
        proxy.ask("Hi.")
        rounds = proxy.services.config.memory.tools.rounds
        responder.will(
            *[
                [text(str(at), "Hm."), thought(str(at)), use(str(at), "remember", **REMEMBER)]
                for at in range(rounds + 1)
            ]
        )
        answer = proxy.ask("Go on.")
        assert texts(answer) == ["Hm."] * (rounds + 1)
        assert "No more memory calls" in responder.asked[-1]["input"][-1]["output"]
        responder.will([text("99", "Bye.")])
        proxy.ask("Thanks.")


@STREAMED
def test_reasoning_that_cannot_go_back_is_left_out_with_the_ids_of_its_round(
    responder: Responder, *, streamed: bool
) -> None:
    responder.will([text("0", "Hello.")])
    with proxied(responder) as proxy:
        proxy.ask("Hi.", include=[])
        responder.will(
            [thought("1", "I note it.", sealed=False), use("1", "remember", **REMEMBER)], [text("2", "Done.")]
        )
        proxy.ask("Go on.", streamed=streamed, include=[])
    call, output = responder.asked[-1]["input"][-2:]
    assert "id" not in call
    assert call["call_id"] == output["call_id"] == "call_1"


@pytest.mark.parametrize("store", [True, None])
def test_where_the_provider_stores_the_response_the_tools_are_not_offered(
    responder: Responder, store: bool | None
) -> None:
    responder.will([text("0", "Hello.")])
    with proxied(responder) as proxy:
        proxy.ask("Hi.", store=openai.omit if store is None else store)
        assert "no_tools=stored" in proxy.plan
        assert offered(responder.asked[-1]) == ["look"]
        assert responder.asked[-1].get("store") is store
        proxy.ask("And now?")
        assert "no_tools" not in proxy.plan
        assert offered(responder.asked[-1]) == ["look", *NAMES]


@STREAMED
def test_a_chain_that_is_kept_here_has_the_tools_and_is_stored_nowhere_else(
    responder: Responder, *, streamed: bool
) -> None:
    with proxied(responder, responses={"take_over": True}) as proxy:
        last: Json = openai.omit
        for number in range(1, 4):
            hidden = [thought(f"{number}0"), use(f"{number}0", "remember", **REMEMBER)]
            responder.will(hidden, [thought(str(number)), text(str(number), f"Answer {number}.")])
            proxy.talk = []
            answer = proxy.ask(f"Question {number}?", streamed=streamed, store=True, previous_response_id=last)
            assert answer["store"] is True
            assert answer["previous_response_id"] == (None if number == 1 else last)
            last = answer["id"]
        assert [asked["store"] for asked in responder.asked] == [False] * 6
        kept = proxy.client.responses.retrieve(last)
        assert kept.output_text == "Answer 3."
    sent = responder.asked[-1]["input"]
    assert [item.get("type", "message") for item in sent] == [
        "message",
        *["reasoning", "function_call", "function_call_output", "reasoning", "message", "message"] * 2,
        *["reasoning", "function_call", "function_call_output"],
    ]


def test_a_choice_among_tools_or_a_form_leaves_ours_out(responder: Responder) -> None:
    responder.will([text("0", "Hello.")])
    allowed = {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "look"}]}
    form = {"format": {"type": "json_schema", "name": "a", "schema": {"type": "object"}}}
    with proxied(responder) as proxy:
        for more in ({"tool_choice": allowed}, {"tool_choice": "required"}, {"text": form}):
            proxy.talk = []
            proxy.ask("Hi.", **more)
            assert offered(responder.asked[-1]) == ["look"]


@STREAMED
def test_items_that_their_provider_was_not_to_keep_are_found_by_their_names(
    responder: Responder, *, streamed: bool
) -> None:
    responder.will([text("0", "Hello.")])
    with proxied(responder, responses={"take_over": True}) as proxy:
        proxy.ask("Hi.")
        proxy.talk = []
        hidden = [thought("1"), use("1", "remember", **REMEMBER)]
        responder.will(hidden, [thought("2", "So."), text("2", "Done.")])
        answer = proxy.ask("My boat is called Elsa.", streamed=streamed, store=True)
        proxy.talk = [proxy.talk[0], *({"type": "item_reference", "id": item["id"]} for item in answer["output"])]
        responder.will([text("3", "Elsa.")])
        proxy.ask("How is it called?", streamed=streamed, store=True)
        sent = responder.asked[-1]["input"]
        kinds_sent = [
            "message",
            "reasoning",
            "function_call",
            "function_call_output",
            "reasoning",
            "message",
            "message",
        ]
        assert [item.get("type", "message") for item in sent] == kinds_sent
        form = {"format": {"type": "json_schema", "name": "a", "schema": {"type": "object"}}}
        last = proxy.ask("As JSON?", streamed=streamed, store=True, text=form)
        assert last["store"] is True
        assert offered(responder.asked[-1]) == ["look"]
    assert {asked["store"] for asked in responder.asked} == {False}


def test_of_another_person_no_item_is_found(responder: Responder) -> None:
    responder.will([text("0", "Hello.")])
    with proxied(responder, responses={"take_over": True}) as proxy:
        answer = proxy.ask("Hi.", store=True)
        asked: Json = [{"type": "item_reference", "id": answer["output"][0]["id"]}, {"role": "user", "content": "And?"}]
        with closing(openai.OpenAI(base_url=proxy.client.base_url, api_key="sk-luis", max_retries=0)) as other:
            other.responses.create(model="gpt-x", input=asked)
    assert responder.asked[-1]["input"] == asked
