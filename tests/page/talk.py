"""What is said to the proxy before somebody looks at its page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import httpx

from tests.servers import eventually

SESSION = "trips/Lisbon"
MARKUP = '<img src="x" onerror="document.title=1"><script>document.title=2</script>'
SYSTEM = "You are an attentive assistant. You answer in the language you are spoken to."
_FILLER = (
    "The team asked for two more weeks to move the dashboards, since the nightly query takes almost three hours and "
    "keeps the others waiting; support says that complaints went down after the form was changed."
)
TURNS = (
    f"Remember that I am allergic to shellfish. {_FILLER}",
    f"I have decided to take the train to Lisbon, not the plane. {_FILLER}",
    f"The hotel is called Aurora and its booking code is QX7-114. {_FILLER}",
    f"Let us look at the budget: three nights, two people. {_FILLER}",
    f"This is how it looks in the page: {MARKUP} {_FILLER}",
    f"By the way, changing the subject: which wine goes with cod? {_FILLER}",
    "What was the booking code of the hotel Aurora that I told you earlier?",
)


@dataclass(frozen=True, slots=True)
class Talked:
    """Ids of requests that are worth a look."""

    first: str
    folding: str  # older turns leave the window with it
    last: str  # of the conversation: older turns have left the window
    reused: str
    branched: str


def talk(client: httpx.Client) -> Talked:
    """A conversation whose older turns leave the window, another way on from its second turn, and a question asked
    twice. Returns when the ledger has them all."""
    history: list[Mapping[str, Any]] = [{"role": "system", "content": SYSTEM}]
    ids, after_two = [], history
    for said in TURNS:
        history = [*history, {"role": "user", "content": said}]
        request_id, answer = _ask(client, history, session=SESSION)
        history = [*history, answer]
        ids.append(request_id)
        if len(ids) == 2:
            after_two = history
    branched, _ = _ask(client, [*after_two, {"role": "user", "content": "Or shall we take the bus?"}], session=SESSION)
    question = [{"role": "user", "content": "What is the capital of Australia?"}]
    _ask(client, question, temperature=0)
    reused, _ = _ask(client, question, temperature=0)
    known = len(ids) + 3
    eventually(lambda: len(client.get("/admin/api/requests").raise_for_status().json()["requests"]) >= known)
    return Talked(ids[0], ids[-2], ids[-1], reused, branched)


def _ask(
    client: httpx.Client, messages: Sequence[Mapping[str, Any]], *, session: str | None = None, **fields: Any
) -> tuple[str, Mapping[str, Any]]:
    """The request's id and the assistant's message."""
    headers = {"x-olvido-session": session} if session else {}
    answer = client.post(
        "/v1/chat/completions", json={"model": "demo-chat", "messages": messages, **fields}, headers=headers
    )
    answer.raise_for_status()
    said: Mapping[str, Any] = answer.json()["choices"][0]["message"]
    return answer.headers["x-olvido-request"], said
