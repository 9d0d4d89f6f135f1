"""Instructions that need not be repeated, and what planning is told of it."""

from dataclasses import replace
from typing import Any

import pytest

from proxy.config.profiles import BUILT_IN, Elide, Profile
from proxy.context.economics import Rates
from proxy.context.elision import Elision, shortened, without
from proxy.conversation.progress import Case, progress
from proxy.types import ChatRequest, PathState
from tests.builders import assistant, calling, chat, counter, identity, result, system, user

PROMPT = "Be brief.\n<format>\nAlways JSON. " + "One object, no list. " * 40 + "</format>\nBe kind."
TOOLS = [{"type": "function", "function": {"name": "look", "description": "Looks it up. " * 40, "parameters": {}}}]
JSON = {"type": "json_object"}
WARM, COLD = Rates(0.1, 1.0), Rates(1.0, 1.0)


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


def left_out(request: ChatRequest, wanted: Profile, state: PathState | None, rates: Rates = COLD) -> Elision | None:
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
    assert left_out(request, profile(format=True), state, WARM) is None


def test_planning_is_given_the_shorter_request_and_its_size() -> None:
    request = asked(VALID, user("next"), response_format=JSON)
    case = case_of(request, profile(format=True), earlier())
    shorter, elision = without(request, case, COLD, counter().text)
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
    again, elision = without(request, case, COLD, counter().text)
    assert elision is not None
    assert elision.is_new
    assert again.messages == request.messages
    assert again.state is not None
    assert again.state.stable == 0
