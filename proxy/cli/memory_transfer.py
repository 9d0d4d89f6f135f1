"""The commands `olvido memory export` and `import`: facts as lines of JSON, of one scope or of all.

Lines of one scope do not say whose they are: they can be taken in by anybody. With `--all-scopes` each line has its
`scope`, and the first line the fingerprint of the storage: a scope is a hash by the tenants' secret, and says nothing
to a storage that has another.
"""

import asyncio
import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from proxy import bounded
from proxy.bounded import STANDARD
from proxy.cli.remembered import Command, Memory, Refused, tell, tell_json
from proxy.config import fingerprint
from proxy.conversation.names import is_scope
from proxy.memory import interchange
from proxy.memory.interchange import Malformed
from proxy.memory.showing import count
from proxy.types import Fact

SCOPE, STORAGE = "scope", "storage"


def add_commands(command: Command) -> None:
    """Adds both commands."""
    exporting = command("export", _export, "Every fact, superseded ones included, as lines of JSON.")
    exporting.add_argument("file", nargs="?", metavar="FILE", type=Path, default=STANDARD)
    exporting.add_argument("--all-scopes", action="store_true", help="everybody's, each line with whose it is")
    importing = command("import", _import, "Take in what `export` has written. Twice is as good as once.")
    importing.add_argument("file", metavar="FILE", type=Path, help="- is standard input")
    importing.add_argument("--force", action="store_true", help="also of all scopes of another storage")
    importing.set_defaults(anew=True)


@dataclass(frozen=True, slots=True)
class Everybody:
    """The facts of all scopes. `storage`: the fingerprint of where they are from; "" if that is not said."""

    facts: Mapping[str, tuple[Fact, ...]]
    storage: str = ""


def dumped(everybody: Everybody) -> bytes:
    """Serialises everybody's facts as JSON lines."""
    lines = [msgspec.json.encode({STORAGE: everybody.storage, "scopes": len(everybody.facts)})]
    for scope, facts in everybody.facts.items():
        lines += [msgspec.json.encode({SCOPE: scope, **msgspec.to_builtins(fact)}) for fact in facts]
    return b"".join(line + b"\n" for line in lines)


def loaded(data: bytes) -> Everybody | None:
    """Parses what `dumped` has made; None for lines that do not say whose they are. Raises Malformed."""
    by_scope: dict[str, list[Fact]] = {}
    storage, is_everybodys = "", False
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        values = _decoded(line)
        if number == 1 and values is not None and STORAGE in values and "id" not in values:
            storage, is_everybodys = str(values[STORAGE]), True
        elif values is not None and SCOPE in values:
            is_everybodys = True
            scope = values.pop(SCOPE)
            if not isinstance(scope, str) or not is_scope(scope):
                raise Malformed(number, "a scope is 32 hex digits, a slash, and the end user's name or nothing")
            by_scope.setdefault(scope, []).append(interchange.fact_in(number, msgspec.json.encode(values)))
        elif line.strip() and is_everybodys:
            raise Malformed(number, "it does not say whose fact it is")
    return Everybody({scope: tuple(facts) for scope, facts in by_scope.items()}, storage) if is_everybodys else None


def _decoded(line: bytes) -> dict[str, Any] | None:
    try:
        values = msgspec.json.decode(line)
    except msgspec.DecodeError:
        return None
    return values if isinstance(values, dict) else None


async def _storage(memory: Memory) -> str:
    return fingerprint.of_storage(await asyncio.to_thread(memory.database.secret))


async def _export(memory: Memory) -> None:
    if memory.options.all_scopes:
        if memory.is_named:
            raise Refused("--all-scopes is everybody's: leave --scope and --key out", 2)
        facts = {scope: tuple(await memory.facts.all(scope)) for scope in await memory.facts.scopes()}
        lines = dumped(Everybody(facts, await _storage(memory)))
    else:
        lines = interchange.dumped(await memory.facts.all(await memory.scope()))
    if memory.options.file == STANDARD:
        sys.stdout.buffer.write(lines)
        sys.stdout.flush()
        return
    descriptor = os.open(memory.options.file, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(lines)


async def _import(memory: Memory) -> None:
    file = memory.options.file
    try:
        data = bounded.contents(file)
        everybody = loaded(data)
        given = interchange.loaded(data) if everybody is None else ()
    except ValueError as error:
        raise Refused(f"{file}: {error}; nothing was imported") from None
    if everybody is None:
        everybody = Everybody({await memory.new_scope(): given})
    else:
        await _refuse_strangers(memory, everybody)
    new = changed = 0
    for scope, facts in everybody.facts.items():
        known = {fact.id: fact for fact in await memory.facts.all(scope)}
        taken = [fact.id for fact in facts if fact.id not in known and await memory.facts.find(fact.id) is not None]
        rows = interchange.merge(known.values(), interchange.renamed(facts, taken, scope))
        memory.facts.put(scope, rows)
        await memory.written()
        new += (added := sum(row.id not in known for row in rows))
        changed += len(rows) - added
    total = sum(map(len, everybody.facts.values()))
    whose = f" in {_scopes(everybody.facts)}" if len(everybody.facts) > 1 else ""
    if memory.is_json:
        tell_json({"new": new, "changed": changed, "of": total, "scopes": len(everybody.facts)})
        return
    tell(f"Imported: {count(new)} new, {changed} changed, of {total}{whose}.")


async def _refuse_strangers(memory: Memory, everybody: Everybody) -> None:
    if memory.is_named:
        raise Refused("the file says whose each fact is: leave --scope and --key out", 2)
    if everybody.storage not in ("", await _storage(memory)) and not memory.options.force:
        raise Refused(
            "these facts are of a storage with another tenants' secret: no key leads to their scopes here. "
            "`olvido backup` and `restore` take both along; --force imports them all the same",
            2,
        )


def _scopes(scopes: Iterable[str]) -> str:
    return f"{len(list(scopes)):,} scopes"
