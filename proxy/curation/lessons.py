"""Answers of memory's model about a session that has ended, read, and what they make of the sections of the desk.

The state of the task is written anew; lessons, notes and what is known of the project are lines that are added; a line
that is outdated goes, unless a person wrote it. Each is a change of the text that the model was shown, merged with what
others have written since, whose lines stay. Carried out twice is carried out once: a line that stands there is not
added again.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import msgspec

from proxy.curation.answers import Unreadable, clean, decoded, object_in
from proxy.curation.carrying import cut
from proxy.curation.operations import SHOWN
from proxy.curation.sessions import SECTIONS, Page, ShownEnd, mark_of
from proxy.desk.merging import merged
from proxy.memory.signals import folded
from proxy.types.curation import OutcomeLine
from proxy.types.desk import Document, SectionName

MOST = {"task": 40, "lessons": 8, "notes": 8, "project": 8, "outdated": 20}  # elements of an answer
LONGEST = 300  # characters of a line

_OPS = {"lessons": "lesson", "notes": "note", "project": "project", "outdated": "outdated"}
_INTO: Mapping[SectionName, tuple[str, ...]] = {"project_context": ("project",), "agent_notes": ("lessons", "notes")}
_BULLET = re.compile(r"^(?:[-*•]\s+)+")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Proposal:
    """An answer that could be read: by field its lines, on one line each."""

    said: Mapping[str, tuple[str, ...]]
    refused: tuple[OutcomeLine, ...] = ()  # what could not be read of it, or was not asked for


@dataclass(frozen=True, slots=True)
class Edited:
    """A section as a proposal leaves it."""

    text: str
    lines: tuple[OutcomeLine, ...]


# --- the answer -------------------------------------------------------------------------------------------------------


def read(answer: bytes) -> Proposal | Unreadable:
    """Reads an answer; nothing in it is believed."""
    found = object_in(answer, dict[str, msgspec.Raw])
    if isinstance(found, str):
        return found
    if not MOST.keys() & found.keys():
        return "other JSON"
    fields: dict[str, tuple[str, ...]] = {}
    refused = []
    for name, most in MOST.items():
        if name not in found or bytes(found[name]) == b"null":
            continue
        if (listed := decoded(found[name], list[msgspec.Raw])) is None:
            refused.append(_refused(_OPS.get(name, name), "malformed"))
            continue
        texts = [clean(decoded(each, str)) for each in listed[:most]]
        fields[name] = tuple(text for text in texts if text)
        refused += [_refused(_OPS.get(name, name), "malformed") for text in texts if not text]
        refused += [_refused(_OPS.get(name, name), "too many")] if len(listed) > most else []
    refused += [_refused("", "not asked for")] if found.keys() - MOST.keys() else []
    return Proposal(fields, tuple(refused))


def _refused(op: str, reason: str) -> OutcomeLine:
    return OutcomeLine(op, "refused", reason)


# --- the sections -----------------------------------------------------------------------------------------------------


def by_people(versions: Sequence[Document]) -> frozenset[str]:
    """Returns the lines that a person wrote. `versions`: of a document, oldest first; a line is of whoever wrote the
    first version that has it."""
    written: dict[str, bool] = {}
    for version in versions:
        for line in version.text.splitlines():
            written.setdefault(line.strip(), version.by in ("person", "api"))
    return frozenset(line for line, is_a_persons in written.items() if is_a_persons)


@dataclass(frozen=True, slots=True)
class Editing:
    """A section that is edited: as it is now, and as the model was shown it."""

    section: SectionName
    page: Page
    base: str | None  # the text that the model was shown; None: it is not known any more
    people: frozenset[str]  # lines that people wrote
    most: int  # tokens
    count: Callable[[str], int]

    def edited(self, proposal: Proposal, shown: ShownEnd) -> Edited:
        """Returns the section with what is proposed for it, and a line for each proposal."""
        if self.section == "current_task":
            return self._written_anew(proposal.said.get("task", ()))
        return self._added(proposal, shown)

    def _written_anew(self, lines: Sequence[str]) -> Edited:
        if not lines:
            return Edited(self.page.text, ())
        told = self._line("task", " / ".join(lines))
        if self.base is None:
            return Edited(self.page.text, (_but(told, "changed"),))
        wanted = "\n".join(cut(line, LONGEST) for line in lines) + "\n"
        text = merged(self.base, wanted, self.page.text)
        if text == self.page.text and text.strip() != wanted.strip():  # others have changed the same lines
            return Edited(text, (_but(told, "changed"),))
        if self.count(text) > self.most:
            return Edited(self.page.text, (_but(told, "too large"),))
        return Edited(text, (told,))

    def _added(self, proposal: Proposal, shown: ShownEnd) -> Edited:
        base = self.page.text if self.base is None else self.base
        told: list[OutcomeLine] = []
        left = self._without_outdated(base.splitlines(), proposal.said.get("outdated", ()), shown, told)
        text = merged(base, _joined(left), self.page.text)
        for field in _INTO[self.section]:
            for line in proposal.said.get(field, ()):
                said = _BULLET.sub("", line)
                made = self._line(_OPS[field], said)
                known = map(_alike, left)  # not what came since: that may be this answer, carried out before
                longer = merged(base, _joined([*left, f"- {said}"]), self.page.text)
                if len(said) > LONGEST:
                    told.append(_but(made, "too long"))
                elif not _alike(said):
                    told.append(_but(made, "malformed"))
                elif _alike(said) in known:
                    told.append(_as(made, "known"))
                elif f"- {said}" not in longer.splitlines():  # others have changed the lines beside it
                    told.append(_but(made, "changed"))
                elif self.count(longer) > self.most:
                    told.append(_but(made, "too large"))
                else:
                    left, text = [*left, f"- {said}"], longer
                    told.append(made)
        return Edited(text, tuple(told))

    def _without_outdated(
        self, lines: Sequence[str], names: Sequence[str], shown: ShownEnd, told: list[OutcomeLine]
    ) -> list[str]:
        """Returns the lines that stay."""
        _, letter = SECTIONS[self.section]
        marks = set()
        for name in names:
            if not name.startswith(letter):
                continue  # another section's
            mark = shown.lines.get(name)
            line = next((line.strip() for line in lines if mark_of(line) == mark), None)
            made = self._line("outdated", line or name)
            if mark is None or line is None:
                told.append(_but(made, "line" if mark is None else "changed"))
            elif line in self.people:
                told.append(_but(made, "a person's"))
            else:
                marks.add(mark)
                told.append(made)
        return [line for line in lines if mark_of(line) not in marks]

    def _line(self, op: str, value: str) -> OutcomeLine:
        return OutcomeLine(op, "kept", key=self.page.name, value=cut(value, SHOWN))


def strangers(proposal: Proposal) -> tuple[OutcomeLine, ...]:
    """Returns refusals of names of lines that no section has that lines may leave."""
    letters = tuple(SECTIONS[section][1] for section in _INTO)
    unknown = [name for name in proposal.said.get("outdated", ()) if not name.startswith(letters)]
    return tuple(OutcomeLine("outdated", "refused", "line", value=cut(name, SHOWN)) for name in unknown)


def _joined(lines: Sequence[str]) -> str:
    return "\n".join(lines) + "\n" if lines else ""


def _alike(line: str) -> str:
    return " ".join(_WORD.findall(folded(line)))


def _as(line: OutcomeLine, reason: str) -> OutcomeLine:
    return replace(line, reason=reason)


def _but(line: OutcomeLine, reason: str) -> OutcomeLine:
    return replace(line, result="refused", reason=reason)
