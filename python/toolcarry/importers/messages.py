"""Import messages of other producers, and restore the producer's own objects afterwards."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from operator import attrgetter
from typing import Any, Final, TypeVar

from msgspec.structs import replace

from toolcarry._input.document import held_message
from toolcarry._input.objects import JsonObject, as_list, as_object, first_given, text_or_empty
from toolcarry.importers.account import Account, Balance, texts_of
from toolcarry.importers.producers import CONVERSATIONS, FOLDING, IMPORTERS, MESSAGES
from toolcarry.importers.producers.base import (
    CLIENT,
    COVERING,
    STEP,
    SUMMARY,
    Accounting,
    ConversationImporter,
    Folding,
    Imported,
    Importer,
)
from toolcarry.model.formats import chat, read_call, read_message, read_result, read_spoken
from toolcarry.model.formats.anthropic import CALLS
from toolcarry.model.formats.foreign import IMPORTED
from toolcarry.model.formats.message import MessageParts, ToolCall, ToolResult
from toolcarry.model.formats.unread import UNREAD
from toolcarry.model.pairing.block import Entry
from toolcarry.model.session import is_repeating
from toolcarry.types.unread import MOST_PLACES, Unread, UnreadPlace
from toolcarry.types.values import ToolBlock

T = TypeVar("T", bound=JsonObject)
W = TypeVar("W", ToolCall, ToolResult)

__all__ = ["COVERS", "RECORD", "Import", "find", "folding_of", "read_foreign", "recognise"]

RESULT: Final = "imported_tool_result"
"""The type of an imported result. It looks like the result of an Anthropic server tool, which is read but never replaced,
because a projection could not put a marker into the producer's own structure."""
SILENT: Final[JsonObject] = {"content": None, IMPORTED: True}
"""An imported message that says nothing, such as one of many events."""
TOOLS: Final = ("tool", "function")
"""The roles of messages that are results."""
REPEATED: Final = ("tool_call", "tool_call_chunk", "invalid_tool_call", "function_call")
"""The types of parts in which LangChain repeats a message's calls."""
RECORD: Final = "imported-"
"""The beginning of the ``uuid`` of a record that an import made around a message."""
COVERS: Final = "isCovering"
"""The member of a record that is a summary of nothing but messages that are no longer active."""
BY_CLIENT: Final = {
    SUMMARY: {"isCompactSummary": True},
    COVERING: {"isCompactSummary": True, COVERS: True},
    CLIENT: {"isMeta": True},
}
"""The speakers of what the client wrote, with the members of Claude Code's records that say so."""
ADDED: Final = (UNREAD, IMPORTED)
"""The members that an import adds to a message."""
MARKS: Final = frozenset(("parts", "message_type", "tool_call_ids"))
"""The members by which an imported message would be mistaken for another producer's again."""


def find(message: JsonObject, role: object) -> Imported | None:
    """Read a message with an importer; ``None`` if the backends read it.

    >>> found = find({"type": "human", "data": {"content": "Hi."}}, None)
    >>> found.name, found.speaker, found.content
    ('langchain', 'human', 'Hi.')
    """
    is_read = read_message(message, role, MessageParts()) is not None
    return None if is_read else read_foreign(message)


def read_foreign(message: JsonObject) -> Imported:
    """Read a message that the backends can't read."""
    claiming = (importer for importer in CONVERSATIONS if importer.claims(message))
    for importer in (*claiming, *MESSAGES):
        found = importer.read(message)
        if found is not None:
            return found
    return Imported("", rewritten=marked_unread(message))


def marked_unread(message: JsonObject) -> JsonObject:
    """Return a message, or a record with a message, that both backends report as unread."""
    marked = {**without_marks(message), UNREAD: True}
    held = held_message(message) if message.get("role") is None else None
    return (
        marked if held is None else {**marked, "message": {**marked_unread(held), IMPORTED: True}}
    )


