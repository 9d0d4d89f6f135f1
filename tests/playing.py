"""An upstream that plays a pattern of calls: which round it is, it tells by what is in the request alone.

The name of the model is the name of the pattern. A model can call memory's tools only where it was offered them, so to
a client that asks it directly, and to a request of the proxy's without them, it plays the same pattern without these
calls: what the client is to see.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import msgspec

from tests.looping import Fault, Step, Upstream
from tests.spoken import STYLES, Called, Spoken, Style, joined

# What nobody but memory's tools may get: each of its ids, names of keys and values has one of these letters, so that it
# is found in any piece of it.
NEEDLES = "Жжω\u03a9"
LOOK = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}
THEIRS = Called("look", '{"at":"x"}')
JSON = '{"city":"Rosario","days":3}'
FAULT = "x-play-fault"  # header: fault@round, of the rounds that are offered memory's tools; once for each key


def remember(number: int) -> Called:
    """A call of ours. Fact and value are its own."""
    return Called("remember", f'{{"key":"\u03a9{number}","value":"\u03a9\u03a9{number}"}}')


O1, O2, O3 = map(remember, (1, 2, 3))

SAVE = Called("save_to_disk", '{"file_name":"plan.md","content":"\u03a9\u03a9\u03a9"}')
NOTES = "notes and facts"
LOOP = "the same of ours for ever"  # ends the offer for the session

_PATTERNS: Mapping[str, Sequence[Spoken]] = {
    "theirs alone": [Spoken("Let me look.", (THEIRS,)), Spoken("It is noon.")],
    "theirs in parallel": [Spoken("", (THEIRS, THEIRS)), Spoken("It is noon.")],
    "ours alone": [Spoken("", (O1,)), Spoken("It is noon.")],
    "ours in parallel": [Spoken("", (O1, O2)), Spoken("It is noon.")],
    NOTES: [Spoken("", (O1, SAVE)), Spoken("", (O2,)), Spoken("It is noon.")],
    "text between": [Spoken("Noted.", (O1,)), Spoken("One more.", (O2,)), Spoken("It is noon.")],
    "reasoning": [Spoken("", (O1,), "I note it."), Spoken("It is noon.", (), "Now the time.")],
    "both, ours first": [Spoken("Well,", (O1, THEIRS)), Spoken("It is noon.")],
    "both, theirs first": [Spoken("", (THEIRS, O1)), Spoken("It is noon.")],
    "both in parallel": [Spoken("", (O1, THEIRS, O2, THEIRS)), Spoken("It is noon.")],
    "ours after theirs": [Spoken("", (THEIRS,)), Spoken("", (O1,)), Spoken("It is noon.")],
    "theirs after ours": [Spoken("", (O1,)), Spoken("", (THEIRS,)), Spoken("It is noon.")],
    "both behind ours": [Spoken("", (O1,)), Spoken("Now look.", (O2, THEIRS)), Spoken("It is noon.")],
    "ours for ever": [Spoken("Again.", (remember(at),)) for at in range(10, 17)],
    "ours for ever, nothing said": [Spoken("", (remember(at),)) for at in range(10, 17)],
    "theirs, then ours for ever": [
        Spoken("", (THEIRS,)),
        *(Spoken("Again.", (remember(at),)) for at in range(10, 17)),
    ],
    LOOP: [Spoken("Again.", (O1,))] * 7,
}
_THEN = [Spoken("", (O3,)), Spoken("That is all.")]  # to the next question


def numbered(rounds: Sequence[Spoken], begin: int = 0) -> tuple[Spoken, ...]:
    """The same rounds, each an answer of its own, and each call with an id that tells whose it is."""
    return tuple(
        replace(
            spoken,
            id=f"chatcmpl-{at}",
            created=7 + at,
            calls=tuple(
                replace(call, id=f"{'call' if call.name == 'look' else chr(0x416)}{at:02}{place:03}")
                for place, call in enumerate(spoken.calls)
            ),
        )
        for at, spoken in enumerate(rounds, begin)
    )


def unhidden(rounds: Sequence[Spoken]) -> tuple[Spoken, ...]:
    """The answers that the client is to see of these rounds."""
    answers: list[Spoken] = []
    group: list[Spoken] = []
    for at, spoken in enumerate(rounds):
        group.append(spoken)
        theirs = tuple(call for call in spoken.calls if call.name == "look")
        if theirs or not spoken.calls or at == len(rounds) - 1:
            text = joined([each.text for each in group]) or ("" if theirs else "It is noon.")
            answers.append(replace(spoken, text=text, calls=theirs, reasoning=joined([x.reasoning for x in group])))
            group = []
    return tuple(answers)


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern, as it is played with memory's tools and without them."""

    rounds: tuple[Spoken, ...]
    bare: tuple[Spoken, ...]


