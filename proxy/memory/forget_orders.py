"""Reads one sentence of a user as an order to forget: what it names, or what it points back to.

An order is a verb of forgetting or removing as a request, a wish or a "pretend that I never told you", and an object.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from proxy.language.text import fold
from proxy.memory import forget_words as words
from proxy.memory.signals import SIGNALS, folded
from proxy.memory.terms import STOP
from proxy.memory.values import WORD, lead, tail

Back = Literal["", "nearby", "faintly", "plainly", "wholly"]


@dataclass(frozen=True, slots=True)
class Order:
    """What an order names, in the user's words."""

    what: str  # "" is everything, unless it points back
    # Whether it points back to what was said before it: "that one"; faintly: "forget it"; nearby: "erase it";
    # wholly, to all of it: "what I just told you".
    back: Back = ""


# A question that only asks for consent: "…, ok?"
_TAGGED = re.compile(
    r",\s*\u00bf?\s*(?:ok(?:ay)?|right|please|thanks|yes|will you|would you|can you|dale|si|eh|por favor|porfa|vale"
    r"|puede ser|will ya)\s*\?\W*\Z"
)
_CLOSING = "\"'\u201d\u00bb),.; "


def order(sentence: str, *, alone: bool = False) -> Order | None:
    """`alone`: the sentence is all that its message says, beside courtesy. None: it orders nothing to be forgotten."""
    said = sentence.strip()
    asks = said.startswith("\u00bf") or said.rstrip(_CLOSING).endswith("?")
    if asks and _TAGGED.search(folded(said)) is not None:
        asks, said = False, _TAGGED.sub("", said) if len(folded(said)) == len(said) else said
        said = said[: _last_comma(said)] if said.rstrip(_CLOSING).endswith("?") else said
    plainly = folded(said)
    for start in _starts(plainly):
        if asks and words.BIDS.match(plainly, start) is None:
            continue
        entreaty = words.ENTREATY.match(plainly, start)
        at = entreaty.end() if entreaty else start
        found = _framed(said, plainly, start, at, alone=alone)
        if found is not None:
            return found
    return None if asks else _topic_first(said, plainly) or _behind_comma(said, plainly)


def _last_comma(said: str) -> int:
    return max(said.rfind(","), 0) or len(said)


def is_about_forgetting(clause: str) -> bool:
    """Is it an order to forget, understood or not, or told of the past? Then it states nothing."""
    plainly = folded(clause)
    if is_mishap(clause):
        return True
    for start in _starts(plainly):
        entreaty = words.ENTREATY.match(plainly, start)
        at = entreaty.end() if entreaty else start
        if words.FORGETS.match(plainly, at) or words.AS_IF.match(plainly, at) or words.RETOLD.match(plainly, at):
            return True
        if (denied := words.DENIED.match(plainly, at)) and words.RETOLD.match(plainly, denied.end()):
            return True
        keeps, removes = words.KEEPS.match(plainly, at), words.REMOVES.match(plainly, at)
        if keeps and _is_of_memory(plainly[keeps.end() :], alone=True):
            return True
        if removes and _is_of_memory(plainly[removes.end() :]):
            return True
        if words.GONE.match(plainly, start):
            return True
    return _topic_first(clause, plainly) is not None


def is_mishap(clause: str) -> bool:
    """Does it tell that somebody forgot something?"""
    return words.FORGOT.match(folded(clause)) is not None


def _starts(plainly: str) -> Iterator[int]:
    """Where it may begin, behind greetings in either language."""
    return iter(dict.fromkeys((0, *(lead(plainly, signals) for signals in SIGNALS.values()))))


def _framed(said: str, plainly: str, start: int, at: int, *, alone: bool) -> Order | None:
    if gone := words.GONE.match(plainly, start):
        return _named(said[gone.start("what") : gone.end("what")])
    if as_if := words.AS_IF.match(plainly, at):
        return _named(said[as_if.end() :]) if said[as_if.end() :].strip(" .!") else Order("", "wholly")
    if (verb := words.FORGETS.match(plainly, at)) is not None:
        return None if _is_past(said, at, verb) else _of_verb(said, verb)
    if (keeps := words.KEEPS.match(plainly, at)) is not None and _is_of_memory(plainly[keeps.end() :], alone=True):
        return _of_verb(said, keeps)
    return _removing(said, plainly, at, alone=alone)


