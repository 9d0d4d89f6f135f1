import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.language.words import terms
from proxy.memory.turn_index import EMBEDDED, TurnIndex
from proxy.memory.view import View
from tests.memory.indexed import index_of, link, path, turn, vector

LONG = "\n\n".join(
    f"Paragraph {number} speaks of harbour {number}. " + "Filling words stand here. " * 12 for number in range(9)
)
FIRST = turn(1, "My boat is called Marigold", "A fine name")
SECOND = turn(2, "The harbour opens at 5433", "Noted: 5433")


def found(index: TurnIndex, word: str, *turns_on_path: bytes) -> list[bytes]:
    view = index.view(turns_on_path)
    seen = index.frequencies(terms(word), view).any(axis=0)
    return [index.message(int(number)).link for number in view.messages[view.message_of[seen]]]


def test_a_word_is_found_in_the_messages_that_say_it() -> None:
    index = index_of([FIRST, SECOND])
    assert found(index, "5433", *path(FIRST, SECOND)) == [link("2.0"), link("2.1")]
    assert found(index, "boats", *path(FIRST, SECOND)) == [link("1.0")]


def test_a_view_holds_the_path_alone_in_its_order() -> None:
    sibling = turn(2, "The harbour is shut", "I see", prefix="b")
    index = index_of([FIRST, SECOND, sibling])
    view = index.view((link("unknown"), *path(FIRST, sibling)))
    assert [index.message(int(number)).link for number in view.messages] == list(path(FIRST, sibling))
    assert found(index, "harbour", *path(FIRST, sibling)) == [link("b2.0")]


def test_other_sessions_come_first_and_begin_anew() -> None:
    other = turn(1, "In another talk", "Yes", session="other", prefix="o")
    index = index_of([FIRST, other, SECOND])
    view = index.view(path(FIRST, SECOND), others_than="s")
    links = [index.message(int(number)).link for number in view.messages]
    assert links == list(path(other, FIRST, SECOND))
    assert view.begins.tolist() == [True, False, True, False, False, False]


def test_branches_of_the_own_session_are_not_other_sessions() -> None:
    sibling = turn(2, "The harbour is shut", "I see", prefix="b")
    index = index_of([FIRST, SECOND, sibling])
    assert len(index.view(path(FIRST, SECOND), others_than="s").messages) == 4


def test_adding_again_changes_nothing() -> None:
    index = index_of([FIRST, SECOND])
    size = index.size
    index.add(FIRST)
    assert (len(index), index.size) == (4, size)


def test_vectors_may_come_later() -> None:
    index = index_of([FIRST, SECOND])
    view = index.view(path(FIRST, SECOND))
    assert index.cosines(vector("harbour"), view) is None
    index.add(SECOND, np.array([vector(text) for text in index.texts(SECOND)]))
    cosines = index.cosines(vector(SECOND.utterances[0].text), view)
    assert cosines is not None
    np.testing.assert_allclose(cosines[:2], 0)
    assert cosines[2] == pytest.approx(1, abs=0.01)


def test_a_passage_is_awaited_until_its_message_is_embedded() -> None:
    long = turn(1, "Tell me all", LONG)
    index = index_of([long, SECOND])
    view = index.view(path(long, SECOND))
    assert index.awaited(view).all()
    index.add(long, np.array([vector(text) for text in index.texts(long)]))
    assert index.awaited(view).tolist() == (view.message_of >= 2).tolist()
    assert int(index.embedded(view).sum()) == 1 + EMBEDDED["assistant"]  # the others of the answer never get one


def test_vectors_of_another_conversation_are_no_vectors_of_this_one() -> None:
    index = index_of([FIRST])
    index.add(SECOND, np.array([vector(text) for text in index.texts(SECOND)]))
    assert index.cosines(vector("harbour"), index.view(path(FIRST))) is None


def test_a_long_message_is_many_passages_of_which_the_first_are_embedded() -> None:
    long = turn(1, LONG, LONG)
    index = TurnIndex()
    texts = index.texts(long)
    assert len(texts) == EMBEDDED["user"] + EMBEDDED["assistant"]
    index.add(long, np.array([vector(text) for text in texts]))
    view = index.view(path(long))
    cosines = index.cosines(vector(texts[0]), view)
    assert cosines is not None
    per_message = [cosines[view.message_of == position] for position in range(2)]
    assert [int((near > 0).sum()) for near in per_message] == [EMBEDDED["user"], EMBEDDED["assistant"]]


