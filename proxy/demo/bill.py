"""The bill of a play of the conversation, with the questions that were answered rightly, and tables of two of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from proxy.types import Price, Usage

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
    early: int = 0  # questions that were asked although the index was not ready in time
    marks: dict[int, "Bill"] = field(default_factory=dict)  # number of turns → the sums at that point

    def add(self, usage: Usage | None, *, reused: bool) -> None:
        """Counts an answer. One that the proxy `reused` costs nothing."""
        self.requests += 1
        self.reused += reused
        if usage is not None and not reused:
            self.prompt += usage.prompt_tokens
            self.cached += usage.cached_tokens
            self.completion += usage.completion_tokens

    def check(self, answer: str, expects: str, outdated: str) -> None:
        """Counts whether the answer to a question holds what is expected, and nothing outdated. "" expects nothing."""
        if expects:
            self.asked += 1
            self.remembered += expects in answer and not (outdated and outdated in answer)

    def mark(self, turns: int) -> None:
        """Keeps the sums as they stand after so many turns."""
        self.marks[turns] = replace(self, marks={})

    @property
    def cost(self) -> float:
        """The cost in US dollars."""
        new = self.prompt - self.cached
        return (new * PRICE.input + self.cached * PRICE.cached + self.completion * PRICE.output) / 1_000_000


def growth(direct: Mapping[int, Bill], proxied: Mapping[int, Bill]) -> str:
    """A table with a line for every mark: all that was billed until then."""
    rows = []
    for turns, bill in direct.items():
        other = proxied[turns]
        tokens = (f"{bill.prompt:,}", f"{other.prompt:,}", f"{other.recalled:,}")
        costs = (f"{bill.cost:.4f}", f"{other.cost:.4f}", f"{other.cost / bill.cost - 1:+.0%}")
        rows.append((f"{turns}", *tokens, *costs))
    head = ("turns", "prompt tokens", "with olvido", "recalled", "cost, US$", "with olvido", "")
    return laid_out(head, rows)


def table(direct: Bill, proxied: Bill) -> str:
    """A table that compares two plays of the whole conversation."""
    rows = [
        _compared("requests", direct.requests, proxied.requests),
        *([_compared("  answered from memory", direct.reused, proxied.reused)] if proxied.reused else []),
        _compared("prompt tokens billed", direct.prompt, proxied.prompt, is_saving=True),
        _compared("  of these cached by the provider", direct.cached, proxied.cached),
        _compared("  of these recalled for questions", direct.recalled, proxied.recalled),
        _compared("completion tokens billed", direct.completion, proxied.completion, is_saving=True),
        _compared("cost, US$ (prices of kimi-k2.6)", direct.cost, proxied.cost, ".5f", is_saving=True),
        ("facts recalled when asked", *(f"{each.remembered} of {each.asked}" for each in (direct, proxied)), ""),
    ]
    told = laid_out(("", "direct", "with olvido", "saved"), rows)
    early = f"\n{proxied.early} questions were asked before the index was ready: this machine is busy"
    return told + early * bool(proxied.early)


def laid_out(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Lays out a table, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]

    def line(row: Sequence[str]) -> str:
        first, *cells = row
        return "  ".join([first.ljust(widths[0]), *map(str.rjust, cells, widths[1:])]).rstrip()

    return "\n".join([line(head), "-" * len(line(head)), *map(line, rows)])


def _compared(name: str, direct: float, proxied: float, form: str = ",", *, is_saving: bool = False) -> Sequence[str]:
    saved = f"{1 - proxied / direct:.1%}" if is_saving and direct else ""
    return (name, f"{direct:{form}}", f"{proxied:{form}}", saved)
