"""Forgetting in the files of a person: a line keeps its place and its comment, its words go.

A line is meant if its comment names what was forgotten, by fact or message, or if it has the words of a forgotten
value, however they are written, and across line ends. In a snapshot all of a turn is meant: answers repeat what they
answer. A digest is meant if anything else of its days is, since it may tell of that in other words; a name that a model
has given to a snapshot, if one of its turns is.
"""

import re
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Protocol

from proxy.files import snapshot_files, snapshots
from proxy.files.document import parse
from proxy.files.journal import LABELS, days_of, file_of
from proxy.files.layout import MEMORY, has_document
from proxy.files.lines import decoded, link_code, parted
from proxy.files.names import CODE, long_code
from proxy.files.rewriting import never, replaced
from proxy.files.snapshots import Said, Snapshot
from proxy.language.detect import language
from proxy.language.values import ENDS, FORGOTTEN, Values, is_heading, opening

_CODE = re.compile(CODE)
_LOG = re.compile(r"(\d{4}-\d\d-\d\d)\.md$")  # ends the name of a log, also of an older text
_SPANISH = tuple(label for _, label in LABELS.values())


class ScrubbedTexts(snapshot_files.Snapshots, Protocol):
    """The same, with the names of all files that have words."""

    def every(self) -> list[str]:
        """Returns the names of all files, also of older texts and of what was put aside."""


@dataclass(frozen=True)
class Gone:
    """The facts, messages and values of a scope that were forgotten."""

    facts: frozenset[str] = frozenset()  # ids
    links: frozenset[bytes] = frozenset()  # of messages
    values: frozenset[str] = frozenset()  # of the facts
    days: frozenset[str] = frozenset()  # as they are written: digests that tell of them are meant

    def __or__(self, other: "Gone") -> "Gone":
        return Gone(
            self.facts | other.facts, self.links | other.links, self.values | other.values, self.days | other.days
        )

    def __bool__(self) -> bool:
        return bool(self.facts or self.links or self.values or self.days)

    def names(self, fact: str, link: str, digest: str = "") -> bool:
        """Tells whether a comment with the code of a fact, short or whole, of a message, or of a digest means something
        of it."""
        of_fact = _CODE.fullmatch(fact) is not None and any(code.startswith(fact) for code in self._codes)
        return of_fact or link in self._link_codes or not self.days.isdisjoint(days_of(digest))

    @cached_property
    def said(self) -> Values:
        """The values, as they are found in texts."""
        return Values(self.values)

    def is_in(self, text: str) -> bool:
        """Tells whether a text has the words of a value."""
        return self.said.is_in(text)

    @cached_property
    def _codes(self) -> tuple[str, ...]:
        return tuple(long_code(each) for each in self.facts)

    @cached_property
    def _link_codes(self) -> frozenset[str]:
        return frozenset(link_code(each) for each in self.links if each)


def scrub(files: ScrubbedTexts, gone: Gone) -> None:
    """Takes the words of what was forgotten out of every file of a folder, which is locked meanwhile. Of MEMORY.md only
    bullets that are such a fact lose theirs: others are facts of their own. No older text is kept. Raises what ails one
    of the files, once the others are done."""
    ailing: list[Exception] = []
    days = Gone(days=_days(files, gone, ailing))
    # Digests first: of what is cut off here, what says that their day is meant is still there.
    for each in (days, gone | days) if days else (gone,):
        for name in files.every():
            try:
                replaced(files, name, partial(_left, name=name, gone=each), keeps=never)
                if name.startswith(snapshot_files.FOLDER):
                    snapshot_files.retitle(files, name)
            except Exception as error:  # noqa: BLE001 (the words are in other files too)
                ailing.append(error)
    if ailing:
        raise ailing[0]


def _left(text: str, name: str, gone: Gone) -> str:
    """Returns the text of the file `name` without these words."""
    change = _of_memory if name == MEMORY else _of_document if has_document(name) else scrubbed
    return change(text, gone)


def _of_document(text: str, gone: Gone) -> str:
    """Returns the text of a document without these words: as the store leaves it, so that nobody seems to have edited
    it."""
    return scrubbed(text, gone) if snapshots.parsed(text).mark else gone.said.without(text)


