"""How far a conversation has come, from the state that an earlier request left or from its whole history."""

from collections.abc import Sequence
from dataclasses import replace

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.conversation.progress import MOST_READ, VERSION, Histories, pack, progress, unpack
from proxy.types import Fold, Message, PathState, Summary, TurnDigest, Vector, VolatileBlock
from tests.builders import Said, assistant, calling, messages, result, system, user
from tests.context.conversations import conversations
from tests.context.told import LEAN, OVERHEAD, Teller, case, counter, exchange, profile, words
from tests.examples import examples

S, GREETING = system("Be brief."), assistant("How can I help?")


def tokens(*said: Said) -> int:
    return sum(map(counter.message, messages(*said)))


@pytest.mark.parametrize("said", [[S], [GREETING], [S, GREETING]])
def test_where_nobody_has_asked_anything_there_is_none(said: list[Said]) -> None:
    assert progress(case(messages(*said))) is None


@pytest.mark.parametrize(
    ("said", "preamble", "newest", "turns", "starts"),
    [
        ([user("1")], 0, 0, 1, []),
        ([S, user("1")], 1, 1, 1, []),
        ([S, GREETING, user("1")], 2, 2, 1, []),
        ([user("1"), assistant("a"), user("2")], 0, 2, 2, [0]),
        ([S, user("1"), assistant("a"), user("2")], 1, 3, 2, [1]),
        ([user("1"), user("2"), assistant("a"), user("3")], 0, 3, 3, [0, 1]),
        ([user("1"), assistant("a"), S, user("2")], 0, 3, 2, [0]),
        ([user("1"), assistant("a"), user("2"), calling("c"), result("c")], 0, 2, 2, [0]),
        ([user("1"), assistant("a"), user("2"), assistant("Sure,", partial=True)], 0, 2, 2, [0]),
    ],
)
def test_what_a_history_is_made_of(said: list[Said], preamble: int, newest: int, turns: int, starts: list[int]) -> None:
    of = case(messages(*said))
    found = progress(of)
    assert found is not None
    assert (found.preamble, found.newest, found.turns) == (preamble, newest, turns)
    assert [turn.start for turn in found.open] == starts
    stops = [*starts, newest][1:]
    assert [turn.tokens for turn in found.open] == [
        tokens(*said[start:stop]) for start, stop in zip(starts, stops, strict=True)
    ]
    assert [turn.link for turn in found.open] == [of.chain[stop - 1] for stop in stops]
    assert found.preamble_tokens == tokens(*said[:preamble])
    assert found.newest_tokens == tokens(*said[newest:])
    assert found.before == tokens(*said[:newest])


def test_from_a_state_it_comes_as_far_as_from_the_beginning() -> None:
    said = [S]
    teller = Teller()
    for number in range(12):
        asked, answered = exchange(number, 40)
        told = teller.ask(*said, asked)
        afresh = progress(case(messages(*said, asked)))
        assert afresh is not None
        ours = told.progress
        assert (ours.preamble, ours.newest, ours.turns, ours.before) == (
            afresh.preamble,
            afresh.newest,
            afresh.turns,
            afresh.before,
        )
        assert [(turn.start, turn.tokens, turn.link) for turn in ours.open] == [
            (turn.start, turn.tokens, turn.link) for turn in afresh.open
        ]
        assert told.managed.tokens.original == OVERHEAD + tokens(*said, asked)
        said += [asked, answered]


def test_only_what_is_new_is_read_again() -> None:
    said = [each for number in range(30) for each in exchange(number, 20)]
    teller = Teller()
    teller.ask(*said, user("30?"))
    given = messages(*said, user("30?"), assistant("a"), user("31?"))
    read: list[int] = []

    def counted(index: int) -> int:
        read.append(index)
        return counter.message(given[index])

    state = next(iter(teller.states.values()))
    found = progress(replace(case(given, state=state), tokens=counted))
    assert found is not None
    assert (found.turns, set(read)) == (32, {60, 61, 62})


@settings(max_examples=examples(30))
@given(conversations(), st.lists(st.integers(0, 20), min_size=2, max_size=6), st.integers(0, 2))
def test_with_what_was_read_before_it_comes_as_far_as_without(said: list[Said], stops: list[int], most: int) -> None:
    """Whatever was asked after whichever part of the history, with one profile or another, and remembered or not."""
    histories = Histories(most)
    for number, stop in enumerate(stops):
        asked = messages(*said[:stop], user(f"And {'again' * (number % 3)}?"))
        for base in (LEAN, profile(LEAN, window={"shift": 0.01})):
            assert progress(case(asked, profile=base), histories) == progress(case(asked, profile=base))


