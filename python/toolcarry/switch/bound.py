"""State that is bound to a backend: what a request names but does not hold, because one backend keeps or sealed it.

Another backend answers a name that it does not know with an error. So on a switch such state is removed, and a line of text
replaces a file. This table says what is bound; ``portable`` removes it from messages, ``body`` from the request.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from toolcarry._input.objects import JsonObject, as_list, as_object, first_given, text_or_empty

__all__ = ["KINDS", "bound_kinds", "bound_members", "file_line", "is_bound_file"]

KINDS: Final[Mapping[str, str]] = {
    # "Previous response with id ... not found": higress-group/higress#4688
    "previous_response_id": "an earlier response, which stands for the messages before it",
    # https://platform.openai.com/docs/guides/conversation-state
    "conversation": "a conversation of OpenAI, which stands for the messages before it",
    # https://ai.google.dev/gemini-api/docs/caching
    "cached_content": "a cached beginning of a request to Gemini",
    # https://platform.claude.com/docs/en/agents-and-tools/tool-use/code-execution-tool
    "container": "a container in which Anthropic runs code",
    # https://platform.openai.com/docs/guides/conversation-state: it is resolved only if the response was stored
    "item_reference": "an item by its id alone",
    "item_id": "the id of an item, by which OpenAI finds its copy",
    # "invalid_encrypted_content" at another organization: pydantic/pydantic-ai#4608
    "encrypted_content": "reasoning or a summary that only its provider can read",
    # https://ai.google.dev/gemini-api/docs/thought-signatures
    "signature": "the signature of a thought or of a call",
    # https://platform.claude.com/docs/en/build-with-claude/files, https://ai.google.dev/gemini-api/docs/files
    "file": "a file that was uploaded to a backend",
}
"""The kinds of state that is bound to a backend."""

MEMBERS: Final = {
    "previous_response_id": "previous_response_id",
    "conversation": "conversation",
    "cachedContent": "cached_content",
    "cached_content": "cached_content",
    "container": "container",
}
"""The members of a request that are bound, and their kinds."""
SEALED: Final = {
    "encrypted_content": "encrypted_content",
    "signature": "signature",
    "reasoning_signature": "signature",
    "thoughtSignature": "signature",
    "thought_signature": "signature",
}
"""The members of messages and their parts that are bound, and their kinds."""
UPLOADS: Final = ("https://generativelanguage.googleapis.com/", "files/")
"""The beginnings of the names of files that Gemini keeps for a project; other URLs mean the same to every project."""


def bound_members(members: Mapping[str, Any], *, is_first: bool) -> tuple[set[str], list[str]]:
    """Return the names of a request's bound members, and their kinds.

    ``is_first``: no earlier request had this beginning. A later one may name a container of the backend that answers now.
    """
    names = {
        name
        for name in members
        if name in MEMBERS and members[name] is not None and (is_first or name != "container")
    }
    return names, sorted({MEMBERS[name] for name in names})


def is_bound_file(part: JsonObject) -> bool:
    """True if a part names a file that was uploaded to one backend."""
    return bool(file_name_of(part))


def file_name_of(part: JsonObject) -> str:
    """Return the name or the id of an uploaded file; empty for any other part, such as one that holds the file too."""
    kind = part.get("type")
    if kind == "container_upload":  # Anthropic
        return text_or_empty(part.get("file_id"))
    if kind in ("image", "document"):  # Anthropic
        source = as_object(part.get("source")) or {}
        is_upload = source.get("type") == "file"
        name = text_or_empty(part.get("title")) or text_or_empty(source.get("file_id"))
        return name if is_upload else ""
    if kind in ("input_image", "input_file"):  # OpenAI Responses
        held = part
    elif kind == "file":  # OpenAI Chat
        held = as_object(part.get("file")) or {}
    else:
        data = as_object(first_given(part, "fileData", "file_data")) or {}  # Gemini
        uri = text_or_empty(first_given(data, "fileUri", "file_uri"))
        return (text_or_empty(data.get("displayName")) or uri) if uri.startswith(UPLOADS) else ""
    if any(held.get(key) for key in ("file_data", "file_url", "image_url")):
        return ""
    file_id = text_or_empty(held.get("file_id"))
    return (text_or_empty(held.get("filename")) or file_id) if file_id else ""


def file_line(part: JsonObject) -> dict[str, Any]:
    """Return a text in place of an uploaded file, in the format of the part.

    >>> file_line({"type": "input_file", "file_id": "file-1"})
    {'type': 'input_text', 'text': '[file file-1: uploaded to another model backend]'}
    """
    text = f"[file {file_name_of(part)}: uploaded to another model backend]"
    kind = text_or_empty(part.get("type"))
    if not kind:
        return {"text": text}
    return {"type": "input_text" if kind.startswith("input_") else "text", "text": text}


def bound_kinds(message: JsonObject) -> Iterator[str]:
    """Yield the kinds of state in a message that are bound to a backend."""
    if message.get("type") == "item_reference":
        yield "item_reference"
    elif "id" in message and "type" in message:
        yield "item_id"
    yield from sealed_kinds(message)
    for key in ("content", "parts", "output", "tool_calls"):
        for item in as_list(message.get(key)) or ():
            part = as_object(item)
            if part is None:
                continue
            if is_bound_file(part):
                yield "file"
            yield from sealed_kinds(part)
            for inner in as_list(part.get("content")) or ():
                if is_bound_file(as_object(inner) or {}):
                    yield "file"


def sealed_kinds(holder: JsonObject) -> Iterator[str]:
    return (kind for key, kind in SEALED.items() if holder.get(key))
