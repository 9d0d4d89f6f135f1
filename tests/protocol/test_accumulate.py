"""A stream adds up to the completion it would have been, in every provider's way of streaming; or is not complete."""

from typing import Any, TypeAlias

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.protocol.accumulate import Accumulator
from proxy.types import Usage
from tests.examples import examples

Body: TypeAlias = dict[str, Any]


def fed(*chunks: Body | bytes, max_bytes: int = 2**20) -> Accumulator:
    accumulator = Accumulator(max_bytes)
    for chunk in chunks:
        accumulator.feed(chunk if isinstance(chunk, bytes) else msgspec.json.encode(chunk))
    return accumulator


def delta(index: int = 0, /, finish: str | None = None, **fields: Any) -> Body:
    choice = {"index": index, "delta": fields, "finish_reason": finish}
    return {"id": "c1", "object": "chat.completion.chunk", "created": 7, "model": "m", "choices": [choice]}


def choice(**fields: Any) -> Body:
    return {"id": "c1", "created": 7, "model": "m", "choices": [{"index": 0, **fields}]}


def call(name: str | None = None, arguments: str = "", **fields: Any) -> Body:
    function = {"arguments": arguments} if name is None else {"name": name, "arguments": arguments}
    return {**fields, "function": function}


STOP = delta(finish="stop")


def message(*chunks: Body) -> Body:
    accumulator = fed(*chunks, STOP)
    assert accumulator.complete
    merged: Body = accumulator.completion()["choices"][0]["message"]
    return {key: value for key, value in merged.items() if key != "role"}


def test_a_plain_stream_becomes_the_completion_it_would_have_been() -> None:
    accumulator = fed(
        delta(role="assistant", content="", refusal=None) | {"system_fingerprint": "fp", "service_tier": "default"},
        delta(content="Ho"),
        delta(content="la"),
        STOP,
        {"id": "c1", "choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}},
        b"[DONE]",
    )
    assert accumulator.complete
    assert accumulator.completion() == {
        "id": "c1",
        "object": "chat.completion",
        "created": 7,
        "model": "m",
        "system_fingerprint": "fp",
        "service_tier": "default",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "Hola", "refusal": None},
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 3, "completion_tokens": 2},
    }
    assert accumulator.usage == Usage(3, 2)
    assert accumulator.model == "m"


@pytest.mark.parametrize(
    ("deltas", "merged"),
    [
        pytest.param(
            [{"reasoning_content": "a"}, {"reasoning_content": "b", "content": None}, {"content": "c"}],
            {"reasoning_content": "ab", "content": "c"},
            id="deepseek: thought, then answer",
        ),
        pytest.param(
            [{"content": None}, {"refusal": "No "}, {"refusal": "puedo"}],
            {"content": None, "refusal": "No puedo"},
            id="refusal",
        ),
        pytest.param([{"content": ""}], {"content": ""}, id="an empty answer"),
        pytest.param([{"content": "x"}, {"content": None}, {}], {"content": "x"}, id="null replaces nothing"),
        pytest.param(
            [
                {"function_call": {"name": "f", "arguments": ""}},
                {"function_call": {"arguments": "{"}},
                {"function_call": {"arguments": "}"}},
            ],
            {"function_call": {"name": "f", "arguments": "{}"}},
            id="function_call",
        ),
        pytest.param(
            [
                {"audio": {"id": "a", "data": "AAAA"}},
                {"audio": {"data": "BBBB", "transcript": "ho"}},
                {"audio": {"transcript": "la", "expires_at": 9}},
            ],
            {"audio": {"id": "a", "data": "AAAABBBB", "transcript": "hola", "expires_at": 9}},
            id="audio",
        ),
        pytest.param(
            [{"extra": {"a": "x", "n": 1, "deep": {"b": True}}}, {"extra": {"a": "y", "n": 2, "deep": {"c": None}}}],
            {"extra": {"a": "xy", "n": 2, "deep": {"b": True, "c": None}}},
            id="unknown objects are merged",
        ),
        pytest.param(
            [{"notes": [1]}, {"notes": [{"a": 1}]}, {"notes": [{"a": 2}]}],
            {"notes": [1, {"a": 1}, {"a": 2}]},
            id="unknown arrays grow",
        ),
        pytest.param([{"score": 1}, {"score": None}, {"score": 2.5}], {"score": 2.5}, id="numbers: the last"),
        pytest.param(
            [
                {"reasoning_details": [{"type": "reasoning.text", "index": 0, "format": "v1", "text": "a"}]},
                {"reasoning_details": [{"type": "reasoning.text", "index": 0, "format": "v1", "text": "b"}]},
                {"reasoning_details": [{"index": 0, "signature": "S"}]},
                {"reasoning_details": [{"type": "reasoning.encrypted", "index": 0, "data": "D"}]},
            ],
            {
                "reasoning_details": [
                    {"type": "reasoning.text", "index": 0, "format": "v1", "text": "ab", "signature": "S"},
                    {"type": "reasoning.encrypted", "index": 0, "data": "D"},
                ]
            },
            id="openrouter: reasoning details",
        ),
    ],
)
def test_deltas_add_up(deltas: list[Body], merged: Body) -> None:
    assert message(*(delta(**fields) for fields in deltas)) == merged


