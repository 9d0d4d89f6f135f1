"""Facts over HTTP, as whoever runs the proxy sees and changes them, and as a page of another site does."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import count
from time import time
from typing import Any

import httpx
import pytest

from proxy.admin.facts import MOST_FACTS, USUAL_FACTS
from proxy.memory.edits import delete
from proxy.types import ArchivedTurn, Fact, Utterance
from tests.admin.started import Started, started
from tests.builders import TENANT

FACTS = "/admin/api/facts"
TOKEN = "an-admin-token-0123456789"
DAY = 86_400.0
CARD = [
    *("scope", "id", "session", "turn", "domain", "key", "value", "confidence", "source", "status"),
    *("created_at", "last_confirmed_at", "superseded_by", "doubted_by", "pinned", "becomes"),
]

_numbers = count(1)


@dataclass(frozen=True, slots=True)
class Proxy(Started):
    def scope(self) -> str:
        """Of nobody yet."""
        return f"{TENANT}/user-{next(_numbers)}"

    def known(self, scope: str | None = None, *, age: float = 0.0, **differing: Any) -> tuple[str, Fact]:
        """A fact that was said `age` seconds ago, and its scope."""
        number = next(_numbers)
        at = time() - age
        said = Fact(f"f-{number:016x}", "personal", "ciudad", "vivo en Rosario", "medium", "explicit", "s", 3, at, at)
        fact = replace(said, **differing)
        scope = scope if scope is not None else self.scope()
        self.inside.do(lambda: self.services.library.facts.put(scope, [fact]))
        return scope, fact

    def add(self, scope: str, value: str, **differing: Any) -> dict[str, Any]:
        """The fact that is added by hand."""
        draft = {"scope": scope, "domain": "personal", "key": "ciudad", "value": value, **differing}
        answer = self.http.post(FACTS, json=draft)
        assert answer.status_code in (200, 201), answer.text
        told: dict[str, Any] = answer.json()["fact"]
        return told

    def of(self, scope: str, **query: str) -> list[dict[str, Any]]:
        told: list[dict[str, Any]] = self.http.get(FACTS, params={"scope": scope, **query}).json()["facts"]
        return told


@pytest.fixture(scope="module")
def running() -> Iterator[tuple[Proxy, ...]]:
    """One without a token, one with, one that keeps no facts, and one that shows nothing of what is said."""
    with ExitStack() as stack:
        yield (
            started(Proxy, stack),
            started(Proxy, stack, admin={"token": TOKEN}),
            started(Proxy, stack, memory={"facts": False}, server={"port": 0, "drain": 5, "max_body_mb": 1}),
            started(Proxy, stack, admin={"show_content": False}),
        )


@pytest.fixture
def proxy(running: tuple[Proxy, ...]) -> Proxy:
    return running[0]


@pytest.fixture
def guarded(running: tuple[Proxy, ...]) -> Proxy:
    return running[1]


@pytest.fixture
def forgetful(running: tuple[Proxy, ...]) -> Proxy:
    return running[2]


@pytest.fixture
def hidden(running: tuple[Proxy, ...]) -> Proxy:
    return running[3]


def error(answer: httpx.Response) -> tuple[int, str | None]:
    told = answer.json()["error"]
    assert told.keys() == {"message", "type", "param", "code"}
    return answer.status_code, told["code"]


# --- looking ---------------------------------------------------------------------------------------------------------


def test_the_facts_of_a_scope_are_told_newest_first_with_all_that_is_known(proxy: Proxy) -> None:
    scope, old = proxy.known(age=10, key="perro", value="tengo una perra, Ñata", pinned=True)
    _, new = proxy.known(scope)
    proxy.known()  # of somebody else
    answer = proxy.http.get(FACTS, params={"scope": scope})
    assert (answer.status_code, answer.json()["more"]) == (200, False)
    first, last = answer.json()["facts"]
    assert list(first) == CARD
    assert last == {
        "scope": scope,
        "id": old.id,
        "session": "s",
        "turn": 3,
        "domain": "personal",
        "key": "perro",
        "value": "tengo una perra, Ñata",
        "confidence": "medium",
        "source": "explicit",
        "status": "active",
        "created_at": old.created_at,
        "last_confirmed_at": old.last_confirmed_at,
        "superseded_by": None,
        "doubted_by": None,
        "pinned": True,
        "becomes": {"status": "retrieval-only", "at": old.last_confirmed_at + 90 * 86_400 + 1},
    }
    assert first["id"] == new.id


@pytest.mark.note("9.4/3")
@pytest.mark.parametrize(
    ("days", "differing", "status"),
    [
        (0, {}, "active"),
        (89, {}, "active"),
        (91, {}, "retrieval-only"),
        (91, {"confidence": "high"}, "active"),
        (181, {}, "stale"),
        (181, {"confidence": "high"}, "stale"),
        (29, {"confidence": "low"}, "active"),
        (31, {"confidence": "low"}, "stale"),
        (0, {"superseded_by": "f-ffffffffffffffff"}, "superseded"),
        (181, {"superseded_by": "f-ffffffffffffffff"}, "superseded"),
    ],
)
def test_the_status_is_that_of_now(days: int, differing: dict[str, Any], status: str, proxy: Proxy) -> None:
    scope, fact = proxy.known(age=days * DAY, **differing)
    assert [told["status"] for told in proxy.of(scope)] == [status]
    assert proxy.http.get(f"{FACTS}/{fact.id}").json()["fact"]["status"] == status
    for wanted in ("active", "retrieval-only", "stale", "superseded"):
        assert len(proxy.of(scope, status=wanted)) == (wanted == status)


def test_facts_are_told_by_domain_and_as_many_as_asked_for(proxy: Proxy) -> None:
    scope = proxy.scope()
    for number in range(3):
        proxy.known(scope, age=number, domain="work" if number == 1 else "personal")
    assert [fact["domain"] for fact in proxy.of(scope, domain="work")] == ["work"]
    assert len(proxy.of(scope, domain="projects")) == 0
    two = proxy.http.get(FACTS, params={"scope": scope, "limit": "2"}).json()
    assert ([fact["domain"] for fact in two["facts"]], two["more"]) == (["personal", "work"], True)
    three = proxy.http.get(FACTS, params={"scope": scope, "limit": "3"}).json()
    assert (len(three["facts"]), three["more"]) == (3, False)


@pytest.mark.parametrize("of_all", [False, True])
def test_page_after_page_every_fact_is_told_once_though_some_are_forgotten_meanwhile(
    proxy: Proxy, *, of_all: bool
) -> None:
    scopes = [proxy.scope() for _ in range(2)]
    known = [proxy.known(scope, age=number // 2)[1] for scope in scopes for number in range(5)]
    told: list[str] = []
    before = None
    while True:
        asked = {"limit": "3", **({} if of_all else {"scope": scopes[0]}), **({"before": before} if before else {})}
        page = proxy.http.get(FACTS, params=asked).json()
        told += [fact["id"] for fact in page["facts"]]
        if (before := page["next"]) is None:
            break
        assert page["more"]
        last = page["facts"][-1]
        if last["scope"] in scopes:
            assert proxy.http.delete(f"{FACTS}/{last['id']}").is_success
    wanted = [fact.id for fact in (known if of_all else known[:5])]
    assert sorted(each for each in told if each in {fact.id for fact in known}) == sorted(wanted)
    assert len(told) == len(set(told))


def test_facts_are_told_by_the_conversation_that_said_them(proxy: Proxy) -> None:
    scope = proxy.scope()
    proxy.known(scope, session="one")
    proxy.known(scope, session="two")
    assert [fact["session"] for fact in proxy.of(scope, session="one")] == ["one"]
    assert proxy.of(scope, session="three") == []


@pytest.mark.parametrize("before", ["x", "1~", "1~f-1", "x~f-1~a/", "1e~f-1~a/", "~~", "1" * 99])
def test_what_is_no_place_in_the_list_is_named(before: str, proxy: Proxy) -> None:
    answer = proxy.http.get(FACTS, params={"before": before})
    assert (error(answer), answer.json()["error"]["param"]) == ((400, None), "before")


def test_without_a_limit_there_are_not_too_many(proxy: Proxy) -> None:
    scope = proxy.scope()
    for _ in range(USUAL_FACTS + 1):
        proxy.known(scope)
    assert len(proxy.of(scope)) == USUAL_FACTS
    assert len(proxy.of(scope, limit=str(MOST_FACTS))) == USUAL_FACTS + 1


def test_without_a_scope_all_are_told_each_with_its_own(proxy: Proxy) -> None:
    ana, beto = proxy.known(domain="of-two")[0], proxy.known(domain="of-two")[0]
    told = proxy.http.get(FACTS, params={"domain": "of-two"}).json()["facts"]
    assert {fact["scope"] for fact in told} == {ana, beto}


@pytest.mark.parametrize("scope", ["nobody/", "a b/+ñ", 'x" OR 1=1 --', "\x00"])
def test_a_scope_that_nobody_has_used_has_no_facts(scope: str, proxy: Proxy) -> None:
    proxy.known()
    assert proxy.of(scope) == []


@pytest.mark.parametrize(
    ("query", "param"),
    [
        ("limit=0", "limit"),
        ("limit=-1", "limit"),
        ("limit=1.5", "limit"),
        ("limit=", "limit"),
        ("limit=%C2%B2", "limit"),
        (f"limit={MOST_FACTS + 1}", "limit"),
        ("limit=" + "9" * 5_000, "limit"),
        ("status=old", "status"),
        ("status=", "status"),
        ("scope=", "scope"),
        ("status=Active", "status"),
    ],
)
def test_what_is_out_of_range_is_named(query: str, param: str, proxy: Proxy) -> None:
    answer = proxy.http.get(f"{FACTS}?{query}")
    assert error(answer) == (400, None)
    assert answer.json()["error"]["param"] == param


# --- adding ----------------------------------------------------------------------------------------------------------


def test_what_is_added_says_that_it_came_by_the_api_of_no_turn_and_is_kept(proxy: Proxy) -> None:
    scope, before = proxy.scope(), time()
    draft = {"scope": scope, "domain": "personal", "key": "Mi ciudad", "value": " vivo en Córdoba\n"}
    answer = proxy.http.post(FACTS, json=draft)
    assert answer.status_code == 201
    fact = answer.json()["fact"]
    assert list(fact) == CARD
    assert (fact["key"], fact["value"], fact["scope"]) == ("mi-ciudad", "vivo en Córdoba", scope)
    assert (fact["source"], fact["turn"], fact["session"]) == ("api", 0, "")
    assert (fact["confidence"], fact["pinned"], fact["status"]) == ("high", False, "active")
    assert before <= fact["created_at"] == fact["last_confirmed_at"] <= time()
    assert answer.json()["history"] == {"before": [], "after": []}
    assert proxy.of(scope) == [fact]


def test_what_nobody_names_is_derived_from_the_words(proxy: Proxy) -> None:
    scope = proxy.scope()
    place = {"domain": "personal", "key": "residence", "pinned": False}
    asked = {"scope": scope, "value": "vivo en C\u00f3rdoba"}
    assert proxy.http.post(f"{FACTS}/derive", json=asked).json() == {**place, "replaces": None}
    assert proxy.of(scope) == []
    fact = proxy.http.post(FACTS, json=asked).json()["fact"]
    assert {name: fact[name] for name in place} == place
    moved = {"scope": scope, "value": "vivo en Salta"}
    assert proxy.http.post(f"{FACTS}/derive", json=moved).json()["replaces"]["id"] == fact["id"]
    made = proxy.http.post(FACTS, json={**moved, "key": "Otra casa", "pinned": True}).json()["fact"]
    assert (made["domain"], made["key"], made["pinned"]) == ("personal", "otra-casa", True)
    asked = {"scope": scope, "value": "respond\u00e9 siempre en espa\u00f1ol"}
    for named in ({}, {"domain": "preferences", "key": "Idioma"}):
        standing = proxy.http.post(FACTS, json={**asked, **named}).json()["fact"]
        assert (standing["domain"], standing["pinned"]) == ("preferences", True)
    plain = proxy.http.post(FACTS, json={**asked, "key": "una vez", "pinned": False}).json()["fact"]
    assert plain["pinned"] is False


@pytest.mark.parametrize("body", [{"value": "x"}, {"scope": "nobody", "value": "x"}, {"scope": "a/", "value": " "}])
def test_a_place_that_cannot_be_derived_is_a_bad_request(proxy: Proxy, body: dict[str, str]) -> None:
    assert proxy.http.post(f"{FACTS}/derive", json=body).status_code == 400


def test_the_next_prompt_sees_what_was_added_changed_and_forgotten(proxy: Proxy) -> None:
    scope = proxy.scope()

    def shelf() -> set[str]:
        return {each.value for each in proxy.inside.do(lambda: proxy.services.library.shelf(scope)).facts.values()}

    assert shelf() == set()
    fact = proxy.add(scope, "vivo en Córdoba", pinned=True)
    assert shelf() == {"vivo en Córdoba"}
    changed = proxy.http.patch(f"{FACTS}/{fact['id']}", json={"value": "vivo en Salta"}).json()["fact"]
    assert shelf() == {"vivo en Córdoba", "vivo en Salta"}
    for each in (fact, changed):
        assert proxy.http.delete(f"{FACTS}/{each['id']}").status_code == 200
    assert shelf() == set()


def test_another_value_of_a_key_supersedes_and_the_history_is_told_from_both_ends(proxy: Proxy) -> None:
    scope = proxy.scope()
    one, two, three = (proxy.add(scope, value) for value in ("Rosario", "Salta", "Jujuy"))
    current = proxy.http.get(f"{FACTS}/{three['id']}").json()
    assert [fact["value"] for fact in current["history"]["before"]] == ["Rosario", "Salta"]
    assert current["history"]["after"] == []
    first = proxy.http.get(f"{FACTS}/{one['id']}").json()
    assert (first["fact"]["status"], first["fact"]["superseded_by"]) == ("superseded", two["id"])
    assert [fact["value"] for fact in first["history"]["after"]] == ["Salta", "Jujuy"]
    assert [fact["value"] for fact in proxy.of(scope, status="active")] == ["Jujuy"]


def test_the_same_value_again_is_confirmed_and_not_a_second_fact(proxy: Proxy) -> None:
    scope, fact = proxy.known(age=100 * DAY)
    draft = {"scope": scope, "domain": "personal", "key": "ciudad", "value": fact.value, "confidence": "low"}
    answer = proxy.http.post(FACTS, json=draft)
    assert (answer.status_code, answer.json()["fact"]["id"]) == (200, fact.id)
    (told,) = proxy.of(scope)
    assert (told["status"], told["confidence"], told["created_at"]) == ("active", "low", fact.created_at)
    assert told["last_confirmed_at"] > fact.last_confirmed_at


def test_one_fact_of_two_people_is_two(proxy: Proxy) -> None:
    ana, beto = proxy.scope(), proxy.scope()
    of_ana, of_beto = proxy.add(ana, "Rosario"), proxy.add(beto, "Rosario")
    assert proxy.http.delete(f"{FACTS}/{of_ana['id']}").json() == {"id": of_ana["id"], "scope": ana, "forgotten": True}
    assert (proxy.of(ana), proxy.of(beto)) == ([], [of_beto])


GOOD = {"scope": f"{TENANT}/refused", "domain": "personal", "key": "ciudad", "value": "Rosario"}


def without(name: str) -> dict[str, Any]:
    return {key: value for key, value in GOOD.items() if key != name}


@pytest.mark.parametrize(
    ("body", "param", "told"),
    [
        *((without(name), name, name) for name in ("scope", "value")),
        ({**GOOD, "colour": "red", "id": "f-1"}, "colour", "colour, id"),
        ({**GOOD, "source": "auto"}, "source", "source"),
        ({**GOOD, "scope": "ana"}, "scope", "scope"),
        ({**GOOD, "scope": f"{TENANT}/a b"}, "scope", "scope"),
        ({**GOOD, "scope": TENANT}, "scope", "scope"),
        ({**GOOD, "scope": 7}, "scope", "scope"),
        ({**GOOD, "domain": ""}, "domain", ""),
        ({**GOOD, "domain": "x" * 129}, "domain", "128"),
        ({**GOOD, "key": " \n"}, "key", ""),
        ({**GOOD, "key": None}, "key", "str"),
        ({**GOOD, "value": ""}, "value", ""),
        ({**GOOD, "value": "x" * 2_001}, "value", "2000"),
        ({**GOOD, "value": ["Rosario"]}, "value", "str"),
        ({**GOOD, "confidence": "certain"}, "confidence", "certain"),
        ({**GOOD, "pinned": "yes"}, "pinned", "bool"),
        ({**GOOD, "pinned": 1}, "pinned", "bool"),
        ([GOOD], None, "object"),
        ("Rosario", None, "object"),
    ],
)
def test_a_draft_that_is_not_one_is_refused_by_name(body: Any, param: str | None, told: str, proxy: Proxy) -> None:
    answer = proxy.http.post(FACTS, json=body)
    assert error(answer)[0] == 400
    assert answer.json()["error"]["param"] == param
    assert told in answer.json()["error"]["message"]
    assert proxy.of(GOOD["scope"]) == []


@pytest.mark.parametrize("raw", [b"", b"{", b"\xff", b'{"value": "\xff"}', b'{"value": "\\ud800"}', b"[" * 100_000])
@pytest.mark.parametrize("method", ["POST", "PATCH"])
def test_a_body_that_is_no_json_is_refused(method: str, raw: bytes, proxy: Proxy) -> None:
    _, fact = proxy.known()
    path = FACTS if method == "POST" else f"{FACTS}/{fact.id}"
    assert error(proxy.http.request(method, path, content=raw)) == (400, "invalid_json")
    coded = proxy.http.request(method, path, content=raw, headers={"content-encoding": "gzip"})
    assert error(coded) == (400, None)


def test_a_body_that_is_too_large_is_refused(forgetful: Proxy) -> None:
    answer = forgetful.http.post(FACTS, content=b" " * (2**20 + 1))
    assert error(answer) == (413, "request_too_large")


def test_where_no_facts_are_kept_none_are_taken(forgetful: Proxy) -> None:
    answer = forgetful.http.post(FACTS, json=GOOD)
    assert error(answer) == (400, None)
    assert "memory.facts" in answer.json()["error"]["message"]
    assert forgetful.http.get(FACTS).json() == {"facts": [], "more": False, "next": None}


# --- changing --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wanted", "differing"),
    [
        ({"confidence": "high"}, {"confidence": "high"}),
        ({"pinned": True}, {"pinned": True}),
        ({"domain": "Hogar"}, {"domain": "hogar"}),
        ({"key": "mi casa"}, {"key": "mi-casa"}),
        ({"value": "vivo en Rosario", "pinned": True}, {"pinned": True}),
    ],
)
def test_a_fact_is_changed_and_stays_the_same_fact(
    wanted: dict[str, Any], differing: dict[str, Any], proxy: Proxy
) -> None:
    scope, fact = proxy.known(age=5)
    (before,) = proxy.of(scope)
    answer = proxy.http.patch(f"{FACTS}/{fact.id}", json=wanted)
    assert answer.status_code == 200
    changed = answer.json()["fact"]
    assert answer.json() == {"fact": changed, "history": {"before": [], "after": []}}
    assert changed == {**before, **differing, "becomes": changed["becomes"]}
    assert proxy.of(scope) == [answer.json()["fact"]]


def test_an_edited_value_is_a_new_fact_in_place_of_the_old_one(proxy: Proxy) -> None:
    scope, fact = proxy.known(age=5, pinned=True)
    told = proxy.http.patch(f"{FACTS}/{fact.id}", json={"value": "vivo en Salta", "confidence": "high"}).json()
    new = told["fact"]
    assert new["id"] != fact.id
    assert (new["value"], new["confidence"], new["pinned"], new["key"]) == ("vivo en Salta", "high", True, "ciudad")
    assert (new["source"], new["turn"], new["status"]) == ("api", 0, "active")
    (old,) = told["history"]["before"]
    assert (old["id"], old["status"], old["superseded_by"]) == (fact.id, "superseded", new["id"])
    assert proxy.of(scope) == [new, old]


@pytest.mark.note("1.1/12")
@pytest.mark.parametrize(("days", "before"), [(100, "retrieval-only"), (200, "stale")])
def test_a_confirmed_fact_is_active_again(days: int, before: str, proxy: Proxy) -> None:
    scope, fact = proxy.known(age=days * DAY)
    assert proxy.of(scope)[0]["status"] == before
    now = time()
    told = proxy.http.patch(f"{FACTS}/{fact.id}", json={"confirm": True}).json()["fact"]
    assert (told["id"], told["status"]) == (fact.id, "active")
    assert now <= told["last_confirmed_at"] <= time()
    assert proxy.of(scope) == [told]


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({}, None),
        ([], None),
        ({"value": None}, "value"),
        ({"value": None, "pinned": True}, "value"),
        ({"confirm": False}, "confirm"),
        ({"confirm": 1}, "confirm"),
        ({"restore": False}, "restore"),
        ({"restore": True, "value": "Salta"}, "restore"),
        ({"value": " "}, "value"),
        ({"confidence": "certain"}, "confidence"),
        ({"pinned": "no"}, "pinned"),
        ({"scope": f"{TENANT}/other"}, "scope"),
        ({"status": "stale"}, "status"),
        ({"value": "Salta", "superseded_by": None}, "superseded_by"),
    ],
)
def test_a_change_that_is_none_is_refused_by_name(body: Any, param: str | None, proxy: Proxy) -> None:
    scope, fact = proxy.known()
    before = proxy.of(scope)
    answer = proxy.http.patch(f"{FACTS}/{fact.id}", json=body)
    assert error(answer) == (400, None)
    assert answer.json()["error"]["param"] == param
    assert proxy.of(scope) == before


def test_history_is_not_changed(proxy: Proxy) -> None:
    scope = proxy.scope()
    old, new = proxy.add(scope, "Rosario"), proxy.add(scope, "Salta")
    for wanted in ({"confirm": True}, {"value": "Jujuy"}):
        answer = proxy.http.patch(f"{FACTS}/{old['id']}", json=wanted)
        assert error(answer) == (400, None)
        assert new["id"] in answer.json()["error"]["message"]


def test_what_was_deleted_or_superseded_is_restored_in_place_of_what_holds(proxy: Proxy) -> None:
    scope = proxy.scope()
    old, new = proxy.add(scope, "Rosario"), proxy.add(scope, "Salta")
    at = time()
    answer = proxy.http.patch(f"{FACTS}/{old['id']}", json={"restore": True})
    assert answer.status_code == 200
    fact, history = answer.json()["fact"], answer.json()["history"]
    assert (fact["id"], fact["status"], fact["superseded_by"]) == (old["id"], "active", None)
    assert fact["last_confirmed_at"] >= at
    assert ([each["id"] for each in history["before"]], history["after"]) == ([new["id"]], [])
    assert {each["id"]: each["status"] for each in proxy.of(scope)} == {old["id"]: "active", new["id"]: "superseded"}
    again = proxy.http.patch(f"{FACTS}/{old['id']}", json={"restore": True})
    assert (again.status_code, again.json()["fact"]) == (200, fact)


def test_what_was_deleted_is_told_to_be_so_and_not_changed_before_it_is_restored(proxy: Proxy) -> None:
    scope, fact = proxy.known()
    proxy.inside.do(lambda: proxy.services.library.facts.put(scope, [delete(fact, time())]))
    (told,) = proxy.of(scope, status="deleted")
    assert (told["status"], told["superseded_by"], told["becomes"]) == ("deleted", fact.id, None)
    assert proxy.http.get(f"{FACTS}/{fact.id}").json()["history"] == {"before": [], "after": []}
    answer = proxy.http.patch(f"{FACTS}/{fact.id}", json={"confirm": True})
    assert error(answer) == (400, None)
    assert "restore" in answer.json()["error"]["message"]
    assert proxy.http.patch(f"{FACTS}/{fact.id}", json={"restore": True}).json()["fact"]["status"] == "active"


def test_a_domain_of_an_agent_keeps_its_name(proxy: Proxy) -> None:
    scope = proxy.scope()
    added = proxy.add(scope, "run the tests first", domain="self_correction", key="tests_first")
    assert (added["domain"], added["key"]) == ("self_correction", "tests_first")
    changed = proxy.http.patch(f"{FACTS}/{added['id']}", json={"value": "run all tests first"}).json()["fact"]
    assert changed["domain"] == "self_correction"
    assert len(proxy.of(scope, domain="self_correction")) == 2


# --- forgetting ------------------------------------------------------------------------------------------------------


def test_what_is_forgotten_leaves_every_index_with_the_message_that_said_it(proxy: Proxy) -> None:
    link, answer_link = b"l" * 16, b"m" * 16
    scope, fact = proxy.known(links=(link,))
    _, kept = proxy.known(scope, key="perro")
    said = (Utterance("user", fact.value, link), Utterance("assistant", "Anotado.", answer_link))
    turn = ArchivedTurn(answer_link, b"", "s", 1, fact.created_at, b"[]", said)
    library, states, do = proxy.services.library, proxy.services.storage.states, proxy.inside.do
    do(lambda: library.archive.add(scope, turn, None))
    do(lambda: states.put(scope, "s", answer_link, fact.created_at, b"quotes it"))
    assert proxy.http.delete(f"{FACTS}/{fact.id}").json() == {"id": fact.id, "scope": scope, "forgotten": True}
    assert [told["id"] for told in proxy.of(scope)] == [kept.id]
    assert do(lambda: library.archive.known(scope, [answer_link])) == set()
    assert do(lambda: states.get(scope, [answer_link])) is None
    assert link in do(lambda: library.shelf(scope)).forgotten
    assert error(proxy.http.delete(f"{FACTS}/{fact.id}")) == (404, "unknown_url")


@pytest.mark.parametrize("unknown", ["f-ffffffffffffffff", "x", "%00", "%ff", "' OR 1=1", "%F0%9F%8C%B5" * 100])
@pytest.mark.parametrize("method", ["GET", "PATCH", "DELETE"])
def test_an_unknown_fact_is_told_to_be_so(method: str, unknown: str, proxy: Proxy) -> None:
    body = {"confirm": True} if method == "PATCH" else None
    told = proxy.http.request(method, f"{FACTS}/{unknown}", json=body)
    assert error(told) == (404, "unknown_url")
    assert len(told.json()["error"]["message"]) < 200


# --- who may not -----------------------------------------------------------------------------------------------------


def attempts(proxy: Proxy, scope: str, fact: Fact, headers: dict[str, str]) -> Iterator[httpx.Response]:
    body = {"scope": scope, "domain": "personal", "key": "perro", "value": "Ñata"}
    for method, path, sent in (
        ("GET", FACTS, None),
        ("GET", f"{FACTS}?scope={scope}", None),
        ("GET", f"{FACTS}/{fact.id}", None),
        ("POST", FACTS, body),
        ("PATCH", f"{FACTS}/{fact.id}", {"value": "Salta"}),
        ("DELETE", f"{FACTS}/{fact.id}", None),
    ):
        yield proxy.http.request(method, path, json=sent, headers=headers)


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.com:8484"},
        {"origin": "https://evil.com", "content-type": "text/plain"},
        {"sec-fetch-site": "cross-site"},
    ],
)
def test_without_a_token_a_page_of_another_site_learns_and_changes_nothing(
    headers: dict[str, str], proxy: Proxy
) -> None:
    scope, fact = proxy.known()
    before = proxy.of(scope)
    for answer in attempts(proxy, scope, fact, headers):
        assert error(answer) in ((403, "forbidden"), (403, "foreign_host"))
        assert fact.value not in answer.text
    assert proxy.of(scope) == before


@pytest.mark.parametrize("authorization", ["", "Bearer sk-a-clients-key", f"Basic {TOKEN}"])
def test_with_a_token_nobody_else_learns_or_changes_anything(authorization: str, guarded: Proxy) -> None:
    scope, fact = guarded.known()
    for answer in attempts(guarded, scope, fact, {"authorization": authorization}):
        assert error(answer) == (401, "invalid_api_key")
        assert fact.value not in answer.text
    allowed = {"authorization": f"Bearer {TOKEN}"}
    told = guarded.http.get(FACTS, params={"scope": scope}, headers=allowed).json()["facts"]
    assert [each["value"] for each in told] == [fact.value]


@pytest.mark.note("1.3/1", "4/1")
def test_contents_are_not_kept_by_anything_on_the_way(proxy: Proxy) -> None:
    scope, fact = proxy.known()
    for answer in attempts(proxy, scope, fact, {}):
        assert answer.is_success
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["content-type"] == "application/json"
        assert not any(name.startswith("access-control-") for name in answer.headers)


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("PUT", FACTS, 405), ("DELETE", FACTS, 405), ("POST", f"{FACTS}/f-1", 405), ("GET", f"{FACTS}/f-1/x", 404)],
)
def test_nothing_else_is_there(method: str, path: str, status: int, proxy: Proxy) -> None:
    answer = proxy.http.request(method, path, headers={"origin": "https://evil.com"})
    assert error(answer)[0] == status
    assert not any(name.startswith("access-control-") for name in answer.headers)


# --- where it comes from ---------------------------------------------------------------------------------------------

LONG = "Lorem ipsum dolor sit amet. " * 40


def said(proxy: Proxy, text: str, scope: str, fact: Fact) -> None:
    link, answer = fact.links[0], b"a" + fact.links[0][1:]
    utterances = (Utterance("user", text, link), Utterance("assistant", "Noted.", answer))
    turn = ArchivedTurn(answer, b"", "c-1", 7, 99.5, b"[]", utterances)
    proxy.inside.do(lambda: proxy.services.library.archive.add(scope, turn, None))


def links() -> tuple[bytes, ...]:
    return (next(_numbers).to_bytes(16, "big"),)


def test_a_fact_is_told_with_the_message_that_said_it(proxy: Proxy) -> None:
    scope, fact = proxy.known(links=links())
    said(proxy, f"{LONG}Anoche, vivo en Rosario, ¿sabés? {LONG}", scope, fact)
    told = proxy.http.get(f"{FACTS}/{fact.id}").json()["said"]
    assert told["state"] == "kept"
    (message,) = told["messages"]
    assert {name: message[name] for name in ("session", "turn", "at")} == {"session": "c-1", "turn": 7, "at": 99.5}
    assert "vivo en Rosario" in message["text"]
    assert len(message["text"]) <= 300


def test_where_there_is_none_it_is_told_why(proxy: Proxy) -> None:
    scope, forgotten = proxy.known(links=links())
    assert proxy.http.get(f"{FACTS}/{forgotten.id}").json()["said"] == {"state": "gone", "messages": []}
    added = proxy.add(scope, "vivo en Salta")
    assert proxy.http.get(f"{FACTS}/{added['id']}").json()["said"] == {"state": "api", "messages": []}
    for source, turn, state in (
        *(("file", 0, "file"), ("auto", 0, "auto")),
        *(("explicit", 0, "by_hand"), ("explicit", 3, "gone")),  # a row of old, and what a forgotten message has left
    ):
        scope, fact = proxy.known(source=source, turn=turn)
        assert proxy.http.get(f"{FACTS}/{fact.id}").json()["said"]["state"] == state


def test_nothing_of_it_is_told_where_contents_are_not_shown(hidden: Proxy) -> None:
    scope, fact = hidden.known(links=links())
    said(hidden, "Vivo en Rosario", scope, fact)
    assert hidden.http.get(f"{FACTS}/{fact.id}").json()["said"] == {"state": "hidden", "messages": []}


# --- what was wiped ---------------------------------------------------------------------------------------------------


def wiped(proxy: Proxy, scope: str) -> list[dict[str, Any]]:
    told: list[dict[str, Any]] = proxy.http.get(f"{FACTS}/wiped", params={"scope": scope} if scope else {}).json()[
        "wiped"
    ]
    return told


def wipe(proxy: Proxy, scope: str, at: float) -> None:
    proxy.inside.do(lambda: proxy.services.library.wipes.wipe(scope, [], at=at, until=at + DAY))


def test_what_was_wiped_is_told_without_what_it_says_and_comes_back(proxy: Proxy) -> None:
    scope, fact = proxy.known(links=links())
    at = time()
    assert wiped(proxy, scope) == []
    wipe(proxy, scope, at)
    assert proxy.of(scope) == []
    assert wiped(proxy, scope) == [{"scope": scope, "facts": 1, "turns": 0, "until": at + DAY}]
    assert wiped(proxy, "") != []
    answer = proxy.http.post(f"{FACTS}/restore", json={"scope": scope})
    assert (answer.status_code, answer.json()) == (200, {"scope": scope, "facts": 1, "turns": 0})
    assert [each["id"] for each in proxy.of(scope)] == [fact.id]
    assert wiped(proxy, scope) == []


def test_of_two_wipes_the_newest_is_undone_first_and_the_other_by_asking_again(proxy: Proxy) -> None:
    scope, oslo = proxy.known(age=600, value="vivo en Oslo", key="residencia")
    at = time()
    wipe(proxy, scope, at - 300)
    _, tea = proxy.known(scope, age=200, value="tomo mate", key="bebida")
    wipe(proxy, scope, at)
    (newest,) = wiped(proxy, scope)
    assert newest["until"] == at + DAY
    for given, back in ((newest["until"], [tea.id]), (None, [oslo.id, tea.id])):
        asked = {"scope": scope} if given is None else {"scope": scope, "until": given}
        assert proxy.http.post(f"{FACTS}/restore", json=asked).status_code == 200
        assert sorted(each["id"] for each in proxy.of(scope)) == sorted(back)
        # The same button again, since its answer was lost on the way, brings nothing else back.
        assert error(proxy.http.post(f"{FACTS}/restore", json={"scope": scope, "until": at + DAY}))[0] == 404
    assert wiped(proxy, scope) == []


def test_what_was_wiped_is_told_page_by_page(proxy: Proxy) -> None:
    at, scopes = time(), []
    for _ in range(3):
        scope, _ = proxy.known(age=60)
        wipe(proxy, scope, at)
        scopes.append(scope)
    seen: list[str] = []
    before: str | None = ""
    while before is not None:
        page = proxy.http.get(f"{FACTS}/wiped", params={"limit": "1", **({"before": before} if before else {})}).json()
        assert len(page["wiped"]) <= 1
        seen += [each["scope"] for each in page["wiped"]]
        before = page["next"]
    assert seen == sorted(seen)
    assert set(scopes) <= set(seen)
    assert len(set(seen)) == len(seen)


@pytest.mark.parametrize("query", ["limit=0", f"limit={MOST_FACTS + 1}", "limit=x", "session=s", "Limit=1"])
def test_what_is_no_page_of_it_is_refused(query: str, proxy: Proxy) -> None:
    assert error(proxy.http.get(f"{FACTS}/wiped?{query}"))[0] == 400


def test_what_was_said_since_ends_what_comes_back(proxy: Proxy) -> None:
    scope, madrid = proxy.known(age=60, value="vivo en Madrid", key="residencia")
    wipe(proxy, scope, time() - 30)
    _, porto = proxy.known(scope, value="vivo en Oporto", key="residencia")
    assert proxy.http.post(f"{FACTS}/restore", json={"scope": scope}).status_code == 200
    assert {each["id"]: each["superseded_by"] for each in proxy.of(scope)} == {madrid.id: porto.id, porto.id: None}


@pytest.mark.parametrize(
    ("given", "status"), [({"scope": "nobody"}, 404), ({"scope": 7}, 400), ({"scope": "nobody", "until": "x"}, 400)]
)
def test_where_nothing_was_wiped_nothing_comes_back(given: dict[str, Any], status: int, proxy: Proxy) -> None:
    assert error(proxy.http.post(f"{FACTS}/restore", json=given))[0] == status


@pytest.mark.parametrize("value", ["my wifi password is hunter22", "la clave del wifi es gatito77"])
def test_a_password_is_refused_from_a_person_too_with_a_clear_word(value: str, proxy: Proxy) -> None:
    scope, fact = proxy.known(age=5)
    before = proxy.of(scope)
    added = proxy.http.post(FACTS, json={"scope": scope, "value": value})
    changed = proxy.http.patch(f"{FACTS}/{fact.id}", json={"value": value})
    for answer in (added, changed):
        assert answer.status_code == 400
        assert "never kept" in answer.json()["error"]["message"]
        assert answer.json()["error"]["param"] == "value"
    assert proxy.of(scope) == before
