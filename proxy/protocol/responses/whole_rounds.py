"""A response out of several rounds, as one body. The rules are those of a stream (rounds.py); the body of the last
round is the one that the client gets, under the id of the first, with the items of earlier rounds before its own."""

from collections.abc import Mapping
from typing import Any

import msgspec

from proxy.protocol.origin import elements
from proxy.protocol.responses import spoken
from proxy.protocol.responses.echoed import NOTHING, Echo, Values
from proxy.protocol.responses.output import completion_of
from proxy.protocol.responses.rounds import HEAD
from proxy.protocol.rounds import Whose
from proxy.protocol.splicing import added
from proxy.protocol.tool_results import Said
from proxy.types import Json

_object = msgspec.json.Decoder(dict[str, Any]).decode
_fields = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_encode = msgspec.json.Encoder().encode


class WholeResponseSplice:
    """The items and the usage of earlier rounds."""

    def __init__(self, echo: Echo = NOTHING) -> None:
        self.rounds = 0  # that have ended
        self.has_said = False  # a text, reasoning aside
        self.items: list[bytes] = []
        self.usage: Mapping[str, Json] | None = None  # their sum, as a response tells it
        self.head: Values = {}  # of the first one
        self.echo = echo


class WholeResponseRound:
    """One round whose body is read at once."""

    def __init__(self, splice: WholeResponseSplice, whose: Whose, body: bytes) -> None:
        """Raises ValueError if `body` is no JSON object."""
        self._splice = splice
        self._names = whose.may_be_ours - whose.client
        self._body = body
        self._response = _object(body)
        output = self._response.get("output")
        is_whole = self._response.get("status") in ("completed", "incomplete")
        has_items = isinstance(output, list) and all(isinstance(item, dict) for item in output)
        self.failed = not (is_whole and has_items)
        self._items: list[spoken.Item] = []
        if has_items:
            self._items = list(zip(output or (), elements(_fields(body)["output"]), strict=True))
        self.completion: Mapping[str, Json] = {} if self.failed else completion_of(self._response)
        calls = [at for at, (item, _) in enumerate(self._items) if item.get("type") in spoken.CALLS]
        self.ours = tuple(position for position, at in enumerate(calls) if _is_ours(self._items[at][0], whose))
        self._hidden = frozenset(calls[position] for position in self.ours)
        visible = [item for at, (item, _) in enumerate(self._items) if at not in self._hidden]
        self.has_theirs = any(map(spoken.asks, visible))
        self.has_text = any(map(spoken.says, visible))

    def said(self, _completion: Mapping[str, Json]) -> Said | None:
        """Returns the model's message of the round; None if there is none."""
        return spoken.said_in(self._items, self.ours)

    def end_round(self) -> None:
        """Ends a round that has not ended the answer."""
        splice = self._splice
        if not splice.rounds:
            splice.head = {name: value for name, value in _fields(self._body).items() if name in HEAD}
        splice.rounds += 1
        splice.has_said |= self.has_text
        splice.items += self._passed()
        splice.usage = self._usage()

    def closing(self) -> bytes:
        """Returns the body of the response; it is the round's own, to the byte, if nothing was hidden."""
        splice, values = self._splice, _fields(self._body)
        changed = splice.echo.unsaid(values, self._names)
        if splice.rounds or self.ours:
            changed |= {name: value for name, value in splice.head.items() if name in values}
            changed["output"] = msgspec.Raw(b"[%b]" % b",".join([*splice.items, *self._passed()]))
            if (usage := self._usage()) is not None:
                changed["usage"] = msgspec.Raw(_encode(usage))
        return _encode({**values, **changed}) if changed else self._body

    def _usage(self) -> Mapping[str, Json] | None:
        usage = self._response.get("usage")
        return added(self._splice.usage, usage if isinstance(usage, dict) else None)

    def _passed(self) -> list[bytes]:
        """Returns the items that the client gets."""
        return [raw for at, (_, raw) in enumerate(self._items) if at not in self._hidden]


def _is_ours(item: Mapping[str, Json], whose: Whose) -> bool:
    return whose.may_take(spoken.name_of(item)) and whose.answers(spoken.call_of(item))
