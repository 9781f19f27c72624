"""The text of a result, whatever kind of thing came back, and what stands for what is no text."""

from __future__ import annotations

from toolcarry.decode import compact_json
from toolcarry.wire import Wire, as_list, as_object, first_given, text_or_empty

STAND_INS = (
    "[Request interrupted by user",
    "[Tool result missing",
    "[Tool use interrupted",
    "[Old tool result content cleared",
    "Wasted call",
    "File unchanged since",
)
"""How texts begin that stand for a result: for one that never came, was cleared, or was given before."""
INITIALS = frozenset(text[0] for text in STAND_INS)

MEDIA = frozenset(
    (
        "image",
        "image_url",
        "input_image",
        "computer_screenshot",
        "document",
        "audio",
        "input_audio",
        "video",
    )
)
"""The kinds of parts that are no text."""
FILES = ("inlineData", "inline_data", "fileData", "file_data")
"""What Gemini calls files, whatever is in them."""
UNTYPED_MEDIA = ("image", "document", "video", "audio", *FILES)
"""The keys of parts without a type (Gemini's, Bedrock's) that are no text."""
DATA_KEYS = ("data", "blob", "file_data", "bytes", "base64")
"""Where a part holds what is no text."""
OPAQUE = ("blob", "file_data", "bytes", "base64", "source", "encrypted_content")
"""What tells, in a part of another kind, that it is no text either."""
SHORTEST_DATA = 64
"""From so many characters on, data in a part of another kind is taken for base64."""
URL_KEYS = ("url", "image_url", "uri", "fileUri", "file_uri")
MEDIA_TYPE_KEYS = ("media_type", "mimeType", "mime_type", "mediaType", "format")
MAX_PARTS = 8
"""How deep parts may stand in parts: deeper ones are shown as JSON."""


def is_stand_in(content: object) -> bool:
    """Whether the content of a result only stands for one that is not here."""
    text = content if type(content) is str else result_text(content) if content else ""
    return text[:1] in INITIALS and text.startswith(STAND_INS)


def result_text(content: object, depth: int = 0) -> str:
    """The text of a result: parts on lines of their own; what is no text becomes a line that names it."""
    if type(content) is not list:
        if isinstance(content, str):
            return content
        if content is None:
            return ""
        if not isinstance(content, (list, tuple)):
            return object_text(content, depth)
    if len(content) == 1:
        part = content[0]
        text = part.get("text") if type(part) is dict else None  # nearly always: spares a call
        return text if isinstance(text, str) else part_text(part, depth)
    return "\n".join([part_text(part, depth) for part in content])


def object_text(content: object, depth: int) -> str:
    """The text of what is no list of parts: a part by itself, or any other value, which is JSON."""
    part = as_object(content)
    if part is not None and "type" not in part and len(part) > 1 and "text" in part:
        return compact_json(content)
    return part_text(content, depth)


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
        return untyped_text(part, depth)
    if kind == "blob" and isinstance(part.get("content"), str):  # OpenTelemetry
        return blob_line(part, part["content"])
    inner = as_object(part.get("source" if kind == "document" else kind)) or part
    text = inner.get("text")
    if isinstance(text, str):
        return text
    printed = part.get("stdout")
    if isinstance(printed, str) and depth < MAX_PARTS:  # code that ran on the server
        errors = [part["stderr"]] if text_or_empty(part.get("stderr")) else []
        files = as_list(part.get("content")) or ()
        return "\n".join([part_text(each, depth + 1) for each in (printed, *errors, *files)])
    content = inner.get("content") or part.get("content")
    is_typed = "type" in (as_object(content) or {})  # what was fetched, for one
    if (isinstance(content, (str, list, tuple)) or is_typed) and depth < MAX_PARTS:
        text = result_text(content, depth + 1)
        return f"{found_line(part)}\n{text}" if kind == "search_result" else text
    if kind in MEDIA or is_opaque(part) or is_opaque(inner):
        return media_line(kind, part)
    named = part.get(kind)
    return named if isinstance(named, str) else compact_json(part)


def is_opaque(part: Wire) -> bool:
    """Whether a part of a kind that nobody here knows holds what is no text."""
    return any(key in part for key in OPAQUE) or (
        len(text_or_empty(part.get("data"))) >= SHORTEST_DATA
    )


