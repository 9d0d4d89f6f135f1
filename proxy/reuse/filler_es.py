"""Spanish words of fillers and contexts: tables that `filler` decides by, described there."""

from proxy.language.phrases import words

_NUMBER = "dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|once|doce|quince|veinte|treinta|cuarenta|cincuenta|cien|mil"
_COUNTED = """\
personas|dias|semanas|meses|anos|noches|chicos|hijos|kilos|metros|litros|pesos|dolares|gatos|\
perros|euros|minutos"""

CONTEXT = f"""
(saber|se|sabe|sabes|pregunto|preguntar|preguntaba|consultar|duda|idea|entiendo|curiosidad|recuerdo|intriga)( (de\
|sobre|por))? (si|como|cual|cuales|cuando|donde\
|cuanto|cuanta|cuantos|quien|por que)(?! (sabe|sabes|saben|alguien|alguno|podes|puede|podrias|es|esta\
|preguntar[a-z]*|decir[a-z]*|explicar[a-z]*|mas|no) )
(dime|decime|digame|contame|cuentame|explicame|explicale|dame|pasame|mostrame|muestrame|escribime|armame|haceme\
|hazme|recomendame)(?! ([.,]|si|algo|una (cosa|mano)|por favor|vos|tu|gracias) )
(es|son|sirve|seria|necesito|quiero|va) para(?! ((los|la|el|una?|mi) )?([a-z]+ (de )?(mi )?)?(deberes|tarea|escuela\
|trivia|crucigrama\
|apuesta|sacarme|ganar|amigo|zanjar|cole|facu) )
(me )?olvide( de)? (decir|aclarar|contar|mencionar) | aclaro que | te aviso | miedo (a|volar|las|los|el) | quoted
(alergi[ac]|celiac|vegan|vegetarian|diabet|embaraz)[a-z]*
(responde|respondeme|respondame|contesta|contestame|conteste|explica|explicame|explicamelo|explicalo|escribi|escribe\
|escribilo\
|decimelo|dimelo) (en|con|como|solo|sin|usando|paso)
(una|sola|en) (linea|tabla|lista|frase|oracion|palabra|parrafo)s? | vinetas | todos los pasos | paso a paso
a mano | en efectivo
solo (el|la|los|las|con|en|tengo|como|codigo|consigo|lei|quiero (el|la|un)) | con (fuentes|ejemplos|un ejemplo|todos)
(tiene|tienen|debe|deben|que|hay) (que )?(ser|sea|sean|quede|se pueda|haya|tenga)(?! (breve|sincero|honest|posible\
|bueno|verdad|por) )
(lo|la) (quiere|quiero|necesito)(?! (saber|preguntar) ) | que hay que | salvo | excepto | suponiendo | asumiendo
presupuesto | remoto
sin(?! (apuro|prisa|animo|querer|ofender|presion|saber|otro|duda|exagerar|mas|rodeos|vueltas|dormir|verguenza\
|palabras) )
ya (probe|reinicie|intente|tome|use|hice|cambie|tengo|levanto) | vivo | uso | peso | mido | manejo | alquilo
cobro | tomo | viajo | coso
trabajo (de|con|para|remoto|en (una|un|el|la)) | estudio (en|con) | cocino (para|con|sin)
no (como|acepta|sugieras|firme|uso|se (leer|nadar|coser|cocinar)) | no me (sugieras|recomiendes|endulces|dejan?|gusta)
no puedo(?! (mas|dormir|creer|evitar|sacar|con|parar|dejar) )
no quiero(?! (molestar|quedar|pasar|hacerte|robar|ser) )
no tengo(?! (ni|idea|la menor|nadie|perdon|remedio|verguenza|mucha idea|paciencia|claro|prisa|apuro) )
la menor cantidad
mi (perro|perra|gato|gata|bebe|hijo|hija|papa|mama|pareja|abuelo|abuela|nene) (es|tiene|no (puede|come|tolera)|pesa\
|toma|quedo)
mi (perro|perra|gato|gata|bebe|hijo|hija|papa|mama|pareja|abuelo|abuela|nene) esta(?! (preguntando|insistiendo\
|mirando|al) )
(el|la|los|las) (bateria|pantalla|contrato|trabajo|piso|pared|motor|auto|perro|perra|casa|agua|cocina|cuenta|archivo\
|tabla|version)\
 (es|esta|tiene|muerde|vence|no)
soy(?! (yo|principiante|nuev[oa]|un|una|medio|muy|cero|mal[oa]|malisim[oa]|curios[oa]|novat[oa]|tont[oa]|burr[oa]\
|consciente|de los\
|named|tan|el|la) ) | me (gusta|gustan|gustaria|duele|duelen|molesta|mareo|cuesta|cuestan|dejan?)(?! (aprender|saber\
|esto|preguntar) )
(mama|papa|doctor|doctora|medico|medica|jefe|jefa|profe|vecina|amiga|amigo) (dice|dijo|me dijo) que(?! (estoy|soy|no\
|sos|vos|eso) )
se sincer[oa] | (la|mi|nuestra) empresa | en el plan | pagu?[eo] | pagamos | compre | saco | pienso(?! (que|mucho) )
({_NUMBER}) ({_COUNTED}) | a las (una|{_NUMBER}) | somos [a-z]+ (a|en) | como (maximo|minimo) | posible(?= \\.)
(antes del?|para el) (lunes|martes|miercoles|jueves|viernes|sabado|domingo)
(en|de|desde|a|al|con|usando|por|para|del) named
"""
POINTS = """(?:en|del?|para|con|sobre|por|acerca de|desde|contra|preguntas?|consultas?|dudas?)\
(?: (?:el|la|los|las|una?|mis?|nuestr[oa]|su|tu))?"""
OWNS = "mis?|nuestr[oa]s?"
OPENS = """
en(?! (fin|serio|verdad|realidad|resumen|especial|plan|mi|la (trivia|oficina|sobremesa|cena|radio|tele|mesa|familia\
|ducha)|el (trabajo\
|laburo|grupo|asado|mate|colectivo|subte)|casa|confianza) )
con(?! (mi|permiso|respeto|todo|el mayor|mucho|perdon|carino|gusto|animo|verguenza|confianza|los|afecto|toda\
|un cafecito) )
para(?! (colmo|mi coleccion|sacarme|salir|que (te|sepas)|empezar|no|ganar|variar) )
sin(?! (apuro|prisa|animo|otro|duda|mas) )
segun(?! (mi|yo|dicen) ) | durante | que (sea|se|quede|no) | usando | nada de | algo (que|para|apto|bien|natural)
como si | lo mas
solo(?! (una|queria|quiero|por|curios[a-z]+|pregunto|eso|quisiera) ) | cuanto mas | nivel | tono | version | fuera
dentro | entre
desde(?! (ya|chic[a-z]+|el|hace|aca|que|nin[a-z]+) ) | hasta(?! (luego|pronto|la|manana|aca) )
"""

