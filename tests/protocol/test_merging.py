"""Values of chunks are merged; neighbours are joined only where that says the same."""

from typing import Any

import pytest

from proxy.protocol.merging import MisfitError, is_index, joined, joined_texts, merge, merge_delta


def said(text: str | None = None, /, *, key: str = "content", choice: dict[str, Any] | None = None, **more: Any) -> Any:
    delta = {} if text is None else {key: text}
    return {"id": "c", **more, "choices": [{"index": 0, "delta": delta, "finish_reason": None, **(choice or {})}]}


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


@pytest.mark.parametrize("delta", ["text", ["list"], 7])
def test_a_delta_is_an_object(delta: Any) -> None:
    with pytest.raises(MisfitError):
        merge_delta({}, delta)


@pytest.mark.parametrize(("value", "expected"), [(0, True), (3, True), (True, False), ("0", False), (None, False)])
def test_an_index_is_a_number(value: Any, expected: bool) -> None:
    assert is_index(value) is expected
