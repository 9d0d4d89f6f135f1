"""The words by which `subject` tells holders, values and changes, English and Spanish, for folded text:
lower case, no accents.

A line is a notion; its entries are expressions, set apart by " | ".
"""

import re

from proxy.language.phrases import words
from proxy.memory.terms import terms

_ENTRIES = re.compile(r"\s\|\s|\n")


def _joined(table: str) -> str:
    """The entries of `table` as alternatives."""
    return "|".join(_ENTRIES.split(table.strip()))


def _any(table: str, *, behind: str = r"\b", before: str = r"\b") -> re.Pattern[str]:
    """What finds any entry of `table`, as whole words unless said otherwise."""
    return re.compile(f"{behind}(?:{_joined(table)}){before}")


# --- holders ---------------------------------------------------------------------------------------------------------

# Who belongs to the user, by the name that stands in a fact's key, and in which words.
_KIN = """
son: son hijo
daughter: daughter hija
child: kid kids child children sons daughters hijos hijas nene nena nenes chicos peque peques
child: guagua cabro cabra chamaco chamaca
wife: wife missus mrs mujer esposa senora
husband: husband hubby marido esposo
partner: partner pareja spouse
girlfriend: girlfriend gf novia polola
boyfriend: boyfriend bf novio pololo
fiance: fiance fiancee prometido prometida
mother: mother mom mum mam mama madre vieja mami amma
father: father dad papa padre viejo papi
parents: parents padres viejos papas
brother: brother bro hermano
sister: sister sis hermana
siblings: siblings hermanos
grandmother: grandmother gran grandma nan nana granny abuela abu lola
grandfather: grandfather grandpa grandad abuelo lolo
grandson: grandson nieto
granddaughter: granddaughter nieta
uncle: uncle tio
aunt: aunt auntie tia
cousin: cousin primo prima
nephew: nephew sobrino
niece: niece sobrina
baby: baby bebe beba bebita
twins: twins gemelos gemelas mellizos mellizas
inlaw: in-laws brother-in-law sister-in-law mother-in-law father-in-law
inlaw: suegra suegro suegros cunado cunada yerno nuera
boss: boss manager supervisor jefe jefa encargado encargada patron
friend: friend mate buddy amigo amiga bestie
neighbour: neighbour neighbor vecino vecina
flatmate: flatmate roommate housemate companero companera roomie roomies
landlord: landlord landlady casero casera arrendador dueno duena
colleague: colleague coworker co-worker colega
client: client customer cliente clienta
teacher: teacher profe profesor profesora maestra maestro tutor
doctor: doctor gp dentist cardiologist doctora medico medica dentista cardiologo pediatra vet veterinario veterinaria
ex: ex
dog: dog puppy pup perro perra perrita perrito cachorro cachorra
cat: cat kitten gato gata gatito gatita
horse: horse pony caballo yegua
pet: pet mascota parrot loro rabbit conejo hamster tortuga turtle
"""
KIN_NAMES = {
    word: name
    for entry in _KIN.strip().split("\n")
    for name, _, said in [entry.partition(": ")]
    for word in said.split()
}
KIN_TERMS = frozenset(term for word in KIN_NAMES for term in terms(word))
_KIN_WORDS = "|".join(sorted(map(re.escape, KIN_NAMES), key=len, reverse=True))
_AT_THE_BEGINNING = r"(?<=^)(?=(?:mum|mom|dad|gran|grandma|grandpa|mama|papa|kid)\b)"
_WITHOUT_ARTICLE = r"\b(?:took|put|got|for) (?=(?:mum|mom|dad|gran)\b)"
_WHOSE = r"\b(?:my|our|his|her|mi|mis|nuestr[oa]s?|the|el|la|los|las|un|una|a|su)\s+(?:[\w-]+\s)?"
# "my son", "my eldest son", "mi hija mayor", "the twins"
KIN = re.compile(rf"(?:{_AT_THE_BEGINNING}|{_WITHOUT_ARTICLE}|{_WHOSE})(?P<kin>{_KIN_WORDS})\b(?!-)")
# Of whom there are many, told apart by their names.
MANY = words("""
son daughter child brother sister siblings friend dog cat cousin neighbour colleague client teacher doctor nephew niece
uncle aunt grandson granddaughter pet horse flatmate
""")
# The user, as the one who does it.
SELF = _any(r"""
i | i'm | i've | i'd | i'll | im | ive | we | we're | we've
yo | me | nos
soy | tengo | vivo | trabajo | estoy | hago | uso | voy | llevo
somos | tenemos | vivimos | [a-z]{3,}(?:amos|emos|imos)
""")
# The user, to whom it is done or belongs.
ME = _any(r"""
me | my | us | our
mi | mis | nos | nuestr[oa]s?
""")
# Somebody else, where a statement begins; "he trabajado" is the user.
OTHER = _any(
    r"""
he(?! \w+(?:ado|ido|to|cho|sto)\b) | she | he's | hes | she's | shes | his | her
ella | su | sus
""",
    behind=r"^\W*(?:(?:and|but|y|pero|so|e)\s+)?",
)
# Somebody else, anywhere.
THIRD = _any(r"""
she | he(?! \w+(?:ado|ido|to|cho|sto)\b) | shes | hes | she's | he's
ella
(?<=\w )(?:lives|moved to(?! (?:the )?\d| \w+ \d))
(?<=\w )(?:vive|se mudo)
(?<=\w )(?:works|studies)
(?<=\w )(?:trabaja|estudia)
(?<=\w )is \d{1,2}
(?<=\w )tiene \d{1,2}
""")
# Capitalised where a sentence begins, and no names.
COMMON = words("""
i i'm i've i'll we we're we'll my our you your he he's she she's they they're his her it it's this that that's the a an
yes no ok please hi hello hey there right well thanks just still also so and but
what how when where why who is are can could does do did will would should not never always
in on at for from now remember call answer actually update change changed turns new bad good started
moved living working
yo mi mis nuestra nuestro me nos se te lo le el la los las un una
si ya no hola ahora desde hoy resulta que como cuando donde por para en con de del al a es son hay
soy tengo vivo trabajo estoy somos olvida olvidate recorda anota llamame
""")

