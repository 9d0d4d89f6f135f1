"""Names that people have given to scopes, in PostgreSQL."""

from proxy.storage.database import Database
from proxy.storage.postgres.names import SCOPE_ID
from proxy.storage.stores.aliases import AliasStatements, DatabaseAliases

STATEMENTS = AliasStatements(
    put="""
        INSERT INTO aliases (scope_id, alias) SELECT id, %(alias)s FROM scopes WHERE name = %(scope)s
        ON CONFLICT (scope_id) DO UPDATE SET alias = excluded.alias
    """,
    remove=f"DELETE FROM aliases WHERE scope_id = {SCOPE_ID}",  # noqa: S608 (our own text)
)


class PostgresAliases(DatabaseAliases):
    """Aliases in PostgreSQL."""

    def __init__(self, database: Database) -> None:
        super().__init__(database, STATEMENTS)
