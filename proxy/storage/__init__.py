"""Where things are kept. Small Protocols per need (`base.py`); every backend passes the same contract tests.

| module | what |
|---|---|
| base.py | SessionStore, Ledger, AnswerCache, ReuseStore, and their "off" implementations |
| recollection.py | FactStore, Archive, StateStore, WipeStore: what memory needs, and their "off" implementations |
| accounts.py | what the page reads: Accounts, ContentStore, and their "off" implementations |
| sqlite/ | all of them in one SQLite file |
| opening.py | opens what the configuration asks for, and does without what can't be opened |
| secret.py | private folders and files, and the secret that tenants are hashed with |
| answers.py | exact answers in diskcache: TTL, size limit |
| links.py | what is known of a link, and what is kept of links in front of a database |
| reuse.py | how two entries of one id become one |
| memory_accounts.py, archive.py, wipes.py | in this process, bounded |
| library.py | what each scope remembers, in memory, in front of the stores: facts, the index of old turns, states |
| shelf.py, orders.py | one scope's part of it; commands to forget that are not carried out yet |
| undo.py | what a wipe put aside comes back, among what was learnt since |
| partitions.py | entries for reuse in memory, searched: loaded at first use, what other processes do within a second |
| answered.py | scopes that an upstream has answered: before that nothing is made for a scope |
"""
