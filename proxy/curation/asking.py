"""Questions to memory's model, as chat requests: the prompt, and behind it the data, which is marked as such.

Data stands in blocks, a line each for what is data's own: a message begins with the number of its turn, its further
lines are indented, so nothing within a message looks like another one or like the end of the block. Facts have short
ids, which are good for this question alone; `shown` tells which fact each was, and in which version.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b

import msgspec

from proxy.curation.answers import clean
from proxy.curation.prompts import Prompt, Prompts
from proxy.language.words import terms
from proxy.memory.facts import sayable
from proxy.memory.signals import spoken_in
from proxy.types import SELF_CORRECTION, ArchivedTurn, Fact, Json
from proxy.types.curation import DigestSpan

MOST_FACTS = 60  # shown beside a conversation
MOST_USER, MOST_ASSISTANT = 12_000, 3_000  # characters of a message: beyond, its middle is left out
WIDEST = 300  # characters of a fact's value
MOST_ENTRIES, WIDEST_ENTRY = 200, 400  # of a digest: lines, and characters of one
_DIGEST_READ = 2_000  # characters by which the language of facts or entries is told

OPERATIONS = {
    "extract": ("add", "update", "invalidate", "merge"),
    "consolidate": ("merge", "invalidate", "update"),
}


@dataclass(frozen=True, slots=True)
class Question:
    """A request to the model, and what a job's row keeps of it."""

    body: bytes  # a chat request
    prompt: str  # name and version
    shown: bytes  # JSON: `Shown`
    read: tuple[bytes, ...]  # links of the messages in it


class Shown(msgspec.Struct, frozen=True):
    """The facts and turns that the model was shown, for the reader of its answer."""

    facts: dict[str, tuple[str, str]] = {}  # by short id: id and version
    turns: tuple[str, ...] = ()  # links of turns, in hex, in their order: the first is turn 1
    groups: tuple[tuple[str, ...], ...] = ()  # short ids, of facts that are compared


def shown_of(data: bytes) -> Shown:
    """Reads `Question.shown`; nothing was shown if it can't be read, so nothing that it names is known."""
    try:
        return msgspec.json.decode(data, type=Shown)
    except ValueError:
        return Shown()


def version_of(fact: Fact) -> str:
    """Returns a hash, 8 hex digits, of what an operation on a fact relies on. That it was confirmed does not count."""
    parts = (fact.id, fact.domain, fact.key, fact.value, fact.source, repr(fact.pinned))
    ends = (fact.superseded_by or "", fact.doubted_by or "")
    return blake2b("\0".join((*parts, *ends)).encode("utf-8", "replace"), digest_size=4).hexdigest()


# --- turns -----------------------------------------------------------------------------------------------------------


def unread(path: Sequence[ArchivedTurn], was_read: Collection[bytes]) -> tuple[ArchivedTurn, ...]:
    """Returns the turns of a path that no job has read. `was_read`: those of their links that one has. The turn's own
    link tells: a consolidation has read links of user messages, and no turn."""
    return tuple(turn for turn in path if turn.link not in was_read)


def links_of(turns: Iterable[ArchivedTurn]) -> tuple[bytes, ...]:
    """Returns the links of turns and of all their messages, each once."""
    return tuple(dict.fromkeys(link for turn in turns for link in (turn.link, *(e.link for e in turn.utterances))))


def fitting(turns: Sequence[ArchivedTurn], count: Callable[[str], int], most: int) -> tuple[ArchivedTurn, ...]:
    """Returns the first turns that together take at most `most` tokens as they are shown; at least one, if there is
    one."""
    taken = 0
    for number, turn in enumerate(turns):
        taken += count(_rendered(number + 1, turn))
        if taken > most and number:
            return tuple(turns[:number])
    return tuple(turns)


def _rendered(number: int, turn: ArchivedTurn) -> str:
    return "\n".join(
        f"[{number}] {said.role}: " + indented(said.text, MOST_USER if said.role == "user" else MOST_ASSISTANT)
        for said in turn.utterances
    )


def indented(text: str, most: int) -> str:
    """Returns a text that looks like nothing but one message: at most `most` characters, further lines indented."""
    if len(text) > most:
        half = most // 2
        text = f"{text[:half]}\n[…]\n{text[-half:]}"
    return "\n    ".join(line.rstrip() for line in text.splitlines())


# --- questions -------------------------------------------------------------------------------------------------------


def extraction(
    turns: Sequence[ArchivedTurn],
    facts: Sequence[Fact],
    *,
    prompts: Prompts,
    settings: Mapping[str, Json],
    schemas: bool,
) -> Question:
    """Returns the question what to remember of these turns. `facts`: all of the scope; those that hold are shown, at
    most `MOST_FACTS`, first those that share words with the turns."""
    said = " ".join(each.text for turn in turns for each in turn.utterances if each.role == "user")
    known = _named(_nearest(facts, said))
    prompt = prompts.of("extract", spoken_in(said))
    conversation = "\n".join(_rendered(number, turn) for number, turn in enumerate(turns, 1))
    data = f"{_facts_block([known])}\n\n<conversation>\n{conversation}\n</conversation>"
    shown = Shown(_versions(known), tuple(turn.link.hex() for turn in turns))
    schema = EXTRACTION if schemas else None
    return Question(body_of(prompt, data, settings, schema), prompt.label, msgspec.json.encode(shown), links_of(turns))


