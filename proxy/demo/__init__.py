"""An upstream that needs no key, for `olvido demo` and for the tests.

    app.py           routes; every request is received, refused or answered, and delivered the same way
    config.py        dialect, models, streaming, cache, fault
    chat.py          POST /v1/chat/completions, from body to reply
    script.py        what the model answers     recall.py     finds in the prompt what a question is about
    schema.py        JSON that fits             knowledge.py  what it knows without being told
    completions.py   the answer as a `chat.completion` object and as its chunks; usage as each dialect tells it
    prefix_cache.py  blocks of tokens that an earlier prompt began with
    refusals.py      error bodies in each upstream's shape
    surface.py       models, embeddings, files, echo
    faults.py        what can go wrong, parsed and counted     reply.py     what is sent, and how it is spoilt
    delivery.py      how a reply leaves, or fails to
    recording.py     what arrived and what became of it
    server.py        uvicorn that can reset a connection       __main__.py  `python -m proxy.demo`
    talk/            the two hundred turns that `olvido demo` plays     conversation.py  the forty of `--short`
    show.py          plays them twice                                   bill.py          what each play came to

Answers depend on the messages, the model and the seed only; ids and times are derived from the request, so that a
direct call and a proxied one can be compared field by field.
"""
