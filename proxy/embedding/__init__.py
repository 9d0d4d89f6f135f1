"""Embeddings: texts to vectors, for everything that compares meanings.

    base.py          Embedder and its errors, the embedder that is off; checks of vectors
    service.py       opens the configured embedder: warming up, cache, batches, checks, state, around any engine
    batching.py      joins queries of one moment in one run; a full queue refuses
    local.py         engine: a sentence-transformers model, exported once, run here
    endpoint.py      engine: an OpenAI-compatible /v1/embeddings

    source.py        the identity of a local model, and the check of a packaged one's sha256
    export.py        `python -m proxy.embedding.export`: makes the export, in a process of its own
    packaged.py      the export of the packaged model, without torch
    multilingual.py  the export of the model of the extra `multilingual`
    int8.py          linear layers in int8, for both
    exported.py      the export on disk
    session.py       runs an export: onnxruntime and tokenizers

torch, where it is installed, is only ever imported by export.py's process; onnxruntime and tokenizers only once the
server is up.
"""
