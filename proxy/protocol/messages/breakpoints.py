"""Breakpoints of the prefix cache (`cache_control`): the client's, read; ours in a rewritten prompt, placed. Pure.

The provider's rules, of https://platform.claude.com/docs/en/build-with-claude/prompt-caching (read 2026-11-28):

- A breakpoint writes one entry, of everything up to its block, and nothing in between. Looking for an entry, a request
  goes back from each of its breakpoints, 20 positions at most, the breakpoint's own being the first. A run of calls is
  one position, and so is a run of results.
- Four at most; automatic caching (`cache_control` of the request itself) is one, on the last block: where that has one
  already, with another lifetime, the request is refused.
- None on thinking, none on an empty text. A beginning below the model's minimum is not cached, and told as no error.
- Those that live for an hour stand before those that live for five minutes.

So ours stand, in this order as far as there is room: at the end of what the next turn repeats; at the end of the whole
prompt while a turn goes on; where the turn before began, if its end is too far back to be found; behind the
instructions, which a fold leaves as they are; and between these, wherever more than 20 positions are in between.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import msgspec

from proxy.types import Breakpoints, Json, Message, Repeats

MOST = 4
LOOK_BACK = 20  # positions

_MARK = b'"cache_control"'
_HOUR = "1h"
_RUNS = frozenset({"tool_use", "tool_result"})
_UNMARKED = frozenset({"thinking", "redacted_thinking"})
# Bytes that a token has at least, in any text of more than a few: so a beginning is surely below a minimum.
_LEAST_BYTES = 2

_encode = msgspec.json.Encoder().encode
_raws = msgspec.json.Decoder(list[msgspec.Raw])
_values = msgspec.json.Decoder(dict[str, msgspec.Raw])  # a block with a breakpoint keeps the bytes of its values


class _Head(msgspec.Struct):
    """The parts of a block that tell whether it may have a breakpoint, and has one."""

    type: Json = ""
    text: msgspec.Raw = msgspec.Raw(b'""')
    cache_control: Json = None


_heads = msgspec.json.Decoder(list[list[_Head]])


# --- the client's -----------------------------------------------------------------------------------------------------


def read(fields: Mapping[str, Json], messages: Iterable[Mapping[str, Json]]) -> Breakpoints:
    """Returns the breakpoints of a request. `fields`: all but its messages."""
    instructions = [*_marks(fields.get("tools")), *_marks(fields.get("system"))]
    said = [mark for each in messages for mark in _marks(each.get("content"))]
    automatic = fields.get("cache_control")
    last = automatic or next(reversed([*instructions, *said]), None)
    return Breakpoints(bool(instructions), bool(said), bool(automatic), _lifetime(last) == _HOUR)


def _marks(blocks: Json) -> Iterator[Json]:
    for block in blocks if isinstance(blocks, list) else ():
        if isinstance(block, dict) and block.get("cache_control"):
            yield block["cache_control"]


def _lifetime(mark: Json) -> str:
    """Returns the lifetime that a breakpoint asks for; "": the usual one."""
    return _HOUR if isinstance(mark, dict) and mark.get("ttl") == _HOUR else ""


# --- ours -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Body:
    """The parts of a body that may have breakpoints, in the order in which the provider reads them."""

    tools: bytes | None
    system: bytes | None
    spans: Sequence[bytes]  # the blocks of each message, as a list without its brackets
    automatic: Json = None
    added: int = 0  # blocks of ours at the end of `system`


class _Place(msgspec.Struct):
    """A block of a message, and what the provider's search makes of it."""

    message: int
    block: int
    position: int  # from 0, among those of the messages
    size: int  # bytes of the prompt up to its message's end
    takes: bool  # it may have a breakpoint
    lifetime: str | None  # that of the client's breakpoint; None: it has none


def placed(body: Body, messages: Sequence[Message], repeats: Repeats) -> Body:
    """Returns the body with breakpoints of ours, as many as there is room for. `messages`: those that the spans are of;
    `repeats.messages` counts them."""
    room = MOST - _count(body)
    if room <= 0:
        return body
    places = _places(body)
    chosen: list[_Place] = []
    for each in _wanted(body, messages, places, repeats):
        if each.lifetime is None and each not in chosen:
            chosen.append(each)
        if len(chosen) == room:
            break
    spans = list(body.spans)
    for place in chosen:
        spans[place.message] = _with_mark(spans[place.message], place.block, _fitting(body, places, place))
    done = replace(body, spans=spans)
    return _with_instructions(done, places, repeats) if len(chosen) < room else done


def _count(body: Body) -> int:
    own = 1 if body.automatic else 0
    return own + sum(part.count(_MARK) for part in (body.tools or b"", body.system or b"", *body.spans))