F = {"type": "function"}
TWO_CALLS = [call("a", "{1}", id="x", **F), call("b", "{2}", id="y", **F)]


@pytest.mark.parametrize(
    ("fragments", "calls"),
    [
        pytest.param(
            [
                [call("a", id="x", index=0, **F)],
                [call(None, "{1", index=0)],
                [call(None, "}", index=0), call("b", "{", index=1, id="y", **F)],
                [call(None, "2}", index=1)],
            ],
            TWO_CALLS,
            id="openai",
        ),
        pytest.param(
            [
                [call("b", "{", index=1, id="y", **F)],
                [call("a", "{1", index=0, id="x", **F)],
                [call(None, "2}", index=1), call(None, "}", index=0)],
            ],
            TWO_CALLS,
            id="out of order",
        ),
        pytest.param(
            [[call("a", "{1}", id="x", **F), call("b", "{2}", id="y", **F)]], TWO_CALLS, id="gemini: whole, no index"
        ),
        pytest.param(
            [
                [call("a", "{1", id="x", **F)],
                [call(None, "}", id="x")],
                [call("b", "{", id="y", **F)],
                [call(None, "2}")],
            ],
            TWO_CALLS,
            id="gemini: in pieces, no index",
        ),
        pytest.param(
            [[call("a", "{1}", id="", **F)], [call("b", "{2}", id="", **F)]],
            [call("a", "{1}", id="", **F), call("b", "{2}", id="", **F)],
            id="neither index nor id",
        ),
        pytest.param(
            [[call("a", "{}", id="x", **F)], [{"extra_content": {"google": {"thought_signature": "S"}}}]],
            [call("a", "{}", id="x", **F, extra_content={"google": {"thought_signature": "S"}})],
            id="gemini: a signature on its own",
        ),
        pytest.param(
            [
                [call("a", "{1", index=0, id="x", **F)],
                [call(None, "}", index=0)],
                [call("b", "{", index=0, id="y", **F)],
                [call("", "2}", index=0)],
            ],
            TWO_CALLS,
            id="every call is number 0",
        ),
        pytest.param(
            [
                [call("a", "{1", index=0, id="x", **F)],
                [call("a", "}", index=0, id="x", **F)],
                [call("b", "{2}", index=1, id="y", **F)],
            ],
            TWO_CALLS,
            id="minimax: id and name in every chunk",
        ),
        pytest.param(
            [[call("get_", index=0, id="x")], [call("time", index=0, id="")], [call("", "{}", index=0)]],
            [call("get_time", "{}", id="x")],
            id="a name in pieces",
        ),
        pytest.param(
            [[call("get_", index=0)], [call("time", index=0)], [call("get_time", "{}", index=0)]],
            [call("get_time", "{}")],
            id="a name in pieces, then whole",
        ),
        pytest.param(
            [[call("a", "{}", index=0, id="1")], [call(None, "", index=0, id="2")]],
            [call("a", "{}", id="2")],
            id="an id that changes",
        ),
        pytest.param(
            [[{"index": 0, "id": "x", "function": None}], [call("a", "{}", index=0)]],
            [call("a", "{}", id="x")],
            id="function comes later",
        ),
        pytest.param([[]], [], id="an empty array"),
    ],
)
def test_tool_calls_add_up(fragments: list[list[Body]], calls: list[Body]) -> None:
    assert message(*(delta(tool_calls=fragment) for fragment in fragments)) == {"tool_calls": calls}


def test_tool_calls_may_be_null_before_and_after() -> None:
    chunks = [delta(tool_calls=None), delta(tool_calls=[call("a", "{}", index=0)]), delta(tool_calls=None)]
    assert message(*chunks) == {"tool_calls": [call("a", "{}")]}
    assert message(delta(tool_calls=None)) == {"tool_calls": None}


