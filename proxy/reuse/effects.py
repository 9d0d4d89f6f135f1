"""Who wants something done: orders that act on the world, Spanish and English.

An order is a verb of action where an order begins: at the start of a sentence or after "and", behind courtesies
("please", "che, ¿me podés …?", "I need you to"). "How do I delete a branch?" has its verb in another place. What
must stand behind a verb depends on its table in `verbs`. All words are those of plain text (see `text`).
"""

import re

from proxy.language.phrases import phrases, prefix_tree, words
from proxy.language.text import sentence
from proxy.reuse.verbs import KINDS, WORDS, Kind

_ARTEFACT = phrases(
    """
textos? | frases? | oracion | oraciones | parrafos? | codigo | funcion | funciones | clase | metodo | variables? | bucle
regex | expresion | query | consulta | sql | html | css | json | yaml | markdown
lista de(?! (compras|tareas|deseos|espera)) | (esta|la siguiente) (lista|tabla|cadena) | tabla (con|de|comparativa|que)
resumen | poema | cuento | historia | ensayo
(titulo|slogan|eslogan|nombres|ejemplos?|rutina|receta|itinerario|dialogo|chiste|guion|esquema|preguntas|quiz|trivia)
(ejercicios?|ecuacion|formula|fraccion|polinomio|matriz|comentarios|componente|plantilla|diagrama|script|siguientes?)
(traduccion|tono|palabras|vinetas|mayusculas|minusculas|acentos|tildes|plan de|cancion sobre|carta (de|modelo)|discurso)
(descripcion|biografia|haiku|analogia|algoritmo|programa (en|que)|pagina web|cuadro|grafico|metafora|modelo de|dataset)
text | sentences? | paragraphs? | code | functions? | class | method | loop | expression | string | array
(list of|this list|the following|table (of|with|comparing|that)|summary|poem|story|essay|titles?|slogan|names|examples?)
(plan (for|to)|routine|recipe|itinerary|dialogue|joke)
(script (that|to|in|for)|outline|questions|exercises?|equation|formula)
(fraction|polynomial|matrix|numbers|comments|docstrings?|type hints)
(unit tests?|tests|component|template|diagram|algorithm)
(translation|tone|words|bullets?|uppercase|lowercase|letter|speech|description|bio|haiku|analogy|lyrics|program|regexp)
(python|javascript|typescript|react|bash|java|celsius|fahrenheit|binario|binary|decimal|hexadecimal|into (a|an|english))
"""
)
_THING = phrases(
    """
check-in | checkin | reservas? | reservacion | retiro | transferencia | pago | pedido | compra | llamada | backup
respaldo | (copia|copias) de seguridad | deposito | donacion | deploy | commit | captura | foto | cita | turno | de baja
de alta | baja | (like|play|enter|operador|humano|acceso|permisos?|seguimiento|denuncia|reclamo)
(devolucion|reembolso|giro|inscripcion|tramite|encargo|push)
(mail|mails|email|correos?|mensajes?|whatsapp|luz|luces|tele)
(puerta|alarma|reunion|evento|vuelo|hotel|ticket|cuenta|merge)
(tarjeta|factura|formulario|solicitud|suscripcion|archivos?|carpeta)
(calendario|agenda|auto|coche|perro|basura|videollamada) | contact | alarm | location | reservations? | bookings?
payments? | purchase | phone call | call | appointments? | order | deposit | donation | withdrawal
(transfer|screenshot|photo|picture|selfie|check-in|back-up|emails?)
(messages?|file|folder|form|application|ticket|invitation) | (card|account|access|refund|car|dog|trash|dishes|laundry)
(meeting|event|reminder|invoice|subscription|him|her|them|everyone)
my (boss|mom|mum|dad|wife|husband|brother|sister|friend|team|landlord|roommate|doctor|son|daughter|assistant|client)
it
"""
)
# What may stand behind a verb that is a noun as well, so that it is an order ("book a table").
_OBJECT = phrases(
    """
an? | the | my | our | his | her | their | this | that | these | those | it | them | him | us | all | every | each
some | any | both | another | more | up | off | to | on | in | out | down | back | one | two | three | four | five | six
ten | [0-9$€#][^ ]* | everyone | everybody | someone | mom | mum | dad | order | rent | uber | pizza | dinner | lunch
tickets | flights | [a-z]+'s | me (?!(what|how|who|which|why|where|of|the|if) )[^ ]+
"""
)
# Verbs of speaking take a person, whose name we can't know; these make them nouns ("call stack", "email marketing").
_SPEAK = words("call dm email fax message phone ping text mail")
_COMPOUND = phrases(
    """
[.?,] | and | or | vs | of | by | us | me (?!(an?|at|when|in|back|if) )[^ ]+ | stacks? | centers? | centres? | options?
queues? | marketing | brokers? | alignment | mining | editors? | wrap[a-z]* | classification | validation | templates?
etiquette | address[a-z]* | clients? | servers? | types?
"""
)
# An unknown word before one of these, at the start of a sentence, is taken for a verb.
_DETERMINED = phrases(
    """
(up|off|on|down|out|back|over|rid of) [a-z]+ | the | my | our | this | these | those | all | every | it | them | him
her | his | me | us | an? | another | two | three | [0-9][^ ]* | [a-z]+'s | el | la | los | las | al | mi | mis | este
estos | ese | esa | tod[oa]s? | una? | dos | tres | cada | nuestr[oa]s?
"""
)
_SAYINGS = phrases(
    """
(recordame|recuerdame|recuerdeme|acordame|haceme acordar|hazme acordar) (que (?!(es|era|son|hace|significa) )[a-z]+|de)
(recordame|recuerdame|recuerdeme|acordame|haceme acordar|hazme acordar) (a la|a las|manana|en)
(recordame|recuerdame|recuerdeme|acordame|haceme acordar|hazme acordar) (cuando|cada|todos|antes|por)
(recordame|recuerdame|recuerdeme|acordame) ([a-z]+ )?([a-z]*[aei]r[a-z]{0,4}|turno|reunion|cita)
(recordame|recuerdame|recuerdeme|acordame) ([a-z]+ )?(pago|cumpleanos|pastilla|medicacion)
remind me (to|at|in|on|about|every|when|tomorrow|later|before|that) | remind (him|her|them|my|everyone|the)
take [a-z]+ (off|out|down|to) | get rid of | would you mind (?!(explaining|telling|giving|showing|writing) )[a-z]+ing
let (him|her|them|everyone|everybody|my|the) ([a-z]+ ){0,4}know | let [a-z]+ know
(tell|ask) (?!(me|us|apart|if|about) )[a-z]+ | (dale|dar|darle|des|da|dame) de (baja|alta)
dale (play|like|enter|permisos?|acceso|comida|de comer) | do it | go ahead
(i need|i want|necesito|quiero) (an?|un|una|mi|el) (alarm|reminder|alarma|recordatorio|timer|turno|cita|taxi|uber)
(delete|remove|show|cancel) (all )?(of )?my | (establec|configur|prepar|coloc)[a-z]+ ([a-z]+ )?(alarma|recordatorio)s?
make sure (the|my|all) ([a-z]+ ){1,4}(is|are) (locked|off|on|closed|paid|sent) | look after | take care of
"""
)

