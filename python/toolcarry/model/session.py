"""Session files: find the records that form the conversation, and those of side chains and other branches.

A Claude Code record names itself (``uuid``) and its parent (``parentUuid``). The active branch is the last
message with its ancestors. If the chain breaks (at a lost or malformed record), file order is used instead, so that
nothing before the gap is lost. One assistant message may be split over several records with one ``message.id``,
also on sibling branches. A record may be written twice; then the last one counts.
In the stream of the Agent SDK, records don't have the member ``parentUuid``: each continues the one before it, and
``parent_tool_use_id`` names the call whose sub-agent wrote it. A turn that Codex rolled back is not on the active branch.
A file with a single side chain is read as that conversation. An item with a role is a message, not a record.

Reading all records in file order would be simpler, but it mixes abandoned branches into a context. Reading the whole
file first would make the cost of a context grow with the file, so the chain is followed upward from the end.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any, Final

from toolcarry._data import read_table
from toolcarry._input.document import held_message
from toolcarry._input.objects import JsonObject, as_list, as_object, first_given, text_or_empty
from toolcarry.model.content import spoken_text
from toolcarry.model.formats.foreign import IMPORTED
from toolcarry.model.formats.unread import is_known


class Branch:
    """The active branch, followed upward as the records are read, from the last one on.

    A job that stops early need not read the beginning of the file. Most records show their place when they are read.
    If one doesn't, the branch is lost (``is_lost``); if the expected ancestor may be missing, it is not sure
    (``is_sure``). Either way, the job starts again with all records.
    """

    def __init__(self) -> None:
        self.is_lost = False
        """True if a record could not be placed."""
        self._seen: set[str] = set()
        self._above: str | None = None
        """The expected ancestor: ``None`` until the last message was read, empty after the root."""
        self._message_ids: set[str] = set()
        """The ids of the messages on the branch."""
        self._is_in_doubt = False
        """True if a message was skipped while an ancestor was expected, which may be missing."""

    def place(
        self, uuid: str, record: JsonObject, message: JsonObject | None
    ) -> tuple[str, bool] | None:
        """Return the scope of the next record, and true if it is on the branch.

        ``None`` if the record is written again later, or if the branch is lost.
        """
        if uuid in self._seen:
            return None
        self._seen.add(uuid)
        is_side, agent = side_of(record)
        if self._above is None:
            is_active = message is not None
        else:
            is_active = uuid != "" and uuid == self._above
        if is_active:
            return self._lose() if is_side else self._go_up(record, message)
        if message is None:
            return "", False
        if is_side:
            return (agent, False) if agent else self._lose()
        message_id = text_or_empty(message.get("id"))
        if message_id and (self._above or message_id in self._message_ids):
            return self._lose()  # it may be a part of a message on the branch
        if self._above:
            self._is_in_doubt = True
        return "", False

    @property
    def is_sure(self) -> bool:
        """True if all places returned so far are right, whatever the earlier records are."""
        return not self.is_lost and not self._is_in_doubt

    def _go_up(self, record: JsonObject, message: JsonObject | None) -> tuple[str, bool] | None:
        self._is_in_doubt = False
        if message is not None:
            self._message_ids.add(text_or_empty(message.get("id")))
        self._above = _parent_of(record)
        is_lost = self._above in self._seen or (not self._above and follows(record))
        return self._lose() if is_lost else ("", True)

    def _lose(self) -> tuple[str, bool] | None:
        self.is_lost = True
        return None


def _parent_of(record: JsonObject) -> str:
    """Return the uuid of a record's parent; empty if it has none."""
    return text_or_empty(record.get("parentUuid")) or text_or_empty(record.get("logicalParentUuid"))


def follows(record: JsonObject) -> bool:
    """Return true if a record continues the one before it: it has no member for a parent, not even an empty one."""
    return "parentUuid" not in record and "logicalParentUuid" not in record


def side_of(record: JsonObject) -> tuple[bool, str]:
    """Return true for a record of a side chain, and the agent; empty if it is not named."""
    if record.get("isSidechain") is True:
        return True, text_or_empty(record.get("agentId"))
    agent = text_or_empty(record.get("parent_tool_use_id")) if follows(record) else ""
    return agent != "", agent


QUEUED = "queued_command"
"""The type of an attachment that holds what the user typed while Claude Code worked; it is nowhere else."""


def message_in(record: JsonObject) -> JsonObject | None:
    """Return the message in a record: ``message``, or an attachment with the text of the user."""
    message = held_message(record)
    if message is not None:
        return message
    attachment = as_object(record.get("attachment"))
    return attachment if attachment is not None and attachment.get("type") == QUEUED else None


REPEATING: Final = "response-"
"""The beginning of the ids of iFlow's messages."""


