"""Turns that left the window as a key-value record of a few dozen tokens: extracted, never told, written once.

What cannot be found again by asking for it, the concrete, is kept longest: decisions in the user's own words, names,
numbers, dates. What was merely discussed goes first.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from proxy.memory.terms import STOP, terms
from proxy.reuse.text import phrases, plain
from proxy.reuse.words import fold
from proxy.types import Summary, TurnDigest

Count = Callable[[str], int]  # tokens of a text

_MOST_READ = 4_000  # characters of a message
_TOPIC_WORDS = 6
_DISCUSSED = 4
_DECISIONS_KEPT = 4  # the newest: no more fit
_PHRASE_WORDS = 3
_CLAUSE_WORDS = 20
_NAMED = 1.5  # a name is worth more than a word that occurs as often
_QUESTION_WORDS = 12
_SHORTEST_OUTCOME = 4  # words: less says nothing
_REMEMBERED = 50_000  # words, and what they are: 5 MB in each of two tables

_SENTENCE = re.compile(r"(?<=[.!?…;])\s+|\n+")
_WORD = re.compile(r"[$€£]?[^\W_][\w/@#+%.,:'\u2019-]*[^\W_]%?|[^\W_]%?|[$€£<][\w<>/.]+")
_PART = re.compile(r"[.,;:!?¿¡()\n\"“”]+(?:\s|$)|\s[\u2013\u2014-]\s|[¿¡]")
_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_NUMBER = re.compile(r"\d")
_NAME = re.compile(r"^[A-ZÁÉÍÓÚÑ]|[A-Z]{2}|[a-z][A-Z]|\w[_/]\w")
_JOINS = frozenset({"de", "del", "of"})

_DECISIONS = r"""
decid(?:i|io|imos|ido|ida)\w* | me decidi | (?:nos )?(?:vamos|voy) con | (?:nos|me) (?:quedamos|quedo) con
quedamos en | queda en | al final (?:vamos|usamos|uso|elegi|elegimos|es|son|sera) | elegi | elegimos | elijo
optamos por | acordamos | definimos | definido | cambie (?:de|el|la|los|las|a|por) | cambiamos | he cambiado
cambio de planes | (?:lo|la|los|las) (?:dejo|dejamos|paso|pasamos) (?:en|a|para) | me paso a | nos pasamos a
pasamos a | a partir de ahora | desde ahora | de ahora en (?:mas|adelante)
ahora (?:voy|vamos|son|es|van) (?:por|con|a|el|la|de)? | viajamos (?:del|el|en) | usamos | usaremos | vamos a usar
compro | compramos | contratamos | queda (?:como|confirmado|cerrado)
(?:i|we|i've|we've|i have|we have) (?:just )?(?:decided|chosen|chose|settled|agreed|picked) | decided (?:on|to)
going with | go with | let's (?:use|go|do|keep|stick) | we'll (?:use|go|sell|keep|take|ship|move|do|buy)
i'll (?:use|take|go|buy|keep) | we're (?:using|moving|dropping|pushing|switching|flying|keeping|staying)
i'm (?:using|switching|going|dropping|keeping) | switch(?:ing)? to | moving to | settled | final decision
from now on | the decision is | so \w+ it is | is now | now (?:due|starts) | goes up to | goes down to | moved up
stick(?:ing)? with
"""
_OPEN_ENDED = r"""
si (?:yo |me |nos )*(?:fuera|fuese|tuviera|ganara|tocara) | if (?:i|we|you) (?:were|had|won) | hypothetically | maybe
might | quizas? | capaz | a lo mejor | tal vez | algun dia | someday | perhaps | no decid\w+ | haven't decided
not decided | todavia no
"""
_DECIDES, _WAVERS = phrases(_DECISIONS), phrases(_OPEN_ENDED)
_QUOTED = frozenset('?"“”«»')  # what asks, or what somebody else said


@dataclass(frozen=True, slots=True)
class Told:
    """A turn as it is summarised."""

    number: int  # from 1
    user: str
    assistant: str = ""


def summarise(turns: Sequence[Told], *, max_tokens: int = 50, count: Count) -> Summary:
    """Of a segment: consecutive turns, at least one. What `render` makes of it has at most `max_tokens`."""
    turns = [
        Told(turn.number, _FENCE.sub(" ", turn.user[:_MOST_READ]), _FENCE.sub(" ", turn.assistant[:_MOST_READ]))
        for turn in turns
    ]
    decisions = tuple(dict.fromkeys(clause for turn in turns for clause in _decisions(turn.user)))
    topic, discussed = _subjects(turns)
    return fitted(
        Summary(
            topic=topic,
            discussed=discussed,
            outcome=_outcome(turns, decisions),
            decisions=decisions[-_DECISIONS_KEPT:],
            open_questions=_unanswered(turns[-1]),
            first_turn=turns[0].number,
            last_turn=turns[-1].number,
        ),
        max_tokens,
        count,
    )


def render(summary: Summary) -> str:
    """One line; what is empty is left out."""
    fields = {
        "topic": summary.topic,
        "discussed": _listed(summary.discussed),
        "outcome": summary.outcome,
        "decisions": _listed(summary.decisions),
        "open_questions": _listed(summary.open_questions),
    }
    return "{" + ", ".join(f"{name}: {value}" for name, value in fields.items() if value) + "}"


def fitted(summary: Summary, max_tokens: int, count: Count) -> Summary:
    """`summary` without what does not fit: first what was discussed, then open questions, then ends of the
    outcome, of the decisions and of the topic. With no room at all it is empty."""
    while count(render(summary)) > max_tokens:
        shorter = _shorter(summary)
        if shorter == summary:
            return summary
        summary = shorter
    return summary


def segments(digests: Sequence[TurnDigest], segment_turns: int) -> list[range]:
    """Closed segments of `digests`, as ranges of their indices: a segment is closed after `segment_turns` turns, or
    by the turn after it that changes the topic. The last ones may still be open, and are left out."""
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
    """The newest `slots`, oldest first."""
    return tuple(summaries[-slots:]) if slots > 0 else ()


def _shorter(summary: Summary) -> Summary:
    if summary.discussed:
        return replace(summary, discussed=summary.discussed[:-1])
    if summary.open_questions:
        return replace(summary, open_questions=())
    if summary.outcome:
        words = summary.outcome.split()[:-1]
        return replace(summary, outcome=" ".join(words) if len(words) >= _SHORTEST_OUTCOME else "")
    if summary.decisions:
        longest = max(range(len(summary.decisions)), key=lambda at: len(summary.decisions[at].split()))
        words = summary.decisions[longest].split()
        if len(words) <= _SHORTEST_OUTCOME:
            return replace(summary, decisions=summary.decisions[1:])  # the newest hold
        cut = (*summary.decisions[:longest], " ".join(words[:-1]), *summary.decisions[longest + 1 :])
        return replace(summary, decisions=cut)
    return replace(summary, topic=" ".join(summary.topic.split()[:-1]))


def _listed(values: Sequence[str]) -> str:
    return f"[{'; '.join(values)}]" if values else ""


def _sentences(text: str) -> list[str]:
    return [sentence.strip() for sentence in _SENTENCE.split(text) if sentence.strip()]


def _decisions(user: str) -> list[str]:
    return [
        _cut(_from_signal(sentence), _CLAUSE_WORDS)
        for sentence in _sentences(user)
        if "?" not in sentence and _decides(plain(sentence))
    ]


def _decides(said: str) -> bool:
    return bool(_DECIDES.search(said)) and not _WAVERS.search(said)


def _from_signal(sentence: str) -> str:
    """Without the clauses before the one that decides, if what is left says something by itself."""
    parts = re.split(r"(?<=[,:])\s+", sentence)
    for at, part in enumerate(parts):
        if _decides(plain(part)):
            rest = " ".join(parts[at:])
            return rest if len(rest.split()) >= _SHORTEST_OUTCOME and _concreteness(rest) else sentence
    return sentence


def _outcome(turns: Sequence[Told], decisions: Sequence[str]) -> str:
    """The most concrete thing that the user states beside the decisions, else how the last answer begins."""
    stated = [
        sentence
        for turn in turns
        for sentence in _sentences(turn.user)
        if _QUOTED.isdisjoint(sentence) and not _DECIDES.search(said := plain(sentence)) and not _WAVERS.search(said)
    ]
    best = max(stated, key=_concreteness, default="")  # the first of equals
    if _concreteness(best):
        return _cut(best, _CLAUSE_WORDS)
    if decisions:
        return ""
    answered = [sentence for turn in reversed(turns) for sentence in _sentences(turn.assistant) if "?" not in sentence]
    return _cut(max(answered[:3], key=_concreteness, default=""), _CLAUSE_WORDS)


def _unanswered(turn: Told) -> tuple[str, ...]:
    if turn.assistant.strip():
        return ()
    asked = [sentence for sentence in _sentences(turn.user) if sentence.endswith("?")]
    return (_cut(asked[-1].lstrip("¿ "), _QUESTION_WORDS),) if asked else ()


def _concreteness(text: str) -> float:
    """Numbers, and names that do not just begin the sentence."""
    words = text.split()
    numbers = sum(bool(_NUMBER.search(word)) for word in words)
    names = sum(bool(_NAME.search(word.strip("¿¡\"'(“"))) for word in words[1:])
    return 2.0 * numbers + names


def _cut(text: str, most: int) -> str:
    words = text.replace("{", "(").replace("}", ")").split()
    return " ".join(words[:most]).rstrip(" .,;:!")


def _subjects(turns: Sequence[Told]) -> tuple[str, tuple[str, ...]]:
    """The topic, and what else was talked about: runs of content words, by how often their terms occur. What the user
    says counts double, what both say once more, and what the assistant alone says half."""
    asked = Counter(term for turn in turns for term in terms(turn.user))
    answered = Counter(term for turn in turns for term in terms(turn.assistant))
    worth = {term: 2 * asked[term] + answered[term] + (term in answered) for term in asked} | {
        term: answered[term] / 2 for term in answered if term not in asked
    }
    scored: dict[str, float] = {}
    said: dict[str, list[str]] = {}
    for run in dict.fromkeys(run for turn in turns for text in (turn.user, turn.assistant) for run in _runs(text)):
        if found := terms(run):
            said[run] = found
            bonus = _NAMED if any(map(_NAME.search, run.split())) else 1.0
            scored[run] = bonus * sum(worth.get(term, 0.5) for term in found) / len(found) ** 0.5
    chosen: list[str] = []
    seen: set[str] = set()
    for run in sorted(scored, key=lambda run: -scored[run]):  # stable: of equals the first said
        if seen.isdisjoint(said[run]):
            seen.update(said[run])
            chosen.append(run)
        if len(chosen) == 2 + _DISCUSSED:  # no more are told
            break
    at = 2 if len(" ".join(chosen[:2]).split()) <= _TOPIC_WORDS else 1
    rest = sorted(chosen[at : at + _DISCUSSED], key=lambda run: not _NUMBER.search(run))
    return " ".join(chosen[:at]), tuple(rest)


def _runs(text: str) -> Iterable[str]:
    """Words that belong together: content words side by side, a `de` or `of` between them."""
    for part in _PART.split(text):
        run: list[str] = []
        # A sentence's first capital makes no name.
        clause = part[:1].lower() + part[1:] if part[1:2].islower() else part
        for word in (*_WORD.findall(clause), ""):
            if word and (not _is_stop(word) or (run and _joins(word))):
                run.append(word)
                continue
            while run and _joins(run[-1]):
                run.pop()
            if run:
                yield " ".join(run[-_PHRASE_WORDS:] if not _joins(run[-_PHRASE_WORDS:][0]) else run[-2:])
            run = []


@lru_cache(_REMEMBERED)
def _joins(word: str) -> bool:
    return fold(word) in _JOINS


@lru_cache(_REMEMBERED)
def _is_stop(word: str) -> bool:
    return fold(word) in STOP or not terms(word)
