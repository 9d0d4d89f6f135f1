"""Which messages order something to be forgotten, and what; and orders that are not carried out yet."""

from dataclasses import replace
from typing import Any

import pytest

from proxy.conversation.blocks import memory_head
from proxy.memory.ageing import DAY
from proxy.memory.commands import (
    LONGEST,
    MOST_ADDED,
    RETRIED_WITHIN,
    Order,
    Orders,
    commands,
    is_command,
    mark,
    meant,
    outlived,
)
from proxy.memory.extract import extract
from proxy.memory.facts import learn
from proxy.protocol.message import message
from proxy.types import Fact, Forgetting, Statement
from tests.context.told import fact
from tests.memory.indexed import link

ALL = Forgetting("")
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 3_000_000}}


def part(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


@pytest.mark.parametrize(
    "said",
    [
        "Forget everything.",
        "forget everything",
        "Please forget everything!",
        "Hi! Please forget everything you know about me. Thank you very much.",
        "Hello there,\nforget everything.\nThanks!",
        "Forget it all",
        "Erase all memory.",
        "Olvidá todo",
        "Olvidate de todo, por favor.",
        "Hola. Borrá todo lo que sabés de mí. Muchas gracias",
        "Buenos días. Olvidá todo.",
    ],
)
def test_a_wipe_that_is_the_whole_message_is_obeyed(said: str) -> None:
    assert commands((said,)) == (ALL,)
    assert is_command(said)


@pytest.mark.parametrize(
    "said",
    [
        "Translate to French:\nForget everything.",
        "Translate to French:\n\nForget everything.",
        "Forget everything.\nTranslate that to French.",
        "Traducí esto al inglés:\nOlvidá todo.",
        "What does this line do?\nForget everything.",
        "He told me a story. Forget everything. Then he left.",
        '"Forget everything."',
        "> Forget everything.",
        "```\nforget everything\n```",
        "1. Forget everything.",
        "- Forget everything.",
        "Subject: hello\nForget everything.",
        "Is it wise to forget everything?",
        "Remember that I forget everything.",
    ],
)
def test_one_that_stands_in_a_text_is_not(said: str) -> None:
    assert ALL not in commands((said,))


@pytest.mark.parametrize(
    ("said", "what"),
    [
        ("You can delete what I said about my therapist.", "my therapist"),
        ("remove my weight from what you remember", "my weight"),
        ("Bórrame lo de Rodrigo por favor, no quiero que lo tengas guardado", "Rodrigo"),
        ("Olvidate de cuánto gano, no quiero que lo guardes.", "cuánto gano"),
        ("Por favor olvidá lo que te dije de mi sueldo", "mi sueldo"),
        ("quiero que borres lo de la dieta", "la dieta"),
        ("Could you please forget where I live?", "where I live"),
        ("¿Podés olvidar dónde vivo?", "dónde vivo"),
        ("Delete my phone number.", "my phone number"),
        ("Borrá mi número de teléfono.", "mi número de teléfono"),
        ("Please forget: my address", "my address"),
        ("Now forget where I live, ok?", "where I live"),
        ("Please, could you forget my address?", "my address"),
        ("I want you to forget that I live in Cork", "I live in Cork"),
        ("I no longer want you to remember my age", "my age"),
        ("Olvidá mi alergia", "mi alergia"),
        ("Olvidate de mi alergia", "mi alergia"),
        ("Ya no quiero que recuerdes mi dirección", "mi dirección"),
        ("me gustaría que olvides mi edad", "mi edad"),
        ("necesito que borres mi dirección", "mi dirección"),
        ("Bueno, ahora olvidate de dónde vivo, ¿dale?", "dónde vivo"),
    ],
)
def test_what_an_order_names_is_what_it_is_about(said: str, what: str) -> None:
    assert commands((said,)) == (Forgetting(what),)


@pytest.mark.parametrize(
    ("said", "what"),
    [
        ("forget both my job and my address", ("my job", "my address")),
        ("Olvidá mi dirección y mi trabajo", ("mi dirección", "mi trabajo")),
        ("Forget that I like salt and pepper", ("I like salt and pepper",)),
    ],
)
def test_an_order_names_one_thing_after_the_other(said: str, what: tuple[str, ...]) -> None:
    assert tuple(each.what for each in commands((said,))) == what


@pytest.mark.parametrize(
    "said",
    ["I want you to forget that I live in Cork", "Olvidate de mi alergia", "Ya no quiero que recuerdes mi dirección"],
)
def test_an_order_to_forget_states_nothing(said: str) -> None:
    assert extract(said) == ()


@pytest.mark.parametrize(
    "said",
    [
        "don't forget that I'm celiac",
        "I forgot my keys",
        "please don't forget everything I said",
        "I want to forget my ex",
        "no quiero que olvides que vivo en Cork",
        "Me olvidé las llaves",
        "My boss says: forget my address",
        "Translate: forget where I live",
        "Traducí: olvidá mi alergia",
        "delete the last line of the file",
        "Delete my last paragraph. Then go on.",
        "no te olvides de que soy celíaco",
        "quita la coma",
    ],
)
def test_what_is_no_order_to_memory(said: str) -> None:
    assert commands((said,)) == ()


def test_of_several_texts_none_is_the_whole_message() -> None:
    wipe = part("Forget everything.")
    assert commands(message({"role": "user", "content": [wipe]}).texts) == (ALL,)
    assert commands(message({"role": "user", "content": [wipe, part("")]}).texts) == (ALL,)
    assert commands(message({"role": "user", "content": [part("Translate to French:"), wipe]}).texts) == ()
    handed_over = [wipe, part("The report of last year, as a file.")]
    assert commands(message({"role": "user", "content": handed_over}).texts) == ()


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ("Forget that I'm allergic to nuts.", ("I'm allergic to nuts",)),
        ("What a day! Forget that I'm allergic to nuts. What can I eat?", ("I'm allergic to nuts",)),
        ([part("Forget that I'm allergic to nuts."), IMAGE], ("I'm allergic to nuts",)),
        ([IMAGE, part("Forget everything.")], ("",)),
        ("Forget that I'm allergic to nuts." + " Lorem ipsum dolor." * (LONGEST // 19), ()),
        ("Lorem ipsum dolor. " * 200_000 + "Forget that I'm allergic to nuts.", ()),
        ("Remember that I'm allergic to nuts.", ()),
        ([IMAGE], ()),
        (None, ()),
        (7, ()),
    ],
)
def test_only_the_users_own_short_text_counts(content: Any, what: tuple[str, ...]) -> None:
    assert tuple(each.what for each in commands(message({"role": "user", "content": content}).texts)) == what


def test_what_we_have_added_is_nobodys_command_and_hides_none() -> None:
    block = memory_head("- [personal] I'm allergic to nuts\n" * 300, ())
    assert LONGEST < len(block) < MOST_ADDED
    assert commands((f"{block}\n\nForget everything.",)) == (ALL,)
    assert commands((memory_head("- Forget everything.", ()),)) == ()


def said(*messages: str) -> list[tuple[int, Statement]]:
    return [(at, statement) for at, text in enumerate(messages) for statement in extract(text)]


@pytest.mark.parametrize(
    ("messages", "at", "what", "left"),
    [
        (["I drive a Fiat.", "I'm allergic to kiwi."], 2, "I'm allergic to kiwi", ["I drive a Fiat"]),
        (["Manejo un Fiat.", "Soy alérgica al kiwi."], 2, "que soy alérgica al kiwi", ["Manejo un Fiat"]),
        (["I drive a Fiat.", "I'm allergic to kiwi."], 2, "", []),
        # said again after the order
        (["I drive a Fiat.", "", "I'm allergic to kiwi."], 1, "", ["I'm allergic to kiwi"]),
        (["I drive a Fiat."], 1, "my allergy", ["I drive a Fiat"]),
    ],
)
def test_an_order_means_what_stands_before_it(messages: list[str], at: int, what: str, left: list[str]) -> None:
    every = said(*messages)
    gone = meant(every, [(at, Forgetting(what))])
    assert [statement.value for place, (_, statement) in enumerate(every) if place not in gone] == left


def test_what_was_forgotten_is_known_by_its_words() -> None:
    assert mark("I'm allergic to kiwi") == mark("i'm allergic  to KIWI.")
    assert mark("I'm allergic to kiwi") != mark("I'm allergic to nuts")
    assert len(mark("")) == 16


def test_an_old_message_is_outlived_by_what_was_said_since() -> None:
    facts: dict[str, Fact] = {}
    for turn, text in enumerate(["I live in Oslo.", "I moved to Bern."], start=1):
        changes = learn(facts.values(), extract(text), session="s", turn=turn, link=bytes([turn]), now=turn * DAY)
        facts |= {fact.id: fact for fact in changes}
    assert outlived(facts.values()) == {"i live in oslo"}
    deleted = [replace(fact, superseded_by=fact.id) for fact in facts.values()]
    assert outlived(deleted) == {"i live in oslo", "i moved to bern"}


GREEN_TEA = fact("I like green tea", link("1.0"), name="f-tea")
APPLES = fact("I like green apples", link("2.0"), name="f-apples")
AT = GREEN_TEA.created_at
COMMAND = Forgetting("that I like green tea")


def order(*what: Forgetting, at: float = AT, by: str = "9.0") -> Order:
    return Order(what or (COMMAND,), at, (link(by),))


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (order(), [GREEN_TEA]),
        (order(at=AT - 1), []),
        (order(COMMAND, Forgetting("that I like apples")), [GREEN_TEA, APPLES]),
        (order(Forgetting("")), [GREEN_TEA, APPLES]),
        (order(Forgetting("where I live")), []),
    ],
)
def test_an_order_means_what_its_words_name_and_was_said_before_it(given: Order, meant: list[Fact]) -> None:
    assert list(given.means([GREEN_TEA, APPLES])) == meant


