"""The verbs of orders, Spanish and English, and what an order made of them can sound like. Tables for `effects`."""

import re
from collections.abc import Iterator
from typing import Literal

from proxy.language.phrases import words

Kind = Literal["act", "make", "handle", "noun"]

# Spanish verbs are infinitives; after a colon stands the stem that the stress changes (cerrar: cierra, cierre).
# Orders whatever stands behind them.
_ACTS_ES = """
reportar derivar transmitir comunicar liquidar reintegrar abonar aceptar acreditar activar agendar alquilar anular
apagar apartar aplazar aprobar:aprueb archivar atender:atiend autorizar avisar bajar banear bloquear cancelar canjear
cerrar:cierr checar clausurar cobrar colgar:cuelg commitear compartir comprar concertar:conciert congelar contactar
contratar denunciar depositar desactivar desbloquear descargar deshabilitar desinstalar despachar despedir:despid
desplegar:desplieg despertar:despiert deployar detener:detien desuscribir devolver:devuelv donar ejecutar embargar
encargar encender:enciend enchufar desenchufar enviar escanear expulsar facturar fichar forwardear grabar guardar
habilitar imprimir iniciar inscribir instalar invitar lanzar llamar loguear mandar marcar matricular mergear migrar
mutear desmutear notificar pagar pasear pausar pedir:pid postear postergar posponer prender programar publicar pushear
rebobinar rechazar recargar reclamar reembolsar regar:rieg registrar reiniciar renovar:renuev rentar reprogramar
reproducir:reproduzc reservar resetear restaurar restablecer:restablezc retirar revertir:reviert revocar rotar
silenciar sincronizar solicitar subir suscribir suspender tirar transferir:transfier tramitar trasladar tuitear
twittear vaciar vender votar ventilar despublicar anotar apuntar confirmar conectar desconectar calentar:calient
conceder adelantar atrasar comunicar remitir regalar asignar lavar mudar reenviar hackear
"""
# Orders unless it is text or code that they make or change.
_MAKES_ES = """
agregar anadir:anad armar cambiar copiar crear editar mover:muev modificar actualizar poner:pon reducir aumentar dejar
renombrar reemplazar borrar duplicar eliminar generar incluir insertar meter:met quitar sumar separar sacar pegar
adjuntar abrir correr ajustar configurar arrancar descomprimir comprimir traspasar desmarcar etiquetar subrayar limpiar
cargar
"""
# Orders if they have a thing of the world for their object.
_HANDLES_ES = "hacer dar tomar realizar efectuar revisar responder contestar pasar llevar traer gestionar completar"
_IRREGULAR_ES = {
    "make": "pone pon ponga pongan pongas pones pondrias",
    "handle": "hace haz haga hagas haces de des da das lleva lleves tome",
    "act": "hacelo hazlo hagalo procede proceda adelante conduci detene detenga devolve cierre abri",
}

# Orders whatever stands behind them, and as good as never anything else.
_ACTS_EN = """
grant spin rid accept activate apply approve archive authorize authorise cancel commit confirm deactivate decline
deliver deploy deposit dim disable disarm disconnect dispatch donate downgrade download enable enrol enroll evict
execute expire follow forward freeze install invite invoice kill launch lend lock merge migrate mute notify onboard
pause pay ping play postpone preheat preorder proceed provision publish pull purchase push reactivate reboot rebook
redeem refill refund register reject renew reopen repost reschedule reserve reset resend restart restore resume retweet
revoke ring run sell send ship shut silence snooze start stop submit subscribe suspend sync terminate transfer trigger
tweet unblock unfollow unfriend uninstall unlock unmute unpin unplug unsubscribe upgrade upload vacuum venmo wake wire
withdraw whitelist rsvp escalate hire pick
"""
# Orders unless it is text or code that they make or change.
_MAKES_EN = """
add append change clear close copy create decrease delete erase duplicate edit increase insert modify move open paste
print put raise remove rename replace rotate set swap turn update adjust fix extend import export assign schedule
configure switch
"""
# Nouns as well ("call stack", "book recommendations"): orders only with an object behind them.
_NOUNS_EN = """
arm back bid bill block book borrow broadcast buy call charge check dial dispute drop dump dm email fax feed file fire
flag flush get hand hang hold leave let link load log lower mail mark message order page park phone pin post promote
queue record remind rent reply report request return roll scale scan screenshot share skip stream tag take text tip top
track trade transport vote wash water wipe hail throw sign bring bump crank
"""
# Orders if they have a thing of the world for their object, or someone to speak to.
_HANDLES_EN = "do make give have save respond claim complete tell ask fill organize arrange respond answer show"

