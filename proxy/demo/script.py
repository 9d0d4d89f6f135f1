"""The answers of the demonstration's model: a function of the messages, the model and the seed, and of nothing else.

It reads what was asked off the newest user message, without what a proxy has set before it: what old turns asked for is
not done again. In this order:

    the model `demo-memory`                what memory is asked of it: see remembering.py
    "refuse to …" / "negate a …"           refuses
    tools, and the text names one          calls it (all that are named, unless `parallel_tool_calls` is false)
    a tool has just answered               tells what it said
    `response_format`                      JSON that fits
    a message that has a written answer    that one
    "say: …" / "repetí: …"                 says it
    ends with "40 words" / "40 palabras",  that many
      or with "write 40 words about …"
    a greeting                             greets
    a question                             what it knows, else the sentence of the prompt that the question is about,
                                           else that it doesn't know
    anything else                          a friendly paragraph

The sentence of the prompt makes a lost memory visible: the answer is in the prompt that arrived, or it is not in the
answer. What the model says besides is in phrases.yaml.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec
import yaml

from proxy.conversation.blocks import ours, without_ours
from proxy.demo import remembering
from proxy.types import Language

_PHRASES: Mapping[str, Any] = yaml.safe_load(Path(__file__).with_name("phrases.yaml").read_text(encoding="utf-8"))

_REFUSE = re.compile(r"\b(refuse to|neg[aá]te a)\b", re.IGNORECASE)
_SAY = re.compile(
    r"\b(?:say|repeat|repet[ií]|repite|dec[ií])(?: exactly| exactamente)?:\s*(.+)", re.IGNORECASE | re.DOTALL
)
# Of the last sentence only, and only as an order: a text that speaks of 120 words is not one.
_COUNT = re.compile(
    r"(?:^|\b(?:write|tell|give|escrib\w+|cont[aá]me|dec[ií]me|dame)\b.*?\s)(\d{1,6}) (?:words|palabras)\b"
    r"|\b(\d{1,6}) (?:words|palabras)$",
    re.IGNORECASE,
)
_GREETING = re.compile(
    r"[¡\s]*(?:hello|hi|hey|hola|buenas|good (?:morning|evening)|buen día|buenos días)[\s.!]*", re.IGNORECASE
)
# Whatever a proxy has set before a message, also one of another version, with other titles.
_SET_BEFORE = re.compile(r"<(memory|recalled)>\n.*?\n</\1>\s*", re.DOTALL)

_SPANISH = re.compile(
    r"[¿¡ñáéíóú]|\b(el|la|los|las|que|de|una?|por|para|con|como|mi|es|hola|gracias|repet[ií]|palabras)\b", re.IGNORECASE
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_ANSWER = re.compile(r"^\d+ assistant: .*$", re.MULTILINE)  # a line of old turns
_MARK = re.compile(r"^(?:- (?:\[\w+\] )?|\d+: )", re.MULTILINE)  # of a fact, of an old turn
_TAG = re.compile(r"</?[\w-]+>")
_SUFFIX = re.compile(r"(?:imos|amos|emos|ing|ed|es|as|os|is|an|en|s|a|e|i|o)$")
_STOPWORDS = frozenset(_PHRASES["stopwords"].split())

_QUOTED = re.compile(r"[\"'«“]([^\"'»”]+)[\"'»”]")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_NAME = re.compile(r"(?<=[\s¿¡(])[A-ZÁÉÍÓÚÑ][\wáéíóúñ]+")  # a capital inside a sentence

_FORMATS = {
    "date": "2025-01-31",
    "date-time": "2025-01-31T12:00:00Z",
    "time": "12:00:00Z",
    "email": "demo@example.com",
    "uri": "https://example.com/",
    "uuid": "00000000-0000-4000-8000-000000000000",
}
NOTHING: Mapping[str, str] = MappingProxyType({})
_DEEPEST = 12  # a schema that refers to itself ends here


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


def script(
    fields: Mapping[str, Any],
    messages: Sequence[Mapping[str, Any]],
    *,
    seed: int,
    thinking: bool,
    written: Mapping[str, str] = NOTHING,
) -> Scripted:
    """Answers a chat completion request. `fields` is the body without `messages`; `written` has answers to messages."""
    newest = next((_text(message) for message in reversed(messages) if message.get("role") == "user"), "")
    if fields.get("model") == remembering.MODEL:
        return Scripted(content=remembering.answer(newest))
    asked = _SET_BEFORE.sub("", without_ours(newest)).strip()
    tongue = language(question_in(asked) or asked)
    reasoning = _PHRASES["thought"][tongue].format(asked[-80:]) if thinking else None
    if _REFUSE.search(asked):
        return Scripted(refusal=_PHRASES["refusal"][tongue], reasoning=reasoning)
    last = messages[-1] if messages else {}
    if last.get("role") != "tool" and (calls := _calls(fields, asked)):
        return Scripted(calls=calls, reasoning=reasoning)
    if last.get("role") == "tool":
        return Scripted(content=_PHRASES["heard"][tongue] + _text(last), reasoning=reasoning)
    number = _seed_of(fields.get("model"), seed, asked)
    text = written.get(asked) or _free_text(asked, messages, tongue, number)
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


def _free_text(asked: str, messages: Sequence[Mapping[str, Any]], tongue: Language, number: int) -> str:
    if said := _SAY.search(asked):
        return said.group(1).strip()
    if count := _COUNT.search((sentences(asked) or [""])[-1]):
        words = " ".join(_PHRASES["went_on"][tongue]).split()
        return " ".join(words[(number + at) % len(words)] for at in range(int(count[1] or count[2])))
    if _GREETING.fullmatch(asked):
        return str(_PHRASES["greeted"][tongue])
    if question := question_in(asked):
        if known := general_answer(question):
            return known
        told = [_text(message) for message in messages if message.get("role") != "assistant"]
        found = recall(question, user_sentences(told))
        return f"{_PHRASES['known'][tongue]}{found}" if found else str(_PHRASES["unknown"][tongue])
    agreed, went_on = _PHRASES["agreed"][tongue], _PHRASES["went_on"][tongue]
    more = [went_on[(number + at) % len(went_on)] for at in range(5 + number % 4)]
    return " ".join([agreed[number % len(agreed)], *more])


def _text(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, list):
        return "\n".join(
            part["text"] for part in content if isinstance(part, dict) and isinstance(part.get("text"), str)
        )
    return content if isinstance(content, str) else ""


def _seed_of(*parts: Any) -> int:
    return int.from_bytes(hashlib.blake2b(repr(parts).encode("utf-8", "replace"), digest_size=4).digest())


# --- answers of general knowledge, and from the prompt ---


def general_answer(question: str) -> str | None:
    """The answer to a question of general knowledge, or None."""
    known = _PHRASES["general"]
    return next((each["answer"] for each in known if re.search(each["question"], question, re.IGNORECASE)), None)


def language(text: str) -> Language:
    """Detects Spanish by a letter or a frequent word of it; else English."""
    return "es" if _SPANISH.search(text) else "en"


def question_in(text: str) -> str | None:
    """The last question of a text; what stands before it is context."""
    questions = [sentence for sentence in sentences(text) if "?" in sentence]
    return questions[-1] if questions else None


def sentences(text: str) -> list[str]:
    """The sentences and lines of a text, without tags."""
    return [sentence for part in _SENTENCE.split(_TAG.sub("\n", text)) if (sentence := part.strip())]


def stems(text: str) -> frozenset[str]:
    """The content words of a text, without accents and endings: enough to match `vivo` with `vivís`."""
    plain = unicodedata.normalize("NFKD", text.lower()).encode("ascii", "ignore").decode()
    words = (word for word in re.findall(r"[a-z0-9]+", plain) if word not in _STOPWORDS)
    return frozenset(_SUFFIX.sub("", word)[:6] if len(word) > 3 else word for word in words)


def user_sentences(texts: Sequence[str]) -> list[str]:
    """Returns the users' sentences in a prompt, the oldest first. What a proxy has put into it is older than what they
    say, and of old turns it holds the assistant's words as well."""
    ours_first = [*(block for text in texts for block in ours(text)), *map(without_ours, texts)]
    return [_MARK.sub("", _ANSWER.sub("", text)) for text in ours_first]


