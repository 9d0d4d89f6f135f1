"""A person's word on the desk of a session: reset it, confirm or decline an edit that has waited, pin a message, edit a
document."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from proxy.desk.merging import merged
from proxy.desk.undoing import Undo, standing, undo
from proxy.memory import edits
from proxy.memory.edits import Draft
from proxy.memory.library import Library
from proxy.storage.desk import DeskStore
from proxy.types import Fact
from proxy.types.desk import Confirmed, DeskEvent, Document, Edit, EditedBy, Payload, Pin, Reset

TRIES = 5  # to write where others write, too


class Unknown(Exception):
    """Raised for an event or message that the session does not have."""


@dataclass(frozen=True, slots=True)
class DeskReset:
    """The changes that people make to desks, each durable when it returns. Raises StorageError."""

    store: DeskStore
    library: Library
    clock: Callable[[], float]

    async def reset(self, scope: str, session: str) -> Undo:
        """Undoes all edits and marks of a session."""
        news = await self.store.since(scope, session, 0, 0)
        made = standing(news.events)
        texts = {each.name: each.text for each in await self.store.documents(scope)}
        wanted = undo(made, texts)
        for name, text in wanted.documents.items():
            await self._write(scope, name, texts.get(name, ""), text, "reset")
        await self._turn(scope, wanted)
        await self._note(scope, session, Reset(wanted.names))
        return wanted

    async def confirm(self, scope: str, session: str, number: int, *, is_allowed: bool) -> None:
        """Carries out an edit that has waited for a person, or declines it. Raises `Unknown` if none waits under this
        number."""
        news = await self.store.since(scope, session, 0, 0)
        found = next((each.payload for each in news.events if each.number == number), None)
        decided = {each.payload.edit for each in news.events if isinstance(each.payload, Confirmed)}
        is_undone = any(isinstance(each.payload, Reset) and each.number > number for each in news.events)
        if not isinstance(found, Edit) or found.state != "waiting" or number in decided or is_undone:
            raise Unknown(str(number))
        payloads: list[Payload] = [Confirmed(number, is_allowed)]
        if is_allowed:
            payloads.append(await self._carried_out(scope, found))
        await self._note(scope, session, *payloads)

    async def pin(self, scope: str, session: str, name: int, *, is_pinned: bool) -> None:
        """Pins a message, or takes the pin away. Raises `Unknown` for an id that the session does not have."""
        lines = await self.store.tape(scope, session, after=name - 1, limit=1)
        if not lines or lines[0].id != name:
            raise Unknown(str(name))
        await self._note(scope, session, Pin(lines[0].link, is_pinned))

    async def edit(self, scope: str, name: str, text: str, version: int) -> Document | None:
        """Writes what a person has made of version `version` of a document (0: there was none), merged with what has
        come since: where both changed the same lines, the person's stay. "" removes it. Returns it as it is now;
        None if there is none. Raises `Unknown` if that version is not known, or others write all the time; ValueError
        for a text that is too large, or where there are too many documents."""
        for _ in range(TRIES):
            now = await self.store.document(scope, name)
            stands = now.text if now is not None and not now.is_removed else ""
            current = now.version if now is not None else 0
            wanted = text
            if version != current:
                base = await self._base(scope, name, version)
                wanted = await asyncio.to_thread(merged, base, stands, text)
            if wanted == stands:
                return now
            wrote = await self.store.put(scope, name, wanted or None, version=current, at=self.clock(), by="person")
            if wrote is not None:
                return wrote
        raise Unknown(name)

    async def _base(self, scope: str, name: str, version: int) -> str:
        if version == 0:
            return ""
        older = await self.store.older(scope, name)
        found = next((each for each in older if each.version == version), None)
        if found is None:
            raise Unknown(name)
        return found.text

    async def _note(self, scope: str, session: str, *payloads: Payload) -> None:
        at = self.clock()
        await self.store.write(scope, session, (), [DeskEvent(at, "", payload) for payload in payloads])

    async def _carried_out(self, scope: str, edit: Edit) -> Edit:
        if edit.tool != "remember":
            version = await self._write(scope, edit.name, edit.before, edit.after, "person")
            return Edit(edit.tool, edit.name, edit.before, edit.after, version=version)
        async with self.library.editing(scope):
            known = await self.library.facts.all(scope)
            before = next((fact for fact in known if fact.key == edit.name and fact.superseded_by is None), None)
            draft = Draft(before.domain if before else "personal", edit.name, edit.after)
            made = edits.add(known, draft, scope=scope, now=self.clock(), source="api")
            await self._learn(scope, made.rows)
        return Edit("remember", edit.name, edit.before, edit.after, fact=made.fact.id)

    async def _write(self, scope: str, name: str, base: str, text: str, by: EditedBy) -> int:
        """Writes a document, merged with what has come since it read `base`; "" removes it. Returns its version."""
        for _ in range(TRIES):
            now = await self.store.document(scope, name)
            stands = now.text if now is not None and not now.is_removed else ""
            wanted = text if stands == base else merged(base, text, stands)
            version = now.version if now is not None else 0
            wrote = await self.store.put(scope, name, wanted or None, version=version, at=self.clock(), by=by)
            if wrote is not None:
                return wrote.version
        raise Unknown(name)

    async def _turn(self, scope: str, wanted: Undo) -> None:
        """Lets facts hold again, or go, in the order in which they are undone."""
        if not wanted.facts:
            return
        every = {fact.id: fact for fact in await self.library.facts.all(scope)}
        changed: dict[str, Fact] = {}
        for name, holds in wanted.facts:
            if (fact := every.get(name)) is None:
                continue
            rows = edits.restore(every.values(), fact, self.clock()).rows if holds else self._gone(every, fact)
            for row in rows:
                every[row.id] = changed[row.id] = row
        await self._learn(scope, tuple(changed.values()))

    def _gone(self, every: dict[str, Fact], fact: Fact) -> tuple[Fact, ...]:
        """Returns the rows that take a fact away, and bring back the one whose place it took."""
        now = self.clock()
        if fact.superseded_by is not None:
            return ()
        before = [each for each in every.values() if each.superseded_by == fact.id and each.id != fact.id]
        gone = edits.delete(fact, now)
        if not before:
            return (gone,)
        newest = max(before, key=lambda each: each.superseded_at)
        rest = {**every, gone.id: gone}
        return (gone, *(row for row in edits.restore(rest.values(), newest, now).rows if row.id != gone.id))

    async def _learn(self, scope: str, rows: tuple[Fact, ...]) -> None:
        self.library.learn(scope, await self.library.shelf(scope), rows)
        await self.library.facts.flush()