# Begin a sentence and order nothing but words: an unknown word before "the" or "la" is taken for a verb of action.
_SPEAKS_ES = """
explicar describir resumir definir traducir:traduzc escribir decir dar mostrar:muestr contar:cuent comparar calcular
listar enumerar nombrar mencionar recomendar:recomiend sugerir:sugier generar resolver:resuelv demostrar:demuestr
simplificar convertir:conviert corregir:corrig mejorar completar analizar identificar clasificar extraer:extraig
ordenar buscar encontrar considerar imaginar suponer:supong usar utilizar responder continuar redactar parafrasear
interpretar evaluar verificar indicar elegir:elig proponer:propon determinar detallar desarrollar justificar comentar
leer ver mirar revisar repetir:repit reescribir aclarar ampliar tener haber existir:exist razonar pensar:piens deducir
despejar factorizar derivar integrar graficar conjugar ejemplificar contrastar sintetizar relacionar recordar:recuerd
pronunciar deletrear seleccionar inventar proporcionar formular plantear diferenciar distinguir esbozar expresar hallar
estimar
"""
_SPEAKS_EN = """
explain describe summarize summarise define translate tell show list compare contrast calculate compute solve prove
derive find name mention recommend suggest generate simplify correct improve analyze analyse identify classify extract
consider imagine suppose assume use answer continue rewrite rephrase paraphrase interpret evaluate verify determine
discuss outline read look see think given give write draft choose pick propose estimate elaborate expand clarify state
explore let recall guess rank rate sort count convert highlight review critique complete design develop plan predict
justify differentiate integrate factor plot graph draw sketch illustrate invent brainstorm point make quote cite match
label parse implement
"""
_GRAMMAR = words(
    """
    a al ante bajo con contra de desde durante en entre hacia hasta mediante para por segun sin sobre tras es son
    era fue hay ser estar esta estan tiene tienen como cuando donde quien que cual si aunque porque pues mientras
    sea ya no tambien solo todo todos toda cada otro otra mi tu su me te se le lo la yo el ella nosotros vos usted
    ustedes ahora hoy ayer hace the a an in on at by for from of off to with without within about above across after
    against along among around as before behind below beneath beside besides between beyond but despite down during
    except inside into like near onto outside over past per since than through throughout till toward under until up
    upon via versus is are was were be been am do does did has have had can could will would shall should may might
    must who what when where why how which whose if whether while because although though unless once and or nor so
    yet both either neither not no yes only even just all any some many most such it this that these those he she
    they we you i my your his her its our their there here regarding concerning including whats hows wheres whos
    thats im
    """
)


def _forms(entry: str) -> Iterator[str]:
    """What an order can sound like, without accents: vos and tú, usted, ustedes, present, subjunctive, conditional."""
    infinitive, _, stressed = entry.partition(":")
    stem, vowel = infinitive[:-2], infinitive[-2]
    yield from (infinitive, f"{infinitive}ias", f"{infinitive}ia")
    for root in {stem, stressed or stem}:
        if vowel == "a":
            yield from (f"{root}a", f"{root}as", f"{root}an")
            yield from (_spelled(root) + end for end in ("e", "es", "en"))
        else:
            yield from (f"{root}e", f"{root}es", f"{root}en", f"{root}{vowel}", f"{root}{vowel}s")
            yield from (f"{root}a", f"{root}as", f"{root}an")


def _spelled(root: str) -> str:
    return re.sub(r"[cgz]$", lambda end: {"c": "qu", "g": "gu", "z": "c"}[end[0]], root)


def _vocabulary() -> dict[str, Kind]:
    kinds: dict[str, Kind] = {}
    tables: tuple[tuple[Kind, str, str], ...] = (
        ("handle", _HANDLES_ES, _HANDLES_EN),
        ("make", _MAKES_ES, _MAKES_EN),
        ("noun", "", _NOUNS_EN),
        ("act", _ACTS_ES, _ACTS_EN),
    )
    for kind, spanish, english in tables:
        for entry in spanish.split():
            kinds.update(dict.fromkeys(_forms(entry), kind))
        kinds.update(dict.fromkeys(f"{english} {_IRREGULAR_ES.get(kind, '')}".split(), kind))
    return kinds


KINDS = _vocabulary()
WORDS = _GRAMMAR | {*_SPEAKS_EN.split()} | {form for entry in _SPEAKS_ES.split() for form in _forms(entry)}
