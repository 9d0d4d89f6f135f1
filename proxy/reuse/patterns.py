"""Words of time-dependent messages, Spanish and English on equal footing: the tables that `moment` decides by.

They are read against plain text (see `text`). An entry is a phrase in regular-expression syntax that ends with a whole
word; ` | ` or the end of a line ends it. Entries are matched in any order: where to add one is a matter of reading.

    NOW       points at the moment of speaking
    LIVE      asks for what changes by the day: weather, prices, scores, news, who holds an office
    TOPICS    names something whose state is what people ask for
    OPENS     begins a question of whether something has happened, goes on, is there, or when it will
    TIMELESS  asks how something is done, what it is, or about a time long gone
    LANGUAGE  asks about words and works rather than about what they name
    CODE      says that a program is to have the answer
"""

_DAY_ES = "lunes|martes|miercoles|jueves|viernes(?! santo)|sabado|domingo"
_DAY_EN = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
_SPAN_ES = "semana|mes|ano|temporada|trimestre|cuatrimestre|semestre|quincena|finde|fin de semana|verano|invierno|otono"
_SPAN_EN = "week|weekend|month|year|season|quarter|semester|term|summer|winter|spring|fall|autumn"

NOW_ES = f"""
del momento | al aire | que (dijo|dijeron|anuncio|anunciaron|decidio|declaro|respondio|tuiteo) | que [a-z]+ salio
que salio | que se (estrena|viene|festeja|juega|espera|dice|comenta|vota|debate) | que hora
en que (anda|quedo|quedaron) | como viene | hoy | ayer | anteayer | antier | antes de ayer | anoche | antenoche
manana(?<! la manana) | a estas (horas|alturas) | ahora(?! (bien|que) ) | ahorita | orita
recien(?! (nacid|casad|horne|hech|pintad)) | a esta (hora|altura) | al dia de
en (directo|vivo|estas horas|est[eo]s? (mismo )?(momento|instante|segundo|dia|hora)s?) | hasta (la fecha|el momento)
est[ea] (mism[oa] )?(noche|tarde|manana|madrugada|mediodia|{_SPAN_ES}|{_DAY_ES}) | est[oa]s (dias|meses|semanas|horas)
lo que va del? | llevamos | por el momento | (el|del|al|proximo|este) ({_DAY_ES}) | (proximo|pasado) ({_DAY_ES})
(semana|mes|ano) (que viene|pasad[oa]|proxim[oa]|entrante)
(la|el|los|las) (ultim|proxim)[oa]s? ([a-z0-9]+ )?({_SPAN_ES})
ultim[oa]s ([a-z0-9]+ )?(horas|dias|semanas|meses|minutos) | fin de semana | finde
hace (un rat|poco|unos (minut|dia))[a-z]* | que (hora|dia|fecha|mes|ano) (es|son|tenemos|sera) | que horas
a cuanto estamos | en que (dia|fecha|ano) estamos | cuant[oa]s (dias|semanas|meses|horas) (faltan|quedan)
cuanto (tiempo )?(falta|queda) (para|hasta) | faltan? para | cerca (de mi|de aca|de aqui|mio) | (aca|aqui) cerca
por (mi zona|aca) | mis (recordatorios?|alarmas?|turnos?|citas|mails)
mi (agenda|saldo|cuenta|calendario|vuelo|pedido|paquete|envio|encomienda|reintegro|turno|alarma|recordatorio|proxim[oa])
"""

