"""The demonstration, `olvido demo`: a scripted upstream that needs no key behind the real proxy.

    show.py          plays a conversation twice                          bill.py          what each play came to
    conversation.py  the conversations; talk/: the text of the long one
    app.py           the upstream's routes: chat completions, models
    chat.py          its model: answers, ids, usage                      prefix_cache.py  what of a prompt is cached
    completions.py   an answer as a `chat.completion` object and as its chunks
    script.py        what the model answers     recall.py     what it knows, and finds in the prompt
    schema.py        JSON that fits

Answers depend on the messages, the model and the seed only. `tests/scripted/` makes an upstream of the same model that
speaks every dialect, fails on demand and records what arrives.
"""
