"""Whether a clause points at something that it does not name: "keep that", "¿cómo los controlo?", "these two options".

Who reads a note has not read what stood before it. A pronoun or a demonstrative is understood there only if what it may
stand for is named earlier in the same clause. No parser: what a word is, is told by the words beside it; in doubt the
clause points outside, and is left out.
"""

import re
from collections.abc import Sequence

from proxy.memory.noun_words import NOUN_WORDS
from proxy.memory.signals import folded
from proxy.memory.terms import STOP
from proxy.reuse.text import words
from proxy.types.memory import Language

_TOKEN = re.compile(r"[^\W_](?:[\w'\u2019./:%-]*\w)?|[^\w\s]")
_STEM = 6  # letters
_ENOUGH = 2  # names before "these options" that may be them

# --- what names nothing ----------------------------------------------------------------------------------------------

_LIGHT = words("""
sure really actually maybe probably just still also even only yes no not never always today tomorrow yesterday
think know want need like love try trying help get go going make let understand work works sounds wondering curious
seguro realmente quizas capaz siempre nunca hoy ayer solo tambien quiero necesito puedo podes puedes creo sabes ver hacer
""")

_BEFORE_VERB = words("""
i i'll i'd i've we we'll we've we'd you you'll to can could will would should must might may don't didn't won't can't let's
please yo
""")

# --- English ---------------------------------------------------------------------------------------------------------

_THEY = words("they them their theirs they're they've they'll they'd he he's him his she she's her hers")
_HE = words("he he's him his she she's her hers")
_PERSONS = words("""
wife husband mother father mom mum dad son daughter brother sister partner boyfriend girlfriend friend boss manager
doctor vet teacher aunt uncle grandma grandpa grandmother grandfather cousin neighbour neighbor colleague coworker client
man woman guy girl boy kid child baby dog cat fiance fiancee mentor advisor supervisor landlord lawyer
""")
_IT = words("it it's its it'll it'd itself")
_THESE = words("this these those")
_TIMES = words("""
week weekend month year morning afternoon evening night time summer winter spring autumn fall friday monday tuesday
wednesday thursday saturday sunday semester quarter sprint
semana finde mes ano manana tarde noche vez verano invierno otono primavera lunes martes miercoles jueves viernes sabado
domingo trimestre
""")
_IDIOM = re.compile(
    r"\b(?:talk(?:ed)? it over|worth it|ma[dk]e it(?= [^\w]|$| to\b)|figure it out|call it a day|that is|that said|other than that)\b"
)
_EMPTY_IT = re.compile(
    r"it(?:'s| is| was| takes| would be| might be| will be| seems| makes sense) (?:\S+ ){0,3}?(?:to|that|if|when|how|since)\b"
    r"|it will be in\b|it (?:rains|rained|snows|snowed)\b|it'?s (?:been|me|my|our|time|\d)"
)
_THAT_IS = words("""
is was 's will would sounds sound makes made means meant works worked really one way kind sort too could can helps
helped happens happened might should has had
""")
_BEFORE_THAT = words("about with of for on in like do did does doing after before at by than from to understand love and")
_LEADS_TO_THAT = words("""
think thinks thought know knows knew hope hoped sure say says said so believe make feel felt guess heard mean means told
tell notice noticed noted realise realize realized decided agree agreed understand understood remember glad afraid
""")
_LOOSE = words("there here")
_IS = words("is are was were")

# --- Spanish ---------------------------------------------------------------------------------------------------------

_IS_ES = re.compile(r"\b[Ee]stá\b")  # without its accent it were "this"
_ESO = words("eso esto aquello ello ellos ellas aquel aquella ahi alli alla")
_ESTE = words("este esta estos estas ese esa esos esas")
_BEHIND_LO = words("""
que de del mas mejor peor mismo unico ultimo primero bueno malo importante antes menos cual siento
""")
_HANGING = re.compile(
    r".{2,}(?:ar|er|ir|ando|iendo)(?:me|te|se|nos)?(?:lo|la|los|las)|.{3,}(?:melo|mela|telo|selo|sela)s?"
)


