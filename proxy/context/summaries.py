"""Summaries of turns that left the window: key-value records of a few dozen tokens, extracted verbatim and written
once.

A record is filled with whole pieces of the user's messages, the most telling first and something of every turn:
decisions, names, numbers, questions. Decisions that change later in the same turns are left out. Text that needs its
context is no piece, so a record may have few fields or none; turns without a piece get a topic: the things that both
sides name repeatedly. Claims of the assistant are never included, so the outcome stays empty.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from proxy.context.about import about, named, resolved_question
from proxy.context.cuts import FENCE, is_earnest, is_slight
from proxy.context.filling import PlacedPiece, filled, forms, weighed
from proxy.context.pieces import Piece, pieces_of, takes_back
from proxy.types import Summary, TurnDigest

Count = Callable[[str], int]  # tokens of a text

_MOST_READ = 2_000  # characters of a message: the rest is seldom worth a note
_HEARD = 700  # characters of an answer: it takes up the question at its beginning
_RESOLVED = 3.0  # worth of a question with the noun that it points to
_SHARED = 2  # words that two pieces about the same thing share


@dataclass(frozen=True, slots=True)
class NumberedTurn:
    """The texts of one turn, to be summarised."""

    number: int  # from 1
    user: str
    assistant: str = ""


def summarise(
    turns: Sequence[NumberedTurn], *, before: NumberedTurn | None = None, max_tokens: int = 50, count: Count
) -> Summary | None:
    """Returns the summary of a segment (consecutive turns, at least one), rendered in at most `max_tokens`; None if no
    piece of it is worth a note. `before`: the turn that precedes the segment."""
    turns = [_read(turn) for turn in turns]
    before = _read(before) if before else None
    said = _distinct(_current(turns, list(_said(turns, before))))
    is_open = bool(turns) and not turns[-1].assistant.strip()

    def record(some: Sequence[PlacedPiece]) -> Summary:
        return _record(turns, some, is_open=is_open)

    said = weighed(said, [turn.assistant[:_HEARD] for turn in turns])
    chosen = filled(said, max_tokens, lambda some: count(render(record(some))))
    summary = record(chosen)
    if topic := _topic(turns, before, said, chosen, render(summary)):
        room = max_tokens + count(render(summary)) - count(render(replace(summary, topic=topic)))
        beside = filled(said, room, lambda some: count(render(record(some))))
        titled = replace(record(beside), topic=topic)
        is_whole = {each.turn for each in chosen} <= {each.turn for each in beside}
        summary = titled if is_whole and count(render(titled)) <= max_tokens else summary
    summary = fitted(summary, max_tokens, count)
    return summary if render(summary) != "{}" else None


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


def segments(digests: Sequence[TurnDigest], segment_turns: int) -> list[range]:
    """Returns the closed segments of `digests`, as ranges of indices: a segment is closed after `segment_turns` turns,
    or by a change of topic. The last turns may still be open, and are left out."""
    found, start = [], 0
    for index, digest in enumerate(digests):
        if digest.shift and index > start:
            found.append(range(start, index))
            start = index
        if index + 1 - start >= segment_turns:
            found.append(range(start, index + 1))
            start = index + 1
    return found


def keep_slots(summaries: Sequence[Summary], slots: int) -> tuple[Summary, ...]:
    """Returns the newest `slots` summaries, oldest first."""
    return tuple(summaries[-slots:]) if slots > 0 else ()


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


def _topic(
    turns: Sequence[NumberedTurn],
    before: NumberedTurn | None,
    said: Sequence[PlacedPiece],
    chosen: Sequence[PlacedPiece],
    known: str,
) -> str:
    """Returns the topic of the turns that no piece, or only a remark, represents; else a thing named by a piece that
    had no room."""
    shown = {each.turn for each in chosen}
    unsaid = (each.piece for each in said if each.turn not in shown and each.piece.kind != "statement")
    told = {each.turn for each in chosen if not is_slight(each.piece.text, each.piece.kind, each.piece.language)}
    left = [turn for at, turn in enumerate(turns) if at not in told and is_earnest(turn.user)]
    around = [*([before] if before else []), *(turn for at, turn in enumerate(turns) if at in told)]
    found = about(_messages(left), _messages(around), known) if left else ""
    return found or next(filter(None, (named(each.text, each.language, known) for each in unsaid)), "")


def _messages(turns: Sequence[NumberedTurn]) -> list[str]:
    return [text for turn in turns for text in (turn.user, turn.assistant)]


def _read(turn: NumberedTurn) -> NumberedTurn:
    return NumberedTurn(turn.number, turn.user[:_MOST_READ], FENCE.sub("\n", turn.assistant[:_MOST_READ]))


def _said(turns: Sequence[NumberedTurn], before: NumberedTurn | None) -> Iterator[PlacedPiece]:
    at = 0
    for index, turn in enumerate(turns):
        last = turns[index - 1] if index else before
        pieces = pieces_of(turn.user)
        if not pieces and (asked := _asked(turn, last)):
            pieces = (Piece(asked, "request", _RESOLVED),)
        for piece in pieces:
            yield PlacedPiece(index, at, piece)
            at += 1


def _asked(turn: NumberedTurn, last: NumberedTurn | None) -> str:
    return resolved_question(turn.user, turn.assistant, last.user if last else "", last.assistant if last else "")


def _current(turns: Sequence[NumberedTurn], said: Sequence[PlacedPiece]) -> list[PlacedPiece]:
    """Returns the pieces without those that are taken back or corrected later."""
    taken = {index - 1 for index, turn in enumerate(turns) if index and takes_back(turn.user)}
    left = [each for each in said if each.turn not in taken or each.piece.kind != "decision"]
    changes = [each for each in left if each.piece.corrects]
    return [each for each in left if not any(_is_changed(each, by) for by in changes)]


def _is_changed(each: PlacedPiece, by: PlacedPiece) -> bool:
    return by.turn > each.turn and each.piece.kind != "request" and len(each.says & by.says) >= _SHARED


def _distinct(said: Sequence[PlacedPiece]) -> list[PlacedPiece]:
    """Returns the pieces that add something to those before them."""
    found: list[PlacedPiece] = []
    for each in said:
        if not any(each.says <= before.says for before in found):
            found.append(each)
    return found


def _record(turns: Sequence[NumberedTurn], said: Sequence[PlacedPiece], *, is_open: bool) -> Summary:
    ordered = sorted(said, key=lambda each: each.at)
    asked = [each for each in ordered if is_open and each.piece.kind == "request" and each.turn == len(turns) - 1]
    return Summary(
        topic="",
        discussed=tuple(each.piece.text for each in ordered if each.piece.kind != "decision" and each not in asked),
        outcome="",
        decisions=tuple(each.piece.text for each in ordered if each.piece.kind == "decision"),
        open_questions=tuple(each.piece.text for each in asked),
        first_turn=turns[0].number,
        last_turn=turns[-1].number,
    )
