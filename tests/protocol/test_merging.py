"""Values of chunks are merged; neighbours are joined only where that says the same."""

import copy
from typing import Any

import pytest

from proxy.protocol.merging import MisfitError, is_index, joined, joined_texts, merge, merge_delta


def said(text: str | None = None, /, *, key: str = "content", choice: dict[str, Any] | None = None, **more: Any) -> Any:
    delta = {} if text is None else {key: text}
    return {"id": "c", **more, "choices": [{"index": 0, "delta": delta, "finish_reason": None, **(choice or {})}]}


def text_part(text: str) -> Any:
    return {"type": "text", "text": text}


@pytest.mark.parametrize(
    ("chunks", "expected"),
    [
        ([], []),
        ([said("a")], [said("a")]),
        ([said("a"), said("b"), said("c")], [said("abc")]),
        ([said("a", obfuscation="x"), said("b", obfuscation="yy")], [said("ab")]),
        ([said("a", key="reasoning"), said("b")], [said("a", key="reasoning"), said("b")]),
        ([said("a"), said("b", usage={"prompt_tokens": 1})], [said("a"), said("b", usage={"prompt_tokens": 1})]),
        ([said("a"), said(), said("b")], [said("a"), said(), said("b")]),
        ([said("a", key="refusal")] * 2, [said("a", key="refusal")] * 2),
        (
            [said("a", choice={"logprobs": {"content": [1]}})] * 2,
            [said("a", choice={"logprobs": {"content": [1]}})] * 2,
        ),
        ([said("a", choice={"finish_reason": "stop"})] * 2, [said("a", choice={"finish_reason": "stop"})] * 2),
        ([{}, {}], [{}, {}]),
        ([{"choices": "odd"}, {"choices": [None]}], [{"choices": "odd"}, {"choices": [None]}]),
    ],
)
def test_neighbours_that_differ_in_a_fragment_of_text_alone_become_one(chunks: Any, expected: Any) -> None:
    assert list(joined_texts(chunks)) == expected


def test_text_grows_and_everything_else_is_replaced_by_what_says_more() -> None:
    message: dict[str, Any] = {}
    size = merge(message, {"content": "a", "score": 1, "note": None}, fragments=True)
    size += merge(message, {"content": "b", "score": 2, "note": {"x": "y"}}, fragments=True)
    assert joined(message) == {"content": "ab", "score": 2, "note": {"x": "y"}}
    assert size == len("ab") + 8 + len("y")


THOUGHT, ON = ({"type": "thinking", "thinking": [{"type": "text", "text": text}]} for text in ("Hm", "m"))
LINK = {"type": "reference", "reference_ids": [1]}


@pytest.mark.parametrize(
    ("contents", "expected"),
    [
        (
            ["", [THOUGHT], [ON], "Yes", " and", None, " no"],
            [{**THOUGHT, "thinking": [text_part("Hmm")]}, text_part("Yes and no")],
        ),
        ([None, [text_part("a")], [text_part("b")]], [text_part("ab")]),
        ([[{"type": []}], "a"], [{"type": []}, text_part("a")]),
        (["a", [text_part("b"), LINK], [LINK], "c"], [text_part("ab"), LINK, LINK, text_part("c")]),
    ],
)
def test_a_content_may_come_in_parts_and_strings(contents: list[Any], expected: Any) -> None:
    message: dict[str, Any] = {}
    for content in copy.deepcopy(contents):
        merge_delta(message, {"content": content})
    assert joined(message) == {"content": expected}


@pytest.mark.parametrize("content", [5, {"a": 1}, [None], ["odd"]])
def test_but_nothing_else_goes_with_parts(content: Any) -> None:
    with pytest.raises(MisfitError):
        merge({"content": content}, {"content": [text_part("a")]}, fragments=True)


@pytest.mark.parametrize("delta", ["text", ["list"], 7])
def test_a_delta_is_an_object(delta: Any) -> None:
    with pytest.raises(MisfitError):
        merge_delta({}, delta)


@pytest.mark.parametrize(("value", "expected"), [(0, True), (3, True), (True, False), ("0", False), (None, False)])
def test_an_index_is_a_number(value: Any, expected: bool) -> None:
    assert is_index(value) is expected
