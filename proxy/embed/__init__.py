"""Text to vectors, for everything that compares meanings.

    base.py      what the rest sees: Embedder, its errors, and the one that is off
    opening.py   which embedder the configuration asks for
    service.py   around every engine: warming up, cache, batches, checks, state
    batching.py  queries that come at the same moment share one run; a full queue refuses
    checks.py    what no embedding may look like (pure)
    local.py     engine: a sentence-transformers model, exported once, run here
    source.py    which model that is, and that the packaged one is the official one
    export.py    `python -m proxy.embed.export`: the export, in a process of its own
    packaged.py  of the packaged model, without torch; smoothing.py: what int8 keeps more by
    exported.py  the export on disk
    session.py   onnxruntime and tokenizers
    endpoint.py  engine: an OpenAI-compatible /v1/embeddings

torch, where it is installed, is only ever imported by export.py's process; onnxruntime and tokenizers only once the
server is up.
"""
