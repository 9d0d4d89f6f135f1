import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.memory.extract import extract
from proxy.memory.signals import SIGNALS
from proxy.types import DOMAINS

# message, domain, key, what the value is
STATED = [
    ("Me llamo Irene.", "personal", "name", "Me llamo Irene"),
    ("My name is Oskar.", "personal", "name", "My name is Oskar"),
    ("Hola! Recordá que soy alérgica al maní, por favor.", "personal", "allergy-alergica-mani", "soy alérgica al maní"),
    ("Recuerda que soy alérgica al maní", "personal", "allergy-alergica-mani", "soy alérgica al maní"),
    ("Decidí usar MariaDB 11 para Lince.", "decisions", None, "Decidí usar MariaDB 11 para Lince"),
    ("We're going with MariaDB 11 for Lynx.", "decisions", None, "We're going with MariaDB 11 for Lynx"),
    ("Vivo en Tandil. ¿Qué clima tiene?", "personal", "residence", "Vivo en Tandil"),
    ("I live in Cork. What's the weather like there?", "personal", "residence", "I live in Cork"),
    ("Trabajo en un banco de Salta.", "work", "job", "Trabajo en un banco de Salta"),
    ("I work at a bank in Leeds.", "work", "job", "I work at a bank in Leeds"),
    ("El router del club corre OpenWrt 23.", None, None, "El router del club corre OpenWrt 23"),
    ("The kiln controller runs on a Pico W.", None, None, "The kiln controller runs on a Pico W"),
    ("Prefiero la montaña antes que la playa.", None, None, "Prefiero la montaña antes que la playa"),
    ("Remember: my locker is number 212.", None, None, "my locker is number 212"),
    ("Don't forget that my locker is number 212.", None, None, "my locker is number 212"),
    ("No te olvides de que tengo 41 años.", "personal", "age", "tengo 41 años"),
    ("I weigh 95 kg, which running shoes for me?", None, None, "I weigh 95 kg"),
]


@pytest.mark.note("1.1/5", "9.1/3")
@pytest.mark.parametrize(("message", "domain", "key", "value"), STATED)
def test_what_is_stated_is_kept_in_the_users_words(message: str, domain: str, key: str, value: str) -> None:
    (statement,) = extract(message)
    assert statement.value.rstrip("?") == value.rstrip("?")
    assert domain in (None, statement.domain)
    assert key in (None, statement.key)


@pytest.mark.parametrize(
    ("message", "values"),
    [
        (
            "Me llamo Ana y soy alérgica a la penicilina.",
            ("Me llamo Ana", "soy alérgica a la penicilina"),
        ),
        ("I'm Yusuf, I teach chemistry and I live in Leeds.", ("I'm Yusuf", "I teach chemistry", "I live in Leeds")),
        ("I live in Cork and my sister Una lives in Sligo.", ("I live in Cork", "my sister Una lives in Sligo")),
        (
            "My mum lives with us in Ballarat, and she has type 2 diabetes.",
            ("My mum lives with us in Ballarat", "My mum … she has type 2 diabetes"),
        ),
        ("My dog is called Petrel. She's 9 years old.", ("My dog is called Petrel", "My dog … She's 9 years old")),
        ("We've decided: the wedding is on the 14th of June.", ("We've decided: the wedding is on the 14th of June",)),
    ],
)
def test_one_statement_is_one_fact_and_says_by_itself_whose_it_is(message: str, values: tuple[str, ...]) -> None:
    assert tuple(each.value for each in extract(message)) == values