def test_choices_are_kept_apart_and_in_order() -> None:
    accumulator = fed(
        delta(1, content="b"),
        delta(0, content="a"),
        delta(1, content="B"),
        delta(0, finish="stop"),
        delta(1, finish="length"),
    )
    assert accumulator.complete
    told = [(c["index"], c["message"]["content"], c["finish_reason"]) for c in accumulator.completion()["choices"]]
    assert told == [(0, "a", "stop"), (1, "bB", "length")]


def test_a_choice_without_index_is_known_by_its_place() -> None:
    accumulator = fed({"choices": [{"delta": {"content": "a"}}, {"delta": {"content": "b"}, "finish_reason": "stop"}]})
    assert [c["message"]["content"] for c in accumulator.completion()["choices"]] == ["a", "b"]
    assert not accumulator.complete


def test_logprobs_grow() -> None:
    accumulator = fed(
        choice(delta={"content": "a"}, logprobs={"content": [{"token": "a"}], "refusal": None}),
        choice(delta={"content": "b"}, logprobs={"content": [{"token": "b"}], "refusal": [{"token": "r"}]}),
        choice(delta={}, logprobs=None, finish_reason="stop"),
    )
    logprobs = {"content": [{"token": "a"}, {"token": "b"}], "refusal": [{"token": "r"}]}
    assert accumulator.completion()["choices"][0]["logprobs"] == logprobs


def test_azure_repeats_its_filter_results_and_sends_chunks_without_identity() -> None:
    safe = {"hate": {"filtered": False, "severity": "safe"}}
    nobody = {"id": "", "object": "", "created": 0, "model": ""}
    accumulator = fed(
        {**nobody, "choices": [], "prompt_filter_results": [{"prompt_index": 0}]},
        choice(delta={"content": "a"}, content_filter_results=safe),
        choice(delta={"content": "b"}, content_filter_results=safe),
        choice(delta={}, content_filter_results={}, finish_reason="stop"),
        {**nobody, "choices": [{"index": 0, "finish_reason": None, "content_filter_offsets": {"end_offset": 2}}]},
    )
    completion = accumulator.completion()
    assert accumulator.complete
    assert (completion["id"], completion["created"], completion["model"]) == ("c1", 7, "m")
    assert completion["prompt_filter_results"] == [{"prompt_index": 0}]
    assert completion["choices"][0]["content_filter_results"] == safe
    assert completion["choices"][0]["content_filter_offsets"] == {"end_offset": 2}


def test_of_the_chunks_own_fields_the_last_value_counts_and_padding_none() -> None:
    accumulator = fed(
        STOP | {"citations": ["a"], "provider": "X", "x_groq": {"id": "r"}, "obfuscation": "aaaa"},
        STOP | {"citations": ["a", "b"], "provider": None, "obfuscation": "b"},
    )
    head = {"citations": ["a", "b"], "provider": "X", "x_groq": {"id": "r"}}
    assert {key: value for key, value in accumulator.completion().items() if key in (*head, "obfuscation")} == head


def test_a_message_stands_in_for_deltas_only_where_there_are_none() -> None:
    assert fed(choice(message={"content": "hola"}, finish_reason="stop")).completion()["choices"][0]["message"] == {
        "role": "assistant",
        "content": "hola",
    }
    both = fed(
        choice(delta={"content": "ho"}, message={"content": "ho"}),
        choice(delta={"content": "la"}, message={"content": "hola"}),
    )
    assert both.completion()["choices"][0]["message"]["content"] == "hola"
    summed_up = fed(choice(delta={"content": "hola"}), choice(message={"content": "hola"}, finish_reason="stop"))
    assert summed_up.completion()["choices"][0]["message"]["content"] == "hola"


KIMI = {"prompt_tokens": 19, "completion_tokens": 13, "cached_tokens": 16}


@pytest.mark.parametrize(
    "chunks",
    [
        [choice(delta={}, finish_reason="stop", usage=KIMI)],
        [choice(delta={}, finish_reason="stop", usage=KIMI), {"choices": [], "usage": KIMI}],
        [{**delta(content="a"), "usage": {"prompt_tokens": 19, "completion_tokens": 1}}, {**STOP, "usage": KIMI}],
        [
            {**STOP, "usage": KIMI},
            {**delta(), "usage": None},
            {"choices": [], "usage": "?"},
            {"choices": [], "usage": {}},
        ],
    ],
)
def test_the_last_usage_counts_wherever_it_stands(chunks: list[Body]) -> None:
    accumulator = fed(*chunks)
    assert accumulator.usage == Usage(19, 13, 16)
    assert accumulator.completion()["usage"] == KIMI
    assert "usage" not in accumulator.completion()["choices"][0]


