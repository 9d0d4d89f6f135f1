"""Which words say the same. What follows for statements: test_same_fact.py."""

import pytest

from proxy.memory.agreeing import agreeing, sounding
from proxy.memory.claim_terms import Term
from proxy.memory.claim_words import wording
from proxy.memory.claims import claim

ENDINGS = wording("en").endings


def only(said: str) -> Term:
    return claim(f"keeps {said}", "en").terms[-1]


@pytest.mark.parametrize(
    ("one", "other", "ways"),
    [
        ("bee", "bees", {"root", "notion", "form", "spelling"}),
        ("negotiations", "negotiating", {"root", "form"}),
        ("theatres", "theaters", {"spelling"}),
        ("receive", "recieve", {"spelling"}),
        ("bees", "goats", set()),
        ("3", "4", set()),
    ],
)
def test_two_words_say_the_same_in_one_way_or_several(one: str, other: str, ways: set[str]) -> None:
    assert {
        how for how in ("root", "notion", "form", "spelling") if agreeing(only(one), only(other), how, ENDINGS)
    } == ways


@pytest.mark.parametrize(("one", "other"), [("philip", "filip"), ("vaca", "baca"), ("quiosco", "kiosco")])
def test_letters_that_are_written_for_each_other_sound_alike(one: str, other: str) -> None:
    assert sounding(one) == sounding(other)
