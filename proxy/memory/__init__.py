"""Memory: facts that users state, recall of old turns, and forgetting.

What fetches and writes:

    library.py      what each scope remembers, in front of storage; shelf.py: one scope's part of it
    learn.py        after the answer: its turns, the facts in them, the state for the next request
    harvest.py      for it: what of a request is new, step by step
    obey.py         carries out commands to forget; orders.py: those that are not carried out yet, wipes that are undone

Facts, from a user message to a prompt:

    handed.py       the user's own words in it; voice.py: whose each piece is, as was learnt
    shapes.py       what is enclosed in it, and by which words a text is handed over
    leads.py        what leads over to somebody else's words in it
    clauses.py      its clauses and their features; learned.py: what was learnt from many
    reading.py      one clause: may it be kept
    extract.py      what a message states: clauses, one statement a fact; values.py: value, key and language of one
    subject.py      what a statement is about
    ending.py       does a newer statement end an older one, as was learnt; superseding.py: by which words
    likeness.py     which known fact still holds
    facts.py        learned, confirmed, superseded, grown old
    commands.py     what a message orders to be forgotten, and what of a history is not learnt again
    forget_orders.py  the order in one sentence
    forgetting.py   which facts an order means, and what stays of them
    reunion.py      what was put aside comes back among what was learnt since
    choosing.py     the facts that hold now, in order, and those that go with a prompt
    signals.py      what is a sign of what
    edits.py        changed by hand; portable.py: as lines of JSON, as a table, with the message that said one

Recall:

    passages.py     long messages in pieces, and which of them are recalled
    turn_index.py   all of a scope, ready to be searched
    view.py         what of it one request may see
    recall.py       how much the question needs each of them
    selecting.py    as many of the best as go with it
    need.py         whether it needs any, and which facts answer it by themselves; cues.py: what its wording tells

The words by which all of this is told are data: `proxy/language/<code>/<subject>.txt`, a subject a file.
README.md maps the architecture note that this is built from, item by item, to numbers and tests.
"""
