"""Finds answers for the demonstration's model: a few of general knowledge, so that a conversation with it reads like
one; and the sentence of the prompt that a question is about. The latter makes a lost memory visible: the answer is
in the prompt that arrived, or it is not in the answer."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

from proxy.conversation.blocks import ours, without_ours

Language: TypeAlias = Literal["es", "en"]

UNKNOWN: dict[Language, str] = {
    "es": "No lo sé: no está en lo que me contaste.",
    "en": "I don't know: it isn't in what you told me.",
}
KNOWN: dict[Language, str] = {"es": "Según lo que me contaste: ", "en": "From what you told me: "}

_SPANISH = re.compile(
    r"[¿¡ñáéíóú]|\b(el|la|los|las|que|de|una?|por|para|con|como|mi|es|hola|gracias|repet[ií]|palabras)\b", re.IGNORECASE
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_ANSWER = re.compile(r"^\d+ assistant: .*$", re.MULTILINE)  # a line of old turns
_TAG = re.compile(r"</?[\w-]+>")
_SUFFIX = re.compile(r"(?:imos|amos|emos|ing|ed|es|as|os|is|an|en|s|a|e|i|o)$")
_STOPWORDS_ES = """a al algo ante aquel asi aun ayer aca alla con como cual cuales cuando cuanto cuanta cuantos cuantas
de del desde di dice dije dime donde dos el ella ellos en era eran eres es esa ese eso esta este esto estas fue fueron
ha habia hacia hay he la las le les lo los mas me mi mio mia mis muy ni no nos nuestra nuestro o os para pero por porque
pues que quien quienes se sea ser si sin sobre son su sus tambien te tengo tenes tiene tienes tu tus un una unas uno
unos y ya yo recordas recuerdas recorda acordas acuerdas hola gracias"""
_STOPWORDS_EN = """a about again am an and any are as at be been but by can could did do does for from had has have he
her here him his how i if in is it its just me my no not of on or our remember remind said she so some tell than that
the their them then there these they this those to told too us was we were what when where which who whom whose why
will with would you your"""
_STOPWORDS = frozenset(f"{_STOPWORDS_ES} {_STOPWORDS_EN}".split())


_KNOWN: tuple[tuple[re.Pattern[str], str], ...] = (
    (
        re.compile(r"visado.*permiso de residencia", re.IGNORECASE),
        (
            "El visado se pide antes de viajar, en el consulado, y habilita a entrar en el país por un motivo y un "
            "plazo determinados. El permiso de residencia se tramita ya en el país, acredita que se puede vivir en él "
            "durante más tiempo y suele venir con un documento físico. Lo habitual es que el primero sea la puerta de "
            "entrada y el segundo lo que la mantiene abierta: con un visado de larga duración se entra, y dentro del "
            "plazo que indica se solicita la residencia."
        ),
    ),
    (
        re.compile(r"undo the last commit", re.IGNORECASE),
        (
            "Use `git reset --soft HEAD~1`. It moves the branch back by one commit and leaves both the index and the "
            "working tree as they are, so everything that was in the commit is staged again. With `--mixed`, the "
            "default, the changes stay in the working tree but are no longer staged. If the commit has already been "
            "pushed and others may have built on it, `git revert HEAD` is the safer way: it adds a commit that takes "
            "the changes back."
        ),
    ),
    (
        re.compile(r"learn a little portuguese", re.IGNORECASE),
        (
            "Twenty minutes a day beat two hours on a Sunday. Start with the sounds, because the nasal vowels are "
            "what makes Portuguese hard to follow at first, and learn the two hundred most frequent words with their "
            "pronunciation. Add a podcast for learners on the way to work, repeat aloud, and once a week talk for "
            "half an hour with somebody who corrects you. After two months you'll order, ask your way and understand "
            "most of what is answered."
        ),
    ),
    (
        re.compile(r"despertador en la cocina", re.IGNORECASE),
        (
            "Es una buena idea: obliga a levantarse, y una vez de pie ya pasó lo más difícil. Dejá preparado ahí "
            "mismo el desayuno o el café, para que llegar tenga premio, y no lo pongas más de quince minutos antes de "
            "lo que ahora te cuesta. Si en dos semanas funciona, adelantalo de a diez minutos. Lo que no conviene es "
            "dejar un segundo despertador en la mesa de luz: se termina usando ese."
        ),
    ),
)


def general_answer(question: str) -> str | None:
    """The answer to a question of general knowledge, or None."""
    return next((answer for pattern, answer in _KNOWN if pattern.search(question)), None)


def language(text: str) -> Language:
    """Detects Spanish by a letter or a frequent word of it; else English."""
    return "es" if _SPANISH.search(text) else "en"


def question_in(text: str) -> str | None:
    """The last question of a text; what stands before it is context."""
    questions = [sentence for sentence in sentences(text) if "?" in sentence]
    return questions[-1] if questions else None


def sentences(text: str) -> list[str]:
    """The sentences and lines of a text, without tags."""
    return [sentence for part in _SENTENCE.split(_TAG.sub("\n", text)) if (sentence := part.strip())]


def stems(text: str) -> frozenset[str]:
    """The content words of a text, without accents and endings: enough to match `vivo` with `vivís`."""
    plain = unicodedata.normalize("NFKD", text.lower()).encode("ascii", "ignore").decode()
    words = (word for word in re.findall(r"[a-z0-9]+", plain) if word not in _STOPWORDS)
    return frozenset(_SUFFIX.sub("", word)[:6] if len(word) > 3 else word for word in words)


def user_sentences(texts: Sequence[str]) -> list[str]:
    """Returns the users' sentences in a prompt, the oldest first. What a proxy has put into it is older than what they
    say, and of old turns it holds the assistant's words as well."""
    ours_first = [*(block for text in texts for block in ours(text)), *map(without_ours, texts)]
    return [_ANSWER.sub("", text) for text in ours_first]


def recall(question: str, told: Iterable[str]) -> str | None:
    """The statement in `told` that shares most content words with the question, the latest of equals; None if none
    shares at least half of them."""
    wanted = stems(question)
    best: tuple[int, str] | None = None
    for text in told:
        for sentence in sentences(text):
            shared = len(wanted & stems(sentence))
            if "?" not in sentence and 2 * shared >= len(wanted) and shared and (best is None or shared >= best[0]):
                best = (shared, sentence)
    return best[1] if best else None
