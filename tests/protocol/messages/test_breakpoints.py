"""Where breakpoints of the prefix cache stand in a rewritten prompt, and what the provider's cache makes of them."""

import json
from dataclasses import replace
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.protocol.messages import request as adapter
from proxy.protocol.messages.breakpoints import MOST, read
from proxy.protocol.origin import Origin
from proxy.types import Breakpoints, Repeats
from tests.anthropic_cache import AnthropicCache, Bill
from tests.other_apis import dialogues

Json = Any
MARK: Json = {"type": "ephemeral"}
HOUR: Json = {"type": "ephemeral", "ttl": "1h"}
SYSTEM = "Be brief, and kind to everybody who asks. " * 4


def text(said: str, mark: Json = None) -> Json:
    return {"type": "text", "text": said, **({"cache_control": mark} if mark else {})}


def user(*blocks: Json | str) -> Json:
    return {"role": "user", "content": [text(each) if isinstance(each, str) else each for each in blocks]}


def assistant(*blocks: Json | str) -> Json:
    return {**user(*blocks), "role": "assistant"}


def call(number: int) -> Json:
    return assistant({"type": "tool_use", "id": f"t{number}", "name": "look", "input": {"q": 1.50}})


def result(number: int, mark: Json = None) -> Json:
    block = {"type": "tool_result", "tool_use_id": f"t{number}", "content": f"found {number}"}
    return user({**block, **({"cache_control": mark} if mark else {})})


def loop(start: int, stop: int) -> list[Json]:
    return [said for number in range(start, stop) for said in (call(number), result(number))]


def written(messages: list[Json], repeats: Repeats, **fields: Json) -> Json:
    """As the upstream gets it. `repeats.messages` is counted without instructions here."""
    body = json.dumps({"model": "m", "max_tokens": 9, "messages": messages, **fields}).encode()
    request = adapter.parse(body)
    if request.messages[0].role == "system":
        repeats = replace(repeats, messages=repeats.messages + 1)
    assert isinstance(request.origin, Origin)
    return msgspec.json.decode(adapter.written(request.origin, request.messages, None, repeats))


def marks(body: Json) -> list[str]:
    """Places of breakpoints: `m2.0` is the first block of the third message."""
    places = [f"t{at}" for at, tool in enumerate(body.get("tools") or ()) if tool.get("cache_control")]
    system = body.get("system")
    blocks = system if isinstance(system, list) else ()
    places += [f"s{at}" for at, block in enumerate(blocks) if block.get("cache_control")]
    for number, said in enumerate(body["messages"]):
        content = said["content"] if isinstance(said["content"], list) else ()
        for at, block in enumerate(content):
            if mark := block.get("cache_control"):
                places.append(f"m{number}.{at}" + ("h" if mark.get("ttl") == "1h" else ""))
    return places


TALK = [user("1?"), assistant("1", "2"), user("2?"), assistant("3"), user("3?")]
THOUGHT: Json = {"type": "thinking", "thinking": "So", "signature": "signed"}