def test_a_history_is_read_once_however_many_questions_follow_it() -> None:
    said = [S, *(each for number in range(30) for each in exchange(number, 20))]
    histories, read = Histories(), set[int]()
    for question in ("Why?", "When?"):
        given_ = messages(*said, user(question))
        read.clear()

        def counted(index: int, given_: Sequence[Message] = given_) -> int:
            read.add(index)
            return counter.message(given_[index])

        assert progress(replace(case(given_), tokens=counted), histories) is not None
    assert read == {len(said)}
    assert histories.size > 0


def test_a_message_that_is_longer_for_what_its_link_leaves_out_is_counted_anew() -> None:
    """A link leaves thinking out."""
    histories = Histories()
    plain = [user("1?"), assistant("1."), user("2?")]
    thought = [plain[0], assistant("1.", reasoning_content=words(40)), plain[2]]
    assert case(messages(*plain)).chain == case(messages(*thought)).chain
    found = [progress(case(messages(*said)), histories) for said in (plain, thought)]
    assert found == [progress(case(messages(*said))) for said in (plain, thought)]
    assert found[0] != found[1]


def test_within_a_turn_nothing_is_new_but_what_was_said_in_it() -> None:
    said = [*exchange(1), user("Look it up.")]
    teller = Teller()
    first = teller.ask(*said)
    second = teller.ask(*said, calling("c"), result("c", words(30)))
    assert second.progress.open == first.progress.open
    assert (second.progress.turns, second.progress.newest) == (first.progress.turns, first.progress.newest)
    assert second.progress.newest_tokens == first.progress.newest_tokens + tokens(calling("c"), result("c", words(30)))


def unit(*numbers: float) -> Vector:
    row = np.array(numbers, np.float32)
    found: Vector = row / np.linalg.norm(row)
    return found


def test_continuity_is_told_with_the_turn_before_and_kept_with_the_turn() -> None:
    teller = Teller()
    said = [*exchange(1, 10), user("and tea?")]
    assert teller.ask(*said[:1], vector=unit(1, 0)).progress.topic.continuity is None
    near = teller.ask(*said, vector=unit(1, 0.1)).progress.topic.continuity
    far = teller.ask(*said[:-1], user("and milk?"), vector=unit(-1, 0)).progress.topic.continuity
    assert near is not None
    assert far is not None
    assert near > far
    later = teller.ask(*said, assistant("Tea."), user("Thanks"), vector=unit(1, 0))
    assert later.progress.open[-1].continuity == near


def test_continuity_that_no_decision_depended_on_is_told_once_the_vectors_are_there() -> None:
    eager, late = Teller(), Teller()
    said = [*exchange(1, 10), user("and tea?"), assistant("Tea."), user("Thanks")]
    for at in (1, 3, 5):
        eager.ask(*said[:at], vector=unit(1, at / 10))
        late.ask(*said[:at])
    given = replace(late.ask(*said).case, vector=unit(1, 0.5), before=(unit(1, 0.3), unit(1, 0.1)))
    found, expected = progress(given), eager.ask(*said, vector=unit(1, 0.5)).progress
    assert found is not None
    assert expected.topic.continuity is not None
    assert found.topic.continuity == pytest.approx(expected.topic.continuity, abs=1e-3)
    assert found.open[-1].continuity == pytest.approx(expected.open[-1].continuity, abs=1e-3)


def test_continuity_is_read_on_the_scale_of_the_model_that_made_the_vectors() -> None:
    teller = Teller()
    said = [*exchange(1, 10), user("¿Cuánto tiempo lleva el viaje en tren?")]
    teller.ask(*said[:1], vector=unit(1, 0))
    asked = teller.ask(*said, vector=unit(0.3, 1)).case
    found = [
        progress(replace(asked, embedding=version)) for version in ("minilm-l6-v2/int8/3", "multilingual-e5-small/")
    ]
    near = [each.topic.continuity for each in found if each is not None]
    assert near[0] is not None
    assert near[1] is not None
    assert near[0] < 0 < near[1]


