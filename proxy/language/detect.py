"""Detection of the language of a question, Spanish or English, by the words that sentences are made of.

A word speaks for every language that has it, so that neighbours rule each other out: `como funciona a energia` could be
Spanish and Portuguese, and is neither until another word tells. Only Spanish and English are ever the verdict; the
other tables are there to outvote them. Names, quoted words and code have no say.

Tables rather than a library. On the evaluation data and on short questions as they are typed, py3langid 0.4 (4.6 MB)
leaves a quarter of the short ones undecided, pycld2 0.42 takes one question in fifty for the other of the two, and
lingua 2.1 is 96 MB.
"""

import re
from collections import defaultdict
from functools import lru_cache
from typing import Literal

from proxy.language.tables import function_words, languages, table

Code = Literal["es", "en"]
_COMPARED: tuple[Code, ...] = ("en", "es")  # what a verdict may be

_LONG = 5  # letters of a word that is told by its ending: shorter Spanish ones end in "y" too

# What a word adds to the score of each language that has it.
_ONLY = 3  # no other one has it
_BY_ENDING = 2  # no other one has words that end so
_SHARED = 1
_OPENING = 2  # times as much where the text begins: "Traducime hello world"
_BY_MARK = 6  # a character that hardly any other one writes

_ENOUGH = 3
_CLEARLY = 2  # times what speaks for the other of the two: else the text is mixed
_REMEMBERED = 256  # texts: several stages ask for that of one message
_EDGE = 1000  # characters of either end that are read: a question stands before or after what was pasted with it

_QUOTED = re.compile(
    r"```.*?(?:```|\Z)|`[^`\n]+`|\"[^\"\n]{1,200}\"|“[^”\n]{1,200}”|«[^»\n]{1,200}»"
    r"|(?<!\w)'[^'\n]{1,80}'(?!\w)|(?<!\S)\S{0,80}(?:[_\\/=<>{}$@]|\w\.\w{2})\S*",
    re.DOTALL,
)
_MARKS = frozenset("`\"“«'_\\/=<>{}$@")  # of what is quoted or is code; looking for none costs nothing
_WORD = re.compile(r"[^\W\d_]+(?:['\u2019\-][^\W\d_]+)*")
_CODE_MARK = re.compile(r"[{}\[\];=<>|*\\]|\w\(")
_CODE_LINE = re.compile(
    r"^\s*(?:(?:import|from|def|class|const|var|sudo|git|npm|pip|docker|kubectl|curl) [\w.\-]+|SELECT )", re.MULTILINE
)


def _speakers(section: str, use: str = "") -> dict[str, tuple[str, ...]]:
    """Every entry to the languages that have it in this section, or among the function words of this use."""
    speakers: defaultdict[str, list[str]] = defaultdict(list)
    for code in languages("detection"):
        for entry in function_words(code, use).union(table(code, "detection", section).split()):
            speakers[entry].append(code)
    return {entry: tuple(codes) for entry, codes in speakers.items()}


_WORDS = _speakers("words", use="detection")
_WORD_ENDINGS = _speakers("endings")
_LONGEST_ENDING = max(map(len, _WORD_ENDINGS))
_SPEAKERS_BY_MARK = _speakers("marks")
_SPEAKING_MARKS = frozenset(_SPEAKERS_BY_MARK)


def language(text: str) -> Code | None:
    """The language of a question; None for any other one, for a mixture, for code, and in doubt."""
    return _language(f"{text[:_EDGE]}\n{text[-_EDGE:]}" if len(text) > 2 * _EDGE else text)


@lru_cache(_REMEMBERED)
def _language(text: str) -> Code | None:
    marks = len(_CODE_MARK.findall(text))
    if not _MARKS.isdisjoint(text) or "." in text[:-1]:
        text = _QUOTED.sub(" ", text)
    words = _WORD.findall(text)
    if not words or 2 * marks > len(words) or _CODE_LINE.search(text):
        return None
    if not text.isupper():  # then capitals are acronyms or keywords
        words = [word for word in words if len(word) == 1 or not word.isupper()]
    score: dict[str, int] = dict.fromkeys(_COMPARED, 0)
    if not _SPEAKING_MARKS.isdisjoint(text):
        for mark in _SPEAKING_MARKS.intersection(text):
            score |= dict.fromkeys(_SPEAKERS_BY_MARK[mark], _BY_MARK)
    for position, written in enumerate(words):
        word = written.lower().replace("\u2019", "'")
        speakers, weight = _WORDS.get(word), _ONLY
        if speakers is None:
            speakers, weight = _by_its_ending(word), _BY_ENDING
        for speaker in speakers:
            counts = weight if len(speakers) == 1 else _SHARED
            score[speaker] = score.get(speaker, 0) + counts * (1 if position else _OPENING)
    return _verdict(score)


def _by_its_ending(word: str) -> tuple[str, ...]:
    if len(word) >= _LONG:
        for length in range(_LONGEST_ENDING, 0, -1):
            speakers = _WORD_ENDINGS.get(word[-length:])
            if speakers is not None:
                return speakers
    return ()


def _verdict(score: dict[str, int]) -> Code | None:
    (other, _), (best, code) = sorted((score.pop(code), code) for code in _COMPARED)
    if best < _ENOUGH or best < _CLEARLY * other or best <= max(score.values(), default=0):
        return None
    return code
