"""From a marker back to the whole: what a reference names, and the tool by which a model asks for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from toolcarry._backend import kernels
from toolcarry._input.objects import Body, Messages, Wire, as_object, located, take
from toolcarry.errors import InputError
from toolcarry.own_tools import RETRIEVAL, Style, define, given_arguments, whole_number

__all__ = ["DEFAULT_LIMIT", "read_tool_result", "resolve", "retrieval_tool"]

DEFAULT_LIMIT: Final = 20_000
"""How many characters a model is given at once where it doesn't say."""

DESCRIPTION: Final = (
    "Returns a tool result of this conversation in full. A marker such as "
    "[toolcarry: superseded by call B; whole: A] stands where a result was left out: give its last word as ref. "
    "The result is as the tool gave it at the time; nothing is run again."
)
PARAMETERS: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "ref": {"type": "string", "description": "The reference behind 'whole:' in the marker."},
        "offset": {"type": "integer", "description": "The first character to return, from 0."},
        "limit": {
            "type": "integer",
            "description": f"How many characters to return; {DEFAULT_LIMIT} by default.",
        },
    },
    "required": ["ref"],
}


def resolve(messages: Messages | Body, ref: str) -> str:
    """The full text of the result that a marker's reference names.

    ``messages`` are the conversation before it was projected. Raises ``InputError`` where nothing has this reference.

    >>> result = {"role": "tool", "tool_call_id": "t1", "content": "3 passed"}
    >>> resolve([result], "t1")
    '3 passed'
    """
    from toolcarry._pure.projection.marker import name_all  # noqa: PLC0415 - slow, and seldom wanted

    given = take(messages)
    try:
        if isinstance(given, bytes):
            blocks = kernels.extract_tool_blocks_body(given)
        else:
            blocks = kernels.extract_tool_blocks(given)
    except InputError as error:
        raise located(error, given) from None
    for block, reference in zip(blocks, name_all(block.call_id for block in blocks), strict=True):
        if reference == ref:
            if block.tool_result is None:
                raise InputError(f"call {ref!r} has no result", block.position)
            return whole_text(block.tool_result)
    raise InputError(f"no tool result is called {ref!r}")


def whole_text(result: Wire) -> str:
    """The text of a result: as the model was given it, and where it was no text, what a context shows of it."""
    from toolcarry._pure.content import result_text  # noqa: PLC0415 - slow, and seldom wanted
    from toolcarry._pure.projection.result_slot import site_at  # noqa: PLC0415
    from toolcarry.importing.read import read_result  # noqa: PLC0415

    site = site_at((), as_object(result) or {})
    if site is not None and isinstance(site.content, str):
        return site.content
    return result_text(read_result(result).content)


def retrieval_tool(style: Style = "openai") -> dict[str, Any]:
    """The definition of ``read_tool_result`` as a provider takes it.

    >>> retrieval_tool("anthropic")["name"]
    'read_tool_result'
    """
    return define(RETRIEVAL, DESCRIPTION, PARAMETERS, style)


def read_tool_result(messages: Messages | Body, arguments: Mapping[str, Any] | str) -> str:
    """Answer a call of ``read_tool_result``: the part of the result that the model asks for.

    ``arguments`` are those of the call, as an object or as JSON. Where there is more, the last line says so. What comes
    back is never projected. Raises ``InputError`` for arguments that are none, and as ``resolve``.

    >>> read_tool_result([{"role": "tool", "tool_call_id": "t1", "content": "3 passed"}], '{"ref": "t1", "limit": 1}')
    '3\\n[toolcarry: characters 0 to 1 of 8]'
    """
    return read_part(lambda ref: resolve(messages, ref), arguments)


def read_part(find: Callable[[str], str], arguments: Mapping[str, Any] | str) -> str:
    """``read_tool_result`` where ``find`` gives the text of a reference."""
    given = given_arguments(arguments)
    ref, offset, limit = given.get("ref"), given.get("offset"), given.get("limit")
    if not isinstance(ref, str):
        raise InputError(f"ref: {ref!r:.80} is not allowed; allowed: a reference")
    start = whole_number("offset", offset, 0)
    text = find(ref)
    end = min(start + whole_number("limit", limit, DEFAULT_LIMIT), len(text))
    if start == 0 and end == len(text):
        return text
    return f"{text[start:end]}\n[toolcarry: characters {start:,} to {max(end, start):,} of {len(text):,}]"