SMALL_TALK = """
[\u2600-\u27bf\U0001f300-\U0001faff]+ | hola+ | holis | buenas | buenos dias
buen(as)? (dia|tarde|tardes|noche|noches|finde) | ey | hey | oye | oiga | estimad[oa]s? | querid[oa]s? | muy senor
wey | guey | parce | compa | boludo | boluda | idolo | mi rey | frikis | cinefilos | saludos? | abrazos? | besos?
besitos | chau+ | chaito | adios | hasta (luego|pronto) | cordialmente | atentamente | gracias+ | grax | agradec[a-z]+
de antemano | desde ya | te debo | dios te lo pague | sos lo mas | eres el mejor | aplausos? | me salv[a-z]+
te quiero | los amo | te amo | perdon | perdon[a-z]+ | disculp[a-z]+ | molest[a-z]+ | incomodar | la lata
no quiero molestar | robar[a-z]* tiempo | con permiso | las faltas | lo siento | sin (apuro|prisa)
no hay (prisa|apuro) | que me enrollo | no me extiendo | sere breve | preguntita | dudas? | dudita | duda existencial
curiosidad | intrig[a-z]+ | responder(me)? | tu (ultima )?respuesta | su (amable )?respuesta
tu (tiempo|ayuda|paciencia) | su (tiempo|ayuda|paciencia) | ayud(a|ame|enme|anos|adme|eme|enos)+(?= [.,?])
ayud[a-z]+ a zanjar[a-z]* | auxilio+ | socorro | s\\.?o\\.?s | ilumin[a-z]+ | dame luz | aclarame | zanjar[a-z]*
(no lo|nunca lo|nunca|no) (se|supe|sabia|aprendi|entendi|aprend[a-z]+)(?= [.,])
nadie (supo|sabe|sabia|se acuerda|responde) | ni idea | ni uno | tenia idea
(saberlo|quiere saber|quise saber|quiero saber|queria saber|seguro (la|lo)? ?(sabes|sabe|tenes)|vos que sabes\
|deberia saberlo)
seguro la | a que no | se (nos|me) (borro|olvido|fue|escapa) | la punta de la lengua | me quede (pensando|con)
dandole vueltas | me puse a pensar | estaba pensando | pensando en | me acorde | se me ocurrio | no me sale
busque (por|en) | no encontre | perdid[oa]s?(?= [.,]) | perdidisim[oa] | bobada | estupid[a-z]+ | pavada | zonza
boludez | huevada | ignoran[a-z]+ | verguenza | avergonzad[oa] | me da pena
(te vas a|se van a|no se|no te) (reir|rian|rias) | juzgu[a-z]+ | papelon(es)?
soy (medio|cero|mal[oa]|malisim[oa]|nuev[oa]|principiante|muy metiche) | metiche | chusma | despistad[oa]
pasapalabra | crucigrama | autodefinido | sudoku | aposta[a-z]+ | aposte | discutiendo | discutimos
de mi (hija|hijo|nena|nene|sobrina|sobrino) para la escuela | para la (escuela|facu) | votamos | tengo razon
no tiene razon | dice que estoy | quiere saberlo | (me|le|nos) lo (pregunto|preguntaron) | el que pierde | (ja)+
(je)+ | (ji)+ | jaj[a-z]* | jej[a-z]* | lol | xd | uf+ | ufa | uy | mm+ | hmm | bah | o sea | este \\.+
bueno(?= [.,]) | listo(?= [.,]) | la verdad | sinceramente | honestamente | francamente | en serio | posta | enserio
lo juro | te lo juro | les juro | prometo | confieso | reconozco | lo admito | nada que ver | nada , | venga
voy al grano | al grano | cambiando de tema | ya que (estamos|estoy|te tengo) | eso es todo | nada mas por
no (me )?puedo dormir | sueno(?= [.,]) | largo dia | dia larguisimo | urgentisimo | me quiero morir | ruego | suplico
imploro | si no es (mucha )?molestia | si fueras | si me permite | cuando puedas | si pued[a-z]+(?= [.,])
que (tengas|tenga|descanses|descanse|estes|este|anden)
espero (que )?(estes|este|esten|andes|se encuentre|no|hayas|te|todo|les) | que onda | que hubo | quiubo | epale
quedo atent[oa] | quedo a la espera | espera de su | (me llamo|soy) [a-z]+ , | un gusto | encantad[oa](?= [.,])
soy yo | otra vez yo | de nuevo yo | yo otra vez | primera vez que (uso|escribo|pregunto) | nunca use uno
por la presente | me dirijo | quien corresponda | otro particular | el grupo de whatsapp | me alegr[a-z]+ el dia
datos (curiosos|inutiles) | cosas inutiles | me (encanta|fascina|copa) (este chat|aprender|esto)
el (taxista|dentista|peluquero) | hablando de (esto|eso) | me (hablo|comento|conto) [a-z ]*(de esto|algo)
lo (escuche|lei|vi|oi|dijeron|mencionaron) (en|por|de)? | te cuento | les cuento
te (molesto|tengo|hago|paso) (con|otra|una)? | va una | ahi va | aca va | ultima y | una mas y | otra mas
atencion(?= [.,]) | redoble | lanzate | largalo | larga el chisme | me pica la | me mata la | no me juzg[a-z]+
toc toc | (pana|compadre|profe|amig[oa]s?|vecin[oa]s?)(?= [.,]) | seguro que (tu|vos|usted|la|lo)
(sabe|saben) menos yo | madre mia | jolin | finjo que | sin saber esto | no es joda | volviendo loc[oa]
se entiende(?= [.?]) | tenganme paciencia | ten(eme|me) paciencia | de corazon | ninguno sabia | que todo lo sabes
todos? lo sabes? | el interesante | no le quito mas | sacó el tema | saco el tema | estudie en el | sin saberlo
(mi|una|esta) (apuesta|discusion) (con|en|de|por) | tenemos una (apuesta|discusion) | hay una discusion
(hicimos|hemos hecho|hecho) una apuesta | en (una|la|plena) trivia | jugando (a|al) | un crucigrama | el crucigrama
para (la escuela|la facu|el cole) | los deberes | se (nos|me) (borro|olvido|escapa|fue) (todo|de)
me quede (pensando|con la (duda|intriga)) | sos (un genio|una genia|lo mas|un sol|un crack|una maquina|un idolo)
eres (un genio|una genia|un sol|un crack|el mejor|la mejor|lo maximo) | dios te bendiga | que dios | tan amable
muy amable | te hago un altar | un altar | estimad[oa]s? (asistente|bot|equipo|senor|senora|senores) | gente linda
no (lo )?(se|entiendo|entendi)(?= [.,]) | nunca (lo )?(supe|aprendi|entendi)(?= [.,]) | ay(u|)dame(?= [.,])
ayuda(?= [.,]) | necesito (que me des )?una mano | dar una mano | (me|nos) das una mano | una nieta [a-z]+
mi mayor consideracion | se rian | no (soy|entiendo) (nada|mucho) (de esto|de estas cosas) | ando perdid[oa]
esto(y)? aprendiendo | soy principiante | como (andan|andas|estan|estas|va|te va|les va)(?= [.,?])
feliz (lunes|martes|miercoles|jueves|viernes|ano|semana|dia|finde|navidad)(?= [.,]) | no entiendo nada | no me entero
no supe | nadie supo | (mi|una|esta|otra|la|pregunta|hago una|ultima|primera|sola|simple|tonta|de) pregunta
preguntas(?= [.,]) | (te|le|les|me|lo|os|se) (pregunto|preguntaba|pregunte|preguntaron) | pregunto(?= [.,])
preguntar(te|le|les|lo|selo)?(?= [.,])
(queria|quisiera|quiero|permiso para|animo a|atrevo a|me da (cosa|verguenza)) preguntar[a-z]* | pregunto por un amigo
preguntandome | que tal(?= [.,?]) | sacar(me)? (de la|la|esta) duda | me salio
(dime|decime|contame|cuentame|tirame)(?= [.,]) | a la cabeza | emergencia nacional | che(?= [.,])
(capo|crack|genio|genia|maestro|maquina)(?= [.,]) | (soy|me llamo) named | viste(?= [.,]) | no paro de pensar
desde hace rato | (para|de) interrumpir | la interrupcion | consult(a|as|ita|arle|arte|arles|ar)(?= [.,])
(una|otra|mi|esta|la|hago) consult(a|ita) | te consulto | pense en consultar[a-z]*
(de|por|soy|ando|puro|pura|muy) curios[oa]s? | todo bien(?= [.,?]) | (estoy|estar|esta) equivocad[oa](?= [.,])
"""
CHATTER = """
(querido|querida|estimado|estimada|hola|ok|gracias)( [a-z]+)? (bot|robot|maquina|asistente|ia|chatgpt|gente) | gente
chicos | amig[oa]s? | genios? | crack | bot | robot | asistente | profe | maestr[oa] | linda | tont[oa] | bob[oa]
burr[oa] | desastre | novat[oa] | principiante | facilita | facil | rara | trivia | crucigrama | apuesta | discusion
debate | deberes | tarea | se(?= [.,]) | sabe | sabes | saben | saber | idea | pienso | pensando | entiendo | entendi
acuerdo | recuerdo | ayuda | ayudar | buscando | busque | encontre | confund[a-z]+ | perdid[oa] | aburrid[oa]s?
urgente | desesper[a-z]+ | contento | feliz | bueno | buenisimo | ok | dale | listo | claro | si(?= [.,])
no(?= [.,]) | bien(?= [.,]) | vale | asi que | entonces | pues | mira | ver | viste | creo | supongo | nada(?= [.,])
todo(?= [.,]) | verdad | cuento | contame | decime | cortita | corta | rapida | rapido | ultima | por favor | porfa+
porfis? | plis | pls | ay | ah | oh | a ver | en fin | por cierto | curios[oa] | consulta | agradecid[oa] | tranquilo
alguien | nadie
"""

