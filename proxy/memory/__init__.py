"""What of a conversation is sent, and what is remembered of it. Pure: no storage, no HTTP, no clock but the request's.

Planning, in the order of its decisions:

    planning.py     the order itself (start reading here); draft.py: a prompt in the making, and what its parts cost
    counted.py      tokens of what is counted again and again
    progress.py     what is new since the state that the last request left; state.py: that state as bytes
    economics.py    when to fold and how far, from prices: never pay more
    folding.py      what leaves becomes summaries in a new head; window.py: how much stays, and how
    tools.py        old tool results become a line
    elide.py        instructions that need not be repeated; elision.py: the request without them
    volatile.py     what this question needs and the window does not hold
    layout.py       where all of it stands, so that the prefix cache keeps; block.py: our own text in it
    fates.py        the fate of each message, as the plan decided it

Facts, from a user message to a prompt:

    handed.py       the user's own words in it; voice.py: whose each piece is, as was learnt
    shapes.py       what is enclosed in it; handing.py: in which words a text is handed over
    leads.py        what leads over to somebody else's words in it
    clauses.py      its clauses and their features; learned.py: what was learnt from many; spoken.py: its language
    reading.py      one clause: may it be kept
    extract.py      what a message states: clauses, one statement a fact; values.py: a statement's value and key
    subject.py      what a statement is about
    ending.py       does a newer statement end an older one, as was learnt; superseding.py: by which words
    likeness.py     which known fact still holds
    facts.py        learned, confirmed, superseded, grown old
    commands.py     what a message orders to be forgotten
    forget_orders.py  the order in one sentence
    forgetting.py   which facts an order means, and what stays of them
    reunion.py      what was put aside comes back among what was learnt since
    unsaid.py       what a history states that was forgotten, or outlived, and is not learnt from it
    current.py      those that hold now, in order; choosing.py: which of them go with a prompt
    signals.py      what is a sign of what
    provenance.py   the message that said one
    edits.py        changed by hand; portable.py: as lines of JSON; table.py: in a terminal

Topics:

    shift.py        does a message change it
    domains.py      which part of life it is about
    summaries.py    turns that left, as key-value records; filling.py: which pieces have room, and how long each may be
    notes.py        records that were written, found again for another question after the same turns
    noted.py        what of a message is worth one; cuts.py: where a sentence may be cut
    remarks.py      what of a message is beside its point; anchored.py: a question with the noun that it points to
    about.py        what turns are about of which nothing can be told
    referents.py    does a clause point at something that it does not name
    nouns.py        the noun phrases of a text

Recall:

    turns.py        turns as they are archived; passages.py: long messages in pieces
    turn_index.py   all of a scope, ready to be searched; terms.py: by which words; columns.py: arrays that grow
    view.py         what of it one request may see
    recall.py       how much the question needs each of them
    selecting.py    as many of the best as go with it; parts.py: which passages of a long one
    answering.py    which facts answer it, so that hardly anything is recalled
    need.py         whether it needs any; cues.py: what its wording tells

The words by which all of this is told are data: `proxy/language/<code>/<subject>.txt`, a subject a file, read by the
module that decides by it.

README.md maps the architecture note that this is built from, item by item, to numbers and tests.
"""
