"""Facts as the model's tools remember and forget them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from proxy.desk.tools import Forget, Remember
from proxy.desk.wishes import Unfit
from proxy.memory import edits
from proxy.memory.commands import mark
from proxy.memory.credentials import has_credential
from proxy.memory.edits import Draft
from proxy.memory.library import Library
from proxy.types import Fact
from proxy.types.desk import Edit

MOST_KEYS = 20  # that a sentence lists

Waits = Callable[[str, str], bool]  # (value, value before) → True: a person has to confirm it


@dataclass(frozen=True, slots=True)
class DeskFacts:
    """The facts of one scope, for one request."""

    library: Library
    scope: str
    at: float
    keeps: bool  # facts may be kept of this request

    async def remember(self, order: Remember, waits: Waits) -> Edit:
        """Keeps a fact, or lets it wait for a person. Raises `Unfit`, StorageError."""
        async with self.library.editing(self.scope):
            return await self._remember(order, waits)

    async def _remember(self, order: Remember, waits: Waits) -> Edit:
        known = await self._known()
        key, value = _key(order.key), " ".join(order.value.split())
        if has_credential(value):
            raise Unfit("credential")
        if self.library.has_forgotten(self.scope, (mark(value),)):
            raise Unfit("no-fact", key=key, keys="-")
        before = next((fact for fact in known if fact.key == key and fact.superseded_by is None), None)
        earlier = before.value if before else ""
        if waits(value, earlier):
            return Edit("remember", key, earlier, value, "waiting")
        draft = Draft(before.domain if before else "personal", key, value, "medium")
        made = edits.add(known, draft, scope=self.scope, now=self.at, source="api")
        if before is not None and before.id == made.fact.id:
            same = replace(made.fact, confidence=before.confidence, pinned=before.pinned)
            made = replace(made, fact=same, rows=(same,))
        await self._learn(made.rows)
        return Edit("remember", key, earlier, value, fact=made.fact.id)

    async def forget(self, order: Forget) -> Edit:
        """Deletes a fact as a person does on the page: it stays as history that can be restored. What the user orders
        to be forgotten in a message is obeyed before any model reads it. Raises `Unfit`, StorageError."""
        async with self.library.editing(self.scope):
            return await self._forget(order)

    async def _forget(self, order: Forget) -> Edit:
        current = [fact for fact in await self._known() if fact.superseded_by is None]
        key = _key(order.key)
        meant = [fact for fact in current if fact.key == key] or [fact for fact in current if key in fact.key]
        if len(meant) != 1:
            keys = ", ".join(sorted({fact.key for fact in meant or current})[:MOST_KEYS]) or "-"
            raise Unfit("ambiguous" if meant else "no-fact", key=key, keys=keys)
        gone = edits.delete(meant[0], self.at)
        await self._learn((gone,))
        return Edit("forget", gone.key, gone.value, "", fact=gone.id)

    async def _known(self) -> Sequence[Fact]:
        if not self.library.facts.keeps or not self.keeps:
            raise Unfit("no-facts")
        return list(await self.library.facts.all(self.scope))

    async def _learn(self, rows: tuple[Fact, ...]) -> None:
        self.library.learn(self.scope, await self.library.shelf(self.scope), rows)
        await self.library.facts.flush()


def _key(key: str) -> str:
    return "-".join(key.lower().split())