def test_a_message_without_text_is_passed_over() -> None:
    silent = turn(1, "Look it up", "  ", "And then?")
    index = index_of([silent], embedded=True)
    assert len(index) == 2
    assert len(index.view(path(silent)).messages) == 2


@pytest.mark.parametrize("rows", [np.zeros((1, 64), np.float32), np.zeros((2, 3), np.float32)], ids=["few", "narrow"])
def test_vectors_that_do_not_fit_are_refused_and_nothing_is_added(rows: np.ndarray) -> None:
    index = index_of([FIRST], embedded=True)
    with pytest.raises(ValueError, match="vector"):
        index.add(SECOND, rows)
    assert len(index) == 2


def test_what_is_removed_is_in_no_part_of_the_index() -> None:
    index = index_of([FIRST, SECOND], embedded=True)
    before = index_of([SECOND], embedded=True)
    index.remove([*path(FIRST), link("unknown")])
    assert len(index) == 2
    assert all(said not in index for said in path(FIRST))
    assert "marigold" not in repr(vars(index)).lower()
    assert found(index, "Marigold", *path(FIRST, SECOND)) == []
    assert found(index, "5433", *path(FIRST, SECOND)) == found(before, "5433", *path(SECOND))
    with pytest.raises(LookupError):
        index.message(0)


def test_removed_messages_can_be_said_again() -> None:
    index = index_of([FIRST, SECOND], embedded=True)
    index.remove(path(FIRST))
    index.add(FIRST)
    assert found(index, "Marigold", *path(FIRST, SECOND)) == [link("1.0")]


def seen(index: TurnIndex, *turns_on_path: bytes, others_than: str | None = None) -> dict[str, list[int]]:
    view = index.view(turns_on_path, others_than=others_than)
    return {name: getattr(view, name).tolist() for name in View.__slots__}


def test_what_comes_into_the_middle_of_a_path_later_is_seen_there() -> None:
    index, links = index_of([FIRST]), path(FIRST, SECOND, turn(3, "And now?", "Now it is open"))
    index.add(turn(3, "And now?", "Now it is open"))
    assert len(index.view(links).messages) == 4
    index.add(SECOND)
    view = index.view(links)
    assert [index.message(int(number)).link for number in view.messages] == list(links)
    assert view.at.tolist() == [0, 1, 2, 3, 4, 5]


def test_what_is_removed_is_in_no_view_of_a_path_that_was_looked_up_before() -> None:
    index = index_of([FIRST, SECOND])
    index.view(path(FIRST, SECOND))
    index.remove(path(FIRST))
    assert seen(index, *path(FIRST, SECOND))["at"] == [2, 3]
    assert seen(index, *path(FIRST, SECOND))["begins"] == [True, False]


TALK = [turn(number, f"Question {number}", f"Answer {number} " * (number % 3 * 60 + 1)) for number in range(12)]
OTHER = [turn(number, f"Elsewhere {number}", session="o", prefix="o") for number in range(4)]


def changed(index: TurnIndex, done: list[tuple[str, int]]) -> TurnIndex:
    for what, number in done:
        if what == "add":
            index.add((*TALK, *OTHER)[number])
        elif what == "remove":
            index.remove([path(*TALK)[number]])
    return index


@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("add"), st.integers(0, 15)),
            st.tuples(st.just("look"), st.integers(0, 24)),
            st.tuples(st.just("remove"), st.integers(0, 23)),
        ),
        max_size=40,
    ),
    st.booleans(),
)
def test_whatever_was_looked_up_before_a_view_is_that_of_the_whole_path(
    done: list[tuple[str, int]], with_others: bool
) -> None:
    links, others = path(*TALK), "s" if with_others else None
    index = TurnIndex()
    for at, (what, number) in enumerate(done):
        if what == "look":
            afresh = changed(TurnIndex(), done[:at])
            assert seen(index, *links[:number], others_than=others) == seen(afresh, *links[:number], others_than=others)
        else:
            changed(index, [(what, number)])


@given(st.lists(st.tuples(st.text(max_size=60), st.text(max_size=60)), min_size=1, max_size=80))
def test_however_it_has_grown_every_passage_is_its_messages_own(said: list[tuple[str, str]]) -> None:
    turns = [turn(number, *texts) for number, texts in enumerate(said)]
    index = index_of(turns)
    view = index.view(path(*turns))
    texts = [text for each in said for text in each if text.strip()]
    assert [index.message(int(number)).text for number in view.messages] == texts
    assert index.lengths(view).tolist() == [len(terms(text)) for text in texts]
