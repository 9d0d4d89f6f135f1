"""Text to vectors, for everything that compares meanings.

    base.py          what the rest sees: Embedder, its errors, the one that is off; what no embedding may look like
    opening.py       which embedder the configuration asks for
    service.py       around every engine: warming up, cache, batches, checks, state
    batching.py      queries that come at the same moment share one run; a full queue refuses
    local.py         engine: a sentence-transformers model, exported once, run here
    endpoint.py      engine: an OpenAI-compatible /v1/embeddings

    source.py        which model is to run here, and that the packaged one is the official one
    export.py        `python -m proxy.embedding.export`: the export, in a process of its own
    packaged.py      of the packaged model, without torch; multilingual.py: of that of the extra
    int8.py          linear layers in int8, for both
    exported.py      the export on disk
    session.py       onnxruntime and tokenizers

torch, where it is installed, is only ever imported by export.py's process; onnxruntime and tokenizers only once the
server is up.
"""
