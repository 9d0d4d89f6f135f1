"""Repetitions: calls of the client's own tools whose result the session has, and edits that go round in circles."""

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

import msgspec

from proxy.desk.planned import View
from proxy.types import ToolCall
from proxy.types.desk import Edit

LOOP = 5  # edits alike, after which the offer ends for the session
MOST_CALLS = 2_000  # of a conversation, the newest, that are looked at

_object = msgspec.json.Decoder(dict[str, Any])
_canonical = msgspec.json.Encoder(order="deterministic")


def is_listed(name: str, patterns: Sequence[str]) -> bool:
    """Tells whether a tool is one whose equal calls have equal results."""
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def call_key(call: ToolCall) -> tuple[str, bytes] | None:
    """Returns name and canonical arguments of a call; None if they cannot be read."""
    try:
        return call.name, _canonical.encode(_object.decode(call.arguments or "{}"))
    except (ValueError, RecursionError):
        return None


def results(
    view: View, patterns: Sequence[str], times: Mapping[bytes, float], since: float
) -> dict[tuple[str, bytes], str]:
    """Returns the results of listed tools that the conversation has, by `call_key`: the newest of each, none from
    before `since`, by the `times` at which messages (links) arrived, and none from before the last call of a tool that
    is not listed. A result that is no plain text is none."""
    found: dict[tuple[str, bytes], str] = {}
    if not patterns:
        return found
    open_calls: dict[str, tuple[str, bytes] | None] = {}
    for index, said in list(enumerate(view.messages))[-2 * MOST_CALLS :]:
        if said.calls_tools:
            calls = [] if index in view.hidden else said.tool_calls
            if any(not is_listed(call.name, patterns) for call in calls):
                found.clear()
                open_calls.clear()
            open_calls |= {call.id: call_key(call) for call in calls if is_listed(call.name, patterns)}
        elif said.role == "tool" and (key := open_calls.pop(said.tool_call_id, None)) is not None:
            if said.is_plain and times.get(view.chain[index], 0.0) >= since:
                found[key] = said.text
            else:
                found.pop(key, None)
    return found


def goes_round(edits: Iterable[Edit], new: Edit) -> bool:
    """Tells whether this edit and those before it are a loop: `LOOP` in a row of the same thing that write the same
    text, or texts that they have written before."""
    row: list[Edit] = []
    for each in (new, *edits):  # newest first
        if (each.tool, each.name) != (new.tool, new.name):
            continue
        row.append(each)
        if len(row) == LOOP:
            break
    return len(row) == LOOP and len({each.after for each in row}) <= LOOP // 2
