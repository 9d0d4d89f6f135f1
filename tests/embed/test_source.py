import shutil
import sys
from pathlib import Path

import pytest

from proxy.embed.base import EmbeddingRefused
from proxy.embed.source import (
    BUILTIN,
    FILES,
    PACKAGE,
    TOKENIZER,
    WEIGHTS,
    checked_copy,
    local_path,
    packaged_folder,
    slug,
    source_of,
)


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the packaged weights: 90 MB, so one for all tests."""
    return Path(shutil.copy(packaged_folder() / WEIGHTS, tmp_path_factory.mktemp("weights")))


@pytest.fixture
def copy(tmp_path: Path, weights: Path) -> Path:
    """The packaged model's files, to be tampered with."""
    folder = tmp_path / "package"
    for name in FILES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        if name == WEIGHTS:
            (folder / name).symlink_to(weights)
        else:
            shutil.copy(packaged_folder() / name, folder / name)
    return folder


def test_the_package_is_found_and_not_imported() -> None:
    assert (packaged_folder() / WEIGHTS).is_file()
    assert PACKAGE not in sys.modules


def test_a_package_that_is_not_installed_is_named() -> None:
    with pytest.raises(EmbeddingRefused, match="no-such-model is not installed"):
        packaged_folder("no_such_model")


def test_weights_and_tokenizer_must_be_the_official_ones() -> None:
    assert FILES[WEIGHTS] == "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
    assert FILES[TOKENIZER] == "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"


def test_the_loader_sees_the_checked_files_and_no_other(copy: Path, tmp_path: Path) -> None:
    (copy / "modeling.py").write_text("raise SystemExit")
    (copy / "adapter_config.json").write_text("{}")
    checked = checked_copy(copy, tmp_path / "checked")
    assert {str(path.relative_to(checked)) for path in checked.rglob("*") if path.is_file()} == set(FILES)


@pytest.mark.parametrize("name", FILES)
def test_a_package_with_one_altered_byte_is_refused(name: str, copy: Path, tmp_path: Path) -> None:
    path = copy / name
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.unlink()  # the weights are a link to what all tests share
    path.write_bytes(data)
    with pytest.raises(EmbeddingRefused, match=f"{path.name} is not that of all-MiniLM-L6-v2"):
        checked_copy(copy, tmp_path / "checked")


def test_a_package_without_one_of_its_files_is_refused(copy: Path, tmp_path: Path) -> None:
    (copy / TOKENIZER).unlink()
    with pytest.raises(EmbeddingRefused, match="No such file"):
        checked_copy(copy, tmp_path / "checked")


def test_the_built_in_model_has_one_version_and_one_folder() -> None:
    source = source_of(BUILTIN)
    assert (source.version, source.folder) == ("minilm-l6-v2/int8/1", "minilm-l6-v2-int8-1")


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
