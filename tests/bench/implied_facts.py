"""How often the next conversation knows what an earlier one only implied, without a model of memory and with a perfect
one.

    python -m tests.bench.implied_facts [--misses] [--words]

Reads `implied_conversations.jsonl`, written by an author who had not seen the code: conversations in which users imply
facts about themselves, the answer that a perfect model would give, and a question of another conversation, whose answer
needs one of these facts. The proxy serves as it does for anybody; the model's upstream plays the hand-made answers.
Each conversation is played as a client would, and ended; then its user asks the question in a new one. It counts if the
prompt that goes upstream has the strings by which the fact is known. `--words`: without embedding. `--misses` tells
whether the fact was known, and left out. Bounds are Wilson's, 95 %. Fails below 85 %.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from proxy.app import create_app
from proxy.pipeline import Services
from proxy.types import Fact
from proxy.types.curation import Job
from tests.bench.bypass import wilson
from tests.builders import completion, config
from tests.curation.conversations import Conversation, conversations, translated
from tests.servers import Inside, eventually, run_app, run_proxy

Json = Any
KEY = "sk-0123456789abcdef"
CHAT, MEMORY = "chat", "memory"  # models
LEAST = 0.85


@dataclass
class Upstream:
    """Answers for both models as it is told, and shows what it was asked."""

    url: str = ""
    reply: str = ""  # of the model that people talk to
    playing: Conversation | None = None  # whose hand-made answer the model of memory gives
    seen: Sequence[Mapping[str, Json]] = ()  # the messages of the newest prompt

    async def respond(self, request: Request) -> Response:
        body = await request.json()
        if body["model"] == MEMORY:
            return JSONResponse(completion(msgspec.json.encode(self._gold(body["messages"][-1]["content"])).decode()))
        self.seen = body["messages"]
        return JSONResponse(completion(self.reply))

    def _gold(self, asked: str) -> Json:
        if self.playing is None or "<conversation>" not in asked:
            return {"operations": []}
        block = asked.partition("<facts>")[2].partition("</facts>")[0]
        lines = [line.split(" | ", 3) for line in block.splitlines() if " | " in line]
        short = {value: name for name, _, _, value in lines}
        names = {name: short[fact.value] for name, fact in self.playing.known.items() if fact.value in short}
        operations = [_shown(each, names) for each in self.playing.answer["operations"]]
        return {**self.playing.answer, "operations": [each for each in operations if each is not None]}


def _shown(operation: Mapping[str, Json], names: Mapping[str, str]) -> Json | None:
    """An operation on what the model was shown: a fact that the user has ended before it was asked is not there to be
    changed, so its new value is added. None if nothing is left to do."""
    targets = [operation["id"]] if "id" in operation else operation.get("ids", [])
    left = [names[name] for name in targets if name in names]
    rest = {key: value for key, value in operation.items() if key not in ("id", "ids")}
    if len(left) == len(targets):
        return translated(operation, names)
    if operation["op"] == "invalidate":
        return None
    return {**rest, "op": "update", "id": left[0]} if left else {**rest, "op": "add"}


@dataclass(frozen=True)
class Proxy:
    """The proxy, in a thread."""

    services: Services
    inside: Inside
    http: httpx.Client
    upstream: Upstream

    @property
    def tenant(self) -> str:
        return self.services.authenticator.tenant((("authorization", f"Bearer {KEY}"),))

    def ask(self, user: str, session: str, said: Sequence[Mapping[str, str]]) -> None:
        body = {"model": CHAT, "messages": said}
        headers = {"x-olvido-user": user, "x-olvido-session": session}
        self.http.post("/v1/chat/completions", json=body, headers=headers).raise_for_status()

    def knows(self, scope: str, facts: Sequence[Fact]) -> None:
        library = self.services.library

        async def learn() -> None:
            library.learn(scope, await library.shelf(scope), facts)

        self.inside.do(learn)

    def facts(self, scope: str) -> list[Fact]:
        found: list[Fact] = self.inside.do(lambda: self.services.storage.facts.all(scope))
        return found

    def extractions(self, scope: str) -> list[Job]:
        jobs = self.inside.do(lambda: self.services.storage.jobs.jobs(scope))
        return [job for job in jobs if job.kind == "extract"]

    def is_quiet(self, scope: str) -> bool:
        jobs = self.extractions(scope)
        return bool(jobs) and all(job.state == "done" for job in jobs)

    def refused(self, scope: str) -> list[str]:
        lines = [line for job in self.extractions(scope) for line in job.lines]
        return [f"refused ({line.reason}) {line.value!r}" for line in lines if line.result == "refused"]


@contextmanager
def running(*, has_model: bool, embeds: bool, folder: Path) -> Iterator[Proxy]:
    upstream = Upstream()
    with run_app(Starlette(routes=[Route("/v1/chat/completions", upstream.respond, methods=["POST"])])) as url:
        upstream.url = url
        model = {"upstream": "up", "model": MEMORY, "when": ["close"], "allowance": 100.0, "per_day": 1_000.0}
        settings = config(
            upstreams=[{"name": "up", "base_url": f"{url}/v1", "api_key": KEY, "price": {"input": 0.1, "output": 0.4}}],
            storage={"path": str(folder)},
            server={"port": 0},
            reuse={"exact": {"enabled": False}, "intent": {"enabled": False}},
            embedding={"enabled": embeds},
            memory={"model": model} if has_model else {},
        )
        app = create_app(settings)
        inside = Inside(app)
        with (
            run_proxy(settings, inside) as proxy,
            httpx.Client(base_url=proxy, headers={"authorization": f"Bearer {KEY}"}, timeout=60) as http,
        ):
            services: Services = app.state.services
            eventually(lambda: services.intent.embedder.state in ("ready", "off", "failed"), 120)
            yield Proxy(services, inside, http, upstream)


@dataclass(frozen=True)
class Played:
    """What came of a conversation."""

    is_there: bool  # the fact, in the prompt of the question
    is_known: bool
    why: Sequence[str]  # it is not there


def played(proxy: Proxy, row: Conversation, *, has_model: bool) -> Played:
    """Plays a conversation, and asks its question in a new one."""
    scope = f"{proxy.tenant}/{row.id}"
    proxy.upstream.playing = row
    proxy.knows(scope, [replace(fact, links=()) for fact in row.facts.values()])
    said: list[dict[str, str]] = []
    for turn in row.turns:
        user, assistant = (each.text for each in turn.utterances)
        said.append({"role": "user", "content": user})
        proxy.upstream.reply = assistant
        proxy.ask(row.id, f"{row.id}-first", said)
        said.append({"role": "assistant", "content": assistant})
    proxy.http.post(f"/olvido/sessions/{row.id}-first/end", json={"user": row.id}).raise_for_status()
    if has_model:
        eventually(lambda: proxy.is_quiet(scope), 30)
    proxy.upstream.reply = "De acuerdo."
    proxy.ask(row.id, f"{row.id}-later", [{"role": "user", "content": row.question}])
    prompt = "\n".join(str(each["content"]) for each in proxy.upstream.seen)
    known = [fact.value for fact in proxy.facts(scope) if fact.superseded_by is None]
    why = []
    if not (is_there := all(part in prompt for part in row.must_contain)):
        is_known = any(all(part in value for part in row.must_contain) for value in known)
        why = ["known, not chosen"] if is_known else ["not known", *proxy.refused(scope)]
    return Played(is_there, is_there or "known, not chosen" in why, why)


def measured(*, has_model: bool, embeds: bool, misses: bool) -> float:
    """The share of conversations whose fact is in the prompt of the later question."""
    there: dict[str, list[bool]] = {"es": [], "en": []}
    known = 0
    with (
        tempfile.TemporaryDirectory() as folder,
        running(has_model=has_model, embeds=embeds, folder=Path(folder)) as proxy,
    ):
        for row in conversations():
            result = played(proxy, row, has_model=has_model)
            there[row.language].append(result.is_there)
            known += result.is_known
            if misses and not result.is_there:
                print(f"  {row.id} {row.question!r} needs {row.must_contain}: {'; '.join(result.why)}")
    name = "with the model" if has_model else "without a model"
    every = [each for of_language in there.values() for each in of_language]
    for language, found in (*there.items(), ("all", every)):
        low, high = wilson(sum(found), len(found))
        share = sum(found) / len(found)
        print(f"{name:16}{language:4}{sum(found):4} of {len(found):3}{share:8.1%}   [{low:.1%}, {high:.1%}]")
    print(f"{name:16}known {known} of {len(every)}")
    return sum(every) / len(every)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--misses", action="store_true")
    parser.add_argument("--words", action="store_true", help="without embedding")
    given = parser.parse_args()
    measured(has_model=False, embeds=not given.words, misses=False)
    if measured(has_model=True, embeds=not given.words, misses=given.misses) < LEAST:
        sys.exit(f"below {LEAST:.0%}")


if __name__ == "__main__":
    main()
