"""The commands of `olvido memory` about memory with a model's help: what the model did, while a proxy serves or not.

jobs        its jobs, newest first; with a number, one of them with what came of each line
digest      what happened to an end user, by hour, day or week
undo        what a job has kept of a fact is undone
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import get_args

from proxy.cli.remembered import Command, Memory, Refused, tell, tell_json
from proxy.config import shows_content
from proxy.curation.looking import Quotation, card, line_cards, quotations, undoing
from proxy.memory.current import cut
from proxy.memory.showing import WIDEST, described, moment, plain, word
from proxy.storage.jobs import DAY, done_lately
from proxy.types import Fact, Json
from proxy.types.curation import DigestSpan, Job, JobState

MOST_JOBS = 100
_TITLES = ("JOB", "STATE", "KIND", "ABOUT", "WHEN", "KEPT", "REFUSED", "UNDONE", "COST", "REASON")
_LINE_TITLES = ("RESULT", "OP", "REASON", "FACT", "TURN", "DOMAIN", "KEY", "VALUE")
_DAYS: Mapping[DigestSpan, int] = {"hour": 2, "day": 31, "week": 182}
_SHAPES: Mapping[DigestSpan, str] = {"hour": "%Y-%m-%d %H:00", "day": "%Y-%m-%d", "week": "%Y-%m-%d"}
_HIDDEN = "Contents are not shown (admin.show_content)."


def add_commands(command: Command) -> None:
    """Adds the commands. `command`: makes one of `olvido memory` with its usual options."""
    listing = command("jobs", _jobs, "What the model of memory.model did; with a number, one job and its lines.")
    listing.add_argument("id", nargs="?", metavar="ID", type=int)
    listing.add_argument("--state", choices=get_args(JobState))
    digesting = command("digest", _digest, "What happened, as hours, days or weeks of UTC, newest last.")
    digesting.add_argument("whose", nargs="?", metavar="SCOPE", help="as --scope")
    digesting.add_argument("--span", choices=get_args(DigestSpan), default="day")
    undoing = command("undo", _undo, "Undo what a job has kept of a fact: what it ended holds again.")
    undoing.add_argument("job", metavar="JOB", type=int)
    undoing.add_argument("fact", metavar="FACT")


async def _jobs(memory: Memory) -> None:
    if memory.options.id is not None:
        await _show(memory, await _one(memory, memory.options.id))
        return
    scope = await memory.scope() if memory.is_named else None
    states = (memory.options.state,) if memory.options.state else ()
    found = await memory.jobs.jobs(scope, limit=MOST_JOBS, states=states)
    if memory.is_json:
        tell_json(*map(card, found))
        return
    tell(_table(_TITLES, map(_row, found)) if found else "There are no such jobs.")


def _row(job: Job) -> tuple[str, ...]:
    told = card(job)
    numbers = (str(told[name] or "") for name in ("kept", "refused", "undone"))
    cost = f"${job.spent:.4f}" if job.spent else ""
    at = moment(job.done_at or job.due_at)
    return (str(job.id), job.state, job.kind, cut(plain(job.subject), 40), at, *numbers, cost, plain(job.reason))


async def _show(memory: Memory, job: Job) -> None:
    with_text = shows_content(memory.config)
    known = {fact.id: fact for fact in await memory.facts.all(job.scope)}
    lines = line_cards(job, known, time.time(), with_text=with_text)
    if memory.is_json:
        tell_json({"job": card(job), "lines": lines})
        return
    tell(*described(card(job)))
    if not lines:
        return
    tell("", _table(_LINE_TITLES, map(_line, lines)))
    if not with_text:
        tell("", _HIDDEN)
    elif quotes := [f"  turn {line['turn']}: {plain(line['quote'])}" for line in lines if line["quote"]]:
        tell("", "The words that they rest on:", *dict.fromkeys(quotes))


def _line(line: Mapping[str, Json]) -> tuple[str, ...]:
    names = ("result", "op", "reason", "fact", "turn", "domain", "key")
    return (*(word(line[name]) for name in names), cut(word(line["value"]), WIDEST))


async def _digest(memory: Memory) -> None:
    options = memory.options
    if options.whose is not None:
        if memory.is_named:
            raise Refused("name the scope once", 2)
        options.scope = options.whose
    scope, span, now = await memory.scope(), options.span, time.time()
    start = now - _DAYS[span] * DAY
    digests = await memory.jobs.digests(scope, span, start, now)
    events = await memory.jobs.events(scope, start, now)
    if (digests or events) and not shows_content(memory.config):
        raise Refused(_HIDDEN[0].lower() + _HIDDEN[1:-1])
    if memory.is_json:
        texts = [{"at": each.at, "text": each.text, "by_model": each.by_model} for each in digests]
        names = ("code", "at", "session", "turn", "text")
        tell_json({"digests": texts, "events": [{name: getattr(each, name) for name in names} for each in events]})
        return
    if not digests and not events:
        tell("Nothing was written down.")
        return
    tell(*(f"{time.strftime(_SHAPES[span], time.gmtime(each.at))}  {plain(each.text)}" for each in digests))
    if events:
        told = (f"  {moment(each.at)}  {plain(each.session)}, turn {each.turn}: {plain(each.text)}" for each in events)
        tell(*([""] if digests else []), "Events:", *told)


async def _undo(memory: Memory) -> None:
    job, name = await _one(memory, memory.options.job), memory.options.fact
    known = {fact.id: fact for fact in await memory.facts.all(job.scope)}
    made = undoing(job, name, known, time.time())
    if not made.is_possible:
        why = "what came later rests on it, or it was undone"
        raise Refused(f"job {job.id} has kept nothing of {plain(name)} that can be undone: {why}")
    memory.facts.put(job.scope, made.rows)
    await memory.written()
    await memory.jobs.undone(job.id, name)
    if memory.is_json:
        tell_json({"facts": [memory.card(job.scope, row) for row in made.rows]})
    else:
        tell(memory.table(made.rows) if made.rows else "Nothing of it was left; it counts as undone.")


async def quoted(memory: Memory, scope: str, fact: Fact) -> tuple[Quotation, ...]:
    """Returns the words that a derived fact rests on, and the jobs that read them; none where contents are hidden."""
    if fact.source != "auto" or not shows_content(memory.config):
        return ()
    return quotations(await done_lately(memory.jobs, scope), fact.id)


def tell_quoted(found: Sequence[Quotation]) -> None:
    """Tells them."""
    if found:
        tell("", "The words that it rests on:")
    for each in found:
        tell(f"  job {each.job}, turn {each.turn}: {plain(each.quote)}{' (undone)' if each.is_undone else ''}")


async def _one(memory: Memory, number: int) -> Job:
    found = await memory.jobs.job(number) if 0 < number < 2**63 else None
    if found is None or (memory.is_named and found.scope != await memory.scope()):
        raise Refused(f"there is no job {number}")
    return found


def _table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    every = [titles, *rows]
    widths = [max(map(len, column)) for column in zip(*every, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in every)
