"""The ways to splice an answer, by its API."""

import json
from typing import Any

import msgspec
import pytest

from proxy.protocol.apis import native_body
from proxy.protocol.messages.reading import MessageReader
from proxy.protocol.responses import request as responses
from proxy.protocol.rounds import NOBODYS
from proxy.protocol.spliced import (
    Stream,
    Whole,
    as_stream,
    completion_in,
    followed,
    in_span,
    takes_tools,
    unspliceable,
    unstored,
)
from proxy.protocol.sse import SseParser
from proxy.types import ApiName, ChatRequest, Message, Plan, Prompt, PromptTokens
from tests import responding
from tests.builders import assistant, chat, messages, user
from tests.minding import Round, text, thought, use
from tests.spoken import Spoken, stream

Json = Any
MESSAGE = Round([thought("Hm."), text("Hello."), use("c1", "look", at="x")])
RESPONSE = responding.Round([responding.thought("1", "Hm."), responding.text("2", "Hello.")])
PLAN = Plan("untouched", PromptTokens(0, 0))


@pytest.mark.parametrize(
    ("api", "body"),
    [
        ("chat", stream(Spoken("Hello."))),
        ("messages", b"".join(MESSAGE.events())),
        ("responses", b"".join(RESPONSE.events({}))),
    ],
)
def test_a_stream_of_one_round_passes_in_its_own_api(api: ApiName, body: bytes) -> None:
    made = Stream(api)
    round_ = made.round(NOBODYS)
    assert round_.feed(body) + round_.end() == body
    assert round_.is_untouched
    assert made.splice.has_said


@pytest.mark.parametrize(
    ("api", "body"),
    [
        ("chat", Spoken("Hello.").body),
        ("messages", json.dumps(MESSAGE.message).encode()),
        ("responses", json.dumps(RESPONSE.response({})).encode()),
    ],
)
def test_a_whole_answer_of_one_round_passes_in_its_own_api(api: ApiName, body: bytes) -> None:
    round_ = Whole(api).round(NOBODYS, body)
    assert round_.closing() == body
    assert round_.has_text


def test_a_whole_message_is_told_as_the_events_that_it_would_have_been() -> None:
    body = json.dumps(MESSAGE.message).encode()
    reader = MessageReader()
    made = as_stream("messages", body, include_usage=False)
    reader.feed_all([event.data for event in SseParser().feed(made) if event.data])
    assert reader.content() == list(MESSAGE.blocks)
    assert reader.complete
    assert reader.completion() == completion_in("messages", body)


def test_a_whole_response_is_told_as_the_events_that_it_would_have_been() -> None:
    body = json.dumps(RESPONSE.response({})).encode()
    made = as_stream("responses", body, include_usage=False)
    assert json.loads(made.split(b"data: ")[-1])["response"] == RESPONSE.response({})
    round_ = Stream("responses").round(NOBODYS)
    assert round_.feed(made) + round_.end() == made


def asked(**fields: Json) -> ChatRequest:
    return responses.parse(msgspec.json.encode({"model": "m", "input": "Hi", **fields}))


@pytest.mark.parametrize(
    ("fields", "keeps", "why"),
    [
        ({"store": False}, False, ""),
        ({"store": True}, False, "stored"),
        ({}, False, "stored"),
        ({"store": None}, False, "stored"),
        ({}, True, ""),
        ({"previous_response_id": "resp_1"}, True, "stored"),
        ({"input": [], "store": False}, False, "input"),
    ],
)
def test_a_response_that_the_provider_stores_is_not_made_of_rounds(fields: Json, *, keeps: bool, why: str) -> None:
    assert unspliceable(asked(**fields), keeps_chains=keeps) == why


def test_any_other_answer_may_be() -> None:
    assert unspliceable(chat(user("Hi")), keeps_chains=False) == ""


@pytest.mark.parametrize(
    ("fields", "takes"),
    [
        ({}, True),
        ({"tool_choice": "auto"}, True),
        ({"tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": []}}, False),
        ({"tool_choice": {"type": "web_search"}}, False),
        ({"text": {"format": {"type": "text"}, "verbosity": "low"}}, True),
        ({"text": {"verbosity": "low"}}, True),
        ({"text": {"format": {"type": "grammar"}}}, False),
    ],
)
def test_a_choice_among_tools_or_a_form_takes_no_more_tools(fields: Json, *, takes: bool) -> None:
    assert takes_tools(asked(**fields), ["remember"]) is takes


def test_a_name_that_is_taken_in_an_item_of_its_own_is_taken() -> None:
    tools = {"type": "additional_tools", "role": "developer", "tools": [{"type": "function", "name": "remember"}]}
    made = asked(input=[tools, {"role": "user", "content": "Hi"}])
    assert not takes_tools(made, ["remember"])
    assert takes_tools(made, ["forget"])


def test_what_is_not_to_be_stored_says_so_in_its_body() -> None:
    made = unstored(asked())
    body = native_body(made, None, None)
    assert body is not None
    assert msgspec.json.decode(body) == {"model": "m", "input": "Hi", "store": False}
    given = asked(store=False)
    assert unstored(given) is given


@pytest.mark.parametrize(
    ("span", "is_sealed"),
    [
        ({"type": "thinking", "thinking": "", "signature": "x"}, True),
        ({"type": "text", "text": "x"}, False),
        (responding.thought("1"), True),
        (responding.thought("1", sealed=False), False),
        (responding.use("1", "look"), False),
    ],
)
def test_what_is_kept_is_sealed_where_its_api_has_it_so(span: Json, *, is_sealed: bool) -> None:
    (said,) = messages(assistant("So."))
    assert in_span(said, json.dumps(span).encode()).is_sealed is is_sealed


@pytest.mark.parametrize("api", ["chat", "messages"])
def test_a_further_round_stands_behind_the_prompts_messages(api: ApiName) -> None:
    more: tuple[Message, ...] = messages(assistant("So."))
    body = followed(Prompt(b'{"messages":[{"role":"user","content":"Hi"}]}', PLAN, api=api), more)
    content = msgspec.json.decode(body)["messages"][1]["content"]
    assert content == ("So." if api == "chat" else [{"type": "text", "text": "So."}])
