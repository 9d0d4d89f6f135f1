"""Do summaries read like notes a colleague would understand?

    python -m tests.bench.notes [--show N] [--lang es|en] [--sheet FILE.md [--number 1|2|3|4|5|6]]

Prints some segments of conversations with their summaries; of all segments, the share of summaries with a fault that a
machine can see, what they cost in tokens and in CPU, and how many labelled decisions they keep. `--sheet` writes 20
English and 20 Spanish segments for people to judge: chosen by a fixed seed, from every source alike. There are six
sheets without a segment in common. What the first five say was judged and is known; the sixth, whose Spanish segments
are from conversations that nobody tuned on, is never printed, so that nobody tunes on it.
"""

import argparse
import random
import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import simplemma

from proxy.config.builtin_profiles import BUILT_IN
from proxy.context import referents
from proxy.context.filling import render
from proxy.context.summaries import NumberedTurn, segments, summarise
from proxy.conversation.topics import LOOKED_BACK, TurnTexts
from proxy.language.phrases import words
from proxy.language.words import terms
from proxy.memory import clauses, extract, own_words, signals, voice
from proxy.tokens import load_tokenizer
from proxy.types import Summary, TurnDigest
from tests.bench import context_data
from tests.bench.topics import share, telling_of
from tests.bench.topics_data import FOLDER, conversations, topic

_PROFILE = BUILT_IN["lean"]
_SEED = 20_261
_SHEETS = (_SEED, 7_001, 7_002, 7_003, 7_004, 7_006)  # the seeds of the judging sheets
_SHARING = range(3, 5)  # those of them that share what a language has left
_KNOWN = 5  # of them: what they say was judged
_JUDGED = 20  # segments of each language
_ENCODING = load_tokenizer()
# What remembers the messages it has read.
_REMEMBER = [
    found
    for module in (clauses, extract, own_words, referents, signals, voice)
    for found in vars(module).values()
    if hasattr(found, "cache_clear") and "model" not in found.__name__
]

# --- segments --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Segment:
    conversation: str
    source: str
    lang: str
    turns: tuple[NumberedTurn, ...]
    before: NumberedTurn | None = None  # the turn that they follow


def told_segments() -> list[Segment]:
    return segments_of([*context_data.authored(), *context_data.agents(), *context_data.beam(), *context_data.locomo()])


def segments_of(said: Sequence[context_data.Conversation]) -> list[Segment]:
    return [
        Segment(each.name, each.source, each.lang, tuple(turns[found.start : found.stop]), _before(turns, found))
        for each in said
        for turns in (told_turns(each),)
        for found in segments(digests(turns), _PROFILE.summaries.segment_turns)
    ]


def _before(turns: Sequence[NumberedTurn], found: range) -> NumberedTurn | None:
    return turns[found.start - 1] if found.start else None


def told_turns(conversation: context_data.Conversation) -> list[NumberedTurn]:
    found: list[NumberedTurn] = []
    for said in conversation.messages:
        content = said.get("content") or ""
        if said["role"] == "user":
            found.append(NumberedTurn(len(found) + 1, content))
        elif said["role"] == "assistant" and found:
            last = found[-1]
            found[-1] = NumberedTurn(last.number, last.user, f"{last.assistant}\n{content}".strip())
    return found


def digests(turns: Sequence[NumberedTurn]) -> list[TurnDigest]:
    """Of each turn what segments are told by; without embeddings, so that every machine cuts the same."""
    found: list[TurnDigest] = []
    begun = 0
    for at, turn in enumerate(turns):
        before = [TurnTexts(each.user, each.assistant) for each in turns[max(0, at - LOOKED_BACK) : at]]
        known = topic(turn.user, before, since=at - begun, cosine=None, numbers=_PROFILE.window)
        begun = at if known.shift else begun
        found.append(TurnDigest(b"", 0, known.continuity, known.shift, known.domain))
    return found


def sheets(found: Sequence[Segment]) -> list[list[Segment]]:
    """The segments of each judging sheet."""
    made: list[list[Segment]] = []
    for at, seed in enumerate(_SHEETS):
        taken = {id(each) for each in chain(*made)}
        left = [each for each in found if id(each) not in taken]
        if at >= _KNOWN:
            left += segments_of([each for each in context_data.unseen() if each.lang == "es"])
        made.append(judged(left, seed, _SHARING.stop - at if at in _SHARING else 1))
    return made


