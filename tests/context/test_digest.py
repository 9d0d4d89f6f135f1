"""A conversation made ready for whoever builds a prompt himself."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.config.builtin_profiles import BUILT_IN
from proxy.context.digest import MOST_ENTITIES, digest, transcript, turns_read
from proxy.types import ArchivedTurn, Utterance
from tests.context.told import counter

PROFILE = BUILT_IN["conversation"]


def turn(number: int, user: str = "", assistant: str = "Noted.") -> ArchivedTurn:
    link = number.to_bytes(16, "big")
    user = user or f"We decided to paint house {number} of the village green in May."
    said = (Utterance("user", user, link + b"u"), Utterance("assistant", assistant, link))
    return ArchivedTurn(link, b"", "s", number, 0.0, b"[]", said)


def path(turns: int) -> list[ArchivedTurn]:
    return [turn(number) for number in range(1, turns + 1)]


def test_of_nothing_there_is_nothing() -> None:
    made = digest([], PROFILE, limit=4_000, others=7, count=counter.text)
    assert (made.history, made.summary, made.entities, made.tokens) == ((), "", (), 7)


@pytest.mark.note("v2 Niveles/3")
def test_the_newest_turns_are_whole_and_those_before_them_summaries() -> None:
    made = digest(path(100), PROFILE, limit=None, others=0, count=counter.text)
    assert len(made.history) == 2 * PROFILE.window.turns
    assert made.history[0].text == turn(91).utterances[0].text
    lines = made.summary.splitlines()
    assert len(lines) == PROFILE.summaries.slots
    assert "house 90" in lines[-1] or "house 8" in lines[-1]
    assert all(counter.text(line) <= PROFILE.summaries.tokens for line in lines)
    assert turns_read(PROFILE) == 60


@pytest.mark.note("v2 Buffer/9")
def test_a_summary_stays_as_it_is_while_the_conversation_goes_on() -> None:
    before, after = (digest(path(n), PROFILE, limit=None, others=0, count=counter.text).summary for n in (40, 45))
    assert after.startswith(before)


@pytest.mark.note("v2 Niveles/1")
def test_the_newest_turn_is_whole_even_above_the_limit() -> None:
    long = [*path(30), turn(31, "word " * 900)]
    made = digest(long, PROFILE, limit=500, others=0, count=counter.text)
    assert [said.text for said in made.history] == [said.text for said in long[-1].utterances]
    assert made.summary == ""


@given(st.integers(0, 40), st.integers(0, 3_000))
def test_it_fits_into_the_limit_if_the_newest_turn_does(turns: int, limit: int) -> None:
    made = digest(path(turns), PROFILE, limit=limit, others=10, count=counter.text)
    least = digest(path(turns)[-1:], PROFILE, limit=None, others=10, count=counter.text).tokens
    assert made.tokens <= max(limit, least)
    assert bool(made.history) == (turns > 0)


def test_listed_items_are_told_with_their_turn_the_newest_of_them() -> None:
    said = [turn(1, "Bars?", "1. El Refugio\n2. La Fuga"), turn(2), turn(3, "Bars?", "- A\n- B")]
    made = digest(said, PROFILE, limit=None, others=0, count=counter.text, history=False)
    told = [(each.name, each.position, each.turn) for each in made.entities]
    assert told == [("El Refugio", 1, 1), ("La Fuga", 2, 1), ("A", 1, 3), ("B", 2, 3)]
    assert (made.history, made.summary) == ((), "")
    long = [turn(at, "Bars?", "\n".join(f"{n}. Bar {n}" for n in range(1, 9))) for at in range(1, 20)]
    made = digest(long, PROFILE, limit=None, others=0, count=counter.text)
    assert len(made.entities) == MOST_ENTITIES
    assert made.entities[-1].turn == 19


@pytest.mark.note("v2 Builder/4")
@pytest.mark.parametrize(
    ("language", "expected"), [("es", "Usuario: Hola\nAsistente: Sí"), ("en", "User: Hola\nAssistant: Sí")]
)
def test_a_transcript_names_its_speakers(language: str, expected: str) -> None:
    said = turn(1, "Hola", "Sí").utterances
    assert transcript(said, "es" if language == "es" else "en") == expected
