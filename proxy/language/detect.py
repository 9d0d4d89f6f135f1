"""Is a user's question Spanish or English? Decided by the words that sentences are made of.

A word speaks for every language that has it, so that neighbours rule each other out: `como funciona a energia` could be
Spanish and Portuguese, and is neither until another word tells. Only Spanish and English are ever the verdict; the
other tables are there to outvote them. Names, quoted words and code have no say.

Tables rather than a library. On the evaluation data and on short questions as they are typed, py3langid 0.4 (4.6 MB)
leaves a quarter of the short ones undecided, pycld2 0.42 takes one question in fifty for the other of the two, and
lingua 2.1 is 96 MB.
"""

import re
from collections import defaultdict
from collections.abc import Mapping
from typing import Literal

Language = Literal["es", "en"]

_ES = """
a al algo alguien algun alguna algunos algunas antes aqui aca asi aun aunque bajo bien cada casi como con contra cosas
cual cuales cualquier cuando cuanta cuantas cuanto cuantos cuál cuáles cuándo cuánta cuántas cuánto cuántos cómo qué
quién quiénes dónde adónde de del desde después despues donde durante e el él ella ellos en entre era eran es esa ese
eso esos esas esta este esto estos estas está estan están estar estoy fue fueron gracias ha hace hacer hacen haces
hacés hago hacia han hasta hay haya he hola hoy igual la las le les lo los luego mal mas más me mejor menos mi mis
mismo mucha muchas mucho muchos muy nada ni no nos nosotros nuestra nuestro nunca o os otra otras otro otros para pero
poco por porque porqué pueda puede pueden puedes puedo podés podes podrías podrias podría podria pude primer primera
primero que quien quienes quiere quieres querés quiero sabe sabés sabes saber se según segun sea ser será sería si sí
sido sin siempre sirve sirven sobre sola solo son soy su sus también tambien tampoco tan tanto te tenés tenes tener
tengo tenemos tiene tienen tienes tipo tipos todo todos toda todas tu tus tuve un una uno unas unos usar usa uso usted
ustedes va vale van veces vez vos voy y ya yo q xq porq tmb pq kiero komo agua alcohol aprendizaje archivo argentina
años anos año auto banco base caja calorias calorías capital carro casa ciudad código codigo cocina color comer comida
comprar computadora cuenta cuesta cuestan curso dame da dar debe deben debería deberia deberías debo decime dice dicen
dime define definí definir derecho derechos diferencia diferencias digo dinero días dias día dia dólar edad efectos
ejemplo ejemplos empresa energía energia error escribe escribí escribime escribir escribió existe existen explica
explicame explicá explicáme explícame explicar falta fecha forma formas francia funciona funcionan ganó gano gatos
gato gobierno guerra haceme hice hizo historia hombre horas idioma ideas inglés ingles inventó invento jugar leche ley
libro libros lista llama llaman llamar llevar lugar luz madre manera mano mayor mañana mejores mes meses mujer mundo
muestra mostrame muéstrame nació nacio niño niños nombre número numero necesita necesitas necesitás necesito ordenar
padre país pais países paises palabra pareja pasa perro perros persona personas peso población poblacion poner
presidente precio pregunta problema programa pueblo queda quedan quita receta recomendame recomiendas recomendás
recomiéndame resumen resumí resume resumime saca sacar saco salud sangre siglo significa significado sinónimo segunda
sistema poema corto corta quisiera enséñame enseñame hacelo azúcar azucar síntomas sintomas sol sueldo tabla tarda
tardan tarjeta temperatura tiempo tierra trabajar trabajo traducí traduce traducime tradúceme usan usas usás vacuna
vacunas venta ventajas ver vida viajar viaje vino vivir contame cuéntame contá hablame háblame decí pasame pásame
enumerá enumera nombrá nombra calculá calcula convertí convierte compará ayuda ayudame ayúdame
"""

