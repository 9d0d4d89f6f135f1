"""Sentences and clauses of a message: boundaries, empty openings and endings, and tests of what a clause says."""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import Literal

from proxy.context.nouns import MEASURES, NOUN_WORDS
from proxy.context.referents import REMEMBERED, things
from proxy.language.phrases import expression, phrases, words
from proxy.language.tables import union
from proxy.language.words import plain
from proxy.memory.own_words import own_words
from proxy.memory.signals import SIGNALS, folded, spoken_in
from proxy.types.memory import Language

SHORTEST = 3  # words of a clause: fewer say nothing
_MOST_JOINTS = 24  # of a sentence: only lists have more
_BEFORE_CODE = 6  # words: fewer belong to the code

_TABLES = union("notes")
# Openings and endings of a clause that add nothing to it.
LEAD = expression(
    _TABLES,
    r"[\s,;:.!\u2026\u00a1\u00bf'\"“”«»()\u2013\u2014-]*"
    r"(?:(?:{interjections}(?:,?\s{vocatives})?(?:[,.:;!\u2026\u2013\u2014]+\s*|\s(?=\u00bf)|$)"
    r"|(?:{che},?\s)?{transitions}\b[,.:;\u2013\u2014]*\s*|{conjunctions}\b,?\s+)(?=\S))*",
)
_TAIL = expression(_TABLES, r"{tails}\W*\Z")
INTERROGATIVE = expression(_TABLES, r"{interrogatives}\b")
DEPENDENT = expression(_TABLES, r"{dependent}\b")
# Places where a clause may end.
JOINT = expression(
    _TABLES, r"[;:\u2026\u2013\u2014]\s+|,\s+(?!\d)|\s[-\u2013\u2014]\s|(?<!\b\w)\.\s+|\s\(|\s(?={joints}\s)"
)
_SOFT_JOINT = expression(_TABLES, r"\s(?={soft_joints}\s)")
_AND_CLAUSE = expression(_TABLES, r",?\s(?={and_clauses}\s)")
# Infinitives of purpose; verbs that need "to" are excluded by `_ASKS_FOR_TO`.
_PURPOSE = expression(_TABLES, r"\s(?={purposes}\s)")
_SUBORDINATE = expression(_TABLES, r"\b{subordinates}\b")
_SUBORDINATE_END = expression(_TABLES, r"\b{subordinates}\W*\Z")
_WAITS = expression(_TABLES, r"(?:,|\b{and})\s(?:{and_but} )?{waits}\b[^,]*\Z")
_ASKS_FOR_TO, _BEGINS, _UNFINISHED, _SAYS = (
    words(_TABLES[name]) for name in ("asks_for_to", "begins", "unfinished", "says")
)
_SENTENCE = re.compile(
    r"(?<=[.!?…;])(?<!\bDr\.)(?<!\bMr\.)(?<!\bSt\.)(?<!\bvs\.)(?<!\bMs\.)(?<!\b[A-Z]\.)\s+|\n+|(?=¿)"
)
# Code, formulas, addresses and marks of layout.
_CODE = re.compile(
    r"[{}<>|\\=^_]{2}|[=^\u221a\u2211\u00b2\u00b3\u00d7\u00f7`]|\w\(\w*\)|\\[()\[\]]|::|->|=>|https?:|www\."
    r"|\*\*|\$\w+\$|\$\$"
    r"|^\s*(?:#|\*|[-\u2022]\s|\d+[.)]\s|import\b|def\b|const\b|return\b)"
)
_NAMED = re.compile(r"`(\w[\w./#@-]*(?: [\w./#@-]+)?)(?:\(\))?`")  # a name set as code is part of the sentence
_STAMP = re.compile(r"^\d{1,2}:\d\d\s?(?:[ap]m)?\b[^:\n]{0,40}:\s+")  # a time stamp that a client puts before a message
# A person addressed at the beginning of a clause.
_ADDRESS = re.compile(
    r"^(?:(?:(?:Hey|Hi|Hello|Hola|Thanks|Wow|Oh|Congrats|Yeah|Definitely)\s)?[A-Z]\w+(?:!\s+|,\s+(?=(?:[Ii]"
    r"|[Ww]e|[Mm]y|[Ii]t|[Tt]hat|[Yy]our|what)\b)))*"
)
# The rest of a list, from its comma on.
_CLAUSE = (  # words that begin a clause, and so no item of a list
    r"(?!(?:i|we|it|he|she|they|yo|me|no|after|before|when|if|while|once|given|cuando|si|antes|despues|al)\b)"
)
_ITEM = r"(?!(?:with|for|in|from|by|at|con|para|en|de)\b)(?:[\w'-]+\s){0,3}[\w'-]+"
_LISTS = re.compile(rf",\s+(?:{_ITEM}(?:,\s+{_ITEM}){{0,4}},?\s+)?(?:and|or|y|e|o)\s+{_CLAUSE}")
_LISTED = 60  # characters behind a comma
_QUOTES = re.compile(r":\s+[\"\u201c\u00ab]")  # introduces a quotation
_WHOLE = (JOINT, _AND_CLAUSE)
_WORD = re.compile(r"[^\W\d_][^\W\d_'-]{3,}")  # of a sentence, not of a formula
_NUMBER = re.compile(r"\d")
_NAME = re.compile(r"^[A-ZÁÉÍÓÚÑ]|[A-Z]{2}|[a-z][A-Z]|\w[_/]\w")
_I = frozenset(("I", "I'm", "I've", "I'd", "I'll"))
_REST = 40  # characters behind the first line: fewer are the end of a list, or a number
_OWN = 800  # characters: a line up to this length without marks of a document was typed by hand
FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)  # a block of code
_MARKS = re.compile(r"[<{}|]|\w:\s|[\"“«]")
_QUOTED = re.compile(r":?\s\"[^\"\n]{1,80}\"|“[^”\n]{1,80}”|«[^»\n]{1,80}»")  # as `plain` leaves out


