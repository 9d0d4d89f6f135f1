"""Parser of one sentence as a command to forget: the object that it names, or the earlier text that it refers to.

A command is a verb of forgetting or removing as a request, a wish or a "pretend that I never told you", and an
object.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Literal

from proxy.language.phrases import expression
from proxy.language.tables import union
from proxy.language.words import STOP, fold
from proxy.memory.signals import SIGNALS, WORD, folded, lead, tail

Back = Literal["", "nearby", "faintly", "plainly", "wholly"]


@dataclass(frozen=True, slots=True)
class Parsed:
    """The object of a command, in the user's words."""

    what: str  # "" is everything, unless it refers back
    # Its reference to earlier text. "plainly": "that one"; "faintly": "forget it"; "nearby": "erase it"; "wholly", to
    # all of it: "what I just told you"; "": none.
    back: Back = ""


_TABLES = union("orders_to_forget")
_find = partial(expression, _TABLES)

# Words that may precede the verb, repeatedly; and the opening of a command in the form of a question.
ENTREATY = _find(r"\W*(?:{entreaty}[,:!.\u2026]*\s+)*")
_BIDS = _find(r"\W*(?:{please},? )?{bids}\b")
_ANY_MORE = r"(?:,? ?:)?(?: {any_more})?"
_FORGETS = _find(rf"{{forgets}}(?P<clitic>{{clitic}})?\b{_ANY_MORE}\s*")
_REMOVES = _find(rf"(?:{{removes}}|(?P<moves>{{moves}}))(?P<clitic>{{clitic}})?\b{_ANY_MORE}\s*")
_KEEPS = _find(rf"{{keeps}}\b{_ANY_MORE}\s*")
# "As if I had never told you …": the rest is the object.
_AS_IF = _find(r"{as_if}\b\s*")
FROM_MEMORY = _find(r"(?:^|\s){from} {memory}(?: {from_now_on})?(?=\W|$)")
# "I want Derek gone from your memory."
_GONE = _find(r"{wants} (?P<what>.+?) {gone}(?: {gone_from})? {memory}\b")
# Phrases like "what I told you about", which make an object of whatever follows.
TOLD = _find(r"{told}(?=\s)\s*")
# A clause about the user, and what only memory has.
_OWN = _find("{own}")
_RULE = _find(r"{the} (?:\w+ ){0,3}?{rules}\b(?: {of_a_rule} .+)?\W*$")
# References: "that", "that one", "ese". The first ones are also used to dismiss a question.
_FAINTLY_BACK = _find("(?:{of} )?{it}(?: {too})?")
_DISMISSED = _find(r"{dismissed}[,;] (?!{courtesy}\b)")
# Behind a comma, of what stands before it: "stop using that nickname, forget it ever existed".
_EVER = _find("{it_existed}")
_SPOKEN = _find(r"\b{spoken}\b|[:\"\u201c\u00ab]")
_BACK = _find("(?:{of} )?{back}")
# All that the message before states: "what I just told you", "my last message".
_WHOLLY = _find("(?:{of} )?{wholly}")
_EVERYTHING = _find("(?:{of} )?{everything}")
# Of the conversation itself, not of what was stated in it.
_OF_TALK = _find("(?:{of} )?(?:{talk_my}(?: {talk_last})? )?{talk}(?: .*)?|{never_mind}")
_FOR_NOW = _find("{for_now}")
# Where the object ends: a reason, an exception, another order.
_ENDS = _find(
    r"[;:]\s|[,.]\s{new_clause}\b|,?\s{exceptions}\s|,?\s{and} {other_orders}\b|\s{no_longer}\W*\Z",
)
# "The thing about the car, forget it."
_BEHIND = _find(
    r"(?:,|\s[-\u2013]|:)?\s(?:{asks},?\s)?(?:{just} )?{behind}(?: {out_of} {memory})?(?:,?\s{closing})*[\s.!?]*$"
)
# Beginnings of a topic in front of a command.
_TOPIC = _find(r"\W*(?:{set_aside} )?{topic}\b")
# "I shouldn't have told you about Colin."
TOLD_YOU = _find(r"\b{told_you}\b")
# A report of forgetting: neither a command nor a lasting fact.
_FORGOT = _find(r"\W*(?:{sighs}\b\W*)*{forgot}(?! {to_tell})")
# "Please don't forget …".
_DENIED = _find(r"(?:{make_sure} )?{never}(?: {ever})? {loses}(?: {at_all})?\s")
# "… everything I told you": names no content.
_RETOLD = _find(r"\W*(?:{that} )?{all}(?: {of_all})?(?: {lo})?(?: {that_i})? {said}")
# A question that only asks for consent: "…, ok?"
_TAGGED = _find(r",\s*\u00bf?\s*{tags}\s*\?\W*\Z")
# The expressions, by themselves, of which `parse` finds one in a command.
_ORDERS = _find(
    rf"\b(?:{{forgets}}|{{removes}}|{{keeps}}\b{_ANY_MORE}\s*(?:{{told}}|{{own}}|{{the}} (?:\w+ ){{0,3}}?{{rules}})"
    r"|{as_if}|{behind})"
)
# Talk of computers has the first of these as well ("el consumo de memoria"); in a command both stand.
_AT_MEMORY, _MOVED = _find(r"\b(?:{from}|{gone}|{gone_from}) {memory}"), _find(r"\b(?:{moves}|{wants})")
_CLOSING = "\"'\u201d\u00bb),.; "


