"""`python -m tests.docs`: checks the documents: links and their anchors, commands and options, settings and excerpts of
configurations, names of headers, routes and metrics; and whether what is made of the code is up to date. Their programs
are run by `pytest -m long tests/docs`, with the packages that are there, and by `python -m tests.clients`, with all."""

import sys
from collections.abc import Iterator

from tests import notes
from tests.docs import commands, links, names, settings, settings_named
from tests.docs.documents import Document, documents

CHECKS = (links, commands, settings_named, names)


def problems(document: Document) -> Iterator[str]:
    """What is wrong with a document."""
    for check in CHECKS:
        yield from check.problems(document)


def main() -> int:
    found = [wrong for document in documents() for wrong in problems(document)]
    for wrong in found:
        print(wrong)
    return int(bool(found)) | settings.main([]) | notes.main([])


if __name__ == "__main__":
    sys.exit(main())
