"""Reasons for which an answer is neither reused nor kept.

`bypass_reason` is asked before a lookup and before a store. First comes what the request carries (parts that are not
text, tools that change something, a model that looks things up), then what its user asks for: about this moment, with
feelings, or for something to be done.

The latter is learned from sentences rather than listed: three linear scores of the features below, of what the lists of
`gate` say and, where it is at hand, of the message's embedding, each against the cacheable; the weights are in
`learned.json`, made by `tests/bench/bypass_train.py`. The lists know the words that were thought of; this knows what
questions look like, and overrules them in both directions.

The features are a message's words, their beginnings and ends, and the frame that they stand in. A frame is the sentence
without its matter: words of grammar stay, a name becomes `N`, a number `#`, any other word `_` and its ending. "Did
Nike restock the Pandas?" and "Did Netflix cancel the show?" ask one thing of two worlds; "how do I _" asks the same on
any day, whatever it is that one does.
"""

import math
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Literal, TypeAlias, get_args

import msgspec
import numpy as np

from proxy.language.tables import everywhere, function_words_everywhere, words_everywhere
from proxy.language.words import plain
from proxy.linear import LinearModel
from proxy.protocol.answers import sole_text
from proxy.reuse.gate import SIGNS, emotional, side_effect, signs, time_dependent
from proxy.types import ChatRequest, Json, Message, Vector

Bypass = Literal[
    "multimodal",
    "audio",
    "n_gt_1",
    "live_search",
    "tools_with_effects",
    "time_dependent",
    "emotional",
    "side_effect",
]
BYPASSES: tuple[str, ...] = get_args(Bypass)

# An instruction stands before or after what was pasted with it, so of a long message both ends are read.
EDGE_CHARACTERS = 2000
# "And in Rosario?" asks what the question before it asked.
FOLLOW_UP_CHARACTERS = 40
# What was learned was learned from messages of a few sentences.
FEW_SENTENCES_CHARACTERS = 400
PASTED_MARGIN = 1.0  # the ends of a longer one may be prose, which was not learned from

LONGEST_TOOL_NAME = 200  # OpenAI's may have 64 characters; a name of megabytes would take seconds to read

_SENTENCE_END = re.compile(r"(?<=[.?!])\s|\n")

# Models that look things up unasked.
_SEARCH_MODEL = re.compile(r"(?:^|[/:_-])(?:search|sonar|online|compound|research|browse|browsing)(?:$|[/:_-])")

_READS = words_everywhere("orders", "tool-reads")
# One of these anywhere in a name outweighs a reading verb in front: get_or_create_user, query_then_save.
_WRITES = words_everywhere("orders", "tool-writes")
_NAME_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def bypass_reason(request: ChatRequest, vector: Vector | None = None) -> Bypass | None:
    """Why an answer to this request must be neither reused nor kept; None if it may be. `vector`, the embedding of the
    newest user message, makes it surer."""
    if (carried := _carried(request)) is not None:
        return carried
    newest, *before = _user_texts(request.messages)
    return _asked_for(newest, vector) or next(filter(None, map(_asked_for, before)), None)


def is_reusable(completion: Mapping[str, Json]) -> bool:
    """Tells whether an answer is one text for people, ended as the model meant to. A program that asks for JSON in its
    prompt only would not understand a disclaimer before it."""
    content = (sole_text(completion) or "").lstrip()
    return content != "" and not content.startswith(("{", "[", "```json"))


def listed_reason(request: ChatRequest) -> Bypass | None:
    """The same by the lists alone: for a request that is repeated to the letter, by a client that expects the same
    answer. What was learned from people's questions has no say in what programs write."""
    return _carried(request) or next(filter(None, map(listed, _user_texts(request.messages))), None)


def _carried(request: ChatRequest) -> Bypass | None:
    """By what the request has besides words."""
    for message in request.messages:
        if message.is_multimodal:
            return "multimodal"
    if request.wants_audio:
        return "audio"
    if request.n != 1:
        return "n_gt_1"
    if request.wants_search or _SEARCH_MODEL.search(request.model.lower()):
        return "live_search"
    if not all(map(_only_reads, request.tool_names)):
        return "tools_with_effects"
    return None