NOW_EN = f"""
(what|when|why|how) did ([a-z0-9']+ ){{1,4}}(say|announce|tweet|post|close at|open at|decide on|vote) | out for delivery
today | today's | todays | tonight | tonight's | tomorrow | tomorrow's | yesterday | yesterday's | these days
as of now | right now | just now | at (the|this) (very )?(moment|hour|time|point|minute)(?! of )
so far(?! (as|away|from|apart) )
this (very |past |coming )?(morning|afternoon|evening|moment|instant|minute|hour|{_SPAN_EN}|{_DAY_EN})('s)?
(last|next|past|coming) (night|night's|few (days|weeks|hours)|{_SPAN_EN}|{_DAY_EN}) | the (weekend|week|day)(?= [.?,])
(on|by|until|til|till|for|since|coming) ({_DAY_EN}) | ({_DAY_EN})('s)? (game|match|show|concert|meeting|morning|night)
what time is it | what('s| is) the (time|date)(?! (complexity|difference|value)) | what (day|year|month) is (it|this)
(minutes|hours|days) ago | a (minute|moment|while|week) ago | near me | nearby | around here | close to me | in my area
how (many|much) (days|weeks|months|hours|time|longer) ([a-z]+ ){{0,2}}(until|till|til|to|before|left|remain)
how long (until|till|til|before) | how soon | days (until|till|left) | up to now | as of (today|this)
my (alarms?|reminders?|calendar|schedule|appointments?|inbox|emails?)
my (balance|flight|order|package|parcel|delivery|refund)
"""

_POST_ES = """(president[ea]|vicepresident[ea]|primer ministro|primera ministra|ministr[oa]|gobernador|gobernadora\
|papa|intendente|alcalde|alcaldesa|rey|reina|ceo|director|directora|tecnico|dt|entrenador|entrenadora|campeon|campeona\
|jefe|canciller|secretari[oa]|titular|duen[oa]|jefa|lider|goleador|puntero|embajador|arquero|portero|capitan|conductor\
|juez|numero uno|hombre mas|mujer mas|persona mas|fiscal|vocero|favorit[oa]|novi[oa]|espos[oa]|pareja|maxim[oa])"""
_POST_EN = """(president|vice|prime minister|minister|chancellor|governor|mayor|king|queen|pope|ceo|cfo|cto|monarch\
|head|leader|chair|chairman|chairwoman|director|manager|coach|captain|champions?|owner|secretary|speaker|senator|host\
|goalkeeper|quarterback|richest|holder|fastest|favou?rite|frontrunner|top|number one)"""
_ON_ES = """(abiert[oa]s?|cerrad[oa]s?|cortad[oa]s?|demorad[oa]s?|retrasad[oa]s?|cancelad[oa]s?|suspendid[oa]s?\
|agotad[oa]s?|caid[oa]s?|nublado|soleado|lloviendo|nevando|lesionad[oa]|disponibles?|operativ[oa]s?|funcionando\
|vigente|congestionad[oa]|andando|pasando|jugando|ganando|perdiendo|subiendo|bajando|llen[oa]s?|ocurriendo|soplando\
|cayendo)"""
_ON_EN = """(closed|delayed|available|cancelled|canceled|sold out|in stock|on time|on sale|on strike|working|down|out\
|open|running|live|winning|losing|up|over|back|busy|crowded|trending|raining|snowing|on tv|flooded|blocked|alive\
|playing|clear|single|dating|married|streaming|safe to|expected|due)(?! (source|to|set|under|form|loop|interval|of\
|with|by|for) )"""
_SKY_EN = "raining|rain|snowing|snow|windy|sunny|cloudy|foggy|humid|hot|cold|warm|freezing|hail|chilly|icy|storming"

