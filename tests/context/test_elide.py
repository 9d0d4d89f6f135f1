"""What a model is not told again, when, and that everything is said again after a failure."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from proxy.config.builtin_profiles import BUILT_IN
from proxy.config.profiles import Elide, Profile
from proxy.context.economics import Rates
from proxy.context.elide import (
    Elided,
    Elision,
    Instructions,
    applied,
    choose,
    passed,
    possible,
    shortened,
    without,
)
from proxy.conversation.progress import Case, progress
from proxy.protocol.chat import tool
from proxy.protocol.message import message
from proxy.types import ChatRequest, PathState
from tests.builders import assistant, calling, chat, counter, identity, result, system, user

ALL = Elide(tools=True, format=True, examples=True)
NONE = Elide(tools=False, format=False, examples=False)
SYSTEM = message(
    {
        "role": "system",
        "content": "You sell tea.\n<format>\nJSON only.\n</format>\n<examples>\nQ: Tea?\nA: {}\n</examples>\nBe kind.",
        "cache_control": {"type": "ephemeral"},
    }
)
WEATHER = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "The weather of a place, " + "in many words " * 20,
        "parameters": {
            "type": "object",
            "description": "What to ask.",
            "properties": {
                "place": {"type": "string", "description": "A city."},
                "description": {"type": "string"},
                "days": {"type": "array", "items": {"type": "integer", "description": "A day."}},
            },
            "required": ["place"],
            "additionalProperties": False,
        },
    },
}
CLOCK = {"type": "function", "function": {"name": "clock", "description": "The time."}}
SAID = Instructions(SYSTEM, [tool(WEATHER), tool(CLOCK)])
EVERYTHING = Elided(frozenset({"weather"}), frozenset({"format", "examples"}))

SCHEMA = {"type": "json_schema", "json_schema": {"name": "tea", "schema": {"type": "object", "required": ["tea"]}}}


def calls(name: str, arguments: str) -> dict[str, Any]:
    return {"content": None, "tool_calls": [{"id": "a", "function": {"name": name, "arguments": arguments}}]}


@pytest.mark.note("3.3/5", "7 SÍ/7")
@pytest.mark.parametrize(
    ("answer", "response_format", "expected"),
    [
        ({"content": "Tea."}, None, None),
        ({"content": "Tea."}, {"type": "text"}, None),
        ({"content": '{"tea": "green"}'}, SCHEMA, True),
        ({"content": [{"type": "text", "text": '{"tea": 1}'}]}, SCHEMA, True),
        ({"content": '{"coffee": 1}'}, SCHEMA, False),
        ({"content": "Sure! {}"}, SCHEMA, False),
        ({"content": None}, SCHEMA, False),
        ({"content": "{}"}, {"type": "json_schema", "json_schema": {"schema": {"type": 5}}}, False),
        ({"content": "{}"}, {"type": "json_schema"}, True),
        ({"content": "{}"}, {"type": "json_object"}, True),
        ({"content": "[]"}, {"type": "json_object"}, False),
        ({"content": "{"}, {"type": "json_object"}, False),
        ({"content": "[" * 5_000}, {"type": "json_object"}, False),
        (calls("weather", '{"place": "Rosario"}'), None, True),
        (calls("weather", '{"place": "Rosario"}'), SCHEMA, True),
        (calls("weather", '{"town": "Rosario"}'), None, False),
        (calls("weather", "Rosario"), None, False),
        (calls("clock", ""), None, True),
        (calls("oracle", "{}"), None, False),
        ({"tool_calls": ["odd"]}, None, False),
    ],
)
def test_an_answer_passes_if_it_has_the_structure_that_was_asked_for(
    answer: Mapping[str, Any], response_format: Any, expected: bool | None
) -> None:
    asked = chat(response_format=response_format).response_format
    assert passed(message(answer), asked, SAID.tools) is expected


def test_a_schema_that_lies_elsewhere_is_not_fetched(tmp_path: Path) -> None:
    elsewhere = tmp_path / "schema.json"
    elsewhere.write_text("{}")
    schema = {"type": "json_schema", "json_schema": {"schema": {"$ref": elsewhere.as_uri()}}}
    asked = chat(response_format=schema).response_format
    assert passed(message({"content": "{}"}), asked, []) is False


@pytest.mark.note("3.3/1", "3.3/3", "7 NO/7")
@pytest.mark.parametrize(
    ("wanted", "used", "valid", "expected"),
    [
        (NONE, {"weather"}, True, Elided()),
        (ALL, {"weather"}, True, EVERYTHING),
        (ALL, {"weather", "oracle"}, False, Elided()),  # all is said again
        (ALL, {"weather"}, None, Elided(frozenset({"weather"}))),  # format and examples: only after one that passed
        (ALL, set(), True, Elided(tags=frozenset({"format", "examples"}))),
        (Elide(tools=False, format=True, examples=False), {"weather"}, True, Elided(tags=frozenset({"format"}))),
    ],
)
def test_what_may_be_left_out(wanted: Elide, used: set[str], valid: bool | None, expected: Elided) -> None:
    assert possible(wanted, SAID, used, valid) == expected


def test_nothing_can_be_left_out_of_nothing() -> None:
    assert possible(ALL, Instructions(None, []), {"weather"}, valid=True) == Elided()


def test_a_tool_that_cannot_be_read_stays_as_it_is() -> None:
    assert possible(ALL, Instructions(None, [tool({"type": "web_search"})]), {""}, valid=True) == Elided()


def test_no_built_in_profile_leaves_instructions_out() -> None:
    assert all(profile.elide == NONE for profile in BUILT_IN.values())


@pytest.mark.note("3.3/4")
def test_only_what_is_elided_is_missing() -> None:
    sent = applied(SAID, EVERYTHING)
    assert sent.system is not None
    assert sent.system.data == {**SYSTEM.data, "content": "You sell tea.\nBe kind."}
    weather, clock = sent.tools
    assert clock is SAID.tools[1]
    assert weather.definition == {
        "type": "function",
        "function": {
            "name": "weather",
            "parameters": {
                "type": "object",
                "properties": {
                    "place": {"type": "string"},
                    "description": {"type": "string"},  # a parameter of that name
                    "days": {"type": "array", "items": {"type": "integer"}},
                },
                "required": ["place"],
                "additionalProperties": False,
            },
        },
    }


@pytest.mark.parametrize(
    "content",
    [
        "<format>JSON.",  # never closed
        "<format>JSON.</format>",  # nothing would be left
        [{"type": "text", "text": "<format>JSON.</format>"}],
        None,
    ],
)
def test_a_system_message_that_cannot_be_cut_stays_as_it_is(content: Any) -> None:
    system = message({"role": "system", "content": content})
    assert applied(Instructions(system, []), EVERYTHING).system is system


def test_text_parts_are_cut_one_by_one() -> None:
    parts = [{"type": "text", "text": "Sell.<format>JSON.</format>", "x": 1}, {"type": "text", "text": "Be kind."}]
    sent = applied(Instructions(message({"role": "system", "content": parts}), []), EVERYTHING).system
    assert sent is not None
    assert sent.data["content"] == [{"type": "text", "text": "Sell.", "x": 1}, parts[1]]


WARM, COLD = Rates(0.1, 1.0), Rates(1.0, 1.0)


def going(requests: int, *, tokens: int = 500, baseline: float = 1e9, spent: float = 0.0) -> PathState:
    return PathState(
        turns=requests,
        at=0.0,
        newest=1,
        before=0,
        original=0,
        sent=tokens,
        stable=tokens - 20,
        baseline=baseline,
        spent=spent,
    )


@pytest.mark.note("3.3/6")
@pytest.mark.parametrize(
    ("before", "may", "state", "rates", "expected"),
    [
        (Elided(), EVERYTHING, going(2), WARM, Elided()),  # saves 11 a request, and costs 320 now
        (Elided(), EVERYTHING, going(40), WARM, EVERYTHING),
        (Elided(), EVERYTHING, going(40, tokens=5_000), WARM, Elided()),
        (Elided(), EVERYTHING, going(40, baseline=100, spent=99), WARM, Elided()),  # never more than pass-through
        (Elided(), EVERYTHING, going(1), COLD, EVERYTHING),
        (EVERYTHING, EVERYTHING, going(2), WARM, EVERYTHING),
        (EVERYTHING, Elided(), going(99), WARM, Elided()),  # an answer failed
        (EVERYTHING, Elided(frozenset({"weather"})), going(1), WARM, Elided(frozenset({"weather"}))),
        (
            Elided(frozenset({"weather"})),
            Elided(frozenset({"weather", "clock"})),
            going(9),  # the clock's description is six tokens
            WARM,
            Elided(frozenset({"weather"})),
        ),
    ],
)
def test_it_is_left_out_when_that_pays_off_and_said_again_at_once(
    before: Elided, may: Elided, state: PathState, rates: Rates, expected: Elided
) -> None:
    assert choose(before, may, SAID, state, rates, counter().text) == expected


PROMPT = "Be brief.\n<format>\nAlways JSON. " + "One object, no list. " * 40 + "</format>\nBe kind."
TOOLS = [{"type": "function", "function": {"name": "look", "description": "Looks it up. " * 40, "parameters": {}}}]
JSON = {"type": "json_object"}
WARM_CACHE, COLD_CACHE = Rates(0.1, 1.0), Rates(1.0, 1.0)


def profile(**wanted: bool) -> Profile:
    return replace(BUILT_IN["agent"], elide=Elide(**{"tools": False, "format": False, "examples": False, **wanted}))


def asked(*said: Any, **fields: Any) -> ChatRequest:
    return chat(system(PROMPT), user("first"), *said, **fields)


def case_of(request: ChatRequest, wanted: Profile, state: PathState | None) -> Case:
    chain = identity(request).chain
    count = counter()
    return Case(
        messages=request.messages,
        chain=chain,
        tokens=lambda index: count.known(request.messages[index], chain[index]),
        overhead=count.overhead(request),
        profile=wanted,
        state=state,
    )


def earlier(**differing: Any) -> PathState:
    values: dict[str, Any] = {
        "turns": 40,
        "at": 0.0,
        "newest": 1,
        "before": 900,
        "original": 1_000,
        "sent": 1_000,
        "stable": 1_000,
        "baseline": 90_000.0,
        "spent": 40_000.0,
    }
    return PathState(**{**values, **differing})


def left_out(
    request: ChatRequest, wanted: Profile, state: PathState | None, rates: Rates = COLD_CACHE
) -> Elision | None:
    _, elision = without(request, case_of(request, wanted, state), rates, counter().text)
    return elision


VALID = assistant('{"a": 1}')


@pytest.mark.parametrize(
    ("request_", "wanted", "tags", "tools"),
    [
        (asked(VALID, user("next"), response_format=JSON), profile(format=True), {"format"}, set()),
        (asked(VALID, user("next"), response_format=JSON), profile(examples=True), None, None),
        (asked(assistant("no JSON"), user("next"), response_format=JSON), profile(format=True), None, None),
        (asked(VALID, user("next")), profile(format=True), None, None),  # no structure was asked for
        (asked(VALID, user("next"), response_format=JSON), profile(), None, None),
        (asked(calling("a"), result("a"), tools=TOOLS), profile(tools=True), set(), {"look"}),
        (asked(assistant("hi"), user("next"), tools=TOOLS), profile(tools=True), None, None),  # not used yet
    ],
)
def test_what_is_left_out(
    request_: ChatRequest, wanted: Profile, tags: set[str] | None, tools: set[str] | None
) -> None:
    elision = left_out(request_, wanted, earlier())
    if tags is None:
        assert elision is None
    else:
        assert elision is not None
        assert (set(elision.elided.tags), set(elision.elided.tools)) == (tags, tools)


def test_a_first_request_says_everything() -> None:
    request = asked(VALID, user("next"), response_format=JSON)
    assert left_out(request, profile(format=True), None) is None


def test_nor_is_it_done_where_it_does_not_pay() -> None:
    request = asked(VALID, user("next"), response_format=JSON)
    state = earlier(turns=2, baseline=1_500.0, spent=1_500.0)
    assert left_out(request, profile(format=True), state, WARM_CACHE) is None


def test_planning_is_given_the_shorter_request_and_its_size() -> None:
    request = asked(VALID, user("next"), response_format=JSON)
    case = case_of(request, profile(format=True), earlier())
    shorter, elision = without(request, case, COLD_CACHE, counter().text)
    assert elision is not None
    assert elision.tools is None  # there were none
    said = shorter.messages[0].data["content"]
    assert "<format>" not in said
    assert said.startswith("Be brief.")
    assert shorter.messages[1:] == request.messages[1:]
    before = progress(case)
    assert before is not None
    after = shortened(before, elision)
    assert before.preamble_tokens - after.preamble_tokens == elision.of_system > 200
    assert elision.of_system == counter().text(PROMPT) - counter().text(said)


def test_tools_are_sent_by_name_and_shape() -> None:
    request = asked(calling("a"), result("a"), tools=TOOLS)
    elision = left_out(request, profile(tools=True), earlier())
    assert elision is not None
    assert elision.tools == [{"type": "function", "function": {"name": "look", "parameters": {}}}]
    assert elision.of_tools > 100


def test_after_a_failure_everything_is_said_again_and_nothing_counts_as_repeated() -> None:
    request = asked(assistant("no JSON"), user("next"), response_format=JSON)
    case = case_of(request, profile(format=True), earlier(elided_tags=("format",)))
    again, elision = without(request, case, COLD_CACHE, counter().text)
    assert elision is not None
    assert elision.is_new
    assert again.messages == request.messages
    assert again.state is not None
    assert again.state.stable == 0
