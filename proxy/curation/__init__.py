"""Memory with a model's help: a model reads conversations that have ended or were folded, and proposes what to
remember; what is kept is decided here.

Pure:

    prompts.py        the prompts, files of the package in each language, or of a folder of the configuration
    asking.py         what the model is asked, as chat requests: turns and facts, numbered
    answers.py        what it answers, read: operations, events, summary; anything else is refused with a reason
    evidence.py       the quotation that an operation rests on: whether the user said it, and what it states
    operations.py     operations against the facts as they are now: what is carried out, what is refused and why
    retracting.py     orders to forget that came before the model has read what they are about
    carrying.py       the facts as a job changes them: carried out twice is carried out once
    telling.py        events, a summary and a name for the conversation, out of an answer
    consolidating.py  facts that may be the same or contradict each other, and what a model says of them
    digesting.py      digests of hours, days and weeks out of events
    sessions.py       sessions at the desk that have ended: what the model is asked about them
    lessons.py        what it answers about one, and what that makes of the sections
    looking.py        what jobs have come to, for people: as JSON; what a fact rests on; undoing

Storage and background work:

    arming.py         jobs, armed when there may be something to read
    working.py        the worker: takes jobs that are due, puts off what fails
    doing.py          the work of one job, from its row to what came of it
    concluding.py     the end of a session at the desk: asked about, and its sections edited
    spending.py       what a call may cost, by what was saved; calls within that
    writing.py        facts, written as they are decided at that moment
    model.py          Protocol of the model that is asked
    watching.py       Protocol of those who follow what it finds

README.md shows ten conversations as the model is asked about them, and what is kept of answers made by hand.
"""
