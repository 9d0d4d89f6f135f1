"""What a process costs that has never seen a scope of 10,000 turns: the time to plan, recall, CPU and memory.

    python -m tests.bench.cold [--kind sqlite|postgres] [--turns 10000] [--questions 100] [--starts 10]

A person's conversations (those that `tests.bench.context` has, in English and Spanish, the rest made of its sentences)
are put into the stores, with a few hundred facts. A process answers questions about them over HTTP, each twice, at the
end of a long conversation about something else: the prompts that arrive at the upstream are looked through for the
evidence, and the second answer is the warm one. Then new
processes begin: each is asked a question that no other began with, and the last one all of them. Fails if a first
question is planned in more than 150 ms (median), or less than 95 % of the warm evidence is found.
"""

import argparse
import asyncio
import http.client
import os
import re
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import mean, median, quantiles
from typing import Any

import msgspec

from proxy.bench import processes
from proxy.bench.bodies import Author
from proxy.bench.processes import Server, cpu_seconds, settle, status
from proxy.storage.base import StorageError
from proxy.storage.database import Database
from proxy.storage.postgres.archive import PostgresArchive
from proxy.storage.postgres.database import PostgresDatabase
from proxy.storage.postgres.facts import PostgresFacts
from proxy.storage.sqlite.archive import SqliteArchive
from proxy.storage.sqlite.database import Database as SqliteDatabase
from proxy.storage.sqlite.facts import SqliteFacts
from proxy.tasks import Tasks
from proxy.types import ArchivedTurn, Fact, Utterance
from tests.bench import context_data
from tests.bench.context_data import Question

