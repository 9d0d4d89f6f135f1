"""What Spanish and English say when the topic changes, and when it does not: tables for `shift`, read against the form
of `proxy.language.text.plain`.

    announced    the user says that something else follows; at the beginning of a clause
    anywhere     the same, wherever it stands
    flushes      the user asks to leave the topic
    forms        what a message is in the conversation: a follow-up, a reaction, an aside, a decision, a request

A form is evidence, weighed in `shift`; an announcement decides alone.
"""

import re
from collections.abc import Mapping
from types import MappingProxyType

from proxy.language.phrases import phrases, prefix_tree

_FILLERS = """
y | e | and | so | but | pero | che | oye | oiga | oigan | mira | ah | oh | eh | ok | okay | bueno | bien | vale | dale
listo | perfecto | genial | gracias | thanks | great | good | right | well | anyway | anyways | hey | hi | hola | buenas
perdon | disculpa | sorry | also | ademas | ahora | now | entonces | then | just | solo | una | un | yes | no | si | uy
totally | completely | kind of | slightly | alright | cool | actually | en fin | y bueno | igual | buenisimo | barbaro
"""

# After a comma too: "gracias, otra cosa: …". Not mid-clause: "no puedo hacer otra cosa" announces nothing.
_ANNOUNCED_ES = r"""
cambiando(?: un poco| ya| totalmente| completamente| por completo)? de (?:tema|asunto|tercio|rubro)
cambio de (?:tema|tercio|asunto)(?= [.,?]) | otra cosa(?! (?:es|era|fue|seria|muy|distinta|diferente|no|mas) )
otr[oa] (?:tema|asunto|consulta|pregunta|duda|cuestion|cosita)(?! (?:es|era|fue|seria|mas|que me (?:hizo|dio)) )
tema (?:aparte|nuevo) | nuevo tema | pregunta aparte | nada que ver(?: con (?:esto|eso|lo anterior))? ,
nada que ver pero | no tiene nada que ver(?: con (?:esto|eso|lo anterior))? ,? ?pero
dejando(?: \w+){1,3} (?:de lado|a un lado|aparte) | dejando (?:de|a un) lado
dejemos (?:eso|esto)(?: de lado| a un lado) | dejando (?:aparte|atras) | pasando a otr[oa] | yendo a otr[oa]
hablando de otr[oa] | fuera de tema | off topic | paso a otr[oa] | saliendo de(?:l| ese) tema
(?:te|le|os|les) quer(?:ia|iamos) (?:preguntar|consultar|comentar|hablar|pedir ayuda) (?:sobre|acerca de|por|de|con)
queria (?:preguntar|consultar|comentar|hablar)(?:te|le|os|les)? (?:sobre|acerca de|por|de)
te queria (?:preguntar|consultar|hacer) (?:algo|otra|una|un) | volviendo (?:a|al)(?= ) | retomando(?= )
"""
_ANNOUNCED_EN = r"""
on (?:an?other|a (?:\w+ )?(?:different|separate|side|unrelated|lighter)) (?:note|topic|subject) | on a (?:\w+ )?note
(?:switching|changing|shifting|change of|to change|to switch) (?:the |my )?(?:gears|topics?|subjects?|tracks?|pace|tack)
(?:an?other|one more|one other) (?:thing|question|topic|subject|matter)(?! (?:is|was|would) )
(?:a )?(?:\w+ )?(?:different|separate|unrelated) (?:thing|question|topic|subject|matter)(?! (?:is|was|would) )
new (?:topic|subject|question)(?= [.,]) | unrelated(?= [.,]| but| question) | totally unrelated | completely unrelated
off topic | not related(?= ,| but| to this) | nothing to do with (?:this|that)(?= ,| but)
(?:setting|leaving|putting|with) (?:that|this|it|all that|all this) aside | aside from all (?:that|this)
moving on(?= [.,]| to) | (?:going |coming )?back to (?:the|my|our|what|your) | returning to (?:the|my|our|what|your)
i(?:'d| have| had|'ve)? (?:wanted|meant|been meaning|been wanting|was going) to ask (?:you )?(?:about|something|another)
incidentally | separately(?= ,)
"""
# In the middle of a clause or behind one these add a remark: "it worked, by the way".
_AT_SENTENCE = r"""
por cierto | por otr[oa] (?:lado|parte) | a proposito(?! de ) | by the way(?! \.) | btw(?! \.)
en otro orden(?: de cosas)?
"""
_ANYWHERE = r"""
(?:consulta|pregunta|duda|preguntar|consultar|hablar|algo) (?:de|sobre) otr[oa] (?:cosa|tema|asunto)
(?:preguntarte|consultarte|hablarte|comentarte) (?:de|sobre) otr[oa] (?:cosa|tema|asunto)
(?:preguntarte|preguntar|consultarte|consultar|comentarte) otra cosa
(?:ask|talk|asking|question)(?: you)?(?: about)? something (?:else|different|unrelated)
"""
_FLUSHES = r"""
(?:cambiemos|cambia|cambiame) de (?:tema|asunto)
(?:podemos|podriamos|quiero|quisiera|prefiero|vamos a) cambiar de (?:tema|asunto)
hablemos (?:de|sobre) (?:otra cosa|otro tema|algo (?:distinto|diferente|nuevo)) | pasemos a (?:otra cosa|otro tema)
(?:let's|lets|let us|can we|could we|shall we|we should) (?:change|switch) (?:the )?(?:subject|topics?)
(?:i want to|i'd like to|i would like to) (?:change|switch) (?:the )?(?:subject|topics?)
(?:let's|lets|let us|can we|could we) (?:talk about|discuss|move on to|switch to) something (?:else|different|new)
(?:let's|lets|let us|can we|could we) (?:talk about|discuss|move on to|switch to) (?:another|a new|a different) \w+
(?:i want|i'd like) to (?:talk about|discuss|move on to|switch to) something (?:else|different|new)
"""
_DENIED = r"(?<! no)(?<! not)(?<! don't)(?<! never)(?<! nunca)(?<! si)(?<! if)(?<! cuando)(?<! que)(?<! siempre)"

