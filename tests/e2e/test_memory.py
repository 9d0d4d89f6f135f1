"""`olvido memory` on the storage of a proxy that is serving: each sees at once what the other has changed."""

import io
import json
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, redirect_stderr, redirect_stdout
from pathlib import Path
from time import time
from typing import Any

import pytest

from proxy.cli import main
from tests.e2e.running import Demo, Proxy, run_proxy, upstream
from tests.servers import eventually

Json = Any
FACTS = "/admin/api/facts"
KEY = "sk-test"  # the one that the proxy's own client has
SEEN_WITHIN = 2.0  # seconds


@pytest.fixture(scope="module")
def remembering(running_demo: Demo, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    folder = tmp_path_factory.mktemp("memory")
    with run_proxy({"upstreams": [upstream("demo", running_demo, ["*"])]}, folder) as proxy:
        yield proxy
        assert proxy.complaints() == []


def olvido(proxy: Proxy, *arguments: str) -> str:
    """What the command tells, in a terminal that claims to know no accents. Beside the proxy's process, in this one."""
    told, complained = io.BytesIO(), io.StringIO()
    with redirect_stdout(io.TextIOWrapper(told, encoding="ascii", write_through=True)), redirect_stderr(complained):
        status = main(["memory", arguments[0], "--config", str(_config(proxy)), *arguments[1:]])
        assert (status, complained.getvalue()) == (0, "")
        return told.getvalue().decode()


def _config(proxy: Proxy) -> Path:
    return proxy.log.with_name("olvido.yaml")


def told(proxy: Proxy, **query: str) -> list[Json]:
    facts: list[Json] = proxy.http.get(FACTS, params=query).raise_for_status().json()["facts"]
    return facts


def tables_with(proxy: Proxy, text: str) -> list[str]:
    with closing(sqlite3.connect(f"file:{proxy.storage / 'olvido.db'}?mode=ro", uri=True)) as database:
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        dumps = {table: repr(database.execute(f'SELECT * FROM "{table}"').fetchall()) for table in tables}
    return [table for table, dump in dumps.items() if text in dump or repr(text.encode())[2:-1] in dump]


def said(proxy: Proxy, user: str, *messages: str) -> None:
    for message in messages:
        body = {"model": "demo-chat", "messages": [{"role": "user", "content": message}]}
        proxy.http.post("/v1/chat/completions", json=body, headers={"x-olvido-user": user}).raise_for_status()


def test_what_the_command_forgets_the_api_no_longer_tells(remembering: Proxy) -> None:
    said(remembering, "ana", "Recordá que soy alérgica al maní.", "Acordate de que trabajo en Tucumán.")
    eventually(lambda: len(told(remembering)) == 2)
    mine = ("--key", KEY, "--user", "ana")
    listed = [json.loads(line) for line in olvido(remembering, "list", "--json", *mine).splitlines()]
    assert listed == told(remembering)
    eventually(lambda: tables_with(remembering, "alérgica al maní") == ["facts", "archive", "contents"])
    scope = listed[0]["scope"]

    assert "alérgica al maní" in olvido(remembering, "forget", "que soy alérgica al maní", "--yes", *mine)
    eventually(lambda: len(told(remembering, scope=scope)) == 1, SEEN_WITHIN)
    assert tables_with(remembering, "alérgica al maní") == []
    (left,) = told(remembering, scope=scope)
    assert "Tucumán" in left["value"]
    olvido(remembering, "forget", left["id"], "--yes")
    eventually(lambda: told(remembering) == [], SEEN_WITHIN)


def test_everything_is_forgotten_by_a_whole_message_alone_and_the_command_brings_it_back(remembering: Proxy) -> None:
    word, mine = "Puerto Madryn", ("--key", KEY, "--user", "carla")

    def values() -> list[str]:
        return [fact["value"] for fact in told(remembering) if fact["scope"].endswith("/carla")]

    said(remembering, "carla", f"Recordá que vivo en {word}.")
    eventually(lambda: len(values()) == 1)
    eventually(lambda: set(tables_with(remembering, word)) == {"facts", "archive", "contents"})
    said(remembering, "carla", "Traducí esto al inglés:\nOlvidá todo.")
    assert len(values()) == 1
    said(remembering, "carla", "Hola. Por favor, olvidá todo.")
    assert values() == []  # with the answer it is done
    assert set(tables_with(remembering, word)) == {"wiped_facts", "wiped_archive"}
    assert olvido(remembering, "restore", "--yes", *mine).startswith("Brought back: 1 fact and ")
    eventually(lambda: len(values()) == 1, SEEN_WITHIN)
    assert set(tables_with(remembering, word)) == {"facts", "archive"}
    olvido(remembering, "forget", "--all", "--yes", *mine)
    eventually(lambda: values() == [], SEEN_WITHIN)
    assert tables_with(remembering, word) == []


@pytest.mark.parametrize(
    ("before", "since", "holds"),
    [("I live in Madrid.", "I live in Porto.", "Porto"), ("Vivo en Cuenca.", "Vivo en Ourense.", "Ourense")],
)
def test_what_was_said_after_a_wipe_ends_what_the_command_brings_back(
    before: str, since: str, holds: str, remembering: Proxy
) -> None:
    user = f"dora-{holds}"

    def facts() -> dict[str, bool]:
        mine = [fact for fact in told(remembering) if fact["scope"].endswith(f"/{user}")]
        return {fact["value"]: fact["superseded_by"] is None for fact in mine}

    said(remembering, user, before)
    eventually(lambda: len(facts()) == 1)
    said(remembering, user, "Forget everything.", since)
    eventually(lambda: len(facts()) == 1)
    olvido(remembering, "restore", "--yes", "--key", KEY, "--user", user)
    eventually(lambda: len(facts()) == 2, SEEN_WITHIN)
    assert [holds in value for value, is_current in facts().items() if is_current] == [True]


def test_what_the_api_adds_and_the_command_confirms_both_tell(remembering: Proxy) -> None:
    draft = {"scope": "ab" * 16 + "/beto", "domain": "hogar", "key": "perra", "value": "mi perra se llama Ñata 🙂"}
    added = remembering.http.post(FACTS, json=draft).raise_for_status().json()["fact"]
    assert "mi perra se llama Ñata 🙂" in olvido(remembering, "show", added["id"])
    olvido(remembering, "confirm", added["id"])
    eventually(lambda: told(remembering, domain="hogar")[0]["last_confirmed_at"] > added["last_confirmed_at"])
    lines = _config(remembering).with_name("facts.jsonl")
    olvido(remembering, "export", str(lines), "--scope", draft["scope"])
    remembering.http.delete(f"{FACTS}/{added['id']}").raise_for_status()
    assert olvido(remembering, "list", "--json", "--scope", draft["scope"]) == ""
    olvido(remembering, "import", str(lines), "--scope", draft["scope"])
    eventually(lambda: [fact["id"] for fact in told(remembering, domain="hogar")] == [added["id"]], SEEN_WITHIN)


# --- a history that comes back with another beginning ----------------------------------------------------------------


def chat(proxy: Proxy, user: str, *said: str, system: str = "Today is Monday.", fault: str = "") -> None:
    """User messages and answers in turn, behind a system prompt; the last is the user's."""
    roles = ("user", "assistant")
    messages = [{"role": roles[at % 2], "content": text} for at, text in enumerate(said)]
    body = {"model": "demo-chat", "messages": [{"role": "system", "content": system}, *messages]}
    headers = {"x-olvido-user": user} | ({"x-demo-fault": fault} if fault else {})
    proxy.http.post("/v1/chat/completions", json=body, headers=headers).raise_for_status()


def scope_of(proxy: Proxy, user: str) -> str:
    """The scope of this user's facts, by one that nobody else has."""
    chat(proxy, user, f"My locker is called {user}.")
    eventually(lambda: [fact for fact in told(proxy) if fact["value"] == f"My locker is called {user}"])
    return next(str(fact["scope"]) for fact in told(proxy) if fact["value"] == f"My locker is called {user}")


def values(proxy: Proxy, scope: str) -> set[str]:
    return {fact["value"] for fact in told(proxy, scope=scope) if fact["status"] == "active"}


ORDERS = {
    "forget": ("Forget that I'm allergic to kiwi.", {"I drive a Fiat"}),
    "olvida": ("Olvidá que soy alérgico al kiwi.", {"I drive a Fiat"}),
    "everything": ("Forget everything.", set()),
}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("with_order", [True, False], ids=["with the order", "without it"])
def test_what_was_forgotten_does_not_come_back_with_a_history(remembering: Proxy, order: str, with_order: bool) -> None:
    user = f"again-{list(ORDERS).index(order)}-{int(with_order)}"
    scope = scope_of(remembering, user)
    command, left = ORDERS[order]
    history = ["I drive a Fiat.", "Fine.", "I'm allergic to kiwi.", "I see."]
    chat(remembering, user, *history[:1])
    chat(remembering, user, *history[:3])
    eventually(lambda: {"I drive a Fiat", "I'm allergic to kiwi"} <= values(remembering, scope))
    chat(remembering, user, *history, command)
    eventually(lambda: "I'm allergic to kiwi" not in values(remembering, scope))
    ordered = [command, "Done."] if with_order else []
    chat(remembering, user, *history, *ordered, "I collect red stamps.", system="Today is Tuesday.")
    eventually(lambda: "I collect red stamps" in values(remembering, scope))
    own = {f"My locker is called {user}"}
    assert values(remembering, scope) - own == left | {"I collect red stamps"}
    # Said anew, it is known again.
    chat(remembering, user, "I'm allergic to kiwi.", system="Today is Wednesday.")
    eventually(lambda: "I'm allergic to kiwi" in values(remembering, scope))


def test_what_was_deleted_does_not_come_back_with_a_history_and_does_if_it_is_said_anew(
    running_demo: Demo, tmp_path: Path
) -> None:
    settings, folder = {"upstreams": [upstream("demo", running_demo, ["*"])]}, tmp_path / "proxy"
    folder.mkdir()
    kiwi, stamps = "I'm allergic to kiwi", "I collect red stamps"
    with run_proxy(settings, folder) as proxy:
        scope = scope_of(proxy, "again")
        chat(proxy, "again", f"{kiwi}.")
        eventually(lambda: kiwi in values(proxy, scope))
        (line,) = (each for each in olvido(proxy, "export", "--scope", scope).splitlines() if kiwi in each)
        fact = json.loads(line)
        lines = tmp_path / "deleted.jsonl"
        lines.write_text(json.dumps({**fact, "superseded_by": fact["id"], "superseded_at": time()}), encoding="utf-8")
        assert "1 changed" in olvido(proxy, "import", str(lines), "--scope", scope)
    with run_proxy(settings, folder) as proxy:  # another process: what it knows is what was stored
        chat(proxy, "again", f"{kiwi}.", "I see.", f"{stamps}.", system="Today is Tuesday.")
        eventually(lambda: stamps in values(proxy, scope))
        assert kiwi not in values(proxy, scope)
        chat(proxy, "again", f"{kiwi}.", system="Today is Wednesday.")
        eventually(lambda: kiwi in values(proxy, scope))
        assert [each["id"] for each in told(proxy, scope=scope) if each["value"] == kiwi] == [fact["id"]]


def test_an_old_message_of_a_history_ends_nothing_newer(remembering: Proxy) -> None:
    scope = scope_of(remembering, "older")
    chat(remembering, "older", "I live in Oslo.")
    eventually(lambda: "I live in Oslo" in values(remembering, scope))
    chat(remembering, "older", "I moved to Bern.")
    eventually(lambda: "I live in Oslo" not in values(remembering, scope))
    chat(remembering, "older", "I live in Oslo.", "Nice.", "I collect red stamps.", system="Today is Tuesday.")
    eventually(lambda: "I collect red stamps" in values(remembering, scope))
    assert "I live in Oslo" not in values(remembering, scope)
    assert "I moved to Bern" in values(remembering, scope)


@pytest.mark.parametrize("order", ORDERS)
def test_what_is_still_being_answered_when_it_is_forgotten_is_not_learnt_afterwards(
    remembering: Proxy, running_demo: Demo, order: str
) -> None:
    user = f"under-way-{list(ORDERS).index(order)}"
    scope = scope_of(remembering, user)
    command, _ = ORDERS[order]
    running_demo.clear()
    with ThreadPoolExecutor(1) as threads:
        first = threads.submit(chat, remembering, user, "I'm allergic to kiwi.", fault="slow-first-byte=60")
        eventually(lambda: running_demo.in_flight == 1)  # the statement is with the upstream
        chat(remembering, user, command, system="Today is Tuesday.")
        assert not first.done()
        running_demo.release()
        first.result()
    # What is learnt of one person is learnt in the order in which it was answered.
    chat(remembering, user, "I collect red stamps.", system="Today is Wednesday.")
    eventually(lambda: "I collect red stamps" in values(remembering, scope))
    assert "I'm allergic to kiwi" not in values(remembering, scope)
    again = [fact["value"] for fact in told(remembering, scope=scope)]
    assert "I'm allergic to kiwi" not in again
    # Said anew, it is known again.
    chat(remembering, user, "I'm allergic to kiwi.", system="Today is Thursday.")
    eventually(lambda: "I'm allergic to kiwi" in values(remembering, scope))
