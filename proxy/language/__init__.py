"""What is known of Spanish and English: how text is normalised, how tables of words are written down, read and
compiled, and which language a text is in. It knows nothing of conversations, memory or reuse.

    text      normalisation: lower case, no accents, a space around every word and mark
    phrases   compiles tables of expressions into patterns: prefix trees, and expressions that name tables
    rules     patterns that are tried only on a text that has what they need
    tables    reads the data files: one folder per language, one file per subject, one section per table; `union` joins
              the languages, for text of which none is known
    detect    the language of a question
"""
