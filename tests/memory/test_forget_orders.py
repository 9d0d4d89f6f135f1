"""Which sentences are orders to forget, and what they name."""

import pytest

from proxy.memory import forget_orders
from proxy.memory.commands import commands
from proxy.memory.extract import extract
from proxy.memory.forget_orders import Parsed, is_about_forgetting, is_mishap, may_order, parse
from proxy.types.memory import Forgetting


@pytest.mark.parametrize(
    ("sentence", "what"),
    [
        ("Act as though I never told you that I smoke.", "I smoke"),
        (
            "haz como si nunca te hubiera contado la situaci\u00f3n de Ulises: olv\u00eddala del todo",
            "la situaci\u00f3n de Ulises",
        ),
        ("I want Derek gone from your memory.", "Derek"),
        ("Would you mind forgetting that we're moving to Lyon?", "we're moving to Lyon"),
        ("\u00bfTe importar\u00eda olvidar que nos mudamos?", "nos mudamos"),
        ("Wipe the salary figure from your memory, would you?", "the salary figure"),
        ("Quita de tus notas lo de mi mam\u00e1; ella es reservada.", "mi mam\u00e1"),
        ("Lo de la cita con Dolores no lo guardes.", "la cita con Dolores"),
        ("Olv\u00eddate del tatuaje, \u00bfs\u00ed?", "tatuaje"),
        ("What I said about Sam drinking, please forget.", "Sam drinking"),
        ("forget about my diet but keep the allergy", "my diet"),
        ("no need to remember that I'm getting divorced", "I'm getting divorced"),
        ("You can drop the French rule.", "the French rule"),
    ],
)
def test_an_order_is_a_verb_in_a_frame_and_an_object(sentence: str, what: str) -> None:
    assert parse(sentence) == Parsed(what)
    assert not any(sentence[:20] in fact.value for fact in extract(sentence))
    assert may_order(f"Hello. {sentence} Thanks!")


@pytest.mark.parametrize(
    "sentence",
    [
        "Forget the dog for a second, what about the weather?",
        "Olvidate del perro por un momento",
        "Delete the comments in this file",
        "rm the notes about Debian from README.md",
        "Olvid\u00e9 las llaves en casa",
        "How do I delete my browser history?",
        "Oh forget about that question",
        "My doctor told me, forget my old knee",
        "I live in York, so I found it, forget it",
        "Can I forget about council tax?",
    ],
)
def test_what_only_looks_like_one_is_none(sentence: str) -> None:
    assert parse(sentence) is None


@pytest.mark.parametrize(
    ("said", "before", "what"),
    [
        ("You can stop calling me Captain. Forget that one.", "", ("You can stop calling me Captain.",)),
        ("The lithium thing? Forget it.", "", ("The lithium thing?",)),
        ("Forget that.", "I told you that I'm pregnant.", ("I'm pregnant",)),
        ("Forget that one.", "I live in Oslo. I keep bees.", ()),  # which of the two?
        ("Forget that.", "I live in Oslo, how do I get to Bergen?", ()),
        ("forget it, I found the answer", "I live in Oslo.", ()),
        ("Ya no me digas as\u00ed, olvidate de ese apodo.", "", ("ese apodo",)),
    ],
)
def test_what_points_back_means_what_was_said_before_it(said: str, before: str, what: tuple[str, ...]) -> None:
    assert commands((said,), before) == tuple(map(Forgetting, what))


@pytest.mark.parametrize(
    "said",
    [
        "also please don't forget everything I told you about my machines",
        "argh I forgot my charger at home and have 4% left.",
        "mi mujer se olvid\u00f3 de nuestro aniversario otra vez",
        "Por favor no borres nunca lo que te dije de mis clases.",
    ],
)
def test_what_is_said_of_forgetting_states_nothing(said: str) -> None:
    assert is_about_forgetting(said)
    assert extract(said) == ()


def test_a_mishap_is_told_of_the_past() -> None:
    assert is_mishap("I forgot my keys")
    assert not is_mishap("I forgot to tell you that I teach maths")