_COURTESIES = prefix_tree(
    """
, | please | pls | plz | kindly | hi | hey | hello | ok | okay | siri | alexa | google | now | just | don't | also
then | quickly | yes | yeah | go | and | let's | por favor | porfa | porfis | hola | che | dale | bueno | ahora | no
tambien | entonces | si | oye | oiga | mira | listo | vamos a | anda a | ve a | vaya a | y | a ver si | ya | buenas
buenos dias | hac[ae]me el favor de | hazme el favor de
"""
)
_CLITICS_BEFORE = "me|te|se|nos|le|les|lo|la|los|las"
_HANDS_OVER = prefix_tree(
    """
(?:can|could|would|will) (?:you|u|someone) | (?:i|we)(?:'d| would)? (?:need|want|like) (?:you |u )?to
i'd like (?:you )?to | help me to | help me | make sure to | make sure you | be sure to | don't forget to | remember to
go ahead and | podes | podrias | puedes | puede | podria | podras | pueden | podrian | quisieras | queres | quieres
(necesito|quiero|quisiera|preciso|te pido|le pido|te encargo|hace falta|me gustaria|ocupo|me urge|espero)(?: que)?
puedo pedir(?:te|le)? que | hay que | tenes que | tienes que | acordate de | no te olvides de | no olvides
asegurate de | encargate de | ocupate de | ayudame a | (serias|seria|sos|eres) tan amable de | te animas a
me (?:haces|harias) el favor de | seria posible
"""
)
# Where an order may begin (behind a mark or a conjunction), courtesies, a verb that hands over another, the verb.
_BEGINS = re.compile(
    r" (?:(?P<first>[.?])|,|\(|y|and|then|luego|despues|pero|but|so|also|plus)"
    rf"(?: (?:{_COURTESIES}|(?P<for_someone>{_CLITICS_BEFORE}))){{0,8}}"
    rf"(?P<opener> {_HANDS_OVER}(?: (?:por favor|please|just|also|que|quickly|{_CLITICS_BEFORE})){{0,4}})?"
    r"(?= (?P<verb>[a-z-]+) )"
)
_WISH = re.compile(
    r" (?:i|we|i'd|quiero|quisiera|me gustaria|necesito|preciso|espero|hay que)(?= |$)(?!.*(?: que| you))"
)
_CLITICS_BEHIND = re.compile(rf"(?:{_CLITICS_BEFORE})?(?:{_CLITICS_BEFORE})$")
_SAID_TO = words("deci di diga pregunta pregunte escribi escribe conta cuenta explica contesta responde")
# A sentence that asks, so that a verb behind its "and" is no order: "how does one open, read and close a file".
_ASKS = phrases(
    """
como | cual | cuales | quien | quienes | por que | que | para que | cuanto | conviene | se puede | cuando se | explica
explicame | how | what | why | which | who | where | whether | does | is | are | do | did | explain | should
when (do|does|did|is|should|can)
"""
)
_PURPOSE = phrases("to | para | that | which | que | i | we | they | he | she | se | who")
_QUESTION_LATER = phrases(
    """
how | what | which | should | where | is it | como | cual | conviene | donde | que (es|tengo|debo|hago|hay)
"""
)