def _removing(said: str, plainly: str, at: int, *, alone: bool) -> Order | None:
    removes = words.REMOVES.match(plainly, at)
    if removes is None or _is_past(said, at, removes):
        return None
    rest = plainly[removes.end() :]
    in_memory = words.FROM_MEMORY.search(f" {rest}") is not None
    if not removes["moves"] and (_points(rest.strip(" .!?,")) or (removes["clitic"] and not rest.strip(" .!?,"))):
        return Order("", "nearby")
    if removes["moves"]:
        return _of_verb(said, removes) if in_memory else None
    if words.WHOLLY.fullmatch(rest.strip(" .!?,")):
        return Order("", "wholly")
    if words.EVERYTHING.fullmatch(rest.strip(" .!?,")) and rest.strip(" .!?,") not in {"me", "all", "mi", "todo"}:
        return Order("")
    if in_memory or _is_of_memory(rest, alone=alone):
        return _of_verb(said, removes)
    return None


def _is_past(said: str, at: int, verb: re.Match[str]) -> bool:
    """ "Olvidé las llaves", which without its accent is an order."""
    return "\u00e9" in said[at : verb.end()].rstrip().rpartition(" ")[2][-1:]


def _is_of_memory(rest: str, *, alone: bool = False) -> bool:
    """Does the object of a verb, folded, name the memory, what was told, or the user's own?"""
    return (
        words.FROM_MEMORY.search(f" {rest}") is not None
        or words.TOLD.match(rest) is not None
        or words.RULE.match(rest) is not None
        or (words.OWN.match(rest) is not None and (alone or not rest.startswith(("my ", "our ", "mi ", "mis "))))
    )


def _of_verb(said: str, verb: re.Match[str]) -> Order | None:
    what = said[verb.end() :]
    if not what.strip(" .!?") and verb.groupdict().get("clitic"):
        return Order("", "faintly")
    return _named(what)


def _named(what: str) -> Order | None:
    """The object without where from, why and what it is not."""
    if words.FOR_NOW.search(folded(what)):
        return None
    what = _without_memory(what)
    if words.DISMISSED.match(folded(what)):
        return None
    end = words.ENDS.search(folded(what), 1) if what else None
    what = what[: end.start()] if end else what
    plainly = folded(what)
    what = what[: min(tail(plainly, signals) for signals in SIGNALS.values())].strip(" ,;:?\u00bf!.")
    plainly = folded(what).strip()
    if words.WHOLLY.fullmatch(plainly):
        return Order("", "wholly")
    if words.EVERYTHING.fullmatch(plainly):
        return Order("")
    what = without_telling(what)
    plainly = folded(what).strip()
    if words.OF_TALK.fullmatch(plainly):
        return None
    if back := _points(plainly):
        return Order("", back)
    return Order(what) if says_something(what) else None


_OPENS = re.compile(r"(?:about|that|de que|del?|que|the fact that|lo de|al?)\s+(?=\w)", re.IGNORECASE)


def without_telling(what: str) -> str:
    """`what` without "the thing about", "what I told you of", "lo de"."""
    while told := words.TOLD.match(folded(what)):
        what = what[told.end() :]
    opens = None if _points(folded(what)) else _OPENS.match(what)
    return what[opens.end() :] if opens else what


def _points(plainly: str) -> Back:
    if words.FAINTLY_BACK.fullmatch(plainly):
        return "faintly"
    return "plainly" if words.BACK.fullmatch(plainly) else ""


def _without_memory(what: str) -> str:
    found = words.FROM_MEMORY.search(folded(what))
    while found is not None:
        before, after = what[: found.start()], what[found.end() :]
        what = f"{before} {after}".strip() if before.strip() else after.strip()
        found = words.FROM_MEMORY.search(folded(what))
    return what


def _topic_first(said: str, plainly: str) -> Order | None:
    behind = words.BEHIND.search(plainly)
    if behind is None or words.FOR_NOW.search(plainly):
        return None
    start = max(_starts(plainly))
    topic = words.ENTREATY.match(plainly, start)
    start = topic.end() if topic else start
    if behind.start() <= start or words.TOPIC.match(plainly, start) is None:
        return None
    found = _named(said[start : behind.start()])
    return found if found is not None and found.what else None


def _behind_comma(said: str, plainly: str) -> Order | None:
    """An order that goes on from what its sentence says: "don't call me that, forget that nickname"."""
    for comma in re.finditer(r",\s+(?:(?:and|y)\s+)?", plainly):
        verb = words.FORGETS.match(plainly, comma.end())
        if verb is None or words.SPOKEN.search(plainly[: comma.start()]) or _is_past(said, comma.end(), verb):
            continue
        rest = re.sub(r"^(?:de|about) ", "", plainly[verb.end() :])
        if words.EVER.match(rest):
            return _named(said[: comma.start()])
        if words.RULE.match(rest) or words.TOLD.match(rest) or words.OWN.match(rest):
            return _named(said[verb.end() :])
    return None


def says_something(what: str) -> bool:
    return any(fold(word) not in STOP for word in WORD.findall(what))
