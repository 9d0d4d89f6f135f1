"""Names that people have given to scopes, in a database. The statements are those of its kind."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from proxy.storage.database import LONG_SECONDS, Database, Store
from proxy.storage.pending import LEDGER
from proxy.storage.transactions import carried_out

ALL = "SELECT scopes.name, aliases.alias FROM aliases JOIN scopes ON scopes.id = aliases.scope_id"


@dataclass(frozen=True, slots=True)
class AliasStatements:
    """The statements of aliases in one kind of database, by `scope` and `alias`. None adds a scope."""

    put: str
    remove: str


class DatabaseAliases(Store):
    """The `AliasStore` of a database."""

    def __init__(self, database: Database, statements: AliasStatements) -> None:
        super().__init__(database)
        self._statements = statements

    async def all(self) -> Mapping[str, str]:
        return dict(await self._database.rows(ALL, (), lambda row: (str(row[0]), str(row[1])), LONG_SECONDS))

    async def put(self, scope: str, alias: str) -> None:
        def step(connection: Any) -> None:
            connection.execute(
                self._statements.put if alias else self._statements.remove, {"scope": scope, "alias": alias}
            )

        await carried_out(self._database.writer, step, kind=LEDGER)  # of no scope: PostgreSQL would make one
