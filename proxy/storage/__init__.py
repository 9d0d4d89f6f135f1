"""Where things are kept. Small Protocols per need (`base.py`); every backend passes the same contract tests.

| module | what |
|---|---|
| base.py | SessionStore, Ledger, AnswerCache, ReuseStore, and their "off" implementations |
| recollection.py | FactStore, Archive, StateStore: what memory needs, and their "off" implementations |
| library.py | what each scope remembers, in memory, in front of those three: facts, the index of old turns, states |
| opening.py | opens what the configuration asks for, and does without what can't be opened |
| memory.py | in this process, bounded; and what the backends on disk keep in front of the disk |
| sqlite.py, statements.py | sessions and ledger in one SQLite file: WAL, one writer |
| writer.py | the writer task: what is put is durable within `interval` seconds, in short BEGIN IMMEDIATE batches |
| migrations.py | the schema as named, append-only steps |
| reuse.py, sqlite_reuse.py | entries for reuse by intent, their vectors, the reuse log: in this process; in SQLite |
| partitions.py | those entries in memory, searched: loaded at first use, what other processes do within a second |
| facts.py, states.py | facts, and the states of conversations: in this process; in SQLite |
| archive.py, sqlite_archive.py | old turns with the vectors of their passages: in this process; in SQLite |
| scoped.py | writes by scope: a reader waits for what is queued of its own |
| answers.py | exact answers in diskcache: TTL, size limit |
| secret.py | private folders and files, and the secret that tenants are hashed with |
"""
