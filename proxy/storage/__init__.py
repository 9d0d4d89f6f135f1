"""Storage. Small Protocols per need; there is one implementation of each, in `sqlite/`, whose database is a file, or
memory, or keeps nothing. Another backend would be a folder beside it, and passes the same contract tests.

base.py          SessionStore, Ledger, AnswerCache, ReuseStore, Accounts, ContentStore, and the errors of storage
recollection.py  FactStore, Archive, StateStore, WipeStore: the stores of memory
opening.py       opens the storage that the configuration asks for, and does without what can't be opened
secret.py        private folders and files, and the secret that tenants are hashed with
answers.py       caches of exact answers: in memory; in diskcache, with a TTL and a size limit
answered.py      scopes that an upstream has answered: before that nothing is stored for a scope
links.py         links of hash chains, with the sessions that had them: queued ones, and a cache of recent ones
write_queue.py   the queue of a database's one writer: batches, retries, flushes
shares.py        shares of that queue: how many rows a tenant may have in it
scoped.py        writes by scope: a reader waits for those of its own
retention.py     the background job that lets a database forget
shared/          state that the processes of one proxy would share: single flight, open turns, breakers and the like
"""
