"""The documents of a person's folder as the model's tools read and write them: sections and saved files.

What a person has changed since the session began stays, and what anybody has written while the request was under way:
the model's text is merged with it, line by line.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from proxy.config.memory import DeskSections
from proxy.desk.sections import file_of
from proxy.desk.tools import section_of
from proxy.storage.desk import MOST_DOCUMENTS, DeskStore
from proxy.types.desk import DeskEvent, Document, SectionName

TRIES = 4  # to write where others write, too

Merge = Callable[[str, str, str], str]  # (base, model's, person's) → merged
Tells = Callable[[str, str, int], Sequence[DeskEvent]]  # (before, after, version) → what tells of it


class Unwritten(Exception):
    """Raised where a document cannot be written: a sentence's name, and its values."""

    def __init__(self, reason: str, **values: object) -> None:
        super().__init__(reason)
        self.reason = reason
        self.values: Mapping[str, Any] = values


@dataclass(frozen=True, slots=True)
class Written:
    """A document that was written, and the text that it had before."""

    document: Document
    before: str


@dataclass(frozen=True, slots=True)
class Documents:
    """The documents of one scope, for one request."""

    store: DeskStore
    scope: str
    project: str
    limits: DeskSections
    since: float  # when the session began: what stood there then is known to the model
    at: float
    session: str = ""
    versions: Mapping[str, int] = field(default_factory=dict)  # as the request began, by name; none there: not named

    def file_of(self, section: SectionName) -> str:
        """Returns the name of a section's file, of this project where sections are a project's."""
        return file_of(section, self.project)

    async def found(self, name: str) -> Document | None:
        """Returns a document; None if there is none, or it was removed."""
        document = await self.store.document(self.scope, name)
        return None if document is None or document.is_removed else document

    async def text(self, name: str) -> str:
        """Returns the text of a document; "" if there is none."""
        document = await self.found(name)
        return document.text if document else ""

    async def all(self) -> list[Document]:
        """Returns all documents."""
        return await self.store.documents(self.scope)

    async def names(self) -> list[str]:
        """Returns the names of all documents."""
        return [document.name for document in await self.all()]

    async def write(
        self, name: str, content: str, tokens: int, own_last: str | None, merge: Merge, tells: Tells
    ) -> Written | None:
        """Writes a document, and with it what tells of it; None if it has this text already. `tokens`: of `content`.
        `own_last`: what this session wrote there last. Raises `Unwritten`."""
        section = section_of(name)
        if section is not None:
            if name != self.file_of(section):
                raise Unwritten("reserved", about=name)
            most: int = getattr(self.limits, section)
            if tokens > most:
                raise Unwritten("too-large", name=name, most=most, tokens=tokens)
        for _ in range(TRIES):
            now = await self.store.document(self.scope, name)
            text = "" if now is None or now.is_removed else now.text
            wanted = content if not text else await self._merged(now, text, content, own_last, merge)
            if wanted == text:
                return None
            version = now.version if now else 0
            events = tells(text, wanted, version + 1)
            try:
                wrote = await self.store.put(
                    self.scope,
                    name,
                    wanted,
                    version=version,
                    at=self.at,
                    by="model",
                    session=self.session,
                    events=events,
                )
            except ValueError:
                names = ", ".join(await self.names())
                raise Unwritten("too-many-files", most=MOST_DOCUMENTS, files=names) from None
            if wrote is not None:
                return Written(wrote, text)
        raise Unwritten("changed", name=name, text=await self.text(name))

    async def remove(self, name: str, tells: Tells) -> Written | None:
        """Removes a document, and writes with it what tells of it; None if there is none. Raises `Unwritten`."""
        for _ in range(TRIES):
            now = await self.store.document(self.scope, name)
            if now is None or now.is_removed:
                return None
            events = tells(now.text, "", now.version + 1)
            wrote = await self.store.put(
                self.scope,
                name,
                None,
                version=now.version,
                at=self.at,
                by="model",
                session=self.session,
                events=events,
            )
            if wrote is not None:
                return Written(wrote, now.text)
        raise Unwritten("changed", name=name, text=await self.text(name))

    async def _merged(self, now: Document | None, text: str, content: str, own_last: str | None, merge: Merge) -> str:
        """Returns the model's text with what others have written since the model saw it."""
        if now is None or text == own_last:
            return content
        is_known = now.version <= self.versions.get(now.name, 0)
        if is_known and (now.by == "model" or (now.at <= self.since and own_last is None)):
            return content
        base = own_last
        if base is None:
            older = await self.store.older(self.scope, now.name)
            base = next((each.text for each in older if self._was_seen(each)), "")
        return merge(base, content, text)

    def _was_seen(self, document: Document) -> bool:
        """Tells whether the model knows a version: it stood there when the session began, or a model wrote it since."""
        is_known = document.version <= self.versions.get(document.name, 0)
        return is_known and not document.is_removed and (document.at <= self.since or document.by == "model")
