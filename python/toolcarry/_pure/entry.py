"""A block in the making, on its way through the steps."""

from __future__ import annotations

from toolcarry._pure.read import UNKNOWN, call_name, is_stand_in, result_name
from toolcarry.types import Kind
from toolcarry.wire import Wire


class Entry:
    """A block in the making: a call, a result, or both, as the wire's own objects.

    ``order`` numbers entries in the order of the walk. What judging finds out is set by it:
    ``kind``, ``value`` (what tells blocks of the kind apart), ``given`` (the arguments) and ``is_stale``.
    """

    __slots__ = (
        "age", "call", "call_id", "given", "is_active", "is_error", "is_failure", "is_stale", "kind",
        "order", "position", "result", "scope", "value",
    )  # fmt: skip

    age: int
    call: Wire | None
    call_id: str
    given: Wire
    is_active: bool
    is_error: bool
    is_failure: bool
    is_stale: bool
    kind: Kind
    order: int
    position: int
    result: Wire | None
    scope: str
    value: str | None

    @property
    def name(self) -> str:
        """The tool's name, by the call, else by what the result says of itself."""
        if self.call is not None:
            return call_name(self.call) or UNKNOWN
        return (self.result is not None and result_name(self.result)) or UNKNOWN

    def take_over(self, other: Entry) -> None:
        """Take over what came back for another entry."""
        self.result = other.result
        self.is_error = other.is_error
        self.is_failure = other.is_failure


def new_entry(
    call: Wire | None,
    result: Wire | None,
    call_id: str,
    position: int,
    order: int,
    scope: str,
    is_active: bool,
) -> Entry:
    """An entry. A function, since it takes half the time of an ``__init__``."""
    entry = Entry()
    entry.call = call
    entry.result = result
    entry.call_id = call_id
    entry.position = position
    entry.order = order
    entry.scope = scope
    entry.is_active = is_active
    if result is None:
        entry.is_error = False
        entry.is_failure = True
    else:
        entry.is_error = is_error = result.get("is_error") is True
        content = result.get("content")
        is_plain = type(content) is str and content != "" and content[0] != "["  # nearly always
        entry.is_failure = is_error or (not is_plain and is_stand_in(content))
    return entry
