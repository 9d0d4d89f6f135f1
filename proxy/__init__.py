"""Olvido: an OpenAI-compatible reverse proxy that manages context transparently.

The rooms, in the order a request walks through them:

    app.py        routes and lifespan; HTTP in, HTTP out
    sites.py      which web pages may ask through their visitors' browsers
    edge.py       what is settled in front: keys, limits, deadlines; call.py: one request and its answer in ASGI
    pipeline.py   the way of a request, a stage a line (start reading here)
    attempt.py    what every stage of ours runs in: deadline, timing, fail open; offload.py: large ones in a thread
    stages/       identify, resume, obey, exact, intent, plan, assemble, forward; record and learn after the answer
    wire/         JSON and SSE to types and back; turns and the hash chain; what each upstream demands
    reuse/        which requests may be answered from memory, and under which key (pure)
    memory/       what of a conversation is sent: facts, summaries, window, recall, economics (pure)
    language/     languages: normal forms of text, word tables as data files, detection, a language as an object (pure)
    embed/        texts to vectors: the built-in model, another one, or a server
    tokens.py     how many tokens a message costs
    upstream/     the providers: routing, connections, retries, breaker
    passthrough.py  every route that is not managed, streamed through
    storage/      sessions, ledger, answers, facts, old turns: Protocols, their backends, the library in front of them
    observe/      metrics and logs
    admin/        the API for whoever runs the proxy: sums, requests, sessions, facts, reused answers, what-if
    page/         the page that shows all of that: static files, no build step

    replay/       `olvido replay`: what would have been saved, on requests that were made already
    demo/         `olvido demo`: an upstream that needs no key, and the conversations that it plays

    types/        everything that crosses from one room into another, frozen
    config/ (settings and profiles), errors.py, tasks.py, lru.py (a bounded dictionary), linear.py (learned scores),
    services.py (composition root), server.py, cli.py, doctor.py, memory_cli.py, memory_folder.py
"""
