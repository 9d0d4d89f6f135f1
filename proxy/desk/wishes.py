"""Wishes of the model about its context, checked: prunes and summaries become marks, or get the reason why not.

A mark names messages by their links, so it holds on every path of the session that has them. It takes effect later,
when the prompt is rewritten: what it does to the prompt then is decided in marking.py.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from proxy.desk.planned import View
from proxy.desk.protecting import protected, steps
from proxy.desk.tools import Prune, Summarise
from proxy.types.desk import Mark


@dataclass(frozen=True, slots=True)
class Numbered:
    """A view by the ids of its messages."""

    view: View
    last: int  # greatest id of the session
    pinned: Collection[bytes]  # links
    tokens: Callable[[int], int]  # of the message with this index
    places: Mapping[int, int] = field(init=False)  # index by id

    def __post_init__(self) -> None:
        object.__setattr__(self, "places", {name: at for at, name in enumerate(self.view.ids) if name})


class Unfit(Exception):
    """Raised for a wish that cannot be granted: a sentence's name, and its values."""

    def __init__(self, reason: str, **values: object) -> None:
        super().__init__(reason)
        self.reason = reason
        self.values = values


def place_of(name: int, numbered: Numbered) -> int:
    """Returns the index of the message with an id. Raises `Unfit`."""
    if not 1 <= name <= numbered.last:
        raise Unfit("unknown-id", id=name, last=numbered.last)
    if name not in numbered.places:
        raise Unfit("not-here", id=name)
    return numbered.places[name]


def pruned(wish: Prune, numbered: Numbered, marked: Collection[bytes]) -> Mark:
    """Returns the mark of a prune, of messages that are not `marked` (links) yet; of a call with its results. Raises
    `Unfit` for the first message that has to stay."""
    view = numbered.view
    wanted = {place_of(name, numbered) for name in wish.ids}
    for step in steps(view.messages, range(len(view.messages))):
        if step.start in wanted and view.messages[step.start].calls_tools:
            wanted.update(step)
    _refuse_protected(sorted(wanted), numbered)
    new = [index for index in sorted(wanted) if view.chain[index] not in marked]
    if not new:
        raise Unfit("marked-already")
    return _mark("prune", new, numbered)


def summarised(wish: Summarise, numbered: Numbered, marked: Collection[bytes], tokens: int) -> Mark:
    """Returns the mark of a range, widened to whole steps, without instructions. `tokens`: of the summary. Raises
    `Unfit` if a message in it has to stay, or nothing becomes shorter."""
    view = numbered.view
    start, end = place_of(wish.start, numbered), place_of(wish.end, numbered)
    span = range(min(start, end), max(start, end) + 1)
    whole = [step for step in steps(view.messages, range(len(view.messages))) if step.stop > span.start]
    wanted = [index for step in whole if step.start < span.stop for index in step]
    wanted = [index for index in wanted if view.messages[index].role not in ("system", "developer")]
    if not wanted:
        raise Unfit("system", id=wish.start)
    _refuse_protected(wanted, numbered)
    new = [index for index in wanted if view.chain[index] not in marked]
    if not new:
        raise Unfit("marked-already")
    before = sum(numbered.tokens(index) for index in wanted)
    if tokens >= before:
        raise Unfit("no-shorter", tokens=tokens, before=before)
    return _mark("range", wanted, numbered, wish.text.strip())


def _refuse_protected(indices: Sequence[int], numbered: Numbered) -> None:
    view = numbered.view
    stay = protected(view.messages, view.chain, numbered.pinned)
    for index in indices:
        if index in stay:
            raise Unfit(stay[index], id=view.ids[index])


def _mark(kind: str, indices: Sequence[int], numbered: Numbered, text: str = "") -> Mark:
    view = numbered.view
    names = [view.ids[index] for index in indices if view.ids[index]]
    return Mark(
        kind="range" if kind == "range" else "prune",
        links=tuple(view.chain[index] for index in indices),
        first=min(names, default=0),
        last=max(names, default=0),
        text=text,
        tokens=sum(numbered.tokens(index) for index in indices),
    )
