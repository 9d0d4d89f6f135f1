"""A chromium without a window."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

Browser: TypeAlias = Any  # playwright's, which may not be installed

NAMES = ("chromium", "chromium-browser", "google-chrome")


def chromium() -> str | None:
    """Where it is; None if there is none."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


@contextmanager
def playing() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # Containers that tests run in mostly have no user namespaces for its sandbox; it sees nothing but our own page.
        arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--hide-scrollbars"]
        running = playwright.chromium.launch(executable_path=chromium(), args=arguments)
        try:
            yield running
        finally:
            running.close()
