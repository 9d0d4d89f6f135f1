"""`python -m tests.golden --check | --write [--storage postgres+redis]`: does the proxy do what it did, in
conversations that were written down?

Whoever changes on purpose what it does writes the outputs anew, and looks at what has changed in them.
"""

import argparse
import asyncio
import sys

from tests.golden import outputs, play


async def found(storage: str = "memory") -> dict[str, list[str]]:
    return await play.contexts(storage) | await play.reuses(storage)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.golden")
    how = parser.add_mutually_exclusive_group(required=True)
    how.add_argument("--check", action="store_true", help="ends with 1 if an output is not as it was written down")
    how.add_argument("--write", action="store_true", help="writes them down")
    parser.add_argument("--storage", choices=play.STORAGES, default="memory", help="where the proxy's memory is kept")
    given = parser.parse_args()
    now = outputs.read(outputs.written(asyncio.run(found(given.storage))))
    known = outputs.read(outputs.PATH.read_text(encoding="utf-8")) if outputs.PATH.exists() else {}
    print(outputs.report(known, now))
    if given.write:
        outputs.PATH.write_text(outputs.written(now), encoding="utf-8")
        return 0
    return bool(outputs.differing(known, now))


if __name__ == "__main__":
    sys.exit(main())
