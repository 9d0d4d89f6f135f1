"""The answers of the demonstration's model: a function of the messages, the model and the seed, and of nothing else.

It reads what was asked off the newest user message, without what a proxy has set before it. In this order:

    "refuse to …" / "negate a …"           refuses
    tools, and the text names one          calls it (all that are named, unless `parallel_tool_calls` is false)
    a tool has just answered               tells what it said
    `response_format`                      JSON that fits
    a message of the long talk             what is written for it (talk/)
    "say: …" / "repetí: …"                 says it
    "40 words" / "40 palabras"             that many
    a question                             what it knows, else the sentence of the prompt that the question is about,
                                           else that it doesn't know (recall.py)
    anything else                          a friendly paragraph
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from proxy.conversation.blocks import without_ours
from proxy.demo import recall
from proxy.demo.conversation import answers
from proxy.demo.schema import fit

_REFUSE = re.compile(r"\b(refuse to|neg[aá]te a)\b", re.IGNORECASE)
_SAY = re.compile(
    r"\b(?:say|repeat|repet[ií]|repite|dec[ií])(?: exactly| exactamente)?:\s*(.+)", re.IGNORECASE | re.DOTALL
)
_COUNT = re.compile(r"\b(\d{1,6}) (?:words|palabras)\b", re.IGNORECASE)

_REFUSAL = {"es": "No puedo ayudar con eso.", "en": "I can't help with that."}
_HEARD = {"es": "La herramienta respondió: ", "en": "The tool answered: "}
_AGREED = {
    "es": ("Entendido, lo tengo en cuenta.", "Perfecto, queda anotado.", "De acuerdo, gracias por contármelo."),
    "en": ("Understood, I'll keep it in mind.", "Perfect, noted.", "All right, thanks for telling me."),
}
_WENT_ON = {
    "es": (
        "Si más adelante cambia algo, avisame y lo ajustamos sin problema.",
        "Lo más práctico suele ser empezar por lo pequeño y revisar al final de cada semana cómo fue.",
        "También conviene dejar un margen, porque los plazos casi siempre se estiran un poco.",
        "Puedo preparar una lista corta con los pasos, en el orden en que convendría hacerlos.",
        "Hay varias maneras de encararlo, y ninguna obliga a decidir todo de una vez.",
        "Otra opción es compararlo con lo que ya funcionó antes y quedarse con lo que valga la pena.",
        "Si te parece, lo dividimos en partes: primero lo urgente, después lo importante y al final los detalles.",
        "A veces ayuda escribirlo en una hoja y mirarlo al otro día, cuando ya no es una sorpresa.",
        "No hace falta que quede perfecto en la primera vuelta; con que se pueda mejorar alcanza.",
        "Yo pondría una fecha para revisarlo, así no queda dando vueltas durante semanas.",
        "Lo que suele fallar es querer cambiar demasiadas cosas a la vez, y después no saber cuál de ellas sirvió.",
        "Contame si preferís una respuesta breve o que desarrolle cada punto con más calma.",
    ),
    "en": (
        "If anything changes later on, let me know and we'll adjust it without trouble.",
        "The most practical way is usually to start small and to look back at the end of every week.",
        "It also helps to leave some slack, because schedules nearly always stretch a little.",
        "I can put together a short list of steps in the order in which they'd be best done.",
        "There are several ways to go about it, and none of them forces every decision at once.",
        "Another option is to compare it with what has worked before and to keep whatever is worth it.",
        "If you like, we split it up: what is urgent first, then what is important, and the details at the end.",
        "It sometimes helps to write it down and to look at it the next day, when it is no longer a surprise.",
        "It doesn't have to be perfect the first time around; it is enough if it can be improved.",
        "I would set a date for looking at it again, so that it doesn't hang in the air for weeks.",
        "What usually goes wrong is changing too many things at once and then not knowing which of them helped.",
        "Let me know whether you prefer a short answer or every point at greater length.",
    ),
}


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of one of the tools that the request offers."""

    name: str
    arguments: str  # JSON


