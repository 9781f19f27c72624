"""What a message says: its tool calls, its tool results, and the text of a result.

Every message is recognised by its own structure: Anthropic Messages (content blocks), OpenAI Chat
(``tool_calls``, role ``tool``, the legacy ``function_call`` and role ``function``) and Ollama
(arguments as objects, ``tool_name``, no ids). A structure that nobody knows has no calls and no results.
Calls and results are handed on as the wire's own objects, and read where something of them is needed:
a call is a ``tool_use`` block, a ``tool_calls`` entry or a legacy ``function_call``; a result is a
``tool_result`` block or a message with the role ``tool`` or ``function``.
"""

from __future__ import annotations

from collections.abc import Sequence

from toolcarry.decode import compact_json, loads_arguments
from toolcarry.wire import Wire, as_list, as_object, text_or_empty

UNKNOWN = "unknown"
SERVER_CALLS = frozenset(("server_tool_use", "mcp_tool_use"))
NOTHING: tuple[()] = ()

SYNTHETIC = (
    "[Request interrupted by user",
    "[Tool result missing",
    "[Tool use interrupted",
)
"""How texts begin that stand for a result that never came."""

MEDIA = frozenset(
    ("image", "image_url", "input_image", "document", "audio", "input_audio", "video")
)
"""The kinds of parts that are no text."""
DATA_KEYS = ("data", "blob", "file_data")
"""Where a part holds what is no text."""
OPAQUE = (*DATA_KEYS, "source", "encrypted_content")
"""What tells, in a part of another kind, that it is no text either."""
MAX_PARTS = 8
"""How deep parts may stand in parts: deeper ones are shown as JSON."""


def read_message(message: Wire, role: object) -> tuple[Sequence[Wire], Sequence[Wire]]:
    """The calls and the results of one message of this role, each in their order."""
    content = message.get("content")
    calls: list[Wire] = []
    results: list[Wire] = []
    if isinstance(content, (list, tuple)):  # Anthropic: calls and results are blocks of the content
        for item in content:
            block = item if isinstance(item, dict) else as_object(item)
            if block is None:
                continue
            kind = block.get("type")
            if kind == "tool_result":
                results.append(block)
            elif kind == "tool_use":
                calls.append(block)
            elif kind != "text" and isinstance(kind, str):
                if kind.endswith("_tool_result"):
                    results.append(block)
                elif kind in SERVER_CALLS:
                    calls.append(block)
    if role == "user":
        return calls, results
    if not results and (role == "tool" or role == "function"):
        return NOTHING, (message,)
    if "tool_calls" in message or "function_call" in message:
        calls.extend(read_tool_calls(message, calls))
    return calls, results


def read_tool_calls(message: Wire, calls: Sequence[Wire]) -> list[Wire]:
    """OpenAI Chat and Ollama. A call that stands in the content too is one call."""
    known = {call_id_of(call) for call in calls} - {""}
    entries = [as_object(item) for item in as_list(message.get("tool_calls")) or ()]
    found = [wire for wire in entries if wire is not None and call_id_of(wire) not in known]
    legacy = as_object(message.get("function_call"))
    return found if legacy is None else [*found, legacy]


def call_id_of(call: Wire) -> str:
    """The id of a call; empty where it has none."""
    call_id = call.get("id")
    return call_id if isinstance(call_id, str) else ""


def answered_id(result: Wire) -> str:
    """The id of the call that a result answers; empty where it names none."""
    call_id = result.get("tool_use_id")
    if call_id is None:
        call_id = result.get("tool_call_id")
    return call_id if isinstance(call_id, str) else ""


def is_synthetic(result: Wire | None) -> bool:
    """Whether a result only stands for one that never came."""
    return result is not None and is_stand_in(result.get("content"))


def is_stand_in(content: object) -> bool:
    """Whether the content of a result only stands for one that never came."""
    text = content if type(content) is str else result_text(content) if content else ""
    return text[:1] == "[" and text.startswith(SYNTHETIC)


def call_name(call: Wire) -> str:
    """The name of the tool that a call is for."""
    name = (call_source(call) if "function" in call else call).get("name")
    return name if isinstance(name, str) else ""


def result_name(result: Wire) -> str:
    """The tool's name as a result says it of itself; empty where it does not."""
    name = result.get("tool_name")
    if name is None:
        name = result.get("name")
    return text_or_empty(name)


def call_input(call: Wire) -> Wire:
    """The arguments of a call, as an object."""
    source = call_source(call)
    raw = source.get("input")
    if raw is None:
        raw = source.get("arguments")
    if raw.__class__ is dict:
        return raw
    given = as_object(raw)
    return loads_arguments(raw) if given is None else given


def call_source(call: Wire) -> Wire:
    """The object that holds a call's name and arguments."""
    if "function" not in call:
        return call
    return as_object(call["function"]) or call


def result_text(content: object, depth: int = 0) -> str:
    """The text of a result: parts on lines of their own; what is no text becomes a line that names it."""
    if type(content) is not list:
        if isinstance(content, str):
            return content
        if content is None:
            return ""
        if not isinstance(content, (list, tuple)):
            return part_text(content, depth)
    if len(content) == 1:
        part = content[0]
        text = part.get("text") if type(part) is dict else None  # nearly always: spares a call
        return text if isinstance(text, str) else part_text(part, depth)
    return "\n".join([part_text(part, depth) for part in content])


def part_text(item: object, depth: int) -> str:
    """The text of one part of a result; parts may hold parts."""
    if isinstance(item, dict):
        part: Wire = item
    elif isinstance(item, str):
        return item
    else:
        found = as_object(item)
        if found is None:
            return compact_json(item)
        part = found
    text = part.get("text")
    if isinstance(text, str):
        return text
    kind = part.get("type")
    if not isinstance(kind, str):
        return compact_json(part)
    inner = as_object(part.get("source" if kind == "document" else kind)) or part
    text = inner.get("text")
    if isinstance(text, str):
        return text
    content = inner.get("content") or part.get("content")
    if isinstance(content, (str, list, tuple)) and depth < MAX_PARTS:
        return result_text(content, depth + 1)
    if kind in MEDIA or any(key in part or key in inner for key in OPAQUE):
        return media_line(kind, part)
    return compact_json(part)


def media_line(kind: str, part: Wire) -> str:
    """``[image: image/png, 34,211 bytes]`` for an image, a document or a sound; never its base64."""
    label = kind.removesuffix("_url").removeprefix("input_")
    inner = part.get("source")
    if inner is None:
        inner = part.get(kind)
    holder = as_object(inner) or part
    url = inner if isinstance(inner, str) else holder.get("url")
    if isinstance(url, str):
        if not url.startswith("data:"):
            return f"[{label}: {url}]"
        media_type, _, encoded = url[5:].partition(",")
        return f"[{label}: {media_type.removesuffix(';base64')}, {base64_size(encoded):,} bytes]"
    found = next((holder[key] for key in DATA_KEYS if isinstance(holder.get(key), str)), None)
    data = text_or_empty(found)
    if found is None:
        return f"[{label}]"
    if data.startswith("data:"):
        return media_line(kind, {"source": data})
    if holder.get("type") == "text":
        return data
    for key in ("media_type", "mimeType", "format"):
        named = holder.get(key)
        if isinstance(named, str):
            return f"[{label}: {named}, {base64_size(data):,} bytes]"
    return f"[{label}: {base64_size(data):,} bytes]"


def base64_size(data: str) -> int:
    """How many bytes base64 text stands for, by its length."""
    padding = 2 if data.endswith("==") else 1 if data.endswith("=") else 0
    return max(len(data) * 3 // 4 - padding, 0)