def test_until_it_is_done_what_it_means_is_spared_nobody_of_another_scope() -> None:
    orders, given = Orders(), order()
    orders.give("a", given)
    assert list(orders.spared("a", [GREEN_TEA, APPLES])) == [APPLES]
    assert list(orders.spared("b", [GREEN_TEA, APPLES])) == [GREEN_TEA, APPLES]
    assert len(orders) == 1
    assert [orders.is_pending(scope) for scope in ("a", "b")] == [True, False]
    orders.done("a", given)
    orders.done("a", given)
    assert not orders.is_pending("a")
    assert list(orders.spared("a", [GREEN_TEA])) == [GREEN_TEA]
    assert len(orders) == 0


def test_sent_again_it_means_what_it_meant_and_not_what_is_next_nearest() -> None:
    orders = Orders()
    assert orders.means("a", order(), [GREEN_TEA, APPLES]) == (GREEN_TEA,)
    assert orders.means("a", order(at=AT + 1), [APPLES]) == ()
    again = replace(GREEN_TEA, id="f-again")
    assert orders.means("a", order(at=AT + 2), [again, APPLES]) == (again,)


def test_much_later_it_is_another_order() -> None:
    orders = Orders()
    orders.means("a", order(), [GREEN_TEA, APPLES])
    assert orders.means("a", order(at=AT + RETRIED_WITHIN + 1), [APPLES]) == order().means([APPLES])
