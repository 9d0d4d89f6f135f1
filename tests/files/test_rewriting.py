"""A file is changed in place of what was read; anew, if something else stands there by then."""

import pytest

from proxy.files.rewriting import TRIES, Restless, always, never, replaced
from tests.files.held import Held


def shouted(text: str) -> str:
    return text.upper()


def test_the_change_is_made_of_what_stands_there_in_the_end() -> None:
    files = Held({"a": b"one"})
    files.meanwhile = lambda: files.update({"a": b"two"})
    assert replaced(files, "a", shouted, keeps=always)
    assert files["a"] == b"TWO"
    assert files.older == [b"two"]


def test_what_stays_the_same_is_not_written() -> None:
    files = Held({"a": b"\xef\xbb\xbfONE"})
    files.meanwhile = lambda: pytest.fail("written")
    assert not replaced(files, "a", shouted, keeps=always)
    assert not replaced(files, "none", shouted, keeps=always)


def test_no_older_text_stays_where_words_are_forgotten() -> None:
    files = Held({"a": b"one"})
    assert replaced(files, "a", lambda _: "", keeps=never)
    assert (files["a"], files.older) == (b"", [])


def test_a_file_that_never_stays_is_given_up() -> None:
    class Busy(Held):
        writes = 0

        def write(self, name: str, data: bytes, *, instead_of: bytes | None, keeps: bool = True) -> bytes | None:
            self.writes += 1
            return f"{self.writes}a".encode()

    files = Busy({"a": b"a"})
    with pytest.raises(Restless):
        replaced(files, "a", shouted, keeps=always)
    assert files.writes == TRIES