PERSON = "bench"
KEY = {"authorization": "Bearer sk-bench", "content-type": "application/json"}
FACTS = 300
SESSION_TURNS = 50  # of a conversation that is made up
LIMIT, SHARE = 0.150, 0.95  # seconds; of the warm evidence
ABOUT = {"en": "Remind me of what I told you: {}", "es": "Recordame lo que te conté: {}"}
DAY = 86_400.0
# Above the budget, so that a question about the past gets excerpts.
_AUTHOR = Author(3, stream=False)
HISTORY = [_AUTHOR.sentences("en", position) for position in range(80)]
SECTIONS = "context: {profile: lean}"
_STAGE = re.compile(rb'^olvido_stage_seconds_sum\{stage="plan"\} (\S+)', re.MULTILINE)
_HELD = re.compile(rb"^olvido_memory_pending (\S+)", re.MULTILINE)
_SCOPES = "SELECT name FROM scopes"


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and what became of it."""

    wall: float  # seconds until the answer was there
    plan: float  # seconds of the stage
    cpu: float  # seconds of the process, until it was idle
    rss: float  # MiB, then
    found: float  # share of the evidence


class Seen:
    """The last body that the upstream got."""

    body = b""


@contextmanager
def upstream() -> Iterator[str]:
    """Serves one answer, and keeps what was asked in `Seen`."""
    answer = msgspec.json.encode(
        {
            "id": "c-1",
            "object": "chat.completion",
            "created": 1,
            "model": "bench-model",
            "choices": [{"index": 0, "message": {"role": "assistant", "content": "I see."}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 3, "total_tokens": 103},
        }
    )

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            Seen.body = self.rfile.read(int(self.headers["content-length"]))
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()


def ask(server: Server, said: str) -> float:
    """Asks a question at the end of a long conversation about something else; returns the seconds until the answer."""
    messages = [*HISTORY, {"role": "user", "content": said}]
    body = msgspec.json.encode({"model": "bench-model", "user": PERSON, "messages": messages})
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    started = time.perf_counter()
    connection.request("POST", "/v1/chat/completions", body, KEY)
    answer = connection.getresponse()
    told = answer.read()
    took = time.perf_counter() - started
    connection.close()
    assert answer.status == 200, told
    return took


def _planned(server: Server) -> float:
    return sum(map(float, _STAGE.findall(processes.get(server.port, "/metrics"))))


def settled(server: Server) -> None:
    """Waits until nothing is owed: reading, vectors, writes."""
    while any(float(each) for each in _HELD.findall(processes.get(server.port, "/metrics"))):
        time.sleep(0.02)
    settle(server.pid, quiet=0.3)


def answered(server: Server, lang: str, question: Question, *, waits: bool = True) -> Asked:
    """Asks a question; `waits` for the process to be idle afterwards, so that all of its CPU counts."""
    before, used = _planned(server), cpu_seconds(server.pid)
    said = ABOUT[lang].format(question.text)
    wall = ask(server, said)
    if waits:
        settled(server)
    cpu, prompt = cpu_seconds(server.pid) - used, _texts(Seen.body).replace(said, "")
    wanted, exact = question.evidence or question.answers, bool(question.evidence)
    held = [each in prompt if exact else each.casefold() in prompt.casefold() for each in wanted]
    return Asked(wall, _planned(server) - before, cpu, status(server.pid).rss_mb, mean(held))


def _texts(body: bytes) -> str:
    return "\n".join(said["content"] for said in msgspec.json.decode(body)["messages"])


def questions(count: int) -> list[tuple[str, Question]]:
    """Of each language half, in a fixed order."""
    every = [*context_data.unseen(), *context_data.authored(), *context_data.locomo()]
    by: dict[str, list[tuple[str, Question]]] = {"en": [], "es": []}
    for each in every:
        by[each.lang] += [(each.lang, asked) for asked in each.questions if asked.evidence or asked.answers]
    some = {lang: found[:: max(1, len(found) // (count // 2))][: count // 2] for lang, found in by.items()}
    return [each for pair in zip(*some.values(), strict=True) for each in pair]


def turns(count: int, now: float) -> Iterator[ArchivedTurn]:
    """The turns of a person, oldest first: those with evidence among all others."""
    real = [*context_data.unseen(), *context_data.authored(), *context_data.locomo(), *context_data.beam()]
    talks = [[said for said in each.messages if said.get("content")] for each in real]
    pairs = [[talk[at : at + 2] for at in range(0, len(talk) - 1, 2)] for talk in talks]
    author, left = Author(7, stream=False), count - sum(map(len, pairs))
    while left > 0:
        lang = "es" if left % 2 else "en"
        size = min(SESSION_TURNS, left)
        pairs.append([[author.sentences(lang, 0), author.sentences(lang, 1)] for _ in range(size)])
        left -= size
    pairs = pairs[::7] + [talk for at, talk in enumerate(pairs) if at % 7]  # spread through the years
    step, number = 80 * DAY / count, 0
    for session, talk in enumerate(pairs):
        parent = b""
        for place, said in enumerate(talk, 1):
            links = [blake2b(f"{session}/{place}/{at}".encode(), digest_size=16).digest() for at in range(2)]
            utterances = tuple(
                Utterance(each["role"], each["content"], link) for each, link in zip(said, links, strict=True)
            )
            number += 1
            at = now - 80 * DAY + number * step
            yield ArchivedTurn(links[1], parent, f"talk-{session}", place, at, msgspec.json.encode(said), utterances)
            parent = links[1]


def facts(now: float) -> list[Fact]:
    """As many as somebody tells in years, about nothing that is asked."""
    return [
        Fact(
            f"f-{number:016x}",
            "projects",
            f"project-{number}",
            f"My project number {number} is kept in cupboard {number * 7 % 1000}",
            "high",
            "explicit",
            "talk-0",
            1,
            now - DAY,
            now - DAY,
        )
        for number in range(FACTS)
    ]


async def fill(database: Database, count: int, now: float) -> None:
    """Puts turns and facts into the scope that is there."""
    is_postgres = isinstance(database, PostgresDatabase)
    archive = (PostgresArchive if is_postgres else SqliteArchive)(database, 90 * DAY)
    store = (PostgresFacts if is_postgres else SqliteFacts)(database)
    (scope,) = await database.rows(_SCOPES, (), lambda row: str(row[0]))
    for number, turn in enumerate(turns(count, now), 1):
        archive.add(scope, turn, None)
        if number % 500 == 0:
            await archive.flush()
    store.put(scope, facts(now))
    await archive.flush()


async def stored(database: Database) -> int:
    """Returns the bytes of the scope's stored shelf; 0 if there is none."""
    try:
        return sum(await database.rows("SELECT length(shelf) FROM shelves", (), lambda row: int(row[0])))
    except StorageError:
        return 0


