"""Queries and bodies of the admin API as typed structs, decoded with errors that name what is wrong and the nearest
name that is right; and answers as JSON that nobody on the way may keep."""

import asyncio
import re
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from operator import add, attrgetter
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin
from urllib.parse import parse_qs

import msgspec
from msgspec.structs import fields as struct_fields

from proxy.admin.seeking import plain_line
from proxy.config.problems import nearest
from proxy.errors import BadRequest, InvalidJson, MissingParameter
from proxy.http.exchange import Call, read_body, refuse_coding
from proxy.pipeline import Services
from proxy.types import Answer, Headers, Json, LedgerRow, Sums, Trail

T = TypeVar("T")
S = TypeVar("S", bound=msgspec.Struct)
K = TypeVar("K")

KEPT_BY_NOBODY: Headers = (("cache-control", "no-store"), ("x-content-type-options", "nosniff"))

Moment = Annotated[float, msgspec.Meta(ge=0, lt=1e11)]  # unix seconds
RowNumber = Annotated[int, msgspec.Meta(ge=1, le=2**63 - 1)]  # a rowid of SQLite

_BODIED = ("POST", "PATCH")


class Asked(msgspec.Struct, frozen=True):
    """The parameters of a route that takes none, and the base of those of others: in its query string, or in its body
    if it has one. Fields of text that have a default need no value, and none is empty."""


async def decoded(call: Call, services: Services, kind: type[S]) -> S:
    """Decodes the parameters of a request. Raises BadRequest and its like for what is unknown, repeated, empty, missing
    or no such value."""
    if call.method not in _BODIED or kind is Asked:
        return from_query(call.query, kind)
    from_query(call.query, Asked)
    refuse_coding(call.headers)
    server = services.config.server
    raw = await read_body(call.receive, call.headers, max_bytes=server.max_body_mb * 2**20, seconds=server.body_timeout)
    return from_body(raw, kind)


def from_query(query: str, kind: type[S]) -> S:
    """Decodes a query string as a `kind`. Raises BadRequest."""
    given = parse_qs(query, keep_blank_values=True)
    _refuse_unknown(given, kind, "parameter")
    for name, values in given.items():
        if len(values) > 1:
            raise BadRequest(f"{name} is given {len(values)} times; one value is meant.", param=name)
        if not values[0]:
            raise BadRequest(f"{name} is empty; leave it out if nothing is meant.", param=name)
    return _converted({name: value for name, (value,) in given.items()}, kind, strict=False)


def from_body(raw: bytes, kind: type[S]) -> S:
    """Decodes a JSON object as a `kind`. Raises BadRequest."""
    try:
        given = msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidJson(f"The body is not valid JSON: {error}") from None
    if not isinstance(given, dict):
        raise BadRequest("The body is a JSON object.")
    _refuse_unknown(given, kind, "field")
    return _converted(given, kind, strict=True)


def _refuse_unknown(given: Collection[str], kind: type[msgspec.Struct], what: str) -> None:
    """Passed over, a misspelt filter would show what was not asked for."""
    known = kind.__struct_encode_fields__
    if unknown := sorted(name for name in given if name not in known):
        named = ", ".join(name[:40] for name in unknown[:10])
        told = f"unknown {what}{nearest(unknown[0], known)}" if known else f"this route takes no {what}"
        raise BadRequest(f"{named}: {told}", param=unknown[0][:40])


def _converted(given: Mapping[str, Json], kind: type[S], *, strict: bool) -> S:
    known = {field.encode_name: field for field in struct_fields(kind)}
    if missing := [name for name, field in known.items() if field.required and name not in given]:
        raise MissingParameter(f"Missing: {', '.join(missing)}.", param=missing[0])
    try:
        return msgspec.convert(given, kind, strict=strict)
    except msgspec.ValidationError as error:
        text, _, place = str(error).partition(" - at `$.")
        name = re.split(r"\W", place)[0]
        choices = list(_choices(known[name].type)) if name else []
        told = nearest(str(given[name]), choices) if choices else ""
        raise BadRequest(f"{name}: {text}{told}", param=name or None) from None


