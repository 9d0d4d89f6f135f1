"""How Spanish tells a fact about its speaker, and what looks like one: voseo, tuteo and usted.

Entries are separated by ` | ` or a line end, in the plain form of `proxy.language.text`: lower case, no accents,
one space around every word and mark. `signals` compiles them and says what each table means.
"""

# "Keep this": the user asks for it in so many words.
REMEMBER = """
(recorda|recuerda|recuerde|recorden) (?!(cuando|como|a|los tiempos) )[a-z]+ | recorda(lo|la|los|las|te)
recuerda(lo|la|los|las) | acorda(te|tela|telo) | acuerdate | acuerdese | (tene|ten|tenga|tengan)(lo|la|los|las)?
(bien )?(en cuenta|presente) | (tenelo|tenlo|tenela|tenla|tengalo) (en cuenta|presente|a mano) | tene en cuenta
ten en cuenta | tenga en cuenta | tenes que saber | anota(te|lo|la|telo|tela)? (?!(una|un) (lista|resumen))[a-z,.]+
apunta(te|lo|la|telo|tela)? (que|esto|eso|mi|el|la|,) | apuntalo | apuntala | anotalo | anotala
guarda(te|lo|la|los|las|telo|tela|me)? (que|esto|eso|este|ese|mi|el dato|la|,|[.]|porque) | guardalo | guardala
(no|nunca) (te|se) (me )?(olvides|olvide|olvidas|vayas a olvidar) | que no se te (olvide|pase|escape|vaya)
lo apunto por | te lo (digo|cuento|aclaro|paso) asi | para que (sepas|lo sepas|tengas|lo tengas) | que te quede claro
agenda(te|lo|la)? (que|esto|mi) | memoriza | toma nota | importante : | que conste | que sepas que
no pierdas de vista
"""

# What holds for every answer from now on. At the beginning of a sentence, or anywhere.
STANDING = """
(de|desde|a partir de) (ahora|aca|aqui|hoy|este momento) (en mas|en adelante|para adelante) | a partir de ahora
desde ahora | de ahora en (mas|adelante) | de hoy en (mas|adelante) | en adelante | de aca en (mas|adelante)
(siempre|nunca|jamas) (me |te |le |nos |lo |la )?(des|pongas|mandes|hables|uses|digas|respondas|contestes|recomiendes)
(siempre|nunca|jamas) (me |te |le |nos |lo |la )?(sugieras|propongas|escribas|hagas|agregues|incluyas|expliques|
  ofrezcas)
siempre que (me|te) [a-z]+ | siempre (que )?(poneme|dame|decime|mandame|pasame|usa|pone|da|responde|contesta|explica)
siempre (respondeme|contestame|explicame|ponme|dime|escribime|escribeme|empeza|empieza|inclui|incluye|revisa|mostrame)
[a-z]+me siempre
(prefiero|quiero|necesito|me gusta|me gustaria|te pido|preferiria) que (me |no me |las? |los? |te |uses)
(prefiero|quiero|necesito|me gusta|te pido|preferiria) que (las|los|la|el|todo|todas|todos|tus|cada|cuando|no)
(prefiero|quiero|necesito|te pido|preferiria) que [a-z]+(es|as|s) | (trata|habla|tutea|vosea)me de | tuteame | voseame
no (me |te )?(des|pongas|mandes|hables|uses|respondas|contestes|recomiendes|sugieras|agregues|incluyas|escribas)
no (me )?(trates|tutees|expliques|repitas|saludes|felicites|propongas|metas|ofrezcas|traduzcas|cierres|termines|
  empieces)
no me vengas con | (no hace falta|no es necesario|no quiero) que (me|te) | andate? directo | saltea(te)? | nunca mas
dejate de | deja de | nada de [a-z]+ (?=.*(respuesta|texto|correo|mail|codigo|por favor))
que (tus|las|los) (respuestas|mensajes|explicaciones|recetas|textos|resumenes)
(todo|todos|todas) (en|con|sin) [a-z]+
"""
# "Decime Pacha" gives a name; "decime la hora" and "decime opciones" ask for something.
_called = (
    "(deci|di)me (?!(que|quien|como|cuando|donde|cuan|cuanto|por|para|si|no|la|el|lo|un|una|al|algo|todo|mas|ya|eso|"
    "esto|rapido|claro|bien|tu|su|mi|otra|otro|cual|[a-z]+s) )[a-z]+( [a-z]+)?(?= [.,])"
)
STANDING_OPENS = (
    _called
    + """
evita(r|me)? | (las|los|el|la) [a-z]+ ([a-z]+ )?(en|sin|con) [a-z]+ , (por favor|porfa|gracias)
(cuando|cada vez que) [a-z]+(as|es|a|e) ([a-z]+ ){0,7}, (?!(es|me|se|te|la|el|lo|yo|mi|que|a|cada) )[a-z]+(a|e|i|ame|
  eme|ime|alo|elo|ala|ela)
nada de | siempre (?!(me|se|que|hay|fue|es|almuerzo|quise) )[a-z]+(a|e|i|me) | no (uses|pongas)
(llama|nombra)me [a-z]+ | (cuando|cada vez que|si) (me|te|yo te|vos|tu|le) [a-z]+ ([a-z0-9]+ ){0,6}, [a-z]+
(cuando|cada vez que) (te )?(pida|pase|mande|pregunte|escriba|consulte|hable|muestre)
las? respuestas? (cortas?|en|con)
(responde|contesta|habla|escribi|escribe|explica|manda|pone)(me|nos) (siempre|todo|todas|todos|corto|en|sin|con|como|
  de) [a-z]+
(los|las) [a-z]+ (de codigo|en|sin) (?=.*(por favor|porfa)) | (usa|utiliza) (siempre|el|la|los|las)? | que no me
"""
)

