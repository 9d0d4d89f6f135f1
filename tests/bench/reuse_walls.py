"""What an answer must never pass through: another context, another scope, another model, other instructions."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from proxy.types import ReuseHit, Scope
from tests.bench.reuse_data import Followup, Pair, Said
from tests.bench.reuse_stage import Asking, Stage, asking_of

QUESTIONS = 200

_SYSTEM = "You are a helpful assistant."
_TOOL = {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}


class Served(msgspec.Struct, frozen=True):
    """How many of `n` questions were answered from memory. `allowed`: may they be?"""

    name: str
    hits: int
    n: int
    allowed: bool = False
    examples: tuple[str, ...] = ()  # of those that must not


# --- contexts -----------------------------------------------------------------------------------------------------

Ways = Mapping[str, Callable[[Followup, Scope], tuple[Asking, Asking]]]  # where it is asked first, and where again


def _here(row: Followup, scope: Scope, session: str = "") -> Asking:
    return Asking(asking_of(row.query, row.history), scope, session)


def _elsewhere(row: Followup, scope: Scope) -> Asking:
    return Asking(asking_of(row.query, row.other), scope)


def _alone(row: Followup, scope: Scope, session: str = "") -> Asking:
    return Asking(asking_of(row.query), scope, session)


_ACROSS: Ways = {
    "in another context": lambda row, scope: (_here(row, scope), _elsewhere(row, scope)),
    "in a named session, no context shown": lambda row, scope: (_here(row, scope), _alone(row, scope, "s-2")),
    "with no context": lambda row, scope: (_here(row, scope), _alone(row, scope)),
    "in a context, first with none": lambda row, scope: (_alone(row, scope), _here(row, scope)),
}
_BETWEEN_NAMED: Ways = {
    "in two named sessions, no context shown": lambda row, scope: (
        _alone(row, scope, "s-1"),
        _alone(row, scope, "s-2"),
    ),
}
_AGREEING: Ways = {"in the same context": lambda row, scope: (_here(row, scope), _here(row, scope))}


async def contexts(stage: Stage, source: str, rows: Sequence[Followup]) -> list[Served]:
    leaning = [row for row in rows if row.context_dependent]
    whole = [row for row in rows if not row.context_dependent]
    found = []
    for name, chosen, ways, allowed in (
        ("leaning on its context", leaning, _ACROSS, False),
        # What the upstream was never shown, its answer doesn't depend on.
        ("leaning on its context", leaning, _BETWEEN_NAMED, True),
        ("self-contained", whole, _ACROSS, False),
        ("self-contained", whole, {**_BETWEEN_NAMED, **_AGREEING}, True),
    ):
        for way, asked in ways.items():
            hits = [row.query for row in chosen if await _is_served(stage, *asked(row, stage.scope()))]
            examples = () if allowed else tuple(hits)
            found.append(Served(f"{source}, {name}: again {way}", len(hits), len(chosen), allowed, examples))
    return found


async def _is_served(stage: Stage, first: Asking, again: Asking) -> bool:
    await stage.learn(first)
    return isinstance(await stage.ask(again), ReuseHit)


# --- everything else ----------------------------------------------------------------------------------------------


def _changed(system: str | None = _SYSTEM, **fields: Any) -> Callable[[str, Scope], Asking]:
    history = () if system is None else (Said("system", system),)
    return lambda question, scope: Asking(asking_of(question, history, **{"temperature": 0.7, **fields}), scope)


_usual = _changed()
_CHANGES: Mapping[str, Callable[[str, Scope], Asking]] = {
    "another API key": lambda question, scope: _usual(question, Scope(scope.tenant[::-1])),
    "another end user": lambda question, scope: _usual(question, Scope(scope.tenant, "ana")),
    "another upstream": lambda question, scope: Asking(_usual(question, scope).request, scope, addressee="other?"),
    "another system prompt": _changed("You are a pirate."),
    "no system prompt": _changed(None),
    "another model": _changed(model="m-2"),
    "tools": _changed(tools=[_TOOL]),
    "response_format json_object": _changed(response_format={"type": "json_object"}),
    "response_format json_schema": _changed(
        response_format={"type": "json_schema", "json_schema": {"name": "answer", "schema": {"type": "object"}}}
    ),
    "temperature near zero": _changed(temperature=0.1),
    "temperature above one": _changed(temperature=1.3),
}


async def walls(stage: Stage, english: Sequence[Pair], spanish: Sequence[Pair]) -> list[Served]:
    """`english` and `spanish`: pairs of questions about the same texts. All are asked in one scope, each of them once
    more with one thing changed; the first row shows that unchanged they are served."""
    scope = stage.scope()
    questions = await _learned(stage, english, scope)
    found = [await _served(stage, "nothing changed", _usual, questions, scope, allowed=True)]
    for name, change in _CHANGES.items():
        found.append(await _served(stage, name, change, questions, scope))
    distinct = list(dict.fromkeys(pair.a for pair in spanish))[: len(questions)]
    found.append(await _served(stage, "in Spanish", _usual, distinct, scope))
    return found


async def _learned(stage: Stage, pairs: Sequence[Pair], scope: Scope) -> list[str]:
    learned: list[str] = []
    for question in dict.fromkeys(pair.a for pair in pairs):
        if len(learned) < QUESTIONS and (await stage.learn(_usual(question, scope))).asked is not None:
            learned.append(question)
    return learned


async def _served(
    stage: Stage,
    name: str,
    change: Callable[[str, Scope], Asking],
    questions: Sequence[str],
    scope: Scope,
    *,
    allowed: bool = False,
) -> Served:
    hits = [each for each in questions if isinstance(await stage.ask(change(each, scope)), ReuseHit)]
    return Served(name, len(hits), len(questions), allowed, () if allowed else tuple(hits))
