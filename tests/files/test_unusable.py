"""Errors of the operating system are a clear line."""

import errno

import pytest

from proxy.files.unusable import Unusable, told


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (errno.ENOSPC, "x.md cannot be written: the disk is full"),
        (errno.EDQUOT, "x.md cannot be written: the disk is full"),
        (errno.EFBIG, "x.md cannot be written: larger than files may be here"),
        (errno.EACCES, "x.md cannot be used: no permission"),
        (errno.EPERM, "x.md cannot be used: no permission"),
        (errno.EROFS, "x.md cannot be written: the file system is read-only"),
        (errno.ENOENT, "x.md has gone while it was in use"),
        (errno.ESTALE, "x.md has gone while it was in use"),
        (errno.ELOOP, "x.md is a symbolic link"),
        (errno.EIO, "x.md cannot be used: Input/output error"),
        (None, "x.md cannot be used: OSError"),
    ],
)
def test_each_error_is_told(number: int | None, said: str) -> None:
    with pytest.raises(Unusable) as caught, told("x.md"):
        raise OSError(number, "Input/output error") if number is not None else OSError
    assert str(caught.value) == said


def test_an_error_that_is_told_already_goes_through() -> None:
    with pytest.raises(Unusable, match=r"^first$"), told("x.md"):
        raise Unusable("first")
