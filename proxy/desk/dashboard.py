"""The dashboard: how full the context is, what would make room, what goes round in circles. Texts for the model.

Pressure is the share of the safe context that is used: 80 % of the limit, as in the note on self-managed memory (SMMA
v2, section 3.2). The dashboard is shown when its level or its advice changes, and is short, since it is sent again with
every later request.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from proxy.conversation.blocks import status_block
from proxy.desk.planned import View
from proxy.desk.protecting import protected, steps
from proxy.desk.repeated import call_key
from proxy.desk.schemas import SECTIONS
from proxy.types import Language, ToolCall
from proxy.types.desk import Board, Pressure

SAFE = 0.8  # share of the limit
MOST_TOKENS = 120
MOST_HEAPS = 4
LONGEST_HEAP = 40  # messages
LEAST = 100  # tokens of a step that may be large
LARGE = 0.01  # share of all tokens of one that is
LONGEST_NAME = 40  # characters of a tool's name
SHARE = 0.25  # of the prompt that large messages take, from which on pruning them is advised before a summary
ALIKE = 3  # results that are a repetition
FEW_WORDS = 8  # of a result: a shorter one ("ok") is alike only if its call is
_COMPARED = 400  # characters of a result

Count = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Heap:
    """Neighbouring messages that may be pruned."""

    first: int  # ids
    last: int
    results: int  # of tools, among them
    tokens: int


@dataclass(frozen=True, slots=True)
class Repetition:
    """Results of a tool that are alike."""

    tool: str
    times: int
    first: int  # ids
    last: int


@dataclass(frozen=True, slots=True)
class Standing:
    """The state of a context, measured."""

    used: int  # tokens of the prompt
    limit: int | None  # tokens of context; None: unknown
    threshold: float  # pressure from which on it is high
    sections: int = 0  # that are loaded
    heaps: tuple[Heap, ...] = ()  # the largest, in the order of their ids
    repetition: Repetition | None = None
    marked: int = 0  # tokens under marks that have not taken effect

    @property
    def pressure(self) -> float:
        """Share of the safe context that is used; 0 without a limit."""
        return self.used / (SAFE * self.limit) if self.limit else 0.0

    @property
    def level(self) -> Pressure:
        """Low below half of the threshold, high from the threshold on."""
        if self.pressure >= self.threshold:
            return "high"
        return "medium" if self.pressure >= self.threshold / 2 else "low"

    @property
    def advice(self) -> str:
        """The recommended action: note (the lesson of a repetition), prune, summarize; "" for none."""
        if self.repetition is not None:
            return "note"
        if self.level != "high" or (self.limit and self._after_marks < self.threshold):
            return ""
        large = sum(heap.tokens for heap in self.heaps)
        return "prune" if large >= SHARE * self.used else "summarize"

    @property
    def _after_marks(self) -> float:
        return replace(self, used=self.used - self.marked, marked=0).pressure


_TEXTS: Mapping[Language, Mapping[str, str]] = MappingProxyType(
    {
        "en": {
            "used": "{used} of {limit} tokens, pressure {share} % ({level}); sections loaded: {sections}/{most}.",
            "unlimited": "{used} tokens; sections loaded: {sections}/{most}.",
            "marked": "Marked to leave: {marked} tokens.",
            "": "Nothing to do: go on.",
            "note": "Advice: {tool} gave the same {times} times (ids {first}\u2013{last}); note the conclusion with "
            "{edit_section}, then {prune_messages}.",
            "prune": "Advice: {prune_messages} on what is no longer needed.",
            "summarize": "Advice: {summarize_range} on the oldest finished steps.",
            "heaps": "Largest, by id: {heaps}.",
            "result": "1 result",
            "results": "{results} results",
            "low": "low",
            "medium": "medium",
            "high": "high",
        },
        "es": {
            "used": "{used} de {limit} tokens, presión {share} % ({level}); secciones cargadas: {sections}/{most}.",
            "unlimited": "{used} tokens; secciones cargadas: {sections}/{most}.",
            "marked": "Marcados para salir: {marked} tokens.",
            "": "Nada que hacer: continúa.",
            "note": "Consejo: {tool} dio lo mismo {times} veces (ids {first}\u2013{last}); anota la conclusión con "
            "{edit_section} y luego {prune_messages}.",
            "prune": "Consejo: {prune_messages} sobre lo que ya no hace falta.",
            "summarize": "Consejo: {summarize_range} sobre los pasos terminados más viejos.",
            "heaps": "Lo más grande, por id: {heaps}.",
            "result": "1 resultado",
            "results": "{results} resultados",
            "low": "baja",
            "medium": "media",
            "high": "alta",
        },
    }
)


def is_due(standing: Standing, shown: Board | None, *, always: bool = False) -> bool:
    """Tells whether the dashboard is to be shown. `shown`: the newest that the prompt has; None: it has none, and the
    model takes it that all is well."""
    before = (shown.level, shown.recommended) if shown is not None else ("low", "")
    return always or (standing.level, standing.advice) != before


def rendered(standing: Standing, language: Language, names: Mapping[str, str], count: Count) -> str:
    """Returns the dashboard as a block of at most `MOST_TOKENS`: the smallest heaps are left out where it is longer.
    `names`: of the tools as they are offered, by their own."""
    heaps = list(standing.heaps)
    while True:
        text = status_block(" ".join(_sentences(replace(standing, heaps=tuple(heaps)), language, names)), language)
        if not heaps or count(text) <= MOST_TOKENS:
            return text
        heaps.remove(min(heaps, key=lambda heap: heap.tokens))


def _sentences(standing: Standing, language: Language, names: Mapping[str, str]) -> Iterator[str]:
    told = _TEXTS[language]

    def number(tokens: int) -> str:
        return f"{tokens:,}" if language == "en" else f"{tokens:,}".replace(",", ".")

    yield told["used" if standing.limit else "unlimited"].format(
        used=number(standing.used),
        limit=number(standing.limit or 0),
        share=round(100 * standing.pressure),
        level=told[standing.level],
        sections=standing.sections,
        most=len(SECTIONS),
    )
    if standing.marked:
        yield told["marked"].format(marked=number(standing.marked))
    about: dict[str, object] = {**names}
    if (said := standing.repetition) is not None:
        about |= {"tool": said.tool[:LONGEST_NAME], "times": said.times, "first": said.first, "last": said.last}
    yield told[standing.advice].format(**about)
    if standing.heaps:
        heaps = "; ".join(_heap(heap, told, number) for heap in standing.heaps)
        yield told["heaps"].format(heaps=heaps)


def _heap(heap: Heap, told: Mapping[str, str], number: Callable[[int], str]) -> str:
    ids = str(heap.first) if heap.first == heap.last else f"{heap.first}\u2013{heap.last}"
    results = told["result" if heap.results == 1 else "results"].format(results=heap.results)
    return f"{ids}: {results}, {number(heap.tokens)}" if heap.results else f"{ids}: {number(heap.tokens)}"


def large(
    view: View, *, start: int, pinned: Collection[bytes], left: Collection[bytes], tokens: Callable[[int], int]
) -> tuple[Heap, ...]:
    """Returns the largest heaps of messages from index `start` on that may be pruned: neighbouring steps that are large
    by themselves. `left`: links of messages that are marked or left out already. `tokens`: of the message with this
    index."""
    stay = protected(view.messages, view.chain, pinned)
    found = steps(view.messages, range(start, len(view.messages)))
    sizes = [sum(map(tokens, step)) for step in found]
    least = max(LEAST, LARGE * sum(sizes))
    heaps: list[Heap] = []
    row: list[int] = []
    for step, size in zip(found, sizes, strict=True):
        is_free = all(index not in stay and view.ids[index] and view.chain[index] not in left for index in step)
        if not is_free or size < least or view.messages[step.start].role == "user":
            row = []
            continue
        results = sum(view.messages[index].role in ("tool", "function") for index in step)
        if row and len(row) + len(step) <= LONGEST_HEAP:
            before = heaps.pop()
            heaps.append(Heap(before.first, view.ids[step[-1]], before.results + results, before.tokens + size))
        else:
            row = []
            heaps.append(Heap(view.ids[step.start], view.ids[step[-1]], results, size))
        row.extend(step)
    largest = sorted(heaps, key=lambda heap: -heap.tokens)[:MOST_HEAPS]
    return tuple(sorted(largest, key=lambda heap: heap.first))


def repetition(view: View, start: int, left: Collection[bytes]) -> Repetition | None:
    """Returns the newest repetition among the results of the client's tools from index `start` on: `ALIKE` or more, the
    newest of all results among them. `left`: links of messages that are marked or left out already."""
    calls: dict[str, ToolCall] = {}
    alike: defaultdict[tuple[object, ...], list[int]] = defaultdict(list)
    newest: tuple[object, ...] = ()
    for index in range(start, len(view.messages)):
        said = view.messages[index]
        if said.calls_tools:
            calls |= {call.id: call for call in said.tool_calls}
        elif said.role == "tool" and index not in view.hidden and view.chain[index] not in left:
            call = calls.get(said.tool_call_id)
            newest = _kind(said.text, call)
            alike[newest].append(index)
    places = [at for at in alike.get(newest, ()) if view.ids[at]]
    if len(places) < ALIKE:
        return None
    call = calls.get(view.messages[places[-1]].tool_call_id)
    return Repetition(call.name if call else "tool", len(places), view.ids[places[0]], view.ids[places[-1]])


def _kind(text: str, call: ToolCall | None) -> tuple[object, ...]:
    """Returns what alike results have in common: tool and words, numbers apart; where words are few, the whole call."""
    words = "".join("0" if each.isdigit() else each for each in text[:_COMPARED]).split()
    name = call.name if call is not None else ""
    asked = None if call is None or len(words) >= FEW_WORDS else call_key(call)
    return name, asked, *words
