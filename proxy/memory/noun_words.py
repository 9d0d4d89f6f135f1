"""The words by which `nouns` tells where a noun phrase begins and ends, English and Spanish: folded, lower case."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from proxy.language.phrases import words
from proxy.types.memory import Language


@dataclass(frozen=True, slots=True)
class NounWords:
    """What surrounds the noun phrases of a language."""

    determiners: frozenset[str]  # a noun phrase begins behind them
    prepositions: frozenset[str]  # and behind these
    links: frozenset[str]  # prepositions that bind a complement to the noun before: "of", "de"
    takers: frozenset[str]  # verbs whose object follows without a determiner: "use", "tengo"
    closed: frozenset[str]  # no part of a noun phrase: pronouns, auxiliaries, adverbs, conjunctions
    verbs: frozenset[str]  # forms of verbs, some of them nouns elsewhere: behind a noun they end the phrase
    nouns: frozenset[str]  # end like a verb, and are none
    vague: frozenset[str]  # stand for anything: "thing", "tema"
    trailing: frozenset[str]  # never the last word of a phrase: "new", "mismo"


# --- Spanish ---------------------------------------------------------------------------------------------------------

_INFINITIVES_ES = """
abrir aceptar acabar aguantar ahorrar alcanzar alquilar andar anotar aparecer aprender armar arreglar atrasar aumentar
avisar ayudar bajar bastar borrar buscar cambiar cansar cargar casar celebrar cenar cerrar chequear cobrar cocinar
comer
comprar conectar confirmar congelar conocer contar contratar controlar convenir convencer correr costar crear cubrir
cuidar cumplir dar deber decidir decir dejar demorar depender devolver doler dormir durar elegir empezar encontrar
ensenar entender entrar entregar enviar escribir escuchar esperar estar estudiar existir faltar fallar firmar funcionar
ganar gastar guardar gustar haber hablar hacer importar incluir instalar intentar interesar ir jugar leer llamar llegar
llevar mandar manejar marcar mejorar meter mirar molestar mostrar mover necesitar ofrecer oir olvidar organizar pagar
parar parecer pasar pedir pensar perder permitir pesar poder poner preferir preguntar preocupar preparar probar
prometer pujar quedar querer quitar recibir recomendar recordar repartir repasar responder romper saber sacar salir
seguir sentir ser servir simular soler sonar subir sufrir sumar tardar tener terminar tirar tocar tomar trabajar traer
usar valer vencer vender venir ver viajar vivir volver
"""
_IRREGULAR_ES = """
conviene convienen cuesta cuestan cuento cuenta cuentan da dan di dice dicen diga duele duelen duerme duermen devuelve
devuelven debo empieza empiezan encuentra encuentran entiendo es eran era esta estan fue fueron fuera gusta gustan ha
hace hacen haga hago han hay hice hizo juega juegan muestra mueve oye pide piden pienso piensa pierde pone ponen ponga
pongo prefiero prefiere prueba puede pueden puedo puse puso queda quiere quieren quiero recomendas recomiendas
recomienda repito salen sale salgo se sea sean sera seria sigo sigue siguen sirve sirven somos soy sean suele suelen
suena supe tarda tenga tengan tengo tiene tienen trae traen traigo tuve tuvo va vale valen vamos van vaya vengo viene
vienen voy vuelve vuelven vuelvo he has hemos dijo dije pidio dio vi vio ve ven sabe saben se cierra cierran abre abren
"""


def _forms_es() -> Iterator[str]:
    for infinitive in _INFINITIVES_ES.split():
        stem, ending = infinitive[:-2], infinitive[-2:]
        yield infinitive
        endings = (
            "o as a amos an aste aron e en aba aban" if ending == "ar" else "o es e en imos emos iste ieron ia ian"
        )
        yield from (stem + each for each in endings.split())
    yield from _IRREGULAR_ES.split()


_ES = NounWords(
    determiners=words("""
el la los las un una unos unas mi mis tu tus su sus nuestro nuestra nuestros nuestras este esta estos estas ese esa esos
esas aquel aquella aquellos aquellas algun alguna algunos algunas ningun ninguna cada otro otra otros otras varios
varias muchos muchas pocos pocas ambos cuanto cuanta cuantos cuantas que al del dos tres cuatro cinco seis siete ocho
nueve diez doce quince veinte treinta
"""),
    prepositions=words("de en con para por sin sobre a desde hasta entre contra segun tras como"),
    links=words("de del en con para sin a al por contra entre sobre"),
    takers=words("""
tengo tenemos tiene tienen hay uso usamos usar quiero queremos necesito necesitamos busco buscamos hago hacemos hacer
compro comprar preparo preparar armar agregar crear escribir
"""),
    closed=words("""
yo vos ella ellos ellas usted ustedes nosotros me te se lo le les nos os que quien quienes cual cuales donde cuando
como cuanto si no ni y e o u pero aunque porque pues mientras ya muy mas menos tan tanto tambien tampoco siempre nunca
jamas hoy ayer manana ahora luego antes despues entonces aqui aca ahi alli alla asi bien mal casi solo aun todavia
quizas capaz igual ademas apenas mucho poco nada algo alguien nadie todo toda todos todas cualquier encima debajo
dentro fuera lejos cerca arriba abajo adelante atras gracias hola perdon favor che dale ok bueno buenas listo genial
perfecto barbaro buenisimo claro jaja jajaja eh ah uf ay uy tipo mismo eso esto aquello demas segun durante via
junto
"""),
    verbs=frozenset(_forms_es()),
    nouns=words("""
