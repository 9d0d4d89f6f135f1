"""Spanish frames: tables that `frames` works by, described there."""

from proxy.language.phrases import prefix_tree

_DOING = "[a-z]*[aei]r(me|te|se|lo|la|los|las|le|les|nos)?(lo|la|los|las)? "
_ABOUT = """( (acerca de|sobre|respecto (a|de)|con respecto a|en cuanto a|del|de(?= (como|por|cuando|si|la|el|los|las\
|una?) )))?"""
_PLEASE = "( (por favor|porfa|porfis|amablemente|usted|ustedes|vos|tu|alguien|quizas|tal vez|acaso|me|nos))*"

# What a clause begins with that asks; and what the name of a thing does not begin with.
_ASKED = """ ((a|de|en|con|por|para|desde|hasta|sobre) )?(como|que|cual|cuales|cuando|donde|adonde|cuanto|cuanta\
|cuantos|cuantas|quien|quienes) """
_THING = """(?= [a-z0-9"'])(?! (a|en|de|con|por|para|sin|como|si|que|cual|cuales|cuando|donde|cuanto|cuanta|cuantos\
|cuantas|quien|quienes|esto|eso|esta|este|ese|esa|estos|estas|me|te|se|le|les|lo|nos|todo|algo|mas|otra|otro|y|o|pero\
|no|yo|vos|usted|paso|brevemente|mejor|bien|[a-z]+[aei]r|un (chiste|cuento|poco)) )"""