_EN = """
a about above after again against all also always am among an and another any anyone anything are aren't around as ask
at away be because been before being below best better between both but by can can't cannot come could couldn't did
didn't do does doesn't doing don't dont down during each either else enough ever every everyone everything explain few
find for from further get gets getting give go goes going good got had has hasn't have haven't having he he'd her here
hers herself hi hello hey him his how how's hows however i i'd i'll i'm im i've ive if in instead into is isn't isnt
it it's its itself just keep kind know lets let let's like likely list long look made make makes many may me mean
meaning means might mine more most much must my myself name need needs never next no nor not now of off often old on
once one ones only or other others our ours out over own per please pls plz possible put recommend same say says shall
she should shouldn't show since so some someone something soon still stop such suggest sure take takes tell than thank
thanks that that's thats the their theirs them then there there's these they they're thing things think this those
though through to too try two u under until up upon ur us use used uses using very want wants was wasn't way ways we
well went were weren't what what's whats when when's where where's wheres whether which while who who's whom whose why
will with within without won't wont work works would wouldn't write writes wrote year years yes you you'd you're
you've your yours actor advantages age airport alcohol author average bad become battery benefits big black book books
born build buy called calories car cars cat cats cause causes change city code color colour company compare computer
convert cost costs country countries create culture day days death definition define describe died difference
differences different disadvantages dog dogs drink earth eat effect effects email energy example examples exist exists
fast fastest feature feet file first food form fly fox free friend friends game girl government grow grams happen
happened happens health help height high history home hour hours house human i.e idea india invented job joke kids
language largest learn left legal legs life light live located longest lose love machine main man marry meet mobile
money movie movies mother music names new number online opposite order part past people person phone places planets
play poem population pound president price purpose question questions quickly read reason recipe right rules run safe
safely salary science seasons second side sides similar skills small software song sort start state states stay
stories story study subscription summarise summarize symptoms synonym system tall team teach tense test three time
translate travel type types understand university value vegetable version visa vs war water weight white win windows
woman won word words world worst france weather alarm alarms reminder reminders capital artist women girls
boy boys dead dying alive true false fake legal illegal humans survive produce respect prefer deserve younger stars
animals plants birds fish snakes believe eyes happy sad evil god devil healthy racist smoke smoking swim eating
drinking sleep sleeping dream dreams kill hate loves married wife husband brother sister father children teeth skin
hair grow wear buying selling walk website websites gay muslim american indian australian
"""

