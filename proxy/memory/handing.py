"""The words in which a text is handed over, English and Spanish: what asks for work on a text, what points at one, what
opens a role play, what begins and ends a letter. Patterns for `folded` text: lower case, no accents, nothing moved."""

import re
from dataclasses import dataclass

from proxy.memory.signals import folded

__all__ = ["HANDING", "Handing", "folded"]


@dataclass(frozen=True, slots=True)
class Handing:
    works: re.Pattern[str]  # asks for something to be done with a text
    makes: re.Pattern[str]  # asks for a text to be made
    fiction: re.Pattern[str]  # names a piece of fiction: what stands behind it is said in it
    points: re.Pattern[str]  # points at a text that stands beside it
    play: re.Pattern[str]  # opens a role play
    follows: re.Pattern[str]  # says that the next message is a text
    refers_back: re.Pattern[str]  # begins a sentence about what stands before it
    asks: re.Pattern[str]  # asks the assistant for anything
    brings: re.Pattern[str]  # says that somebody else's text follows
    first_person: re.Pattern[str]
    orders: re.Pattern[str]  # a sentence that begins with an order
    remember: re.Pattern[str]  # before a colon: what follows is to be remembered
    own_label: re.Pattern[str]  # before a colon: names what the user's own words are about
    dear: re.Pattern[str]  # a line that opens a letter
    mail_head: re.Pattern[str]  # a line of a mail's head
    signs_off: re.Pattern[str]  # a line that ends a letter
    context_label: re.Pattern[str]  # before what a program's prompt gives as context
    question_label: re.Pattern[str]  # before the user's question, in a prompt made by a program


def _joined(**written: str) -> dict[str, str]:
    """Each table on one line."""
    return {name: "".join(line.strip() for line in text.strip().split("\n")) for name, text in written.items()}