_GREETS = prefix_tree("""
hola | holis | che | ey | hey | buenas | oye | oiga | mira | mire | bueno | perdon | perdona | perdone | disculpa
disculpe | disculpen | ok | dale | y | pero | escucha | a ver | eh | ah | ay | uy | boludo | boluda | loco | amigo
amiga | gente | estimad[oa]s? | senor | senora | senorita | entonces | pues | tio | tia | guey | weon | pana
consulta
pregunta | pregunto | parce | wey | buen hombre | muy buenas | o sea | venga | andale | vale | xfa | la verdad
una (pregunta|consulta|duda)( rapida)? | (vos|tu|usted) que sabes? | buen dia | buenos dias | buenas (tardes|noches)
""")
# Asks that something be done: whatever follows is what is asked for.
_BEGS = prefix_tree(f"""
(seria|serias|serian|sos|eres) (usted |vos |tu )?(tan|muy) (amable|gentil|bueno|buena|amables) (de|como para\
|en){_PLEASE}
(tendria|tendrias|tenga|ten|tiene|tenes) (usted |vos )?la (amabilidad|gentileza|bondad|cortesia) de{_PLEASE}
(me|nos) (haria|harias|hace|haces|hacen) (usted |vos )?(el|un) (gran )?favor de
(haga|hace|haceme|hazme) (el|un) favor de
por (medio de )?(la presente|este medio) (le )?(solicito|pido|ruego)( que)?{_PLEASE} | sirvase | sea tan amable de
(tenga|tengan|tendria|tendrian|tiene) a bien | (hagame|haganme|hacedme|me haria) (el|la) (favor|gentileza) de
me (haces|haria) la gauchada de | (haceme|hazme) (la segunda|el paro) y | por favor | porfa | porfis
(le|te|les|os) (ruego|rogaria|suplico|encarezco)( (que|tenga a bien|se sirva))*{_PLEASE}
""")
# These may as well begin a question of their own ("puede uno …"): frames only before a verb of telling.
_MAY_YOU = prefix_tree(f"""
(podes|podrias|podria|podrian|podras|podra|podeis|podriais|puedes|puede|pueden|sabrias|sabria|sabrian|queres|quieres\
|quiere|querrias|querria|te animas a|se anima a|vas a|va a){_PLEASE}
(me|nos|le|te|usted|vos|tu|alguien|alguno|ustedes) (me )?(podes|podrias|podria|podrian|podras|podra|podeis|podriais\
|puedes|puede|pueden|sabrias|sabria|queres|quieres|quiere|querrias|querria|vas a|va a){_PLEASE}
(seria|es) posible que(?= (me|nos|usted|alguien) ){_PLEASE} | hay (alguna )?(posibilidad|chance|forma) de que{_PLEASE}
(le|te|les|os) (agradeceria|agradezco|pido|pediria|solicito)( (mucho|muchisimo|infinitamente|encarecidamente\
|amablemente))*( (que|si|tenga a bien|se sirva|pudiera|pudieras|podria|podrias))*{_PLEASE}
(agradeceria|agradezco|ruego|rogaria|solicito|suplico|pido)( (mucho|encarecidamente))* (que|si|se sirva){_PLEASE}
(le|te|les) (estaria|quedaria) (muy |sumamente )?agradecid[oa] si{_PLEASE} | de casualidad
(desearia|deseo|quisiera|quiero|querria|necesito|necesitaria|preciso|me gustaria|me encantaria|espero) que\
(?= (me|nos|usted|alguien|vos|te) ){_PLEASE}
""")
_TOLD = "(ar|a|as|an|ad|ais|e|es|en|aria|arias|arian|ara|aras|aran|ase|ases|asen)(me|nos)?"
_TELLS = "((tu|vos|usted|alguien) )?((se )?(me|nos|te|le) )?" + prefix_tree(f"""
(explic|aclar|cont|ensen|indic|detall|orient|inform|ilustr|ilumin|asesor|coment|comunic|precis|mostr|record\
|aconsej){_TOLD}
(expliqu|indiqu|comuniqu|cuent|muestr|recuerd)(e|es|en|a|as|an|ase|ases)(me|nos)? | decir(me|nos)? | decis
dec[ei](me|nos) | di(me|nos|ga|gas|gan|game|ganme|ganos|ces|ce|ria|rias|rian|jera|jeras|jese)
(hacer|hac[ei]|haz|haga)(me|nos)? saber | (sab|cach)(es|e|en|eis|ais|as) | sab(ria|rias|rian)
defin(i|e|a|as|ir|is)(me)?
(ayud)(ar|a|as|an|e|es|aria|arias)(me|nos)? (a|para) (entender|comprender|saber|averiguar|aprender)
(dar|dame|deme|des|de|diera|brindar|brinde|das)(me)? ((una|alguna|algun|la|el|un|mas) )?(explicacion|explicaciones\
|info\
|informacion|detalles|consejos|orientacion|pista|data|indicaciones|instrucciones)
(pas|tir|bat)(ar|ame|as|aria|arias|a|e|es)(me)? (la |el |una )?(posta|data|justa|info|informacion)
sac(as|a|ar|ame|arias|aria)(me)? (de )?la duda
""")
_EXPLAINS = "((vos|tu|usted|alguien) )?((se )?(me|nos) )?" + prefix_tree(f"""
(explic|aclar){_TOLD} | (expliqu)(e|es|en|ase)(me|nos)? | (defin)(e|i|a|as|es|is|ir|iria)(me|nos)?
(habl|cont|cuent|inform|orient|ilustr|ilumin){_TOLD} (de|sobre|acerca de|respecto de)
ayud(a|e|ar|as|es)(me|nos)? a (entender|comprender)
""")
_NAMES = """((me|nos|te|le) )?(decir|indicar|informar|aclarar|explicar)?(decime|dime|digame|digas?|dices|decis|diria\
|dirias\
|decirme|indica|indicas|indique|indiques|indicame|indicarme|indicaria|informe|informeme|sabes|sabe|saben|sabrias\
|sabria)\
( (sobre|acerca de))?"""
_LEARN = """(saber|entender|conocer|preguntar|consultar|averiguar|comprender|aprender|informarme|enterarme\
|preguntar(le|te\
|les|os)|consultar(le|te|les|lo|los|os)|tener claro|sacarme la duda|recordar|hacer(le|te|les) una (pregunta|consulta)\
|(recibir|obtener|pedir|solicitar)( mas)? (informacion|orientacion|una explicacion))( (si es posible|por favor|mas\
|bien\
|mejor|un poco|de una vez))?"""
# Of these, what follows is the thing itself; whoever wants to learn French does not ask what French is.
_LEARN_THING = """((entender|comprender|tener claro)( (mas|bien|mejor|un poco))?|saber(?= (el|la|los|las) )|(saber\
|aprender\
|averiguar|informarme|enterarme|preguntar|consultar|preguntar(le|te|les)|consultar(le|te|les)|(recibir|obtener\
|solicitar\
|pedir)( mas)? (informacion|una explicacion))( mas)? (acerca de|sobre|respecto (a|de)|en cuanto a|por(?= (el|la|los\
|las) )))"""


