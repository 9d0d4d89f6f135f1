"""The desk of a session as people look at it: marks, pins and edits with what became of them, and the rounds of an
answer that its client never saw."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from proxy.protocol.message import message_of
from proxy.types import Message, ToolCall
from proxy.types.desk import Applied, Called, Confirmed, DeskEvent, Edit, Ended, Hidden, Mark, Offered, Pin, Reset

MarkState = Literal["waiting", "applied", "undone"]
EditState = Literal["done", "waiting", "confirmed", "declined", "undone"]


@dataclass(frozen=True, slots=True)
class SeenMark:
    """A mark, and whether it has taken effect. `reason`: of its taking effect; "": it has not."""

    number: int  # of its event
    at: float
    request_id: str
    mark: Mark
    state: MarkState = "waiting"
    reason: str = ""
    applied_at: float = 0.0
    applied_by: str = ""  # id of the request


@dataclass(frozen=True, slots=True)
class SeenEdit:
    """An edit, and what became of it. One that a person has confirmed was carried out as a further edit."""

    number: int  # of its event
    at: float
    request_id: str
    edit: Edit
    state: EditState
    decided_at: float = 0.0  # by a person; 0: not


@dataclass(frozen=True, slots=True)
class SeenDesk:
    """A session's desk, told from its events."""

    offered: Offered | None = None  # None: no tools are offered
    offered_at: float = 0.0
    ended: str = ""  # why the offer has ended; "": it has not
    marks: tuple[SeenMark, ...] = ()  # oldest first
    edits: tuple[SeenEdit, ...] = ()  # the same
    pins: Mapping[bytes, float] = field(default_factory=dict)  # times by link
    reset_at: float = 0.0  # of the last reset; 0: there was none
    calls: Mapping[str, int] = field(default_factory=dict)  # number by tool


@dataclass(frozen=True, slots=True)
class HiddenCall:
    """A call of a tool that the proxy has run."""

    name: str  # as it was offered
    arguments: str
    result: str | None  # as the model got it; None: forgotten, or never kept
    outcome: str  # "ok", or why not; "": not noted, as of the client's own tools


@dataclass(frozen=True, slots=True)
class HiddenRound:
    """A round of an answer that ended in calls of ours."""

    text: str  # what the model said beside its calls
    calls: tuple[HiddenCall, ...]
    tokens: int  # of its messages: each later prompt has them, until they leave it


def seen(events: Iterable[DeskEvent]) -> SeenDesk:
    """Returns the desk that events tell, oldest first."""
    looking = _Looking()
    for event in events:
        looking.take(event)
    return SeenDesk(
        offered=looking.offered,
        offered_at=looking.offered_at,
        ended=looking.ended,
        marks=tuple(looking.marks.values()),
        edits=tuple(looking.edits.values()),
        pins=looking.pins,
        reset_at=looking.reset_at,
        calls=dict(looking.calls),
    )


