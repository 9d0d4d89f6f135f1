"""Whether a clause points at something that it does not name: "keep that", "¿cómo los controlo?", "these two options".

Who reads a note has not read what stood before it. A pronoun or a demonstrative is understood there only if what it
may stand for is named earlier in the same clause. No parser: what a word is, is told by the words beside it; in doubt
the clause points outside, and is left out.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from proxy.language.phrases import words
from proxy.memory.noun_words import NOUN_WORDS
from proxy.memory.signals import folded
from proxy.memory.terms import STOP
from proxy.types.memory import Language

_WORD = re.compile(r"[^\W_](?:[\w'\u2019./:%-]*\w)?|[^\w\s]")
_STEM = 6  # letters
_REMEMBERED = 1_000  # clauses: a segment asks for the names of the same ones again and again
_LETTERS = 2  # of a word that tells something
_DESCRIBED = 3  # words of meaning behind "this"
_ENOUGH = 2  # names before "these options" that may be them

# --- what names nothing ----------------------------------------------------------------------------------------------

_LIGHT = words("""
sure really actually maybe probably just still also even only yes no not never always today tomorrow yesterday
think know want need like love try trying help get go going make let understand work works sounds wondering curious
seguro realmente quizas capaz siempre nunca hoy ayer solo tambien quiero necesito puedo podes puedes creo sabes ver
hacer
""")

_BEFORE_VERB = words("""
i i'll i'd i've we we'll we've we'd you you'll to can could will would should must might may don't didn't won't
can't let's
please yo
""")

# --- English ---------------------------------------------------------------------------------------------------------

_THEY = words("they them their theirs they're they've they'll they'd")
_OBJECTS = (["it"], ["this"], ["that"], ["them"], ["these"])
_HE = words("he he's him his she she's her hers")
_PERSONS = words("""
wife husband mother father mom mum dad son daughter brother sister partner boyfriend girlfriend friend boss manager
doctor vet teacher aunt uncle grandma grandpa grandmother grandfather cousin neighbour neighbor colleague coworker
client
man woman guy girl boy kid child baby dog cat fiance fiancee mentor advisor supervisor landlord lawyer
""")
_IT = words("it it's its it'll it'd itself")
_THESE = words("this these those")
_TIMES = words("""
week weekend month year morning afternoon evening night time summer winter spring autumn fall friday monday tuesday
wednesday thursday saturday sunday semester quarter sprint
semana finde mes ano manana tarde noche vez verano invierno otono primavera lunes martes miercoles jueves viernes
sabado
domingo trimestre
""")
_IDIOM = re.compile(
    r"\b(?:talk(?:ed)? it over|worth it|ma[dk]e it(?= [^\w]|$| to\b)|figure it out|call it a day|that is"
    r"|that said|other than that)\b"
)
# A demonstrative before what is named, or told, right behind it: "this “not found” error", "that mail to the bank",
# "the problem that I have", "esa carta para el banco".
_DEFINED = re.compile(
    r"\b(?:th(?:is|at|ese|ose)|est[ae]s?|es[ae]|es[oa]s)\s(?=[\"“«]\w|(?:[\w-]+\s){1,2}(?:i|i'm|i've|we|we're|we've)\s\w"
    r"|[\w-]+\s(?:to|of|para|sobre)\s(?:the|my|our|a|an|el|la|los|las|mi|mis|un|una|[A-Z])\b)"
)
_EMPTY_IT = re.compile(
    r"it(?:'s| is| was| takes| would be| might be| will be| seems| makes sense) (?:\S+ ){0,3}?(?:to|that|if"
    r"|when|how|since)\b"
    r"|it will be in\b|it (?:rains|rained|snows|snowed)\b|it'?s (?:been|me|my|our|time|\d)"
)
_THAT_IS = words("""
is was 's will would sounds sound makes made means meant works worked really one way kind sort too could can helps
helped happens happened might should has had
""")
_BEFORE_THAT = words(
    "about with of for on in like do did does doing after before at by than from to understand love and"
)
_LEADS_TO_THAT = words("""
think thinks thought know knows knew hope hoped sure say says said so believe make feel felt guess heard mean means
told
tell notice noticed noted realise realize realized decided agree agreed understand understood remember glad afraid
""")
_BEFORE_THIS = words("about on of with")
_HAVES = words("have has had need needs get use want buy make build")
_OTHERS = words("same other others")
_ORDINALS = words("first second third fourth last other")
_LOOSE = words("there here")
_IS = words("is are was were")

# --- Spanish ---------------------------------------------------------------------------------------------------------

_IS_ES = re.compile(r"\b[Ee]stá\b")  # without its accent it were "this"
_ESO = words("eso esto aquello ello ellos ellas aquel aquella")
_ALLA = words("ahi alli alla")
_ESTE = words("este esta estos estas ese esa esos esas")
_AT_END = words("para de con sobre por en")
_BEHIND_LO = words("""
que de del mas mejor peor mismo unico ultimo primero bueno malo importante antes menos cual siento
""")
_OTROS = words("mismo misma otro otra otros otras")
_ORDINALES = words("primero primera segundo segunda tercero tercera cuarto cuarta ultimo ultima")
_HANGING = re.compile(
    r".{2,}(?:ar|er|ir|ando|iendo)(?:me|te|se|nos)?(?:lo|la|los|las)|.{3,}(?:melo|mela|telo|selo|sela)s?"
)


@dataclass(frozen=True, slots=True)
class _At:
    """A word of a clause, and what is around it."""

    said: Sequence[str]  # words and marks, folded
    place: int
    named: int  # things that are named before it

    @property
    def word(self) -> str:
        return self.said[self.place]

    @property
    def before(self) -> str:
        return self.said[self.place - 1] if self.place else ""

    @property
    def after(self) -> str:
        return self.said[self.place + 1] if self.place + 1 < len(self.said) else ""

    @property
    def is_last(self) -> bool:
        return not self.after[:1].isalnum()


def names(text: str) -> list[str]:
    """The words of `text` that mean something by themselves: folded, each up to where its endings begin."""
    return list(_names(text))


def things(text: str, language: Language) -> int:
    """How many of its words are neither verbs nor of grammar, and do not stand for anything."""
    return len(things_of(text, language))


def things_of(text: str, language: Language) -> list[str]:
    """Those words, folded."""
    return list(_things(text, language))


@lru_cache(_REMEMBERED)
def _names(text: str) -> tuple[str, ...]:
    return tuple(word[:_STEM] for word in _said(text) if _is_telling(word))


@lru_cache(_REMEMBERED)
def _things(text: str, language: Language) -> tuple[str, ...]:
    known = NOUN_WORDS[language]
    rest = (word for word in _said(text) if _is_telling(word) and word not in known.verbs and word not in known.closed)
    return tuple(word for word in rest if word not in known.vague)


@lru_cache(_REMEMBERED)
def points_outside(clause: str, language: Language) -> bool:
    """Does `clause` point at something that is not named in it before?"""
    if clause.lower().startswith("él "):
        return True
    said = _said(_DEFINED.sub(" ", _IDIOM.sub(" ", _IS_ES.sub("es", clause))))
    points, verbs = (_points_es if language == "es" else _points_en), NOUN_WORDS[language].verbs
    named = 0
    for place, word in enumerate(said):
        if points(_At(said, place, named)):
            return True
        is_verb = word in verbs or word.endswith(("ly", "mente")) or (place > 0 and said[place - 1] in _BEFORE_VERB)
        is_verb = is_verb or (place == 0 and said[1:2] in _OBJECTS)
        named += _is_telling(word) and not is_verb
    return False


def _said(text: str) -> list[str]:
    return _WORD.findall(folded(text).replace("\u2019", "'"))


def _is_telling(word: str) -> bool:
    if len(word) < _LETTERS or not word[0].isalnum() or word in STOP or word in _LIGHT:
        return False
    stem, mark, ending = word.partition("'")
    return not (mark and (stem in STOP or stem in _LIGHT or ending == "t"))


def _points_en(at: _At) -> bool:
    word = at.word
    if word in _HE and at.named < _ENOUGH:
        return at.named == 0 or _PERSONS.isdisjoint(at.said[: at.place])
    if word in _IT:
        return at.named == 0 and not _EMPTY_IT.match(" ".join(at.said[at.place : at.place + 7]))
    if word == "that" or word.startswith("that'"):
        return _is_that(at)
    if word == "this" and at.before in _BEFORE_THIS and (at.is_last or at.after in ("and", "or", "but")):
        return True
    if word in _THESE or word == "ones":
        if word in ("this", "these") and _is_described(at):
            return False
        is_end = at.place == len(at.said) - 1 and at.before != "for"
        return is_end or (at.named < _ENOUGH and at.after not in _TIMES)
    if word in _LOOSE:
        return at.named == 0 and at.place > 0 and at.after not in _IS and at.before not in _IS
    if word == "one":
        return (at.is_last and at.place > 0 and at.before in _HAVES) or (at.named < _ENOUGH and at.before in _ORDINALS)
    if word == "then":
        return at.place == len(at.said) - 1
    return at.named == 0 and (word in _THEY or (word in _OTHERS and at.is_last))


def _is_described(at: _At) -> bool:
    """Is a thing shown that the rest of the clause describes: "this painting to show my path as a painter"?"""
    known = NOUN_WORDS["en"]
    is_thing = _is_telling(at.after) and at.after not in known.vague and at.after not in known.trailing
    return is_thing and sum(map(_is_telling, at.said[at.place + 1 :])) > _DESCRIBED


def _is_that(at: _At) -> bool:
    """Is "that" a thing, and not what begins a clause?"""
    if at.place == len(at.said) - 1:
        return True
    leads = at.before in _LEADS_TO_THAT or at.named > 0
    follows = at.before in _BEFORE_THAT
    is_thing = at.is_last or not leads or at.word.startswith("that'") or follows
    is_thing = is_thing or (at.after in _THAT_IS and at.named == 0)
    return is_thing and at.after not in _TIMES and at.named < _ENOUGH + follows


def _points_es(at: _At) -> bool:
    word, known = at.word, NOUN_WORDS["es"]
    if word in _ESO:
        if word == "esto" and '"' in at.said[at.place + 1 :]:
            return False  # what is quoted behind it
        return at.named < _ENOUGH or (at.is_last and at.before in _AT_END)
    if word in _ALLA:
        return at.named == 0
    if word in _ESTE:
        leads_over = ":" in at.said[at.place + 1 : at.place + 4]
        is_verb = word == "esta" and at.named > 0 and not at.is_last
        return at.named < _ENOUGH and at.after not in _TIMES and not leads_over and not is_verb
    if _is_left_alone(at):
        return True
    if at.named:
        return False
    if word == "lo":
        return at.place == 0 and "lo" in at.said[2:] if at.after in ("de", "del") else at.after not in _BEHIND_LO
    if word in ("los", "las"):
        return at.after in known.verbs and at.after not in known.nouns
    if word in _OTROS:
        return at.is_last
    return word in ("asi", "uno") or (word not in known.nouns and _HANGING.fullmatch(word) is not None)


def _is_left_alone(at: _At) -> bool:
    """Is the noun left out: "unas con 900 km", "por la segunda"?"""
    if at.word in ("una", "unos", "unas"):
        return at.named == 0 and at.after in ("con", "de", "para", "que")
    return at.word in _ORDINALES and at.named < _ENOUGH and at.is_last and at.before in ("el", "la")