def is_repeating(record: JsonObject) -> bool:
    """Return true for a record of iFlow, which only the importer can place among the others.

    It repeats calls of the records before it, and its parent is the message of the user.
    """
    message = held_message(record)
    is_record = isinstance(record.get("uuid"), str) and record.get("role") is None
    has_id = message is not None and text_or_empty(message.get("id")).startswith(REPEATING)
    return is_record and has_id and IMPORTED not in record


CLIENT_TEXTS: tuple[str, ...] = tuple(read_table("roles")["client_texts"])
"""The beginnings of texts that Codex and Claude Code write as the user."""


class RolledBack:
    """The turns of a Codex rollout that a later record takes back, as records are read from the last one on."""

    def __init__(self) -> None:
        self._turns = 0

    def is_active(self, record: JsonObject) -> bool:
        """Return true unless a record belongs to a turn that was rolled back."""
        kind = record.get("type")
        if kind == "event_msg":
            payload = as_object(record.get("payload")) or {}
            if payload.get("type") == "thread_rolled_back":
                count = payload.get("num_turns")
                self._turns += count if type(count) is int and count > 0 else 0
        if self._turns == 0 or kind != "response_item":
            return True
        if is_prompt(as_object(record.get("payload")) or {}):
            self._turns -= 1
        return False


def is_prompt(item: JsonObject) -> bool:
    """Return true for a message of the user, which begins a turn."""
    if item.get("type") != "message" or item.get("role") != "user":
        return False
    return not is_client_text(item.get("content"))


def is_client_text(content: object) -> bool:
    """Return true if the content of a message of the user begins with a text that the client wrote."""
    parts = as_list(content) or ()
    text = (as_object(parts[0]) or {}).get("text") if parts else content
    return text_or_empty(text).startswith(CLIENT_TEXTS)


QUEUE: Final = "queue-operation"
"""The type of the records of Claude Code's queue."""


class TypedAhead:
    """Texts that the user typed while Claude Code worked, as records are read from the last one on.

    Claude Code writes a record when a text enters its queue and another one when it leaves it. Then the text is in a
    message of the user, or in an attachment; older versions wrote neither if the model got the text within a turn.
    """

    def __init__(self) -> None:
        self._later: deque[object] = deque(maxlen=NEAR)
        self._taken_back: set[str] = set()
        self._is_emptied = False

    def note(self, content: object) -> None:
        """Note what a message of the user says."""
        self._later.append(content)

    def text_in(self, record: JsonObject) -> str:
        """Return the text that a record of the queue adds and no other record has; empty if there is none."""
        text = text_or_empty(record.get("content"))
        operation = record.get("operation")
        if operation == "popAll":  # back into the field where it was typed
            self._taken_back.add(text)
            self._is_emptied |= text == ""
        is_new = operation == "enqueue" and not self._is_emptied and text not in self._taken_back
        if not is_new or text.startswith(CLIENT_TEXTS):
            return ""
        return "" if any(text in spoken_text(content) for content in self._later) else text


NEAR: Final = 32
"""The number of messages of the user, after a text in the queue, that may hold it."""


Placed = tuple[JsonObject, str, bool]
"""A message, its scope, and true if it is on the active branch."""


class Places:
    """The places of messages, decided as they are read, from the last to the first.

    Without a branch to follow, the first record with a ``uuid`` makes it read all records before it.
    ``needs_import`` is true once there was an item that only an importer can place, and ``is_lost`` once the branch is.
    """

    def __init__(self, messages: Sequence[Any], branch: Branch | None = None) -> None:
        self.needs_import = False
        self.repeated_records = 0
        self._messages = messages
        self._branch = branch
        self._session: RecordTree | None = None
        self._rolled_back = RolledBack()

    @property
    def is_lost(self) -> bool:
        """True if a branch is followed and the place of an item can be decided only with all records."""
        return self._branch is not None and self._branch.is_lost

    def place(self, message: JsonObject, position: int) -> Placed | None:
        """Return the message of an item and its place.

        ``None`` if the item holds no message, if it is written again later, or if the branch is lost. An item of unknown
        structure is its own message, so that it is reported as unread.
        """
        if message.get("role") is not None:
            return message, "", True
        if first_given(message, "uuid", "message") is None:
            return message, "", self._rolled_back.is_active(message)
        if is_repeating(message):
            self.needs_import = True
            return None
        inner = held_message(message)
        uuid = message.get("uuid")
        if not isinstance(uuid, str):
            return message if inner is None else inner, "", True
        if self._branch is not None:
            place = self._branch.place(uuid, message, inner)
        else:
            if self._session is None:
                self._session = RecordTree(self._messages, position + 1)
            place = self._session.place(position)
        if place is None:
            self.repeated_records += not self.is_lost
            return None
        held = message_in(message)
        if held is None and is_known(message, None):
            return None
        return (message if held is None else held, *place)


