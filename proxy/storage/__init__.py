"""Where things are kept. Small Protocols per need (`base.py`); every backend passes the same contract tests.

| module | what |
|---|---|
| base.py | SessionStore, Ledger, AnswerCache, ReuseStore, and their "off" implementations |
| undo.py | what a wipe put aside comes back, among what was learnt since |
| recollection.py | FactStore, Archive, StateStore, WipeStore: what memory needs, and their "off" implementations |
| answered.py | scopes that an upstream has answered: before that nothing is made for a scope |
| library.py | what each scope remembers, in memory, in front of those three: facts, the index of old turns, states |
| shelf.py, orders.py | one scope's part of it; commands to forget that are not carried out yet |
| opening.py | opens what the configuration asks for, and does without what can't be opened |
| memory.py | in this process, bounded; and what the backends on disk keep in front of the disk |
| sqlite.py, statements.py | one SQLite file for everything: WAL, one writer; sessions and ledger in it |
| writer.py | the writer task: what is put is durable within `interval` seconds, in short BEGIN IMMEDIATE batches |
| shares.py | how many rows a tenant may have waiting for the writer, so that none makes another's disappear |
| schema.py, migrations.py | the tables, and how a file gets them: in named, append-only steps |
| ledger_rows.py, rollups.py | ledger rows in SQLite, and the sums that are written with them |
| accounts.py | what the page reads: Accounts, ContentStore, and their "off" implementations |
| sqlite_accounts.py, memory_accounts.py | sums, lists of requests and conversations: from SQLite; from this process |
| contents.py | what requests said, for a while: in this process; in SQLite |
| retention.py | in the background: lets go of what was kept long enough, gives the disk back what is free |
| reuse.py, sqlite_reuse.py | entries for reuse by intent, their vectors, the reuse log: in this process; in SQLite |
| partitions.py | those entries in memory, searched: loaded at first use, what other processes do within a second |
| facts.py, states.py | facts, and the states of conversations: in this process; in SQLite |
| archive.py, sqlite_archive.py | old turns with the vectors of their passages: in this process; in SQLite |
| wipes.py, sqlite_wipes.py | what a wipe has put aside for a while: in this process; in SQLite |
| scoped.py | writes by scope: a reader waits for what is queued of its own |
| answers.py | exact answers in diskcache: TTL, size limit |
| secret.py | private folders and files, and the secret that tenants are hashed with |
"""