@pytest.mark.parametrize(
    ("messages", "repeats", "fields", "expected"),
    [
        pytest.param(TALK, Repeats(5, whole=True, minimum=0), {}, ["m4.0"], id="all is repeated: on the last block"),
        pytest.param(TALK, Repeats(4, whole=False, minimum=0), {}, ["m3.0"], id="the newest turn is not"),
        pytest.param(TALK, Repeats(0, whole=False, minimum=0), {}, [], id="nothing is"),
        pytest.param(
            TALK, Repeats(0, whole=False, minimum=0), {"system": SYSTEM}, ["s0"], id="instructions are, whatever else"
        ),
        pytest.param(
            TALK,
            Repeats(4, whole=False, minimum=0),
            {"system": [text(SYSTEM, MARK)], "tools": [{"name": "look", "input_schema": {}}]},
            ["s0", "m3.0"],
            id="the client's stays",
        ),
        pytest.param(
            TALK,
            Repeats(4, whole=False, minimum=0),
            {"tools": [{"name": "look", "input_schema": {}}]},
            ["t0", "m3.0"],
            id="without instructions it is on the last tool",
        ),
        pytest.param(
            [*TALK[:4], user(text("3?", MARK))],
            Repeats(5, whole=True, minimum=0),
            {"system": [text(SYSTEM, MARK)]},
            ["s0", "m4.0"],
            id="the client's own is where ours would be",
        ),
        pytest.param(
            [user(text("1?", MARK), text("1", MARK)), assistant(text("1", MARK)), *TALK[2:]],
            Repeats(4, whole=False, minimum=0),
            {"system": [text(SYSTEM, MARK)]},
            ["s0", "m0.0", "m0.1", "m1.0"],
            id="no room",
        ),
        pytest.param(
            TALK, Repeats(5, whole=True, minimum=0), {"cache_control": MARK}, [], id="the provider sets one at the end"
        ),
        pytest.param(
            TALK, Repeats(4, whole=False, minimum=0), {"cache_control": MARK}, ["m3.0"], id="and ours is before it"
        ),
        pytest.param(
            [*TALK[:3], assistant("3", THOUGHT), user("3?")],
            Repeats(4, whole=False, minimum=0),
            {},
            ["m3.0"],
            id="none on thinking",
        ),
        pytest.param(
            [*TALK[:3], assistant("3", ""), user("3?")],
            Repeats(4, whole=False, minimum=0),
            {},
            ["m3.0"],
            id="nor on nothing",
        ),
        pytest.param(
            [*TALK[:4], user(text("3?", HOUR))],
            Repeats(4, whole=False, minimum=0),
            {"system": [text(SYSTEM, HOUR)]},
            ["s0", "m3.0h", "m4.0h"],
            id="one of an hour is never behind five minutes",
        ),
        pytest.param(
            TALK,
            Repeats(4, whole=False, minimum=0),
            {"system": [text(SYSTEM, HOUR)]},
            ["s0", "m3.0h"],
            id="as long as what is before it",
        ),
        pytest.param(
            TALK, Repeats(5, whole=True, minimum=512), {"system": SYSTEM}, [], id="too short for the provider"
        ),
        pytest.param(
            [*TALK, *loop(0, 3)],
            Repeats(4, whole=True, minimum=0),
            {},
            ["m3.0", "m10.0"],
            id="a turn that goes on has two",
        ),
        pytest.param(
            [*TALK, *loop(0, 12), assistant("4"), user("4?")],
            Repeats(30, whole=False, minimum=0),
            {},
            ["m3.0", "m29.0"],
            id="where a long turn began is marked again",
        ),
        pytest.param(
            [*TALK, *loop(0, 30)],
            Repeats(65, whole=True, minimum=0),
            {},
            ["m1.1", "m26.0", "m45.0", "m64.0"],
            id="and so is what is between",
        ),
    ],
)
def test_a_breakpoint_is_where_later_requests_find_it(
    messages: list[Json], repeats: Repeats, fields: Json, expected: list[str]
) -> None:
    assert marks(written(messages, repeats, **fields)) == expected


