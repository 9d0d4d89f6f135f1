"""Sessions that have ended, as memory's model is asked about them: what was said since it was asked last, and the
sections of the desk, whose lines have names that are good for this question alone.

A job's subject names project and session, "shop/trips"; without a project "/trips". Sections are a project's.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b

import msgspec

from proxy.curation.asking import Question, body_of, indented, strict
from proxy.curation.prompts import Prompts
from proxy.memory.signals import spoken_in
from proxy.protocol.message import message_of
from proxy.types import Json, Message
from proxy.types.desk import SectionName, TapeLine

# The sections that are asked for, each with its block and the letter of its lines. What stands in the profile is the
# person's to say, and nobody's to conclude.
SECTIONS: Mapping[SectionName, tuple[str, str]] = {
    "current_task": ("task", "t"),
    "project_context": ("project", "p"),
    "agent_notes": ("notes", "n"),
}
_MOST = {"user": 4_000, "assistant": 2_000, "tool": 800}  # characters of a message: beyond, its middle is left out
_MOST_ARGUMENTS = 300  # characters of a call's arguments

_TEXTS: Json = {"type": "array", "items": {"type": "string"}}
CONCLUSION: Json = strict(
    {
        "task": {"type": ["array", "null"], "items": {"type": "string"}},
        "lessons": _TEXTS,
        "notes": _TEXTS,
        "project": _TEXTS,
        "outdated": _TEXTS,
    }
)


def subject_of(session: str, project: str) -> str:
    """Returns the subject of a job. `project`: of a-z, 0-9 and hyphens."""
    return f"{project}/{session}"


def told_in(subject: str) -> tuple[str, str]:
    """Returns session and project of a job's subject; the session is "" if it names none."""
    project, _, session = subject.partition("/")
    return session, project


@dataclass(frozen=True, slots=True)
class Heard:
    """A message of a session as it is shown."""

    id: int  # on the tape; 0: it is not there yet
    link: bytes
    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Page:
    """A section as it stands."""

    name: str  # of its file
    version: int = 0  # 0: there was none yet
    text: str = ""


class ShownEnd(msgspec.Struct, frozen=True):
    """The parts of a session that the model was shown, for the reader of its answer."""

    last: int = 0  # id of the newest message on the tape
    versions: dict[SectionName, int] = {}
    lines: dict[str, str] = {}  # by name, `mark_of` a line


def shown_of(data: bytes) -> ShownEnd:
    """Reads `Question.shown`; nothing was shown if it can't be read, so nothing that it names is known."""
    try:
        return msgspec.json.decode(data, type=ShownEnd)
    except ValueError:
        return ShownEnd()


def mark_of(line: str) -> str:
    """Returns a hash, 8 hex digits, of a section's line."""
    return blake2b(line.strip().encode("utf-8", "replace"), digest_size=4).hexdigest()


# --- what was said ----------------------------------------------------------------------------------------------------


def heard(lines: Iterable[TapeLine]) -> tuple[Heard, ...]:
    """Returns the messages of a tape that can be shown: no instructions of a client's, nothing that was forgotten."""
    found = []
    for line in lines:
        said = message_of(line.content) if line.content is not None and line.role in _MOST else None
        if said is not None and (text := _told(said)):
            found.append(Heard(line.id, line.link, line.role, text))
    return tuple(found)


def _told(said: Message) -> str:
    calls = [f"({call.name} {(call.arguments or '')[:_MOST_ARGUMENTS]})" for call in said.tool_calls]
    return "\n".join(part for part in (said.text.strip(), *calls) if part)


def fitting(messages: Sequence[Heard], count: Callable[[str], int], most: int) -> tuple[Heard, ...]:
    """Returns the newest messages that together take at most `most` tokens as they are shown, and before them the
    first one of the user's, which says what it was about; at least the newest, if there is one."""
    first = next((each for each in messages if each.role == "user"), None)
    taken = 0 if first is None else count(_rendered(first))
    kept: list[Heard] = []
    for each in reversed(messages):
        taken += count(_rendered(each)) if each is not first else 0
        if kept and taken > most:
            break
        kept.append(each)
    begins = [first] if first is not None and first not in kept else []
    return (*begins, *reversed(kept))


def _rendered(said: Heard) -> str:
    number = f"[{said.id}] " if said.id else ""
    return f"{number}{said.role}: {indented(said.text, _MOST[said.role])}"


# --- the question -----------------------------------------------------------------------------------------------------


def conclusion(
    messages: Sequence[Heard],
    pages: Mapping[SectionName, Page],
    *,
    prompts: Prompts,
    settings: Mapping[str, Json],
    schemas: bool,
) -> Question:
    """Returns the question what is worth keeping of a session at its end."""
    said = " ".join(each.text for each in messages if each.role == "user")
    names: dict[str, str] = {}
    blocks = []
    for section, (block, letter) in SECTIONS.items():
        lines = [line.strip() for line in pages[section].text.splitlines() if line.strip()]
        named = {f"{letter}{number}": line for number, line in enumerate(lines, 1)}
        names.update((name, mark_of(line)) for name, line in named.items())
        blocks.append(_block(block, [f"{name} | {line}" for name, line in named.items()]))
    blocks.append(_block("session", [_rendered(each) for each in messages]))
    versions = {section: page.version for section, page in pages.items()}
    shown = ShownEnd(max((each.id for each in messages), default=0), versions, names)
    prompt = prompts.of("conclude", spoken_in(said))
    body = body_of(prompt, "\n\n".join(blocks), settings, CONCLUSION if schemas else None)
    links = tuple(dict.fromkeys(each.link for each in messages))
    return Question(body, prompt.label, msgspec.json.encode(shown), links)


def _block(name: str, lines: Sequence[str]) -> str:
    return "\n".join([f"<{name}>", *lines, f"</{name}>"])
