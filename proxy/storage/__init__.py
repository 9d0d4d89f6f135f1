"""Where things are kept. Small Protocols per need; there is one implementation of each, in `sqlite/`, whose database is
a file, or memory, or keeps nothing. Another backend would pass the same contract tests.

| module | what |
|---|---|
| base.py | SessionStore, Ledger, AnswerCache, ReuseStore, and the errors of storage |
| recollection.py | FactStore, Archive, StateStore, WipeStore: what memory needs |
| accounts.py | Accounts, ContentStore: what the page reads |
| opening.py | opens what the configuration asks for, and does without what can't be opened |
| secret.py | private folders and files, and the secret that tenants are hashed with |
| answers.py | exact answers: in memory; in diskcache, with a TTL and a size limit |
| links.py | what is known of a link of a conversation, and what is kept of links in front of a database |
| reuse.py, vectors.py | how two entries of one id become one; how vectors are kept |
| library.py | what each scope remembers, in memory, in front of the stores: facts, the index of old turns, states |
| shelf.py, orders.py | one scope's part of it; commands to forget that are not carried out yet |
| undo.py | what a wipe put aside comes back, among what was learnt since |
| partitions.py | entries for reuse in memory, searched: loaded at first use, what other processes do within a second |
| shared/ | state that the processes of one proxy would share: single flight, open turns, breakers and the like |
| answered.py | scopes that an upstream has answered: before that nothing is made for a scope |
"""
