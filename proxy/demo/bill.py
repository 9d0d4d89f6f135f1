"""Sums tokens and cost of a played conversation, turn by turn, and compares two plays of it."""

import hashlib
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, takewhile
from typing import Any

import msgspec

from proxy.demo.completions import Encode
from proxy.demo.conversation import Ask
from proxy.lru import Lru
from proxy.types import PrefixCache, Price, Usage

PRICE = Price(input=0.95, cached=0.16, write=0.95, output=4.0)  # kimi-k2.6


@dataclass
class Bill:
    """Tokens and cost of one play of the conversation."""

    requests: int = 0
    reused: int = 0
    prompt: int = 0
    cached: int = 0
    completion: int = 0
    recalled: int = 0  # tokens of old turns that went with questions, of `prompt`
    asked: int = 0
    remembered: int = 0
    forgotten: list[str] = field(default_factory=list)
    marks: dict[int, "Bill"] = field(default_factory=dict)  # number of turns → the sums at that point

    def add(self, usage: Usage | None, *, reused: bool) -> None:
        """Counts an answer. One that the proxy `reused` costs nothing."""
        self.requests += 1
        self.reused += reused
        if usage is not None and not reused:
            self.prompt += usage.prompt_tokens
            self.cached += usage.cached_tokens
            self.completion += usage.completion_tokens

    def check(self, ask: Ask, answer: str) -> None:
        """Counts whether the answer holds what the question expects, and nothing outdated."""
        if ask.expects:
            is_right = ask.expects in answer and not (ask.outdated and ask.outdated in answer)
            self.asked += 1
            self.remembered += is_right
            if not is_right:
                self.forgotten.append(ask.text)

    def mark(self, turns: int) -> None:
        """Keeps the sums as they stand after so many turns."""
        self.marks[turns] = replace(self, forgotten=list(self.forgotten), marks={})

    @property
    def cost(self) -> float:
        """The cost in US dollars."""
        new = self.prompt - self.cached
        return (new * PRICE.input + self.cached * PRICE.cached + self.completion * PRICE.output) / 1_000_000


def growth(direct: Mapping[int, Bill], proxied: Mapping[int, Bill]) -> str:
    """A table with a line for every mark: all that was billed until then."""
    head = (
        "turns",
        "prompt tokens direct",
        "through olvido",
        "of these recalled",
        "cost, US$ direct",
        "through olvido",
    )
    rows = [
        (
            f"{turns}",
            f"{bill.prompt:,}",
            f"{proxied[turns].prompt:,}",
            f"{proxied[turns].recalled:,}",
            f"{bill.cost:.4f}",
            f"{proxied[turns].cost:.4f}",
            f"{proxied[turns].cost / bill.cost - 1:+.0%}",
        )
        for turns, bill in direct.items()
    ]
    return _laid_out((*head, "difference"), rows)


def table(direct: Bill, proxied: Bill) -> str:
    """A table that compares two plays of the whole conversation."""
    rows = [
        ("requests", f"{direct.requests:,}", f"{proxied.requests:,}", ""),
        ("  answered from memory", f"{direct.reused:,}", f"{proxied.reused:,}", ""),
        ("prompt tokens billed", f"{direct.prompt:,}", f"{proxied.prompt:,}", _saved(direct.prompt, proxied.prompt)),
        ("  of these cached by the provider", f"{direct.cached:,}", f"{proxied.cached:,}", ""),
        ("  of these recalled for questions", f"{direct.recalled:,}", f"{proxied.recalled:,}", ""),
        (
            "completion tokens billed",
            f"{direct.completion:,}",
            f"{proxied.completion:,}",
            _saved(direct.completion, proxied.completion),
        ),
        (
            "cost, US$ (prices of kimi-k2.6)",
            f"{direct.cost:.5f}",
            f"{proxied.cost:.5f}",
            _saved(direct.cost, proxied.cost),
        ),
        (
            "facts recalled when asked",
            f"{direct.remembered} of {direct.asked}",
            f"{proxied.remembered} of {proxied.asked}",
            "",
        ),
    ]
    return _laid_out(("", "direct", "through olvido", "saved"), rows)


def _laid_out(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]

    def line(row: Sequence[str]) -> str:
        first, *cells = row
        return "  ".join([first.ljust(widths[0]), *map(str.rjust, cells, widths[1:])])

    return "\n".join([line(head), "-" * len(line(head)), *map(line, rows)])


def _saved(before: float, after: float) -> str:
    return f"{1 - after / before:.1%}" if before else ""


def render(message: Mapping[str, Any]) -> str:
    """Renders a message as a chat template would: the text, what was called, and little around it."""
    content = message.get("content")
    said = content if isinstance(content, str) else _json(content or "")
    more = [
        str(message[name]) for name in ("reasoning_content", "refusal", "name", "tool_call_id") if message.get(name)
    ]
    calls = [_json(message["tool_calls"])] if message.get("tool_calls") else []
    return "\n".join([f"<|{message.get('role', '')}|>", said, *more, *calls])


def prompt_tokens(fields: Mapping[str, Any], messages: Sequence[Mapping[str, Any]], encode: Encode) -> list[int]:
    """The prompt as tokens: tools and format first, as providers do, so that changing them loses the whole prefix.
    Encoded piece by piece: an array that begins with another one begins with its tokens."""
    framing = [_json(fields[name]) for name in ("tools", "functions", "response_format") if fields.get(name)]
    pieces = chain(framing, map(render, messages))
    return [token for piece in pieces for token in encode(piece)]


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


class PromptCache:
    """Blocks of tokens under the hash of everything before them, per API key and model."""

    def __init__(self, spec: PrefixCache, clock: Callable[[], float], bound: int) -> None:
        self._spec = spec
        self._clock = clock
        self._expiry: Lru[bytes, float] = Lru(bound)

    def __len__(self) -> int:
        return len(self._expiry)

    def admit(self, api_key: str, model: str, tokens: Sequence[int]) -> int:
        """Adds a prompt; returns how many tokens of its beginning were cached before, in whole blocks."""
        if self._spec.ttl <= 0 or len(tokens) < max(self._spec.minimum, self._spec.block):
            return 0
        now = self._clock()
        links = self._links(api_key, model, tokens)
        cached = sum(1 for _ in takewhile(lambda link: self._expiry.get(link, 0.0) > now, links))
        for link in links:
            self._expiry.put(link, now + self._spec.ttl)
        return cached * self._spec.block

    def _links(self, api_key: str, model: str, tokens: Sequence[int]) -> Sequence[bytes]:
        links = []
        link = hashlib.blake2b(f"{api_key}\n{model}".encode(), digest_size=16).digest()
        for start in range(0, len(tokens) - self._spec.block + 1, self._spec.block):
            block = array("Q", tokens[start : start + self._spec.block]).tobytes()
            link = hashlib.blake2b(link + block, digest_size=16).digest()
            links.append(link)
        return links