def _choices(type_: Any) -> Iterator[str]:
    """The values that an annotation of literals allows."""
    if get_origin(type_) is Literal:
        yield from filter(None, get_args(type_))
    else:
        for part in get_args(type_):
            yield from _choices(part)


def page(found: Sequence[T], limit: int, place: Callable[[T], K]) -> tuple[Sequence[T], K | None]:
    """Cuts a list to its first `limit` items; returns them, and the place of the last if there are more."""
    return found[:limit], place(found[limit - 1]) if len(found) > limit else None


def as_json(value: Json, code: int = 200) -> Answer:
    """Encodes a value as an answer."""
    return Answer(code, (("content-type", "application/json"), *KEPT_BY_NOBODY), msgspec.json.encode(value))


async def as_json_offloaded(services: Services, make: Callable[[], Json]) -> Answer:
    """Encodes what `make` returns as an answer, made and encoded off the event loop: for what may be long."""
    return await asyncio.get_running_loop().run_in_executor(services.executor, lambda: as_json(make()))


def without_body(*headers: tuple[str, str]) -> Answer:
    """Builds a 204 with these headers."""
    return Answer(204, (*headers, *KEPT_BY_NOBODY), b"")


Name = TypeVar("Name", bound=Hashable)

_numbers: Callable[[Sums], tuple[float, ...]] = attrgetter(*(each.name for each in fields(Sums)))
_NAMES = tuple(each.name for each in fields(LedgerRow))


def row_json(number: int | None, row: LedgerRow, *, whole: bool = False) -> dict[str, Json]:
    """Encodes a ledger row: every field, and its number, which grows as rows are written. The decisions of the plan are
    shortened unless the `whole` trail is wanted."""
    values: dict[str, Json] = {name: getattr(row, name) for name in _NAMES}
    values["number"] = number
    if not whole:
        values["trail"] = _small(row.trail)
    return values


def listed_json(number: int, row: LedgerRow, questions: Mapping[tuple[str, str], str]) -> dict[str, Json]:
    """Encodes a ledger row of a list, with the first question of its conversation, if it is among `questions`."""
    told = row_json(number, row)
    told["session_question"] = plain_line(questions.get((row.scope, row.session), "")) or None
    return told


def _small(trail: Trail | None) -> Json:
    if trail is None:
        return None
    decided = trail.break_even
    return {
        "turns": trail.turns,
        "kept": trail.kept,
        "shift": trail.shift,
        "break_even": None if decided is None else {"leave": decided.leave, "reason": decided.reason},
    }


_OURS = frozenset({"memory", "quality"})  # dollars of requests of our own


def sums_json(sums: Sums) -> Mapping[str, Json]:
    """Encodes sums, `memory` and `quality` only where a model has helped memory, or answers were compared, with what
    follows from them. Dollars saved are what plain pass-through would have cost, less what was paid: it is below 0
    where context management, that model, or the comparisons came to more than was left out."""
    dollars = sums.saved_exact + sums.saved_intent + sums.saved_context - sums.added_context
    dollars -= sums.memory + sums.quality
    asked = max(sums.requests, 1)
    return {
        **{name: value for name, value in asdict(sums).items() if value or name not in _OURS},
        "tokens_saved": sums.tokens_original - sums.tokens_sent + sums.tokens_reused,
        "dollars_saved": dollars,
        "hit_rate_exact": sums.reused_exact / asked,
        "hit_rate_intent": sums.reused_intent / asked,
        "passthrough_cost": sums.cost + dollars,
    }


def total(every: Iterable[Sums]) -> Sums:
    """Adds up sums."""
    return added_up((None, sums) for sums in every).get(None, Sums())


def added_up(given: Iterable[tuple[Name, Sums]]) -> dict[Name, Sums]:
    """Adds up the sums of each key."""
    known: dict[Name, tuple[float, ...]] = {}
    for key, sums in given:
        so_far, numbers = known.get(key), _numbers(sums)
        known[key] = numbers if so_far is None else tuple(map(add, so_far, numbers))
    return {key: Sums(*numbers) for key, numbers in known.items()}  # type: ignore[arg-type]  # whole ones stay whole
