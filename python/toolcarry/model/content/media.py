"""The line that replaces an image, a document or a sound, and never contains its base64."""

from __future__ import annotations

import re

from toolcarry._data import read_table
from toolcarry._input.objects import JsonObject, as_list, as_object, first_given, text_or_empty

_TABLE = read_table("media")
MEDIA = frozenset(_TABLE["media_parts"])
"""The kinds of parts that are not text."""
FILES: tuple[str, ...] = tuple(_TABLE["files"])
"""The keys of Gemini for files of any type."""
FILE_PARTS: tuple[str, ...] = tuple(_TABLE["file_parts"])
"""The kinds of parts that are a file if they have one of ``FILE_KEYS``. A tool's answer may list files by these kinds."""
FILE_KEYS: tuple[str, ...] = tuple(_TABLE["file_keys"])
UNTYPED_MEDIA: tuple[str, ...] = tuple(_TABLE["untyped_media"])
"""The keys of parts without a type (in Gemini and Bedrock) that are not text."""
DATA_KEYS: tuple[str, ...] = tuple(_TABLE["data_keys"])
"""The members of a part that may hold its data."""
_OPAQUE: tuple[str, ...] = tuple(_TABLE["opaque_keys"])
"""The members by which a part of another kind is recognised as not text."""
_LABELS = frozenset(_TABLE["labels"])
"""The first words of the lines that stand for media."""
SHORTEST_DATA = 64
"""The shortest data that is taken for base64 in a part of another kind."""
_BASE64 = re.compile(rf"[A-Za-z0-9+/=_-]{{{SHORTEST_DATA}}}")
"""The beginning of base64, in either alphabet."""
_LONGEST_HEADER = 100
"""The longest header of a data URL; ``;base64,`` must be within it."""
URL_KEYS: tuple[str, ...] = tuple(_TABLE["url_keys"])
MEDIA_TYPE_KEYS: tuple[str, ...] = tuple(_TABLE["media_type_keys"])


def is_text(source: JsonObject) -> bool:
    """Return true if an object that should hold media holds text or parts."""
    has_text = isinstance(source.get("text"), str) or source.get("type") in ("text", "content")
    return has_text or bool(as_list(source.get("content")))


def is_opaque(part: JsonObject) -> bool:
    """Return true if a part of an unknown kind holds something that is not text."""
    source = as_object(part.get("source"))
    counted = (int, float, type(None))  # a number of bytes is an answer
    return any(type(part.get(key)) not in counted for key in _OPAQUE) or any(
        is_base64(text_or_empty(held.get("data"))) for held in (part, source) if held is not None
    )


def is_untyped_data(part: JsonObject) -> bool:
    """Return true if a part has no type but a media type, and holds media."""
    data = first_text(part, DATA_KEYS) or ""
    is_data = is_base64(data) or data.startswith("data:")
    return is_data and first_text(part, MEDIA_TYPE_KEYS) is not None


def holds_media(holder: JsonObject) -> bool:
    """Return true if an object has a source, data or a URL of media."""
    keys = (*DATA_KEYS, *URL_KEYS)
    return holder.get("source") is not None or first_text(holder, keys) is not None


def is_base64(text: str) -> bool:
    """Return true if a string is long enough for data and begins like base64. The rest is not checked."""
    return _BASE64.match(text) is not None


def address_line(text: str) -> str:
    """Return the text unchanged, unless it is one data URL; that becomes a line."""
    return _url_line(_type_label(text[5:].partition(";")[0]), text) if is_data_url(text) else text


def is_data_url(text: str) -> bool:
    """Return true if a string is a medium: a data URL of base64, which some tools return as their whole answer.

    >>> is_data_url("data:image/png;base64,aGk="), is_data_url("data: three rows")
    (True, False)
    """
    return text.startswith("data:") and ";base64," in text[:_LONGEST_HEADER]


def is_media_line(line: str) -> bool:
    """Return true if a line stands for a medium.

    >>> is_media_line("[image: image/png, 2 bytes]"), is_media_line("[1: one]")
    (True, False)
    """
    return bool(media_label(line))


