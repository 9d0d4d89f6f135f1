"""Anthropic's prefix cache, as it is documented, and its bill: for requests of the Messages API.

https://platform.claude.com/docs/en/build-with-claude/prompt-caching, read 2026-11-28: an entry is written at each
breakpoint, of all before it, if that has the model's minimum of tokens; a request looks for one from each of its
breakpoints, 20 positions back, a run of calls or of results being one; four breakpoints at most, automatic caching
included; those of an hour before those of five minutes; none on thinking or empty texts; a read renews an entry.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Json = Any
LIFETIMES = {"5m": 300.0, "1h": 3_600.0}
LOOK_BACK, MOST = 20, 4
RUNS = ("tool_use", "tool_result")


class Refused(ValueError):
    """What the provider would answer with a 400."""


@dataclass(frozen=True, slots=True)
class Bill:
    """Tokens of one prompt, as `usage` tells them."""

    fresh: int
    read: int
    written: int = 0  # for five minutes
    written_for_an_hour: int = 0

    @property
    def tokens(self) -> int:
        return self.fresh + self.read + self.written + self.written_for_an_hour

    @property
    def usage(self) -> Json:
        return {
            "input_tokens": self.fresh,
            "cache_read_input_tokens": self.read,
            "cache_creation_input_tokens": self.written + self.written_for_an_hour,
            "cache_creation": {
                "ephemeral_5m_input_tokens": self.written,
                "ephemeral_1h_input_tokens": self.written_for_an_hour,
            },
        }

    def cost(self, cached: float, write: float = 1.25, hour: float = 2.0) -> float:
        """In tokens at the input price."""
        return self.fresh + cached * self.read + write * self.written + hour * self.written_for_an_hour


@dataclass(frozen=True, slots=True)
class _Block:
    key: bytes  # of the prompt up to here
    size: int  # tokens of the prompt up to here
    position: int
    mark: str  # its breakpoint's lifetime; "": it has none
    is_cacheable: bool


class AnthropicCache:
    """The entries of one workspace. `count`: tokens of a text."""

    def __init__(self, count: Callable[[str], int], *, minimum: int = 1_024) -> None:
        self._count, self._minimum = count, minimum
        self._until: dict[bytes, float] = {}
        self._lifetime: dict[bytes, float] = {}

    def billed(self, body: Mapping[str, Json], at: float = 0.0) -> Bill:
        """Bills a request, and writes its entries. Raises Refused."""
        blocks = self._blocks(body)
        marks = [number for number, block in enumerate(blocks) if block.mark]
        if len(marks) > MOST:
            raise Refused(f"{len(marks)} breakpoints")
        lifetimes = [LIFETIMES[blocks[mark].mark] for mark in marks]
        if lifetimes != sorted(lifetimes, reverse=True):
            raise Refused("a breakpoint of 5 minutes before one of an hour")
        found = max((each for mark in marks if (each := self._found(blocks, mark, at)) is not None), default=None)
        read = blocks[found].size if found is not None else 0
        if found is not None:
            self._until[blocks[found].key] = at + self._lifetime[blocks[found].key]
        written = {"5m": 0, "1h": 0}
        end = read
        for mark in marks:
            block = blocks[mark]
            if block.size < self._minimum:
                continue
            self._lifetime[block.key] = max(self._lifetime.get(block.key, 0.0), LIFETIMES[block.mark])
            self._until[block.key] = at + self._lifetime[block.key]
            if block.size > end:
                written[block.mark] += block.size - end
                end = block.size
        whole = blocks[-1].size if blocks else 0
        return Bill(whole - end, read, written["5m"], written["1h"])

    def _found(self, blocks: list[_Block], mark: int, at: float) -> int | None:
        last = blocks[mark].position
        for number in range(mark, -1, -1):
            if last - blocks[number].position >= LOOK_BACK:
                return None
            if self._until.get(blocks[number].key, -1.0) > at:
                return number
        return None

    def _blocks(self, body: Mapping[str, Json]) -> list[_Block]:
        told: list[tuple[str, Json]] = [("tool", tool) for tool in body.get("tools") or ()]
        given = body.get("system") or []
        system = [{"type": "text", "text": given}] if isinstance(given, str) else given
        told += [("system", each) for each in system]
        for number, said in enumerate(body["messages"]):
            content = said["content"]
            blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
            told += [(f"{number}{said['role']}", block) for block in blocks]
        made: list[_Block] = []
        digest, size, position, before = hashlib.sha256(), 0, -1, ""
        for where, block in told:
            plain = json.dumps({name: value for name, value in block.items() if name != "cache_control"})
            digest.update(f"{where}{plain}\n".encode())
            size += self._count(plain)
            kind = str(block.get("type"))
            position += kind not in RUNS or kind != before
            before = kind
            is_cacheable = kind not in ("thinking", "redacted_thinking") and block.get("text") != ""
            mark = block.get("cache_control")
            if mark and not is_cacheable:
                raise Refused(f"a breakpoint on {kind}")
            made.append(_Block(digest.digest(), size, position, mark.get("ttl", "5m") if mark else "", is_cacheable))
        if automatic := body.get("cache_control"):
            lifetime = automatic.get("ttl", "5m")
            at = next(number for number in range(len(made) - 1, -1, -1) if made[number].is_cacheable)
            if made[at].mark not in ("", lifetime):
                raise Refused("the last block has another lifetime than automatic caching")
            if sum(bool(block.mark) for block in made) >= MOST and not made[at].mark:
                raise Refused("no breakpoint is left for automatic caching")
            last = made[at]
            made[at] = _Block(last.key, last.size, last.position, lifetime, last.is_cacheable)
        return made
