"""Commands as whole messages, carried out and answered by the system, in the language of the message: what
`/remember`, `/forget`, `/memory` and `/clear` do. What they change is durable before it is told.

An answer is honest: where nothing can be kept, or memory cannot be reached, it says so. The upstream is never asked.
"""

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from proxy.conversation.whole_commands import Command, Reading, clearing, keyed
from proxy.language.detect import language
from proxy.memory import commands, edits
from proxy.memory.ageing import Decay, status
from proxy.memory.commands import Order
from proxy.memory.credentials import has_credential
from proxy.memory.edits import Draft
from proxy.memory.extract import extract
from proxy.memory.learn import Learner
from proxy.memory.library import Library
from proxy.memory.obedience import Obedience
from proxy.pipeline.answered_scopes import AnsweredScopes
from proxy.protocol.chains import links_after
from proxy.protocol.message import message
from proxy.storage.base import StorageError
from proxy.storage.shared import OpenTurns
from proxy.tasks import within
from proxy.types import Fact, Forgetting, Identity, Language, Message, OpenTurn

log = logging.getLogger(__name__)

DEADLINE = 4.0  # seconds for a command, before it is said that memory cannot be reached
OBEYING = 2.0  # seconds for an order to become durable; after that it is carried out in the background
LOOKED_BACK = 5  # user messages before a command that tell its language
LONGEST_VALUE = 2_000  # characters, as for facts that are added by hand
MOST_SHOWN = 60  # facts
MOST_NAMED = 5  # facts that an answer says are forgotten
WIDEST = 200  # characters of a value that is shown
UNREACHED = "unreached"

_TEXTS: Mapping[Language, Mapping[str, str]] = MappingProxyType(
    {
        "en": {
            "note": "note",
            "remembered": "Remembered under “{key}”: {value}",
            "forgotten": "Forgotten: {what}",
            "everything": "Everything that was remembered is forgotten.",
            "hidden": "Forgotten from now on: {what}. It will be erased as soon as storage can be written.",
            "none_such": "Nothing is remembered that “{what}” would name, or not which of several is meant.",
            "known": "This is remembered:",
            "more": "… and {more} more.",
            "nothing": "Nothing is remembered yet.",
            "cleared": "The conversation was cleared. What was said before is not sent any more; "
            "what is remembered stays.",
            "no_question": "There is nothing to answer here: what this belonged to was cleared, or was a command.",
            "how_remember": "What shall be remembered? For example: /remember city: Rosario",
            "how_forget": "What shall be forgotten? For example: /forget city",
            "too_long": "That is too long to be remembered: {most} characters at most.",
            "credential": "Passwords, keys, access codes and card numbers are never remembered. "
            "Write down where it is kept instead.",
            "unanswered": "Nothing can be remembered yet: no model has ever answered with this key. "
            "Please ask something first, and then again for this.",
            "off": "Nothing is remembered here: memory is switched off.",
            "not_kept": "Nothing was changed: this request asks for nothing to be kept.",
            UNREACHED: "Memory cannot be reached now, and nothing was changed. Please try again in a moment.",
        },
        "es": {
            "note": "nota",
            "remembered": "Recordado como «{key}»: {value}",
            "forgotten": "Olvidado: {what}",
            "everything": "Se olvidó todo lo que se recordaba.",
            "hidden": "Olvidado desde ahora: {what}. Se borrará en cuanto se pueda escribir.",
            "none_such": "No se recuerda nada que se llame «{what}», o no está claro cuál de varias cosas es.",
            "known": "Esto es lo que se recuerda:",
            "more": "… y {more} más.",
            "nothing": "Todavía no se recuerda nada.",
            "cleared": "Se vació la conversación. Lo dicho antes no se envía más; lo que se recuerda, queda.",
            "no_question": "Acá no hay nada que responder: lo anterior se vació, o era un comando.",
            "how_remember": "¿Qué hay que recordar? Por ejemplo: /remember ciudad: Rosario",
            "how_forget": "¿Qué hay que olvidar? Por ejemplo: /forget ciudad",
            "too_long": "Es demasiado largo para recordarlo: {most} caracteres como mucho.",
            "credential": "Nunca se recuerdan contraseñas, claves, códigos de acceso ni números de tarjeta. "
            "Anotá dónde se guarda.",
            "unanswered": "Todavía no se puede recordar nada: ningún modelo respondió nunca con esta clave. "
            "Primero preguntá algo, por favor, y después volvé a pedirlo.",
            "off": "Acá no se recuerda nada: la memoria está apagada.",
            "not_kept": "No se cambió nada: este pedido dice que no se guarde nada.",
            UNREACHED: "Ahora no se puede llegar a la memoria, y no se cambió nada. Probá de nuevo en un momento.",
        },
    }
)
_ORDERS: Mapping[Language, str] = MappingProxyType({"en": "forget", "es": "olvidá"})


