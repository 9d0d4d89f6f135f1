"""A model's summaries take the slots of extracted ones whose turns they cover; nothing else moves."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.context.filling import render
from proxy.context.slots import placed, shown, turns_of, uncovered, usable
from proxy.types import Summary, TurnDigest
from tests.context.told import counter

Span = tuple[int, int]


def summary(span: Span, *, by_model: bool = False) -> Summary:
    return Summary(f"{span}", (), "", (), (), *span, by_model=by_model)


def spans(summaries: tuple[Summary, ...] | list[Summary]) -> list[Span]:
    return [(each.first_turn, each.last_turn) for each in summaries]


@pytest.mark.note("Flush/4", "v2 Roadmap/1")
@pytest.mark.parametrize(
    ("extracted", "stand", "made", "expected"),
    [
        ([], [], [(1, 3)], [(1, 3)]),
        ([(1, 3)], [], [(1, 3)], [(1, 3)]),
        ([(1, 3), (4, 6)], [], [(1, 6)], [(1, 6)]),
        ([(1, 3), (4, 6)], [], [(1, 5)], []),  # the second one is covered in part
        ([(1, 3), (4, 6)], [], [(4, 8)], [(4, 8)]),
        ([(4, 6)], [], [(1, 4), (5, 8)], [(1, 4), (5, 8)]),  # covered by two
        ([(4, 6)], [], [(1, 4), (6, 8)], []),  # turn 5 by none
        ([(4, 6), (7, 9)], [], [(1, 4), (5, 8)], []),  # without the second one the first covers a part
        ([(4, 6)], [], [(1, 3), (5, 8)], [(1, 3)]),
        ([], [(1, 3)], [(1, 3)], []),  # it stands there
        ([], [(1, 3)], [(1, 6)], []),  # what stands is not written again
        ([], [(1, 3)], [(4, 6)], [(4, 6)]),
        ([], [], [(1, 3), (2, 6), (4, 5)], [(1, 3), (4, 5)]),  # of two that overlap the first
    ],
)
def test_a_models_summary_is_used_where_it_covers_what_it_replaces(
    extracted: list[Span], stand: list[Span], made: list[Span], expected: list[Span]
) -> None:
    before = [*map(summary, extracted), *(summary(span, by_model=True) for span in stand)]
    assert spans(usable([summary(span, by_model=True) for span in made], before)) == expected


def test_what_is_replaced_gives_its_place_in_the_order_of_turns() -> None:
    before = [summary((1, 3)), summary((4, 6)), summary((7, 9))]
    made = [summary((10, 11), by_model=True), summary((4, 6), by_model=True)]
    assert placed(before, [summary((12, 12))], made) == [
        before[0], made[1], before[2], made[0], summary((12, 12)),
    ]  # fmt: skip


NO_SHIFT = TurnDigest(b"", 100, None, None)
SHIFT = TurnDigest(b"", 100, None, "phrase")


@pytest.mark.parametrize(
    ("leaving", "covered", "expected"),
    [
        ("......", (), [(5, 7), (8, 10)]),
        (".......", (), [(5, 7), (8, 10), (11, 11)]),
        ("..x....", (), [(5, 6), (7, 9), (10, 11)]),
        (".......", (5, 6, 7), [(8, 10), (11, 11)]),
        (".......", (5,), [(6, 8), (9, 11)]),
        (".......", (8, 9), [(5, 7), (10, 11)]),
        (".......", (6, 7), [(5, 5), (8, 10), (11, 11)]),
        ("...x...", (5, 6, 7), [(8, 10), (11, 11)]),
        ("......", range(1, 20), []),
    ],
)
def test_turns_that_are_covered_are_in_no_segment(leaving: str, covered: range, expected: list[Span]) -> None:
    digests = [SHIFT if each == "x" else NO_SHIFT for each in leaving]
    found = uncovered(digests, 5, covered, 3)
    assert [(5 + each.start, 4 + each.stop) for each in found] == expected


SPANS = st.lists(st.tuples(st.integers(1, 30), st.integers(0, 7)).map(lambda at: (at[0], at[0] + at[1])), max_size=8)
FLAGS = st.lists(st.booleans(), min_size=8, max_size=8)


def apart(given_: list[Span]) -> list[Span]:
    """Those of the spans that overlap no other before them, in their order."""
    found: list[Span] = []
    for first, last in sorted(given_):
        if not found or first > found[-1][1]:
            found.append((first, last))
    return found


@given(SPANS, FLAGS, SPANS, st.integers(0, 9))
def test_every_turn_is_in_one_summary_and_none_is_lost(
    standing: list[Span], flags: list[bool], ready: list[Span], leave: int
) -> None:
    before = [summary(span, by_model=by) for span, by in zip(apart(standing), flags, strict=False)]
    held = turns_of(before)
    first = max(held, default=0) + 1
    made = [summary(span, by_model=True) for span in ready if span[1] < first + leave]
    used = usable(made, before)
    found = uncovered([NO_SHIFT] * leave, first, turns_of(used), 3)
    written = [summary((first + each.start, first + each.stop - 1)) for each in found]
    after = placed(before, written, used)
    turns = [turn for each in after for turn in range(each.first_turn, each.last_turn + 1)]
    assert turns == sorted(set(turns))
    assert set(turns) == held | set(range(first, first + leave)) | turns_of(used)
    assert {each for each in before if each.by_model} <= set(after)


# --- its text ---------------------------------------------------------------------------------------------------------

WHOLE = Summary(
    "a trip to Lima",
    ("the budget is 900 dollars", "flights leave on Monday", "the hotel is near the park"),
    "the flights are booked",
    ("we fly on Monday",),
    ("which hotel?",),
    1,
    4,
)


@pytest.mark.parametrize(
    ("tokens", "left"),
    [
        (100, WHOLE),
        (50, replace(WHOLE, discussed=WHOLE.discussed[:2])),
        (31, replace(WHOLE, discussed=())),
        (22, replace(WHOLE, discussed=(), open_questions=())),
        (20, replace(WHOLE, discussed=(), open_questions=(), outcome="")),
        (2, None),
    ],
)
def test_a_text_is_cut_to_the_tokens_of_a_summary(tokens: int, left: Summary | None) -> None:
    assert shown(WHOLE, tokens, counter.text) == (left and replace(left, by_model=True))


def test_what_a_model_writes_stands_on_one_line() -> None:
    wild = Summary("a\n\nb", (" c\u2028d ", "\n"), "\t", (), (), 1, 2)
    found = shown(wild, 50, counter.text)
    assert found == Summary("a b", ("c d",), "", (), (), 1, 2, by_model=True)
    assert shown(Summary(" ", ("",), "\n", (), (), 1, 2), 50, counter.text) is None


TEXTS = st.text(max_size=60)


@given(
    st.builds(
        Summary, TEXTS, st.lists(TEXTS, max_size=4).map(tuple), TEXTS, st.lists(TEXTS, max_size=3).map(tuple),
        st.lists(TEXTS, max_size=2).map(tuple), st.just(1), st.just(3),
    ),
    st.integers(1, 80),
)  # fmt: skip
def test_whatever_a_model_writes_takes_no_more_room_than_it_has(made: Summary, tokens: int) -> None:
    found = shown(made, tokens, counter.text)
    if found is not None:
        assert counter.text(render(found)) <= tokens
        assert len(render(found).splitlines()) == 1
        assert found.by_model