LIVE_ES = f"""
a que precio | como (cerraron|abrieron|quedaron) | (hashtag|cancion|frase|noticia|menu|foto|oferta) del dia | huelga
paro | elecciones | encuestas? | sorteos? | loteria | quiniela | eclipse | recital | conciertos? | torneo | mundial
oferta | ofertas | promociones | liquidacion | incendios? | sismo | temblor | inscripciones | inscripcion
proyecto de ley | juicio | conferencia de prensa | alquiler(es)? (de|en) | alquileres | partidos de | vacunacion
temporada de | padron | cuanto (se|hay que|tengo que|me|te|les?) (esta )?(pag|cobr|gast|sal|cuest)[a-z]+
quien(es)? (es|son) (el|la|los|las) [a-z]+ | (alerta|estado) (del?|por) | plazo para | fecha (limite|de pago|de cobro)
del mes | en cartel | actual(es)? | actualmente | en la actualidad | vigentes? | novedades | noticias? | recientes?
recientemente | proxim[oa]s? | en tendencia | tendencias? (en|de) | es tendencia | trending | ranking | estrenos?
cartelera | fixture | ultim[oa]s? (hora|momento|noticia|novedad|encuesta|fecha|partido)(es|s)?
ultim[oa]s? (version|modelo|actualizacion|dato|resultado|sismo)(es|s)?
ultim[oa]s? (lanzamiento|disco|album|cancion|capitulo|episodio|pelicula)(es|s)?
ultim[oa]s? (temblor|sorteo|gol|informe|censo|eleccion)(es|s)?
ultim[oa]s? (aumento|cotizacion|parte|tuit|tweet|post|video|medicion|ganador|campeon|mundial|torneo|carrera)(es|s)?
mas (reciente|nuev[oa]|vist[oa]|escuchad[oa]|vendid[oa]|buscad[oa]|viral|ric[oa] del mundo|popular|barat[oa])(es|s)?
llueve | llovera | llueva | llover | llovio | nieva | nevara | nevar | lluvia | granizo | huracan | tormentas?
paraguas | va a (llover|nevar|granizar|hacer|estar|haber|salir|subir|bajar|ganar|jugar)
que tan (fri[oa]|caliente|ventoso|llen[oa]) | (hace|hara|hizo) (mucho |tanto |mas |demasiado )?(frio|calor|viento|sol)
pronostico | alerta (meteorologica|roja|naranja) | que (tiempo|clima|temperatura|humedad) (hace|hara|hay|va|esta|tienen)
que tal (esta|el|va|anda|viene|pinta|estara|la) | cuantos grados (hace|hay|van) | el clima | el tiempo (en|para|por)
sensacion termica | calidad del aire | humedad | temperatura (hace|hay|en|actual|maxima|minima|sera|horaria)
la temperatura(?= [.?,]) | a que hora | que horarios? | horarios? (del?|tiene|hace|para)
(llevar|llevo|necesito|usar|empacar|traer) ([a-z]+ )?(campera|chaqueta|abrigo|impermeable)
a (cuanto|como|cuantos pesos) (esta|estan|cotiza|cerro|abrio|amanecio|vendo|se vende|se consigue|el|la|anda)
cuanto (esta|estan|sale|salen|cuesta|cuestan|cobra|cobran|pagan|anda|andan|rinde|subio|bajo|aumento|cotiza|me sale)
cuanto (vale|valen) (?!(pi|x|y|n|e|el (seno|coseno|logaritmo|numero|angulo)|la (constante|raiz|suma|hipotenusa)) )[a-z]+
que (precio|precios|valor) (tiene|tienen|hay) | precios? (del?|en|por|actual|medio|promedio|tiene) | cotiza | cotizacion
dolar (blue|oficial|mep|tarjeta|ccl|turista|cripto) | (el|del|al) (dolar|euro|bitcoin|merval) | tipo de cambio | cepo
riesgo pais | la bolsa(?! de valores) | tasas? (de (interes|plazo|inflacion|desempleo|cambio)|actual|que paga|anual)
ipc | inflacion (del?|anual|mensual|interanual|acumulada|en|hubo|llevan) | pobreza en | salario minimo | canasta basica
valor (de la|del|de los) (uf|uva|utm|onza|accion|acciones|bonos?|libra|oro|barril|litro|boleto|peaje|cuota|real|peso)
(valor|salario|jubilacion|sueldo) minim[oa] | en que (canal|equipo|club|estadio|puesto|minuto|posicion) | que version
quien(es)? (gana|gano|ganaron|salio|van?|juegan?|lideran?|encabeza|salieron|estan?|manda|metio|gobierna|preside|conduce)
quien(es)? (dirige|entrena|ocupa|ostenta|tiene el record|sigue|quedo|clasifico|perdio|hizo el gol|toca|viene|transmite)
quien(es)? (es|son) (el |la |los |las )?(actual |nuev[oa] |mejor |maxim[oa] )?{_POST_ES} | numero uno | de turno
que (puesto|lugar|posicion) (ocupa|tiene|esta) | como (van?|vienen?|salio|salieron|quedo|termino|cerro|amanecio|abrio)
como (esta|estan|sigue|siguen|anda|andan) (?!(compuest|formad|hech|constituid|organizad|estructurad|dividid))[a-z]+
resultados? del? | tabla de posiciones | la tabla (anual|general) | goleador | alineacion | formacion de | convocados
contra quien | con quien (juega|sale|esta) | donde (juegan?|pasan|transmiten|tocan?|se juega|esta mi|anda|puedo ver)
por donde (va|viene|anda) | que (partidos?|equipos?) (hay|juegan?|va|dan|se) | que estan? (pasando|dando) | se sabe
que (hay (de nuevo|para|en)|esta (pasando|sucediendo|ocurriendo)|pasa (con|en)|paso con)
que (dice el|dan en|pasan en|ponen en) | que (cancion|pelicula|tema|serie|libro|video|artista) (esta|es|va|suena)
(en|de) (netflix|hbo|cines?|spotify|tiktok) | (de|la) espera | demoras?
cuanta (demora|espera|fila|cola|gente|nieve|lluvia) | trafico | (el|hay|del) transito
(vuelo|tren|micro) [a-z]{{0,3}}[0-9]+ | que edad tiene(?! (un|una|la tierra|el universo)) | a la venta | en el mercado
cuantos anos tiene (?!(un|una|la tierra|el universo|el sol|el planeta|la luna) )[a-z]+ | feriados? | en lo que va
cuant[oa]s? (seguidores|suscriptores|oyentes|reproducciones|vistas|casos)
cuant[oa]s? (contagios|muertos|puntos|goles|titulos|victimas) | cuant[oa]s? ([a-z]+ )?(llevan?|van|hubo|quedan)
(fortuna|patrimonio) de | recordatorios | (alarma|recordatorio) (par|por)[a-z]*
"""

