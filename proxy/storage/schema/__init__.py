"""The schema of every database, in named steps, a module each, in the words of SQLite. `postgres/schema.py` says the
few words that differ there in PostgreSQL's.

A step that has been released is never edited; a change is a new step: a module of its own, and a row at the end here.

beginning.py      sessions, ledger, contents, reuse and memory
many_machines.py  what machines that share a database tell each other by it
curation.py       memory with a model's help: jobs, what they cost and what they have made
desk.py           memory that the model manages itself: tapes, events, documents
requests.py       requests by route; names that people give to scopes
keys.py           keys that were given out, and sums of their owners; conversations that have returned to pass-through
quality.py        managed answers beside those of the same request as it was
"""

from collections.abc import Mapping, Sequence

from proxy.storage.schema import beginning, curation, desk, keys, many_machines, quality, requests

MIGRATIONS: Mapping[str, Sequence[str]] = {  # statements of each step
    "0001_schema": beginning.STATEMENTS,
    "0002_many_machines": many_machines.STATEMENTS,
    "0003_curation": curation.STATEMENTS,
    "0004_desk": desk.STATEMENTS,
    "0005_requests": requests.STATEMENTS,
    "0006_keys": keys.STATEMENTS,
    "0007_quality": quality.STATEMENTS,
}