def _places(body: Body) -> list[_Place]:
    size = len(body.tools or b"") + len(body.system or b"")
    places: list[_Place] = []
    position, before = -1, ""
    decoded = _heads.decode(b"[[%s]]" % b"],[".join(body.spans)) if body.spans else []
    for message, (span, heads) in enumerate(zip(body.spans, decoded, strict=True)):
        size += len(span)
        for block, head in enumerate(heads):
            kind = head.type
            position += kind not in _RUNS or kind != before
            before = kind
            takes = kind not in _UNMARKED and not (kind == "text" and bytes(head.text) == b'""')
            lifetime = None if head.cache_control is None else _lifetime(head.cache_control)
            places.append(_Place(message, block, position, size, takes, lifetime))
    return places


def _wanted(body: Body, messages: Sequence[Message], places: Sequence[_Place], repeats: Repeats) -> Iterator[_Place]:
    """Yields the places of breakpoints, the most useful first."""
    least = repeats.minimum * _LEAST_BYTES
    last = _last(places, len(messages), least)
    turn = _last(places, repeats.messages, least)
    ends = [turn, last] if repeats.whole else [turn]
    # On the last block automatic caching has its own.
    yield from (each for each in ends if each is not None and not (body.automatic and each is last))
    if turn is None:
        return
    marked = [place.position for place in places if place.lifetime is not None or place is turn]
    before = _last(places, _turn_before(messages, repeats.messages), least)
    if before is not None and not any(0 <= at - before.position < LOOK_BACK for at in marked):
        yield before
        marked.append(before.position)
    at = turn.position
    while (at := at - LOOK_BACK + 1) > 0:
        between = next((each for each in reversed(places) if each.position <= at and each.takes), None)
        if between is None or between.size < least:
            return
        if not any(abs(each - between.position) < LOOK_BACK // 2 for each in marked):
            yield between


def _last(places: Sequence[_Place], stop: int, least: int) -> _Place | None:
    """Returns the last block of messages[:stop] that may have a breakpoint; None if there is none, or what it ends is
    surely too short."""
    found = next((each for each in reversed(places) if each.message < stop and each.takes), None)
    return None if found is None or found.size < least else found


def _turn_before(messages: Sequence[Message], stop: int) -> int:
    """Returns the index of the user's message of the turn before the newest one: what stands before it that turn may
    have been the last to repeat. `stop`: of what the next turn repeats."""
    users = [at for at, said in enumerate(messages[:stop]) if said.role == "user"]
    newest = stop < len(messages)  # is not among them
    return next(iter(users[-1:] if newest else users[-2:-1]), 0)


def _fitting(body: Body, places: Sequence[_Place], place: _Place) -> Json:
    """Returns the breakpoint for a place, with a lifetime that its neighbours allow: that of the client's next one,
    else of the last before it."""
    at = (place.message, place.block)
    after = [each.lifetime for each in places if each.lifetime is not None and (each.message, each.block) > at]
    if body.automatic:
        after.append(_lifetime(body.automatic))
    before = [each.lifetime for each in places if each.lifetime is not None and (each.message, each.block) < at]
    instructions = [_lifetime(mark) for mark in _instructions_marks(body)]
    lifetime = next((each for each in (*after[:1], *before[-1:], *instructions[-1:])), "")
    return {"type": "ephemeral", "ttl": lifetime} if lifetime else {"type": "ephemeral"}


def _instructions_marks(body: Body) -> list[Json]:
    if _MARK not in (body.tools or b"") and _MARK not in (body.system or b""):
        return []
    return [
        mark for part in (body.tools, body.system) if part is not None for mark in _marks(msgspec.json.decode(part))
    ]


def _with_mark(span: bytes, block: int, mark: Json) -> bytes:
    """Returns a list of blocks, without its brackets, with a breakpoint on one of them."""
    raws = _raws.decode(b"[%s]" % span)
    raws[block] = msgspec.Raw(_encode({**_values.decode(raws[block]), "cache_control": mark}))
    return _encode(raws)[1:-1]


def _with_instructions(body: Body, places: Sequence[_Place], repeats: Repeats) -> Body:
    """Returns the body with a breakpoint behind its instructions, unless they have one or are surely too short."""
    size = len(body.tools or b"") + len(body.system or b"")
    has_one = _MARK in (body.tools or b"") or _MARK in (body.system or b"")
    if has_one or size < repeats.minimum * _LEAST_BYTES:
        return body
    mark = _fitting(body, places, _Place(-1, 0, -1, size, takes=True, lifetime=None))
    given = None if body.system is None else msgspec.json.decode(body.system)
    blocks = [{"type": "text", "text": given}] if isinstance(given, str) else list(given or ())
    last = len(blocks) - 1 - body.added
    if last >= 0 and isinstance(blocks[last], dict) and blocks[last].get("text"):
        blocks[last] = {**blocks[last], "cache_control": mark}
        return replace(body, system=_encode(blocks))
    if body.tools is not None and (tools := _raws.decode(body.tools)):
        tools[-1] = msgspec.Raw(_encode({**_values.decode(tools[-1]), "cache_control": mark}))
        return replace(body, tools=_encode(tools))
    return body
