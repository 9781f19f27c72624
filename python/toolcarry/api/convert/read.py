"""Read messages of any format into turns: speakers and parts in order, each result with its call.

Only the active branch is read. The texts and calls of an assistant up to the next result are one turn, however many
records or items they were written in, so that parallel calls stay together; user messages stay separate.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from toolcarry._input.objects import JsonObject, as_list, as_object, text_or_empty
from toolcarry._util.plural import counted
from toolcarry.api.convert.losses import Losses, listed
from toolcarry.api.convert.media import read_image, read_media
from toolcarry.api.convert.model import (
    Call,
    Family,
    Item,
    Media,
    Orphan,
    Part,
    PortableTurn,
    Result,
    Role,
    Text,
    Thought,
)
from toolcarry.api.convert.native import (
    is_own_message,
    is_own_part,
    is_own_result,
    is_server_call,
    is_server_result,
    own_members,
)
from toolcarry.importers.messages import COVERS, RECORD, Import
from toolcarry.importers.read import read_message, read_result, read_spoken
from toolcarry.model.content import THINKING_PARTS, spoken_part
from toolcarry.model.formats import SPEAKERS
from toolcarry.model.formats.anthropic import CALLS
from toolcarry.model.formats.foreign import IMPORTED
from toolcarry.model.formats.message import MessageParts
from toolcarry.model.formats.responses import NO_CALLS, PROGRAMS
from toolcarry.model.formats.responses import SERVER_CALLS as SERVER_ITEMS
from toolcarry.model.pairing import Walk
from toolcarry.model.pairing.block import Entry
from toolcarry.model.session import Places, TypedAhead
from toolcarry.model.speakers import CLIENT, SUMMARY, told

ROLES: Final[dict[str, Role]] = {
    "system": "system",
    "developer": "system",
    "tool": "user",
    "function": "user",
    **{word: "user" if name == "USER" else "assistant" for word, name in SPEAKERS.items()},
}
"""The speakers by their names in the formats. Text next to results comes from the user."""
COMPACTIONS: Final = frozenset(("compaction", "compaction_summary", "context_compaction"))
"""The items of Responses that hold an encrypted summary; Codex reads the second as the first (openai/codex, models.rs)."""
ITEMS: Final = (
    NO_CALLS
    | COMPACTIONS
    | {
        "additional_tools",
        "compaction_trigger",
        "configuration_update",
        "mcp_approval_request",
        "mcp_approval_response",
    }
)
"""The items of Responses that only Responses knows (``ResponseInputItemParam`` of the SDK openai)."""
CALLS_ELSEWHERE: Final = CALLS | {"tool_call", "tool_call_chunk", "function_call"}
"""Parts that repeat the message's calls."""
THINKING_KEYS: Final[dict[str, Family]] = {
    "thinking": "ollama",
    "reasoning_content": "openai",
    "reasoning": "openai",
    "tool_plan": "openai",
}
"""The members in which messages keep their thinking as a string."""


def holder_of(message: JsonObject) -> JsonObject:
    """Return the object with the content of a message, which Codex, LangChain and OpenHands wrap."""
    for key in ("payload", "data", "llm_message"):
        held = as_object(message.get(key))
        if held is not None and message.get("role") is None:
            return held
    return message


def role_of(message: JsonObject) -> Role | None:
    """Return the speaker; ``None`` if there is none, or an unknown one."""
    if message.get("kind") == "SystemPromptEvent":
        return "system"
    speaker = read_spoken(message).speaker
    return ROLES.get(speaker) if isinstance(speaker, str) else None


def content_of(message: JsonObject) -> list[object]:
    """Yield the content of a message, part by part; nothing for a record without a speaker."""
    if message.get("kind") == "SystemPromptEvent":
        content: object = [message.get("system_prompt")]
    else:
        speaker, content = read_spoken(message)
        if not speaker and message.get("role") is None:
            return []
    if isinstance(content, str):
        return [content]
    items = as_list(content)
    return [] if content is None else list(items) if items is not None else [content]


def is_item(holder: JsonObject) -> bool:
    """True if an object is an item that only Responses knows. One that makes tools available has a role."""
    kind = text_or_empty(holder.get("type"))
    return kind in ITEMS and (holder.get("role") is None or kind == "additional_tools")


