"""Whose answer grows old? Decided by the words in `patterns`.

A word that points at the moment of speaking makes a message time-dependent; so does asking for what changes by the day,
or whether something has happened. Asked how something is done, or about the past, the latter mean nothing; asked about
language, or how in code ("how do I get yesterday's date in SQL"), neither do the former.
"""

import re
from itertools import chain

from proxy.language.phrases import phrases
from proxy.language.text import sentence
from proxy.reuse import patterns

_NOW = phrases(patterns.NOW_ES, patterns.NOW_EN)
_LIVE = phrases(patterns.LIVE_ES, patterns.LIVE_EN, patterns.TOPICS_ES, patterns.TOPICS_EN)
_OPENS = phrases(patterns.OPENS_ES, patterns.OPENS_EN, opening=True)
_TIMELESS = phrases(patterns.TIMELESS)
_LANGUAGE = phrases(patterns.LANGUAGE)
_CODE = phrases(patterns.CODE)

# A Spanish question that begins with neither a question word nor one of these verbs asks whether something is so now:
# the verb comes first, whichever it is ("¿Llegó el tren?").
_WHETHER_ES = re.compile(
    r" \? (?:y |pero |che |hola |, )*(?!(?:que|como|cual|cuales|cuando|cuanto|cuanta|cuantos|cuantas|quien"
    r"|quienes|donde|adonde"
    r"|por|para|a|de|en|con|desde|hasta|segun|sobre|es|son|puede|pueden|puedo|podes|podrias|puedes|podria|se|debo"
    r"|debe|deben"
    r"|existe|existen|afecta|influye|sirve|sirven|ayuda|engorda|conviene|vale|significa|importa|necesito|tengo"
    r"|tiene|tienen|me|te"
    r"|hace|hacen|era|fue|eran|fueron|sabes|alguien|o|y|si|no|hay|un|una|el|la|los|las|what|how|why|who|which"
    r"|where|when|is|are|do"
    r"|does|did|can|could|should|would|will|has|have|am|was|were|the|i|in|if|so|any|must|may|isn't|aren't|don't"
    r"|doesn't) )"
    r"[a-z]+(?= [^?]*\?)"
)

_SIGNS = {
    "now": _NOW,
    "live": _LIVE,
    "opens": _OPENS,
    "whether": _WHETHER_ES,
    "timeless": _TIMELESS,
    "language": _LANGUAGE,
    "code": _CODE,
}
SIGNS = (*_SIGNS,)


def signs(text: str) -> tuple[str, ...]:
    """Which tables have a word of plain `text`, whatever they decide together."""
    return tuple(name for name, table in _SIGNS.items() if table.search(text))


def about_language(asked: str) -> bool:
    """Is this sentence about words or works rather than about what they name?"""
    return _LANGUAGE.search(asked) is not None


def time_dependent(text: str) -> bool:
    """Would the answer to plain `text` be another one tomorrow?"""
    # Sets: a sentence with a hundred hits is weighed once.
    now = {sentence(text, hit.start()) for hit in _NOW.finditer(text)}
    if any(not about_language(asked) and not (_CODE.search(asked) and _TIMELESS.search(asked)) for asked in now):
        return True
    hits = chain(_LIVE.finditer(text), _OPENS.finditer(text), _WHETHER_ES.finditer(text))
    live = {sentence(text, hit.end() - 1) for hit in hits}
    return any(not about_language(asked) and not _TIMELESS.search(asked) for asked in live)