def judged(found: Sequence[Segment], seed: int, sharing: int = 1) -> list[Segment]:
    """The segments that people judge: of each language's sources, shuffled, one after the other."""
    chosen: list[Segment] = []
    for lang in ("en", "es"):
        generator = random.Random(seed)  # the same ones in every run
        sources: dict[str, list[Segment]] = {}
        for segment in found:
            if segment.lang == lang:
                sources.setdefault(segment.source, []).append(segment)
        for of in sources.values():
            generator.shuffle(of)
        taken: list[Segment] = []
        most = min(_JUDGED, -(-sum(map(len, sources.values())) // sharing))
        while len(taken) < most:
            for of in sources.values():
                if of and len(taken) < most:
                    taken.append(of.pop())
        chosen += taken
    return chosen


def summary_of(segment: Segment) -> Summary | None:
    return summarise(segment.turns, before=segment.before, max_tokens=_PROFILE.summaries.tokens, count=tokens)


def tokens(text: str) -> int:
    return len(_ENCODING.encode(text))


# --- what a machine can see ------------------------------------------------------------------------------------------

_WORD = re.compile(r"[^\W_][\w'\u2019./:%-]*")
_POLITE = re.compile(
    r"(?:perfect[oa]?|noted|anotad[oa]|entendid[oa]|understood|thanks?|thank you|gracias|great|genial|sure|claro"
    r"|ok(?:ay)?|got it|excelente|excellent|de nada|you'?re welcome|good luck|suerte|wow|hola|hi|hello|listo|dale"
    r"|awesome|nice|good|job|a lot|muchas|so much|[ ,.!])+",
    re.IGNORECASE,
)
_CODE = re.compile(r"[`{}]|=>|==|\*\*|^#|::|\\\(|https?:")
_DANGLING = words("""
a an the of for in on with about to and or but my our your is are so as at by from
el la los las un una de del en con por para sin sobre a al y e o que mi tu su
""")


def faults(summary: Summary, lang: str) -> set[str]:
    """What is mechanically wrong with a summary."""
    pieces = [
        summary.topic,
        *summary.discussed,
        *summary.outcome.split("; "),
        *summary.decisions,
        *summary.open_questions,
    ]
    found = {fault for piece in pieces if piece for fault in _piece_faults(piece, lang)}
    return found | ({"too long"} if tokens(render(summary)) > _PROFILE.summaries.tokens else set())


def _piece_faults(piece: str, lang: str) -> Iterator[str]:
    said = _WORD.findall(piece)
    telling = [word for word in said if terms(word)]
    if len(telling) < 2:  # a phrase, not a word
        yield "fragment"
    if telling and all(_is_verb(word, lang) for word in telling):
        yield "bare verb"
    if said and said[-1].lower() in _DANGLING:
        yield "breaks off"
    if _POLITE.fullmatch(piece):
        yield "politeness"
    if _CODE.search(piece):
        yield "code"


def _is_verb(word: str, lang: str) -> bool:
    """Is it a verb's form by the dictionary, or by its ending?"""
    plainly = word.lower()
    lemma = simplemma.lemmatize(plainly, lang=lang)
    if lang == "es":
        return bool(re.search(r"[aei]r$", lemma)) and lemma != plainly
    return bool(re.search(r"(?:ing|ed)$", plainly)) and lemma != plainly


# --- what is printed -------------------------------------------------------------------------------------------------


def show(segment: Segment, most: int = 300) -> str:
    said = summary_of(segment)
    lines = [f"{segment.conversation}, turn {segment.turns[0].number}"]
    for turn in segment.turns:
        lines.append(f"  user: {_flat(turn.user, most)}")
        lines.append(f"  assistant: {_flat(turn.assistant, most // 2)}")
    return "\n".join([*lines, f"  -> {render(said) if said else '(nothing worth a note)'}", ""])


def _flat(text: str, most: int) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= most else f"{flat[:most]} […]"


def sheet(found: Sequence[Segment]) -> str:
    """The judging sheet, in Markdown."""
    lines = [
        "# Would a colleague understand it?",
        "",
        "Each summary stands for the turns above it, in a note of 50 tokens at most. Mark **yes** if a colleague who",
        "has not read the turns would understand what it says, and it says nothing that the turns do not; else **no**,",
        'and why, in a word. "(nothing worth a note)" is a yes where the turns have nothing that one would write down.',
    ]
    for number, segment in enumerate(found, 1):
        said = summary_of(segment)
        lines += ["", f"## {number} ({segment.lang})", ""]
        if segment.before:
            lines += [
                f"> *(the turn before: not summarised)* **user:** {_flat(segment.before.user, 300)}",
                ">",
                f"> *(answer)* {_flat(segment.before.assistant, 200)}",
                "",
            ]
        for turn in segment.turns:
            lines += [
                f"> **user:** {_flat(turn.user, 1_500)}",
                ">",
                f"> **assistant:** {_flat(turn.assistant, 600)}",
                ">",
            ]
        lines += ["", f"**Summary:** `{render(said) if said else '(nothing worth a note)'}`", "", "Understandable: "]
    return "\n".join([*lines, ""])


def report(found: Sequence[Segment]) -> None:
    for source, lang in dict.fromkeys((each.source, each.lang) for each in found):
        _report_of([each for each in found if (each.source, each.lang) == (source, lang)], f"{source}, {lang}")
    _report_of(found, "all")


def _report_of(found: Sequence[Segment], title: str) -> None:
    written = [(each, said) for each in found if (said := summary_of(each))]
    sizes = [tokens(render(said)) for _, said in written] or [0]
    wrong = [faults(said, each.lang) for each, said in written]
    kinds = Counter(fault for each in wrong for fault in each)
    print(
        f"{title}: {len(found)} segments, {len(written)} summaries of {sum(sizes) / len(sizes):.1f} tokens on average"
        f" ({max(sizes)} at most); with a fault: {share([bool(each) for each in wrong])} {dict(kinds) or ''}"
    )


def show_decisions() -> None:
    kept: list[bool] = []
    for each in conversations():
        turns = [NumberedTurn(at, turn.user, turn.assistant) for at, turn in enumerate(each.turns, 1)]
        for found in segments(digests(turns), _PROFILE.summaries.segment_turns):
            said = summarise(turns[found.start : found.stop], max_tokens=_PROFILE.summaries.tokens, count=tokens)
            text = render(said) if said else ""
            kept += [
                all(word in text for word in telling_of(decision.text, each.message(decision.turn)))
                for decision in each.decisions
                if decision.turn - 1 in found
            ]
    print(f"decisions kept: {share(kept)}")


def show_cpu(found: Sequence[Segment]) -> None:
    """Milliseconds of CPU a segment whose messages were never read; words and their stems are known by then."""
    taken = []
    for each in found:
        for remembered in _REMEMBER:
            remembered.cache_clear()
        begun = time.process_time()
        summary_of(each)
        taken.append(1_000 * (time.process_time() - begun))
    taken.sort()
    print(
        f"CPU a segment: {sum(taken) / len(taken):.1f} ms on average, {taken[len(taken) // 2]:.1f} in the middle,"
        f" {taken[int(0.95 * len(taken))]:.1f} at 95 %"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--show", type=int, default=10, metavar="N", help="segments to print")
    parser.add_argument("--lang", choices=("es", "en"))
    parser.add_argument("--sheet", type=Path, metavar="FILE", help="write a judging sheet")
    parser.add_argument("--number", type=int, choices=(1, 2, 3, 4, 5, 6), default=6, help="which one")
    given = parser.parse_args()
    if not FOLDER.exists():
        print(f"skipped: no evaluation data at {FOLDER} (set OLVIDO_EVAL_DATA)")
        return
    found = told_segments()
    to_judge = sheets(found)
    unseen = {id(each) for each in chain(*to_judge[_KNOWN:])}
    shown = [each for each in found if id(each) not in unseen and given.lang in (None, each.lang)]
    random.Random(_SEED).shuffle(shown)  # the same ones in every run
    for each in shown[: given.show]:
        print(show(each))
    report(found)
    show_decisions()
    show_cpu(found)
    if given.sheet:
        chosen = to_judge[given.number - 1]
        given.sheet.write_text(sheet(chosen), encoding="utf-8")
        print(f"{len(chosen)} segments to judge: {given.sheet}")


if __name__ == "__main__":
    main()
