"""Messages whose answers must not be reused, by the words that say so: time-dependent, emotional, ordering an action.

The words are those of all languages together, since messages mix them and short ones have none; all of plain text.

time-dependent   A word that points at the moment of speaking makes a message so; so does asking for what changes by the
                 day, or whether something has happened. Asked how something is done, or about the past, the latter mean
                 nothing; asked about language, or how in code ("how do I get yesterday's date in SQL"), neither do the
                 former.
emotional        It tells how its author is, so that an answer made for someone else would wound.
an order         A verb of action stands where an order begins: at the start of a sentence or after "and", behind
                 courtesies ("please", "che, ¿me podés …?", "I need you to"). "How do I delete a branch?" has its verb
                 in another place. What must stand behind a verb depends on its table.
"""

import re
from collections.abc import Iterator
from itertools import chain
from typing import Final, Literal

from proxy.language.phrases import phrases, prefix_tree
from proxy.language.tables import everywhere, function_words_everywhere, words_everywhere
from proxy.language.words import sentence

Kind = Literal["act", "make", "handle", "noun"]


def _found(subject: str, section: str, *, opening: bool = False) -> re.Pattern[str]:
    """Compiles a pattern that finds any entry of a section in any language."""
    return phrases(*everywhere(subject, section), opening=opening)


def _one_of(subject: str, section: str) -> str:
    """The expression for one entry of a section, in any language."""
    return "|".join(entry.strip() for text in everywhere(subject, section) for entry in re.split(r"\||\n", text))


# --- time-dependent ---------------------------------------------------------------------------------------------------

_NOW = _found("moment", "now")
_TIMELESS = _found("moment", "timeless")
_LANGUAGE = _found("moment", "language")
_CODE = _found("moment", "code")
_LIVE = phrases(*everywhere("moment", "live"), *everywhere("moment", "topics"))
_OPENS = _found("moment", "opens", opening=True)
# Where the verb comes first, whichever it is, a question asks whether something is so now: "¿Llegó el tren?".
_NO_VERB = "|".join(words_everywhere("moment", "whether-not"))
_WHETHER = re.compile(
    rf" \? (?:{'|'.join(everywhere('moment', 'whether-after'))})*(?!(?:{_NO_VERB}) )"
    r"[a-z]+(?= [^?]*\?)"
)
_SIGNS: Final = {
    "now": _NOW,
    "live": _LIVE,
    "opens": _OPENS,
    "whether": _WHETHER,
    "timeless": _TIMELESS,
    "language": _LANGUAGE,
    "code": _CODE,
}
SIGNS = (*_SIGNS,)


def signs(text: str) -> tuple[str, ...]:
    """Names the tables of time that have a word of plain `text`, whatever they decide together."""
    return tuple(name for name, table in _SIGNS.items() if table.search(text))


def time_dependent(text: str) -> bool:
    """Would the answer to plain `text` be another one tomorrow?"""
    # Sets: a sentence with a hundred hits is weighed once.
    now = {sentence(text, hit.start()) for hit in _NOW.finditer(text)}
    if any(not _about_language(asked) and not (_CODE.search(asked) and _TIMELESS.search(asked)) for asked in now):
        return True
    hits = chain(_LIVE.finditer(text), _OPENS.finditer(text), _WHETHER.finditer(text))
    live = {sentence(text, hit.end() - 1) for hit in hits}
    return any(not _about_language(asked) and not _TIMELESS.search(asked) for asked in live)


def _about_language(asked: str) -> bool:
    """Tells whether a sentence is about words or works rather than about what they name."""
    return _LANGUAGE.search(asked) is not None


# --- emotional --------------------------------------------------------------------------------------------------------

_FEELING = _found("feelings", "feeling")
_OF_MINE = _found("feelings", "of-mine")
_MYSELF = _found("feelings", "myself")
_ASSIGNMENT = _found("feelings", "assignment")
# Someone who speaks of themselves or of those close to them, asks nothing and wants nothing made, wants to be heard.
# Characters; longer than this, a message that asks nothing is material to work on.
_SPOKEN = 600


def emotional(text: str) -> bool:
    """Tells whether plain `text` says how its author feels."""
    if not all(map(_about_language, {sentence(text, hit.start()) for hit in _FEELING.finditer(text)})):
        return True
    if " ? " in text or len(text) > _SPOKEN or _about_language(text):
        return False
    return _OF_MINE.search(text) is not None or (_MYSELF.search(text) is not None and not _ASSIGNMENT.search(text))


# --- orders -----------------------------------------------------------------------------------------------------------

_ARTEFACT = _found("orders", "artefact")
_THING = _found("orders", "thing")
_OBJECT = _found("orders", "object")
_SPEAK_TO = words_everywhere("orders", "speak-to")
_COMPOUND = _found("orders", "compound")
_DETERMINED = _found("orders", "determined")
_SAYINGS = _found("orders", "sayings")
_SAID_TO = words_everywhere("orders", "said-to")
_ASKS = _found("orders", "asks")
_PURPOSE = _found("orders", "purpose")
_QUESTION_LATER = _found("orders", "question-later")
_CLITICS = _one_of("orders", "clitics")
# Where an order may begin (behind a mark or a conjunction), courtesies, a verb that hands over another, the verb.
_BEGINS = re.compile(
    rf" (?:(?P<first>[.?])|,|\(|{'|'.join(words_everywhere('orders', 'conjunctions'))})"
    rf"(?: (?:{prefix_tree(*everywhere('orders', 'courtesies'))}|(?P<for_someone>{_CLITICS}))){{0,8}}"
    rf"(?P<opener> {prefix_tree(*everywhere('orders', 'hands-over'))}"
    rf"(?: (?:{_one_of('orders', 'between')}|{_CLITICS})){{0,4}})?"
    r"(?= (?P<verb>[a-z-]+) )"
)
_WISH = re.compile(rf" (?:{_one_of('orders', 'wishes')})(?= |$)(?!.*(?: (?:{_one_of('orders', 'wished-of')})))")
_CLITICS_BEHIND = re.compile(rf"(?:{_CLITICS})?(?:{_CLITICS})$")

