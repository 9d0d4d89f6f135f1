"""Storage. Small Protocols per need, each implemented once, in `stores/`, with the statements of a kind of database:
`sqlite/` (a file, or memory, or one that keeps nothing) and `postgres/`, which pass the same contract tests.
`redis/` has what several processes share.

base.py          SessionStore, Ledger, AnswerCache, AliasStore, ContentStore; errors of storage
accounts.py      Accounts: ledger, sums and conversations, as they are looked at
reuse.py         ReuseStore: entries for reuse by intent, and the log of its decisions
recollection.py  FactStore, Archive, StateStore, WipeStore: the stores of memory
jobs.py          JobStore: jobs of memory's model, what they cost and what they have made
returns.py       ReturnStore: conversations that have returned to pass-through
keys.py          KeyStore: keys that were given out, and sums by the day of their owners
quality.py       QualityStore: managed answers beside those of the same request as it was, and what comparing costs
desk.py          DeskStore: tapes, events and documents of memory that the model manages itself
opening.py       opens the storage that the configuration asks for, and does without what can't be opened
folder.py        private files of the storage folder: the secret that tenants are hashed with, ended admin cookies
election.py      the one process, of all that share a storage, that does the work of the background
answers.py       caches of exact answers: in memory; in diskcache, with a TTL and a size limit
pending.py       what is in memory in front of a database: kinds of writes, how many rows a tenant may queue; links
write_queue.py   the queue of a database's one writer: batches, retries, flushes; backlog.py: what waits in it
scoped_writes.py each store's writes in it, by scope
transactions.py  a transaction that somebody waits for, in the same queue
database.py      a database as its stores use it, whichever kind it is
hot.py           the hot context of conversations, in memory that processes share, before the stores of conversations
looking.py       looks again and again at what other processes have changed
vectors.py       vectors as bytes
versions.py      how often parts of a scope have changed, by whatever process
spool.py         writes that wait on disk for a database that cannot take them
retention.py     the job in the background that lets a database forget
erasures.py      erasures of end users, as a process that serves knows them
erasing.py       what there is to erase of an end user, place by place
copies.py        every copy of what is kept of a person: where, for how long, what erases and exports it
exporting.py     what stands outside of the database of end users, for an export
backup.py        backups of a storage folder, made while proxies serve
restoring.py     the way of a backup back into a storage folder
copying.py       the copy of an SQLite storage folder into a PostgreSQL database
schema/          the schema of every database, in named steps
shared/          state that the processes of one proxy share: single flight, open turns, breakers and the like
redis/           the same in Redis, for several processes; and the cache of exact answers there
"""
