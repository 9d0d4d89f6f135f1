from pathlib import Path

import pytest

from proxy.config.texts import LONGEST, read_texts


@pytest.fixture
def built_in(tmp_path: Path) -> Path:
    folder = tmp_path / "built_in"
    folder.mkdir()
    for name in ("a.md", "b.md"):
        (folder / name).write_text(f"our {name}\n")
    return folder


def read(built_in: Path, folder: Path | None) -> dict[str, str]:
    return read_texts(("a.md", "b.md"), folder, built_in=built_in, one="a prompt", many="prompts")


def test_a_file_of_the_folder_replaces_the_one_of_its_name(built_in: Path, tmp_path: Path) -> None:
    (tmp_path / "b.md").write_text(" theirs ")
    assert read(built_in, None) == {"a.md": "our a.md", "b.md": "our b.md"}
    assert read(built_in, tmp_path) == {"a.md": "our a.md", "b.md": "theirs"}


def test_every_file_that_cannot_be_used_is_named_in_one_error(built_in: Path, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"\xff")
    (tmp_path / "b.md").write_bytes(b"x" * (LONGEST + 1))
    with pytest.raises(ValueError, match=r"a\.md can't be read as a prompt: Unicode.*; .*b\.md .* it is too long"):
        read(built_in, tmp_path)


def test_a_folder_that_is_none_is_told(built_in: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="nowhere is no folder with prompts"):
        read(built_in, tmp_path / "nowhere")
