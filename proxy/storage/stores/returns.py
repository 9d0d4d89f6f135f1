"""Conversations that have returned to pass-through, in a database. Values stand in statements as `:name`: each kind of
database says them in its own way."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from proxy.storage.database import Database, Store
from proxy.storage.pending import KEYS
from proxy.storage.returns import Returned
from proxy.storage.scoped_writes import ScopedWrites

PUT = """
    INSERT INTO returned_sessions (scope_id, session, reason, at)
    SELECT id, :session, :reason, :at FROM scopes WHERE name = :scope ON CONFLICT (scope_id, session) DO NOTHING
"""
ADD_SCOPE = "INSERT INTO scopes (name) VALUES (:scope) ON CONFLICT DO NOTHING"
AFTER = """
    SELECT number, scopes.name, session, reason FROM returned_sessions JOIN scopes ON scopes.id = scope_id
    WHERE number > :number ORDER BY number LIMIT :limit
"""


class DatabaseReturns(Store):
    """The `ReturnStore` of a database."""

    def __init__(self, database: Database, said: Callable[[str], str]) -> None:
        super().__init__(database)
        self._said = said
        self._writes = ScopedWrites(database.writer, KEYS)

    def put(self, scope: str, session: str, reason: str, at: float) -> None:
        if self.keeps:
            values = {"scope": scope, "session": session, "reason": reason, "at": at}
            self._writes.put(scope, self._put, values)

    async def after(self, number: int, limit: int = 1_000) -> list[Returned]:
        values = {"number": number, "limit": limit}
        return await self._database.rows(self._said(AFTER), values, lambda row: Returned(*row))

    def _put(self, connection: Any, put: Sequence[Mapping[str, Any]]) -> None:
        for each in put:
            connection.execute(self._said(ADD_SCOPE), {"scope": each["scope"]})
            connection.execute(self._said(PUT), each)
