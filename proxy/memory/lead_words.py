"""The words of what leads over to somebody else's words, English and Spanish: patterns for `folded` text: lower
case, no accents, nothing moved."""

import re


def _joined(text: str) -> str:
    return "".join(line.strip() for line in text.strip().split("\n"))


# Things that bear words, as one names them.
_BEARER = _joined(
    r"""
    (?:e-?mail|mail|letter|message|text|sms|voice ?(?:mail|note|message)|post|page|forum|website|web ?site|blog
    |content|tweet|thread|chat|transcript(?:ion)?|log
    |note|article|paragraph|passage|excerpt|sentence|phrase|snippet|caption|subtitle|lyric|song|poem|verse|story|novel
    |play|script|scene|monologue|dialogue|speech|essay|diary|memoir|abstract|cv|resume|cover letter|bio|blurb|profile
    |ad|advert|review|testimonial|testimony|statement|press release|notice|flyer|leaflet|poster|sign|plaque|sticker
    |label|tattoo|t-?shirt|banner|headline|quote|quotation|motto|slogan|horoscope|fortune(?: cookie)?|prompt|podcast
    |interview|episode|dictation|homework|exercise|answer key|flash ?card|form|questionnaire|survey|template|draft
    |postcard|greeting card|invitation|epitaph|will|contract|minutes|ticket|commit(?: message)?|readme|config|file
    |comment|speech bubble|joke|riddle|prayer|vow|oath|karaoke|ocr|screenshot|photo
    |contenido|pagina|foro|sitio|mensaje|correo|carta|texto|nota|audio|tuit|hilo|publicacion|posteo|articulo
    |parrafo|pasaje|fragmento|oracion
    |frase|letra|cancion|poema|verso|copla|cuento|relato|novela|obra|guion|escena|monologo|dialogo|discurso|ensayo
    |diario|curriculum|perfil|anuncio|aviso|resena|opinion|testimonio|declaracion|comunicado|volante|folleto|afiche
    |cartel|letrero|placa|pegatina|calcomania|etiqueta|tatuaje|remera|camiseta|titular|cita|lema|horoscopo
    |galleta(?: de la fortuna)?|entrevista|episodio|dictado|deberes?|tarea|ejercicio|ficha|formulario
    |encuesta|plantilla|borrador|postal|tarjeta|invitacion|epitafio|testamento|contrato|acta|archivo|codigo
    |comentario|vineta|chiste|oracion|subtitulo|pie de foto|foto|captura|transcripcion|grupo)
    (?:e?s)?
    """
)
_DETERMINER = (
    r"(?:the|an?|this|these|that|his|her|their|my|our|your|some|one|two|three|another|el|la|los|las|una?|unos|unas"
    r"|est[ea]s?|estos|su|sus|mi|mis|tu|nuestr[oa]s?|dos|tres|otr[oa]|del|de la)"
)
_OF_OTHERS = r"(?:(?:[\w-]+(?:'s|s') )(?:[\w-]+ ){0,2})"

