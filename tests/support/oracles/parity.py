"""The outcomes of two backends, in a form that can be compared."""

import dataclasses
from collections.abc import Callable
from typing import Any

from toolcarry.types.value import Value


def outcome(job: Callable[[], Any]) -> Any:
    """Return a job's result, or the error that it raises: its type, message and position."""
    try:
        return plain(job())
    except Exception as error:  # noqa: BLE001  any difference at all is a bug
        return type(error), str(error), getattr(error, "position", None)


def plain(value: Any) -> Any:
    """``value`` with its blocks as tuples, and the wire's objects by identity."""
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if dataclasses.is_dataclass(value) or isinstance(value, Value):
        found = {name: getattr(value, name) for name in type(value).__match_args__}
        for name in ("tool_use", "tool_result"):
            if name in found:
                found[name] = id(found[name]), repr(found[name])
        return type(value).__name__, found
    return value


class Dumped:
    """An SDK's object."""

    def __init__(self, value: dict[str, Any]) -> None:
        self._value = value

    def model_dump(self) -> dict[str, Any]:
        return self._value
