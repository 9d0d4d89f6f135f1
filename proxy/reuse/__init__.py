"""Reuse of answers: the requests that may be answered from memory, and by which entry.

What fetches and writes:

    exact.py       the answer to this very request, if it may be reused
    intent.py      the answer to the same question in other words; partitions.py: earlier questions, in memory
    judging.py     a model's ruling on two questions that the comparison told apart: asked for in the background, if any
    reports.py     a reused answer was wrong: somebody says so, or the next question does

The rest decides, without storage, clock or I/O.

The words of each language are data files in `proxy/language/`, and come as one `Language` object, passed down.

May this request be answered from memory, or its answer kept?

    key.py         is it deterministic, and which earlier request is it identical to
    cacheable.py   the reasons for which no answer is reused or kept: what it carries, what its user asks
    gate.py        does it ask about this moment, tell a feeling, order something done? By the words that say so
    learned.py     the same three as scores, learned from sentences (learned.json)

Which earlier questions may it be compared with?

    partition.py   which requests ask a plain question, and what two of them must share
    standing/      is it understood without what was said before it?
    index.py       the nearest of the questions that were asked before

What does a question say?

    question.py    its words in the form in which two questions are compared
    canonical.py   its text in that form: without small talk and frames, spelt out, one way of saying for several

Do two questions, or two conversations, ask the same?

    verdict.py     the decision, the cheapest doubt first
    guards.py      what makes two questions with nearly the same words different ones
    said.py        its words as they are accounted for, and how they are written
    licences.py    is every word of both accounted for? What no licence allows is a difference
    places.py      are words that stand elsewhere in the same phrases?
    align.py       which word of one stands for which of the other
    roles.py       what the places and forms of aligned words tell
    verifier.py    may they be the same although a word is left over?

Doubt is a miss: an answer that is not reused costs what it would have cost without us, a wrong one costs trust.
"""