class _Looking:
    """A desk in the making."""

    def __init__(self) -> None:
        self.offered: Offered | None = None
        self.offered_at = self.reset_at = 0.0
        self.ended = ""
        self.marks: dict[int, SeenMark] = {}
        self.edits: dict[int, SeenEdit] = {}
        self.pins: dict[bytes, float] = {}
        self.calls: Counter[str] = Counter()

    def take(self, event: DeskEvent) -> None:
        at, payload = event.at, event.payload
        match payload:
            case Offered() | Ended():
                self._offer(at, payload)
            case Mark():
                self.marks[event.number] = SeenMark(event.number, at, event.request_id, payload)
            case Edit():
                self.edits[event.number] = SeenEdit(event.number, at, event.request_id, payload, payload.state)
            case Applied():
                self._apply(event, payload)
            case Pin(link=link):
                self.pins.pop(link, None)
                self.pins |= {link: at} if payload.is_pinned else {}
            case Called(tool=tool):
                self.calls[tool] += 1
            case Confirmed() | Reset():
                self._decide(at, payload)
            case _:
                pass  # what is put back into prompts

    def _offer(self, at: float, said: Offered | Ended) -> None:
        if isinstance(said, Ended):
            self.ended = said.reason
        elif not said.names:
            self.offered = None
        else:
            # Names may change in between: that is the same offer.
            self.offered_at = self.offered_at if self.offered is not None else at
            self.offered, self.ended = said, ""

    def _apply(self, event: DeskEvent, applied: Applied) -> None:
        for number in applied.marks:
            if (mark := self.marks.get(number)) is not None and mark.state == "waiting":
                self.marks[number] = replace(
                    mark, state="applied", reason=applied.reason, applied_at=event.at, applied_by=event.request_id
                )

    def _decide(self, at: float, said: Confirmed | Reset) -> None:
        if isinstance(said, Reset):
            self.reset_at = at
            self.marks = {number: replace(each, state="undone") for number, each in self.marks.items()}
            self.edits = {number: _undone(each, at) for number, each in self.edits.items()}
        elif (edit := self.edits.get(said.edit)) is not None and edit.state == "waiting":
            self.edits[said.edit] = replace(edit, state="confirmed" if said.is_allowed else "declined", decided_at=at)


def _undone(edit: SeenEdit, at: float) -> SeenEdit:
    is_undone = edit.state in ("done", "waiting") and edit.edit.by != "person"
    return replace(edit, state="undone", decided_at=at) if is_undone else edit


def rounds(events: Sequence[DeskEvent], tokens: Callable[[Message], int]) -> tuple[HiddenRound, ...]:
    """Returns the hidden rounds of a request. `events`: those of that request, oldest first. `tokens`: of a message.
    Where the exchange is not kept, or was forgotten, the calls are told as they were noted."""
    noted = [each.payload for each in events if isinstance(each.payload, Called)]
    hidden = [each.payload for each in events if isinstance(each.payload, Hidden)]
    found = [_round(*each, noted, tokens) for exchange in hidden for each in _turns(exchange)]
    if found:
        return tuple(found)
    by_round: dict[int, list[HiddenCall]] = {}
    for each in noted:
        by_round.setdefault(each.round, []).append(HiddenCall(each.tool, each.arguments, None, each.result))
    return tuple(HiddenRound("", tuple(calls), 0) for _, calls in sorted(by_round.items()))


def _turns(hidden: Hidden) -> list[tuple[Message, list[Message]]]:
    """Returns the messages of the model that call tools of ours, each with its results."""
    found: list[tuple[Message, list[Message]]] = []
    for said in filter(None, map(message_of, hidden.before)):
        if said.role == "assistant":
            found.append((said, []))
        elif found:
            found[-1][1].append(said)
    mixed = message_of(hidden.instead) if hidden.instead and hidden.after else None
    if mixed is not None:
        found.append((mixed, [each for each in map(message_of, hidden.after) if each is not None]))
    return found


def _round(said: Message, results: list[Message], noted: list[Called], tokens: Callable[[Message], int]) -> HiddenRound:
    told = {each.tool_call_id: each.text for each in results}
    # Calls beside them are the client's: it has seen them.
    calls = [
        HiddenCall(call.name, call.arguments or "", told[call.id], _outcome(call, noted))
        for call in said.tool_calls
        if call.id in told
    ]
    return HiddenRound(said.text, tuple(calls), sum(map(tokens, (said, *results))))


def _outcome(call: ToolCall, noted: list[Called]) -> str:
    """Returns how a call ended, and takes it off what was noted: calls were noted in their order."""
    for at, each in enumerate(noted):
        # A name that the client uses itself was offered with a suffix; long arguments are noted in part.
        if call.name.startswith(each.tool) and (call.arguments or "").startswith(each.arguments):
            return noted.pop(at).result
    return ""
