"""The words of orders to forget, English and Spanish, for `folded` text: what may stand before the verb, verbs of
forgetting, of removing and of keeping, what memory is called, and how an object is introduced.

A verb of forgetting takes any object. One of removing, and one of keeping that is denied, is said of texts and files
as well: it is an order to memory only if it names the memory or what the user told.
"""

import re


def _joined(table: str) -> str:
    """One expression; a line that begins with a space goes on with a word of its own."""
    return table.strip("\n").replace("\n", "")


def _any(table: str) -> str:
    return f"(?:{_joined(table)})"


# What may stand before the verb, one after the other.
_ENTREATY = _any(r"""
please|pls|plz|never ?mind(?: (?:that|it|this))?|disregard (?:that|it|this)
|kindly|just|actually|ok(?:ay)?|also|fine|now|so|then|and|oh|omg|ugh|argh|well|sorry|hey
|on second thoughts?|from now on|(?:would|do) you mind|(?:can|could|would|will) you|you're to|you are to
|you (?:can|may|could|should|must|have to|need to|will)
|(?:i|we)(?:'d| would)?(?: really)? (?:want|like|need|love|prefer) you to|(?:i|we)(?:'d| would) (?:rather|prefer) you
|i(?:'d| would) (?:like|love|appreciate) it if you(?: could| would)?
|por favor|porfa(?:vor)?|porfis|che|ah|ay(?:,? no)?|uy|uf|mejor
|(?:te )?(?:podes|podrias|puedes|podria|puede)|bueno|y|ya|oye
|tambien|ahora|entonces|pues|mira|te importaria|te importa
|(?:necesito|quiero|quisiera|prefiero|preferiria|prefiere|te pido|me gustaria) que(?: te| se)?
""")
ENTREATY = re.compile(rf"\W*(?:{_ENTREATY}[,:!.\u2026]*\s+)*")
# An order in the form of a question.
BIDS = re.compile(
    r"\W*(?:please,? |por favor,? )?(?:(?:can|could|would|will|do) you\b"
    r"|(?:podes|podrias|puedes|podria|puede|te importaria|te importa)\b)"
)

# --- verbs -----------------------------------------------------------------------------------------------------------

_FORGETS = _any(r"""
(?:un)?(?:forget(?:ting)?|remember(?<=unremember))(?:,? please,?)?
|(?:don't|do not|stop) remember(?:ing)?|no need (?:for you )?to remember
|you (?:don't|do not|needn't)(?: need to)? remember
|(?:i|we) (?:no longer (?:want|need)|(?:don't|do not|never) (?:want|need)) you (?:to (?:remember|recall)|remembering)
|(?:te |se )?olvid(?:a|e|es|ar)(?:te|se)?(?:,? por favor,?)?
|(?:ya )?no (?:(?:quiero|necesito|quisiera|hace falta|es necesario|tenes|tienes) que (?:te )?|te )?
(?:recuerdes?|memorices?|acuerdes|acordes)
|(?:deja|dejate) de (?:recordar|acordarte)
""")
# Also said of texts and files.
_REMOVES = _any(r"""
(?:delete|erase|remove|wipe|clear|drop|scrub|strike|purge|discard|ditch|scratch|scrap|get rid of
|deleting|erasing|removing)
|(?:borr|elimin|quit|retir|tach|descart|limpi|anul)(?:[ae]|[ae]me|ate|ar|arme|es|as)|sac(?:a|ar|ame|as)|saques?
|suprim(?:e|i|as|ir|a)|deshazte|deshacete
""")
# And of so much else that they need the memory.
_MOVES = r"(?:take|leave|keep|cut|lose|let go of|dej[ae])"
_KEEPS = _any(r"""
(?:don't|do not|never|stop|no need to|you (?:don't|do not|needn't|shouldn't)(?: need to| have to)?)
 (?:know|store|keep|save|retain|memori[sz]e|hold on to|stor|sav|keep|know)(?:ing)?
|(?:i|we) (?:no longer (?:want|need)|(?:don't|do not|never) (?:want|need)) you (?:to )?(?:know|store|keep|sav)(?:e|ing)?
|(?<=you )(?:didn't|did not|don't|not) (?:know|remember|store|keep|save|have)
|(?:ya )?(?<!\w)no (?:(?:quiero|necesito|quisiera|hace falta|es necesario) que )?
(?:guardes?|sepas?|conserves?|registres?|tengas? (?:guardad|anotad|registrad)[oa]s?)
|(?:deja|dejate) de guardar
""")
_ANYMORE = r"(?:,? ?:)?(?: any ?more| mas| ya)?"
FORGETS = re.compile(rf"{_FORGETS}(?P<clitic>l[oa]s?)?\b{_ANYMORE}\s*")
REMOVES = re.compile(rf"(?:{_REMOVES}|(?P<moves>{_MOVES}))(?P<clitic>l[oa]s?)?\b{_ANYMORE}\s*")
KEEPS = re.compile(rf"{_KEEPS}\b{_ANYMORE}\s*")
# "As if I had never told you …": everything else behind it is what was told.
AS_IF = re.compile(
    _any(r"""
(?:let's )?(?:act|behave|carry on|pretend|make)(?: as (?:if|though)| like| believe)?(?: that)?
 (?:(?:i|we)(?:'d| had|'ve| have)? ?(?:never|not|didn't|hadn't|haven't)(?: ever| even)?
 (?:told|tell|mention(?:ed)?|said|say|spoken?|talked|brought up|shared)
|you (?:don't|didn't|never|had never|hadn't) (?:know|knew|known|hear|heard|seen?|read|saw))
(?: you)?(?: any ?thing| a (?:word|thing))?
|(?:ha[zg]a?(?:mos)?|hace|actua|fingi?e?)(?: de)? (?:como (?:que|si)|cuenta(?: de)?(?: que| como si)?|que)
 (?:yo )?(?:nunca|no|jamas) (?:(?:te |lo )?(?:(?:hubiera|hubiese|he|habia|haya) )?
(?:di[jc]e|dicho|cont(?:e|ado)|mencion(?:e|ado)|habl(?:e|ado)|comentado|comente)|supieras|sepas|sabes|escuchaste|leiste)
(?: nunca)?(?: nada)?
""")
    + r"\b\s*"
)