def _wants(learn: str) -> str:
    return prefix_tree(f"""
(quisiera|quiero|queria|querria|quisieramos|queremos|queriamos|necesito|necesitaria|necesitamos|preciso|deseo\
|desearia\
|intento|trato de|vengo a|paso a|podria|puedo|escribo para) {learn}
(solo|solamente|yo|bien) (quisiera|quiero|queria) {learn}
(me|nos) (gustaria|interesa|interesaria|encantaria|urge|vendria bien|hace falta|permite|permites|permitis\
|permito) {learn}
me seria (muy util|util|de (gran|mucha) (utilidad|ayuda)) {learn} | (seria|estaria) (bueno|util|interesante) {learn}
(estoy|ando) (tratando de|intentando|queriendo|interesad[oa] en) {learn} | tengo (ganas de|que|curiosidad por) {learn}
(dejame|dejeme|permitame|permiteme|permitime) {learn} | (le|te|les|os) escribo para {learn}
me dirijo a (usted|ustedes) para {learn}
""")


_WANTS_INFO = "(solicito|pido|necesito|agradeceria|requiero)( mas| una)? (informacion|explicacion) (de|sobre|acerca de)"
_UNSURE = prefix_tree("""
(tendra|tendria) (usted )?idea | (alguien|alguno|vos|tu|usted|ustedes) (sabe|sabes|saben|sabria|sabrias|conoce)
(sabes|sabe|saben|sabeis|sabrias|sabria)( (vos|tu|usted|ustedes))?
(tenes|tienes|tiene|tienen) (alguna |la menor )?idea
(alguien|vos|tu|usted) (tiene|tienes|tenes) (alguna )?idea | alguna idea | ni idea
no tengo (ni |la menor |la mas minima )?idea | me (pregunto|preguntaba|olvide|intriga|da curiosidad)
no (se|entiendo|comprendo|recuerdo|me acuerdo|logro entender|termino de entender|tengo claro|me queda claro)\
( (bien|muy bien|nunca))?
(siempre|nunca) (me pregunte|supe|entendi) | (te|le|les|os) (pregunto|consulto|hago una consulta)
yo (no se|me preguntaba) | (mi|la|una) (duda|pregunta|consulta)( (es|seria))? | recordame | recuerdame
(tengo|tenia) (una |la )?(duda|pregunta|consulta) | me (surge|surgio|entro|queda|quedo) (una |la )?(duda|intriga)
""")

OPENING = f"""(({_GREETS}|por favor|porfa)( ,)? )*(\
(({_BEGS}|{_MAY_YOU}) )?({_TELLS}{_ABOUT}( por favor)?(<>(?={_ASKED})| si<>)\
|{_EXPLAINS}( (el|la) (concepto|nocion|idea) de)?<que es>{_THING}\
|{_NAMES}<que es>(?= (el|la|los|las) )\
|((me|nos) )?ensen(a|ar|as|ame|arme|es|e|eme|arias|aria) a<como>(?= {_DOING})\
|((pido|necesito|requiero|preciso|solicito) )?(su|tu|una|alguna) (ayuda|asistencia\
|orientacion) para<como>(?= {_DOING}))\
|({_wants(_LEARN)}|{_UNSURE}){_ABOUT}(<>(?={_ASKED})| si<>)\
|({_wants(_LEARN_THING)}|{_WANTS_INFO})<que es>{_THING}\
|(necesito|solicito|requiero|preciso) (su|tu|una|alguna) (ayuda|asistencia|orientacion) para<como>(?= {_DOING})\
|{_BEGS}<>(?! (no|si) )\
|(la |el )?definicion de<que es>\
|((los )?pasos|(el )?(procedimiento|tramite|proceso)|(la )?(mejor )?(forma|manera)) (para|de)<como>(?= {_DOING})\
|({_GREETS}|por favor|porfa)<>(?= (({_ASKED.strip()})|es|se|me|hay|puedo|tengo|quiero|[.?,]) ))"""

