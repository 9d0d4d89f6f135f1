"""What a message says, and what is put before or behind it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.protocol.message import message, prefixed, replaced, rewritten, suffixed
from tests.builders import user

IMAGE = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
HELLO, WORLD = {"type": "text", "text": "hello"}, {"type": "text", "text": "world"}


@pytest.mark.parametrize(
    ("content", "said", "only_text"),
    [
        ("hello", "hello", True),
        ("", "", True),
        (None, "", False),
        (7, "", False),
        ([], "", False),
        ([HELLO], "hello", True),
        ([HELLO, WORLD], "hello\nworld", True),
        ([HELLO, IMAGE, WORLD], "hello\nworld", False),
        ([{"type": "text", "text": ""}, WORLD], "world", True),
        ([{"type": "text", "text": 7}], "", False),
        (["hello"], "", False),
        ({"type": "text", "text": "hello"}, "", False),
    ],
)
def test_the_text_of_a_message(content: Any, said: str, only_text: bool) -> None:
    found = message(user(content))
    assert (found.text, "\n".join(found.texts)) == (said, said)
    assert found.has_only_text == only_text


def test_a_message_without_content_says_nothing() -> None:
    found = message({"role": "assistant"})
    assert found.text == ""
    assert not found.has_only_text


_parts = st.sampled_from([HELLO, WORLD, IMAGE])
_contents = st.none() | st.text(max_size=20) | st.lists(_parts, max_size=3)


@given(_contents, st.text(min_size=1, max_size=20))
def test_what_is_put_beside_it_leaves_the_content_verbatim_and_every_other_field(content: Any, block: str) -> None:
    said = message({"x_unknown": 1, **user(content), "name": "ana"})
    before, behind = prefixed(said, block), suffixed(said, block)
    for changed in (before, behind):
        assert {**changed.data, "content": content} == said.data
        assert list(changed.data) == list(said.data)
        assert message(changed.data).raw == changed.raw
    if isinstance(content, list):
        assert before.data["content"] == [{"type": "text", "text": f"{block}\n"}, *content]
        assert behind.data["content"] == [*content, {"type": "text", "text": block}]
    else:
        assert before.data["content"] == f"{block}\n\n{content or ''}"
        assert behind.data["content"] == f"{content or ''}\n\n{block}"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("hello", "HELLO"),
        ([HELLO, IMAGE, {**WORLD, "x": 1}], [{**HELLO, "text": "HELLO"}, IMAGE, {**WORLD, "text": "WORLD", "x": 1}]),
    ],
)
def test_texts_are_rewritten_one_by_one(content: Any, expected: Any) -> None:
    assert rewritten(message(user(content, name="ana")), str.upper).data == user(expected, name="ana")


@pytest.mark.parametrize("content", ["hello", [HELLO, IMAGE], [IMAGE], [], None, 7])
def test_what_is_not_changed_is_the_message_itself(content: Any) -> None:
    said = message(user(content))
    assert rewritten(said, str) is said


def test_a_part_that_becomes_empty_leaves_unless_all_would() -> None:
    assert rewritten(message(user([HELLO, IMAGE])), lambda _: "").data["content"] == [IMAGE]
    assert rewritten(message(user([HELLO])), lambda _: "").data["content"] == [HELLO]


@pytest.mark.parametrize(
    ("content", "expected"), [("hello", "gone"), (None, "gone"), ([HELLO, IMAGE], [{"type": "text", "text": "gone"}])]
)
def test_a_content_is_replaced_in_the_form_in_which_it_came(content: Any, expected: Any) -> None:
    assert replaced(message(user(content, x=1)), "gone").data == user(expected, x=1)
