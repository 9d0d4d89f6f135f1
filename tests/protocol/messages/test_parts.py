"""Blocks as parts of a chat completion."""

from typing import Any

import pytest

from proxy.protocol.messages.parts import is_expressed, part, result_part

Json = Any


def text(said: str) -> Json:
    return {"type": "text", "text": said}


PLAIN = {"type": "text", "media_type": "text/plain", "data": "Long ago"}


@pytest.mark.parametrize(
    ("block", "told"),
    [
        ({**text("Hi"), "cache_control": {"type": "ephemeral"}, "citations": None}, text("Hi")),
        (
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}},
        ),
        (
            {"type": "image", "source": {"type": "url", "url": "https://a/b.png"}},
            {"type": "image_url", "image_url": {"url": "https://a/b.png"}},
        ),
        ({"type": "document", "source": PLAIN, "title": "A tale", "context": None}, text("A tale\nLong ago")),
        (
            {"type": "document", "source": {"type": "content", "content": [text("One"), text("Two")]}},
            text("One\nTwo"),
        ),
        ({"type": "document", "source": {"type": "content", "content": "One"}}, text("One")),
        (
            {"type": "search_result", "source": "https://a", "title": "A", "content": [text("One")]},
            text("A\nhttps://a\nOne"),
        ),
        ({"type": "tool_reference", "tool_name": "look"}, text("look")),
    ],
)
def test_what_can_be_told_in_a_result_is(block: Json, told: Json) -> None:
    assert result_part(block) == told
    assert is_expressed(told)


@pytest.mark.parametrize(
    "block",
    [
        {"type": "image", "source": {"type": "file", "file_id": "f"}},
        {"type": "image", "source": 5},
        {"type": "image"},
        {"type": "text"},
        {"type": "text", "text": 5},
        {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "AA=="}},
        {"type": "document", "source": {"type": "content", "content": [{"type": "image"}]}},
        {"type": "document", "source": {"type": "content", "content": None}},
        {"type": "search_result", "source": "https://a", "title": "A", "content": [5]},
        {"type": "something_new"},
        5,
        None,
    ],
)
def test_what_cannot_stays_as_it_is_and_is_known(block: Json) -> None:
    assert result_part(block) == part(block) == block
    assert not is_expressed(block)