_WAY = """(formas?|maneras?|modos?|metodos?|pasos?|procedimientos?|proceso|tecnicas?|tramites?|mecanismo|secreto\
|trucos?\
|comandos?|sentencias?|formulas?|instrucciones|camino)"""
_GOOD = """((mejor|mejores|buena|buen|correct[oa]s?|adecuad[oa]s?|apropiad[oa]s?|recomendad[oa]s?|ideal|efectiv[oa]s?\
|posibles?|mas (adecuad[oa]|recomendable|correcta|conveniente)) )*"""
_TAKE = """( (a seguir|necesari[oa]s?|correct[oa]s?|adecuad[oa]s?|recomendad[oa]s?|recomendables?|posibles?\
|que (hay que\
|debo|tengo que|se debe|se deben|hay|existen?|puedo|conviene)( seguir| dar| hacer| usar)?))*"""
_CAN = """(puedo|podria|podriamos|podemos|se puede|se pueden|se podria|puedes|podes|debo|debemos|deberia|se debe\
|hay que\
|tengo que|tenemos que|tendria que|logro|consigo|conviene|corresponde|es posible|hago|hacemos|haces|se hace|haria)"""
_ADVISE = "(recomendas|recomiendas|recomienda|aconsejas|aconseja|sugieres|sugeris|sugiere)"
_SOME = "(algun[oa]?s?|un[oa]s|un(?= buen )|una(?= buena ))"
_EVER = "(corno|carajo|rayos|diablos|demonios|cuernos|mierda|exactamente|cono)"
# "Qué significa la bandera" asks for more than what the flag is; a word and its thing are one.
_WORD = """(?! (mi|tu|su|este|esta|ese|esa|eso|esto|sonar|(el|la|los|las|una?) (color|colores|bandera|escudo|luz|luces\
|nombre|suenos?|cancion|letra|tatuaje|vida|amor|emoji|simbolo|numero|final|senal|mancha|raya|punto|sonido)) )"""

