"""The hot context of conversations: what the next request of a conversation needs to know of it, in memory that all
processes share, for a few minutes. So a process that has not served a conversation yet need not ask the database, and
sees the last request before the database has it.

It is kept under the last link of the conversation, which the next request has in its history: so a version that was
replaced is not found any more. Of a link that two conversations have in common there is none.
"""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from time import monotonic
from typing import Protocol

from proxy.lru import Lru
from proxy.storage.base import KnownPrefix, SessionStore
from proxy.storage.erasures import base_of
from proxy.storage.recollection import StateStore

LOOKED_AT = 8  # newest messages of a request, one of which the last answer is
MOST_STATES = 2_000  # of requests under way
FRESH_SECONDS = 2.0  # that a state which was found holds: another process may have been told to forget what it quotes


@dataclass(frozen=True, slots=True)
class HotContext:
    """The context of a conversation up to a link."""

    session: str
    memory: str = ""  # the scope of its memory
    link: bytes = b""  # of the last request's last message; b"": it had no state
    state: bytes = b""  # after that request, see `StateStore`


class HotContexts(Protocol):
    """The hot contexts of all conversations, by scope and last link. Bounded in time. Nothing of it is lost that the
    database has not got, or gets soon."""

    async def get(self, scope: str, links: Sequence[bytes]) -> tuple[int, HotContext] | None:
        """Returns the place of the last of `links` that has a context, and the context; None if none has one, or it
        cannot be told."""

    def put(self, scope: str, link: bytes, context: HotContext, replaced: bytes | None) -> None:
        """Sets the context of the conversation that ends with `link`; that of `replaced` has ended."""

    async def has(self, scope: str) -> bool:
        """Returns True if the scope has contexts; False if that cannot be told."""

    def alone(self, scope: str) -> AbstractAsyncContextManager[None]:
        """Holds a memory scope for this process while it learns facts: the others wait, for a second or two at most."""

    def forget(self, scope: str) -> None:
        """Deletes all contexts of the scope: they may quote what is forgotten."""


class Hot:
    """The stores of conversations with hot contexts before them."""

    def __init__(self, contexts: HotContexts, sessions: SessionStore, states: StateStore) -> None:
        self.contexts = contexts
        self.sessions: SessionStore = HotSessions(contexts, sessions, self)
        self.states = HotStates(contexts, states, self)
        self.planned: Lru[bytes, tuple[str, bytes]] = Lru(MOST_STATES)  # by link: memory, state; put by this process
        # By memory and link: put by any process, found here at that moment (monotonic).
        self.fetched: Lru[tuple[str, bytes], tuple[float, bytes]] = Lru(MOST_STATES)

    def drop(self, scope: str) -> None:
        """Removes a scope that was erased, and those of its single conversations, from memory."""
        for key in [key for key in self.fetched if base_of(key[0]) == scope]:
            self.fetched.drop(key)
        for link in [link for link, (memory, _) in self.planned.items() if base_of(memory) == scope]:
            self.planned.drop(link)


@dataclass(frozen=True, slots=True, eq=False)
class HotSessions:
    """A `SessionStore` that looks at hot contexts first."""

    contexts: HotContexts
    store: SessionStore
    hot: Hot

    async def longest_prefix(self, scope: str, chain: Sequence[bytes]) -> KnownPrefix | None:
        start = max(0, len(chain) - LOOKED_AT)
        found = await self.contexts.get(scope, chain[start:]) if chain else None
        if found is None:
            return await self.store.longest_prefix(scope, chain)
        place, context = found
        if context.state:
            self.hot.fetched.put((context.memory, context.link), (monotonic(), context.state))
        return KnownPrefix(start + place + 1, (context.session,), is_tip=True)

    def remember(self, scope: str, session: str, chain: Sequence[bytes], start: int, at: float) -> None:
        self.store.remember(scope, session, chain, start, at)
        if len(chain) > 1:
            memory, state = self.hot.planned.get(chain[-2], ("", b""))
            context = HotContext(session, memory, chain[-2] if state else b"", state)
            self.contexts.put(scope, chain[-1], context, chain[start - 1] if 0 < start < len(chain) else None)

    async def flush(self) -> None:
        await self.store.flush()


@dataclass(frozen=True, slots=True, eq=False)
class HotStates:
    """A `StateStore` that knows those of hot contexts."""

    contexts: HotContexts
    store: StateStore
    hot: Hot

    def put(self, scope: str, session: str, link: bytes, at: float, state: bytes) -> None:
        self.hot.planned.put(link, (scope, state))
        self.store.put(scope, session, link, at, state)

    def forget(self, scope: str) -> None:
        for key in [key for key in self.hot.fetched if key[0] == scope]:
            self.hot.fetched.drop(key)
        for link in [link for link, (memory, _) in self.hot.planned.items() if memory == scope]:
            self.hot.planned.drop(link)
        self.contexts.forget(scope.partition("~")[0])
        self.store.forget(scope)

    def is_hot(self, scope: str, link: bytes) -> bool:
        """Tells whether the state of a link was in a hot context."""
        return self._found(scope, link) is not None

    def _found(self, scope: str, link: bytes) -> bytes | None:
        at, state = self.hot.fetched.get((scope, link), (float("-inf"), b""))
        return state if monotonic() - at < FRESH_SECONDS else None

    async def get(self, scope: str, links: Sequence[bytes]) -> tuple[bytes, bytes] | None:
        for place, link in enumerate(links):
            if (state := self._found(scope, link)) is not None:
                return await self.store.get(scope, links[:place]) or (link, state) if place > 1 else (link, state)
        return await self.store.get(scope, links)

    async def flush(self) -> None:
        await self.store.flush()