DECIDES = """
decidi | decidimos | decidido | decidida | he decidido | hemos decidido | (me|nos) decidi(mos)? | queda descartad[oa]
(ya )?(lo )?(definimos|defini|resolvimos|resolvi|acordamos|elegimos|elegi|optamos|opte|descartamos|descarte|
  confirmamos)
he(mos)? (elegido|optado|descartado|definido|resuelto|acordado)
(quedo|queda|esta|ya esta) (decidid|resuelt|definid|cerrad|confirmad)[oa]s?
(vamos|voy|nos vamos|me voy|seguimos|sigo|arrancamos|arranco|ire|iremos|avanzamos) con | (vamos|voy|va) a (usar|ser)
(nos quedamos|me quedo|quedamos|nos quedamos al final) (con|en) | (me|nos) (la|lo) quedo
cambi(e|amos) de (idea|opinion|plan|planes) | me inscribi | nos inscribimos | me anote | nos anotamos | contrate
contratamos | reserve | ya (compre|compramos|pague) | dejo [a-z0-9]+ (porque|y|para) | (me|nos) paso a
(me|nos) pasamos a | (cambio|cambiamos|migramos|pasamos|migro) (a|de|todo)
(dije|dijimos|dimos|di) (que si|el si|el ok) | ya (esta|quedo) (hablado|acordado|firmado|pago|reservado) | quedamos en
decision (final|tomada|cerrada) | (la )?decision es | cerramos (con|en) | firmamos con | firme con | resuelto
trato hecho | en (vez|lugar) de [a-z]+ | (lo|la|los|las) (hacemos|hago|dejo|dejamos|paso|pasamos) (en|a|con|para)
ganó | (quiero|fijo|fijamos|dejo|dejamos) (un|una|el|la) (margen|minimo|maximo|tope|limite|precio) | (voy|vamos) por
descart(e|amos|ado|ada) | me late el | compramos | alquilamos | (viajamos|salimos|volamos|nos mudamos) (del|el|en|a)
ya (contrate|reserve|saque|firme|elegi|decidi) | no va(mos)? mas (con)? | seguimos con | apuntarme a
"""
DECIDES_OPENS = """
(al final|finalmente|listo|cerrado|hecho|definitivo|resuelto) ,? ?(?!gracias|por hoy|hoy|me)[a-z]+ | usamos | usaremos
elijo | elegimos | descartad[oa] | confirmad[oa] | (que sea|sera) (el|la) | (pintamos|ponemos|compramos|alquilamos)
"""