LIVE_EN = f"""
most (streamed|watched|sold|viewed|followed|downloaded|searched|expensive) | who has (the most|won|been|scored)
what (shows|movies|films|plays|games|matches|concerts|exhibits) are | of the day | report(?!(er|ing)) | deadline
status | timetable | best-?selling | bestseller | box office | leaderboard | verdict | turnout | outages? | wildfires?
strike(?! (price|a|out)) | elections? | ceasefire | roster | line-?up | on the cover | waiting list | unread | up for
moon in | full moon | solstice | iss | deployed on | attendance | nominated | nominees
how('s| is| are) (?!(you|it (possible|that)) )[a-z0-9]+ | who('s| is| are) (the )?[a-z0-9']+
who (do|does) (?!(i|you|we|one) )[a-z]+
how much (is|are|for) (?!([0-9]|(an? )?(pound|kilo|mile|inch|cup|ounce|gram|lit(er|re)|foot|dozen|half|third)))[a-z]+
where (is|are|'s) (my|our|his|her|their|the (president|bus|train|storm|hurricane|king|pope|team))
where does [a-z]+ (play|live|work) | now(?! (that|if|let's|suppose|consider) ) | latest | newest | recent | recently
lately | upcoming | nowadays | news | currently | presently | at present | breaking(?! (strain|point|bad|change))
live (score|stream|updates?|from|at|in) | (is|are|be|still) live | trending
current (?!(directory|working|account|line|user|thread|element|node|flow|flows|through|density|in (a|an)) )[a-z]+
(today|current|going|exchange|interest|mortgage|inflation|unemployment|approval)('s)? rates? | forecast | world record
(the|what's|is|bad|good|nice|how's|be|clear) weather(?! (symbol|station|vane|map|balloon|system|god))
(the|what's|is|bad|good|nice|how's|be|clear) (traffic|score|standings|lineup)
(the|what's|is|bad|good|nice|how's|be|clear) (odds|pollen|surf|uv|air quality)
weather (in|for|like|going|be|look|warning|alert|outlook|will)s? | traffic (on|in|to|like|heading) | raining | snowing
any (news|updates?|word|delays?|tickets?|flights?|strikes?|seats?|tables?|rooms?|events?|concerts?|games|matches|chance)
any (outages?|good (movies|shows|deals)|availability|changes|openings?|appointments?|spots?|deals?|sales?|holidays?)
(is|was|be|will|it's) it (going to |gonna |supposed to |still |be |that )?({_SKY_EN})
temperature (in|at|outside|of|be) | the temperature(?= [.?,]) | humidity | wind (chill|speed) | hurricanes? | tornado
umbrella | raincoat | sunscreen | (bring|wear|need|pack|take) ([a-z]+ ){{0,2}}(jacket|coat|sweater|gloves|scarf)
how much (snow|rain) | are we getting
how (hot|cold|warm|windy|humid|busy|crowded|full|bad|high|deep) (is|are|will) (?!(a|an) )[a-z]+ | like outside
(price|prices|cost|value|worth) (of|for|on|at|per)
how much (is|are) (?!(the human|a|an|of|less|more|time|lower) )[a-z]+
how much (is|are|does|do|will|would|did) ([a-z0-9']+ ){{1,8}}(cost|charge|pay|earn|worth|go for|sell for|weigh in)
stocks?
how much (is|for) an? ([a-z0-9]+ ){{0,5}}(ticket|pint|flight|night|room|coffee|beer|house|gallon|dozen|share|ounce|pass)
(bitcoin|btc|ethereum|eth|dollar|euro|pound|peso|yen|gold|oil|gas|petrol|house|egg|crypto|share|rent)s? (price|rate)s?
(dollar|euro|pound|peso|yen|yuan|bitcoin) ([a-z]+ )?(trading|worth|doing|at|against|to) | market cap | net worth
nasdaq | dow jones | ftse | s&p | trading at | cheapest | on sale | discounts? | deals on | going for | share prices?
who('s| is| are| was) (the )?(current |new |acting |reigning )?(world's |world )?{_POST_EN} | number one | in the table
who('s| is| are|'re) ([a-z]+ ){{0,3}}(winning|leading|playing|running|ahead)
who('s| is| are|'re) ([a-z]+ ){{0,3}}(hosting|headlining|in charge|starting|dating)
who('s| is| are|'re) ([a-z]+ ){{0,3}}(married|injured|on tour|favou?red|performing|pitching|presenting|in the lead)
who (leads?|runs|heads|owns|holds|governs|won|wins|lost|scored|plays|got|made the|qualified|presides|sits|tops|coaches)
(what|which|whose) ([a-z]+ ){{1,3}}(is|are|'s) ([a-z]+ )?(number one|trending|open|playing|leading|winning|top|popular)
what's (new|happening|going on|on|playing|showing|open|hot|popular|up with) | league table | top of the | in the polls
what (is|are) (happening|going on|people saying|everyone) | top (song|movie|story|stories|scorer)s? | (is|are) out yet
(came|come|comes|coming) out | released? date | how many (points|seats|goals|wins|games|medals) (does|do|did|has|have)
how old (is|are) (?!(the (earth|universe|sun|moon|solar|fossils)|a|an|you|humans) )[a-z]+ | holidays? (in|this)
how many ([a-z]+ )?(followers|subscribers|views|listeners|cases|deaths|streams|titles|likes|trophies|grammys|oscars)
how('s| is| are| did| does|'re) (the )?([a-z0-9&]+ ){{1,5}}(doing|looking|trading|performing|going|polling|holding up)
how did (the )?([a-z0-9&]+ ){{1,4}}(do|close|finish|play|perform|end up)(?= [.?,]) | (alarm|reminder) (for|to|in|at|go)
yet(?= [.?,]) | still (on|open|closed|alive|going|running|available|missing|in office|the (president|champion))
lottery | what time (is|are|does|do|will|can)(?! (complexity|of day) ) | (in|at the) (theaters|theatres|cinemas)
what version
(next|last) (game|match|election|holiday|flight|train|bus|ferry|eclipse|full moon|episode|launch|iphone|concert|show)
(next|last) (world cup|olympics|meeting|race|fight|draw|earthquake|update|release|goal|album|stop|delivery|payment)
powerball | jackpot | winning numbers? | (flight|train|bus) [a-z]{{0,3}}[0-9]+ | wait(ing)? times? | out of stock
the (wait|queue) (at|for|in) | how long('s| is| are| will) (the )?(current )?(wait|line|queue|delay|drive|backlog)
kickoff | kick-off | on (netflix|tiktok|spotify|hulu|hbo) | opening (hours|times?) | opens? (late|until|on|near|at)
daylight saving time (in|right|over) | which version (of|should) | how('s| is) (the )?(market|sea|line|queue|economy)
"""

