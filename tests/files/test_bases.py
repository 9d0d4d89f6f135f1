"""What is known of the text that a person had before them, also after a kill."""

from pathlib import Path

from proxy.files import bases
from proxy.files.bases import Base, Taken
from proxy.files.folder import Folder
from tests.files.saving import folder_in

PLAN = "plan.md"


def known(folder: Folder) -> Base:
    return bases.read(folder, bases.by_document(folder.documents()).get(PLAN, ()))


def test_nothing_is_known_at_first(tmp_path: Path) -> None:
    assert known(folder_in(tmp_path)) == Base()


def test_steps_are_noted_until_they_are_settled(tmp_path: Path) -> None:
    folder = folder_in(tmp_path)
    bases.settle(folder, PLAN, "old\n", ())
    taken = Taken("mine\n", 7, 1_795_435_200.25)
    names = [bases.taking(folder, PLAN, taken), bases.writing(folder, PLAN, "next\n")]
    found = known(folder)
    assert (found.text, found.taken, found.next, found.is_settled) == ("old\n", taken, "next\n", False)
    bases.settle(folder, PLAN, "next\n", names)
    found = known(folder)
    assert (found.text, found.taken, found.next, found.is_settled) == ("next\n", None, None, True)


def test_without_a_text_nothing_is_left(tmp_path: Path) -> None:
    folder = folder_in(tmp_path)
    bases.settle(folder, PLAN, "old\n", ())
    bases.settle(folder, PLAN, None, known(folder).files)
    assert known(folder) == Base()


def test_names_tell_which_document_is_meant() -> None:
    names = [".desk/a-7.md", ".desk/a.7.1.000000.md", ".desk/a.next.md", ".desk/next.md", "a.md", ".desk/A.md.bak"]
    assert bases.by_document(names) == {
        "a-7.md": [".desk/a-7.md"],
        "a.md": [".desk/a.7.1.000000.md", ".desk/a.next.md"],
        "next.md": [".desk/next.md"],
    }