@dataclass(frozen=True, slots=True)
class Given:
    """A command, with what is known of its request."""

    command: Command
    messages: Sequence[Message]  # of the whole conversation, the command last
    identity: Identity  # of these messages
    named: Identity  # as it was found first: whose memory is meant
    read: Reading
    language: Language
    at: float  # Unix seconds
    may_keep: bool = True  # the client lets something be kept

    @property
    def scope(self) -> str:
        """The scope of memory."""
        return self.named.memory

    @property
    def is_resumed(self) -> bool:
        """True if the archive supplied the history."""
        return len(self.identity.chain) > len(self.named.chain)


def text(spoken_in: Language, name: str, **values: object) -> str:
    """Returns one of the answers."""
    return _TEXTS[spoken_in][name].format(**values)


def spoken(said: Sequence[Message], words: str) -> Language:
    """Returns the language of a command: that of its words, else that of the user's messages before it."""
    before = [each.text for each in reversed(said[:-1]) if each.role == "user"][:LOOKED_BACK]
    return next((known for each in (words, *before) if (known := language(each)) is not None), "en")


@dataclass(frozen=True, slots=True, eq=False)
class Commander:
    """The part that carries out commands."""

    library: Library
    obedience: Obedience
    learner: Learner
    answered: AnsweredScopes
    open_turns: OpenTurns
    decay: Decay
    archives_all: bool  # the turns of all sessions are archived, not only those of sessions that clients name
    obeying: float = OBEYING  # seconds

    async def carry_out(self, given: Given) -> str:
        """Carries out a command; returns the answer. Raises StorageError if memory cannot be reached."""
        match given.command.name:
            case "clear":
                return await self._clear(given)
            case "remember":
                return await self._remember(given)
            case "forget":
                return await self._forget(given)
            case "memory":
                return await self._told(given)

    async def _is_answered(self, given: Given) -> bool:
        return await self.answered.has(given.named.scope.id)

    # --- /remember ----------------------------------------------------------------------------------------------------

    async def _remember(self, given: Given) -> str:
        said, words = given.language, given.command.words
        if not words:
            return text(said, "how_remember")
        if len(words) > LONGEST_VALUE:
            return text(said, "too_long", most=LONGEST_VALUE)
        if has_credential(words):
            return text(said, "credential")
        if not self.library.facts.keeps:
            return text(said, "off")
        if not given.may_keep:
            return text(said, "not_kept")
        if not await self._is_answered(given):
            return text(said, "unanswered")
        await self.learner.settled(given.named)
        async with self.library.editing(given.scope):
            known = await self.library.facts.all(given.scope)
            made = edits.add(known, drafted(words, known, said), scope=given.scope, now=given.at)
            self.library.learn(given.scope, await self.library.shelf(given.scope), made.rows)
            await self.library.facts.flush()
        if made.fact.id not in {fact.id for fact in await self.library.facts.all(given.scope)}:
            raise StorageError("what was to be remembered is not there")
        return text(said, "remembered", key=made.fact.key, value=_shown(made.fact.value))

    # --- /forget ------------------------------------------------------------------------------------------------------

    async def _forget(self, given: Given) -> str:
        said, words = given.language, given.command.words
        if not words:
            return text(said, "how_forget")
        if not self.library.facts.keeps or not await self._is_answered(given):
            return text(said, "none_such", what=_shown(words))
        await self.learner.settled(given.named)
        known = await self.library.facts.all(given.scope)
        if named := [fact for fact in known if fact.key == _name(words)]:
            await self.library.forget(given.scope, named, given.identity.chain[-1:], at=given.at)
            return text(said, "forgotten", what=_listed(named))
        order = self._order(given)
        meant = order.means(known)
        try:
            await within(self.obeying, self.obedience.obey(given.scope, order))
        except TimeoutError:  # it goes on
            return text(said, "hidden", what=_listed(meant) or _shown(words))
        if order.is_wipe:
            return text(said, "everything")
        return text(said, "forgotten", what=_listed(meant)) if meant else text(said, "none_such", what=_shown(words))

    def _order(self, given: Given) -> Order:
        """Returns what the words would order in a sentence; else they name what is to be forgotten. They name it: what
        is merely the nearest to them is not meant, nobody would see what goes."""
        words, (one, other) = given.command.words, _ORDERS.values()
        verbs = (other, one) if given.language == "es" else (one, other)
        found = (commands.commands((f"{verb} {words}",)) for verb in verbs)
        what = next((each for each in found if each), (Forgetting(words),))
        begins = next(index for index, said in enumerate(given.messages) if said.role == "user")
        return Order(tuple(replace(each, by_term=True) for each in what), given.at, given.identity.chain[begins:])

    # --- /memory ------------------------------------------------------------------------------------------------------

    async def _told(self, given: Given) -> str:
        said = given.language
        if not self.library.facts.keeps:
            return text(said, "off")
        if not await self._is_answered(given):
            return text(said, "nothing")
        await self.learner.settled(given.named)
        shelf = await self.library.renewed(given.scope)
        active = [fact for fact in shelf.facts.values() if status(fact, given.at, self.decay) == "active"]
        return listing(active, said)

    # --- /clear -------------------------------------------------------------------------------------------------------

    async def _clear(self, given: Given) -> str:
        """Clears a conversation. For a client that sends its history that follows from its messages; for one that sends
        only what is new the archive has to know, and does so before it is told."""
        said, identity = text(given.language, "cleared"), given.identity
        is_named = identity.session_source == "header"
        if not given.may_keep:
            return text(given.language, "not_kept") if given.is_resumed else said
        if not (is_named or self.archives_all) or not await self._is_answered(given):
            return said
        await self.learner.settled(given.named)
        answer = message({"role": "assistant", "content": said})
        (link,) = links_after(identity.chain[-1], (answer,))
        turn = clearing(given.messages, identity, given.read, answer, link, at=given.at)
        self.library.keep_turn(given.scope, turn, None)
        if is_named:
            self.open_turns.put(given.scope, identity.session, OpenTurn((), link))
            await self.library.archive.flush()
        if given.is_resumed and link not in await self.library.archive.known(given.scope, (link,)):
            raise StorageError("that the conversation was cleared is not there")
        return said