PREFERS = """
prefiero | preferimos | preferiria | me gustan? (mas|mucho|muchisimo|que|los|las|el|la) | no me gustan? | me encantan?
odio | detesto | aborrezco | no soporto | no aguanto | no banco | me molestan? | me revientan?
me cae[n]? (mal|pesimo) | me caen? | no me (sirven?|caen?|bancan?) | mi (favorit[oa]|preferid[oa])
mi [a-z]+ (favorit[oa]|preferid[oa]) | me enferma[n]? | me parecen? (un espanto|horribles?|insoportables?)
me hace[n]? mal | (lo|la|los|las) quiero (siempre|en|con) | me resulta[n]? (mas|menos) (comod|facil)[a-z]+
soy (mas )?de | antes que | me da[n]? (asco|alergia|impresion) | sin [a-z]+ , por favor
(nunca|jamas) (uso|compro|tomo|como|viajo|vuelo|alquilo|reservo|pido|elijo|acepto|voy)
siempre (uso|compro|tomo|viajo|pido|elijo)
"""

# A change of what was said before, and that it still holds.
CHANGES = """
ahora (es|son|va|vamos|van|sera|seran|vivo|trabajo|viajamos|estoy|soy|tengo|tenemos|usamos|uso|entregan?|voy|hay|
  somos)
ahora (el|la|los|las|en|mi) | ya no | cambi(e|o|amos|aron|ado|ada|aba) | en (vez|lugar) de | me mude | nos mudamos
me mudo | me (pase|paso)
(se|lo|la|los|las) (paso|pasa|pasan|paso|pasamos|pasaron|corre|corrio|corrieron|movio|mueve|adelanto|adelanta|atraso|
  atrasa)
(lo|la|los|las) (dejo|dejamos|subo|subimos|bajo|bajamos) | no (la|el|en|los|las) [a-z0-9]+ (?=[,.]) | renuncie
(pasa|paso|subio|bajo|sube|baja|aumento|se amplio|se redujo) a(l)? | pasamos (a|de) | migramos | siempre no | ya somos
(me|nos) (ascendieron|aprobaron|aumentaron|cambiaron|trasladaron|echaron) | y no (la|el|en|a|los|las|de) | corrijo
(era|eran|es) [a-z0-9]+ , no | me equivoque | correccion | actualizo | actualizacion
al final (no|usamos|vamos|es|son|va) | deje (el|la|de) | dejo [a-z]+ | en cambio
nuevo (precio|plazo|presupuesto|horario|objetivo)
desde (el lunes|enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre)
"""
KEEPS = """
(sigue|siguen|seguimos|sigo) (siendo|con|en|igual|firme|usando|vigente|trabajando|viviendo|por)
todavia (vivo|trabajo|uso) | queda(n)? (como esta|igual|asi|firme)
(eso|ese|esa|esto) no (cambio|cambia|lo movimos|se movio|se toca) | se mantiene[n]? | te confirmo que | confirmo que
mantengo | mantenemos | como (te )?(dije|conte|decia) | lo ratific
"""

# --- what is no fact ------------------------------------------------------------------------------------------------

# Everything after it is imagined.
IMAGINE = """
imagina(te|temos)? | imagine(mos|se)? | supone(te)? | supongamos | supon | suponiendo | ponele que
pongamos (que|por caso) | digamos que | hagamos de cuenta | hace de cuenta | haz de cuenta | finge | fingi | fingamos
hipoteticamente | actua como | hace como si | pretende que | en un mundo | juguemos a | haga de cuenta
"""
HYPOTHETICAL = """
si (yo )?(fuera|fuese|tuviera|tuviese|pudiera|hubiera|ganara|viviera|comiera|[a-z]+(ara|iera|ase|iese)(mos|n|s)?)
si (me|nos|te|se|lo) (?!(pido|mando|paso|pregunto|escribo|consulto|muestro))[a-z]+ | capaz (que)? | quiza[s]?
tal vez | a lo mejor | talvez | puede (que|ser que) | ojala | algun dia | alguna vez | por ahi (me|nos|algun|el)
me gustaria | quien sabe | vete a saber | de repente (me|nos) | estaba pensando
(ando|estoy|vengo|estamos|estuve) pensando en (?!y)[a-z]*r | pensaba (en|que) | lo pensaba
no (lo )?se (todavia|aun|bien|si|que|cual|cuando|como|por donde|cuanto|ni)
(todavia|aun) no (se|sabemos|decid[a-z]+|defin[a-z]+|lo|hemos|esta|tengo claro)
(no )?(decidimos|decidi|definimos) nada | (no )?tengo (ni )?idea | ni idea | es una idea | tirar una idea | idea nomas
seria | estoy (dudando|viendo si|entre) | dudo | en una de esas | si algun | es joda | es broma | te juro | ni loc[oa]
me imagino
"""
HYPOTHETICAL_OPENS = """
si (?!(te|le) (pido|mando|paso|pregunto|escribo|consulto|muestro) |, )[a-z]+ | como si
"""

