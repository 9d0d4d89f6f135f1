"""Settings of storage: where things are kept, and for how long."""

from pathlib import Path
from typing import Literal

from proxy.config.settings import (
    DatabaseUrl,
    Folder,
    Seconds,
    Section,
    setting,
)


class Keep(Section):
    """Retention of what is stored."""

    requests: Seconds = setting(
        90 * 86_400, "Seconds that the ledger keeps a request, and the list a conversation. 0: for ever."
    )
    contents: Seconds = setting(
        7 * 86_400, "Seconds that what requests said is kept for the page, if `admin.show_content`. 0: for ever."
    )
    contents_mb: int = setting(256, "Size of all of that, MiB; the oldest leave.", ge=1)
    contents_entry_kb: int = setting(
        2_048, "Largest request whose contents are kept, with what was sent and answered, KiB.", ge=1
    )
    quality: Seconds = setting(
        90 * 86_400,
        "Seconds that comparisons of answers are kept, with both answers where `admin.show_content` lets contents be "
        "kept. 0: for ever.",
    )
    minutes: Seconds = setting(
        3 * 86_400, "Seconds that sums are kept by the minute. 0: for ever, as those by the day."
    )
    hours: Seconds = setting(90 * 86_400, "Seconds that sums are kept by the hour. 0: for ever.")
    links: Seconds = setting(
        180 * 86_400, "Seconds after which a message that no request has begun with is not recognised. 0: for ever."
    )
    vacuum: bool = setting(True, "Give the disk back what has become free, in small steps.")


class Storage(Section):
    """Storage of what the proxy keeps."""

    path: Folder = setting(Path("~/.local/share/olvido"), "Folder of everything that is kept.")
    kind: Literal["sqlite", "postgres", "memory", "off"] = setting(
        "sqlite",
        "`sqlite`: in the folder. `postgres`: in the database of `url`, which any number of machines share (needs the "
        "extra olvido[cluster]). `memory`: until the process ends, and no more than 256 MiB beside what requests said: "
        "then the oldest leaves. `off`: nothing is kept.",
    )
    url: DatabaseUrl | None = setting(
        None,
        "Of PostgreSQL, with `kind: postgres`: postgresql://user:password@host/name, as ${NAME} from the environment.",
    )
    pool: int = setting(8, "Connections to PostgreSQL of each process, at most.", ge=2, le=1_000)
    timeout_ms: int = setting(
        250,
        "Milliseconds that a request waits for a read of PostgreSQL; after that it goes on without.",
        ge=10,
        le=60_000,
    )
    spool_mb: int = setting(
        256, "Size of what waits on disk, in the folder `spool`, while PostgreSQL takes no writes, MiB.", ge=1
    )
    keep: Keep = setting(Keep(), "How long things are kept.")