class Directories:
    """The working directories of the calls in a session file, asked for from the last record to the first.

    A record of Claude Code has its own (``cwd``). An item of a Codex rollout has that of the nearest record before it
    that gives one: a ``turn_context``, or the ``session_meta`` of the file.
    """

    def __init__(self, messages: Sequence[Any]) -> None:
        self._messages = messages
        self._since = len(messages)
        """The position of the record that gave the directory."""
        self._directory = ""

    def at(self, record: JsonObject, position: int) -> str:
        """Return the working directory of the record at a position; empty if none is known."""
        if record.get("role") is not None:
            return ""
        own = record.get("cwd")
        if isinstance(own, str):
            return own
        if record.get("type") != "response_item":
            return ""
        if position < self._since:
            self._look_back(position)
        return self._directory

    def _look_back(self, position: int) -> None:
        for earlier in range(position - 1, -1, -1):
            record = as_object(self._messages[earlier]) or {}
            if record.get("type") in DIRECTORY_RECORDS:
                directory = (as_object(record.get("payload")) or {}).get("cwd")
                if isinstance(directory, str):
                    self._since, self._directory = earlier, directory
                    return
        self._since, self._directory = -1, ""


DIRECTORY_RECORDS: tuple[str, ...] = tuple(read_table("responses")["directory_records"])
"""The records of a Codex rollout that give the working directory."""


class RecordTree:
    """The places of the first ``count`` records."""

    def __init__(self, records: Sequence[Any], count: int) -> None:
        self._is_active = bytearray(count)
        self._scopes: dict[int, str] = {}
        self._parents: list[str] = [""] * count
        self._previous: dict[str, str] = {}
        """The last record of each scope so far, which a record without a parent continues."""
        self._message_ids: dict[int, str] = {}
        self._index: dict[str, int] = {}
        self._tree: list[int] = []
        self._last = -1
        last_side = -1
        named: list[tuple[int, str, JsonObject]] = []
        for position in range(count):
            record = as_object(records[position]) or {}
            uuid = record.get("uuid")
            if isinstance(uuid, str) and record.get("role") is None:
                named.append((position, uuid, record))
                self._index[uuid] = position
        for position, uuid, record in named:
            if self._index[uuid] != position:
                continue
            is_message = self._add(position, uuid, record)
            if is_message and position in self._scopes:
                last_side = position
            elif is_message:
                self._last = position
        if self._last < 0 and last_side >= 0 and len(set(self._scopes.values())) == 1:
            self._last = last_side
        self._counted = frozenset(self._tree)
        self._mark_ancestors()
        self._mark_split_messages()

    def place(self, position: int) -> tuple[str, bool] | None:
        """Return the scope of a record, and true if it is on the active branch; ``None`` if it is written again."""
        if position not in self._counted:
            return None
        return self._scopes.get(position, ""), bool(self._is_active[position])

    def _add(self, position: int, uuid: str, record: JsonObject) -> bool:
        """Add one record, and return true if it holds a message."""
        message = held_message(record)
        self._tree.append(position)
        parent = _parent_of(record)
        is_side, agent = side_of(record)
        if is_side:
            above = self._index.get(parent, -1)
            self._scopes[position] = agent or self._scopes.get(above, uuid)
        scope = self._scopes.get(position, "")
        if not parent and follows(record):
            parent = self._previous.get(scope, "")
        self._previous[scope] = uuid
        self._parents[position] = parent
        if message is None:
            return False
        message_id = message.get("id")
        if isinstance(message_id, str) and message_id:
            self._message_ids[position] = message_id
        return True

    def _mark_ancestors(self) -> None:
        """Walk from the last message to its root. If a parent is missing, go on in file order."""
        scope = self._scopes.get(self._last, "")
        order = [position for position in self._tree if self._scopes.get(position, "") == scope]
        place = {position: number for number, position in enumerate(order)}
        position, lowest = self._last, len(order)
        while position >= 0:
            self._is_active[position] = 1
            number = place.get(position, lowest)
            lowest = min(lowest, number)
            parent = self._parents[position]
            if not parent:
                return
            above = self._index.get(parent, -1)
            if above < 0 or self._is_active[above] or above not in place:
                above = order[lowest - 1] if lowest > 0 else -1
            position = above

    def _mark_split_messages(self) -> None:
        """Mark the other records of an active message as active, if their parent is active too."""
        active = {name for position, name in self._message_ids.items() if self._is_active[position]}
        for position, name in self._message_ids.items():
            if name in active and not self._is_active[position]:
                above = self._index.get(self._parents[position], -1)
                same_lane = self._scopes.get(position, "") == self._scopes.get(self._last, "")
                if above >= 0 and self._is_active[above] and same_lane:
                    self._is_active[position] = 1