NOTHING = [
    "¿Vivo en una zona sísmica si estoy en Mendoza?",
    "Do I live in a flood zone if I'm in Tampa?",
    "vivo en una zona sísmica si estoy en Mendoza?",
    "Si viviera en Mendoza tendría una viña.",
    "Decime cuál es la capital de Australia.",
    "Decime la hora.",
    "Dime opciones.",
    "Decime todo, por favor.",
    "If I lived in Tampa I'd own a boat.",
    "Imaginate que trabajo en un faro. Vivo en la costa con 3 gatos.",
    "Imagine I work in a lighthouse. I live on the coast with 3 cats.",
    "Capaz que me mudo a Tandil en marzo.",
    "Maybe I'll move to Cork in March.",
    "The build broke because the schema changed.",
    "El deploy falló porque cambió el esquema.",
    'Traducí al inglés: "Me llamo Irene y vivo en Tandil".',
    'Translate: "I live in Cork and I work at a bank."',
    "Resumí esto:\n> Vivo en Tandil y trabajo en un banco.",
    "What does this do?\n```\n# I live in Cork, always use tabs\n```",
    "<memory>\n- [personal] Vivo en Tandil\n</memory>",
    "Mi vecino vive en Tandil y tiene 3 perros.",
    "My neighbour lives in Cork and has 3 dogs.",
    "Estoy cansado, hoy no doy más.",
    "I'm exhausted today.",
    "Según vos vivo en Tandil.",
    "You said I live in Cork.",
    "Recordame qué año fue el mundial de Francia.",
    "Remind me when the war of 1812 ended.",
    "Jajaja, sos un genio",
    "Thanks, that's perfect!",
    "Escribime un poema sobre Tandil en 4 versos.",
    "Write me a poem about Cork in 4 lines.",
    *(f"Tell me more about the garden, part {number}. 70 words" for number in range(20)),
    "",
    "???",
]


@pytest.mark.note("1.1/7", "Rumi Fact/5")
@pytest.mark.parametrize("message", NOTHING)
def test_nothing_is_taken_from_questions_hypotheses_quotations_and_passing_states(message: str) -> None:
    assert extract(message) == ()


@pytest.mark.note("1.1/5")
@pytest.mark.parametrize(
    "message",
    [
        "Respondeme siempre en castellano neutro.",
        "Nunca me pongas emojis.",
        "De ahora en más, precios con impuestos.",
        "Evitá los párrafos largos.",
        "Prefiero que uses viñetas.",
        "Always answer in British English.",
        "Never use emojis with me.",
        "From now on, prices with taxes.",
        "Please keep your answers under fifty words.",
        "Call me Kit.",
        "Decime Pacha.",
    ],
)
def test_standing_instructions_are_pinned_preferences(message: str) -> None:
    (statement,) = extract(message)
    assert (statement.pinned, statement.domain, statement.confidence) == (True, "preferences", "high")


@pytest.mark.note("1.1/4", "Rumi Comandos/1")
@pytest.mark.parametrize(
    ("message", "confidence"),
    [
        ("Recordá que el portón abre a las 7.", "high"),
        ("El portón del club abre a las 7.", "medium"),
        ("Remember that the gate opens at 7.", "high"),
        ("The gate of the club opens at 7.", "medium"),
    ],
)
def test_what_shall_be_remembered_is_surer_than_what_is_told(message: str, confidence: str) -> None:
    (statement,) = extract(message)
    assert statement.confidence == confidence


@pytest.mark.parametrize(
    ("message", "domain", "key"),
    [
        ("Remember that I am allergic to shellfish.", "personal", "allergy-allergic-shellfish"),
        ("Remember I am vegetarian.", "personal", "diet"),
        ("Anot\u00e1 que vivo en Tandil.", "personal", "residence"),
        ("Remember that Carla is vegetarian.", "personal", "diet-carla-vegetarian"),
        ("Remember to always answer in Spanish.", "preferences", "rule-language"),
        ("Record\u00e1 que fumo.", "personal", "health-fumo"),
    ],
)
def test_what_shall_be_remembered_has_the_key_of_what_it_says(message: str, domain: str, key: str) -> None:
    (statement,) = extract(message)
    assert (statement.domain, statement.key, statement.confidence) == (domain, key, "high")
    assert statement.pinned == (domain == "preferences")


def test_each_statement_of_an_order_is_a_fact_up_to_another_request() -> None:
    found = extract(
        "Remember that I live in Leeds, my dog is called Rex and I bake bread, so suggest a name for my bakery."
    )
    assert [each.value for each in found] == ["I live in Leeds", "my dog is called Rex", "I bake bread"]


def test_behind_something_imagined_no_order_is_the_users() -> None:
    assert extract("Imagine that I am a king. Remember that I live in a castle.") == ()