def recognise(items: Iterable[Any]) -> ConversationImporter | None:
    """Return the importer of a conversation: the one that claims the first item that anyone claims.

    >>> recognise([{"role": "user", "content": "Hi."}, {"role": "tool", "content": "Ho.", "toolCallId": "c1"}]).NAME
    'ag-ui'
    """
    for item in items:
        message = as_object(item)
        for importer in CONVERSATIONS if message else ():
            if importer.claims(message or {}):
                return importer
    return None


def folding_of(item: Any) -> Importer | None:
    """Return the importer that must see all messages because of this one, such as a summary of others."""
    message = as_object(item) or {}
    return next((each for each in FOLDING if each.folds(message)), None)


def says_what_is_unread(found: Imported, wire: JsonObject) -> bool:
    """Return true if a message has a speaker and no content, but a text of some words somewhere else."""
    is_empty = found.speaker != "" and found.content is None and found.rewritten is None
    return is_empty and not (found.calls or found.results) and any(texts_of(wire))


class Import:
    """Messages that are imported together."""

    def __init__(
        self, kept: str = "", *, result_type: str = RESULT, is_restored: bool = True
    ) -> None:
        """Make an import. ``kept`` is the name of a member that an imported message keeps, if there is one.

        ``is_restored`` is false for a job that never returns the producer's own objects, which then need not stay.
        """
        self._kept = kept
        self._is_restored = is_restored
        self._result_type = result_type
        self._unread: dict[int, JsonObject] = {}
        """The messages that no importer knows, by their positions."""
        self._originals: dict[int, tuple[object, JsonObject]] = {}
        """The producer's own objects, each with the imported one, by the identity of the imported one."""
        self._places: dict[int, tuple[str, bool]] = {}
        """The scopes of messages, and true for those on the active branch, where they are not the usual ones."""
        self._written_by_client: dict[int, JsonObject] = {}
        """The members that say what the client wrote, by the positions of its messages."""
        self._items: Sequence[Any] = ()
        self._count = 0
        self._account = Account()
        self._imported = array("Q")
        """The positions of the messages that importers read; the account covers these."""
        self._silent = array("Q")
        """The positions of those that are known to say nothing."""
        self.producer: ConversationImporter | None = None
        """The importer of the conversation, if one recognised it as a whole."""
        self.is_used = False
        """True if an importer knows any of the messages."""

    def messages(self, items: Sequence[Any]) -> list[Any]:
        """Return messages that both backends read; those that they can already read are the same objects.

        There is one for each item, unless the importer of the conversation takes several from one.
        """
        messages = list(self.one_by_one(items))
        return list(self.in_records(messages)) if self.has_places else messages

    def one_by_one(self, items: Sequence[Any]) -> Iterator[Any]:
        """Yield the messages that ``messages`` returns, each without its record."""
        self._items = items
        self.producer = recognise(items)
        folding = self.producer or next(filter(None, map(folding_of, items)), None)
        found = folding.fold(items) if isinstance(folding, Folding) else items
        for position, item in enumerate(found):
            self._count += 1
            yield self.message(item, position)

    @property
    def has_places(self) -> bool:
        """True if messages have scopes or branches, or are the client's, so that they must be written in records."""
        return bool(self._places or self._written_by_client)

    def in_records(self, messages: Iterable[Any]) -> Iterator[Any]:
        """Yield messages in records of Claude Code, which have a scope and a branch, and may be the client's.

        An active record goes on from the active one before it. The last one is active, and shows the branch.
        """
        above: str | None = None
        held: dict[str, Any] = {}
        empty: list[Any] = []
        """The empty messages since the record that is held back, as long as it may be the last one."""
        for position, message in enumerate(messages):
            if not message:
                empty.append(message)
                continue
            if held:
                yield held
            yield from empty
            empty = []
            scope, is_active = self._places.get(position, ("", True))
            name = f"{RECORD}{position}"
            held = {"uuid": name, "message": message}
            held |= self._written_by_client.get(position, {})
            if scope:
                held |= {"isSidechain": True, "agentId": scope}
            held["parentUuid"] = above if is_active and not scope else None
            above = name if is_active and not scope else above
        if held:
            if "agentId" not in held and held["uuid"] != above:  # it is on another branch
                held["parentUuid"] = above
            yield held
        yield from empty

    def each(self, items: Sequence[Any]) -> list[Any]:
        """Return one message for each item, without its scope and its branch, as a projection needs them."""
        self.producer = recognise(items)
        if not isinstance(self.producer, Folding):  # else most of a file is passed on as it is
            self._items, self._count = items, len(items)
        return [self.message(item, position) for position, item in enumerate(items)]

    def shape(self, items: Sequence[Any], otherwise: Callable[[Sequence[Any]], str]) -> str:
        """Return the name of the format: the producer's, if there is one for all of the items."""
        return self.producer.NAME if self.producer is not None else otherwise(items)

    def message(self, item: Any, position: int = 0) -> Any:
        """Return a message, or a session record with a message, in a form that both backends read."""
        message = self._read(item, position)
        if message is item and self.producer is not None:
            self._account.add(read_parts_of(message))
        else:
            self._account.add(message)
        return message

    def _read(self, item: Any, position: int) -> Any:
        if isinstance(item, Imported):
            self._account.add(item.sources)
            if is_silent(item):
                self._silent.append(position)
            return (
                SILENT
                if item._replace(sources=()) == Imported(item.name)
                else self._placed({}, item, position)
            )
        wire = as_object(item)
        if wire is None:
            return item
        claimed = self.producer.read(wire) if self.producer is not None else None
        if claimed is not None:
            self._account.add(claimed.sources)
            if is_silent(claimed):
                self._silent.append(position)
            elif says_what_is_unread(claimed, wire):
                self._unread[position] = wire
                claimed = claimed._replace(name="", rewritten=marked_unread(wire))
            return self._placed(wire, claimed, position)
        role = wire.get("role")
        if role is None and first_given(wire, "uuid", "message") is not None:
            inner = held_message(wire)
            if inner is not None:
                held = self._message(inner, inner.get("role"), position)
                is_own = held is inner and not is_repeating(wire)
                if is_own and read_message(wire, role, MessageParts()) is not None:
                    return item
                return {**wire, "message": held, IMPORTED: True}
        written = self._message(wire, role, position)
        return item if written is wire else written

    def blocks(self, blocks: Iterable[ToolBlock]) -> list[ToolBlock]:
        """Return blocks whose calls and results both backends read."""
        return [
            replace(block, tool_use=self._call(block.tool_use), tool_result=self._result(block.tool_result))
            for block in blocks
        ]  # fmt: skip

    def restored(self, blocks: Iterable[ToolBlock]) -> list[ToolBlock]:
        """Return blocks with the producer's own objects."""
        return [self._restored(block) for block in blocks]

    def restore(self, entry: Entry) -> None:
        """Put the producer's own objects into an entry."""
        entry.call = None if entry.call is None else self.original(entry.call)
        entry.result = None if entry.result is None else self.original(entry.result)

    def original(self, wire: JsonObject) -> JsonObject:
        """Return the producer's own object for an imported one, or for one that was left unchanged."""
        found = self._originals.get(id(wire))
        return wire if found is None else found[1]

    def _placed(self, message: JsonObject, found: Imported, position: int) -> JsonObject:
        self.is_used = self.is_used or found.name != ""
        if found.scope or not found.is_active:
            self._places[position] = found.scope, found.is_active
        if found.speaker in BY_CLIENT:
            self._written_by_client[position] = BY_CLIENT[found.speaker]
        return self.write(message, found)

    def _message(self, message: JsonObject, role: object, position: int) -> JsonObject:
        found = find(message, role)
        if found is None:
            return message
        rewritten = found.rewritten
        self.is_used = self.is_used or bool(found.name)
        if found.name and not is_silent(found):
            self._imported.append(position)
        if not found.name and rewritten is not None:
            self._unread[position] = message
        return self.write(message, found)

    def own(self, unread: Unread) -> Unread:
        """Return what was not read, with the producer's own keys, and with the texts that are in no imported message."""
        return self.with_missing(replace(unread, first=tuple(map(self._own_place, unread.first))))

    def with_missing(self, unread: Unread) -> Unread:
        """Add the texts of the input that are in no imported message."""
        known, missing = {place.position for place in unread.first}, self.balance.missing
        places = [UnreadPlace.of(at, held) for at, held in missing.items() if at not in known]
        if not places:
            return unread
        count = unread.count + len(places)
        return replace(
            unread,
            count=count,
            total=max(unread.total, count),
            first=tuple(sorted((*unread.first, *places), key=attrgetter("position"))[:MOST_PLACES]),
            texts=len(places),
        )

    @cached_property
    def balance(self) -> Balance:
        """Return the texts that are in no imported message, and what is known to be no part of the conversation."""
        producer, account = self.producer, self._account
        if producer is None:
            read = ((at, self._items[at]) for at in self._imported)
            return account.balance(read, frozenset(), MESSAGES)
        if isinstance(producer, Accounting):
            kept = ((0, value) for value in producer.accounted(self._items))
            found = account.balance(kept, frozenset(), [producer])
            found.asides[producer.NAME] += sum(any(texts_of(item)) for item in self._items)
            return found
        is_one_by_one = self._count == len(self._items)
        silent = frozenset(self._silent if is_one_by_one else ())
        return account.balance(enumerate(self._items), silent, [producer])

    def _own_place(self, place: UnreadPlace) -> UnreadPlace:
        message = self._unread.get(place.position)
        if message is not None and (
            UNREAD in place.keys or not is_known_in_part(message, message.get("role"))
        ):
            return UnreadPlace.of(place.position, message)
        return replace(place, keys=tuple(key for key in place.keys if key not in ADDED))

    def write(self, message: JsonObject, found: Imported) -> JsonObject:
        """Write an imported message as one that both backends read."""
        written = self._write(found) if found.rewritten is None else dict(found.rewritten)
        written[IMPORTED] = True
        if self._kept in message and self._kept not in written:
            written = {**written, self._kept: message[self._kept]}
        return self._note(written, message)

    def _write(self, found: Imported) -> dict[str, Any]:
        """Return a message in Anthropic's format, in which any message may hold blocks of calls and results."""
        has_own = bool(found.calls or found.results)
        speaker, content = found.speaker, found.content
        if speaker in TOOLS:
            # The text of a tool message is its result; if it has no result, the text must not be taken for one.
            speaker, content = speaker if found.results else "", None
        if speaker in BY_CLIENT:
            speaker = "user"
        role = {"role": speaker} if speaker else {}
        if as_list(content) is None and not has_own:
            return {**role, "content": content}
        # Without calls of its own, those of a content are read by the backends.
        repeated = REPEATED if found.calls else ()
        calls, results = by_wire(found.calls), by_wire(found.results)
        parts: list[Any] = []
        due: list[Any] = []
        """The results of the calls since the last part that is none."""
        for part in parts_of(content):
            made, seen = calls.pop(id(part), ()), results.pop(id(part), ())
            answers = map(self.result, seen)
            if made:
                parts += map(self.call, made)
                due += answers
                continue
            parts += [*due, *answers]
            due = []
            is_own = kind_of(part) in (STEP, *repeated) or (has_own and is_call(part))
            if not seen and not is_own:
                parts.append(part)
        parts += [self.call(call) for group in calls.values() for call in group]
        parts += due
        parts += [self.result(result) for group in results.values() for result in group]
        return {**role, "content": parts}

    def call(self, call: ToolCall) -> dict[str, Any]:
        """Return a call in Anthropic's format."""
        written = {
            "type": "tool_use",
            "id": call.call_id,
            "name": call.name,
            "input": call.arguments,
        }
        return self._note(written, call.wire)

    def result(self, result: ToolResult) -> dict[str, Any]:
        """Return a result in Anthropic's format."""
        content = result.content
        if as_list(content) is None and as_object(content) is not None:
            content = [content]  # Anthropic's server tools report errors in an object
        written = {
            "type": self._result_type,
            "tool_use_id": result.call_id,
            "name": result.name,
            "content": content,
        }
        if result.is_error:  # without a flag, the words of the result are judged
            written["is_error"] = True
        return self._note(written, result.wire)

    def _call(self, wire: Any) -> Any:
        found = as_object(wire)
        if found is None or read_call(found) is not None:
            return wire
        calls = (importer.call(found) for importer in IMPORTERS)
        call = next((call for call in calls if call is not None), None)
        call = chat.to_call(found) if call is None else call
        return self.call(call._replace(wire=wire))

    def _result(self, wire: Any) -> Any:
        found = as_object(wire)
        if found is None or read_result(found) is not None:
            return wire
        results = (importer.result(found) for importer in IMPORTERS)
        result = next((result for result in results if result is not None), None)
        result = chat.to_result(found) if result is None else result
        return self.result(result._replace(wire=wire))

    def _note(self, written: T, original: JsonObject) -> T:
        if self._is_restored:
            self._originals[id(written)] = written, original
        return written

    def _restored(self, block: ToolBlock) -> ToolBlock:
        notes = block.notes
        if notes.second_results:
            notes = replace(notes, second_results=tuple(map(self.original, notes.second_results)))
        call, result = block.tool_use, block.tool_result
        return replace(
            block,
            tool_use=None if call is None else self.original(call),
            tool_result=None if result is None else self.original(result),
            notes=notes,
        )


