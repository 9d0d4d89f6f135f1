"""The commands of `olvido memory` about the desk, the memory that a model manages itself, while a proxy serves or not.

sections    sections and documents of a person; with a name, the text of one
log         sessions that have a tape; with a name, the tape of one, a line of JSON for each message
reset       undoes all edits and marks of a session
"""

import time
from concurrent.futures import ThreadPoolExecutor

import msgspec

from proxy.cli.opened import forget_hot
from proxy.cli.remembered import Command, Memory, Refused, tell, tell_json
from proxy.config import shows_content
from proxy.files.tape import row_of
from proxy.memory.library import Library
from proxy.memory.showing import moment, plain
from proxy.pipeline.desk_reset import DeskReset
from proxy.tasks import Tasks

AT_ONCE = 500  # lines that are read at once
MOST_SESSIONS = 100
_HIDDEN = "contents are not shown (admin.show_content)"


def add_commands(command: Command) -> None:
    """Adds the commands. `command`: makes one of `olvido memory` with its usual options."""
    sections = command("sections", _sections, "Sections and documents of a model; with a name, the text of one.")
    sections.add_argument("name", nargs="?", metavar="NAME", help="such as agent_notes.md")
    logging = command("log", _log, "Sessions with a tape; with a name, the tape of one as lines of JSON.")
    logging.add_argument("session", nargs="?", metavar="SESSION")
    resetting = command("reset", _reset, "Undo all edits and marks that a model has made in a session.")
    resetting.add_argument("session", metavar="SESSION")
    resetting.add_argument("--yes", action="store_true", help="do not ask")


async def _sections(memory: Memory) -> None:
    scope, name = await memory.scope(), memory.options.name
    if name is None:
        found = await memory.desks.documents(scope)
        if memory.is_json:
            about = ({"name": each.name, "characters": len(each.text), "at": each.at, "by": each.by} for each in found)
            tell_json(*about)
            return
        rows = [f"{each.name:<40} {len(each.text):>8} {moment(each.at)} {each.by}" for each in found]
        tell(*(rows or ["There are none."]))
        return
    name = name if name.endswith(".md") else f"{name}.md"
    document = await memory.desks.document(scope, name)
    if document is None or document.is_removed:
        raise Refused(f"there is no {plain(name)}")
    if not shows_content(memory.config):
        raise Refused(_HIDDEN)
    if memory.is_json:
        tell_json({"name": document.name, "text": document.text, "at": document.at, "by": document.by})
        return
    tell(document.text.removesuffix("\n"))


async def _log(memory: Memory) -> None:
    scope, session = await memory.scope(), memory.options.session
    if session is None:
        found = await memory.desks.sessions(scope, MOST_SESSIONS)
        if memory.is_json:
            tell_json(*found)
            return
        cards = [f"{plain(each.session):<40} {each.messages:>8} {moment(each.last_at)}" for each in found]
        tell(*(cards or ["There are none."]))
        return
    after, with_text = 0, shows_content(memory.config)
    while lines := await memory.desks.tape(scope, session, after=after, limit=AT_ONCE):
        rows = [row_of(each) for each in lines]
        if not with_text:
            rows = [msgspec.structs.replace(row, content=msgspec.Raw(b"null")) for row in rows]
        tell(*(msgspec.json.encode(row).decode() for row in rows))
        after = lines[-1].id
    if not after:
        raise Refused(f"there is no tape of {plain(session)}")


async def _reset(memory: Memory) -> None:
    scope, session = await memory.scope(), memory.options.session
    known = await memory.desks.tape(scope, session, limit=1)
    if not known and not await memory.desks.events(scope, session, limit=1):
        raise Refused(f"there is no desk of {plain(session)}")
    if not memory.agreed(f"Undo all edits and marks of {plain(session)}? [y/N] "):
        raise Refused("nothing was undone")
    tasks = Tasks()
    with ThreadPoolExecutor(1) as executor:
        library = Library(memory.facts, memory.archive, memory.states, memory.wipes, executor, tasks)
        undone = await DeskReset(memory.desks, library, time.time).reset(scope, session)
        await tasks.drain(5.0)
    await memory.written()
    left = await forget_hot(memory.config, memory.database.secret, {scope})
    if memory.is_json:
        tell_json({"undone": list(undone.names), "left": left})
        return
    tell(f"Undone: {', '.join(map(plain, undone.names)) or 'marks alone, or nothing'}.", *left)
