"""The command `olvido` and its subcommands.

commands.py  the table of commands: a new one is a row there
parser.py    the parser of the command line, and the help that is told of it
serving.py   `olvido serve`: one process, or a supervisor of several
check_config.py   `olvido check-config`: what is wrong in a configuration
completion.py     `olvido completion`: the script by which a shell completes them
db.py        `olvido db`: schema of a shared database, copy of a storage folder into it
doctor.py    `olvido doctor`: checks installation, storage, port and upstreams
neighbour.py what has the proxy's port already, and whether it is one of ours
servers.py   what the doctor finds out about PostgreSQL and Redis
memory.py    `olvido memory`: facts in a terminal, read and written in the storage folder or the shared database
memory_edits.py   `olvido memory add`, `edit`, `confirm`: facts as a person writes them
memory_transfer.py   `olvido memory export`, `import`: facts as lines of JSON, of one scope or of all
memory_files.py   `olvido memory files`: memory as files, their state and syncs by hand
memory_jobs.py    `olvido memory jobs`, `digest`, `undo`: what the model of memory did, and its undoing
memory_desk.py    `olvido memory sections`, `log`, `reset`: the desk that a model keeps
remembered.py     what these share: whose memory, its stores, the terminal
keys.py      `olvido keys`: keys that this proxy gives out
erase.py     `olvido erase`: an end user erased from every place, and the report
export.py    `olvido export`: all that is kept of an end user, as files; exporting.py rows as records; bundle.py a
             folder or ZIP file with a manifest
whom.py      for both: the end users that are meant
backup.py    `olvido backup`, `restore`: all that is kept, in one file, and back
opened.py    the database of a command, of the kind that the configuration names
"""

import os
import sys
from collections.abc import Sequence

from proxy.cli import parser

INTERRUPTED = 130  # the exit status of a command that was ended by Ctrl-C
UNREAD = 141  # and of one whose output nobody wanted to read to its end


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit status. `arguments`: those of the process, if None."""
    given = sys.argv[1:] if arguments is None else arguments
    try:
        return _run(given)
    except KeyboardInterrupt:
        sys.stderr.write("\n")
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is flushed at the end has a place
        return UNREAD


def _run(given: Sequence[str]) -> int:
    if not given:
        print(parser.first_words())
        return 0
    if given[0] == "help":
        given = [*given[1:], "--help"]
    options = parser.tree(next((each for each in given if not each.startswith("-")), "")).parse_args(given)
    from proxy.config import ConfigError  # noqa: PLC0415 (help does not wait for it)

    try:
        status = int(options.run(options))
    except ConfigError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sys.stdout.flush()  # while a broken pipe is still an error of ours
    return status


if __name__ == "__main__":
    sys.exit(main())
