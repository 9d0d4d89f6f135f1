"""How well topic shifts are found, and what summaries keep.

    python -m tests.bench.topics

Shifts: predicted at exactly the labelled turn, by the weights that are shipped (`shifts_train` measures weights that
have not seen the conversation). Summaries: the conversations are cut into segments by the shifts that were found; a
decision is kept if every number and name of its label that the user said stands in its segment's summary. The bounds
are Wilson's, at 95 %.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from proxy.config.builtin_profiles import BUILT_IN
from proxy.context.filling import render
from proxy.context.summaries import NumberedTurn, segments, summarise
from proxy.tokens import load_tokenizer
from proxy.types import ShiftCause, TurnDigest
from tests.bench.topics_data import FOLDER, Conversation, conversations, cosines, topic

_PROFILE = BUILT_IN["lean"]
_Z = 1.96
_TELLING = re.compile(r"\w*\d[\w.,:/]*\w|\d|\w*[A-ZÁÉÍÓÚÑ]\w+")


@dataclass(slots=True)
class Tally:
    right: int = 0
    wrong: int = 0
    missed: int = 0
    announced: list[bool] = field(default_factory=list)  # of the labelled ones: found?
    phrases: list[bool] = field(default_factory=list)  # of those found by a phrase: labelled as announced?

    @property
    def f1(self) -> float:
        return 2 * self.right / (2 * self.right + self.wrong + self.missed)


def bounds(right: int, total: int) -> tuple[float, float]:
    """Wilson's."""
    if not total:
        return 0.0, 1.0
    share, scale = right / total, 1 + _Z**2 / total
    middle = share + _Z**2 / (2 * total)
    spread = _Z * math.sqrt(share * (1 - share) / total + _Z**2 / (4 * total**2))
    return (middle - spread) / scale, (middle + spread) / scale


def digests(told: Conversation, cosine: Sequence[float], *, embedded: bool = True) -> list[TurnDigest]:
    found: list[TurnDigest] = []
    begun = 1
    for turn in range(1, len(told.turns) + 1):
        known = topic(
            told.message(turn),
            told.before(turn),
            since=turn - begun,
            cosine=cosine[turn - 1] if embedded else None,
            numbers=_PROFILE.window,
        )
        begun = turn if known.shift else begun
        found.append(TurnDigest(b"", 0, known.continuity, known.shift, known.domain))
    return found


def tally(told: Sequence[Conversation], found: Sequence[Sequence[TurnDigest]]) -> Tally:
    result = Tally()
    for each, turns in zip(told, found, strict=True):
        causes: dict[int, ShiftCause] = {at: turn.shift for at, turn in enumerate(turns, 1) if turn.shift}
        labels = each.shifts
        result.right += len(causes.keys() & labels.keys())
        result.wrong += len(causes.keys() - labels.keys())
        result.missed += len(labels.keys() - causes.keys())
        said = {turn for turn, how in labels.items() if how == "explicit phrase"}
        by_phrase = {turn for turn, cause in causes.items() if cause in ("phrase", "flush")}
        result.announced += [turn in causes for turn in sorted(said)]
        result.phrases += [turn in said for turn in sorted(by_phrase)]
    return result


def share(hits: Sequence[bool]) -> str:
    low, high = bounds(sum(hits), len(hits))
    return f"{sum(hits)}/{len(hits)} ({low:.0%} to {high:.0%})"


def show_shifts(told: Sequence[Conversation], found: Sequence[Sequence[TurnDigest]], title: str) -> None:
    for lang in ("es", "en", ""):
        chosen = [at for at, each in enumerate(told) if lang in ("", each.lang)]
        if not chosen:
            continue
        each = tally([told[at] for at in chosen], [found[at] for at in chosen])
        print(
            f"{title}, {lang or 'all'}: F1 {each.f1:.3f} ({each.right} right, {each.wrong} wrong, {each.missed} missed)"
            f"; announced: recall {share(each.announced)}, precision {share(each.phrases)}"
        )


def telling_of(decision: str, said: str) -> list[str]:
    """The numbers and names of a decision's label that the user said."""
    return [word for word in _TELLING.findall(decision) if word in said]


def show_summaries(told: Sequence[Conversation], found: Sequence[Sequence[TurnDigest]]) -> None:
    encoding = load_tokenizer()
    sizes: list[int] = []
    kept: list[bool] = []
    strings: list[bool] = []
    for each, turns in zip(told, found, strict=True):
        for segment in segments(turns, _PROFILE.summaries.segment_turns):
            chosen = [NumberedTurn(at + 1, each.turns[at].user, each.turns[at].assistant) for at in segment]
            summary = summarise(chosen, max_tokens=_PROFILE.summaries.tokens, count=lambda t: len(encoding.encode(t)))
            text = render(summary) if summary else ""
            if summary:
                sizes.append(len(encoding.encode(text)))
            for decision in each.decisions:
                if decision.turn - 1 in segment:
                    telling = telling_of(decision.text, each.message(decision.turn))
                    strings += [word in text for word in telling]
                    kept.append(all(word in text for word in telling))
    print(f"decisions kept: {share(kept)}; their numbers and names: {share(strings)}")
    print(f"summaries: {len(sizes)}, {sum(sizes) / len(sizes):.1f} tokens on average, {max(sizes)} at most")


def main() -> None:
    if not FOLDER.exists():
        print(f"skipped: no evaluation data at {FOLDER} (set OLVIDO_EVAL_DATA)")
        return
    told = conversations()
    near = cosines(told)
    found = [digests(*each) for each in zip(told, near, strict=True)]
    show_shifts(told, found, "shifts")
    show_shifts(told, [digests(*each, embedded=False) for each in zip(told, near, strict=True)], "without embeddings")
    show_summaries(told, found)


if __name__ == "__main__":
    main()
