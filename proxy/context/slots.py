"""Slots of the memory head: the summaries that a model has made in the background take those of the extracted ones.

A model reads turns when it is ready, a fold happens when it pays: what is there by then is used, and nothing waits for
it. Decided at a fold alone, since between folds a head stays as it is; what stands there by a model's hand is never
written again. A turn is in one summary at most, so an extracted one gives way only where all of its turns are covered.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from itertools import groupby

from proxy.context.filling import fitted, render
from proxy.context.shortening import Count
from proxy.context.summaries import segments
from proxy.types import Summary, TurnDigest


def shown(made: Summary, max_tokens: int, count: Count) -> Summary | None:
    """Returns a model's summary as it may stand in a head: on one line, and cut to `max_tokens`. None if nothing of it
    is left."""
    plain = replace(
        made,
        topic=_one_line(made.topic),
        discussed=_lines(made.discussed),
        outcome=_one_line(made.outcome),
        decisions=_lines(made.decisions),
        open_questions=_lines(made.open_questions),
        by_model=True,
    )
    short = fitted(plain, max_tokens, count)
    text = render(short)
    return short if text != "{}" and count(text) <= max_tokens else None


def usable(made: Sequence[Summary], before: Sequence[Summary]) -> tuple[Summary, ...]:
    """Returns those of a model's summaries, all of turns that have left, that take slots beside or instead of `before`,
    what a head has: of those that overlap the first one, and none that covers a part of what stays."""
    held = turns_of(each for each in before if each.by_model)
    chosen: list[Summary] = []
    for each in made:
        if held.isdisjoint(turns := turns_of([each])):
            chosen.append(each)
            held |= turns
    while True:
        covered = turns_of(chosen)
        stay = turns_of(each for each in before if not turns_of([each]) <= covered)
        left = [each for each in chosen if stay.isdisjoint(turns_of([each]))]
        if len(left) == len(chosen):
            return tuple(chosen)
        chosen = left  # what they covered together with those that went may be covered in part now


def placed(before: Sequence[Summary], written: Sequence[Summary], made: Sequence[Summary]) -> list[Summary]:
    """Returns the summaries of a new head in the order of their turns: `made` in place of those whose turns they
    cover."""
    covered = turns_of(made)
    rest = [each for each in (*before, *written) if not turns_of([each]) <= covered]
    return sorted((*rest, *made), key=lambda each: each.last_turn)


def uncovered(leaving: Sequence[TurnDigest], first: int, covered: Collection[int], length: int) -> list[range]:
    """Returns the segments of the leaving turns whose numbers, from `first` on, are not in `covered`, as ranges of
    indices; an open segment is closed by leaving. `length`: most turns of a segment."""
    found: list[range] = []
    for is_covered, run in groupby(range(len(leaving)), key=lambda at: first + at in covered):
        if not is_covered:
            start, *rest = run
            stop = start + 1 + len(rest)
            closed = [range(start + each.start, start + each.stop) for each in segments(leaving[start:stop], length)]
            begun = closed[-1].stop if closed else start
            found += [*closed, *([range(begun, stop)] if begun < stop else [])]
    return found


def turns_of(summaries: Iterable[Summary]) -> set[int]:
    """Returns the numbers of the turns that these summaries cover."""
    return {turn for each in summaries for turn in range(each.first_turn, each.last_turn + 1)}


def _lines(items: Sequence[str]) -> tuple[str, ...]:
    return tuple(line for item in items if (line := _one_line(item)))


def _one_line(text: str) -> str:
    return " ".join(text.split())
