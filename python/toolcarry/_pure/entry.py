"""A block in the making, on its way through the steps."""

from __future__ import annotations

from toolcarry._pure.read import UNKNOWN, call_name, is_synthetic, result_name
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
    given: Wire
    is_stale: bool
    kind: Kind
    value: str | None

    def __init__(
        self,
        call: Wire | None,
        result: Wire | None,
        call_id: str,
        position: int,
        order: int,
        scope: str,
        is_active: bool,
    ) -> None:
        self.call = call
        self.result = result
        self.is_error = is_error = result is not None and result.get("is_error") is True
        self.is_failure = is_error or result is None or is_synthetic(result)
        self.call_id = call_id
        self.position = position
        self.order = order
        self.scope = scope
        self.is_active = is_active

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
