"""The newest question of a kept body, and the text of an answer."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.protocol.newest import answer_text, newest_question

PARTS = [{"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": "data:,"}}]


@pytest.mark.parametrize(
    ("messages", "question"),
    [
        ([{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}], "a"),
        ([{"role": "user", "content": "a"}, {"role": "user", "content": "ñandú"}], "ñandú"),
        ([{"role": "user", "content": "a"}, {"role": "tool", "content": "{}", "tool_call_id": "1"}], "a"),
        ([{"role": "user", "content": PARTS}], "look"), ([{"role": "system", "content": "s"}], ""), ([], ""),
        ("none", ""), ([1, None], ""),
    ],
)  # fmt: skip
def test_it_is_the_newest_of_the_user(messages: Any, question: str) -> None:
    for is_ascii in (True, False):
        body = json.dumps({"model": "m", "messages": messages, "stream": True}, ensure_ascii=is_ascii)
        assert newest_question(body.encode()) == question


@given(st.binary(max_size=60))
def test_what_is_no_body_has_none(raw: bytes) -> None:
    assert newest_question(raw) == ""
    answer_text(raw)


def test_an_answer_is_its_text() -> None:
    assert answer_text(b'{"role":"assistant","content":"yes"}') == "yes"
    assert answer_text(b'{"role":"assistant","content":null}') == ""
    assert answer_text(b"") == ""
