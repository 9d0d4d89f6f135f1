"""The words by which `noted` tells what of a message is worth a note, English and Spanish.

A line is a notion; its entries are set apart by " | ". Tables made by `phrases` are for plain text, all others for
folded text: lower case, no accents.
"""

import re

from proxy.language.phrases import phrases, words

_ENTRIES = re.compile(r"\s\|\s|\n")


def _any(table: str) -> str:
    """The entries of `table` as alternatives."""
    return f"(?:{'|'.join(_ENTRIES.split(table.strip()))})"


# --- what a clause opens and ends with, and is no part of what it says -----------------------------------------------

_INTERJECTIONS = _any(r"""
che | ah+ | ay | uy | uf | eh | oh | oye | mira | bueno | buenas | buenos dias | hola | listo | dale | vale
bien | ojo
genial | perfecto | barbaro | buenisimo | excelente | claro | gracias | muchas gracias | honestamente | la verdad
vaya | igual | importante | perdon | ja(?:ja)+ | de acuerdo | entendido | ademas | tambien | no | si
whoa | wow | hey | hi | hello | ok(?:ay)?(?: cool| great| perfect)? | thanks(?: a lot| so much)?
thank you(?: so much)? | great | perfect | nice | cool
awesome | sure | yes | yeah | yep | yup | right | well | hmm+ | mm+ | honestly | actually | anyway | important
sorry | ha(?:ha)+ | lol | good | fine | got it | makes sense | oops | ugh | alright | yay | woohoo | agreed | totally
(?:i )?(?:totally|completely|100%|couldn't) agree(?: more)?(?:, \w+)?
brilliant | absolutely | no worries | no problem | sure thing | sounds \w+ | (?:good )?morning | plus | also | however
""")
_TRANSITIONS = _any(r"""
otra cosa(?: que (?:queria|te) \w+)? | cambiando de tema | por otro lado | por cierto | a proposito | repasando
volviendo a lo de antes | dicho esto | malas noticias | buenas noticias | para que sepas | fijate que | resulta que
(?:acordate|acuerdate|recorda|recuerda|ten en cuenta|tene en cuenta)(?: de)? que | estuve pensando(?: y)? | o sea
es que | la verdad(?: es)? que | te cuento(?: que)?
by the way | btw | switching (?:topics|gears) | changing (?:topics|the subject) | (?:new|different) topic
another (?:thing|question) | totally unrelated | unrelated | on another (?:note|topic) | one more thing | another thing
about my \w+
bad news(?: on [\w\s]{2,20})? | good news | (?:quick )?update | just so (?:you know|it's clear) | i mean | you know
(?:please )?(?:remember|keep in mind|note)(?: that)? | i've been thinking(?: and)?(?! about| of) | turns out
""")
_CONJUNCTIONS = _any("""
y | e | pero | entonces | asi que | and | but | so | plus | also | then | especially | specifically | or
""")
LEAD = re.compile(
    r"[\s,;:.!\u2026\u00a1\u00bf'\"“”«»()\u2013\u2014-]*"
    rf"(?:(?:{_INTERJECTIONS}(?:,?\s(?:che|gracias|thanks))?(?:[,.:;!\u2026\u2013\u2014]+\s*|\s(?=\u00bf)|$)"
    rf"|(?:che,?\s)?{_TRANSITIONS}\b[,.:;\u2013\u2014]*\s*|{_CONJUNCTIONS}\b,?\s+)(?=\S))*"
)
TAIL = re.compile(
    r"(?:\W*\s(?:so |and |but )?(?:can|could|would) you (?:please |maybe )?(?:help|assist|guide)(?: me)?(?: out)?"
    r"(?: (?:with|through|on) (?:that|this|it))?(?:,? (?:like|given|considering) .*)?"
    r"|,?\s(?:por fa\w*|please|thanks|thank you|gracias|ja(?:ja)+\w*|ha(?:ha)+\w*|lol|si o si|you know|and all"
    r"|or something)"
    r"|,?\s(?:so\s)?here(?:'s| is)\s.*|\s-\scan't wait.*"
    r"|,\s(?:(?:recorda|recuerda|guarda|anota|apunta|acorda|acuerda)(?:te|l[aeo]s?)?|remember|keep|note)\b[^,.;:]*"
    r"|,\s(?:eso|esto) es (?:\w+ )?importante|,?\s(?:that's|this is) (?:\w+ )?important"
    r"|,\s(?:lo|te lo) (?:apunto|anoto|digo|aviso)\b[^,.;:]*|\s(?:para|con) es[to]o?"
    r"|,\s(?:right|no|ok|okay))\W*\Z"
)

# --- decisions -------------------------------------------------------------------------------------------------------

