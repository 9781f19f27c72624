"""The outcomes of two backends, in a form that can be compared."""

import dataclasses
from collections.abc import Callable
from types import ModuleType
from typing import Any

from toolcarry import ToolBlock
from toolcarry.errors import InputError
from toolcarry.types.value import Value


def outcome(job: Callable[[], Any]) -> Any:
    """Return a job's result, or the error that it raises: its type, message and position."""
    try:
        return plain(job())
    except Exception as error:  # noqa: BLE001  any difference at all is a bug
        return type(error), str(error), getattr(error, "position", None)


def compare(both: tuple[ModuleType, ModuleType], job: str, *given: Any) -> None:
    """Check that a job has the same outcome on both backends."""
    python, rust = (getattr(kernels, job) for kernels in both)
    wanted = outcome(lambda: python(*given))
    assert outcome(lambda: rust(*given)) == wanted


def blocks_of(both: tuple[ModuleType, ModuleType], messages: Any) -> list[ToolBlock] | None:
    """Return the blocks of messages; ``None`` if they are refused."""
    try:
        found: list[ToolBlock] = both[0].extract_tool_blocks(messages)
    except InputError:
        return None
    return found


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
