"""Who needs to be heard: the words of emotional messages, Spanish and English. Tables as in `patterns`."""

from proxy.language.phrases import phrases, prefix_tree
from proxy.language.text import sentence
from proxy.reuse.moment import about_language

_VERY_ES = "muy|tan|re|super|mega|bastante|mas|un|poco|medio|demasiado|totalmente|completamente|recontra|bien|siempre\
|algo|todo|el|dia|como|realmente|absolutamente|cada|vez|profundamente|terriblemente|sintiendo|sintiendome\
|tremendamente"
_FELT_ES = """((trist|feli[zc]|ansios|nervios|deprimid|angustiad|preocupad|asustad|furios|enojad|enfadad|cabread\
|agotad|cansad|hart|podrid|quemad|estresad|abrumad|agobiad|desesperad|perdid|decepcionad|desilusionad|frustrad|dolid\
|herid|rayad|destrozad|devastad|bajonead|emocionad|ilusionad|entusiasmad|orgullos|aliviad|agradecid|celos|envidios\
|avergonzad|culpabl|arrepentid|humillad|traicionad|aterrad|aterrorizad|insegur|aburrid|desmotivad|desganad|enamorad\
|llorand|temblan|sufriend|encabronad|aguitad|indignad|irritad|nostalgic|melancolic|sensibl|aislad|rechazad|abandonad\
|inutil|fracasad|deshech|hundid|amargad|resentid|desbordad|saturad|apachurrad|achicopalad|paralizad|embroncad|molest\
|conmovid|shockead|ahogad)[a-z]*|content[oa]s?|sol[oa]|vaci[oa]|rot[oa]|mal|fatal|pesimo|chocho|en (crisis|duelo|shock\
|un pozo)|de (luto|duelo|bajon)|hech[oa] (mierda|polvo|pelota|percha|un|una)|al (borde|limite)|pasando (por|un|una\
|muy)|para atras|por el piso)"""
_CLOSE_ES = "mama|papa|vieja|viejo|madre|padre|hij[oa]s?|herman[oa]s?|abuel[oa]s?|ti[oa]|prim[oa]|novi[oa]|espos[oa]\
|marido|mujer|pareja|ex|amig[oa]s?|perr[oa]|gat[oa]|mascota|bebe|nieto|nieta|suegr[oa]|familia|jefe|jefa|soci[oa]\
|matrimonio|vida|mejor amig[oa]|companer[oa]s?|mami|papi|cuna[d][oa]|embarazo"
_CLOSE_EN = "mom|mum|dad|mother|father|son|daughter|kids?|brother|sister|grandm[a-z]+|grandf[a-z]+|grandpa|nana|aunt\
|uncle|cousin|boyfriend|girlfriend|wife|husband|partner|ex|best friend|friends?|dog|cat|pet|baby|family|boss|marriage\
|life|parents|fiancee?|roommate|stepdad|stepmom|relationship|heart|depression|anxiety|therapist"