ANYWHERE = {
    "como": f"""
(cual|cuales) (es|son|seria|serian) (la |las |el |los |una |un )?{_GOOD}{_WAY}{_TAKE} (de|para)(?= {_DOING})
que {_GOOD}{_WAY}( (hay|existen?|puedo|debo|tengo que|hay que|deberia|conviene|me|se|le|usted|vos|{_ADVISE}|seguir\
|siguen|usar|tomar|es|son|seria))* (de|para)(?= {_DOING})
(de|en) que (forma|manera|modo) | mediante que (metodo|procedimiento|medio) | que sirve para(?= {_DOING})
que (puedo|debo|tengo que|hay que|deberia|debemos|se debe|se puede|podria|podemos) hacer para(?! que )
que (hago|hacemos|se hace|haces) para(?= {_DOING}) | que (me |se |usted )?{_ADVISE}( (vos|usted))? para(?= {_DOING})
hay (alguna |una )?(buena )?(forma|manera|modo) de(?= {_DOING})
hay (algun|un) (modo|metodo|truco) (de|para)(?= {_DOING})
(algun|algunos|alguna|que|tenes algun|tienes algun) (tip|tips|consejo|consejos|truco|trucos) (de como|para\
|sobre como)(?= {_DOING})
como {_CAN}( hacer)? para( que)? | como le hago para
como ({_CAN}|uno puede|puede uno|debe uno|sabe uno|uno|se|{_EVER})
""",
    "por que": f"""
a que se deben?( el hecho de)?( que)? | por (que|cual) (motivo|razon|causa) | por que ({_EVER}|sera que|es que)
(cual|cuales) (es|son|fue|fueron|seria) (la |las |el |los )?(razon|razones|motivos?|explicacion) (de que|del?\
|por (el|la|los|las) (que|cual|cuales)|por que|para que|para)
(el|los|la|las) (motivos?|razon|razones) por (el|la|los|las) (que|cual|cuales) | (como es|a santo de) que
""",
    "que causa": """
(cual|cuales) (es|son|fue|fueron) (algunas de )?(la |las )?(principal(es)? )?causas?( principal(es)?)? del?
que (provoca|ocasiona|origina)
""",
    "que es": f"""
que (significan?|quieren? decir)( que|{_WORD})( (el|la) (palabra|termino|expresion|frase|concepto de|concepto))?
que se entiende por | que ({_EVER} es|es {_EVER}|es eso de|es lo de) | en que consisten? | que (onda|rollo) con
que (me )?(podes|puedes|puede|podrias|podria) (decir|contar)(me)? (de|sobre|acerca de) | que sab(es|e) (de|sobre)
(cual|que) es (la definicion|el concepto|la nocion) del?
(cual|que) es el significado del? (la palabra|termino|concepto)
(cual|que) es el significado de{_WORD}(?! (el|la|los|las|lo) )
""",
    "cuando": "a que horas? | en que momento",
    "cuando es el mejor momento": """
cual es el (mejor momento|momento (ideal|adecuado|indicado|justo|perfecto))(?= (para|de) )
cuando es el momento (ideal|adecuado|indicado|justo|perfecto)(?= (para|de) )
""",
    "que se siente": """
(como|que) se siente(?= (ser|estar|vivir|tener|perder|al) ) | como es(?= (ser|estar|vivir|trabajar|estudiar) )
""",
    "que": f"""
me (podes|puedes|puede|podrias|podria) (recomendar|sugerir|aconsejar) {_SOME}
(podes|puedes|puede|podrias|podria) (recomendar|sugerir|aconsejar|recomendarme|sugerirme|aconsejarme) {_SOME}
me (recomendas|recomiendas|recomienda|sugeris|sugieres|aconsejas) {_SOME}
(recomendame|recomiendame|sugerime|sugiereme) {_SOME}
""",
    "donde": f"en (que|cual) (lugar|sitio|parte) | adonde | a donde | donde {_EVER}",
    "cada_cuanto": "con que (frecuencia|periodicidad|regularidad) | cada cuanto( tiempo)? | que tan (seguido|a menudo)",
    "cuantos": "que (cantidad|numero) de(?= [a-z]+s ) | cual es (la cantidad|el numero) de(?= [a-z]+s )",
    "cuanto dura": "(cual|cuanta|que) (es )?(la )?duracion (tiene|tienen|del?) | cuanto (tiempo )?duran?",
    "cuanto tarda": "cuanto (tiempo )?(tardan?|se tarda|demoran?|se demora|lleva|toma)( en)?",
    "cuanto tiempo": "(por|durante) cuanto tiempo",
    "cuanto cuesta": """
cual es el (precio|costo|coste|valor) del? | que (precio|costo|valor) tienen? | que es el (precio|costo|coste) del?
a (cuanto|que precio) (esta|estan|sale|salen|se venden?)
cuanto (cuestan?|valen?|salen?)(?! (pi|x|y|n|la raiz|el seno) )
""",
    "que diferencia entre": """
(cual|cuales) (es|son) (la |las )?(diferencias?|distincion) (que hay |que existe )?entre
que (diferencias?|distincion) (hay|existen?|tienen?)( entre)? | (la|las) (diferencias?|distincion) entre
""",
    "puedo": f"(es|seria) (posible|factible|viable)(?= {_DOING}) | se (puede|pueden|podria) | puede uno | uno puede",
    "que utilidad": "para que (sirven?|se usan?|se utilizan?) | que utilidad tienen? | cual es la utilidad del?",
    "": """
que es(?= (cuant[oa]s?|cada_cuanto|por que|que (diferencia|causa|utilidad|es)) )
(por favor|porfa|porfis|porfavor|gracias|muchas gracias|desde ya|plis|pls|che)(?= [.?,] )
(crees|cree|te parece|pensas|piensas|es (verdad|cierto)|sera (verdad|cierto)) que(?= )
(en (tu|su) opinion|segun (vos|tu|usted)|a (tu|su) (juicio|parecer|criterio|entender)|para vos)(?= [.?,] )( ,)?
(?<=[.?,] )(en (tu|su) opinion|segun (vos|tu|usted)|a (tu|su) (juicio|parecer|criterio|entender))
si (no es (mucha )?molestia|es tan amable|sos tan amable|puede ser)(?= [.?,] )
""",
}

_SLOT = r"((?:(?!(?:y|e|o|u) )[^ ,.?]+ ){1,8}?)"
AROUND = {
    rf" (?:en que|como) se (?:diferencian?|distinguen?) {_SLOT}(?:de|y|e) ": r" que diferencia entre \1y ",
    rf" (?:en que|como) se (?:diferencian?|distinguen?) {_SLOT}del ": r" que diferencia entre \1y el ",
}
