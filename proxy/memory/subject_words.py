"""The words by which `subject` tells holders, values and changes, English and Spanish. Folded."""

import re

from proxy.memory.terms import terms
from proxy.reuse.text import words

_KIN = """
son: son hijo | daughter: daughter hija | child: kid kids child children hijos hijas nene nena nenes chicos peque peques guagua cabro cabra chamaco chamaca |
wife: wife missus mrs mujer esposa señora | husband: husband hubby marido esposo | partner: partner pareja spouse | girlfriend: girlfriend gf novia polola |
boyfriend: boyfriend bf novio pololo | fiance: fiance fiancee prometido prometida | mother: mother mom mum mam mama madre vieja mami amma |
father: father dad papa padre viejo papi | parents: parents padres viejos papas | brother: brother bro hermano | sister: sister sis hermana |
siblings: siblings hermanos | grandmother: grandmother gran grandma nan nana granny abuela abu lola | grandfather: grandfather grandpa grandad abuelo lolo |
grandson: grandson nieto | granddaughter: granddaughter nieta | uncle: uncle tio | aunt: aunt auntie tia | cousin: cousin primo prima |
nephew: nephew sobrino | niece: niece sobrina | baby: baby bebe beba bebita | twins: twins gemelos gemelas mellizos mellizas |
inlaw: suegra suegro suegros in-laws cuñado cuñada cunado cunada yerno nuera brother-in-law sister-in-law mother-in-law father-in-law |
boss: boss manager supervisor jefe jefa encargado encargada patron | friend: friend mate buddy amigo amiga bestie | neighbour: neighbour neighbor vecino vecina |
flatmate: flatmate roommate housemate compañero companero compañera companera roomie roomies | landlord: landlord landlady casero casera arrendador dueño dueña |
colleague: colleague coworker co-worker colega | client: client customer cliente clienta | teacher: teacher profe profesor profesora maestra maestro tutor |
doctor: doctor gp dentist cardiologist doctora medico medica dentista cardiologo pediatra vet veterinario veterinaria |
ex: ex | dog: dog puppy pup perro perra perrita perrito cachorro cachorra | cat: cat kitten gato gata gatito gatita | horse: horse pony caballo yegua |
pet: pet mascota parrot loro rabbit conejo hamster tortuga turtle
"""
KIN_NAMES = {
    word: name.strip()
    for entry in _KIN.replace("\n", " ").split(" | ")
    for name, _, said in [entry.partition(":")]
    for word in said.split()
}
KIN_TERMS = frozenset(term for word in KIN_NAMES for term in terms(word))
_kin = "|".join(sorted(map(re.escape, KIN_NAMES), key=len, reverse=True))
# "my son", "my eldest son", "mi hija mayor", "the twins"
KIN = re.compile(
    rf"(?:(?<=^)(?=(?:mum|mom|dad|gran|grandma|grandpa|mama|papa|kid)\b)|\b(?:took|put|got|for) (?=(?:mum|mom|dad|gran)\b)|\b(?:my|our|his|her|mi|mis|nuestr[oa]s?|the|el|la|los|las|un|una|a|su)\s+(?:[\w-]+\s)?)(?P<kin>{_kin})\b(?!-)"
)
SELF = re.compile(
    r"\b(?:i|i'm|i've|i'd|i'll|im|ive|we|we're|we've|yo|soy|tengo|vivo|trabajo|estoy|me|nos|somos|tenemos|vivimos|hago|uso|voy|llevo|[a-z]{3,}(?:amos|emos|imos))\b"
)
OTHER = re.compile(
    r"^\W*(?:(?:and|but|y|pero|so|e)\s+)?(?:he(?! \w+(?:ado|ido|to|cho|sto)\b)|she|he's|she's|his|her|ella|su|sus|shes|hes)\b"
)
COMMON = words("""
i i'm i've we we're my our the a an it it's this that yes no ok please remember call answer from now for also and but so
in on at he she they his her what how when where why who is are can could do does did will would should not never always
yo mi mis el la los las un una ya no si soy tengo vivo trabajo estoy me nos somos que como cuando donde por para en con de
del al a es son hola ahora desde resulta olvida olvidate recorda anota llamame mis nuestra nuestro hoy se te lo le hay
turns hi hello hey there just still actually update change changed new bad good right well thanks started moved living
working i'll we'll that's he's she's they're you your
""")
# Words of change, of time and of hardly any meaning: that they differ says nothing of what a statement is about.
CHANGING = frozenset(
    terms("""
    ahora cambio cambió cambié cambiamos cambiaron cambiado idea vez lugar pasa paso pasó pasé pasamos pasaron pasado dejo dejé dejado final finalmente
    now actually instead changed change longer decided going go goes gone went decidí decidimos vamos still sigue siguen seguimos sigo update bad news
    remember recordá usar uso usa usamos use uses used using again back new nuevo nueva anymore more slipped slip pushed push planned plan scheduled set due
    moved move mudé mudo mudó mudamos movimos movió raised lowered cut up down dropped drop got get getting swapped switch switched switching since
    these days today yesterday week semana desde recién subió sube bajó quedó quedamos queda volví volver vuelvo volvió regresé regresar regresó retomé retomado otra
    nuevamente mejor al resulta nomás turns turn out after all right well need needs want let make made takes take took put puts call called llama llamo
    somos son soy hay quedamos there are am was were runs run corre va van iba está estará fue became become started starting start empecé empiezo arranco arranqué stay staying
    morning mañana tarde noche night tonight hoy ayer myself yeah btw jaja jajaja haha lol che hemos han ha he hecho hizo hace haces hago hice tenemos tienen llevo
    llevamos tomo toma migramos migrado migró migrated ripped retrasado retrasaron adelantaron adelantado atrasó corrió enough please siempre adelante always
    bought compré comprado quitó quitaron puso pusieron rejoined joined renuncié stopped quit sold vendí off come came full stop last lasted bueno listo
    """)
)
DATES = re.compile(
    r"\b(?:january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|"
    r"monday|tuesday|wednesday|thursday|friday|saturday|sunday)s?\b|\b(?:enero|febrero|marzo|abril|mayo|junio|julio|agosto|se[pt]tiembre|octubre|noviembre|diciembre|"
    r"lunes|martes|miercoles|jueves|viernes|sabados?|domingos?)\b"
)
DAY = re.compile(r"\b\d{1,2}(?:st|nd|rd|th)\b|\b\d{1,2}/\d{1,2}\b")
TIME = re.compile(r"\b\d{1,2}(?::\d\d| ?[ap]m\b|hs?\b)")
MONEY = re.compile(
    r"[$€£]|\b(?:pesos|dollars?|dolares|euros?|usd|eur|grand|bucks|mil|millones|quid|pounds|lucas|soles|rent|alquiler|salary|sueldo|budget|presupuesto)\b"
)
PLACE = re.compile(r"\b(?:in|to|near|en|a|from|at)\s+((?:[\w'-]+)(?:\s(?!and|but|with|since|for|y|con|desde)[\w'-]+)?)")
CHANGES = re.compile(
    r"\b(?:now|again|back (?:to|at|in|on)|after all|instead|no longer|any ?more|these days|new|changed?|moved|switch\w*|swapped|since|"
    r"gone (?:up|down|over|to)|went (?:up|down|well|to)|up to|down to|turned|became|got (?:a|an|married|promoted|myself)|started|joined|rejoined|promoted|"
    r"pushed|slipped|postponed|ripped|replaced|scrap\w*|cut (?:it|that)|actually|turns out|correction|"
    r"ahora|otra vez|de nuevo|de vuelta|volvi\w*|volvemos|vuelvo|ya no|nuev[oa]s?|cambi\w+|pas(?:o|e|amos|aron) (?:a|al|de|para)|subi\w*|baj\w+|mud\w+|al final|finalmente|"
    r"resulta|desde (?:el|la|hoy|ayer|enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre)|empece|arranque|entre a|dej\w+|en vez|en lugar|"
    r"migr\w+|mov(?:imos|io|i)|retras\w+|adelant(?:o|aron|ado|amos)|atras\w+|regres\w+|retom\w+|(?:me|le|nos) quito|quitaron|quitado|aplaz\w+|desde (?:este|esta|ahora|entonces)|recien|"
    r"rejoined|moving|migrated|raised|lowered|bumped|dropped|since monday|nowadays|"
    r"ya|traslad\w+|terminamos|he vuelto|vuelve a|volve|corri(?:o|eron)|crecio|cumpli\w*|"
    r"ascendi\w+|corri\w+ (?:a|al|para)|se (?:corrio|movio|paso|atraso|adelanto)|mejor|corrijo|me equivoque|en realidad|ya (?:es|esta|soy|tengo|cumpl\w+))\b"
)
# Verbs that end their object: "I sold the car", "we replaced Jenkins".
REPLACING = re.compile(
    r"\b(?:moved (?:off|away from|on from)|migrated (?:off|from)|off nights|replac(?:ed|ing)|swapp(?:ed|ing)|traded|dropping|ditching|leaving|selling|quitting|switched from|instead of|rather than|ripped|sold|ditched|retired the|left|quit|dropped|came off|off the|got rid of|closed|shut|"
    r"cambi(?:e|o|amos|aron|ado)|reemplac\w+|jubilad[oa]|vendi\w*|tir(?:e|amos)|renunci\w+|dej(?:e|o|amos|ado)|(?:me|le|nos) quito|quite|quitaron|quitado|cerr(?:e|amos|ado)|regal(?:e|amos)|devolvi\w*|"
    r"en vez de|en lugar de|no uso mas|sac(?:o|aron|amos))\b"
)
ORDINAL = re.compile(
    r"\b(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|primer[oa]?|segund[oa]|tercer[oa]?|cuart[oa]|quint[oa]|sext[oa]|septim[oa]|octav[oa]|noven[oa]|decim[oa]|"
    r"one|two|three|four|five|six|seven|eight|nine|ten|twelve|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|once|doce)\b"
)
ENDS = re.compile(
    r"\b(?:not|\w+n't|dont|doesnt|isnt|no longer|never|stopped|quit|gave up|given up|used to|any ?more|sold|broke up|split up|cancel\w*|scrapp?(?:ed)?|dropped|ditched|"
    r"done with|came off|come off|off the|called off|is off|'s off|retired|gave away|no more|fell through|needn't|forget|over with|divorced|passed away|died|left|"
    r"dejad[oa] de|ripped out|ripped \w+ out|took \w+ off|"
    r"ya no|no\b.{1,40}\bmas|nunca mas|deje de|dejamos de|deje|renuncie|vendi|vendimos|cortamos|corte con|rompimos|nos separamos|murio|fallecio|cancel\w+|"
    r"al final no|resulta que no|resulto que no|chau|abandone|perdi|devolvi|se cayo|se fue|basta de|nada de|tampoco|sin efecto|no)\b"
)
ASPECTS = {
    name: re.compile(rf"\b(?:{table})\b")
    for name, table in {
        "language": r"english|spanish|french|german|italian|portuguese|catalan|ingles|espanol|castellano|frances|aleman|italiano|portugues|catalan",
        "units": r"metric|imperial|celsius|fahrenheit|miles|kilomet\w+|kilos|kgs?|pounds|lbs|stone|metros|pies|pulgadas|grados",
        "clock": r"24 ?h\w*|12 ?h\w*|am/pm|24-hour|12-hour",
        "length": r"short\w*|brief|long\w*|concise|detail\w*|words|lines?|sentences?|cort[oa]s?|breves?|larg[oa]s?|palabras|lineas|renglones|oraciones|parrafo|detall\w+|extens\w+",
        "format": r"bullets?|bullet points|list|table|prose|paragraphs?|markdown|vinetas|tablas?|listas?|parrafos?|prosa|texto corrido|puntos",
        "manner": r"formal\w*|informal|casual|usted|vos|tu|tute\w+|vose\w+|trat\w+|sir|first name",
        "emoji": r"emojis?|emoticon\w*|caritas",
        "indentation": r"tabs?|spaces|tabulad\w+|espacios",
        "code": r"typescript|javascript|python|kotlin|java|rust|golang|ruby|php|swift|c#",
        "name": r"call me|llamame|decime|dime",
        "dates": r"dates?|fechas?",
    }.items()
}
RETURNS = re.compile(
    r"\b(?:back (?:to|at|in|on|with)|again|after all|returned|rejoined|overturned|"
    r"otra vez|de nuevo|de vuelta|nuevamente|volvi\w*|vuelvo|volvemos|vuelve|volve|vuelto|regres\w+|retom\w+|reincorpor\w+|ultima palabra|como queria)\b"
)
# What is told to the assistant.
ORDERS = re.compile(
    r"\b(?:answer\w*|reply|replies|respond\w*|talk to me|speak to me|write|give me|use|call me|keep|explain|format|quote|show|"
    r"respond\w*|contest\w*|habl[ae]me|escrib\w*|dame|deme|us[aeá]\b|tr[aá]t[ae]\w*|tute\w*|mand[aá]me|pon(?:e|me|éme|eme)\w*|explic[aá]\w*|llam[ae]me|decime|dime|"
    r"respuestas?|bullet points|bullets|from now on|from here on|de ahora en|a partir de ahora|desde hoy)\b"
)
SCOPE = re.compile(
    r"\b(?:for|para|when|cuando|con mis?|with my) ((?:(?:my|the|mi|mis|el|la|los|las|emails?|i write to|mails?) )*[\w-]+)"
)
ME = re.compile(r"\b(?:me|my|us|our|mi|mis|nos|nuestr[oa]s?)\b")
# What a person has one of, told by the verb.
SLOTS = {
    "residence": re.compile(
        r"\b(?:i|we|i'm|we're|we've|i've|im|ive)\b[^.]{0,20}\b(?:live|living|moved|moving|based|relocated|settled) (?:to|in|near|on|at|back|out)\b"
        r"|\b(?:lives|moved|living) (?:to|in|near)\b|\b(?:vive|se mudo|vivir|se fue a vivir) (?:a|en)\b"
        r"|\b(?:vivo|vivimos|viviendo|instalad[oa]|resido|me mude|nos mudamos|mudado|mudamos|mudando|trasladaron|destinad[oa]) (?:a|en|al|para)\b"
    ),
    "job": re.compile(
        r"\b(?:i (?:\w+ ){0,2}work (?:at|for|as|in)|i'm working|started (?:at|as|a new job)|joined|i'm (?:an?|the|now) |new job|promoted to|my (?:title|job|role) is|back at)\b"
        r"|\b(?:trabajo (?:en|de|como|para)|laburo (?:en|de)|empece (?:en|a trabajar)|entre (?:a|en)|volvi a|ascendi\w+ a|mi (?:puesto|cargo|trabajo) es)\b"
    ),
    "marital": re.compile(
        r"\b(?:engaged|married|divorced|separated|widow\w*|single|casad[oa]|me case|nos casamos|divorci\w+|separad[oa]|viud[oa]|solter[oa]|comprometid[oa])\b"
    ),
    "age": re.compile(
        r"\b(?:i'm|i am|im|turned|turn) \d{2}\b(?! (?:weeks?|min|hours?|euros?|km|kilos))|\b(?:tengo|cumpli|cumplo) \d{2}\b(?: anos)?"
    ),
    "diet": re.compile(
        r"\b(?:vegan[oa]?|vegetarian[oa]?|pescatarian|pescetarian[oa]|keto|kosher|halal|omnivor\w+|eat(?:s|ing)? (?:meat|fish)|com(?:o|e|er|iendo) (?:carne|pescado))\b"
    ),
}
# Holders of whom there are many, told apart by their names.
MANY = words(
    "son daughter child brother sister siblings friend dog cat cousin neighbour colleague client teacher doctor nephew niece uncle aunt grandson granddaughter pet horse flatmate"
)
THIRD = re.compile(
    r"\b(?:she|he|shes|hes|she's|he's|ella|(?<=\w )(?:lives|moved to(?! (?:the )?\d| \w+ \d)|vive|se mudo|works|trabaja|studies|estudia|is \d{1,2}|tiene \d{1,2}))\b"
)