# Somebody of whom is spoken, as the subject of a verb.
_WHO = (
    r"(?:\b(?:he|she|they|it|el|ella|ellos|ellas|somebody|someone|everyone|alguien|who|que|which)"
    rf"|\b{_DETERMINER} (?:[\w'-]+ ){{0,5}}?[\w'-]+|(?:\A|(?<=[.!?:\n,;] )|(?<=\n))(?!(?:i|you|yo|te|me|le"
    rf"|les|se|lo|ya|no|to|so)\b)[\w'-]+"
    r"(?: (?!(?:i|yo)\b)[\w'-]+)?(?= (?:says|said|writes|wrote|dice|dijo|escribe|escribio|goes|texted)\b))"
)
_VERB_EN = (
    r"(?:says|say(?=\s*:)|said|saying|writes?|wrote|written|texts|texted|repl(?:ies|ied)|tells?|told|posts"
    r"|posted|emails|emailed"
    r"|messages|messaged|dictates|dictated|reads|goes|went|is like|was like|be like|shouts|shouted|sings|sang|whispers"
    r"|whispered|answers|answered|explains|explained|claims|claimed|insists|insisted|announces|announced|tweets"
    r"|tweeted|comments|commented|complains|complained|puts|sends|sent|quotes|quoted|begins|starts|heard"
    r"|(?:would|will|might|could|used to) (?:say|write|answer|reply)|keeps saying|states|stated)"
)
_VERB_ES = (
    r"(?:dicen?|dijo|dijeron|decian?|diria|diga|escriben?|escribio|puso|pone|ponia|contesta|contesto|responden?"
    r"|respondio|cuenta|conto|comenta|comento|manda|mando|mandaron|publica|publico|dicta|dicto|grita|grito|canta|canto"
    r"|explica|explico|avisa|aviso|suelta|solto|reza|rezaba|anuncia|anuncio|dejo|quejo|lee|empieza|arranca|termina)"
)
_TO = r"(?: (?:to )?(?:me|us|him|her|them|everyone)| (?:a|al) [\w ]{1,20})?"
SPEAKS = re.compile(
    rf"{_WHO} (?:(?:just|once|always|often|also|never|then|only|ya|siempre|tambien|solo|me|nos|le|te|lo) ){{0,3}}"
    rf"(?<!\bse )(?:{_VERB_EN}|{_VERB_ES})\b{_TO}(?: (?:this|that|so|esto|lo siguiente|asi|hoy|ayer|today"
    rf"|yesterday|something like))?"
)
# All of a sentence: that somebody says or writes something.
SAYS = re.compile(rf"(?:so |and |then |y |entonces )?{SPEAKS.pattern}")

BEARERS = re.compile(
    rf"(?<![\w'-])(?:(?:here(?:'s| is| are)|aca (?:va|esta)|aqui (?:va|esta|tienes)|te (?:paso|pego|copio|dejo)|from"
    rf"|para|for|en|on|in|de|del) )?(?:{_DETERMINER} )?{_OF_OTHERS}?(?:(?!is\b|are\b|was\b|es\b|son\b)[\w'-]+ ){{0,1}}?"
    rf"{_BEARER}\b(?!')"
)