def before_content(message: JsonObject, position: int) -> Iterator[Thought | Item]:
    """Yield the thinking of a message outside of its content, and items that are not messages."""
    holder = holder_of(message)
    kind = text_or_empty(holder.get("type"))
    if is_item(holder):
        if kind != "reasoning":
            yield Item(position, "responses", holder)
        elif as_list(holder.get("summary")) is not None or "encrypted_content" in holder:
            texts = [as_object(part) or {} for part in as_list(holder.get("summary")) or ()]
            text = "\n".join(text_or_empty(part.get("text")) for part in texts)
            yield Thought(position, text, "responses", holder)
        return
    for block in as_list(holder.get("thinking_blocks")) or ():
        found = read_thought(as_object(block) or {}, position)
        if found is not None:
            yield found
    more = as_object(holder.get("additional_kwargs")) or {}
    for key, family in THINKING_KEYS.items():
        text = text_or_empty(holder.get(key)) or text_or_empty(more.get(key))
        if text:
            yield Thought(position, text, family, {})
            return


def after_content(message: JsonObject, position: int) -> Iterator[Text | Media]:
    """Yield the content of a message outside of ``content``: a refusal, and Ollama's images."""
    holder = holder_of(message)
    refusal = holder.get("refusal")
    if isinstance(refusal, str) and refusal:
        yield Text(position, refusal, {"type": "refusal", "refusal": refusal})
    if holder.get("role") is not None:
        for image in as_list(holder.get("images")) or ():
            if isinstance(image, str):
                yield read_image(image, position)


def read_part(item: object, position: int) -> Text | Thought | Media | None:
    """Read a part that is neither a call nor a result; ``None`` if its structure is unknown."""
    if isinstance(item, str):
        return Text(position, item, {})
    part = as_object(item)
    if part is None:
        return None
    text = spoken_part(part)
    if text is None and part.get("type") == "refusal":
        text = part.get("refusal")
    if isinstance(text, str):
        return Text(position, text, part)
    return read_thought(part, position) or read_media(part, position)


def read_thought(part: JsonObject, position: int) -> Thought | None:
    """Read a part that is thinking, in any shape."""
    kind = part.get("type")
    if kind in THINKING_PARTS:
        return Thought(position, text_or_empty(part.get("thinking")), "anthropic", part)
    held = as_object(part.get("reasoningContent"))  # Bedrock
    if held is not None:
        said = as_object(held.get("reasoningText")) or {}
        return Thought(position, text_or_empty(said.get("text")), "bedrock", part)
    if kind == "reasoning" or part.get("thought") is True:  # OpenTelemetry, LangChain; Gemini
        texts = (part.get(key) for key in ("text", "content", "reasoning"))
        text = next((text for text in texts if isinstance(text, str)), "")
        return Thought(position, text, "gemini" if kind is None else "", part)
    return None


def is_said_elsewhere(item: object) -> bool:
    """True if a part only repeats one of the message's calls."""
    part = as_object(item)
    return part is not None and text_or_empty(part.get("type")) in CALLS_ELSEWHERE


def describe(item: object) -> str:
    """Return the name of an unknown part for a report."""
    part = as_object(item)
    if part is None:
        return f"a part that is {type(item).__name__}, not an object"
    kind = part.get("type")
    return (
        f"a part {kind}"
        if isinstance(kind, str)
        else f"a part with {', '.join(map(str, part)) or 'nothing'}"
    )


