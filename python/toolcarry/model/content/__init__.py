"""The text of results of any kind, and the spoken text of messages."""

from __future__ import annotations

from typing import Any

from toolcarry._data import read_table
from toolcarry._input.json import compact_json, loads_arguments
from toolcarry._input.objects import JsonObject, as_list, as_object, given, text_or_empty
from toolcarry.model.content.media import (
    FILE_KEYS,
    FILE_PARTS,
    FILES,
    MEDIA,
    UNTYPED_MEDIA,
    address_line,
    base64_line,
    blob_line,
    first_text,
    found_line,
    holds_media,
    is_base64,
    is_opaque,
    is_text,
    is_untyped_data,
    media_line,
)

_HINTS = (
    '"data:',
    '"data":',
    '"blob"',
    '"bytes":',
    '"base64":',
    '"file_data":',
    '"encrypted_content":',
)
"""JSON that holds base64 contains one of these. Other JSON, which is most of it, is not searched further."""


def answer_json(value: object) -> str:
    """Return ``value`` as compact JSON without base64, which is never text. All other members are unchanged.

    Only the base64 of media is replaced, by a line in its place; the members next to it are part of the answer.
    The Rust backend calls this for objects that it can't write itself.

    >>> answer_json({"a": "data:image/png;base64,aGk="})
    '{"a":"[image: image/png, 2 bytes]"}'
    """
    written = compact_json(value)
    return compact_json(_readable(value)) if any(hint in written for hint in _HINTS) else written


def _readable(value: Any, name: str = "") -> Any:
    """Return a copy of a member's value, with lines for base64. ``compact_json`` has refused values that are too deep."""
    if isinstance(value, dict):
        return {key: _readable_member(value, key, item, name) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_readable(item) for item in value]
    return address_line(value) if isinstance(value, str) else value


def _readable_member(holder: JsonObject, key: str, item: Any, name: str) -> Any:
    """Return a member of an object. The object is itself the value of ``name``, which may be a kind of media."""
    line = base64_line(holder, key, item, name) if isinstance(item, str) else None
    return _readable(item, key) if line is None else line


_TABLE = read_table("parts")
STAND_INS: tuple[str, ...] = tuple(read_table("texts")["stand_ins"])
"""The beginnings of stand-ins for results: for one that never came, was cleared, or was given before."""
INITIALS = frozenset(text[0] for text in STAND_INS)

MAX_PARTS = 8
"""The deepest nesting of parts in parts. Deeper parts are shown as JSON."""
TEXT_PARTS: tuple[str, ...] = tuple(_TABLE["text_parts"])
"""The kinds of parts that are text, whatever other members they have."""
THINKING_PARTS: tuple[str, ...] = tuple(_TABLE["thinking_parts"])
"""The kinds of parts that are thinking."""
_HOLDERS: tuple[str, ...] = tuple(_TABLE["held_parts"])
"""The kinds of parts that hold text or data under their name."""
_NAMED: tuple[str, ...] = tuple(_TABLE["named_parts"])
"""The kinds of parts that are text under their name."""
_ATTACHED: tuple[str, ...] = tuple(_TABLE["attached_parts"])
"""The kinds of parts of a message, besides media, that are neither spoken text nor thoughts, calls or results."""
_ASIDE: tuple[str, ...] = tuple(_TABLE["aside_keys"])
"""Members of a part that don't add to its content."""
_ANSWER: tuple[str, ...] = tuple(_TABLE["answer_keys"])
"""The members of an answer in the Model Context Protocol."""


def is_stand_in(content: object) -> bool:
    """Return true if the content of a result is a stand-in for one that is not here."""
    text = content if type(content) is str else result_text(content) if content else ""
    return text[:1] in INITIALS and text.startswith(STAND_INS)


def result_text(content: object, depth: int = 0) -> str:
    """Return the text of a result, its parts on lines of their own. Other content becomes a line that describes it."""
    if type(content) is not list:
        if isinstance(content, str):
            return address_line(content)
        if content is None:
            return ""
        if not isinstance(content, (list, tuple)):
            return part_text(content, depth)
    if len(content) == 1:
        part = content[0]
        if type(part) is dict and part.get("type") == "text":  # nearly always: spares a call
            text = part.get("text")
            if isinstance(text, str):
                return address_line(text)
        return part_text(part, depth)
    return "\n".join([part_text(part, depth) for part in content])


def part_text(item: object, depth: int) -> str:
    """Return the text of one part of a result; parts may hold parts. A part of an unknown kind is JSON."""
    if isinstance(item, str):
        return address_line(item)
    part = as_object(item)
    if part is None:
        return answer_json(item)
    kind, text = part.get("type"), part.get("text")
    if isinstance(text, str) and (kind in TEXT_PARTS or is_bare(part, "text")):
        return address_line(text)
    is_typed = isinstance(kind, str)
    found = typed_text(part, str(kind), depth) if is_typed else untyped_text(part, depth)
    return answer_json(part) if found is None else found


