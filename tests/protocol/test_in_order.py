"""Deltas of a completion in order: calls that come interleaved are told one after another, all others as they come."""

import json
from operator import itemgetter
from typing import Any

import msgspec
import pytest
from anthropic.lib.streaming._messages import accumulate_event
from anthropic.types import RawMessageStreamEvent
from hypothesis import given
from hypothesis import strategies as st
from openai import omit
from openai.lib.streaming.responses._responses import ResponseStreamState
from openai.types.responses import ResponseStreamEvent
from pydantic import TypeAdapter

from proxy.protocol.in_order import InOrder
from proxy.protocol.messages.events import MessageEvents
from proxy.protocol.messages.output import Frame as MessageFrame
from proxy.protocol.origin import Origin
from proxy.protocol.responses.events import ResponseEvents
from proxy.protocol.responses.output import Frame as ResponseFrame
from proxy.protocol.responses.request import parse
from tests.other_apis import events_of, misplaced_events, misplaced_message_events

Json = Any
MESSAGE_EVENT: TypeAdapter[Any] = TypeAdapter(RawMessageStreamEvent)
RESPONSE_EVENT: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)


def begin(index: int, text: str = "") -> Json:
    return {"index": index, "id": f"call_{index}", "function": {"name": f"tool{index}", "arguments": text}}


def go_on(index: int, text: str) -> Json:
    return {"index": index, "function": {"arguments": text}}


def calls(*given: Json) -> Json:
    return {"tool_calls": list(given)}


def told(*deltas: Json) -> list[list[tuple[str, str]]]:
    """What is told after each delta, and at last: (block, text)."""
    order = InOrder()
    pieces = [*[order.feed({"delta": delta}) for delta in deltas], order.rest()]
    return [[(each.name or each.kind, each.text) for each in some] for some in pieces]


@pytest.mark.parametrize(
    ("deltas", "expected"),
    [
        pytest.param(
            [{"reasoning_content": "So"}, {"content": "A"}, {"content": "B"}],
            [[("reasoning", "So")], [("text", "A")], [("text", "B")], []],
            id="texts are told as they come",
        ),
        pytest.param(
            [calls(begin(0)), calls(go_on(0, '{"a":')), calls(go_on(0, "1}")), calls(begin(1, "{}"))],
            [[], [("tool0", '{"a":')], [("tool0", "1}")], [("tool1", "{}")], []],
            id="so are calls after one another",
        ),
        pytest.param(
            [calls(begin(0)), calls(begin(1)), calls(go_on(1, "{}")), calls(go_on(0, "{")), calls(go_on(0, "}"))],
            [[], [("tool0", "")], [], [("tool0", "{")], [("tool0", "}"), ("tool1", "{}")], []],
            id="a call waits for the one before it",
        ),
        pytest.param(
            [calls(begin(0, "{")), {"content": "A"}, calls(begin(1, "{}")), {"content": "B"}, calls(go_on(0, "}"))],
            [
                [("tool0", "{")],
                [],
                [],
                [],
                [("tool0", "}"), ("text", "A"), ("tool1", "{}"), ("text", "B")],
                [],
            ],
            id="so does a text",
        ),
        pytest.param(
            [calls(begin(0)), calls(begin(1, "{}"))],
            [[], [("tool0", "")], [("tool1", "{}")]],
            id="without arguments the end tells that a call is over",
        ),
        pytest.param(
            [calls(begin(0, "{}")), calls({**begin(1, "{}"), "index": 0})],
            [[("tool0", "{}")], [("tool1", "{}")], []],
            id="another id is another call, whatever its index",
        ),
        pytest.param(
            [calls({"index": 0, "id": "c"}), calls({"index": 0, "function": {"name": "look", "arguments": "{}"}})],
            [[], [("look", "{}")], []],
            id="a call begins with its name",
        ),
        pytest.param(
            [calls(begin(0, '{"a": "}')), calls(begin(1, "{}")), calls(go_on(0, '"}'))],
            [[("tool0", '{"a": "}')], [], [("tool0", '"}'), ("tool1", "{}")], []],
            id="a brace in a string is no end",
        ),
        pytest.param(
            [calls(begin(0, "not JSON")), calls(begin(1, "{}"))],
            [[("tool0", "not JSON")], [], [("tool1", "{}")]],
            id="what is no JSON is over at the end",
        ),
        pytest.param(
            [
                calls({"id": "c", "function": {"name": "lo"}}),
                calls({"function": {"name": "ok"}}),
                calls(go_on(0, "{}")),
            ],
            [[], [], [("look", "{}")], []],
            id="a name may come in pieces",
        ),
        pytest.param(
            [calls(begin(0)), calls({"index": 0, "function": {"name": "tool0", "arguments": "{}"}})],
            [[], [("tool0", "{}")], []],
            id="or again",
        ),
        pytest.param([calls(begin(0))], [[], [("tool0", "")]], id="a call without arguments is told at the end"),
        pytest.param(
            [calls({"function": {"name": "look", "arguments": {"at": "x"}}})],
            [[("look", '{"at":"x"}')], []],
            id="arguments may be an object",
        ),
        pytest.param(
            [calls({"type": "custom", "custom": {"name": "sh", "input": "ls"}})],
            [[("sh", '{"input":"ls"}')], []],
            id="a custom tool has an input",
        ),
        pytest.param(
            [calls({"index": 0, "function": {"arguments": "{}"}}), calls(begin(1, "{}"))],
            [[], [], [("call", "{}"), ("tool1", "{}")]],
            id="what never gets a name is told at the end",
        ),
        pytest.param([calls(None, {"index": "x"}), {"tool_calls": 3}, {}], [[], [], [], [("call", "")]], id="nonsense"),
    ],
)
def test_pieces_are_told_when_the_block_before_them_is_over(deltas: list[Json], expected: Json) -> None:
    assert told(*deltas) == expected


