"""The judge of two answers: a model is asked which of them is worse. Here is its question, and how its verdict is read.
Pure.

Which answer comes first is drawn by a hash of the request, since models favour one place; the judge does not know which
of them was managed. What is judged stands in blocks that nothing within them can end.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from importlib.resources import files
from typing import Literal

import msgspec

from proxy.memory.signals import spoken_in
from proxy.types import Json, Message
from proxy.types.quality import Comparison

MOST_ANSWER = 512  # tokens; a verdict takes 30, but some models think first
MOST_SHOWN = 12_000  # characters of an answer: beyond, its middle is left out
MOST_BEFORE, LONGEST_BEFORE = 6, 2_000  # messages of the conversation that are shown, and characters of each
LONGEST_REASON = 200  # characters

Verdict = Literal["same", "first_worse", "second_worse"]


class Ruling(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A verdict, as the judge has to write it."""

    verdict: Verdict
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Judged:
    """A verdict on a managed answer."""

    held: bool
    reason: str


def managed_is_first(request_id: str) -> bool:
    """Draws which answer the judge reads first."""
    return blake2b(request_id.encode("utf-8", "replace"), digest_size=1, person=b"order").digest()[0] % 2 == 0


def question(
    settings: Mapping[str, Json], before: Sequence[Message], managed: str, original: str, *, managed_first: bool
) -> bytes:
    """Returns the chat request that asks the judge. `settings`: beside the messages. `before`: the conversation up to
    the message that both answer."""
    said = [message for message in before if message.role in ("user", "assistant") and message.text.strip()]
    shown = "\n".join(_said(message.role, message.text) for message in said[-MOST_BEFORE:])
    first, second = (managed, original) if managed_first else (original, managed)
    data = (
        f"<conversation>\n{shown}\n</conversation>\n\n<first>\n{_quoted(first, MOST_SHOWN)}\n</first>\n\n"
        f"<second>\n{_quoted(second, MOST_SHOWN)}\n</second>"
    )
    newest = said[-1].text if said else original
    messages = [{"role": "system", "content": prompt(spoken_in(newest[:2_000]))}, {"role": "user", "content": data}]
    return msgspec.json.encode({**settings, "messages": messages})


def prompt(language: str) -> str:
    """Returns what the judge is told."""
    return files(__package__).joinpath("prompts", f"judge.{language}.md").read_text(encoding="utf-8").strip()


def _said(role: str, text: str) -> str:
    return f"{role}:\n{_quoted(text, LONGEST_BEFORE)}"


def _quoted(text: str, most: int) -> str:
    """Returns a text of which no line begins as a block does: each is led by a bar."""
    if len(text) > most:
        text = f"{text[: most // 2]}\n[…]\n{text[-most // 2 :]}"
    return "\n".join(f"| {line.rstrip()}" for line in text.splitlines())


def ruling(text: str | None, *, managed_first: bool) -> Judged | None:
    """Returns what a verdict says of the managed answer; None if it is none: prose, a fence, another field. A managed
    answer that is better than the original has held."""
    try:
        given = msgspec.json.decode((text or "").strip().encode(), type=Ruling)
    except (ValueError, RecursionError):
        return None
    worse = "first_worse" if managed_first else "second_worse"
    return Judged(given.verdict != worse, " ".join(given.reason.split())[:LONGEST_REASON])


def decided(comparison: Comparison, judged: Judged | None) -> Comparison:
    """Returns the comparison with the judge's decision in place of what was measured, if there is one."""
    if judged is None:
        return comparison
    return Comparison(judged.held, "alike" if judged.held else "judge", comparison.measures, way="judge")