def test_a_reminder_states_what_it_reminds_of() -> None:
    (fact,) = extract("No te olvides de que soy cel\u00edaco cuando me pases recetas.")
    assert "cel\u00edaco" in fact.value


TOLD = "My landlord is called Vex. I pay 900 a month."
DICHO = "Mi casero se llama Vex. Pago 900 por mes."


@pytest.mark.parametrize(
    ("said", "before"),
    [
        ("Forget what I just told you.", TOLD),
        ("Forget the last thing I told you.", TOLD),
        ("Forget my last message, please.", TOLD),
        ("Erase what I just said.", TOLD),
        ("Never mind that, forget that I told you.", TOLD),
        ("Pretend I never said anything.", TOLD),
        ("Olvidá lo que te acabo de decir.", DICHO),
        ("Olvidate de lo último que te dije.", DICHO),
        ("Olvidá mi último mensaje.", DICHO),
        ("Eliminá lo que acabo de decir.", DICHO),
        ("Hacé de cuenta que no dije nada.", DICHO),
        ("Olvidá lo anterior, por favor.", DICHO),
    ],
)
def test_what_was_just_told_is_all_that_the_message_before_states(said: str, before: str) -> None:
    stated = tuple(each.value for each in extract(before))
    assert len(stated) == 2
    assert tuple(each.what for each in commands((said,), before)) == stated
    assert commands((said,), "What is the capital of France?") == ()


@pytest.mark.parametrize(("said", "before"), [("Delete that.", TOLD), ("Borralo.", DICHO)])
def test_what_is_also_said_of_texts_means_the_one_thing_that_was_told(said: str, before: str) -> None:
    first = before.partition(".")[0]
    assert tuple(each.what for each in commands((said,), f"{first}.")) == (first,)
    assert commands((said,), before) == ()
    assert commands((said,), f"{first}. What shall I do?") == ()


@pytest.mark.parametrize(
    "said",
    [
        "Don't forget what I just told you.",
        "Did you forget what I just told you?",
        "I forgot what I just told you.",
        "Olvidé lo que te acabo de decir.",
        "No olvides lo último que te dije.",
        "Forget my last question.",
    ],
)
def test_what_only_speaks_of_it_is_none(said: str) -> None:
    assert commands((said,), TOLD) == ()


@pytest.mark.parametrize(
    ("said", "is_memory"),
    [
        ("that from your memory", True),
        ("that off the record", True),
        ("eso de tus notas", True),
        ("de tu memoria lo de Ana", True),
        ("the comma from the notes", False),
        ("that from the list", False),
        ("eso de la lista", False),
    ],
)
def test_what_memory_is_called(said: str, is_memory: bool) -> None:
    assert (forget_orders.FROM_MEMORY.search(said) is not None) == is_memory


@pytest.mark.parametrize(
    "said", ["please, could you ", "would you mind ", "bueno, ya ", "i'd like you to ", "quiero que "]
)
def test_what_may_stand_before_the_verb(said: str) -> None:
    found = forget_orders.ENTREATY.match(said)
    assert found is not None
    assert found.end() == len(said)


@pytest.mark.parametrize(
    "said", ["the thing about ", "what i told you about ", "lo de ", "lo que te conte de ", "stuff on "]
)
def test_what_names_an_object_as_told(said: str) -> None:
    found = forget_orders.TOLD.match(f"{said}ana")
    assert found is not None
    assert found.end() == len(said)


@pytest.mark.parametrize(
    ("said", "may"),
    [
        ("I don't know which of them to keep", False),
        ("Take the second one, and leave out the totals", False),
        ("the words are told apart by their endings", False),
        ("It is what you know about me: take it out of there", True),
        ("we should wipe the table", True),
        ("Olvidate de la mesa", True),
        ("OLV\u00cdDALO", True),
    ],
)
def test_most_texts_have_no_expression_of_a_command(said: str, may: bool) -> None:
    assert may_order(said) is may
