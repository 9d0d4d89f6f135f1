"""The stores in one SQLite database, a file or memory: one writer, and readers of their own. What another database
would need as well is in the folder above.

| module | what |
|---|---|
| connection.py | a connection: opened, brought to the newest schema in named, append-only steps |
| database.py | the database: its readers; one that keeps nothing |
| writer.py | its one writer |
| names.py | what the stores have in common: SQL of names, and of many rows at once |
| stores.py | all stores, as they are opened |
| sessions.py | conversations: the index of their links, and their states |
| ledger.py | ledger rows, and the sums that are written with them |
| accounts.py | what people look at: sums, lists of requests and conversations |
| aliases.py | names that people have given to scopes |
| contents.py | bodies of requests, for a while |
| reuse.py | entries for reuse by intent, their vectors, the reuse log |
| facts.py | facts |
| jobs.py | jobs of memory's model |
| keys.py | keys that were given out, sums of their owners |
| returns.py | conversations that have returned to pass-through |
| quality.py | compared answers |
| desk.py | desks: tapes, events, documents |
| wipes.py | wiped memories, put aside for a while |
| archive.py | archived turns with the vectors of their passages |
| expiry.py | the job that lets a database forget: sums, what has expired, free pages, a limit of size in memory |
"""