def recall(question: str, told: Iterable[str]) -> str | None:
    """The statement in `told` that shares most content words with the question, the latest of equals; None if none
    shares at least half of them."""
    wanted = stems(question)
    best: tuple[int, str] | None = None
    for text in told:
        for sentence in sentences(text):
            shared = len(wanted & stems(sentence))
            if "?" not in sentence and 2 * shared >= len(wanted) and shared and (best is None or shared >= best[0]):
                best = (shared, sentence)
    return best[1] if best else None


# --- structured answers ---


def fit(schema: Mapping[str, Any], text: str) -> Any:
    """The first value that fits a JSON Schema, with the strings and numbers that `text` mentions where they do. Simple
    schemas only: what SDKs generate from a model class or a function signature (objects, arrays, enums, references,
    unions, formats, bounds)."""
    return _fit(schema, text, schema, 0)


def _fit(schema: Mapping[str, Any], text: str, root: Mapping[str, Any], depth: int) -> Any:
    schema = _narrow(schema, root, depth)
    if "const" in schema:
        return schema["const"]
    if options := schema.get("enum"):
        return next((option for option in options if str(option).lower() in text.lower()), options[0])
    match _type(schema):
        case "object":
            properties = schema.get("properties", {})
            return {name: _fit(value, text, root, depth + 1) for name, value in properties.items()}
        case "array":
            count = schema.get("minItems", 1) if depth <= _DEEPEST else 0
            return [_fit(schema.get("items", {}), text, root, depth + 1) for _ in range(count)]
        case "integer":
            return int(_number(schema, text))
        case "number":
            return _number(schema, text)
        case "boolean":
            return True
        case "null":
            return None
        case _:
            return _string(schema, text)


