"""Which names a file of the memory may have."""

import pytest

from proxy.files.layout import check, is_folder, is_memorable, is_ours
from proxy.files.unusable import Unusable

KEPT = ".history/000001-20261123T000000-MEMORY.md"


@pytest.mark.parametrize(
    ("name", "ours", "memorable"),
    [
        ("MEMORY.md", True, False),
        ("2026-11-23.md", True, True),
        ("snapshots/a trip, 2.md", True, True),
        ("snapshots/viaje-a-málaga.md", True, True),
        (KEPT, True, False),
        (f".aside/5.000000/{KEPT}", True, False),
        (".aside/5.000000/snapshots/a.md", True, False),
        (".aside/5.000000/.aside/5.000000/MEMORY.md", False, False),
        (".lock", False, False),
        ("snapshots/../MEMORY.md", False, False),
        ("snapshots/.trip.md.swp", False, False),
        ("MEMORY.md~", False, False),
        (f"snapshots/{'a' * 107}.md", True, True),
        (f"snapshots/{'a' * 108}.md", False, False),
    ],
)
def test_names(name: str, ours: bool, memorable: bool) -> None:
    assert (is_ours(name), is_memorable(name)) == (ours, memorable)
    if ours:
        check(name)
    else:
        with pytest.raises(Unusable):
            check(name)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("snapshots", True), (".history", True), (".aside", True), (".aside/5.000000", True),
     (".aside/5.000000/.history", True), (".git", False), ("snapshots/more", False), (".aside/mine", False)],
)  # fmt: skip
def test_folders(name: str, expected: bool) -> None:
    assert is_folder(name) == expected