# --- memory ----------------------------------------------------------------------------------------------------------

_MEMORY = _any(r"""
(?:your|the|its|all your|long-term)? ?(?:long-term )?memor(?:y|ies)
|your (?:notes?|records?|files?|database|storage|profile|head|brain)|the record|file
|what(?:ever)? you(?:'ve| have)? (?:know|remember|have|stored?|saved?|kept|keep|got)(?: (?:about|of|on) me)?
|(?:tu |la |su )?memoria
|(?:tus?|sus?) (?:notas|apuntes|registros?|recuerdos|archivos?|ficha|perfil|cabeza|base de datos)
|lo que (?:sabes|sepas|tenes|tienes|guardaste|recordas|recuerdas)(?: de mi)?
""")
FROM_MEMORY = re.compile(
    rf"(?:^|\s)(?:from|out of|off|on|in|de|en) {_MEMORY}(?: from now on| de ahora en mas)?(?=\W|$)"
)
# "I want Derek gone from your memory."
GONE = re.compile(
    r"(?:(?:i|we)(?:'d| would)? (?:want|need|like)|(?:quiero|necesito)(?: a)?) (?P<what>.+?)"
    rf" (?:gone|removed|deleted|erased|wiped|out|off|fuera|borrad[oa]s?)(?: from| of| out of| off| de)? {_MEMORY}\b"
)

# --- objects ---------------------------------------------------------------------------------------------------------