PATTERNS = {name: Pattern(numbered(rounds), unhidden(numbered(rounds))) for name, rounds in _PATTERNS.items()}
THEN = Pattern(numbered(_THEN, 50), unhidden(numbered(_THEN, 50)))


class Player(Upstream):
    """Plays the pattern that the model's name says."""

    def __init__(self) -> None:
        super().__init__()
        self.style: Style = STYLES[0]
        self.by_key: dict[str, list[dict[str, Any]]] = {}  # requests
        self._failed: set[tuple[str, str]] = set()

    def step(self, headers: Mapping[bytes, bytes], asked: dict[str, Any]) -> Step:
        """Returns the round that is due."""
        key = headers[b"authorization"].decode().removeprefix("Bearer ")
        self.by_key.setdefault(key, []).append(asked)
        if (asked.get("response_format") or {}).get("type") == "json_schema":
            return Step(Spoken(JSON), style=self.style)
        messages = asked["messages"]
        newest = max(at for at, each in enumerate(messages) if each["role"] == "user")
        said = [each for each in messages[newest:] if each["role"] == "assistant"]
        is_first = not any(each["role"] == "user" for each in messages[:newest])
        pattern = PATTERNS[asked["model"]] if is_first else THEN
        if not has_ours(asked):
            seen = [each for each in said if not _is_hidden(each)]
            return Step(pattern.bare[min(len(seen), len(pattern.bare) - 1)], style=self.style)
        at = min(len(said), len(pattern.rounds) - 1)
        step = Step(pattern.rounds[at], style=self.style)
        fault, _, of = headers.get(FAULT.encode(), b"").decode().partition("@")
        if not is_first or of != str(at) or (key, fault) in self._failed:
            return step
        self._failed.add((key, fault))
        return failing(step, fault)


def failing(step: Step, fault: str) -> Step:
    """The step with a fault: a status, or one of `looping.Fault`, `hang` before the first event as `silent`."""
    if fault.isdecimal():
        return replace(step, status=int(fault))
    if fault == "silent":
        return replace(step, fault="hang", events=0)
    known: Fault = fault  # type: ignore[assignment]  # a header says it
    return replace(step, fault=known)


def has_ours(asked: Mapping[str, Any]) -> bool:
    """Tells whether a request offers memory's tools."""
    return any(tool["function"]["name"] == "remember" for tool in asked.get("tools") or ())


def _is_hidden(said: Mapping[str, Any]) -> bool:
    calls = said.get("tool_calls") or ()
    return bool(calls) and all(call["function"]["name"] != "look" for call in calls)


CALLS = "x-play-calls"  # header: the calls of the first round, as JSON: [[name, arguments], …]


class Obedient(Upstream):
    """Makes the calls that the request's header names, all in one round, and is done once it has their results."""

    def __init__(self) -> None:
        super().__init__()
        self.by_question: dict[str, list[dict[str, Any]]] = {}  # requests, by the newest user message
        self._made = count(1)

    def step(self, headers: Mapping[bytes, bytes], asked: dict[str, Any]) -> Step:
        """Returns the round that is due."""
        newest = [each["content"] for each in asked["messages"] if each["role"] == "user"][-1]
        self.by_question.setdefault(newest.rpartition("\n")[2], []).append(asked)
        wanted = msgspec.json.decode(headers.get(CALLS.encode(), b"[]"))
        if asked["messages"][-1]["role"] != "user" or not has_ours(asked):
            return Step(Spoken("Done."))
        calls = [Called(name, msgspec.json.encode(given).decode()) for name, given in wanted]
        return Step(Spoken("", tuple(replace(call, id=f"call{next(self._made):05}") for call in calls)))

    def told(self, question: str) -> list[str]:
        """What the calls of this question were answered with."""
        return [each["content"] for each in self.by_question[question][-1]["messages"] if each["role"] == "tool"]
