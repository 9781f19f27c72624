"""Projection: make a smaller version of a request, and find the full text that a marker refers to.

A proxy or an agent calls ``project`` before every model request. This module also defines toolcarry's own tools, which
a model may call, in the formats of all providers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Literal, Unpack

from msgspec.structs import replace

from toolcarry import _backend
from toolcarry._data import read_table
from toolcarry._input.json import compact_json, loads, loads_arguments
from toolcarry._input.json_slowly import loads_text, without_constants
from toolcarry._input.objects import JsonObject, Messages, as_object, located, plain_messages
from toolcarry.api.conversation import Conversation, Given
from toolcarry.errors import ConfigError, InputError
from toolcarry.types.policy import (
    AUTO,
    ProjectOptions,
    ProjectPolicy,
    in_encoding,
    policy_from,
)
from toolcarry.types.results import Projected, ProjectedBody
from toolcarry.types.shapes import shape_named
from toolcarry.types.values import Decisions, Mend, ProjectReport, ToolBlock

__all__ = [
    "DEFAULT_LIMIT",
    "RETRIEVAL",
    "SEARCH",
    "STYLES",
    "Style",
    "define",
    "given_arguments",
    "matches_text",
    "project",
    "project_body",
    "read_tool_result",
    "resolve",
    "retrieval_tool",
    "search_arguments",
    "search_tool",
    "whole_number",
]

RETRIEVAL: Final[str] = read_table("texts")["retrieval_tool"]
"""The tool that returns a whole result. Its own results are never replaced."""
SEARCH: Final = "search_tool_results"
"""The tool that finds results by their words."""

Style = Literal[
    "anthropic",
    "openai",
    "responses",
    "ollama",
    "gemini",
    "bedrock",
    "openai-chat",
    "openai-responses",
]
STYLES: Final[tuple[Style, ...]] = (
    "anthropic",
    "openai",
    "responses",
    "ollama",
    "gemini",
    "bedrock",
)


def define(
    name: str, description: str, parameters: Mapping[str, Any], style: Style
) -> dict[str, Any]:
    """Return a tool's definition in a provider's format. Raises ``ConfigError`` for an unknown style."""
    shape = shape_named("style", style, STYLES)
    function = {"name": name, "description": description}
    if shape == "anthropic":
        return {**function, "input_schema": parameters}
    if shape == "responses":
        return {"type": "function", **function, "parameters": parameters}
    if shape == "gemini":
        return {**function, "parameters": parameters}
    if shape == "bedrock":
        return {"toolSpec": {**function, "inputSchema": {"json": parameters}}}
    return {"type": "function", "function": {**function, "parameters": parameters}}


def given_arguments(arguments: object) -> JsonObject:
    """Return the arguments of a model's call, given as an object or as JSON. An empty string means no arguments.

    Raises ``InputError`` for anything else, so that a truncated call is not mistaken for one without arguments.
    """
    try:
        value = loads_text(arguments or "{}") if isinstance(arguments, str) else arguments
    except InputError as error:
        raise InputError(f"arguments: {error}", error.position) from None
    given = as_object(value)
    if given is None:
        raise InputError(f"arguments must be an object, not {type(value).__name__}", None)
    return given


def whole_number(name: str, value: object, default: int) -> int:
    """Return a whole number that a model gave, which may be a string or a float."""
    if value is None:
        return default
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 16:
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise InputError(f"{name}: {value!r:.80} is not allowed; allowed: an integer >= 0")
    return value


def project(
    messages: Messages,
    *,
    policy: ProjectPolicy | None = None,
    previous: Decisions | None = None,
    **options: Unpack[ProjectOptions],
) -> Projected:
    """Return smaller messages: short markers replace results that are superseded or over a limit.

    ``messages`` are the messages of a request to any provider. They are not modified, and unchanged messages are
    returned as the same objects. So are messages of frameworks that can't be projected; ``report.untouched`` names
    these. With ``repair``, the projection is valid for its provider. ``options`` are fields of a ``ProjectPolicy``;
    they replace those of ``policy``. ``previous`` are the decisions of the last projection of the same conversation.
    They are repeated, so that the provider's prompt cache stays valid. Projecting a projection changes nothing. Raises
    ``InputError`` if a message is not an object.

    >>> def read(call_id, text):
    ...     use = {"type": "tool_use", "id": call_id, "name": "Read", "input": {"file_path": "a.py"}}
    ...     result = {"type": "tool_result", "tool_use_id": call_id, "content": text}
    ...     return [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
    >>> projected = project([*read("t1", "x = 1\\n" * 100), *read("t2", "x = 2\\n")])
    >>> projected.messages[1]["content"][0]["content"]
    '[toolcarry: superseded by call t2; whole: t1]'
    """
    counted, factor = counted_policy(policy, options, previous)
    given = Conversation.of(messages).given
    if isinstance(given, bytes):
        raise InputError(
            "messages must be a list of objects; project_body takes the bytes of a request"
        )
    plain = given if _backend.kernels.are_plain(given) else plain_messages(given)
    try:
        outcome = _backend.kernels.project(plain, counted, previous)
    except InputError as error:
        raise located(error, plain) from None
    new = restored(outcome.messages, plain, list(messages))
    return Projected(new, in_tokens(outcome.report, factor), outcome.decisions)


def project_body(
    body: bytes | bytearray | memoryview,
    *,
    policy: ProjectPolicy | None = None,
    previous: Decisions | None = None,
    **options: Unpack[ProjectOptions],
) -> ProjectedBody:
    """Run ``project`` on the bytes of a request. Unchanged parts are copied byte by byte.

    If the body needs no change, or can't be read, the same object is returned; if it can't be read,
    ``report.untouched`` gives the reason. A bad body never raises. With ``repair``, NaN and infinities, which are not
    valid JSON, become null.

    A limit such as ``max_request_tokens="60%"`` is a share of the window of the model that the body names, unless ``model``
    or ``window_tokens`` is set. Raises ``ConfigError`` if that window is not known.

    >>> project_body(b'{"messages": []}').body
    b'{"messages": []}'
    >>> project_body(b"\\x1f\\x8b...").report.untouched
    'compressed'
    """
    if not isinstance(body, (bytes, bytearray, memoryview)):
        raise InputError(
            f"body must be bytes, such as path.read_bytes(), not {type(body).__name__}"
        )
    given = body if isinstance(body, bytes) else bytes(body)
    if policy is None:
        options = with_own_model(given, options)
    counted, factor = counted_policy(policy, options, previous)
    outcome = _backend.kernels.project_body(given, counted, previous)
    report = outcome.report
    if counted.repair and report.untouched.startswith("not JSON"):
        plain, positions = without_constants(given)
        again = _backend.kernels.project_body(plain, counted, previous) if positions else outcome
        if not again.report.untouched:
            given, outcome = plain, again
            mends = (Mend("not_finite", None, "", f"byte {position}") for position in positions)
            report = replace(again.report, mends=(*mends, *again.report.mends))
    new = given if outcome.body is None else outcome.body
    decisions = previous or Decisions() if outcome.decisions is None else outcome.decisions
    return ProjectedBody(new, in_tokens(report, factor), decisions)


def with_own_model(body: bytes, options: ProjectOptions) -> ProjectOptions:
    """Return options with the model that the body names, if an option is a share of a window that nothing else
    defines."""
    limits = [options.get(name) for name in ProjectPolicy.token_limits]
    is_share = any(isinstance(limit, str) and limit != AUTO for limit in limits)
    if not is_share or options.get("model") or options.get("window_tokens") is not None:
        return options
    split = _backend.kernels.split_body(body)
    span = None if split is None else split[0].get("model")
    model = None if span is None else loads(body[slice(*span)])
    return {**options, "model": model} if isinstance(model, str) else options


def report_on(given: Conversation, policy: ProjectPolicy) -> ProjectReport:
    """Return the report of a projection without its result."""
    if isinstance(given.given, bytes):
        return project_body(given.given, policy=policy).report
    return project(given.given, policy=policy).report


def in_tokens(report: ProjectReport, factor: float) -> ProjectReport:
    """Return a report with the request's tokens converted to those of a model: ``factor`` for each counted token."""
    if factor == 1 or report.tokens_before is None or report.tokens_after is None:
        return report
    return replace(
        report,
        tokens_before=math.ceil(report.tokens_before * factor),
        tokens_after=math.ceil(report.tokens_after * factor),
        over_request=math.ceil(report.over_request * factor),
    )


def counted_policy(
    policy: ProjectPolicy | None, options: Mapping[str, Any], previous: object
) -> tuple[ProjectPolicy, float]:
    """Return the policy of a call with limits in tokens of its encoding, and the model's tokens per token of that
    encoding.

    Raises ``ConfigError`` for another kind of policy, or if ``previous`` is neither ``Decisions`` nor None.
    """
    if previous is not None and not isinstance(previous, Decisions):
        raise ConfigError(f"previous: {previous!r:.80} is not allowed; allowed: Decisions, None")
    return in_encoding(policy_from(ProjectPolicy, policy, options))


def restored(found: list[Any] | None, plain: Sequence[Any], given: Sequence[Any]) -> list[Any]:
    """Return the new messages, with the caller's own objects for those that are unchanged."""
    if found is None:
        return list(given)
    if plain is given:
        return found
    own = {id(message): given[position] for position, message in enumerate(plain)}
    return [own.get(id(message), message) for message in found]


DEFAULT_MATCHES: Final = 10
"""The number of results that a search returns, unless the model asks for another number."""
MOST_MATCHES: Final = 50
DEFAULT_LIMIT: Final = 20_000
"""The number of characters that a model receives at once, unless it asks for another number."""

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


SEARCH_DESCRIPTION: Final = (
    "Searches the full tool results of this conversation, those that were left out or shortened too. "
    "Returns the references of the results that have all words of the query, each with a part of its text. "
    f"{RETRIEVAL} returns the whole. Nothing is run again."
)
SEARCH_PARAMETERS: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "description": "The words to find, ignoring case."},
        "limit": {
            "type": "integer",
            "description": f"How many results to return; {DEFAULT_MATCHES} by default.",
        },
    },
    "required": ["query"],
}


