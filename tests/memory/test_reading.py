"""Which clause may be kept, by what was learnt and by its own signs."""

from dataclasses import replace
from functools import partial

import pytest

from proxy.memory.clauses import split
from proxy.memory.forget_orders import says_something
from proxy.memory.predictions import Guess
from proxy.memory.reading import (
    CHANGED,
    LIKELY,
    LIKELY_BESIDE,
    REASON,
    SIGNED,
    SURE,
    TUCKED,
    ReadClause,
)
from proxy.types.memory import Language


def reading(text: str, likely: float, spoken: Language = "en", *, at: int = 0, hands_over: bool = False) -> ReadClause:
    """Of the clause `at` of `text`, as if it were so likely a fact."""
    guess = Guess(likely, lambda: "other")
    return ReadClause(split(text)[at], lambda: guess, spoken, hands_over=hands_over, is_first=at == 0)


def least(text: str, spoken: Language = "en", *, at: int = 0, hands_over: bool = False) -> float:
    """The likelihood from which on it is kept, of those that there are; 2 if it never is."""
    limits = (SIGNED, CHANGED, LIKELY, LIKELY_BESIDE, REASON, SURE)
    kept = (limit for limit in limits if reading(text, limit + 0.001, spoken, at=at, hands_over=hands_over).kept)
    return next(kept, 2)


@pytest.mark.parametrize(
    ("text", "spoken", "limit"),
    [
        ("Remember that the gate opens at 7.", "en", SIGNED),
        ("Recordá que el portón abre a las 7.", "es", SIGNED),
        ("Never use emojis with me.", "en", SIGNED),
        ("Nunca me pongas emojis.", "es", SIGNED),
        ("I live in Cork.", "en", SIGNED),
        ("Vivo en Tandil.", "es", SIGNED),
        ("I switched to oat milk now.", "en", CHANGED),
        ("Cambié mi bici por una moto.", "es", CHANGED),
        ("The gate opens at 7.", "en", LIKELY),
        ("El portón abre a las 7.", "es", LIKELY),
        ("Because the gate opens at 7.", "en", REASON),
        ("Porque el portón abre a las 7.", "es", REASON),
        ("Write about the gate.", "en", SURE),
        ("Escribí sobre el portón.", "es", SURE),
        ("Does the gate open at 7?", "en", 2),
        ("¿El portón abre a las 7?", "es", 2),
        ("If I lived in Tampa I'd own a boat.", "en", 2),
        ("You said I live in Cork.", "en", 2),
        ("Según vos vivo en Tandil.", "es", 2),
        ("Keep that in mind.", "en", 2),
        ("Anotalo.", "es", 2),
        ("Remind me when the war ended.", "en", 2),
        ("Recordame cuándo terminó la guerra.", "es", 2),
        ("It is so.", "en", 2),
    ],
)
def test_how_likely_a_clause_must_be_a_fact(text: str, spoken: Language, limit: float) -> None:
    assert least(text, spoken) == limit


@pytest.mark.parametrize("text", ["Does the gate open at 7?", "\u00bfEl port\u00f3n abre a las 7?", "Hello."])
def test_what_asks_or_says_too_little_needs_no_prediction(text: str) -> None:
    (clause,) = split(text)
    found = ReadClause(clause, partial(pytest.fail, "predicted"), "en", hands_over=False, is_first=True)
    assert not found.kept


def test_a_copy_differs_in_what_it_is_told_and_nothing_else() -> None:
    found = reading("Remember that the gate opens at 7.", 0.9)
    assert found.kept
    dropped = found.but(kept=False)
    assert (dropped.kept, dropped.explicit, found.kept) == (False, True, True)


def test_beside_somebody_elses_text_it_must_be_likelier() -> None:
    assert least("My gate opens at 7.") == LIKELY
    assert least("My gate opens at 7.", hands_over=True) == LIKELY_BESIDE > LIKELY


def test_what_is_tucked_into_a_question_is_kept_if_it_is_likely() -> None:
    (clause,) = split("Should the gate open at 7?")
    tucked = replace(clause, text="since the gate opens at 7")
    for likely, kept in ((TUCKED, False), (TUCKED + 0.01, True)):
        found = ReadClause(tucked, partial(Guess, likely, lambda: "other"), "en", hands_over=False, is_first=False)
        assert found.kept is kept


@pytest.mark.parametrize(
    ("text", "spoken", "signs"),
    [
        ("Remember that the gate opens at 7.", "en", {"explicit", "sure"}),
        ("Recordá que el portón abre a las 7.", "es", {"explicit", "sure"}),
        ("Never use emojis with me.", "en", {"standing", "sure"}),
        ("Nunca me pongas emojis.", "es", {"standing", "sure"}),
        ("We're going with MariaDB 11.", "en", {"decides", "sure"}),
        ("Decidí usar MariaDB 11.", "es", {"decides", "sure"}),
        ("We're still going with MariaDB 11.", "en", {"decides", "keeps", "sure"}),
        ("The gate opens at 7.", "en", set()),
        ("El portón abre a las 7.", "es", set()),
    ],
)
def test_the_signs_of_a_clause(text: str, spoken: Language, signs: set[str]) -> None:
    found = reading(text, 0.5, spoken)
    names = ("explicit", "standing", "sure", "decides", "keeps")
    assert {name for name in names if getattr(found, name)} == signs


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("Maybe I'll move to Cork.", "en"),
        ("You said I live in Cork.", "en"),
        ("Capaz que me mudo a Tandil.", "es"),
        ("Según vos vivo en Tandil.", "es"),
    ],
)
def test_what_is_supposed_or_told_by_the_other_side_is_doubted(text: str, spoken: Language) -> None:
    assert reading(text, 1.0, spoken).doubted


@pytest.mark.parametrize(
    ("text", "slot", "domain"), [("I live in Cork.", "residence", "personal"), ("It rains.", "", "")]
)
def test_a_slot_has_its_domain(text: str, slot: str, domain: str) -> None:
    found = reading(text, 0.5)
    assert (found.slot, found.domain) == (slot, domain)


@pytest.mark.parametrize(("text", "says"), [("it is so", False), ("es así", False), ("", False), ("red kites", True)])
def test_words_of_grammar_alone_say_nothing(text: str, says: bool) -> None:
    assert says_something(text) is says
