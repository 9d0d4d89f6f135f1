"""Languages: how text is normalised, how tables of words are written down, read and compiled, which language a text is
in, and each language as one object. It knows nothing of conversations, memory or reuse.

    words.py     plain text: lower case, no accents, a space around every word and mark; the forms of a word: lemma,
                 stem, sound, and the terms that old messages are found by
    phrases.py   compiles tables of expressions into patterns: prefix trees, expressions that name tables, and rules,
                 which are tried only on a text that has what they need
    finding.py   searches a text for many patterns at once, by how their matches begin
    tables.py    reads the data files: one folder per language, one file per subject, one section per table; `union`
                 joins the languages, for text of which none is known
    detect.py    the language of a question
    values.py    places where values stand in a text, however they are written; lines without them
    language.py  a language as questions are compared in it: one frozen object, which is passed down

    <code>/   the words of a language. Whatever files a folder has, that much is known of its language:
              detection    that a text is in it, or at least in no other one
              moment, feelings, orders    what is never reused (`proxy.reuse.gate`); they are read together
              function     the function words, and by how much each use of them differs
              lexicon, licences, frames, smalltalk    how two questions are compared
              list_items   references to an item of a list: ordinals, "the last one", "más info del segundo"
              state        numbers, dates and the words around them, by which fields of a conversation are read
              answering    how an answer says that it does not know, refuses, agrees or declines
              standing     whether a question is understood on its own; its rules: `proxy.reuse`, a module a language
"""
