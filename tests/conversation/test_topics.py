from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.config.builtin_profiles import BUILT_IN
from proxy.conversation.topics import (
    UNRELATED,
    WEIGHTS,
    TurnTexts,
    continuity,
    domain,
    domain_words,
    evidence,
    likelihood,
    phrase,
    shift,
)
from proxy.embedding.exported import BUILTIN, MULTILINGUAL, source_of
from tests.bench.topics_data import topic

NUMBERS = BUILT_IN["lean"].window
SERVER = (
    TurnTexts("¿Cómo despliego la API en el servidor?", "Con Docker: armás la imagen y la subís al cluster."),
    TurnTexts("¿Y la base de datos Postgres?", "En otro contenedor de Docker, con backups del servidor."),
)

ANNOUNCED = """
Otra cosa: ¿a qué hora abre el museo?
otra cosa, se me rompió la heladera
Cambiando de tema, ¿qué cocino hoy?
Ok, cambiando un poco de tema: necesito un título
Te quería preguntar sobre las vacaciones
Che, te quería consultar por el alquiler
Dejando eso de lado, ¿cómo va el informe?
Dejando de lado lo del contrato, ¿qué opinas del logo?
Bueno, otro tema: la reunión del lunes
Por cierto, ¿sabes algo de cámaras?
Por otro lado, mi hermana se casa en mayo
Gracias. Otra pregunta: ¿cuánto pesa un elefante?
Perfecto, gracias, otra consulta: ¿qué es el IVA?
¿Te puedo preguntar otra cosa?
Nada que ver, pero ¿viste la serie nueva?
Volviendo al presupuesto, ¿cuánto nos queda?
By the way, do you know a good dentist?
Thanks! By the way, my sister is visiting.
On another note, I need a new phone
On a different note, what should I cook?
Switching gears, how do I file my taxes?
Changing the subject: any ideas for a present?
Another thing, the report is due on Friday
Unrelated question: what is a good name for a cat?
New topic: the garden
Setting that aside, can we look at the budget?
I wanted to ask you about the rental contract
Moving on, what about the second chapter?
btw, my flight is at nine
Back to the novel: how should it end?
"""
FLUSHED = """
Cambiemos de tema
cambiemos de tema, por favor
Bueno, hablemos de otra cosa
¿Podemos cambiar de tema?
Let's change the subject
OK, let's talk about something else.
Can we change the topic?
"""
NOT_ANNOUNCED = """
No puedo hacer otra cosa que esperar
Eso es otra cosa, no lo mismo
Otra cosa es que el cliente pague
Mi jefe siempre está cambiando de tema en las reuniones
No cambiemos de tema todavía
Don't let's change the subject yet
It works now, by the way.
How do I get by? The way home is long
Is there another way to do it?
¿A propósito de qué lo dijo?
Translate "by the way" into French
¿Cómo se dice "cambiemos de tema" en inglés?
Sí, mostrame la tabla
"""


def lines(table: str) -> list[str]:
    return table.strip().splitlines()


@pytest.mark.note("2.3/2", "2.3/3", "2.3/4", "2.3/5")
@pytest.mark.parametrize("text", lines(ANNOUNCED))
def test_who_announces_another_topic_changes_it(text: str) -> None:
    assert phrase(text) == "phrase"
    assert shift(text, SERVER, since=2, near=1.0, numbers=NUMBERS) == "phrase"


@pytest.mark.note("2.2/4")
@pytest.mark.parametrize("text", lines(FLUSHED))
def test_who_asks_to_leave_the_topic_empties_the_window(text: str) -> None:
    assert phrase(text) == "flush"


@pytest.mark.note("2.3/2")
@pytest.mark.parametrize("text", lines(NOT_ANNOUNCED))
def test_the_same_words_elsewhere_announce_nothing(text: str) -> None:
    assert phrase(text) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("El servidor de Postgres no levanta con Docker", "code"),
        ("My boss moved the meeting with the client", "work"),
        ("El cumpleaños de mi hermana es el sábado", "personal"),
        ("Soy alérgico a la penicilina", "health"),
        ("Which recipe would you cook for dinner?", "food"),
        ("¿Qué aerolínea vuela a Lisboa?", "travel"),
        ("The roadmap has three milestones", "planning"),
        ("¿Me puede prestar plata el banco?", "money"),
        ("Sí, mostrame más", ""),
        ("El servidor y la receta", ""),  # two are equal
        ("", ""),
    ],
)
def test_the_domain_is_what_most_words_belong_to(text: str, expected: str) -> None:
    assert domain(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Sí, mostrame",
        "¿y eso cómo se hace?",
        "jaja qué bueno",
        "Dale, vamos con Docker entonces",
        "Si yo fuera millonario no trabajaba",
        "ok",
        "And should every container have one?",
        "That sounds right.",
    ],
)
def test_what_leans_on_the_turn_before_stays_in_its_topic_however_far_the_embedding_is(text: str) -> None:
    assert shift(text, SERVER, since=3, near=-0.1, numbers=NUMBERS) is None