def is_silent(found: Imported) -> bool:
    """Return true for a record that is known to say nothing."""
    return found.name != "" and found == Imported(
        found.name, scope=found.scope, is_active=found.is_active, sources=found.sources
    )


def read_parts_of(message: Any) -> list[object]:
    """Return what the backends read of a message; the whole message if they do not know a part of it."""
    wire, parts = as_object(message) or {}, MessageParts()
    if wire.get("role") is None and held_message(wire) is not None:  # a record of a session
        return [message]
    read_message({**wire, IMPORTED: True}, wire.get("role"), parts)
    if parts.unread is not None:
        return [message]
    spoken = read_spoken(wire).content
    return [
        spoken,
        [call.arguments for call in parts.calls],
        [each.content for each in parts.results],
    ]


def is_known_in_part(message: JsonObject, role: object) -> bool:
    """Return whether the backends know a message, apart from some of its parts."""
    message_parts, flagged = MessageParts(), {**message, IMPORTED: True}
    is_read = read_message(flagged, role, message_parts) is not None
    return is_read and message_parts.unread is not flagged


def without_marks(wire: JsonObject) -> dict[str, Any]:
    """Return an object without the members of another producer, so that a backend does not ask for an import again."""
    return {key: value for key, value in wire.items() if key not in MARKS}


def parts_of(content: object) -> Sequence[Any]:
    """Return the content as a list of parts."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    items = as_list(content)
    if items is None:
        return () if content is None else [content]
    return items


def by_wire(values: Iterable[W]) -> dict[int, list[W]]:
    """Return calls or results in lists, by the identities of their objects."""
    found: dict[int, list[W]] = {}
    for value in values:
        found.setdefault(id(value.wire), []).append(value)
    return found


def kind_of(item: object) -> str:
    return text_or_empty((as_object(item) or {}).get("type"))


def is_call(item: object) -> bool:
    """Return whether a part of a content is a call or a result, as Anthropic or Bedrock have them."""
    part = as_object(item) or {}
    kind = text_or_empty(part.get("type"))
    if part.get("type") is None:
        return first_given(part, "toolUse", "toolResult") is not None
    return kind in CALLS or kind == "tool_result" or kind.endswith("_tool_result")