def drafted(words: str, known: Collection[Fact], language: Language) -> Draft:
    """Returns the fact that `/remember` adds. Its value is all of the words: prompts tell no keys. A key that is known
    keeps its domain, so that the new value replaces the old one; what has no key replaces nothing."""
    said, _ = keyed(words)
    current = [fact for fact in known if fact.superseded_by is None]
    key = _name(said) or _free_note(text(language, "note"), words, current)
    stated = extract(words)
    domain, pinned = (stated[0].domain, stated[0].pinned) if len(stated) == 1 else ("personal", False)
    before = max((fact for fact in current if fact.key == key), key=lambda fact: fact.last_confirmed_at, default=None)
    return Draft(before.domain if before is not None else domain, key, words, pinned=pinned)


def listing(facts: Sequence[Fact], language: Language) -> str:
    """Returns facts as lines by domain, the last confirmed first, as many as are shown."""
    if not facts:
        return text(language, "nothing")
    shown = sorted(facts, key=lambda fact: (-fact.last_confirmed_at, fact.id))[:MOST_SHOWN]
    lines = [text(language, "known")]
    for domain in sorted({fact.domain for fact in shown}):
        lines += ["", f"**{domain}**"]
        lines += [f"- {fact.key} · {_shown(fact.value)}" for fact in shown if fact.domain == domain]
    if len(facts) > len(shown):
        lines += ["", text(language, "more", more=len(facts) - len(shown))]
    return "\n".join(lines)


def _free_note(name: str, words: str, current: Sequence[Fact]) -> str:
    taken = {fact.key: fact.value for fact in current}
    names = (name if number == 1 else f"{name}-{number}" for number in range(1, len(taken) + 2))
    return next(each for each in names if taken.get(each, words) == words)


def _listed(facts: Collection[Fact]) -> str:
    """Returns what the facts say, those that hold first; a few of them."""
    ordered = sorted(facts, key=lambda fact: (fact.superseded_by is not None, -fact.last_confirmed_at))
    values = list(dict.fromkeys(_shown(fact.value) for fact in ordered))
    more = [f"… (+{len(values) - MOST_NAMED})"] if len(values) > MOST_NAMED else []
    return "; ".join([*values[:MOST_NAMED], *more])


def _name(key: str) -> str:
    return "-".join(key.lower().split())


def _shown(value: str) -> str:
    line = " ".join(value.split())
    return line if len(line) <= WIDEST else f"{line[: WIDEST - 1]}…"
