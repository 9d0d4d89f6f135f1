"""Running our own work.

background.py  tasks in the background, kept and drained; work that is repeated
attempts.py    stages with a deadline and a fallback: fail open
threads.py     work in threads or on the event loop, by its size; slices, and fair turns
"""

from proxy.tasks.attempts import Attempts, Noted, within
from proxy.tasks.background import Repeating, Tasks
from proxy.tasks.threads import INLINE_BYTES, FairQueue, Offload, in_place, in_slices

__all__ = [
    "INLINE_BYTES",
    "Attempts",
    "FairQueue",
    "Noted",
    "Offload",
    "Repeating",
    "Tasks",
    "in_place",
    "in_slices",
    "within",
]
