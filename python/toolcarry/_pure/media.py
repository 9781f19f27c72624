"""The line that stands for what is no text: an image, a document, a sound; never its base64."""

from __future__ import annotations

from toolcarry.wire import Wire, as_object, first_given, text_or_empty

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
OPAQUE = ("blob", "file_data", "bytes", "base64", "encrypted_content")
"""What tells, in a part of another kind, that it is no text either."""
SHORTEST_DATA = 64
"""From so many characters on, data in a part of another kind is taken for base64."""
URL_KEYS = ("url", "image_url", "uri", "fileUri", "file_uri")
MEDIA_TYPE_KEYS = ("media_type", "mimeType", "mime_type", "mediaType", "format")


def is_opaque(part: Wire) -> bool:
    """Whether a part of a kind that nobody here knows holds what is no text."""
    source = as_object(part.get("source"))
    return any(key in part for key in OPAQUE) or any(
        len(text_or_empty(held.get("data"))) >= SHORTEST_DATA
        for held in (part, source)
        if held is not None
    )


def holds_media(holder: Wire) -> bool:
    """Whether an object says where its media are."""
    keys = (*DATA_KEYS, *URL_KEYS)
    return "source" in holder or first_text(holder, keys) is not None


def found_line(part: Wire) -> str:
    """``[search_result: the title, https://...]``"""
    said = [name for name in map(part.get, ("title", "source")) if isinstance(name, str) and name]
    return f"[search_result: {', '.join(said)}]" if said else "[search_result]"


def media_line(kind: str, part: Wire) -> str:
    """``[image: image/png, 34,211 bytes]`` for an image, a document or a sound; never its base64."""
    inner = first_given(part, "source", kind)
    held = as_object(inner)
    holder = part if held is None else held
    held = as_object(holder.get("source"))
    source = holder if held is None else held
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