def resolve(messages: Given, ref: str) -> str:
    """Return the full text of a result, or of an argument of a call, by the reference in its marker.

    ``messages`` are the conversation before projection. Raises ``InputError`` if nothing has this reference.

    >>> result = {"role": "tool", "tool_call_id": "t1", "content": "3 passed"}
    >>> resolve([result], "t1")
    '3 passed'
    """
    from toolcarry.model.marker import ARGUMENT, name_all  # noqa: PLC0415 - slow to load

    blocks = Conversation.of(messages).run(_backend.kernels.extract_tool_blocks)
    name, sign, key = ref.partition(ARGUMENT)
    for block, reference in zip(blocks, name_all(block.call_id for block in blocks), strict=True):
        if reference == name:
            if sign:
                return whole_argument(block, key)
            if block.tool_result is None:
                raise InputError(f"call {ref!r} has no result", block.position)
            return whole_text(block.tool_result)
    raise InputError(f"no tool result has the reference {ref!r}")


def whole_argument(block: ToolBlock, key: str) -> str:
    """Return the text of an argument of a call."""
    from toolcarry.importers.read import read_call  # noqa: PLC0415 - slow to load

    arguments = None if block.tool_use is None else read_call(block.tool_use)[3]
    given = as_object(arguments)
    text = (loads_arguments(arguments) if given is None else given).get(key)
    if not isinstance(text, str):
        raise InputError(
            f"call {block.call_id!r} has no text as its argument {key!r}", block.position
        )
    return text