PASSING = """
tengo (tanto |tanta |mucho |mucha )?(miedo de|rabia|bronca|ganas|el animo|un nudo|ansiedad)
furios[oa] | celos[oa] | orgullos[oa] | llorar | lloro | angustia | terror | la sensacion de
hoy | ahora mismo | recien | en este momento | esta (manana|tarde|noche) | anoche | desde ayer | en un rato
me duelen? | estoy en (el|la|un|una) (fila|cola|colectivo|bondi|tren|subte|aeropuerto|micro|metro|bus|sala|super)
(estoy|ando|toy|quede|vengo) (re |muy |medio |un poco |algo |tan |super |bastante )?(cansad|agotad|muert|resfriad|
  enferm|engripad|harto|hart|triste|content|feliz|nervios|dormid|podrid|aburrid|ocupad|estresad|desvelad|apurad|
  quemad|molid|destruid|perdid|confundid|mal|hecho|hecha|complicad|congelad|empapad|preocupad|ansios|enojad|
  deprimid)[a-z]*
tengo (un |una |mucho |mucha |tanto |tanta )?(sueno|hambre|sed|frio|calor|fiaca|fiebre|resaca|migrana|gripe|prisa|
  apuro|paja|bajon)
(me|nos) (muero|congelo|cago|caigo|agarro) | me estoy (cagando|muriendo|cayendo|congelando|durmiendo)
que (frio|calor|sueno|hambre|fiaca|cansancio|bronca|dia|noche|semana|lio|feo|asco|cosa)
(hace|hacia) (mucho |un )?(frio|calor) | se largo | esta (lloviendo|caid[oa]|nevando) | me siento
con (una )?(migrana|resaca|fiebre|fiaca|gripe)
"""

# Told as news of these days: with nothing lasting in it.
LATELY = """
ayer | anoche | anteayer | hace (unos|pocos|dos|tres|[0-9]+) (dias|semanas) | el otro dia | la semana pasada
el finde | este finde | otra vez | el fin de semana
"""

# Told by the other side of the conversation, or by nobody in particular.
REPORTED = """
segun (vos|tu|usted|lo que|la|el|ustedes)
(me )?(dijiste|pusiste|mencionaste|contaste|escribiste|aseguraste|afirmaste|recomendaste|sugeriste|inventaste|hiciste)
(como|por lo que|eso que|lo que) (me )?(decis|dices|dijiste|pones|decias)
(vos|tu) (me )?(decis|dices|pusiste|dijiste|decias|crees) | yo (nunca|jamas) (dije|mencione|te dije|hable|puse)
tu (mensaje|respuesta) anterior | (dicen|dice la gente|se dice|me dijeron|cuentan|escuche|lei) que
de donde (sacaste|salio|lo) | la gente dice
"""

