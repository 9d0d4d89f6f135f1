"""Reuse of answers: the requests that may be answered from memory, and by which entry.

What fetches and writes:

    exact.py       the answer to this very request, if it may be reused: its key
    intent.py      the answer to the same question in other words
    partitions.py  the entries of each partition, in memory
    judging.py     rulings from outside: a reused answer was wrong, two questions are the same after all

The rest decides, without storage, clock or I/O.

The words of each language are data files in `proxy/language/`, and come as one `Language` object, passed down.

May this request be answered from memory, or its answer kept?

    cacheable.py   the reasons for which no answer is reused or kept: what it carries, what its user asks, as learned
                   from sentences (learned.json)
    gate.py        does it ask about this moment, tell a feeling, order something done? By the words that say so
    standing.py    is it understood without what was said before it? sentence.py: a sentence and what it is about;
                   english.py, spanish.py: the rules of each language for that

Which earlier questions may it be compared with?

    question.py    which requests ask a plain question, and what two of them must share
    index.py       the nearest of the questions that were asked before

Do two questions, or two conversations, ask the same?

    question.py    a question in canonical form: without small talk (small_talk.py) and frames, spelt out, one way of
                   saying for several
    verdict.py     the decision: every word of both is accounted for and stands in the same phrase
    pairing.py     two questions word by word, and the words that are not accounted for
    licences.py    the differences that two questions may have; substitutes.py: one word for another

Doubt is a miss: an answer that is not reused costs what it would have cost without us, a wrong one costs trust.
"""