def _days(files: ScrubbedTexts, gone: Gone, ailing: list[Exception]) -> frozenset[str]:
    """Returns the days of which a log or a snapshot has what was forgotten, if there are digests of them."""
    meant: set[str] = set()
    told: set[str] = set()
    for name in files.every():
        try:
            text = decoded(files.read(name) or b"")
        except Exception as error:  # noqa: BLE001 (as above)
            ailing.append(error)
            continue
        if (snapshot := snapshots.parsed(text)).mark:
            meant |= {file_of(each.at).removesuffix(".md") for each in snapshot.said if _is_of(each, gone)}
        elif (found := _LOG.search(name)) and not has_document(name):
            marked = [parted(line)[2] for line in text.splitlines()]
            told.update(day for names in marked for day in days_of(names.get("d", "")))
            if scrubbed(text, gone) != text or any(gone.names(e.get("o", ""), e.get("m", "")) for e in marked):
                meant.add(found[1])
    return frozenset(meant & told)


def scrubbed(text: str, gone: Gone) -> str:
    """Returns the text of a file without the words of what was forgotten; the same text, if it has none of them."""
    return _lines(_snapshot(text, gone), gone)


def _of_memory(text: str, gone: Gone) -> str:
    """Returns the text of MEMORY.md without these words. A line that is a fact loses them if it is that fact; a note or
    a line in a fence, wherever they stand."""
    before, notes = ENDS.split(text), ENDS.split(_lines(text, gone))
    facts = {raw for bullet in parse("\n".join(before[::2])).bullets for raw in bullet.raw.split("\n")}
    lines = [_of_fact(old, gone) if old in facts else new for old, new in zip(before, notes, strict=True)]
    return "".join(lines)


def _of_fact(line: str, gone: Gone) -> str:
    said, note, names = parted(line)
    opens = opening(said)
    words = said[len(opens) :].strip()
    is_meant = words not in FORGOTTEN and (gone.names(names.get("o", ""), "") or gone.said.is_one(words))
    return f"{opens}{FORGOTTEN[_is_spanish(words)]}{note}" if words and is_meant else line


def without(snapshot: Snapshot, gone: Gone, *, until: float = float("inf")) -> Snapshot:
    """Returns a snapshot without the words of what was forgotten, of turns up to that time."""
    left: list[Said] = []
    for turn in snapshots.turns(snapshot.said):
        is_meant = turn[0].at <= until and any(_is_meant(each, gone) for each in turn)
        left += (_forgotten(each) for each in turn) if is_meant else turn
    called = "" if tuple(left) != snapshot.said or gone.is_in(snapshot.called.replace("-", " ")) else snapshot.called
    return replace(snapshot, said=tuple(left), called=called)


def _snapshot(text: str, gone: Gone) -> str:
    snapshot = snapshots.parsed(text)
    if not snapshot.mark:  # another file
        return text
    left = without(snapshot, gone)
    return text if left == snapshot else snapshots.rendered(left)


def _is_meant(said: Said, gone: Gone) -> bool:
    return not said.forgotten and _is_of(said, gone)


def _is_of(said: Said, gone: Gone) -> bool:
    return said.link in gone.links or gone.is_in(said.text)


def _forgotten(said: Said) -> Said:
    return said if said.forgotten else replace(said, text="", forgotten=FORGOTTEN[language(said.text) == "es"])


def _lines(text: str, gone: Gone) -> str:
    lines = ENDS.split(text)  # every second one is what ends a line
    split = [parted(line) for line in lines[::2]]
    opened = [opening(said) for said, _, _ in split]
    words = ["" if _is_ours(said) else said[len(opens) :] for (said, _, _), opens in zip(split, opened, strict=True)]
    there = gone.said.places(words, [is_heading(said) for said, _, _ in split])
    for number, ((_, note, names), opens, is_there) in enumerate(zip(split, opened, there, strict=True)):
        is_named = gone.names(names.get("o", ""), names.get("m", ""), names.get("d", ""))
        if (is_there or is_named) and words[number] and words[number] not in FORGOTTEN:
            lines[2 * number] = f"{opens}{FORGOTTEN[_is_spanish(words[number])]}{note}"
    return "".join(lines)


def _is_ours(said: str) -> bool:
    """Tells whether a line is a part of a snapshot that has nobody's words."""
    return snapshots.is_head(said)


def _is_spanish(words: str) -> bool:
    label = words.partition(":")[0]
    return label in _SPANISH or language(words) == "es"
