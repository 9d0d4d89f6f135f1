"""The commands of `olvido memory` by which a person writes facts, by the rules of the admin API, while a proxy serves
or not.

add         a fact in a person's words; domain and key are derived from them unless they are named
edit        a fact is changed; another text takes the place of the old one
confirm     a fact still holds
"""

import argparse
import time
from collections.abc import Iterable
from typing import get_args

import msgspec
from msgspec import UNSET

from proxy.cli import memory_files
from proxy.cli.remembered import Command, Memory, Refused
from proxy.memory import edits
from proxy.memory.credentials import NEVER_KEPT, has_credential
from proxy.memory.deriving import drafted
from proxy.memory.edits import Edit, Edited
from proxy.types import Confidence, Fact


def add_commands(command: Command) -> None:
    """Adds the commands. `command`: makes one of `olvido memory` with its usual options."""
    adding = command("add", _add, "Write a fact down, in the words of whom it is about.")
    adding.add_argument("text", nargs="+", metavar="TEXT", help="such as: vivo en Salta")
    _place(adding, absent="derived from the text")
    adding.set_defaults(anew=True)
    editing = command(
        "edit", _edit, "Change a fact. Another text takes its place, and what it was stays as its history."
    )
    editing.add_argument("id", metavar="ID")
    editing.add_argument("text", nargs="*", metavar="TEXT", help="what it says from now on")
    _place(editing, absent="as it was")
    confirming = command("confirm", _confirm, "It still holds: its age counts from now.")
    confirming.add_argument("id", metavar="ID")


def _place(parser: argparse.ArgumentParser, absent: str) -> None:
    parser.add_argument("--domain", metavar="D", help=f"work, preferences, decisions, …; absent: {absent}")
    parser.add_argument("--fact-key", metavar="K", help=f"what it is about, in few words; absent: {absent}")
    parser.add_argument("--confidence", choices=get_args(Confidence))
    parser.add_argument(
        "--pinned", action=argparse.BooleanOptionalAction, help=f"it goes with every prompt; absent: {absent}"
    )


async def _add(memory: Memory) -> None:
    if not memory.config.memory.facts:
        raise Refused("no facts are kept: memory.facts is false", 2)
    wanted = _wanted(memory.options)
    if wanted.value is UNSET:
        raise Refused("say what it is: the text of the fact", 2)
    _check(wanted.value)
    scope = await memory.new_scope()
    known = await memory.facts.all(scope)
    draft = drafted(
        wanted.value,
        known,
        domain=wanted.domain,
        key=wanted.key,
        pinned=wanted.pinned,
        confidence=wanted.confidence or "high",
    )
    await _written(memory, scope, known, edits.add(known, draft, scope=scope, now=time.time(), source="api"))


async def _edit(memory: Memory) -> None:
    wanted = _wanted(memory.options)
    if wanted == Edit():
        raise Refused("say what shall be otherwise: a text, --domain, --fact-key, --confidence, --pinned", 2)
    scope, fact = await _holding(memory)
    if wanted.value is not UNSET and wanted.value != fact.value:
        _check(wanted.value)
    known = await memory.facts.all(scope)
    made = edits.edit(known, fact, wanted, scope=scope, now=time.time(), source="api")
    await _written(memory, scope, known, made)


async def _confirm(memory: Memory) -> None:
    scope, fact = await _holding(memory)
    confirmed = edits.confirm(fact, time.time())
    await _written(memory, scope, [fact], Edited(confirmed, (confirmed,)))


def _wanted(options: argparse.Namespace) -> Edit:
    """Returns what the options say of a fact. Raises Refused where it can't be so."""
    given = {
        "domain": options.domain,
        "key": options.fact_key,
        "value": " ".join(options.text).strip() or None,
        "confidence": options.confidence,
        "pinned": options.pinned,
    }
    try:
        return msgspec.convert({name: value for name, value in given.items() if value is not None}, Edit)
    except msgspec.ValidationError as error:
        raise Refused(str(error), 2) from None


def _check(value: str) -> None:
    if has_credential(value):
        raise Refused(f"{NEVER_KEPT[0].lower()}{NEVER_KEPT[1:]}", 2)


async def _holding(memory: Memory) -> tuple[str, Fact]:
    """Returns the fact that is meant, and its scope. Raises Refused where it is none that holds."""
    scope, fact = await memory.one(memory.options.id)
    if fact.is_deleted:
        raise Refused(f"{fact.id} was deleted: “olvido memory restore {fact.id}” makes it hold again")
    if fact.superseded_by is not None:
        raise Refused(f"{fact.id} is history: {fact.superseded_by} has taken its place")
    return scope, fact


async def _written(memory: Memory, scope: str, known: Iterable[Fact], made: Edited) -> None:
    if made.rows:
        memory.facts.put(scope, made.rows)
        await memory.written()
        await memory_files.learnt(memory, scope, made.rows, known)
    memory.tell_fact(scope, made.fact, [row for row in made.rows if row.id != made.fact.id])
