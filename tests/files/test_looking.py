"""The last syncs of a file are told by the texts that were kept of it."""

from pathlib import Path

from proxy.files.diffs import Difference
from proxy.files.looking import syncs
from tests.files.syncing_once import SCOPE
from tests.files.test_merging import fact
from tests.files.test_syncing import Person


async def test_each_sync_that_changed_the_file_is_a_difference_newest_first(tmp_path: Path) -> None:
    person = Person(tmp_path)
    assert syncs(tmp_path, SCOPE) == []
    await person.remember(fact(1, "one"), fact(2, "two"), fact(3, "three"), fact(4, "four"))
    await person.sync()
    person.edit(lambda text: text.replace("two", "zwei"))
    await person.sync()
    person.edit(lambda text: "".join(f"{line}\n" for line in text.splitlines() if "three" not in line) + "- five\n")
    await person.sync()
    await person.sync()
    found = syncs(tmp_path, SCOPE)
    assert [each.difference for each in found] == [
        Difference(("five",), (), ("three",)),
        Difference((), (("two", "zwei"),), ()),
        Difference(("one", "two", "three", "four"), (), ()),
    ]
    assert all(each.at > 1e9 for each in found)
    assert [each.difference for each in syncs(tmp_path, SCOPE, 1)] == [Difference(("five",), (), ("three",))]
