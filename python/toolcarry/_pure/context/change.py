"""What an edit changed."""

from __future__ import annotations

from toolcarry._data import read_table
from toolcarry._pure.dedupe import WHOLE_FILE_KEYS
from toolcarry.wire import Wire, as_list, as_object

TABLE = read_table("tool_arguments")
OLD_KEYS: tuple[str, ...] = tuple(TABLE["old_keys"])
NEW_KEYS: tuple[str, ...] = tuple(TABLE["new_keys"])
DIFF_KEYS: tuple[str, ...] = tuple(TABLE["diff_keys"])
WRITTEN_KEYS: tuple[str, ...] = (*WHOLE_FILE_KEYS, TABLE["source_key"])


def change_of(given: Wire) -> tuple[str, str] | None:
    """What an edit changed, as lines with ``-`` and ``+`` (``diff``), or the whole that a write wrote (no language)."""
    edits = as_list(given.get("edits"))
    if edits is not None:
        parts = [replaced(edit) for edit in map(as_object, edits) if edit is not None]
        if any(parts):
            return "".join(parts), "diff"
    if first_text(given, OLD_KEYS) is not None or first_text(given, NEW_KEYS) is not None:
        change = replaced(given)
        return (change, "diff") if change else None
    diff = first_text(given, DIFF_KEYS)
    if diff is not None:
        return diff, "diff"
    whole = first_text(given, WRITTEN_KEYS)
    return None if whole is None else (whole, "")


def replaced(edit: Wire) -> str:
    """The old lines with ``-``, the new with ``+``."""
    old = first_text(edit, OLD_KEYS) or ""
    new = first_text(edit, NEW_KEYS) or ""
    return prefixed(old, "-") + prefixed(new, "+")


def prefixed(text: str, sign: str) -> str:
    if not text:
        return ""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = text.removesuffix("\n").replace("\n", "\n" + sign)
    return f"{sign}{lines}\n"


def first_text(given: Wire, names: tuple[str, ...]) -> str | None:
    for name in names:
        value = given.get(name)
        if isinstance(value, str):
            return value
    return None
