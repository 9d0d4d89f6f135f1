"""The stores in PostgreSQL, as they are opened."""

from proxy.storage.postgres.accounts import PostgresAccounts
from proxy.storage.postgres.aliases import PostgresAliases
from proxy.storage.postgres.archive import PostgresArchive
from proxy.storage.postgres.contents import PostgresContents
from proxy.storage.postgres.desk import PostgresDesks
from proxy.storage.postgres.facts import PostgresFacts
from proxy.storage.postgres.jobs import PostgresJobs
from proxy.storage.postgres.keys import PostgresKeys
from proxy.storage.postgres.ledger import PostgresLedger
from proxy.storage.postgres.quality import PostgresQuality
from proxy.storage.postgres.returns import PostgresReturns
from proxy.storage.postgres.reuse import PostgresReuse
from proxy.storage.postgres.sessions import PostgresSessions
from proxy.storage.postgres.states import PostgresStates
from proxy.storage.postgres.wipes import PostgresWipes
from proxy.storage.stores.kinds import Kind

STORES = Kind(
    sessions=PostgresSessions,
    ledger=PostgresLedger,
    reuse=PostgresReuse,
    facts=PostgresFacts,
    archive=PostgresArchive,
    states=PostgresStates,
    wipes=PostgresWipes,
    jobs=PostgresJobs,
    desks=PostgresDesks,
    keys=PostgresKeys,
    returns=PostgresReturns,
    quality=PostgresQuality,
    accounts=PostgresAccounts,
    aliases=PostgresAliases,
    contents=PostgresContents,
)
