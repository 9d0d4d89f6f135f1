"""Embeddings: texts to vectors, for everything that compares meanings.

    base.py          Embedder and its errors, the embedder that is off; checks of vectors
    service.py       opens the configured embedder: warming up, cache, batches, checks, state, around any engine
    engines.py       a model that runs here: onnxruntime and tokenizers; an OpenAI-compatible /v1/embeddings
    exported.py      the identity of a local model, the check of a packaged one's sha256, and its export on disk

    export.py        `python -m proxy.embedding.export`: makes the export, in a process of its own
    packaged.py      the export of the packaged model, without torch; linear layers in int8
    multilingual.py  the export of the model of the extra `multilingual`

torch, where it is installed, is only ever imported by export.py's process; onnxruntime and tokenizers only once the
server is up.
"""
