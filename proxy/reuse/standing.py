"""Messages that can be understood without what was said before them.

Asked of a question that comes after others: only what stands alone may be answered from another conversation. What
points outside are pronouns and demonstratives, words of sequence, comparisons without their other half, orders that
work on an answer, a Spanish verb without a subject, and definite descriptions that nothing in the message completes
("the author", but "the author of Ulysses").

The rules of each language are in `english.py` and `spanish.py`; their words, in `proxy/language/<code>/standing.txt`.
A question that is merely about the topic of the conversation ("What is the role of melatonin?") does stand alone.
"""

from collections.abc import Mapping
from typing import Final, TypeVar

from proxy.language.detect import language
from proxy.language.language import read_part
from proxy.language.phrases import phrases
from proxy.language.tables import function_words, table
from proxy.reuse.english import English
from proxy.reuse.sentence import Grammar, is_understood
from proxy.reuse.spanish import Spanish

_LONGEST = 2000  # characters: nobody asks that much twice

G = TypeVar("G", bound=Grammar)


def stands_alone(text: str) -> bool:
    """Tells whether `text` asks something that whoever reads nothing else understands. False in doubt."""
    spoken = language(text)
    return spoken is not None and len(text) <= _LONGEST and is_understood(text, _GRAMMARS[spoken])


def _grammar(kind: type[G], code: str) -> G:
    found = {
        name.replace("-", "_"): phrases(table(code, "standing", name))
        for name in ("asks-inside", "pointers", "halves", "other-half")
    }
    return read_part(
        kind,
        code,
        "standing",
        function=function_words(code, "standing"),
        unique_pairs=frozenset(table(code, "standing", "unique-pairs").split(" | ")),
        asks_first=phrases(table(code, "standing", "asks"), opening=True),
        **found,
    )


_GRAMMARS: Final[Mapping[str, Grammar]] = {"en": _grammar(English, "en"), "es": _grammar(Spanish, "es")}