_CLAUSE = rf" [.?,](?: (?:,|[.?]|{prefix_tree(_FILLERS)})){{0,6}}"
_SENTENCE = rf" [.?](?: (?:,|{prefix_tree(_FILLERS)})){{0,6}}"

SHIFTS = (
    re.compile(rf"{_CLAUSE} {prefix_tree(_ANNOUNCED_ES, _ANNOUNCED_EN)}(?= )"),
    re.compile(rf"{_SENTENCE} {prefix_tree(_AT_SENTENCE)}(?= )"),
    phrases(_ANYWHERE),
)
FLUSHES = re.compile(rf"{_DENIED} {prefix_tree(_FLUSHES)}(?= )")

_OPENS = r"^ \. (?:[?.] )?"  # the first words of a message

_GOES_ON = "y | and | pero | but | entonces | then | tambien | also | ah | oh"
_REACTS = r"""
si | yes | yeah | no | ok | okay | dale | vale | listo | genial | perfecto | perfect | great | brilliant | good | nice
cool | wow | buenisim[oa] | barbaro | excelente | excellent | gracias | muchas gracias | thanks | thank you | that
that's | those | these | honestly | uf | esa | ese | eso | exacto | exactly | muy bien | esta bien | esta buenisim[oa]
esta perfecto | que (?:feo|bueno|lindo|raro|bien|mal|loco) | me (?:gusta|late|encanta|sirve|parece) | i (?:like|love)
jaj\w* | ja | haha\w* | lol | \w+ sounds
"""
# What corrects, confirms, supposes, quotes, or tells of the moment stands beside the topic.
_ASIDE = r"""
dijiste | decis | dices | pusiste | mencionaste | segun (?:vos|tu|dijiste) | you (?:said|mentioned|told|wrote)
as you say | sigue | siguen | seguimos | sigo | queda como | quedamos en | repasando | confirmo | confirmado
ratificar | ratificado | still | just to confirm | as planned
si (?:yo |me |nos |te )*(?:fuera|fuese|tuviera|ganara|tocara|comiera|pudiera|viviera|supiera|fueramos|suspendo|echan)
if (?:i|we|you|he|she|they|it|the \w+(?: \w+)?) (?:were|won|had|was|could|lived|already had) | hypothetically
hipoteticamente | someday | some day | one day | algun dia | maybe | might | capaz | a lo mejor | quizas? | tal vez
quien sabe | who knows | mas adelante | in \w+ years | en \w+ anos | vete a saber | quoted | hoy | today | tonight
this (?:morning|afternoon) | ahora mismo | right now | esta manana | jaj\w* | haha\w* | joda
"""
_SETTLES = r"""
siempre | nunca | jamas | always | never | prefiero | i prefer | from now on | a partir de ahora | desde ahora
de ahora en mas | remember | recuerda | recorda | recordalo | acordate | acuerdate | ten en cuenta | tene en cuenta
keep in mind | please | por favor | important | importante | decidi\w* | me decidi | vamos con | nos vamos con
going with | go with | settled | decided | we'll | elegi | me quedo con
"""
_OPENS_UP = r"""
necesito | quiero | quisiera | estoy | i need | i want | i'd like | i'm | i've been | i have been | update on
(?:bad|good) news | malas noticias | buenas noticias | help me | ayudame | me ayudas | me estoy
"""

FORMS: Mapping[str, re.Pattern[str]] = MappingProxyType(
    {
        "goes on": re.compile(rf"{_OPENS}{prefix_tree(_GOES_ON)} "),
        "reacts": re.compile(rf"{_OPENS}{prefix_tree(_REACTS)} "),
        "aside": phrases(_ASIDE),
        "settles": phrases(_SETTLES),
        "opens": phrases(_OPENS_UP),
    }
)
