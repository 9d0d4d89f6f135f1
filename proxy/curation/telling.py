"""The rest of an answer, beside its operations: events, a summary, a name for the conversation."""

from collections.abc import Callable, Mapping, Sequence

from proxy.curation.answers import Event, SummaryText, clean
from proxy.curation.carrying import code_of, cut
from proxy.language.words import fold, terms
from proxy.memory.credentials import has_credential
from proxy.types import ArchivedTurn, Summary
from proxy.types.curation import Job, MemoryEvent, OutcomeLine

LONGEST_EVENT, LONGEST_PHRASE, MOST_PHRASES = 200, 160, 6
SLUG_WORDS, LONGEST_SLUG = 6, 60  # words, characters


def events(
    job: Job, told: Sequence[Event | None], turns: Mapping[int, ArchivedTurn], forgotten: Callable[[bytes], bool]
) -> tuple[list[MemoryEvent], list[OutcomeLine]]:
    """Returns the events that are kept, and a line for each that the model told. An event is of a turn that the model
    was shown, and shares a word with the conversation."""
    kept, lines = [], []
    said = frozenset(term for turn in turns.values() for each in turn.utterances for term in terms(each.text))
    for number, event in enumerate(told):
        turn = turns.get(event.turn) if event is not None else None
        text = cut(clean(event.text), LONGEST_EVENT) if event is not None else ""
        link = next((said.link for said in turn.utterances if said.role == "user"), b"") if turn else b""
        reason = _refusal(text, turn, link, said, forgotten)
        at = turn.number if turn else 0
        lines.append(OutcomeLine("event", "refused" if reason else "kept", reason, value=text, turn=at, link=link))
        if turn and not reason:
            code = f"e-{code_of(job, 'event', number)}"
            kept.append(MemoryEvent(code, turn.at, turn.session, turn.number, text, link))
    return kept, lines


def _refusal(
    text: str, turn: ArchivedTurn | None, link: bytes, said: frozenset[str], forgotten: Callable[[bytes], bool]
) -> str:
    words = frozenset(terms(text))
    if not words:
        return "malformed"
    if turn is None:
        return "turn"
    if not link or any(forgotten(each.link) for each in turn.utterances):
        return "forgotten"
    if has_credential(text):
        return "credential"
    return "" if words & said else "unrelated"


def summary(told: SummaryText | None, turns: Mapping[int, ArchivedTurn]) -> Summary | None:
    """Returns the summary of the turns that the model was shown; None if it has no topic, or none of them is there."""
    if told is None or not turns or not terms(topic := _phrase(told.topic)):
        return None
    numbers = [turn.number for turn in turns.values()]
    return Summary(
        topic,
        _phrases(told.discussed),
        _phrase(told.outcome),
        _phrases(told.decisions),
        _phrases(told.open_questions),
        min(numbers),
        max(numbers),
    )


def slug(told: str) -> str:
    """Returns a name for the conversation: ASCII words, joined by hyphens; "" if there is none in it."""
    words = "".join(mark if mark.isascii() and mark.isalnum() else " " for mark in fold(told)).split()[:SLUG_WORDS]
    return "-".join(words)[:LONGEST_SLUG].strip("-")


def _phrase(text: str | None) -> str:
    return cut(clean(text), LONGEST_PHRASE)


def _phrases(texts: Sequence[str] | None) -> tuple[str, ...]:
    return tuple(phrase for text in texts or () if (phrase := _phrase(text)))[:MOST_PHRASES]
