"""Clients whose bills were the dearest against pass-through: those whose every question reaches back, those that do so
now and then, and agents that come to a limit. Made from seeds, so the same in every run.

`DEV` is what the planner may be mended by. `UNSEEN` is to be measured alone: in other words, lengths, languages and
seeds, written before the mending, and never looked at for a number of ours.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import msgspec

from tests.bench.context_data import Conversation, Said


@dataclass(frozen=True, slots=True)
class Client:
    """A conversation, and the limit under which it is had."""

    conversation: Conversation
    profiles: Mapping[str, Any] = field(default_factory=dict)  # overrides of the built-in ones

    @property
    def name(self) -> str:
        return self.conversation.name


@dataclass(frozen=True, slots=True)
class Words:
    """What a chat is made of. `told` and `asked` have places for a subject and, the former, a value."""

    lang: str
    system: str
    subjects: Sequence[str]
    told: Sequence[str]
    asked: Sequence[str]  # about long ago
    plain: Sequence[str]  # about a subject, and nothing that was said
    parts: Sequence[Sequence[str]]  # of the sentences of an answer
    value: Callable[[random.Random], str]


def _code(drawn: random.Random) -> str:
    return f"{drawn.choice('ABCDEFGHKLMNPRSTUVXZ')}{drawn.randrange(100, 999)}-{drawn.randrange(10, 99)}"


def _amount(drawn: random.Random) -> str:
    return f"{drawn.randrange(2, 98)}.{drawn.randrange(100, 999)} euros"


ENGLISH = Words(
    "en",
    "You help a team that runs a web shop. Be exact, and say so when you do not know something. " * 6,
    (
        "invoice service",
        "search index",
        "mail queue",
        "image resizer",
        "login page",
        "tax table",
        "stock import",
        "price feed",
        "order archive",
        "coupon engine",
        "review filter",
        "courier link",
        "refund desk",
        "returns label",
        "audit log",
        "session store",
        "rate limiter",
        "payment hook",
        "newsletter job",
        "gift wrapper",
    ),
    (
        "Let us set up the {subject}: its release code is {value}. What comes first?",
        "The {subject} now carries release code {value}. What should we look out for?",
    ),
    (
        "What was the release code of the {subject} that I told you at the beginning?",
        "Remind me, which release code did I give you for the {subject}?",
        "Earlier I told you about the {subject}. What was its code again?",
        "Which code did we say the {subject} has, way back when we started?",
    ),
    (
        "How would you test the {subject}?",
        "Who should be on call for the {subject}, and why?",
        "Draft a short note to the team that the {subject} goes live.",
    ),
    (
        ("First", "Then", "After that", "In any case", "Before the release", "Most of all", "Once that runs"),
        ("the team", "the owner", "a second engineer", "the build", "whoever is on call", "the vendor"),
        ("checks", "documents", "rehearses", "measures", "signs off", "rolls back", "watches"),
        ("the deployment", "the dashboards", "every alert", "the staging data", "the slow queries", "the permissions"),
        ("with care", "in small steps", "during the day", "on a copy", "within the hour", "with a written plan"),
    ),
    _code,
)

SPANISH = Words(
    "es",
    "Sos el asistente de un estudio de arquitectura. Respondé con precisión y sin rodeos. " * 3,
    (
        "la casa de Funes",
        "el galpón del puerto",
        "la escuela de Pilar",
        "el hotel de Salta",
        "la clínica del sur",
        "el teatro viejo",
        "la bodega de Luján",
        "el mercado central",
        "la torre de Nordelta",
        "el museo del agua",
        "la biblioteca popular",
        "el club de remo",
        "la capilla de Areco",
        "el vivero municipal",
    ),
    (
        "Para {subject} el presupuesto que aprobaron es de {value}. ¿Cómo lo repartirías?",
        "Anduve por {subject}: el presupuesto quedó en {value}. ¿Qué habría que cuidar?",
        "Sumemos {subject}, con un presupuesto de {value}. ¿Por dónde empezamos?",
    ),
    (
        "¿Cuál era el presupuesto que te dije para {subject}?",
        "Hace rato te pasé el presupuesto de {subject}, ¿de cuánto era?",
        "¿Te acordás de cuánto te dije que era el presupuesto de {subject}?",
    ),
    (
        "¿Qué materiales usarías en {subject}?",
        "Escribime dos líneas para los vecinos sobre {subject}.",
        "¿Qué permisos suelen pedirse para {subject}?",
    ),
    (
        ("Primero", "Luego", "Mientras tanto", "Con tiempo", "Al final", "Si alcanza"),
        ("el equipo", "la constructora", "el municipio", "un especialista", "la dirección de obra"),
        ("revisa", "presenta", "ajusta", "compara", "firma", "mide", "posterga"),
        ("los planos", "las carpetas técnicas", "la estructura", "los plazos", "las instalaciones", "los contratos"),
        ("con calma", "por escrito", "antes del invierno", "en dos etapas", "junto al cliente", "sin apuro"),
    ),
    _amount,
)


def chat(name: str, words: Words, seed: int, *, told: int, turns: int, back: float, answer: int) -> Client:
    """A chat of `turns`: `told` of them tell something, of all others a share of `back` asks for it. `answer`:
    sentences of an answer on average."""
    drawn = random.Random(seed)
    subjects = [(drawn.choice(words.subjects), words.value(drawn)) for _ in range(told)]
    messages: list[Said] = [{"role": "system", "content": words.system}]
    for number in range(turns):
        if number < told:
            subject, value = subjects[number]
            asked = drawn.choice(words.told).format(subject=subject, value=value)
        else:
            subject, _ = subjects[drawn.randrange(told)]
            asked = drawn.choice(words.asked if drawn.random() < back else words.plain).format(subject=subject)
        sentences = drawn.randrange(answer // 2, answer + answer // 2)
        said = " ".join(f"{' '.join(map(drawn.choice, words.parts))}." for _ in range(sentences))
        messages += [{"role": "user", "content": asked}, {"role": "assistant", "content": f"{said} ({number})"}]
    return Client(Conversation(name, "bills", words.lang, tuple(messages)))


@dataclass(frozen=True, slots=True)
class Work:
    """What an agent does."""

    lang: str
    system: str
    tools: Mapping[str, str]  # the argument that each takes
    tasks: Sequence[str]
    places: Sequence[str]
    line: Callable[[random.Random], str]  # of a result
    says: Sequence[str]  # in front of a call; "": nothing
    ends: Sequence[str]


_WORDS = (
    "alpha",
    "ledger",
    "window",
    "packet",
    "orbit",
    "copper",
    "marble",
    "signal",
    "garden",
    "pepper",
    "violet",
    "anchor",
    "meadow",
    "candle",
)
_PALABRAS = (
    "planta",
    "fecha",
    "envase",
    "lote",
    "saldo",
    "turno",
    "cliente",
    "aviso",
    "camión",
    "ruta",
    "depósito",
    "factura",
    "remito",
    "sello",
)


def _source(drawn: random.Random) -> str:
    one, other = drawn.sample(_WORDS, 2)
    return f"    {one}_{drawn.randrange(99)} = {other}({drawn.randrange(9_999)}, {one!r})  # {drawn.choice(_WORDS)}"


def _registro(drawn: random.Random) -> str:
    fecha = f"2026-{drawn.randrange(1, 13):02}-{drawn.randrange(1, 29):02}"
    return f"{fecha};{drawn.choice(_PALABRAS)};{drawn.choice(_PALABRAS)};{drawn.randrange(10**6)};{drawn.random():.3f}"


CODER = Work(
    "en",
    "You are a careful engineer. You work on a repository with tools, one step at a time, and end with a summary. " * 8,
    {"read_file": "path", "search": "pattern", "run_tests": "target"},
    (
        "Find out why the checkout rounds wrongly, and mend it.",
        "Now the same for refunds, please.",
        "Add a test for both.",
        "Rename the helper everywhere.",
        "Look for other places with this mistake.",
    ),
    ("src/checkout", "src/refunds", "src/money", "tests/money", "src/api", "src/models", "lib/round"),
    _source,
    ("", "Let me look at that.", "Next."),
    ("Done: the rounding is right now.", "I have changed it in all places.", "That was all."),
)

CONTADOR = Work(
    "es",
    "Conciliás las cuentas de una distribuidora. Consultá los registros antes de contestar y no inventes nada. " * 5,
    {"consultar_registros": "tabla", "abrir_planilla": "nombre"},
    (
        "Revisá las ventas de marzo y decime qué no cierra.",
        "¿Y en abril pasa lo mismo?",
        "Fijate en los remitos del depósito norte.",
        "Armá un resumen de las diferencias.",
        "Comparalo con lo que facturó el transporte.",
        "¿Qué clientes tienen saldo en contra?",
        "Revisá los lotes vencidos.",
    ),
    ("ventas", "remitos", "clientes", "lotes", "transporte", "saldos"),
    _registro,
    ("", "", "Busco en los registros.", "Sigo."),
    ("Listo, quedó conciliado.", "Las diferencias son de fletes.", "No encontré nada más."),
)


def agent(name: str, work: Work, seed: int, *, calls: Sequence[int], lines: tuple[int, int], limit: int) -> Client:
    """An agent that makes so many calls for each task, with results of so many lines, under a limit in tokens."""
    drawn = random.Random(seed)
    messages: list[Said] = [{"role": "system", "content": work.system}]
    made = 0
    for number, rounds in enumerate(calls):
        messages.append({"role": "user", "content": work.tasks[number % len(work.tasks)]})
        for _ in range(rounds):
            made += 1
            tool = drawn.choice(list(work.tools))
            given = msgspec.json.encode({work.tools[tool]: f"{drawn.choice(work.places)}_{drawn.randrange(60)}"})
            call = {"id": f"call{made:05}", "type": "function", "function": {"name": tool, "arguments": given.decode()}}
            result = "\n".join(work.line(drawn) for _ in range(drawn.randrange(*lines)))
            messages += [
                {"role": "assistant", "content": drawn.choice(work.says), "tool_calls": [call]},
                {"role": "tool", "tool_call_id": call["id"], "content": result},
            ]
        messages.append({"role": "assistant", "content": drawn.choice(work.ends)})
    tools = tuple(
        {
            "type": "function",
            "function": {
                "name": name,
                "description": f"{name}, by its {of}.",
                "parameters": {"type": "object", "properties": {of: {"type": "string"}}, "required": [of]},
            },
        }
        for name, of in work.tools.items()
    )
    conversation = Conversation(name, "bills", work.lang, tuple(messages), tools)
    return Client(conversation, {"agent": {"budget": limit}})


Made = Callable[[], Client]

DEV: Sequence[Made] = (
    partial(chat, "asks back", ENGLISH, 1, told=12, turns=60, back=1.0, answer=12),
    partial(chat, "asks back, long answers", ENGLISH, 2, told=20, turns=50, back=1.0, answer=30),
    partial(chat, "asks back now and then", ENGLISH, 3, told=15, turns=70, back=0.2, answer=16),
    partial(agent, "agent, one long task", CODER, 4, calls=(60,), lines=(8, 40), limit=16_000),
    partial(agent, "agent, many tasks", CODER, 5, calls=(8, 5, 9, 4, 7, 6, 8, 5, 6), lines=(5, 60), limit=16_000),
)
UNSEEN: Sequence[Made] = (
    partial(chat, "pregunta por lo de antes", SPANISH, 101, told=14, turns=80, back=1.0, answer=10),
    partial(chat, "respuestas largas", SPANISH, 102, told=9, turns=36, back=0.8, answer=34),
    partial(chat, "la mitad de las veces", SPANISH, 103, told=30, turns=90, back=0.5, answer=7),
    partial(agent, "una tarea larga", CONTADOR, 104, calls=(45,), lines=(10, 50), limit=16_000),
    partial(
        agent,
        "varias tareas",
        CONTADOR,
        105,
        calls=(3, 4, 2, 6, 5, 3, 7, 4, 6, 5, 4, 3, 6),
        lines=(6, 70),
        limit=16_000,
    ),
)
