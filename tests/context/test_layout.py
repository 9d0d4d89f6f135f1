"""What is sent, and where the blocks stand."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.context.draft import Memory
from proxy.context.layout import assemble, explained, kept, lay_out, pack, unpack
from proxy.conversation.progress import Case
from proxy.protocol.dialects import DIALECTS
from proxy.protocol.message import message
from proxy.protocol.request import glimpse, parse
from proxy.types import ChatRequest, Fates, Message, Plan, PromptTokens
from tests.builders import Said, assistant, calling, chat, messages, result, system, upstream_config, user
from tests.context.told import Teller, counter, exchange, recalling, where

S, GREETING = system("Be brief."), assistant("How can I help?")
TOLD: list[Said] = [
    S,
    user("one"),
    assistant("1"),
    user("two"),
    system("Be kind."),
    assistant("2"),
    user("three"),
    calling("c1"),
    result("c1"),
]


def contents(sent: tuple[Message, ...]) -> list[Any]:
    return [said.data["content"] for said in sent]


@pytest.mark.note("Rumi Prompt/2")
def test_with_nothing_to_say_and_nothing_left_out_it_is_what_the_client_sent() -> None:
    said = messages(*TOLD)
    assert lay_out(said, where(1, 1, 6)) == said


def test_the_head_stands_in_the_first_kept_message_and_what_is_recalled_in_the_newest() -> None:
    said = messages(*TOLD)
    sent = lay_out(said, where(1, 3, 6, volatile="<V>"), head="<H>")
    assert contents(sent) == [
        "Be brief.", "<H>\n\ntwo", "Be kind.", "2", "<V>\n\nthree", None, "done"
    ]  # fmt: skip
    assert [sent[index].raw for index in (0, 2, 3, 5, 6)] == [said[index].raw for index in (0, 4, 5, 7, 8)]


def test_both_stand_in_the_newest_if_nothing_else_is_kept() -> None:
    sent = lay_out(messages(*TOLD), where(1, 6, 6, volatile="<V>", instructions=(4,)), head="<H>")
    assert contents(sent) == ["Be brief.", "Be kind.", "<H>\n<V>\n\nthree", None, "done"]


@pytest.mark.parametrize(
    ("preamble", "expected"),
    [
        ([], ["Be kind.", "last"]),
        ([S], ["Be brief.", "Be kind.", "last"]),
        ([GREETING], ["Be kind.", "How can I help?", "last"]),  # which no system message may follow everywhere
        ([S, GREETING], ["Be brief.", "Be kind.", "How can I help?", "last"]),
        ([GREETING, S], ["How can I help?", "Be brief.", "Be kind.", "last"]),
    ],
)
def test_system_messages_of_what_is_left_out_join_those_at_the_beginning(
    preamble: list[Said], expected: list[str]
) -> None:
    said = messages(*preamble, user("one"), system("Be kind."), assistant("1"), user("last"))
    first = len(preamble)
    assert contents(lay_out(said, where(first, first + 3, first + 3, instructions=(first + 1,)))) == expected


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ([S, user("hi")], [("system", "Be brief.\n\n<H>"), ("user", "hi")]),
        ([{"role": "developer", "content": "Go."}, user("hi")], [("developer", "Go.\n\n<H>"), ("user", "hi")]),
        ([user("hi")], [("system", "<H>"), ("user", "hi")]),
        ([GREETING, user("hi")], [("system", "<H>"), ("assistant", "How can I help?"), ("user", "hi")]),
        (
            [system([{"type": "text", "text": "Be brief."}]), user("hi")],
            [("system", [{"type": "text", "text": "Be brief."}, {"type": "text", "text": "<H>"}]), ("user", "hi")],
        ),
    ],
)
def test_where_an_upstream_prefers_it_the_head_ends_the_system_message(
    said: list[Said], expected: list[tuple[str, Any]]
) -> None:
    at = len(said) - 1
    sent = lay_out(messages(*said), where(at, at, at), head="<H>", role="system")
    assert [(each.role, each.data["content"]) for each in sent] == expected


@pytest.mark.note("Rumi Prompt/2")
def test_without_a_head_there_is_no_system_message_either() -> None:
    said = messages(user("hi"))
    assert lay_out(said, where(0, 0, 0), role="system") == said


def test_what_was_shortened_takes_the_place_of_what_was_said() -> None:
    said = messages(*TOLD)
    shorter = messages(assistant("…"))[0]
    sent = lay_out(said, where(1, 3, 6), replaced={2: shorter, 5: shorter})
    assert contents(sent) == ["Be brief.", "two", "Be kind.", "…", "three", None, "done"]
    assert kept(said, where(1, 3, 6)) == (0, 3, 4, 5, 6, 7, 8)


@pytest.mark.parametrize(("preamble", "start", "newest"), [(1, 0, 3), (1, 4, 3), (2, 1, 1)])
def test_a_layout_that_cannot_be_is_refused(preamble: int, start: int, newest: int) -> None:
    with pytest.raises(AssertionError):
        lay_out(messages(*TOLD), where(preamble, start, newest))


# 0 system | 1 2 turn 1 | 3 4 5 turn 2 | 6 7 turn 3 | 8 9 10 turn 4 | 11 turn 5
TOLD_SIX = messages(
    system("s"),
    *(user("one"), assistant("first\nanswer")),
    *(user("two"), assistant(None, tool_calls=[]), result("c")),
    *(user("three"), assistant("third")),
    *(user("four"), result("d"), assistant("fourth")),
    user("five"),
)
FOLDED = Fates(preamble=1, left=6, start=6, newest=11, summaries=((2, 2),), head="<memory>…</memory>")


def fates(decided: Fates | None) -> list[str]:
    return [said.fate for said in explained(TOLD_SIX, decided, lambda said: len(said.raw)).messages]


def test_of_a_request_that_was_not_changed_every_message_is_kept() -> None:
    assert set(fates(None)) == {"kept"}


def test_what_left_the_window_is_folded_as_long_as_a_summary_tells_of_it() -> None:
    left, folded, kept = ["left out"] * 2, ["folded", "folded", "left out"], ["kept"] * 6
    assert fates(FOLDED) == ["kept", *left, *folded, *kept]


@pytest.mark.parametrize(
    ("changes", "index", "fate", "why"),
    [
        ({"capped": (7,)}, 7, "shortened", "long older answer"),
        ({"markers": (9,)}, 9, "marker", "old tool result"),
        ({"start": 8}, 7, "left out", "makes room for what is recalled, this time"),
        ({"start": 8}, 8, "kept", "window"),
        ({"start": 11}, 10, "left out", "makes room for what is recalled, this time"),
        ({"start": 11}, 11, "kept", "newest turn"),
        ({"instructions": (2,)}, 2, "kept", "instructions"),
        ({"left": 1, "start": 1}, 1, "kept", "window"),
        ({"quoted": (2,)}, 2, "recalled", "the newest question needs it"),
        ({"start": 8, "quoted": (7,)}, 7, "recalled", "the newest question needs it"),
        ({"quoted": (7,)}, 7, "kept", "window"),
        ({"is_elided": True}, 0, "shortened", "what need not be repeated is left out"),
        ({}, 1, "left out", "turn 1 left the window, and no summary tells of it"),
        ({}, 3, "folded", "turn 2 left the window for a summary"),
        ({}, 5, "left out", "turn 2 left the window"),
    ],
)
def test_each_has_its_reason(changes: dict[str, Any], index: int, fate: str, why: str) -> None:
    found = explained(TOLD_SIX, replace(FOLDED, **changes), lambda said: len(said.raw)).messages[index]
    assert (found.index, found.role, found.tokens) == (index, TOLD_SIX[index].role, len(TOLD_SIX[index].raw))
    assert (found.fate, found.why) == (fate, why)


def test_the_blocks_are_told_with_it() -> None:
    found = explained(TOLD_SIX, replace(FOLDED, volatile="<recalled>…</recalled>"), lambda _: 1)
    assert (found.head, found.volatile) == ("<memory>…</memory>", "<recalled>…</recalled>")


def test_messages_are_shown_on_one_line_and_not_whole() -> None:
    (found,) = explained(messages(user("a\n b " + "c" * 99)), None, lambda _: 1).messages
    assert found.begins == "a b " + "c" * 56


def test_a_turn_that_opens_the_conversation_is_the_first() -> None:
    found = explained(messages(user("one"), assistant("1"), user("two")), Fates(0, 2, 2, 2), lambda _: 1)
    assert found.messages[0].why == "turn 1 left the window, and no summary tells of it"


def test_they_are_kept_as_they_were() -> None:
    assert unpack(pack(FOLDED)) == FOLDED


def test_planning_decides_them_and_a_turn_that_goes_on_keeps_what_was_recalled() -> None:
    def remembered(of: Case) -> Memory:
        return Memory(wanted=600, is_asked_for=True, recall=recalling(of, only=lambda index: index in (2, 5)))

    teller = Teller(limit=2_000)
    said = [*(each for number in range(30) for each in exchange(number)), user("What was the first thing?")]
    teller.tell(*said[:-1])
    asked = teller.ask(*said, memory=remembered)
    goes_on = teller.ask(*said, calling("c"), result("c"))
    for told in (asked, goes_on):
        found = explained(told.case.messages, told.managed.fates, counter.message)
        assert [each.index for each in found.messages if each.fate == "recalled"] == [2, 5]
        kept = [told.case.messages[each.index] for each in found.messages if each.why in ("window", "newest turn")]
        assert [each.role for each in kept] == [each.role for each in told.sent]
        assert (found.head in str(told.sent[0].data["content"]), "<recalled>" in found.volatile) == (True, True)


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


@pytest.mark.parametrize(("dialect", "asks"), [("openai", True), ("generic", False)])
def test_under_a_limit_it_is_asked_for_wherever_it_can_be(dialect: str, *, asks: bool) -> None:
    """Thoughts are billed, and no stream shows them."""
    upstream = upstream_config(dialect=dialect, stream_usage="as-is")
    assert assemble(chat(user("hi"), stream=True), UNTOUCHED, upstream, is_limited=True).strip_usage is asks


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


def test_what_was_planned_for_one_upstream_is_checked_by_the_rules_of_another() -> None:
    planned = replace(managed(user("hi"), user("and?")), dialect="openai")
    assert assemble(LONG, planned, upstream_config(dialect="openai")).plan is planned
    assert assemble(LONG, planned, upstream_config(dialect="vllm")).plan.kind == "fail-open"


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
