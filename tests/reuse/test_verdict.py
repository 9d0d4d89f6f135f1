"""Whether two questions, or two conversations, say the same."""

from collections.abc import Sequence

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from proxy.language.language import Language
from proxy.reuse.question import analyse
from proxy.reuse.verdict import REASONS, Verdict, agree, contexts_agree, judge
from tests.examples import examples
from tests.languages import EN, ES

_LANGUAGES: list[Language] = [EN, ES]


def verdict(language: Language, asked: str, earlier: str, cosine: float = 0.9) -> Verdict:
    questions = analyse(asked, language), analyse(earlier, language)
    return judge(*questions, cosine, min_cosine=0.4)


@pytest.mark.parametrize(
    ("language", "asked", "earlier"),
    [
        (EN, "Hi there! Could you tell me how to clean a cast iron pan? Cheers", "how do i clean a cast iron pan"),
        (EN, "What does a notary do?", "Can you explain what a notary does?"),
        (EN, "How do I know if an owl is ill or not?", "How do I know if an owl is ill?"),
        (EN, "Which is better and why: jam or jelly?", "Which is better: jam or jelly?"),
        (EN, "What are the easiest ways to make money?", "What are the easiest ways to earn money?"),
        (EN, "How do mobile phones work?", "How do cell phones work?"),
        (EN, "Is there a link between sleep and memory?", "Is there a relationship between sleep and memory?"),
        (EN, "How do I get over a fear of owls?", "How do I overcome a fear of owls?"),
        (ES, "¿Cómo sé si el búho está enfermo o no?", "¿Cómo sé si el búho está enfermo?"),
        (ES, "¿Cuál es mejor y por qué: el té o el café?", "¿Cuál es mejor: el té o el café?"),
        (ES, "¿Cómo perder peso?", "¿Cómo bajar de peso?"),
        (ES, "¿Cómo hacer dinero?", "¿Cómo ganar dinero?"),
        (ES, "¿Qué vínculo hay entre el sueño y la memoria?", "¿Qué relación hay entre el sueño y la memoria?"),
        (ES, "¿Cómo limpio una sartén de hierro?", "¿Cuál es la mejor forma de limpiar una sartén de hierro?"),
        (ES, "Buenas, ¿me dirías cómo limpiar una sartén de hierro? Gracias", "como limpio una sarten de hierro"),
        (ES, "¿Qué quiere decir usufructo?", "que es usufructo"),
    ],
)
def test_the_same_question_in_other_words_is_reused(language: Language, asked: str, earlier: str) -> None:
    assert verdict(language, asked, earlier).reason == "hit"


@pytest.mark.parametrize(
    ("language", "asked", "earlier", "reason"),
    [
        (EN, "How do I clean an iron pan?", "How do I clean an iron gate?", "wording"),
        (EN, "How do I clean an iron pan?", "How do I not clean an iron pan?", "operators"),
        (EN, "Does the owl eat the mouse?", "Does the mouse eat the owl?", "order"),
        (EN, "How much is 2 plus 2?", "How much is 2 plus 3?", "numbers"),
        (EN, "How do I earn money?", "How do I lose money?", "wording"),
        (EN, "How do I reduce weight?", "How do I gain weight?", "wording"),
        (EN, "Should I buy a two-stroke engine?", "Should I buy a four-stroke engine?", "numbers"),
        (EN, "Who was the best poet of 1916?", "Who was the best poet of 1917?", "numbers"),
        (EN, "How do gas stations work?", "How do bus stations work?", "wording"),
        (EN, "Do you think owls are wise?", "Why do you think owls are wise?", "wording"),
        (ES, "¿Es cierto que el té hace bien?", "¿Por qué el té hace bien?", "wording"),
        (ES, "¿Cómo bajar de peso?", "¿Cómo subir de peso?", "wording"),
        (ES, "¿Cuál fue el mejor disco de 1986?", "¿Cuál fue el mejor disco de 1987?", "numbers"),
        (ES, "¿Cómo activo el modo avión?", "¿Cómo desactivo el modo avión?", "wording"),
        (ES, "¿Cuánto es 2 más 2?", "¿Cuánto es 2 más 3?", "numbers"),
        (ES, "¿El búho es hijo del ratón?", "¿El ratón es hijo del búho?", "order"),
        (ES, "¿A quién venció Roma?", "¿Quién venció a Roma?", "particles"),
        (
            EN,
            "How do I prune an old apple tree in the garden behind my house?",
            "Which museums in Madrid open on Monday evenings during the August holidays?",
            "wording",
        ),
    ],
)
def test_another_question_is_not(language: Language, asked: str, earlier: str, reason: str) -> None:
    found = verdict(language, asked, earlier, 0.86)
    assert (found.reused, found.reason) == (False, reason)
    assert found.detail


@pytest.mark.parametrize(
    ("language", "asked", "earlier"),
    [
        (EN, "What is the goal of a trade union?", "What is the purpose of a trade union?"),
        (EN, "Is it hard to learn French?", "Is it difficult to learn French?"),
        (EN, "How do I improve my handwriting?", "How do I enhance my handwriting?"),
        (ES, "¿Cómo cocinar tofu?", "¿Cómo preparar tofu?"),
        (EN, "How do I clean a cast iron pan?", "What is the best way to clean cast iron pans?"),
        (EN, "How do I loose weight?", "How do I reduce my weight?"),
        (EN, "Is the whale going to die out?", "Will the whale die out?"),
        (ES, "¿Me recomendás un buen libro de aves?", "¿Qué libro de aves me recomendás?"),
    ],
)
def test_a_replaced_word_without_licence_is_a_miss_however_near_it_is(
    language: Language, asked: str, earlier: str
) -> None:
    found = verdict(language, asked, earlier, 0.99)
    assert (found.reused, found.reason) == (False, "wording")
    assert found.detail


