"""The part of `olvido demo` that shows memory with a model's help: two short conversations imply things in passing,
and once they have ended a small model reads them, in the background. What it finds is a fact, or is merged with one
that says the same in other words; the next conversation knows it, and the day gets its digest.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from textwrap import fill
from typing import Any

import httpx

from proxy.demo.remembering import written

KEY = "sk-demo-helped"
PATIENCE_SECONDS = 60.0
POLL_SECONDS = 0.05
COLUMNS = 80  # of a terminal
JOBS = "/admin/api/jobs"


async def helped(client: httpx.AsyncClient, model: str, settled: Callable[[], Awaitable[object]]) -> str:
    """Plays the conversations through a proxy on this machine, and returns what came of them, a line each. `settled`
    waits until what was said is learnt."""
    headers = {"authorization": f"Bearer {KEY}"}
    for conversation in written()["conversations"]:
        named = {**headers, "x-olvido-session": conversation["session"]}
        history: list[Mapping[str, str]] = []
        for turn in conversation["turns"]:
            history.append({"role": "user", "content": turn["user"]})
            said = await _said(client, model, history, named)
            history.append({"role": "assistant", "content": said})
        ended = await client.post(f"/olvido/sessions/{conversation['session']}/end", headers=headers)
        ended.raise_for_status()
        await _done(client, "extract", conversation["session"])
    question, expects = written()["question"], written()["expects"]
    scope = (await _jobs(client, "extract"))[0]["scope"]
    await settled()
    answer = await asked(client, model, question, headers)
    now = datetime.now(UTC)
    for subject in (f"hour {now:%Y-%m-%dT%H}", f"day {now:%Y-%m-%d}"):
        await _run(client, scope, "digest", subject)
    told = [*await _facts(client), f"asked in a new conversation: {question} → {answer}"]
    digests = (await client.get("/admin/api/digests", params={"scope": scope, "span": "day"})).json()["digests"]
    told += [f"digest of the day: {each['text']}" for each in digests]
    spend = (await client.get(f"{JOBS}/spend", params={"scope": scope})).json()
    told.append(f"its calls cost US$ {spend['scope_today']:.4f}, as rows of the ledger")
    known = "known" if expects in answer else "not known"
    return listed(f"Memory with a model's help ({known} to the next conversation):", told)


def listed(title: str, lines: Sequence[str]) -> str:
    """Lays out lines under a title, within the width of a terminal."""
    wrapped = (fill(line, COLUMNS, initial_indent="  ", subsequent_indent="      ") for line in lines)
    return "\n".join([title, *wrapped])


async def asked(client: httpx.AsyncClient, model: str, question: str, headers: Mapping[str, str]) -> str:
    """Asks in a conversation of its own; returns the answer."""
    return await _said(client, model, [{"role": "user", "content": question}], headers)


async def _said(
    client: httpx.AsyncClient, model: str, messages: Sequence[Mapping[str, str]], headers: Mapping[str, str]
) -> str:
    body = {"model": model, "messages": messages}
    response = await client.post("/v1/chat/completions", json=body, headers=headers)
    response.raise_for_status()
    said: str = response.json()["choices"][0]["message"]["content"]
    return said


async def _run(client: httpx.AsyncClient, scope: str, kind: str, subject: str) -> None:
    """Arms a job for now, and waits for its end."""
    (await client.post(JOBS, json={"scope": scope, "kind": kind, "subject": subject})).raise_for_status()
    await _done(client, kind, subject)


async def _done(client: httpx.AsyncClient, kind: str, subject: str) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not any(job["subject"] == subject and job["state"] == "done" for job in await _jobs(client, kind)):  # noqa: ASYNC110 (over HTTP)
                await asyncio.sleep(POLL_SECONDS)


async def _jobs(client: httpx.AsyncClient, kind: str) -> list[Mapping[str, Any]]:
    found = (await client.get(JOBS)).json()["jobs"]
    return [job for job in found if job["kind"] == kind]


async def _lines(client: httpx.AsyncClient, kind: str) -> list[Mapping[str, Any]]:
    found = []
    for job in reversed(await _jobs(client, kind)):
        found += (await client.get(f"{JOBS}/{job['id']}")).json()["lines"]
    return [line for line in found if line["result"] == "kept"]


async def _facts(client: httpx.AsyncClient) -> list[str]:
    """The facts that were kept; of one that was known in other words it is said that it was merged with that."""
    lines = [line for line in await _lines(client, "extract") if line["op"] == "add"]
    return [
        f"a merge: «{line['quote']}» says what is known: {line['value']}"
        if line["reason"] == "known"
        else f"a fact by the model: {line['value']}  («{line['quote']}»)"
        for line in lines
    ]