DECIDES = phrases(r"""
decid(?:i|io|imos|ido|ida)\w* | me decidi | (?:nos )?(?:vamos|voy) con | (?:nos|me) (?:quedamos|quedo) con
quedamos en | queda en | al final (?:vamos|usamos|uso|elegi|elegimos|es|son|sera) | elegi | elegimos | elijo
optamos por | acordamos | definimos | definido | cambie (?:de|el|la|los|las|a|por) | cambiamos | he cambiado
cambio de planes | (?:lo|la|los|las) (?:dejo|dejamos|paso|pasamos) (?:en|a|para) | me paso a | nos pasamos a
pasamos a | a partir de ahora | desde ahora | de ahora en (?:mas|adelante)
ahora (?:voy|vamos|son|es|van) (?:por|con|a|el|la|de)? | viajamos (?:del|el|en) | usamos | usaremos | vamos a usar
compro | compramos | contratamos | queda (?:como|confirmado|cerrado)
(?:i|we|i've|we've|i have|we have) (?:just )?(?:decided|chosen|chose|settled|agreed|picked) | decided (?:on|to)
going with | go with | let's (?:use|do|keep|stick) | we'll (?:use|go|sell|keep|take|ship|move|do|buy)
i'll (?:use|take|go|buy|keep) | we're (?:using|moving|dropping|pushing|switching|flying|keeping|staying)
i'm (?:switching|dropping|keeping) | switch(?:ing)? to | moving to | settled | final decision
from now on | the decision is | so \w+ it is | is now | now (?:due|starts) | goes up to | goes down to | moved up
stick(?:ing)? with
""")
WAVERS = phrases(r"""
si (?:yo |me |nos )*(?:fuera|fuese|tuviera|ganara|tocara) | if (?:i|we|you) (?:were|had|won) | hypothetically
maybe
might | quizas? | capaz | a lo mejor | tal vez | algun dia | someday | perhaps | no decid\w+ | haven't decided
not decided | todavia no | make sure | keep \w+ing | voy con (?:calma|tiempo)
""")

# What changes what was said before. For plain text.
CORRECTS = phrases(r"""
correction | correcting | i was wrong | my mistake | changed my mind | change of plans? | changed plans | moves to
moved to | (?:is|are) now | (?:it's|that's) now | instead of | not \w+ anymore | no longer | make that
switch(?:ing|ed)? to
cambie de idea | cambio de planes | cambi(?:e|amos|o|aron) | correccion | corrijo | me equivoque | nos equivocamos
en vez de | en lugar de | ya no | al final | paso a | pasa a | pasan a | ahora (?:es|son|va|van|lo|la)
y no (?:el|la|los|las|en|a|con)
""")
# For folded text.
TAKES_BACK = re.compile(
    r"\b(?:scratch that|forget (?:that|it|what i said|about it)|never ?mind|ignore (?:that|what i)"
    r"|i take (?:that|it) back"
    r"|olvidal[oa]|olvidate de|dejal[oa] (?:asi|ahi|no mas)|mejor no\b|me arrepenti|retiro lo|no me hagas caso)"
)

# --- questions and requests ------------------------------------------------------------------------------------------

# How a request opens; what is asked for stands behind it.
_FRAMES = _any(r"""
(?:can|could|would|will) you(?: (?:please|also|maybe|just|possibly))*(?: help (?:me|us)(?: (?:with|to|out with))?)?
please | help (?:me|us)(?: (?:with|to))?
me (?:echas|das|tiras) una mano (?:con|para)
(?:(?:me|nos) )?(?:podes|puedes|podrias) (?:ayudar(?:me|nos)?|explicar(?:me)?)(?: (?:a|con))?
ayuda(?:me|nos)(?: (?:a|con))?
""")
FRAME = re.compile(rf"(?:{_FRAMES}\s+)+")
_WISHES = _any(r"""
trying | looking | wondering | want | need | like to | hoping | thinking (?:of|about) | considering
having (?:trouble|issues|a (?:hard|tough) time)
""")
_BEGGED = _any("""
ayud | explic | armame | haceme | hazme | escribime | pasame | dame | dime | decime | necesito | quiero | quisiera
""")
OPENS = re.compile(
    r"(?:can|could|would|will) you\b|(?:please |can you )?help\b|please\b"
    r"|any (?:tips|advice|ideas|suggestions|thoughts)\b|i (?:want|need|would like|'d like) (?:to|help)\b"
    rf"|i(?:'m| am|'d| would| really| also| just| need| want| was| kinda| currently)+ ?{_WISHES}"
    rf"|(?:(?:me|nos) )?{_BEGGED}"
)
INTERROGATIVE = re.compile(
    r"(?:what|which|who|whose|when|where|why|how|is|are|was|were|do|does|did|should|shall|can|could|would|will"
    r"|has|have"
    r"|que|cual|cuales|quien|cuando|donde|adonde|como|cuant[oa]s?|por que|conviene)\b"
)
# Questions that ask for nothing by themselves.
IDLE = re.compile(
    _any(r"""
what do you think | guess what | what are your thoughts | help me with (?:that|this|it)\b
does (?:that|this|it) (?:make sense|sound) | is that (?:right|ok|correct|true)
(?:that|this|it) (?:can't|won't) be | how are you | what's up | how's it going
how did (?:it|that) (?:go|feel) | ^(?:right|no|verdad|sabes|viste|(?:que )?te parece|como va|que tal)\W*$
te puedo (?:hacer|preguntar) | puedo (?:hacerte|preguntarte) | me ayudas\W*$
me (?:echas|das|tiras) una mano\W*$ | (?:ni )?(?:por )?donde empe
""")
)

