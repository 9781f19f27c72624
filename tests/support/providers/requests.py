"""Find what a provider refuses in a whole request, besides its calls: parts, tools and limits.

Written from the providers' documentation and errors, as ``validity`` is, and from nothing of this package. The fake providers
judge calls and results alone.
"""

import base64
import binascii
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from support.providers.validity import problems

KEYS = {"responses": "input", "gemini": "contents"}
HEADS = {
    "png": b"\x89PNG\r\n\x1a\n",
    "jpeg": b"\xff\xd8\xff",
    "jpg": b"\xff\xd8\xff",
    "gif": b"GIF8",
    "webp": b"RIFF",
}
NAMES = {
    "anthropic": r"[a-zA-Z0-9_-]{1,128}",
    "openai": r"[a-zA-Z0-9_-]{1,64}",
    "responses": r"[a-zA-Z0-9_-]{1,64}",
    "bedrock": r"[a-zA-Z0-9_-]{1,64}",
    "gemini": r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}",
}
MOST_TOOLS = {"openai": 128, "responses": 128, "gemini": 512}
MOST_CALLS = 128
MOST_MARKS = 4
LONGEST_SIDE = 8000
MANY_IMAGES, SIDE_OF_MANY = 20, 2000
PARTS_OF_CHAT = {
    "user": {"text", "image_url", "input_audio", "file"},
    "assistant": {"text", "refusal"},
    "tool": {"text"},
    "system": {"text"},
    "developer": {"text"},
}
BLOCKS = {
    "text", "image", "document", "search_result", "thinking", "redacted_thinking", "tool_use", "tool_result", "compaction",
    "server_tool_use", "mcp_tool_use", "mcp_tool_result", "container_upload", "tool_reference",
}  # fmt: skip
ROOTS = {
    "anthropic": {"oneOf", "anyOf", "allOf"},
    "openai": {"oneOf", "anyOf", "allOf", "enum", "not"},
    "responses": {"oneOf", "anyOf", "allOf", "enum", "not"},
}
MEMBERS: dict[str, dict[str, set[str]]] = {
    "responses": {
        "message": {"type", "id", "role", "content", "status", "phase"},
        "function_call": {"type", "id", "call_id", "name", "arguments", "status", "caller", "namespace"},
        "function_call_output": {"type", "id", "call_id", "output", "status", "caller", "name", "namespace"},
        "reasoning": {"type", "id", "summary", "content", "encrypted_content"},
        "input_text": {"type", "text"},
        "output_text": {"type", "text", "annotations", "logprobs"},
        "input_image": {"type", "image_url", "detail", "file_id"},
        "input_file": {"type", "file_data", "file_id", "file_url", "filename"},
    },
    "gemini": {
        "contents": {"role", "parts"},
        "parts": {"text", "thought", "thoughtSignature", "inlineData", "fileData", "functionCall", "functionResponse"},
        "functionCall": {"id", "name", "args"},
        "functionResponse": {"id", "name", "response", "parts"},
        "inlineData": {"mimeType", "data"},
    },
    "bedrock": {
        "messages": {"role", "content"},
        "content": {
            "text", "image", "document", "video", "toolUse", "toolResult", "cachePoint", "reasoningContent", "guardContent",
        },
        "toolUse": {"toolUseId", "name", "input", "type"},
        "toolResult": {"toolUseId", "content", "status", "type"},
        "image": {"format", "source"},
        "document": {"format", "name", "source", "context", "citations"},
    },
}  # fmt: skip
"""The members that a provider knows: by the type of an item or a part of Responses, else by the member that holds them."""
MOST_IMAGES = {"bedrock": 20, "openai": 500, "responses": 500}
STARTS = {"function_call": "fc", "message": "msg", "custom_tool_call": "ctc"}


def refused(provider: str, request: dict[str, Any]) -> list[str]:
    """Return what the provider would refuse in a request, each with its place; empty if it is accepted."""
    try:
        json.dumps(request, ensure_ascii=False, allow_nan=False).encode()
    except ValueError as error:
        return [f"the request body is not valid JSON: {error}"]
    messages = request[KEYS.get(provider, "messages")]
    found = problems(provider, messages)
    shown = sum(map(is_image, walk(messages)))
    if shown > MOST_IMAGES.get(provider, shown):
        found.append(f"{shown} images")
    return [*found, *PARTS[provider](messages), *tool_problems(provider, request)]


