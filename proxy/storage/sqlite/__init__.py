"""Everything in one SQLite database, a file or memory: one writer, readers of their own. Another database would be a
folder beside this.

| module | what |
|---|---|
| database.py | the database: opened, its connections, reads; and one that keeps nothing |
| writer.py | the writer task: what is put is durable within `interval` seconds, in short BEGIN IMMEDIATE batches |
| shares.py | how many rows a tenant may have waiting for the writer, so that none makes another's disappear |
| scoped.py | what the stores share: writes by scope (a reader waits for its own), SQL of names, vectors as bytes |
| schema.py, migrations.py | the tables, and how a file gets them: in named, append-only steps |
| sessions.py | which links of conversations were seen |
| ledger.py, rollups.py | ledger rows, and the sums that are written with them |
| accounts.py | what the page reads: sums, lists of requests and conversations |
| contents.py | what requests said, for a while |
| reuse.py | entries for reuse by intent, their vectors, the reuse log |
| facts.py, archive.py, states.py | facts; old turns with the vectors of their passages; the states of conversations |
| wipes.py | what a wipe has put aside for a while |
| retention.py | in the background: lets go of what was kept long enough, gives the disk back what is free |
| memory_limit.py | in memory: the oldest leaves where everything takes too much |
"""
