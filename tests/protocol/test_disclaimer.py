"""The line in front of an answer from memory: put there, streamed, recognised, taken off."""

from typing import Any, TypeAlias

import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from proxy.protocol.accumulate import Accumulator
from proxy.protocol.disclaimer import disclaimer_line, has_disclaimer, with_disclaimer, without_disclaimer
from proxy.protocol.replay import as_sse
from proxy.protocol.sse import DONE, SseParser

Body: TypeAlias = dict[str, Any]

ES = "[Respuesta recuperada de conversación anterior]"
EN = "[Answer retrieved from an earlier conversation]"
LINES = (ES, EN)
USAGE = {"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 14}


def completion(*choices: Body, **fields: Any) -> bytes:
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
    stored = msgspec.json.decode(completion(answer("Lima."), system_fingerprint="fp", citations=["a"]))
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
    assert content_of(with_disclaimer(completion(answer(parts)), EN)) == [
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
        completion(),
        completion(answer("a"), answer("b", index=1)),
        completion(answer(None)),
        completion(answer(None, message={"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]})),
        completion(answer("")),
        completion(answer(7)),
        completion(answer([])),
        completion(answer(["text"])),
        completion(answer([{"type": "refusal", "refusal": "no"}])),
        completion(answer("a", logprobs={"content": []})),
    ],
)
def test_where_it_cannot_stand_there_is_an_error(stored: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        with_disclaimer(stored, ES)


def test_in_a_stream_it_comes_first() -> None:
    pieces = [
        chunk["choices"][0]["delta"].get("content")
        for chunk in streamed(with_disclaimer(completion(answer("Lima. " * 60)), ES))
    ]
    text = [piece for piece in pieces if piece]
    assert text[0].startswith(f"{ES}\n\nLima.")


@given(
    content=st.text(st.characters(exclude_categories=["Cs"]), min_size=1),
    line=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=200),
)
def test_json_and_stream_say_the_line_a_blank_one_and_the_answer(content: str, line: str) -> None:
    told = with_disclaimer(completion(answer(content)), line)
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
    assert disclaimer_line(None, {"es": ES, "en": EN}) == EN
    assert disclaimer_line("es", {"en": EN}) == EN
    assert disclaimer_line("en", {"es": ES}) == ES
    with pytest.raises(ValueError, match="no disclaimer"):
        disclaimer_line("es", {})