def media_label(line: str) -> str:
    """Return the kind of the medium that a line stands for, such as ``image``; empty for any other line."""
    is_bracketed = line.startswith("[") and line.endswith("]")
    label = line[1:-1].partition(":")[0]
    return label if is_bracketed and label in _LABELS else ""


def base64_line(holder: JsonObject, key: str, data: str, name: str) -> str | None:
    """Return the line of a member that is base64; ``None`` if it is not. ``name`` is the key of its holder.

    The member ``data`` may be anything, unless its holder is media.
    """
    if not is_base64(data):
        return None
    kind = text_or_empty(holder.get("type"))
    if key == "content" and kind == "blob":  # OpenTelemetry
        return blob_line(holder, data)
    named = first_text(holder, MEDIA_TYPE_KEYS)
    medium = next((each for each in (kind, name) if each in MEDIA or each in UNTYPED_MEDIA), None)
    if key not in _OPAQUE and (key != "data" or (medium is None and not named)):
        return None
    label = _type_label(named or "") if medium is None else _label_of(medium, named)
    return _sized_line(label, named, data)


def found_line(part: JsonObject) -> str:
    """Return a line such as ``[search_result: the title, https://...]``."""
    said = [name for name in map(part.get, ("title", "source")) if isinstance(name, str) and name]
    return f"[search_result: {', '.join(said)}]" if said else "[search_result]"


def media_line(kind: str, part: JsonObject) -> str:
    """Return a line such as ``[image: image/png, 34,211 bytes]`` for an image, a document or a sound."""
    inner = first_given(part, "source", kind)
    held = as_object(inner)
    holder = part if held is None else held
    held = as_object(holder.get("source"))
    source = holder if held is None else held
    named = first_text(source, MEDIA_TYPE_KEYS) or first_text(holder, MEDIA_TYPE_KEYS)
    label = _label_of(kind, named)
    url = inner if isinstance(inner, str) else first_text(source, URL_KEYS)
    if url is not None:
        return _url_line(label, url)
    data = first_text(source, DATA_KEYS)
    if data is None:
        return f"[{label}: {named}]" if named else f"[{label}]"
    if data.startswith("data:"):
        return _url_line(label, data)
    if source.get("type") == "text":
        return data
    return _sized_line(label, named, data)


def blob_line(part: JsonObject, data: str) -> str:
    """Return the line of a blob of OpenTelemetry."""
    label = text_or_empty(part.get("modality")) or "blob"
    return _sized_line(label, first_text(part, MEDIA_TYPE_KEYS), data)


def _sized_line(label: str, named: str | None, data: str) -> str:
    size = f"{_base64_size(data):,} bytes"
    return f"[{label}: {named}, {size}]" if named else f"[{label}: {size}]"


def _label_of(kind: str, media_type: str | None) -> str:
    """Return the label of media in their line."""
    if kind in FILES:
        return _type_label(media_type or "document")
    if kind == "computer_screenshot":
        return "image"
    return kind.removesuffix("_url").removeprefix("input_")


def _type_label(media_type: str) -> str:
    """Return ``image`` for ``image/png``; ``document`` for types without a label of their own, ``data`` for no type."""
    family = media_type.partition("/")[0]
    return family if family in MEDIA else "document" if media_type else "data"


def _url_line(label: str, url: str) -> str:
    if not url.startswith("data:"):
        return f"[{label}: {url}]"
    media_type, _, encoded = url[5:].partition(",")
    return f"[{label}: {media_type.removesuffix(';base64')}, {_base64_size(encoded):,} bytes]"


def first_text(holder: JsonObject, keys: tuple[str, ...]) -> str | None:
    """Return the first of these members that is a string."""
    return next((holder[key] for key in keys if isinstance(holder.get(key), str)), None)


def _base64_size(data: str) -> int:
    """Return the number of bytes that base64 text encodes, by its length."""
    padding = 2 if data.endswith("==") else 1 if data.endswith("=") else 0
    return max(len(data) * 3 // 4 - padding, 0)