TOPICS_ES = """
fichajes? | ficho | plantel | champions | libertadores | la liga | en que liga | playoffs | semifinal(es)?
cuartos de final | premier | nba | formula 1 | moto ?gp | gran premio | como le (fue|va|esta yendo) | clasificacion
marea | oleaje | nivel (tiene|del) | que dolar | dolares | bitcoin | cripto | plazo fijo | tasas? | mercado pago
ganancias | aguinaldo | bono | paritarias | subsidio | celular(es)? | iphone | samsung | un tesla | playstation | xbox
whatsapp | instagram | youtube | chatgpt | famos[oa]s | farandula | ultimamente | en gira | de gira
se (separo|separaron|caso|casaron) | aerolineas? | vuelan? a | vuelos? | pasajes? | equipaje | ruta [0-9]+ | autopista
panamericana | general paz | frontera | paso fronterizo | aduana | peajes? | visa | pasaporte
se puede (cruzar|viajar|entrar|circular|visitar|pescar|ir) | cuanto hay que | tarda(n)? (en|el) (salir|llegar|entregar)
guardia | de turno | mesa para | (abre|cierra|atiende)n? (el|la|los|las|hoy|a|hasta) | farmacias? | supermercados?
shopping | cajero | estacionamiento | colectivos? | bondis? | subte | cercanias | micros? a | trenes? (a|de|para)
ferry | uber | temperatura del? (mar|agua|rio|ambiente) | playas? (abiertas?|habilitadas?) | nieve en | pistas de esqui
centro de esqui | gabinete | ministro de | candidat[oa]s? | diputad[oa]s? | senado | congreso | gobierno de | guerra en
dengue | covid | vacunas? | de moda | tendencias? | bestseller | best seller | best sellers
premios? (nobel|oscar|goya|gardel|grammy) de? | nominad[oa]s
"""
TOPICS_EN = """
who did ([a-z0-9']+ ){1,3}(sign|draft|trade|beat|pick|appoint|hire|fire|choose|nominate|marry|date) | airlines? | fly to
flights? | fares? | tides? | surf | snowpack | new features | coming up | concerts? | on tour | tour dates | premiere
playoffs | the finals? | medals? | premier league | nba | nfl | nhl | mlb | ufc | formula 1 | f1 | grand prix
world series | super bowl | transfer window | free agents? | draft pick | age of the (us|current|president|king|pope)
the wait | mortgages? | visa | visas | the border | curfew | lockdown | covid | vaccines? | iphone | ipad | galaxy
a tesla | playstation | xbox | nvidia | whatsapp | instagram | tiktok | youtube | twitter | chatgpt | cheaper | cheapest
discounts? | on sale | deals? | in stores | black friday | gas (price|station|in|cheaper) | is gas | is petrol
stores? (are|open) | parking (at|near|in) | the tube | subway line | tickets? (for|to|left|available) | hotel rooms?
best (restaurants?|hotels?|phones?|laptops?|tvs?|deals?|movies) | celebrit(y|ies) | war in | hostages? | box office
the charts | savings accounts? | tax brackets? | minimum wage | stock market | stocks? | shares of | ipo | layoffs?
merger | on strike
"""