def _asked_for(said: str, vector: Vector | None = None) -> Bypass | None:
    if not said:
        return None
    if len(said) <= FEW_SENTENCES_CHARACTERS:
        return learned(said, vector)
    opening = said[:FEW_SENTENCES_CHARACTERS]
    # From where a sentence begins: "keeps the garden" alone would be an order.
    closing = _SENTENCE_END.split(said[-FEW_SENTENCES_CHARACTERS:], maxsplit=1)[-1]
    return listed(said) or learned(opening, margin=PASTED_MARGIN) or learned(closing, margin=PASTED_MARGIN)


def _user_texts(messages: tuple[Message, ...]) -> list[str]:
    """The newest user message and, if that may be a follow-up, the one before it."""
    newest_first = (_edges(message.written) for message in reversed(messages) if message.role == "user")
    newest = next(newest_first, "")
    return [newest, next(newest_first, "")] if len(newest) < FOLLOW_UP_CHARACTERS else [newest]


def _edges(text: str) -> str:
    if len(text) <= 2 * EDGE_CHARACTERS:
        return text
    return f"{text[:EDGE_CHARACTERS]}\n{text[-EDGE_CHARACTERS:]}"


def _only_reads(tool: str | None) -> bool:
    # Providers mark their own tools with a `$` ($web_search of Kimi).
    if tool is None or tool.startswith("$") or len(tool) > LONGEST_TOOL_NAME:
        return False
    parts = [part.lower() for part in _NAME_WORD.findall(tool)]
    return bool(parts) and parts[0] in _READS and _WRITES.isdisjoint(parts)


# --- what is asked for ------------------------------------------------------------------------------------------------


Asked = Literal["time_dependent", "side_effect", "emotional"]
ASKED: tuple[Asked, ...] = get_args(Asked)
VERDICTS: tuple[str, ...] = (*ASKED, *SIGNS)
Scores: TypeAlias = tuple[float, float, float]  # in the order of ASKED


class Weights(msgspec.Struct, frozen=True):
    """Triples in the order of ASKED, in tenths of a score."""

    threshold: float  # a score: of a message with its embedding
    threshold_text: float  # of one without
    bias: tuple[int, int, int]
    verdicts: dict[str, tuple[int, int, int]]  # of what the lists say
    vector: tuple[list[int], list[int], list[int]]
    features: dict[str, tuple[int, int, int]]


_UNIT = 0.1
_WEIGHTS = msgspec.json.decode(Path(__file__).with_name("learned.json").read_bytes(), type=Weights)
_VERDICTS = {name: place for place, name in enumerate(_WEIGHTS.verdicts)}
_FEATURES = {name: place for place, name in enumerate(_WEIGHTS.features, len(_VERDICTS))}
_MODEL = LinearModel(
    weights=np.array([*_WEIGHTS.verdicts.values(), *_WEIGHTS.features.values()], np.int16),
    scale=np.full(len(ASKED), _UNIT),
    intercept=np.array(_WEIGHTS.bias) * _UNIT,
)
_VECTOR = np.array(_WEIGHTS.vector, np.float32) * np.float32(_UNIT)
_STOPS = frozenset((".", "?"))
_MARKS = _STOPS | {","}
_GRAMMAR = function_words_everywhere("gate") | _MARKS | {"quoted"}
_ENDINGS = tuple(pair.split("=") for text in everywhere("function", "gate-endings") for pair in text.split())
_ENDS = tuple(ending for ending, _ in _ENDINGS)
_STRESSED = tuple(words_everywhere("function", "gate-stressed"))
_RUNS = frozenset(("_", "N"))
_LONGEST_FRAME = 4
_OPENING = 6  # words of a message's beginning that are taken as a whole


def listed(said: str) -> Asked | None:
    """The verdict of the lists on a message."""
    return next((asked for asked in ASKED if asked in verdicts(said)), None)


@lru_cache(maxsize=2048)  # what can be reused is asked again and again, and reading it takes 200 µs
def verdicts(said: str) -> tuple[str, ...]:
    """Returns the lists that decide against reuse, and those that have a word of the message at all."""
    text = plain(said)
    decided = (time_dependent(text), side_effect(text), emotional(text))
    return (*(asked for asked, so in zip(ASKED, decided, strict=True) if so), *signs(text))


