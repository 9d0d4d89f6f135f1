"""The lines of MEMORY.md as they are from a merge on: each with the code of the fact that it shows, and those that
memory has added. Pure."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from proxy.files.document import (
    APART,
    Bullet,
    Document,
    Line,
    Note,
    domain_of,
    kept_apart,
    one_line,
    with_added,
    written,
)
from proxy.files.known import KnownFacts
from proxy.files.names import codes
from proxy.types import DOMAINS

HELP = "Change a line to correct it, add one to have it remembered, delete one that no longer holds."


@dataclass(frozen=True, slots=True)
class Shown:
    """The fact that a line shows, which is what becomes of it."""

    fact: str  # id
    is_moved: bool = False  # by memory: it stands under another heading from now on


def merged_lines(
    file: Document, outcomes: Mapping[int, Shown | None], known: KnownFacts, left_out: Collection[str]
) -> tuple[Line, ...]:
    """Returns the lines of the file as they are from a merge on. `outcomes`: what becomes of each bullet, by its place;
    None: it goes. `left_out`: ids of facts that are not added, because they have a line, or their deletion waits."""
    lines: list[Line] = []
    added: list[Bullet] = []
    named: Mapping[str, str] = {}
    for place, line in enumerate(file.lines):
        if place not in outcomes:
            lines.append(line)
            continue
        if (shown := outcomes[place]) is None:
            continue
        fact = known.by_id[shown.fact]
        if fact.superseded_by is not None:  # a line below says it in the user's own words
            continue
        assert isinstance(line, Bullet)
        text = one_line(fact.value)
        if line.code is not None and line.text == text and not shown.is_moved and known.of(line) == fact.id:
            lines.append(line)
            continue
        named = named or codes(known.by_id)
        bullet = written(line, text, named[fact.id])
        if shown.is_moved:
            added.append(replace(bullet, domain=domain_of(fact.domain)))
        else:
            lines.append(bullet)
    holding = [fact for fact in known.by_id.values() if fact.superseded_by is None and fact.id not in left_out]
    named = named or (codes(known.by_id) if holding else {})
    for fact in sorted(holding, key=lambda each: (each.created_at, each.id)):
        domain, text = domain_of(fact.domain), one_line(fact.value)
        if domain not in APART and text:
            code = named[fact.id]
            added.append(Bullet(text, code, domain, f"- {text} <!-- o:{code} -->"))
    if not lines and added:
        lines = [Note("# Memory"), Note(""), Note(HELP)]
    return kept_apart(with_added(lines, added, DOMAINS), file.lines)
