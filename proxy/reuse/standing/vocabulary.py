"""What words are to a message: the vocabulary of `english` and `spanish`.

NOUNS     are of something, or stand for one thing of their kind: they need to be told which. In the singular
FUNCTION  holds a sentence together; PLAIN  is said of anything: neither tells what a sentence is about
UNIQUE    is one of a kind: "the moon" needs no word before it
"""

from proxy.language.phrases import words

NOUNS_EN = words(
    """
    adaptation advantage age aim airline airplane album amount answer app application area argument army article
    artist aspect association attack author band bank base beginning behavior benefit book boss bottom boy brand
    brother bug building business capital career case category cause challenge change chapter character
    characteristic church city class club code college color colour committee company component con conclusion
    condition consequence context controversy cost council country court creation creator critic criticism date
    daughter day deal death decade definition delivery department description design detail development device
    difference difficulty dimension director disadvantage discovery disease distance document dose downside drawback
    drug duration edition effect election employee end error evening event example exception expedition experience
    fact factor feature fee file film flavor food form format formula founder function funds future game girl goal
    government group guest guy height history hour husband idea identity image impact implication importance info
    information ingredient instruction interpretation invention issue item job key kid kind language leader league
    length lesson letter level license limit limitation line link list location loop machine main man manager
    maximum meaning measure medication medicine member message method minimum minister minute model moment money
    month moral morning mother movie museum name nature night notable novel number objective opinion option order
    origin outcome owner page painting pair paragraph parent part party penalty people percentage performer permit
    person piece place plan plant player plot plus poem point policy population position possibility president price
    principle pro problem procedure process product program project promise property protagonist purpose quality
    question range rate rating reaction reason reboot recipe recommendation record relation relationship reply
    report requirement resort result review reward rise risk role rule sample score season section segment sentence
    series service setting shape shipping show sibling side sign significance singer sister site situation size
    software solution son song source speed spot stadium stage standard start state statement station step store
    story structure student style subject success summary support surface symptom system table task teacher team
    temperature tense term text theme theory thing time timeline tip title tone tool topic town tradition treatment
    trend trick type university use user value variety version victim view village vote warning way weakness website
    week weight width wife winner woman word work world writer year
    """
)
FUNCTION_EN = words(
    """
    a an the i i'm i'd i've i'll me my mine we us our you you're your one no not any some all every each of in on at
    to for from by with without about into over under between among during before after until since than as if when
    while where what what's which who who's whom whose how how's why and or but so because though whether is isn't
    are aren't am was were be been being do does doesn't don't did didn't can can't cannot could should shouldn't
    would will won't must may might shall have has had having like there that very really just only still even ever
    never always often usually typically actually exactly currently
    """
)
PLAIN_EN = words(
    """
    apply applies applied many much more most less least few lot lots done get gets got getting go goes going went
    come comes make makes made making take takes taken took give gives given gave use uses used using need needs
    needed want wants know known think tell told say says said see seen look looks find found show shows explain
    describe define list name write compare translate convert recommend suggest summarize summarise help helps work
    works happen happens happened let put keep start started stop try please well good bad best worst better worse
    great big small large little long short high low old new different important main common popular typical
    possible right wrong true false safe legal first second third last next other same such own whole entire
    interesting famous special necessary required available easy hard simple fast quick cheap expensive early late
    today now two three four five six seven eight nine ten mean means meant called cost costs lasts lasted become
    became call ask answer change changed die died born live lived lives leave left win won lose lost eat eats drink
    buy buys sell sells pay pays play plays run runs wear bring begin began end ended exist exists cause causes
    caused include includes contain contains provide provides produce lead leads wrote writes created developed
    discovered invented founded considered allowed built held grown treated cure treatable worth okay fine ready
    away up down out off back together apart far near soon successful effective traditional correct sure free open
    closed normal dangerous healthy useful difficult influential someone anyone everyone something anything nothing
    everything somebody wonder idea chance honestly lol i.e. etc happy formal informal english spanish french german
    italian portuguese enough extra included sufficient mandatory optional alive dead twice once daily weekly red
    green blue yellow black white brown grey gray
    """
)
UNIQUE_EN = words(
    """
    sky sun moon earth world universe brain heart human liver ocean sea atmosphere equator web blockchain holocaust
    renaissance bible un us uk eu usa flu telephone gravity photosynthesis inflation who internet titanic covid
    """
)
NOUNS_ES = words(
    """
    actividad actor actriz acuerdo aerolinea alcalde alcance algoritmo alternativa altura alumno amigo ano aparato
    apellido aplicacion area argumento articulo artista asociacion aspecto ataque auto autor autora autoridad banco
    banda barrio base batalla beneficio boton bucle caja calidad calle camara cambio camino canal cancion cantante
    cantidad capital caracteristica carta casa cascara caso causa cavidad cifra ciudad clase clausula cliente clima
    club codigo colegio color columna comite compania componente comunidad concepto conclusion condicion
    consecuencia consejo contexto contraindicacion control coste costo creador critica cuadro cuenta cuento cura
    curso dato definicion desarrollo descripcion descubrimiento desenlace destino desventaja detalle dia diagnostico
    diferencia dificultad dimension direccion director directora disciplina disco diseno documento dolor dosis duena
    dueno duracion edad edicion edificio efecto ejercicio ejercito elenco empresa enfermedad entidad entrega envio
    episodio epoca equipo error escritor escritora escuela espacio estacion estadio estado estilo estreno estructura
    etapa evento evolucion excepcion explicacion fabrica factor facultad familia fecha filtro fin final finalidad
    forma formato formula frase fuente funcion fundador futuro ganador gasto gente gobierno grupo habitante hecho
    heroe historia hora horario hospital hotel idea identidad idioma iglesia imagen impacto importancia importe
    inconveniente indice informacion ingrediente inicio instalacion instruccion integrante interpretacion invento
    invitado jefe juego juez jugador jugo lado lectura lengua letra libro liga limite linea lista local lugar
    madrugada maestro manana manera maquina marca masa materia material maximo mecanismo medicamento medicina medico
    medida mejora menor mensaje mes metodo mezcla miembro minimo ministro minuto modelo modo molde momento moneda
    motivo motor movimiento mundo museo nivel noche nombramiento nombre nota novela novio numero objetivo obra
    opcion operacion opinion orden origen paciente pagina pais palabra pantalla paquete parrafo parte participante
    partido paso pastilla pelicula peligro pena pensamiento perilla persona personaje peso pieza piso plan plato
    plazo poblacion poema porcentaje posibilidad posicion precio pregunta premio presidente presupuesto primero
    principio problema procedimiento proceso producto profesor programa promedio propiedad proposito protagonista
    provincia proyecto prueba pueblo puesto puntaje punto raiz rango razon reaccion receta recomendacion recurso
    regalo regla reina relacion relleno remedio requisito respuesta restaurante resultado resumen reunion rey riesgo
    rio ritmo rol ropa salida santo secundario semana sentido serie servicio sigla siglo significado signo sintoma
    sistema sitio situacion solucion superficie tabla talle tamano tarde tarea tarifa tasa tecnica tema temperatura
    temporada tendencia termino texto tiempo tienda tipo titulo toma tono trabajo tradicion trama tramite tratado
    tratamiento tribunal truco turno ubicacion unidad universidad uso usuario valor variable variante variedad
    velocidad vencedor vendedor ventaja verbo version vestido via viaje victima vida videojuego virtud vista
    vivienda volumen voto zona
    """
)
FUNCTION_ES = words(
    """
    el la los las un una unos unas al del a de en con por para sin sobre entre desde hasta segun durante hacia
    contra tras y e o u ni que cual cuales quien quienes como cuando cuanto cuanta cuantos cuantas donde adonde
    porque si no mi mis tu tus me te se nos le les yo vos usted ustedes nosotros
    """
)
PLAIN_ES = words(
    """
    es son era eran fue fueron ser sera seria sido sea sean siendo esta estan estar estaba estuvo hay haber habia
    hubo haya ha han he hace hacen hacer hizo hago haces puede pueden puedo podes puedes podria podrias podemos
    poder debe deben debo deberia tengo tiene tienen tener tenia tuvo tenes tienes va van voy ir vas fui viene
    vienen venir da dan dar dio doy dice dicen decir dijo decime digo sirve sirven usa usan usar uso funciona
    funcionan cuesta cuestan vale valen sale salen tarda tardan dura duran pesa pesan mide miden queda quedan llama
    llaman lleva llevan llevar nacio murio gano perdio paso pasa pasan pasar vive viven vivio escribio invento pinto
    descubrio creo fundo empezo termino termina empieza abre abren cierra cierran trae traen cubre incluye incluyen
    ofrece contiene contienen produce producen causa causan cobra cobran paga pagan come comen necesita necesitan
    necesito necesitas requiere quiere quiero queres quieres sabe saber sabes conviene recomendas recomiendas
    recomendame dame contame explicame explica explicar mostrame muestra define defini escribi escribe lista nombra
    traduci resumi compara tipo muy mas menos mucho mucha muchos muchas poco poca pocos pocas bastante tan tanto
    tanta todo toda todos todas cada algun alguna algunos algunas ningun ninguna cualquier bien mal mejor peor
    mejores peores mayor menor bueno buena malo mala gran grande grandes chico chica pequeno pequena nuevo nueva
    viejo vieja largo corto alto bajo primer primera segundo segunda tercer tercera ultimo ultima mismo posible
    necesario importante importantes principal principales comun comunes facil dificil gratis caro barato caros
    baratos legal seguro peligroso normal correcto cierto verdad verdadero falta hoy ahora siempre nunca ya todavia
    aun solo antes despues luego tambien aca aqui asi casi veces vez uno dos tres cuatro cinco seis siete ocho nueve
    diez significa significan existe existen afecta puedan pueda ver hecho hacerse ponen pone pongo poner saca saco
    sacar guarda guardo ayuda ayudan tomo toma tomar gasta gastan corre rinde anda andan sigue siguen parece parecen
    llega llegan llego sufre aparece gusta gustan aprende aprender consume mata aguanta resiste soporta permite
    permiten ingles espanol frances aleman italiano portugues gracias favor suficiente obligatorio obligatoria
    opcional incluido incluida extra aparte vivo viva vivos vivas verde rojo roja azul amarillo amarilla negro negra
    blanco blanca gris marron
    """
)
UNIQUE_ES = words(
    """
    internet titanic cielo sol luna tierra universo cerebro corazon higado oceano mar atmosfera ecuador biblia
    renacimiento holocausto telefono embarazo espacio inflacion gripe diabetes hipertension ansiedad depresion
    celiaquia covid dengue democracia gravedad fotosintesis aguinaldo monotributo abecedario constitucion
    deshidratacion
    """
)
