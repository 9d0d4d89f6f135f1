"""`python -m tests.bench.neighbours`: how long other clients wait while one sends a long history that is new.

Another client, with a key of its own, asks one small question after the other: for a while with nothing beside it, then
for `--seconds` from the moment that a request of `--messages` messages is sent that nobody has seen (`--at-once` of
them, each with a key of its own). It has said where it lives, so that each of its questions is planned. The proxy is as
users run it, reuse by intent left out; the upstream answers at once.
"""

import argparse
import itertools
import json
import random
import statistics
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import httpx

from tests.e2e.running import CHAT, Proxy, run_demo, run_proxy, upstream
from tests.servers import eventually

READY_SECONDS = 60.0
PAUSE = 0.02  # seconds between two questions
CLAUSES = Path(__file__).with_name("clauses.jsonl")
NAMES = ["Ana", "Beto", "Carla", "Dora", "Emil", "Fritz", "Greta", "Hugo", "Inga", "Jan"]
PLACES = ["Leeds", "Cork", "Porto", "Madrid", "Rosario", "Tandil", "Oslo", "Utrecht", "Sligo", "Azul"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--messages", type=int, default=3_000)
    parser.add_argument("--bytes", type=int, default=1_150, help="of a message, about")
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--at-once", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, run_demo() as demo:
        settings = {"upstreams": [upstream("demo", demo, ["*"])], "embedding": {"enabled": True}}
        with run_proxy(settings, Path(folder)) as proxy:
            eventually(lambda: proxy.http.get("/readyz").json()["parts"]["embedding"] == "ready", READY_SECONDS)
            _ask(proxy, "sk-other", [_user("I live in Cork.")])
            print(f"alone   {told(asked(proxy, options.seconds / 4, 'alone'))}")
            long = history(options.messages, options.bytes)
            sending = [threading.Thread(target=_send, args=(proxy, long, key)) for key in range(options.at_once)]
            for each in sending:
                each.start()
            print(f"beside  {told(asked(proxy, options.seconds, 'beside'))}")
            for each in sending:
                each.join()


def history(messages: int, size: int) -> list[dict[str, str]]:
    """Every user message states something, beside words of no meaning."""
    rng = random.Random(7)
    lines = CLAUSES.read_text(encoding="utf-8").splitlines()
    clauses = [clause for line in lines for clause, _ in json.loads(line)["clauses"] if clause.strip()]

    def text() -> str:
        said = ""
        while len(said) < size:
            said += f"{rng.choice(clauses).strip()} {rng.choice(NAMES)} {rng.randrange(10**6)}. "
        return said

    said = itertools.cycle(("user", "assistant"))
    made = [{"role": role, "content": text()} for role, _ in zip(said, range(messages - 1), strict=False)]
    for number, each in enumerate(made[::2]):
        each["content"] = f"I live in {PLACES[number % len(PLACES)]}. {each['content']}"
    return [*made, {"role": "user", "content": "What is a black hole?"}]


def asked(proxy: Proxy, seconds: float, name: str) -> list[float]:
    """Seconds that each question of the other client took."""
    took: list[float] = []
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        took.append(_ask(proxy, "sk-other", [_user(f"say: {name} {len(took)}, where do I live?")]))
        time.sleep(PAUSE)
    return took


def told(seconds: Sequence[float]) -> str:
    cuts = statistics.quantiles(seconds, n=100)
    p50, p99, most = (f"{1000 * each:.0f}" for each in (cuts[49], cuts[98], max(seconds)))
    return f"n={len(seconds)}  p50 {p50} ms  p99 {p99} ms  most {most} ms"


def _send(proxy: Proxy, messages: list[dict[str, str]], key: int) -> None:
    _ask(proxy, f"sk-long-{key}", [_user("hello")])  # from now on it is known
    print(f"a long one was answered after {_ask(proxy, f'sk-long-{key}', messages):.1f} s")


def _ask(proxy: Proxy, key: str, messages: list[dict[str, str]]) -> float:
    """How many seconds the answer took."""
    started = time.monotonic()
    body = {"model": "demo-chat", "messages": messages}
    httpx.post(
        f"{proxy.url}{CHAT}", json=body, headers={"authorization": f"Bearer {key}"}, timeout=120
    ).raise_for_status()
    return time.monotonic() - started


def _user(content: str) -> dict[str, str]:
    return {"role": "user", "content": content}


if __name__ == "__main__":
    main()