# How far behind its verb an object is looked for, and how far into a sentence it may begin to ask: a dozen words, five.
_REACH = 80
_LEAD = 30


def side_effect(text: str) -> bool:
    """Does plain `text` order something that a repeated answer would leave undone, or claim to have done?"""
    return any(_is_order(text, begins) for begins in _BEGINS.finditer(text))


def _is_order(text: str, begins: re.Match[str]) -> bool:
    verb, opener, start = begins["verb"], begins["opener"], begins.end()
    kind, has_clitic = _kind(verb)
    saying = _SAYINGS.match(text, start) or _SAYINGS.match(text, begins.start() + 2)
    after = start + 1 + len(verb)
    if kind is None and not saying and not (_may_be_verb(verb, begins) and _DETERMINED.match(text, after)):
        return False
    rest, closing = _behind(text, after)
    if begins["first"] is None and not has_clitic and _is_told(text, begins.start(), rest):
        return False
    if opener and _WISH.match(opener) and (kind is None or _QUESTION_LATER.search(text, start)):
        return saying is not None
    if saying:
        return True
    if closing == "?" and not (opener or begins["for_someone"] or verb.endswith(("s", "r"))):
        return False  # "¿Cancela el contrato la muerte del titular?"
    return _has_object(verb, kind, rest)


def _is_told(text: str, conjunction: int, rest: str) -> bool:
    # What follows "and" in a sentence that asks or tells belongs to it, unless it is to be done to "it" or to mine.
    if rest.startswith((" it ", " them ", " my ", " mi ")):
        return False
    before = sentence(text[: conjunction + 1], conjunction - 1)
    return _ASKS.search(before, 0, _LEAD) is not None or _PURPOSE.search(before) is not None


def _has_object(verb: str, kind: Kind | None, rest: str) -> bool:
    match kind:
        case "act":
            return True
        case "handle":
            return _THING.search(rest) is not None
        case "noun":
            return not _COMPOUND.match(rest) if verb in _SPEAK else _OBJECT.match(rest) is not None
        case "make" | None:
            return not _ARTEFACT.search(rest)


def _may_be_verb(word: str, begins: re.Match[str]) -> bool:
    return begins["first"] is not None and not begins["for_someone"] and _bare(word) not in WORDS


def _behind(text: str, start: int) -> tuple[str, str]:
    """The rest of the sentence from `start`, cut at `_REACH`, and the mark that closes it if that is within reach."""
    rest = text[start : start + _REACH]
    end, closing = min((at, mark) for mark in ".?" if (at := f"{rest} {mark} ".find(f" {mark} ")) >= 0)
    return rest[: end + 3], closing if end < len(rest) else ""


def _kind(verb: str) -> tuple[Kind | None, bool]:
    """The table that `verb` is in, and whether it carries its object ("mandáselo")."""
    bare = _bare(verb)
    if bare in _SAID_TO and verb.endswith(("le", "les")):
        return "act", True
    return KINDS.get(bare), bare != verb


def _bare(verb: str) -> str:
    """`verb` without the pronouns at its end, if that is a verb we know."""
    bare = verb
    while bare not in KINDS and bare not in WORDS and bare not in _SAID_TO:
        shorter = _CLITICS_BEHIND.sub("", bare)
        if shorter == bare:
            return verb
        bare = shorter
    return bare
