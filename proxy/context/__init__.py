"""Planning of the prompt that is sent for a conversation. Pure, except for the first two modules.

    planner.py      looks up the inputs of a plan, and has it made in a worker thread
    recollect.py    for it: facts and old turns of the scope that may matter

    planning.py     the decisions, in their order (start reading here); draft.py: a prompt in the making, and its costs
    economics.py    when to fold and how far, from prices: never pay more
    folding.py      turns that leave become summaries in a new head; window.py: turns that stay
    tools.py        old tool results become a line each
    elide.py        instructions that the model knows are left out
    volatile.py     facts and excerpts that this question needs and the window does not hold
    layout.py       the order of all parts, so that the prefix cache holds
    fates.py        the fate of each message, as the plan decided it

Summaries:

    summaries.py    turns that left, as key-value records; filling.py: selection of the pieces that fit
    pieces.py       the pieces of a message that are worth a note
    cuts.py         joints at which a sentence may be cut, and tests of what a clause says
    about.py        topics of turns; a question with the noun that it points to
    referents.py    references of a clause to something that it does not name
    nouns.py        the noun phrases of a text

`proxy/memory/README.md` maps the architecture note that this is built from, item by item, to numbers and tests.
"""
