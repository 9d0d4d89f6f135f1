"""The context of a conversation, asked for over HTTP: what earlier requests of the same key, user and session said."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
import schemathesis
import yaml
from hypothesis import HealthCheck, given, settings
from schemathesis import Case, GenerationMode

from proxy.errors import BadRequest, ContextUnavailable, InvalidJson, MissingParameter
from proxy.pipeline.context_api import Asked, ContextReader, decoded
from tests.builders import Said, assistant, config, incoming, user
from tests.examples import examples
from tests.proxied import KEY, Upstream, build_services, in_front_of, run_upstream
from tests.servers import eventually, proxy_app, run_proxy

CHAT, CONTEXT = "/v1/chat/completions", "/olvido/context"
BARS = "Three bars:\n1. **El Refugio**: quiet\n2. **La Fuga**: loud\n3. **Mesón Ana**: old"
FIELDS = {
    "city": {"type": "text", "signals": ["en", "in"], "ask": "¿En qué ciudad?"},
    "people": {"type": "number"},
    "date": {"type": "date"},
    "style": {"type": "enum", "values": ["romántico", "familiar"]},
}


class Client:
    """A client of the proxy, with a key and perhaps an end user."""

    def __init__(self, url: str, http: httpx.Client, key: str = KEY, user_name: str = "") -> None:
        self.url, self.http = url, http
        self.headers = {"authorization": f"Bearer {key}", **({"x-olvido-user": user_name} if user_name else {})}

    def chat(self, session: str, *said: Said) -> None:
        body = {"model": "demo-chat", "messages": list(said)}
        headers = {**self.headers, "x-olvido-session": session}
        self.http.post(f"{self.url}{CHAT}", json=body, headers=headers).raise_for_status()

    def ask(self, session: str, query: str = "And now?", **more: Any) -> dict[str, Any]:
        answer = self.http.post(
            f"{self.url}{CONTEXT}", json={"session": session, "query": query, **more}, headers=self.headers
        )
        assert answer.status_code == 200, answer.text
        told: dict[str, Any] = answer.json()
        return told


@pytest.fixture(scope="module")
def upstream() -> Iterator[Upstream]:
    with run_upstream() as running:
        yield running


@pytest.fixture(scope="module")
def http() -> Iterator[httpx.Client]:
    with httpx.Client(timeout=120, trust_env=False) as client:
        yield client


def served(stack: ExitStack, upstream: Upstream, **sections: Any) -> str:
    chosen = in_front_of(upstream, **sections)
    return stack.enter_context(run_proxy(chosen, proxy_app(chosen)))


@pytest.fixture(scope="module")
def url(upstream: Upstream) -> Iterator[str]:
    with ExitStack() as stack:
        yield served(stack, upstream, session_state=FIELDS, server={"port": 0, "drain": 1, "max_body_mb": 1})


@pytest.fixture
def client(url: str, http: httpx.Client) -> Client:
    return Client(url, http)


EMPTY: Mapping[str, Any] = {
    "user_id": None,
    "history_messages": [],
    "conversation_history": "",
    "previous_entities": [],
    "session_summary": "",
    "total_turns": 0,
    "user_patterns": None,
    "validated_context": None,
}


def test_an_unknown_session_has_an_empty_context(client: Client) -> None:
    told = client.ask("nobody-knows-it", "¿Qué hacemos hoy?")
    assert told.items() >= EMPTY.items()
    assert (told["session_id"], told["current_query"], told["language"]) == (
        "nobody-knows-it",
        "¿Qué hacemos hoy?",
        "es",
    )
    assert 0 < told["estimated_tokens"] < 20
    assert told["tokens_remaining"] == 4_000 - told["estimated_tokens"]


@pytest.mark.note("v2 Builder/1", "v2 Manager/3", "v2 SÍ/1")
def test_a_conversation_is_told_with_its_lists(client: Client) -> None:
    client.chat("bars", user("Busca bares en Madrid"), assistant(BARS), user("¿Cuál es tranquilo?"))
    told = client.ask("bars", "Dame más info del segundo")
    assert [each["role"] for each in told["history_messages"]] == ["user", "assistant", "user", "assistant"]
    assert told["history_messages"][1]["content"] == BARS
    assert told["conversation_history"].startswith(f"Usuario: Busca bares en Madrid\nAsistente: {BARS}\nUsuario: ¿Cuál")
    assert told["previous_entities"] == [
        {"name": "El Refugio", "position": 1, "turn": 1},
        {"name": "La Fuga", "position": 2, "turn": 1},
        {"name": "Mesón Ana", "position": 3, "turn": 1},
    ]
    assert told["total_turns"] == 2
    assert client.ask("bars", "the second", language="en")["conversation_history"].startswith("User: Busca")


@pytest.mark.note("v2 Manager/1")
def test_without_history_the_rest_is_told(client: Client) -> None:
    client.chat("short", user("Busca bares viejos en Madrid"), assistant(BARS), user("¿Cuál es tranquilo?"))
    told = client.ask("short", include_history=False)
    assert (told["history_messages"], told["conversation_history"], told["session_summary"]) == ([], "", "")
    assert len(told["previous_entities"]) == 3
    assert told["state"]["values"] == {"city": "Madrid"}


@pytest.mark.note("v2 Manager/2", "v2 Manager/4")
def test_older_turns_are_told_as_summaries_within_the_budget(client: Client) -> None:
    said = [
        part
        for at in range(1, 13)
        for part in (user(f"We decided to paint house {at} of the village green in May."), assistant("Noted."))
    ]
    client.chat("long", *said, user("And the last house?"))
    told = client.ask("long")
    assert told["total_turns"] == 13
    assert len(told["history_messages"]) == 12  # six turns in full
    assert "house 8" in told["conversation_history"]
    assert "house 7" not in told["conversation_history"]
    assert "house 7" in told["session_summary"]
    assert told["estimated_tokens"] + told["tokens_remaining"] == 4_000


@pytest.mark.note("v2 Manager/5")
def test_what_was_validated_comes_back_as_it_was_sent(client: Client) -> None:
    sent = {"location": {"lat": 40.4, "names": ["Sol", None]}}
    assert client.ask("echo", validated_context=sent)["validated_context"] == sent


def test_fields_are_told_with_the_question_for_the_first_that_is_missing(client: Client) -> None:
    client.chat("plan", user("Quiero algo romántico"), assistant("¿En qué ciudad?"), user("Lugo"))
    state = client.ask("plan", "Somos cuatro")["state"]
    assert state["values"] == {"style": "romántico", "city": "Lugo", "people": 4}
    assert (state["missing"], state["ready"]) == (["date"], False)
    assert state["ask"] == "¿Para qué fecha sería (date)?"
    assert client.ask("plan", "Mañana")["state"]["values"].keys() == {"style", "city", "date"}  # a query is not kept
    client.chat("plan", user("Mejor somos cinco, el 3 de marzo de 2027"))
    state = client.ask("plan", "ok")["state"]
    assert state["values"] | {"people": 5, "date": "2027-03-03"} == state["values"]
    assert (state["missing"], state["ready"], state["ask"]) == ([], True, None)


@pytest.mark.note("v2 Manager/5")
def test_facts_are_told_by_domain_if_asked_for(client: Client) -> None:
    client.chat("facts", user("Recordá que prefiero el té sin azúcar."))
    client.chat("facts", user("Gracias, eso es todo."))
    patterns = client.ask("elsewhere", include_patterns=True)["user_patterns"]
    assert {"count": 1, "facts": ["prefiero el té sin azúcar"]} in patterns.values()
    assert client.ask("elsewhere")["user_patterns"] is None


def test_nothing_crosses_a_key_an_end_user_or_a_session(url: str, http: httpx.Client, client: Client) -> None:
    ana, bob = Client(url, http, user_name="ana"), Client(url, http, user_name="bob")
    ana.chat("mine", user("Recordá que prefiero mesas en Cuenca."))
    told = ana.ask("mine", include_patterns=True)
    assert (told["user_id"], told["total_turns"], told["state"]["values"]) == ("ana", 1, {"city": "Cuenca"})
    assert ana.ask("mine", user="bob")["user_id"] == "ana"  # the header wins
    for other in (bob, client, Client(url, http, key="sk-another-key-0123456789abcdef")):
        empty = other.ask("mine", include_patterns=True)
        assert (empty["total_turns"], empty["history_messages"], empty["state"]["values"]) == (0, [], {})
        assert "Cuenca" not in str(empty)
    assert client.ask("mine", user="ana")["total_turns"] == 1
    assert ana.ask("other")["total_turns"] == 0


def test_what_is_forgotten_is_told_no_more(client: Client) -> None:
    client.chat("gone", user("Recordá que mi perro se llama Tobías."), assistant("Sí."), user("Somos tres en Teruel."))
    assert client.ask("gone")["state"]["values"] == {"people": 3, "city": "Teruel"}
    client.chat("gone", user("Forget everything"))
    told = client.ask("gone", include_patterns=True)
    assert "Tob" not in str(told)
    assert (told["user_patterns"], told["state"]["values"]) == ({}, {})


def test_without_fields_there_is_no_state(upstream: Upstream, http: httpx.Client) -> None:
    with ExitStack() as stack:
        client = Client(served(stack, upstream, profiles={"lean": {"budget": "economic"}}), http)
        client.chat("s", user("Somos cuatro en Madrid"))
        told = client.ask("s")
        assert (told["total_turns"], told["state"], told["tokens_remaining"]) == (1, None, None)


def test_unnamed_people_of_a_shared_key_have_the_session_alone(upstream: Upstream, http: httpx.Client) -> None:
    with ExitStack() as stack:
        client = Client(served(stack, upstream, tenancy="shared"), http)
        client.chat("one", user("Recordá que prefiero el té sin azúcar."))
        assert client.ask("one", include_patterns=True)["user_patterns"] != {}
        assert client.ask("two", include_patterns=True)["user_patterns"] == {}


@pytest.mark.long
def test_one_process_tells_what_another_has_served(upstream: Upstream, http: httpx.Client, tmp_path: Path) -> None:
    sections: dict[str, Any] = {"storage": {"path": str(tmp_path)}, "session_state": FIELDS}
    with ExitStack() as stack:
        one, other = (Client(served(stack, upstream, **sections), http) for _ in range(2))
        one.chat("trip", user("Busca bares en Madrid"), assistant(BARS), user("Somos cuatro"))
        one.ask("trip")  # what is queued is told by this process; by others once it is written
        told = eventually_told(other, "trip", turns=2)
        assert told == one.ask("trip")
        assert told["state"]["values"] == {"city": "Madrid", "people": 4}
        other.chat("trip", user("Mejor cinco personas"))
        assert eventually_told(one, "trip", turns=3)["state"]["values"] == {"city": "Madrid", "people": 5}
        assert one.ask("trip") == other.ask("trip")
    with ExitStack() as stack:
        again = Client(served(stack, upstream, **sections), http)
        assert again.ask("trip")["state"]["values"] == {"city": "Madrid", "people": 5}


@pytest.mark.long
def test_what_one_process_forgets_another_tells_no_more(upstream: Upstream, http: httpx.Client, tmp_path: Path) -> None:
    sections: dict[str, Any] = {"storage": {"path": str(tmp_path)}, "session_state": FIELDS}
    with ExitStack() as stack:
        one, other = (Client(served(stack, upstream, **sections), http) for _ in range(2))
        one.chat("trip", user("Recordá que prefiero hoteles en Lugo."))
        one.chat("trip", user("Somos tres"))
        assert eventually_told(other, "trip", turns=2)["state"]["values"] == {"city": "Lugo", "people": 3}
        one.chat("trip", user("Olvidá que prefiero hoteles en Lugo."))
        eventually(lambda: other.ask("trip")["state"]["values"] == {"people": 3})
        # Facts of other processes are as of a second ago.
        eventually(lambda: "Lugo" not in str(other.ask("trip", include_patterns=True)))


async def test_storage_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    body = msgspec.json.encode({"session": "s", "query": "q"})
    async with build_services(config(storage={"path": str(tmp_path)}, embedding={"enabled": False})) as services:
        reader, asked = ContextReader(services), replace(incoming(), body=body)
        assert (await reader.answer(asked)).status == 200
        await services.storage.close()
        with pytest.raises(ContextUnavailable):
            await reader.answer(asked)


def eventually_told(client: Client, session: str, *, turns: int) -> dict[str, Any]:
    told: dict[str, Any] = {}

    def is_there() -> bool:
        told.update(client.ask(session))
        return bool(told["total_turns"] == turns)

    eventually(is_there)
    return told


# --- bad input -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "kind", "param"),
    [
        (b"", InvalidJson, None),
        (b"{", InvalidJson, None),
        (b"\xff", InvalidJson, None),
        (b'{"session": "s", "query": "q", "validated_context": ' + b'{"a": ' * 10_000, InvalidJson, None),
        (b"[]", BadRequest, None),
        (b"{}", MissingParameter, "session"),
        (b'{"session": "s"}', MissingParameter, "query"),
        (b'{"session": "", "query": "q"}', BadRequest, "session"),
        (b'{"session": "s", "query": 7}', BadRequest, "query"),
        (b'{"session": "s", "query": "q", "language": "fr"}', BadRequest, "language"),
        (b'{"session": "s", "query": "q", "include_history": "yes"}', BadRequest, "include_history"),
        (b'{"session": "s", "query": "q", "validated_context": []}', BadRequest, "validated_context"),
        (b'{"session": "s", "query": "q", "sesion": "s"}', BadRequest, "sesion"),
    ],
)
def test_bad_input_is_refused_with_the_path_of_the_field(
    body: bytes, kind: type[BadRequest], param: str | None
) -> None:
    with pytest.raises(kind) as refused:
        decoded(body)
    assert (type(refused.value), refused.value.param) == (kind, param)


@pytest.mark.note("v2 Manager/1")
def test_good_input_has_the_defaults() -> None:
    assert decoded(b'{"session": "s", "query": ""}') == Asked("s", "")


def test_refusals_are_in_openais_shape(client: Client) -> None:
    def post(content: bytes, **headers: str) -> httpx.Response:
        return client.http.post(f"{client.url}{CONTEXT}", content=content, headers=client.headers | headers)

    refused = post(b'{"session": "s", "query": 7}')
    assert (refused.status_code, refused.json()["error"]["param"]) == (400, "query")
    assert post(b" " * (2**20 + 1)).status_code == 413
    assert post(b"{}", **{"content-encoding": "gzip"}).status_code in (400, 415)
    assert client.http.get(f"{client.url}{CONTEXT}").status_code in (404, 405)


def test_the_types_are_told(client: Client) -> None:
    answer = client.http.get(f"{client.url}/olvido/openapi.yaml")
    session = "/olvido/sessions/{session}"
    told = {CONTEXT, *(f"{session}/{what}" for what in ("end", "reset", "pins", "report"))}
    assert yaml.safe_load(answer.text)["paths"].keys() == told


SCHEMA = schemathesis.openapi.from_dict(
    yaml.safe_load((Path(__file__).parents[2] / "proxy" / "openapi.yaml").read_text(encoding="utf-8"))
)
OPERATION = SCHEMA[CONTEXT]["POST"]
AT_RANDOM = settings(
    max_examples=examples(60),
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.function_scoped_fixture],
)


@AT_RANDOM
@given(OPERATION.as_strategy(generation_mode=GenerationMode.POSITIVE))
def test_whatever_fits_the_types_is_answered_in_them(client: Client, case: Case[Any]) -> None:
    answer = case.call(base_url=client.url)
    case.validate_response(answer)
    assert answer.status_code == 200


@AT_RANDOM
@given(OPERATION.as_strategy(generation_mode=GenerationMode.NEGATIVE))
def test_whatever_does_not_is_refused(client: Client, case: Case[Any]) -> None:
    answer = case.call(base_url=client.url)
    case.validate_response(answer)
    assert answer.status_code == 400
    assert answer.json().keys() == {"error"}
