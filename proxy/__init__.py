"""Olvido: an OpenAI-compatible reverse proxy that manages context transparently.

One capability, one room. Imports go down this list, never up:

    cli/          the command `olvido`: serve, doctor, keys, memory, replay, backup, erase, demo, bench and more
    bench/        what the proxy costs on this machine, beside the least that it could
    demo/         an upstream that needs no key, and the conversation that `olvido demo` plays
    workers/      several processes that serve one port, and their supervisor
    server.py     the process: sockets, signals, shutdown          app.py  its routes, lifespan
    api.py        handlers of the API: conversations, and the pass-through of all else
    admin/        the API for whoever runs the proxy                page/   the page that shows it, static files
    replay/       `olvido replay`: savings on requests that were made already
    services/     the composition root: every part, built once from the configuration
    pipeline/     the way of a request, a stage a line (start reading at its `chat`); the record of its outcome
    upstream/     the providers: routing, connections, retries, streams
    observe/      metrics and logs
    quality/      managed answers beside those of the same request as it was: whether they have held
    reuse/        reuse of stored answers: exact, and by intent
    files/        memory as files: a folder per person, in step with memory both ways
    curation/     memory with a model's help: what it is asked, what is kept of what it proposes
    context/      planning of the prompt that is sent for a conversation, by prices
    desk/         memory that the model manages itself: its tools, and what they do to a prompt
    memory/       facts, recall of old turns, forgetting
    conversation/ the scope and session of a request, and the progress of its conversation
    http/         one HTTP request before and around the pipeline: keys, limits, origins
    keys/         keys that this proxy gives out: whose a request is, what it may use
    storage/      sessions, ledger, answers, facts, old turns: Protocols and their backends
    tokens.py     token counts of messages
    protocol/     JSON and SSE to types and back, and the demands of each upstream
    embedding/    texts to vectors: the built-in model, another one, or a server
    tasks/        background tasks, deadlines with a fallback, work in threads
    config/       settings and profiles                             errors.py  errors in OpenAI's shape
    types/        values that cross from one room into another, frozen
    language/     languages: normal forms of text, word tables as data files, detection
    linear.py, lru.py    linear models over features; bounded maps
    bounded.py    files that somebody names, read up to a bound

Inside a room only the modules that fetch and write know of storage or asyncio; decisions are pure.
"""
