"""Files of a person in memory, as `Folder` has them on disk, and what tests put into them."""

from collections.abc import Callable, Mapping

from proxy.types import ArchivedTurn, Fact, Utterance
from tests.memory.indexed import link

NOON = 1_795_435_200.0  # 2026-11-23 12:00 UTC


class Held(dict[str, bytes]):
    """`meanwhile`: called once before something is written, as another writer would be."""

    meanwhile: Callable[[], object] | None = None

    def __init__(self, files: Mapping[str, bytes] | None = None) -> None:
        super().__init__(files or {})
        self.older: list[bytes] = []
        self.sealed: set[str] = set()

    def read(self, name: str) -> bytes | None:
        return self.get(name)

    def write(self, name: str, data: bytes, *, instead_of: bytes | None, keeps: bool = True) -> bytes | None:
        if (meanwhile := self.meanwhile) is not None:
            self.meanwhile = None
            meanwhile()
        if (stands := self.get(name)) != instead_of:
            return stands
        if keeps and stands is not None:
            self.older.append(stands)
        self[name] = data
        return None

    def append(self, name: str, data: bytes) -> None:
        before = self.get(name, b"")
        self[name] = before + (b"" if before.endswith(b"\n") or not before else b"\n") + data

    def names(self) -> list[str]:
        return sorted(name for name in self if not name.startswith(".") and name != "MEMORY.md")

    def text(self) -> str:
        """All of them."""
        return "\n".join(data.decode() for data in self.values())

    def every(self) -> list[str]:
        return sorted(self)

    def seal(self, name: str) -> None:
        self.sealed.add(name)

    def move(self, name: str, new: str) -> None:
        assert new not in self
        self[new] = self.pop(name)


def stated(value: str, number: int = 1, *, domain: str = "work", at: float = NOON, pinned: bool = False) -> Fact:
    """A fact as it is learnt from the message `link("m<number>")`."""
    name, links = f"f-{number:016x}", (link(f"m{number}"),)
    return Fact(name, domain, f"k{number}", value, "high", "explicit", "s", 1, at, at, pinned=pinned, links=links)


def talk(*texts: str, number: int = 1, at: float = NOON, session: str = "s") -> ArchivedTurn:
    """A turn: what the user said, and answers to it; its messages are `link("<number>.<place>")`."""
    said = tuple(
        Utterance("assistant" if place else "user", text, link(f"{number}.{place}")) for place, text in enumerate(texts)
    )
    return ArchivedTurn(said[-1].link, b"", session, number, at, b"[]", said)
