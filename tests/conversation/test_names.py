"""The names of people and sessions, as clients give them."""

import pytest

from proxy.conversation.names import MAX_NAME, end_user, is_scope, scope_of, session_of
from proxy.protocol.headers import read_directives
from proxy.types import Headers, Scope
from tests.builders import TENANT, chat, incoming, user

UNSAFE = ["ñandú", "a b", "a\nb", "<script>", "a;b", "'; drop table", "x" * (MAX_NAME + 1), "\x7f", "%41", "{}"]


def named(headers: Headers = (), **fields: object) -> tuple[Scope, str | None]:
    """The scope of a request, and the session that it names."""
    request, directives = chat(user("hi"), **fields), read_directives(headers)
    return scope_of(incoming(headers=headers), request, directives), session_of(request, directives)[0]


def person(name: object) -> str:
    return named(user=name)[0].user


@pytest.mark.parametrize("name", ["a", "A-1_b.c:d@e+f/g=", "x" * MAX_NAME, "550e8400-e29b-41d4-a716-446655440000"])
def test_a_safe_name_is_kept(name: str) -> None:
    scope, session = named((("x-olvido-session", name), ("x-olvido-user", name)))
    assert (session, scope.user) == (name, name)


@pytest.mark.parametrize("name", UNSAFE)
def test_an_unsafe_one_is_hashed(name: str) -> None:
    scope, session = named(user=name, prompt_cache_key=name)
    assert session == scope.user
    assert session.startswith("h-")
    assert len(session) == 34
    assert person(name) == scope.user


def test_no_two_unsafe_names_are_one() -> None:
    assert len({person(name) for name in UNSAFE}) == len(UNSAFE)


def test_nobody_is_another_by_calling_himself_by_the_hash_of_a_name() -> None:
    hashed = person("ñandú")
    assert person(hashed) not in ("", hashed)


def test_but_a_session_goes_by_the_name_that_the_client_was_told() -> None:
    _, told = named((("x-olvido-session", "ñandú"),))
    assert told is not None
    assert named((("x-olvido-session", told),))[1] == told


def test_end_users_that_are_no_strings_are_people_too() -> None:
    odd = ("", 7, 8, 0, 1.5, False, True, ["i"], ["j"], {"a": 1})
    assert len({person(name) for name in odd}) == len(odd)


@pytest.mark.parametrize("name", ["ana", "josé maría", "h-ana", "a b", "x" * (MAX_NAME + 1), "ana@example.com"])
def test_the_end_user_that_a_person_names_is_the_one_of_the_requests(name: str) -> None:
    scope, _ = named((("x-olvido-user", name),))
    assert scope.user == end_user(name)
    assert is_scope(scope.id)


@pytest.mark.parametrize(
    ("name", "could_be"),
    [
        (f"{TENANT}/", True),
        (f"{TENANT}/ana", True),
        (f"{TENANT}/{'x' * MAX_NAME}", True),
        (f"{TENANT}/{'x' * (MAX_NAME + 1)}", False),
        (TENANT, False),
        (f"{TENANT.upper()}/ana", False),
        (f"{TENANT}/a b", False),
        (f"{TENANT}/ana\n", False),
        ("ana", False),
        ("", False),
    ],
)
def test_a_scope_that_no_request_can_have_is_known(name: str, could_be: bool) -> None:
    assert is_scope(name) is could_be