# --- values ----------------------------------------------------------------------------------------------------------

DATES = re.compile(
    "|".join(
        rf"\b(?:{_joined(table)}){plural}\b"
        for table, plural in (
            (
                """
january | february | march | april | may | june
july | august | september | october | november | december
jan | feb | mar | apr | jun | jul | aug | sept? | oct | nov | dec
monday | tuesday | wednesday | thursday | friday | saturday | sunday
""",
                "s?",
            ),
            (
                """
enero | febrero | marzo | abril | mayo | junio
julio | agosto | se[pt]tiembre | octubre | noviembre | diciembre
lunes | martes | miercoles | jueves | viernes | sabados? | domingos?
""",
                "",
            ),
        )
    )
)
DAY = re.compile(r"\b\d{1,2}(?:st|nd|rd|th)\b|\b\d{1,2}/\d{1,2}\b")
TIME = re.compile(r"\b\d{1,2}(?::\d\d| ?[ap]m\b|hs?\b)")
MONEY = _any(
    r"""
[$€£]
\b(?:dollars?|euros?|usd|eur|grand|bucks|quid|pounds)\b
\b(?:pesos|dolares|mil|millones|lucas|soles)\b
\b(?:rent|salary|budget)\b
\b(?:alquiler|sueldo|presupuesto)\b
""",
    behind="",
    before="",
)
PLACE = re.compile(r"\b(?:in|to|near|en|a|from|at)\s+((?:[\w'-]+)(?:\s(?!and|but|with|since|for|y|con|desde)[\w'-]+)?)")
ORDINAL = _any(r"""
first | second | third | fourth | fifth | sixth | seventh | eighth | ninth | tenth
primer[oa]? | segund[oa] | tercer[oa]? | cuart[oa] | quint[oa]
sext[oa] | septim[oa] | octav[oa] | noven[oa] | decim[oa]
one | two | three | four | five | six | seven | eight | nine | ten | twelve
dos | tres | cuatro | cinco | seis | siete | ocho | nueve | diez | once | doce
""")

# --- changes ---------------------------------------------------------------------------------------------------------