def passages(message: str) -> tuple[str, ...]:
    """Returns the passages that the user typed. Most messages are single lines, with or without code, and are
    recognised without the full analysis."""
    lines = [line.strip() for line in FENCE.sub("\n", _STAMP.sub("", message.strip())).split("\n") if line.strip()]
    is_typed = FENCE.search(message) is not None or sum(map(len, lines[1:])) < _REST
    if is_typed and all(len(line) <= _OWN and not _MARKS.search(_QUOTED.sub(" ", line)) for line in lines):
        return tuple(lines)
    return tuple(passage for passage in own_words(message).passages if passage.strip())


def sentences(text: str) -> list[str]:
    """Splits a text into its sentences."""
    return [sentence.strip() for sentence in _SENTENCE.split(text) if sentence.strip()]


@lru_cache(REMEMBERED)
def clean(sentence: str) -> str:
    """Returns the sentence without greetings, fillers and other habitual openings and endings; "" if it is code or too
    short to say anything."""
    text = _ADDRESS.sub("", _STAMP.sub("", _NAMED.sub(r"\1", " ".join(sentence.split()))))
    text = _ADDRESS.sub("", without(LEAD, text)).strip(" ,;:.!…'“”«»¡¿?-\u2013\u2014")
    tail = _TAIL.search(folded(text))
    text = (text[: tail.start()] if tail else text).rstrip(" ,;:.!…-\u2013\u2014")
    code = _CODE.search(text)
    text = (clauses_before(text, code.start()) or _words_before(text, code.start())) if code else text
    return "" if len(text.split()) < (_BEFORE_CODE if code else SHORTEST) else text


def _words_before(text: str, stop: int) -> str:
    """Returns the words of `text` before a formula; "" if they break off in the middle of a clause."""
    said = text[:stop].split()
    while said and not _WORD.fullmatch(said[-1]):
        said.pop()
    part = " ".join(said)
    ends = bool(said) and not INTERROGATIVE.match(folded(said[-1])) and _is_finished(part) and is_closed(part)
    return part if ends else ""


