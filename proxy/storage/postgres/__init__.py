"""The stores in one PostgreSQL database, which any number of processes on any number of machines share. Whatever the
database does, nothing here waits for longer than a deadline: then its connection is closed, and a breaker opens
(`health.py`).

Everything works through a pooler that hands out connections by transaction (PgBouncer): no prepared statements, no
setting and no lock outlives a transaction.

| module | what |
|---|---|
| schema.py | the tables, as PostgreSQL calls their types |
| connection.py | one connection: its deadline, checks of the server, its errors in our words |
| pool.py | the connections that the threads of a process share |
| migrating.py | the schema brought up to date by one process at a time; what a start expects of it |
| health.py | the breaker in front of the database, and the probes that close it again |
| versions.py | how often the memory of a scope has changed, by whomever |
| names.py | names of scopes and sessions, added in one order |
| database.py | the database: its readers, their deadlines |
| writer.py | its writer |
| opening.py | the database as a process that serves opens it: the tenants' secret, the spool, a database that is away |
| operations.py | the writes of all stores, by the names under which they wait in the spool |
| stores.py | all stores, as they are opened; the statements of each: see `../stores/` |
| accounts.py, aliases.py | reads for administration; names that people have given to scopes |
| archive.py, contents.py | the archive of turns; bodies of requests |
| jobs.py | jobs of memory's model |
| keys.py | keys that were given out, sums of their owners |
| returns.py | conversations that have returned to pass-through |
| quality.py | compared answers |
| desk.py | desks: tapes, events, documents |
| facts.py, ledger.py, reuse.py | facts; the ledger and its sums; entries for reuse by intent, and its log |
| sessions.py, states.py, wipes.py | the index of links; states of conversations; wiped memories |
| expiry.py | the job that lets it forget |

What is deleted (retention, an end user, what is forgotten) is in no row any more, and no reader gets it. In the files
of the server its bytes stay until VACUUM and new rows have overwritten them, in its write-ahead log until that is
recycled, and in backups and replicas as long as these are kept: that is the server's to configure. SQLite's files are
overwritten by us.

Vectors are rows of bytes, searched in the process, exactly, by scope: pgvector is not used. Recall adds the score of
words to that of vectors, so it needs the cosine of every passage; the words' index is in the process anyway, and a
process that has not served a scope loads both at once as bytes (`shelves`). Of 25,000 passages, a scope of 10,000
turns, all cosines take 1 to 2 ms in the process, and 21 ms in pgvector 0.6, whose nearest 50 alone take 13; the vectors
are a quarter of what the scope takes in memory. 250,000 passages take 16 ms and 92 MiB (`python -m
tests.bench.pgvector`, 2 cores).
"""
