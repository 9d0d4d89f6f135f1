"""Whether two conversations say the same, message by message."""

from collections.abc import Sequence

import pytest

from proxy.reuse.verdict import agree, contexts_agree
from tests.languages import EN

KETTLE = "How do I descale a kettle with vinegar?"


@pytest.mark.parametrize(
    ("asked", "earlier", "same"),
    [
        (KETTLE, KETTLE, True),
        (f"Hi! {KETTLE} Thanks.", KETTLE, True),
        ("How can I descale a kettle with vinegar?", KETTLE, True),
        ("How do I descale a kettle?", KETTLE, False),  # a word is missing, and none is forgiven
        ("How do I descale a kettle with lemon?", KETTLE, False),
        ("¿Cómo descalcifico una pava con vinagre?", KETTLE, False),
        ("ok", KETTLE, False),
        ("ok", "ok", True),
    ],
)
def test_two_messages_agree_if_every_word_does(asked: str, earlier: str, same: bool) -> None:
    assert agree(asked, earlier, EN) == same


@pytest.mark.parametrize(
    ("asked", "earlier", "same"),
    [
        ((), (), True),
        ((KETTLE,), (KETTLE,), True),
        ((KETTLE,), (), False),
        ((KETTLE, "ok"), (KETTLE, "ok"), True),
        ((KETTLE, "ok"), ("ok", KETTLE), False),
        ((KETTLE, "ok"), (KETTLE, "no"), False),
    ],
)
def test_contexts_agree_if_every_message_does(asked: Sequence[str], earlier: Sequence[str], same: bool) -> None:
    assert contexts_agree(asked, earlier, EN, paraphrases=True) == same