def is_image(part: Any) -> bool:
    return part.get("type") in ("image_url", "input_image") or "image" in part


def unknown(provider: str, own: str, held: Any) -> Iterator[str]:
    """Yield the members of an object that the provider does not know."""
    others = set(held) - MEMBERS[provider].get(own, set(held))
    if others:
        yield f"members {sorted(others)} of {own}"


def is_base64(data: Any) -> bool:
    """Return true if a text is base64 of at least one byte."""
    try:
        return len(base64.b64decode(data, validate=True)) > 0
    except (binascii.Error, TypeError, ValueError):
        return False


def walk(value: Any) -> Iterator[dict[str, Any]]:
    """Yield the objects in a value, from the outside."""
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from walk(each)


def reads(data: Any, kind: str) -> bool:
    """Return true if base64 is an image of this kind, and no side is too long."""
    try:
        image = base64.b64decode(data, validate=True)
    except (binascii.Error, TypeError, ValueError):
        return False
    head = HEADS.get(kind)
    if head is None or not image.startswith(head):
        return False
    return all(side <= LONGEST_SIDE for side in sides_of(data))


def reads_url(url: str) -> bool:
    begin, _, data = url.partition(";base64,")
    return not url.startswith("data:") or reads(data, begin.removeprefix("data:image/"))


def parts(content: Any) -> list[Any]:
    return content if isinstance(content, list) else []


def sides_of(data: Any) -> list[int]:
    """Return the sides of a PNG; none of anything else."""
    image = base64.b64decode(data) if is_base64(data) else b""
    is_png = image.startswith(HEADS["png"])
    return [int.from_bytes(image[at : at + 4], "big") for at in (16, 20)] if is_png else []


def of_anthropic(messages: list[Any]) -> Iterator[str]:
    images = [each for each in walk(messages) if each.get("type") == "image"]
    sides = [side for each in images for side in sides_of(each.get("source", {}).get("data"))]
    if len(images) > MANY_IMAGES and any(side > SIDE_OF_MANY for side in sides):
        yield f"{len(images)} images, one of which is wider than {SIDE_OF_MANY} pixels"
    for position, message in enumerate(messages):
        if set(message) - {"role", "content"}:
            yield f"{position}: members {sorted(message)}"
        own = parts(message["content"])
        inner = [each for part in own for each in parts(part.get("content"))]
        for part in (*own, *inner):
            kind = str(part.get("type"))
            if kind not in BLOCKS and not kind.endswith("_tool_result"):
                yield f"{position}: a block of type {kind}"
            if kind == "image" and "source" not in part:
                yield f"{position}: an image without source"
            elif kind == "image" and part["source"].get("type") == "base64":
                source = part["source"]
                if not reads(source.get("data"), source["media_type"].removeprefix("image/")):
                    yield f"{position}: an image that cannot be read"
            source = part.get("source")
            if (
                kind == "document"
                and source["type"] == "base64"
                and not is_base64(source.get("data"))
            ):
                yield f"{position}: a document that cannot be read"
            if kind == "thinking" and not part.get("signature"):
                yield f"{position}: a thought without signature"
            if kind == "tool_use" and not isinstance(part.get("input"), dict):
                yield f"{position}: an input that is no object"