# --- what does not stand alone ---------------------------------------------------------------------------------------

# What is asked for, begun like this, is the end of something.
DEPENDENT = re.compile(
    r"(?:if|whether|when|which|because|since|as|considering|given|though|although|porque|ya que|aunque|maybe"
    r"|perhaps|like|that|than|i'm|i've|i am|i have|it's|there's"
    r"|make sure|think (?:that|this|it)|she|he|they|she's|he's|they're)\b"
)
# A statement that points at another one, or at whoever reads it.
DEICTIC = re.compile(
    _any(r"""
porque | because | me gusta (?:la idea|la mezcla|eso|esa|ese|lo|mucho) | lo que | lo cual | cuy[oa]s? | con
gracias | tus? | si | cuando
i (?:really )?(?:like|love) (?:that|the idea|it|this) | which | who | whom | whose | where | with | including
or | like
to | glad | so glad | i'm (?:so )?glad | let me know | thanks? | hope | good luck | your? | here(?:'s)? | if | when
not only | i bet | i can imagine | i knew | i'm happy (?:that|for|to hear) | i love how | gives | helps | makes
acuerdate de | acordate de | recuerda | keeps | feels | sounds | looks | seems | means | works | don't worry
i'll make sure
i'll (?:try|let you know|keep you)
""")
    + r"\b"
)
PRAISES = re.compile(
    r"great|what an? |you |way to go|love (?:the|all|how|your|that)|brilliant|awesome|wow|buenisim|lind[oa]|me late"
    r"|me encanta|good|nice|perfect|congrat|excellent|sounds|gran|buen|excelente|bien\b|felic|que "
)
# What is said of anything that pleases.
EVALUATES = words("""
brighter future hope guts courage favorite favourite
great good nice awesome amazing incredible wonderful fantastic beautiful gorgeous stunning lovely special important
vital crucial key best better priceless inspiring uplifting fulfilling rewarding meaningful empowering powerful fun cool
happy happiness joy peace love loved impact difference support supportive positive positivity kindness journey moment
moments memories memory dream dreams life world everyone someone thankful grateful proud lucky glad big real super
whole people
genial buenisimo excelente increible maravilloso precioso lindo hermoso especial importante mejor feliz felicidad
alegria paz amor apoyo momento momentos recuerdos sueno suenos vida mundo orgulloso gran grande
""")
# For plain text.
YOURS = re.compile(r" (?:you|your|yours|you're|you've|yourself|ya|tu|tus|te|vos|contigo) ")
MINE = re.compile(
    r" (?:i|i'm|i've|i'd|i'll|me|my|mine|we|we're|we've|our|us|yo|mi|mis|nos|nuestr[oa]s?|soy|tengo|vivo"
    r"|trabajo|estoy|prefiero|quiero|uso|hago|somos|estamos|\w+[aei]mos) "
)
LAUGHS = re.compile(r" (?:(?:ja){2,}|(?:ha){2,}|lol|jeje\w*|jiji\w*|te juro|vete a saber|who knows)")
# Points at what is handed over with the message.
HANDS = re.compile(
    r"\b(?:the following|below|attached|here's|here is|here are|like this|(?:code|have|setup|tried|got) so far"
    r"|something like"
    r"|lo siguiente|el siguiente|te paso|aca (?:va|esta))\b"
)
THANKS = re.compile(
    r" (?:gracias|thanks|thank you|thankful|cheers|long time no \w+|since (?:we|i) last \w+"
    r"|has gone down|can't wait|you posted|ya posted|bye|for you"
    r"|really helped|(?:really|super|so) helpful|makes (?:total |perfect )?sense"
    r"|keep (?:that|this|it)(?: one)? (?:in mind|handy)|remember (?:that|this|it) [.,]"
    r"|(?:ten|tene|guarda|anota|recorda|recuerda)l[oae]) "
)
# What the assistant is said to have said: it may not be so.
QUOTES_YOU = phrases(r"""
dijiste | decis que | dices que | (?:segun|como) (?:vos|tu)(?: dijiste| decis)? | por lo que (?:decis|dices)
mencionaste | como ya hiciste
asumiste | you said | you told me | you mentioned | you claimed | as you said | earlier you
""")
# It denies what it quotes: the two together are worth a note.
DENIES = re.compile(
    r" (?:don't think|didn't|never|not (?:true|right|correct)|no (?:te|lo|la|me|es|fue)|nunca|yo no|tampoco|jamas) "
)
# A rule from now on: worth more than what is told beside it.
RULES = phrases(r"""
prefiero que | prefiero | siempre | nunca | nunca mas | always | never | i prefer | nada de
no (?:soporto|uso|como|tomo)
a partir de ahora | desde ahora | from now on | soy (?:alergic[oa]|celiac[oa]|vegetarian[oa]|vegan[oa]) | allergic
alergic[oa] | please remember
""")
# For folded text.
BANS = re.compile(r"(?:nunca mas|never again)\b")
JOKED = re.compile(r" (?:es joda|es broma|era broma|just kidding|i'm kidding|joking|jk) ")