# A subject that is somebody else. Close family isn't: what holds for them matters to the user's own plans.
OTHERS = """
(mi|mis|un|una|el|la|unos|unas|otro|otra) (vecin[oa]s?|cunad[oa]s?|prim[oa]s?|ti[oa]s?|amig[oa]s?|companer[oa]s?|
  conocid[oa]s?|colegas?|chic[oa]s?|tip[oa]s?|senor|senora|profes?|ex|influencer|alumn[oa]s?|clientas?|
  pasajer[oa]s?) (de [a-z ]+ )?(?!(se llama|usa|principal|va|siempre no|no va|paga) )[a-z]+
(el|la) [a-z]+ de (mi|un|una|su) (herman|cunad|vecin|prim|amig|ti|companer|suegr)[a-z]*
(la|el) (protagonista|personaje|detective|narrador|villan[oa]|heroe) | el cartel | el manual
(en|de) la (novela|pelicula|serie|peli|cancion|obra) , | los (politicos|argentinos|expertos|medicos|jovenes)
la gente | todo el mundo | algunos | alguien
"""

# A job for now: what begins so is done and over.
TASK = """
(traduci|traduce|traduzca|resumi|resume|resuma|corregi|corrige|corrija|reescribi|reescribe|revisa|mejora|analiza|
  parafrasea|redacta|edita|puntua|comenta|escribi|escribe|explica|conta|cuenta|arma|pasa|da|hace|haz|mostra|muestra|
  lista|enumera|calcula|converti|recomenda|recomienda|sugeri|sugiere|genera|crea|busca|compara|ayuda|recorda|recuerda|
  deci|di|manda|propone|inventa|ordena)(me|nos|lo|la|los|las)(lo|la|los|las)? (?!(siempre|todo|que) )[a-z0-9"¿]+
(traduci|traduce|resumi|resume|corregi|corrige|reescribi|reescribe|parafrasea|analiza|redacta|escribi|escribe|explica|
  calcula|mostra|muestra|dame|haceme|hazme|pasame|listame|compara|genera|crea) (?!(siempre|todo) )[a-z]+
me (armas|haces|ayudas|pasas|das|explicas|decis|recomendas|echas|preparas|escribis|redactas)
(podes|podrias|puedes|puede|podria)s? [a-z]+ | necesito (que me )?(ayud|un|una|contratar|saber|entender|ordenar)
quiero (saber|entender|planear|armar|aprender|hacer|correr|arrancar|pensar|ver)
"""

ASKS = """
(como|cuando|donde) (?!.* , )[a-z]+
(que|cual|cuales|cuanto|cuanta|cuantos|cuantas|quien|quienes|por que|para que|de donde|a que|con que|en que) (?!(te|
  se te|no se te|todo|sepas|conste|quede|sea|no) )[a-z]+
(es|hay|conviene|sirve|puedo|podria|podes|podrias|puedes|sabes|conoces|existe|deberia|vale la pena) (?!(el|la|mi|un|
  una|de|que) )[a-z]+ ([a-z]+ )*\\?
"""

CASUAL = """
jaj[aj]* | jeje* | je | jij[ij]* | (sos|eres) (un|una|lo|el|la) | (muchas|mil|muchisimas) gracias | gracias
me (salvaste|haces reir|encanto|da igual|la quedo|mata) | lo (voy a pensar|pruebo|intento) | te cuento (?!que)
(despues|luego|manana) (te|le|lo|seguimos|sigo) | ya (volvi|vuelvo|llegue) | (acordarse|recordar|decidir) de? ?todo
te sigo
"""

# --- what it is about -----------------------------------------------------------------------------------------------

FAMILY = """
mi (mujer|marido|esposa|esposo|pareja|novi[oa]|hij[oa]s?|nen[ea]s?|mama|papa|madre|padre|herman[oa]s?|abuel[oa]s?|
  niet[oa]s?|vieja|viejo|suegr[oa]s?|bebe)
mis (hij[oa]s|padres|viejos|herman[oa]s|suegros|niet[oa]s|gemel[oa]s|mellizos|abuelos|gatos|perros|perras|gatas)
mi (perr[oa]|gat[oa]|mascota|caballo|loro|coneja?|tortuga)
"""

