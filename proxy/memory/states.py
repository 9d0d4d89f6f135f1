"""The states of conversations: what planning has kept of the last request on a path of messages. Cached over storage,
as far as no other process may have put another one in its place."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from proxy.conversation.progress import pack, unpack
from proxy.lru import Lru
from proxy.storage.base import ForeignWrites, none_foreign
from proxy.storage.erasures import base_of
from proxy.storage.recollection import StateStore
from proxy.types import ContextRead, PathState, VolatileBlock

MOST_STATES = 20_000
STEPS_BACK = 64  # messages between two requests of a conversation, at most: else it counts as new


class PathStates:
    """The states of all scopes, by the link of a request's last message."""

    def __init__(
        self,
        store: StateStore,
        *,
        foreign_writes: ForeignWrites = none_foreign,
        is_hot: Callable[[str, bytes], bool] = lambda _scope, _link: False,
        most: int = MOST_STATES,
    ) -> None:
        self._store = store
        self._foreign_writes = foreign_writes
        self._is_hot = is_hot  # tells whether a state was found in a hot context
        # With what `ForeignWrites` was: a state may have a successor, of another process, since then.
        self._recent: Lru[tuple[str, bytes], tuple[int, PathState]] = Lru(most)
        self._seen: Lru[str, int] = Lru(most)  # `ForeignWrites` of scopes, as of their last request

    async def warm(self, scope: str) -> None:
        """Reads as a request does, of a scope that nobody has. Raises StorageError."""
        await self._store.get(scope, [b""])

    async def last(
        self,
        scope: str,
        chain: Sequence[bytes],
        *,
        is_new: bool = False,
        on_read: Callable[[ContextRead], object] = lambda _place: None,
    ) -> tuple[PathState, int] | None:
        """Returns the state of the last request before this one on the path `chain`, and its number of messages; None
        if unknown. `is_new`: storage was asked for this history, and has none of it. `on_read` is told the place where
        it was looked up, if anywhere."""
        lengths = range(len(chain) - 1, max(0, len(chain) - 1 - STEPS_BACK), -1)
        foreign = await self._foreign_writes(scope, "paths")
        self._seen.put(scope, foreign)
        known = next((length for length in lengths if (scope, chain[length - 1]) in self._recent), 0)
        held = self._recent.used((scope, chain[known - 1])) if known else None
        if held is not None and held[0] == foreign:
            on_read("memory")
            return held[1], known
        asked = [] if is_new else [chain[length - 1] for length in lengths if length >= max(known, 1)]
        found = await self._store.get(scope, asked) if asked else None
        if asked:
            on_read("hot" if found is not None and self._is_hot(scope, found[0]) else "database")
        if found is not None and (state := unpack(found[1])) is not None:
            self._recent.put((scope, found[0]), (foreign, state))
            return state, next(length for length in lengths if chain[length - 1] == found[0])
        if held is None:
            return None
        # Another process has deleted it: what it quotes may be forgotten.
        self._recent.put((scope, chain[known - 1]), (foreign, left := _without_text(held[1])))
        return left, known

    def keep(self, scope: str, session: str, link: bytes, state: PathState) -> None:
        """Stores the state after a request whose last message has the link `link`."""
        self._recent.put((scope, link), (self._seen.get(scope, 0), state))
        self._store.put(scope, session, link, state.at, pack(state))

    def forget(self, scope: str) -> None:
        """Removes text from the states of a scope, since it may quote what is forgotten: folds stay, their heads are
        rebuilt, and a turn that goes on loses what was recalled for it."""
        for key, (as_of, state) in self._recent.items():
            if key[0] == scope:
                self._recent[key] = as_of, _without_text(state)
        self._store.forget(scope)

    def drop(self, scope: str) -> None:
        """Removes a scope that was erased, and those of its single conversations, from memory."""
        for key in [key for key in self._recent if base_of(key[0]) == scope]:
            del self._recent[key]


def _without_text(state: PathState) -> PathState:
    fold = None if state.fold is None else replace(state.fold, head="", head_tokens=0, summaries=())
    return replace(state, fold=fold, volatile=VolatileBlock(), told=())