@pytest.mark.parametrize(
    ("chunk", "only_usage"),
    [
        ({"choices": [], "usage": KIMI}, True),
        ({"usage": KIMI}, True),
        ({"choices": [], "usage": None}, False),
        ({"choices": [], "prompt_filter_results": []}, False),
        (choice(delta={}, usage=KIMI), False),
        ({**STOP, "usage": KIMI}, False),
        (b"[DONE]", False),
        (b"?", False),
    ],
)
def test_the_chunk_that_has_nothing_but_usage_is_recognised(chunk: Body | bytes, only_usage: bool) -> None:
    data = chunk if isinstance(chunk, bytes) else msgspec.json.encode(chunk)
    assert Accumulator().feed(data) is only_usage


ERROR = {"error": {"message": "overloaded"}}


@pytest.mark.parametrize(
    ("chunks", "complete"),
    [
        ([STOP, b"[DONE]"], True),
        ([STOP], True),
        ([delta(finish="length")], True),
        ([STOP, b"", b" ", b"[DONE]"], True),
        ([STOP, b"[DONE]", b"garbage after the end"], True),
        ([STOP, {**STOP, "error": None}], True),
        ([], False),
        ([b"[DONE]"], False),
        ([delta(content="a"), b"[DONE]"], False),
        ([delta(content="a", finish=""), b"[DONE]"], False),
        ([delta(0, finish="stop"), delta(1, content="b"), b"[DONE]"], False),
        ([{"choices": [], "usage": KIMI}, b"[DONE]"], False),
        ([STOP, ERROR, b"[DONE]"], False),
        ([delta(finish="error"), b"[DONE]"], False),
        ([delta(finish="insufficient_system_resource"), b"[DONE]"], False),
        ([STOP, b"{"], False),
        ([STOP, b'"chunk"'], False),
        ([STOP, b"[]"], False),
        ([STOP, b"\xff"], False),
        ([STOP, b"[" * 100_000], False),
        ([STOP, b'{"a":' * 100_000], False),
        ([STOP, {"choices": 5}], False),
        ([STOP, {"choices": {"a": 1}}], False),
        ([STOP, {"choices": [None]}], False),
        ([STOP, choice(delta="text")], False),
        ([choice(delta={}, finish_reason=["stop"])], False),
        ([choice(delta={}, finish_reason={"why": ["stop"]})] * 2, False),
        ([choice(delta={}, finish_reason=1)], False),
        ([STOP, delta(content="a"), delta(content=["b"])], False),
        ([STOP, delta(content=["a"]), delta(content="b")], False),
        ([STOP, delta(tool_calls={"a": 1}), delta(tool_calls=[call("a", index=0)])], False),
        ([STOP, delta(tool_calls=[call("a", index=0)]), delta(tool_calls="b")], False),
    ],
)
def test_complete_means_a_finish_reason_for_every_choice_and_nothing_amiss(
    chunks: list[Body | bytes], complete: bool
) -> None:
    assert fed(*chunks).complete is complete


def test_an_error_is_told() -> None:
    assert fed(STOP, ERROR).error == {"message": "overloaded"}


def test_garbage_is_counted() -> None:
    assert fed(b"{", STOP, b"5", b"[DONE]").garbage == 2


def test_past_the_bound_the_text_is_let_go_but_not_the_ending() -> None:
    accumulator = fed(
        *[delta(content="x" * 10) for _ in range(100)],
        delta(finish="stop"),
        {"choices": [], "usage": KIMI},
        max_bytes=500,
    )
    assert accumulator.overflowed
    assert not accumulator.complete
    assert accumulator.usage == Usage(19, 13, 16)
    assert accumulator.completion()["choices"] == [
        {"index": 0, "message": {"role": "assistant"}, "finish_reason": "stop"}
    ]


def test_the_bound_counts_what_is_kept_and_not_what_wraps_it() -> None:
    accumulator = fed(*[delta(content="x") for _ in range(20)], STOP, max_bytes=400)
    assert accumulator.complete
    assert fed(delta(arbitrary={"deep": [["x" * 500]]}), STOP, max_bytes=400).overflowed
    assert fed(delta(tool_calls=[call("f", "x" * 500, index=0)]), STOP, max_bytes=400).overflowed


