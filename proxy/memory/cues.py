"""What the wording of a message tells about what it needs of the past: tables of cues, Spanish and English, read
against `proxy.language.text.plain`."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from proxy.language.phrases import phrases
from proxy.language.text import plain

Extent = Literal["one", "some", "many", "all"]

_MOST = 2_000  # characters at either end that are read: a question stands at one of them
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_PREFIX = r"^(?: (?:[.?,]|y|e|and|so|but|pero|che|oye|hola|hi|hey|ok|okay|entonces|bueno|ahora))*"

_ASKING_WORD = re.compile(
    _PREFIX + r"(?: (?:in|at|on|for|from|with|to|by|since|until|about|according to \w+ ,|a|en|con|de|por|para|desde"
    r"|hasta|segun|entre|sobre))? (?:what|which|who|whom|whose|when|where|why|how|que|cual|cuales|quien|quienes|cuando"
    r"|donde|adonde|como|cuanto|cuanta|cuantos|cuantas) "
)
# What begins with an asking word and is short is a question without its mark too; but an exclamation, or a clause of
# time, place or manner in front of another ("when I was there, …"), is none.
_NO_QUESTION = re.compile(
    _PREFIX
    + r" (?:(?:que|what) (?:bueno|bien|lind[oa]|pena|rar[oa]|horror|mal|lastima|suerte|risa|ric[oa]|ganas|a|an) "
    r"|(?:como|cuando|donde|when|where|que) .*,|como (?:siempre|te|ya|dije|sabes|veras) "
    r"|que (?:me|te|se|no|la|el|los|las) )"
)
_SHORTENED = re.compile(_PREFIX + r" (?:what|who|where|when|how)'s ")
_UNMARKED = 16  # words: what is longer and without a mark is rather told
_REQUEST = re.compile(
    _PREFIX
    + r"(?: (?:please|por favor|can you|could you|puedes|podes|podrias|me))* (?:list|summari[sz]e|tell me|remind me"
    r"|give me (?:a |an )?(?:\w+ )?(?:summary|recap|list|overview)|walk me through the order|provide|recap|recordame"
    r"|recuerdame|(?:decime|dime|dame|pasame|mandame) (?:de nuevo )?(?:el|la|los|las|mi|mis|que|cual|cuando|donde"
    r"|cuanto)"
    r"|listame|enumera\w*|resumi\w*|resume\w*) "
)
# Said, asked, decided or talked about before.
_BEFORE = phrases(
    """
    remind me | do you remember | you remember | remember (when|what|which|who|where|how)
    did (i|we)( ever)? (say|tell|mention|ask|decide|agree|choose|pick|settle|plan|set|give|want|bring|discuss|talk)
    (i|we) (said|told you|mentioned|asked you|decided|agreed|settled|brought up|discussed|talked about|picked|chose)
    have (i|we)( ever)? [a-z]+(ed|en|un|one|ade|old|aid) | had (i|we)
    (across|throughout|during|over|in) (our|my) ([a-z]+ )?(conversations?|chats?|sessions?|requests|messages|talks)
    we (have |ve )?(covered|discussed|talked about|agreed|decided|settled) | originally | previously | at the start
    (the|my|our) (original|first|earlier|previous)
    """,
    """
    recordame | recuerdame | recordas | recuerdas | te acordas | te acuerdas | (te|les|le) (dije|conte|pedi|pregunte)
    te (mencione|comente|pase|habia dicho|habia contado) | dije | dijimos | quedamos | hablamos | decidi | decidimos
    elegi | elegimos | acordamos | definimos | vimos | comparamos | habia dicho | habiamos | mencione | conte | descarte
    descartamos | pedi | se llamaba | se llamaban | al principio | en su momento | originalmente
    """,
)
_PAST = re.compile(
    r" (?:did|was|were|had|has been|have been|been|fue|fueron|era|eran|hubo|tuvo|tuve|hizo|hice|puse|estuvo) "
)
# By their endings, with the accent that `plain` takes away; the conditional shares one and is none.
_PAST_ENDING = re.compile(r"\b\w{2,}(?:aba|abas|aban|ábamos|aron|ieron|[^r]ía|[^r]ías|[^r]ían|[^r]íamos|ó|iste|aste)\b")
_NO_PAST = re.compile(
    r"\b(?:todavía|energía|compañía|guía|policía|categoría|mayoría|garantía|existe|triste|contraste)\b"
)
_ONES_OWN = re.compile(
    r" (?:i|my|mine|me|we|our|us|mi|mis|yo|conmigo|nuestr[oa]s?|tengo|tenemos|estoy|estamos|soy|somos) "
)
_ADDRESSED = re.compile(r" (?:you|your|u|vos|tu|usted|te|podes|puedes|podrias|\w+arias|\w+erias) ")
# What to do now, or what would be good: asked of anybody who knows.
_ADVICE = re.compile(
    r" (?:can you (?:help|explain|show|draft|write|make)|could you|help me|should (?:i|we)"
    r"|how (?:do|can|should|would|could) (?:i|we)|how to|what if|what about|what should|what could|can i|can we"
    r"|do i need|any (?:advice|tips|ideas)"
    r"|is it (?:ok|normal|safe|worth)|what do you think|como hago|como (?:puedo|lo|la|los|las|le|les|se)|que hago|y si"
    r"|me conviene|conviene|puedo|podemos|se puede|deberia|deberiamos|es normal|es mejor|sirve|tu crees|vos crees"
    r"|ayuda\w*"
    r"|que opinas|recom[ie]+nd[ao]\w*|me (?:haces|armas|escribis|escribes)|como (?:l[aeo]s? |me )?[a-z]{2,}o"
    r"|que (?:l[ae]s? )?(?:llevo|pongo|compro|digo|contesto|uso|cocino)|what would|would you|could i) "
)
# It goes on from what was just said.
_GOING_ON = re.compile(
    r"^(?: [.?])+ (?:,? ?)(?:y|and|so|but|pero|hmm|ok|okay|wow|yeah|yes|no|si|cool|thanks|great|jaja\w*|that s) "
)
_POINTING = re.compile(
    r" (?:it|they|them|him|eso|esto|ahi|asi|ellos|ellas|(?:that|this|those|these|there|she|he|ella)"
    r"(?= (?:[.?,]|is|was|are|were|did|look|mean|work|go|s))) "
)

_LONG_QUESTION = 16  # words: a longer one tells what it is about
_FIGURE = re.compile(r"\d+(?:[.,:/]\d+)*")
_NAME = re.compile(r"(?<=[\w,;:)] )[A-ZÁÉÍÓÚÑ][a-záéíóúñü]+")  # a capital that no sentence begins with

# The words of the assistant are wanted, not the user's own.
_ANSWERS = phrases(
    """
    did you (say|tell|recommend|suggest|advise|propose|mention|explain|give|show|list|describe|estimate|calculate|write)
    you (said|told|recommended|suggested|advised|proposed|mentioned|explained|gave|showed|listed|described|estimated)
    you (calculated|wrote|outlined|came up with|had said|had told|had recommended|had suggested|had mentioned|had given)
    your (advice|suggestion|suggestions|recommendation|recommendations|proposal|calculation|estimate|explanation|answer)
    your (earlier|previous|first|last) (advice|suggestion|recommendation|proposal|answer|list|version|draft|plan)
    """,
    """
    (habias|has) (dicho|recomendado|sugerido|aconsejado|propuesto|explicado|dado|pasado|mostrado|armado|mencionado)
    (segun|con) tu (calculo|recomendacion|sugerencia|consejo|propuesta|explicacion|respuesta|estimacion)
    tu (recomendacion|sugerencia|consejo|propuesta|calculo|explicacion|estimacion)
    tus (recomendaciones|sugerencias|consejos|propuestas|calculos|respuestas)
    """,
)
# The second person of the preterite, which Spanish verbs alone end in: `dijiste`, `recomendaste`.
_YOU_DID = re.compile(
    r" (?!(?:ex|cons|ins|res|pers|as|des|subs|v|tr|ch)iste |(?:contr|g|desg|b|arr|p)aste )[a-z]{2,}(?:aste|iste)s?(?= )"
)
# How the user did something with the help of the assistant: the answer tells, seldom the question that it answers.
_HOW_DONE = re.compile(
    r"\bhow (?:did|had|have) (?:i|we)\b"
    r"|\bwh(?:at|ich) (?:approach|method|steps|strategy|process|procedure|technique|reasoning|workflow) did (?:i|we)\b"
    r"|\bc[oó]mo (?:(?:me|nos|lo|la|los|las|le|les) )?(?:hice|hicimos|\w{2,}[éí]|\w{2,}[ai]mos)\b"
    r"|\b(?:qué|que|cuál|cual) (?:enfoque|método|metodo|pasos|estrategia|proceso|procedimiento|técnica|tecnica)"
    r" (?:\w+ )?(?:hice|hicimos|\w{2,}[éí]|\w{2,}[ai]mos)\b"
)

# One thing is wanted, that a line says: a time, a place, a person, a figure, a name.
_ONE = re.compile(
    _PREFIX
    + r"(?: [?])?(?: (?:in|at|on|for|from|with|to|by|since|until|a|en|con|de|por|para|desde|hasta|entre))?"
    + r" (?:when|who|whom|whose|where|how (?:long|much|old|many|often|far|tall|big)|what (?:time|date|day|year|month"
    r"|name|colou?r|size|number|price)|cuando|quien|quienes|donde|adonde|cuant[oa]s?"
    r"|que (?:dia|hora|fecha|ano|mes|color|numero)|como se llama(?:ba)?) "
)
# All of a course of events.
_ALL = re.compile(
    r" (?:list|order|summar\w+|across|throughout|overview|recap|everything|conversations?|chats|sessions|progress\w*"
    r"|resumen(?:es)?|resumi\w*|resume(?= (?:tod[oa]s?|lo|las?|el|los|que|mis?|nuestr[oa]s?) )|lista\w*|enumera\w*"
    r"|orden|conversacion(?:es)?|charlas|sesiones|todo lo que|avance|avanzado) "
    r"| how (?:has|have) (?:my|our|the) (?:\w+ )+(?:changed|developed|evolved|grown)"
)
# Many things.
_MANY = re.compile(
    r" (?:all|both|every|each|tod[oa]s?|cada|amb[oa]s|cuales) "
    r"| (?:what|which) (?:\w+ ){0,2}?[a-z]+(?<![si'u])s | (?<!por )que (?:otr[oa]s )?[a-z]+[aeonrl]e?s "
    r"| (?:what|which) (?:are|were) "
    # "Where have I sailed?": of all the times until now.
    r"| (?:what|where|who|which|when|how (?:many|often)) (?:\w+ ){0,3}(?:has|have) (?!to )"
    r"| (?:how many|cuant[oa]s) (?:times|veces) | how often "
)


@dataclass(frozen=True, slots=True)
class Cues:
    """Of the last question of a message, or of all of it if it asks none."""

    asks: bool  # it is a question, with its mark or without
    asking_word: bool  # it begins with what, which, when, …
    request: bool  # it begins with list, remind me, summarise, …
    before: bool  # it speaks of what was said or decided before
    past: bool
    ones_own: bool
    addressed: bool
    advice: bool
    going_on: bool
    pointing: bool
    words: int  # of the message
    sentences: int  # of the message
    figures: int  # of the message: who asks for them has none to tell


def cues(text: str) -> Cues:
    text, sentences, questions = _read(text)
    written = questions[-1] if questions else text
    asked, said = plain(written), plain(text)
    return Cues(
        asks=bool(questions),
        asking_word=bool(_ASKING_WORD.search(asked)),
        request=bool(_REQUEST.search(said)),
        before=bool(_BEFORE.search(asked)) or bool(_ANSWERS.search(asked)),
        past=bool(_PAST.search(asked) or _PAST_ENDING.search(_NO_PAST.sub("", written.lower()))),
        ones_own=bool(_ONES_OWN.search(asked)),
        addressed=bool(_ADDRESSED.search(asked)),
        advice=bool(_ADVICE.search(said)),
        going_on=bool(_GOING_ON.search(said)),
        pointing=bool(_POINTING.search(asked)),
        words=len(text.split()),
        sentences=len(sentences),
        figures=len(_FIGURE.findall(text)),
    )


def _read(text: str) -> tuple[str, list[str], list[str]]:
    """As much of it as is read, its sentences, and those of them that are questions."""
    if len(text) > 2 * _MOST:
        text = f"{text[:_MOST]} {text[-_MOST:]}"
    sentences = [sentence for sentence in _SENTENCE.split(text.strip()) if sentence] or [""]
    questions = [sentence for sentence in sentences if sentence.endswith("?")]
    return text, sentences, questions or [sentence for sentence in sentences[-1:] if _is_unmarked(sentence)]


def _is_unmarked(sentence: str) -> bool:
    """Is it a question that was typed without its mark: "cuanto pago de alquiler"?"""
    if len(sentence.split()) > _UNMARKED:
        return False
    said = plain(sentence)
    return "\u00bf" in sentence or bool(
        (_ASKING_WORD.search(said) or _SHORTENED.search(said)) and not _NO_QUESTION.search(said)
    )


def last_question(text: str) -> str:
    """Its last sentence that is a question; "" if there is none."""
    questions = _read(text)[2]
    return questions[-1] if questions else ""


def asking(text: str) -> float:
    """How much of a message is short questions, which tell nothing: 0 to 1, by characters."""
    if "?" not in text:
        return 0.0
    _, sentences, questions = _read(text)
    plainly = [said for said in questions if len(said.split()) <= _LONG_QUESTION]
    return sum(map(len, plainly)) / max(1, sum(map(len, sentences)))


def concreteness(text: str) -> float:
    """How much of what most questions ask for it holds: a figure, and a name. 0, 0.5 or 1."""
    return (bool(_FIGURE.search(text)) + bool(_NAME.search(text))) / 2


@lru_cache(64)
def asks_for(text: str) -> Extent:
    """How many things its last question asks for; "all": a summary, or the course of events."""
    text, _, questions = _read(text)
    asked = plain(questions[-1] if questions else text)
    if _ALL.search(asked):
        return "all"
    if _MANY.search(asked):
        return "many"
    return "one" if _ONE.search(asked) else "some"


def asks_for_answers(text: str) -> bool:
    """Is it in what the assistant said?"""
    said = plain(text)
    return bool(_ANSWERS.search(said) or _YOU_DID.search(said) or _HOW_DONE.search(text.lower()))