@pytest.mark.parametrize(
    ("choices", "expected"),
    [
        pytest.param([{"delta": None}, {"delta": {"content": "A"}}], "A", id="a delta that is null"),
        pytest.param([{"message": {"content": "A"}}], "A", id="a message in its place"),
        pytest.param(
            [{"delta": {"content": "A"}, "message": {"content": "A"}}, {"message": {"content": "A"}}],
            "A",
            id="a message that repeats what was told",
        ),
        pytest.param([{"delta": []}, {"delta": "B"}, None, {"delta": {"content": "A"}}], "A", id="nonsense"),
    ],
)
def test_an_answer_is_told_once_in_whatever_form_it_comes(choices: list[Json], expected: str) -> None:
    order = InOrder()
    assert (
        "".join(piece.text for each in choices for piece in order.feed(order.choice({"choices": [each]}))) == expected
    )


@pytest.mark.parametrize(
    ("chunks", "expected"),
    [
        ([[0, 1], [1, 0], [1], [0]], [0, 0, None, 0]),
        ([[1, 0], [0], [1]], [1, None, 1]),
        ([[], [0]], [None, 0]),
    ],
)
def test_of_several_choices_the_first_is_the_answer(chunks: list[list[int]], expected: list[int | None]) -> None:
    order = InOrder()
    assert [order.choice({"choices": [{"index": at} for at in each]}).get("index") for each in chunks] == expected


@st.composite
def interleaved(draw: st.DrawFn) -> tuple[list[Json], list[Json]]:
    """Deltas of several calls in any order, and the calls that they add up to; a text or a thought may come before."""
    count = draw(st.integers(1, 4))
    wanted = [{"q": draw(st.text(max_size=8) | st.integers() | st.none())} for _ in range(count)]
    queues: list[list[Json]] = []
    for index, arguments in enumerate(wanted):
        text = json.dumps(arguments, ensure_ascii=draw(st.booleans()))
        cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=4)))
        pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
        first = begin(index, pieces[0]) if draw(st.booleans()) else begin(index)
        rest = pieces[1:] if first["function"]["arguments"] == pieces[0] else pieces
        queues.append([first, *(go_on(index, piece) for piece in rest)])
    deltas: list[Json] = [{"reasoning_content": "So"}] if draw(st.booleans()) else []
    deltas += [{"content": "A"}] if draw(st.booleans()) else []
    while ready := [queue for queue in queues if queue]:
        several = draw(st.lists(st.sampled_from(range(len(ready))), min_size=1, max_size=2, unique=True))
        deltas.append(calls(*(ready[at].pop(0) for at in several)))
    return deltas, wanted


def chunks(deltas: list[Json]) -> list[Json]:
    made = [{"model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    return [*made, {"model": "m", "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}]


@given(interleaved())
def test_anthropics_sdk_adds_any_interleaving_up_to_the_same_calls(made: tuple[list[Json], list[Json]]) -> None:
    deltas, wanted = made
    events = MessageEvents(MessageFrame("1", "m"))
    stream = events_of(b"".join(map(events.feed, chunks(deltas))) + events.ended())
    assert misplaced_message_events(stream) == []
    snapshot: Any = None
    buffers: dict[int, bytes] = {}
    for each in stream:
        snapshot = accumulate_event(
            event=MESSAGE_EVENT.validate_python(each), current_snapshot=snapshot, json_bufs=buffers
        )
    found = [block for block in snapshot.content if block.type == "tool_use"]
    assert sorted([(block.id, block.name, block.input) for block in found], key=itemgetter(0)) == [
        (f"call_{at}", f"tool{at}", arguments) for at, arguments in enumerate(wanted)
    ]


@given(interleaved())
def test_openais_sdk_adds_any_interleaving_up_to_the_same_calls(made: tuple[list[Json], list[Json]]) -> None:
    deltas, wanted = made
    origin = parse(msgspec.json.encode({"model": "m", "input": "x"})).origin
    assert isinstance(origin, Origin)
    events = ResponseEvents(ResponseFrame("1", "m", 1.0, origin))
    stream = b"".join(map(events.feed, chunks(deltas)))
    ending, whole = events.ended()
    every = events_of(stream + ending + events.last(whole))
    assert misplaced_events(every) == []
    state: Any = ResponseStreamState(input_tools=[], text_format=omit)
    for each in every:
        state.handle_event(RESPONSE_EVENT.validate_python(each))
    output = state._completed_response.output  # noqa: SLF001 (the SDK tells it in no other way without a connection)
    found = [item for item in output if item.type == "function_call"]
    said = [(item.call_id, item.name, json.loads(item.arguments)) for item in found]
    assert sorted(said, key=itemgetter(0)) == [
        (f"call_{at}", f"tool{at}", arguments) for at, arguments in enumerate(wanted)
    ]
