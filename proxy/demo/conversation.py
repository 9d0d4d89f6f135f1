"""The two conversations that the demonstration plays. Spanish and English alternate the way people do who live in both.

`CONVERSATION`, the forty turns of `olvido demo --short`: somebody plans a trip and a small project, tells things early
and asks about them late, repeats a few questions word for word, and lets a tool be called once.

`talk`, the two hundred turns of `olvido demo`: a spring and a summer of somebody who plans a trip with her mother,
moves a laboratory's database, has the kitchen done and a knee looked after; she states things, changes them, and asks
for them later. Their text is in the files of `talk/`, a record a turn, apart by a blank line:

    > what the user says
    < what the model answers, where that needs no memory
    = what the answer must hold, where it needs one
    ~ what was true before and must not be in it

A line without such a sign goes on with the one before.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

TALK = Path(__file__).with_name("talk")

SYSTEM = (
    "Sos un asistente personal atento y directo. Respondés en el idioma en que te hablan, sin rodeos, y cuando no "
    "sabés algo lo decís. Si una decisión ya está tomada, no la volvés a discutir salvo que te lo pidan."
)

WEATHER_TOOL: Mapping[str, Any] = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather forecast of a city",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer", "minimum": 1, "maximum": 7}},
            "required": ["city", "days"],
        },
    },
}
WEATHER_RESULT = '{"city": "Lisboa", "days": 3, "forecast": "soleado, entre 17 y 24 grados, viento suave del norte"}'


@dataclass(frozen=True, slots=True)
class Ask:
    """One user turn."""

    text: str
    expects: str = ""  # the answer contains it if the prompt that arrived still held the fact
    tools: Sequence[Mapping[str, Any]] = ()  # offered with this turn; its result is WEATHER_RESULT
    alone: bool = False  # sent without the history and with temperature 0, as a FAQ would be
    answer: str = ""  # the scripted answer; "": derived from the prompt
    outdated: str = ""  # the outdated value, which must not be in the answer


_PASTE = (
    "Te paso las notas de la reunión para que las tengas a mano. El equipo de datos pidió dos semanas más para migrar "
    "los tableros, porque la consulta nocturna tarda casi tres horas y bloquea las demás. Soporte contó que los "
    "reclamos bajaron un doce por ciento desde que se cambió el formulario, aunque todavía se pierden algunos "
    "adjuntos grandes. Diseño mostró la pantalla nueva de búsqueda y gustó, salvo por el contraste de los botones. "
    "Quedamos en revisar el presupuesto de infraestructura el jueves y en no abrir frentes nuevos hasta cerrar la "
    "migración."
)
_REVIEW = (
    "Here is the review I got on the draft, so that we share it. The introduction takes too long to say what the tool "
    "is for, and the benchmark section mixes hardware that can't be compared. The reviewer liked the worked example, "
    "asked for a table that says which flags are safe to change in production, and pointed out that the migration "
    "guide still names the old configuration file. They also want the limits told plainly, with numbers, and fewer "
    "adjectives overall."
)

CONVERSATION: tuple[Ask, ...] = (
    Ask("Hola, me llamo Valentina y vivo en Rosario."),
    Ask("Soy alérgica a los mariscos. Tenelo en cuenta cuando hablemos de comida."),
    Ask("Estoy armando un viaje a Lisboa con mi hermano Bruno para la segunda semana de mayo."),
    Ask("El presupuesto del viaje es de 2400 euros para los dos, vuelos incluidos."),
    Ask("What is a good way to learn a little Portuguese in two months?"),
    Ask("¿Cuál es la diferencia entre un visado y un permiso de residencia?", alone=True),
    Ask("I work as a structural engineer, mostly on timber bridges."),
    Ask("From now on, when I write in English, keep your answers short."),
    Ask("Decidí que nos quedamos en el barrio de Alfama, en un departamento chico con balcón."),
    Ask("El vuelo sale de Ezeiza el 9 de mayo a las 23:40, por la aerolínea TAP."),
    Ask(_PASTE),
    Ask(
        "Bien. Sigamos con otra cosa: quiero ordenar mis mañanas, porque termino empezando a trabajar casi a las once."
    ),
    Ask("Probé anotar todo la noche anterior y me sirvió unos días, pero después lo abandoné."),
    Ask("¿Y si pongo el despertador en la cocina?"),
    Ask("I'm writing a small command line tool called Larch that checks bridge load tables."),
    Ask("Larch is written in Rust and its repository password hint is the name of our first cat, Milonga."),
    Ask(_REVIEW),
    Ask("Let's restructure the introduction first: one paragraph, what it does, who it is for."),
    Ask("¿Cuál es la diferencia entre un visado y un permiso de residencia?", alone=True),
    Ask("Volviendo al viaje: ¿me decís con get_weather cómo va a estar 'Lisboa' 3 días?", tools=(WEATHER_TOOL,)),
    Ask("Perfecto, entonces llevamos poca ropa de abrigo y un paraguas por las dudas."),
    Ask("¿De cuánto era el presupuesto del viaje?", expects="2400 euros"),
    Ask("Para el sábado a la noche quiero cocinar algo para seis personas, algo que se pueda dejar hecho a la tarde."),
    Ask("¿A qué soy alérgica?", expects="mariscos"),
    Ask("Entonces hagamos una lasaña de calabaza, y de postre un flan. Anotá que Bruno no toma alcohol."),
    Ask("What does my tool Larch check?", expects="load tables"),
    Ask("How do I undo the last commit without losing the changes?", alone=True),
    Ask("Give me your view on tests: I have about forty unit tests for the parser and none for the report output."),
    Ask("I think golden files would do, as long as somebody looks at them when they change."),
    Ask("Por cierto, el departamento de Alfama pide una seña de 180 euros antes de fin de mes."),
    Ask("¿En qué barrio nos quedamos?", expects="Alfama"),
    Ask("How do I undo the last commit without losing the changes?", alone=True),
    Ask("Quiero llevarle un regalo a la dueña del departamento, algo típico de acá que no pese mucho."),
    Ask("¿A qué hora sale el vuelo de Ezeiza?", expects="23:40"),
    Ask("What kind of engineer am I?", expects="structural engineer"),
    Ask("¿Qué porcentaje bajaron los reclamos según soporte?", expects="doce por ciento"),
    Ask("What was the hint for the repository password?", expects="Milonga"),
    Ask("¿Cómo se llama mi hermano?", expects="Bruno"),
    Ask("¿Cuál es mi grupo sanguíneo?", expects="No lo sé"),
    Ask("Gracias, con esto cierro por hoy. ¿En qué ciudad vivo?", expects="Rosario"),
)

_FIELDS = {"> ": "text", "< ": "answer", "= ": "expects", "~ ": "outdated"}


def read(source: str) -> Iterator[Ask]:
    """The turns of one file."""
    for record in source.split("\n\n"):
        fields: dict[str, str] = {}
        name = ""
        for line in record.strip().splitlines():
            if field := _FIELDS.get(line[:2]):
                name = field
                fields[name] = line[2:]
            else:
                fields[name] += f"\n{line}"
        if fields:
            said = defaultdict(str, fields)
            yield Ask(said["text"], said["expects"], answer=said["answer"], outdated=said["outdated"])


@cache
def talk() -> tuple[Ask, ...]:
    """The two hundred turns, in order."""
    files = sorted(TALK.glob("*.txt"))
    return tuple(ask for file in files for ask in read(file.read_text(encoding="utf-8")))


@cache
def answers() -> Mapping[str, str]:
    """Scripted answers to the messages that need no memory."""
    return {ask.text: ask.answer for ask in talk() if ask.answer}