class Pairs:
    """The blocks that the walk paired: the active branch by position, and counts of the rest."""

    def __init__(self, messages: Sequence[Any], positions: Mapping[int, int]) -> None:
        """``positions`` are those of the results, by the identity of their objects."""
        self._positions = positions
        imported = Import()
        walk = Walk(messages)
        entries = list(walk.entries())
        if walk.needs_import:
            walk = Walk(imported.messages(messages))
            entries = list(walk.entries())
        self.unread = imported.own(walk.unread_report())
        self.unread_positions = frozenset(position for position, _ in walk.unread)
        entries.reverse()
        for entry in entries:
            imported.restore(entry)
        self._second_results = {
            order: list(map(imported.original, results))
            for order, results in walk.second_results.items()
        }
        self._by_position: defaultdict[int, list[Entry]] = defaultdict(list)
        self._left = {"side_chain": 0, "other_branch": 0}
        for entry in entries:
            if entry.is_active:
                self._by_position[entry.position].append(entry)
            else:
                self._left["side_chain" if entry.scope else "other_branch"] += 1

    def calls_at(self, position: int) -> list[Entry]:
        """Return the calls in a message, in their order."""
        return [entry for entry in self._by_position[position] if entry.call is not None]

    def orphans_at(self, position: int) -> list[Orphan]:
        """Return the results without a call in a message."""
        found = [entry for entry in self._by_position[position] if entry.call is None]
        return [
            Orphan(position, entry.call_id, entry.name, self.results_of(entry)[0])
            for entry in found
        ]

    def call_of(self, entry: Entry) -> Call:
        """Return the call of an entry with all its results."""
        wire = entry.call or {}
        results = self.results_of(entry)
        return Call(entry.position, entry.call_id, entry.name, entry.arguments, results, wire)

    def results_of(self, entry: Entry) -> tuple[Result, ...]:
        """Return the results of a block: its own first, then duplicates."""
        if entry.result is None:
            return ()
        others = map(read_result, self._second_results.get(entry.order, ()))
        found = [(entry.result, entry.content, entry.is_error)]
        found += [(other.wire, other.content, other.is_error) for other in others]
        return tuple(
            Result(self._positions.get(id(wire), entry.position), content, is_error, wire)
            for wire, content, is_error in found
        )

    def tell_what_is_left(self, left: dict[str, int], losses: Losses) -> None:
        """Count the messages that are not on the active branch, and the blocks in them."""
        for kind, blocks in self._left.items():
            if left.get(kind) or blocks:
                held = f" with {counted(blocks, 'call')}" if blocks else ""
                losses.add(None, kind, f"{counted(left.get(kind, 0), 'message')}{held}")


KNOWN_FIELDS: Final = frozenset(
    (
        "role", "type", "kind", "content", "parts", "message", "payload", "data", "llm_message",
        "tool_calls", "invalid_tool_calls", "function_call", "tool_call_id", "tool_call_ids", "tool_use_id",
        "tool_name", "name", "is_error", "status", "tool_call", "action", "observation", "thought", "response",
        "images", "thinking", "reasoning", "reasoning_content", "tool_plan", "thinking_blocks", "additional_kwargs", "refusal",
        "system_prompt", "source", "cache_control", IMPORTED,
    )
)  # fmt: skip
"""The members of messages that hold content, that are reported elsewhere, or that an import added."""

PLAIN_SPEAKERS: Final = frozenset(("system", "developer", "user", "assistant"))


class Fields:
    """The members that were dropped, and the number of records without a message."""

    def __init__(self, family: Family) -> None:
        self._family = family
        self._names: set[str] = set()
        self._messages = 0
        self._passed: Counter[str] = Counter()

    def note(self, record: JsonObject, message: JsonObject) -> None:
        """Note the members that describe a record and the message in it."""
        holder = holder_of(message)
        levels = [holder, *([message] if message is not holder else [])]
        is_made = text_or_empty(record.get("uuid")).startswith(RECORD)
        levels += [record] if record is not message and not is_made else []
        if self._goes_on(holder):
            del levels[0]
        own = own_members(holder, self._family)
        found = {
            str(key)
            for level in levels
            for key, value in level.items()
            if value not in (None, [], {})
        }
        lost = found - KNOWN_FIELDS
        if text_or_empty(holder.get("role")) in PLAIN_SPEAKERS:
            lost |= found & {"name", "status"}  # elsewhere they are a tool's
        lost -= own.keys()
        self._messages += bool(lost)
        self._names |= lost

    def _goes_on(self, holder: JsonObject) -> bool:
        """True if an object stays unchanged: a Responses item, or one in the target's own format."""
        is_own = is_own_message(holder, self._family) or is_own_result(holder, self._family)
        return (
            is_own or is_responses_item(holder) or (self._family == "responses" and is_item(holder))
        )

    def note_passed(self, record: JsonObject) -> None:
        """Count a record that holds no message; a record that is repeated later is no loss."""
        if record and as_object(record.get("message")) is None:
            self._passed[text_or_empty(record.get("type") or record.get("kind")) or "no type"] += 1

    def tell(self, losses: Losses) -> None:
        if self._passed:
            kinds = listed(sorted(self._passed))
            held = counted(self._passed.total(), "record")
            losses.add(None, "metadata", f"{held} without message: {kinds}")
        if self._names:
            held = counted(self._messages, "message")
            losses.add(None, "metadata", f"fields of {held}: {listed(sorted(self._names))}")


def is_responses_item(wire: JsonObject) -> bool:
    """True if an object is an item of Responses, whose members belong to the item itself."""
    kind = text_or_empty(wire.get("type"))
    is_item = kind in PROGRAMS or kind.endswith(("_call", "_output", "reasoning"))
    return wire.get("role") is None and is_item