DECIDING = words("""
alergia alergica alergico android ansiedad antibioticos app archivo archivos asma autismo celiaca celiaco celiacos
chrome ciego cirugia codigo daltonico diabetes diabetica diabetico django docker dolor duele embarazada excel fiebre
firefox gigas git gratis impresora intolerante ios iphone java javascript kilos kosher libreria librerias linux mac
medicacion medicamentos mido mysql navegador operaron pastillas pecho postgres presion python react rodilla router
sangre servidor sordo sql typescript ubuntu vegana vegano vegetariana vegetariano version wifi windows word
""")
KIN = words("""
abuela abuelo abuelos amiga amigas amigo amigos chicos colega colegas compa companera companero companeros cunada
cunado dentista esposa esposo hermana hermano hija hijo hijos jefa jefe madre mama marido mujer nena nene nenes nieta
nieto novia novio padre papa pareja peluquero pibe pibes prima primo primos profe sobrina sobrino suegra suegro
suegros taxista tia tio tios vecina vecino vecinos vieja viejo viejos
""")
KNOWN = words("""
a abrazo abrazos absurda aburrida aburridisimos aburrido aburridos aca aclarame aclarar aclares acordar acorde acordo
acuerdo adelante adios admito afirma agradecer agradeceria agradecida agradecido agradecidos agradezco ah ahi al alexa
algo alguien algun alguna alguno almuerzo alta altar alto amabilidad amable amiga amigas amigo amigos analfabeto
anecdota angel anima anime animo anoche antemano antes aplauso aplausos apostado apostamos aposte aprender aprendi
aprendiendo aprendo apuesta apuestas aquel aquella aqui ascensor asegura aseguran asi asistente atentamente atte aun
auxilio avergonzada avergonzado ay ayer ayuda ayudaaaa ayudame ayudanos ayudar ayudas ayude ayudeme ayudes bah barbara
barbaro basica basicamente basico bastante bendiciones bendiga besitos beso besos bestia bien blanco boba bobada bobo
boluda boludez boludo borro bot breve bruta bruto btw buen buena buenas buenisimo bueno buenos burra burro buscado
buscando buscar busco busque cabeza cada cansada cansadisima cansado capa capaz capo cazo cena cerebro cero chao
charla charlando chatgpt chau che chica chicas chicos chiquita chisme chiste chistosa chusma chusmear claro comentaron
comento como compa compadre con confieso confunde confundida confundido confusa confuso consejito consulta consultando
consultar consultarle consultarles consultarte consultas consultita consulto conta contame contaron contenta contento
contesta contestar conteste contestes conto convencer conversacion conversando cordialmente corrector corta cortita
corto cosa cosas cosita crack cree creen crei creia creo crucigrama crucigramas cual cualquiera cuando cuentas cuento
curiosa curiosidad curioso curiosos da dale dar das de debate debatiendo deber deberia debo deci decime decir dedos
dejar deje dejo del demostrar demostrarle desastre desde desesperacion desesperada desesperado despues desvelado
detalle dias dice dicen diciendo diganme digo dije dijeron dijo dime dio dios disculpa disculpar disculpas disculpe
disculpen discusion discutiendo discutimos discutir divina divino domingo donde dont dormi dormida dormido dos ducha
duda dudas dudita e echa echais echas eh el ella em emergencia emm en encanta encima encontrar encontre encuentro
ensenar ensenaron enserio entender entendi entendia entendiera entiende entiendo entonces equipo equivoca equivocada
equivocado era eramos eres es esa escuchando escuche ese eso espera esperando espero esta estaba estado estamos estan
estando estar estaria estas este estes estimada estimadas estimado estimados esto estos estoy estupida estupidez
estupido estuve eternamente excelente existencial explicaban explicame explicaron explico explota exploto extrana ey
facil facilisima facilita falta fascina fastidiar fastidio favor favorcito feliz fin finde francamente frustrada
frustrado frustre fue fueron fui fyi ganar ganas gane gano gansada genia genial genio genios gente gentil gentileza
gilada google googleando googlee grac gracias graciela gran grande grandes grano grax grosa groso grosso guey gustaria
gusto ha haber habia hablaba hablando hablaron hablo hace hacen hacer haciendo hago han harta harto hasta hay he hecho
hello hemos hey hi hice hizo hmm hola holis honestamente hora horas hoy huevada iba ibamos idea ideas idola idolo
idolos ignorancia ignorante igual ilumina iluminame ilumines imagino imploro impresionar incognita incomodar inexperto
infinitas insiste insisten interesa interesante interrogante interrumpir interrumpo interrupcion intriga intrigada
intrigado intrigante inutil inutiles ir ja jaja jajaja jajajaja jamas jefecito jeje jejeje jiji joda joder jodo jueves
jura juran juro juzgar juzguen juzgues la laguna larga largo las lata le leer lei lenta lento lerda lerdo les leyendo
listo literal llamo llegar llego llevo lo loca loco lol los lucirme luego lugar lunes maestro mal mala malisimo malo
manana manito mano martes mas mata matando mayusculas me medio mejor mejores meme memes memoria menciona menciono
menos mente mera mesa mi mia miente mienten miercoles mil minutito minuto minutos mio mira mire mis misma mismo mmm
molesta molestar molestarte moleste molestia molestias molesto momentito momento morir mucha muchachos muchas
muchisimas mucho muero mundo muy nada nadie named negada negado nerviosa nervioso neurona neuronas ni ningun ninguna
ninguno no noche nomas nos novata novato nuestra nuestro nueva nuevo nunca o obvia obvio odia oficina oh oi oido oiga
oigan ojala ok okay okey olvida olvidado olvide olvido ortografia oso otra otro oye paciencia pague pana papelon
papelones para parce parece parecer parte pasa pasapalabra paso pavada pavo pelea peleando pena pensaba pensamiento
pensando pensar pense pequena pequenita perdi perdida perdidisima perdido perdon perdona perdonad perdonar perdone
perdonen permiso pero pesada pesadas pesadez pesado pesco pide pidio pienso pierdo please plis pls plz poca poco
podcast poder podria podrias poner por porfa porfavor porfi porfis porque posta pregunta preguntaba preguntado
preguntados preguntan preguntando preguntar preguntaron preguntarte preguntas pregunte preguntita pregunto presente
primera primero principiante principiantes profe prometo pude puede pueden puedo pues pura puro puse puso que queda
quedar quede quedo quemo querer queria querida querido queridos queso quien quiere quieren quiero quisiera quita
quitarle quito quizas rapida rapidita rapidito rapido rara raro rato razon recien reconozco recordar recuerdo resolver
responda respondas responder respuesta respuestas resuelve retardado riais rian rias ridicula ridiculo risa robarte
robo robotito roche rollo ronda rondando ruego sabado sabe sabemos saben saber sabes sabia sabias sabiendo sacame
sacar sale salio salir saludo saludos salvador salvan salvas salvaste salvavidas saque se sea sean seguir segundito
segundo segura segurisimo seguro semana semanas sencilla sencillo senor senora senores senorita sentido ser seria
serio si sido siempre sigo siguiente simple sincera sinceramente sincero siri sobre sobremesa socorro sofa sola solo
somos son sopa sos sostiene soy su supe supiera supiese suplico supo suponer supongo sus tal tambien tampoco tan tanto
tarde taxista te teclado tema temas tenemos tener tenes tengo tenia tiempo tienes tiktok tipeo tirame tirar tirenme
toda todas todavia todo todos tonta tonteria tonto torpe tostón total totales trabada trabado trabamos trae traigo
triste trivia tu tus tuve u uf ufa uff ultima ultimamente ultimo un una unas uno unos urgencia urgente urgentisimo
usted ustedes uy va vale vamos van vas veces vengo venir ver verdad verguenza vez vi viendo viene viernes vio volver
volviendo vos voy vuelta vueltas vuelvo vuestro wacho wey wikipedia xd y ya yo zanjar zanjarla zonza
""")