def test_without_an_embedding_continuity_is_unknown() -> None:
    assert Teller().tell(*exchange(1), user("2?"))[-1].progress.topic.continuity is None


@pytest.mark.parametrize(
    ("asked", "shift"),
    [
        ("Cambiemos de tema: ¿qué cocino hoy?", "flush"),
        ("Cambiando de tema, ¿qué cocino hoy?", "phrase"),
        ("And with milk?", None),
    ],
)
def test_a_turn_that_changes_the_topic_is_told_so_for_good(asked: str, shift: str | None) -> None:
    teller = Teller()
    said = [user("Which tea is strong?"), assistant("Assam tea is.")]
    assert teller.tell(*said, user(asked))[-1].progress.topic.shift == shift
    later = teller.ask(*said, user(asked), assistant("Rice."), user("Thanks"))
    assert later.progress.open[-1].shift == shift


def test_of_a_long_history_that_is_new_only_the_last_turns_are_read_for_their_topics() -> None:
    said = [each for _ in range(2 * MOST_READ) for each in (user("Cambiando de tema, ¿y el té?"), assistant("Sí."))]
    found = progress(case(messages(*said, user("¿Y?"))))
    assert found is not None
    assert not any(turn.shift for turn in found.open[:-MOST_READ])
    assert all(turn.shift for turn in found.open[-MOST_READ + 2 :])


def test_a_branch_goes_on_from_where_it_left() -> None:
    said = [each for number in range(6) for each in exchange(number)]
    teller = Teller()
    teller.tell(*said, user("6?"))
    branched = teller.ask(*said[:6], user("on the other hand"))
    assert branched.case.state is not None
    assert [turn.start for turn in branched.progress.open] == [0, 2, 4]
    assert branched.progress.turns == 4


def test_a_request_that_comes_again_starts_from_the_one_before_it() -> None:
    said = [*exchange(1), *exchange(2), user("3?")]
    teller = Teller()
    first = teller.tell(*said)[-1]
    again = teller.ask(*said)
    assert again.case.state is first.case.state
    assert again.managed == first.managed


VECTOR = np.array([0.5, -0.25, 0.125], np.float32)  # that float16 holds exactly
SUMMARY = Summary("tea", ("green", "black"), "green it is", ("no sugar",), ("when?",), 1, 3)
# Every value differs from its default, so that one that is not written shows.
STATE = PathState(
    turns=9,
    at=1.5,
    newest=17,
    before=900,
    original=1_000,
    sent=500,
    stable=400,
    baseline=2_000.5,
    spent=1_500.25,
    fold=Fold(7, "<memory>", 11, ("f-1",), 5, (SUMMARY,), (8, 10), (3,), 6, 2),
    open=(TurnDigest(b"\xff" * 16, 120, 0.5, "phrase", "work", 7), TurnDigest(b"\0" * 16, 80, None, None)),
    folded_results=(4, 6),
    volatile=VolatileBlock("<recalled>", 9, facts=3, others=4, quoted=(1, 3)),
    volatile_link=b"\x80" * 16,
    omitted=1,
    vector=VECTOR,
    continuity=0.25,
    shift="flush",
    domain="food",
)


def test_a_state_comes_back_as_it_was() -> None:
    found = unpack(pack(STATE))
    assert found == STATE
    assert found is not None
    assert found.vector is not None
    assert found.vector.dtype == np.float32
    assert np.array_equal(found.vector, VECTOR)


def test_so_does_one_of_a_conversation_that_has_just_begun() -> None:
    bare = PathState(1, 0.0, 0, 0, 9, 9, 9, 9.0, 9.0)
    assert unpack(pack(bare)) == bare
    assert replace(bare, turns=2) != bare


@pytest.mark.parametrize(
    "packed",
    [
        b"",
        b"\0",
        bytes([VERSION]),
        bytes([VERSION + 1]) + pack(STATE)[1:],
        pack(STATE)[:-1],
        pack(STATE) + b"\0",
        bytes([VERSION]) + msgspec.msgpack.encode({"turns": "nine"}),
        bytes([VERSION]) + b"\xc1",
    ],
)
def test_what_cannot_be_read_is_no_state(packed: bytes) -> None:
    assert unpack(packed) is None


SYSTEM, U, A, C, R = system("s"), user("u"), assistant("a"), calling("c1"), result("c1")