@pytest.mark.note("2.3/6")
def test_a_new_question_about_another_part_of_life_changes_the_topic() -> None:
    asked = "¿Qué receta de torta me recomendás para el cumpleaños?"
    assert shift(asked, SERVER, since=4, near=-0.1, numbers=NUMBERS) == "domain"


@pytest.mark.note("2.3/1")
def test_a_new_question_far_from_the_turn_before_changes_the_topic() -> None:
    before = [
        TurnTexts("Which suspects have a motive?", "The cannery owner, the widow, and the weighmaster's brother.")
    ]
    asked = "How long do candles burn in an unheated room during a storm?"
    assert shift(asked, before, since=5, near=-0.1, numbers=NUMBERS) == "similarity"
    assert shift(asked, before, since=5, near=0.9, numbers=NUMBERS) is None
    assert shift(asked, before, since=1, near=-0.1, numbers=NUMBERS) is None  # it has just begun


def test_at_a_threshold_of_one_only_phrases_count() -> None:
    numbers = replace(NUMBERS, shift=1.0)
    asked = "¿Qué receta de torta me recomendás para el cumpleaños?"
    assert shift(asked, SERVER, since=4, near=-1.0, numbers=numbers) is None
    assert shift(f"Otra cosa: {asked}", SERVER, since=4, near=1.0, numbers=numbers) == "phrase"


def test_the_first_message_changes_no_topic() -> None:
    assert shift("Te quería preguntar sobre las vacaciones", (), since=0, near=None, numbers=NUMBERS) is None
    found = topic("The server is down", (), since=0, cosine=0.5, numbers=NUMBERS)
    assert (found.continuity, found.shift, found.domain) == (None, None, "code")


@pytest.mark.note("1.2/4")
def test_continuity_counts_from_what_unrelated_messages_of_the_language_have() -> None:
    spanish, english = "¿Cuánto tiempo lleva el viaje?", "How long does the trip take?"
    assert continuity(spanish, (), 1.0) == continuity(english, (), 1.0) == 1.0
    assert continuity(spanish, (), 0.4) < 0 < continuity(english, (), 0.4)
    # What has no language of its own has that of the conversation.
    assert continuity("ok", SERVER, 0.4) < 0 < continuity("ok", [TurnTexts(english)], 0.4)


def test_continuity_counts_from_what_unrelated_messages_have_in_the_model_that_is_used() -> None:
    spanish = "¿Cuánto tiempo lleva el viaje?"
    assert (
        continuity(spanish, (), 0.4, "minilm-l6-v2/int8/3")
        < 0
        < continuity(spanish, (), 0.4, source_of(MULTILINGUAL).version)
    )
    assert continuity(spanish, (), 0.4, "a-model-of-the-users/1") == continuity(spanish, (), 0.4)


@pytest.mark.parametrize("model", [BUILTIN, MULTILINGUAL])
def test_every_packaged_model_has_its_own_row_of_what_is_unrelated(model: str) -> None:
    assert source_of(model).version.partition("/")[0] in UNRELATED


@pytest.mark.note("9.2/2")
def test_every_weight_is_of_an_evidence_and_every_evidence_has_one() -> None:
    assert evidence("hola", SERVER, since=1, near=None).keys() == WEIGHTS.keys()


@pytest.mark.note("2.3/7")
@given(st.text(max_size=300), st.text(max_size=300), st.integers(0, 50), st.none() | st.floats(-1, 1))
def test_any_text_is_judged_and_always_alike(message: str, earlier: str, since: int, cosine: float | None) -> None:
    before = [TurnTexts(earlier, message)]
    first = topic(message, before, since=since, cosine=cosine, numbers=NUMBERS)
    assert first == topic(message, before, since=since, cosine=cosine, numbers=NUMBERS)
    assert 0 <= likelihood(evidence(message, before, since=since, near=first.continuity)) <= 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("my boss moved the meeting with the client to Monday", "work"),
        ("mi jefa pasó la reunión con el cliente al lunes", "work"),
        ("el código no compila y el test falla en la función nueva", "code"),
        ("the function fails the test after the last commit", "code"),
        ("hm, not sure", ""),
        ("", ""),
    ],
)
def test_the_domain_is_that_of_most_words(text: str, expected: str) -> None:
    assert domain(text) == expected


def test_a_tie_is_no_domain() -> None:
    assert set(domain_words("my boss wrote code")) == {"work", "code"}
    assert domain("my boss wrote code") == ""


def test_a_word_counts_once_however_often_it_is_said() -> None:
    assert domain_words("meeting meeting meeting") == domain_words("meeting")
