"""Rules of English: what a sentence must say, and must not, to be understood on its own. The words are in
`standing.txt`."""

import re

from proxy.language.phrases import phrases
from proxy.language.tables import expression, function_words, table
from proxy.reuse.standing.sentence import Grammar, Sentence, Vocabulary


def _words(section: str) -> frozenset[str]:
    return frozenset(table("en", "standing", section).split())


def _expression(section: str) -> re.Pattern[str]:
    return re.compile(expression("en", "standing", section))


_UNIQUE_PAIRS = frozenset(table("en", "standing", "unique-pairs").split(" | "))
_ARTICLES = _words("articles")
_MENTIONS = _words("mentions")
_SUBJECTS = _words("subjects")
_INVERTING = _words("inverting")
_IDENTIFIED = _words("identified")
_IDENTIFYING = _words("identifying")
_COMPLETES = _words("completes")
_AMOUNT = "$0123456789"
_BOUNDS = _words("bounds")
_ASKS_FIRST = phrases(table("en", "standing", "asks"), opening=True)
_ASKS_LATER = phrases(table("en", "standing", "asks-inside"))
_POINTS = phrases(table("en", "standing", "pointers"))
_HALF = phrases(table("en", "standing", "halves"))
_WHOLE = phrases(table("en", "standing", "other-half"))
_EXPLETIVE = _expression("expletive")
_RESUMED = _expression("resumed")
_UNBOUNDED = _expression("unbounded")
_ABOUT_ONE = _expression("about-one")
_OF_IT = _words("of-it")
_NOTHING_ELSE = _expression("nothing-else")
_SITUATED = _expression("situated")
_HOW_MUCH = _expression("how-much")
_SUPERLATIVE = _expression("superlative")
_PLURAL = _expression("plural")
_NOUNS, _PLAIN, _UNIQUE = (_words(name) for name in ("nouns", "plain", "unique"))
_FUNCTION = function_words("en", "standing")


def _asks(sentence: Sentence) -> bool:
    return _ASKS_FIRST.match(f" .{sentence.text}") is not None or sentence.says(_ASKS_LATER)


def _is_whole(sentence: Sentence) -> bool:
    anchors = sentence.anchors
    if _NOTHING_ELSE.match(sentence.text) and not any(map(sentence.is_name, sentence.tokens)):
        return False
    if len(anchors) != 1:
        return bool(anchors)
    return sentence.is_name(sentence.tokens[anchors[0]]) or _is_about_one(sentence, anchors[0])


def _is_about_one(sentence: Sentence, anchor: int) -> bool:
    """With one thing named, is it clear of what it is asked? Not in "Do I need a visa?", "What did critics think?",
    "Which members are alive?", "Are batteries included?"."""
    if sentence.says(_HOW_MUCH):
        return False
    if sentence.says(_SITUATED):  # a particular thing to do is the second one: "Can I freeze bread?"
        return any(sentence.is_content(token) for at, token in enumerate(sentence.tokens) if at != anchor)
    of_it = any(word in _OF_IT for word in sentence.tokens[max(anchor - 3, 0) : anchor])
    return of_it or _ABOUT_ONE.match(sentence.text) is not None


def _points(sentence: Sentence) -> bool:
    text = _RESUMED.sub(r"\g<named>", _EXPLETIVE.sub("", sentence.text))
    if _POINTS.search(text) or _UNBOUNDED.match(sentence.text):
        return True
    if sentence.says(_HALF) and not sentence.says(_WHOLE):
        return True
    return any(token in _ARTICLES and not _is_told_which(sentence, at) for at, token in enumerate(sentence.tokens))


def _is_told_which(sentence: Sentence, article: int) -> bool:
    """Tells whether the noun phrase that begins with this article says which one it means."""
    tokens = sentence.tokens
    end = article + 1
    while sentence.token(end)[:1].isalnum() and tokens[end] not in _FUNCTION:
        end += 1
    phrase = tokens[article + 1 : end]
    if sentence.token(article + 1) in _UNIQUE or " ".join(phrase[:2]) in _UNIQUE_PAIRS:
        return True
    if not phrase:
        return False
    completed = sentence.token(end) in _COMPLETES or (
        sentence.token(end) == "and" and sentence.token(end + 2) in _COMPLETES
    )
    named = any(sentence.is_name(token) or token[0].isdigit() for token in phrase)
    if phrase[0] in _MENTIONS and len(phrase) > 1:
        return True
    if _is_subject(sentence, article):  # its verb can't be told from its noun
        general = sentence.is_general(phrase[0]) and not sentence.is_name(phrase[0])
        return sentence.token(end) == "of" or (named and not general)
    if len(phrase) == 1 and sentence.is_general(phrase[0]) and not completed:
        return _is_bounded(sentence, end)  # "the Museum" is as bare as "the museum"
    return named or completed or _is_bounded(sentence, end) or _describes(sentence, phrase)


def _is_subject(sentence: Sentence, article: int) -> bool:
    before = sentence.token(article - 1)
    identifying = before in _IDENTIFYING and sentence.token(article - 2) in _IDENTIFIED
    return before in _INVERTING and not identifying


def _is_bounded(sentence: Sentence, end: int) -> bool:
    bound = sentence.token(end + 1)
    definite = sentence.is_name(bound) or bound in ("a", "an", "my") or bound.endswith("ing") or bound[:1] in _AMOUNT
    return bound != "" and sentence.token(end) in _BOUNDS and definite


def _describes(sentence: Sentence, phrase: list[str]) -> bool:
    """Tells whether it is a compound of particular nouns ("the stock market") or the most of its kind."""
    while phrase and phrase[-1] in _PLAIN:
        phrase = phrase[:-1]
    if len(phrase) < len(("stock", "market")) or sentence.is_general(phrase[-1]):
        return False
    if _SUPERLATIVE.match(phrase[0]):
        is_adjective = phrase[0] in ("most", "least") and not phrase[2:] and not _PLURAL.search(phrase[1])
        return not is_adjective
    return phrase[0] not in _PLAIN and not sentence.is_general(phrase[0])


GRAMMAR = Grammar(
    Vocabulary(_NOUNS, _FUNCTION, _PLAIN, is_verb=lambda _, before: before in _SUBJECTS),
    _asks,
    _is_whole,
    _points,
)
