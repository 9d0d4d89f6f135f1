"""The command `olvido memory`: lists and edits facts in the storage folder or the shared database; proxies may be
serving from it at the same time.
"""

import argparse
import itertools
import re
import time
from collections.abc import Callable, Mapping
from operator import itemgetter
from typing import get_args

from proxy.cli import memory_desk, memory_edits, memory_files, memory_jobs, memory_transfer
from proxy.cli.opened import forget_hot
from proxy.cli.remembered import Memory, Refused, maker, several, tell, tell_json
from proxy.config import shows_content
from proxy.memory import edits, forgetting, sources
from proxy.memory.ageing import decay, status
from proxy.memory.commands import mark
from proxy.memory.interchange import FACT_ID
from proxy.memory.library import undo
from proxy.memory.showing import count, described, moment, newest_first, plain
from proxy.memory.sources import Origin, OriginState
from proxy.types import Fact, FactStatus, Forgetting


def add_commands(parser: argparse.ArgumentParser, config_option: Callable[[argparse.ArgumentParser], None]) -> None:
    """Adds the commands of `olvido memory` and their options to `parser`. Each sets `run`."""
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    command = maker(commands, config_option)
    memory_edits.add_commands(command)
    listing = command("list", _list, "What is remembered, newest first: everybody's, unless somebody is named.")
    listing.add_argument("--status", choices=get_args(FactStatus))
    listing.add_argument("--domain")
    showing = command("show", _show, "A fact, where it comes from, what it took the place of, and what took its place.")
    showing.add_argument("id", metavar="ID")
    forgetting = command("forget", _forget, "Forget facts, and the messages that said them.")
    forgetting.add_argument("what", nargs="*", metavar="ID|TEXT", help="ids, or words as after “forget …” in a message")
    forgetting.add_argument("--all", action="store_true", help="everything of the scope")
    forgetting.add_argument("--yes", action="store_true", help="do not ask")
    restoring = command(
        "restore",
        _restore,
        "A deleted or superseded fact holds again. Without an id: undo the newest “forget everything” of the last days "
        "(memory.undo); again, the one before.",
    )
    restoring.add_argument("id", nargs="?", metavar="ID")
    restoring.add_argument("--yes", action="store_true", help="do not ask")
    memory_transfer.add_commands(command)
    memory_jobs.add_commands(command)
    memory_desk.add_commands(command)
    files = commands.add_parser("files", help="memory as files: their state, syncs by hand")
    memory_files.add_commands(maker(files.add_subparsers(required=True, metavar="COMMAND"), config_option))


# --- the commands ---


async def _list(memory: Memory) -> None:
    scopes = await memory.scopes()
    found = [(scope, facts) for scope in scopes if (facts := await _meant(memory, scope))]
    if memory.is_json:
        tell_json(*(memory.card(scope, fact) for scope, facts in found for fact in facts))
    elif not found:
        tell("Nothing of that is remembered.")
    elif len(scopes) == 1:
        tell(memory.table(found[0][1]))
    else:
        titles = await memory.titles(scopes)
        told = (f"{plain(titles[scope])}: {count(len(facts))}\n{memory.table(facts)}" for scope, facts in found)
        tell("\n\n".join(told))


async def _meant(memory: Memory, scope: str) -> list[Fact]:
    options, now, ageing = memory.options, time.time(), decay(memory.config.memory)
    return [
        fact
        for fact in newest_first(await memory.facts.all(scope))
        if options.status in (None, status(fact, now, ageing)) and options.domain in (None, fact.domain)
    ]


async def _show(memory: Memory) -> None:
    scope, fact = await memory.one(memory.options.id)
    origin = await _origin(memory, scope, fact)
    past = edits.history(await memory.facts.all(scope), fact)
    quotations = await memory_jobs.quoted(memory, scope, fact)
    if memory.is_json:
        history = {name: [memory.card(scope, each) for each in getattr(past, name)] for name in ("before", "after")}
        shown = {"fact": memory.card(scope, fact), "history": history, "said": origin, "quotations": quotations}
        tell_json(shown)
        return
    tell(*described(memory.card(scope, fact)), "", _ORIGINS[origin.state])
    for said in origin.messages:
        tell(f"{moment(said.at)}  {plain(said.session)}, turn {said.turn}: {plain(said.text)}")
    memory_jobs.tell_quoted(quotations)
    for title, others in (("It took the place of", past.before), ("What took its place", past.after)):
        if others:
            tell("", f"{title}:", memory.table(others))


