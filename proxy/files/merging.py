"""The three-way merge of MEMORY.md: what a person has done to it since they saw it, on what memory has become since.

    base    the text that the person had before them
    file    what they made of it
    facts   what memory has now

What the person did goes to memory: a new line is a new fact, a changed one replaces its fact, one under another heading
moves it, one that is gone deletes its fact softly. Where both sides changed, the person's words hold and the other's
are history; only what memory has changed meanwhile is not deleted by a line that is gone. Pure. Merged once more, the
text that was written changes nothing.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from proxy.files.document import (
    APART,
    UNNAMED,
    Bullet,
    Document,
    domain_of,
    one_line,
)
from proxy.files.known import KnownFacts, Said
from proxy.files.merged_lines import Shown, merged_lines
from proxy.files.names import SHORT, long_code
from proxy.language.values import FORGOTTEN
from proxy.types import Fact

MOST_GONE = 0.3  # share of the lines that may be gone without a confirmation


Read = Callable[[str, str], Said]  # of a new line's text and its heading's domain, `UNNAMED` if there is none


Deletions = Literal["ask", "carry out", "undo"]  # whether many of them wait for a confirmation, or were decided on


@dataclass(frozen=True, slots=True)
class Waiting:
    """A deletion that waits for its confirmation."""

    deletions: int
    of: int  # lines of the base


@dataclass(frozen=True, slots=True)
class Merged:
    """The result of a merge."""

    document: Document  # to be written, without a number
    rows: tuple[Fact, ...] = ()  # of memory, to be written before it
    waiting: Waiting | None = None
    has_forgotten: bool = False  # the file had words that were forgotten: it is not to be kept


def merge(
    base: Document | None,
    file: Document,
    facts: Iterable[Fact],
    *,
    scope: str,
    now: float,
    read: Read,
    forgotten: Collection[str] = (),
    deletions: Deletions = "ask",
) -> Merged:
    """Merges `file`, which a person has made of `base` (None: unknown, so nothing was deleted), into `facts`, all of
    the scope. `forgotten`: texts of lines that were forgotten."""
    known = KnownFacts({fact.id: fact for fact in facts}, scope, now)
    before = _of_base(base, known)
    gone = _Gone(frozenset(forgotten), _without_words(base, known))
    outcomes, held = _read(file, before, known, read, gone, is_first=base is None)
    deleted = [] if deletions == "undo" else _deleted(before, known, held)
    waiting, pending = None, frozenset[str]()
    if deleted and deletions == "ask" and not file.is_confirmed and _are_many(len(deleted), len(before), file):
        waiting, pending = Waiting(len(deleted), len(before)), frozenset(fact.id for fact in deleted)
    else:
        for fact in deleted:
            known.delete(fact)
    lines = merged_lines(file, outcomes, known, held.shown | pending)
    return Merged(Document(lines, file.number), known.changed(), waiting, held.has_forgotten)


@dataclass(frozen=True, slots=True)
class _Was:
    """A line of the base: the text and domain of a fact then."""

    text: str
    domain: str


def _of_base(base: Document | None, known: KnownFacts) -> dict[str, _Was]:
    """Returns the lines of the base by the id of their fact."""
    found: dict[str, _Was] = {}
    for bullet in base.bullets if base else ():
        if (name := known.of(bullet)) is not None:
            found.setdefault(name, _Was(bullet.text, bullet.domain))
    return found


def _without_words(base: Document | None, known: KnownFacts) -> set[str]:
    """Returns the codes of lines that lost their words in the base: what they said was forgotten. That a fact is not
    known is not enough: a database may be new, or have come out of a backup."""
    return {
        line.code
        for line in (base.bullets if base else ())
        if line.code is not None and line.text in FORGOTTEN and not known.meant(line.code)
    }


@dataclass(frozen=True, slots=True)
class _Gone:
    """Texts and codes of lines that were forgotten."""

    texts: frozenset[str]
    codes: set[str]


@dataclass(slots=True)
class _Held:
    seen: set[str] = field(default_factory=set)  # ids of the base's facts that have a line in the file
    shown: set[str] = field(default_factory=set)  # ids of the facts that hold and have one
    texts: set[str] = field(default_factory=set)  # of lines that are facts, where there are new ones
    has_forgotten: bool = False


def _read(
    file: Document,
    before: Mapping[str, _Was],
    known: KnownFacts,
    read: Read,
    gone: _Gone,
    *,
    is_first: bool,
) -> tuple[dict[int, Shown | None], _Held]:
    """Applies new, changed and moved lines to `known`. Returns what becomes of each bullet, by its place among the
    lines; None: it goes."""
    bullets = [(place, line) for place, line in enumerate(file.lines) if isinstance(line, Bullet)]
    names = _names(bullets, before, known)
    held = _Held(set(names.values()) & before.keys())
    if len(names) < len(bullets):
        now = (known.now_of(name) for name in names.values())
        held.texts = {one_line(fact.value) for fact in now if fact is not None}
    outcomes: dict[int, Shown | None] = {}
    for place, bullet in bullets:
        name = names.get(place)
        if name is None:
            is_known = bullet.code is not None and (bullet.text in gone.texts or bullet.code in gone.codes)
            is_forgotten = is_known or bullet.text in FORGOTTEN
            held.has_forgotten = held.has_forgotten or is_forgotten
            outcomes[place] = None if is_forgotten else _new(bullet, known, read, held)
        else:
            outcomes[place] = _known(bullet, name, before.get(name), known, read, held, is_first=is_first)
    return outcomes, held


def _names(bullets: Sequence[tuple[int, Bullet]], before: Mapping[str, _Was], known: KnownFacts) -> dict[int, str]:
    """Returns the id of the fact that each line means, by the line's place; those that are missing are new."""
    names: dict[int, str] = {}
    claims: dict[str, list[tuple[int, Bullet]]] = {}
    for place, bullet in bullets:
        if (name := known.of(bullet)) is not None:
            claims.setdefault(name, []).append((place, bullet))
    for name, lines in claims.items():
        place = lines[0][0]
        if len(lines) > 1:
            # Of a line that was copied, the one that was not changed is the fact.
            was = before[name].text if name in before else one_line(known.by_id[name].value)
            place = next((at for at, line in lines if line.text == was), place)
        names[place] = name
    if len(names) < len(bullets):
        _find_by_text(names, bullets, before, known)
    return names