_SAID = _any(r"""
(?:i|we)(?:'ve|'d| have| had)? ?(?:ever )?(?:said|told|mentioned|wrote|written|shared)(?: you)?
|you(?:'ve| have)? ?(?:ever )?(?:know|remember|have|stored|saved|kept|got|saw|heard|knew)(?: stored| saved)?
|(?:te )?(?:he )?(?:dij[eo]|dicho|conte|contado|comente|mencione|hable)
|(?:vos |tu )?(?:sabes|sepas|tenes|tienes|guardaste|recordas|recuerdas)(?: guardado| anotado)?
""")
_ABOUT = r"(?: (?:about|on|of|with|regarding|that|(?:de|del|sobre|acerca de)(?: que)?))*"
# What names something as told: it makes an object of whatever follows.
_TOLD = _any(rf"""
(?:(?:everything|anything|all|what(?:ever)?|all the things?|the things?)(?: that)? )?{_SAID}(?: anything)?{_ABOUT}
|(?:everything|anything|all) (?:about|of)
|(?:all )?(?:that|this|the)?(?: whole)? ?(?:things?|stuff|business|bits?|part|fact|info(?:rmation)?|details?)
 (?:that|about|on|of|with|regarding)(?: how| that)?
|that about|what about
|(?:ya )?te (?:(?:habia|he) )?(?:dije|dicho|conte|contado|comente|comentado) (?:de )?que
|(?:todo )?(?:(?:lo|eso|el dato|los datos|la informacion|el tema|el asunto|la cuestion) (?:de|del|sobre)(?: que)?
|lo que {_SAID}{_ABOUT})
""")
TOLD = re.compile(rf"{_TOLD}(?=\s)\s*")
# A clause that tells of the user, and what only memory has.
OWN = re.compile(
    _any(r"""
(?:that|where|how (?:much|many|old|long|often|tall)|what|when|who|which) (?:i|my|we|our)\b
|(?:de )?(?:que|donde|cuant[oa]s?|como|cuando|a quien|quien) (?:me |nos |mi |mis )?(?:soy|estoy|[a-z]+o|mi)\b
|(?:my|our) (?!(?:last|previous|first|next|question|code|essay|text|paragraph|file|draft|message)\b)
|(?:mis?|nuestr[oa]s?) (?!(?:ultim|anterior|primer|pregunta|codigo|texto|parrafo|archivo|mensaje))
|.*\b(?:de mis?|of my|de nuestr[oa]s?) \w+\W*$
""")
)
RULE = re.compile(
    r"(?:the|that|this|my|la|esa|el|ese|mi) (?:\w+ ){0,3}?(?:rule|instruction|preference|nickname|regla|instruccion"
    r"|apodo|mote)\b(?: (?:about|on|of|de|del|sobre) .+)?\W*$"
)
# "that", "that one", "ese": what it points back to says what is meant. The first are also said of a question.
FAINTLY_BACK = re.compile(r"(?:about |de )?(?:it|that|this|them|eso|esto|l[oa]s?)(?: all| too| as well| tambien)?")
DISMISSED = re.compile(r"(?:it|that|this|eso|esto)[,;] (?!(?:please|pls|thanks|ok|por favor|porfa|gracias|dale)\b)")
# Behind a comma, of what stands before it: "stop using that nickname, forget it ever existed".
EVER = re.compile(r"(?:that )?(?:it|that|this|he|she|they)(?:'s)? (?:ever )?(?:existed|happened|exists)")
SPOKEN = re.compile(
    r"\b(?:said|says?|told|tells|asked|wrote|dijo|dice|dijeron|decia|pidio|escribio)\b|[:\"\u201c\u00ab]"
)
BACK = re.compile(
    r"(?:about |de )?(?:(?:that|this) (?:one|thing|fact|detail|bit|part|info)|those|es[ea]|est[ea]|es[oa]s"
    r"|aquel(?:la|lo)?"
    r"|(?:ese|esa|este|esta|es[ao] ultim[oa]) ?(?:dato|cosa|parte|detalle|informacion|ultim[oa])?)"
)
# All that the message before states: "what I just told you", "my last message".
WHOLLY = re.compile(
    _any(r"""
(?:about )?(?:
(?:(?:everything|anything|all|what(?:ever)?|the things?|that)(?: that)? )?(?:i|we)(?:'ve| have)? just
 (?:said|told|wrote|written|mentioned|shared|typed|sent)(?: you)?(?: (?:now|here|above))?
|(?:the )?last (?:thing|bit|part|fact|message|detail|info(?:rmation)?)
(?: (?:that )?(?:i|we)(?:'ve| have)? ?(?:just )?(?:said|told|wrote|mentioned|shared|sent)(?: you)?)?
|my (?:last|previous) (?:message|statement|sentence|comment)
|what (?:i|we)(?:'ve| have)? (?:told|shared with) you(?: (?:now|just now))?
|(?:that )?(?:i|we)(?:'ve| have)? (?:just |ever )?(?:told|mentioned|shared|said)(?: you)?
(?: (?:that|this|it|so|anything))?
)
|(?:de )?(?:
(?:todo )?lo que (?:te )?(?:acabo|acabamos) de (?:decir|contar|escribir|mencionar|comentar)(?:te)?
|lo (?:ultimo|anterior)(?: que (?:te )?(?:he )?(?:dije|dicho|conte|contado|escribi|escrito|mencione|comente))?
|(?:mi|el|ese) (?:ultimo|anterior) (?:mensaje|dato|comentario)|mi (?:mensaje|comentario) anterior
|la ultima (?:cosa|frase)
|que (?:te )?(?:lo )?(?:dije|conte|mencione|comente)(?: (?:eso|esto|algo|nada))?
|lo que (?:te )?(?:dije|conte|mencione|comente) (?:recien|antes|ahora|hace un (?:momento|rato))
)
""")
)
EVERYTHING = re.compile(
    _any(r"""
(?:about |de )?(?:memory|all memory|all memories|all your memory|your memory|everything|everything about me|all about me
|me|about me|all of it|everything you know(?: about me)?|(?:everything|all)(?: that)? i (?:said|told you)|all|it all
|you know about me
|todo|todo lo que sabes (?:de|sobre) mi|todo sobre mi|mi|todo lo que te dije|todo eso|toda tu memoria|la memoria
|tu memoria|de mi|sobre mi)
""")
)
# Is said of the talk, not of what was told in it.
OF_TALK = re.compile(
    _any(r"""
(?:about |de )?(?:(?:my|the|that|this|la|mi|esa|el|ese|lo|what)(?: (?:last|previous|other|ultim[oa]|otra))? )?
(?:questions?|request|message|answer|reply|search|asked|i asked|i said|pregunta|mensaje|respuesta|pedido|asunto)(?: .*)?
|you|ya fue|(?:,? ?)?no importa|por hoy
""")
)
FOR_NOW = re.compile(
    r"\bfor (?:just )?(?:an?|one|the) (?:sec\w*|moment|minute|bit|while)\b|\bfor (?:now|the moment|today)\b"
    r"|\bpor (?:un (?:momento|segundo|rato|minuto)|ahora|el momento|hoy|esta vez)\b"
)
# Where the object ends: a reason, an exception, another order.
ENDS = re.compile(
    r"[;:]\s|[,.]\s(?:no quiero|no lo|ya no|porque|asi no|i don't|i do not|i'd rather|it's|it was|because|thanks"
    r"|gracias"
    r"|que |but|pero|i mean|en serio|seriously|she|he|ella|el es|me da|no deb|there)\b"
    r"|,?\s(?:but|pero|except|excepto|salvo|aunque|because|porque)\s"
    r"|,?\s(?:and|y) (?:forget|olvid\w+|delete|erase|borr\w+|keep|remember|don't|no)\b"
    r"|\s(?:any ?more|any longer|nunca mas)\W*\Z"
)
# "The thing about the car, forget it."
BEHIND = re.compile(
    r"(?:,|\s[-\u2013]|:)?\s(?:(?:por favor|please|pls|porfa),?\s)?(?:just )?"
    rf"(?:(?:(?:te )?olvid[ae](?:te)?(?: de)?|borr[ae]|elimin[ae]|quit[ae]|sac[ae]|saque|suprim[aei])"
    r"(?:me)?(?:(?:l[oa]s?)|"
    r" (?:ell?[oa]s?|es[oa]))|no (?:me )?l[oa]s? (?:guardes|recuerdes|tengas guardad[oa]s?)"
    r"|(?:forget|delete|erase|remove|wipe|drop)(?: (?:it|that|them|him|her|about (?:it|that|them|him|her)))"
    r"|(?:please|just) forget|take (?:it|that|them)(?= (?:off|out of|from)))"
    rf"(?: (?:from|out of|off|de) {_MEMORY})?(?:,?\s(?:por favor|please|pls|porfa|del todo|entirely|ya|ok))*[\s.!?]*$"
)
# What an order behind it may be about.
TOPIC = re.compile(
    r"\W*(?:never mind )?(?:the|my|our|that|this|about|what|whatever|anything|everything|all|lo|la|el|los|las|mis?|eso"
    r"|es[ea]|de|del"
    r"|sobre|todo)\b"
)
# "I shouldn't have told you about Colin."
TOLD_YOU = re.compile(
    r"\b(?:told you|mentioned|said|shared|telling you|contarte|decirte|contado|dicho|mencionado|te (?:conte|dije))\b"
)
# Told of the past: no order, and nothing that lasts.
FORGOT = re.compile(
    r"\W*(?:(?:oh|ah|uh|argh|ugh|ay|uy|omg|damn|and|but|so|y|pero|hoy|today|otra vez|again)\b\W*)*"
    r"(?:(?:[\w']+ ){0,4}?(?:forgot|forgotten|left behind)\b"
    r"|(?:(?:mi|la|el|mis|los|las) )?(?:\w+ ){0,2}?(?:me|te|se|nos) (?:lo |la |le )?olvid(?:e|o|aste|amos|aron|aba)\b)"
    r"(?! (?:to (?:tell|mention|say|add)|(?:de )?(?:decirte|contarte|mencionar\w*|avisarte|aclarar\w*)))"
)
# "Please don't forget …".
DENIED = re.compile(
    r"(?:make sure (?:that )?you )?(?:don't|do not|never|nunca|jamas|no)(?: ever| te| se| vayas a)?"
    r" (?:forget|delete|erase|remove|lose|wipe|olvid(?:es?|ar)|borr(?:es|ar)|elimin(?:es|ar)|pierdas)"
    r"(?: nunca| ever)?\s"
)
# "… everything I told you": says what was said, and nothing of what it was.
RETOLD = re.compile(
    rf"\W*(?:that )?(?:everything|anything|all|what(?:ever)?|nothing|nada|todo|lo)"
    rf"(?: of| de)?(?: lo)?(?: that| que)? {_SAID}"
)