def may_order(text: str) -> bool:
    """Tells whether a sentence of `text` may be a command to forget."""
    plainly = folded(text)
    return _ORDERS.search(plainly) is not None or (
        _AT_MEMORY.search(plainly) is not None and _MOVED.search(plainly) is not None
    )


def parse(sentence: str, *, alone: bool = False) -> Parsed | None:
    """Parses a sentence as a command to forget; None if it is none. `alone`: the message says nothing else, beside
    courtesy."""
    said = sentence.strip()
    asks = said.startswith("\u00bf") or said.rstrip(_CLOSING).endswith("?")
    if asks and _TAGGED.search(folded(said)) is not None:
        asks, said = False, _TAGGED.sub("", said) if len(folded(said)) == len(said) else said
        if said.rstrip(_CLOSING).endswith("?"):
            said = said[: max(said.rfind(","), 0) or len(said)]
    plainly = folded(said)
    for start, at in _starts(plainly):
        if asks and _BIDS.match(plainly, start) is None:
            continue
        found = _framed(said, plainly, start, at, alone=alone)
        if found is not None:
            return found
    return None if asks else _topic_first(said, plainly) or _behind_comma(said, plainly)


def is_about_forgetting(clause: str) -> bool:
    """Tells whether a clause is a command to forget, or a report of forgetting: then it states no fact."""
    plainly = folded(clause)
    if is_mishap(clause):
        return True
    for start, at in _starts(plainly):
        if _FORGETS.match(plainly, at) or _AS_IF.match(plainly, at) or _RETOLD.match(plainly, at):
            return True
        if (denied := _DENIED.match(plainly, at)) and _RETOLD.match(plainly, denied.end()):
            return True
        keeps, removes = _KEEPS.match(plainly, at), _REMOVES.match(plainly, at)
        if keeps and _is_of_memory(plainly[keeps.end() :], alone=True):
            return True
        if removes and _is_of_memory(plainly[removes.end() :]):
            return True
        if _GONE.match(plainly, start):
            return True
    return _topic_first(clause, plainly) is not None


def is_mishap(clause: str) -> bool:
    """Tells whether a clause reports that somebody forgot something."""
    return _FORGOT.match(folded(clause)) is not None


def _starts(plainly: str) -> Iterator[tuple[int, int]]:
    """Yields the positions at which a command may begin, 0 and behind the greetings of each language, each with that
    of its verb, behind entreaties."""
    for start in dict.fromkeys((0, *(lead(plainly, signals) for signals in SIGNALS.values()))):
        entreaty = ENTREATY.match(plainly, start)
        yield start, entreaty.end() if entreaty else start


def _framed(said: str, plainly: str, start: int, at: int, *, alone: bool) -> Parsed | None:
    if gone := _GONE.match(plainly, start):
        return _named(said[gone.start("what") : gone.end("what")])
    if as_if := _AS_IF.match(plainly, at):
        return _named(said[as_if.end() :]) if said[as_if.end() :].strip(" .!") else Parsed("", "wholly")
    if (verb := _FORGETS.match(plainly, at)) is not None:
        return None if _is_past(said, at, verb) else _of_verb(said, verb)
    if (keeps := _KEEPS.match(plainly, at)) is not None and _is_of_memory(plainly[keeps.end() :], alone=True):
        return _of_verb(said, keeps)
    return _removing(said, plainly, at, alone=alone)


