"""Statements of a history that are not learnt from it: forgotten further down, or outlived."""

import pytest

from proxy.memory.extract import extract
from proxy.memory.facts import DAY, learn
from proxy.memory.unsaid import Ordered, Said, mark, meant, outlived
from proxy.types.memory import Fact, Forgetting


def said(*messages: str) -> list[Said]:
    return [Said(at, statement) for at, text in enumerate(messages) for statement in extract(text)]


@pytest.mark.parametrize(
    ("messages", "at", "what", "left"),
    [
        (["I drive a Fiat.", "I'm allergic to kiwi."], 2, "I'm allergic to kiwi", ["I drive a Fiat"]),
        (["Manejo un Fiat.", "Soy alérgica al kiwi."], 2, "que soy alérgica al kiwi", ["Manejo un Fiat"]),
        (["I drive a Fiat.", "I'm allergic to kiwi."], 2, "", []),
        # said again after the order
        (["I drive a Fiat.", "", "I'm allergic to kiwi."], 1, "", ["I'm allergic to kiwi"]),
        (["I drive a Fiat."], 1, "my allergy", ["I drive a Fiat"]),
    ],
)
def test_an_order_means_what_stands_before_it(messages: list[str], at: int, what: str, left: list[str]) -> None:
    every = said(*messages)
    gone = meant(every, [Ordered(at, Forgetting(what))])
    assert [each.statement.value for place, each in enumerate(every) if place not in gone] == left


def test_what_was_forgotten_is_known_by_its_words() -> None:
    assert mark("I'm allergic to kiwi") == mark("i'm allergic  to KIWI.")
    assert mark("I'm allergic to kiwi") != mark("I'm allergic to nuts")
    assert len(mark("")) == 16


def test_an_old_message_is_outlived_by_what_was_said_since() -> None:
    facts: dict[str, Fact] = {}
    for turn, text in enumerate(["I live in Oslo.", "I moved to Bern."], start=1):
        changes = learn(facts.values(), extract(text), session="s", turn=turn, link=bytes([turn]), now=turn * DAY)
        facts |= {fact.id: fact for fact in (*changes.new, *changes.confirmed, *changes.superseded)}
    (oslo,), (bern,), (fiat,) = (extract(text) for text in ("I live in Oslo", "I moved to Bern", "I drive a Fiat"))
    assert outlived(oslo, facts.values())
    assert not outlived(bern, facts.values())
    assert not outlived(fiat, facts.values())
