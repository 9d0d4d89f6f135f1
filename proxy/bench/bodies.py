"""The bodies that the load sends: conversations as chat clients send them, 20 messages of about 250 characters on
average.

`growing`   conversations that go on: one more answer and one more user message each time, the rest sent before
`cold`      conversations that nobody has seen
`repeated`  the same few deterministic requests again and again
`once`      deterministic requests, each asked once before and once again
`long-en`   conversations of 20 turns that go on to 40, a turn a request, in which no sentence is said twice; `long-es`.
            Each question has an answer of its own, which the upstream works out from its number (`answer_to`)
`flood-en`  histories of 20 such messages, each seen once; `flood-es`

A workload is a list of lanes, one per connection, each to be sent in order: a turn never overtakes the one before it.
In long conversations and floods each lane is a person of its own, who has said nothing in other rounds or rows.
"""

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

Kind = Literal["growing", "cold", "repeated", "once", "long-en", "long-es", "flood-en", "flood-es"]
Lanes = list[list[bytes]]
MODELS = {"long-en": "bench-told-en", "long-es": "bench-told-es"}  # by kind; else `bench-model`

MESSAGES = 20
# A conversation is measured from 14 to 26 messages, 20 on average; the request with 12 is part of the warm-up.
FIRST, LAST = 12, 26
STEPS = (LAST - FIRST) // 2
TURNS, LAST_TURN = 20, 40  # of a long conversation; the request with 20 turns is part of the warm-up

SYSTEM = (
    "You are a helpful assistant of a software company. Answer in the language of the user, briefly and with examples "
    "where they help. Say so when you are not sure. Never invent a function, an option or a source. Use Markdown for "
    "code and for nothing else."
)
# The newest message of a request that is to be reused: nobody could take it for one whose answer changes.
QUESTION = (
    "How does a connection pool decide when to close an idle connection, and why does a client that reuses one pay for "
    "the handshake once? Explain it in two sentences, with the terms that the HTTP specification uses."
)
ANSWER = (
    "The pool keeps a connection open for as long as its idle timeout says, so a client that reuses it pays for the "
    "handshake once. If the server closes first, the next request on it fails before a byte has been answered, and it "
    "is safe to send it again."
)
_SENTENCES = (
    "¿Podés revisar por qué la consulta tarda tanto cuando el filtro no usa el índice compuesto?",
    "The build passes on one machine but fails on the other with a timeout after the second integration test.",
    "Los importes se guardan en centavos para no arrastrar errores de redondeo en los totales.",
    "The retry logic belongs in one place, or each caller will invent a back-off of its own.",
    "El cliente quiere que el informe salga en PDF, con el logo arriba y el detalle por sucursal al final.",
    "How do I write a migration that renames a column and can be rolled back without touching the data?",
    "Cuando el lector se atrasa, el escritor sigue igual y el lector salta a otra copia.",
    "Could you write that as a table-driven test with one row for each of the formats we accept?",
    "La tabla tiene una fila por sucursal y por producto, con el nombre, la cantidad y el descuento.",
    "A reader that falls behind must not block the writer, it should simply skip to another snapshot.",
    "Probé con un lote de 500 filas y el consumo de memoria se mantuvo estable durante toda la prueba.",
    "The second parameter is the offset in bytes, not in characters, which matters for accented text.",
)
_TEXT_BYTES = 250


def _columns() -> dict[str, list[list[str]]]:
    _, *parts = re.split(r"\[(en|es)\]\n", Path(__file__).with_name("sentences.txt").read_text())
    return {
        language: [line.split(" | ") for line in lines.strip().splitlines()]
        for language, lines in zip(parts[::2], parts[1::2], strict=True)
    }


_COLUMNS = _columns()
_ASKING = {"en": "Why would {} have {} {} {}?", "es": "¿Por qué {} {} {} {}?"}

_NUMBERED = re.compile(rb"\((\d+-\d+)\)")
_RECALLED = re.compile(rb"<(memory|recalled)\b.*?</\1>", re.DOTALL)

_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class Workload:
    """Requests of a row and round, a lane a connection."""

    warm_up: Lanes
    measured: Lanes


