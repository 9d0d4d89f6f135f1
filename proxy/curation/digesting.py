"""Digests of hours, days and weeks: their names, what they cover, and their text with a model or without.

A digest is a job whose subject names its span and its beginning, in UTC: "hour 2026-11-23T14", "day 2026-11-23",
"week 2026-11-23" (a Monday).
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import get_args

from proxy.context.cuts import sentences
from proxy.curation.answers import clean, read_digest
from proxy.curation.carrying import cut
from proxy.language.words import terms
from proxy.types.curation import DigestSpan

JOINED = 3  # texts, up to which no model is asked
SENTENCES, LONGEST = 3, 600  # of a digest: sentences by a model, characters
MOST_LINES = 6  # of a digest without a model

_HOURS: dict[DigestSpan, int] = {"hour": 1, "day": 24, "week": 168}
_FORMAT: dict[DigestSpan, str] = {"hour": "%Y-%m-%dT%H", "day": "%Y-%m-%d", "week": "%Y-%m-%d"}
_AFTER: dict[DigestSpan, DigestSpan | None] = {"hour": "day", "day": "week", "week": None}


def subject_of(span: DigestSpan, at: float) -> str:
    """Returns the subject of the digest that covers `at`, in seconds since the epoch."""
    return f"{span} {_begin(span, datetime.fromtimestamp(at, UTC)):{_FORMAT[span]}}"


def spanned(subject: str) -> tuple[DigestSpan, float, float]:
    """Returns the span that a subject names, its beginning and its end. Raises ValueError if it is none."""
    name, _, when = subject.partition(" ")
    span = next((each for each in get_args(DigestSpan) if each == name), None)
    if span is None:
        raise ValueError(f"{subject!r} names no digest")
    begin = datetime.strptime(when, _FORMAT[span]).replace(tzinfo=UTC)
    if begin != _begin(span, begin):
        raise ValueError(f"{subject!r} is no Monday")
    return span, begin.timestamp(), (begin + timedelta(hours=_HOURS[span])).timestamp()


def after(span: DigestSpan) -> DigestSpan | None:
    """Returns the next longer span, which is put together of digests of this one; None if there is none."""
    return _AFTER[span]


def plain(texts: Sequence[str]) -> str:
    """Returns a digest without a model: the texts themselves, of many those that tell most, in their order."""
    lines = [line for line in dict.fromkeys(map(clean, texts)) if line]
    kept = sorted(_telling(lines))
    left_out = f" (+{len(lines) - len(kept)})" if len(kept) < len(lines) else ""
    said = " ".join(line if line[-1] in ".!?…" else f"{line}." for line in (lines[at] for at in kept))
    return cut(said, LONGEST - len(left_out)) + left_out


def digested(answer: str) -> str | None:
    """Returns the digest in a model's answer, at most three sentences of it; None if there is none."""
    text = read_digest(answer.encode("utf-8", "replace"))
    return None if text is None else cut(" ".join(sentences(text)[:SENTENCES]), LONGEST)


def _begin(span: DigestSpan, at: datetime) -> datetime:
    hour = at.replace(minute=0, second=0, microsecond=0)
    if span == "hour":
        return hour
    day = hour.replace(hour=0)
    return day if span == "day" else day - timedelta(days=day.weekday())


def _telling(lines: Sequence[str]) -> list[int]:
    """Returns the places of at most `MOST_LINES` lines: each next one has the most words that none before it has."""
    left = {at: frozenset(terms(line)) for at, line in enumerate(lines)}
    told: frozenset[str] = frozenset()
    kept: list[int] = []
    while left and len(kept) < MOST_LINES:
        best = max(left, key=lambda at: (len(left[at] - told), -at))
        told |= left.pop(best)
        kept.append(best)
    return kept