def is_bare(part: JsonObject, key: str) -> bool:
    """Return true if a part has no content except under ``key``, so that nothing is lost with its other members."""
    return given(part) - {*_ASIDE} == {key}


def typed_text(part: JsonObject, kind: str, depth: int) -> str | None:
    """Return the text of a part with a type; ``None`` if it is shown as JSON."""
    if kind == "blob" and isinstance(part.get("content"), str):  # OpenTelemetry
        return blob_line(part, part["content"])
    printed = part.get("stdout")
    if isinstance(printed, str) and kind.endswith("result") and depth < MAX_PARTS:
        errors = [part["stderr"]] if text_or_empty(part.get("stderr")) else []
        files = as_list(part.get("content")) or ()
        return "\n".join([part_text(each, depth + 1) for each in (printed, *errors, *files)])
    if kind == "document" and (told := text_document(part)) is not None:
        return told if isinstance(told, str) else answer_json(told)
    held = as_object(part.get("source" if kind == "document" else kind))
    inner = part if held is None else held
    is_known = kind in MEDIA or kind in _HOLDERS
    is_text = is_known or (is_bare(part, kind) and is_bare(inner, "text"))
    if is_text and isinstance(inner.get("text"), str):
        text: str = inner["text"]
        return text
    if is_known or kind.endswith("result") or is_bare(part, "content"):
        content = part.get("content") if is_empty(inner.get("content")) else inner["content"]
        if is_followed(content) and depth < MAX_PARTS:
            text = result_text(content, depth + 1)
            return f"{found_line(part)}\n{text}" if kind == "search_result" else text
    if kind in MEDIA or is_opaque(part) or is_opaque(inner):
        return media_line(kind, part)
    named = part.get(kind) if kind in _NAMED else None
    return named if isinstance(named, str) else None


def text_document(part: JsonObject) -> str | JsonObject | None:
    """Return what a document of Cohere says, a text or an object; ``None`` for any other document.

    https://docs.cohere.com/reference/chat
    """
    held = as_object(part.get("document"))
    data = None if held is None else held.get("data")
    return data if isinstance(data, str) and not is_base64(data) else as_object(data)


def is_empty(content: object) -> bool:
    return content is None or content == "" or (isinstance(content, (list, tuple)) and not content)


def is_followed(content: object) -> bool:
    """Return true if content is text or parts: a list, or an object with a type, such as a fetched page."""
    if isinstance(content, (str, list, tuple)):
        return True
    part = as_object(content)
    return part is not None and part.get("type") is not None


def untyped_text(part: JsonObject, depth: int) -> str | None:
    """Return the text of a part without a type; ``None`` if it is shown as JSON.

    Parts of Gemini and Bedrock are recognised by their only key.
    """
    part = guarded(part)
    medium = untyped_medium(part)
    if medium is not None:
        kind, holder = medium
        return untyped_media(kind, part, holder, depth)
    names = given(part)
    if names == {"json"} or ("json" in part and not names):
        return answer_json(part["json"])
    answer = as_object(part.get("functionResponse")) if len(names) == 1 else None
    if answer is not None and depth < MAX_PARTS:  # Gemini: media, and an answer next to them
        response = [] if answer.get("response") is None else [answer["response"]]
        parts = as_list(answer.get("parts")) or ()
        return "\n".join([part_text(each, depth + 1) for each in (*response, *parts)])
    found = as_object(part.get("searchResult")) if len(names) == 1 else None
    if found is not None and depth < MAX_PARTS:  # Bedrock
        return f"{found_line(found)}\n{result_text(found.get('content'), depth + 1)}"
    content = answer_content(part)
    if content and depth < MAX_PARTS:
        text = result_text(content, depth + 1)
        structured = structured_json(part, content)
        return text if structured is None else f"{text}\n{structured}"
    return media_line("inlineData", part) if is_untyped_data(part) else None


def answer_content(part: JsonObject) -> list[Any] | tuple[Any, ...]:
    """Return the parts in an answer of the Model Context Protocol (``CallToolResult``); none for other objects."""
    content = as_list(part.get("content"))
    if content and given(part).issubset(_ANSWER):
        first = as_object(content[0])
        if first is not None and isinstance(first.get("type"), str):
            return content
    return ()


def structured_json(answer: JsonObject, content: list[Any] | tuple[Any, ...]) -> str | None:
    """Return the ``structuredContent`` of an answer as JSON; ``None`` if one of its texts says the same.

    https://modelcontextprotocol.io/specification/2025-06-18/server/tools#structured-content: a server should also
    return it as JSON in a text part. Others return a summary as text, which must not hide the data.
    """
    held = answer.get("structuredContent")
    members = as_object(held)
    if held is None or (members is not None and not members):
        return None
    return None if any(repeats(item, held) for item in content) else answer_json(held)


def repeats(item: object, held: object) -> bool:
    """Return true if a part is text that says the same as a structured content.

    A server of the Python SDK wraps a value that is not an object: ``{"result": value}``.
    """
    text = item if isinstance(item, str) else (as_object(item) or {}).get("text")
    if not isinstance(text, str):
        return False
    written = compact_json(loads_arguments(text))
    members = as_object(held) or {}
    wrapped = members.get("result") if len(members) == 1 else None
    if wrapped is not None and (text == wrapped or written == compact_json({"arguments": wrapped})):
        return True
    return written == compact_json(held)


