"""The rules for the model: in two languages, short, of the package or of a folder."""

from pathlib import Path
from typing import get_args

import pytest

from proxy.config.texts import LONGEST
from proxy.desk.identity import Identity
from proxy.desk.schemas import NAMES, SECTIONS, offered_names
from proxy.types import Language
from tests.builders import counter

LANGUAGES = get_args(Language)


@pytest.mark.note("SMMA 2/1", "SMMA 3.1/2")
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_rules_name_all_tools_and_sections_in_350_tokens(language: Language) -> None:
    rules = Identity().rules(language, NAMES)
    assert [name for name in (*NAMES, *SECTIONS) if name not in rules] == []
    assert counter().text(rules) <= 350


@pytest.mark.note("SMMA 3.1/3")
@pytest.mark.parametrize("language", LANGUAGES)
def test_tools_are_called_as_they_are_offered(language: Language) -> None:
    rules = Identity().rules(language, offered_names(["prune_messages", "forget"]))
    assert "prune_messages_memory" in rules
    assert rules.count("prune_messages") == rules.count("prune_messages_memory")
    assert "summarize_range_memory" not in rules


@pytest.mark.note("SMMA 3.1/1")
def test_a_folder_replaces_the_rules_of_a_language(tmp_path: Path) -> None:
    (tmp_path / "identity.es.md").write_text("Mantené el orden con prune_messages.\n")
    own = Identity(tmp_path)
    assert own.rules("es", NAMES) == "Mantené el orden con prune_messages."
    assert own.rules("en", NAMES) == Identity().rules("en", NAMES)


@pytest.mark.parametrize("text", [b"", b" \n", b"\xff\xfe", b"x" * (LONGEST + 1)])
def test_rules_that_cannot_be_used_are_named(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "identity.en.md").write_bytes(text)
    with pytest.raises(ValueError, match=r"identity\.en\.md"):
        Identity(tmp_path)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="nowhere"):
        Identity(tmp_path / "nowhere")


@pytest.mark.note("SMMA 7/1", "SMMA 7/2", "SMMA 7/3", "SMMA 7/4")
@pytest.mark.parametrize(
    ("language", "order"),
    [
        ("en", ("originals (recall_original)", "files and sections", "summaries", "your own inference", "verify")),
        ("es", ("originales (recall_original)", "archivos y secciones", "resúmenes", "tu propia inferencia", "verif")),
    ],
)
def test_the_rules_say_whom_to_trust_in_which_order(language: Language, order: tuple[str, ...]) -> None:
    rules = Identity().rules(language, NAMES)
    places = [rules.index(source) for source in order]
    assert places == sorted(places)
