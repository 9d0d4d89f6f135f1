import re

from proxy.storage import base
from proxy.storage.base import StorageError


def test_the_error_tree_in_the_docstring_is_the_tree() -> None:
    assert base.__doc__ is not None
    drawn = re.findall(r"[├└]── (\w+)", base.__doc__)
    direct = StorageError.__subclasses__()
    below = [error for each in direct for error in each.__subclasses__()]
    assert sorted(drawn) == sorted(error.__name__ for error in [*direct, *below])