_ENGLISH = _joined(
    works=r"""
        \b(?:translate|summari[sz]e|sum up|tl;?dr|rewrite|reword|rephrase|paraphrase|proofread|spell-?check
        |shorten|condense|tidy(?: up)?|polish|transcribe|annotate|caption|(?:fix|correct|check|improve
        |mark) (?:the |my |this |these |any |his |her )?(?:gramm[ae]r|spelling|punctuation|english|typos
        |mistakes|tenses?)|(?:make|sound|say|put|write|word|turn|phrase) (?:it|this|that|these|them
        |me)?\s?(?:\w+ )?(?:more |less |sound |into |in the |nicer|better|formal|shorter|politely|kinder
        |friendlier|passive|active|plain)|extract (?:the |all |any |every )?\w+|classify|label (?:each|these
        |the)|make (?:me )?(?:flash ?cards|a summary|bullet points|a table|a quiz)|knock (?:it|this
        |them) into shape|(?:carry on|go on|keep going|continue)\s?[,.:]|(?:continue|finish|complete
        |carry on)(?: with)?(?: the| my| this)? ?(?:story|text|poem|song|sentence|in the same|from|it|this|:)
        |how (?:do|would) (?:you|i) say|what does .{1,60} mean|is (?:this|the following) (?:sentence|correct
        |right|ok|grammatical)|(?:reply|respond|answer) (?:to )?(?:this|the|her|him|them|it)|code this
        |review (?:this|the|my)|debug|explain (?:this|the)|mark the|flash ?cards|from (?:this|these
        |the following|below)\b|which tense|convert (?:this|the|it)|format (?:this|the|it)|add (?:type hints
        |comments|tests)|rate (?:this|that|the)|pull out|scale it|role ?play)
    """,
    makes=r"""
        \b(?:write|give|make|draft|compose|do|need|want)(?: me| us| up)? (?:an?|the|some|another|\w+ more
        |a short|a funny|me an?)? ?(?:\w+ ){0,2}(?:stor(?:y|ies)|poem|limerick|haiku|monologue|dialogue|song
        |lyrics|scene|sketch|cover letter|fairy ?tale|sonnet|verse|test data|sample data|examples?|test users
        |release notes)
    """,
    points=r"""
        \b(?:this|these|the following|following|below|above|attached|pasted|here'?s|here is|here are
        |under the line|got this|found this|read this|according to|from (?:the )?(?:following|knowledge base)
        |based on|given the|use the|using the|passages?|search results?|excerpt|handed in|sent me|copied
        |verbatim|word for word|as follows|it (?:says|reads|goes)|says|that reads
        |starts? like)\b(?:[^.?!\n]{0,60}\b(?:e-?mails?|mails?|letters?|messages?|texts?|notes?|articles?|posts?
        |threads?|chats?|logs?|transcripts?|paragraphs?|passages?|excerpts?|sentences?|phrases?|snippets?|code
        |functions?|scripts?|files?|page|review|reviews|stor(?:y|ies)|poems?|lyrics|songs?|speech|essay|abstract
        |cv|resume|cover letter|description|minutes|output|error|stack ?trace|config|diff|pr|ticket|conversation
        |notice|draft|quote|dialogue|scene|monologue|caption|reply|notes|query|json|yaml|csv|table|list|document
        |doc|statement|announcement|press release|bio|blurb|tweet|comment)\b)?|\b(?:his|her|their|its|the|a
        |my \w+'?s?) (?:e-?mails?|mails?|letters?|messages?|texts?|notes?|articles?|posts?|threads?|chats?|logs?
        |transcripts?|paragraphs?|passages?|excerpts?|sentences?|phrases?|snippets?|code|functions?|scripts?
        |files?|page|review|reviews|stor(?:y|ies)|poems?|lyrics|songs?|speech|essay|abstract|cv|resume
        |cover letter|description|minutes|output|error|stack ?trace|config|diff|pr|ticket|conversation|notice
        |draft|quote|dialogue|scene|monologue|caption|reply|notes|query|json|yaml|csv|table|list|document|doc
        |statement|announcement|press release|bio|blurb|tweet|comment)\b|\^|\u2193
    """,
    fiction=r"""
        \b(?:(?:short )?stor(?:y|ies)|novel|poem|song|lyrics|monologue|script|scene|verse|stanza|the play|villain
        |narrator|protagonist|character|fairy ?tale|limerick|haiku|fiction\w*)\b
    """,
    brings=r"""
        \b(?:handed (?:this|it|these) in|(?:got|received|found|wrote|sent(?: \w+)?|copied) (?:me )?(?:this|these
        |the following)|this (?:landed|arrived|came|was sent)|here'?s (?:the|what|my|a|an)|sent round)\b
    """,
    play=r"""
        (?:\A|[.!?\n]\s*|,\s|:\s)(?:let'?s (?:play|pretend|role ?-?play)|(?:pretend|imagine) (?:to be|you(?:'re
        | are))|role ?-?play\b|act as\b|(?:now |from now on |for this chat |here )?you(?:'re| are| will be
        |'ll be) (?:now |playing )?(?:a|an|the|my|captain|queen|king|doctor
        |sherlock)\b(?=[^.?!\n]{0,80}(?:\bi(?:'m| am|'ll be)\b|\bme\b|stay in character|\bplay\b|\bspeak|\btalk
        |\banswer))|you(?:'re| are) [^.?!\n]{2,60}\b(?:and|,) (?:i'm|i am|i'll be|i will be|me)\b|be (?:a|an
        |the) [^.?!\n]{2,60}? and (?:i'll|i will|i'm))|\b(?:in this (?:story|game|scene|world),? (?:i'm|i am
        |you)|my character\b|(?:stay )?in character\b|(?:i(?:'ll)? play|i'?m playing) (?:a|an|the) [^.?!\n]{1,60}
        \byou(?:'re| are|'ll| play)\b|you play (?:a|an|the) [^.?!\n]{1,60}\bi (?:play|am)\b)
    """,
    follows=r"""
        \bin (?:the|my) (?:next|following) (?:message|one)\b|\b(?:next|following) message (?:is|has|will)\b
    """,
    refers_back=r"""
        (?:so |well |and |ok )*(?:that|this|it)(?:'s| is| was)\b
    """,
    asks=r"""
        \?|\b(?:please|pls|plz|can you|could you|would you|will you|help|tell me|give me|show me|write|make|list
        |explain|find|turn|what|which|who|how|why|where|when|wonder|i'd like to|want to know|curious|is it
        |are there|should i|do i|does|pick|rate|code|add|use|scale|carry on|continue|extract|rewrite|answer
        |reply|summari[sz]e|translate|tl;?dr|thanks|need)\b
    """,
    orders=r"""
        (?:please |pls |can you |could you |would you |now |ok |then |just )*(?:(?:in|into|to) (?:english
        |spanish|french|german|italian|portuguese|swahili|arabic|chinese|mandarin|japanese|korean|hindi|russian
        |dutch|polish|turkish|latin|catalan|[a-z]+ish|[a-z]{3,}ese)\b|write|make|list|explain|find|turn|sound
        |put|say|count|mark|label|score|guess|spot|sort|seed|create|generate|give me|show me|tell me|do|convert
        |change|replace|remove|add|split|clean|rate|grade|answer|pick|choose|read|use|help|need|want|i (?:need
        |want))\b
    """,
    remember=r"""
        \b(?:remember(?: this| that)?|note(?: this| that| down)?|from now on|for the record|fyi|about me
        |so you know)$
    """,
    first_person=r"""
        \b(?:i|i'm|i've|my|we|our|me)\b
    """,
    own_label=r"""
        ^(?:about me|me|ps|p\.s\.|btw|fyi|note|nb|update|edit|context|background|important|remember
        |for the record|(?:my|our|the|a bit|bit|some|two|three|few|quick|project|trip|thesis|plan|budget|stack
        |setup|diet|allerg\w+|goal|rules?)(?: \w+){0,4}|.*\b(?:about me|for you|so far|of mine|of me|remember
        |note|from now on|next time|question|stack|setup)\b.*)$
    """,
    dear=r"""
        ^\s*(?:dear \w|to whom)|^\s*(?:hi|hello|hey|hiya|good (?:morning|afternoon|evening))(?: (?!there\b
        |all of you\b)[\w.'-]+){1,4}\s?[,:!-]+\s*(?:$|\S)|^\s*(?:hi|hello|hey),?\s*$
    """,
    mail_head=r"""
        ^\s*(?:from|to|cc|subject|sent|reply-to):\s|^-{3,} ?(?:forwarded|original) message|^\s*on .{5,80} wrote:
    """,
    signs_off=r"""
        ^\s*(?:(?:best|kind|warm|kindest|many)? ?(?:regards|wishes|thanks)|best|cheers|sincerely|yours(?: \w+)?
        |lots of love|love|xx+|take care|all the best|respectfully|cordially
        |sent from my)\b[^?.]{0,40}[.,!]?\s*$
    """,
    context_label=r"""
        (?:^|[.!?]\s)\s*(?:context|passages?|text|article|document|excerpt|source|sources|retrieved
        |search results?)\s*(?: \d+)?:(?=\s)
    """,
    question_label=r"""
        (?:^|[.!?)]\s)\s*(?:\[?(?:user )?(?:question|query|prompt|task|instruction|q)\]?\s*:?\s*\n|(?:question
        |query|prompt|task|q|user question|instruction)\s*:)
    """,
)

