"""Memory: facts that users state, recall of old turns, and forgetting.

Storage and background work:

    library.py        the memory of all scopes, cached over storage; shelf.py: that of one scope
    learn.py          after the answer: its turns, the facts in them, the state for the next request
    ingest.py         for it: the new turns and statements of a request, step by step
    obey.py           execution of commands to forget; orders.py: pending commands, undo of a wipe

Facts, from a user message to a prompt:

    own_words.py      the author's own words in a message; voice.py: models for that, piece by piece
    shapes.py         enclosed text, and phrases around pasted text
    attribution.py    text that an introduction attributes to somebody else
    clauses.py        clauses and their features; clause_models.py: the models over them
    reading.py        one clause: is it kept
    extract.py        from a message to statements, one per fact; values.py: value, key and language of one
    subject.py        analysis of a statement: holder, topic, values
    ending.py         models of whether a newer statement ends an older one; superseding.py: rules for that
    similarity.py     the known fact most similar to a statement
    facts.py          learning, confirming, superseding and ageing of facts
    commands.py       commands to forget in a message, and statements of a history that are not learnt again
    forget_orders.py  parser of one sentence as such a command
    forgetting.py     the facts that a command means, and their remainders
    reunion.py        merging of facts that a wipe had put aside with those learnt since
    choosing.py       the facts that are valid now, and those that go into a prompt
    signals.py        patterns of phrases that signal facts
    edits.py          edits by hand; portable.py: export as lines of JSON, a table for people

Recall:

    passages.py       long messages in passages, and those that are recalled
    turn_index.py     the search index of a scope
    view.py           the part of it that one request may see
    recall.py         ranking of its messages for the question
    selecting.py      the best excerpts within a budget
    need.py           the gate of recall, and facts that answer by themselves; cues.py: features of the wording

The phrases that all of this is based on are data: `proxy/language/<code>/<subject>.txt`, a subject a file.
README.md maps the architecture note that this is built from, item by item, to numbers and tests.
"""
