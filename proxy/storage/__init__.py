"""Storage. Small Protocols per need; there is one implementation of each, in `sqlite/`, whose database is a file, or
memory, or keeps nothing; and in `redis/` of what several processes share. Another backend would be a folder beside
them, and passes the same contract tests.

base.py          SessionStore, Ledger, AnswerCache, ReuseStore, Accounts, ContentStore, and the errors of storage
recollection.py  FactStore, Archive, StateStore, WipeStore: the stores of memory
opening.py       opens the storage that the configuration asks for, and does without what can't be opened
folder.py        private files of the storage folder: the secret that tenants are hashed with, ended admin cookies
answers.py       caches of exact answers: in memory; in diskcache, with a TTL and a size limit
pending.py       what is in memory in front of a database: kinds of writes, how many rows a tenant may queue; links
write_queue.py   the queue of a database's one writer: batches, retries, flushes; each store's writes in it, by scope
shared/          state that the processes of one proxy share: single flight, open turns, breakers and the like
redis/           the same in Redis, for several processes; and the cache of exact answers there
"""
