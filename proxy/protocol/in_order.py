"""The deltas of a completion as pieces of one block after another, for APIs that tell an answer so. Pure.

Of several choices the first that is told is the answer: a client of these APIs asks for one. An upstream that streams
in form only has a whole message in the place of a delta.

An upstream may write several calls of tools at a time, a piece of this, a piece of that one. The first is told as it
comes; what begins before its arguments are a whole JSON object waits for that, or for the end. A call that is written
in one go, as nearly all are, waits for nothing. Its name is whole once its arguments begin, or something else does
(Gemini writes names in pieces).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import msgspec

from proxy.protocol.calls import arguments_in, called
from proxy.protocol.responses.output import reasoning_text, said_text
from proxy.types import Json

Kind: TypeAlias = Literal["reasoning", "text", "refusal", "call"]

_object = msgspec.json.Decoder(dict[str, msgspec.Raw])


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a block. Pieces of one kind that follow each other are of one block; so are those of one call."""

    kind: Kind
    text: str
    call: int = -1  # number of the call, in the order in which they began
    call_id: str = ""
    name: str = ""


@dataclass(slots=True)
class _Block:
    """A block that is being told, or waits for its turn."""

    kind: Kind
    call: int = -1
    call_id: str = ""
    name: str = ""
    told: list[str] = field(default_factory=list)
    untold: list[str] = field(default_factory=list)

    @property
    def is_over(self) -> bool:
        """True if another block may begin: anything but a call that lacks something."""
        if self.kind != "call":
            return True
        if self.untold or not self.told or not self.told[-1].rstrip().endswith("}"):
            return False
        try:
            _object.decode("".join(self.told))
        except (ValueError, RecursionError):
            return False
        return True


class InOrder:
    """Puts the deltas of one answer in order. Feed it each; then `rest`."""

    def __init__(self) -> None:
        self._open: _Block | None = None
        self._waiting: list[_Block] = []
        self._numbers: dict[int, int] = {}  # the upstream's index → our number of its newest call
        self._calls: list[_Block] = []
        self._index: Json = None  # of the choice that is told
        self._has_begun = False

    def choice(self, chunk: Mapping[str, Json]) -> Mapping[str, Json]:
        """Returns what a chunk has of the choice that is told; {} if nothing."""
        choices = chunk.get("choices")
        for at, choice in enumerate(choices if isinstance(choices, list) else ()):
            if isinstance(choice, dict):
                index = choice.get("index", at)
                self._index = index if self._index is None else self._index
                if index == self._index:
                    return choice
        return {}

    def feed(self, choice: Mapping[str, Json]) -> list[Piece]:
        """Returns the pieces that can be told of what a choice has said."""
        delta = choice.get("delta")
        if delta is None and not self._has_begun:  # later a message repeats what was told
            delta = choice.get("message")
        if not isinstance(delta, dict):
            return []
        self._has_begun |= bool(delta)
        pieces: list[Piece] = []
        if thought := reasoning_text(delta):
            pieces += self._take("reasoning", thought)
        if text := said_text(delta.get("content")):
            pieces += self._take("text", text)
        if text := said_text(delta.get("refusal")):
            pieces += self._take("refusal", text)
        calls = delta.get("tool_calls")
        for position, call in enumerate(calls if isinstance(calls, list) else ()):
            if isinstance(call, dict):
                pieces += self._take_call(call, position)
        return pieces

    def rest(self) -> list[Piece]:
        """Returns what has waited until the end."""
        return list(self._told(at_the_end=True))

    def _take(self, kind: Kind, text: str) -> Iterator[Piece]:
        last = self._waiting[-1] if self._waiting else self._open
        if last is None or last.kind != kind:
            last = _Block(kind)
            self._waiting.append(last)
        last.untold.append(text)
        yield from self._told()

    def _take_call(self, given: Mapping[str, Json], position: int) -> Iterator[Piece]:
        index = given.get("index")
        index = index if isinstance(index, int) else position
        told = called(given)
        call_id, name, text = given.get("id"), told.get("name"), arguments_in(told)
        call = self._call(index, call_id if isinstance(call_id, str) else "")
        if isinstance(name, str) and name != call.name and not (call.told or call.untold):
            call.name += name  # one that comes again is a repetition
        if text:
            call.untold.append(text)
        yield from self._told()

    def _call(self, index: int, call_id: str) -> _Block:
        """Returns the call of an index. Some upstreams give every call the same: another id begins another one."""
        number = self._numbers.get(index)
        if number is not None:
            known = self._calls[number]
            if not call_id or not known.call_id or known.call_id == call_id:
                known.call_id = known.call_id or call_id
                return known
        self._numbers[index] = len(self._calls)
        made = _Block("call", len(self._calls), call_id)
        self._calls.append(made)
        self._waiting.append(made)
        return made

    def _told(self, *, at_the_end: bool = False) -> Iterator[Piece]:
        yield from self._of(self._open)
        while self._waiting and (at_the_end or self._open is None or self._open.is_over):
            following = self._waiting[0]
            is_named = bool(following.name) and bool(following.untold or len(self._waiting) > 1)
            if following.kind == "call" and not is_named and not at_the_end:
                return  # its name is still to come, or the rest of it
            self._open = self._waiting.pop(0)
            if self._open.kind == "call" and not self._open.untold:
                self._open.untold.append("")  # it begins all the same
            yield from self._of(self._open)

    def _of(self, block: _Block | None) -> Iterator[Piece]:
        if block is None or not block.untold:
            return
        text = "".join(block.untold)
        block.untold.clear()
        if block.kind == "call":
            block.told.append(text)
        yield Piece(block.kind, text, block.call, block.call_id, block.name)
