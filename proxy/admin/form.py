"""How the admin API is asked and answers: query strings and JSON bodies, read with errors that name what is wrong, and
JSON that nobody on the way may keep."""

import asyncio
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TypeVar
from urllib.parse import parse_qs

import msgspec

from proxy.call import Call
from proxy.edge import read_body, refuse_coding
from proxy.errors import BadRequest, InvalidJson, MissingParameter
from proxy.services import Services
from proxy.types import Answer, Headers, Json

T = TypeVar("T")

KEPT_BY_NOBODY: Headers = (("cache-control", "no-store"), ("x-content-type-options", "nosniff"))

_MOST_DIGITS = 19  # of a whole number that a database can hold


class Query:
    """The query string of a request; of a name that comes twice the first."""

    def __init__(self, call: Call) -> None:
        self._given = {name: values[0] for name, values in parse_qs(call.query, keep_blank_values=True).items()}

    def get(self, name: str) -> str | None:
        return self._given.get(name)

    def word(self, name: str) -> str | None:
        """None for an empty one, too: what a form sends of a field that nobody filled in."""
        return self._given.get(name) or None

    def whole(self, name: str, usual: int, *, most: int, least: int = 1) -> int:
        """A whole number within these bounds. Raises BadRequest."""
        given = self._given.get(name)
        if given is None:
            return usual
        if not re.fullmatch(rf"[0-9]{{1,{_MOST_DIGITS}}}", given) or not least <= int(given) <= most:
            raise BadRequest(f"{name} is a number from {least} to {most}", param=name)
        return int(given)

    def moment(self, name: str, usual: float) -> float:
        """Unix seconds. Raises BadRequest."""
        given = self._given.get(name)
        if given is None:
            return usual
        if not re.fullmatch(r"[0-9]{1,11}(\.[0-9]{1,9})?", given):
            raise BadRequest(f"{name} is a time in unix seconds", param=name)
        return float(given)

    def choice(self, name: str, options: Sequence[str]) -> str:
        """One of them, the first if none is given. Raises BadRequest."""
        given = self._given.get(name, options[0])
        if given not in options:
            known = ", ".join(option for option in options if option)
            raise BadRequest(f"{name} is one of {known}", param=name)
        return given


def refuse_unknown(call: Call, known: Collection[str]) -> None:
    """Raises BadRequest for a parameter that the route does not know: passed over, a misspelt filter would show what
    was not asked for."""
    given = parse_qs(call.query, keep_blank_values=True)
    if unknown := sorted(name for name in given if name not in known):
        names = ", ".join(name[:40] for name in unknown[:10])
        told = f"Known: {', '.join(sorted(known))}." if known else "This route takes none."
        raise BadRequest(f"Unknown parameters: {names}. {told}", param=unknown[0][:40])


async def body(
    call: Call, services: Services, *, allowed: Collection[str], required: Sequence[str] = ()
) -> Mapping[str, Json]:
    """The JSON object that the request carries. Raises BadRequest and its like."""
    refuse_coding(call.headers)
    server = services.config.server
    raw = await read_body(call.receive, call.headers, max_bytes=server.max_body_mb * 2**20, seconds=server.body_timeout)
    try:
        given = msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidJson(f"The body is not valid JSON: {error}") from None
    if not isinstance(given, dict):
        raise BadRequest("The body is a JSON object.")
    if unknown := sorted(name for name in given if name not in allowed):
        names = ", ".join(name[:40] for name in unknown[:10])
        raise BadRequest(f"Unknown: {names}. Known: {', '.join(sorted(allowed))}.", param=unknown[0][:40])
    if missing := [name for name in required if name not in given]:
        raise MissingParameter(f"Missing: {', '.join(missing)}.", param=missing[0])
    return given


def converted(given: Mapping[str, Json], kind: type[T]) -> T:
    """`given` as a `kind`. Raises BadRequest, which names the field."""
    try:
        return msgspec.convert(given, kind)
    except msgspec.ValidationError as error:
        place = re.search(r"\$\.(\w+)", str(error))
        raise BadRequest(str(error), param=place[1] if place else None) from None


def answered(value: Json, code: int = 200) -> Answer:
    return Answer(code, (("content-type", "application/json"), *KEPT_BY_NOBODY), msgspec.json.encode(value))


async def made(services: Services, make: Callable[[], Json]) -> Answer:
    """The same of what `make` returns, off the event loop: for what may be long."""
    return await asyncio.get_running_loop().run_in_executor(services.executor, lambda: answered(make()))


def done(*headers: tuple[str, str]) -> Answer:
    """Without a word."""
    return Answer(204, (*headers, *KEPT_BY_NOBODY), b"")