# A heading that says whose text follows: "Postcard from Ann", "Dictado".
BEARS = re.compile(
    rf"(?:(?:here(?:'s| is| are)|aca (?:va|esta)|aqui (?:va|esta"
    rf"|tienes)) )?(?:{_DETERMINER} )?{_OF_OTHERS}?(?:[\w'-]+ )?(?:(?:take )?dictation"
    rf"|dictado|dictate|transcri\w+|{_BEARER} (?:from|by|of|de|del|que|that) (?!(?:about|for|para|please)\b).+)"
)
# An order to work on words that are given.
WORKS = re.compile(
    r"(?:\A|(?<=[.!?\n] )|(?<=\n))\s*(?:please |pls |can you |could you |now |ok |then |por favor |porfa "
    r"|a ver |ahora )*"
    r"(?:translat\w+|rewrit\w+|reword\w*|rephras\w+|paraphras\w+|proofread|summari[sz]e|shorten|condense|transcrib\w+"
    r"|caption|classify|label|count(?= the\b)|correct|fix(?= the| this| my| grammar| it)|improve|edit|polish|continue"
    r"|complete|finish|annotate|analy[sz]e|describe|read (?:it |this )?(?:aloud|out)|type (?:out|up|this)"
    r"|(?:write|take|note) (?:\w+ )?down|take dictation|conjugate|punctuate|capitali[sz]e|spell|rank|grade"
    r"|convert|format"
    r"|extract|(?:make|turn|put|say) (?:it|this|that|these|them)|repeat|memori[sz]e|answer (?:as|for)"
    r"|reply (?:as|to|for)"
    r"|traduc\w+|resum\w+|reescrib\w+|reformul\w+|parafrase\w+|correg\w+|corrig\w+|acort\w+|puli\w+|transcrib\w+"
    r"|clasific\w+|conta(?:me)? (?:las|los)|cuenta (?:las|los)|mejora\w*|completa\w*|continua\w*|segui\w*|sigue\w*"
    r"|describ\w+|lee\w* en voz|(?:anota|apunta|escrib[ie])\w* (?:lo que|el dictado|tal cual)|hacelo|hazlo|ponelo"
    r"|ponlo|pasalo|pasa (?:esto|a)|conv(?:ert|iert)\w+|repeti\w*|repite\w*|responde\w* (?:como|por|a)"
    r"|contesta\w* (?:como|por|a))"
    r"\b"
)
# Any order about a thing that it takes for known: "Remove the adjectives", "Ponle título".
ORDERS = re.compile(
    r"\A\W*(?:please |pls |now |por favor |porfa |ahora |y )*"
    r"(?!\w*(?:tulo|culo|uel[ao]|ell[ao]|elo)\b)(?:(?:\w{2,}(?:[aeiou]|a[rn])|pon|haz|di)(?:me|te"
    r"|se)?(?:le|les|lo|la|los|las)\b"
    r"|(?!(?:about|for|on|in|of|with|from|to|at|re|regarding|and|so|but|as|after|before|by|here's|forgot"
    r"|sobre|con|de|en|para"
    r"|por|si|como|cuando|y|pero|a|del|al|que|es|eso|esto|segun|tras|desde|hasta|ante|solo|todos?|todas?"
    r"|is|was|are|i)\b)(?!\w+ly\b)[a-z]+"
    r" (?:me )?(?:the|each|all|every|cada|tod[oa]s)(?= (?!(?:thing|truth|cosa)\b))\b)"
)
POINTS = re.compile(
    r"\b(?:th(?:is|ese)|(?:the )?following|below|above|here's|est[aeo]|est[ao]s|(?:lo |el |la )?siguientes?|abajo)\s*\Z"
    r"|\bwhat (?:my|the|his|her|a) |\blo que (?:dice|dijo|escribio|dicta|diria|puso|mando|me)\b|\boverheard\b|\boido\b"
)

