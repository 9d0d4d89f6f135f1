"""The parts of `olvido demo` that a long conversation does not show: a question in other words that is answered from
memory, and a memory file that a person edits while the proxy runs.

Both ask what is there instead of assuming it: where an answer did not come from memory, or the edit did not reach the
prompt, what is printed says so.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import httpx

from proxy.demo.helped import KEY, asked, listed

QUESTION = "What is the difference between a visa and a residence permit?"
REWORDED = (
    "Hi! Can you explain the difference between a residence permit and a visa?",
    "whats the diference between a visa and a residence permit, please?",
    "Could you tell me what the difference between a visa and a residence permit is?",
)

WAS, IS = "Da clases de yoga", "Da clases de cerámica"
ABOUT_IT = "¿De qué doy clases?"
PATIENCE_SECONDS = 20.0
POLL_SECONDS = 0.05


async def reworded(client: httpx.AsyncClient, model: str, entries: Callable[[], Awaitable[float]]) -> str:
    """Asks a question, and in other words in another conversation, until that is answered from memory, as it is at once
    unless this machine is busy; returns where each answer came from, a line each. `entries` counts the questions whose
    answers the proxy has kept."""
    kept = await entries()
    _, first = await _asked(client, model, QUESTION)
    with suppress(TimeoutError):
        async with asyncio.timeout(PATIENCE_SECONDS):
            while await entries() <= kept:  # noqa: ASYNC110 (over HTTP)
                await asyncio.sleep(POLL_SECONDS)
    lines = [f"{QUESTION} ({first})"]
    for question in REWORDED:
        said, source = await _asked(client, model, question)
        lines.append(f"{question} ({source})")
        if source == "intent":  # else the look-up took too long, so that the request went on without it
            break
    was_reused = "answered from memory, at no cost" if source == "intent" else "not answered from memory"
    said = said.replace("\n\n", " ")
    lines.append(f"→ {said[:120].rpartition(' ')[0]} …")
    return listed(f"A question in other words ({was_reused}):", lines)


async def _asked(client: httpx.AsyncClient, model: str, question: str) -> tuple[str, str]:
    """Returns the answer, and where it came from."""
    body = {"model": model, "messages": [{"role": "user", "content": question}]}
    answer = await client.post("/v1/chat/completions", json=body, headers={"authorization": "Bearer sk-demo-reworded"})
    answer.raise_for_status()
    return answer.json()["choices"][0]["message"]["content"], answer.headers["x-olvido-source"]


async def edited(client: httpx.AsyncClient, model: str, folder: Path) -> str:
    """Edits a line of the MEMORY.md that holds what memory's model has found, as a person does with an editor, and asks
    for it in a new conversation; returns what came of it, a line each. `folder`: of all people's files."""
    with suppress(TimeoutError):
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not await asyncio.to_thread(_edit, folder):  # noqa: ASYNC110 (a file system)
                await asyncio.sleep(POLL_SECONDS)
            while not await _is_fact(client):  # noqa: ASYNC110 (over HTTP)
                await asyncio.sleep(POLL_SECONDS)
    answer = await asked(client, model, ABOUT_IT, {"authorization": f"Bearer {KEY}"})
    known = "the next prompt had it" if IS in answer else "the next prompt did not have it"
    lines = [f"- {WAS}", f"+ {IS}", f"asked in a new conversation: {ABOUT_IT} → {answer}"]
    return listed(f"A line of MEMORY.md, edited while the proxy runs ({known}):", lines)


def _edit(folder: Path) -> bool:
    """Edits the line, if some file has it; tells whether one had."""
    for path in folder.rglob("MEMORY.md"):
        text = path.read_text(encoding="utf-8")
        if WAS in text:
            path.write_text(text.replace(WAS, IS), encoding="utf-8")
            return True
    return False


async def _is_fact(client: httpx.AsyncClient) -> bool:
    """Tells whether the edit is remembered; everybody's facts are a list of several pages."""
    asked: dict[str, str] = {}
    while True:
        told = (await client.get("/admin/api/facts", params=asked)).json()
        if any(fact["value"] == IS for fact in told["facts"]):
            return True
        if told["next"] is None:
            return False
        asked = {"before": told["next"]}
