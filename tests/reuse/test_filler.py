import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.language.detect import Language
from proxy.reuse.filler import is_filler

FILLERS: list[tuple[Language, str]] = [
    ("en", "Hi there!"),
    ("en", "Good evening, I hope this is the right place to ask."),
    ("en", "Okay so this is for my nephew's homework, lol"),
    ("en", "Sorry to bother you."),
    ("en", "I was just wondering about something random:"),
    ("en", "I've been searching for a while and couldn't find anything clear."),
    ("en", "You're a lifesaver!"),
    ("en", "Thanks a bunch!"),
    ("en", "Thaaaaanks"),
    ("en", "please"),
    ("en", "Not sure if you can answer this,"),
    ("en", "My brother and I have a bet going."),
    ("en", "👋"),
    ("es", "Hola, ¿cómo andan?"),
    ("es", "Perdón si es obvia"),
    ("es", "Estamos en una trivia con amigos y se nos borró todo"),
    ("es", "Una consulta cortita:"),
    ("es", "Buenas tardes, una pregunta sencilla, si no es molestia:"),
    ("es", "La verdad que no tengo ni idea y quería saber:"),
    ("es", "Estoy haciendo un crucigrama y me falta esto:"),
    ("es", "Graciasss"),
    ("es", "Quedo atenta."),
    ("es", "por favor"),
    ("es", "jajaja"),
    ("es", "Soy Martín."),
]
CONTEXTS: list[tuple[Language, str]] = [
    ("en", "I'm diabetic."),
    ("en", "sorry, my cat is pregnant"),
    ("en", "I'm on Windows"),
    ("en", "Python 3.8"),
    ("en", "Hi, it's about my daughter"),
    ("en", "please help my dog"),
    ("en", "Quick question for my boat:"),
    ("en", "A question about cats."),
    ("en", "lol I'm in Spain"),
    ("en", "thanks, but without eggs"),
    ("en", "Thanks! Keep it to one sentence."),
    ("en", "Hello, I had a miscarriage last night"),
    ("en", "I already tried restarting."),
    ("en", "no nuts, please"),
    ("en", "in French, please"),
    ("en", "I have no idea what's causing the noise"),
    ("en", "just wondering if it can heal that quickly"),
    ("en", 'Sorry, the error says "access denied".'),
    ("en", "My mom says vinegar would help with them."),
    ("en", "Tell me a joke about lawyers, please"),
    ("es", "Soy celíaco."),
    ("es", "Hola, soy enfermera."),
    ("es", "Estoy en Windows"),
    ("es", "Hola, tengo 40 años"),
    ("es", "Respondé en una línea"),
    ("es", "gracias, en francés"),
    ("es", "Perdón, pero sin horno"),
    ("es", "Una duda de química:"),
    ("es", "Una consulta sobre Chile:"),
    ("es", "Pregunto por mi abuela."),
    ("es", "Ah, me olvidé de decir: la cocina es a gas."),
    ("es", "Perdón, me da miedo volar."),
    ("es", "Ya probé reiniciar y nada, gracias."),
    ("es", "Mi perro tiene fiebre, ayuda"),
    ("es", "Contame un chiste sobre programadores"),
    ("es", "temperatura por favor"),
    ("es", "quiero saber si puedo tomar alcohol, gracias"),
]


@pytest.mark.parametrize(("language", "segment"), FILLERS)
def test_courtesy_and_small_talk_are_filler(language: Language, segment: str) -> None:
    assert is_filler(segment, language)


@pytest.mark.parametrize(("language", "segment"), CONTEXTS)
def test_what_may_constrain_an_answer_is_none(language: Language, segment: str) -> None:
    assert not is_filler(segment, language)


WORDS_NOBODY_KNOWS = st.text("bcdfghjklmnpqrstvwxz", min_size=4, max_size=9)


@given(st.sampled_from(FILLERS), st.lists(WORDS_NOBODY_KNOWS, min_size=3, max_size=5, unique=True))
def test_three_unknown_words_are_never_filler(filler: tuple[Language, str], said: list[str]) -> None:
    language, segment = filler
    assert not is_filler(f"{segment} {' '.join(said)}", language)


@given(st.sampled_from(FILLERS), st.integers(2, 10**9))
def test_a_number_is_never_filler(filler: tuple[Language, str], number: int) -> None:
    language, segment = filler
    assert not is_filler(f"{segment} {number}", language)


@given(st.text(max_size=300), st.sampled_from(["es", "en"]))
def test_any_text_is_judged(segment: str, language: Language) -> None:
    assert is_filler(segment, language) in (True, False)


def test_what_is_long_is_no_filler() -> None:
    assert is_filler("thanks", "en")
    assert not is_filler("thanks " * 15_000, "en")
