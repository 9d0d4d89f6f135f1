"""How fast the page answers over a large ledger: calls of the admin API, and views as a browser draws them.

    python -m tests.bench.page [--requests 10000] [--turns 200] [--rounds 15]

Conversations of 200 turns are written by the stores, with ledger rows, archived turns and the contents of every request
(its whole history, as clients send it), until there are 10,000 requests; one in thirty went to another route. `olvido
serve` runs over them as a process of its own. Each call is made, and each view shown, several times. Fails if a call
(p95) or a view (median) takes 300 ms or more. Without Chromium the views are left out.
"""

import argparse
import asyncio
import json
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import quote

import httpx

from proxy.bench import processes
from proxy.storage.sqlite.archive import SqliteArchive
from proxy.storage.sqlite.contents import SqliteContents
from proxy.storage.sqlite.database import Database
from proxy.storage.sqlite.ledger import SqliteLedger
from proxy.storage.stores.contents import ContentLimits
from proxy.tasks import Tasks
from proxy.types import UNMANAGED, ArchivedTurn, Contents, Trail, Utterance
from tests.bench.ledger import STAGES
from tests.builders import ledger_row
from tests.page.browser import chromium, playing

LIMIT = 0.3  # seconds
SCOPES = 5
GAP = 40.0  # seconds between two requests
RARE = "xylophone"  # is asked about once, at the very beginning
CONTENTS_MB = 1_024
WORDS = (
    "the invoice of the hotel in Lisbon is still missing", "we moved the standup to Tuesday at ten",
    "cuál era el código de la reserva", "the migration broke two dashboards and nobody noticed",
    "decime otra vez qué vino va con el bacalao", "she prefers the night train if there is a sleeper",
)  # fmt: skip

Fields = Mapping[str, Any]


def said(number: int, dice: random.Random) -> tuple[str, str]:
    """A question and its answer."""
    question = f"{dice.choice(WORDS)}, number {number}?" if number else f"Where is the {RARE}?"
    return question, f"As for {number}: {dice.choice(WORDS)}; {dice.choice(WORDS)}."


async def fill(folder: Path, requests: int, turns: int, now: float) -> tuple[str, str]:
    """Writes everything; returns scope and name of a whole conversation."""
    dice = random.Random(1)
    database = Database(folder / "olvido.db", Tasks())
    ledger, archive = SqliteLedger(database), SqliteArchive(database, 1e9)
    contents = SqliteContents(database, ContentLimits(bytes=CONTENTS_MB * 2**20))
    for number in range(requests):
        conversation, turn = divmod(number, turns)
        scope, session = f"{conversation % SCOPES:032x}/", f"c-{conversation:032x}"
        at, request_id = now - (requests - number) * GAP, f"req_{number:024x}"
        if turn == 0:
            history: list[Fields] = []
            parent = b""
        if number % 30 == 29:
            other = {"route": "/v1/responses", "session": UNMANAGED, "plan_reason": "route"}
            ledger.append(ledger_row(request_id=f"{request_id}u", at=at, scope=scope, **other))
        asked, answer = said(number, dice)
        history.append({"role": "user", "content": asked})
        reply = {"role": "assistant", "content": answer}
        body = json.dumps({"model": "bench", "messages": history}).encode()
        is_managed = turn > 8
        saved = dice.random() / 100 - 0.001
        ledger.append(
            ledger_row(
                request_id=request_id,
                at=at,
                scope=scope,
                session=session,
                model=f"bench-{conversation % 3}",
                plan="managed" if is_managed else "untouched",
                status=500 if number % 997 == 996 else 200,
                tokens_original=40 * (turn + 1),
                tokens_sent=min(40 * (turn + 1), 900),
                cost_saved=saved if is_managed else 0.0,
                mechanisms={"window": 900, "recall": 90} if is_managed else {},
                trail=Trail(limit=4_000, turns=turn + 1, kept=min(turn, 6), start=0, newest=2 * turn),
                stage_seconds=dict.fromkeys(STAGES, 0.0002),
            )
        )
        headers = {"x-olvido-session": session}
        told = json.dumps(reply).encode()
        contents.put(Contents(scope, request_id, session, at, body, answer=told, headers=headers))
        link = number.to_bytes(16)
        own = Utterance("user", asked, b"u" + link[1:])
        spoken = (own, Utterance("assistant", answer, link))
        archive.add(scope, ArchivedTurn(link, parent, session, turn + 1, at, b"[]", spoken), None)
        parent = link
        history.append(reply)
        if number % 200 == 199:
            await database.writer.flush()
    await database.close()
    last = requests // turns - 1
    return f"{last % SCOPES:032x}/", f"c-{last:032x}"


def calls(scope: str, session: str, newest: str, now: float) -> Iterator[tuple[str, str, Fields]]:
    """What a call is for, its path and its parameters."""
    hour, day = 3_600.0, 86_400.0
    for told, span in (("1 h", hour), ("24 h", day), ("30 d", 30 * day)):
        for by in ("source", "mechanism", "route"):
            yield f"sums of {told} by {by}", "summary", {"from": now - span, "to": now, "by": by}
    listed = {"limit": 25, "questions": "true"}
    yield "scopes", "scopes", {}
    yield "requests", "requests", listed
    yield "requests of a scope", "requests", {**listed, "scope": scope}
    for name, given in (
        ("managed", {"plan": "managed"}), ("failed", {"failed": "true"}), ("dearer", {"dearer": "true"}),
        ("unmanaged", {"unmanaged": "true"}), ("of a model", {"model": "bench-1"}), ("of none", {"model": "none"}),
        ("of an old hour", {"since": now - 4 * day, "until": now - 4 * day + hour}),
        ("with a word", {"text": "LISBON"}), ("with two words", {"text": "codigo reserva"}),
        ("with a rare word", {"text": RARE}),
    ):  # fmt: skip
        yield f"requests {name}", "requests", {**listed, **given}
    yield "sessions", "sessions", {"limit": 50}
    yield "sessions with a word", "sessions", {"limit": 50, "text": RARE}
    yield "a session of 200 turns", f"sessions/{quote(session, safe='')}", {"scope": scope}
    yield "its newest request", f"requests/{newest}", {"scope": scope}


