"""Sessions between two requests, as one process knows them: turns that are open while a client runs its tools, and what
was served last."""

from operator import attrgetter

from proxy.lru import Lru
from proxy.storage.erasures import base_of
from proxy.types import OpenTurn, Served

MOST_OPEN = 1_000  # turns
MOST_OPEN_BYTES = 64 * 2**20  # of all of them

MOST_SESSIONS = 10_000  # with their last reuse


class LocalOpenTurns:
    """Open turns in memory: the newest, up to a number and a size."""

    def __init__(self, most: int = MOST_OPEN, most_bytes: int = MOST_OPEN_BYTES) -> None:
        self._turns: Lru[tuple[str, str], OpenTurn] = Lru(most, cost=attrgetter("size"), most_cost=most_bytes)

    async def get(self, scope: str, session: str) -> OpenTurn | None:
        return self._turns.get((scope, session))

    def put(self, scope: str, session: str, turn: OpenTurn | None) -> None:
        if turn is None or not turn.messages:
            self._turns.drop((scope, session))
        else:
            self._turns.put((scope, session), turn)

    def drop(self, scope: str) -> None:
        for key in [key for key in self._turns if base_of(key[0]) == scope]:
            self._turns.drop(key)


class LocalLastServed:
    """The last reuse of each session in memory: of the newest sessions."""

    def __init__(self) -> None:
        self._sessions: Lru[tuple[str, str], Served] = Lru(MOST_SESSIONS)

    def note(self, scope: str, session: str, served: Served) -> None:
        self._sessions.put((scope, session), served)

    async def take(self, scope: str, session: str) -> Served | None:
        return self._sessions.pop((scope, session), None)

    def drop(self, scope: str) -> None:
        for key in [key for key in self._sessions if base_of(key[0]) == scope]:
            del self._sessions[key]
