"""The desk of a session as a process knows it: a fold over its events and the lines of its tape.

A state is frozen, so no request changes another one's; it is extended by what is new. It holds links and numbers of all
messages, the texts that are put back into prompts (hidden exchanges, dashboards, summaries of ranges), and the newest
edits.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import blake2b

import msgspec

from proxy.protocol.chains import LINK_BYTES, links_after
from proxy.protocol.dialects import GENERIC, violations
from proxy.protocol.message import bare, message_of
from proxy.protocol.spliced import in_span
from proxy.types import ApiName, Message
from proxy.types.desk import (
    Applied,
    Board,
    Called,
    Confirmed,
    DeskEvent,
    DeskNews,
    Edit,
    Ended,
    Hidden,
    Mark,
    Offered,
    Pin,
    Reset,
    TapeLine,
)

MOST_EDITS = 20  # the newest, beside those that wait
_LINE = 500  # bytes in memory of a line and its link
_EVENT = 500  # the same of an event, beside its texts and links
_LINK = 60
_PARSED = 4  # bytes in memory of a byte of JSON, with what is decoded of it


@dataclass(frozen=True, slots=True)
class HiddenExchange:
    """A `Hidden` event whose messages are parsed."""

    at: float
    answer: bytes  # link
    calls: tuple[str, ...]
    before: tuple[Message, ...]
    links: tuple[bytes, ...]  # of these messages
    keys: tuple[bytes, ...]  # by which their tokens are remembered
    instead: Message | None
    after: tuple[Message, ...]
    api: ApiName = "chat"  # of their bytes

    def within(self, api: ApiName) -> "HiddenExchange":
        """Returns the exchange for a request in an API: in the bytes of that alone."""
        if self.api in ("chat", api):
            return self
        before = tuple([bare(said) for said in self.before])
        return replace(self, before=before, instead=self.instead and bare(self.instead), api="chat")


@dataclass(frozen=True)
class DeskState:
    """All that a request needs to know of its session's desk. Every event up to number `event` and every line up to id
    `line` is in it; of later lines some may be."""

    event: int = 0
    line: int = 0
    last: int = 0  # greatest id of a line
    lines: Mapping[bytes, TapeLine] = field(default_factory=dict)  # by link, without content
    links: Mapping[int, bytes] = field(default_factory=dict)  # by id
    offered: Offered | None = None  # None: no tools are offered
    ended: str = ""  # why the offer has ended; "": it has not
    hidden: Mapping[bytes, tuple[HiddenExchange, ...]] = field(default_factory=dict)  # by link of the request's last
    boards: Mapping[bytes, Board] = field(default_factory=dict)  # by link
    marks: Mapping[int, Mark] = field(default_factory=dict)  # that stand, by number of their event
    applied: frozenset[int] = frozenset()  # numbers of those that have taken effect
    pins: frozenset[bytes] = frozenset()
    waiting: Mapping[int, Edit] = field(default_factory=dict)  # for a person, by number of their event
    edits: tuple[Edit, ...] = ()  # the newest first, none from before the last reset
    reset: int = 0  # number of the last reset; 0: there was none
    undone: tuple[str, ...] = ()  # names of documents and keys of facts that it undid
    texts: int = 0  # bytes in memory of what events brought, but for edits

    @property
    def size(self) -> int:
        """Bytes in memory, about."""
        edits = sum(len(each.before) + len(each.after) + _EVENT for each in (*self.edits, *self.waiting.values()))
        return _LINE * len(self.lines) + self.texts + edits

    @property
    def begun_at(self) -> float:
        """The time of the first line; 0 if there is none."""
        first = next(iter(self.lines.values()), None)
        return first.at if first else 0.0

    @cached_property
    def marked(self) -> frozenset[bytes]:
        """The links of the messages under marks."""
        return frozenset(link for mark in self.marks.values() for link in mark.links)

    @cached_property
    def times(self) -> Mapping[bytes, float]:
        """The times at which messages arrived, by link."""
        return {link: line.at for link, line in self.lines.items()}


def after(state: DeskState, news: DeskNews, *, is_whole: bool = True) -> DeskState:
    """Returns the state with news of its session. `is_whole`: nothing is missing between what it knows and the end of
    the news, as `DeskStore.since` reads them. Otherwise others may have written in between: then events behind a gap
    are left for the next reading."""
    events = [each for each in news.events if each.number > state.event]
    if not is_whole:
        events = _without_gap(events, state.event)
    state = _with_lines(state, news.lines, is_whole=is_whole)
    return _Fold(state).after(events) if events else state


def _without_gap(events: Iterable[DeskEvent], known: int) -> list[DeskEvent]:
    found: list[DeskEvent] = []
    for each in events:
        if each.number != known + len(found) + 1:
            break
        found.append(each)
    return found


def _with_lines(state: DeskState, lines: Sequence[TapeLine], *, is_whole: bool) -> DeskState:
    new = [each if each.content is None else replace(each, content=None) for each in lines]
    new = [each for each in new if each.id > state.line and each.id not in state.links]
    ids = [each.id for each in new]
    known = state.line
    if is_whole:
        known = max([known, *(each.id for each in lines)])
    else:
        while known + 1 in state.links or known + 1 in ids:
            known += 1
    if not new:
        return state if known == state.line else replace(state, line=known)
    return replace(
        state,
        line=known,
        last=max(state.last, *ids),
        lines={**state.lines, **{each.link: each for each in new}},
        links={**state.links, **{each.id: each.link for each in new}},
    )


class _Fold:
    """A state in the making."""

    def __init__(self, state: DeskState) -> None:
        self.state = state
        self.offered, self.ended = state.offered, state.ended
        self.hidden, self.boards = dict(state.hidden), dict(state.boards)
        self.marks, self.applied = dict(state.marks), set(state.applied)
        self.pins, self.waiting, self.edits = set(state.pins), dict(state.waiting), list(state.edits)
        self.reset, self.undone, self.texts = state.reset, state.undone, state.texts

    def after(self, events: Sequence[DeskEvent]) -> DeskState:
        for each in events:
            self._take(each)
        return replace(
            self.state,
            event=max(self.state.event, *(each.number for each in events)),
            offered=self.offered,
            ended=self.ended,
            hidden=self.hidden,
            boards=self.boards,
            marks=self.marks,
            applied=frozenset(self.applied),
            pins=frozenset(self.pins),
            waiting=self.waiting,
            edits=tuple(self.edits[:MOST_EDITS]),
            reset=self.reset,
            undone=self.undone,
            texts=self.texts,
        )

    def _take(self, event: DeskEvent) -> None:
        match event.payload:
            case Hidden() as hidden:
                self._hide(hidden, event.at)
            case Board() as board:
                # What has been sent once stays, also where two requests with one last message were under way.
                self.boards.setdefault(board.link, board)
                self.texts += _EVENT + len(board.text)
            case Offered() as offered:
                self.offered = offered if offered.names else None
                self.ended = "" if offered.names else self.ended
            case Ended(reason=reason):
                self.ended = reason
            case Pin(link=link, is_pinned=is_pinned):
                (self.pins.add if is_pinned else self.pins.discard)(link)
            case Called():
                pass  # for people to read
            case Mark() | Applied() | Edit() | Confirmed() | Reset() as change:
                self._change(change, event.number)

    def _change(self, change: Mark | Applied | Edit | Confirmed | Reset, number: int) -> None:
        match change:
            case Mark() as mark:
                self.marks[number] = mark
                self.texts += _EVENT + len(mark.text) + _LINK * len(mark.links)
            case Applied(marks=marks):
                self.applied.update(each for each in marks if each in self.marks)
            case Edit() as edit:
                self.edits.insert(0, edit)
                if edit.state == "waiting":
                    self.waiting[number] = edit
            case Confirmed(edit=which, is_allowed=is_allowed):
                if (waited := self.waiting.pop(which, None)) is not None:
                    decided = msgspec.structs.replace(waited, state="done" if is_allowed else "declined")
                    self.edits = [decided if each is waited else each for each in self.edits]
            case Reset(undone=undone):
                self.marks, self.applied, self.waiting, self.edits = {}, set(), {}, []
                self.reset, self.undone = number, undone

    def _hide(self, hidden: Hidden, at: float) -> None:
        spans = hidden.spans or (b"",) * (len(hidden.before) + 1)
        before = _parsed(hidden.before, spans)
        after_ = _parsed(hidden.after)
        given = _parsed([hidden.instead] if hidden.instead else [], spans[-1:])
        instead = given[0] if given else None
        if before is None or after_ is None or (hidden.instead and instead is None):
            return
        links = links_after(hidden.link, before)
        keys = tuple(map(key_of, links, before))
        exchange = HiddenExchange(at, hidden.answer, hidden.calls, before, links, keys, instead, after_, hidden.api)
        if not _is_sound(exchange):
            return  # a part of it is gone
        self.hidden[hidden.link] = (*self.hidden.get(hidden.link, ()), exchange)
        self.texts += _EVENT + _PARSED * sum(map(len, (*hidden.before, hidden.instead, *hidden.after)))


def key_of(link: bytes, said: Message) -> bytes:
    """Returns a key for the tokens of a message whose bytes are not the client's. A link alone does not tell them
    apart: it leaves out what is only informative."""
    return blake2b(link + said.raw, digest_size=LINK_BYTES).digest()


def _parsed(raws: Sequence[bytes], spans: Sequence[bytes] = ()) -> tuple[Message, ...] | None:
    """Returns the messages of these bytes, in those of another API where they have some; None if one is none."""
    found = [said for raw in raws if (said := message_of(raw)) is not None]
    if len(found) < len(raws):
        return None
    try:
        return tuple([in_span(said, span) for said, span in zip(found, spans or [b""] * len(found), strict=False)])
    except ValueError:
        return None


def _is_sound(exchange: HiddenExchange) -> bool:
    """Tells whether every call of ours in it has its result."""
    if exchange.before and violations(exchange.before, GENERIC):
        return False
    made = {call.id for call in exchange.instead.tool_calls} if exchange.instead else set(exchange.calls)
    answered = [said.tool_call_id for said in exchange.after]
    return made == {*exchange.calls, *answered} and all(said.role == "tool" for said in exchange.after)
