"""Facts that a user message states about its author, and commands to forget. Nothing is inferred.

A message is read sentence by sentence. What is asked, imagined, quoted, told by somebody else or true only for the
moment is left out; of the rest a sentence counts if it carries a sign of `signals`, and the sentences that go on from
it belong to it: the value is what the user wrote, from the first to the last.
"""

import re
from dataclasses import replace

from proxy.memory.prose import Sentence, prose, sentences
from proxy.memory.reading import DETAIL, WORD, Read, lead, read, tail, without_signal
from proxy.memory.signals import SIGNALS, Signals, folded
from proxy.memory.terms import STOP
from proxy.reuse.language import language
from proxy.reuse.text import plain
from proxy.reuse.text import words as listed
from proxy.reuse.words import fold
from proxy.types.memory import Forgetting, Language, Stance, Statement

LONGEST = 400  # characters of a value; what would make it longer is left to the archive
_CLEARLY = 2  # words more than the other language has
_STATEMENTS = 8  # of one message
# A command to forget has one of these; whether it is one, its sentence says.
_COMMAND = re.compile(r"olv[ií]d|borr|elimin|forget|erase|delete|remove|remember", re.IGNORECASE)
_COMMON = (
    listed(
        "de la el que en mi me los las un una con es no lo por para se al del uso soy todo sin tengo vivo siempre nada"
    ),
    listed("the of to i my is and in a it for we with no i'm an on are our at please always never use live from"),
)
_OF_SIGNS = listed("""
decidi decidimos decidido decided decide vamos voy going go final finalmente listo cambie cambiamos cambio idea
siempre nunca antes rather than jamas always never ahora now partir desde adelante prefiero preferimos prefer quiero
want like gusta gustan odio hate love llama llamo llaman called named usar uso usamos use using used keep keeps
sigue siguen seguimos sigo still update actually instead moved tener hacer make give get put say please favor let
lets recorda recuerda remember note nos me mandame poneme dame pongas mandes uses des ya compre compramos opte elegi
elegimos picked chose chosen settled dropping switching end start yes no one only solo cuando when whenever
respondas respondeme answer that's we're i'm
""")


def extract(text: str) -> tuple[Statement | Forgetting, ...]:
    """What `text`, a user message, states about its author or wants forgotten, in its order. At most 4,000 characters
    of it are read, at its two ends."""
    own = prose(text)
    spoken = language(own)
    attempts = (_in_language(own, each) for each in ((spoken,) if spoken else _probably(own)))
    return next(filter(None, attempts), ())[:_STATEMENTS]


def wants_forgetting(text: str) -> bool:
    """Does `text`, a user message, say what shall be forgotten? Then it must be forgotten itself."""
    return _COMMAND.search(text) is not None and any(isinstance(found, Forgetting) for found in extract(text))


def _probably(text: str) -> tuple[Language, ...]:
    """The language of what is too short or too mixed to be sure: that of more of the commonest words, or both."""
    said = [word.lower() for word in WORD.findall(text)]
    spanish, english = (sum(word in common for word in said) for common in _COMMON)
    if abs(spanish - english) < _CLEARLY:
        return ("es", "en") if spanish > english else ("en", "es")
    return ("es",) if spanish > english else ("en",)


def _in_language(text: str, spoken: Language) -> tuple[Statement | Forgetting, ...]:
    signals = SIGNALS[spoken]
    said = list(sentences(text))
    commands = tuple(filter(None, (_forgetting(each, signals) for each in said)))
    if commands:
        return commands
    if _about_a_text(said, signals):
        return ()
    return tuple(_statement(run, signals) for run in _runs(_read_all(said, signals, spoken)))


def _forgetting(sentence: Sentence, signals: Signals) -> Forgetting | None:
    if sentence.asked:
        return None
    plainly = folded(sentence.text)
    start = lead(plainly, signals)
    command = signals.forget.match(plainly, start)
    if command is None:
        return None
    end = tail(plainly, signals)
    what = sentence.text[command.end() : max(end, command.end())].strip()
    wanted = fold(what)
    if signals.everything.fullmatch(wanted) or (not what and signals.everything.search(plainly, start)):
        return Forgetting("")
    if not what or signals.never_mind.fullmatch(wanted) or not _details_or_words(what):
        return None
    return Forgetting(what)


def _details_or_words(what: str) -> bool:
    return any(fold(word) not in STOP for word in WORD.findall(what))


