"""Detection of topic changes, and the domain (part of life) of a message.

An announcement ("cambiando de tema", "by the way") decides alone. Otherwise the evidence is weighed: similarity to the
turn before, shared terms, another domain, the form of the message (asides, corrections and reactions leave the topic
where it is), and the age of the topic. The cosine alone is poor evidence: it takes more turns wrongly for an
unannounced shift than it finds.

The weights are learned by `tests/bench/shifts_train.py` from conversations in Spanish and English.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

from proxy.config.profiles import Window
from proxy.language.detect import Code as Language
from proxy.language.detect import language
from proxy.language.finding import Finder
from proxy.language.language import language_of
from proxy.language.phrases import phrases, prefix_tree
from proxy.language.tables import union
from proxy.language.words import fold, plain, stem
from proxy.types import ShiftCause

LOOKED_BACK = 2  # turns that a message is compared with
_LONGEST_TOPIC = 8  # turns: a higher age is no further evidence
_SHORT = 8  # words
_WORD = re.compile(r"[^\W_]{3,}")
_MOST_READ = 2_000  # characters of a message: a change of topic stands at its beginning
_OTHER_DOMAIN = 2  # words of another domain that the previous turns need

# Mean cosine of a user message with a turn of another conversation, on the development data, by the beginning of an
# embedder's version. MiniLM has seen little Spanish, and its vectors for all of it are alike. Other models (a user's
# own) are treated as MiniLM.
MINILM = "minilm-l6-v2"
UNRELATED: Mapping[str, Mapping[Language, float]] = MappingProxyType(
    {
        MINILM: MappingProxyType({"es": 0.43, "en": 0.05}),
        "multilingual-e5-small": MappingProxyType({"es": 0.17, "en": 0.16}),
    }
)
_UNKNOWN = 0.0  # without an embedding the other evidence decides as if the messages were unrelated

WEIGHTS: Mapping[str, float] = MappingProxyType(
    {
        "always": -3.44,
        "continuity": -4.00,
        "repeated": -5.11,
        "another domain": 1.33,
        "age": 1.37,
        "just begun": -0.97,
        "short": -0.64,
        "question": 0.88,
        "goes on": -2.22,
        "reacts": -1.36,
        "aside": -2.48,
        "settles": -0.62,
        "opens": 1.76,
    }
)


_TABLES = union("topics")
_FILLERS = prefix_tree(_TABLES["fillers"])
# The user announces another topic.
SHIFTS = (
    re.compile(rf" [.?,](?: (?:,|[.?]|{_FILLERS})){{0,6}} {prefix_tree(_TABLES['announced'])}(?= )"),
    re.compile(rf" [.?](?: (?:,|{_FILLERS})){{0,6}} {prefix_tree(_TABLES['announced_first'])}(?= )"),
    phrases(_TABLES["announced_anywhere"]),
)
# The user asks to leave the topic.
_DENIED = "".join(f"(?<! {word})" for word in re.split(r" \| |\n", _TABLES["denied"]))
FLUSHES = re.compile(rf"{_DENIED} {prefix_tree(_TABLES['flushes'])}(?= )")
# Forms of a message, which count as evidence.
_OPENS = r"^ \. (?:[?.] )?"  # the first words of a message
FORMS: Mapping[str, re.Pattern[str]] = MappingProxyType(
    {
        "goes on": re.compile(rf"{_OPENS}{prefix_tree(_TABLES['goes_on'])} "),
        "reacts": re.compile(rf"{_OPENS}{prefix_tree(_TABLES['reacts'])} "),
        "aside": phrases(_TABLES["aside"]),
        "settles": phrases(_TABLES["settles"]),
        "opens": phrases(_TABLES["opens"]),
    }
)


@dataclass(frozen=True, slots=True)
class TurnTexts:
    """The texts of a complete turn: the user's, and all answers together."""

    user: str
    assistant: str = ""

    @property
    def text(self) -> str:
        """The text that is embedded."""
        return f"{self.user}\n{self.assistant}"


@dataclass(frozen=True, slots=True)
class Topic:
    """The topic of a turn, as its digest holds it."""

    continuity: float | None
    shift: ShiftCause | None
    domain: str