def measured(ask: Callable[[], object], rounds: int) -> list[float]:
    """Seconds of each round, sorted; the first, which nobody has asked before, is one of them."""
    took = []
    for _ in range(rounds):
        started = time.perf_counter()
        ask()
        took.append(time.perf_counter() - started)
    return sorted(took)


def api(url: str, asked: Sequence[tuple[str, str, Fields]], rounds: int) -> list[str]:
    """Prints what each call takes; returns those that take too long."""
    late = []
    with httpx.Client(base_url=f"{url}/admin/api", timeout=30, trust_env=False) as client:

        def ask(path: str, given: Fields) -> None:
            client.get(path, params=given).raise_for_status()

        print(f"{'milliseconds':<34}{'p50':>9}{'p95':>9}{'KiB':>9}")
        for name, path, given in asked:
            took = measured(partial(ask, path, given), rounds)
            size = len(client.get(path, params=given).content) / 1024
            p95 = took[int(len(took) * 0.95)]
            print(f"{name:<34}{median(took) * 1e3:9.1f}{p95 * 1e3:9.1f}{size:9.0f}", flush=True)
            if p95 >= LIMIT:
                late.append(name)
        print(_whole_search(client))
    return late


def _whole_search(client: httpx.Client) -> str:
    """A search for what is said once, until all was looked at."""
    started, asked, found, before = time.perf_counter(), 0, 0, None
    while True:
        given: Fields = {"text": RARE, "limit": 25, **({} if before is None else {"before": before})}
        told = client.get("requests", params=given).raise_for_status().json()
        asked, found, before = asked + 1, found + len(told["requests"]), told["next"]
        if before is None:
            return f"a whole search: {found} found by {asked} calls in {time.perf_counter() - started:.2f} s"


# Leaves for a view, and waits until its rows stand there and were painted.
SHOWN = """async ([hash, ready]) => {
  const frame = () => new Promise(requestAnimationFrame);
  const started = performance.now();
  location.hash = hash;
  while (!document.querySelector(ready) || document.querySelector("main .loading")) await frame();
  await frame();
  return (performance.now() - started) / 1000;
}"""


def views(url: str, scope: str, session: str, newest: str, rounds: int) -> list[str]:
    """Prints what each view takes; returns those that take too long."""
    shown = {
        "now": ("#/now", ".view-now .stats"),
        "requests": ("#/requests", ".view-requests tbody tr"),
        "requests with a word": ("#/requests?text=lisbon", ".view-requests tbody tr"),
        "sessions": ("#/sessions", ".view-sessions tbody tr"),
        "a session of 200 turns": (
            f"#/session/{quote(session, safe='')}?scope={quote(scope)}",
            ".view-session tbody tr",
        ),
        "its newest request": (f"#/request/{newest}?scope={quote(scope)}", ".view-request h1"),
    }
    late = []
    with playing() as browser:
        tab = browser.new_context(viewport={"width": 1440, "height": 900}, reduced_motion="reduce").new_page()
        tab.goto(f"{url}/ui#/facts")
        tab.wait_for_selector("main h1")
        print(f"{'a view, milliseconds':<34}{'p50':>9}{'longest':>9}")
        for name, place in shown.items():
            took = []
            for _ in range(rounds):
                took.append(tab.evaluate(SHOWN, list(place)))
                tab.evaluate(SHOWN, ["#/facts", ".view-facts h1"])
            print(f"{name:<34}{median(took) * 1e3:9.0f}{max(took) * 1e3:9.0f}", flush=True)
            if median(took) >= LIMIT:
                late.append(f"view: {name}")
    return late


def run(folder: Path, requests: int, turns: int, rounds: int) -> int:
    now = time.time()
    started = time.perf_counter()
    storage = folder / "storage"
    storage.mkdir(mode=0o700)
    scope, session = asyncio.run(fill(storage, requests, turns, now))
    size = (storage / "olvido.db").stat().st_size
    seconds = time.perf_counter() - started
    print(f"{requests} requests, conversations of {turns} turns: {size / 2**20:.0f} MiB, {seconds:.0f} s")
    newest = f"req_{requests // turns * turns - 1:024x}"
    with processes.proxy(folder, "http://127.0.0.1:9/v1", storage=f"keep: {{contents_mb: {CONTENTS_MB}}}") as server:
        url = f"http://127.0.0.1:{server.port}"
        late = api(url, list(calls(scope, session, newest, now)), rounds)
        if chromium() is None:
            print("no chromium: views are left out")
        else:
            late += views(url, scope, session, newest, rounds)
    if late:
        print(f"{LIMIT * 1e3:.0f} ms and more: {', '.join(late)}")
    return int(bool(late))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--turns", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        return run(Path(folder), options.requests, options.turns, options.rounds)


if __name__ == "__main__":
    sys.exit(main())
