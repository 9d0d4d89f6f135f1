"""Planning: what of a conversation is sent. Pure, but for the first two.

    planner.py      looks up what a plan needs, and has it made in a worker thread
    recollect.py    for it: what the scope remembers that may matter

    planning.py     the decisions, in their order (start reading here); draft.py: a prompt in the making, and its costs
    economics.py    when to fold and how far, from prices: never pay more
    folding.py      what leaves becomes summaries in a new head; window.py: how much stays, and how
    tools.py        old tool results become a line
    elide.py        instructions that need not be repeated, and the request without them
    volatile.py     what this question needs and the window does not hold
    layout.py       where all of it stands, so that the prefix cache keeps
    fates.py        the fate of each message, as the plan decided it

Summaries:

    summaries.py    turns that left, as key-value records; filling.py: which pieces have room, and how long each may be
    noted.py        what of a message is worth one
    cuts.py         where a sentence may be cut, and what of a message is beside its point
    about.py        what turns are about; a question with the noun that it points to
    referents.py    does a clause point at something that it does not name
    nouns.py        the noun phrases of a text

`proxy/memory/README.md` maps the architecture note that this is built from, item by item, to numbers and tests.
"""