def read_turns(messages: Sequence[Any], family: Family, losses: Losses) -> list[PortableTurn]:
    """Return the turns of a conversation; calls that ran on the server of ``family`` stay unchanged."""
    fields = Fields(family)
    places, ahead = Places(messages), TypedAhead()
    left: Counter[str] = Counter()
    active: list[tuple[int, JsonObject, MessageParts]] = []
    kinds: list[str] = []
    results: dict[int, int] = {}
    passed: list[int] = []
    for position in range(len(messages) - 1, -1, -1):
        placed = places.place(messages[position], position)
        if placed is None:
            passed.append(position)
            continue
        message, scope, is_active = placed
        said = MessageParts()
        read_message(message, message.get("role"), said)
        results.update((id(result.wire), position) for result in said.results)
        if is_active:
            words, client = told(messages[position], message, ahead)
            is_covering = (as_object(messages[position]) or {}).get(COVERS) is True
            kinds.append("" if said.calls or said.results or is_covering else client)
            if words.speaker and read_spoken(message).speaker != words.speaker:
                message = {"role": words.speaker, "content": words.content}
            active.append((position, message, said))
        else:
            left["side_chain" if scope else "other_branch"] += 1
    active = without_client(active, kinds, losses)
    reader = Reader(Pairs(messages, results), family, losses)
    for position, message, said in reversed(active):
        if reader.read(position, message, said) or message.get("role") is not None:
            fields.note(messages[position], message)
        else:
            passed.append(position)
    for position in passed:
        if position not in reader.pairs.unread_positions:  # else they are reported as unread
            fields.note_passed(messages[position])
    reader.pairs.tell_what_is_left(left, losses)
    fields.tell(losses)
    losses.unread = reader.pairs.unread
    return [PortableTurn(role, tuple(parts), members) for role, parts, members in reader.turns]


def without_client(
    active: list[tuple[int, JsonObject, MessageParts]], kinds: list[str], losses: Losses
) -> list[tuple[int, JsonObject, MessageParts]]:
    """Return the messages, newest first, without the texts that the client wrote.

    A summary stays if nothing that it covers is sent.
    """
    own = Counter[str]()
    kept = []
    oldest = max((number for number, kind in enumerate(kinds) if kind != CLIENT), default=-1)
    for number, (each, kind) in enumerate(zip(active, kinds, strict=True)):
        if kind == CLIENT or (kind == SUMMARY and number < oldest):
            own["message" if kind == CLIENT else "compaction"] += 1
        else:
            kept.append(each)
    if own:
        told = [counted(count, noun) for noun, count in own.items()]
        losses.add(None, "client", listed(told))
    return kept


