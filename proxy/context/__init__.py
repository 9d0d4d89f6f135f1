"""Planning of the prompt that is sent for a conversation. Pure, except for the first module.

    rollout.py      whether a conversation is managed: by key, model, canary share, and what came of it
    planner.py      looks up the inputs of a plan, and has it made in a worker thread
    deciding.py     for it: a request with all that was looked up, and its plan, a step at a time

    desk_plans.py   plans of requests whose model manages memory itself
    planning.py     the decisions, in their order (start reading here); draft.py: a prompt in the making
    sizes.py        a plan's sizes against its limit, and in the upstream's tokens
    draft_sizes.py  the tokens of the parts of a draft
    budget.py       those that were sent before, and the costs of the conversation so far
    economics.py    when to fold and how far, from prices: never pay more
    caching.py      the prefix cache as one request finds it: breakpoints where a provider needs them
    folding.py      turns that leave become summaries in a new head
      slots.py      a model's summaries in place of extracted ones
    marks.py        what the model has pruned or summarised; when its tools are offered
    shortening.py   long answers lose their middle, old tool results become a line each
    elide.py        instructions that the model knows are left out
    recollecting.py the facts and how much of the past this question calls for
    volatile.py     those of them that are sent, since the window does not hold them
    staying.py      those that were sent with earlier questions: they stay in front of these
    fitting.py      what gives way under a limit
    alternatives.py when the budget itself does: where keeping it would cost more than pass-through
    finishing.py    the draft as a plan: its messages, its costs and breakpoints, the next request's state
    telling.py      what became of each message, and which mechanism has saved how much
    pointed.py      the item of an earlier list that this question points at
    layout.py       the order of all parts, so that the prefix cache holds; the body; the fate of each message

Summaries:

    summaries.py    turns that left, as key-value records, and their topics
    filling.py      selection of the pieces that fit
    pieces.py       the pieces of a message that are worth a note
    cuts.py         joints at which a sentence may be cut, and tests of what a clause says
    referents.py    references of a clause to something that it does not name
    nouns.py        the noun phrases of a text

For whoever builds prompts himself (`proxy/pipeline/context_api.py`):

    digest.py       a conversation from the archive: its newest turns, summaries, items of lists
    state.py        the fields of a conversation, read from the user's own words
      field_values.py  the values of a field in one clause
    values.py       numbers and dates in a text

`proxy/memory/README.md` maps the architecture note that this is built from, item by item, to numbers and tests.
"""
