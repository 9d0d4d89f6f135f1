"""Storage. Small Protocols per need; there is one implementation of each, in `sqlite/`, whose database is a file, or
memory, or keeps nothing. Another backend passes the same contract tests.

base.py          SessionStore, Ledger, AnswerCache, ReuseStore, Accounts, ContentStore, and the errors of storage
recollection.py  FactStore, Archive, StateStore, WipeStore: what memory needs
opening.py       opens what the configuration asks for, and does without what can't be opened
secret.py        private folders and files, and the secret that tenants are hashed with
answers.py       exact answers: in memory; in diskcache, with a TTL and a size limit
links.py         what is known of a link of a conversation, and what is kept of links in front of a database
answered.py      scopes that an upstream has answered: before that nothing is made for a scope
shared/          state that the processes of one proxy would share: single flight, open turns, breakers and the like
"""