# What may be asked of anything.
GENERIC = words("""
current different project code list
review improve improvement improvements suggestion suggestions suggest implementation approach solution feedback wrong
right correct correctly error errors bug step steps explanation snippet setup optimize version versions
ejemplo ejemplos codigo mejora mejoras paso pasos explicacion texto revisar version tabla lista resumen
""")

# --- where a clause may end ------------------------------------------------------------------------------------------

JOINT = re.compile(
    r"[;:\u2026\u2013\u2014]\s+|,\s+(?!\d)|\s[-\u2013\u2014]\s|(?<!\b\w)\.\s+|\s\(|\s(?="
    r"(?:because|since|which|who|but|so that|so|considering|given|where|while|although|though|as i|if i"
    r"|porque|pero|ya que|asi que|mientras|aunque|como ya|para que|lo que|cuando)\s)"
)
SOFT_JOINT = re.compile(r"\s(?=(?:when|after|before|by|with|using|for|in|without|con|para|en|sin)\s)")
# Another clause: a subject or a question word behind "and"; in Spanish what stands before a verb, too.
AND_CLAUSE = re.compile(
    r",?\s(?=(?:and (?:(?:i|we|he|she|it|they|you)(?:'\w+)?|there|how|what|when|where|why)"
    r"|y (?:yo|me|nos|te|se|le|les|no|la verdad|ya|como|cuando|donde|por que|es|son|hay))\s)"
)
# What is done to an end: "to", a verb and its object, behind what does not itself ask for "to".
PURPOSE = re.compile(r"\s(?=to\s\w+\s(?:the|an?|my|our|your|his|her|its|their|\d\S*)\s)")
ASKS_FOR_TO = words("""
try need want like love hope plan prefer decide decided agree agreed have has had got ought used able ready sure likely
easy hard best better how what where when whether way ways time chance ability plan plans attempt back up down
""")
SUBORDINATE = re.compile(r"\b(?:whether|if|that|si|que)\b")
SUBORDINATE_END = re.compile(r"\b(?:whether|if|that|si|que)\W*\Z")
# A beginning that ends like this waits for what was cut off.
WAITS = re.compile(
    r"(?:,|\by|\band)\s(?:and |y |but |pero )?(?:after|before|when|if|while|once|given|as|cuando|si|antes"
    r"|despues|como|al)\b[^,]*\Z"
)
# A clause behind a comma begins with one of these: else it may be the end of a list.
BEGINS = words("""
ahora now
i i'm i've i'd i'll we we're we've we'll my our the there how what why where when is are do does can could should
please
nobody everyone
yo mi mis nuestro nuestra el la los las hay nos me no ya prefiero quiero necesito tengo tenemos soy somos voy vamos
como
que cuanto cual donde conviene puedo dejo uso usamos
""")
UNFINISHED = words("""
a an the of for in on with about to and or but my our your his her its their so as at by from i we i'm i've we're if
when which who very like than is are was were am be been especially specifically maybe perhaps
el la los las un una de del en con por para sin sobre a al y e o que mi tu su se lo le les me te nos
es son esta estan estoy era eran fue muy si como cuando pero dice dicen decia ponia dijo says said saying told
""")
# Leads to what somebody else said.
LEADS = words("dice dicen decia ponia dijo says said saying")