def consolidation(
    groups: Sequence[Sequence[Fact]], *, prompts: Prompts, settings: Mapping[str, Json], schemas: bool
) -> Question:
    """Returns the question which facts of each group are one, or have ended. A fact is in one group."""
    known = _named([fact for group in groups for fact in sorted(group, key=_oldest_first)])
    names = {fact.id: name for name, fact in known.items()}
    parted = [{names[fact.id]: fact for fact in sorted(group, key=_oldest_first)} for group in groups]
    prompt = prompts.of("consolidate", spoken_in(" ".join(fact.value for fact in known.values())[:_DIGEST_READ]))
    shown = Shown(_versions(known), groups=tuple(tuple(group) for group in parted))
    read = tuple(dict.fromkeys(link for fact in known.values() for link in fact.links))
    body = body_of(prompt, _facts_block(parted), settings, CONSOLIDATION if schemas else None)
    return Question(body, prompt.label, msgspec.json.encode(shown), read)


def digestion(
    span: DigestSpan, texts: Sequence[str], *, prompts: Prompts, settings: Mapping[str, Json], schemas: bool
) -> Question:
    """Returns the question what mattered in an hour, a day or a week of which `texts` tell."""
    lines = [line[:WIDEST_ENTRY] for text in texts[:MOST_ENTRIES] if (line := clean(text))]
    prompt = prompts.of("digest", spoken_in(" ".join(lines)[:_DIGEST_READ]))
    entries = "\n".join(f"- {line}" for line in lines)
    data = f'<entries of="{span}">\n{entries}\n</entries>'
    return Question(
        body_of(prompt, data, settings, DIGEST if schemas else None), prompt.label, msgspec.json.encode(Shown()), ()
    )


def _nearest(facts: Iterable[Fact], said: str) -> list[Fact]:
    words = frozenset(terms(said))
    holding = [fact for fact in facts if fact.superseded_by is None and fact.domain != SELF_CORRECTION]
    best = sorted(holding, key=lambda fact: (-len(sayable(fact) & words), -fact.last_confirmed_at, fact.id))
    return sorted(best[:MOST_FACTS], key=_oldest_first)


def _oldest_first(fact: Fact) -> tuple[float, str]:
    return fact.last_confirmed_at, fact.id


def _named(facts: Iterable[Fact]) -> dict[str, Fact]:
    return {f"f{number}": fact for number, fact in enumerate(facts, 1)}


def _versions(known: Mapping[str, Fact]) -> dict[str, tuple[str, str]]:
    return {name: (fact.id, version_of(fact)) for name, fact in known.items()}


def _facts_block(groups: Iterable[Mapping[str, Fact]]) -> str:
    lines = "\n\n".join(
        "\n".join(
            f"{name} | {clean(fact.domain)} | {clean(fact.key)} | {clean(fact.value)[:WIDEST]}"
            for name, fact in group.items()
        )
        for group in groups
    )
    return f"<facts>\n{lines}\n</facts>" if lines else "<facts>\n</facts>"


def body_of(prompt: Prompt, data: str, settings: Mapping[str, Json], schema: Json | None) -> bytes:
    """Returns a chat request. `schema`: of its answer, where the model takes one."""
    messages = [{"role": "system", "content": prompt.text}, {"role": "user", "content": data}]
    asked: dict[str, Json] = {**settings, "messages": messages}
    if schema is not None:
        format_ = {"name": "memory", "strict": True, "schema": schema}
        asked["response_format"] = {"type": "json_schema", "json_schema": format_}
    return msgspec.json.encode(asked)


# --- schemas ---------------------------------------------------------------------------------------------------------
# Strict ones as upstreams demand them: every property is required, and one that may be missing may be null.


def strict(properties: Mapping[str, Json]) -> Json:
    """Returns the schema of an object with all of these properties."""
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _list(items: Json) -> Json:
    return {"type": "array", "items": items}


_TEXT: Json = {"type": "string"}
_TEXT_OR_NULL: Json = {"type": ["string", "null"]}
_NAMES: Json = {"type": ["array", "null"], "items": _TEXT}
_FACT: Mapping[str, Json] = {"id": _TEXT_OR_NULL, "ids": _NAMES} | dict.fromkeys(
    ("key", "value", "domain"), _TEXT_OR_NULL
)

EXTRACTION: Json = strict(
    {
        "operations": _list(
            strict(
                {
                    "op": {"type": "string", "enum": list(OPERATIONS["extract"])},
                    **_FACT,
                    "turn": {"type": "integer"},
                    "quote": _TEXT,
                }
            )
        ),
        "events": _list(strict({"turn": {"type": "integer"}, "text": _TEXT})),
        "summary": strict(
            {
                "topic": _TEXT,
                "discussed": _list(_TEXT),
                "outcome": _TEXT,
                "decisions": _list(_TEXT),
                "open_questions": _list(_TEXT),
            }
        ),
        "slug": _TEXT,
    }
)
CONSOLIDATION: Json = strict(
    {
        "operations": _list(
            strict({"op": {"type": "string", "enum": list(OPERATIONS["consolidate"])}, **_FACT, "by": _TEXT_OR_NULL})
        )
    }
)
DIGEST: Json = strict({"digest": _TEXT})
