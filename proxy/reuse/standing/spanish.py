"""What a Spanish sentence must say, and what must not be in it, to be understood on its own. Tables as in `english`.

Spanish leaves out pronouns that are subjects, and has articles where English has none. So a verb of the third person
needs a subject that is said, and of the nouns with an article those that are general, or of something, need more.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from proxy.language.phrases import phrases, words
from proxy.reuse.standing.sentence import Grammar, Sentence, Vocabulary
from proxy.reuse.standing.vocabulary import FUNCTION_ES, NOUNS_ES, PLAIN_ES, UNIQUE_ES

PREFACE = """
hola | hola a todos | buenas | buen dia | buenos dias | buenas (tardes|noches) | gracias | muchas gracias | bueno
gracias por (eso|todo|la respuesta) | ahora bien | por favor | che | disculpa | disculpe | perdon
una (consulta|pregunta)( (rapida|sencilla|corta|simple|facil))? | consulta | pregunta
te hago una (consulta|pregunta) | cambiando de tema | cambio de tema | otra cosa | paso a otra cosa
otra (pregunta|consulta)
nueva pregunta | por cierto | si no es molestia | quedo atent[oa] | saludos | abrazo | gracias de antemano
desde ya (muchas )?gracias
"""

OPENERS = """
y | e | o | u | pero | entonces | ademas | tambien | tampoco | porque | pues | sino | mejor | igual | ahora | luego
despues | aunque | asi | ok | si(?= ,) | no | claro | dale | listo | sigue | segui | continua | mas | menos | solo
para (?!(que|hacer|ir|viajar|[a-z]+[aei]r) ) | con | sin | todavia | otra vez | de nuevo | que (mas|otr[oa]s?)
por que no [a-z]+[aei]r | quien mas | alguien mas | algo mas | en [a-z]+(?= [.?]) | en una? (tabla|lista)
no (entend|entiend)[a-z]+
"""

_META = "pasos?|opcion(es)?|puntos?|partes?|parrafos?|oracion(es)?|frases?|lineas?|seccion(es)?|respuestas?|ejemplos?\
|ideas?|preguntas?|metodos?|listas?|tablas?|version(es)?|sugerencias?|explicacion(es)?"
_VERB = "puedo|puede|pueden|podes|puedes|podria|hago|hace|hacen|haces|uso|usa|usan|pongo|pone|tengo|tiene|tienen|quiero\
|quiere|debo|debe|instalo|preparo|preparan|cambio|arreglo|digo|dice|dicen|llevo|lleva|compro|compra|paso|pasa|vendo\
|vende|guardo|guarda|limpio|saco|saca|corto|corta|uso|necesito|necesita|aplico|aplica|creo|cree|conozco|conoce|escribio\
|hizo|invento|descubrio|dijo|puso|mato|eligio|fundo|gano|compuso|pinto|ayuda|ayudo|consigo|consigue|sirve|trato|tomo"
_POINTERS = f"""
est[eo]s? | estas?(?! (el|la|los|las|un|una|en|de|bien|mal|[a-z]+[ai]d[oa]|[a-z]+ndo) ) | es[eao]s? | aquell?[aeo]s?
sus? | suy[oa]s? | ella | ellos | ellas | lo(?! (que|mas|mejor|peor|de) ) | lo de(?= ) | eso | ahi | alli | alla | aca
aqui | mism[oa]s?(?! (tiempo|lugar|dia) ) | otr[oa]s? | tampoco | tambien | ademas | demas | anterior(es)?(?! al? )
siguientes? | ultim[oa] ({_META}) | (primer|segund|tercer|cuart|quint)[oa]?(?= [.?,])
(primer|segund|tercer|cuart|quint|ultim)[oa]? ({_META})
(el|la|del|al) (primer|segund|tercer|cuart|quint|ultim|mi|tuy|nuestr)[oa](?= [.?,:])
mas cercan[oa]s? | (el|la|los|las) mi[oa]s?
({_META}) (\\d+|uno|dos|tres|cuatro|cinco|[abcd]) | (el|la|los|las) (mas|menos|que|de)(?= ) | un[oa]s?(?= [.?,])
(un[oa]|algun[oa]|ningun[oa]|cada un[oa])(?= (es|mas|menos|me|te|se|con|sin|mejor|peor) )
cual(es)? (me|te|se|nos|va|conviene|recom[a-z]+|pref[a-z]+|eleg[a-z]+|elij[a-z]+)
cual(es)? (usas?|compr[a-z]+|dura|cuesta|tiene|mas) | (los|las) (dos|tres|cuatro|cinco) | ambos | ambas
ejemplos? mas | [a-z]+ mas(?= [.?,]) | mas (detalle|ejemplo|info)[a-z]*
(dos|tres|cuatro|cinco|diez|\\d+|algun[oa]s) mas | antes(?= [.?,]) | despues(?= [.?,]) | luego(?= [.?,]) | al reves
en (cambio|su lugar|ese caso|lugar de eso) | otra vez | de nuevo | entonces | quedo | decis | dijiste | mencionaste
(quer|qui)[a-z]+ decir | me referia | referia | tu (ultim[oa]|{_META}) | (me|te|se|nos) l[oa]s?
(como|cuando|donde|por que|cuanto|quien|no|que|y|ya) l[oa]s? ({_VERB}) | l[oa]s? ({_VERB})
una? (miembro|parte|tipo|clase|version|ejemplo|lado|razon|forma|manera|diferencia)(?= [.?,])
una? (limite|riesgo|problema|alternativa|excepcion|opcion)(?= [.?,])
(en vez|en lugar) de(?! ([a-z]+ )+(para|en|al|cuando) ) | ejemplos?(?! (de|del|para) )
les?(?! [a-z]+ ([a-z]+ ){{0,5}}(a|al) )
"""

_MORE = (
    "mas|menos|mejor(es)?|peor(es)?|mayor(es)?|menor(es)?|igual(es)?|parecid[oa]s?|distint[oa]s?|diferentes?|similar"
)
_HALVES = f"""
(es|son|sea|fue|era|cual|cuales|una?|unos|unas|algo|lo|hay|opcion|version|usar?|dame|quiero) ({_MORE})
(una?|algo|alguna?|hay|dame|quiero|version|opcion) [a-z]+ ({_MORE})
"""
_OTHER_HALF = "que | o | vs | entre | del? [a-z]+ | tipos | formas"

_ASKS = """
que | cual | cuales | quien | quienes | como | cuando | cuanto | cuanta | cuantos | cuantas | donde | adonde | por que
se puede | puedo | puede | pueden | podes | podrias | puedes | debo | debe | hay | es | son | esta | tengo que
conviene | sirve | existe | existen | me (pod[a-z]+|pued[a-z]+|das|dec[a-z]+|expli[a-z]+|reco[a-z]+|convi[a-z]+)
necesito | sabes | recomendame | dame | decime | contame | explicame | mostrame | explica | explique | explicar
define | defini | definime | escribi | escribe | escribime | enumera | nombra | nombrame | lista | traduci | traduce
traducime | resumi | resume | resumime | compara | calcula | converti | convierte | recomienda | muestrame | cuentame
dime | pasame | hablame | listame | describi | describe | sugerime | sugiere | sugiereme | ensename
"""
_ASKS_INSIDE = """
, (que|cual|cuales|quien|quienes|como|cuando|cuanto|cuanta|cuantos|cuantas|donde|por que|puedo|puede|hay|es|se puede)
, (a|de|en|con|por|para|desde|hasta|cada) (que|cual|quien|donde|cuando|cuanto)
(decirme|dec[ai]me|saber|se|contame|explicame|mostrame|muestrame|entender|idea de) (que|cual|quien)
(decirme|dec[ai]me|saber|se|contame|explicame|mostrame|muestrame|entender|idea de) (como|cuando|cuanto|donde)
(a|de|en|con|por|para|desde|hasta|cada) (que|cual|quien|donde|cuando|cuanto|cuantos|cuantas|cuales)
"""
_ORDERS = words(
    """
    recomendame dame decime contame explicame mostrame explica explique explicar define defini definime escribi
    escribe escribime enumera nombra nombrame lista traduci traduce traducime resumi resume resumime compara calcula
    converti convierte recomienda muestrame cuentame dime pasame hablame listame describi describe sugerime sugiere
    sugiereme ensename
    """
)

_UNIQUE_PAIRS = frozenset(("sistema solar", "cuerpo humano", "medio ambiente"))
_ABSTRACT = re.compile("(?:dad|tad|ismo|itis|osis|emia)$")
_MENTIONS = words("palabra termino comando verbo expresion")  # "la palabra efímero"
_BEFORE_NOUN = words(
    """
    mejor mejores peor peores primer primera primeros primeras gran nuevo nueva principal principales mayor menor
    diferentes distintos distintas segunda segundo tercer tercera unico unica
    """
)
# Nouns that end as an infinitive or an order with a clitic does.
_NO_CLITIC = words(
    """
    perla perlas charla charlas burla burlas orla orlas mirlo mirlos merlo sorla carla carlos parla birla caramelo
    caramelos pomelo pomelos gemelo gemela gemelos gemelas camelo arles chelo cuales
    """
)
_ARTICLES = words("el la los las al del")
_DETERMINERS = words("el la los las un una unos unas mi mis tu tus cada")
_PREPOSITIONS = words("a al de del en con por para sin sobre entre desde hasta segun durante hacia contra tras como")
_QUESTION_WORDS = words("que cual cuales quien quienes como cuando cuanto cuanta cuantos cuantas donde adonde")
_WITH_NOUN = words("que cual cuales cuanto cuanta cuantos cuantas")
_IDENTIFIED = words("que quien cual cuales quienes")
_CLITICS = words("se me te nos no le les")
_OF = words("de del entre")
_COMPLETES = words("de del entre que para")
_COPULAS = words("es son era eran fue fueron esta estan sera seria sea")
_ACTS = words(
    """
    tiene tienen lleva llevan sirve sirven funciona funcionan necesita necesitan incluye incluyen cubre da dan hace
    hacen cuesta dura duele contiene contienen produce causa usa usan puede pueden debe deben afecta ayuda vale
    existe existen viene engorda tenia hubo queda mancha rinde tarda pesa requiere
    """
)
_LATEST = 2  # position of a question word that no comma comes before: "¿desde hace cuánto…?"

_ASKS_FIRST = phrases(_ASKS, opening=True)
_ASKS_LATER = phrases(_ASKS_INSIDE)
_POINTS = phrases(_POINTERS)
_HALF = phrases(_HALVES)
_WHOLE = phrases(_OTHER_HALF)
_INFINITIVE = re.compile("[a-z]{2,}[aei]r")
_VERB_FOLLOWS = words("como donde cuando quien quienes se me te nos")
_NOUN_FOLLOWS = words("el la los las un una mi tu de del")
_CLITIC = re.compile(r"[a-z]{2,}(?:[aei]r|ndo)(?:me|te|se|nos)?l[oae]s?|[a-z]{2,}[aei](?:me|te|se|nos)l[oa]s?")
# An order with a clitic ("traducila") looks like a noun, but bare nouns don't begin a sentence.
_ORDERED = re.compile(r"(?: (?:no|ahora|mejor|ya))? (?!cuales )[a-z]{2,}[aei](?:me|nos)?l[oae]s? ")
_FIRST_PERSON = re.compile(
    r"(?:^| ,| [a-z]+) (?:hay|hay que|se pueden?|se debe|conviene|tengo|puedo|podes|puedes|podemos|debo|deberia|tenes"
    r"|tienes|es (?:posible|legal|obligatorio|necesario|bueno|malo|peligroso|seguro|normal|mejor)|necesito|voy a|quiero"
    r"|hace falta)(?= )|(?:que|como|cuando|donde|cuanto|cual|cuant[oa]s?)(?: [a-z]+)?(?: me| te| no| nos)? "
    r"(?:[a-z]{3,}o|[a-z]+mos|[a-z]{2,}[aei]r|me|te)(?= )"
)
# What is asked of a thing in general, so that its article says no more than English without one.
_DEFINES = re.compile(
    r"(?:que (?:es|son|significan?)|en que consisten?|quien(?:es)? (?:invento|descubrio|creo)|como funcionan?"
    r"|como se (?:dice|escribe|pronuncia|calculan?|juega|forma|produce|origina|hace))(?: a)?$"
)
# Where one thing named is all there is to be said: what it is, how it works, what of it one wants to know.
_ABOUT_ONE = re.compile(
    r" (?:(?:a|de|en|con|desde|para|cada) )?(?:que (?:es|son|significan?|causan?|comen?|producen?|hacen?)|quien(?:es)?"
    r"|como|por que|donde|cuando|cuant[oa]s?|cual(?:es)?) "
)
# What one does, and the past, are asked in a situation; how a thing is done is not.
_SITUATED = re.compile(
    r"^(?! como ).* (?:puedo|podemos|necesito|debo|tengo|se puede|hay|conviene) "
    r"| (?:hubo|fue|fueron|era|eran|[a-z]{3,}aron|[a-z]{3,}ieron) "
    r"|^ (?:a |de |en |con )?(?:que|cual|cuanto|cuando|donde|cuant[oa]s?)(?: [a-z]+)? [a-z]{3,}o "
)


def _asks(sentence: Sentence) -> bool:
    """Also a question that begins with its subject: "¿Un perro puede comer uvas?"."""
    if _ASKS_FIRST.match(f" .{sentence.text}") or sentence.says(_ASKS_LATER):
        return True
    return any(token in _COPULAS or token in _ACTS for token in sentence.tokens[1:])


def _is_whole(sentence: Sentence) -> bool:
    anchors = sentence.anchors
    if not anchors or not _has_subject(sentence):
        return False
    return len(anchors) > 1 or sentence.is_name(sentence.tokens[anchors[0]]) or not _needs_more(sentence, anchors[0])


def _needs_more(sentence: Sentence, anchor: int) -> bool:
    """With one thing named, would it still be asked of something: "¿Necesito visa?", "¿Qué integrantes quedan?"?"""
    if sentence.says(_SITUATED):  # a particular thing to do is the second one: "¿Puedo congelar pan?"
        return not any(sentence.is_content(token) for at, token in enumerate(sentence.tokens) if at != anchor)
    if any(
        word in _WITH_NOUN and noun not in PLAIN_ES and sentence.is_general(noun)
        for word, noun in pairwise(sentence.tokens)
    ):
        return True
    of_it = any(word in _OF for word in sentence.tokens[max(anchor - 2, 0) : anchor])
    return not of_it and sentence.tokens[0] not in _ORDERS and _ABOUT_ONE.match(sentence.text) is None


def _has_subject(sentence: Sentence) -> bool:
    """Is it said who or what does it? An order, the first and the second person need no word for it."""
    tokens = sentence.tokens
    if tokens[0] in _ORDERS or sentence.says(_FIRST_PERSON) or sum(token[0].isdigit() for token in tokens) > 1:
        return True
    free = list(_free(sentence))
    question = next((at for at, token in enumerate(tokens) if _is_question_word(sentence, at, token)), None)
    if question is None:
        if tokens[0] in ("los", "las") and not _names_something_else(sentence):  # "¿Los estudiantes tienen descuento?"
            return False
        with_article = sum(led for _, led in free)
        begins_with_act = tokens[0] in _ACTS or (tokens[0] == "se" and sentence.token(1) in _ACTS)
        return with_article > 0 and (len(free) > 1 or not begins_with_act)
    identified = tokens[question] in _IDENTIFIED
    start = question + 1
    while sentence.token(start) in _CLITICS:
        start += 1
    described = sentence.token(start) in _COPULAS and not identified  # "¿Por qué es azul?"
    if tokens[question] in _WITH_NOUN and _begins_with_noun(sentence, start):
        start += 1
        if sentence.token(start) == "se":  # "¿Qué idiomas se hablan…?": the noun is the subject
            return True
    return any(at > start and (led or not described) for at, led in free) or "si" in tokens


def _is_question_word(sentence: Sentence, at: int, token: str) -> bool:
    return token in _QUESTION_WORDS and (at < _LATEST or sentence.token(at - 1) == ",")


def _begins_with_noun(sentence: Sentence, at: int) -> bool:
    """Is it `que` with a noun ("¿Qué población tiene…?") rather than with a verb?"""
    word, following = sentence.token(at), sentence.token(at + 1)
    if sentence.is_general(word):
        return True
    return word not in PLAIN_ES and (following in PLAIN_ES or not following or sentence.token(at + 2) == "")


def _free(sentence: Sentence) -> Iterator[tuple[int, bool]]:
    """Positions of what is named and that no preposition governs. With each: has it an article, or needs it none?"""
    governed = led = False
    for at, token in enumerate(sentence.tokens):
        if token in _PREPOSITIONS:
            governed, led = True, False
        elif token in _DETERMINERS:
            governed, led = governed and sentence.token(at - 1) in _PREPOSITIONS, True
        elif token in FUNCTION_ES or not token[0].isalnum():
            governed = led = False
        elif not governed and (
            at in sentence.anchors or (sentence.is_general(token) and sentence.token(at + 1) in _OF)
        ):
            yield at, led or sentence.is_name(token) or _INFINITIVE.fullmatch(token) is not None


def _points(sentence: Sentence) -> bool:
    tokens = sentence.tokens
    if sentence.says(_POINTS) or (sentence.says(_HALF) and not sentence.says(_WHOLE)):
        return True
    if _ORDERED.match(sentence.text) or any(map(_has_clitic, tokens)):
        return True
    return any(token in _ARTICLES and not _is_told_which(sentence, at) for at, token in enumerate(tokens))


def _has_clitic(token: str) -> bool:
    return _CLITIC.fullmatch(token) is not None and token not in _NO_CLITIC


def _is_told_which(sentence: Sentence, article: int) -> bool:
    """Does the noun phrase that begins with this article say which one it means, or mean its whole kind?"""
    at = article + 1
    while sentence.token(at) in _BEFORE_NOUN:
        at += 1
    noun, following = sentence.token(at), sentence.token(at + 1)
    if noun in FUNCTION_ES or not noun[:1].isalnum():
        return False
    if any(sentence.is_name(token) or token[:1].isdigit() for token in (noun, following)):
        return True
    if noun in UNIQUE_ES or noun in _MENTIONS or f"{noun} {following}" in _UNIQUE_PAIRS:
        return True
    completes = _COMPLETES if article else _OF  # "¿El bucle para…?": a verb
    if following in completes or (sentence.token(at + 2) in completes and sentence.is_content(following)):
        return True
    if sentence.is_general(noun):
        return False
    if sentence.tokens[article] in ("los", "las") or _ABSTRACT.search(noun) or _INFINITIVE.fullmatch(noun):
        return True
    if _DEFINES.search(" ".join(sentence.tokens[:article])) or (sentence.is_content(following) and article > 0):
        return True
    return _names_something_else(sentence)


def _names_something_else(sentence: Sentence) -> bool:
    return any(map(sentence.is_name, sentence.tokens)) or any(
        word in ("un", "una", "mi", "mis") and sentence.is_content(noun) for word, noun in pairwise(sentence.tokens)
    )


def _is_verb(token: str, before: str) -> bool:
    if before in _VERB_FOLLOWS:
        return True
    return _INFINITIVE.fullmatch(token) is not None and before not in _NOUN_FOLLOWS


GRAMMAR = Grammar(Vocabulary(NOUNS_ES, FUNCTION_ES, PLAIN_ES, _is_verb), _asks, _is_whole, _points)
