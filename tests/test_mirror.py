from collections.abc import Callable
from pathlib import Path

import pytest

from tests.mirror import ELSEWHERE, ROOT, missing

Make = Callable[..., Path]


@pytest.fixture
def project(tmp_path: Path) -> Make:
    """Makes a project that has these files, all of them empty."""

    def made(*names: str) -> Path:
        for name in names:
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        return tmp_path

    return made


def test_every_module_of_the_proxy_has_its_tests() -> None:
    assert missing(ROOT, ELSEWHERE) == []


def test_a_module_with_a_test_of_its_name_in_the_same_folder_is_tested(project: Make) -> None:
    root = project("proxy/a/b.py", "tests/a/test_b.py", "proxy/c.py", "tests/test_c.py")
    assert missing(root, {}) == []


def test_a_new_module_without_a_test_is_told(project: Make) -> None:
    assert missing(project("proxy/a/b.py"), {}) == ["proxy/a/b.py has no tests/a/test_b.py"]


@pytest.mark.parametrize("new", ["proxy/memory.py", "proxy/a/memory.py", "proxy/storage/deeper/memory.py"])
def test_a_module_that_shares_the_name_of_one_that_is_tested_elsewhere_is_told_all_the_same(
    project: Make, new: str
) -> None:
    root = project("proxy/storage/memory.py", new)
    (told,) = missing(root, {"storage/memory.py": "one suite over every backend"})
    assert told.startswith(f"{new} has no ")


def test_a_new_module_in_a_folder_of_exempted_ones_is_told(project: Make) -> None:
    root = project("proxy/types/request.py", "proxy/types/new.py")
    assert missing(root, {"types/request.py": "data only"}) == ["proxy/types/new.py has no tests/types/test_new.py"]


def test_the_files_that_make_a_package_need_no_test(project: Make) -> None:
    assert missing(project("proxy/a/__init__.py", "proxy/__main__.py"), {}) == []


def test_an_exemption_of_what_is_gone_is_told(project: Make) -> None:
    (told,) = missing(project("proxy/__init__.py"), {"a.py": "data only"})
    assert told == "proxy/a.py is said to be tested elsewhere, and is not there"


def test_an_exemption_of_what_has_its_own_test_by_now_is_told(project: Make) -> None:
    (told,) = missing(project("proxy/a.py", "tests/test_a.py"), {"a.py": "data only"})
    assert told == "proxy/a.py is said to be tested elsewhere, and has tests/test_a.py"


def test_an_exemption_that_names_a_test_which_is_gone_is_told(project: Make) -> None:
    (told,) = missing(project("proxy/a.py"), {"a.py": "tests/b/test_c.py runs it"})
    assert told == "proxy/a.py is said to be tested by tests/b/test_c.py, which is not there"