def workload(kind: Kind, *, requests: int, lanes: int, seed: int, stream: bool) -> Workload:
    """Returns at least `requests` measured ones. Two seeds have no conversation in common."""
    author = Author(seed, stream=stream, model=MODELS.get(kind, "bench-model"))
    each = -(-requests // lanes)
    match kind:
        case "growing":
            return _going_on([[author.conversation() for _ in range(-(-each // STEPS))] for _ in range(lanes)], each)
        case "cold":
            return Workload(*([[author.cold() for _ in range(n)] for _ in range(lanes)] for n in (10, each)))
        case "repeated":
            asked = [author.deterministic() for _ in range(lanes)]
            return Workload([[body] * 10 for body in asked], [[body] * each for body in asked])
        case "once":
            lists = [[author.deterministic() for _ in range(each)] for _ in range(lanes)]
            return Workload(lists, lists)
        case "long-en" | "long-es":
            steps = LAST_TURN - TURNS
            people = [f"{seed}-{lane}" for lane in range(lanes)]
            told = [[author.told(kind[-2:], person) for _ in range(-(-each // steps))] for person in people]
            return _going_on(told, each)
        case "flood-en" | "flood-es":
            people = [f"{seed}-{lane}" for lane in range(lanes)]
            histories = [[author.history(kind[-2:], person) for _ in range(each + 1)] for person in people]
            return Workload([lane[:1] for lane in histories], [lane[1:] for lane in histories])


class Author:
    """Writes requests. Every message but the system's is unlike any other."""

    def __init__(self, seed: int, *, stream: bool, model: str = "bench-model") -> None:
        self._random = random.Random(seed)  # noqa: S311 (the same texts for the same seed)
        self._fields = {"model": model} | ({"stream": True} if stream else {})
        self._seed = seed
        self._written = 0

    def cold(self) -> bytes:
        """Returns a request that goes on with nothing."""
        return self._request([self.message(i) for i in range(MESSAGES - 1)])

    def deterministic(self) -> bytes:
        """Returns a request whose answer may be reused."""
        messages = [self.message(i) for i in range(MESSAGES - 2)]
        return self._request([*messages, {"role": "user", "content": QUESTION}], temperature=0)

    def conversation(self) -> list[bytes]:
        """Returns all requests of one conversation, the first for the warm-up."""
        messages = [self.message(i) for i in range(FIRST - 1)]
        bodies = [self._request(messages)]
        for _ in range(STEPS):
            messages += [{"role": "assistant", "content": ANSWER}, self.message(0)]
            bodies.append(self._request(messages))
        return bodies

    def told(self, language: str, person: str) -> list[bytes]:
        """Returns all requests of one long conversation of a person, the first for the warm-up."""
        messages, bodies = [self.sentences(language, 0)], []
        for turn in range(1, LAST_TURN + 1):
            if turn >= TURNS:
                bodies.append(self._request(messages, user=person))
            answer = answer_to(f"{self._seed}-{self._written}", language)
            messages += [{"role": "assistant", "content": answer}, self.sentences(language, 0)]
        return bodies

    def history(self, language: str, person: str) -> bytes:
        """Returns a person's request with a history that nobody has seen."""
        return self._request([self.sentences(language, position) for position in range(MESSAGES - 1)], user=person)

    def sentences(self, language: str, position: int) -> dict[str, str]:
        """Returns a message that was never written before. A user asks; in one message of three, something is told as
        well."""
        is_user = position % 2 == 0
        tells, text = not is_user or self._random.random() < 1 / 3, ""
        while len(text) < _TEXT_BYTES - 50:
            self._written += 1
            when, *rest = (self._random.choice(column) for column in _COLUMNS[language])
            told = f"{when}, {' '.join(rest)}." if tells else _ASKING[language].format(*rest)
            text += f"{told[:-1]} ({self._seed}-{self._written}){told[-1]} "
            tells = not is_user
        return {"role": "user" if is_user else "assistant", "content": text}

    def huge(self, megabytes: int) -> bytes:
        """Returns a request whose one message is so large."""
        block = " ".join(self.message(0)["content"] for _ in range(100))
        text = f"{self.message(0)['content']} {block * (megabytes * 1_000_000 // len(block))}"
        return self._request([{"role": "user", "content": text}])

    def message(self, position: int) -> dict[str, str]:
        """Returns a message with a number that no other has; its sentences come again."""
        self._written += 1
        text = f"({self._seed}-{self._written})"
        while len(text) < _TEXT_BYTES - 50:
            text = f"{text} {self._random.choice(_SENTENCES)}"
        return {"role": ("user", "assistant")[position % 2], "content": text}

    def _request(self, messages: list[dict[str, str]], **fields: object) -> bytes:
        system = {"role": "system", "content": SYSTEM}
        return _encode({**self._fields, "messages": [system, *messages], **fields})


def answer_to(number: str, language: str) -> str:
    """Returns the answer to the question whose last sentence has this number."""
    chosen, text = random.Random(number), ""  # noqa: S311 (the same text for the same number)
    for sentence in "abcdefgh":
        if len(text) < _TEXT_BYTES - 50:
            when, *rest = (chosen.choice(column) for column in _COLUMNS[language])
            text += f"{when}, {' '.join(rest)} ({number}{sentence}). "
    return text


def asked(body: bytes) -> str:
    """Returns the number of the newest question of a request, without what is recalled beside it."""
    newest = _RECALLED.sub(b"", body[body.rfind(b'"role":"user"') :])
    *_, number = _NUMBERED.finditer(newest)
    return number[1].decode()


def _going_on(conversations: Sequence[Sequence[list[bytes]]], each: int) -> Workload:
    """Returns the workload of lanes of conversations: the first request of each to warm up; `each` of the others to be
    measured, the second of each conversation, the third of each, …"""
    warm_up, measured = [], []
    for lane in conversations:
        firsts, *rest = zip(*lane, strict=True)
        warm_up.append([*firsts])
        measured.append([body for step in rest for body in step][:each])
    return Workload(warm_up, measured)
