"""An answer in JSON as it is shown: every member as it came, but for base64, which is never text.

Of media only the text that is base64 becomes a line, in its place: ``{"type":"image","data":"[image: 150 bytes]"}``.
What stands beside it is part of the answer. Both backends share this for objects; for bytes the twin is
``scan/write.rs``.
"""

from __future__ import annotations

from typing import Any

from toolcarry._pure.content.media import address_line, base64_line
from toolcarry.decode import compact_json
from toolcarry.wire import Wire

HINTS = (
    '"data:',
    '"data":',
    '"blob"',
    '"bytes":',
    '"base64":',
    '"file_data":',
    '"encrypted_content":',
)
"""One of these stands in JSON that holds base64: most does not, and is not looked at again."""


def answer_json(value: object) -> str:
    """``value`` as compact JSON without base64.

    >>> answer_json({"a": "data:image/png;base64,aGk="})
    '{"a":"[image: image/png, 2 bytes]"}'
    """
    written = compact_json(value)
    return compact_json(readable(value)) if any(hint in written for hint in HINTS) else written


def readable(value: Any, name: str = "") -> Any:
    """A copy of what stands under a name, with lines for base64; ``compact_json`` has refused what is too deep."""
    if isinstance(value, dict):
        return {key: readable_member(value, key, item, name) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [readable(item) for item in value]
    return address_line(value) if isinstance(value, str) else value


def readable_member(holder: Wire, key: str, item: Any, name: str) -> Any:
    """A member of an object that stands under a name itself, which may say that it is media."""
    line = base64_line(holder, key, item, name) if isinstance(item, str) else None
    return readable(item, key) if line is None else line