def whole_text(result: JsonObject) -> str:
    """Return the text of a result as the model received it.

    Content that is not text is returned as a context shows it, and a value without a type as the JSON that a repair
    sends.
    """
    from toolcarry.importers.read import read_result  # noqa: PLC0415 - slow to load
    from toolcarry.model.content import result_text  # noqa: PLC0415 - slow to load
    from toolcarry.model.result_slot import slot_at  # noqa: PLC0415 - slow to load

    slot = slot_at(as_object(result) or {})
    if slot is not None and isinstance(slot.content, str):
        return slot.content
    if slot is not None and slot.is_json():
        return compact_json(slot.content)
    return result_text(read_result(result).content)


def retrieval_tool(style: Style = "openai") -> dict[str, Any]:
    """Return the definition of ``read_tool_result`` in a provider's format.

    >>> retrieval_tool("anthropic")["name"]
    'read_tool_result'
    """
    return define(RETRIEVAL, DESCRIPTION, PARAMETERS, style)


def search_tool(style: Style = "openai") -> dict[str, Any]:
    """Return the definition of ``search_tool_results`` in a provider's format. ``Tract.answer_search`` answers its calls.

    >>> search_tool("anthropic")["name"]
    'search_tool_results'
    """
    return define(SEARCH, SEARCH_DESCRIPTION, SEARCH_PARAMETERS, style)


def search_arguments(arguments: Mapping[str, Any] | str) -> tuple[str, int]:
    """Return the query and the limit of a model's call. Raises ``InputError`` for invalid arguments."""
    given = given_arguments(arguments)
    query = given.get("query")
    if not isinstance(query, str):
        raise InputError(f"query: {query!r:.80} is not allowed; allowed: a string")
    return query, min(whole_number("limit", given.get("limit"), DEFAULT_MATCHES), MOST_MATCHES)


def matches_text(matches: Sequence[tuple[str, str, str]]) -> str:
    """Return the answer to a search: the reference, the tool and a part of each result."""
    if not matches:
        return "[toolcarry: no result has all of these words]"
    parts = [f"[toolcarry: {name}; whole: {ref}]\n{snippet}" for ref, name, snippet in matches]
    return "\n\n".join(parts)


def read_tool_result(messages: Given, arguments: Mapping[str, Any] | str) -> str:
    """Answer a call of ``read_tool_result`` with the part of the result that the model asks for.

    ``arguments`` are the arguments of the call, as an object or as JSON. If there is more text, the last line says so.
    The answer itself is never projected. Raises ``InputError`` for invalid arguments, and as ``resolve`` does.

    >>> read_tool_result([{"role": "tool", "tool_call_id": "t1", "content": "3 passed"}], '{"ref": "t1", "limit": 1}')
    '3\\n[toolcarry: characters 0 to 1 of 8]'
    """
    return read_part(lambda ref: resolve(messages, ref), arguments)


def read_part(find: Callable[[str], str], arguments: Mapping[str, Any] | str) -> str:
    """Answer as ``read_tool_result`` does; ``find`` returns the text of a reference."""
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
