"""The tables of Spanish that questions are compared by; what each is for is told in `lexicon`."""

from proxy.reuse.lexicon import Lexicon, groups, kinds, rewrites, shorthand, sounds, suffixes, words

_CHAT = """
que q k ke qe
como komo cmo
cual kual
cuales kuales
cuando kuando cdo
cuanto kuanto
cuantos kuantos
cuanta kuanta
quien kien
quiero kiero
porque pq
hay ay
hace ase hase ace
hacer aser haser
hago ago
haber aver
donde dnd dond
debe deve
debo devo
deberia deveria
desde dsd
para pa pra
esta sta
bien vien
tiempo tpo
puedo puedoo
"""

_UNITS = """
kilogramo kg kgs
gramo g gr grs
miligramo mg
kilometro km kms
centimetro cm
milimetro mm
nanometro nm
metro m mt mts
mililitro ml
litro l lt lts
kilobyte kb
megabyte mb
gigabyte gb
terabyte tb
hora h hr hrs hs
minuto min mins
segundo s seg
am am
pm pm
onza oz
libra lb lbs
pie ft
watt w
kilowatt kw
hertz hz
"""

_FUNCTION = """
a aca actualmente adonde ahi al algo alguien algun alguna algunas alguno algunos alla alli aquel aquella asi bajo
basicamente cada como con conviene cosa cosas cual cuales cuando cuanta cuantas cuanto cuantos cuyo d de debe
debemos deben deberia deberian deberias debes debo del dentro desde donde durante e el ella ellas ello ellos en
entre era eran es esa esas ese eso esos esta estan estar estas este esten esto estos estoy exactamente existe
existen fue fuera fueron gente ha haber habia hace hacen hacer haces hacia haga hagan hago han hasta hay haya hayan
he hecho ir la las le les lo los me mediante mi mia mientras mio mis misma mismo muy necesita necesitan necesitar
necesitas necesito ni nos nosotros nuestra nuestras nuestro nuestros o p para pero persona personas podemos poder
podes podria podrian podrias por porque pq propia propio puede pueden puedes puedo pues q que quien quienes quiero
realmente se sea sean segun ser sera seria serian si sido siempre siendo simplemente sirve sirven sobre son su suele
suelen sus suyo tal tambien tan tanto te tener tenes tengo ti tiene tienen tienes tras tu tus tuviera u un una unas
uno unos usa usan usando usar usas uso usted ustedes va van vas vos voy x xq y yo
"""

_OPERATORS = """
masque
menosque
otro otra otros otras
no sin nunca jamas nadie ningun ninguna ninguno ningunos nada tampoco
mas mayor mayores
menos menor menores
antes
despues dsp
todo toda todos todas cualquier
solo solamente unicamente
primero primera primer
ultimo ultima ultimos ultimas
maximo maxima maximos maximas
minimo minima minimos minimas
otravez
ya
todavia aun
excepto salvo
mitad
doble
fuera afuera
contra
cada
dejarde
"""

_NUMBERS = """
0 cero
2 dos
3 tres
4 cuatro
5 cinco
6 seis
7 siete
8 ocho
9 nueve
10 diez
11 once
12 doce docena
13 trece
14 catorce
15 quince
16 dieciseis
20 veinte
30 treinta
40 cuarenta
50 cincuenta
60 sesenta
70 setenta
80 ochenta
90 noventa
100 cien ciento
200 doscientos
400 cuatrocientos
500 quinientos
1000 mil
1000000 millon millones
2nd segundo segunda
3rd tercero tercera tercer
"""

_SYNONYMS = """
comenzar empezar iniciar arrancar
comprar adquirir
arreglar reparar solucionar resolver
borrar eliminar quitar remover
tramitar sacar
grande gran
pequeno chiquito
nino chico nene nena nina
auto coche carro automovil
pelicula film
mostrar visualizar
contener incluir
rapido veloz rapidamente
foto imagen fotografia
celular movil telefono
computadora ordenador pc compu computador
diferencia diferenciar distinguir diferente
ejemplo muestra
pais nacion
madre mama
padre papa
trabajo empleo laburo
medico doctor
casa hogar
hablar conversar
aprender estudiar
ocurrir pasar suceder
ayudar asistir
conseguir obtener
peso pesar
costo precio costar coste valer salir
altura alto medir
beneficio ventaja
objetivo fin finalidad proposito
obligatorio requerir exigir pedir requisito
permitir legal
enfermedad dolencia
razon causa motivo
crear generar
cambiar modificar
remedio medicamento medicacion farmaco medicina
aumentar subir incrementar
reducir bajar disminuir
cerrar clausurar
error problema fallo falla
vacaciones feriado
viaje viajar
cocinar preparar
correo mail email
archivo fichero
clave contrasena password
tardar demorar
habitante poblacion
saber conocer
encontrar hallar
lavarropas lavadora
heladera nevera refrigerador
televisor tele television tv
boleto pasaje
departamento piso
nafta gasolina
alquilar rentar
durar duracion
utilidad servir
lindo bonito hermoso bello
dificil complicado
rico adinerado
avion aeronave
inteligente listo
peligroso riesgo riesgoso
universidad facultad
sitio web pagina
libro novela
sueldo salario
quedar permanecer
elegir escoger seleccionar
opinion parecer
basura residuo
durazno melocoton
frutilla fresa
anana pina
palta aguacate
choclo maiz
poroto frijol judia alubia
arveja guisante
banana platano
remera camiseta playera
campera chaqueta
pollera falda
bicicleta bici
insecto bicho
roca piedra
gatito minino
cachorro perrito
raro extrano
prevenir evitar impedir
mejorar perfeccionar
reconocer identificar
descongelar deshelar
abogado letrado
empleado trabajador
empresa compania firma
cliente comprador
factura boleta
descuento rebaja
consejo recomendacion sugerencia
joven adolescente
desactivar deshabilitar
activar habilitar prender encender
reiniciar reinicializar
carpeta directorio
metodo tecnica
funcion rol
consecuencia efecto impacto
afectar impactar influir
manejar conducir
permiso licencia carnet registro
canilla grifo
colectivo autobus bus omnibus
valija maleta
ropa vestimenta
pileta piscina
vereda acera
torta pastel
manteca mantequilla
crema nata
jugo zumo
lapicera boligrafo birome
anteojos lentes gafas
enojado enfadado
barato economico
caro costoso
oscurecer ennegrecer
retirar extraer
explicar aclarar
sencillo simple facil
mosquito zancudo
habitacion pieza dormitorio cuarto
"""