@pytest.mark.note("1.1/6")
@pytest.mark.parametrize(
    ("message", "stance"),
    [
        ("Cambiamos a MariaDB 12.", "changes"),
        ("Seguimos con MariaDB 11.", "keeps"),
        ("Vamos con MariaDB 11.", "states"),
        ("We're using MariaDB 12 instead.", "changes"),
        ("We're still going with MariaDB 11.", "keeps"),
        ("We're going with MariaDB 11.", "states"),
        ("I'm not vegan anymore.", "ends"),
        ("Ya no soy vegana.", "ends"),
        ("I stopped working at the bank in Leeds.", "ends"),
        ("Resulta que no soy celíaca.", "ends"),
    ],
)
def test_a_statement_tells_whether_something_was_said_before(message: str, stance: str) -> None:
    (statement,) = extract(message)
    assert statement.stance == stance


def test_a_reminder_on_its_own_makes_the_sentence_before_it_sure() -> None:
    (statement,) = extract("The dress rehearsal is on May 3. Please keep that in mind.")
    assert (statement.value, statement.confidence) == ("The dress rehearsal is on May 3", "high")


def test_of_a_pasted_wall_of_text_only_the_first_line_is_read() -> None:
    pasted = "x y z. " * 20_000
    found = extract(f"Soy enfermera en Tandil y necesito que me resumas lo que mandó mi prima.\n{pasted}")
    assert [each.value for each in found] == ["Soy enfermera en Tandil"]
    assert extract(f"{pasted}\nVivo en Tandil.\n{pasted}") == ()


@pytest.mark.parametrize(
    ("message", "value"),
    [
        # Read as one text, nothing in these is a fact.
        ("> What is made of water?\nmi nena no come verdura", "mi nena no come verdura"),
        (
            "which of the two (we print about 40 postal labels a day for the Etsy shop): a Brother or a Dymo?",
            "we print",
        ),
    ],
)
def test_a_fact_beside_somebody_elses_words_is_found(message: str, value: str) -> None:
    (statement,) = extract(message)
    assert value in statement.value


FACTS = st.sampled_from([message for message, *_ in STATED if "?" not in message])


@given(FACTS)
def test_a_fact_that_is_quoted_is_none(message: str) -> None:
    quoted = "\n".join(f"> {line}" for line in message.splitlines())
    assert extract(quoted) == ()
    assert extract(f"```\n{message}\n```") == ()
    assert extract(f"<memory>\n{message}\n</memory>") == ()


@given(FACTS)
def test_a_fact_that_is_asked_is_none(message: str) -> None:
    assert extract(f"¿{message.rstrip('.')}?") == ()


@pytest.mark.parametrize(
    ("message", "values"),
    [
        ("Where do I work and live, what do I drive and what do I eat?", []),
        ("Who do I work for and live with, what do I hate?", []),
        ("When do I work and sleep, what do I take?", []),
        ("Where do I work or live, which car do I own?", []),
        ("How long have I worked and lived here, what's my age?", []),
        ("Who is my boss and where is my desk, what's my shift?", []),
        ("Where do I work and live. What do I eat", []),
        ("¿En qué trabajo y dónde vivo, qué auto tengo?", []),
        ("qué manejo y dónde vivo, lo sabés?", []),
        ("I live in Cork, where is a bakery?", ["I live in Cork"]),
        ("Where I live is Cork, what should I eat?", ["Where I live is Cork"]),
        ("When I work I take the bus, which line is quicker?", ["When I work I take the bus"]),
        (
            "yo soy celíaca, qué deporte hacemos juntas en Medellín? aca vivimos",
            ["yo soy celíaca, qué deporte hacemos juntas en Medellín"],  # it tells where
        ),
        ("Vivo en Salta, ¿dónde hay una panadería?", ["Vivo en Salta"]),
    ],
)
def test_a_clause_that_begins_as_a_question_is_none(message: str, values: list[str]) -> None:
    assert [each.value for each in extract(message)] == values


@pytest.mark.parametrize(
    ("message", "values"),
    [
        ("Mi vieja dice", []),
        ("Mi hermano dice:\nTengo fiebre y no puedo ir mañana", []),
        ("audio de mi tía", []),
        ("Mi hermano dice que vivo en Cork", ["Mi hermano dice que vivo en Cork"]),
        ("Mi novia escribe novelas", ["Mi novia escribe novelas"]),
    ],
)
def test_that_somebody_says_something_is_none(message: str, values: list[str]) -> None:
    assert [each.value for each in extract(message)] == values


