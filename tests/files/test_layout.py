"""Which names a file of the memory may have."""

import pytest

from proxy.files.layout import check, has_document, is_folder, is_memorable, is_ours, synced
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
        ("identity.md", True, False),
        ("plan.md", True, False),
        ("project_context-olvido.md", True, False),
        (".aside/5.000000/plan.md", True, False),
        (f"{'a' * 64}.md", True, False),
        (f"{'a' * 65}.md", False, False),
        ("Plan.md", False, False),
        ("memory.md", False, False),
        (".desk/plan.md", True, False),
        (".desk/plan.next.md", True, False),
        (".desk/plan.7.1795435200.000000.md", True, False),
        (".aside/5.000000/.desk/plan.md", True, False),
        (".desk/plan.txt", False, False),
        (".desk/more/plan.md", False, False),
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
     (".aside/5.000000/.history", True), (".git", False), (".desk", True), ("snapshots/more", False),
     (".aside/mine", False)],
)  # fmt: skip
def test_folders(name: str, expected: bool) -> None:
    assert is_folder(name) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("plan.md", True),
        (".aside/5.000000/plan.md", True),
        (".history/000001-20261123T000000-plan.md", True),
        (".desk/plan.next.md", True),
        (".aside/5.000000/.desk/plan.md", True),
        ("MEMORY.md", False),
        (KEPT, False),
        ("identity.md", False),
        ("2026-11-23.md", False),
        ("snapshots/plan.md", False),
    ],
)
def test_texts_of_documents(name: str, expected: bool) -> None:
    assert has_document(name) == expected


@pytest.mark.parametrize(
    ("names", "others"),
    [
        (["MEMORY.md", "2026-11-23.md", KEPT], []),
        (["plan.md", ".desk/plan.md"], ["notes.md"]),
        ([".aside/5.000000/plan.md", ".aside/5.000000/.desk/plan.md"], ["plan.md"]),
        (["identity.md", ".desk/plan.md"], []),
        ([], ["identity.md", ".aside/5.000000/identity.md"]),
    ],
)
def test_a_document_that_was_never_synced_is_a_persons_own(names: list[str], others: list[str]) -> None:
    assert synced({*names, *others}) == sorted(names)
