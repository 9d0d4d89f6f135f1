"""The language of a statement, which may be too short to be sure of."""

from proxy.language.detect import language
from proxy.language.phrases import words as listed
from proxy.memory.values import WORD
from proxy.types.memory import Language

# The commonest words of a language, which short messages have, too.
_SPANISH = listed("""
de la el los las un una lo al del que en con por para sin se no es me mi mis
soy tengo vivo trabajo uso llamo prefiero todo nada siempre nunca cuando
""")
_ENGLISH = listed("""
the a an of to in on at for with from and no it is are i i'm we my our me you
live use call do please always never
""")


def spoken_in(text: str) -> Language:
    """The language of `text`; of what is too short or too mixed to be sure, that of more of the commonest words."""
    if (spoken := language(text)) is not None:
        return spoken
    said = [word.lower() for word in WORD.findall(text)]
    spanish, english = (sum(word in common for word in said) for common in (_SPANISH, _ENGLISH))
    return "es" if spanish > english else "en"
