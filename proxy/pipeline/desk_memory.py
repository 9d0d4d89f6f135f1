"""The memory tool of Anthropic's models, carried out: its commands on the documents of a person's folder. What is
written goes the way of every edit of the model: limits, merges, a person's word where others are quoted, the ledger."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from proxy.desk import memory_tool
from proxy.desk.memory_tool import Command, Create, Delete, Insert, Refused, Rename, Replace, View
from proxy.pipeline.desk_documents import Documents
from proxy.types.desk import Payload

Told = tuple[str, list[Payload]]  # an answer, and events that tell of what was done
# (name, text, the text that it was made of; None: of none) → what is told instead of success; None: it is written
Write = Callable[[str, str, str | None], Awaitable[Told | None]]
Remove = Callable[[str], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class MemoryFolder:
    """The folder of one request."""

    documents: Documents
    write: Write
    remove: Remove

    async def carried_out(self, command: Command) -> Told:
        """Returns what the model is told. Raises `Unwritten`, StorageError."""
        try:
            return await self._done(command)
        except Refused as refused:
            return str(refused), []

    async def _done(self, command: Command) -> Told:
        match command:
            case View(name=""):
                return memory_tool.listed(await self._sizes()), []
            case View():
                return memory_tool.viewed(command, await self._text(command.name)), []
            case Create():
                return await self._created(command)
            case Replace():
                text = await self._text(command.name)
                changed, told = memory_tool.replaced(command, text)
                return await self.write(command.name, changed, text) or (told, [])
            case Insert():
                text = await self._text(command.name)
                told = f"The file {memory_tool.path_of(command.name)} has been edited."
                return await self.write(command.name, memory_tool.inserted(command, text), text) or (told, [])
            case Delete():
                await self._text(command.name)
                await self.remove(command.name)
                return f"Successfully deleted {memory_tool.path_of(command.name)}", []
            case Rename():
                return await self._renamed(command)

    async def _created(self, command: Create) -> Told:
        if await self.documents.found(command.name) is not None:
            raise memory_tool.existing(command.name)
        told = f"File created successfully at: {memory_tool.path_of(command.name)}"
        return await self.write(command.name, command.text, None) or (told, [])

    async def _renamed(self, command: Rename) -> Told:
        text = await self._text(command.name)
        if await self.documents.found(command.new_name) is not None:
            raise Refused(f"Error: The destination {memory_tool.path_of(command.new_name)} already exists")
        instead = await self.write(command.new_name, text, None)
        if instead is not None:
            return instead
        await self.remove(command.name)
        paths = (memory_tool.path_of(name) for name in (command.name, command.new_name))
        return "Successfully renamed {} to {}".format(*paths), []

    async def _text(self, name: str) -> str:
        found = await self.documents.found(name)
        if found is None:
            raise memory_tool.unknown(name)
        return found.text

    async def _sizes(self) -> dict[str, int]:
        return {each.name: len(each.text.encode()) for each in await self.documents.all()}
