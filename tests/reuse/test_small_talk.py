import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.language.language import Language
from proxy.reuse.small_talk import is_small_talk
from tests.languages import EN, ES

FILLERS: list[tuple[Language, str]] = [
    (EN, "Hi there!"),
    (EN, "Good evening, I hope this is the right place to ask."),
    (EN, "Okay so this is for my nephew's homework, lol"),
    (EN, "Sorry to bother you."),
    (EN, "I was just wondering about something random:"),
    (EN, "I've been searching for a while and couldn't find anything clear."),
    (EN, "You're a lifesaver!"),
    (EN, "Thanks a bunch!"),
    (EN, "Thaaaaanks"),
    (EN, "please"),
    (EN, "Not sure if you can answer this,"),
    (EN, "My brother and I have a bet going."),
    (EN, "👋"),
    (ES, "Hola, ¿cómo andan?"),
    (ES, "Perdón si es obvia"),
    (ES, "Estamos en una trivia con amigos y se nos borró todo"),
    (ES, "Una consulta cortita:"),
    (ES, "Buenas tardes, una pregunta sencilla, si no es molestia:"),
    (ES, "La verdad que no tengo ni idea y quería saber:"),
    (ES, "Estoy haciendo un crucigrama y me falta esto:"),
    (ES, "Graciasss"),
    (ES, "Quedo atenta."),
    (ES, "por favor"),
    (ES, "jajaja"),
    (ES, "Soy Martín."),
]
CONTEXTS: list[tuple[Language, str]] = [
    (EN, "I'm diabetic."),
    (EN, "sorry, my cat is pregnant"),
    (EN, "I'm on Windows"),
    (EN, "Python 3.8"),
    (EN, "Hi, it's about my daughter"),
    (EN, "please help my dog"),
    (EN, "Quick question for my boat:"),
    (EN, "A question about cats."),
    (EN, "lol I'm in Spain"),
    (EN, "thanks, but without eggs"),
    (EN, "Thanks! Keep it to one sentence."),
    (EN, "Hello, I had a miscarriage last night"),
    (EN, "I already tried restarting."),
    (EN, "no nuts, please"),
    (EN, "in French, please"),
    (EN, "I have no idea what's causing the noise"),
    (EN, "just wondering if it can heal that quickly"),
    (EN, 'Sorry, the error says "access denied".'),
    (EN, "My mom says vinegar would help with them."),
    (EN, "Tell me a joke about lawyers, please"),
    (ES, "Soy celíaco."),
    (ES, "Hola, soy enfermera."),
    (ES, "Estoy en Windows"),
    (ES, "Hola, tengo 40 años"),
    (ES, "Respondé en una línea"),
    (ES, "gracias, en francés"),
    (ES, "Perdón, pero sin horno"),
    (ES, "Una duda de química:"),
    (ES, "Una consulta sobre Chile:"),
    (ES, "Pregunto por mi abuela."),
    (ES, "Ah, me olvidé de decir: la cocina es a gas."),
    (ES, "Perdón, me da miedo volar."),
    (ES, "Ya probé reiniciar y nada, gracias."),
    (ES, "Mi perro tiene fiebre, ayuda"),
    (ES, "Contame un chiste sobre programadores"),
    (ES, "temperatura por favor"),
    (ES, "quiero saber si puedo tomar alcohol, gracias"),
]


@pytest.mark.parametrize(("language", "segment"), FILLERS)
def test_courtesy_and_small_talk_are_filler(language: Language, segment: str) -> None:
    assert is_small_talk(segment, language)


@pytest.mark.parametrize(("language", "segment"), CONTEXTS)
def test_what_may_constrain_an_answer_is_none(language: Language, segment: str) -> None:
    assert not is_small_talk(segment, language)


WORDS_NOBODY_KNOWS = st.text("bcdfghjklmnpqrstvwxz", min_size=4, max_size=9)


@given(st.sampled_from(FILLERS), st.lists(WORDS_NOBODY_KNOWS, min_size=3, max_size=5, unique=True))
def test_three_unknown_words_are_never_filler(filler: tuple[Language, str], said: list[str]) -> None:
    language, segment = filler
    assert not is_small_talk(f"{segment} {' '.join(said)}", language)


@given(st.sampled_from(FILLERS), st.integers(2, 10**9))
def test_a_number_is_never_filler(filler: tuple[Language, str], number: int) -> None:
    language, segment = filler
    assert not is_small_talk(f"{segment} {number}", language)


@given(st.text(max_size=300), st.sampled_from([ES, EN]))
def test_any_text_is_judged(segment: str, language: Language) -> None:
    assert is_small_talk(segment, language) in (True, False)


def test_what_is_long_is_no_filler() -> None:
    assert is_small_talk("thanks", EN)
    assert not is_small_talk("thanks " * 15_000, EN)
