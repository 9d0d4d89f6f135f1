"""The demonstration, `olvido demo`: a scripted upstream that needs no key behind the real proxy.

    show.py    plays a conversation twice; talk/: the text of the conversations
    speaking.py  its requests in each API
    bill.py    tokens and costs of each play, as tables
    index.py   waits until a proxy has learnt what it was told
    cluster.py plays it through several proxies over one PostgreSQL and one Redis
    desk.py    plays an agent that keeps its own memory, three times; agent.py: its model
    app.py     the upstream, as an application
    forms.py   for it: an answer as a `chat.completion` object and as its chunks
    counting.py  for it: tokens of prompts and answers; prompt_cache.py: which of them are cached
    script.py  the answers of its model; phrases.yaml: what it says
    remembering.py  the answers of a second model, which helps memory
    helped.py  plays two conversations that it reads, and tells what came of them
    besides.py  a question in other words, answered from memory; a memory file that is edited while the proxy runs

Answers depend on the messages, the model and the seed only. `tests/scripted/` makes an upstream of the same model that
speaks every dialect, fails on demand and records what arrives.
"""