FEELING_ES = f"""
(sufro|lloro|vivo|sueno|muero) (por|de|con|pensando) [a-z]+ | por que no (puedo|me|soy|logro) | ser feliz
como (hago|puedo hacer|hacer) para (dejar de|olvidar|superar|perdonar|no)
dejar de (pensar en|llorar|sufrir|querer)[a-z]* | estoy (que|hasta (la|el|las)|en la|por|para el) [a-z]+
me (rompieron|hicieron|cuesta|costo|paso algo|aguite|encabrone|duelen) | que feliz
(estoy|ando|sigo|vivo|quede|termine|encuentro|tiene) (({_VERY_ES}) )*{_FELT_ES}
(tienen|pone|ponen|puse|vengo|estaba|estuve) (({_VERY_ES}) )*{_FELT_ES}
(estar|sentirme|sentirse|ponerme|soy) (({_VERY_ES}) )+{_FELT_ES} | (estoy|ando) (tan|re|muy|demasiado) [a-z]+
me siento | me senti | me sentia | sentirme
siento(?<! lo siento) (que|un|una|tan|tanta|mucha?|como|rabia|culpa|miedo|el|en el|nada)
(me|nos) (angustia|duelen?|preocupa|asusta|aterra|deprime|entristece)
(me|nos) (enoja|enfurece|frustra|estresa|agobia|abruma|emociona)
me (averguenza|da|dan|dio) (mucha? |tanta? )?(miedo|pena|verguenza|bronca|rabia|asco)
me (averguenza|da|dan|dio) (mucha? |tanta? )?(tristeza|panico|ansiedad|culpa|coraje)
me (da|dan|dio) (mucha? |tanta? )?(cosa|impotencia|nervios|pavor|terror|alegria|ilusion|igual todo|ganas de)
me (ilusiona|alegra) | me (hace|hacen|hizo|haces) (sentir|llorar|mal|falta|sufrir|dano)
me (pone|pongo|puso|ponen) (de|triste|mal|loc[oa]|los|la)
(me|nos) (rompe|rompio|parte|partio|destroza|destrozo|tiembla|tiemblan|hierve|ahogo|ahoga|supera|lastima|lastimo|hirio)
(me|nos) (humillo|humillan|traiciono|engano|abandono|rechazo|rechazaron)
(me|nos) (ignoran?|echaron|despidieron|corrieron|dejo|pego)
me (mintio|grito|gritan|fallo|odio|odian|enamore|arrepiento)
me (odia|enorgullece|lastimaron|consume|mata|invade|ilusione|quede) | me (muero|quiero morir|quiero matar)
me (quiero ir|tiene (mal|hart[oa]|loc[oa])|cuesta (mucho|levantarme|vivir|dormir|respirar))
me (toca a mi|desborda|desespera|cae|falta el aire|despierto|paso (el dia|los dias|la noche)|aterroriza|derrumbe|corto)
tengo ([a-z]+ ){{0,3}}(miedo|angustia|ansiedad|panico|tristeza|bronca|rabia)
tengo ([a-z]+ ){{0,3}}(celos|culpa|verguenza|pena|nervios|depresion|odio)
tengo ([a-z]+ ){{0,3}}(nudo|pesadillas|insomnio|alma|corazon|animo|autoestima)
tengo ([a-z]+ ){{0,3}}(ira|coraje|ilusion|alegria|vacio|fobia|terror)
tengo (tantas |muchas )?ganas de (llorar|gritar|morir|morirme|desaparecer|nada|vivir)
ganas de (llorar|gritar|nada|vivir) | no (puedo|logro) (mas|dormir|parar|dejar de|seguir|creerlo|superar)
no (puedo|logro) (perdonar|soportar|ni|con (mi|esto|todo)|respirar|aceptar)
no (soporto|aguanto|doy mas|tolero|paro de|dejo de (llorar|pensar)|se (como|que) (seguir|perdonar|vivir|voy)[a-z]*)
no (quiero|tengo ganas de|tengo fuerzas) (vivir|ir|estar|nada|levantarme|salir|hablar)
no (quiero|tengo ganas de|tengo fuerzas) (ver|existir|seguir|volver|para|perder) | no (tengo (con|a) (quien|nadie))
no (me (quiere|quieren|habla|hablan|entiende|entienden|animo|reconozco|perdono|gusto|importa))
no (valgo|sirvo|merezco|encajo|duermo|como)(?<! no como) | nadie (me|mas|lo|quiere|entiende|te|se)
todo (me|lo que hago)
necesito (desahogar|llorar|hablar con|un abrazo|contencion|consuelo|apoyo|animo|que (me|alguien))[a-z]*
(lloro|llore|llorando) | quiero (llorar|gritar|morir|desaparecer|matar|abandonar todo|rendir)[a-z]*
(murio|fallecio|perdi|extrano|amo|odio) (a |el |la )?mi | (perdi|extrano) (a|el|la|mucho|tanto|cuando|nuestr[oa]s?)
te extrano | (echo|hecho) de menos | odio (ser|como|todo|sentir[a-z]*)
mi ({_CLOSE_ES}) ([a-z]+ ){{0,3}}(murio|fallecio|dejo|engano|internad[oa]|enferm[oa])
mi ({_CLOSE_ES}) ([a-z]+ ){{0,3}}(muriendo|muere|cancer|odia|fue|miente) | mi vida | sin mi(?= [.?,]) | suicid[a-z]+
matarme | cortarme | mejor (no estar|muert[oa]|morir)
(tengo|tuve|dio|un) (un )?ataques? de (panico|ansiedad)(?<! es un ataque de panico)
que (alegria|tristeza|felicidad|bronca|rabia|verguenza|nervios)
que (emocion|alivio|angustia|coraje|impotencia|ilusion|orgullo)
se me (acelera|parte|rompe|vino|viene|cae|caen|hace un nudo|llenan|fue|murio|va|cierra|estruja|encoge)
(un|una) (vacio|infierno) | corazon (roto|en la boca|acelerado|partido|a mil|destrozado)
(burlan|rien|aprovechan) de mi | orgullos[oa] de | feliz de
soy (un|una) (fracaso|fracasad[oa]|inutil|desastre|idiota|mal[ao]?|carga|estupid[oa]|tont[oa]|basura|cobarde)
miedo (a|de) | nunca (voy a|nadie|mas (voy|volvere)|podre|me) | siempre me | por que (siempre )?(me|a mi)
(peor|mejor) dia de mi | (el|un) bajon
(dia|semana|noche|momento|ano|racha) (horrible|espantos[oa]|terrible|de mierda|dificil|dur[oa]|fatal|del orto|de perros)
"""

