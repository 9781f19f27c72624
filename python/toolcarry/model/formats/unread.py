"""Tell structures that are known and hold nothing to pair from those that no format knows.

The readers report a part, or a call, that they can't read; a message without calls and results is judged here. So a
message that was read costs nothing more. Empty objects replace lines that were skipped, and are reported as those.
"""

from __future__ import annotations

from typing import Final

from toolcarry._data import read_table
from toolcarry._input.objects import JsonObject, as_list, as_object, given
from toolcarry.model.formats.foreign import IMPORTED

_TABLE: Final = read_table("structures")
ROLES: Final = frozenset(_TABLE["roles"])
PARTS: Final = frozenset(_TABLE["parts"])
"""The types of parts that hold no call and no result."""
PART_KEYS: Final = frozenset(_TABLE["part_keys"])
"""The members that a part without a type has."""
OBJECT_KEYS: Final = frozenset(_TABLE["object_keys"])
"""The members of a part without a type that are objects: calls and results."""
TEXT_KINDS: Final = frozenset(_TABLE["text_kinds"])
"""The types of parts that hold a text."""
EMPTY_KEYS: Final = frozenset(_TABLE["empty_keys"])
"""The members of a message without content."""
FOREIGN_CALLS: Final = frozenset(_TABLE["foreign_calls"])
RECORDS: Final[dict[str, tuple[str, ...]]] = {
    kind: tuple(keys) for kind, keys in _TABLE["records"].items()
}
"""The types of records and items without a message, each with the members of which such a record has at least one."""
UNTYPED_RECORDS: Final = frozenset(_TABLE["untyped_records"])

UNREAD: Final = "unread"
"""A member of an imported message that no importer reads either. No format knows it, so that the message is reported as
unread unless a backend reads the rest."""


def is_known_part(part: JsonObject) -> bool:
    """Return true if a part that is neither a call nor a result has a known structure."""
    kind, text = part.get("type"), part.get("text")
    if isinstance(text, str) and kind in (None, "text"):
        return True
    if text is not None and not isinstance(text, str):
        return False
    names = given(part)
    if kind is None:
        is_named = not names or not (PART_KEYS.isdisjoint(names) or is_genkit(part))
        return is_named and all(as_object(part[key]) is not None for key in OBJECT_KEYS & names)
    if not isinstance(kind, str) or kind not in PARTS:
        return False
    # OpenTelemetry's text is a content.
    return kind not in TEXT_KINDS or len(names) == 1 or not names.isdisjoint(("text", "content"))


def is_genkit(part: JsonObject) -> bool:
    """Return true for an answer of Genkit, which has a name. One of Gemini, whose tool ran on the server, has a type."""
    return (as_object(part.get("toolResponse")) or {}).get("name") is not None


def is_known(message: JsonObject, role: object) -> bool:
    """Return true if a message without calls and results has a known structure, apart from its parts."""
    if role is None:
        return not given(message) or says_nothing(message) or is_record(message)
    if not isinstance(role, str) or role not in ROLES or has_foreign_calls(message):
        return False
    content = message.get("content")
    if content is None:
        is_empty = message.get("parts") is None or as_list(message["parts"]) in ([], ())
        return is_empty and EMPTY_KEYS.issuperset(given(message))
    return isinstance(content, str) or as_list(content) is not None


def has_unread_text(message: JsonObject, role: object) -> bool:
    """Return true if a message with calls or results has a text that nobody is known to say.

    Its role is unknown, or it has no content, but a text of some words in a member that no provider has.
    """
    is_said = isinstance(role, str) and role in ROLES
    if is_said and "content" in message:  # nearly always
        return False
    content = message.get("content")
    texts = [(as_object(part) or {}).get("text", part) for part in as_list(content) or (content,)]
    texts += [value for key, value in message.items() if key not in EMPTY_KEYS]
    return any(isinstance(text, str) and " " in text for text in texts)


def says_nothing(message: JsonObject) -> bool:
    """Return true if an object is an imported message that says nothing: it has no role, and its content is null."""
    names = given(message)
    is_silent = IMPORTED in names and "content" in message
    return is_silent and names.isdisjoint(("content", "type", UNREAD))


def is_record(message: JsonObject) -> bool:
    """Return true if an object is a record, or an item, of a known type that holds no message."""
    kind = message.get("type")
    if kind is None:
        # An answer of the Responses API has instructions, as has the first record of an old session of Codex.
        return "object" not in message and not UNTYPED_RECORDS.isdisjoint(message)
    keys = RECORDS.get(kind) if isinstance(kind, str) else None
    return keys is not None and (not keys or any(key in message for key in keys))


def has_foreign_calls(message: JsonObject) -> bool:
    """Return true if a message keeps calls, or the id of a call, where no provider has them."""
    if FOREIGN_CALLS.isdisjoint(message):  # nearly always
        return False
    found = (message.get(key) for key in FOREIGN_CALLS)
    return any(value is not None and as_list(value) not in ([], ()) for value in found)


def is_call_entry(entry: JsonObject, role: object) -> bool:
    """Return true if an entry of ``tool_calls`` is a call of Chat: a function, or, in a message with a role, its members."""
    if as_object(entry.get("custom")) or as_object(entry.get("function")):
        return True
    return role is not None and isinstance(entry.get("name"), str) and entry.get("args") is None
