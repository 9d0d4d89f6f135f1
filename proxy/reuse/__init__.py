"""Which requests may be answered from memory, and by which entry. Decisions only: no storage, no clock, no I/O.

May this request be answered from memory, or its answer kept?

    key.py         is it deterministic, and which earlier request is it identical to
    cacheable.py   the reasons for which no answer is reused or kept: what it carries, what its user asks
    moment.py      does the question ask about this moment?      patterns.py  the words that say so
    feelings.py    does its author tell how they are?
    effects.py     does it order something done?                 verbs.py     the verbs that say so
    learned.py     the same three as scores, learned from sentences (learned.json)
    features.py    what of a message those scores are made of

Which earlier questions may it be compared with?

    partition.py   which requests ask a plain question, and what two of them must share
    standing/      is it understood without what was said before it?
    context.py     do two conversations say the same?
    index.py       the nearest of the questions that were asked before

What does a question say? Tables of English and Spanish are in `…_en.py` and `…_es.py`.

    question.py    its words in the form in which two questions are compared
    canonical.py   its text in that form: without small talk and frames, spelt out, one way of saying for several
    filler.py      is a part of the message mere courtesy, or context?    filler_en.py, filler_es.py
    frames.py      the question without what only asks for an answer      frames_en.py, frames_es.py
    lexicon.py     what the tables of a language hold                     lexicon_en.py, lexicon_es.py
    words.py       the forms of a word: lemma, root, stem, sound
    spelling.py    grammar words that are typed wrongly
    tense.py       which time it asks about

Do two questions ask the same?

    verdict.py     the decision, the cheapest doubt first
    align.py       which word of one stands for which of the other
    guards.py      what makes two questions with nearly the same words different ones
    opposites.py   words that are near each other to an embedding and opposite to a reader
    verifier.py    may they be the same although a word is left over?

Doubt is a miss: an answer that is not reused costs what it would have cost without us, a wrong one costs trust.
"""
