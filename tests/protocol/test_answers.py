"""Completions: what was said, how it ended; the line in front of an answer from memory: put there, streamed,
recognised, taken off."""

from typing import Any, TypeAlias

import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from proxy.protocol.accumulate import Accumulator
from proxy.protocol.answers import (
    answers_of,
    disclaimer_line,
    find_usage,
    first_text,
    generated_text,
    has_disclaimer,
    has_error,
    is_finished,
    model_of,
    parse_usage,
    said_of,
    sole_text,
    with_disclaimer,
    without_disclaimer,
)
from proxy.protocol.sse import DONE, SseParser, as_sse
from proxy.types import Usage
from proxy.types.quality import Said
from tests.builders import calling, completion

CALLS = calling("a")["tool_calls"]
TWICE = {"choices": completion()["choices"] * 2}


@pytest.mark.parametrize(
    ("given", "said", "sole", "finished"),
    [
        (completion("hello"), "hello", "hello", True),
        (completion("hello", finish_reason="length"), "hello", None, True),
        (completion("hello", finish_reason="content_filter"), "hello", None, False),
        (completion(" "), " ", " ", False),
        (completion(None), "", None, False),
        (completion(None, tool_calls=CALLS, finish_reason="tool_calls"), "", None, True),
        (completion("hello", tool_calls=CALLS), "hello", None, True),
        (completion("hello", refusal=""), "hello", "hello", True),
        ({**completion("hello"), "error": "x"}, "hello", "hello", False),
        (TWICE, "hello", None, True),
        ({"choices": []}, "", None, False),
        ({"choices": "odd"}, "", None, False),
        ({"choices": [7]}, "", None, False),
        ({}, "", None, False),
    ],
)
def test_what_a_completion_says(given: Any, said: str, sole: str | None, finished: bool) -> None:
    assert (first_text(given), sole_text(given), is_finished(given)) == (said, sole, finished)


def test_an_answer_with_probabilities_is_more_than_its_text() -> None:
    choice = {**completion()["choices"][0], "logprobs": {}}
    assert sole_text({"choices": [choice]}) is None


def test_the_messages_of_all_choices() -> None:
    assert [said.text for said in answers_of(TWICE)] == ["hello", "hello"]
    assert answers_of(None) == answers_of({"choices": [7, {"message": 7}]}) == ()


def test_what_was_generated_holds_the_thinking_too() -> None:
    assert generated_text(completion("hello", reasoning_content="hm")) == "hm\nhello"
    assert generated_text(None) == ""


def test_model_and_error() -> None:
    assert (model_of(completion()), model_of({})) == ("m-2026", "")
    assert (has_error({"error": {}}), has_error({"error": {"a": 1}}), has_error(None)) == (False, True, False)


_counts = st.one_of(st.none(), st.booleans(), st.integers(-5, 50), st.floats(), st.text(max_size=3), st.just(10**40))
_details = st.one_of(
    _counts, st.dictionaries(st.sampled_from(["cached_tokens", "reasoning_tokens", "cache_write_tokens"]), _counts)
)
_keys = ["prompt_tokens", "completion_tokens", "cached_tokens", "prompt_cache_hit_tokens"]
_detail_keys = ["prompt_tokens_details", "completion_tokens_details"]