def test_a_block_with_a_breakpoint_keeps_the_bytes_of_its_values() -> None:
    body = json.dumps({"model": "m", "messages": [*TALK, call(0)]}).replace("1.5", "1.50").encode()
    request = adapter.parse(body)
    assert isinstance(request.origin, Origin)
    again = adapter.written(request.origin, request.messages, None, Repeats(6, whole=True, minimum=0))
    assert b'"input":{"q": 1.50},"cache_control"' in again


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, Breakpoints()),
        ({"cache_control": MARK}, Breakpoints(automatic=True)),
        ({"cache_control": HOUR}, Breakpoints(automatic=True, for_an_hour=True)),
        ({"system": [text("s", HOUR)]}, Breakpoints(instructions=True, for_an_hour=True)),
        ({"tools": [{"name": "look", "cache_control": MARK}]}, Breakpoints(instructions=True)),
        (
            {"system": [text("s", HOUR)], "messages": [user(text("1?", MARK))]},
            Breakpoints(instructions=True, messages=True),
        ),
        ({"messages": [user(text("1?", HOUR))]}, Breakpoints(messages=True, for_an_hour=True)),
    ],
)
def test_the_clients_breakpoints_are_known(fields: Json, expected: Breakpoints) -> None:
    given = {"model": "m", "messages": TALK, **fields}
    assert read(fields, given["messages"]) == expected
    origin = adapter.parse(json.dumps(given).encode()).origin
    assert origin is not None
    assert origin.breakpoints == expected


def told(*bodies: Json) -> list[Bill]:
    """Requests after one another, a minute apart."""
    cache = AnthropicCache(lambda said: len(said) // 4, minimum=16)
    return [cache.billed(body, 60.0 * at) for at, body in enumerate(bodies)]


def test_the_next_turn_reads_what_a_recalled_text_did_not_change() -> None:
    recalled = user("<recalled>\nx\n</recalled>\n\n3?")
    first = written([*TALK[:4], recalled], Repeats(4, whole=False, minimum=16), system=SYSTEM)
    second = written([*TALK, assistant("4"), user("4?")], Repeats(7, whole=True, minimum=16), system=SYSTEM)
    before, after = told(first, second)
    assert before.fresh > 0
    assert after.read == before.written
    assert after.fresh == 0


def test_a_long_turn_with_recalled_text_does_not_hide_what_was_before_it() -> None:
    start = TALK[:4]
    recalled = user("<recalled>\nx\n</recalled>\n\n3?")
    turn = [
        written([*start, recalled, *loop(0, calls)], Repeats(4, whole=calls > 0, minimum=16), system=SYSTEM)
        for calls in range(16)
    ]
    said = [*start, user("3?"), *loop(0, 15), assistant("4"), user("4?")]
    after = written(said, Repeats(37, whole=True, minimum=16), system=SYSTEM)
    bills = told(*turn, after)
    assert all(bill.read for bill in bills[1:])
    assert all(bill.read > 0.7 * bill.tokens for bill in bills[3:-1])  # of the loop, all but its newest call is read
    assert bills[-1].read >= bills[0].written


def test_after_a_fold_the_instructions_are_read() -> None:
    before = written(TALK, Repeats(5, whole=True, minimum=16), system=SYSTEM)
    folded = written([user("<memory>\n1\n</memory>\n\n3?")], Repeats(1, whole=True, minimum=16), system=SYSTEM)
    first, second = told(before, folded)
    assert 0 < second.read < first.written
    assert (
        second.read
        == AnthropicCache(lambda said: len(said) // 4, minimum=16).billed({**folded, "messages": []}).written
    )


@given(
    st.lists(st.sampled_from([None, MARK, HOUR]), max_size=5),
    dialogues(),
    st.integers(0, 12),
    st.booleans(),
    st.sampled_from([None, MARK]),
)
def test_ours_never_make_a_request_that_the_provider_refuses(
    of_tools: list[Json], messages: list[Json], count: int, whole: bool, automatic: Json
) -> None:
    marked = sorted(of_tools, key=lambda mark: mark is not HOUR)
    tools = [{"name": f"look{at}", **({"cache_control": mark} if mark else {})} for at, mark in enumerate(marked)]
    fields = {"tools": tools, "system": SYSTEM, **({"cache_control": automatic} if automatic else {})}
    given = {"model": "m", "messages": messages, **fields}
    cache = AnthropicCache(len, minimum=0)
    try:
        cache.billed(given)
    except ValueError:
        return
    again = written(messages, Repeats(count, whole=whole, minimum=0), **fields)
    cache.billed(again)
    assert len(marks(again)) <= MOST
