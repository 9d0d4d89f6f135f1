"""The language of a statement, which may be too short to be sure of."""

from proxy.language.detect import language
from proxy.language.phrases import words as listed
from proxy.language.tables import tables
from proxy.memory.values import WORD
from proxy.types.memory import Language

# The commonest words of a language, which short messages have, too.
_SPANISH, _ENGLISH = (listed(tables(code, "function_words")["commonest"]) for code in ("es", "en"))


def spoken_in(text: str) -> Language:
    """The language of `text`; of what is too short or too mixed to be sure, that of more of the commonest words."""
    if (spoken := language(text)) is not None:
        return spoken
    said = [word.lower() for word in WORD.findall(text)]
    spanish, english = (sum(word in common for word in said) for common in (_SPANISH, _ENGLISH))
    return "es" if spanish > english else "en"