def _narrow(schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> Mapping[str, Any]:
    """One schema in place of a reference, a union (its first option that isn't null) or an intersection."""
    if reference := schema.get("$ref"):
        return _narrow(_resolve(root, str(reference)), root, depth)
    if options := schema.get("anyOf") or schema.get("oneOf"):
        concrete = [option for option in options if option.get("type") != "null"]
        nullable = len(concrete) < len(options)
        return {"type": "null"} if nullable and depth > _DEEPEST else _narrow(concrete[0], root, depth)
    if parts := schema.get("allOf"):
        return {key: value for part in parts for key, value in _narrow(part, root, depth).items()}
    return schema


def _type(schema: Mapping[str, Any]) -> str:
    declared = schema.get("type")
    if isinstance(declared, list):
        declared = next((name for name in declared if name != "null"), "null")
    return str(declared or ("object" if "properties" in schema else "string"))


def _resolve(root: Mapping[str, Any], reference: str) -> Mapping[str, Any]:
    found: Any = root
    for step in reference.removeprefix("#").split("/"):
        found = found[step] if step else found
    return found if isinstance(found, dict) else {}


def _number(schema: Mapping[str, Any], text: str) -> float:
    mentioned = _NUMBER.search(text)
    value = float(mentioned.group()) if mentioned else float(schema.get("minimum", 1))
    if "minimum" in schema:
        value = max(value, float(schema["minimum"]))
    if "maximum" in schema:
        value = min(value, float(schema["maximum"]))
    return value


def _string(schema: Mapping[str, Any], text: str) -> str:
    if (form := schema.get("format")) in _FORMATS:
        return _FORMATS[form]
    mentioned = _QUOTED.findall(text) or _NAME.findall(text)
    value = str(mentioned[0]) if mentioned else "demo"
    return value[: schema["maxLength"]] if "maxLength" in schema else value
