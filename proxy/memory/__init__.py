"""Memory: facts that users state, recall of old turns, and forgetting.

Storage and background work:

    library.py        the memory of all scopes, cached over storage; forgetting
    indexing.py       for it: how the index of a scope is read, and stored
    states.py         for it: the states of conversations
    shelf.py          the memory of one scope
    ingesting.py      the reading of an answered request for what is new to it
    shelving.py       the memory of a large scope as bytes, for processes that have not served it yet
    beside.py         turns that are not in the archive, but in files
    watching.py       observers of what happens to a memory; the source of what is in files
    learn.py          after an answer: its turns, the facts in them, the next request's state
    obedience.py      commands to forget, carried out until storage has done so
    owed.py           the turns of a scope that have no vectors yet
    vectors.py        the vectors of turns and facts, made when a plan depends on them
    warming.py        what the first question would wait for, loaded at the start

Facts, from a user message to a prompt:

    own_words.py      the author's own words in a message
    other_speakers.py  spans that somebody else says, by what introduces them
    shapes.py         marks of handed-over text; voice.py: models that tell whose words a piece is
    tokens.py         words, numbers and marks of a text, and the features of what stands in a row
    clauses.py        clauses of a passage, and the model of where one begins
    predictions.py    the models of which clauses state a fact, about what, and which facts a question needs
    reading.py        one clause: is it kept; no_statement.py: forms by which it states nothing
    passages.py       the clauses of a passage, or of an order to remember, each read
    neighbours.py     clauses judged by what stands beside them
    joining.py        clauses joined, one fact each; statements.py: the statement that they make
    reminiscing.py    memories of former times, which are no facts
    remember_orders.py  orders to remember, and what they have kept; remember_contents.py: a fact, a rule, or nothing
    credentials.py    passwords, keys and numbers of cards, which are never kept
    extract.py        from a message to statements, with all of these
    signals.py        patterns of phrases that signal facts
    analysis.py       a statement by its words: holder, topic, values
    ending.py         models of whether a newer statement ends an older one, or one in between by a return
    ending_features.py  what they go by; trees.py: how their trees are read
    superseding.py    the rules for that
    likeness.py       statements as they are compared with others; similarity by shared words
    alike.py          the facts of a scope by their words: the nearest to a value, and whether one says the same
    facts.py          learning, confirming and superseding of facts
    ageing.py         their ageing: status, and what comes next
    reuniting.py      groups of facts that were learnt apart, merged
    kinds.py          the kinds of needs that a fact answers
    current.py        the facts that are valid now, as questions are compared with all of them at once; their lines
    choosing.py       those that go into a prompt, those that answer by themselves
    edits.py          facts in the hands of people: added, changed, deleted, restored
    interchange.py    facts from and for another place: lines of JSON, merged
    showing.py        facts as people read them: JSON, a table
    deriving.py       domain and key of a fact that a person writes down
    sources.py        where a fact comes from: the messages that said it

What two statements say, and what a quotation states:

    claims.py         a statement as it is compared: whose it is, what it denies, its tense, its terms
    claim_terms.py    its words without fillers, and the terms that are left; claim_numbers.py: its numbers as figures
    claim_words.py    the notions that several words and phrases stand for; roots.py: roots of words
    same_fact.py      whether two statements are one fact in other words; agreeing.py: two words that say the same;
                      claim_order.py: the same words in an order that says something else
    support.py        whether the user's own words, quoted from a message, state a value: support_mood.py: how they are
                      meant; support_holder.py: whom they are about; support_content.py: what they say, and when;
                      support_quoted.py: a quotation beside a value; support_marks.py: the words that tell

Commands to forget:

    forget_orders.py  parser of one sentence as such a command
    commands.py       commands in a message, those that are pending, and statements that are not learnt again
    forgetting.py     the facts that a command means, and their remainders

Recall:

    cues.py           features of the wording of a message
    spans.py          messages split into passages
    turn_index.py     the search index of a scope; columns.py: the growing tables that it is made of
    view.py           the part of it that one request may see; paths.py: how that is found, and cached
    packing.py        its messages, packed: in memory, and as bytes
    postings.py       its posting lists, the same
    passage_vectors.py  its vectors, the same
    recall.py         ranking of its messages for the question
    selecting.py      the gate of recall, and the best excerpts within a budget
    list_references.py  references to an item of a list that the assistant gave
    list_items.py     the item that such a reference means
    meaning.py        whether that depends on vectors, and on which

The phrases that all of this is based on are data: `proxy/language/<code>/<subject>.txt`, a subject a file.
README.md maps the architecture note that this is built from, item by item, to numbers and tests.
"""
