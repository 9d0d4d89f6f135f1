"""Records of a size: the pieces that fit into one, shortened where necessary (something of every turn comes before more
of one), and its rendering as a line.

The answer shows the main subject of a turn: pieces that the answer takes up are worth more than remarks beside them.
Where room is short, every piece is shortened at its edges before a turn is left out.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from proxy.context.cuts import JOINT, clauses_of, concreteness, is_closed, parts, without
from proxy.context.nouns import NOUN_WORDS
from proxy.context.pieces import Piece, decides
from proxy.context.referents import names, points_outside, things
from proxy.context.shortening import Count
from proxy.language.phrases import expression
from proxy.language.tables import union
from proxy.memory.signals import folded
from proxy.types import Summary
from proxy.types.memory import Language

_PIECES = 6  # of a record
_WORTH = 2.0  # least worth of a piece, where there are others
_PASSING = 1.0  # pieces of less worth gain nothing from the answer
_TAKEN_UP = 0.5  # worth that each word shared with the answer adds
_MOST_TAKEN_UP = 5  # words: more add nothing
_ROOM = 7  # tokens that another piece needs at least
_LEAST_LEFT = 0.25  # share of its content that a shortened piece keeps
_SHORTEST = 4  # words of a shortened piece
_SAYS = 2  # words of meaning in a shortened piece

_TABLES = union("notes")
# A reason at the end.
_REASON = expression(_TABLES, ",? {why} .*$")
# Words of wishing at the beginning: the wish is understood without them.
_WISH = expression(_TABLES, "{wish_opens}")
# A subject at the beginning of a clause.
_SUBJECT = expression(_TABLES, r"{subject_opens}\s")
# A clause that only qualifies another one: its time, its manner.
_LEADS_IN = expression(_TABLES, r"{leads_in}\b")


@dataclass(frozen=True, slots=True)
class PlacedPiece:
    """A piece of a turn, with its place in the segment."""

    turn: int  # index of its turn
    at: int  # index among all pieces
    piece: Piece

    @property
    def says(self) -> frozenset[str]:
        """The stems of the words of meaning in the piece."""
        return frozenset(names(self.piece.text))

    def with_text(self, text: str) -> "PlacedPiece":
        """Returns the same piece with another text."""
        return replace(self, piece=replace(self.piece, text=text))


def weighed(said: Sequence[PlacedPiece], answers: Sequence[str]) -> list[PlacedPiece]:
    """Returns the pieces, with a worth increased by the words that the answer of their turn takes up."""
    heard = [frozenset(names(answer)) for answer in answers]
    return [
        replace(each, piece=replace(each.piece, worth=each.piece.worth + _TAKEN_UP * taken))
        for each in said
        for taken in (min(len(each.says & heard[each.turn]), _MOST_TAKEN_UP) * (each.piece.worth > _PASSING),)
    ]


def filled(
    said: Sequence[PlacedPiece], max_tokens: int, size: Callable[[Sequence[PlacedPiece]], int]
) -> list[PlacedPiece]:
    """Returns the pieces that fit into a record of `max_tokens`, some shortened. `size` counts the tokens of a
    record."""
    most_worth = max((each.piece.worth for each in said), default=0.0)
    left = [each for each in said if each.piece.worth >= min(_WORTH, most_worth)]
    mains = {turn: max((e for e in left if e.turn == turn), key=_worth) for turn in {each.turn for each in left}}
    chosen = _fitting([mains[turn] for turn in sorted(mains)], max_tokens, size)
    rest = sorted((each for each in left if mains[each.turn] is not each), key=_worth, reverse=True)
    for each in rest:
        if len(chosen) >= _PIECES or size(chosen) + _ROOM > max_tokens:
            break
        for text in (each.piece.text, *forms(each.piece)):
            if size([*chosen, each.with_text(text)]) <= max_tokens:
                chosen.append(each.with_text(text))
                break
    return chosen


def forms(piece: Piece) -> list[str]:
    """Returns shorter forms of a piece, longest first: without its wish, its reason or its end."""
    text = piece.text
    language, whole = piece.language, _says(text)
    found: dict[str, None] = {}
    for bare in dict.fromkeys((without(_WISH, text), text)):
        for part in _beginnings(bare, is_decision=piece.kind == "decision"):
            left = len(names(part)) >= _SAYS and _says(part) >= _LEAST_LEFT * whole and len(part.split()) >= _SHORTEST
            kept = piece.kind != "decision" or (
                concreteness(part) >= concreteness(text) and decides(part) == decides(text)
            )
            kept = kept and (". " in part or ". " not in text or len(names(part)) > _SAYS)
            kept = kept and (part == bare or (_ends_well(part) and _is_complete(part, language)))
            kept = kept and (text.startswith(part) or bare.startswith(part) or concreteness(part) >= concreteness(text))
            kept = kept and not (part != text and _LEADS_IN.match(folded(part)) and bare == text)
            if left and kept and is_closed(part) and things(part, language) and not points_outside(part, language):
                found[f"{part}?" if text.endswith("?") and not part.endswith("?") and "." not in text else part] = None
    return sorted((part for part in found if len(part) < len(text)), key=len, reverse=True)


def _is_complete(part: str, language: Language) -> bool:
    """True if the part ends with a thing (not with a verb or a word that needs another one) and names two."""
    known = NOUN_WORDS[language]
    last = folded(part).split()[-1].strip(" ,;.?!\"'")
    waits = last in known.trailing or (last in known.verbs and last not in known.nouns)
    return not waits and (len(things(part, language)) >= _SAYS or concreteness(part) > 0)


def _ends_well(part: str) -> bool:
    """True if the last clause of the part says something."""
    last = max((joint.end() for joint in JOINT.finditer(folded(part))), default=0)
    return len(names(part[last:])) >= _SAYS or concreteness(f". {part[last:]}") > 0


def _worth(said: PlacedPiece) -> float:
    return said.piece.worth


def _fitting(
    mains: list[PlacedPiece], max_tokens: int, size: Callable[[Sequence[PlacedPiece]], int]
) -> list[PlacedPiece]:
    """Returns the main pieces of the turns, shortened where that loses least; if that is not enough, without the pieces
    of least worth."""
    if not mains or size(mains) <= max_tokens:
        return mains
    chosen = list(mains)
    known = {each.turn: forms(each.piece) for each in mains}
    steps = sorted(
        (loss, each.turn, text)
        for each in mains
        for text, loss in zip(known[each.turn], _losses(each, known), strict=True)
    )
    while len(chosen) > 1 and size(chosen) > max_tokens:
        at, text = next(_steps(chosen, steps), (-1, ""))
        if text:
            chosen[at] = chosen[at].with_text(text)
        else:
            chosen.remove(min(chosen, key=_worth))
    if size(chosen) <= max_tokens:
        return _regrown(chosen, mains, known, lambda some: size(some) <= max_tokens)
    only = chosen[0]
    fits = (only.with_text(text) for text in known[only.turn] if size([only.with_text(text)]) <= max_tokens)
    return [next(fits, only)]


def _steps(chosen: Sequence[PlacedPiece], steps: Sequence[tuple[float, int, str]]) -> Iterator[tuple[int, str]]:
    """Yields the place and the new text of each shortening that is still possible, least loss first."""
    places = {each.turn: at for at, each in enumerate(chosen)}
    for _, turn, text in steps:
        if turn in places and len(text) < len(chosen[places[turn]].piece.text):
            yield places[turn], text


def _losses(each: PlacedPiece, known: Mapping[int, Sequence[str]]) -> Iterator[float]:
    """Yields the loss of each shorter form, by character saved."""
    text, whole = each.piece.text, _says(each.piece.text)
    weight = each.piece.worth * (1.5 if each.piece.kind == "decision" else 1.0)
    for shorter in known[each.turn]:
        yield weight * (whole - _says(shorter) + 0.1) / (len(text) - len(shorter))


def _regrown(
    chosen: list[PlacedPiece],
    mains: Sequence[PlacedPiece],
    known: Mapping[int, Sequence[str]],
    fits: Callable[[Sequence[PlacedPiece]], bool],
) -> list[PlacedPiece]:
    """Returns the chosen pieces, each as long as the others leave room for."""
    whole = {each.turn: each.piece.text for each in mains}
    for at, each in sorted(enumerate(chosen), key=lambda it: -_worth(it[1])):
        for text in (whole[each.turn], *known[each.turn]):
            if len(text) <= len(each.piece.text):
                break
            tried = [*chosen[:at], each.with_text(text), *chosen[at + 1 :]]
            if fits(tried):
                chosen = tried
                break
    return chosen


def _says(text: str) -> float:
    return len(names(text)) + min(concreteness(text), 4)


def _beginnings(text: str, *, is_decision: bool) -> Iterator[str]:
    yield text
    reason = _REASON.search(folded(text))
    if reason:
        yield text[: reason.start()]
    yield from clauses_of(text, soft=not is_decision)
    ends = (part for part in parts(text, len(text.split())) if not text.startswith(part))
    yield from (part for part in ends if _SUBJECT.match(folded(part)))


def render(summary: Summary) -> str:
    """Renders a summary as one line, without empty fields."""
    fields = {
        "topic": summary.topic,
        "discussed": _listed(summary.discussed),
        "outcome": summary.outcome,
        "decisions": _listed(summary.decisions),
        "open_questions": _listed(summary.open_questions),
    }
    return "{" + ", ".join(f"{name}: {value}" for name, value in fields.items() if value) + "}"


def fitted(summary: Summary, max_tokens: int, count: Count) -> Summary:
    """Returns the summary cut to `max_tokens`: first the discussed pieces go, then open questions, then ends of the
    outcome, of the decisions and of the topic. It may end up empty."""
    while count(render(summary)) > max_tokens:
        shorter = _shorter(summary)
        if shorter == summary:
            return summary
        summary = shorter
    return summary


def _shorter(summary: Summary) -> Summary:
    if summary.topic and any(
        summary.topic in each for each in (*summary.discussed, *summary.decisions, summary.outcome)
    ):
        return replace(summary, topic="")  # another field has it
    if summary.discussed:
        return replace(summary, discussed=summary.discussed[:-1])
    if summary.open_questions:
        return replace(summary, open_questions=())
    if summary.outcome:
        stated = summary.outcome.split("; ")
        return replace(summary, outcome="; ".join(_trimmed(stated) or stated[:-1]))
    if summary.decisions:
        return replace(summary, decisions=_trimmed(summary.decisions) or summary.decisions[1:])  # the newest are valid
    return replace(summary, topic="")


def _trimmed(clauses: Sequence[str]) -> tuple[str, ...]:
    """Returns the clauses, the longest of them shortened by its last part; () if none can be."""
    for at in sorted(range(len(clauses)), key=lambda at: -len(clauses[at])):
        if shorter := forms(Piece(clauses[at], "decision", 0.0)):
            return (*clauses[:at], shorter[0], *clauses[at + 1 :])
    return ()


def _listed(values: Sequence[str]) -> str:
    return f"[{'; '.join(values)}]" if values else ""
