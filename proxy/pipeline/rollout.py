"""Safe rollout: the mode of each conversation as it is decided (`context/rollout.py`), and conversations that return to
pass-through by themselves: known here at once, and to other processes within a second.

A conversation is looked at after a request of it that was dearer than pass-through, in the background. It returns if it
does not pay back what it has cost more, which each process watches for itself. What has returned is kept with its
scope, and leaves the database as its requests leave the ledger.
"""

import logging
import time
from collections.abc import Callable
from contextlib import suppress

from proxy.config.model import Context
from proxy.context import rollout
from proxy.keys.book import KeyBook
from proxy.lru import Lru
from proxy.storage.accounts import Accounts
from proxy.storage.base import StorageError
from proxy.storage.erasures import base_of
from proxy.storage.looking import Looking
from proxy.storage.returns import ReturnStore
from proxy.tasks import Tasks
from proxy.types import Directives, Identity, LedgerRow

log = logging.getLogger(__name__)

LOOK = 0.5  # seconds between two looks for what others have added
OVERLAP = 100  # numbers that are looked at once more: they become visible out of their order
MOST = 50_000  # conversations


class Rollout:
    """The modes of conversations. `on_return` is called with the reason. `is_shared`: other processes have returns of
    their own."""

    def __init__(
        self,
        settings: Context,
        keys: KeyBook,
        store: ReturnStore,
        accounts: Accounts,
        tasks: Tasks,
        *,
        is_shared: bool = False,
        on_return: Callable[[str], object] = lambda _reason: None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._settings = settings
        self._keys = keys
        self._store = store
        self._accounts = accounts
        self._tasks = tasks
        self._is_shared = is_shared
        self._on_return = on_return
        self._clock = clock
        self._is_configured = bool(settings.rules) or settings.canary < 1
        self._returned: Lru[tuple[str, str], str] = Lru(MOST)
        self._watched: Lru[tuple[str, str], rollout.Advance] = Lru(MOST)
        self._newest = 0
        self._looking = Looking(self.look, LOOK, "rollout")

    @property
    def applies(self) -> bool:
        """False if every conversation is as its client and the configuration say."""
        return self._is_configured or bool(self._returned)

    def directed(self, directives: Directives, identity: Identity, model: str, *, fits: bool = True) -> Directives:
        """Returns the directives of a request, by what is decided about its conversation. `fits`: whether its upstream
        takes it whole; one that it does not cannot return to pass-through."""
        scope = identity.scope
        named = self._keys.named(scope.tenant)
        held = rollout.decide(
            self._settings,
            key=named.name if named is not None else "",
            model=model,
            scope=scope.id,
            session=identity.session,
            asked=directives.mode,
            returned=(self._returned.get((scope.id, identity.session)) or "") if fits else "",
        )
        return rollout.directed(directives, held)

    def heard(self, row: LedgerRow) -> None:
        """Hears of a request that was recorded."""
        is_dearer = row.cost_saved < 0 and row.plan in ("managed", "over-budget") and self._settings.dearer > 0
        if is_dearer and (row.scope, row.session) not in self._returned:
            self._tasks.spawn(self._judge(row), name="rollout")

    async def _judge(self, row: LedgerRow) -> None:
        with suppress(StorageError):
            await self._store.flush()
            sums = await self._accounts.until(row.scope, row.session, self._clock())
            key = (row.scope, row.session)
            if not rollout.has_turned_dearer(sums, self._settings.dearer):
                self._watched.drop(key)
            elif (advance := rollout.watched(sums, self._watched.get(key))) is not None:
                self._watched.put(key, advance)
            else:
                self._watched.drop(key)
                self.give_back(*key, "dearer")

    def give_back(self, scope: str, session: str, reason: str) -> bool:
        """Returns a conversation to pass-through; False if it is there already."""
        if (scope, session) in self._returned:
            return False
        self._returned.put((scope, session), reason)
        self._store.put(scope, session, reason, self._clock())
        self._on_return(reason)
        log.info("a conversation returns to pass-through", extra={"session": session, "reason": reason})
        return True

    def drop(self, scope: str) -> None:
        """Removes what this process has of a scope that was erased."""
        for known in (self._returned, self._watched):
            for key in [key for key in known if base_of(key[0]) == scope]:
                known.drop(key)

    # --- what other processes, and earlier ones, have returned ---

    async def look(self) -> None:
        """Reads what is new. Raises StorageError."""
        after = max(0, self._newest - OVERLAP)
        while found := await self._store.after(after):
            for each in found:
                self._returned.put((each.scope, each.session), each.reason)
            after = found[-1].number
            self._newest = max(self._newest, after)

    async def start(self) -> None:
        """Reads what is known, and goes on looking where others add to it."""
        await self._looking.once()
        if self._is_shared and self._store.keeps:
            self._looking.start(self._tasks, LOOK)

    def stop(self) -> None:
        """Ends it."""
        self._looking.stop()
