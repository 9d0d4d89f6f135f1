"""A snapshot has the last messages of a conversation word for word; no message can look like another."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.files import slugs, snapshots
from proxy.files.lines import link_code, many_lines
from proxy.files.snapshots import LONGEST, MOST, mark_of, parsed, rendered, taken
from proxy.types import ArchivedTurn
from tests.files.held import talk

FORGING = st.lists(
    st.sampled_from(
        [
            "\n",
            "**user**",
            " <!-- m:aaaa -->",
            "> ",
            "forgotten",
            "# a",
            "- session: x <!-- s:y -->",
            "\r",
            "\x0b",
            "b",
            "\ud800",
        ]
    )
).map("".join)
TURNS = st.lists(
    st.builds(
        lambda texts, number: talk(*texts, number=number),
        st.lists(st.text() | FORGING, min_size=1, max_size=3),
        st.integers(1, 9),
    ),
    max_size=4,
    unique_by=lambda turn: turn.number,
)


@pytest.mark.note("Capas/3", "Archivos/3")
def test_a_snapshot_is_a_text_that_a_person_reads() -> None:
    said = talk("Quiero viajar a Lima\nen mayo", "¿Con qué presupuesto?")
    codes = [link_code(each.link) for each in said.utterances]
    assert rendered(taken([said], "s-1", "idle")) == (
        "# Quiero, viajar, lima, mayo\n\n"
        f"- session: s-1 <!-- s:{mark_of('s-1')} -->\n"
        "- when: 2026-11-23 12:00 to 12:00 UTC\n"
        "- ended: idle\n\n"
        f"**user** <!-- m:{codes[0]} t:1 at:2026-11-23T12:00:00Z -->\n\n"
        "> Quiero viajar a Lima\n> en mayo\n\n"
        f"**assistant** <!-- m:{codes[1]} t:1 at:2026-11-23T12:00:00Z -->\n\n"
        "> ¿Con qué presupuesto?\n"
    )


@given(TURNS, st.text() | FORGING, st.text() | FORGING)
def test_a_snapshot_is_read_as_it_was_taken(turns: list[ArchivedTurn], session: str, why: str) -> None:
    snapshot = taken(turns, session, why)
    assert parsed(rendered(snapshot)) == snapshot


@given(TURNS)
def test_every_message_is_there_word_for_word(turns: list[ArchivedTurn]) -> None:
    said = [each for turn in turns for each in turn.utterances if each.text.strip()][-MOST:]
    read = parsed(rendered(taken(turns, "s", "idle"))).said
    assert [(each.role, each.text, each.link) for each in read] == [
        (each.role, "\n".join(many_lines(each.text)), each.link) for each in said
    ]


@pytest.mark.note("Snapshots/1")
def test_the_last_messages_are_taken_and_long_ones_cut() -> None:
    turns = [talk(f"question {number}", "x" * (LONGEST + number), number=number) for number in range(1, 11)]
    said = taken(turns, "s", "idle").said
    assert [each.turn for each in said] == [3, *(number for number in range(4, 11) for _ in range(2))]
    assert said[-1].text == "x" * LONGEST + " […]"


@given(TURNS, st.text())
def test_a_snapshot_is_read_with_the_name_that_a_model_has_given_it(turns: list[ArchivedTurn], said: str) -> None:
    snapshot = replace(taken(turns, "s", "idle"), called=slugs.name_of(said))
    assert parsed(rendered(snapshot)) == snapshot


@given(st.binary(max_size=200))
def test_any_text_can_be_read(data: bytes) -> None:
    parsed(data.decode("latin-1"))


def test_a_conversation_in_which_nothing_was_said_has_no_turns() -> None:
    assert list(snapshots.turns(())) == []
