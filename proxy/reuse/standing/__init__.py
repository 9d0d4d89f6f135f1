"""Messages that can be understood without what was said before them.

Asked of a question that comes after others: only what stands alone may be answered from another conversation. The rule
says what must be there, and doubt says no: a request that is whole, something it is about that is named in it, and
nothing that points outside of it. What points outside are pronouns and demonstratives, words of sequence, comparisons
without their other half, orders that work on an answer, a Spanish verb without a subject, and definite descriptions
that nothing in the message completes ("the author", but "the author of Ulysses").

A question that is merely about the topic of the conversation ("What is the role of melatonin?") does stand alone.

    sentence.py   what a sentence is about
    english.py    the rules of English
    spanish.py    the rules of Spanish
"""

import re

from proxy.language.detect import language
from proxy.language.phrases import phrases
from proxy.language.tables import everywhere
from proxy.language.text import plain
from proxy.reuse.standing import english, spanish
from proxy.reuse.standing.sentence import Sentence

_LONGEST = 2000  # characters: nobody asks that much twice
# A first sentence of that much introduces what the next ones point at.
_INTRODUCTION_WORDS = 12
_INTRODUCTION_ANCHORS = 4

_GRAMMARS = {"en": english.GRAMMAR, "es": spanish.GRAMMAR}
_PREFACE = re.compile(f"{phrases(*everywhere('standing', 'preface')).pattern}(?= [.?,])")
_OPENERS = phrases(*everywhere("standing", "openers"), opening=True)
_SENTENCE_END = re.compile(r" [.?](?= )")
_IS = re.compile(r"(?<!\w)[Ee]stá[ns]?(?!\w)")  # no demonstrative, but without its accent it would be one
_CAPITALISED = re.compile(r"(?<=[\w,:'\u2019] )(?!I\b)[A-ZÁÉÍÓÚÑÜ][\w.+#'\u2019-]*|\b[A-Z][A-Z0-9]+\b")
_NO_NAMES = frozenset((".", ",", "?", *" ".join(everywhere("standing", "no-names")).split()))


def stands_alone(text: str) -> bool:
    """Tells whether `text` asks something that whoever reads nothing else understands. False in doubt."""
    spoken = language(text)
    if spoken is None or len(text) > _LONGEST:
        return False
    said = _without_preface(plain(_IS.sub(" es ", text)).replace(" , ? ", " , "))
    if _OPENERS.match(said):
        return False
    grammar = _GRAMMARS[spoken]
    names = frozenset(plain(" ".join(_CAPITALISED.findall(text))).split()) - _NO_NAMES
    sentences = [
        Sentence(f"{sentence} . ", names, grammar.vocabulary)
        for sentence in _SENTENCE_END.split(said)
        if sentence.strip(" ,")
    ]
    introduced = len(sentences) > 1 and _introduces(sentences[0])
    asked = any(
        grammar.asks(sentence) and (grammar.is_whole(sentence) or (introduced and at > 0))
        for at, sentence in enumerate(sentences)
    )
    return asked and not any(grammar.points(sentence) for sentence in sentences[: 1 if introduced else None])


def _without_preface(said: str) -> str:
    rest = said.lstrip(" .?,")
    while preface := _PREFACE.match(f" {rest}"):
        rest = rest[preface.end() - 1 :].lstrip(" .?,")
    return f" . {rest}"


def _introduces(sentence: Sentence) -> bool:
    return len(sentence.tokens) >= _INTRODUCTION_WORDS and len(sentence.anchors) >= _INTRODUCTION_ANCHORS
