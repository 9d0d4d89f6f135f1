"""What many processes cost, and what they lose: over one PostgreSQL and one Redis, beside one process over SQLite.

    python -m tests.bench.cluster [--rounds 6] [--requests 400] [--rows REGEX]

    cpu      CPU a request of one process over PostgreSQL and Redis, beside one over SQLite under the same load, both
             served side by side; each ratio is of one round. The CPU of the two servers is told beside it.
    hot      where four workers found what a plan needs to know of the conversation before it

Prints the number of measurements and their spread. Exits with 1 if a row misses its limit.
"""

import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import psycopg

from proxy.bench import processes
from proxy.bench.bodies import Kind
from proxy.bench.load import Outcome
from proxy.bench.measuring import CONNECTIONS, Bench, Round, spread
from proxy.bench.processes import Server, Unusable
from tests import postgres
from tests.redis_server import RedisServer, run_redis

MOST_CPU = 1.5  # PostgreSQL and Redis against SQLite
LEAST_HOT = 0.6  # of the look-ups of states
WORKERS = 4
KINDS: Mapping[str, Kind] = {"English": "long-en", "Spanish": "long-es"}
_READS = re.compile(r'^olvido_context_reads_total\{[^}]*result="(\w+)"[^}]*\} (\S+)', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Cluster:
    """The servers that the processes share."""

    database: str  # URL
    redis: RedisServer

    @property
    def storage(self) -> str:
        return "kind: postgres, url: '${DATABASE_URL}', pool: 4"

    @property
    def sections(self) -> str:
        return f"shared: {{url: '{self.redis.url}', timeout_ms: 500}}"

    def cpu(self) -> tuple[float, float]:
        """Seconds of PostgreSQL, of Redis."""
        with psycopg.connect(self.database) as connection:
            (pid,) = connection.execute("SELECT pg_backend_pid()").fetchone() or (0,)
        postmaster = int(re.findall(r"PPid:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())[0]) if _is(pid) else 0
        return processes.cpu_seconds(postmaster), processes.cpu_seconds(self.redis.pid)


def _is(pid: int) -> bool:
    return Path(f"/proc/{pid}/status").exists()


@contextmanager
def cluster() -> Iterator[Cluster]:
    with run_redis() as redis:
        database = postgres.database()
        os.environ["DATABASE_URL"] = database
        yield Cluster(database, redis)