def test_two_languages_never_agree() -> None:
    asked, earlier = analyse("¿Qué es un tango?", ES), analyse("What is a tango?", EN)
    assert judge(asked, earlier, 1.0, min_cosine=0.4).reason == "language"


@pytest.mark.note("5.4/1")
def test_where_every_word_agrees_a_low_cosine_is_enough_and_not_none_at_all() -> None:
    texts = ("How do I clean a cast iron pan?", "how to claen a cast iron pan")
    assert verdict(EN, *texts, cosine=0.45).reused
    assert verdict(EN, *texts, cosine=0.35).reason == "cosine"


def test_a_long_text_is_only_the_same_as_itself() -> None:
    text = "word " * 300
    assert verdict(EN, text, text).reused
    assert verdict(EN, text, f"{text} more").reason == "long"


PARTICLES: list[tuple[str, Language, str, str]] = [
    ("signs", EN, "What does && do in bash?", "What does || do in bash?"),
    ("signs", EN, "What is the cube of -3?", "What is the cube of 3?"),
    ("signs", ES, "¿Qué significa @ en Python?", "¿Qué significa # en Python?"),
    ("mentioned", EN, "How does a for loop work?", "How does a while loop work?"),
    ("mentioned", EN, "What is vitamin a good for?", "What is vitamin d good for?"),
    ("mentioned", EN, "What happened in May 1968?", "What happened in 1968?"),
    ("mentioned", ES, "¿Cómo se conjuga el verbo ser?", "¿Cómo se conjuga el verbo tener?"),
    ("mentioned", ES, "¿Para qué sirve la vitamina a?", "¿Para qué sirve la vitamina d?"),
]


@pytest.mark.parametrize(("kind", "language", "one", "other"), PARTICLES)
def test_signs_and_words_that_are_spoken_of_tell_two_questions_apart(
    kind: str, language: Language, one: str, other: str
) -> None:
    for found in (verdict(language, one, other), verdict(language, other, one)):
        assert found.reason == "particles"
        assert found.detail.startswith(f"{kind}: ")


# --- conversations ----------------------------------------------------------------------------------------------------

KETTLE = "How do I descale a kettle with vinegar?"


@pytest.mark.parametrize(
    ("asked", "earlier", "same"),
    [
        (KETTLE, KETTLE, True),
        (f"Hi! {KETTLE} Thanks.", KETTLE, True),
        ("How can I descale a kettle with vinegar?", KETTLE, True),
        ("How do I descale a kettle?", KETTLE, False),  # a word is missing, and none is forgiven
        ("How do I descale a kettle with lemon?", KETTLE, False),
        ("¿Cómo descalcifico una pava con vinagre?", KETTLE, False),
        ("ok", KETTLE, False),
        ("ok", "ok", True),
    ],
)
def test_two_messages_agree_if_every_word_does(asked: str, earlier: str, same: bool) -> None:
    assert agree(asked, earlier, EN) == same


@pytest.mark.parametrize(
    ("asked", "earlier", "same"),
    [
        ((), (), True),
        ((KETTLE,), (KETTLE,), True),
        ((KETTLE,), (), False),
        ((KETTLE, "ok"), (KETTLE, "ok"), True),
        ((KETTLE, "ok"), ("ok", KETTLE), False),
        ((KETTLE, "ok"), (KETTLE, "no"), False),
    ],
)
def test_contexts_agree_if_every_message_does(asked: Sequence[str], earlier: Sequence[str], same: bool) -> None:
    assert contexts_agree(asked, earlier, EN) == same


# --- any text ---------------------------------------------------------------------------------------------------------

anything = st.text(max_size=120)
languages = st.sampled_from(_LANGUAGES)
QUESTIONS: list[tuple[Language, str]] = [(EN, "Is it safe to keep {} cats?"), (ES, "¿Es seguro tener {} gatos?")]


@settings(max_examples=examples(150), deadline=None)
@given(languages, anything, anything, st.floats(-1, 1))
def test_any_two_texts_are_judged(language: Language, asked: str, earlier: str, cosine: float) -> None:
    assert verdict(language, asked, earlier, cosine).reason in REASONS


@settings(max_examples=examples(60), deadline=None)
@given(languages, anything, st.floats(-1, 1))
def test_a_text_is_the_same_question_as_itself(language: Language, text: str, cosine: float) -> None:
    assert verdict(language, text, text, cosine).reused


@settings(max_examples=examples(60), deadline=None)
@given(st.sampled_from(QUESTIONS), st.integers(2, 10_000), st.integers(2, 10_000))
def test_another_number_is_another_question(question: tuple[Language, str], one: int, other: int) -> None:
    assume(one != other)
    language, text = question
    assert not verdict(language, text.format(one), text.format(other), 1.0).reused


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.sampled_from(["owl", "mouse", "lute", "chisel", "plaster", "pan", "gate"]), min_size=1, max_size=5))
def test_a_negation_is_another_question(words: list[str]) -> None:
    text = " ".join(words)
    assert not verdict(EN, f"Why does the {text} shine?", f"Why does the {text} not shine?", 1.0).reused