OPENS_ES = f"""
siguen? [a-z]+ | todavia | aun | ya (?!(que|no|se|he|tengo|intente|probe|se) )[a-z]+ | sera | habra | hubo | llovera
hay (?!((algun[a]?|mas|un[a]?) )?(formas?|maneras?|diferencias?|que|vida|alternativas?|limite|modos?|relacion) )[a-z]+
cuando (?!(se|es (mejor|bueno|correcto|una?)|conviene|hierve|usar|una?|era|fue|[a-z]+([aie]a|ron)) )[a-z]+([aen]|es)
cuando se (juega|vota|celebra|sortea|publica|entrega|lanza|presenta|abre|cierra|estrena|realiza|elige|cobra|paga|hace)
(esta|estan|estara|estaran) ([a-z0-9]+ ){{0,6}}{_ON_ES}
(esta|estan) (viv[oa]s?|cas[a-z]+|salien|embaraz|de (gira|moda))[a-z]*
se (demoro|cancelo|suspendio|reprogramo|retraso|corto|cayo|estreno)
se (sabe|juega|confirmo|atraso|aplazo|levanto|aprobo|viene)
(salio|salieron|nacio|vencio|perdio|crecio|ocurrio|recibio|abrieron|murieron|subieron|volvio|llegaron|ganaron) [a-z]+
(aprobaron|anunciaron|cerraron|cobraron|publicaron|empezaron|terminaron|encontraron|detuvieron|renovo|firmo) [a-z]+
(abrio|subio|cayo|murio|fallecio|renuncio|anuncio|aparecio|resolvio|consiguio|cumplio) [a-z]+
(gano|llego|termino|empezo|cerro|aprobo|paso|arranco|jugo|bajo|aumento|clasifico|empato|contesto|cambio|quedo) [a-z]+
(funciona|funcionan|anda|andan|pasa|pasan|abre|abren|atiende) (el|la|los|las|a)
(juega|juegan|sale|salen|vuelve|queda|quedan|va|van) (el|la|los|las|a)
(dejara|habran|tendremos|tendra|vendra|ganara|subira|bajara|podra|va a|van a|vamos a) [a-z]+
"""

