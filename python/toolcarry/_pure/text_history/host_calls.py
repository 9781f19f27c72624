"""A call that a host stores apart from its messages, together with its result."""

from __future__ import annotations

from toolcarry._input.objects import JsonObject, as_object, first_given, text_or_empty
from toolcarry._pure.pairing.block import Entry, new_entry


def record_entry(record: JsonObject) -> Entry:
    """Return a record as an entry. Each member has several names; without result and error the call was interrupted."""
    call = {**record, **(as_object(record.get("function")) or {})}
    name = text_or_empty(first_given(call, "name", "tool_name"))
    arguments = first_given(call, "arguments", "input", "args")
    content = first_given(record, "result", "output", "content")
    error = record.get("error")
    has_failed = error is not None and error is not False and error != ""
    if content is None and has_failed and error is not True:
        content = error
    is_error = has_failed or record.get("is_error") is True
    result = record if content is not None or is_error else None
    entry = new_entry(record, result, "", name, arguments, content, is_error, 0, 0, "", True)
    entry.read_arguments()
    return entry
