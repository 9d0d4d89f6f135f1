"""The two conversations that the demonstration plays. Spanish and English alternate the way people do who live in both.

`CONVERSATION`, the forty turns of `olvido demo --short`: somebody plans a trip and a small project, tells things early
and asks about them late, repeats a few questions word for word, and lets a tool be called once.

`talk`, the two hundred turns of `olvido demo`: a spring and a summer of somebody who plans a trip with her mother,
moves a laboratory's database, has the kitchen done and a knee looked after; she states things, changes them, and asks
for them later.

Their text is in the files of `talk/` (short.txt is the former), a record a turn, apart by a blank line; short.yaml has
the system message of both, and the tool:

    > what the user says
    < what the model answers, where that needs no memory
    = what the answer must hold, where it needs one
    ~ what was true before and must not be in it
    & alone, without what was said before, or the name of the tool that is offered

A line without such a sign goes on with the one before.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

TALK = Path(__file__).with_name("talk")

_SHORT: Mapping[str, Any] = yaml.safe_load((TALK / "short.yaml").read_text(encoding="utf-8"))
SYSTEM: str = _SHORT["system"]
WEATHER_TOOL: Mapping[str, Any] = _SHORT["tool"]
WEATHER_RESULT: str = _SHORT["result"]


@dataclass(frozen=True, slots=True)
class Ask:
    """One user turn."""

    text: str
    expects: str = ""  # the answer contains it if the prompt that arrived still held the fact
    tools: Sequence[Mapping[str, Any]] = ()  # offered with this turn; its result is WEATHER_RESULT
    alone: bool = False  # sent without the history and with temperature 0, as a FAQ would be
    answer: str = ""  # the scripted answer; "": derived from the prompt
    outdated: str = ""  # the outdated value, which must not be in the answer


_FIELDS = {"> ": "text", "< ": "answer", "= ": "expects", "~ ": "outdated", "& ": "sent"}
_TOOLS = {"get_weather": (WEATHER_TOOL,)}


def read(source: str) -> Iterator[Ask]:
    """The turns of one file."""
    for record in source.split("\n\n"):
        fields: dict[str, str] = {}
        name = ""
        for line in record.strip().splitlines():
            if field := _FIELDS.get(line[:2]):
                name = field
                fields[name] = line[2:]
            else:
                fields[name] += f"\n{line}"
        if fields:
            sent = fields.pop("sent", "")
            yield Ask(**fields, tools=_TOOLS.get(sent, ()), alone=sent == "alone")


CONVERSATION = tuple(read((TALK / "short.txt").read_text(encoding="utf-8")))


@cache
def talk() -> tuple[Ask, ...]:
    """The two hundred turns, in order."""
    files = sorted(TALK.glob("[0-9]*.txt"))
    return tuple(ask for file in files for ask in read(file.read_text(encoding="utf-8")))


@cache
def answers() -> Mapping[str, str]:
    """Scripted answers to the messages that need no memory."""
    return {ask.text: ask.answer for ask in talk() if ask.answer}