def continuity(message: str, before: Sequence[TurnTexts], cosine: float, embedding: str = MINILM) -> float:
    """Returns the part of `cosine` above that of unrelated messages in this language: 0 is unrelated, 1 the same.
    `embedding`: the version of the embedder."""
    by_language = UNRELATED.get(embedding.partition("/")[0], UNRELATED[MINILM])
    unrelated = by_language[_spoken(message, before)]
    return (cosine - unrelated) / (1 - unrelated)


def phrase(text: str) -> ShiftCause | None:
    """Returns `phrase` if the user announces another topic, `flush` if the user asks to leave this one, else None."""
    said = plain(text[:_MOST_READ])
    if FLUSHES.search(said):
        return "flush"
    return "phrase" if any(announced.search(said) for announced in SHIFTS) else None


def shift(
    message: str, before: Sequence[TurnTexts], *, since: int, near: float | None, numbers: Window
) -> ShiftCause | None:
    """Returns the cause for which `message` changes the topic; None if it does not, or there is none yet. `near`: its
    continuity."""
    if announced := phrase(message):
        return announced if before or announced == "flush" else None
    if not before:
        return None
    found = evidence(message, before, since=since, near=near)
    if likelihood(found) <= numbers.shift:
        return None
    return "domain" if found["another domain"] else "similarity"


def likelihood(found: Mapping[str, float]) -> float:
    """Returns the probability that the topic has changed, 0 to 1."""
    return 1 / (1 + math.exp(-sum(weight * found[name] for name, weight in WEIGHTS.items())))


def evidence(message: str, before: Sequence[TurnTexts], *, since: int, near: float | None) -> dict[str, float]:
    """Returns the values of all features in `WEIGHTS`. `near`: the continuity of the message, None if unknown."""
    message, said = message[:_MOST_READ], plain(message[:_MOST_READ])
    spoken = _spoken(message, before)
    own, heard = _stems(message, spoken), _stems(before[-1].text[: 2 * _MOST_READ], spoken)
    age = min(max(since, 1), _LONGEST_TOPIC)
    return {
        "always": 1.0,
        "continuity": _UNKNOWN if near is None else near,
        "repeated": len(own & heard) / len(own) if own else 0.0,
        "another domain": float(_is_elsewhere(message, before[-LOOKED_BACK:])),
        "age": math.log(age),
        "just begun": float(age == 1),
        "short": float(len(message.split()) <= _SHORT),
        "question": float(" ? " in said),
        **{form: float(bool(pattern.search(said))) for form, pattern in FORMS.items()},
    }


def _spoken(message: str, before: Sequence[TurnTexts]) -> Language:
    texts = (message, *(turn.user for turn in reversed(before[-LOOKED_BACK:])))
    return next(filter(None, map(language, texts)), "en")


def _stems(text: str, spoken: Language) -> set[str]:
    tables = language_of(spoken)
    return {stem(word, tables) for word in _WORD.findall(fold(text)) if word not in tables.lexicon.function}


def _is_elsewhere(message: str, last: Sequence[TurnTexts]) -> bool:
    """True if the message is about a domain that the last turns, which are about another, have no word of."""
    about = domain(message)
    if not about:
        return False
    found = [domain_words(f"{turn.user}\n{turn.assistant}"[: 2 * _MOST_READ]) for turn in last]
    here = {name: sum(one.get(name, 0) for one in found) for each in found for name in each}
    return about not in here and max(here.values(), default=0) >= _OTHER_DOMAIN


DOMAIN_WORDS = MappingProxyType({name: phrases(table) for name, table in union("domains").items()})
_DOMAINS = Finder(DOMAIN_WORDS)


@lru_cache(256)  # each turn is looked back at from the next ones
def domain_words(text: str) -> Mapping[str, int]:
    """Returns the number of different words of each domain in `text`, domains without any left out."""
    said = plain(text)
    return {name: len(set(DOMAIN_WORDS[name].findall(said))) for name in _DOMAINS.found(said)}


def domain(text: str) -> str:
    """Returns the domain with the most words in `text`; "" if there is none, or two are equal."""
    found = sorted(domain_words(text).items(), key=lambda each: -each[1])
    if not found or (len(found) > 1 and found[0][1] == found[1][1]):
        return ""
    return found[0][0]
