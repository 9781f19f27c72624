"""Objects that are in the target's format already: they are written unchanged except for their id, so that no member is
lost."""

from __future__ import annotations

from typing import Any, Final

from toolcarry._input.objects import JsonObject, as_list, as_object, text_or_empty
from toolcarry.api.convert.model import Family
from toolcarry.model.formats.anthropic import SERVER_CALL_PARTS
from toolcarry.model.formats.responses import CALLS, OUTPUTS

PARTS: Final = ("input_", "output_", "refusal")
"""The prefixes of part types in a Responses message."""
BLOCKS: Final = frozenset(("text", "tool_reference", "browser_state"))
"""The blocks in an Anthropic result that are not media."""

ON_GEMINI: Final = ("executableCode", "executable_code", "toolCall")
"""The calls of Gemini that ran on its server."""
BY_GEMINI: Final = ("codeExecutionResult", "code_execution_result", "toolResponse")
"""The results of such calls."""

SIGNATURES: Final = ("thoughtSignature", "thought_signature", "extra_content")
"""The members of a part in which Google signs it."""
SPEAKERS: Final = ("system", "developer", "user", "assistant")

NAMED: Final = ("function_call", "custom_tool_call")
"""The calls of Responses that name a tool."""

ANSWERS: Final = {
    "openai": frozenset(("role", "content", "tool_call_id", "name")),
    "ollama": frozenset(("role", "content", "tool_call_id", "tool_name", "images")),
}
"""The members of a message that answers a call. Others belong to a dialect, and are reported."""


def is_own_message(holder: JsonObject, family: Family) -> bool:
    """True if an object is a message as an item of Responses, which has an id and a status of its own."""
    if family != "responses" or holder.get("type") != "message" or holder.get("role") is None:
        return False
    content = holder.get("content")
    parts = [as_object(part) or {} for part in as_list(content) or ()]
    # Anthropic's answers also have the type message, but their blocks have other types.
    is_known = all(text_or_empty(part.get("type")).startswith(PARTS) for part in parts)
    return isinstance(content, str) or (as_list(content) is not None and is_known)


OWN_PARTS: Final[dict[str, tuple[str, ...]]] = {
    "anthropic": (
        "compaction",
        "container_upload",
        "fallback",
        "mcp_tool_listing",
        "tool_addition",
        "tool_removal",
    ),
    "bedrock": ("citationsContent", "guardContent", "toolAddition", "toolRemoval"),
}
"""The parts that only their own provider takes unchanged: by their type, or by their only key.

The SDKs declare them (``BetaContentBlockParam`` of anthropic, ``ContentBlock`` in the service model of botocore).
"""


def is_own_part(part: JsonObject, family: Family) -> bool:
    """Return true if a part of a message must go back to its own provider unchanged."""
    names = OWN_PARTS.get(family, ())
    return part.get("type") in names or any(name in part for name in names)


TEXT_TYPES: Final[dict[str, str]] = {"openai": "text", "responses": "input_text"}
"""The types of texts whose other members stay."""
MESSAGE_MEMBERS: Final = ("name", "audio")
"""The members of a message of OpenAI Chat that are not its content: its speaker, and a sound that OpenAI keeps."""


def own_text(wire: JsonObject, family: Family) -> dict[str, Any]:
    """Return the members of a text in the target's own format that are not the text, such as OpenAI's cache breakpoint."""
    is_own = (
        "type" not in wire and "text" in wire
        if family == "gemini"
        else wire.get("type") == TEXT_TYPES.get(family)
    )
    foreign = ("type", "text", "cache_control", "annotations", "citations", *SIGNATURES)
    return {key: value for key, value in wire.items() if key not in foreign} if is_own else {}


def own_members(message: JsonObject, family: Family) -> dict[str, Any]:
    """Return the members of a message that its content does not hold, if it is in the format of OpenAI Chat and goes there."""
    speaker = message.get("role")
    if family != "openai" or speaker not in SPEAKERS:
        return {}
    held = {key: message[key] for key in MESSAGE_MEMBERS if message.get(key)}
    return {"role": speaker, **held} if speaker == "developer" else held


def is_server_call(wire: JsonObject, family: Family) -> bool:
    """True if a call ran on the server of ``family``, in the format of that provider."""
    if family == "anthropic":
        return text_or_empty(wire.get("type")) in SERVER_CALL_PARTS
    if family == "bedrock":
        return "type" in (as_object(wire.get("toolUse")) or {})
    return family == "gemini" and any(key in wire for key in ON_GEMINI)


def is_server_result(wire: JsonObject, family: Family) -> bool:
    """True if a result is from the server of ``family``, in the format of that provider."""
    if family == "anthropic":
        kind = text_or_empty(wire.get("type"))
        return kind != "tool_result" and kind.endswith("_tool_result")
    if family == "bedrock":
        return "type" in (as_object(wire.get("toolResult")) or {})
    return family == "gemini" and any(key in wire for key in BY_GEMINI)


def is_own_call(wire: JsonObject, family: Family) -> bool:
    """True if a call is in the target's own format, with a name if the format has one."""
    kind = text_or_empty(wire.get("type"))
    function = as_object(wire.get("function")) or {}
    given = function.get("arguments")
    if family == "responses":
        is_named = kind not in NAMED or has_name(wire)
        is_known = kind in CALLS or (kind.endswith("_call") and "call_id" in wire)
        return is_known and is_named
    if family == "anthropic":
        return kind == "tool_use" and has_name(wire) and isinstance(wire.get("input"), dict)
    if family == "bedrock":
        used = as_object(wire.get("toolUse")) or {}
        return has_name(used) and isinstance(used.get("input"), dict)
    if family == "gemini":
        used = as_object(wire.get("functionCall")) or {}
        return has_name(used) and isinstance(used.get("args", {}), dict)
    if family == "openai" and kind == "custom":
        return True
    if not has_name(function):
        return False
    return isinstance(given, dict) if family == "ollama" else isinstance(given, str) and given != ""


def is_own_result(wire: JsonObject, family: Family) -> bool:
    """True if a result is in the target's own format."""
    kind, content = text_or_empty(wire.get("type")), wire.get("content")
    if family == "responses":
        return kind.endswith("_call_output") or kind in OUTPUTS
    if family == "anthropic":
        return kind == "tool_result"
    if family == "bedrock":
        return as_object(wire.get("toolResult")) is not None
    if family == "gemini":
        given = as_object(wire.get("functionResponse")) or {}
        return isinstance(given.get("response"), dict)
    if wire.get("role") != "tool" or not wire.keys() <= ANSWERS[family]:
        return False
    if family == "ollama":
        return "tool_name" in wire and isinstance(content, str)
    return "tool_call_id" in wire and (isinstance(content, str) or are_texts(content))


def has_name(used: JsonObject) -> bool:
    return text_or_empty(used.get("name")) != ""


def with_id(wire: JsonObject, key: str, call_id: str) -> dict[str, Any]:
    """Return a part in the target's own format with the given id; without that member if the id is empty."""
    if call_id:
        return {**wire, key: call_id}
    return {name: value for name, value in wire.items() if name != key}


def are_texts(content: object) -> bool:
    """True if content is a list that contains only texts."""
    parts = [as_object(part) for part in as_list(content) or ()]
    return bool(parts) and all(part is not None and part.get("type") == "text" for part in parts)