def of_openai(messages: list[Any]) -> Iterator[str]:
    for position, message in enumerate(messages):
        for part in parts(message.get("content")):
            kind = part.get("type")
            if kind not in PARTS_OF_CHAT[message["role"]]:
                yield f"{position}: a part of type {kind} in a message of {message['role']}"
            if kind == "image_url" and not reads_url(part["image_url"]["url"]):
                yield f"{position}: an image that cannot be read"
            if kind == "file" and not is_base64(part["file"]["file_data"].partition(",")[2]):
                yield f"{position}: a file that cannot be read"
            if kind == "input_audio" and part["input_audio"].get("format") not in ("wav", "mp3"):
                yield f"{position}: a sound of another format"
        if message["role"] == "tool" and message.get("content") is None:
            yield f"{position}: a result without content"
        if message.get("content") == []:
            yield f"{position}: an empty list"
        calls = message.get("tool_calls") or ()
        if len(calls) > MOST_CALLS:
            yield f"{position}: {len(calls)} calls"
        for call in calls:
            if call.get("type") != "function":
                yield f"{position}: a call without type"
            if not is_object(call["function"].get("arguments")):
                yield f"{position}: arguments that are no object"


def is_object(text: Any) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (TypeError, ValueError):
        return False


def of_responses(items: list[Any]) -> Iterator[str]:
    ids = Counter(item["id"] for item in items if item.get("id"))
    for position, item in enumerate(items):
        kind = item.get("type", "message")
        yield from unknown("responses", kind, item)
        if "id" in item:
            own = item["id"]
            is_formed = isinstance(own, str) and re.fullmatch(r"[A-Za-z0-9_-]{1,64}", own)
            if not is_formed or not own.startswith(STARTS.get(kind, "")) or ids[own] > 1:
                yield f"{position}: id {own!r}"
        if kind == "reasoning" and not isinstance(item.get("summary"), list):
            yield f"{position}: reasoning without summary"
        if kind == "function_call" and not is_object(item.get("arguments")):
            yield f"{position}: arguments that are no object"
        held = item.get("content") if kind == "message" else item.get("output")
        said = "output_text" if item.get("role") == "assistant" else "input_text"
        for part in parts(held):
            if part.get("type") not in (said, "refusal", "input_image", "input_file"):
                yield f"{position}: a part of type {part.get('type')}"
            yield from unknown("responses", str(part.get("type")), part)
            if part.get("type") == "input_file" and not is_base64(
                part["file_data"].partition(",")[2]
            ):
                yield f"{position}: a file that cannot be read"
            if part.get("type") == "input_image" and not reads_url(part.get("image_url") or ""):
                yield f"{position}: an image that cannot be read"


def of_gemini(contents: list[Any]) -> Iterator[str]:
    for position, content in enumerate(contents):
        yield from unknown("gemini", "contents", content)
        for part in content["parts"]:
            yield from unknown("gemini", "parts", part)
            for own in MEMBERS["gemini"]:
                yield from unknown("gemini", own, part.get(own) or {})
            data = part.get("inlineData")
            if data and not is_base64(data.get("data")):
                yield f"{position}: data that are no base64"
            kind = str(data["mimeType"]) if data else ""
            if kind.startswith("image/") and not reads(
                data.get("data"), kind.removeprefix("image/")
            ):
                yield f"{position}: an image that cannot be read"
            response = part.get("functionResponse")
            for each in (response or {}).get("parts") or ():
                if not each.keys() <= {"inlineData", "fileData"}:
                    yield f"{position}: members {sorted(each)} next to an answer"
            if response and not isinstance(response.get("response"), dict):
                yield f"{position}: a response that is no object"


def of_bedrock(messages: list[Any]) -> Iterator[str]:
    names: list[str] = []
    for position, message in enumerate(messages):
        follows_thought = False
        yield from unknown("bedrock", "messages", message)
        for part in message["content"]:
            yield from unknown("bedrock", "content", part)
            for own in MEMBERS["bedrock"]:
                if isinstance(part.get(own), dict):
                    yield from unknown("bedrock", own, part[own])
            if follows_thought and "cachePoint" in part:
                yield f"{position}: a mark for the cache behind a thought"
            follows_thought = "reasoningContent" in part
        for part in walk(message["content"]):
            image, document = part.get("image"), part.get("document")
            if image and not reads(image["source"].get("bytes"), image["format"]):
                yield f"{position}: an image that cannot be read"
            if document and not is_base64(document["source"].get("bytes")):
                yield f"{position}: a document that cannot be read"
            if document:
                names.append(document["name"])
                if not re.fullmatch(r"(?!.* {2})[\w ()\[\]-]{1,200}", document["name"], re.ASCII):
                    yield f"{position}: a document named {document['name']!r}"
    yield from (
        f"{name!r} is the name of two documents" for name, n in Counter(names).items() if n > 1
    )


