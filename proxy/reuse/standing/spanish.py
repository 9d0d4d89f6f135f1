"""Rules of Spanish: what a sentence must say, and must not, to be understood on its own. `standing.txt` has the words.

Spanish leaves out pronouns that are subjects, and has articles where English has none. So a verb of the third person
needs a subject that is said, and of the nouns with an article those that are general, or of something, need more.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from proxy.language.phrases import phrases
from proxy.language.tables import expression, function_words, table
from proxy.reuse.standing.sentence import Grammar, Sentence, Vocabulary


def _words(section: str) -> frozenset[str]:
    return frozenset(table("es", "standing", section).split())


def _expression(section: str) -> re.Pattern[str]:
    return re.compile(expression("es", "standing", section))


_ORDERS = _words("orders")
_UNIQUE_PAIRS = frozenset(table("es", "standing", "unique-pairs").split(" | "))
_ABSTRACT = _expression("abstract")
_MENTIONS = _words("mentions")
_BEFORE_NOUN = _words("before-noun")
_NO_CLITIC = _words("no-clitic")
_ARTICLES = _words("articles")
_DETERMINERS = _words("determiners")
_PREPOSITIONS = _words("prepositions")
_QUESTION_WORDS = _words("question-words")
_WITH_NOUN = _words("with-noun")
_IDENTIFIED = _words("identified")
_CLITICS = _words("clitics")
_OF = _words("of")
_COMPLETES = _words("completes")
_COPULAS = _words("copulas")
_ACTS = _words("acts")
_LATEST = 2  # position of a question word that no comma comes before: "¿desde hace cuánto…?"
_ASKS_FIRST = phrases(table("es", "standing", "asks"), opening=True)
_ASKS_LATER = phrases(table("es", "standing", "asks-inside"))
_POINTS = phrases(table("es", "standing", "pointers"))
_HALF = phrases(table("es", "standing", "halves"))
_WHOLE = phrases(table("es", "standing", "other-half"))
_INFINITIVE = _expression("infinitive")
_VERB_FOLLOWS = _words("verb-follows")
_NOUN_FOLLOWS = _words("noun-follows")
_CLITIC = _expression("clitic")
_ORDERED = _expression("ordered")
_FIRST_PERSON = _expression("first-person")
_DEFINES = _expression("defines")
_ABOUT_ONE = _expression("about-one")
_SITUATED = _expression("situated")
_NOUNS, _PLAIN, _UNIQUE = (_words(name) for name in ("nouns", "plain", "unique"))
_FUNCTION = function_words("es", "standing")


def _asks(sentence: Sentence) -> bool:
    """Also a question that begins with its subject: "¿Un perro puede comer uvas?"."""
    if _ASKS_FIRST.match(f" .{sentence.text}") or sentence.says(_ASKS_LATER):
        return True
    return any(token in _COPULAS or token in _ACTS for token in sentence.tokens[1:])


def _is_whole(sentence: Sentence) -> bool:
    anchors = sentence.anchors
    if not anchors or not _has_subject(sentence):
        return False
    return len(anchors) > 1 or sentence.is_name(sentence.tokens[anchors[0]]) or not _needs_more(sentence, anchors[0])


def _needs_more(sentence: Sentence, anchor: int) -> bool:
    """With one thing named, would it still be asked of something: "¿Necesito visa?", "¿Qué integrantes quedan?"?"""
    if sentence.says(_SITUATED):  # a particular thing to do is the second one: "¿Puedo congelar pan?"
        return not any(sentence.is_content(token) for at, token in enumerate(sentence.tokens) if at != anchor)
    if any(
        word in _WITH_NOUN and noun not in _PLAIN and sentence.is_general(noun)
        for word, noun in pairwise(sentence.tokens)
    ):
        return True
    of_it = any(word in _OF for word in sentence.tokens[max(anchor - 2, 0) : anchor])
    return not of_it and sentence.tokens[0] not in _ORDERS and _ABOUT_ONE.match(sentence.text) is None


def _has_subject(sentence: Sentence) -> bool:
    """Tells whether it is said who or what does it. An order, the first and the second person need no word for it."""
    tokens = sentence.tokens
    if tokens[0] in _ORDERS or sentence.says(_FIRST_PERSON) or sum(token[0].isdigit() for token in tokens) > 1:
        return True
    free = list(_free(sentence))
    question = next((at for at, token in enumerate(tokens) if _is_question_word(sentence, at, token)), None)
    if question is None:
        if tokens[0] in ("los", "las") and not _names_something_else(sentence):  # "¿Los estudiantes tienen descuento?"
            return False
        with_article = sum(led for _, led in free)
        begins_with_act = tokens[0] in _ACTS or (tokens[0] == "se" and sentence.token(1) in _ACTS)
        return with_article > 0 and (len(free) > 1 or not begins_with_act)
    identified = tokens[question] in _IDENTIFIED
    start = question + 1
    while sentence.token(start) in _CLITICS:
        start += 1
    described = sentence.token(start) in _COPULAS and not identified  # "¿Por qué es azul?"
    if tokens[question] in _WITH_NOUN and _begins_with_noun(sentence, start):
        start += 1
        if sentence.token(start) == "se":  # "¿Qué idiomas se hablan…?": the noun is the subject
            return True
    return any(at > start and (led or not described) for at, led in free) or "si" in tokens


def _is_question_word(sentence: Sentence, at: int, token: str) -> bool:
    return token in _QUESTION_WORDS and (at < _LATEST or sentence.token(at - 1) == ",")


def _begins_with_noun(sentence: Sentence, at: int) -> bool:
    """Tells whether it is `que` with a noun ("¿Qué población tiene…?") rather than with a verb."""
    word, following = sentence.token(at), sentence.token(at + 1)
    if sentence.is_general(word):
        return True
    return word not in _PLAIN and (following in _PLAIN or not following or sentence.token(at + 2) == "")


def _free(sentence: Sentence) -> Iterator[tuple[int, bool]]:
    """Positions of what is named and that no preposition governs. With each: has it an article, or needs it none?"""
    governed = led = False
    for at, token in enumerate(sentence.tokens):
        if token in _PREPOSITIONS:
            governed, led = True, False
        elif token in _DETERMINERS:
            governed, led = governed and sentence.token(at - 1) in _PREPOSITIONS, True
        elif token in _FUNCTION or not token[0].isalnum():
            governed = led = False
        elif not governed and (
            at in sentence.anchors or (sentence.is_general(token) and sentence.token(at + 1) in _OF)
        ):
            yield at, led or sentence.is_name(token) or _INFINITIVE.fullmatch(token) is not None


def _points(sentence: Sentence) -> bool:
    tokens = sentence.tokens
    if sentence.says(_POINTS) or (sentence.says(_HALF) and not sentence.says(_WHOLE)):
        return True
    if _ORDERED.match(sentence.text) or any(map(_has_clitic, tokens)):
        return True
    return any(token in _ARTICLES and not _is_told_which(sentence, at) for at, token in enumerate(tokens))


def _has_clitic(token: str) -> bool:
    return _CLITIC.fullmatch(token) is not None and token not in _NO_CLITIC


def _is_told_which(sentence: Sentence, article: int) -> bool:
    """Tells whether the noun phrase that begins with this article says which one it means, or means its kind."""
    at = article + 1
    while sentence.token(at) in _BEFORE_NOUN:
        at += 1
    noun, following = sentence.token(at), sentence.token(at + 1)
    if noun in _FUNCTION or not noun[:1].isalnum():
        return False
    if any(sentence.is_name(token) or token[:1].isdigit() for token in (noun, following)):
        return True
    if noun in _UNIQUE or noun in _MENTIONS or f"{noun} {following}" in _UNIQUE_PAIRS:
        return True
    completes = _COMPLETES if article else _OF  # "¿El bucle para…?": a verb
    if following in completes or (sentence.token(at + 2) in completes and sentence.is_content(following)):
        return True
    if sentence.is_general(noun):
        return False
    if sentence.tokens[article] in ("los", "las") or _ABSTRACT.search(noun) or _INFINITIVE.fullmatch(noun):
        return True
    if _DEFINES.search(" ".join(sentence.tokens[:article])) or (sentence.is_content(following) and article > 0):
        return True
    return _names_something_else(sentence)


def _names_something_else(sentence: Sentence) -> bool:
    return any(map(sentence.is_name, sentence.tokens)) or any(
        word in ("un", "una", "mi", "mis") and sentence.is_content(noun) for word, noun in pairwise(sentence.tokens)
    )


def _is_verb(token: str, before: str) -> bool:
    if before in _VERB_FOLLOWS:
        return True
    return _INFINITIVE.fullmatch(token) is not None and before not in _NOUN_FOLLOWS


GRAMMAR = Grammar(Vocabulary(_NOUNS, _FUNCTION, _PLAIN, _is_verb), _asks, _is_whole, _points)