# (key, domain, table); a key that ends in "-" goes on with what it is about.
SLOTS = (
    ("name", "personal", "me llamo | mi nombre es | soy [a-z]+ , (?!(asi|pero|y|no|por))[a-z]+"),
    (
        "nickname",
        "preferences",
        f"(llama|nombra)me [a-z]+ | {_called} | me (dicen|llaman|conocen) (?!(por|para|de|que|a|desde|como|al) )[a-z]+",
    ),
    ("allergy-", "personal", "alergic[oa]s? al? | alergia al? | intolerantes? al? | intolerancia al? | no tolero"),
    (
        "diet",
        "personal",
        """
        (soy|es) (vegan|vegetarian|celiac|pescetarian)[oa]
        (no|nunca) como (carne|cerdo|gluten|mariscos|pescado|animales)
        """,
    ),
    (
        "residence",
        "personal",
        """
        (vivo|vivimos|resido|residimos) (en|con|sol[oa]|cerca) | me (mude|mudo) | nos mudamos | ahora vivo
        """,
    ),
    ("origin", "personal", "(naci|soy|somos) (en|de) [a-z]+ | me cri(e|o)"),
    ("age", "personal", "(tengo|cumplo|cumpli) [0-9]+ (anos)? | tengo [a-z]+ anos"),
    ("birthday", "personal", "mi cumpleanos | mi cumple | cumplo (anos )?el"),
    (
        "job",
        "work",
        """
        (trabajo|laburo|trabajamos|curro|chambeo) (?!(final|practico|en equipo))(de|como|en|por|para|con|desde|hace)
        ya no trabajo | me ascendieron | mi (trabajo|laburo|empleo|puesto|cargo)
        soy (el |la |un |una )?(ingenier|medic|abogad|enfermer|docente|maestr|profe|contador|disenador|
          desarrollador|programador|arquitect|psicolog|periodist|cociner|mozo|moza|plomer|electricist|carpinter|
          vendedor|gerente|encargad|dueñ|duen|fotograf|traductor|analista|bioquimic|veterinari|kinesiolog|odontolog|
          camioner|tecnic|emplead|chofer|estudiante|monotributist|freelance|investigador|bibliotecari|farmaceutic|
          policia|bomber|actor|actriz|music|jardiner|pastelero|pastelera|paneader|panader|peluquer|taxista|agronom|
          secretari|cajer|musico|consultor|autonom|jubilad)[a-z]*
        coordino | dirijo | doy clases | me dedico a | renuncie | deje el (trabajo|laburo) | ahora estoy en una?
        """,
    ),
    (
        "schedule-",
        "work",
        """
        (entro|salgo|abrimos|cerramos|atiendo|atendemos|trabajo) (a las|de|desde) | turno (noche|tarde|manana)
        mi (rueda|franco|horario) | la rueda | de (lunes|martes|domingo) a [a-z]+
        """,
    ),
    ("boss", "work", "mi (jefa|jefe|supervisor|supervisora|encargado|gerente)"),
    ("budget-", "projects", "presupuesto | (tenemos|tengo) [0-9.,]+ (mil |millones )?(de )?(pesos|dolares|euros|usd)"),
    (
        "deadline-",
        "projects",
        """
        (fecha limite|plazo|vence|vencimiento|la entrego|entrego|entregamos|hay que entregar|la entrega|el examen|
          salida a produccion|el lanzamiento|estrena|estreno|la mudanza|el casamiento|la boda|la fiesta)
        """,
    ),
    (
        "project-",
        "projects",
        """
        (estoy|estamos|ando|vengo) (escrib|arm|hac|compr|constru|prepar|estudi|desarroll|organiz|plane|diseñ|disen|
          program|remodel|restaur|traduc|investig|grab|film|mont|abr|refaccion)[a-z]*(ando|iendo|yendo)
        """,
    ),
    (
        "marital",
        "personal",
        """
        me (separe|divorcie|case|comprometi) | soy (viud|solter|casad|divorciad)[oa]
        estoy (casad|divorciad|separad)[oa]
        """,
    ),
    ("goal-", "projects", "(mi|el|nuestro) (objetivo|meta)"),
    (
        "family-",
        "personal",
        """
        mi (mujer|marido|esposa|esposo|pareja|novi[oa]|hij[oa]s?|nen[ea]s?|mama|papa|madre|padre|herman[oa]s?|
          abuel[oa]s?|niet[oa]s?|vieja|viejo|suegr[oa]s?|bebe)
        mis (hij[oa]s|padres|viejos|herman[oa]s|suegros|niet[oa]s|gemel[oa]s|mellizos|abuelos|gatos|perros|perras|
          gatas)
        mi (perr[oa]|gat[oa]|mascota|caballo|loro|coneja?|tortuga)
        """,
    ),
    (
        "pets-",
        "personal",
        """
        (tengo|tenemos|adopte) (un|una|dos|tres|cuatro|[0-9]) (perr|gat|mascot|conej|tortug|loro|caball)[a-z]+
        """,
    ),
    ("children-", "personal", "(tengo|tenemos) (un|una|dos|tres|cuatro|[0-9]) (hij|nen|niet|sobrin)[a-z]+"),
    (
        "health-",
        "personal",
        """
        me operaron | (soy|es) (diabetic|asmatic|hipertens|epileptic|sord|cieg|zurd|diestr|daltonic)[oa]
        embarazada
        (tengo|tuve) (un |una )?(hernia|asma|diabetes|epilepsia|artrosis|fascitis|lesion|marcapasos|presion|
          migranas)[a-z]*
        uso (anteojos|lentes|audifonos?|baston|silla|marcapasos|protesis) | medicad[oa] | tomo [a-z]+ para
        baja vision
        """,
    ),
    ("language-", "personal", "(hablo|hablamos) (?!(con|de|mas|por))[a-z]+"),
)

