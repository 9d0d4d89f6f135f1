"""The patterns of `playing.py`, played by an upstream of the Responses API. A round is told by the ids of its items; to
a client that asks it directly it gives in one response what the client is to see of all its rounds."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import Any

from tests.playing import FAULT, PATTERNS, THEN, Pattern
from tests.responding import Responder, Round, text, thought, use
from tests.spoken import Spoken

Json = Any
LOOK: Json = {"type": "function", "name": "look", "parameters": {"type": "object"}, "strict": False}
JSON = '{"city":"Rosario","days":3}'


def items_of(spoken: Spoken, number: int) -> list[Json]:
    """The items of a round: reasoning, text, calls."""
    name = f"{number:02}"
    items = [thought(name, spoken.reasoning)] if spoken.reasoning else []
    items += [text(name, spoken.text)] if spoken.text else []
    for call in spoken.calls:
        item = use(call.id, call.name)
        items.append({**item, "call_id": call.id, "arguments": call.arguments})
    return items


def answers_of(pattern: Pattern, begin: int) -> list[list[Json]]:
    """What the client is to see: of each answer all items that are not of memory's tools."""
    answers: list[list[Json]] = []
    group: list[Json] = []
    for at, spoken in enumerate(pattern.rounds):
        group += [item for item in items_of(spoken, begin + at) if item.get("name", "look") == "look"]
        theirs = any(call.name == "look" for call in spoken.calls)
        if theirs or not spoken.calls or at == len(pattern.rounds) - 1:
            answers.append(
                group if any(item["type"] != "reasoning" for item in group) else [text("own", "It is noon.")]
            )
            group = []
    return answers


class ResponsePlayer(Responder):
    """Plays the pattern that the model's name says. It stores responses, unless it is asked not to."""

    def __init__(self) -> None:
        super().__init__()
        self.pick = self._kept
        self._stored: dict[tuple[str, str], list[Json]] = {}  # items by key, and id of a response or an item
        self._made = count()
        self.by_key: dict[str, list[Json]] = {}  # requests
        self._failed: set[tuple[str, str]] = set()

    def whole(self, asked: Json, headers: Mapping[bytes, bytes]) -> Json:
        """The request with the items of stored responses that it names."""
        key, given = _key_of(headers), asked["input"]
        before = self._stored[key, asked["previous_response_id"]] if asked.get("previous_response_id") else []
        items = [{"role": "user", "content": given}] if isinstance(given, str) else given
        named = [self._stored[key, each["id"]] if each.get("type") == "item_reference" else [each] for each in items]
        return {**asked, "input": [*before, *(item for each in named for item in each)]}

    def _kept(self, asked: Json, headers: Mapping[bytes, bytes]) -> Round:
        number = next(self._made)
        said = replace(self._due(asked, headers), id=f"resp_{number}", created=number)
        if asked.get("store", True):
            key = _key_of(headers)
            self._stored[key, said.id] = [*asked["input"], *said.items]
            self._stored |= {(key, item["id"]): [item] for item in said.items}
        return said

    def _due(self, asked: Json, headers: Mapping[bytes, bytes]) -> Round:
        key = _key_of(headers)
        self.by_key.setdefault(key, []).append(asked)
        if (asked.get("text") or {}).get("format", {}).get("type") == "json_schema":
            return Round([text("json", JSON)])
        given = asked["input"]
        newest = max(at for at, each in enumerate(given) if each.get("role") == "user")
        is_first = not any(each.get("role") == "user" for each in given[:newest])
        pattern, begin = (PATTERNS[asked["model"]], 0) if is_first else (THEN, 50)
        answers = answers_of(pattern, begin)
        said = [number for item in given[newest:] if (number := _round_of(item)) is not None]
        if not has_ours(asked):
            seen = sum(_is_seen(answer, given[newest:]) for answer in answers)
            return Round(answers[min(seen, len(answers) - 1)])
        at = min(max(said, default=begin - 1) + 1 - begin, len(pattern.rounds) - 1)
        played = Round(items_of(pattern.rounds[at], begin + at))
        fault, _, of = headers.get(FAULT.encode(), b"").decode().partition("@")
        if not is_first or of != str(at) or (key, fault) in self._failed:
            return played
        self._failed.add((key, fault))
        return replace(played, fault=fault)


def _key_of(headers: Mapping[bytes, bytes]) -> str:
    return headers[b"authorization"].decode().removeprefix("Bearer ")


def _round_of(item: Json) -> int | None:
    """The number of the round that an item of the model's is of."""
    named = str(item.get("call_id") or item.get("id") or "")
    if item.get("type") == "function_call":
        return int(named[-5:-3])
    return int(named[-2:]) if named[-2:].isdecimal() and item.get("type") in ("message", "reasoning") else None


def _is_seen(answer: Sequence[Json], given: Sequence[Json]) -> bool:
    ids = {item.get("id") for item in given} | {item.get("call_id") for item in given}
    return not ids.isdisjoint({answer[-1]["id"], answer[-1].get("call_id", "")})


def has_ours(asked: Json) -> bool:
    """Tells whether a request offers memory's tools."""
    return any(tool["name"] == "remember" for tool in asked.get("tools") or ())