OPENS_EN = f"""
(is|are|was|were|did|do|does) (the|my|our|his|her|their|he|she|they) [a-z0-9']+ | did [a-z0-9']+ [a-z0-9']+
(has|did) it [a-z]+ | (has|have|hasn't|haven't) (?!(you|i|we|to|a|an|the same|there) )[a-z0-9]+
will (?!(you|u|a|an|this code|my code) )[a-z]+ | (is|are) there (still|going|snow|rain|parking|school|space)
(is|are) there (room|power|wifi|anywhere open|anything (on|open|good)|protests)
(is|are) there an? ([a-z]+ )?(storm|train|bus|flight|strike|protest|game|match)
(is|are) there an? ([a-z]+ )?(sale|queue|line|holiday|party|delay|concert)
(is|are) there any ([a-z]+ )?(left|tickets|seats|news|delays|strikes|flights)
(is|are) there any ([a-z]+ )?(trains|events|tables|rooms|spots|availability)
when('s| is| are| will) (?!(an?|it (better|best|used|appropriate|correct|ok|good|safe)|used) )[a-z0-9]+
when (do|does) (?!(you|i|we|one|people|an?|water) )[a-z0-9]+ | (is|are) ([a-z0-9']+ ){{1,8}}{_ON_EN}
(is|are|does|do) ([a-z0-9']+ ){{1,8}}still
(is|are) (it|we) (going to|under|above|below|getting|colder|hotter|safe|dark)
did (the |my |our )?([a-z0-9']+ ){{1,5}}(win|lose|arrive|land|score|qualify|announce|release|pass|resign|close|die)
(do|does|will|should|can) (i|we) (need|wear|bring|take|expect) | (did|has|is) my ([a-z]+) | am i (late|on time|still)
"""

