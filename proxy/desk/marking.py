"""Marks as changes of a view: which messages leave, which are replaced, so that every upstream takes what remains.

A pruned message becomes a line with its id; a pruned call goes with its results, as a step, where an answer follows it.
A range loses all of its messages but a carrier, which has the summary: the last answer of a turn in place of its text;
in a turn whose answer is not in the range, the message before the steps that leave, at its end. A turn that is in the
range as a whole leaves as a whole, so no order of roles changes but that there are fewer turns; the last turn of a
range keeps its question, as a line, and its answer, as the carrier.

Changes by a mark depend on the messages of its range and the turn around it alone, so they are the same to the byte as
long as these stay.
"""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from proxy.desk.planned import Marked, View
from proxy.desk.protecting import steps
from proxy.protocol.message import replaced, suffixed
from proxy.types import Message
from proxy.types.desk import Mark

_PRUNED = "[{id}: pruned, recallable]"
_BELOW = "[{id}: summarised below]"
_SUMMARY = '<summary of="{first}-{last}">\n{text}\n</summary>'


@dataclass(frozen=True, slots=True)
class Changes:
    """Changes of a view. An index is in one of both at most."""

    removed: frozenset[int] = frozenset()
    replaced: Mapping[int, Message] = field(default_factory=dict)

    def first_difference(self, other: "Changes") -> int | None:
        """Returns the first index at which two changes differ; None if they are equal."""
        indices = self.removed ^ other.removed
        both = self.replaced.keys() | other.replaced.keys()
        differing = (at for at in both if _raw(self.replaced.get(at)) != _raw(other.replaced.get(at)))
        return min((*indices, *differing), default=None)


NO_CHANGES = Changes()


def changes(view: View, marks: Iterable[Marked]) -> Changes:
    """Returns the changes of all these marks, the oldest first. A range inside of a later one is a part of that."""
    every = list(marks)
    places = {link: index for index, link in enumerate(view.chain)}
    made = _Changes(view)
    for at, each in enumerate(every):
        if any(_covers(later.mark, each.mark) for later in every[at + 1 :]):
            continue
        indices = {places[link] for link in each.mark.links if link in places} - set(each.stay)
        if each.mark.kind == "prune":
            made.prune(indices)
        else:
            made.summarise(indices, each.mark)
    return Changes(frozenset(made.removed), {at: said for at, said in made.said.items() if at not in made.removed})


def _raw(said: Message | None) -> bytes:
    return b"" if said is None else said.raw


def _covers(later: Mark, earlier: Mark) -> bool:
    return later.kind == "range" and set(earlier.links) <= set(later.links)


class _Changes:
    """Changes in the making."""

    def __init__(self, view: View) -> None:
        self.view = view
        self.removed: set[int] = set()
        self.said: dict[int, Message] = {}
        self.carried: dict[int, str] = {}  # summaries in the place of messages
        starts = [index for index, said in enumerate(view.messages) if said.role == "user"]
        stops = [*starts[1:], len(view.messages)]
        self.turns = [range(start, stop) for start, stop in zip(starts, stops, strict=True)]

    def prune(self, indices: AbstractSet[int]) -> None:
        messages = self.view.messages
        for step in steps(messages, range(len(messages))):
            wanted = [index for index in step if index in indices]
            follows = messages[step.stop].role if step.stop < len(messages) else ""
            if wanted and messages[step.start].calls_tools:
                if len(wanted) == len(step) and follows == "assistant" and step.start and not self._begins(step.start):
                    self.removed.update(step)
                    continue
                wanted = [index for index in wanted if index != step.start]
            for index in wanted:
                self._replace(index, _PRUNED.format(id=self._id(index)))

    def summarise(self, indices: AbstractSet[int], mark: Mark) -> None:
        """Takes a range out; its summary stands in the last turn that it touches, with those that stood in it."""
        indices = indices - self.removed
        touched = [turn for turn in self.turns if not indices.isdisjoint(turn)]
        loose = sorted(indices - {index for turn in touched for index in turn})  # before the first question
        text = _SUMMARY.format(first=mark.first, last=mark.last, text=_plain(mark.text))
        before = [self.carried.pop(index) for index in sorted(indices & self.carried.keys())]
        text = "\n".join((*before, text))
        for turn in touched:
            self._take(turn, indices & set(turn), text if turn is touched[-1] else "")
        for index in loose:
            self._replace(index, text if not touched else _BELOW.format(id=self._id(index)))

    def _take(self, turn: range, indices: AbstractSet[int], text: str) -> None:
        """Takes messages of a turn out. `text`: the summary, if it belongs into this turn."""
        messages = self.view.messages
        start, last = turn.start, turn[-1]
        if not text and indices >= set(turn) - self.removed:
            self.removed.update(turn)
            return
        has_answer = messages[last].role == "assistant" and not messages[last].calls_tools
        whole = self._steps_of(turn, indices)
        if has_answer and last in indices:
            if start in indices:
                self._replace(start, _BELOW.format(id=self._id(start)))
            self.removed.update(whole - {last, start})
            self._carry(last, text) if text else self._replace(last, _BELOW.format(id=self._id(last)))
            return
        gone = whole - {start}
        self.removed.update(gone)
        if start in indices:
            self._carry(start, text) if text else self._replace(start, _BELOW.format(id=self._id(start)))
        elif text:
            first = min(gone, default=last)
            carrier = max(index for index in range(start, first) if index not in self.removed)
            # An answer before a call is the model's own word.
            self._add(start if messages[carrier].role == "assistant" else carrier, text)

    def _carry(self, index: int, text: str) -> None:
        """Puts a summary in the place of a message's text."""
        self.carried[index] = text
        self.said[index] = replaced(self.view.messages[index], text)

    def _add(self, index: int, text: str) -> None:
        """Puts a summary behind a message's text."""
        self.said[index] = suffixed(self.said.get(index, self.view.messages[index]), text)
        if index in self.carried:
            self.carried[index] += f"\n{text}"

    def _steps_of(self, turn: range, indices: AbstractSet[int]) -> set[int]:
        """Returns those of the messages that may leave: whole steps, and answers that another message follows in the
        turn."""
        whole = (step for step in steps(self.view.messages, turn) if indices >= set(step))
        return {index for step in whole for index in step}

    def _begins(self, index: int) -> bool:
        """Tells whether nothing stands before a message but instructions."""
        return not self.turns or index < self.turns[0].start

    def _replace(self, index: int, text: str) -> None:
        said = self.view.messages[index]
        if index not in self.removed and index not in self.carried and not said.calls_tools:
            self.said[index] = replaced(said, text)

    def _id(self, index: int) -> int:
        ids: Sequence[int] = self.view.ids
        return ids[index] if index < len(ids) else 0


def _plain(text: str) -> str:
    """Returns a summary as it may stand in its block: no tag in it ends the block."""
    return text.replace("</summary", "<\u200b/summary").strip()
