"""What a message says beside its point: thanks and jokes, what pleases, what holds today only, what could be asked of
anything."""

from typing import Literal

from proxy.context.cuts import clean, concreteness
from proxy.context.nouns import MEASURES, NOUN_WORDS
from proxy.context.referents import things_of
from proxy.language.phrases import expression, phrases, words
from proxy.language.tables import union
from proxy.language.text import plain
from proxy.memory.signals import SIGNALS
from proxy.memory.spoken import spoken_in
from proxy.types.memory import Language

Kind = Literal["decision", "statement", "request"]  # of a piece of a message

_TABLES = union("notes")
EVALUATES, GENERIC = words(_TABLES["evaluates"]), words(_TABLES["generic"])
YOURS, MINE, JOKED = (expression(_TABLES, f" {{{name}}} ") for name in ("yours", "mine", "joked"))
QUOTES_YOU = phrases(_TABLES["quotes_you"])
_LAUGHS = expression(_TABLES, " {laughs}")
_THANKS = expression(_TABLES, " {thanks} ")
_LEAST = 2  # words of meaning: less says nothing
_FIRST = 5  # characters of a plain text before its first words


def is_casual(said: str, language: Language, sentence: str) -> bool:
    if _LAUGHS.search(said) or JOKED.search(said) or SIGNALS[language].imagine.search(said):
        return True
    if _THANKS.search(said) is None or "?" in said or any(map(str.isdigit, said)):
        return False
    return _THANKS.search(plain(clean(sentence) or sentence)) is not None


def is_earnest(message: str) -> bool:
    """Does it ask, and not in jest?"""
    said = plain(message)
    jokes = _LAUGHS.search(said) or JOKED.search(said) or QUOTES_YOU.search(said)
    return "?" in message and not jokes and not SIGNALS[spoken_in(message)].imagine.search(said)


def is_passing(said: str, language: Language) -> bool:
    """Does it hold today only? What is said of it at the end of a sentence is no more than a comment."""
    found = SIGNALS[language].passing.search(said)
    opens = found is not None and found.start() < _FIRST
    return found is not None and (opens or not found[0].startswith(" it's"))


def is_platitude(text: str, language: Language) -> bool:
    """Does it praise, and name little beside?"""
    said = things_of(text, language)
    left = [word for word in said if word not in EVALUATES]
    return concreteness(text) < 1 and len(left) < min(_LEAST, len(said))


def names_thing(text: str, language: Language) -> bool:
    """Does it name anything but what pleases: "your favourite part"?"""
    return any(word not in EVALUATES for word in things_of(text, language))


def is_generic(text: str, language: Language) -> bool:
    """Could it be asked of anything: "review my code"?"""
    said = things_of(text, language)
    return sum(word not in GENERIC for word in said) < min(_LEAST, len(said))


def is_slight(text: str, kind: Kind, language: Language) -> bool:
    """Does a piece leave open what its turn is about: a question to who reads it, a remark, an amount of nothing?"""
    counts = NOUN_WORDS[language].determiners | NOUN_WORDS[language].trailing | MEASURES
    said = [word for word in things_of(text, language) if word not in counts]
    remarks = kind == "statement" and not concreteness(text) and not MINE.search(plain(text))
    return not said or remarks or (kind == "request" and speaks_to_you(text))


def speaks_to_you(text: str) -> bool:
    """Does it speak of whoever hears it?"""
    return YOURS.search(plain(text)) is not None
