"""Undoing what the model has edited in a session: which text a document gets back, which facts return.

Edits are undone from the newest to the oldest. What others have written since stays: the way back is merged with it,
line by line, as a change of its own.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from proxy.desk.merging import merged
from proxy.types.desk import DeskEvent, Edit, Reset


@dataclass(frozen=True, slots=True)
class Undo:
    """Changes that undo edits."""

    documents: Mapping[str, str]  # texts by name; "": remove it
    facts: tuple[tuple[str, bool], ...]  # ids, and whether each is to hold again or to go; newest edit first

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the documents and ids of the facts."""
        return (*self.documents, *(name for name, _ in self.facts))


def standing(events: Iterable[DeskEvent]) -> list[Edit]:
    """Returns the edits of a session that were carried out and not undone, the newest first, but for those of a person
    in their own file. `events`: oldest first."""
    found: list[Edit] = []
    for event in events:
        match event.payload:
            case Reset():
                found.clear()
            case Edit(state="done") as edit if edit.by != "person":
                found.insert(0, edit)
    return found


def undo(edits: Sequence[Edit], texts: Mapping[str, str]) -> Undo:
    """Returns what undoes `edits`, the newest first. `texts`: the documents as they are now, by name; one that is not
    there was removed, and stays so, unless it was the newest edit that removed it."""
    newest = {edit.name: edit for edit in reversed(edits)}
    known = {name for name, edit in newest.items() if name in texts or not edit.after}
    documents = {edit.name: texts.get(edit.name, "") for edit in edits if edit.version and edit.name in known}
    facts: list[tuple[str, bool]] = []
    for edit in edits:
        if edit.fact:
            facts.append((edit.fact, edit.tool == "forget"))
        elif edit.name in documents:
            documents[edit.name] = merged(edit.after, edit.before, documents[edit.name])
    return Undo({name: text for name, text in documents.items() if text != texts.get(name, "")}, tuple(facts))
