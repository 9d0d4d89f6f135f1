"""The stores in SQLite, as they are opened."""

from proxy.storage.sqlite.accounts import SqliteAccounts
from proxy.storage.sqlite.aliases import SqliteAliases
from proxy.storage.sqlite.archive import SqliteArchive
from proxy.storage.sqlite.contents import SqliteContents
from proxy.storage.sqlite.desk import SqliteDesks
from proxy.storage.sqlite.facts import SqliteFacts
from proxy.storage.sqlite.jobs import SqliteJobs
from proxy.storage.sqlite.keys import SqliteKeys
from proxy.storage.sqlite.ledger import SqliteLedger
from proxy.storage.sqlite.quality import SqliteQuality
from proxy.storage.sqlite.returns import SqliteReturns
from proxy.storage.sqlite.reuse import SqliteReuse
from proxy.storage.sqlite.sessions import SqliteSessions, SqliteStates
from proxy.storage.sqlite.wipes import SqliteWipes
from proxy.storage.stores.kinds import Kind

STORES = Kind(
    sessions=SqliteSessions,
    ledger=SqliteLedger,
    reuse=SqliteReuse,
    facts=SqliteFacts,
    archive=SqliteArchive,
    states=SqliteStates,
    wipes=SqliteWipes,
    jobs=SqliteJobs,
    desks=SqliteDesks,
    keys=SqliteKeys,
    returns=SqliteReturns,
    quality=SqliteQuality,
    accounts=SqliteAccounts,
    aliases=SqliteAliases,
    contents=SqliteContents,
)