_FELT_EN = """(sad|happy|happier|depress[a-z]*|anxious|nervous|scared|afraid|terrified|worried|stressed|overwhelmed\
|tired|exhausted|lonely|alone|angry|furious|mad|pissed|upset|hurt|hurting|heartbroken|devastated|broken|crushed\
|frustrated|numb|disappointed|ashamed|embarrassed|guilty|jealous|envious|proud|grateful|relieved|excited|thrilled\
|ecstatic|hopeless|livid|helpless|worthless|useless|empty|lost|miserable|homesick|bored|burn(t|ed) out|unhappy|drained\
|desperate|bitter|insecure|humiliated|betrayed|abandoned|rejected|unloved|unwanted|disgusted|torn|shattered|panicking\
|paranoid|restless|on edge|overjoyed|gutted|struggling|suffering|grieving|drowning|spiral[a-z]*|crying|shaking\
|freaking|fed up|sick (of|to)|done with|in (love|tears|pain|shock|a bad place|a dark)|going through|falling (apart|in\
|out|for)|breaking (down|apart)|losing (it|my|hope)|at (my|the end|breaking|rock)|over the moon|going (crazy|insane\
|mad)|dreading|having a (hard|rough|tough|bad|panic|breakdown|terrible|mental)|dying inside|a (failure|mess|burden\
|loser|wreck|disappointment|terrible|bad|horrible)|blessed|low|down)"""

_VERY_EN = """(so|very|too|really|just|pretty|quite|extremely|absolutely|totally|completely|a|bit|little|still|always\
|more|than|ever|feeling|kind|sort|of|such|also|deeply|truly|getting|honestly|super|incredibly|terribly|constantly\
|beyond|all|not|worried|scared|actually|been|currently|now|already|becoming|utterly|sick|and|both|seriously\
|literally)"""

# What makes a sentence of it, behind "I" and its adverbs.
FEELING_I = f"""
(am|was|have been|get|got) ({_VERY_EN} ){{0,3}}{_FELT_EN} | am (so|too) [a-z]+ | feel(?! free) | felt
am not (ok|okay|well|fine) | am not (good enough|happy|enough) | am dying of | hate | dread | fear | regret | resent
envy | cry | cried | worry | ache | loathe | despise | panic | wish i | could (burst|scream|cry) | deserve | snapped
miss(ed)? (my|him|her|you|them|home|being) | miss(ed)? (having|us|how|what we)
(love|loved|lost|disappointed|hurt|failed|let) (my|him|her|someone|everyone|our|myself)
(can't|cannot|can not|couldn't|can barely|can hardly) (even |seem to |bring myself to )?(stand|cope|take|stop)
(can't|cannot|can not|couldn't|can barely|can hardly) (even |seem to |bring myself to )?(sleep|eat|go on)
(can't|cannot|can not) (even |seem to |bring myself to )?(breathe|believe|bear|face|forgive)
(couldn't|can barely|can hardly) (even |seem to |bring myself to )?(breathe|believe|bear|face|forgive)
(can't|cannot|couldn't|don't) (even |think i can |know how to )?(do this|keep|live|trust)
(can't|cannot|couldn't|don't) (even |think i can |know how to )?(let go|get (out|over)|look at|shake)
(want|wanted|wanna) (to )?(cry|scream|die|disappear|give up|be (alone|loved|held)|curl|hide|quit|run away)
(want|need) (someone|him|her|them|it) to
(need|needed) (someone|to talk|to vent|a hug|a shoulder|a friend|comfort|to let)
(don't|do not) (want to|know (how|who|what|if|why)) (i |to )?(live|wake|be|go|cope|turn|talk)
(don't|do not) (want to|know (how|who|what|if|why)) (i |to )?(get|feel|keep|do with|exist|lose)
don't (feel|belong|deserve|matter|have anyone|recognize|love|like (myself|who)|see the point) | never (want|felt|should)
have (no one|nobody|no friends|panic|nightmares|lost all) | have been (crying|struggling|so|hiding|dreading)
got (dumped|fired) | think (i'm|i am|everyone|nobody|about (dying|death|ending)) | keep (crying|thinking|having|waking)
have never (felt|been)
"""