def _find_by_text(
    names: dict[int, str], bullets: Sequence[tuple[int, Bullet]], before: Mapping[str, _Was], known: KnownFacts
) -> None:
    """Adds lines that have lost their codes, or never had one because what wrote it was interrupted."""
    taken = set(names.values())
    by_text: dict[str, list[str]] = {}
    for name in before:
        if name not in taken:
            by_text.setdefault(before[name].text, []).append(name)
    for fact in known.by_id.values():
        if fact.superseded_by is None and fact.id not in taken and fact.id not in before:
            by_text.setdefault(one_line(fact.value), []).append(fact.id)
    for place, bullet in bullets:
        if place not in names and by_text.get(bullet.text):
            names[place] = by_text[bullet.text].pop(0)


def _known(
    bullet: Bullet, name: str, was: _Was | None, known: KnownFacts, read: Read, held: _Held, *, is_first: bool
) -> Shown | None:
    fact = known.now_of(name)
    if fact is None:
        return _of_ended(bullet, name, was, known, read, held, is_first=is_first)
    says = one_line(fact.value)
    # A text whose base is unknown may be older than what memory has now.
    is_edited = bullet.text not in (was.text if was else one_line(known.by_id[name].value), says)
    if fact.id in held.shown:  # another line shows it: both became one in memory
        return _new(bullet, known, read, held) if is_edited else None
    section = domain_of(fact.domain)
    is_moved_here = bullet.domain not in (UNNAMED, section, was.domain if was else section)
    if is_moved_here:
        known.move(fact, bullet.domain)
        fact = known.by_id[fact.id]
    if is_edited:
        fact = known.change(fact, bullet.text)
    held.shown.add(fact.id)
    return Shown(fact.id, is_moved=not is_moved_here and bullet.domain not in (UNNAMED, section))


def _of_ended(
    bullet: Bullet, name: str, was: _Was | None, known: KnownFacts, read: Read, held: _Held, *, is_first: bool
) -> Shown | None:
    """Returns what becomes of a line whose fact was deleted or ended: it goes, unless the person has changed it since,
    or put it back."""
    ended = known.by_id[name]
    if was is not None:
        return None if bullet.text == was.text else _new(bullet, known, read, held)
    if bullet.text != one_line(ended.value):
        return _new(bullet, known, read, held)
    if is_first or domain_of(ended.domain) in APART:
        return None  # nobody knows how old that text is
    held.shown.add(known.bring_back(name).id)
    return Shown(name)


def _new(bullet: Bullet, known: KnownFacts, read: Read, held: _Held) -> Shown | None:
    if bullet.text in held.texts:
        return None  # it says what another line says
    held.texts.add(bullet.text)
    fact = known.add(bullet.text, read(bullet.text, bullet.domain))
    held.shown.add(fact.id)
    return Shown(fact.id)


def _deleted(before: Mapping[str, _Was], known: KnownFacts, held: _Held) -> list[Fact]:
    """Returns the facts whose lines were deleted, as far as memory has not changed them since."""
    found = {
        now.id: now
        for name, was in before.items()
        if name not in held.seen and (now := known.now_of(name)) is not None and one_line(now.value) == was.text
    }
    return [fact for name, fact in found.items() if name not in held.shown]


def _are_many(gone: int, of: int, file: Document) -> bool:
    """Tells whether so many deletions wait for a confirmation. A single line never does, unless all is gone: then the
    file was cut off, more likely than edited. Nor does a deletion that waits become one that does not."""
    if file.is_waiting or not any(isinstance(line, Bullet) or line.raw.strip() for line in file.lines):
        return True
    return gone > 1 and gone > MOST_GONE * of


def foreign(file: Document, facts: Iterable[Fact]) -> list[str]:
    """Returns the texts of lines whose codes mean no fact that is known: they may have been forgotten."""
    known = {long_code(fact.id) for fact in facts}
    every = known | {code[:SHORT] for code in known}
    return [line.text for line in file.bullets if line.code is not None and line.code not in every]