def clauses_before(text: str, stop: int) -> str:
    """Returns the clauses of `text` that end before index `stop`; "" if none does, or if the cut would fall inside a
    list."""
    ends = [joint.start() for joints in _WHOLE for joint in islice(joints.finditer(folded(text)), _MOST_JOINTS)]
    for end in sorted((each for each in ends if each < stop), reverse=True):
        part = text[:end].rstrip(" ,;:.(")
        is_list = _LISTS.match(folded(text[end : end + _LISTED])) is not None
        if not is_list and text[end] != ":" and _is_finished(part) and is_closed(part):
            return part
    return ""


def shortened(clause: str, most: int) -> str:
    """Returns the longest beginning of `clause` that ends at a joint and has at most `most` words; "" if there is
    none."""
    if len(clause.split()) <= most:
        return clause
    for joints in (JOINT, _SOFT_JOINT):
        for joint in reversed(list(joints.finditer(folded(clause)))):
            part = clause[: joint.start()].rstrip(" ,;:.(")
            if _LISTS.match(folded(clause[joint.start() : joint.start() + _LISTED])):
                continue
            if joints is _SOFT_JOINT and _SUBORDINATE.search(folded(part)):
                break
            if SHORTEST <= len(part.split()) <= most and _is_finished(part):
                return part
    return ""


def parts(text: str, longest: int) -> Iterator[str]:
    """Yields the runs of clauses in a sentence that have at most `longest` words, from each joint on."""
    said = folded(text)
    joints = sorted(
        (joint.start(), joint.end()) for joints in _WHOLE for joint in islice(joints.finditer(said), _MOST_JOINTS)
    )
    for start in (0, *(end for _, end in joints)):
        if start and not _begins(text, start):
            continue
        stops = [stop for stop, _ in joints if stop > start]
        for stop in (*stops, len(text)):
            if _LISTS.match(folded(text[stop : stop + _LISTED])) or _QUOTES.match(text[stop:]):
                continue
            run = text[start:stop].rstrip(" ,;:.(")
            if len(run.split()) > longest:
                break
            if _is_finished(run) and (part := clean(run)):
                yield part
        if not stops:
            yield shortened(clean(text[start:]), longest)


def clauses_of(text: str, *, soft: bool) -> Iterator[str]:
    """Yields the beginnings of a text up to each joint (`soft` joints too); none ends inside a list."""
    said = folded(text)
    for joints in (*_WHOLE, _SOFT_JOINT, _PURPOSE) if soft else _WHOLE:
        for joint in islice(joints.finditer(said), _MOST_JOINTS):
            part = text[: joint.start()].rstrip(" ,;:.(")
            if said[joint.start()] == ":" or _LISTS.match(said[joint.start() : joint.start() + _LISTED]):
                continue  # the part behind the colon is the content
            if joints is _PURPOSE and (_last(part) in _ASKS_FOR_TO or part.endswith("ing")):
                continue
            if not (joints not in _WHOLE and _SUBORDINATE_END.search(folded(part))) and _is_finished(part):
                yield part


def _begins(text: str, start: int) -> bool:
    """True if an independent clause begins at `start`."""
    opening = folded(without(LEAD, text[start:])).split(maxsplit=1)
    if not opening or opening[0].endswith("ing") or DEPENDENT.match(folded(text[start:].lstrip())):
        return False
    is_strong = text[:start].rstrip()[-1:] in ":;.\u2014\u2013-"
    return is_strong or opening[0].strip(',¿"') in _BEGINS or text[start:].lstrip()[:1] == "¿"


def is_closed(text: str) -> bool:
    """True if all brackets and quotation marks of the text are closed, and it does not end with a verb of saying."""
    return (
        _last(text) not in _SAYS
        and text.count("(") == text.count(")")
        and text.count('"') % 2 == 0
        and text.count("“") == text.count("”")
        and text.count("«") == text.count("»")
    )


