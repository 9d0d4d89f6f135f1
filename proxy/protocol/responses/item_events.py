"""Items of an output as the events that tell them: a whole one, and the rest of one that was cut off while it was told.
The events have no numbers yet."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, TypeAlias

from proxy.protocol.responses import reasoning
from proxy.types import Json

Told: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of text within an item."""

    event: str  # the beginning of the types of its events
    part: str  # the type of the part that it stands in
    text: str = "text"  # the name of the text, in the part and in the event that ends it
    place: str = "content_index"
    around: str = "response.content_part"  # the beginning of the types of its part's events

    @property
    def list(self) -> str:
        """The field of the item that has such parts."""
        return "summary" if self.place == "summary_index" else "content"

    def made(self, text: str) -> Told:
        """Returns a part of this kind."""
        more: Told = {"annotations": [], "logprobs": []} if self.part == "output_text" else {}
        return {"type": self.part, self.text: text, **more}


_SUMMARY = "response.reasoning_summary_part"
_KINDS = (
    _Kind("response.output_text", "output_text"),
    _Kind("response.refusal", "refusal", "refusal"),
    _Kind("response.reasoning_text", "reasoning_text"),
    _Kind("response.reasoning_summary_text", "summary_text", place="summary_index", around=_SUMMARY),
)
_BY_EVENT: Mapping[str, _Kind] = MappingProxyType({kind.event: kind for kind in _KINDS})
_BY_PART: Mapping[str, _Kind] = MappingProxyType({kind.part: kind for kind in _KINDS})
# Of calls: the field with the text, and the beginning of the types of its events.
_INPUTS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "function_call": ("arguments", "response.function_call_arguments"),
        "custom_tool_call": ("input", "response.custom_tool_call_input"),
    }
)


@dataclass(slots=True)
class _Part:
    kind: _Kind
    number: int
    pieces: list[str] = field(default_factory=list)
    whole: Told | None = None  # once it has ended

    @property
    def so_far(self) -> Told:
        return self.whole or self.kind.made("".join(self.pieces))


@dataclass(slots=True)
class OpenItem:
    """An item that is being told."""

    item: Mapping[str, Json]
    index: int  # in the output
    _parts: dict[tuple[str, int], _Part] = field(default_factory=dict)

    def take(self, event: Mapping[str, Json]) -> None:
        """Notes an event that tells of it."""
        type_ = str(event.get("type"))
        begun, _, did = type_.rpartition(".")
        part = event.get("part")
        kind = _BY_PART.get(str(part.get("type"))) if isinstance(part, dict) else _BY_EVENT.get(begun)
        if kind is None or not isinstance(number := event.get(kind.place), int):
            return
        known = self._parts.setdefault((kind.list, number), _Part(kind, number))
        if did == "delta":
            known.pieces.append(str(event.get("delta") or ""))
        elif isinstance(part, dict) and did == "done":
            known.whole = part

    @property
    def so_far(self) -> Told:
        """The item as far as it was told."""
        parts: dict[str, list[Told]] = {}
        for (listed, _), each in sorted(self._parts.items()):
            parts.setdefault(listed, []).append(each.so_far)
        return {**self.item, **parts, "status": "incomplete"}

    def closing(self) -> Iterator[Told]:
        """Yields the events that end it where it was cut off."""
        where = {"item_id": self.item.get("id"), "output_index": self.index}
        for _, each in sorted(self._parts.items()):
            if each.whole is None:
                yield from _ended(each.kind, where, each.number, each.so_far)
        item = self.so_far
        if item.get("type") == "reasoning":
            # Its provider could not go on from half of it: it becomes ours, which no provider is sent again.
            text, _ = reasoning.read({**item, "encrypted_content": None})
            item["encrypted_content"] = reasoning.sealed(text)
        yield {"type": "response.output_item.done", "output_index": self.index, "item": item}


def whole_response(response: Mapping[str, Json]) -> Iterator[Told]:
    """Yields the events of a response that is whole, numbered."""
    begun = {**response, "status": "in_progress", "output": [], "usage": None}
    events = [{"type": f"response.{name}", "response": begun} for name in ("created", "in_progress")]
    for at, item in enumerate(response["output"]):
        events += told(item, at)
    events.append({"type": f"response.{response.get('status') or 'completed'}", "response": response})
    for number, each in enumerate(events):
        yield {"type": each["type"], "sequence_number": number, **each}


def told(item: Mapping[str, Json], index: int) -> Iterator[Told]:
    """Yields the events that tell a whole item."""
    where = {"item_id": item.get("id"), "output_index": index}
    kind = str(item.get("type"))
    parts = list(_parts_of(item))
    empty: Told = {name: [] for name in {part.kind.list for part in parts}}
    if kind in _INPUTS:
        empty[_INPUTS[kind][0]] = ""
    begun = {**item, **empty, **({"status": "in_progress"} if "status" in item else {})}
    yield {"type": "response.output_item.added", "output_index": index, "item": begun}
    for part in parts:
        assert part.whole is not None, "it is whole"
        yield from _told(part.kind, where, part.number, part.whole)
    if kind in _INPUTS:
        name, events = _INPUTS[kind]
        yield {"type": f"{events}.delta", **where, "delta": item.get(name)}
        yield {"type": f"{events}.done", **where, name: item.get(name)}
    yield {"type": "response.output_item.done", "output_index": index, "item": item}


def _parts_of(item: Mapping[str, Json]) -> Iterator[_Part]:
    for name in ("summary", "content"):
        listed = item.get(name)
        for number, part in enumerate(listed if isinstance(listed, list) else ()):
            kind = _BY_PART.get(str(part.get("type"))) if isinstance(part, dict) else None
            if kind is not None and kind.list == name:
                yield _Part(kind, number, whole=part)


def _told(kind: _Kind, where: Told, number: int, part: Mapping[str, Json]) -> Iterator[Told]:
    placed = {**where, kind.place: number}
    more: Told = {"logprobs": []} if kind.part == "output_text" else {}
    yield {"type": f"{kind.around}.added", **placed, "part": kind.made("")}
    if text := part.get(kind.text):
        yield {"type": f"{kind.event}.delta", **placed, "delta": text, **more}
    yield from _ended(kind, where, number, part)


def _ended(kind: _Kind, where: Told, number: int, part: Mapping[str, Json]) -> Iterator[Told]:
    placed = {**where, kind.place: number}
    more: Told = {"logprobs": []} if kind.part == "output_text" else {}
    yield {"type": f"{kind.event}.done", **placed, kind.text: part.get(kind.text), **more}
    yield {"type": f"{kind.around}.done", **placed, "part": part}
