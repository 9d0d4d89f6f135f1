"""Reasons for which an answer is neither reused nor kept.

`bypass_reason` is asked before a lookup and before a store. First comes what the request carries (parts that are not
text, tools that change something, a model that looks things up), then what its user asks for.
"""

import re
from typing import Literal, get_args

from proxy.language.tables import everywhere
from proxy.reuse.learned import learned, listed
from proxy.types import ChatRequest, Message, Vector

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

_READS = frozenset(" ".join(everywhere("orders", "tool-reads")).split())
# One of these anywhere in a name outweighs a reading verb in front: get_or_create_user, query_then_save.
_WRITES = frozenset(" ".join(everywhere("orders", "tool-writes")).split())
_NAME_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def bypass_reason(request: ChatRequest, vector: Vector | None = None) -> Bypass | None:
    """Why an answer to this request must be neither reused nor kept; None if it may be. `vector`, the embedding of the
    newest user message, makes it surer."""
    if (carried := _carried(request)) is not None:
        return carried
    newest, *before = _user_texts(request.messages)
    return _asked_for(newest, vector) or next(filter(None, map(_asked_for, before)), None)


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