# How far behind its verb an object is looked for, and how far into a sentence it may begin to ask: a dozen words, five.
_REACH = 80
_LEAD = 30


def _forms(entry: str) -> Iterator[str]:
    """Returns the forms that an order of a Spanish infinitive can have, without accents: vos and tú, usted, ustedes,
    present, subjunctive, conditional."""
    infinitive, _, stressed = entry.partition(":")
    stem, vowel = infinitive[:-2], infinitive[-2]
    yield from (infinitive, f"{infinitive}ias", f"{infinitive}ia")
    for root in {stem, stressed or stem}:
        if vowel == "a":
            yield from (f"{root}a", f"{root}as", f"{root}an")
            yield from (_spelled(root) + end for end in ("e", "es", "en"))
        else:
            yield from (f"{root}e", f"{root}es", f"{root}en", f"{root}{vowel}", f"{root}{vowel}s")
            yield from (f"{root}a", f"{root}as", f"{root}an")


def _spelled(root: str) -> str:
    return re.sub(r"[cgz]$", lambda end: {"c": "qu", "g": "gu", "z": "c"}[end[0]], root)


def _verbs(section: str) -> Iterator[str]:
    yield from words_everywhere("orders", section)
    for entry in words_everywhere("orders", f"{section}-infinitives"):
        yield from _forms(entry)


def _kinds() -> dict[str, Kind]:
    of: tuple[Kind, ...] = ("handle", "make", "noun", "act")  # a verb of two kinds is of the later one
    return {verb: kind for kind in of for verb in _verbs(kind)}


KINDS: Final = _kinds()
WORDS: Final = function_words_everywhere("orders").union(_verbs("speak"))


def side_effect(text: str) -> bool:
    """Tells whether plain `text` orders something that a repeated answer would leave undone, or claim to have done."""
    return any(_is_order(text, begins) for begins in _BEGINS.finditer(text))


def _is_order(text: str, begins: re.Match[str]) -> bool:
    verb, opener, start = begins["verb"], begins["opener"], begins.end()
    kind, has_clitic = _kind(verb)
    saying = _SAYINGS.match(text, start) or _SAYINGS.match(text, begins.start() + 2)
    after = start + 1 + len(verb)
    if kind is None and not saying and not (_may_be_verb(verb, begins) and _DETERMINED.match(text, after)):
        return False
    rest, closing = _behind(text, after)
    if begins["first"] is None and not has_clitic and _is_told(text, begins.start(), rest):
        return False
    if opener and _WISH.match(opener) and (kind is None or _QUESTION_LATER.search(text, start)):
        return saying is not None
    if saying:
        return True
    if closing == "?" and not (opener or begins["for_someone"] or verb.endswith(("s", "r"))):
        return False  # "¿Cancela el contrato la muerte del titular?"
    return _has_object(verb, kind, rest)


def _is_told(text: str, conjunction: int, rest: str) -> bool:
    # What follows "and" in a sentence that asks or tells belongs to it, unless it is to be done to "it" or to mine.
    if rest.startswith((" it ", " them ", " my ", " mi ")):
        return False
    before = sentence(text[: conjunction + 1], conjunction - 1)
    return _ASKS.search(before, 0, _LEAD) is not None or _PURPOSE.search(before) is not None


def _has_object(verb: str, kind: Kind | None, rest: str) -> bool:
    match kind:
        case "act":
            return True
        case "handle":
            return _THING.search(rest) is not None
        case "noun":
            return not _COMPOUND.match(rest) if verb in _SPEAK_TO else _OBJECT.match(rest) is not None
        case "make" | None:
            return not _ARTEFACT.search(rest)


def _may_be_verb(word: str, begins: re.Match[str]) -> bool:
    return begins["first"] is not None and not begins["for_someone"] and _bare(word) not in WORDS


def _behind(text: str, start: int) -> tuple[str, str]:
    """The rest of the sentence from `start`, cut at `_REACH`, and the mark that closes it if that is within reach."""
    rest = text[start : start + _REACH]
    end, closing = min((at, mark) for mark in ".?" if (at := f"{rest} {mark} ".find(f" {mark} ")) >= 0)
    return rest[: end + 3], closing if end < len(rest) else ""


def _kind(verb: str) -> tuple[Kind | None, bool]:
    """The table that `verb` is in, and whether it carries its object ("mandáselo")."""
    bare = _bare(verb)
    if bare in _SAID_TO and verb.endswith(("le", "les")):
        return "act", True
    return KINDS.get(bare), bare != verb


def _bare(verb: str) -> str:
    """`verb` without the pronouns at its end, if that is a verb we know."""
    bare = verb
    while bare not in KINDS and bare not in WORDS and bare not in _SAID_TO:
        shorter = _CLITICS_BEHIND.sub("", bare)
        if shorter == bare:
            return verb
        bare = shorter
    return bare
