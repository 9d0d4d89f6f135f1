"""Turns without vectors: those of a stored shelf are as those that were just said."""

from proxy.memory.owed import Owed
from tests.memory.indexed import TALK, index_of, link


def test_a_packed_turn_is_made_from_the_index_without_the_bytes_of_its_messages() -> None:
    said = Owed()
    for turn in TALK:
        said[turn.link] = turn
    owed = Owed(index_of(TALK), said.packed())
    assert list(owed) == [turn.link for turn in TALK]
    for turn in TALK:
        made = owed[turn.link]
        assert (made.utterances, made.session, made.number, made.at) == (
            turn.utterances,
            turn.session,
            turn.number,
            turn.at,
        )
        assert made.messages == b""
        assert owed.saying(turn.utterances[0].link) == made
    assert owed.packed() == said.packed()


def test_what_the_index_no_longer_has_is_owed_nothing() -> None:
    index, said = index_of(TALK[1:3]), Owed()
    for turn in TALK[:3]:
        said[turn.link] = turn
    owed = Owed(index, said.packed())
    assert list(owed) == [turn.link for turn in TALK[1:3]]
    index.remove([said.link for said in TALK[1].utterances])
    assert owed.get(TALK[1].link) is None
    assert owed.saying(TALK[1].utterances[0].link) is None
    index.remove([TALK[2].utterances[0].link])
    assert [each.text for each in owed[TALK[2].link].utterances] == ["Shall I write that down?"]


def test_a_turn_that_leaves_is_found_by_none_of_its_messages() -> None:
    owed = Owed()
    owed[TALK[0].link] = TALK[0]
    assert owed.saying(link("1.0")) == TALK[0]
    del owed[TALK[0].link]
    assert (len(owed), owed.saying(link("1.0"))) == (0, None)