# Names somebody or something, and says nothing: "my pen pal from Italy", "mi jefe".
BARE = re.compile(
    rf"(?!a ver\b)(?!.*(?:ed|\bus|\bwas|\bis|\bhas|\bme|\bes|\bya)\b)(?:so |and |y |from |de |del |to "
    rf"|para )?{_DETERMINER} (?:[\w'-]+ ){{0,2}}?[\w'-]+(?: (?:from|of|in|at|on|de|del|en)"
    r" (?:[\w'-]+ ?){1,3})?(?:, ?[\w ]{1,12})?"
)
OF_ANOTHER = re.compile(
    r"\W*(?:(?:so|and|y|from|de|para|to) )?(?:his|her|their|your|an?|one|some|another|su|sus|una?|otr[oa])\b|.*'s\b"
)
# How the author came by a text.
FOUND = re.compile(
    r"\b(?:found|find|saw|see|got|get|received?|read|heard|hear|cop(?:y|ied)|paste|recei?ved|sent|encontre"
    r"|vi|recibi|lei|oi"
    r"|copio|copie|pego|paso|mando|escuche)\b"
)
# Introduces the author's own words.
LICENSED = re.compile(
    r"\b(?:about (?:me|us|myself)|of (?:me|mine)|fyi|btw|(?:for )?(?:the record|context|reference|background)|ps"
    r"|(?:please )?(?:remember|note|keep in mind)(?: that| this)?\s*\Z|know about me|you should know"
    r"|for you|note to (?:you|self)|(?:sobre|de) mi\s*\Z|(?:para )?que (?:sepas|te ubiques)|te (?:cuento"
    r"|aviso)|para vos|para ti"
    r"|(?:anot|apunt|record|recuerd|guard)\w*(?: esto| que| mis? \w+)?\s*\Z)"
    r"|\b(?:facts?|details|datos)\b|\A\W*(?:(?:and|so|but|y|pero) )?(?:(?:my|our|the|a|an|one|two|three"
    r"|some|quick|small|more|few|other|another|mi|mis"
    r"|nuestr[oa]s?|el|la|los|las|una?|dos|tres|unos|algun[oa]s|otr[oa]) )*(?:\w+ )?(?:details?|situation"
    r"|case|facts?|info"
    r"|information|background|setup|stack|diet|health|allerg(?:y|ies)|work|job|family|plans?|budget|goals?|rules?"
    r"|preferences?|questions?|problem|issue|points?|things?|note|notes|story|update|news|reason"
    r"|answer to that|needs?|constraints?"
    r"|datos?|situacion|caso|contexto|dieta|salud|alergias?|trabajo|familia|plan|presupuesto|objetivo|reglas?"
    r"|preferencias?|preguntas?|problema|tema|cosas?|cosita|novedad(?:es)?|nota|motivo|duda|actualizacion|correccion)"
    r"(?: (?:for|about|on|of|para|sobre|de|number|numero) (?:\w+ ?){1,3})?\s*\Z"
)
# The author speaks of what he or she does: "what I told the solicitor was this".
SUBJECT = re.compile(r"\b(?:i|i'm|i've|i'd|we|we're|we've|yo|soy|tengo|estoy|tenemos|somos)\b")
# Says something of its own of a text: "my email is …", "I write novels".
TELLS_OF = re.compile(
    r"\b(?:i|i'm|i've|i'd|we|we're|we've|is|are|was|were|yo|soy|tengo|estoy|vivo|trabajo|uso|escribo"
    r"|tenemos|somos|es|son"
    r"|era|fue|has|have|had|does|did|will be|\?)\b"
)
_PERSON = (
    r"(?:i|i'm|im|i've|ive|i'd|i'll|my|me|mine|we|we're|we've|we'll|our|us|yo|soy|tengo|vivo|trabajo|estoy"
    r"|mi|mis|me|nos"
    r"|nuestr[oa]s?|somos|tenemos|vivimos|estamos|hablo|uso|llevo|quiero|naci|fui"
    r"|always|never|from now on|remember|siempre|nunca|a partir de ahora|de ahora en)"
)
# Any Spanish verb that may be in the first person, too.
FIRST = re.compile(rf"\b(?:{_PERSON}|\w{{2,}}[^aeiou\W]o|\w+(?:amos|emos|imos))\b")
OPENS_FIRST = re.compile(
    r"[\s,:;\"'\u2013\u2014-]*(?:(?:and|y|but|pero|so|hey|hi|hola|che|ya|yes|si|no|well|bueno|ahora|also"
    r"|tambien|just|still"
    rf"|recien|the user|el usuario)\b[\s,:]*){{0,3}}{_PERSON}\b"
)
# Not of what is the author's: "what my cousin sent".
OPENS_CLAUSE = re.compile(rf"(?!\W*(?:my|mine|me|our|us|mi|mis|nuestr[oa]s?)\b){OPENS_FIRST.pattern}")
# Says of what stands before it that somebody else said it, or that it is a text.
SAID_BEHIND = re.compile(
    rf"(?:, ?| [\u2013\u2014-]+ )(?:{_VERB_EN}|{_VERB_ES}) (?:{_DETERMINER} [\w' -]{{1,40}}|he|she|they|el"
    rf"|ella)(?=\s*(?:[.!?]|\Z))"
    r"|(?:(?<=[.!?\n] )|(?<=\n)|(?<=- ))(?:so )?(?:that's|that is|that was|this is|this was|es[oae]|est[oae]|asi|\^)"
    rf"(?: (?!i\b|yo\b)[\w']+){{0,4}}? (?:{_VERB_EN}|{_VERB_ES}|arrived|came|landed|llego)\b"
    rf"|(?:(?<=[.!?\n] )|(?<=\n)|(?<=- )|(?<=\u2014 ))(?:is (?:this|that)|es (?:esto|eso)|that's"
    rf"|esa? es) (?:an? |una? |my \w+'s |el |la |mi )?(?:\w+ ){{0,2}}{_BEARER}\b"
)
