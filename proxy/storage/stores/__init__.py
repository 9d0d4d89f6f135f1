"""The stores in a database of whatever kind. Each implements its Protocol (`../base.py`, `../recollection.py`, where
methods are documented) with the statements of one kind, from `../sqlite/` or `../postgres/`: a frozen dataclass of
texts that select, and of functions that apply a batch of writes.

accounts.py   reads for administration
aliases.py    names that people have given to scopes
archive.py    the archive of turns
contents.py   bodies of requests and answers
desk.py       tapes, events and documents of desks
desk_changes.py   the transactions of desks; desk_rows.py their rows and statements; desk_payloads.py events as bytes
desk_forgetting.py    how forgetting reaches desks
facts.py      facts of users
job_changes.py    the transactions of jobs; job_rows.py their rows and statements
job_expiry.py     jobs whose time has passed; job_forgetting.py how forgetting reaches them
kinds.py      the stores of one kind of database, as they are opened
returns.py    conversations that have returned to pass-through
keys.py       keys that were given out, and sums by the day of their owners
jobs.py       jobs of memory's model, what they cost and what they have made
ledger.py     the ledger, and the sums of its rows
quality.py    compared answers, and what comparing has cost
reuse.py      entries of reuse by intent, and its log
sessions.py   the index of links, which recognises conversations
states.py     states of conversations
whose.py      whose rows a list has
wipes.py      memories of scopes that were wiped
"""
