"""Conversations that were written for the golden outputs: English and Spanish, with tools, edits, branches, other
sessions of the same person, and commands to forget."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import cycle, islice
from typing import Any

Said = Mapping[str, Any]

_EN = (
    "The night train leaves at half past nine and arrives before breakfast.",
    "A sleeper costs a third more than a seat, and breakfast is part of it.",
    "The old town is small enough to be seen on foot in an afternoon.",
    "Most museums are closed on Mondays, and the market opens at seven.",
    "A table by the window has to be reserved two days ahead.",
    "If it rains, the covered passages behind the station are worth an hour.",
    "The nightly query reads the whole table because an index is missing.",
    "With a partial index it would read a tenth of that.",
)
_ES = (
    "El tren nocturno sale a las nueve y media y llega antes del desayuno.",
    "El coche cama cuesta un tercio más que el asiento e incluye el desayuno.",
    "El casco antiguo se recorre a pie en una tarde.",
    "Casi todos los museos cierran los lunes y el mercado abre a las siete.",
    "La mesa junto a la ventana se reserva con dos días de anticipación.",
    "Si llueve, las galerías detrás de la estación merecen una hora.",
    "La consulta nocturna lee toda la tabla porque falta un índice.",
    "Con un índice parcial leería la décima parte.",
)


@dataclass(frozen=True, slots=True)
class Step:
    """One request: what is said next, and how. `back`: so many messages are taken back before."""

    said: tuple[Said, ...]
    back: int = 0
    reply: Said | None = None  # of the upstream; None: some sentences


@dataclass(frozen=True, slots=True)
class Conversation:
    name: str
    steps: tuple[Step, ...]
    proxy: str = "small"  # the configuration that it is held with
    person: str = ""  # whose key is used; the conversation's own if none
    lang: str = "en"
    sentences: int = 3  # of each answer
    system: str = "You are an attentive assistant. You answer in the language you are spoken to."
    fields: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    delta: bool = False  # only what is new is sent

    @property
    def key(self) -> str:
        return f"sk-{self.person or self.name}"

    def answer(self, number: int) -> Said:
        """What the upstream says to the request of that number."""
        said = self.steps[number].reply
        bank = _ES if self.lang == "es" else _EN
        text = " ".join(islice(cycle(bank), number, number + self.sentences))
        return said or {"role": "assistant", "content": text}


def _asks(*texts: str) -> tuple[Step, ...]:
    return tuple(Step(({"role": "user", "content": text},)) for text in texts)


def _calls(call: str, name: str, arguments: str, result: str, then: str) -> tuple[Step, Step]:
    """A question that is answered with a call, and its result."""
    asked = {"id": call, "type": "function", "function": {"name": name, "arguments": arguments}}
    reply = {"role": "assistant", "content": "", "tool_calls": [asked]}
    return (
        Step(({"role": "user", "content": then},), reply=reply),
        Step(({"role": "tool", "tool_call_id": call, "content": result},)),
    )


def _tool(name: str, *parameters: str) -> Mapping[str, Any]:
    schema = {"type": "object", "properties": {each: {"type": "string"} for each in parameters}}
    return {"type": "function", "function": {"name": name, "description": f"{name} it", "parameters": schema}}


_TRIP_EN = (
    "Hi, I'm Clara and I live in Leeds.",
    "Remember that I am allergic to shellfish.",
    "I have decided to take the night train to Porto, not the plane.",
    "The hotel is called Aurora and its booking code is QX7-114.",
    "What can one see there in an afternoon?",
    "The budget is 900 euros for two people and three nights.",
    "Which museums are open on a Monday?",
    "By the way, on another topic: which wine goes with cod?",
    "And with lamb?",
    "Back to the trip: what was the booking code of the hotel Aurora?",
    "Actually, the budget is 1,100 euros.",
    "What may I not eat there?",
)
_TRIP_ES = (
    "Hola, me llamo Valentina y vivo en Rosario.",
    "Acordate de que soy alérgica al maní.",
    "Decidí que viajamos en tren a Córdoba y no en avión.",
    "El hostal se llama La Cañada y la reserva es la 8842.",
    "¿Qué se puede ver en una tarde?",
    "El presupuesto es de 300 mil pesos para los dos.",
    "¿Qué museos abren los lunes?",
    "Cambiando de tema, ¿qué vino va con el cordero?",
    "¿Y con el pescado?",
    "Volviendo al viaje: ¿cuál era el número de la reserva de La Cañada?",
    "A partir de ahora respondeme siempre en dos líneas.",
    "¿A qué soy alérgica?",
)
_WORK_EN = (
    "I work at a bank called Northwind as a data engineer.",
    "Our nightly query takes three hours. We're going with Postgres 17 for the new cluster.",
    "From now on, always show SQL in lower case.",
    "Why does it read the whole table?",
    "Paste of the log:\n```\n02:11 seq scan on payments rows=91000000\n02:14 sort spilled 4 GB\n```\nWhat does it say?",
    "Ana said: 'I prefer MySQL and I live in Oslo'. What do you make of it?",
    "We moved the go-live from May 3 to June 14.",
    "Let's change the subject. How do I write a condolence note?",
    "Thanks!",
    "When is the go-live?",
)
_LEAN = (
    "Tell me about {0}, as long as you like.",
    "What of {0} is worth the money?",
    "And what would you leave out of {0}?",
)
_PLACES = ("Porto", "the old town", "the market", "the night train", "the museums")

CONVERSATIONS = (
    Conversation("a trip", _asks(*_TRIP_EN)),
    Conversation("un viaje", _asks(*_TRIP_ES), lang="es"),
    Conversation("a trip, folded strictly", _asks(*_TRIP_EN), proxy="strict"),
    Conversation("un viaje, plegado estricto", _asks(*_TRIP_ES), proxy="strict", lang="es"),
    Conversation("work", _asks(*_WORK_EN), proxy="strict", system=""),
    Conversation(
        "a long chat by the defaults",
        _asks(*(line.format(place) for place in _PLACES for line in _LEAN)),
        proxy="defaults",
        sentences=24,
    ),
    Conversation("metered", _asks(*_TRIP_EN), proxy="strict", headers={"x-olvido-mode": "meter"}),
    Conversation(
        "tools",
        (
            *_asks("Remember that the repository is called heron."),
            *(
                step
                for at, name in enumerate(("setup.cfg", "queue.py", "store.py", "tests.py", "queue.py"))
                for step in _calls(
                    f"call_{at}",
                    "read",
                    f'{{"path": "{name}"}}',
                    "\n".join(f"{line:03} {name} {sentence}" for line, sentence in enumerate(islice(cycle(_EN), 30))),
                    f"Read {name} and say what it is for.",
                )
            ),
            *_asks("So where is the missing index?", "Summarise what you have read."),
        ),
        proxy="strict",
        fields={"tools": [_tool("read", "path"), _tool("write", "path", "text")]},
    ),
    Conversation(
        "only what is new",
        _asks(*_TRIP_ES[:9]),
        proxy="strict",
        lang="es",
        headers={"x-olvido-session": "corto"},
        delta=True,
    ),
    Conversation(
        "edits and branches",
        (
            *_asks(*_TRIP_EN[:6]),
            Step(({"role": "user", "content": "Or shall we take the bus?"},), back=6),
            *_asks("How long does the bus take?", "Where does it stop?"),
            Step((), back=1),  # the last answer is asked for anew
        ),
        proxy="strict",
    ),
    Conversation(
        "forgetting",
        (
            *_asks(
                "Recordá que mi color favorito es el verde.",
                "Trabajo en una panadería y vivo en Mendoza.",
                "Prefiero los trenes.",
                "Olvidá que mi color favorito es el verde.",
                "¿Cuál es mi color favorito?",
                "Olvidá todo.",
                "¿Dónde trabajo?",
            ),
        ),
        lang="es",
        person="olvidadiza",
    ),
    Conversation(
        "another session of the same person",
        _asks("What may I not eat?", "Where is the hotel of my trip?", "I live in York now.", "Where do I live?"),
        person="a trip",
        headers={"x-olvido-session": "later"},
    ),
    Conversation(
        "streamed",
        _asks(*_WORK_EN[:5]),
        fields={"stream": True, "stream_options": {"include_usage": True}},
        proxy="strict",
    ),
)


def questions() -> Sequence[tuple[str, str, str]]:
    """Pairs of questions, of which the first is asked first: a name, both of them."""
    return [(f"{lang} {at + 1:02}", *pair) for lang, pairs in _PAIRS.items() for at, pair in enumerate(pairs)]


_PAIRS = {
    "en": (
        ("How do I clean a cast iron pan?", "What is the best way to clean cast iron pans?"),
        ("How do I clean a cast iron pan?", "Hi! Could you tell me how to clean a cast iron pan? Thanks"),
        ("How do I clean a cast iron pan?", "How do I clean a cast iron pan without soap?"),
        ("How do I turn on dark mode?", "How do I turn off dark mode?"),
        ("What does a notary do?", "Can you explain what a notary does?"),
        ("Is 21 greater than 7?", "Is 7 greater than 21?"),
        ("What is the capital of Austria?", "What is the capital of Australia?"),
        ("How many bones has a cat?", "How many bones does a cat have?"),
        ("How do mobile phones work?", "How do cell phones work?"),
        ("How do I convert miles to kilometres?", "How do I convert kilometres to miles?"),
        ("What is the weather in Leeds?", "What's the weather in Leeds?"),
        ("I feel so alone. What can I do?", "I feel so alone, what can I do?"),
        ("Send the invoice to Ana", "Please send the invoice to Ana"),
        ("Who wrote Middlemarch?", "Who wrote middlemarch"),
        ("Is coffee bad for the heart?", "Is coffee good for the heart?"),
        ("How do I boil an egg in 5 minutes?", "How do I boil an egg in 8 minutes?"),
        ("And what about the second one?", "and what about the second one"),
    ),
    "es": (
        ("¿Cómo limpio una sartén de hierro?", "¿Cuál es la mejor forma de limpiar una sartén de hierro?"),
        ("¿Cómo limpio una sartén de hierro?", "Buenas, ¿me dirías cómo limpiar una sartén de hierro? Gracias"),
        ("¿Cómo limpio una sartén de hierro?", "¿Cómo limpio una sartén de hierro sin jabón?"),
        ("¿Cómo activo el modo oscuro?", "¿Cómo desactivo el modo oscuro?"),
        ("¿Qué quiere decir usufructo?", "que es usufructo"),
        ("¿Cuál es la capital de Austria?", "¿Cuál es la capital de Australia?"),
        ("¿Cómo bajar de peso?", "¿Cómo perder peso?"),
        ("¿Qué hora es en Madrid?", "que hora es en madrid"),
        ("Me siento muy triste, ¿qué hago?", "me siento muy triste que hago"),
        ("¿Me recomendás un buen libro de aves?", "¿Qué libro de aves me recomendás?"),
        ("¿Quién escribió Ficciones?", "¿Quién escribió el libro Ficciones?"),
        ("¿El café hace mal al corazón?", "¿El café hace bien al corazón?"),
        ("Mandale la factura a Ana", "Por favor mandale la factura a Ana"),
        ("¿Cuánto es el 15 % de 80?", "¿Cuánto es el 80 % de 15?"),
    ),
}
