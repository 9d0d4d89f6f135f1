"""Which part of a message is shown for the fact that it stated."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.conversation.blocks import head
from proxy.memory.provenance import MOST_SHOWN, excerpt

FILLER = "Lorem ipsum dolor sit amet. " * 40
VALUE = "I'm allergic to nuts"


@pytest.mark.parametrize(
    ("said", "value", "shown"),
    [
        ("Remember that I'm allergic to nuts.", VALUE, "Remember that I'm allergic to nuts."),
        (f"{FILLER}Also, I'm allergic to nuts.{FILLER}", VALUE, VALUE),
        (f"{FILLER}Also, I'M  allergic\nto nuts.{FILLER}", VALUE, "I'M  allergic\nto nuts"),
        (f"{FILLER}I live in Rosario. By the way. With a dog.", "I live in Rosario. With a dog.", "I live in Rosario."),
        (f"{VALUE}. {FILLER}", VALUE, VALUE),
        (f"{FILLER}{VALUE}.", VALUE, VALUE),
        (FILLER, VALUE, "Lorem ipsum"),
        (f"{head('- [personal] it is so', ())}\n\nI'm allergic to nuts.", VALUE, "I'm allergic to nuts."),
        ("", VALUE, ""),
        (FILLER, "", "Lorem ipsum"),
    ],
)
def test_an_excerpt_has_the_value_in_it(said: str, value: str, shown: str) -> None:
    found = excerpt(said, value)
    assert shown in found
    assert len(found) <= MOST_SHOWN
    assert "<memory>" not in found


@given(st.text(max_size=2_000), st.text(max_size=400))
def test_it_is_short_and_verbatim(said: str, value: str) -> None:
    found = excerpt(said, value)
    assert len(found) <= MOST_SHOWN
    assert found.removeprefix("…").removesuffix("…") in said or found in said