_ORIGINS: Mapping[OriginState, str] = {
    "kept": "The messages that said it:",
    "gone": "The message that said it is not kept any more.",
    "hidden": "The messages that said it are not shown (admin.show_content).",
    "by_hand": "No message said it: it was added by hand.",
    "auto": "No message said it: a model derived it.",
    "file": "No message said it: it was written into MEMORY.md.",
    "api": "No message said it: it was added by the page, a command, the admin API or a tool.",
}


async def _origin(memory: Memory, scope: str, fact: Fact) -> Origin:
    if (unsaid := sources.unsaid(fact)) is not None:
        return unsaid
    if not shows_content(memory.config):
        return Origin("hidden")
    return sources.said(fact, await memory.archive.containing(scope, fact.links))


async def _forget(memory: Memory) -> None:
    found = await _wanted(memory)
    if not found:
        raise Refused("nothing of that is remembered")
    gone = [memory.card(scope, fact) for scope, fact in found]
    if not memory.is_json:
        tell(memory.table(fact for _, fact in found))
    if not memory.agreed(f"Forget {count(len(found))}? [y/N] "):
        raise Refused("nothing was forgotten (--yes forgets without asking)")
    for scope, owned in itertools.groupby(found, key=itemgetter(0)):
        facts = [fact for _, fact in owned]
        memory.facts.forget(scope, [fact.id for fact in facts])
        marks = (mark(fact.value) for fact in facts)
        memory.archive.forget(scope, sorted({link for fact in facts for link in fact.links}.union(marks)))
        memory.states.forget(scope)
        memory.contents.forget(scope.partition("~")[0])  # as the proxy does
    await memory.written()
    for scope, owned in itertools.groupby(found, key=itemgetter(0)):
        await memory_files.forgotten(memory, scope, [fact for _, fact in owned])
    left = await forget_hot(memory.config, memory.database.secret, {scope for scope, _ in found})
    if memory.is_json:
        tell_json({"forgotten": gone, "left": left})
    else:
        tell(f"Forgotten: {count(len(found))}.", *left)


async def _restore(memory: Memory) -> None:
    if memory.options.id is not None:
        await _restore_one(memory)
        return
    now = time.time()
    found = await memory.wipes.wiped(now)
    if memory.is_named:
        found = [each for each in found if await memory.means(each.scope)]
    if not found:
        raise Refused("nothing was wiped that can be brought back")
    if len(found) > 1:
        raise several((each.scope, each.facts) for each in found)
    (wiped,) = found
    what = f"{count(wiped.facts)} and {wiped.turns} turn{'' if wiped.turns == 1 else 's'}"
    if not memory.agreed(f"Bring back {what}? They are kept until {moment(wiped.until)}. [y/N] "):
        raise Refused("nothing was brought back (--yes does so without asking)")
    await undo(memory.wipes, memory.facts, wiped, now)
    await memory.written()
    await memory_files.restored(memory, wiped.scope, wiped.until)
    if memory.is_json:
        tell_json({"scope": wiped.scope, "facts": wiped.facts, "turns": wiped.turns})
    else:
        tell(f"Brought back: {what}.")


async def _restore_one(memory: Memory) -> None:
    scope, fact = await memory.one(memory.options.id)
    if fact.superseded_by is None:
        raise Refused(f"{fact.id} holds already: there is nothing to restore")
    made = edits.restore(await memory.facts.all(scope), fact, time.time())
    memory.facts.put(scope, made.rows)
    await memory.written()
    await memory_files.learnt(memory, scope, made.rows, [fact])
    memory.tell_fact(scope, made.fact, [row for row in made.rows if row.id != made.fact.id])


async def _wanted(memory: Memory) -> list[tuple[str, Fact]]:
    """By scope."""
    what, is_all = memory.options.what, memory.options.all
    if bool(what) == is_all:
        raise Refused("say what: ids, or words, or --all", 2)
    are_ids = [re.fullmatch(FACT_ID, word) is not None for word in what]
    if what and all(are_ids):
        named = {fact.id: (scope, fact) for scope, fact in [await memory.one(each) for each in what]}
        return sorted(named.values(), key=itemgetter(0))
    if any(are_ids):
        raise Refused("say ids or words, not both", 2)
    text = " ".join(what).strip()
    if not text and not is_all:
        raise Refused("say what: ids, or words, or --all", 2)
    scope = await memory.scope()
    known = await memory.facts.all(scope)
    return [(scope, fact) for fact in forgetting.forgotten(known, Forgetting(text))]
