"""Splicing of an answer out of several rounds, as one body. The rules are those of a stream (splicing.py); the body of
the last round is the one that the client gets, with what earlier rounds have said before its own texts."""

from collections.abc import Mapping
from typing import Any

import msgspec

from proxy.protocol.message import message
from proxy.protocol.rounds import Whose
from proxy.protocol.splicing import TEXTS, added, first_choice, joint, says_something
from proxy.protocol.tool_results import Said, said_in
from proxy.types import Json

_DETAILS = "reasoning_details"

_object = msgspec.json.Decoder(dict[str, Any])
_fields = msgspec.json.Decoder(dict[str, msgspec.Raw])
_array = msgspec.json.Decoder(list[msgspec.Raw])
_encoder = msgspec.json.Encoder()


class WholeSplice:
    """The texts and the usage of earlier rounds."""

    def __init__(self) -> None:
        self.rounds = 0  # that have ended
        self.said: dict[str, Json] = {}  # texts, and details of the reasoning
        self.usage: Mapping[str, Json] | None = None  # their sum

    @property
    def has_said(self) -> bool:
        """True if an earlier round has said something, reasoning aside."""
        return says_something(self.said)


class WholeRound:
    """One round whose body is read at once."""

    def __init__(self, splice: WholeSplice, whose: Whose, body: bytes) -> None:
        """Raises ValueError if `body` is no JSON object."""
        self._splice = splice
        self._body = body
        self.completion: Mapping[str, Json] = _object.decode(body)
        choice = first_choice(self.completion) or {}
        self._said: Mapping[str, Json] = said if isinstance(said := choice.get("message"), dict) else {}
        calls = message(self._said).tool_calls
        self.ours = tuple(
            at for at, call in enumerate(calls) if whose.may_take(call.name) and whose.answers(call)
        )  # positions of the calls that are answered here
        self.has_theirs = len(self.ours) < len(calls)
        self.has_text = says_something(self._said)
        self.failed = bool(self.completion.get("error")) or not choice

    def said(self, completion: Mapping[str, Json]) -> Said | None:
        """Returns the model's message of the round; None if there is none."""
        return said_in(completion, self.ours)

    def end_round(self) -> None:
        """Ends a round that has not ended the answer."""
        splice = self._splice
        splice.rounds += 1
        splice.said = _joined(splice.said, self._said)
        usage = self.completion.get("usage")
        splice.usage = added(splice.usage, usage if isinstance(usage, dict) else None)

    def closing(self) -> bytes:
        """Returns the body of the answer; it is the round's own, to the byte, if nothing was hidden."""
        if not self._splice.rounds and not self.ours:
            return self._body
        whole = _fields.decode(self._body)
        first, *others = _array.decode(whole["choices"])
        choice = _fields.decode(first)
        said = {**self._said, **_joined(self._splice.said, self._said)}
        kept = [call for at, call in enumerate(said.get("tool_calls") or ()) if at not in self.ours]
        if self.ours:
            said["tool_calls"] = kept
        if self.ours and not kept:
            del said["tool_calls"]
            if _object.decode(first).get("finish_reason") == "tool_calls":
                choice["finish_reason"] = msgspec.Raw(b'"stop"')
        choice["message"] = msgspec.Raw(_encoder.encode(said))
        whole["choices"] = msgspec.Raw(_encoder.encode([choice, *others]))
        if isinstance(usage := self.completion.get("usage"), dict):
            whole["usage"] = msgspec.Raw(_encoder.encode(added(self._splice.usage, usage)))
        return _encoder.encode(whole)


def _joined(before: Mapping[str, Json], after: Mapping[str, Json]) -> dict[str, Json]:
    """Returns the texts of two messages, one after the other; of parts and details, the lists."""
    said = dict(before)
    for name in (*TEXTS, _DETAILS):
        first, second = before.get(name), after.get(name)
        if isinstance(first, list) or isinstance(second, list):
            said[name] = [*_parts(first), *_parts(second)]
        elif isinstance(second, str) and second:
            said[name] = f"{first or ''}{joint(first or '', second)}{second}"
    return {name: value for name, value in said.items() if value}


def _parts(content: Json) -> list[Json]:
    if isinstance(content, list):
        return content
    return [{"type": "text", "text": content}] if isinstance(content, str) and content else []