lugar lugares bar mar hogar taller alquiler mujer par celular auxiliar familiar dolar azucar collar militar similar
regular popular particular escolar singular ejemplar pilar altar radar solar titular lider poster placer poder server
docker router cluster parking marketing running streaming ranking camping dia dias energia garantia bateria economia
guia via categoria panaderia comida compania policia cafeteria libreria familia alergia joyeria ferreteria
orden examen imagen margen joven volumen origen resumen virus lunes martes miercoles jueves viernes mes pais ingles
frances interes estres sur este oeste cafe bebe te cafes noche tarde base clase llave nube leche madre padre coche
imagenes
cumple carne parte nombre peque deporte transporte viaje informe equipaje
"""),
    vague=words("""
cosa cosas tema temas manera forma vez veces rato poco parte lado caso idea ideas duda dudas problema verdad pregunta
ayuda momento tipo algo onda rollo favor todo resto dia noche tarde lastima cuenta gente final finde lugar
espanto desastre lio relajo locura
"""),
    trailing=words("""
mismo misma mismos mismas nuevo nueva nuevos nuevas otro otra buen gran primer tercer mejor peor primero segundo ultimo
ultima ultimos ultimas
"""),
)

# --- English ---------------------------------------------------------------------------------------------------------

_EN = NounWords(
    determiners=words("""
the a an my our your his her its their this that these those some any each every no both all another other which
what one two three four five six seven eight nine ten twelve twenty fifty few several many more most
"""),
    prepositions=words("""
of for in on with about between from without at by into over under after before during against per around
behind beside near across through along above below
"""),
    links=words("of for in with without from about on between at against"),
    takers=words("""
need needs want wants use uses using prefer have has had get add adding make making fix fixing build building write
writing find finding create creating prepare preparing handle handling implement implementing improve improving do
doing run running plan planning cook cooking buy buying learn learning book booking pack packing set test testing
organise organising organize organizing love include including optimize optimizing calculate calculating cover is are
"""),
    closed=words("""
i you he she it we they me him us them myself yourself itself who whom whose what which when where why how that if
whether because since although though while so and or but nor not never always often sometimes usually just also too
very really quite still already yet again soon later then now here there today tomorrow yesterday tonight only even
ever maybe perhaps instead rather else please thanks thank hi hello hey ok okay yes yeah no wow great good nice cool
awesome sure well lol haha is are was were be been being am do does did doing done have has had having will would can
could should shall may might must cannot can't don't doesn't didn't won't i'm i've i'll i'd we're we've we'll it's
that's there's they're you're let's isn't aren't wasn't to up down out off away back together much more less least
actually probably honestly anyway once both either neither such own etc gonna wanna got get gets getting
as than like everything something anything nothing everyone someone anyone nobody
"""),
    verbs=words("""
accept accepts add adds agree agrees allow allows appear appears apply applies ask asks become becomes became begin
begins began break breaks broke bring brings brought buy buys bought call calls came come comes connect connects
contain contains cost costs cover covers cut cuts deal decide decides deliver delivers depend depends describe
describes die dies eat eats end ends enjoy enjoys exceed exceeds exist exists expect expects explain explains fail
fails fall falls fell feel feels felt find finds fit fits fly flies follow follows found gave give gives go goes
goin gone grow grows
grew happen happens hate hates hear heard help helps hold holds include includes involve involves keep keeps kept knew
know knows last lasts learn learns leave leaves left let lets lie like likes live lives look looks lose loses lost love
loves made make makes matter matters mean means meet meets met mention mentions move moves need needs offer offers open
opens own owns paid pay pays pick picks play plays prefer prefers provide provides pull put puts rain ran read reads
receive receives remain remains remember remembers require requires return returns rule rules run runs said sat saw say
says see sees seem seems sell sells send sends sent set sets settle settles shift show shows shut sit sits sleep sleeps
sold sound sounds speak speaks spend spends spent stand stands start starts started stay stays stick stop stops suggest
suggests suit take takes taste tastes teach tell tells think thinks thought told took tried tries try turn turns
understand use uses wait waits walk want wants change changes share shares relate relates stated sum watch watches
states equals
went win wins wish won wonder work works write writes wrote
"""),
    nouns=words("""
feed bed seed speed shed meeting building training wedding parking pricing marketing running booking hearing ceiling
evening morning painting recording listing housing clothing lightning rating ranking mapping logging caching testing
handling monitoring engineering programming styling cooking dressing topping serving landing
family italy reply supply assembly monthly weekly daily early july friendly
"""),
    vague=words("""
thing things way ways lot lots bit kind kinds sort idea ideas help time times question questions stuff case point
part parts kinda anything something fact sense guy guys people person example examples code issue issues problem
problems day today luck look chance while moment rest side end start best tips advice
"""),
    trailing=words("""
new better best good bad big small great same own other first last next more most few many much real whole different
specific certain following few several full early late able sure
"""),
)

# Of dates and amounts, in both languages.
MEASURES = words("""
lunes martes miercoles jueves viernes sabado sabados domingo domingos enero febrero marzo abril mayo junio julio agosto
septiembre setiembre octubre noviembre diciembre dia dias semana semanas mes meses ano anos hora horas minuto minutos
segundo segundos peso pesos euro euros dolar dolares mil millon millones kilo kilos gramos litro litros metro metros
kilometro kilometros km kg personas mensuales mensual diario diarios semanal por ciento vez veces total
monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september
october november december day days week weeks month months year years hour hours minute minutes second seconds dollar
dollars pound pounds euro cents thousand million mile miles inch inches feet foot percent weekly monthly daily
""")

NOUN_WORDS: Mapping[Language, NounWords] = MappingProxyType({"en": _EN, "es": _ES})
