"""A message, or a line of a session file, as the parts that commits of the history are made of.

What was said is one part, with its calls, and each result is one by itself. What a part says of a cut is not judged here:
its text is handed on where it may hold a mark of one.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple, TypeAlias

from toolcarry._input.document import loads_line
from toolcarry._input.json import loads_arguments
from toolcarry._input.objects import Wire, as_object
from toolcarry._pure.content import result_text, spoken_text
from toolcarry._pure.formats import SPEAKERS, read_message, read_spoken
from toolcarry._pure.formats.message import Said, ToolCall, ToolResult
from toolcarry._pure.history.hashing import encode, has_cut_word
from toolcarry._pure.tokens.count import count_tokens

__all__ = ["LinePart", "Part", "read_lines", "read_parts", "result_metadata"]

MESSAGE: Final = 0
CALL: Final = 1
RESULT: Final = 2
"""The kinds of ``tract.Kind`` that a part may have."""

SYSTEMS: Final = ("system", "developer")


class Part(NamedTuple):
    """What one commit has of a message."""

    kind: int
    role: str
    text: str
    metadata: dict[str, Any]
    wires: tuple[Wire, ...]
    """The calls of what the model said, or the result: the message's own objects."""


LinePart: TypeAlias = tuple[
    int, str, int, bytes | None, list[tuple[str, str]], tuple[str, str, bool] | None, str | None
]
"""Of a part of a line: kind, role, tokens; its calls as canonical bytes, and the id and the name of each; of a result the
id of its call, its tool's name and whether it failed; and its text, where that may hold a mark of a cut."""


def read_lines(lines: list[bytes], ends: int) -> list[list[LinePart] | None]:
    """The parts of the record in each line; ``None`` where there is none.

    A mark of a cut is looked for so many characters from either end. Raises ``ValueError`` for arguments that are no JSON
    when they are written again, as an infinite number.

    >>> read_lines([b'{"role": "user", "content": "Run the tests."}', b"[1]"], 2_000)
    [[(0, 'user', 4, None, [], None, None)], None]
    """
    records = [loads_line(line) for line in lines]
    return [
        None if record is None else [line_part(part, ends) for part in read_parts(record)]
        for record in records
    ]


def line_part(part: Part, ends: int) -> LinePart:
    kind, role, text, metadata, _ = part
    tokens = count_tokens(text, "o200k_base")
    if kind == CALL:
        calls = metadata["tool_calls"]
        names = [(call["id"], call["name"]) for call in calls]
        return kind, role, tokens, encode(calls).encode(), names, None, None
    if kind == RESULT:
        result = (metadata["tool_call_id"], metadata["name"], metadata["is_error"])
        return kind, role, tokens, None, [], result, text if has_cut_word(text, ends) else None
    return kind, role, tokens, None, [], None, None


def read_parts(record: Wire) -> list[Part]:
    """The parts of a message or a record: none where it says nothing that the history asks for."""
    message = record
    if record.get("role") is None and ("uuid" in record or "message" in record):
        message = as_object(record.get("message")) or record
    said = Said()
    read_message(message, message.get("role"), said)
    results = [result_part(result) for result in said.results]
    spoken = read_spoken(message)
    text = spoken_text(spoken.content) if not is_result(message, said) else ""
    if said.calls:
        calls = {"tool_calls": [call_metadata(call) for call in said.calls]}
        wires = tuple(call.wire for call in said.calls)
        return [Part(CALL, "assistant", text, calls, wires), *results]
    role = "system" if spoken.speaker in SYSTEMS else SPEAKERS.get(spoken.speaker, "").lower()
    if text and role:
        results.append(Part(MESSAGE, role, text, {}, ()))
    return results


def is_result(message: Wire, said: Said) -> bool:
    """Whether a message is a result itself, so that its content is no more than that."""
    return any(result.wire is message for result in said.results)


def result_part(result: ToolResult) -> Part:
    metadata = result_metadata(result.call_id, result.name, is_error=result.is_error)
    return Part(RESULT, "tool", result_text(result.content), metadata, (result.wire,))


def result_metadata(call_id: str, name: str, *, is_error: bool) -> dict[str, Any]:
    return {"tool_call_id": call_id, "name": name, "is_error": is_error}


def call_metadata(call: ToolCall) -> dict[str, Any]:
    """A call as the metadata has it, its arguments as an object."""
    return {"id": call.call_id, "name": call.name, "arguments": loads_arguments(call.arguments)}