# Words of change, of time and of hardly any meaning: that they differ says nothing of what a statement is about.
CHANGING = frozenset(
    terms("""
    there are am somos son soy hay quedamos
    now actually instead these days since still today yesterday week day morning night tonight always
    ahora al resulta nomás desde recién sigue siguen seguimos sigo hoy ayer semana mañana tarde noche vez siempre
    adelante
    changed change moved move switch switched switching became become raised lowered cut up down dropped drop swapped
    cambio cambió cambié cambiamos cambiaron cambiado subió sube bajó movimos movió mudé mudo mudó mudamos
    pushed slipped slip planned plan scheduled set due retrasado retrasaron adelantaron adelantado atrasó corrió corre
    longer anymore stopped quit stop last lasted sold came off come bought ripped full enough
    dejo dejé dejado renuncié vendí comprado quitó quitaron puso pusieron
    back again rejoined joined volví volver vuelvo volvió regresé regresar regresó retomé retomado otra nuevamente mejor
    new nuevo nueva bad news update idea lugar final finalmente more after all out turn turns
    decided going go goes gone went decidí decidimos vamos va van iba pasa paso pasó pasé pasamos pasaron pasado
    use uses used using usar uso usa usamos run runs was were put puts take takes took make made makes let stay staying
    call called llama llamo need needs want get getting got start started starting empecé empiezo arranco arranqué
    estará está fue llevo llevamos tenemos tienen tomo toma quedó quedamos queda
    hemos han ha he hecho hizo hace haces hago hice migramos migrado migró migrated
    dollar dollars euro euros usd eur pound pounds quid bucks pesos dólares soles
    remember recordá please right well myself yeah btw lol haha jaja jajaja che bueno listo
    """)
)
# Says that something was otherwise before.
CHANGES = _any(r"""
now | these days | nowadays | since | actually | turns out | correction
ahora | ya | desde (?:el|la|hoy|ayer|este|esta|ahora|entonces) | recien | al final | finalmente | resulta
desde (?:enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre)
me equivoque | corrijo | en realidad | mejor
again | back (?:to|at|in|on) | after all | rejoined
otra vez | de nuevo | de vuelta | volvi\w* | volvemos | vuelvo | he vuelto | vuelve a | volve | regres\w+ | retom\w+
instead | no longer | any ?more | replaced | ripped | scrap\w* | cut (?:it|that) | dropped
en vez | en lugar | dej\w+ | (?:me|le|nos) quito | quitaron | quitado | aplaz\w+ | terminamos
new | changed? | switch\w* | swapped | turned | became | migrated
nuev[oa]s? | cambi\w+ | pas(?:o|e|amos|aron) (?:a|al|de|para) | migr\w+
moved | moving | pushed | slipped | postponed
mud\w+ | traslad\w+ | mov(?:imos|io|i) | retras\w+ | adelant(?:o|aron|ado|amos) | atras\w+ | corri(?:o|eron)
corri\w+ (?:a|al|para) | se (?:corrio|movio|paso|atraso|adelanto)
gone (?:up|down|over|to) | went (?:up|down|well|to) | up to | down to | raised | lowered | bumped
subi\w* | baj\w+ | crecio
got (?:a|an|married|promoted|myself) | started | joined | promoted
empece | arranque | entre a | ascendi\w+ | cumpli\w*
""")
# Verbs that end their object: "I sold the car", "we replaced Jenkins".
REPLACING = _any(r"""
moved (?:off|away from|on from) | migrated (?:off|from) | switched from | leaving | left
replac(?:ed|ing) | swapp(?:ed|ing) | instead of | rather than
cambi(?:e|o|amos|aron|ado) | reemplac\w+ | en vez de | en lugar de
dropping | dropped | ditching | ditched | ripped | got rid of | retired the | off nights | off the | came off
tir(?:e|amos) | sac(?:o|aron|amos) | (?:me|le|nos) quito | quite | quitaron | quitado | jubilad[oa] | no uso mas
traded | selling | sold
vendi\w* | regal(?:e|amos) | devolvi\w*
quitting | quit | closed | shut
renunci\w+ | dej(?:e|o|amos|ado) | cerr(?:e|amos|ado)
""")
# Denies something, or says that it is over.
ENDS = _any(r"""
not | no | never | \w+n't | dont | doesnt | isnt | needn't
nunca mas | tampoco | nada de | basta de | sin efecto
no longer | any ?more | no more | used to
ya no | no\b.{1,40}\bmas
stopped | quit | gave up | given up | done with | over with | dropped | ditched | gave away | sold | retired | forget
deje | deje de | dejamos de | dejad[oa] de | renuncie | abandone | vendi | vendimos | devolvi | perdi
came off | come off | off the | ripped out | ripped \w+ out | took \w+ off
called off | is off | 's off | cancel\w* | scrapp?(?:ed)? | fell through
al final no | resulta que no | resulto que no | se cayo
broke up | split up | divorced | left
cortamos | corte con | rompimos | nos separamos | se fue | chau
passed away | died
murio | fallecio
""")
# Says that something is as it was before.
ADDS = _any(r"""
also | too | as well | besides | on top of that
tambien | ademas | aparte | encima
""")
RETURNS = _any(r"""
back (?:to|at|in|on|with) | again | after all | returned | rejoined | overturned
otra vez | de nuevo | de vuelta | nuevamente | volvi\w* | vuelvo | volvemos | vuelve | volve | vuelto
regres\w+ | retom\w+ | reincorpor\w+ | ultima palabra | como queria
""")

