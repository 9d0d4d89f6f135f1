import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.files.slugs import SLUG, name_of, slug
from proxy.files.snapshots import taken
from proxy.types import ArchivedTurn
from tests.files.held import NOON, talk

LIMA = (
    talk("Quiero viajar a Lima en mayo", "¿Con qué presupuesto?", number=1),
    talk("El presupuesto para Lima es de 900 dólares", "Buscá vuelos a Lima.", number=2, at=NOON + 60),
)


@pytest.mark.note("Snapshots/2")
@pytest.mark.parametrize(
    ("turns", "name"),
    [
        (LIMA, "2026-11-23-quiero-lima-presupuesto-dolares"),
        ([talk("Lima"), talk("Quito, o Lima", number=2)], "2026-11-23-lima-quito"),
        ([talk("Hola")], "2026-11-23"),
        ([talk("¿Qué?")], "2026-11-23"),
        ([talk("日本語の質問")], "2026-11-23"),
        ([talk("../../etc/passwd \x00 C:\\nul")], "2026-11-23-etc-passwd-nul"),
        ([talk("x" * 500 + " " + "abcdefghij" * 2 + " y")], "2026-11-23-abcdefghijabcdefghij"),
    ],
)
def test_a_slug_says_what_it_was_about(turns: list[ArchivedTurn], name: str) -> None:
    assert taken(turns, "s", "idle").slug == name


@given(st.lists(st.text()))
def test_a_slug_is_a_name_for_any_file_system(words: list[str]) -> None:
    name = slug(NOON, words)
    assert len(name) <= SLUG
    assert all(mark.isascii() and (mark.isdigit() or mark.islower() or mark == "-") for mark in name)


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("viaje-a-lima", "viaje-a-lima"),
        ("  Vuelos & hotel: ¡Perú!  ", "vuelos-hotel-peru"),
        ("../../etc/passwd\x00.md", "etc-passwd-md"),
        ("a" * 10_000_000, "a" * SLUG),
        ("旅行", ""),
        ("--", ""),
        ("", ""),
    ],
)
def test_a_name_that_a_model_gives_is_made_plain(said: str, name: str) -> None:
    assert name_of(said) == name
