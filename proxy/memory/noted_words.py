"""The words by which `noted` tells what of a message is worth a note, English and Spanish.

A line is a notion; its entries are set apart by " | ". Tables made by `phrases` are for plain text, all others for
folded text: lower case, no accents.
"""

import re

from proxy.reuse.text import phrases, words

_ENTRIES = re.compile(r"\s\|\s|\n")


def _any(table: str) -> str:
    """The entries of `table` as alternatives."""
    return f"(?:{'|'.join(_ENTRIES.split(table.strip()))})"


# --- what a clause opens and ends with, and is no part of what it says -----------------------------------------------

_INTERJECTIONS = _any(r"""
che | ah+ | ay | uy | uf | eh | oh | oye | mira | bueno | buenas | buenos dias | hola | listo | dale | vale | bien | ojo
genial | perfecto | barbaro | buenisimo | excelente | claro | gracias | muchas gracias | honestamente | la verdad
igual | importante | perdon | ja(?:ja)+ | de acuerdo | entendido | ademas | tambien | no | si
wow | hey | hi | hello | ok | okay | thanks(?: a lot| so much)? | thank you(?: so much)? | great | perfect | nice | cool
awesome | sure | yes | yeah | yep | yup | right | well | hmm+ | mm+ | honestly | actually | anyway | important | sorry
ha(?:ha)+ | lol | good | fine | got it | makes sense | oops | ugh | alright | yay | woohoo | agreed | totally
brilliant | absolutely | sure thing | sounds \w+ | (?:good )?morning | plus | also | however
""")
_TRANSITIONS = _any(r"""
otra cosa(?: que (?:queria|te) \w+)? | cambiando de tema | por otro lado | por cierto | a proposito | repasando
volviendo a lo de antes | dicho esto | malas noticias | buenas noticias | para que sepas | fijate que | resulta que
(?:acordate|acuerdate|recorda|recuerda|ten en cuenta|tene en cuenta)(?: de)? que | estuve pensando(?: y)? | o sea
es que | la verdad(?: es)? que | te cuento(?: que)?
by the way | btw | totally unrelated | unrelated | on another note | one more thing | another thing | about my \w+
bad news(?: on [\w\s]{2,20})? | good news | (?:quick )?update | just so (?:you know|it's clear) | i mean | you know
(?:please )?(?:remember|keep in mind|note)(?: that)? | i've been thinking(?: and)? | turns out
""")
_CONJUNCTIONS = _any("""
y | e | pero | entonces | asi que | porque | ya que | aunque
and | but | so | plus | also | since | as | because | considering | given that | then | especially | specifically
though | although | or
""")
LEAD = re.compile(
    r"[\s,;:.!\u2026\u00a1\u00bf'\"“”«»()\u2013\u2014-]*"
    rf"(?:(?:{_INTERJECTIONS}(?:,?\s(?:che|gracias|thanks))?(?:[,.:;!\u2026\u2013\u2014]+\s*|\s(?=\u00bf)|$)"
    rf"|{_TRANSITIONS}\b[,.:;\u2013\u2014]*\s*|{_CONJUNCTIONS}\b,?\s+)(?=\S))*"
)
TAIL = re.compile(
    r"(?:,?\s(?:por fa\w*|please|thanks|thank you|gracias|ja(?:ja)+\w*|ha(?:ha)+\w*|lol|si o si|you know|and all"
    r"|or something)"
    r"|,?\s(?:so\s)?here(?:'s| is)\s.*|\s-\scan't wait.*"
    r"|,\s(?:recorda|acordate|acuerdate|guardal[ao]|anotal[ao]|remember|keep|note)\b[^,.;:]*"
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
i'm (?:using|switching|dropping|keeping) | switch(?:ing)? to | moving to | settled | final decision
from now on | the decision is | so \w+ it is | is now | now (?:due|starts) | goes up to | goes down to | moved up
stick(?:ing)? with
""")
WAVERS = phrases(r"""
si (?:yo |me |nos )*(?:fuera|fuese|tuviera|ganara|tocara) | if (?:i|we|you) (?:were|had|won) | hypothetically | maybe
might | quizas? | capaz | a lo mejor | tal vez | algun dia | someday | perhaps | no decid\w+ | haven't decided
not decided | todavia no | make sure | keep \w+ing | voy con (?:calma|tiempo)
""")

# --- questions and requests ------------------------------------------------------------------------------------------

# How a request opens; what is asked for stands behind it.
_FRAMES = _any(r"""
(?:can|could|would|will|do|did) (?:you|we|i)(?: (?:please|also|maybe|perhaps|just|happen to|possibly|need to))*
(?:help|show|tell|give|walk|guide|remind) (?:me|us)(?: (?:with|to|through|out|how to do))?
(?:any|some|have any|know any) (?:tips|advice|ideas?|suggestions|thoughts|guidance)(?: you have)?(?: (?:on|for|about))?
(?:give|offer|provide|share) (?:some |any )?(?:tips|advice|ideas?|suggestions|guidance) (?:on|for|about)
i(?:'m| am| was)(?: just| really| currently| still| also)? (?:trying|looking|hoping|planning|wondering) (?:to|for)
i(?:'m| am| was)(?: just| really| still| also)? (?:wondering|curious|not sure|unsure)(?: about| if you could)?
i(?:'m| am| was)(?: just| really| currently| still| also)? (?:considering|thinking(?: of| about)?)
i(?:'m| am) (?:(?:still|also) )?having (?:(?:some )?trouble|issues|a (?:tough|hard) time)(?: with)?
i(?: |'d | would | also | just | really )*(?:want|need|like|love)(?: you)? to
please | figure out | explain(?= (?:how|what|why|the)) | understand(?= (?:how|what|why|the|if))
know(?= (?:how|what|why|if|whether)) | is (?:it possible|there (?:a|any) way) to
(?:what do you think|what|how) (?:of|about)
(?:(?:me|nos) )?(?:podes|puedes|podrias|puede|podemos|se puede|puedo)
(?:ayuda(?:me|nos|rme|rnos)|explica(?:me|rme)|ensena(?:me|rme))(?: (?:a|con|en|de))?
(?:deci(?:me|rme)|dime|conta(?:me|rme)|dar(?:me)?)(?: (?:a|con|en|de))?
(?:me|nos) (?:ayudas|explicas|recomendas|recomiendas|das|decis)(?: (?:a|con|en|de|sobre))?
(?:necesito|quiero|quisiera|me gustaria|busco|trato de|intento)(?: (?:que|saber|ayuda con|ayuda para))?
estoy (?:tratando|intentando|pensando) (?:de|en) | (?:se te ocurre|tenes|tienes) (?:algo|alguna? \w+) (?:sobre|para|de)
que (?:opinas|pensas|me decis) (?:de|sobre) | y (?:para|de|a)(?= (?:el|la|los|las) )
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
ORDERS = re.compile(r"(?:explain|show|give|write|tell|list|suggest|recommend|summari[sz]e|draft|compare)\b")
INTERROGATIVE = re.compile(
    r"(?:what|which|who|whose|when|where|why|how|is|are|was|were|do|does|did|should|shall|can|could|would|will|has|have"
    r"|que|cual|cuales|quien|cuando|donde|adonde|como|cuant[oa]s?|por que|conviene)\b"
)
# Behind another clause: "which" and "who" go on from that.
ASKS_LATER = re.compile(r"(?:how|what|why|should|is|are|do|does|can|could|would|will|cual|cuales|cuant[oa]s?)\b|\u00bf")
# Questions that ask for nothing by themselves.
IDLE = re.compile(
    _any(r"""
what do you think | what are your thoughts | help me with (?:that|this|it)\b
does (?:that|this|it) (?:make sense|sound) | is that (?:right|ok|correct|true)
(?:that|this|it) (?:can't|won't) be | how are you | what's up | how's it going
how did (?:it|that) (?:go|feel) | ^(?:right|no|verdad|sabes|viste|(?:que )?te parece|como va|que tal)\W*$
te puedo (?:hacer|preguntar) | puedo (?:hacerte|preguntarte) | me ayudas\W*$ | por donde empe
""")
)
# Words that say nothing of what a question is about.
LIGHT = words("""
think feel go know works work means mean happens happen help look sound guess believe hope try want need like get do
make keep say tell see come should would could worth recommend suggest
decis dices crees piensas opinas parece hago hacer hace decir dice sabes sabe tengo tener puedo poder quiero conviene
convendria deberia debo recomendas recomiendas
""")

# --- what does not stand alone ---------------------------------------------------------------------------------------

# What is asked for, begun like this, is the end of something.
DEPENDENT = re.compile(
    r"(?:if|whether|when|which|because|maybe|perhaps|like|that|than|i'm|i've|i am|i have|it's|there's"
    r"|make sure|think (?:that|this|it)|she|he|they|she's|he's|they're)\b"
)
# A statement that points at another one, or at whoever reads it.
DEICTIC = re.compile(
    _any(r"""
me gusta (?:la idea|la mezcla|eso|esa|ese|lo|mucho) | lo del? | eso | esa | ese | esto | asi | lo que | lo cual
cuy[oa]s? | con | gracias | tus? | si | cuando
that(?:'s)? | it(?:'s)? | this | those | these | such | i (?:really )?(?:like|love) (?:that|the idea|it|this) | he | she
they | they're | which | who | whom | whose | where | with | including | or | like | to | glad | let me know | thanks?
hope | good luck | your? | here(?:'s)? | \d+ (?:will|would) | if | when
""")
    + r"\b"
)
PRAISES = re.compile(r"great|good|nice|perfect|congrat|excellent|sounds|gran|buen|excelente|bien\b|felic|que ")
# For plain text.
YOURS = re.compile(r" (?:you|your|yours|you're|you've|yourself|ya|tu|tus|te|vos|contigo) ")
MINE = re.compile(
    r" (?:i|i'm|i've|i'd|i'll|me|my|mine|we|we're|we've|our|us|yo|mi|mis|nos|nuestr[oa]s?|\w+amos|\w+emos) "
)
LAUGHS = re.compile(r" (?:(?:ja){2,}|(?:ha){2,}|lol|jeje\w*|jiji\w*|te juro|vete a saber|who knows)")

# --- where a clause may end ------------------------------------------------------------------------------------------

JOINT = re.compile(
    r"[;:\u2026\u2013\u2014]\s+|,\s+(?!\d)|\s[-\u2013\u2014]\s|\.\s+|\s\(|\s(?="
    r"(?:because|since|which|who|but|so that|so|considering|given|where|while|although|though|as i|if i"
    r"|porque|pero|ya que|asi que|mientras|aunque|como ya|para que|lo que|cuando)\s)"
)
SOFT_JOINT = re.compile(r"\s(?=(?:when|after|before|by|with|using|for|in|without|con|para|en|sin)\s)")
SUBORDINATE = re.compile(r"\b(?:whether|if|that|si|que)\b")
UNFINISHED = words("""
a an the of for in on with about to and or but my our your his her its their so as at by from i we i'm i've we're if
when which who very like than is are was especially specifically maybe perhaps
el la los las un una de del en con por para sin sobre a al y e o que mi tu su se lo le les me te nos es son muy si como
cuando pero
""")