def of_ollama(messages: list[Any]) -> Iterator[str]:
    for position, message in enumerate(messages):
        if not isinstance(message.get("content", ""), (str, type(None))):
            yield f"{position}: a content that is no string"
        if not all(is_base64(image) for image in message.get("images", ())):
            yield f"{position}: illegal base64 data"


PARTS: dict[str, Callable[[list[Any]], Iterator[str]]] = {
    "anthropic": of_anthropic,
    "openai": of_openai,
    "responses": of_responses,
    "gemini": of_gemini,
    "bedrock": of_bedrock,
    "ollama": of_ollama,
}


def tools_of(provider: str, request: dict[str, Any]) -> list[Any]:
    if provider == "bedrock":
        return [tool["toolSpec"] for tool in request["toolConfig"]["tools"] if "toolSpec" in tool]
    tools = request.get("tools", [])
    if provider == "gemini":
        return [each for tool in tools for each in tool.get("functionDeclarations", ())]
    return [tool["function"] for tool in tools] if provider in ("openai", "ollama") else tools


def chosen(provider: str, request: dict[str, Any]) -> list[str]:
    if provider == "bedrock":
        choice = request["toolConfig"].get("toolChoice") or {}
        return [choice["tool"]["name"]] if "tool" in choice else []
    if provider == "gemini":
        config = (request.get("toolConfig") or {}).get("functionCallingConfig") or {}
        return list(config.get("allowedFunctionNames", ()))
    choice = request.get("tool_choice")
    if not isinstance(choice, dict):
        return []
    name = choice.get("name", choice.get("function", {}).get("name"))
    return [] if name is None else [name]


def tool_problems(provider: str, request: dict[str, Any]) -> Iterator[str]:
    tools = tools_of(provider, request)
    names = [tool.get("name") for tool in tools]
    if len(tools) > MOST_TOOLS.get(provider, len(tools)):
        yield f"{len(tools)} tools"
    for tool in tools:
        if not re.fullmatch(NAMES.get(provider, ".*"), str(tool.get("name"))):
            yield f"a tool named {tool.get('name')!r}"
        schema = tool.get("input_schema", tool.get("parameters", {}))
        if schema.keys() & ROOTS.get(provider, set()):
            yield "a schema with a choice at its root"
        if provider == "anthropic" and "input_schema" not in tool and "type" not in tool:
            yield "a tool without schema"
    yield from (
        f"{name!r} is chosen and not defined"
        for name in chosen(provider, request)
        if name not in names
    )
    if provider in ("anthropic", "openai") and "tool_choice" in request and not tools:
        yield "a choice of a tool, and no tool"
    if provider == "anthropic":
        yield from marks_of(request)
        if tools and all(tool.get("defer_loading") for tool in tools):
            yield "all tools are deferred"
        referred = [
            each for each in walk(request["messages"]) if each.get("type") == "tool_reference"
        ]
        yield from (
            f"a reference to {each['tool_name']!r}"
            for each in referred
            if each["tool_name"] not in names
        )
    if provider == "bedrock" and sum("cachePoint" in each for each in walk(request)) > MOST_MARKS:
        yield "too many marks for the cache"


def marks_in(value: Any) -> Iterator[dict[str, Any]]:
    """Yield the marks in a value in the order of the prefix: those inside of a result come before its own."""
    held = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for each in held:
        yield from marks_in(each)
    if isinstance(value, dict) and value.get("cache_control"):
        yield value["cache_control"]


def marks_of(request: dict[str, Any]) -> Iterator[str]:
    places = (request.get("tools"), request.get("system"), request["messages"])
    marks = [mark for place in places for mark in marks_in(place)]
    if len(marks) > MOST_MARKS:
        yield f"{len(marks)} marks for the cache"
    ttls = [mark.get("ttl", "5m") for mark in marks]
    if ttls != sorted(ttls):
        yield "a mark of an hour behind one of five minutes"
