"""Reasoning items: text, seals, and what the proxy hands out."""

from typing import Any

import pytest

from proxy.protocol.responses import reasoning

Json = Any


@pytest.mark.parametrize(
    ("item", "found"),
    [
        ({}, ("", False)),
        (
            {"summary": [{"type": "summary_text", "text": "A"}, {"type": "summary_text", "text": "B"}]},
            ("A\n\nB", False),
        ),
        ({"content": [{"type": "reasoning_text", "text": "A"}], "summary": []}, ("A", False)),
        ({"summary": [], "encrypted_content": "sealed"}, ("", True)),
        ({"summary": [], "encrypted_content": None}, ("", False)),
        ({"encrypted_content": reasoning.sealed("¿Sí?")}, ("¿Sí?", False)),
        ({"encrypted_content": "olvido:!!"}, ("", False)),
        ({"summary": "x", "content": 7, "encrypted_content": 5}, ("", True)),
        ({"summary": [None, 1, {"text": []}]}, ("", False)),
    ],
)
def test_reasoning_is_read(item: Json, found: tuple[str, bool]) -> None:
    assert reasoning.read(item) == found


def test_what_the_proxy_hands_out_it_knows_again() -> None:
    assert reasoning.is_own({"encrypted_content": reasoning.sealed("")})
    assert not reasoning.is_own({"encrypted_content": "gAAAA"})
    assert not reasoning.is_own({"encrypted_content": None})
