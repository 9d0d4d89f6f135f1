"""How many commands to forget are obeyed while every plan comes too late.

python -m tests.bench.forgets [--users 40] [--kilobytes 600]

Each of these end users has stated two facts. All at once each sends a long history that was never seen, large enough
that planning it takes longer than its deadline, with a command to forget one of them at its end. Then the facts are
read from the file that the proxy has left.
"""

import argparse
import asyncio
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from time import perf_counter
from typing import Any

import httpx

from tests.e2e.running import run_demo, run_proxy, upstream

NUTS, TEA = "Remember that I'm allergic to nuts.", "Remember that I drink green tea."
FORGET = "Forget that I'm allergic to nuts."


def body(user: str, *said: str) -> Mapping[str, Any]:
    roles = ("user", "assistant")
    messages = [{"role": roles[at % 2], "content": each} for at, each in enumerate(said)]
    return {"model": "demo-chat", "user": user, "messages": messages}


def history(user: str, kilobytes: int) -> list[str]:
    """Of one that nobody else has had."""
    turns = kilobytes // 4
    lines = (" ".join(f"{user} {turn} word{turn * line % 9973}" for line in range(200)) for turn in range(turns))
    return [said for line in lines for said in (line[:4_000], "Noted.")]


async def asked(client: httpx.AsyncClient, sent: Mapping[str, Any]) -> tuple[str, float]:
    started = perf_counter()
    answer = await client.post("/v1/chat/completions", json=sent)
    return f"{answer.status_code} {answer.headers.get('x-olvido-plan', '')}", perf_counter() - started


async def run(url: str, users: list[str], kilobytes: int) -> tuple[Counter[str], list[float]]:
    headers = {"authorization": "Bearer sk-bench"}
    async with httpx.AsyncClient(base_url=url, headers=headers, timeout=180, trust_env=False) as client:
        for said in (NUTS, TEA):
            await asyncio.gather(*(asked(client, body(user, said)) for user in users))
        await asyncio.sleep(2)
        bodies = [body(user, *history(user, kilobytes), FORGET) for user in users]
        answers = await asyncio.gather(*(asked(client, each) for each in bodies))
    return Counter(status for status, _ in answers), sorted(seconds for _, seconds in answers)


def left(folder: Path) -> tuple[int, int]:
    """How many are still said to be allergic, and to drink tea."""
    with closing(sqlite3.connect(folder / "olvido.db")) as database:
        values = [value for (value,) in database.execute("SELECT value FROM facts")]
    return sum("nuts" in value for value in values), sum("tea" in value for value in values)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=40)
    parser.add_argument("--kilobytes", type=int, default=600)
    options = parser.parse_args()
    users = [f"user-{number}" for number in range(options.users)]
    with tempfile.TemporaryDirectory() as folder, run_demo() as demo:
        settings = {
            "upstreams": [upstream("demo", demo, ["*"])],
            "embedding": {"enabled": False},
            "server": {"drain": "5s"},  # the histories need not be learnt to their ends
        }
        with run_proxy(settings, Path(folder)) as proxy:
            answers, seconds = asyncio.run(run(proxy.url, users, options.kilobytes))
            nuts, tea = left(proxy.storage)  # as it is when the last answer has come
            print(f"{options.users - nuts} of {options.users} obeyed; {tea} of {options.users} others kept")
            print(f"answered in {seconds[0]:.1f} to {seconds[-1]:.1f} s: {dict(answers)}")


if __name__ == "__main__":
    main()