def measure(kind: str, options: argparse.Namespace, folder: Path) -> bool:
    """Prints what was measured; returns whether the limits were kept."""
    asked, now, storage = questions(options.questions), time.time(), ""
    if kind == "postgres":
        from tests.postgres import database as new_database

        os.environ["OLVIDO_BENCH_URL"] = url = new_database()
        storage = "kind: postgres, url: '${OLVIDO_BENCH_URL}'"

    async def inside(work: Any) -> Any:
        database: Any = (
            PostgresDatabase(url, Tasks())
            if kind == "postgres"
            else SqliteDatabase(folder / "proxy/storage/olvido.db", Tasks())
        )
        try:
            return await work(database)
        finally:
            await database.close()

    with ExitStack() as stack:
        stack.callback(processes.end_children)
        address = stack.enter_context(upstream())

        def started() -> Any:
            return processes.proxy(folder / "proxy", address, options.sections, storage=storage)

        with started() as server:
            ask(server, "Hello.")
            settled(server)
        began = time.perf_counter()
        asyncio.run(inside(lambda database: fill(database, options.turns, now)))
        print(f"\n{kind}: {options.turns} turns in {time.perf_counter() - began:.0f} s, {len(asked)} questions")
        with started() as server:
            read = answered(server, *asked[0])
            _tell("first, read turn by turn", [read])
            while not (size := asyncio.run(inside(stored))):
                time.sleep(0.5)
            settled(server)
            _tell("to become warm", [answered(server, *each) for each in asked])
            warm = [answered(server, *each, waits=False) for each in asked]
            _tell("warm", warm)
        firsts = []
        for number in range(options.starts):
            with started() as server:
                settle(server.pid)  # dictionaries are loaded after the start
                firsts.append(answered(server, *asked[(number * 7 + 3) % len(asked)], waits=number % 2 == 0))
                if number == options.starts - 1:
                    cold = [answered(server, *each, waits=False) for each in asked]
        size = asyncio.run(inside(stored))
        _tell(f"first of {options.starts} processes", firsts)
        _tell("all in a new process", cold)
        _tell("of which the last", cold[-1:])
        share = mean(each.found for each in cold) / mean(each.found for each in warm)
        same = [asked[(number * 7 + 3) % len(asked)] for number in range(options.starts)]
        before = mean(warm[asked.index(each)].found for each in same)
        print(f"  shelf {size / 2**20:.1f} MiB; evidence against warm {share:.1%}; ", end="")
        print(f"first questions {mean(each.found for each in firsts):.1%} against {before:.1%}")
    return median(each.plan for each in firsts) <= LIMIT and share >= SHARE


def _tell(name: str, found: Sequence[Asked]) -> None:
    plans = sorted(each.plan * 1e3 for each in found)
    worst = quantiles(plans, n=100, method="inclusive")[98] if len(plans) > 1 else plans[0]
    wall, cpu = (median(getattr(each, of) for each in found) * 1e3 for of in ("wall", "cpu"))
    print(
        f"  {name:<26} n {len(found):>3}  plan {median(plans):6.0f} ms, p99 {worst:6.0f}  wall {wall:6.0f} ms"
        f"  CPU {cpu:6.0f} ms  RSS {found[-1].rss:5.0f} MiB  evidence {mean(each.found for each in found):.1%}",
        flush=True,
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--kind", choices=("sqlite", "postgres"), action="append")
    parser.add_argument("--turns", type=int, default=10_000)
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--starts", type=int, default=10, help="new processes")
    parser.add_argument("--sections", default=SECTIONS, help="of the configuration, YAML")
    options = parser.parse_args()
    kept = []
    for kind in options.kind or ("sqlite", "postgres"):
        with tempfile.TemporaryDirectory(prefix="olvido-bench-") as folder:
            kept.append(measure(kind, options, Path(folder)))
    return int(not all(kept))


if __name__ == "__main__":
    sys.exit(main())