def learned(said: str, vector: Vector | None = None, *, margin: float = 0.0) -> Asked | None:
    """Returns the reason why the answer to a message of a few sentences must not be reused; None if it may be.
    `vector` is the embedding of `said` by the built-in model, `margin` what a score must be above its threshold."""
    scores, threshold = _of_text(said), _WEIGHTS.threshold_text
    if vector is not None and vector.shape == _VECTOR.shape[1:]:
        time, effect, feeling = _VECTOR @ vector
        scores = (scores[0] + float(time), scores[1] + float(effect), scores[2] + float(feeling))
        threshold = _WEIGHTS.threshold
    if max(scores) <= threshold + margin:
        return None
    return listed(said) or ASKED[scores.index(max(scores))]


@lru_cache(maxsize=2048)
def _of_text(said: str) -> Scores:
    vector = {_VERDICTS[verdict]: 1.0 for verdict in verdicts(said)}
    for group in grouped(said):
        share = 1 / math.sqrt(len(group) or 1)
        for place in filter(None, map(_FEATURES.get, group)):  # the first places are verdicts'
            vector[place] = vector.get(place, 0.0) + share
    time, effect, feeling = _MODEL.scores(vector).tolist()
    return time, effect, feeling


def grouped(said: str) -> tuple[list[str], list[str]]:
    """The features of a message: of its words, of its frame. Each group is scaled to length 1."""
    tokens = tokens_of(plain(said))
    return lexical(tokens), framed(shapes_of(said, tokens))


# --- features ---------------------------------------------------------------------------------------------------------


def lexical(tokens: list[str]) -> list[str]:
    """Words, pairs of neighbours, and the beginnings and ends of words, which stand for stems and forms."""
    found = [f"{left} {right}" for left, right in pairwise(tokens)]
    for token in tokens:
        if token in _MARKS:
            continue
        found.append(token)
        if len(token) > 4:
            found += (f"{token[:4]}-", f"-{token[-3:]}")
        if len(token) > 6:
            found += (f"{token[:6]}-", f"-{token[-4:]}")
    return [*dict.fromkeys(found)]


def framed(shapes: list[str]) -> list[str]:
    """Every run of two to four shapes, those of the beginning up to six, and runs in which matter counts as one."""
    found = [" ".join(shapes[:size]) + " >" for size in range(2, _OPENING + 1)]
    for size in range(2, _LONGEST_FRAME + 1):
        found += ("< " + " ".join(shapes[at : at + size]) for at in range(len(shapes) - size + 1))
    matter = ["_" if shape[0] == "_" else shape for shape in shapes]
    short = [
        shape for before, shape in zip(["", *matter], matter, strict=False) if shape not in _RUNS or shape != before
    ]
    for size in range(3, _LONGEST_FRAME + 2):
        found += ("~ " + " ".join(short[at : at + size]) for at in range(len(short) - size + 1))
    return [*dict.fromkeys(found)]


def tokens_of(text: str) -> list[str]:
    """The words and marks of plain `text`, one mark between two sentences, digits as zeros."""
    found: list[str] = []
    for word in text.split():
        if word in _STOPS and found and found[-1] in _STOPS:
            found[-1] = max(word, found[-1])
        else:
            found.append(word if word.isalpha() else _digits_hidden(word))
    return found


def shapes_of(said: str, tokens: list[str]) -> list[str]:
    """Returns the shape of each token: a name, stressed, or the word itself."""
    names = {*plain(" ".join(_names(said))).split()}
    stressed = {*plain(" ".join(word for word in _spoken(said) if word.endswith(_STRESSED))).split()}
    return [_shape(token, names, stressed) for token in tokens]


def _digits_hidden(token: str) -> str:
    digits = sum(character.isdigit() for character in token)
    return "0" * min(digits, 4) if digits else token


def _spoken(said: str) -> Iterator[str]:
    return (word.strip("¿?¡!.,;:()\"'") for word in said.lower().split())


def _names(said: str) -> Iterator[str]:
    before = "."
    for word in said.split():
        if word[0].isupper() and before[-1] not in ".?!:":
            yield word
        before = word


def _shape(token: str, names: set[str], stressed: set[str]) -> str:
    if token in _GRAMMAR:
        return token
    if token[0] == "0":
        return f"#{len(token)}"
    if token in names:
        return "N"
    if token in stressed:
        return "_'"
    if token.endswith(_ENDS):
        return next(shape for ending, shape in _ENDINGS if token.endswith(ending))
    return "_"