def untyped_text(part: Wire, depth: int) -> str:
    """The text of a part that doesn't say its type: of Gemini's and Bedrock's the only key tells it."""
    for kind in UNTYPED_MEDIA:
        if kind in part and as_object(part[kind]) is not None:
            return untyped_media(kind, part, depth)
    if len(part) == 1 and "json" in part:
        return compact_json(part["json"])
    answer = as_object(part.get("functionResponse")) if len(part) == 1 else None
    if answer is not None and depth < MAX_PARTS:  # Gemini: media, and an answer beside them
        response = [] if answer.get("response") is None else [answer["response"]]
        parts = as_list(answer.get("parts")) or ()
        return "\n".join([part_text(each, depth + 1) for each in (*response, *parts)])
    content = as_list(part.get("content"))
    first = as_object(content[0]) if content else None
    if first is not None and isinstance(first.get("type"), str) and depth < MAX_PARTS:
        return result_text(content, depth + 1)  # an answer as the Model Context Protocol has it
    return compact_json(part)


def untyped_media(kind: str, part: Wire, depth: int) -> str:
    """A part that holds media under their kind: a document may be text all the same."""
    holder = as_object(part[kind]) or part
    source = as_object(holder.get("source")) or holder
    if kind == "document":
        text = source.get("text")
        if isinstance(text, str):
            return text
        content = as_list(source.get("content"))
        if content and depth < MAX_PARTS:
            return result_text(content, depth + 1)
    return media_line(kind, part)


def found_line(part: Wire) -> str:
    """``[search_result: the title, https://...]``"""
    said = [name for name in map(part.get, ("title", "source")) if isinstance(name, str) and name]
    return f"[search_result: {', '.join(said)}]" if said else "[search_result]"


def media_line(kind: str, part: Wire) -> str:
    """``[image: image/png, 34,211 bytes]`` for an image, a document or a sound; never its base64."""
    inner = first_given(part, "source", kind)
    holder = as_object(inner) or part
    source = as_object(holder.get("source")) or holder
    named = first_text(source, MEDIA_TYPE_KEYS) or first_text(holder, MEDIA_TYPE_KEYS)
    label = label_of(kind, named)
    url = inner if isinstance(inner, str) else first_text(source, URL_KEYS)
    if url is not None:
        return url_line(label, url)
    data = first_text(source, DATA_KEYS)
    if data is None:
        return f"[{label}: {named}]" if named else f"[{label}]"
    if data.startswith("data:"):
        return url_line(label, data)
    if source.get("type") == "text":
        return data
    return sized_line(label, named, data)


def blob_line(part: Wire, data: str) -> str:
    """The line of what OpenTelemetry calls a blob."""
    label = text_or_empty(part.get("modality")) or "blob"
    return sized_line(label, first_text(part, MEDIA_TYPE_KEYS), data)


def sized_line(label: str, named: str | None, data: str) -> str:
    size = f"{base64_size(data):,} bytes"
    return f"[{label}: {named}, {size}]" if named else f"[{label}: {size}]"


def label_of(kind: str, media_type: str | None) -> str:
    """What a line about media calls them."""
    if kind in FILES:
        family = (media_type or "").partition("/")[0]
        return family if family in MEDIA else "document"
    if kind == "computer_screenshot":
        return "image"
    return kind.removesuffix("_url").removeprefix("input_")


def url_line(label: str, url: str) -> str:
    if not url.startswith("data:"):
        return f"[{label}: {url}]"
    media_type, _, encoded = url[5:].partition(",")
    return f"[{label}: {media_type.removesuffix(';base64')}, {base64_size(encoded):,} bytes]"


def first_text(holder: Wire, keys: tuple[str, ...]) -> str | None:
    """The first member of these names that is a text."""
    return next((holder[key] for key in keys if isinstance(holder.get(key), str)), None)


def base64_size(data: str) -> int:
    """How many bytes base64 text stands for, by its length."""
    padding = 2 if data.endswith("==") else 1 if data.endswith("=") else 0
    return max(len(data) * 3 // 4 - padding, 0)
