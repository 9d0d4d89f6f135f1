"""What one clause of a user's own words says, and whether it may be kept.

What was learnt says how likely it states something lasting; signs of the clause's own say how sure that must be. What
the user asks to be remembered, or orders for all answers, needs little; what looks like an order for now, a reason or a
change needs more or less; what is asked, supposed or told by the other side is never kept.
"""

import re
from dataclasses import dataclass

from proxy.language.text import fold, plain
from proxy.memory.clauses import Clause
from proxy.memory.forget_orders import is_about_forgetting
from proxy.memory.handing import HANDING
from proxy.memory.learned import Guess
from proxy.memory.signals import Signals, folded
from proxy.memory.subject import Gist, gist
from proxy.memory.terms import STOP
from proxy.memory.values import WORD, without_signal

# How likely a clause must state something lasting to be kept. Chosen on messages of the development half.
LIKELY = 0.42
LIKELY_BESIDE = 0.5  # beside handed-over text
SIGNED = 0.12  # with a sign of its own: a reminder, a standing order, a slot told of the user
CHANGED = 0.25  # where it says that something of the user's was otherwise before
REASON = 0.7  # where it gives a reason
SURE = 0.8  # where it looks like an order
TUCKED = 0.7  # where it is tucked into a question
NOBODY = 0.97  # beside handed-over text, of what does not say whose it is
NEVER = 1.1
_LEAST_WORDS = 2  # that a statement has

_FIRST = re.compile(
    r" (?:i|i'm|i've|im|ive|my|we|we're|we've|our|mi|mis|yo|soy|tengo|vivo|trabajo|me|somos|tenemos|vivimos|hablo|uso"
    r"|nuestr[oa]s?) "
)
# A Spanish sentence that begins with its verb, in the first person.
_VERB = re.compile(r"(?:(?:y|pero|ya|no|aca|aqui|siempre|nunca)\s)*\w{2,}(?:[^aeiou]o|io|eo|oy|amos|emos|imos)\b")
_REASON = re.compile(r"^\W*(?:because|cos|cuz|since|so that|so|porque|pq|ya que|asi que|para que|por si|in case)\b")
_BACK = re.compile(
    r"\b(?:anota|apunta|guarda|recorda|recuerda|acorda|acuerda|tene|ten|agenda|apunto|guarde|anote)(?:te|me)?l[oa]s?\b"
    r"|\blo (?:apunto|digo|aclaro)\b|\bacuerdate de (?:la|el|eso|esto)\b"
    r"|\b(?:keep|bear|have|remember|save|store|note)"
    r" (?:(?:it|this|them|those)\b|that(?: one)? (?:in mind|handy|for|when|,|\.))"
)


@dataclass(frozen=True, slots=True)
class Read:
    """A clause that may be kept."""

    clause: Clause
    guess: Guess
    said: Gist
    kept: bool
    doubted: bool  # it is supposed, told by the other side, or of a story
    explicit: bool  # the user asks for it to be remembered
    standing: bool  # it holds for every answer
    sure: bool  # by a sign of its own: a reminder, a standing order, a decision, a slot that one has one of
    decides: bool
    keeps: bool  # it says that something still holds
    slot: str  # of the tables of signals; "" if none
    domain: str  # of the slot


def read(
    clause: Clause, guess: Guess, signals: Signals, *, hands_over: bool, is_first: bool, in_question: bool = False
) -> Read:
    """`is_first`: no clause of its sentence stands before it. `in_question`: what its sentence asks stands behind it.
    `hands_over`: the message holds somebody else's text."""
    whole, value = plain(clause.text), without_signal(clause.text, signals)
    core = plain(value)
    explicit = signals.remember.search(whole) is not None
    standing = bool(signals.standing.search(whole) or signals.standing_opens.match(core))
    slot = next((slot for slot in signals.slots if slot.table.search(whole)), None)
    said = gist(clause.text)
    doubted = not explicit and bool(
        signals.hypothetical.search(whole)
        or signals.hypothetical_opens.match(core)
        or signals.reported.search(whole)
        or (signals.others.match(core) and not said.people)
    )
    decides = (signals.decides.search(whole) or signals.decides_opens.match(whole)) is not None
    points_back = explicit and _points_back(whole, signals)
    of_user = _FIRST.search(whole) is not None or _VERB.match(folded(value)) is not None
    nobody = hands_over and not (of_user or said.holder)
    if (
        len(WORD.findall(clause.text)) < _LEAST_WORDS
        or (doubted and not standing)
        or points_back
        or not says_something(value)
        or (clause.asked and is_first)
        or _asks_for(value)
        or is_about_forgetting(clause.text)
        or asks(value, is_first=is_first, in_question=in_question)
        or introduces(value)
        or (not decides and _PROPOSES.match(folded(value)) is not None)
    ):
        least = NEVER
    elif clause.asked:
        least = TUCKED
    else:
        signed = explicit or standing or (slot is not None and of_user)
        least = _least(core, value, said, signals, signed=signed, of_user=of_user, hands_over=hands_over)
        if _REASON.match(folded(clause.text)):
            least = max(least, REASON)
        if nobody:
            least = max(least, NOBODY)
    return Read(
        clause,
        guess,
        said,
        kept=guess.fact > least,
        doubted=doubted,
        explicit=explicit,
        standing=standing or (guess.about == "instruction" and not explicit and slot is None),
        sure=explicit or standing or decides or (slot is not None and not slot.key.endswith("-")),
        decides=decides,
        keeps=signals.keeps.search(whole) is not None,
        slot=slot.key if slot else "",
        domain=slot.domain if slot else "",
    )