FEELING_EN = f"""
i ((just|really|still|never|only|also|even|always|honestly|simply|so) )*{prefix_tree(FEELING_I)}
(i'm|im|i've been|we're|feeling|am i) ({_VERY_EN} ){{0,3}}{_FELT_EN} | (i'm|im) (so|too) [a-z]+
i'm not (ok|okay|well|good|fine) | (i'm|im) (not )?(happy|enough|doing well|dying of)
(i'm|im) (not )?(missing (him|her|my|you)|a nervous|the (luckiest|happiest|worst)|petrified)
i've (never felt|never been|lost all|been (crying|struggling|so|hiding|dreading)) | am i a (bad|terrible|horrible)
(it|that|this) (really |still |just )?(hurts|hurt|kills|breaks|is killing) (?!performance)[a-z]+ | it's killing me
still (hurts?|miss) | since (he|she|they|we|you|my [a-z]+) (died|left|broke up|passed)
put (my|our) ([a-z]+ )?(cat|dog|pet) down | without me
how (do|can) i (stop|get over|forgive|move on|cope) (hating|feeling|thinking|being|crying|missing)
how (do|can) i (stop|get over|forgive|move on|cope) (loving|him|her|myself|from|with)
(everything|nothing|it all|life) (feels|is (pointless|hopeless|meaningless)|hurts) | no friends | what's wrong with me
my ({_CLOSE_EN}) ([a-z']+ ){{0,3}}(died|passed|left|cheated|dumped|hates?|doesn't)
my ({_CLOSE_EN}) ([a-z']+ ){{0,3}}(broke|dying|falling|sick|ill|never|hospital)
(left|dumped|ghosted|hurt|bullied|laughed at|lied to|betrayed) me
(humiliated|abused|hit|used|rejected|replaced|fired|ignores?) me
(cheated on|broke up with|walked out on|yelled at|screamed at|making fun of) me
(gave up on|mad at|angry at|furious with|left) me
(nobody|no one|no-one|everyone|everybody|people) (loves|likes|cares|hates|understands|listens|would|wants|keeps?|showed)
(scares|terrifies|hurts|kills|worries|upsets|stresses|breaks|bothers|haunts|makes|made|making|killing|tearing) (me|us)
makes my (skin|heart|blood|stomach) | (a|my|having|had) (panic|anxiety) attacks?(?<! is a panic attack)
(my|her|his) anxiety | break(s|ing)? my heart | broke my heart | my heart | tears of | crying | in tears | heartbroken
suicidal | end it all | why (am i|do i (always|feel|keep|hate)|does (everyone|nobody|no one)|can't i) | kill myself
hurt myself | end my life | self-?harm | (hate|blame|forgive|proud of|ashamed of|lost) (myself|my (life|body|job))
worst (day|night|week) (of|in) my | (best|happiest|hardest|saddest) (day|moment|time|year|thing) (of|in) my
"""

_FEELING = phrases(FEELING_ES, FEELING_EN)

# Someone who speaks of themselves or of those close to them, asks nothing and wants nothing made, wants to be heard.
# Characters; longer than this, a message that asks nothing is material to work on.
_SPOKEN = 600

_CLOSE = phrases(f"mis? ({_CLOSE_ES}) | my ({_CLOSE_EN})")
_MYSELF = phrases(
    """
mi | mis | me | yo | conmigo | nos | estoy | soy | tengo | siento | vivo | voy a | ando | quiero | odio | amo | extrano
pienso | creo que | fui | perdi | no [a-z]+o | nada tiene sentido | no vale la pena | sin ganas | que [a-z]+ que soy
lloro | we | our | us | i | i'm | i've | i'd | my | myself | we're | im | life is | nothing makes sense | it hurts
there's no point
"""
)
_ASSIGNMENT = phrases(
    """
usando | trabajando | tratando de | intentando | aprendiendo | estudiando | escribiendo | desarrollando | programando
entiendo | quiero (saber|entender|aprender|hacer|crear|leer|que|una?|escribir|usar) | necesito | quisiera | gustaria
por favor | ayudame | me ayudas | ayudeme | explic[a-z]+ | escrib[a-z]+ | traduc[a-z]+ | resum[a-z]+ | calcul[a-z]+
dame | deme | deci(me)? | dime | contame | mostrame | recordame | recorda | haceme | hazme | dar(me)? | lista[a-z]*
codigo | error | archivo | funcion | como (se|puedo|hago|hacer|puede) | que (es|son|significa|hace) | cual es
recomend[a-z]+ | suger[a-z]+ | suponga[a-z]* | imagina[a-z]* | ejemplos? | defin[a-z]+ | using | trying to | working on
learning | studying | writing | building | understand | need | want (to|a|an|you) | would like | explain | write
rewrite | translate | summarize | calculate | give | tell | show | list | help | code | file | function
how (to|do|does|can|is) | what (is|are|does) | which | please | recommend | suggest | suppose | imagine | examples?
define | describe | compare | convert | solve | generate | create | remind | let's | act as | you are | answer | fix
project | app
"""
)


def emotional(text: str) -> bool:
    """Does plain `text` tell how its author is, so that an answer made for someone else would wound?"""
    if not all(map(about_language, {sentence(text, hit.start()) for hit in _FEELING.finditer(text)})):
        return True
    if " ? " in text or len(text) > _SPOKEN or about_language(text):
        return False
    return _CLOSE.search(text) is not None or (_MYSELF.search(text) is not None and not _ASSIGNMENT.search(text))
