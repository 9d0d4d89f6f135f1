"""Questions in the form in which they are read and compared.

Greetings, thanks and small talk are dropped, words of grammar that are typed wrongly are mended, polite frames are
taken off ("could you tell me how …"), what is written in a hurry is spelt out, and what is said in several ways is said
in one ("what is the best way to" is "how to").

No frame is taken away that an answer depends on: the form that is wanted ("briefly", "step by step"), a superlative
("the cheapest way to"), who acts and when ("how did people" is no "how to"). Nor are two things made one: whoever wants
to learn French asks for something else than what French is.

A request asks a plain question, or has a reason why it does not. A partition holds the answers that were given under
the same circumstances: scope, upstream, model, instructions, parameters, language, and everything the assistant had
said before. The user's own earlier messages are not part of it: they are compared question by question, since they may
be in other words too.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from hashlib import blake2b
from typing import Literal, get_args

import msgspec
from rapidfuzz.distance import OSA

from proxy.language.language import Language, language_of
from proxy.language.phrases import Rule
from proxy.language.tables import languages
from proxy.language.words import fold, is_known
from proxy.language.words import warm as load_words
from proxy.protocol.answers import has_disclaimer, without_disclaimer
from proxy.protocol.chat import keyed
from proxy.reuse.small_talk import REPEATED, is_empty_talk, is_small_talk
from proxy.types import ChatRequest

Unsuited = Literal["large", "tools", "json_mode", "logprobs", "agent", "no_question", "long_context", "empty"]
UNSUITED: tuple[str, ...] = get_args(Unsuited)

# Earlier user messages that must agree with an entry's. Longer conversations have hardly ever been had before, and each
# message is one more comparison.
MOST_CONTEXT = 4
# A larger request is a document to work on and hardly ever comes twice. Reading one of 20 MB would hold the event loop
# for more than a second; of this size, 5 ms.
MOST_BYTES = 128 * 1024

_ROLES = ("user", "assistant", "system", "developer")
_encode = msgspec.json.Encoder(order="deterministic").encode

# Beyond, a text is compared as a whole: no reading of it word by word would be safe, or quick.
MAX_WORDS = 200
MAX_CHARACTERS = 2_000

_REMEMBERED = 4_096  # questions
_SEGMENT_END = re.compile(r"(?<!\b[A-Za-z])[.?!;:…\n](?=\s|$)|[¿¡]|,(?!\d)|\s[\u2013\u2014-]\s|\(|\)")
_MARKS = re.compile(r"[¿?¡!;:…()\[\]]|\.(?=\s|$)|(?<!\d),|,(?!\d)|(?<=\s)[\u2013\u2014-](?=\s)")
_PLAIN_QUOTES = (("\u2019", "'"), ("\u00b4", "'"), *((quote, '"') for quote in "“”«»"))
_STRETCHED = re.compile(r"(?<![a-zA-Z])[a-zA-Z]*([a-zA-Z])\1{2,}[a-zA-Z]*")
_ROMAN = re.compile(r"[ivxlcdm]+", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+")

_LONGEST_FRAMED = 1000  # characters; what is longer is no question that is put in other words
_ROUNDS = 8
_FRAME_MARKS = re.compile(r" [,.?](?: [,.?])+(?= )")


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
        lambda word: word[0] if _ROMAN.fullmatch(word[0]) else REPEATED.sub(r"\1", word[0]), text
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
    return [segment for segment in segments if not is_empty_talk(segment, language)] or segments


def _segments(text: str) -> Iterator[str]:
    start = 0
    for end in _SEGMENT_END.finditer(text):
        if _WORD.search(text, start, end.end()):
            yield text[start : end.end()]
        start = end.end()
    if _WORD.search(text, start):
        yield text[start:]


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


# --- requests that ask one --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation that ends in a question, as plain text."""

    question: str
    context: tuple[str, ...]  # the user messages before it, oldest first
    others: tuple[tuple[int, str, str], ...]  # index, role and text of every message that is not the user's
    follows_reuse: bool = False  # the answer right before it came from memory by intent


def conversation(request: ChatRequest, disclaimers: Iterable[str]) -> Conversation | Unsuited:
    """Returns the question, or the reason why the request is none to be answered by its meaning. `disclaimers`: the
    lines that open a reused answer. With or without, it is the same answer."""
    if len(request.raw) > MOST_BYTES:
        return "large"
    if request.has_tools or request.tool_choice not in (None, "none"):
        return "tools"
    if ((form := request.response_format) is not None and form.kind != "text") or request.constrains_text:
        return "json_mode"
    if request.wants_token_details:
        return "logprobs"
    said: list[tuple[str, str]] = []
    for message in request.messages:
        if (text := message.sole_text) is None or message.role not in _ROLES:
            return "agent"
        said.append((message.role, text))
    if not said or said[-1][0] != "user":
        return "no_question"
    *context, question = [text for role, text in said if role == "user"]
    if not question.strip():
        return "empty"
    if len(context) > MOST_CONTEXT:
        return "long_context"
    lines = tuple(disclaimers)
    others = [
        (index, role, without_disclaimer(text, lines) if role == "assistant" else text)
        for index, (role, text) in enumerate(said)
        if role != "user"
    ]
    answer = next((text for role, text in reversed(said) if role == "assistant"), None)
    follows_reuse = answer is not None and has_disclaimer(answer, lines)
    return Conversation(question, tuple(context), tuple(others), follows_reuse)


def partition(
    scope_id: str, addressee: str, request: ChatRequest, conversation: Conversation, *, language: str, embedder: str
) -> str:
    """32 hex digits. Every field of the request counts but the messages and those that never reach the model; of the
    sampling parameters, the range they are in."""
    fields = keyed(request)
    if (temperature := request.sampling.temperature) is not None:
        fields["temperature"] = _bucket(temperature)
    everything = ("olvido intent 1", scope_id, addressee, language, embedder, conversation.others, fields)
    return blake2b(_encode(everything), digest_size=16).hexdigest()


def entry_id(scope_id: str, partition: str, said: Conversation) -> str:
    """The same for a question that is asked again."""
    asked = (scope_id, partition, " ".join(said.question.split()), said.context)
    return "r-" + blake2b(_encode(asked), digest_size=8).hexdigest()


def _bucket(temperature: float) -> str:
    """Near zero, up to one, above. A model at 0.6 and at 0.7 says the same things."""
    return "low" if temperature <= 0.3 else "usual" if temperature <= 1 else "high"
