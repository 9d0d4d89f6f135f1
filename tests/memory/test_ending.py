"""Older statements that a newer one ends, or may have, without words of change in common too."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.memory import ending
from proxy.memory.analysis import analyse
from proxy.memory.ending import COMPARED, Verdict, are_alike, change, in_between, left_again
from proxy.memory.likeness import ComparedValues, compared
from proxy.memory.superseding import goes_back, is_said_instead, returns_from
from proxy.types.memory import Fact

STATEMENTS = [
    "I live in Cork",
    "my son Teo is 6",
    "the budget for the trip is 3k",
    "always answer in Spanish",
    "soy alérgica a la penicilina",
    "trabajo en un banco",
    "el presupuesto de la obra es de 900 euros",
    "my dog is called Petrel",
]


def ended_by(new: str, older: Sequence[str]) -> tuple[Verdict, ...]:
    values = ComparedValues()
    found = ending.ended_by(values[new], [values[old] for old in older], values)
    return tuple(found.get(at, "holds") for at in range(len(older)))


@pytest.mark.parametrize(
    ("new", "older", "ended"),
    [
        ("I've moved to Sligo, I live there now", ["I live in Cork", "my sister lives in Turin"], ("ended", "holds")),
        ("we sold the van last week", ["we have an old van", "I ride a bike to work"], ("ended", "holds")),
        ("ya no soy vegetariana", ["soy vegetariana", "mi hijo es vegetariano"], ("ended", "holds")),
        (
            "ahora trabajo en una imprenta",
            ["trabajo en un banco", "mi hermana trabaja en un hospital"],
            ("ended", "holds"),
        ),
        (
            "the launch slipped to 15 April",
            ["the launch is on 1 March", "the backend is written in Go"],
            ("ended", "holds"),
        ),
        ("I no longer have a dog", ["I have a dog called Rex", "my son has a dog"], ("ended", "holds")),
        ("Ya no tengo perro", ["Tengo un perro llamado Rex"], ("ended",)),
        ("we adopted a cat as well", ["we have a dog called Rex"], ("holds",)),
        ("mi hijo es alérgico al huevo", ["soy alérgica a la penicilina"], ("holds",)),
        ("the budget of the kitchen is 9k", ["the budget of the trip is 3k"], ("holds",)),
    ],
)
def test_what_holds_no_longer(new: str, older: list[str], ended: tuple[str, ...]) -> None:
    assert ended_by(new, older) == ended


@pytest.mark.parametrize(
    ("new", "old", "alike"),
    [
        ("I eat meat now", "I sold the Volvo and kept the Fiat", False),
        ("We moved to Leeds", "I now work for Umbrella", False),
        ("ahora calzo 37", "Toco el charango", False),
        ("I eat meat now", "I'm a vegetarian", True),  # by what they are about
        ("the Fiat broke down", "I sold the Volvo and kept the Fiat", True),  # by a word
        ("I've moved to Sligo", "I live in Cork", True),  # by a slot
        ("my son plays the flute now", "my son trains on Mondays", True),  # by whose it is
    ],
)
def test_only_what_is_about_like_things_raises_a_doubt(new: str, old: str, alike: bool) -> None:
    assert are_alike(compared(new), compared(old)) is alike
    if not alike:
        assert ended_by(new, [old, "my dog is called Petrel"]) == ("holds", "holds")


def test_a_change_is_likelier_in_what_tells_one() -> None:
    assert change("I don't work there anymore, I switched to the night shift") > 0.7
    assert change("my brother is called Anselm") < 0.3


@given(st.sampled_from(STATEMENTS), st.lists(st.sampled_from(STATEMENTS), max_size=6))
def test_one_answer_each_and_always_the_same(new: str, older: list[str]) -> None:
    found = ended_by(new, older)
    assert len(found) == len(older)
    assert found == ended_by(new, older)


def test_of_very_many_the_likest_are_compared() -> None:
    many = [f"the {word} of shelf {number} is oak" for number in range(COMPARED) for word in ("door", "frame")]
    ended = ended_by("I've moved to Sligo, I live there now", [*many, "I live in Cork"])
    assert ended[-1] == "ended"
    assert "ended" not in ended[:-1]


# Words and subjects that recur, so that statements have things in common.
ABOUT = st.tuples(
    st.sampled_from(["logo", "boat", "office", "team"]), st.sampled_from(["Oslo", "Bern", "green", "blue"])
)
MADE_UP = st.tuples(
    st.sampled_from(
        [
            "The {} is in {}",
            "My {} is now {}",
            "I'm back at {1} with the {0}",
            "Vuelvo a usar {1}",
            "I live in {1}",
            "I moved to {1}",
            "I no longer have the {}",
            "I sold the {1} {0}",
            "I also have a {1} {0}",
            "Always answer in {1} about the {0}",
            "Our {} is {} again",
        ]
    ),
    ABOUT,
).map(lambda made: made[0].format(*made[1]))


@st.composite
def scopes(draw: st.DrawFn) -> list[Fact]:
    values = draw(st.lists(MADE_UP, max_size=14))
    ids = [f"f-{number}" for number in range(len(values))]
    others = st.none() | st.sampled_from(ids) if ids else st.none()
    return [
        Fact(
            name,
            "work",
            "x",
            value,
            "medium",
            "explicit",
            "s",
            1,
            last_confirmed_at=0.0,
            created_at=float(draw(st.integers(0, 9))),
            superseded_by=draw(others),
            doubted_by=draw(others),
        )
        for name, value in zip(ids, values, strict=True)
    ]


@given(MADE_UP, scopes())
def test_what_a_statement_returns_from_is_the_same_as_by_comparing_all_with_all(value: str, facts: list[Fact]) -> None:
    values, new = ComparedValues(), analyse(value)
    values.add(fact.value for fact in facts)
    before = [fact for fact in facts if fact.superseded_by is None]
    left = {
        between.id
        for between in before
        for fact in facts
        if goes_back(new, analyse(fact.value), analyse(between.value))
        and (
            between.id in (fact.superseded_by, fact.doubted_by)
            or (fact.created_at < between.created_at and is_said_instead(analyse(between.value), analyse(fact.value)))
        )
    }
    assert left_again(facts, values[value], before, values) == left
    ordered = sorted(facts, key=lambda fact: fact.created_at)
    ended = [
        between
        for between in ordered
        if between in before
        and any(
            fact.created_at < between.created_at and returns_from(new, analyse(fact.value), analyse(between.value))
            for fact in ordered
        )
    ]
    assert in_between(facts, values[value], before, values) == (ended[-1:] if new.returns else [])
