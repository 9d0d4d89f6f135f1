"""Which time a question asks about."""

import re
from typing import Literal

from proxy.language.text import fold
from proxy.reuse.lexicon import Language, words
from proxy.reuse.words import lemma

Tense = Literal["present", "past", "perfect", "future", "used to", "becoming"]

_PAST_EN = words("did was were had")
_PAST_ES = words("fue fueron era eran hubo habia estaba estaban tuvo tuvieron")
_FUTURE_ES = words("sera seran estara habra")
_BEING = words("is are am be been being was were")
_USED_TO = re.compile(r"\bused to\b")
# "has been", "have grown used"; or what the question opens with: "have tides changed", "why has the price doubled".
_PERFECT = re.compile(r"\b(?:have|has) (?:been|already|ever|\w+ed)\b|^(?:(?:how|why|where|when) )?(?:have|has) (?!to )")
# What is the best of a time that is named, or of a life, was it as well: "the best film of 2016", "worst joke ever".
_OF_ALL = re.compile(
    r"^(?:what|which|who) (?:is|are|was|were) (?:some of )?(?:the|your)\b.* (?:best|worst|most|least|\w{2,}est)\b"
    r".* (?:ever|so far|(?:in|of) (?:your|his|her|their|my|our) li(?:fe|ves)|(?:in|of|from) (?:19|20)\d\d)\b"
    r"|^(?:what|which|who) (?:is|are|was|were) (?:some of )?the\b.* (?:best|worst|most|least|\w{2,}est)\b"
    r".* you(?: have| had)? (?:heard|seen|read|met|made|got|had|done)\b"
    r"|^(?:what|which|who) (?:is|are)\b.* (?:has|have|had|you|anyone) ever\b"
)
_OF_ALL_ES = re.compile(
    r"^(?:que|cual|cuales|quien|quienes) (?:es|son|fue|fueron|era) (?:el|la|los|las|tu|su)\b"
    r".* ?(?:mejor|peor|mas|menos)\b.* (?:de (?:tu|su) vida|hasta ahora|de la historia|(?:de|del|en) (?:19|20)\d\d)\b"
)
_GOING_TO_ES = re.compile(r"\bva[ns]? a \w+[aei]r\b")
_PAST_ENDING = re.compile(r"(?:ó|aron|ieron|aba|aban|ía|ían)$")
_FUTURE_ENDING = re.compile(r"(?:rá|rán|ré|remos)$")


def tense_of(folded: str, language: Language) -> Tense:
    """By auxiliaries: of a folded text."""
    said = frozenset(folded.split())
    if language == "es":
        if _OF_ALL_ES.search(folded):
            return "present"
        if said & _PAST_ES:
            return "past"
        return "future" if said & _FUTURE_ES or _GOING_TO_ES.search(folded) else "present"
    if _OF_ALL.search(folded):
        return "present"
    if "used" in said and not said & _BEING and _USED_TO.search(folded):
        return "used to"
    if "will" in said or "going to" in folded:
        return "future"
    if said & _PAST_EN:
        return "past"
    if _PERFECT.search(folded):
        return "perfect"
    return "becoming" if "becoming" in said else "present"


def tense_of_verb(written: str) -> Tense:
    """Of a Spanish word, by its ending: `present` unless it is a verb that says otherwise."""
    base = lemma(written, "es")
    if base == fold(written) or not base.endswith(("ar", "er", "ir")):
        return "present"
    if _PAST_ENDING.search(written):
        return "past"
    return "future" if _FUTURE_ENDING.search(written) else "present"
