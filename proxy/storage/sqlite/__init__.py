"""The stores in one SQLite database, a file or memory: one writer, and readers of their own. What another database
would need as well is in the folder above.

| module | what |
|---|---|
| database.py | the database: opens it, its connections, reads; and one that keeps nothing |
| writer.py | the writer: a batch of the queue is one short transaction |
| schema.py, migrations.py | the tables, and how a file gets them: in named, append-only steps |
| rows.py | what the stores share: SQL of names, vectors as bytes |
| sessions.py | links of conversations |
| ledger.py, rollups.py | ledger rows, and the sums that are written with them |
| accounts.py | what the page reads: sums, lists of requests and conversations |
| contents.py | bodies of requests, for a while |
| reuse.py | entries for reuse by intent, their vectors, the reuse log |
| facts.py, archive.py, states.py | facts; archived turns with the vectors of their passages; states of conversations |
| wipes.py | wiped memories, put aside for a while |
| expiry.py | the steps of retention: sums, deletion of what has expired, pages for the disk |
| memory_limit.py | in memory: the oldest rows are deleted beyond a limit of size |
"""
