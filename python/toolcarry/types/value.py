"""The base of the values that users receive: frozen, compared by content, constructed from keywords."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

__all__ = ["Value"]


class Value(Struct, frozen=True):
    """A frozen value. ``msgspec.structs.replace`` returns one with other fields.

    A struct is constructed in a tenth of the time of a frozen dataclass, and a conversation has many blocks.
    """

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values that ``json.dumps`` accepts: dicts, lists, texts and numbers.

        >>> from toolcarry.types.values import Report
        >>> Report(walked=2, shown=1, skipped_lines=(7,)).to_dict()["skipped_lines"]
        [7]
        """
        return {name: plain(getattr(self, name)) for name in self.__struct_fields__}


def plain(value: Any) -> Any:
    """Return a value of a field without tuples and structs, at any depth."""
    if isinstance(value, Value):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {key: plain(each) for key, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, (tuple, list)) else value