def names(text: str) -> list[str]:
    """The words of `text` that mean something by themselves: folded, each up to where its endings begin."""
    said = _TOKEN.findall(folded(text).replace("\u2019", "'"))
    return [token[:_STEM] for token in said if _is_telling(token)]


def names_a_thing(text: str, language: Language) -> bool:
    """Is one of its words neither a verb nor one of grammar?"""
    known = NOUN_WORDS[language]
    said = _TOKEN.findall(folded(text).replace("\u2019", "'"))
    return any(_is_telling(token) and token not in known.verbs and token not in known.closed for token in said)


def points_outside(clause: str, language: Language) -> bool:
    """Does `clause` point at something that is not named in it before?"""
    if clause.lower().startswith("él "):
        return True
    clause = _IDIOM.sub(" ", clause)
    tokens = _TOKEN.findall(folded(_IS_ES.sub("es", clause)).replace("\u2019", "'"))
    points, verbs = (_points_es if language == "es" else _points_en), NOUN_WORDS[language].verbs
    named = 0
    for at, token in enumerate(tokens):
        if points(tokens, at, named):
            return True
        is_verb = token in verbs or token.endswith(("ly", "mente")) or (at > 0 and tokens[at - 1] in _BEFORE_VERB)
        named += _is_telling(token) and not is_verb
    return False


def _is_telling(token: str) -> bool:
    if len(token) < 2 or not token[0].isalnum() or token in STOP or token in _LIGHT:  # noqa: PLR2004  # a letter
        return False
    stem, mark, ending = token.partition("'")
    return not (mark and (stem in STOP or stem in _LIGHT or ending == "t"))


def _points_en(tokens: Sequence[str], at: int, named: int) -> bool:
    token, after = tokens[at], tokens[at + 1] if at + 1 < len(tokens) else ""
    before = tokens[at - 1] if at else ""
    if token in _THEY:
        return named == 0 or (token in _HE and named < _ENOUGH and _PERSONS.isdisjoint(tokens[:at]))
    if token in _IT:
        return named == 0 and not _EMPTY_IT.match(" ".join(tokens[at : at + 7]))
    if token in _THESE:
        return after not in _TIMES and named < _ENOUGH
    if token in ("that", "that's", "those"):
        opens = not before or not before[0].isalnum()
        ends = not after or not after[0].isalnum()
        if at == len(tokens) - 1:
            return True
        leads = before in _LEADS_TO_THAT or named > 0
        points = ends or not leads or token == "that's" or before in _BEFORE_THAT or (opens and named == 0)
        points = points or (after in _THAT_IS and (named == 0 or before in _BEFORE_THAT))
        return points and after not in _TIMES and named < _ENOUGH + (before in _BEFORE_THAT)
    if token == "then" and at == len(tokens) - 1:
        return True
    if token == "ones":
        return named < _ENOUGH
    if token in _LOOSE:
        return named == 0 and after not in _IS and before not in _IS and at > 0
    return token in ("same", "other", "others") and (not after or not after[0].isalnum()) and named == 0


def _points_es(tokens: Sequence[str], at: int, named: int) -> bool:
    token, after = tokens[at], tokens[at + 1] if at + 1 < len(tokens) else ""
    if token in _ESO:
        return named < _ENOUGH
    if token in _ESTE:
        is_last = not after or not after[0].isalnum()
        leads_over = ":" in tokens[at + 1 : at + 4]
        return after not in _TIMES and named < _ENOUGH and not leads_over and (token != "esta" or is_last or named == 0)
    if token == "lo":
        return after not in _BEHIND_LO and named == 0
    if token in ("los", "las", "la"):
        is_object = after in NOUN_WORDS["es"].verbs and after not in NOUN_WORDS["es"].nouns and token != "la"
        return is_object and named == 0
    if token in ("asi", "uno"):
        return named == 0
    if token in ("mismo", "misma", "otro", "otra", "otros", "otras"):
        return (not after or not after[0].isalnum()) and named == 0
    return named == 0 and _HANGING.fullmatch(token) is not None and token not in NOUN_WORDS["es"].nouns

