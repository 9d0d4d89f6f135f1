"""Facts, turns and jobs as the tests of curation need them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from proxy.types import ArchivedTurn, Fact, Utterance
from proxy.types.curation import Job, JobKind
from tests.builders import NOW, TENANT

SCOPE = f"{TENANT}/ana"
DAY = 86_400.0


def fact(number: int, value: str, *, key: str = "", **differing: Any) -> Fact:
    """A fact by a model, known since a day before the conversations of the tests, unless said otherwise."""
    at = NOW - DAY
    made = Fact(f"f-{number:016x}", "personal", key or f"clave-{number}", value, "medium", "auto", "before", 1, at, at)
    return replace(made, **{"links": (link(f"fact {number}"),), **differing})


def known(*facts: Fact) -> dict[str, Fact]:
    return {each.id: each for each in facts}


def link(name: str) -> bytes:
    return name.encode().ljust(16, b".")[:16]


def turn(
    number: int, user: str, assistant: str = "De acuerdo.", *, session: str = "s", at: float = 0.0
) -> ArchivedTurn:
    """Turn `number` of a session, a minute after the one before."""
    asked, answered = link(f"{session} u{number}"), link(f"{session} a{number}")
    said = ({"role": "user", "content": user}, {"role": "assistant", "content": assistant})
    return ArchivedTurn(
        answered,
        link(f"{session} a{number - 1}") if number > 1 else b"",
        session,
        number,
        NOW + 60 * number,
        msgspec.json.encode(said),
        (Utterance("user", user, asked), Utterance("assistant", assistant, answered)),
    )


def turns(*said: str | tuple[str, str], session: str = "s") -> tuple[ArchivedTurn, ...]:
    pairs = [(each, "De acuerdo.") if isinstance(each, str) else each for each in said]
    return tuple(turn(number, *pair, session=session) for number, pair in enumerate(pairs, 1))


def job(kind: JobKind = "extract", *, number: int = 7, subject: str = "s", **differing: Any) -> Job:
    made = Job(number, SCOPE, kind, subject, "answered", NOW + 600, NOW + 600, attempts=1)
    return replace(made, **differing)


def answered(operations: Sequence[Mapping[str, Any] | None], **more: Any) -> bytes:
    return msgspec.json.encode({"operations": operations, **more})


def applied(facts: Mapping[str, Fact], rows: Sequence[Fact]) -> dict[str, Fact]:
    return {**facts, **known(*rows)}


def holding(facts: Mapping[str, Fact]) -> list[str]:
    """The values that hold."""
    return [each.value for each in facts.values() if each.superseded_by is None]
