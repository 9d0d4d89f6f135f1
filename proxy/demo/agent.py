"""The agent of `olvido demo --agent`: a model that reads eighty parts of a log, one a step, and keeps its own desk.

It decides by what is in the prompt alone, as a model does: it takes the step that follows the newest part, tidies up
when the dashboard advises it, writes down its task and its notes, and where it is asked for a detail that has left its
context it doubts its summary and recalls the original. Without memory's tools it reads the part again.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from proxy.demo.script import Scripted, ToolCall

MODEL = "demo-agent"
STEPS = 80
TOOL: Mapping[str, Any] = {
    "type": "function",
    "function": {
        "name": "read_part",
        "description": "Reads a part of the log.",
        "parameters": {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]},
    },
}
TASK = (
    f"Read the log, parts 1 to {STEPS}, one after the other. After part 40 and after part {STEPS} tell me the exact "
    "seal of the part that I ask for then. I prefer answers of one line."
)
QUESTIONS: Mapping[int, int] = {40: 7, STEPS: 33}  # after this part: the part whose seal is asked for
IDS_PER_PART = 2.35  # of messages: a call, its result, and now and then what it does with its memory
KEPT = 1  # newest part that stays whole when it tidies up

_PART = re.compile(r"^Part (\d+) of \d+\b", re.MULTILINE)
_SEAL = re.compile(r"^seal of part (\d+): (\S+)", re.MULTILINE)
_ADVICE = re.compile(r"Advice: (prune_messages|summarize_range|\S+ gave the same)")
_HEAP = re.compile(r"(\d+)(?:\u2013(\d+))?: (?:\d+ results?, )?[\d,]+")
_GONE = re.compile(r"\[(\d+): pruned, recallable\]|<summary of=\"(\d+)-(\d+)\">")
_STATUS = re.compile(r"Largest, by id: ([^<]*)")


def part(number: int) -> str:
    """Returns a part of the log: some forty lines, and a seal that nobody can guess."""
    lines = [f"Part {number} of {STEPS}"]
    for line in range(24):
        seed = hashlib.blake2b(f"{number}.{line}".encode(), digest_size=6).hexdigest()
        lines.append(
            f"12:{number % 60:02d}:{line:02d} worker-{seed[:2]} request {seed[2:8]} took {int(seed[8:], 16)} ms"
        )
    return "\n".join([*lines, f"seal of part {number}: {seal(number)}"])


def seal(number: int) -> str:
    """Returns the seal of a part."""
    return hashlib.blake2b(f"seal {number}".encode(), digest_size=5).hexdigest()


def question(number: int) -> str:
    """Returns the question for the seal of a part."""
    return f"Now tell me the exact seal of part {number}, then go on."


class Agent:
    """The model's next action for one prompt."""

    def __init__(self, fields: Mapping[str, Any], messages: Sequence[Mapping[str, Any]]) -> None:
        self._messages = messages
        self._tools = frozenset(tool["function"]["name"] for tool in fields.get("tools") or ())
        self._said = [_text(message) for message in messages]
        self._newest = max(self._parts(self._said), default=0)
        self._asked = next((said for said, each in self._from_the_end() if each.get("role") == "user"), "")
        # Memory's own results since the client spoke last: what was done in this answer already.
        self._done: list[str] = []
        for _, each in self._from_the_end():
            if each.get("role") != "assistant" and each.get("role") != "tool":
                break
            calls = [call["function"]["name"] for call in each.get("tool_calls") or ()]
            if "read_part" in calls:
                break
            self._done += calls

    def act(self) -> Scripted:
        """Returns the next action: calls, or the answer."""
        if calls := tuple(self._tidying()):
            return Scripted(calls=calls)
        wanted = next((int(found[1]) for found in re.finditer(r"exact seal of part (\d+),", self._asked)), None)
        if wanted is not None and self._is_open(wanted):
            return self._answered(wanted)
        if self._newest >= STEPS:
            return Scripted(content=f"All {STEPS} parts are read.")
        calls = (*self._notes(), ToolCall("read_part", _json(number=self._newest + 1)))
        return Scripted(calls=calls)

    def _from_the_end(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        return zip(reversed(self._said), reversed(self._messages), strict=True)

    def _parts(self, texts: Sequence[str]) -> list[int]:
        results = [said for said, each in zip(texts, self._messages, strict=True) if each.get("role") == "tool"]
        return [int(found[1]) for said in results if (found := _PART.match(said)) is not None]

    def _tidying(self) -> Iterator[ToolCall]:
        """Summarises or prunes what the dashboard names, but for the newest parts; once in an answer."""
        board = next((said for said, each in self._from_the_end() if each.get("role") != "assistant"), "")
        own = {"summarize_range", "prune_messages"}
        if not self._tools & own or own & set(self._done):
            return
        advice, status = _ADVICE.search(board), _STATUS.search(board)
        if advice is None or status is None:
            return
        heaps = [(int(found[1]), int(found[2] or found[1])) for found in _HEAP.finditer(status[1])]
        if not heaps:
            return
        first, last = heaps[0][0], heaps[-1][1] - 2 * KEPT
        if last <= first:
            return
        if advice[1] == "prune_messages" and len(heaps) == 1 and first % 2:
            yield ToolCall("prune_messages", _json(message_ids=list(range(first, last + 1))))
        else:
            text = f"Read parts up to {self._newest - KEPT}: nothing unusual. Their seals were not needed yet."
            yield ToolCall("summarize_range", _json(start_id=first, end_id=last, summary_text=text))

    def _notes(self) -> Iterator[ToolCall]:
        """Keeps the task and the notes up to date, beside a step."""
        if "edit_section" in self._tools and self._newest % 20 == 0 and "edit_section" not in self._done:
            done = f"- Goal: read parts 1 to {STEPS}, tell seals when asked\n- Done: parts 1 to {self._newest}\n"
            yield ToolCall("edit_section", _json(section_name="current_task", new_content=done))
        if "save_to_disk" in self._tools and self._newest == STEPS // 2 and "save_to_disk" not in self._done:
            half = f"Half of the log is read: {self._newest} parts."
            yield ToolCall("save_to_disk", _json(file_name="log.md", content=half))
        if "remember" in self._tools and self._newest == 1 and "remember" not in self._done:
            yield ToolCall("remember", _json(key="answers", value="prefers answers of one line"))

    def _is_open(self, wanted: int) -> bool:
        """Tells whether the newest question has no answer yet."""
        for said, each in self._from_the_end():
            if each.get("role") == "assistant" and f"The seal of part {wanted} is" in said:
                return False
            if each.get("role") == "user":
                return True
        return True

    def _answered(self, wanted: int) -> Scripted:
        known = {int(number): found for said in self._said for number, found in _SEAL.findall(said)}
        if wanted in known:
            return Scripted(content=f"The seal of part {wanted} is {known[wanted]}.")
        if "recall_original" in self._tools and (name := self._guess(wanted)):
            return Scripted(calls=(ToolCall("recall_original", _json(message_id=name)),))
        return Scripted(calls=(ToolCall("read_part", _json(number=wanted)),))

    def _guess(self, wanted: int) -> int:
        """Returns the id under which the original of a part may be: from what the last recall has shown, each part
        being two messages further; else from the ids that have left."""
        for index in range(len(self._messages) - 1, 0, -1):
            before = self._messages[index - 1]
            if self._messages[index].get("role") != "tool" or not before.get("tool_calls"):
                continue
            call = before["tool_calls"][0]["function"]
            if call["name"] != "recall_original":
                break
            asked = int(msgspec.json.decode(call["arguments"])["message_id"])
            shown = _PART.match(self._said[index])
            return asked + 2 * (wanted - int(shown[1])) if shown else asked + 1
        gone = [int(next(filter(None, found))) for said in self._said for found in _GONE.findall(said)]
        return min(gone) + round(IDS_PER_PART * (wanted - 1)) if gone else 0


def scripted(fields: Mapping[str, Any], messages: Sequence[Mapping[str, Any]]) -> Scripted:
    """Returns the agent's next action."""
    return Agent(fields, messages).act()


def _text(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, list):
        return "\n".join(str(each.get("text", "")) for each in content if isinstance(each, dict))
    return content if isinstance(content, str) else ""


def _json(**arguments: Any) -> str:
    return msgspec.json.encode(arguments).decode()