# Only what could be taken for Spanish or English: a language with other letters, or with none of their words, is
# undecided anyway. Galician and Romanian, Dutch and the Scandinavian languages count as one each.
_NEIGHBOURS = {
    "pt": """
    a ao aos as até algum alguma bem boa bom cada com como contra da das de dela dele depois do dos e é ela ele eles
    em entre era essa esse esta está estou este eu explica explique fala falar faz fazer faço fez ficar fica foi fui
    gato gatos há isso isto já lá lhe mais mas me melhor meu meus minha minhas muito muitos na não nas nem no nos
    nós num numa o onde os ou para pela pelas pelo pelos pode podem posso por porque porquê preciso qual quais
    quando quanto quantos quantas quanta que quem quero se sem ser será seu seus são só sobre sua suas também tem
    têm tenho ter todo todos toda tudo um uma umas uns vai você vocês vou à às ano anos agua água capital casa
    cidade coisa comer dia dias diga diferença dinheiro energia escreva funciona funcionam faça fazendo guerra
    historia história idade língua lista livro livros mundo mulher nome palavra país pessoa pessoas pão poema
    presidente quer receita resuma resumo significa signi sintomas sinônimo sistema solar temperatura tempo tipo
    tipos trabalho usar vida virus fim define defina roupa tirar mar melhores cozinhar café inventou traduza mostre
    dê liste conte ajuda preço o-que con en cal cales unha un unhas dun dunha cando canto canta cantos cantas quen
    hai moi máis son pódese coa co polo pola fixo facer nai ten teñen""",
    "it": """
    a ad agli ai al alla alle allo anche ancora avere bene c'è che chi ci ciò come con cosa cos'è così cui da dai
    dal dalla dalle degli dei del della delle dello devo di differenza dimmi dopo dove dov'è due e è ed era esiste
    essere fa fanno fare fatto fra funziona gatti gatto gli ha hai hanno ho i il in io la le lei lo loro lui ma mai
    me meglio mi mia mio molto ne nel nella nelle nello nei no noi non nostro o ogni ora parola per perché perchè
    perche più piu poi posso può puoi possono prima quale quali quando quanta quante quanti quanto quel quella
    quelli questa questo qual quest qualcosa sa sei senza se si sia sono spiega spiegami sta stato su sua sugli sui
    sul sulla suo te ti tra tu tutti tutto un un' una uno vi vita vuoi anno anni acqua capitale casa città giorni
    guerra lingua mare mondo pane persona persone poesia ricetta scrivi significa sintomi sistema tempo tipi traduci
    trova vino vuol dire mangiare dell all nell sull l'influenza influenza migliore vacanza lavoro soldi sole""",
    "ca": """
    a al als amb aquest aquesta això avui bé cada com cóm de del dels des on només després diferència dir em en és
    era es està estan els el ella ell entre explica explica'm fa fan fer ha haver han hi i ja la les li llengua
    llibre lo meu meva millor molt molta molts més me m'agrada no o per perquè però perque pot poden puc podeu què
    qual quan quant quanta quants quantes que qui quin quina quines quins sense ser serà seva seu si són sóc sobre
    també te té tenen tenir tinc tot tots tota totes tu un una uns unes va van vaig vol vull ni dona dona'm fes
    escriu ciutat país casa aigua anys any capital món home pa pis significa funciona costa existeix gats temps""",
    "fr": """
    a à ai aller alors as au aucun aussi autre aux avait avec avez avoir beaucoup bien bon c'est ça car ce cela ces
    c'était cette chat chats chaque chez combien comme comment d'un d'une dans de des depuis deux dire dois doit du
    elle elles en entre est est-ce et était êtes être eu fait faire faut femme font france gens guerre homme il ils
    j'ai je jour jours jusqu l'on la là le les leur leurs lui ma mais me meilleur même mes moi moins mon monde mot
    n'est ne ni nom non nos notre nous on ont où ou par pas pays pendant personne petit peu peut peux plus pour
    pourquoi pouvez puis quand quatre que qu'est qu'est-ce quel quelle quelles quels qui quoi sa sans se sera ses si
    soit son sont sous suis sur ta tes toi ton tout toute tous très trouve tu un une va vais vers veut veux vie vin
    vivre vos votre vous y histoire eau capitale chien temps mange manger fonctionne différence signifie symptômes
    pain écris explique expliquez résume traduis donne donne-moi recette""",
    "de": """
    ab aber als also am an auch auf aus bei beim bin bis bitte brot da damit dann das dass dein dem den denn der des
    die dies diese dieser dieses doch du durch ein eine einem einen einer eines er erkläre es für gegen gibt gut
    haben hat hatte hauptstadt hier ich ihm ihn ihr im in ist ja jahr jahre kann kannst katzen kein keine können
    leben liegt macht machen man mehr mein mich mir mit muss nach nicht noch nur ob oder ohne schreibe schreib sehr
    sein seine sich sie sind so soll tag über um und uns unter viel viele vom von vor war waren warum was wasser
    welche welcher welches wenn wer werden wie wieviel will wird wir wo wurde zu zum zur zwischen unterschied
    bedeutet funktioniert""",
    "nl": """
    aan als bij ben bent bestaat dat de deze die dit doe doet door dus een en er gaat geen geef had heb hebben heeft
    het hij hoe hoeveel ik in is je kan kunnen kun maar maak maken man me meer met mij mijn moet na naar niet nog nu
    om omdat onder ons ook op over schrijf te tegen tot tussen uit uitleggen van veel verschil voor waar waarom
    wanneer waren was wat we welke werkt wie wij woord worden wordt ze zich zijn zo zonder zou af alla att bara blev
    den der det där du efter eller ett fra från för han har hon hur hva hvad hvem hvor hvordan hvorfor i ikke inte
    jag jeg med men mellan mellem mig min mit mycket någon när och og på sig ska skal som till til und vad var
    varför vem vi vid være är år""",
    "ro": """
    a ai al ale am ar are această acest aceasta asta au ca că când câți cât câte care ce cine cu cum cui de din după
    e ea ei el este eu exista există face fi fost în între la le lui mai mea meu mi nu o pe pentru pot poate prin sa
    să se sunt și si sau unde un una unei unui va""",
}

_ENDINGS = {  # of words in no table, and only of long ones; as typed, so with and without accents
    "es": (
        "ero era eros eras ción ciones miento mientos dad dades ísimo ísima eza anza ería ología grafía éis áis ás és "
        "ís ó é í illo illa illos illas ito ita ando iendo arlo erlo irlo arse erse irse arme arte ñas ñar ños ño ña "
        "cion aje ajes"
    ),
    "en": (
        "tion tions sion sions ing ings ness ment ments ity ities ally edly ly ed ght ough ck cks ful less able ible "
        "ism ists ous y ies ee ees eed eep ook ool oot ood ss th ths sh n't 's ers wn ow ows ays oys ngth"
    ),
    "pt": "ção ções são sões dade dades mento mentos agem ão ões ãe inho inha ando endo am em ês",
    "it": (
        "ero era eri ere zione zioni mente tà mento menti ggio ezza anza etto etta ino ina ando endo ità ucci essa nne"
    ),
    "ca": "ció cions tat tats ment ments atge eix itat ència",
    "fr": "ment ments té eau eaux eux euse ois oir ère ée ées ique isme ains sson",
    "de": "ung ungen keit heit lich isch schaft ieren chen tzt ß",
    "nl": "ijk heid ingen aat oek uur isch ør ög ät",
    "ro": "ție ului ilor ească ția ții",
}
_LONG = 5  # letters of a word that is told by its ending: shorter Spanish ones end in "y" too