def _least(
    core: str, value: str, said: Gist, signals: Signals, *, signed: bool, of_user: bool, hands_over: bool
) -> float:
    """How likely it must be, by its signs."""
    if signed:
        return SIGNED
    if signals.asks.match(core) or signals.task.match(core) or HANDING.orders.match(folded(value)):
        return SURE
    if (said.changes or said.ends) and of_user:
        return CHANGED
    return LIKELY_BESIDE if hands_over else LIKELY


_PROPOSES = re.compile(r"(?:let us|let's|let me|lets|dejame|hablemos|veamos|charlemos|sigamos|pasemos|volvamos)\b")
_ASKS_FOR = re.compile(
    r"(?:remind me|tell me|recorda?me|recuerdame|decime|dime)\b[^,]{0,20}\b(?:what|when|who|which|how|where"
    r"|que \w+ (?:es|fue|era)|quien|cual|cuando|donde|como|cuanto)\b"
)


def _asks_for(value: str) -> bool:
    """Is it a question in the form of an order? "Remind me when the war ended"."""
    return _ASKS_FOR.match(folded(value)) is not None


# English asks by inversion: "where do I", "which car is my", but "where I live", "what I drive".
_ASKED_OF = r"(?:i|you|he|she|it|we|they|my|our|your|his|her|their|the|an?|th[ei]se|those|there|this|that)\b"
_BE = (
    r"(?: (?:is|are|am|was|were|has|have|had|can|could|will|would|should|may|might|must|shall)\b(?: not)?"
    r"|'(?:s|re|m|d|ll|ve)\b)"
)
_DO = r" (?:do|does|did|don't|doesn't|didn't)\b"
_INVERTS = re.compile(
    r"(?:(?:and|but|so|or)\b\W*)?(?:(?:to|for|since|at|in|on|from|with|until|till|by) )?"
    rf"(?:(?:what|where|when|why|how){_DO} \w"
    rf"|(?:what|where|when|why|how|who|whom|which)(?:{_BE}|{_DO}) {_ASKED_OF}"
    rf"|(?:what|which|whose|how)(?: (?!{_ASKED_OF})[\w-]+){{1,3}}?(?:{_BE}|{_DO}) {_ASKED_OF})"
)
# Behind another clause it may go on from that: "Umbrella, which is a bank".
_RELATES = re.compile(rf"(?:who|which){_BE} (?!(?:i|you|he|she|we|they)\b)")
# Spanish asks by its accent, and may leave it out where nothing but a question begins so.
_ASKS_BY_ACCENT = re.compile(
    r"\W*(?:(?:y|o|e|pero)\b\W*)?(?:(?:a|de|en|con|para|por|desde|hasta|hacia|sobre) )?"
    r"(?:qué|dónde|adónde|cuándo|cómo|quién(?:es)?|cuál(?:es)?|cuánt[oa]s?)\s+\w",
    re.IGNORECASE,
)
_ASKS_WITHOUT = re.compile(r"\W*(?:(?:a|de|en|con|para|por) )?(?:que|quien(?:es)?|cual(?:es)?|cuant[oa]s?) \w")


def asks(text: str, *, is_first: bool, in_question: bool) -> bool:
    """Does the clause begin as a question does? Its mark may stand at the end of a later clause."""
    said = folded(text).replace("\u2019", "'").lstrip(" ,;(-\u2013\u2014\u00bf\"'")
    if _INVERTS.match(said) and (is_first or _RELATES.match(said) is None):
        return True
    return in_question and bool(_ASKS_BY_ACCENT.match(text) or (is_first and _ASKS_WITHOUT.match(said)))


# That somebody says or writes something, and not what.
_SAYS = re.compile(
    r"\W*(?:[\w'\u2019-]+ ){1,4}?(?:(?:me|nos|le|te) )?"
    r"(?:(?:dice|dijo|pregunta|pregunto|comenta|comento|responde|respondio|contesta|contesto|says|said|asks|asked"
    r"|replies|replied|wrote|texted|told)"
    r"(?: (?:me|us))?(?: (?:this|that|que|esto|lo siguiente|hoy|ayer|today|yesterday))?"
    r"|(?:escribe|escribio|writes)(?: (?:me|us|this|esto|lo siguiente)|(?=:)))\W*\Z"
)
_MESSAGE_OF = re.compile(
    r"\W*(?:(?:el|la|un|una|este|esta|the|an?|this) )?(?:transcripcion del? |transcript of (?:the|an?) )?"
    r"(?:audio|mensaje(?: de voz)?|nota de voz|whatsapp|wasap|message|text|voice (?:note|message|mail)|voicemail)"
    r" (?:de|del|from|of|by) (?:[\w'\u2019-]+ ?){1,4}\W*\Z"
)


def introduces(text: str) -> bool:
    """Does it only say who says what follows? "My brother says", "audio de mi tía"."""
    said = folded(text)
    return _SAYS.match(said) is not None or _MESSAGE_OF.match(said) is not None


def says_something(text: str) -> bool:
    return any(fold(word) not in STOP for word in WORD.findall(text))


def _points_back(whole: str, signals: Signals) -> bool:
    """Is it about what stands before it? "Keep that in mind"."""
    besides = signals.remember.sub(" ", whole).split()
    content = sum(word[0].isalnum() and word not in STOP for word in besides)
    states = _STATES.search(f" {' '.join(besides)} ") is not None
    return content < (1 if states else 2) or _BACK.search(whole) is not None


# "Don't forget I'm coeliac": one word is enough.
_STATES = re.compile(r" (?:i'm|im|i am|we're|we are|i have|soy|somos|tengo|vivo|uso|hablo) (?!not |no )[a-z]")