# --- orders ----------------------------------------------------------------------------------------------------------

# What an order on answers is about.
ASPECTS = {
    name: _any(table)
    for name, table in {
        "language": r"""
english | spanish | french | german | italian | portuguese | catalan
ingles | espanol | castellano | frances | aleman | italiano | portugues
""",
        "units": r"""
metric | imperial | celsius | fahrenheit | miles | kgs? | pounds | lbs | stone
kilomet\w+ | kilos | metros | pies | pulgadas | grados
""",
        "clock": r"""
24 ?h\w* | 12 ?h\w* | 24-hour | 12-hour | am/pm
""",
        "length": r"""
short\w* | brief | concise | long\w* | detail\w* | words | lines? | sentences?
cort[oa]s? | breves? | larg[oa]s? | extens\w+ | detall\w+ | palabras | lineas | renglones | oraciones | parrafo
""",
        "format": r"""
bullets? | bullet points | list | table | prose | paragraphs? | markdown
vinetas | puntos | listas? | tablas? | prosa | parrafos? | texto corrido
""",
        "manner": r"""
formal\w* | informal | casual | sir | first name
usted | vos | tu | tute\w+ | vose\w+ | trat\w+
""",
        "emoji": r"""
emojis? | emoticon\w*
caritas
""",
        "indentation": r"""
tabs? | spaces
tabulad\w+ | espacios
""",
        "code": r"""
typescript | javascript | python | kotlin | java | rust | golang | ruby | php | swift | c#
""",
        "name": r"""
call me
llamame | decime | dime
""",
        "dates": r"""
dates?
fechas?
""",
    }.items()
}
# What is told to the assistant.
ORDERS = _any(r"""
answer\w* | reply | replies | respond\w* | talk to me | speak to me | call me
contest\w* | respuestas? | habl[ae]me | tr[aá]t[ae]\w* | tute\w* | llam[ae]me | decime | dime
write | give me | show | explain
escrib\w* | dame | deme | mand[aá]me | explic[aá]\w*
use | keep | format | quote | bullet points | bullets
us[aeá]\b | pon(?:e|me|éme|eme)\w*
from now on | from here on
de ahora en | a partir de ahora | desde hoy
""")
# What an order is limited to: "for my customers".
SCOPE = re.compile(
    r"\b(?:for|para|when|cuando|con mis?|with my)"
    r" ((?:(?:my|the|mi|mis|el|la|los|las|emails?|i write to|mails?) )*[\w-]+)"
)

# --- slots -----------------------------------------------------------------------------------------------------------

# What a person has one of, told by the verb.
SLOTS = {
    name: _any(table)
    for name, table in {
        "residence": r"""
(?:i|we|i'm|we're|we've|i've|im|ive)\b[^.]{0,20}\b(?:live|living|moved|moving) (?:to|in|near|on|at|back|out)
(?:i|we|i'm|we're|we've|i've|im|ive)\b[^.]{0,20}\b(?:based|relocated|settled) (?:to|in|near|on|at|back|out)
(?:vivo|vivimos|viviendo|instalad[oa]|resido|destinad[oa]|trasladaron) (?:a|en|al|para)
(?:me mude|nos mudamos|mudado|mudamos|mudando) (?:a|en|al|para)
(?:lives|moved|living) (?:to|in|near)
(?:vive|se mudo|vivir|se fue a vivir) (?:a|en)
""",
        "job": r"""
i (?:\w+ ){0,2}work (?:at|for|as|in) | i'm working | i'm (?:an?|the|now)[ ]
trabajo (?:en|de|como|para) | laburo (?:en|de)
started (?:at|as|a new job) | joined | new job | promoted to | back at
empece (?:en|a trabajar) | entre (?:a|en) | volvi a | ascendi\w+ a
my (?:title|job|role) is
mi (?:puesto|cargo|trabajo) es
""",
        "marital": r"""
single | engaged | married | separated | divorced | widow\w*
solter[oa] | comprometid[oa] | casad[oa] | me case | nos casamos | separad[oa] | divorci\w+ | viud[oa]
""",
        "age": r"""
(?:i'm|i am|im|turned|turn) \d{2}\b(?! (?:weeks?|min|hours?|euros?|km|kilos))
(?:tengo|cumpli|cumplo) \d{2}
""",
        "diet": r"""
vegan[oa]? | vegetarian[oa]? | pescatarian | pescetarian[oa] | keto | kosher | halal | omnivor\w+
eat(?:s|ing)? (?:meat|fish)
com(?:o|e|er|iendo) (?:carne|pescado)
""",
    }.items()
}
