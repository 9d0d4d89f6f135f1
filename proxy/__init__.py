"""Olvido: an OpenAI-compatible reverse proxy that manages context transparently.

The rooms, in the order a request walks through them:

    app.py        routes and lifespan; HTTP in, HTTP out
    edge.py       what is settled in front: keys, limits, deadlines; call.py: one request and its answer in ASGI
    pipeline.py   the way of a request, a stage a line (start reading here)
    attempt.py    what every stage of ours runs in: deadline, timing, fail open
    stages/       identify, exact, intent, plan, assemble, forward, record
    wire/         JSON and SSE to types and back; turns and the hash chain; what each upstream demands
    reuse/        which requests may be answered from memory, and under which key (pure)
    memory/       facts, summaries, window, economics, recall (pure)
    tokens.py     how many tokens a message costs
    upstream/     the providers: routing, connections, retries, breaker
    storage/      sessions, ledger, answers: Protocols and their backends
    observe/      metrics and logs
    demo/         an upstream that needs no key, for `olvido demo` and for the tests

    types.py      everything that crosses from one room into another, frozen
    config/ (settings and profiles), errors.py, tasks.py, services.py (composition root), server.py, cli.py
"""