def test_asking_midway_changes_nothing() -> None:
    accumulator = fed(delta(content="a"), delta(content="b", tool_calls=[call("f", "{", index=0)]))
    first = accumulator.completion()
    assert accumulator.completion() == first
    accumulator.feed(msgspec.json.encode(delta(content="c", tool_calls=[call(None, "}", index=0)])))
    merged = accumulator.completion()["choices"][0]["message"]
    assert (merged["content"], merged["tool_calls"]) == ("abc", [call("f", "{}")])
    assert first["choices"][0]["message"]["content"] == "ab"


_STRUCTURE = ["choices", "delta", "message", "index", "tool_calls", "function", "logprobs", "usage", "error"]
_VALUES = ["id", "name", "type", "content", "arguments", "finish_reason", "prompt_tokens"]
_keys = st.sampled_from([*_STRUCTURE, *_VALUES])
_leaves = (
    st.none() | st.booleans() | st.integers(-2, 3) | st.floats(allow_nan=False) | st.sampled_from(["", "a", "stop"])
)
_json = st.recursive(
    _leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_keys, inner, max_size=4), max_leaves=12
)
_choices = st.lists(st.dictionaries(_keys, _json, max_size=4) | _json, max_size=2)
_chunks = st.fixed_dictionaries({}, optional={"choices": _choices, "usage": _json, "error": _json, "id": _json})


@settings(max_examples=examples(40))
@given(
    st.lists(
        st.one_of(_chunks.map(msgspec.json.encode), _json.map(msgspec.json.encode), st.binary(max_size=8)), max_size=8
    )
)
def test_nothing_that_an_upstream_sends_raises(events: list[bytes]) -> None:
    accumulator = Accumulator(max_bytes=60)
    for data in events:
        accumulator.feed(data)
    msgspec.json.encode(accumulator.completion())
    assert not (accumulator.complete and (accumulator.garbage or accumulator.overflowed or accumulator.error))


# --- many events at once ----------------------------------------------------------------------------------------------

_DELTAS = st.one_of(
    st.fixed_dictionaries({"content": st.text(max_size=3)}),
    st.fixed_dictionaries({"reasoning_content": st.text(max_size=3)}),
    st.sampled_from(
        [
            {},
            {"role": "assistant", "content": ""},
            {"content": None},
            {"content": ["odd"]},
            {"content": "a", "refusal": None},
            {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": "{"}}]},
        ]
    ),
)
_CHOICES = st.builds(
    lambda delta, more: {"index": 0, "delta": delta, "finish_reason": None} | more,
    _DELTAS,
    st.sampled_from(
        [
            {},
            {},
            {},
            {"finish_reason": "stop"},
            {"logprobs": {"content": [{"token": "a"}]}},
            {"index": 1},
            {"usage": {"prompt_tokens": 1, "completion_tokens": 2}},
        ]
    ),
)
_CHUNKS = st.builds(
    lambda choices, more: msgspec.json.encode({"id": "c", "model": "m", "choices": choices} | more),
    st.lists(_CHOICES, max_size=2),
    st.sampled_from(
        [
            *({}, {}, {}, {"usage": {"prompt_tokens": 3, "completion_tokens": 1}}, {"usage": None}),
            *({"obfuscation": "x"}, {"citations": ["a"]}, {"error": {"message": "overloaded"}}),
        ]
    ),
)
_DATAS = st.lists(
    st.one_of(
        _CHUNKS, _CHUNKS, st.sampled_from([b"", b"[DONE]", b'{"a":', b"1}", b"{} {}", b"{}", b'{"a":\n1}', b"[]"])
    ),
    max_size=12,
)


@given(_DATAS, st.integers(1, 40))
def test_events_read_at_once_say_what_they_say_one_by_one(datas: list[bytes], most: int) -> None:
    apart, together = Accumulator(most), Accumulator(most)
    told = [apart.feed(data) for data in datas]
    assert together.feed_all(datas) is (told[-1] if told else False)
    assert together.completion() == apart.completion()
    assert (together.usage, together.error, together.done) == (apart.usage, apart.error, apart.done)
    assert bool(together.garbage) == bool(apart.garbage)
    assert (together.overflowed, together.complete) == (apart.overflowed, apart.complete)
