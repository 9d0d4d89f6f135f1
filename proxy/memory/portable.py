"""Facts as lines of JSON, to be kept or carried elsewhere: everything that is known of them, history included."""

import re
from collections.abc import Iterable
from dataclasses import fields

import msgspec

from proxy.memory.edits import FACT_ID
from proxy.types import Fact

MOST = 2**31
LATEST = 253_402_300_799  # the end of the year 9999

_NAMES = frozenset(field.name for field in fields(Fact))


class Malformed(ValueError):
    """A line is no fact. The text says which, and why."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__(f"line {line}: {why}")


def dumped(facts: Iterable[Fact]) -> bytes:
    """A line each, UTF-8."""
    return b"".join(msgspec.json.encode(fact) + b"\n" for fact in facts)


def loaded(data: bytes) -> tuple[Fact, ...]:
    """The facts of all lines but empty ones. Raises Malformed at the first that is none."""
    lines = enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1)
    return tuple(_fact(number, line) for number, line in lines if line.strip())


def _fact(number: int, line: bytes) -> Fact:
    try:
        values = msgspec.json.decode(line)
        fact = msgspec.convert(values, Fact)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Malformed(number, str(error)) from None
    if unknown := sorted(values.keys() - _NAMES):
        raise Malformed(number, f"a fact has no {', '.join(unknown)[:100]}")
    named = (fact.id, fact.superseded_by, fact.doubted_by)
    if not all(name is None or re.fullmatch(FACT_ID, name) for name in named):
        raise Malformed(number, 'the id of a fact is "f-" and 16 hex digits')
    if not (fact.value.strip() and fact.key.strip() and fact.domain.strip()):
        raise Malformed(number, "domain, key and value must not be empty")
    times = (fact.created_at, fact.last_confirmed_at, fact.superseded_at)
    if not 0 <= fact.turn <= MOST or not all(0 <= at <= LATEST for at in times):
        raise Malformed(number, "a turn is a number from 0, a time in seconds since the epoch")
    return fact
