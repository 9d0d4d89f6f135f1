"""Features of the wording of a message that tell what it needs from the past: patterns over
`proxy.language.words.plain`."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Literal

from proxy.language.phrases import expression, phrases
from proxy.language.tables import union
from proxy.language.words import plain

Extent = Literal["one", "some", "many", "all"]

_MOST = 2_000  # characters that are read at the beginning and at the end, where questions stand
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_TABLES = union("questions")
_find = partial(expression, _TABLES)

_PREFIX = r"^(?: (?:[.?,]|{before_question}))*"
_ASKING_WORD = _find(_PREFIX + r"(?: (?:{with}|{about}))? {asking} ")
# What begins with an asking word and is short is a question without its mark too; but an exclamation, or a clause of
# time, place or manner in front of another ("when I was there, …"), is none.
_NO_QUESTION = _find(_PREFIX + r" (?:{exclaims} {exclaimed} |{clause_opens} .*,|{no_questions} )")
_SHORTENED = _find(_PREFIX + r" {shortened} ")
_REQUEST = _find(_PREFIX + r"(?: {politely})* {requests} ")
_UNMARKED = 16  # words: a longer sentence without a question mark is a statement
# Mentions that something was said, asked, decided or talked about before.
_BEFORE = phrases(_TABLES["before"])
_PAST = _find(" {past} ")
# Past tenses by their endings, with the accent that `plain` removes.
_PAST_ENDING, _NO_PAST = _find(r"\b\w{2,}{past_endings}\b"), _find(r"\b{no_past}\b")
_ONES_OWN, _ADDRESSED, _ADVICE = _find(" {ones_own} "), _find(" {addressed} "), _find(" {advice} ")
# Continues what was just said.
_GOING_ON, _POINTING = _find(r"^(?: [.?])+ (?:,? ?){goes_on} "), _find(" {points} ")

_LONG_QUESTION = 16  # words: a longer question states its topic
_FIGURE = re.compile(r"\d+(?:[.,:/]\d+)*")
_NAME = re.compile(r"(?<=[\w,;:)] )[A-ZÁÉÍÓÚÑ][a-záéíóúñü]+")  # a capital inside a sentence

# Asks for the assistant's words, not the user's own.
_ANSWERS = phrases(_TABLES["answers"])
_YOU_DID = _find(" {you_did}(?= )")
# Asks how the user did something with the assistant's help: answers tell, seldom the questions before them.
_HOW_DONE = _find("{how_done}")
# Number of things asked for.
_ONE = _find(_PREFIX + r"(?: [?])?(?: {with})? {one} ")
_ALL = _find(" {all} | {developed}")
_MANY = _find(" {many} ")


@dataclass(frozen=True, slots=True)
class Cues:
    """The features of the last question of a message, or of the whole message if it asks none."""

    asks: bool  # is a question, with or without its mark
    asking_word: bool  # begins with what, which, when, …
    request: bool  # begins with list, remind me, summarise, …
    before: bool  # mentions something said or decided before
    past: bool  # has a past tense
    ones_own: bool  # is about the user: "my", "I"
    addressed: bool  # addresses the assistant
    advice: bool  # asks for advice
    going_on: bool  # continues what was just said
    pointing: bool  # points at something: "this", "that"
    words: int  # of the message
    sentences: int  # of the message
    figures: int  # of the message


@lru_cache(64)
def cues(text: str) -> Cues:
    """Extracts the features of a message."""
    text, sentences, questions = _read(text)
    written = questions[-1] if questions else text
    asked, said = plain(written), plain(text)
    return Cues(
        asks=bool(questions),
        asking_word=bool(_ASKING_WORD.search(asked)),
        request=bool(_REQUEST.search(said)),
        before=bool(_BEFORE.search(asked)) or bool(_ANSWERS.search(asked)),
        past=bool(_PAST.search(asked) or _PAST_ENDING.search(_NO_PAST.sub("", written.lower()))),
        ones_own=bool(_ONES_OWN.search(asked)),
        addressed=bool(_ADDRESSED.search(asked)),
        advice=bool(_ADVICE.search(said)),
        going_on=bool(_GOING_ON.search(said)),
        pointing=bool(_POINTING.search(asked)),
        words=len(text.split()),
        sentences=len(sentences),
        figures=len(_FIGURE.findall(text)),
    )


@lru_cache(64)
def _read(text: str) -> tuple[str, Sequence[str], Sequence[str]]:
    """Returns the part of `text` that is read, its sentences, and those of them that are questions."""
    if len(text) > 2 * _MOST:
        text = f"{text[:_MOST]} {text[-_MOST:]}"
    sentences = [sentence for sentence in _SENTENCE.split(text.strip()) if sentence] or [""]
    questions = [sentence for sentence in sentences if sentence.endswith("?")]
    return text, sentences, questions or [sentence for sentence in sentences[-1:] if _is_unmarked(sentence)]


def _is_unmarked(sentence: str) -> bool:
    """Recognises a question without its question mark ("cuanto pago de alquiler")."""
    if len(sentence.split()) > _UNMARKED:
        return False
    said = plain(sentence)
    return "\u00bf" in sentence or bool(
        (_ASKING_WORD.search(said) or _SHORTENED.search(said)) and not _NO_QUESTION.search(said)
    )


def last_question(text: str) -> str:
    """Returns the last sentence that is a question; "" if there is none."""
    questions = _read(text)[2]
    return questions[-1] if questions else ""


def asking(text: str) -> float:
    """Returns the share, 0 to 1, of a message's characters that are in short questions, which state nothing."""
    if "?" not in text:
        return 0.0
    _, sentences, questions = _read(text)
    plainly = [said for said in questions if len(said.split()) <= _LONG_QUESTION]
    return sum(map(len, plainly)) / max(1, sum(map(len, sentences)))


def concreteness(text: str) -> float:
    """Scores a text for a figure and a proper name, which most questions ask for: 0, 0.5 or 1."""
    return (bool(_FIGURE.search(text)) + bool(_NAME.search(text))) / 2


@lru_cache(64)
def asks_for(text: str) -> Extent:
    """Classifies how many things the last question asks for; "all": a summary, or the course of events."""
    text, _, questions = _read(text)
    asked = plain(questions[-1] if questions else text)
    if _ALL.search(asked):
        return "all"
    if _MANY.search(asked):
        return "many"
    return "one" if _ONE.search(asked) else "some"


def asks_for_answers(text: str) -> bool:
    """Tells whether a question asks for something that the assistant said."""
    said = plain(text)
    return bool(_ANSWERS.search(said) or _YOU_DID.search(said) or _HOW_DONE.search(text.lower()))
