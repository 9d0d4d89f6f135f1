"""The plan as bytes: the client's own where nothing is changed, and never what the upstream would refuse."""

from collections.abc import Mapping
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.pipeline.assemble import assemble
from proxy.protocol.dialects import DIALECTS
from proxy.protocol.message import message
from proxy.protocol.request import glimpse, parse
from proxy.types import ChatRequest, Plan, PromptTokens
from tests.builders import assistant, calling, chat, messages, result, system, upstream_config, user

UNTOUCHED = Plan("untouched", PromptTokens(100, 100, rough=90))
# Spelled as no encoder of ours would.
ODD = rb'{ "model":"m" , "messages":[ {"content":"\u00f1","role":"user", "x":1.0} ],"stream":true ,"temperature":1e0}'


def decoded(body: bytes) -> dict[str, Any]:
    return dict(msgspec.json.decode(body))


def managed(*said: Mapping[str, Any]) -> Plan:
    return Plan("managed", PromptTokens(100, 40, rough=90), messages=messages(*said))


# --- untouched ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("body", [ODD, ODD.replace(b"true", b"false"), chat(user("hi")).raw])
def test_an_untouched_request_is_the_clients_body_itself(dialect: str, body: bytes) -> None:
    prompt = assemble(parse(body), UNTOUCHED, upstream_config(dialect=dialect))
    assert prompt.body is body
    assert prompt.plan is UNTOUCHED
    assert not prompt.strip_usage


def test_even_if_its_order_is_one_the_upstream_refuses() -> None:
    request = chat(user("hi"), calling("1"), user("and now?"))
    assert assemble(request, UNTOUCHED, upstream_config(dialect="openai")).body is request.raw


def test_an_alias_changes_the_model_and_nothing_else() -> None:
    upstream = upstream_config(aliases={"m": "kimi-k3"})
    prompt = assemble(parse(ODD), UNTOUCHED, upstream)
    assert parse(prompt.body).model == "kimi-k3"
    assert parse(prompt.body).messages == parse(ODD).messages
    assert b'"temperature":1e0' in prompt.body
    assert prompt.plan is UNTOUCHED
    assert assemble(chat(model="other"), UNTOUCHED, upstream).body == chat(model="other").raw


# --- asking for usage -----------------------------------------------------------------------------------------------

ASKING = {"stream": True, "stream_options": {"include_usage": True}}


@pytest.mark.parametrize(
    ("fields", "dialect", "stream_usage", "planned", "asks"),
    [
        ({"stream": True}, "kimi", "ask", UNTOUCHED, True),
        ({"stream": True}, "openai", "ask", UNTOUCHED, True),
        ({"stream": True, "stream_options": None}, "kimi", "ask", UNTOUCHED, True),
        ({"stream": True, "stream_options": {"include_usage": False}}, "kimi", "ask", UNTOUCHED, True),
        ({"stream": True}, "kimi", "as-is", UNTOUCHED, False),
        ({}, "kimi", "ask", UNTOUCHED, False),
        (ASKING, "kimi", "ask", UNTOUCHED, False),
        ({"stream": True}, "mistral", "ask", UNTOUCHED, False),
        ({"stream": True}, "generic", "ask", UNTOUCHED, False),
        ({"stream": True}, "kimi", "as-is", managed(user("hi")), True),
        ({"stream": True}, "generic", "as-is", managed(user("hi")), False),
        ({}, "kimi", "as-is", managed(user("hi")), False),
        (ASKING, "kimi", "as-is", managed(user("hi")), False),
    ],
)
def test_usage_is_asked_for_where_that_is_known_and_wanted(
    fields: Mapping[str, Any], dialect: str, stream_usage: str, planned: Plan, asks: bool
) -> None:
    request = chat(user("hi"), **fields)
    prompt = assemble(request, planned, upstream_config(dialect=dialect, stream_usage=stream_usage))
    assert prompt.strip_usage == asks
    sent = parse(prompt.body)
    assert sent.wants_usage_chunk == (asks or request.wants_usage_chunk)
    assert {**sent.fields, "stream_options": None} == {**request.fields, "stream_options": None}


