"""The stores in a database of whatever kind. Each implements its Protocol (`../base.py`, `../recollection.py`, where
methods are documented) with the statements of one kind, from `../sqlite/` or `../postgres/`: a frozen dataclass of
texts that select, and of functions that apply a batch of writes.

archive.py    the archive of turns
facts.py      facts of users
sessions.py   the index of links, which recognises conversations
states.py     states of conversations
wipes.py      memories of scopes that were wiped
"""
