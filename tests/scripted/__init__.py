"""A scripted upstream for tests: the demonstration's model (`proxy/demo/`), behind everything that a provider may do.

app.py           routes; every request is received, refused or answered, and delivered the same way
config.py        dialect, models, streaming, cache, fault
chat.py          POST /v1/chat/completions, from body to reply, in every dialect
refusals.py      error bodies in each upstream's shape
surface.py       models, embeddings, files, echo
faults.py        what can go wrong, parsed and counted     reply.py     what is sent, and how it is spoilt
delivery.py      how a reply leaves, or fails to
recording.py     what arrived and what became of it
server.py        uvicorn that can reset a connection       __main__.py  `python -m tests.scripted`
"""
