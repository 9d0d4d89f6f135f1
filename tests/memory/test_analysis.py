import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.memory import analysis
from proxy.memory.analysis import Analysis, analyse, terms_of
from proxy.memory.signals import folded


@pytest.mark.parametrize(
    ("text", "holder", "is_of_another"),
    [
        ("I live in Cork", set(), False),
        ("vivo en Tandil", set(), False),
        ("my son is allergic to nuts", {"son"}, True),
        ("mi hijo es alérgico al maní", {"son"}, True),
        ("my eldest daughter lives in Sligo", {"daughter"}, True),
        ("mi hija mayor vive en Azul", {"daughter"}, True),
        ("I have a son", set(), False),
        ("tengo un hijo", set(), False),
        ("the doctor changed my pills", set(), False),
        ("she lives in Sligo", set(), True),
        ("ella vive en Azul", set(), True),
        ("por la anemia he vuelto a comer carne", set(), False),
        ("after that he works from Sligo", set(), True),
        ("mi hermana se llama Carla", {"sister"}, True),
    ],
)
def test_whose_it_is(text: str, holder: set[str], is_of_another: bool) -> None:
    found = analyse(text)
    assert found.holder == holder
    assert found.is_of_another is is_of_another


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("the budget is $900", {"money", "number"}),
        ("el presupuesto es de 900 euros", {"money", "number"}),
        ("the exam is on May 3rd", {"date", "number"}),
        ("el examen es el 3 de mayo", {"date", "number"}),
        ("I start at 7:30", {"time", "number"}),
        ("entro a las 7:30", {"time", "number"}),
        ("my dog is called Petrel", {"name"}),
        ("mi perra se llama Lola", {"name"}),
        ("I live in Cork", {"place", "name"}),
        ("I like tea", set()),
    ],
)
def test_of_which_kinds_its_values_are(text: str, kinds: set[str]) -> None:
    assert analyse(text).kinds == kinds


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("the budget of the trip is $900", "the budget of the trip was raised to $1,200"),
        ("el presupuesto del viaje es de 900 euros", "ahora el presupuesto del viaje es de 1.200 euros"),
        ("the exam is on May 3", "the exam moved to June 9"),
    ],
)
def test_what_two_statements_of_one_thing_have_in_common_is_their_frame(one: str, other: str) -> None:
    assert analyse(one).frame == analyse(other).frame
    assert analyse(one).values != analyse(other).values


@pytest.mark.parametrize(
    ("text", "flags"),
    [
        ("I live in Cork now", {"changes"}),
        ("ahora vivo en Tandil", {"changes"}),
        ("I don't run", {"ends"}),
        ("no corro", {"ends"}),
        ("I'm back at the bank", {"returns", "changes"}),
        ("volví al banco", {"returns", "changes"}),
        ("I sold the car", {"replacing", "ends"}),
        ("vendí el auto", {"replacing", "ends"}),
        ("answer in English", {"orders"}),
        ("respondé en castellano", {"orders"}),
        ("I live in Cork", set()),
        ("vivo en Tandil", set()),
    ],
)
def test_what_it_says_of_before(text: str, flags: set[str]) -> None:
    found = analyse(text)
    assert {name for name in ("changes", "ends", "returns", "replacing", "orders") if getattr(found, name)} == flags


@pytest.mark.parametrize(
    ("text", "slots"),
    [
        ("I live in Cork", {"residence"}),
        ("me mudé a Azul", {"residence"}),
        ("I work as a nurse", {"job"}),
        ("trabajo en un banco", {"job"}),
        ("I'm married", {"marital"}),
        ("soy viuda", {"marital"}),
        ("I'm vegan", {"diet"}),
        ("soy vegetariana", {"diet"}),
        ("tengo 41 años", {"age"}),
        ("I like tea", set()),
    ],
)
def test_what_one_has_one_of(text: str, slots: set[str]) -> None:
    assert slots <= analyse(text).slots
    assert slots or not analyse(text).slots


def test_the_holder_is_known_by_name() -> None:
    assert "carla" in analyse("my sister Carla lives in Sligo").who
    assert "lola" in analyse("mi perra se llama Lola").who


def test_an_order_tells_what_it_is_limited_to() -> None:
    assert analyse("use formal English for customers").scope == terms_of(["customers"])
    assert analyse("use formal English").scope == frozenset()


@given(st.text(max_size=200))
def test_a_gist_is_of_words_of_its_text_and_the_same_twice(text: str) -> None:
    found = analyse(text)
    assert isinstance(found, Analysis)
    assert found.frame.isdisjoint(found.values)
    assert found == analyse.__wrapped__(text)