def _removing(said: str, plainly: str, at: int, *, alone: bool) -> Parsed | None:
    removes = _REMOVES.match(plainly, at)
    if removes is None or _is_past(said, at, removes):
        return None
    rest = plainly[removes.end() :]
    in_memory = FROM_MEMORY.search(f" {rest}") is not None
    if not removes["moves"] and (_points(rest.strip(" .!?,")) or (removes["clitic"] and not rest.strip(" .!?,"))):
        return Parsed("", "nearby")
    if removes["moves"]:
        return _of_verb(said, removes) if in_memory else None
    if _WHOLLY.fullmatch(rest.strip(" .!?,")):
        return Parsed("", "wholly")
    if _EVERYTHING.fullmatch(rest.strip(" .!?,")) and rest.strip(" .!?,") not in {"me", "all", "mi", "todo"}:
        return Parsed("")
    if in_memory or _is_of_memory(rest, alone=alone):
        return _of_verb(said, removes)
    return None


def _is_past(said: str, at: int, verb: re.Match[str]) -> bool:
    """Recognises the past tense in "olvidé las llaves", which without its accent is an order."""
    return "\u00e9" in said[at : verb.end()].rstrip().rpartition(" ")[2][-1:]


def _is_of_memory(rest: str, *, alone: bool = False) -> bool:
    """Tells whether the object of a verb, folded, names the memory, what was told, or the user's own."""
    return (
        FROM_MEMORY.search(f" {rest}") is not None
        or TOLD.match(rest) is not None
        or _RULE.match(rest) is not None
        or (_OWN.match(rest) is not None and (alone or not rest.startswith(("my ", "our ", "mi ", "mis "))))
    )


def _of_verb(said: str, verb: re.Match[str]) -> Parsed | None:
    what = said[verb.end() :]
    if not what.strip(" .!?") and verb.groupdict().get("clitic"):
        return Parsed("", "faintly")
    return _named(what)


def _named(what: str) -> Parsed | None:
    """Returns the command for an object, without its place (from memory), reason and exceptions; None if it names
    nothing."""
    if _FOR_NOW.search(folded(what)):
        return None
    what = _without_memory(what)
    if _DISMISSED.match(folded(what)):
        return None
    end = _ENDS.search(folded(what), 1) if what else None
    what = what[: end.start()] if end else what
    plainly = folded(what)
    what = what[: min(tail(plainly, signals) for signals in SIGNALS.values())].strip(" ,;:?\u00bf!.")
    plainly = folded(what).strip()
    if _WHOLLY.fullmatch(plainly):
        return Parsed("", "wholly")
    if _EVERYTHING.fullmatch(plainly):
        return Parsed("")
    what = without_telling(what)
    plainly = folded(what).strip()
    if _OF_TALK.fullmatch(plainly):
        return None
    if back := _points(plainly):
        return Parsed("", back)
    return Parsed(what) if says_something(what) else None


_OPENS = expression(_TABLES, r"{opens}\s+(?=\w)", re.IGNORECASE)


def without_telling(what: str) -> str:
    """Strips "the thing about", "what I told you of", "lo de" from the object of a command."""
    while told := TOLD.match(folded(what)):
        what = what[told.end() :]
    opens = None if _points(folded(what)) else _OPENS.match(what)
    return what[opens.end() :] if opens else what


def _points(plainly: str) -> Back:
    if _FAINTLY_BACK.fullmatch(plainly):
        return "faintly"
    return "plainly" if _BACK.fullmatch(plainly) else ""


def _without_memory(what: str) -> str:
    found = FROM_MEMORY.search(folded(what))
    while found is not None:
        before, after = what[: found.start()], what[found.end() :]
        what = f"{before} {after}".strip() if before.strip() else after.strip()
        found = FROM_MEMORY.search(folded(what))
    return what


def _topic_first(said: str, plainly: str) -> Parsed | None:
    behind = _BEHIND.search(plainly)
    if behind is None or _FOR_NOW.search(plainly):
        return None
    _, start = max(_starts(plainly))
    if behind.start() <= start or _TOPIC.match(plainly, start) is None:
        return None
    found = _named(said[start : behind.start()])
    return found if found is not None and found.what else None


def _behind_comma(said: str, plainly: str) -> Parsed | None:
    """Parses a command at the end of its sentence: "don't call me that, forget that nickname"."""
    for comma in re.finditer(r",\s+(?:(?:and|y)\s+)?", plainly):
        verb = _FORGETS.match(plainly, comma.end())
        if verb is None or _SPOKEN.search(plainly[: comma.start()]) or _is_past(said, comma.end(), verb):
            continue
        rest = re.sub(r"^(?:de|about) ", "", plainly[verb.end() :])
        if _EVER.match(rest):
            return _named(said[: comma.start()])
        if _RULE.match(rest) or TOLD.match(rest) or _OWN.match(rest):
            return _named(said[verb.end() :])
    return None


def says_something(what: str) -> bool:
    """Tells whether a text has a content word."""
    return any(fold(word) not in STOP for word in WORD.findall(what))