_SHORT = """
admin = administrador | app apps = aplicacion | aprox = aproximadamente | arg = argentina | ars = peso
auto = automovil | av = avenida | bd db bbdd = base datos | bici = bicicleta | boli = boligrafo
bsas = buenos aires | caba = ciudad autonoma buenos aires | cant = cantidad | cel = celular | cm = centimetro
cole = colegio | compu = computadora | config = configuracion | cv = curriculum | dpto depto = departamento
dni = documento nacional identidad | doc docs = documento | dr = doctor | dra = doctora | dsp = despues
mail email e-mail = correo electronico | eeuu usa = estados unidos | ej = ejemplo | fb = facebook
finde = fin semana | foto = fotografia | frac = fraccion | gim gym = gimnasio | gob = gobierno | gr = gramo
hab = habitante | hna = hermana | hno = hermano | hs hrs hr = hora | ia = inteligencia artificial | ig = instagram
imp = impuesto | info = informacion | js = javascript | k8s = kubernetes | kg kilo kilos = kilogramo
km = kilometro | lab = laboratorio | lt lts = litro | mates = matematica | max = maximo | med = medico
mins min = minuto | ml = mililitro | mm = milimetro | moto = motocicleta | mun = municipalidad
num nro nº n° = numero | onu = organizacion naciones unidas | pag = pagina | pass = contrasena
pc = computadora personal | peli = pelicula | xfa pls porfa =  | profe prof = profesor | prom = promedio
prote = proteina | refri = refrigerador | regex = expresion regular | repo = repositorio | rrhh = recursos humanos
sec = secretaria | seg = segundo | so = sistema operativo | sr = senor | sra = senora | tmb tb = tambien
tel = telefono | tele tv = television | temp = temperatura | tpo = tiempo | ts = typescript | ue = union europea
uni univ = universidad | usd = dolar | vs = versus | wifi = wi-fi | yt = youtube
"""

_FILLER = """
a abrazo abrazos aca acabo agradeceria agradecida agradecido agradezco ahi almuerzo amiga amigo anda andan andando
andas ando antemano antes apuesta aqui arrancar atenta atentamente atento atentos ayuda ayudame ayudar ayudarme
basica beso besos bien boba buen buenas bueno buenos buscando busco busque cabeza capaz casa cena che chiquita claro
colega colegio como companero con confundida confundido consulta consultar consultas consultita consulto contame
contestar cordialmente corta cortita cosa cosas crack crucigrama cualquiera curiosa curiosidad curioso dale dando
dar de decime del des desde dia dias dime disculpa disculpas disculpe disculpen discusion discutiendo discutimos
domingo duda dudas eh el empezando en encontrar encontre ensayo entender entiendo equipo es escucha escuela eso
espera espero esposa estaba estaban estas este estes estimada estimado estimados esto estoy examen existencial ey
facil facu facultad falta favor genia genio gente googleando googlee gracias grosa gusto hace hacer haciendo hago
hermana hermano hija hijo hola holis honestamente horas hoy idea idolo ilumines intentando jaja jajaja jefe jeje la
las le leer lider listo llamo lo lol los lunes mama manana mano mareado marido mas me medio mesa mi mil minuto mira
mire mmm molestar moleste molestia molesto momento muchas muchisimas muy nada necesitando necesitaria necesito nene
ni no noche noches nombre novato novia novio nueva nuevo nunca o oiga ok okay otra oye papa para pensaba pensando
pense pequena perdida perdido perdon perdona perdone pero poco podes podria podrias por porfa porfis practico
pregunta preguntar preguntas preguntita pregunto principiante profe profesora prueba pude puede puedo que queda
quedamos quedaria quede quedo queria quiero quisiera quizas rapida rapidita rapidito rara rato recien respuesta
sabado sabe saber sabes sacame sacar saludos se segundito segundo sencilla senor senora si siempre simple
sinceramente sobre sobrina sobrino son sos su tal tan tarde tardes tarea te tecnica tema temas tengo tenia tiempo
todo todos tonta toque trabado trabajo tratando trivia tu ultima un una va vengo ver verdad viernes vuelta vueltas y
ya
"""