def _is_finished(text: str) -> bool:
    """True if the cut text ends where a clause may end."""
    return _last(text) not in _UNFINISHED and not _WAITS.search(folded(text))


def _last(text: str) -> str:
    return folded(text.rsplit(maxsplit=1)[-1]).strip("\"'“”") if text else ""


@lru_cache(REMEMBERED)
def concreteness(text: str) -> float:
    """Returns a score of how concrete a text is: 2 for each number, 1 for each name that does not open the sentence."""
    said = text.split()
    numbers = sum(_NUMBER.search(word) is not None for word in said)
    capitals = sum(_NAME.search(word.strip("¿¡\"'(“")) is not None and word not in _I for word in said[1:])
    return 2.0 * numbers + capitals


def without(opening: re.Pattern[str], text: str) -> str:
    """Returns the text without the opening that the pattern matches."""
    found = opening.match(folded(text))
    return text[found.end() :] if found else text


Kind = Literal["decision", "statement", "request"]  # of a piece of a message

EVALUATES, GENERIC = words(_TABLES["evaluates"]), words(_TABLES["generic"])
YOURS, MINE, JOKED = (expression(_TABLES, f" {{{name}}} ") for name in ("yours", "mine", "joked"))
QUOTES_YOU = phrases(_TABLES["quotes_you"])
_LAUGHS = expression(_TABLES, " {laughs}")
_THANKS = expression(_TABLES, " {thanks} ")
_LEAST = 2  # words of meaning: fewer say nothing
_FIRST = 5  # characters of a plain text before its first words


def is_casual(said: str, language: Language, sentence: str) -> bool:
    """True if a sentence laughs, jokes, imagines or only thanks. `said` is its normal form (`plain`)."""
    if _LAUGHS.search(said) or JOKED.search(said) or SIGNALS[language].imagine.search(said):
        return True
    if _THANKS.search(said) is None or "?" in said or any(map(str.isdigit, said)):
        return False
    return _THANKS.search(plain(clean(sentence) or sentence)) is not None


def is_earnest(message: str) -> bool:
    """True if the message asks a question and is no joke."""
    said = plain(message)
    jokes = _LAUGHS.search(said) or JOKED.search(said) or QUOTES_YOU.search(said)
    return "?" in message and not jokes and not SIGNALS[spoken_in(message)].imagine.search(said)


def is_passing(said: str, language: Language) -> bool:
    """True if the statement holds for today only. A mention of today at the end of a sentence does not count."""
    found = SIGNALS[language].passing.search(said)
    opens = found is not None and found.start() < _FIRST
    return found is not None and (opens or not found[0].startswith(" it's"))


def is_platitude(text: str, language: Language) -> bool:
    """True if the text praises and names little else."""
    said = things(text, language)
    left = [word for word in said if word not in EVALUATES]
    return concreteness(text) < 1 and len(left) < min(_LEAST, len(said))


def names_thing(text: str, language: Language) -> bool:
    """True if the text names anything beyond evaluations ("your favourite part" does not)."""
    return any(word not in EVALUATES for word in things(text, language))


def is_generic(text: str, language: Language) -> bool:
    """True if the request would fit any subject ("review my code")."""
    said = things(text, language)
    return sum(word not in GENERIC for word in said) < min(_LEAST, len(said))


def is_slight(text: str, kind: Kind, language: Language) -> bool:
    """True if a piece does not show the subject of its turn: a question to the reader, a remark, or a bare amount."""
    counts = NOUN_WORDS[language].determiners | NOUN_WORDS[language].trailing | MEASURES
    said = [word for word in things(text, language) if word not in counts]
    remarks = kind == "statement" and not concreteness(text) and not MINE.search(plain(text))
    return not said or remarks or (kind == "request" and speaks_to_you(text))


def speaks_to_you(text: str) -> bool:
    """True if the text addresses the reader (you, your)."""
    return YOURS.search(plain(text)) is not None