# What a word adds to the score of each language that has it.
_ONLY = 3  # no other one has it
_BY_ENDING = 2  # no other one has words that end so
_SHARED = 1
_OPENING = 2  # times as much where the text begins: "Traducime hello world"
_BY_MARK = 6  # for Spanish: but for Galician, no neighbour writes an opening mark

_ENOUGH = 3
_CLEARLY = 2  # times what speaks for the other of the two: else the text is mixed
_EDGE = 1000  # characters of either end that are read: a question stands before or after what was pasted with it

_QUOTED = re.compile(
    r"```.*?(?:```|\Z)|`[^`\n]+`|\"[^\"\n]{1,200}\"|“[^”\n]{1,200}”|«[^»\n]{1,200}»"
    r"|(?<!\w)'[^'\n]{1,80}'(?!\w)|(?<!\S)\S{0,80}(?:[_\\/=<>{}$@]|\w\.\w{2})\S*",
    re.DOTALL,
)
_MARKS = frozenset("`\"“«'_\\/=<>{}$@")  # of what is quoted or is code; looking for none costs nothing
_WORD = re.compile(r"[^\W\d_]+(?:['\u2019\-][^\W\d_]+)*")
_SPANISH_MARK = re.compile(r"[¿¡ñ]")
_CODE_MARK = re.compile(r"[{}\[\];=<>|*\\]|\w\(")
_CODE_LINE = re.compile(
    r"^\s*(?:(?:import|from|def|class|const|var|sudo|git|npm|pip|docker|kubectl|curl) [\w.\-]+|SELECT )", re.MULTILINE
)


def _speakers(tables: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    speakers: defaultdict[str, list[str]] = defaultdict(list)
    for language, table in tables.items():
        for entry in dict.fromkeys(table.split()):
            speakers[entry].append(language)
    return {entry: tuple(languages) for entry, languages in speakers.items()}


_WORDS = _speakers({"es": _ES, "en": _EN, **_NEIGHBOURS})
_WORD_ENDINGS = _speakers(_ENDINGS)
_LONGEST_ENDING = max(map(len, _WORD_ENDINGS))


def language(text: str) -> Language | None:
    """The language of a question; None for any other one, for a mixture, for code, and in doubt."""
    if len(text) > 2 * _EDGE:
        text = f"{text[:_EDGE]}\n{text[-_EDGE:]}"
    marks = len(_CODE_MARK.findall(text))
    if not _MARKS.isdisjoint(text) or "." in text[:-1]:
        text = _QUOTED.sub(" ", text)
    words = _WORD.findall(text)
    if not words or 2 * marks > len(words) or _CODE_LINE.search(text):
        return None
    if not text.isupper():  # then capitals are acronyms or keywords
        words = [word for word in words if len(word) == 1 or not word.isupper()]
    score = {"es": _BY_MARK if _SPANISH_MARK.search(text) else 0, "en": 0}
    for position, word in enumerate(word.lower().replace("\u2019", "'") for word in words):
        speakers, weight = _WORDS.get(word), _ONLY
        if speakers is None:
            speakers, weight = _by_its_ending(word), _BY_ENDING
        for speaker in speakers:
            counts = weight if len(speakers) == 1 else _SHARED
            score[speaker] = score.get(speaker, 0) + counts * (1 if position else _OPENING)
    return _verdict(score)


def _by_its_ending(word: str) -> tuple[str, ...]:
    if len(word) >= _LONG:
        for length in range(_LONGEST_ENDING, 0, -1):
            speakers = _WORD_ENDINGS.get(word[-length:])
            if speakers is not None:
                return speakers
    return ()


def _verdict(score: dict[str, int]) -> Language | None:
    spanish, english = score.pop("es"), score.pop("en")
    best, other = max(spanish, english), min(spanish, english)
    if best < _ENOUGH or best < _CLEARLY * other or best <= max(score.values(), default=0):
        return None
    return "es" if spanish > english else "en"