TABLE_ROWS = [
    ("KIN", "my son", True),
    ("KIN", "my eldest son", True),
    ("KIN", "mi hija mayor", True),
    ("KIN", "the twins", True),
    ("KIN", "my catalogue", False),
    ("KIN", "the dog-eared book", False),
    ("SELF", "I run", True),
    ("SELF", "nos mudamos", True),
    ("SELF", "my son runs", False),
    ("ME", "my knees", True),
    ("ME", "nuestro bote", True),
    ("OTHER", "and she runs", True),
    ("OTHER", "su bote", True),
    ("OTHER", "he trabajado", False),
    ("THIRD", "mi hija vive lejos", True),
    ("THIRD", "moved to 3 pm", False),
    ("DATES", "on Mondays", True),
    ("DATES", "el martes", True),
    ("DATES", "maybe", False),
    ("DAY", "the 3rd", True),
    ("DAY", "el 3/5", True),
    ("TIME", "at 7:30", True),
    ("TIME", "a las 19hs", True),
    ("MONEY", "$9", True),
    ("MONEY", "9 lucas", True),
    ("ORDINAL", "the second", True),
    ("ORDINAL", "la segunda", True),
    ("CHANGES", "from now on", True),
    ("CHANGES", "se corrió", True),
    ("CHANGES", "I run", False),
    ("CHANGES", "corro", False),
    ("REPLACING", "I sold it", True),
    ("REPLACING", "lo vendí", True),
    ("REPLACING", "lo uso", False),
    ("ENDS", "I don't", True),
    ("ENDS", "ya no", True),
    ("ENDS", "nothing", False),
    ("RETURNS", "back at it", True),
    ("RETURNS", "de nuevo", True),
    ("RETURNS", "my back", False),
    ("ORDERS", "answer me", True),
    ("ORDERS", "respondeme", True),
    ("SCOPE", "for my customers", True),
    ("SCOPE", "para mis clientes", True),
    ("PLACE", "in Cork", True),
    ("PLACE", "en Tandil", True),
]


@pytest.mark.parametrize(("table", "said", "found"), TABLE_ROWS)
def test_each_table_finds_what_it_is_for(table: str, said: str, found: bool) -> None:
    assert (getattr(analysis, table).search(folded(said)) is not None) is found


@pytest.mark.parametrize(
    ("aspect", "said"),
    [
        ("language", "in english"),
        ("language", "en castellano"),
        ("units", "metric"),
        ("units", "en kilómetros"),
        ("clock", "24-hour"),
        ("length", "keep it short"),
        ("length", "más corto"),
        ("format", "bullet points"),
        ("format", "viñetas"),
        ("manner", "formal"),
        ("manner", "tratame de usted"),
        ("emoji", "no emojis"),
        ("indentation", "tabs"),
        ("code", "in python"),
        ("name", "call me Kit"),
        ("name", "llamame Pacha"),
        ("dates", "fechas"),
    ],
)
def test_an_order_is_about_an_aspect(aspect: str, said: str) -> None:
    assert analysis.ASPECTS[aspect].search(folded(said))


@pytest.mark.parametrize(
    ("slot", "said"),
    [
        ("residence", "I live in Cork"),
        ("residence", "nos mudamos a Azul"),
        ("job", "I work at a bank"),
        ("job", "trabajo en un banco"),
        ("marital", "we're married"),
        ("marital", "me casé"),
        ("age", "I'm 41"),
        ("age", "tengo 41 años"),
        ("diet", "I'm vegan"),
        ("diet", "como carne"),
    ],
)
def test_a_slot_is_told_by_the_verb(slot: str, said: str) -> None:
    assert analysis.SLOTS[slot].search(folded(said))


@pytest.mark.parametrize("said", ["I'm 41 weeks in", "the shop moved", "comemos tarde"])
def test_other_things_are_no_slot(said: str) -> None:
    assert not any(table.search(folded(said)) for table in analysis.SLOTS.values())


def test_every_kin_is_found_by_its_own_name() -> None:
    assert set(analysis.MANY) <= set(analysis.KIN_NAMES.values())
    assert {analysis.KIN_NAMES[word] for word in ("hijo", "mum", "jefa", "suegra")} == {
        "son",
        "mother",
        "boss",
        "inlaw",
    }


def test_both_languages_name_an_attribute_the_same() -> None:
    for one, other in (("salary", "sueldo"), ("rent", "alquiler"), ("nickname", "apodo"), ("pregnant", "embarazada")):
        assert analysis.ATTRIBUTE_NAMES[one] == analysis.ATTRIBUTE_NAMES[other]


def test_the_words_are_folded_and_name_no_relative() -> None:
    assert [word for word in analysis.ATTRIBUTE_NAMES if folded(word) != word or word in analysis.KIN_NAMES] == []