TIMELESS = """
como (se|puedo|podria|hago|hacer|hacemos|son|era|eran|funciona|funcionan|[a-z]+[aei]r) | por que se | como saber
como es (?!(el clima|el tiempo) )[a-z]+ | que (significan?|implica|fue|fueron|era|ventajas?|tipos?|diferencias?|hizo)
como (?!(quedo|termino|cerro|arranco|cotizo|llego|paso|empato|amanecio|salio|siguio|abrio|resulto|subio) )[a-z]+o
que (es|son) (?!(tendencia|noticia|lo) )[a-z]+ | para que | en que consiste | en general | por que las? | de donde viene
cual(es)? (es|son|era|fue) (la|el|los|las) (diferencia|formula|funcion|definicion|origen|historia|capital|moneda)s?
cual(es)? (es|son|era|fue) (las?|los|el) (ventajas?|sintomas?|tipos|partes|caracteristicas?|causas?|efectos?|requisitos)
explica(me|r|nos)? | por que (?!(esta|estan|sube|baja|subio|bajo|no|hay|cayo|sigue|aumento|cerro|suspendieron) )[a-z]+
what (is|are) (an?|net|the (difference|meaning|origin|purpose|formula|definition|concept|role|first-in|last common))
what (does|did|happens) | what (was|were) (?!the (score|result|final|closing|outcome|attendance|latest) )[a-z]+
what types | what('s| is) the (difference|meaning|origin|purpose|formula|definition|concept|point of|best way|syntax)
in general | who (invented|discovered|composed|founded|was|were|directed|built)
who('s| is| are) (the )?([a-z]+ )?(author|writer|composer|creator|inventor|god)
who('s| is| are) (the )?([a-z]+ )?(goddess|protagonist|character|father|patron)
quien(es)? (es|son|fue) (el|la) (autor|autora|creador|inventor|protagonista|padre|dios|diosa|patron[a]?|personaje)
why (do|does|did|can't) | how to | how come | in theory
how (do|does|did|can|could|would|should) (i|you|we|one|they|people|he|she|it|a|an) | explain (how|what|why|the)
how (do|does|did|can) ([a-z-]+ ){0,3}(work|works|affect|influence|form|grow|differ|relate) | when (did|was|were|has)
how (is|are|was|were) ([a-z'-]+ ){1,8}([a-z]+ed|made|built|done|written|taught|drawn)
how (is|are|was|were) ([a-z'-]+ ){1,8}(grown|spelt|chosen|set up|used to|similar)
how (is|are|was|were) ([a-z'-]+ ){1,8}(calculated|computed|measured|made|defined|determined|worked|formed|built|scored)
how (is|are|was|were) ([a-z'-]+ ){1,8}(decided|chosen|elected|derived|counted|related|different|produced|created|done)
(1[0-9]{3}|20[01][0-9]) | siglos? | century | centuries | d-day | (primera|segunda) guerra | world war | civil war
cold war | guerra (fria|civil) | edad media | middle ages | imperio | empire | medieval | (revolucion|revolution)
antigu[oa] (roma|grecia|egipto) | ancient | napoleon | (19|18)[0-9]0s | prehistoric[oa]? | dinosaur[a-z]* | waterloo
"""

LANGUAGE = """
significan? | significado | quiere decir | diferencias? (hay )?entre | que diferencia | la (palabra|frase|expresion)
como (se|le) (dice|dicen|escribe|pronuncia|traduce|conjuga|deletrea) | como (digo|dirias|escribo|pronuncio)
por que (decimos|se dice|no se traduce) | tiempo verbal | etimologia | sinonimos? | antonimos? | adverbios? | gramatica
traduci | traduce | traduzca | traducime | traduceme | traducir | traduccion | quien (escribio|canta|pinto|dirigio)
what (does|do) ([a-z0-9'-]+ ){1,6}mean | meaning of | mean in | differences? between | etymology | synonyms? | antonyms?
(the|an?) (word|phrase|expression|idiom|adverb|adjective) | verb tense | grammar
how do (you|i|we) (say|spell|pronounce) | translate | translation | idiom | rephrase | paraphrase | definition of
define | who (wrote|sings|sang|painted)
"""

CODE = """
python | javascript | typescript | java | golang | rust | php | ruby | kotlin | bash | shell | linux | powershell | sql
c# | mysql | postgres | postgresql | sqlite | mongodb | excel | sheets | html | css | react | django | flask | node.js
pandas | numpy | docker | kubernetes | terraform | git | regex | cron | api | json | yaml | latex | vim | unix
"""