def test_the_clients_other_stream_options_stay() -> None:
    request = chat(stream=True, stream_options={"include_obfuscation": False, "include_usage": False})
    prompt = assemble(request, UNTOUCHED, upstream_config(dialect="openai", stream_usage="ask"))
    assert decoded(prompt.body)["stream_options"] == {"include_obfuscation": False, "include_usage": True}


# --- managed --------------------------------------------------------------------------------------------------------

LONG = chat(system("terse"), user("a"), assistant("b"), user("c"), assistant("d"), user("e"), tools=[], x=1)


@pytest.mark.note("3.1/2")
def test_planned_messages_replace_the_clients_and_the_rest_stays() -> None:
    head = message(user("<memory>\n</memory>\n\ne"))
    planned = Plan("managed", PromptTokens(100, 40), messages=(LONG.messages[0], head))
    prompt = assemble(LONG, planned, upstream_config())
    assert prompt.plan is planned
    sent = parse(prompt.body)
    assert [m.raw for m in sent.messages] == [LONG.messages[0].raw, head.raw]
    assert sent.fields == LONG.fields
    assert list(decoded(prompt.body)) == list(decoded(LONG.raw))


@pytest.mark.parametrize(
    ("dialect", "planned", "rule"),
    [
        ("openai", managed(user("hi"), calling("1"), user("and?")), "unanswered_call"),
        ("kimi", managed(result("1"), user("and?")), "orphan_result"),
        ("kimi", managed(user("hi"), assistant(""), user("and?")), "empty_content"),
        ("vllm", managed(user("hi"), user("and?")), "alternation"),
        ("mistral", managed(user("hi"), assistant("no")), "last_role"),
        ("generic", managed(), "no_messages"),
    ],
)
def test_what_the_upstream_would_refuse_is_not_sent(dialect: str, planned: Plan, rule: str) -> None:
    prompt = assemble(LONG, planned, upstream_config(dialect=dialect))
    assert prompt.body is LONG.raw
    assert prompt.plan == Plan("fail-open", PromptTokens(100, 100), f"stage=assemble;rule={rule}")


def test_too_many_tools_count_too() -> None:
    request = chat(user("hi"), tools=[{"type": "function"}] * 129)
    planned = Plan("managed", PromptTokens(100, 40), messages=request.messages)
    prompt = assemble(request, planned, upstream_config(dialect="kimi"))
    assert prompt.plan.reason == "stage=assemble;rule=too_many_tools"
    assert assemble(request, planned, upstream_config(dialect="generic")).plan is planned


def test_the_clients_own_messages_are_still_asked_for_their_usage() -> None:
    request = chat(user("hi"), stream=True)
    prompt = assemble(request, managed(), upstream_config(dialect="kimi", stream_usage="ask"))
    assert prompt.plan.kind == "fail-open"
    assert prompt.strip_usage
    assert parse(prompt.body).messages == request.messages


_said = st.sampled_from(
    [system("s"), user("u"), assistant("a"), assistant(""), calling("1"), result("1"), {"role": "x"}]
)
_requests = st.lists(_said, min_size=1, max_size=6).map(lambda said: chat(*said))


@given(_requests, st.data(), st.sampled_from(sorted(DIALECTS)))
def test_what_is_sent_is_the_plan_or_the_original(request_: ChatRequest, data: st.DataObject, dialect: str) -> None:
    kept = tuple(data.draw(st.lists(st.sampled_from(request_.messages), max_size=6)))
    planned = Plan("managed", PromptTokens(100, 40), messages=kept)
    prompt = assemble(request_, planned, upstream_config(dialect=dialect))
    if prompt.plan is planned:
        assert [m.raw for m in parse(prompt.body).messages] == [m.raw for m in kept]
    else:
        assert prompt.body is request_.raw
        assert prompt.plan.kind == "fail-open"
        assert prompt.plan.tokens.sent == prompt.plan.tokens.original


def test_what_could_not_be_read_is_never_written_anew() -> None:
    unread = glimpse(b'{"model":"m","stream":true,"seed":NaN,"messages":[{"role":"user","content":"hi"}]}')
    assert unread is not None
    prompt = assemble(unread, UNTOUCHED, upstream_config(aliases={"m": "other"}, stream_usage="ask", dialect="openai"))
    assert (prompt.body, prompt.plan, prompt.strip_usage) == (unread.raw, UNTOUCHED, False)
