"""A block that is being built, on its way through the steps."""

from __future__ import annotations

from toolcarry._input.json import loads_arguments
from toolcarry._input.objects import JsonObject, as_object
from toolcarry.model.content import INITIALS, is_stand_in
from toolcarry.model.formats import UNKNOWN
from toolcarry.model.formats.message import ToolCall, ToolResult
from toolcarry.types.values import Kind


class Entry:
    """A block that is being built: a call, a result, or both, as objects of the input, with the fields read of them.

    ``position`` is the index of the message with the call, ``result_position`` of the one with the result. ``order``
    numbers entries in the order of the walk. ``server`` is the call's, where it is apart from the name, and ``directory``
    the working directory of its record. Judging sets the rest: ``kind``, ``value`` (the path or command, as it is shown),
    ``key`` (which identifies blocks of the kind), ``given`` (the arguments as an object), ``is_stale``, and ``max_chars``,
    the limit of the rule.
    """

    __slots__ = (
        "age", "arguments", "call", "call_id", "content", "directory", "given", "is_active", "is_doubtful", "is_error",
        "is_failure", "is_stale", "is_unproven", "key", "kind", "max_chars", "order", "position", "result", "result_position", "scope",
        "server", "tool_name", "value",
    )  # fmt: skip

    age: int
    arguments: object
    call: JsonObject | None
    call_id: str
    content: object
    directory: str
    given: JsonObject
    is_active: bool
    is_doubtful: bool
    is_error: bool
    is_failure: bool
    is_stale: bool
    is_unproven: bool
    key: str | None
    kind: Kind
    max_chars: int | None
    order: int
    position: int
    result: JsonObject | None
    result_position: int
    scope: str
    server: str
    tool_name: str
    value: str | None

    @property
    def name(self) -> str:
        """The tool's name from the call, else from the result."""
        return self.tool_name or UNKNOWN

    def read_arguments(self) -> JsonObject:
        """Return the arguments as an object, and keep it as ``given``."""
        arguments = self.arguments
        if type(arguments) is dict:
            self.given = arguments
        else:
            found = as_object(arguments)
            self.given = loads_arguments(arguments) if found is None else found
        return self.given

    def add_call(
        self, call: ToolCall, position: int, order: int, is_active: bool, directory: str
    ) -> None:
        """Add the call that this result answers."""
        self.call = call.wire
        self.server = call.server
        self.directory = directory
        self.tool_name = call.name
        self.arguments = call.arguments
        self.position = position
        self.order = order
        self.is_active = is_active

    def take_over(self, other: Entry) -> None:
        """Take over the result of another entry."""
        self.result = other.result
        self.result_position = other.result_position
        self.content = other.content
        self.is_error = other.is_error
        self.is_failure = other.is_failure


def new_entry(
    call: JsonObject | None,
    result: JsonObject | None,
    call_id: str,
    tool_name: str,
    arguments: object,
    content: object,
    is_error: bool,
    position: int,
    order: int,
    scope: str,
    is_active: bool,
) -> Entry:
    """Return an entry. A function takes half the time of an ``__init__``."""
    entry = Entry()
    entry.call = call
    entry.result = result
    entry.call_id = call_id
    entry.tool_name = tool_name
    entry.arguments = arguments
    entry.content = content
    entry.is_error = is_error
    entry.position = position
    entry.result_position = position
    entry.order = order
    entry.server = entry.directory = ""
    entry.scope = scope
    entry.is_active = is_active
    entry.is_doubtful = entry.is_unproven = False
    if result is None:
        entry.is_failure = True
    else:
        is_plain = type(content) is str and content[:1] not in INITIALS  # nearly always
        # A failure is read as well, so that content that is nested too deep is refused in every result.
        is_missing = not is_plain and is_stand_in(content)
        entry.is_failure = is_error or is_missing
    return entry


def call_entry(
    call: ToolCall, position: int, order: int, scope: str, is_active: bool, directory: str
) -> Entry:
    """Return the entry of a call that has no result yet."""
    wire, call_id, name, arguments, server = call
    entry = new_entry(
        wire, None, call_id, name, arguments, None, False, position, order, scope, is_active
    )
    entry.server, entry.directory = server, directory
    return entry


def result_entry(
    result: ToolResult, position: int, order: int, scope: str, is_active: bool
) -> Entry:
    """Return the entry of a result whose call has not been seen yet."""
    wire, call_id, name, content, is_error = result
    return new_entry(
        None, wire, call_id, name, None, content, is_error, position, order, scope, is_active
    )