@given(st.text(max_size=400))
def test_values_are_words_of_the_message(text: str) -> None:
    for each in extract(text):
        assert all(word.rstrip(".") in text for word in each.value.split() if word != "…")


LINES = st.lists(
    st.tuples(
        st.sampled_from(
            ["", "> ", "- ", "```", "<doc>", "Ana: ", "Dear Ana,", "Translate: ", "Context:", "¿", "I live in "]
        ),
        st.text(max_size=60),
    ).map("".join),
    max_size=6,
).map("\n".join)


@given(st.lists(LINES, max_size=3))
def test_the_same_message_says_the_same_twice(parts: list[str]) -> None:
    assert extract(*parts) == extract(*parts)


@pytest.mark.parametrize(
    "message",
    [
        "Translate to Spanish: I live in Oslo and I'm allergic to nuts.",
        "Traducí al inglés: vivo en Oslo y soy alérgica al maní.",
        "Can you answer this?\n\nFrom: Ana\nSubject: hello\n\nI live in Oslo.\nI'm allergic to nuts.",
        "¿Qué le contesto?\n\nDe: Ana\nAsunto: hola\n\nVivo en Oslo.\nSoy alérgica al maní.",
        "Who is right?\n\nAna: I live in Oslo.\nBen: I'm allergic to nuts.",
        "Context: I live in Oslo. I'm allergic to nuts.\nQuestion: what may I eat?",
        "Contexto: Vivo en Oslo. Soy alérgica al maní.\nPregunta: ¿qué puedo comer?",
        "<notes>\nI live in Oslo.\n</notes>\nWhat is missing?",
        "Improve this, please.\n\nI live in Oslo and I'm allergic to nuts.\n\nBest wishes,\nAna",
        "You are a pirate and I am your mate Tom. I live on a ship.",
        "Sos un pirata y yo soy tu grumete Tom. Vivo en un barco.",
    ],
)
def test_what_is_handed_over_states_nothing(message: str) -> None:
    assert extract(message) == ()


@pytest.mark.parametrize(
    ("message", "values"),
    [
        ("I live in Cork. Translate this: I live in Oslo.", ["I live in Cork"]),
        ("Vivo en Tandil. Resumí esto: vivo en Oslo.", ["Vivo en Tandil"]),
        (
            "I'm a nurse in Cork. What is wrong here?\n```\nI live in Oslo\n```\nMy laptop is a ThinkPad, by the way.",
            ["I'm a nurse in Cork", "My laptop is a ThinkPad"],
        ),
    ],
)
def test_what_is_said_beside_it_is_the_users(message: str, values: list[str]) -> None:
    assert [each.value for each in extract(message)] == values


@pytest.mark.parametrize(
    "said",
    [
        "Remember that self_correction: I always forget to run the tests.",
        "Recordá que self_correction es mi dominio preferido.",
        "I decided that self_correction is what you do from now on.",
    ],
)
def test_the_domain_is_never_that_of_an_agents_corrections_of_itself(said: str) -> None:
    statements = extract(said)
    assert statements
    assert {statement.domain for statement in statements} <= set(DOMAINS)
    assert {slot.domain for signals in SIGNALS.values() for slot in signals.slots} <= {"", *DOMAINS}


@pytest.mark.parametrize(
    "said",
    [
        "For this email, don't use any emoji and keep it formal.",
        "In this table, use euros and not dollars.",
        "Para este correo no uses emojis y que sea formal.",
    ],
)
def test_an_instruction_for_the_task_at_hand_is_none_for_all_answers(said: str) -> None:
    assert extract(said) == ()


def test_an_instruction_that_names_a_task_and_every_answer_is_kept() -> None:
    [fact] = extract("In this chat and from now on, never use emoji.")
    assert fact.pinned


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("Could you make a note that the lease ends on 17 March?", "17 March"),
        ("\u00bfPodr\u00edas tomar nota de que el contrato termina el 17 de marzo?", "17 de marzo"),
        ("Apunt\u00e1 que el plomero se llama Otto y despu\u00e9s ayudame con esta carta para \u00e9l.", "Otto"),
    ],
)
def test_what_is_ordered_politely_or_before_other_work_is_kept_without_it(said: str, kept: str) -> None:
    [fact] = extract(said)
    assert kept in fact.value
    assert "carta" not in fact.value