@pytest.mark.parametrize(
    ("usage", "parsed"),
    [
        ({"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 14}, Usage(9, 5)),
        ({"prompt_tokens": 9, "completion_tokens": 5, "cached_tokens": 4}, Usage(9, 5, 4)),
        ({"prompt_tokens": 9, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 4}}, Usage(9, 5, 4)),
        ({"prompt_tokens": 9, "completion_tokens": 5, "prompt_cache_hit_tokens": 4}, Usage(9, 5, 4)),
        (
            {
                "prompt_tokens": 9,
                "completion_tokens": 5,
                "cached_tokens": 4,
                "prompt_tokens_details": {"cached_tokens": 4},
            },
            Usage(9, 5, 4),
        ),
        (
            {
                "prompt_tokens": 9,
                "completion_tokens": 5,
                "cached_tokens": 4,
                "prompt_tokens_details": {"cached_tokens": 0},
            },
            Usage(9, 5, 4),
        ),
        (
            {"prompt_tokens": 9, "completion_tokens": 5, "completion_tokens_details": {"reasoning_tokens": 3}},
            Usage(9, 5, 0, 3),
        ),
        ({"prompt_tokens": 9, "completion_tokens": 5, "cached_tokens": 400}, Usage(9, 5, 9)),
        (
            {"prompt_tokens": 9, "completion_tokens": 5, "completion_tokens_details": {"reasoning_tokens": 6}},
            Usage(9, 5, 0, 5),
        ),
        ({"prompt_tokens": 9, "completion_tokens": 5, "prompt_tokens_details": None}, Usage(9, 5)),
        (
            {
                "prompt_tokens": 9,
                "completion_tokens": 5,
                "prompt_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 3},
            },
            Usage(9, 5, 4, written_tokens=3),
        ),
        (
            {"prompt_tokens": 9, "completion_tokens": 5, "cached_tokens": 4, "cache_creation_input_tokens": 7},
            Usage(9, 5, 4, written_tokens=5),
        ),
        (
            {
                "prompt_tokens": 9,
                "completion_tokens": 5,
                "cached_tokens": 4,
                "cache_creation_input_tokens": 5,
                "cache_creation": {"ephemeral_5m_input_tokens": 2, "ephemeral_1h_input_tokens": 3},
            },
            Usage(9, 5, 4, written_tokens=5, written_for_an_hour=3),
        ),
        (
            {"prompt_tokens": 9, "completion_tokens": 5, "prompt_tokens_details": {"cache_write_tokens": 0}},
            Usage(9, 5, written_tokens=0),
        ),
        (
            {"prompt_tokens": 9, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 0}},
            Usage(9, 5, reports_none_cached=True),
        ),
        ({"prompt_tokens": 9, "completion_tokens": 5, "cached_tokens": 0}, Usage(9, 5, reports_none_cached=True)),
        ({"prompt_tokens": 9, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": None}}, Usage(9, 5)),
        ({"prompt_tokens": 9, "completion_tokens": 5, "cached_tokens": -1}, Usage(9, 5)),
        ({"prompt_tokens": 9, "completion_tokens": 5, "cached_tokens": True}, Usage(9, 5)),
        ({"prompt_tokens": 9}, Usage(9, 0)),
        ({"prompt_tokens": "9", "completion_tokens": 5}, Usage(0, 5)),
        ({"prompt_tokens": 0, "completion_tokens": 0}, Usage(0, 0)),
        ({"prompt_tokens": True, "completion_tokens": -5}, None),
        ({"prompt_tokens": 10**40}, None),
        ({"prompt_tokens": 1.5}, None),
        ({"total_tokens": 5}, None),
        ({}, None),
        (None, None),
        ([], None),
        ("usage", None),
    ],
)
def test_usage_in_every_spelling(usage: Any, parsed: Usage | None) -> None:
    assert parse_usage(usage) == parsed


@given(st.fixed_dictionaries({}, optional=dict.fromkeys(_keys, _counts) | dict.fromkeys(_detail_keys, _details)))
def test_whatever_the_upstream_says_a_part_never_exceeds_its_whole(usage: dict[str, Any]) -> None:
    parsed = parse_usage(usage)
    assert parsed is None or (
        0 <= parsed.cached_tokens <= parsed.prompt_tokens < 2**63
        and 0 <= (parsed.written_tokens or 0) <= parsed.prompt_tokens - parsed.cached_tokens
        and 0 <= parsed.written_for_an_hour <= (parsed.written_tokens or 0)
        and 0 <= parsed.reasoning_tokens <= parsed.completion_tokens < 2**63
    )


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ({"usage": {"prompt_tokens": 1}}, Usage(1, 0)),
        ({"choices": [{"usage": {"prompt_tokens": 1}}]}, Usage(1, 0)),
        ({"usage": None, "choices": [{"usage": {"prompt_tokens": 1}}]}, Usage(1, 0)),
        ({"usage": {"prompt_tokens": 2}, "choices": [{"usage": {"prompt_tokens": 1}}]}, Usage(2, 0)),
        ({"choices": [{}, {"usage": {"prompt_tokens": 1}}]}, Usage(1, 0)),
        ({"choices": []}, None),
        ({"choices": None}, None),
        ({"choices": [None, 3, {"usage": 3}]}, None),
        ({}, None),
        (None, None),
        ([1], None),
    ],
)
def test_usage_is_found_in_a_body(body: Any, found: Usage | None) -> None:
    assert find_usage(body) == found


