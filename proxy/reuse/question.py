"""Questions in the form in which they are read and compared.

Greetings, thanks and small talk are dropped, words of grammar that are typed wrongly are mended, polite frames are
taken off ("could you tell me how …"), what is written in a hurry is spelt out, and what is said in several ways is said
in one ("what is the best way to" is "how to").

Small talk must show itself. Greetings, thanks, apologies and how somebody came to ask change no answer. An illness, a
version, a place, a budget, what was tried, the form that is wanted do, and nobody can list them. So it takes a phrase
of small talk, and hardly a word that is neither of small talk nor said of anything. Doubt is context: taken for small
talk it is a wrong answer, the contrary a reuse that is missed. Weights for words, pairs and topics (logistic regression
on the rows of tests/bench/fillers.jsonl) recognised more of it. But in medical questions, a field they had not seen,
they took some 4 % of the clauses for small talk that were none; the tables take 1 in 500.

No frame is taken away that an answer depends on: the form that is wanted ("briefly", "step by step"), a superlative
("the cheapest way to"), who acts and when ("how did people" is no "how to"). Nor are two things made one: whoever wants
to learn French asks for something else than what French is.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache

from rapidfuzz.distance import OSA

from proxy.language.language import Language, SmallTalk, language_of
from proxy.language.phrases import Rule
from proxy.language.tables import everywhere, languages, words_everywhere
from proxy.language.words import fold, is_known, plain
from proxy.language.words import warm as load_words

# Beyond, a text is compared as a whole: no reading of it word by word would be safe, or quick.
MAX_WORDS = 200
MAX_CHARACTERS = 2_000

_REMEMBERED = 4_096  # questions
_SEGMENT_END = re.compile(r"(?<!\b[A-Za-z])[.?!;:…\n](?=\s|$)|[¿¡]|,(?!\d)|\s[\u2013\u2014-]\s|\(|\)")
_MARKS = re.compile(r"[¿?¡!;:…()\[\]]|\.(?=\s|$)|(?<!\d),|,(?!\d)|(?<=\s)[\u2013\u2014-](?=\s)")
_PLAIN_QUOTES = (("\u2019", "'"), ("\u00b4", "'"), *((quote, '"') for quote in "“”«»"))
_REPEATED = re.compile(r"([a-zA-Z])\1{2,}")
_STRETCHED = re.compile(r"(?<![a-zA-Z])[a-zA-Z]*([a-zA-Z])\1{2,}[a-zA-Z]*")
_ROMAN = re.compile(r"[ivxlcdm]+", re.IGNORECASE)
_NAME = re.compile(r"(?<=[^\W_] )(?!I\b)[A-ZÁÉÍÓÚÑ]")
_SPOKEN = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
_WORD = re.compile(r"[^\W_]+")
_AUXILIARIES = words_everywhere("lexicon", "auxiliaries")
_ATTACHED = words_everywhere("lexicon", "attached")

_LONGEST_FRAMED = 1000  # characters; what is longer is no question that is put in other words
_ROUNDS = 8
_FRAME_MARKS = re.compile(r" [,.?](?: [,.?])+(?= )")

_LONGEST_TALK = 200  # characters; whoever writes more says something
_UNKNOWN = 2  # words of small talk
_NO_NAME = "|".join(rf"{entry}\b" for text in everywhere("smalltalk", "no-name") for entry in text.split(" | "))
_NAMED = re.compile(rf"(?<=[^\W_] )(?!{_NO_NAME})[A-ZÁÉÍÓÚÑ][\w'\u2019-]+")
_NO_PLACE = re.compile("|".join(everywhere("smalltalk", "no-place")).replace(" | ", "|"))
_TALK_WORD = re.compile(r"[^\W\d_][^\W_]*(?:'[a-z]+)?|[\u2600-\u27bf\U0001f300-\U0001faff]+")
_TALK_MARK = re.compile(r"(?<= )[.,?](?= )")
_DIGIT = re.compile(r"\d")

_DOUBLED = re.compile(r"(.)\1+")
_SHORTEST = 3  # letters; what is shorter stands in the table of chat spellings or is left alone


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """There is one for a text in a language, as long as it is remembered. Equal `original` or `text` mean: asked in the
    same words."""

    original: str
    language: Language
    said: str = ""  # as it is written, without what says nothing
    folded: str = ""  # the same without accents and contractions
    text: str = ""  # the same without frames, one way of saying it for several
    is_long: bool = False  # not read: only the same text is the same question


def warm() -> None:
    """Load what the first question would wait for: dictionaries, tables, expressions. Takes about two seconds."""
    compared = [language_of(code) for code in languages("lexicon")]
    load_words(compared)
    for language in compared:
        analyse("?", language)
        is_small_talk("thanks", language)


def analyse(text: str, language: Language) -> Question:
    """Reads `text` as a question. Never raises; the time it takes is bounded whatever the text."""
    if len(text) > MAX_CHARACTERS or len(text.split(None, MAX_WORDS)) > MAX_WORDS:
        return Question(text, language, is_long=True)
    return _analyse(text, language)


@lru_cache(_REMEMBERED)
def _analyse(original: str, language: Language) -> Question:
    said = " ".join(_said(_tidied(original), language))
    folded = _rewritten(mended(_folded(said), language), language.lexicon.contractions)
    text = _rewritten(unframe(folded, language), language.lexicon.rewrites)
    return Question(original, language, said, folded, text)


def _tidied(text: str) -> str:
    if not text.isascii():
        for fancy, plain_quote in _PLAIN_QUOTES:
            text = text.replace(fancy, plain_quote)
    return _STRETCHED.sub(
        lambda word: word[0] if _ROMAN.fullmatch(word[0]) else _REPEATED.sub(r"\1", word[0]), text
    ).strip()


def _folded(said: str) -> str:
    # Marks of quotation end no clause: "what does "entropy" mean".
    folded = " ".join(_MARKS.sub(" , ", fold(said).replace('"', " ")).split())
    return folded.strip(" ,")


def _rewritten(folded: str, rewrites: tuple[Rule, ...]) -> str:
    for rule in rewrites:
        if rule.may_match(folded):
            rewritten, times = rule.pattern.subn(f" {rule.form} ", folded)
            if times:
                folded = " ".join(rewritten.split()).strip(" ,")
    return folded


# --- small talk -------------------------------------------------------------------------------------------------------


def _said(text: str, language: Language) -> list[str]:
    """The segments of `text` that say something about the question; all of them if none does."""
    segments = [segment.strip() for segment in _segments(text)]
    if len(segments) < 2:
        return segments or [text]
    return [segment for segment in segments if not _is_empty_talk(segment, language)] or segments


def _segments(text: str) -> Iterator[str]:
    start = 0
    for end in _SEGMENT_END.finditer(text):
        if _WORD.search(text, start, end.end()):
            yield text[start : end.end()]
        start = end.end()
    if _WORD.search(text, start):
        yield text[start:]


def _is_empty_talk(segment: str, language: Language) -> bool:
    lexicon = language.lexicon
    spoken = _SPOKEN.findall(fold(segment))
    # Whom it is for, what with: that is no greeting, whoever is greeted.
    if spoken[0] in _ATTACHED:
        return False
    if lexicon.filler.issuperset(spoken):
        return True
    # What asks is the question itself, or a part of it.
    if segment.endswith("?") or not lexicon.asking.isdisjoint(spoken) or spoken[0] in _AUXILIARIES:
        return False
    if all(word in lexicon.filler or word in lexicon.function for word in spoken):
        return True
    # A name may be what the question is about, whatever stands around it.
    return not _NAME.search(segment) and is_small_talk(segment, language)


def is_small_talk(segment: str, language: Language) -> bool:
    """Tells whether `segment`, a sentence or clause beside the question itself, can be left out."""
    if len(segment) > _LONGEST_TALK or _DIGIT.search(segment):
        return False
    text = _REPEATED.sub(r"\1", plain(_NAMED.sub(_marked, segment)))
    clauses = [f" . {clause.strip()} . " for clause in _TALK_MARK.split(text) if _TALK_WORD.search(clause)]
    return bool(clauses) and all(_says_nothing(clause, language.small_talk()) for clause in clauses)


def _says_nothing(clause: str, tables: SmallTalk) -> bool:
    said = set(_TALK_WORD.findall(clause))
    unknown = said - tables.known
    return (
        len(unknown) <= _UNKNOWN
        and said.isdisjoint(tables.deciding)
        and (unknown | {"named"}).isdisjoint(tables.points.findall(clause))
        and (unknown - tables.kin).isdisjoint(tables.owns.findall(clause))
        and not tables.context.search(clause)
        and not tables.opens.search(clause)
        and (
            tables.small_talk.search(clause) is not None or (not unknown and tables.chatter.search(clause) is not None)
        )
    )


def _marked(name: re.Match[str]) -> str:
    """Returns names with "named" before each: "in named Chile"."""
    return name[0] if _NO_PLACE.match(name[0]) else f"named {name[0]}"


# --- frames -----------------------------------------------------------------------------------------------------------


def unframe(text: str, language: Language) -> str:
    """Folded `text` without polite, formal and colloquial frames, and its interrogatives in canonical form. Verbs keep
    their form: "walk me through setting up" is "how to setting up". Idempotent: what is left is framed again until
    nothing changes; what does not settle stays as it was, and so does a message that is nothing but frames."""
    if len(text) > _LONGEST_FRAMED:
        return text
    frames = language.frames()
    after = f" , {' '.join(text.split())} , "
    for _ in range(_ROUNDS):
        before = after
        for rule in frames.around:
            if rule.may_match(after):
                after = rule.pattern.sub(rule.form, after)
        after = frames.replace(after)
        after = _FRAME_MARKS.sub(" ,", f" {' '.join(after.split())} ")
        if after == before:
            return after.strip(" ,.?") or text
    return text


# --- spelling ---------------------------------------------------------------------------------------------------------


def mended(folded: str, language: Language) -> str:
    """`folded` text with its grammar words spelt as the tables spell them: `waht`, `wich`, `ke`, `ase`. A question's
    frame is made of them; a mistyped word of content is found when two questions are compared."""
    return " ".join(_mended(word, language) for word in folded.split())


@lru_cache(50_000)
def _mended(word: str, language: Language) -> str:
    if chatty := language.lexicon.chat.get(word):
        return chatty
    if len(word) < _SHORTEST or not word.isalpha():
        return word
    grammar, near_forms = _grammar(language)
    if word in grammar:
        return word
    near = {candidate for form in _shortened(word) for candidate in near_forms.get(form, ())}
    close = [candidate for candidate in near if _is_slip(word, candidate)]
    if not close or is_known(word, language):
        return word
    swapped = [candidate for candidate in close if sorted(candidate) == sorted(word)]
    best = swapped or close
    return best[0] if len(best) == 1 else word


def _is_slip(word: str, candidate: str) -> bool:
    """Two letters swapped, one doubled or missing; in a longer word also a wrong one. Not one too many: "Ethan"."""
    if OSA.distance(word, candidate, score_cutoff=1) > 1:
        return False
    if sorted(word) == sorted(candidate):
        return True
    if word[0] != candidate[0]:
        return False
    if len(word) > len(candidate):
        return _DOUBLED.sub(r"\1", word) == _DOUBLED.sub(r"\1", candidate)
    return len(word) > _SHORTEST if len(word) < len(candidate) else len(word) > 5


@cache
def _grammar(language: Language) -> tuple[frozenset[str], dict[str, frozenset[str]]]:
    """The words of grammar, and those that are left of them and what is typed if a letter is taken away."""
    lexicon = language.lexicon
    spelt = lexicon.function | lexicon.asking | lexicon.operators | language.licences.framing
    grammar = frozenset(word for word in spelt if len(word) >= _SHORTEST)
    near: defaultdict[str, set[str]] = defaultdict(set)
    for word in grammar:
        for form in _shortened(word):
            near[form].add(word)
    return grammar, {form: frozenset(words) for form, words in near.items()}


def _shortened(word: str) -> set[str]:
    return {word, *(word[:at] + word[at + 1 :] for at in range(len(word)))}
