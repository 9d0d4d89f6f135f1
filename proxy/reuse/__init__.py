"""Which requests may be answered from memory, and under which key. Decisions only: no storage, no clock, no I/O.

    key.py         is this request deterministic, and which earlier request is it identical to
    cacheable.py   the reasons for which no answer is reused or kept: what the request carries, what its user asks
    moment.py      does the question ask about this moment?      patterns.py  the words that say so
    feelings.py    does its author tell how they are?
    effects.py     does it order something done?                 verbs.py     the verbs that say so
    text.py        the form in which messages are compared with these tables

Doubt is a miss: an answer that is not reused costs what it would have cost without us, a wrong one costs trust.
"""