Body: TypeAlias = dict[str, Any]

ES = "[Respuesta recuperada de conversación anterior]"
EN = "[Answer retrieved from an earlier conversation]"
LINES = (ES, EN)
USAGE = {"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 14}


def stored_completion(*choices: Body, **fields: Any) -> bytes:
    head = {"id": "c1", "object": "chat.completion", "created": 7, "model": "m", "usage": USAGE}
    return msgspec.json.encode({**head, "choices": list(choices), **fields})


def answer(content: Any, **fields: Any) -> Body:
    message = {"role": "assistant", "content": content, "refusal": None}
    return {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop", **fields}


def content_of(body: bytes) -> Any:
    return msgspec.json.decode(body)["choices"][0]["message"]["content"]


def streamed(body: bytes) -> list[Body]:
    events = SseParser().feed(b"".join(as_sse(body, include_usage=False)))
    assert events[-1].raw == DONE
    return [msgspec.json.decode(event.data or b"") for event in events[:-1]]


@pytest.mark.note("5.4/3")
def test_it_is_the_first_paragraph_and_nothing_else_changes() -> None:
    stored = msgspec.json.decode(stored_completion(answer("Lima."), system_fingerprint="fp", citations=["a"]))
    told = msgspec.json.decode(with_disclaimer(msgspec.json.encode(stored), ES))
    assert told["choices"][0]["message"].pop("content") == f"{ES}\n\nLima."
    del stored["choices"][0]["message"]["content"]
    assert told == stored


def test_what_is_not_ours_keeps_its_bytes() -> None:
    stored = (
        b'{"created":1.0e3,"big":123456789012345678901234567890,"usage":{"cost": 0.10},'
        b'"choices":[{"index":0,"x":[1.50],"message":{"role":"assistant","n":1E2,"content":"a"}}],"\\u0069d":"c"}'
    )
    told = with_disclaimer(stored, EN)
    for untouched in (b"1.0e3", b"123456789012345678901234567890", b'{"cost": 0.10}', b"[1.50]", b"1E2"):
        assert untouched in told


def test_a_list_of_parts_gets_one_more_in_front() -> None:
    parts = [{"type": "text", "text": "Lima."}, {"type": "text", "text": "In Peru."}]
    assert content_of(with_disclaimer(stored_completion(answer(parts)), EN)) == [
        {"type": "text", "text": f"{EN}\n\n"},
        *parts,
    ]


@pytest.mark.parametrize(
    "stored",
    [
        b"",
        b"not json",
        b"[]",
        b"{}",
        b'{"choices":null}',
        b'{"choices":[null]}',
        b'{"choices":[{}]}',
        b'{"choices":[{"message":null}]}',
        b'{"choices":[{"message":{}}]}',
        stored_completion(),
        stored_completion(answer("a"), answer("b", index=1)),
        stored_completion(answer(None)),
        stored_completion(answer(None, message={"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]})),
        stored_completion(answer("")),
        stored_completion(answer(7)),
        stored_completion(answer([])),
        stored_completion(answer(["text"])),
        stored_completion(answer([{"type": "refusal", "refusal": "no"}])),
        stored_completion(answer("a", logprobs={"content": []})),
    ],
)
def test_where_it_cannot_stand_there_is_an_error(stored: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        with_disclaimer(stored, ES)


def test_in_a_stream_it_comes_first() -> None:
    pieces = [
        chunk["choices"][0]["delta"].get("content")
        for chunk in streamed(with_disclaimer(stored_completion(answer("Lima. " * 60)), ES))
    ]
    text = [piece for piece in pieces if piece]
    assert text[0].startswith(f"{ES}\n\nLima.")


@given(
    content=st.text(st.characters(exclude_categories=["Cs"]), min_size=1),
    line=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=200),
)
def test_json_and_stream_say_the_line_a_blank_one_and_the_answer(content: str, line: str) -> None:
    told = with_disclaimer(stored_completion(answer(content)), line)
    assert content_of(told) == f"{line}\n\n{content}"
    accumulator = Accumulator()
    for event in SseParser().feed(b"".join(as_sse(told, include_usage=True))):
        accumulator.feed(event.data or b"")
    assert accumulator.complete
    whole = accumulator.completion()
    assert whole["choices"][0]["message"]["content"] == f"{line}\n\n{content}"
    assert whole["usage"] == USAGE


@given(content=st.text(min_size=1), line=st.sampled_from(LINES))
def test_taking_it_off_gives_the_answer_back_to_the_character(content: str, line: str) -> None:
    assume(not has_disclaimer(content, LINES))
    told = f"{line}\n\n{content}"
    assert has_disclaimer(told, LINES)
    assert without_disclaimer(told, LINES) == content


@given(st.text())
def test_an_answer_without_one_is_left_alone(text: str) -> None:
    assume(not has_disclaimer(text, LINES))
    assert without_disclaimer(text, LINES) == text


@given(
    st.lists(st.sampled_from([*LINES, "\n", "\n\n", " ", "Lima."]), max_size=8).map("".join),
)
def test_after_taking_it_off_there_is_none(text: str) -> None:
    assert not has_disclaimer(without_disclaimer(text, LINES), LINES)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{ES}\r\n\r\nLima.", "Lima."),  # a client with other line ends
        (f"  \n{ES}\n\nLima.", "Lima."),
        (f"{ES}\nLima.", "Lima."),
        (f"{ES}  \n \nLima.", "Lima."),
        (f"{ES}\n\n{EN}\n\nLima.", "Lima."),  # reused from a history that told it already
        (f"{ES}\n\n    indented()\n", "    indented()\n"),
        (ES, ""),
        (f"{ES} Lima.", f"{ES} Lima."),  # not a paragraph of its own
        (f"Lima.\n\n{ES}", f"Lima.\n\n{ES}"),
        ("", ""),
    ],
)
def test_taking_it_off(text: str, expected: str) -> None:
    assert without_disclaimer(text, LINES) == expected


def test_without_lines_nothing_is_a_disclaimer() -> None:
    assert not has_disclaimer("Lima.", ("", " "))
    assert without_disclaimer("\n\nLima.", ("", " ")) == "\n\nLima."


def test_the_line_is_told_in_the_language_of_the_question() -> None:
    assert disclaimer_line("es", {"es": ES, "en": EN}) == ES
    assert disclaimer_line("en", {"es": ES, "en": EN}) == EN
    assert disclaimer_line("es", {"en": EN}) == EN
    assert disclaimer_line("en", {"es": ES}) == ES
    with pytest.raises(ValueError, match="no disclaimer"):
        disclaimer_line("es", {})


def test_an_answer_is_compared_by_its_text_its_calls_and_whether_it_was_cut_off() -> None:
    calls = [{"id": "c", "type": "function", "function": {"name": "look", "arguments": '{"a":1}'}}]
    message = {"role": "assistant", "content": None, "tool_calls": calls}
    assert said_of({"choices": [{"message": message, "finish_reason": "tool_calls"}]}) == Said(
        "", (("look", '{"a":1}'),)
    )
    assert said_of({"choices": [{"message": {"content": "so"}, "finish_reason": "length"}]}) == Said("so", is_cut=True)
    assert said_of({"choices": []}) is None
    assert said_of(None) is None