def guarded(part: JsonObject) -> JsonObject:
    """Return the content in Bedrock's ``guardContent``, which a guardrail assesses; any other part unchanged."""
    held = as_object(part.get("guardContent"))
    return part if held is None else held


def untyped_medium(part: JsonObject) -> tuple[str, JsonObject] | None:
    """Return the kind of media in a part without a type, and the object that holds them; ``None`` without media."""
    part = guarded(part)
    for kind in UNTYPED_MEDIA:
        holder = as_object(part.get(kind))
        is_part = kind in FILES or is_bare(part, kind)
        if holder is not None and is_part and holds_media(holder):
            return kind, holder
    return None


def is_of_media(part: JsonObject) -> bool:
    """Return true if a part is of a kind that holds media, including documents that are text."""
    kind = part.get("type")
    if isinstance(kind, str):
        return kind in MEDIA or (kind in FILE_PARTS and is_media(part))
    return untyped_medium(part) is not None or is_untyped_data(part)


def is_media(part: JsonObject) -> bool:
    """Return true if a part is an image, a document, a sound or a film, but not if it is a document that is text."""
    kind = part.get("type")
    if isinstance(kind, str):
        held = as_object(part.get("source" if kind == "document" else kind))
        holder = part if held is None else held
        if kind in FILE_PARTS:
            return first_text(holder, FILE_KEYS) is not None or is_untyped_data(holder)
        is_told = kind == "document" and text_document(part) is not None
        return kind in MEDIA and not is_told and not is_text(holder)
    medium = untyped_medium(part)
    if medium is None:
        return is_untyped_data(part)
    held = as_object(medium[1].get("source"))
    return not is_text(medium[1] if held is None else held)


def untyped_media(kind: str, part: JsonObject, holder: JsonObject, depth: int) -> str:
    """Return the text of a part that holds media under their kind. A document may be text all the same."""
    held = as_object(holder.get("source"))
    source = holder if held is None else held
    if kind == "document":
        text = source.get("text")
        if isinstance(text, str):
            return text
        content = as_list(source.get("content"))
        if content and depth < MAX_PARTS:
            return result_text(content, depth + 1)
    return media_line(kind, part)


def spoken_text(content: object) -> str:
    """Return the text of a message: a string, or the text parts of a list."""
    if isinstance(content, str):
        return content
    texts: list[str] = []
    for item in as_list(content) or ():
        text = item if isinstance(item, str) else spoken_part(as_object(item) or {})
        if text is not None:
            texts.append(text)
    return "\n".join(texts)


def spoken_part(part: JsonObject) -> str | None:
    """Return the spoken text of a part of a message; ``None`` for a thought, or a part that is not text.

    A ``compaction`` block of Anthropic holds the only text that is left of the messages before it.
    """
    kind = part.get("type")
    is_compaction = kind == "compaction"
    if (kind is not None and kind not in TEXT_PARTS and not is_compaction) or part.get(
        "thought"
    ) is True:
        return None
    text = part.get("text")
    if text is None and (kind == "text" or is_compaction):
        text = part.get("content")  # OpenTelemetry, compaction
    if isinstance(text, str):
        return text
    return None if kind is not None else _bedrock_text(part)


def _bedrock_text(part: JsonObject) -> str | None:
    """Return the text that Bedrock wraps for a guardrail or with citations; ``None`` for any other part."""
    guard = as_object(part.get("guardContent")) or {}
    text = (as_object(guard.get("text")) or {}).get("text")
    if isinstance(text, str):
        return text
    cited = as_object(part.get("citationsContent")) or {}
    found = [(as_object(item) or {}).get("text") for item in as_list(cited.get("content")) or ()]
    texts = [text for text in found if isinstance(text, str)]
    return "\n".join(texts) if texts else None


def shown_text(content: object) -> str:
    """Return the text of a message as a reader needs it: spoken text, and the text or the line of attachments."""
    if isinstance(content, str):
        return content
    texts: list[str] = []
    for item in as_list(content) or ():
        text = item if isinstance(item, str) else _shown_part(as_object(item) or {})
        if text is not None:
            texts.append(text)
    return "\n".join(texts)


def _shown_part(part: JsonObject) -> str | None:
    """Return the text of a part that is spoken or attached; ``None`` for a thought, a call or a result."""
    text = spoken_part(part)
    return attached_text(part) if text is None else text


def attached_text(part: JsonObject) -> str | None:
    """Return the text of a document, a search result or a refusal, and a line for media; ``None`` for other parts."""
    kind = part.get("type")
    is_named = (
        kind in _ATTACHED if kind is not None else part.get("searchResult") is not None
    )  # Bedrock
    is_attached = (is_named or is_of_media(part)) and part.get("thought") is not True
    return part_text(part, 0) if is_attached else None
