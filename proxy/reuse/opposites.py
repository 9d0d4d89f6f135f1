"""Pairs of words that are near each other to an embedding and opposite to a reader. One on each side is never the same
question. A word may stand in several lines; each line is opposite to every word of the other half."""

from collections import defaultdict
from collections.abc import Mapping
from functools import cache

from proxy.reuse.lexicon import Language

_EN = """
top / bottom | ascending / descending | increase raise gain grow boost / decrease reduce lower lose shrink drop cut
give grant add attach include insert / take remove revoke delete detach exclude | open / close shut | lock / unlock
enable activate / disable deactivate | start begin / stop end finish quit | win / lose | buy purchase / sell
hire / fire | import / export | upload / download | push / pull | install / uninstall | connect / disconnect
subscribe / unsubscribe cancel | follow / unfollow | block / unblock | encrypt / decrypt | compress / extract unzip
hot warm / cold cool | high tall / low short | long / short | big large / small | fast quick / slow | early / late
old ancient / new young modern | good great best / bad worst poor | cheap affordable / expensive
easy / hard difficult | rich / poor | strong / weak | light / heavy dark | thin / thick fat | wet / dry
full / empty | left / right | north / south | east / west | front / back | inside indoor / outside outdoor
up / down | male man boy / female woman girl | husband / wife | father dad / mother mom mum | son / daughter
brother / sister | king / queen | advantage benefit pro / disadvantage drawback con | positive / negative
true / false | legal / illegal | safe / dangerous unsafe | possible / impossible | same / different
public / private | internal / external | input / output | income / expense | asset / liability | profit / loss
arrive / depart leave | arrival / departure | send / receive | lend / borrow | teach / learn | ask / answer
find / lose | love like / hate dislike | accept approve / reject deny refuse | allow permit / forbid ban prohibit
pass / fail | wake / sleep | freeze / thaw melt | fill / empty | build create / destroy demolish | hide / show
mute / unmute | save earn / spend waste
earn / lose | minimum / maximum | singular / plural | past / future | summer / winter
day / night | sunrise / sunset | birth / death | born / die dead | war / peace | beginner / expert advanced
optimist optimistic / pessimist pessimistic | single / married | single / multiple | vertical / horizontal
upper / lower | major / minor | domestic / international
"""
_ES = """
superior / inferior | ascendente / descendente | aumentar subir incrementar ganar / disminuir reducir bajar perder
dar agregar anadir sumar poner / quitar sacar borrar eliminar restar | abrir / cerrar | bloquear / desbloquear
activar habilitar encender prender / desactivar deshabilitar apagar | empezar comenzar / terminar acabar dejar parar
comprar / vender | contratar / despedir echar | importar / exportar | subir cargar / bajar descargar
instalar / desinstalar | conectar / desconectar | suscribir / cancelar | cifrar encriptar / descifrar desencriptar
comprimir / descomprimir | caliente calor / frio | alto / bajo | largo / corto | grande / pequeno chico
rapido / lento | temprano / tarde | viejo antiguo / nuevo joven moderno | bueno / malo | barato economico / caro
facil / dificil | rico / pobre | fuerte / debil | claro / oscuro | liviano / pesado | fino / grueso
mojado humedo / seco | lleno / vacio | izquierda / derecha | norte / sur | este / oeste | interior / exterior
arriba / abajo | hombre varon / mujer | marido esposo / esposa | ventaja beneficio / desventaja inconveniente
positivo / negativo | verdadero / falso | legal / ilegal | seguro / peligroso | publico / privado
interno / externo | entrada / salida | ingreso / egreso gasto | ganancia / perdida | activo / pasivo
llegar / salir partir | enviar mandar / recibir | prestar / pedir | ensenar / aprender
aceptar aprobar / rechazar negar | permitir / prohibir | congelar / descongelar | crear construir / destruir
ocultar / mostrar | ahorrar / gastar | singular / plural | verano / invierno | dia / noche | nacer / morir
nacimiento / muerte | guerra / paz | soltero / casado | vertical / horizontal | nacional / internacional
hermano / hermana | novio / novia | suegro / suegra | hijo / hija | tio / tia | primo / prima | abuelo / abuela
nieto / nieta | cunado / cunada | suelo / suela | bolso / bolsa | puerto / puerta | libra / libro | cuento / cuenta
pimiento / pimienta | pato / pata | foco / foca
principio comienzo / final fin
optimista / pesimista | amar querer / odiar
"""

_SHORTEST = 4  # letters before a prefix is taken for one
_REVERSING: Mapping[Language, frozenset[str]] = {
    "en": frozenset({"un", "in", "im", "il", "ir", "dis", "non", "mis", "anti", "de"}),
    "es": frozenset({"des", "in", "im", "i", "ir", "anti", "de"}),
}


def are_opposite(one: str, other: str, language: Language) -> bool:
    """Of two lemmas."""
    if other in _opposites(language).get(one, ()):
        return True
    longer, shorter = (one, other) if len(one) > len(other) else (other, one)
    return len(shorter) >= _SHORTEST and longer.endswith(shorter) and longer[: -len(shorter)] in _REVERSING[language]


@cache
def _opposites(language: Language) -> Mapping[str, frozenset[str]]:
    found: defaultdict[str, set[str]] = defaultdict(set)
    for entry in (_ES if language == "es" else _EN).replace("\n", "|").split("|"):
        if "/" not in entry:
            continue
        left, right = (half.split() for half in entry.split("/"))
        for one in left:
            found[one].update(right)
        for other in right:
            found[other].update(left)
    return {word: frozenset(opposite) for word, opposite in found.items()}
