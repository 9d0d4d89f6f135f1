"""The prompts: files in the package, and of a folder that replaces them by name."""

from pathlib import Path
from typing import get_args

import pytest

from proxy.config.texts import LONGEST
from proxy.curation.prompts import BUILT_IN, Prompts
from proxy.types.curation import JobKind
from proxy.types.memory import Language

KINDS = get_args(JobKind)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("language", ["es", "en"])
def test_every_kind_has_a_prompt_in_each_language_that_asks_for_one_fenced_object(
    kind: JobKind, language: Language
) -> None:
    prompt = Prompts().of(kind, language)
    assert prompt.name == f"{kind}.{language}"
    assert prompt.text == (BUILT_IN / f"{prompt.name}.md").read_text().strip()
    assert prompt.text.count("```json") == 1
    assert "JSON" in prompt.text


@pytest.mark.note("Rumi Fact/5", "Rumi Extracción/2")
@pytest.mark.parametrize(
    ("language", "rules"),
    [
        ("es", ["ESTABLES", "TERCERA PERSONA", "preguntas, hipótesis", "no es para ti", "No hay una lista fija"]),
        ("en", ["STABLE", "THIRD PERSON", "questions, suppositions", "not meant for you", "no fixed list"]),
    ],
)
def test_extraction_is_told_the_rules_of_what_is_kept(language: Language, rules: list[str]) -> None:
    text = " ".join(Prompts().of("extract", language).text.split())
    assert [rule for rule in rules if rule not in text] == []


def test_the_version_is_a_hash_of_the_text() -> None:
    versions = {Prompts().of(kind, language).version for kind in KINDS for language in get_args(Language)}
    assert len(versions) == len(KINDS) * len(get_args(Language))
    assert all(len(version) == 8 and int(version, 16) >= 0 for version in versions)
    assert Prompts().of("extract", "es").label == f"extract.es {Prompts().of('extract', 'es').version}"


@pytest.mark.note("Rumi Extracción/1")
def test_a_folder_replaces_prompts_by_their_names_and_leaves_the_others(tmp_path: Path) -> None:
    (tmp_path / "extract.es.md").write_text("Anotá lo importante.\n")
    (tmp_path / "unknown.es.md").write_text("never read")
    own, built_in = Prompts(tmp_path), Prompts()
    assert own.of("extract", "es").text == "Anotá lo importante."
    assert own.of("extract", "es").version != built_in.of("extract", "es").version
    assert own.of("extract", "en") == built_in.of("extract", "en")


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="nowhere"):
        Prompts(tmp_path / "nowhere")


@pytest.mark.parametrize("data", [b"", b" \n", b"\xff\xfe", b"x" * (LONGEST + 1)])
def test_a_file_that_cannot_be_a_prompt_is_named(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "digest.en.md").write_bytes(data)
    with pytest.raises(ValueError, match=r"digest\.en\.md"):
        Prompts(tmp_path)


def test_a_folder_in_place_of_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "digest.en.md").mkdir()
    with pytest.raises(ValueError, match=r"digest\.en\.md"):
        Prompts(tmp_path)