class Reader:
    """The turns so far."""

    def __init__(self, pairs: Pairs, family: Family, losses: Losses) -> None:
        self.turns: list[tuple[Role, list[Part], JsonObject]] = []
        self.pairs = pairs
        self._family = family
        self._losses = losses
        self._is_open = False
        """True if the next message of the same side belongs to the last turn."""
        self._message_id = ""
        """The id of the last message that has one: Claude Code splits a message over several records."""
        self._position = 0
        self._members: JsonObject = {}
        """The members of the message that only the target's own format has."""
        self._results: dict[int, JsonObject] = {}
        """The results in the current message, by identity."""
        self._kept: set[int] = set()
        """Those of them that stay in their place."""
        self._awaited: set[int] = set()
        """The results in later messages that stay in their place."""

    def read(self, position: int, message: JsonObject, said: MessageParts) -> bool:
        """Add a message, and return true if it has content. Within it, calls come before results, as for pairing."""
        self._begin(position, message, said)
        calls = {id(entry.call): entry for entry in self.pairs.calls_at(position)}
        orphans = []
        for orphan in self.pairs.orphans_at(position):
            if is_server_result(orphan.result.wire, self._family):
                self._kept.add(id(orphan.result.wire))
            else:
                orphans.append(orphan)
        is_result = id(message) in self._results or id(holder_of(message)) in self._results
        has_calls = bool(calls)
        has_said = bool(calls or orphans or self._results)
        if not has_calls:
            self._add_all("tool", orphans)
        if has_calls or not is_result or id(message) in self._kept:
            has_said = self._read_content(message, calls) or has_said
        for entry in calls.values():
            self._add_call(entry)
        if has_calls:
            self._add_all("tool", orphans)
        self._is_open = self._is_open and self._kept.issuperset(self._results)
        return has_said

    def _begin(self, position: int, message: JsonObject, said: MessageParts) -> None:
        """Read a message, and decide if it continues the last turn."""
        message_id = text_or_empty(message.get("id"))
        is_same = message_id != "" and message_id == self._message_id
        is_assistant = bool(self.turns) and self.turns[-1][0] == "assistant"
        self._is_open = is_assistant and (self._is_open or is_same)
        self._message_id = message_id or self._message_id
        self._position = position
        self._members = own_members(holder_of(message), self._family)
        self._is_open = self._is_open and not self._members
        self._results = {id(result.wire): result.wire for result in said.results}
        self._kept = self._awaited & self._results.keys()

    def _read_content(self, message: JsonObject, calls: dict[int, Entry]) -> bool:
        """Add the content of a message with the calls and results in it; calls that are added leave ``calls``."""
        role = role_of(message)
        before = self._size()
        if id(message) in self._kept:
            self._keep(message)
            return True
        if role is not None and is_own_message(holder_of(message), self._family):
            self._add(role, Item(self._position, self._family, holder_of(message)))
            return True
        self._add_all("assistant", before_content(message, self._position))
        for item in content_of(message):
            if id(item) in calls:
                self._add_call(calls.pop(id(item)))
            elif id(item) in self._kept:
                self._keep(self._results[id(item)])
            elif id(item) in self._results:
                self._is_open = False
            else:
                self._add_item(role, item)
        self._add_all(role or "user", after_content(message, self._position))
        if "audio" in self._members and role is not None and self._size() == before and not calls:
            self.turns.append((role, [], self._members))
        return self._size() != before

    def _size(self) -> tuple[int, int]:
        return len(self.turns), len(self.turns[-1][1]) if self.turns else 0

    def _add_item(self, role: Role | None, item: object) -> None:
        """Add a part that is neither a call nor a result."""
        if role is not None and isinstance(item, dict) and is_own_part(item, self._family):
            self._add(role, Item(self._position, self._family, item))
            return
        part = read_part(item, self._position)
        if isinstance(part, Text) and part.text == "":
            return
        if isinstance(item, dict) and "cachePoint" in item:  # Bedrock
            if self._family == "bedrock" and role is not None:
                self._add(role, Item(self._position, "bedrock", item))
                return
            self._losses.add(self._position, "cache_control", "")
            return
        if part is not None and role is not None:
            self._add(role, part)
        elif part is not None or not is_said_elsewhere(item):
            who = "" if role else ", in a message without a known role"
            self._losses.add(self._position, "unknown", f"{describe(item)}{who}")

    def _add_call(self, entry: Entry) -> None:
        if self._stays(entry):
            is_here = id(entry.result) in self._results
            (self._kept if is_here else self._awaited).add(id(entry.result))
            self._keep(entry.call or {})
        else:
            self._add("assistant", self.pairs.call_of(entry))

    def _stays(self, entry: Entry) -> bool:
        """Return true if a call ran on the target's own server. Such a call stays in its place, and so does its only
        result, if it has one.

        Calls to the client may come between the two: a program makes them, and so does Anthropic's code execution.
        """
        call, result = entry.call, entry.result
        if call is None or len(self.pairs.results_of(entry)) > 1:
            return False
        if self._family == "responses":
            kind = text_or_empty(call.get("type"))
            is_search = kind == "tool_search_call" and call.get("execution") == "server"
            return kind in PROGRAMS or (result is not None and (kind in SERVER_ITEMS or is_search))
        if not is_server_call(call, self._family):
            return False
        if result is None:
            return True
        is_near = self._family == "anthropic" or id(result) in self._results
        return is_near and is_server_result(result, self._family)

    def _keep(self, wire: JsonObject) -> None:
        self._add("assistant", Item(self._position, self._family, wire))

    def _add_all(self, role: Role, parts: Iterable[Part]) -> None:
        for part in parts:
            self._add(role, part)

    def _add(self, role: Role, part: Part) -> None:
        """Add a part to the last turn if it continues, else to a new one."""
        last = self.turns[-1] if self.turns else None
        is_orphan = role == "tool" and last is not None and last[0] == "tool"
        if last is not None and last[0] == role and (self._is_open or is_orphan):
            last[1].append(part)
        else:
            self.turns.append((role, [part], {} if role == "tool" else self._members))
        self._is_open = True