_OPTIONAL = """
ayudar dar deber decir encontrar exactamente existir explicar funcionar haber hacer lograr mejor
nombre pasar paso poder posible querer razon realmente recomendar saber serie significar tener usar
"""

_PRAISE = """
buen bueno diferente disponible distinto interesante mejor principal
"""

_PRONOUNS = """
el_
"""

_MARKERS = """
a al antes bajo como con cuando de del desde despues durante en entre hacia hasta mientras para por porque segun si
sin sobre
"""

_CONDITIONS = """
cuando mientras porque si
"""

_ASKING = """
como cual cuales cuando cuanta cuantas cuanto cuantos donde que quien quienes si
"""

_KINDS = r"""
cada_cuanto: cada_cuanto
how_long: cuanto (?:dura|tarda|tiempo)
how_many: cuant[oa]s
how_much: cuant[oa]
difference: diferencia entre|vs|versus
why: por que
how: como
when: (?:^|(?<=, ))(?:desde |hasta |para )?cuando
where: (?:^|(?<=, ))(?:de |desde |hasta |a |por )?donde
who: (?:^|(?<=, ))(?:a |de |con |para |por )?quien(?:es)?
use: que utilidad
what: que|cual(?:es)?
when: cuando
where: donde
who: quien(?:es)?
"""

_CONTRACTIONS = r"""
\bmas o menos\b =>
\bmas (?:de|que)\b => masque
\bmenos (?:de|que)\b => menosque
\bee\.? ?uu\b\.? => eeuu
\brr\.? ?hh\b\.? => rrhh
\bp/ ? => para
\bx(?= \w) => por
\bc/ ? => con
\bs/ ? => sin
\bd/ ? => de
"""

_REWRITES = r"""
\bmas o menos\b =>
\bpor lo menos\b|\bal menos\b => almenos
\botra vez\b|\bde nuevo\b => otravez
\bdej(?:ar|o|a|as|es|e|amos) de\b => dejarde
\bademas\b|\bsin embargo\b|\bno obstante\b|\bnada mas\b =>
\bdesde ya\b =>
\ben que (?:ano|fecha|mes|dia)\b|\bque dia\b => cuando
\ben (?:que|cual) (?:ciudad|pais)\b => donde
\bcuanto (?:pesa|es el peso)\b => cuanto pesa
\ba cuanto equivalen?\b => cuanto es
\btelefonos? (?=(?:movil|celular)(?:es)?\b) =>
\b(?:hacer|ganar) (?=(?:mas )?(?:dinero|plata)\b) => ganar
\b(?:bajar|perder|reducir) (?:de )?peso\b => bajar peso
\b(?:estacion(?:es)? de servicio|gasolineras?|bencineras?)\b => gasolinera
\b(?:vinculo|conexion|nexo)(?= (?:\w+ )?entre\b) => relacion
(?: ,)? \b(?:o no|por que o por que no|si (?:es asi|no) ,? ?(?:como|por que))(?= ,|$) =>
(?<=\w)(?: y| ,) por que(?= ,|$) =>
"""

_SUFFIXES = """
aciones iciones acion icion ciones cion siones sion amientos imientos amiento imiento miento mientos
adora ador idor ante ente able ible
ancia encia ura aje ados adas idos idas ado ada ido ida ando iendo ar er ir ano ana ense eno ena es os as a o e s
"""

_SOUNDS = "qu=k ch=C h= v=b w=b ll=y z=s ce=se ci=si c=k gue=ge gui=gi x=s ge=je gi=ji"

LEXICON = Lexicon(
    function=words(_FUNCTION),
    operators=groups(_OPERATORS),
    numbers=groups(_NUMBERS),
    synonyms=groups(_SYNONYMS),
    short=shorthand(_SHORT),
    filler=words(_FILLER),
    optional=words(_OPTIONAL),
    praise=words(_PRAISE),
    pronouns=groups(_PRONOUNS),
    markers=words(_MARKERS),
    conditions=words(_CONDITIONS),
    joins={"y": "and", "e": "and", "&": "and", "/": "and", "vs": "and", "versus": "and", "o": "or", "u": "or"},
    asking=words(_ASKING),
    kinds=kinds(_KINDS),
    chat=groups(_CHAT) | dict.fromkeys(("xq", "xk", "xke", "porq"), "por que"),
    units=groups(_UNITS),
    contractions=rewrites(_CONTRACTIONS),
    rewrites=rewrites(_REWRITES),
    suffixes=suffixes(_SUFFIXES),
    sounds=sounds(_SOUNDS),
)