_SPANISH = _joined(
    works=r"""
        \b(?:traduc(?:i|e|ir|ime|eme|irme|ilo|elo|ilas?|ilos?|ime)\w*|resum(?:i|e|ir|ime|eme|irme|ilo|elo|en
        |a)\b\w*|reescrib\w+|reformul\w+|parafrase\w+|corr(?:egi|ige|egir|egime|igeme|egirme|egilo|igelo|ija)\w*
        |acort\w+|pul[ie]\w*|transcrib\w+|(?:pone|pon|pas[ae]|escrib[ie]|dec[ii]|di|hace|haz|deja)(?:me|lo|la
        |melo|mela|los|las)? (?:esto |eso |todo |el texto )?(?:mas |en |a |bien |lindo |formal|corto|prolijo
        |una? (?:version|tabla|resumen|lista))|(?:segui|sigue|continua|dale)\s?[,.:] (?:con|en|\d)|extra[ei]\w*
        |segui(?:lo|la|los|las|melo|mela)\b|sigue(?:lo|la)\b|clasific\w+|complet[ae]\w*|continu[ae]\w*
        |segu[ii] (?:la|el|con|vos|escrib)\w*|analiz[ae]\w*
        |revis[ae]\w*|mejor[ae](?:me|lo|la|r|rlo)?\b
        |(?:hace|haz|arma|crea|genera|saca)(?:me|nos)? (?:una? |unas |unos |las |los )?(?:\w+ )?(?:tarjetas
        |flashcards|resumen|fichas|minuta|tabla|cuestionario|ejemplos)|como se dice|que (?:quiere decir
        |significa|dice)|(?:esta|es|quedo) (?:bien escrit|correct|bien dich|bien redactad)\w+|(?:respond
        |contest)[ae]?\w* (?:este|esta|esto|a este|a esta|le|a)|que le (?:contesto|respondo|digo)
        |explica\w* (?:este|esta|esto|el|la)|convert[ii]\w*|formate\w+|depur\w+|puntu[ae]\w*|ordena\w*)
    """,
    makes=r"""
        \b(?:(?:escrib|cont|invent|arm|hac|compon|quiero|necesito|dame|haz)\w* (?:una?|otra?|unas?|el
        |la) (?:\w+ ){0,2}(?:cuento|poema|historia|monologo|dialogo|cancion|letra|escena|carta de|fabula|haiku
        |soneto|copla|sketch|guion|oracion|relato)|redact\w+)
    """,
    points=r"""
        \b(?:est[eoa]s?|lo siguiente|va lo que|lo que (?:escribio|dijo|puso|mando|me mando)
        |(?:el|la|los|las) siguientes?|abajo|debajo|arriba|adjunt\w+|peg\w+
        |te (?:paso|pego|mando|dejo|copio)|aca (?:va|esta|te)|aqui (?:va|esta|te|tienes)|va(?:n)? (?:el|la|los
        |las)|me (?:llego|mando|mandaron|escribio|escribieron|contesto|respondio|enviaron)|segun (?:el|la|este
        |esta|los|las)|pasajes?|fragmentos?|resultados|usa (?:los|las|el|la|solo)|basa\w*|encontre|mira|fijate
        |lee|copi[oae]\w*|tal cual|textual\w*|dice|dicen|decia|empieza asi|transcrib\w+|transcrip\w+)\b|\b(?:su
        |sus|el|la|del|al) (?:mail|correo|mensaje|carta|texto|nota|articulo|chat|log|archivo|codigo|parrafo
        |oracion|frase|cuento|poema|cancion|letra|acta|ticket|comentario|resena|audio|grupo)\b|\^|\u2193
    """,
    fiction=r"""
        \b(?:cuento|relato|novela|poema|cancion|letra de|monologo|guion|escena|verso|estrofa|copla|corrido
        |obra de teatro|villan[oa]|narrador[a]?|protagonista|personaje|fabula|soneto|ficci\w+|fictici\w+)\b
    """,
    brings=r"""
        \b(?:me (?:paso|pasaron|mando|mandaron|llego|escribio|dejo|enviaron) (?:esto|este|esta|lo siguiente)
        |(?:encontre|recibi|copio|pego|paso|mando) (?:esto|este|esta|lo siguiente|aca|aqui|abajo)|te (?:pego
        |copio|paso) (?:esto|este|esta|el|la|lo|un|una|aca|aqui|abajo)\b)
    """,
    play=r"""
        (?:\A|[.!?\n]\s*|,\s|:\s)(?:juguemos\b|jugamos a|juego de rol|hagamos (?:de cuenta|un juego de rol|como)
        |hace de\b|haz de\b|actua (?:como|de)|(?:ahora |desde ahora |a partir de ahora )?(?:sos|eres|seras
        |vas a ser)(?: vos| tu)? (?:un|una|el|la|mi|capitan|don|dona)\b(?=[^.?!\n]{0,80}(?:\by (?:yo|soy)\b
        |\byo soy\b|\byo\b|\bhabla|\bresponde|\bcontesta|personaje))|(?:sos|eres) [^.?!\n]{2,60}\b(?:y
        |,) (?:yo )?(?:soy|sere)\b)|\b(?:(?:sos|eres) [^.?!\n]{2,60}? y yo (?:el|la|un|una|tu|su)\b
        |en est[ea] (?:historia|juego|escena|mundo),? (?:yo )?(?:soy|sos|eres)
        |mi personaje\b|no salgas del personaje|metete en el personaje|en personaje\b
        |partida de rol\b|role(?:ar|emos|amos)\b|(?:yo|vos|tu) (?:hago|haces|interpret\w+) de\b
        |que (?:hables|respondas|contestes|actues) como (?:un|una|el|la|si)\b)
    """,
    follows=r"""
        \ben (?:el|mi) (?:(?:proximo|siguiente) mensaje|mensaje (?:siguiente|que sigue|que viene|de abajo))\b
        |\b(?:proximo|siguiente) mensaje (?:va|es|tiene)\b
    """,
    refers_back=r"""
        (?:bueno,? |y |pues |ok )*(?:es[eoa]|est[eoa]|eso|esto|asi|hasta ahi|hasta aca|hasta aqui)[ ]
        (?:es|era|fue|arranca|empieza|llega)\w*\b
    """,
    asks=r"""
        [?\u00bf]|\b(?:por favor|porfa|podes|podrias|puedes|puede|me (?:ayudas|ayudan|decis|dices|armas|haces
        |explicas)|ayuda\w*|decime|dime|dame|haz|hace|hacelo|lista\w*|explica\w*|busca\w*|que|cual|quien|como
        |por que|donde|cuando|conviene|deberia|arma\w*|saca\w*|pone\w*|pon\w*|pasa\w*|resumi\w*|resume\w*
        |traduc\w*|reescrib\w*|corregi\w*|corrige\w*|responde\w*|contesta\w*|gracias|necesito|quiero|segui\w*
        |sigue\w*)\b
    """,
    orders=r"""
        (?:por favor |porfa |che |a ver |ahora |y |bueno )*(?:(?:al?|en) (?:ingles|espanol|castellano|frances
        |aleman|italiano|portugues|catalan|latin|chino|japones|ruso|arabe|quechua|guarani)\b|\w{2,}(?:le|les|lo
        |la|los|las|melo|mela|selo|telo)\b|(?:escrib|dime|deci|pon|lee
        |quita|agrega|cambia|convert|ordena|elegi|elige|usa)\w*\b)
    """,
    remember=r"""
        \b(?:(?:anot|apunt|record|recuerd|guard|acord)\w*(?: esto| que)?|que sepas|de ahora en (?:mas|adelante)
        |a partir de ahora|sobre mi)$
    """,
    first_person=r"""
        \b(?:yo|mi|mis|me|nos|nuestr[oa]s?|soy|tengo|estoy|trabajo|vivo)\b
    """,
    own_label=r"""
        ^(?:sobre mi|de mi|yo|ps|pd|nota|ojo|dato|importante|actualizacion|edit|contexto|recorda|recuerda|anota
        |apunta|para que sepas|(?:mi|mis|nuestr[oa]s?|el|la|los|las|un poco|dos|tres|unos|algunos|proyecto|viaje
        |tesis|plan|presupuesto|stack|dieta|alergias?|objetivo|reglas?)(?: \w+){0,4}|.*\b(?:sobre mi|de mi
        |para vos|para ti|hasta ahora|recorda|recuerda|de ahora en|proxima vez|pregunta|cosas|datos)\b.*)$
    """,
    dear=r"""
        ^\s*(?:estimad[oa]s?|querid[oa]s?|apreciad[oa]s?|a quien corresponda|senor(?:a|es)?)\b|^\s*(?:hola
        |buenas|buenos dias|buenas tardes)(?: (?!a todos y\b)[\w.'-]+){1,4}\s?[,:!-]+\s*(?:$|\S)|^\s*(?:hola
        |buenas|buenos dias|buenas tardes),?:?\s*$
    """,
    mail_head=r"""
        ^\s*(?:de|para|asunto|enviado|cc|from|subject):\s|^-{3,} ?mensaje (?:reenviado|original)
        |^\s*el .{5,80} escribio:
    """,
    signs_off=r"""
        ^\s*(?:saludos|un saludo|un abrazo|abrazos?|besos?|atte|atentamente|cordialmente|muchas gracias|gracias
        |sin otro particular|carinos|quedo a(?: la| su)?|desde ya)\b[^?]{0,50}[.,!]?\s*$
    """,
    context_label=r"""
        (?:^|[.!?]\s)\s*(?:contexto|pasajes?|texto|articulo|documento|fragmentos?|fuentes?
        |resultados)\s*(?: \d+)?:(?=\s)
    """,
    question_label=r"""
        (?:^|[.!?)]\s)\s*(?:\[?(?:pregunta|consulta)(?: del usuario)?\]?\s*:?\s*\n|(?:pregunta|consulta|tarea
        |instruccion)(?: del usuario)?\s*:)
    """,
)

# People mix languages, and hand over English texts in Spanish: both tables are read.
HANDING = Handing(
    **{name: re.compile(f"{_ENGLISH[name]}|{_SPANISH[name]}", re.MULTILINE) for name in _ENGLISH},
)
