"""Every person has a folder of their own that any file system bears; every fact a code that finds it again."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.files import names
from proxy.files.names import codes, folder_of, long_code, meant

TENANT = "0123456789abcdef" * 2
FACT_ID = st.integers(0, 2**64 - 1).map(lambda number: f"f-{number:016x}")


@pytest.mark.parametrize("user", ["ana", "ana.b", "u-17", "7", "a" * 64])
def test_a_plain_name_is_its_folder(user: str) -> None:
    assert Path(folder_of(f"{TENANT}/{user}")).name == user


@pytest.mark.parametrize(
    "user",
    ["Ana", "ANA", "me", "con", "nul.txt", "..", ".", "a/b", "../../etc", "-x", "x.", "josé", "a\0b", "a" * 65, "a b",
     "a..b", "~", "x-0123456789ab", "\ud800", "C:\\x", ".history", "MEMORY.md"],
)  # fmt: skip
def test_any_other_is_made_plain_and_has_a_hash(user: str) -> None:
    name = Path(folder_of(f"{TENANT}/{user}")).name
    assert re.fullmatch(r"[a-z0-9][a-z0-9._-]{0,60}-[0-9a-f]{12}", name)


def test_whoever_names_no_end_user_has_a_folder_too() -> None:
    assert Path(folder_of(f"{TENANT}/")).name == names.NOBODY


@given(st.lists(st.text(max_size=70), unique=True, max_size=20))
def test_no_two_people_share_one_whatever_the_case(users: list[str]) -> None:
    folders = [folder_of(f"{TENANT}/{user}") for user in users]
    assert len({folder.lower() for folder in folders}) == len(users)
    assert all(folder.count("/") == 1 and ".." not in folder for folder in folders)


def test_people_of_two_tenants_have_two_folders() -> None:
    assert folder_of(f"{TENANT}/ana") != folder_of(f"{TENANT[::-1]}/ana")


@given(st.lists(FACT_ID, unique=True, max_size=50))
def test_a_code_means_one_fact(ids: list[str]) -> None:
    found = codes(ids)
    assert len(set(found.values())) == len(ids)
    assert all(re.fullmatch(names.CODE, code) for code in found.values())
    assert all(meant(code, ids) == [fact_id] for fact_id, code in found.items())


def test_facts_that_share_a_short_code_have_long_ones() -> None:
    one, other, third = "f-0123456789abcdef", "f-0123456789abcdee", "f-ffffffffffffffff"
    assert codes([one, other, third]) == {one: long_code(one), other: long_code(other), third: long_code(third)[:4]}
    assert meant(long_code(one)[:4], [one, other, third]) == [one, other]  # written before there was the other