@dataclass(frozen=True, slots=True)
class Scripted:
    """One choice, before it is cut to `stop` and `max_tokens`."""

    content: str | None = None
    refusal: str | None = None
    calls: tuple[ToolCall, ...] = ()
    reasoning: str | None = None


def script(fields: Mapping[str, Any], messages: Sequence[Mapping[str, Any]], *, seed: int, thinking: bool) -> Scripted:
    """Answers a chat completion request. `fields` is the body without `messages`."""
    newest = next((_text(message) for message in reversed(messages) if message.get("role") == "user"), "")
    asked = without_ours(newest).strip()
    tongue = recall.language(recall.question_in(asked) or asked)
    reasoning = f"Me preguntan: {asked[-80:]} Lo busco en el prompt." if thinking and tongue == "es" else None
    if thinking and reasoning is None:
        reasoning = f"They ask: {asked[-80:]} I look for it in the prompt."
    if _REFUSE.search(asked):
        return Scripted(refusal=_REFUSAL[tongue], reasoning=reasoning)
    last = messages[-1] if messages else {}
    if last.get("role") != "tool" and (calls := _calls(fields, asked)):
        return Scripted(calls=calls, reasoning=reasoning)
    if last.get("role") == "tool":
        return Scripted(content=_HEARD[tongue] + _text(last), reasoning=reasoning)
    text = _free_text(asked, messages, tongue, _number(fields.get("model"), seed, asked))
    return Scripted(content=_formatted(fields.get("response_format"), asked, text), reasoning=reasoning)


def _calls(fields: Mapping[str, Any], asked: str) -> tuple[ToolCall, ...]:
    choice = fields.get("tool_choice", "auto")
    tools = {
        tool["function"]["name"]: tool["function"].get("parameters") or {}
        for tool in fields.get("tools") or ()
        if tool.get("type", "function") == "function"
    }
    if choice == "none" or not tools:
        return ()
    if isinstance(choice, dict):
        names = [choice["function"]["name"]]
    else:
        said = asked.lower()
        names = [name for name in tools if name.lower() in said or name.lower().replace("_", " ") in said]
        if not names and choice == "required":
            names = [next(iter(tools))]
    if fields.get("parallel_tool_calls") is False:
        names = names[:1]
    # A tool's own name, and whatever it is made of, is not an argument.
    text = asked
    for name in names:
        text = re.sub(re.escape(name), "", text, flags=re.IGNORECASE)
    return tuple(
        ToolCall(name, msgspec.json.encode(fit({"type": "object", **tools.get(name, {})}, text)).decode())
        for name in names
    )


def _formatted(response_format: Any, asked: str, text: str) -> str:
    match response_format:
        case {"type": "json_schema", "json_schema": {"schema": dict(schema)}}:
            return msgspec.json.encode(fit(schema, asked)).decode()
        case {"type": "json_object"}:
            return msgspec.json.encode({"answer": text}).decode()
        case _:
            return text


def _free_text(asked: str, messages: Sequence[Mapping[str, Any]], tongue: recall.Language, number: int) -> str:
    if written := answers().get(asked):
        return written
    if said := _SAY.search(asked):
        return said.group(1).strip()
    if count := _COUNT.search(asked):
        words = " ".join(_WENT_ON[tongue]).split()
        return " ".join(words[(number + at) % len(words)] for at in range(int(count.group(1))))
    if question := recall.question_in(asked):
        if known := recall.general_answer(question):
            return known
        told = [_text(message) for message in messages if message.get("role") != "assistant"]
        found = recall.recall(question, recall.user_sentences(told))
        return recall.KNOWN[tongue] + found if found else recall.UNKNOWN[tongue]
    agreed, went_on = _AGREED[tongue], _WENT_ON[tongue]
    more = [went_on[(number + at) % len(went_on)] for at in range(5 + number % 4)]
    return " ".join([agreed[number % len(agreed)], *more])


def _text(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, list):
        return "\n".join(
            part["text"] for part in content if isinstance(part, dict) and isinstance(part.get("text"), str)
        )
    return content if isinstance(content, str) else ""


def _number(*parts: Any) -> int:
    return int.from_bytes(hashlib.blake2b(repr(parts).encode("utf-8", "replace"), digest_size=4).digest())
