"""What part of life a message is about, by the words that belong to one: work, code, health, travel, …

Coarse on purpose: it tells that the talk went from the server to the birthday, nothing finer. A word that several parts
of life use is in no table.
"""

from collections.abc import Mapping
from types import MappingProxyType

from proxy.language.phrases import phrases
from proxy.language.text import plain

_TABLES = {
    "code": r"""
        codigo | code | coding | script | scripts | bugs? | debug\w* | api | apis | backend | frontend | sql
        postgres\w* | mysql | mongo\w* | redis | sqlite | python | javascript | typescript | java | rust | golang
        docker\w* | podman | kubernetes | k8s | cluster | terraform | aws | azure | gcp | eks | git | github | gitlab
        repo | repositorio | repository | commit | commits | deploy\w* | despleg\w* | despliegue\w* | server | servers
        servidor\w* | migracion\w* | migrations? | esquema de datos | schema | endpoint\w* | framework | librerias?
        compil\w* | software | app | apps | aplicacion | base de datos | database\w* | tablas | columnas | backup\w*
        replica | latency | latencia | logs? | grafana | prometheus | dashboard\w* | ci | pipelines? | pods? | nodes?
        vms? | monitoring | monitoreo | liveness | runbook | uuid | json | yaml | microservi\w* | unit tests? | regex
        html | css | linux | windows | laptop | notebook
    """,
    "work": r"""
        trabajo | trabaj[aeo]\w* | laburo | chamba | curro | oficina | jefe | jefa | gerente | empleo | empleada
        empleado | sueldo | salario | contrat(?:ar|o|an) | entrevista | curriculum | cliente | clientes | proveedor\w*
        reunion\w* | job | work as | i work | working | workplace | office | boss | manager | salary | hire | hiring
        hired | interview | colleague\w* | coworker\w* | meeting\w* | client | clients | promotion | turnos?
        guardias? | empresa | company | negocio | business | contador\w* | facturacion | invoice\w* | margen
        marketing | freelance\w* | contractor | shift | shifts
    """,
    "planning": r"""
        planificar | planificacion | cronograma | calendario | agenda | hoja de ruta | roadmap | milestones? | hitos?
        plazos? | deadlines? | schedule\w* | timeline | prioridades | priorities | objetivos? | goals? | freeze
        sprint\w* | kickoff
    """,
    "personal": r"""
        cumple | cumpleanos | birthday | boda | casamiento | wedding | novia | novio | pareja | esposo | esposa
        marido | mujer | mama | mami | mi vieja | mi viejo | papa | hijo | hija | hijos | hijas | suegr[oa]s?
        abuel[oa]s? | hermano | hermana | wife | husband | girlfriend | boyfriend | mother | mom | mum | dad | father
        son | daughter | kids | sister | brother | grandm\w* | grandf\w* | baby | bebe | amig[oa]s? | friends?
        mascota | perro | gato | dog | cat | puppy | regalo | gift | recuerdo | party | fiesta | anniversary
        aniversario
    """,
    "health": r"""
        salud | health\w* | medic[oa] | medicos | doctor | doctora | hospital | alergi\w* | alergic[oa] | allerg\w*
        intolerante | celiac[oa] | coeliac | diabet\w* | asma | asthma | migrana | migraine | dolor | pain | lesion\w*
        injury | injur\w* | fascitis | vacuna\w* | vaccin\w* | remedio\w* | medicacion | medication | pastilla\w*
        pills? | farmacia\w* | pharmacy | prescription | receta medica | sintomas | symptoms | embaraz\w* | pregnan\w*
        terapia | therapy | insomnio | sleep | sueno | dieta | diet | penicilina | penicillin | insulin\w*
        epinefrin\w* | dentista | dentist | dental | surgery | cirugia | vegan[oa]?
    """,
    "food": r"""
        cocinar | cocino | cook | cooking | receta | recetas | recipe\w* | cena | cenar | dinner | almuerzo | almorzar
        lunch | desayuno | breakfast | comida | comidas | comer | food | meal | meals | menu | menus | postre
        dessert | torta | cake | horno | oven | carne | meat | pollo | chicken | pescado | fish | verdura\w*
        vegetable\w* | vegetarian[oa]? | harina | flour | restaurant\w* | restaurante\w* | vino | wine | cerveza
        beer | hidrato\w* | geles | gel | snack\w* | taper\w* | salsa | sauce
    """,
    "travel": r"""
        viaj\w* | vuelo | vuelos | volar | aerolinea\w* | aeropuerto | pasaje | pasajes | boleto | boletos | hotel
        hoteles | hospedaje | alojamiento | hostel | reserva de | itinerario | turis\w* | maleta\w* | valija\w*
        equipaje | pasaporte | visa | visado | vacaciones | travel\w* | trip | trips | flight\w* | fly | airline\w*
        airport | luggage | suitcase | passport | vacation | holiday\w* | tour\w* | sightseeing | itinerary | booking
        lisboa | lisbon | paris | roma | rome | londres | london | empac\w* | pack
    """,
    "home": r"""
        casa | departamento | piso | alquiler | alquilar | inmobiliaria | hipoteca | mudanza | mudar\w* | mueble\w*
        jardin | cocina nueva | bano | vecin[oa]s? | barrio | house | apartment\w* | flat | rent | landlord | mortgage
        furniture | moving | move | garden | kitchen | bathroom | neighbou?r\w* | neighbou?rhood | plumb\w*
        plomer\w* | pintar | paint
    """,
    "money": r"""
        plata | dinero | presupuesto | ahorr\w* | invertir | inversion\w* | banco | bancos | tarjeta | efectivo
        impuesto\w* | prestamo | credito | deuda\w* | seguro de | money | budget | saving\w* | invest\w* | bank
        banks | card | cash | tax | taxes | loan | debt | insurance | euros | dolares | pesos | pension | gastos
        expenses | precio | precios | price | prices
    """,
    "study": r"""
        estudi[aoe]\w* | examen | examenes | oposicion\w* | universidad | facultad | carrera de | materia | tesis
        apuntes | academia | clase de | clases | colegio | escuela | alumn[oa]s | profe | profesor\w* | posgrado
        beca | idioma | temario | consigna | study | studying | exam | exams | university | college | school | course
        courses | thesis | homework | students? | teacher\w* | lesson\w* | scholarship | repas[aoe]\w*
    """,
    "sport": r"""
        correr | corro | maraton\w* | running | runner | marathon\w* | entren[aoe]\w* | entrenamiento\w* | gimnasio
        gym | workout\w* | training | futbol | football | soccer | basquet | basketball | tenis | tennis | nadar
        natacion | swim\w* | bici | bicicleta | cycling | zapatillas | running shoes | kilometros | km | fondo
        fondos | largada | yoga | pesas | race | half marathon | pulsaciones | ritmo | pace
    """,
    "writing": r"""
        novela | capitulo | personaje\w* | protagonista | trama | escritor\w* | poema | guion | editorial | prologo
        manuscrito | novel | chapter\w* | character\w* | protagonist | plot | writer\w* | manuscript | scene | scenes
        dialogue | poem | screenplay | prologue\w* | draft | detective | villain | victim | fiction | story
    """,
}
_WORDS = MappingProxyType({name: phrases(table) for name, table in _TABLES.items()})
DOMAINS = tuple(_WORDS)


def weights(text: str) -> Mapping[str, int]:
    """How many different words of each domain `text` has; those that have any."""
    said = plain(text)
    found = {name: len(set(words.findall(said))) for name, words in _WORDS.items()}
    return {name: count for name, count in found.items() if count}


def domain(text: str) -> str:
    """What `text` is clearly about: the domain with the most words; "" if there is none or two are equal."""
    found = sorted(weights(text).items(), key=lambda each: -each[1])
    if not found or (len(found) > 1 and found[0][1] == found[1][1]):
        return ""
    return found[0][0]