def _about_a_text(said: list[Sentence], signals: Signals) -> bool:
    """Does the message hand over a text, to be translated or judged?"""
    quoting = [sentence for sentence in said if sentence.quotes]
    if quoting and any(sentence.asked for sentence in said):
        return True
    opening = said[0] if said else None
    if opening is None or opening.asked:
        return False
    wants_work = signals.task.match(plain(opening.text)) is not None
    return wants_work and (bool(quoting) or opening.text.rstrip().endswith(":") or ":\n" in opening.text)


def _read_all(said: list[Sentence], signals: Signals, spoken: Language) -> list[Read]:
    found: list[Read] = []
    asks = any(sentence.asked for sentence in said)
    before = -2  # the sentence that was found last
    for at, sentence in enumerate(said):
        whole = plain(sentence.text)
        if signals.imagine.search(whole):
            break  # what follows is imagined as well
        if signals.reported.search(whole) and not signals.remember.search(whole):
            found = [each for each in found if each.explicit]
            continue
        new = read(sentence, signals, spoken)
        if new is None:
            continue
        follows = before == at - 1
        if new.value:
            earlier = said[at - 1] if at and not follows else None
            new = _in_context(new, earlier, signals, asks=asks)
            if new.kind == "declared" and sentence.text.endswith(","):
                continue  # "En el año 2000, ¿…?"
            found.append(replace(new, follows=follows and not sentence.opens_paragraph))
            before = at
        elif found and follows:  # "keep that in mind"
            found[-1] = replace(found[-1], explicit=True, confidence="high", kind=found[-1].kind or "remember")
            before = at
    return found


def _in_context(new: Read, earlier: Sentence | None, signals: Signals, *, asks: bool) -> Read:
    """A plain sentence beside a question mostly explains the question: a vague one counts for nothing, a concrete one
    little. One that goes on from a sentence that was not
    kept takes it along."""
    if new.kind != "declared":
        return new
    if asks and not DETAIL.search(new.value):
        return replace(new, kind=None)
    if asks:
        new = replace(new, confidence="low")
    if new.refers and earlier is not None and not earlier.asked:
        return replace(new, value=f"{without_signal(earlier.text, signals)}. {new.value}")
    return new


def _runs(found: list[Read]) -> list[list[Read]]:
    """The sentences that make one statement each."""
    runs: list[list[Read]] = []
    for each in found:
        if runs and each.follows and _goes_on(runs[-1], each):
            runs[-1].append(each)
        else:
            runs.append([each])
    return [run for run in runs if any(each.kind for each in run)]


def _goes_on(run: list[Read], new: Read) -> bool:
    if sum(len(each.value) for each in run) + len(new.value) > LONGEST:
        return False
    if new.refers:
        return True
    if new.kind is None:
        already = {word for each in run for word in _topical(each.value)}
        return DETAIL.search(new.value) is not None or not already.isdisjoint(_topical(new.value))
    keys = {each.key for each in run if each.key}
    return not (new.kind == "slot" and keys and new.key not in keys)


def _statement(run: list[Read], signals: Signals) -> Statement:
    rank = {"standing": 0, "decision": 1, "slot": 2, "preference": 3, "remember": 4, "declared": 5, None: 6}
    head = min(run, key=lambda each: rank[each.kind])
    value = " ".join(each.value if each.value[-1:] in ".!…" else f"{each.value}." for each in run[:-1])
    value = f"{value} {run[-1].value}".strip()
    stances = [each.stance for each in run]
    stance: Stance = "changes" if "changes" in stances else "keeps" if "keeps" in stances else "states"
    return Statement(
        domain=head.domain,
        key=_key(_subject(head, run), value, signals),
        value=value,
        confidence=max((each.confidence for each in run), key=("low", "medium", "high").index),
        pinned=any(each.kind == "standing" for each in run),
        stance=stance,
    )


def _subject(head: Read, run: list[Read]) -> Read:
    """The sentence that says what a statement is about."""
    if head.key or head.kind == "standing":
        return head
    return next((each for each in run if each.key), head)


def _key(head: Read, value: str, signals: Signals) -> str:
    slot = next((each for each in signals.slots if each.key == head.key), None)
    if slot is not None and not head.key.endswith("-"):
        return head.key
    about = _topical(head.value)
    if slot is None:
        return "-".join((about if len(about) > 1 else _topical(value))[:3]) or "note"
    named = {
        word
        for hit in slot.table.findall(head.said)
        for part in ([hit] if isinstance(hit, str) else hit)
        for word in part.split()
    }
    return head.key + "-".join([word for word in about if word not in named][:2])


def _topical(value: str) -> list[str]:
    """What `value` is about, in its order: words that no sign of a fact is made of, folded."""
    words = dict.fromkeys(map(fold, WORD.findall(value)))
    return [word for word in words if len(word) > 1 and not word[0].isdigit() and word not in STOP | _OF_SIGNS]
