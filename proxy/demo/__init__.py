"""The demonstration, `olvido demo`: a scripted upstream that needs no key behind the real proxy.

    show.py          plays a conversation twice
    bill.py          tokens and costs of each play; the prefix cache of the demo upstream
    conversation.py  the conversations; talk/: the text of the long one
    app.py           the upstream: chat completions, models
    completions.py   an answer as a `chat.completion` object and as its chunks
    script.py        the answers of its model
    recall.py        answers of general knowledge, and sentences found in the prompt
    schema.py        values that fit a JSON Schema

Answers depend on the messages, the model and the seed only. `tests/scripted/` makes an upstream of the same model that
speaks every dialect, fails on demand and records what arrives.
"""