# What the sentences of a project say of it.
IS = """
es | son | esta | estan | se llama | se llaman | tiene | tienen | corre | usa | usan | cuesta | cuestan | dura
empieza | arranca | estrena | cierra | abre | vence | transcurre | queda | pasa | mide | pesa | sale | lleva | va
van | sera | seran | funciona | consta | incluye | ocupa | entrega | vive | viven | cumple | cumplen | paga | cobra
necesita | estamos | somos | tenemos | esta hech[oa] | se entrega | se hace | se estrena | se presenta | empezo
viene | tarda | depende | trabaja
"""

# What begins so goes on from the sentence before.
REFERS = """
es | son | se | eso | ese | esa | esto | ella | el (?=(es|tiene|usa|va|vive|trabaja) ) | ellos | ellas | lo | y | ahi
tambien | nos | no | asi que | solo | ambos
"""

# --- what stands around a value -------------------------------------------------------------------------------------

# As written, without accents, one after the other.
LEADS = r"""
hola[a-z]*(?: a todos)?|otra cosa que (?:te )?queria (?:comentar|contar|decir)(?:te)?|buenas(?: tardes| noches)?|
buen dia|buenos dias|che|oye|ey|bueno|bue|listo|dale|ok|okay|ah+|eh|uf|genial|perfecto|buenisimo|barbaro|mira|fijate|
por cierto|ademas|otra cosa|cambiando de tema|importante|entonces|ojo|si|por otro lado|ja(?:ja)+|a proposito|
repasando|resuelto|ahora si|vale|joya|claro|malas noticias|de nuevo|gracias|en fin|y
"""
# Told with "que": "recordá que uso Linux".
LEADS_THAT = r"""
(?:por favor,? )?(?:record[ae]|recuerd[ae]|recuerden|acorda ?te|acuerdate|acuerdese)(?: siempre)?(?: de)? que|
(?:por favor,? )?(?:tene|ten|tenga|tenelo|tenlo)(?: en cuenta| presente)(?: de)? que|
no (?:te|se) olvides? (?:de )?que|
(?:por favor,? )?(?:anota|apunta|anotate|apuntate|guarda|guardate)(?: este dato| esto)?(?: que|:)|
que no se te (?:olvide|pase|escape)(?: que|:)|te (?:cuento|aviso|digo|confirmo|aclaro) que|para que (?:lo )?sepas,?|
que (?:conste|sepas) que|fijate que|importante:|(?:quiero|necesito) que (?:sepas|recuerdes|tengas en cuenta) que|
(?:recorda|recuerda|anota|apunta|guarda|guardate)(?: esto| este dato)?:?
"""
TAILS = r"(?:por favor|porfa(?:vor)?|porfis|gracias|eh|si|no|viste|okey|ok|dale)"
