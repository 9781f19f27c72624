"""Media parts of any format: images, documents, audio and video."""

from __future__ import annotations

import re
from base64 import b64encode
from dataclasses import replace
from typing import Final, Literal, NamedTuple, TypeAlias

from toolcarry._input.objects import JsonObject, as_list, as_object, first_given
from toolcarry.api.convert.model import Family, Media
from toolcarry.importers.producers.ai_sdk import medium_of
from toolcarry.model.content import answer_content, guarded, part_text, structured_json
from toolcarry.model.content.media import (
    DATA_KEYS,
    MEDIA_TYPE_KEYS,
    UNTYPED_MEDIA,
    URL_KEYS,
    first_text,
)

Kind: TypeAlias = Literal["image", "document", "audio", "video", "search_result"]

TYPED: Final[dict[str, Kind]] = {
    "image": "image",
    "image_url": "image",
    "input_image": "image",
    "document": "document",
    "file": "document",
    "input_file": "document",
    "resource": "document",
    "media": "document",
    "blob": "document",
    "uri": "document",
    "audio": "audio",
    "input_audio": "audio",
    "video": "video",
    "video_url": "video",
    "audio_url": "audio",
    "document_url": "document",
    "search_result": "search_result",
}
"""The types of parts, and the kind of media that they hold unless their media type says otherwise."""
BY_MEDIA_TYPE: Final[dict[str, Kind]] = {"image": "image", "audio": "audio", "video": "video"}
FAMILIES: Final[dict[str, Family]] = {
    "image_url": "openai",
    "file": "openai",
    "input_audio": "openai",
    "input_image": "responses",
    "input_file": "responses",
    "search_result": "anthropic",
}
BEDROCK = ("image", "document", "video", "audio")
"""The keys under which Bedrock keeps media."""
ADDRESSES = (*URL_KEYS, "file_url")
REACHABLE = ("https://", "http://", "gs://", "s3://", "data:")
"""The beginnings of URLs that a provider can reach; a file on the host is not one of them."""
IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")
"""The types of images that providers read."""
NAMES = ("filename", "name", "title")
FORMATS = {"pdf": "application/pdf", "txt": "text/plain", "jpg": "image/jpeg"}
"""The media types of formats whose type is not their kind."""
SIGNATURES = {
    "iVBORw0KGgo": "image/png",
    "/9j/": "image/jpeg",
    "R0lGOD": "image/gif",
    "UklGR": "image/webp",
}
"""The beginnings of images in base64."""
BASE64: Final = re.compile(r"[A-Za-z0-9+/\-_\s]+={0,2}\s*")
"""Base64 with either alphabet. Data that a log has cut in their middle are not."""


def read_media(part: JsonObject, position: int) -> Media | None:
    """Return the media of a part; ``None`` if it holds none."""
    if as_object(part.get("searchResult")) is not None and len(part) == 1:
        line = part_text(part, 0)
        return Media(position, "search_result", "", "", "", "", line, "bedrock", part)
    part = medium_of(part) or guarded(part)
    said = part.get("type")
    if isinstance(said, str):
        key = said if said in TYPED else ""
    else:
        key = next((key for key in UNTYPED_MEDIA if as_object(part.get(key)) is not None), "")
    if not key:
        return None
    inner = first_given(part, "source", key)
    holder = as_object(inner) or part
    source = as_object(holder.get("source")) or holder
    media_type = first_text(source, MEDIA_TYPE_KEYS) or first_text(holder, MEDIA_TYPE_KEYS) or ""
    if key == "resource" and isinstance(source.get("text"), str):
        return None
    url = inner if isinstance(inner, str) else first_text(source, ADDRESSES) or ""
    if not url.startswith(REACHABLE):
        url = ""
    data = data_of(source)
    if key == "blob" and not data:
        data = first_text(source, ("content",)) or ""  # OpenTelemetry
    url = "" if data else url
    given = url or data
    if given.startswith("data:"):
        header, _, encoded = given[5:].partition(",")
        if header.endswith(";base64"):
            media_type, data, url = header.removesuffix(";base64"), encoded, ""
    kind = kind_of(key, media_type)
    return Media(
        position=position,
        kind=kind,
        media_type=full_type(kind, media_type, data),
        data=data,
        url=url,
        name=first_text(holder, NAMES) or first_text(part, NAMES) or "",
        line=part_text(part, 0),
        family=family_of(said, part),
        wire=part,
    )


def read_image(data: str, position: int) -> Media:
    """Return an Ollama image, which is bare base64."""
    wire = {"type": "image", "data": data}
    media_type = full_type("image", "", data)
    return Media(position, "image", media_type, data, "", "", part_text(wire, 0), "ollama", wire)


def data_of(source: JsonObject) -> str:
    """Return the data as base64. Bedrock's SDK holds raw bytes, and an Anthropic document may hold text instead."""
    if source.get("type") == "text":
        return ""
    raw = source.get("bytes")
    return (
        b64encode(raw).decode() if isinstance(raw, bytes) else first_text(source, DATA_KEYS) or ""
    )


def is_base64(data: str) -> bool:
    """Return true if data can be decoded, so that a provider does not refuse the request because of them."""
    return BASE64.fullmatch(data) is not None


def kind_of(key: str, media_type: str) -> Kind:
    kind = TYPED.get(key, "document")
    return BY_MEDIA_TYPE.get(media_type.partition("/")[0], kind) if kind == "document" else kind


def full_type(kind: str, media_type: str, data: str) -> str:
    """Return the full media type of a short one such as ``png``, or of an image without one."""
    if "/" in media_type:
        return media_type
    if media_type:
        family = "application" if kind == "document" else kind
        return FORMATS.get(media_type, f"{family}/{media_type}")
    if kind != "image":
        return "application/pdf" if kind == "document" else ""
    found = (name for start, name in SIGNATURES.items() if data.startswith(start))
    return next(found, "image/png")


def family_of(kind: object, part: JsonObject) -> Family:
    """Return the family of formats in which a part is written."""
    if kind is None:
        is_bedrock = any("source" in (as_object(part.get(key)) or {}) for key in BEDROCK)
        is_gemini = "inlineData" in part or "fileData" in part
        return "bedrock" if is_bedrock else "gemini" if is_gemini else ""
    if kind in ("image", "document"):
        source = as_object(part.get("source")) or {}
        is_whole = source.get("type") != "base64" or "media_type" in source
        return "anthropic" if "type" in source and is_whole else ""
    family = FAMILIES.get(kind, "") if isinstance(kind, str) else ""
    # Chat holds a medium in an object; others have parts of the same types.
    return "" if family == "openai" and as_object(part.get(str(kind))) is None else family


def read_data_url(url: str, position: int) -> Media | None:
    """Return the media of a data URL, which belongs to no provider's format; ``None`` for an image that none of them reads."""
    found = read_media({"type": "file", "file": {"file_data": url}}, position)
    if found is not None and found.kind == "image" and found.media_type not in IMAGES:
        return None
    return None if found is None else replace(found, line=part_text(url, 0), family="")


class Answer(NamedTuple):
    """Return the parts of a result's content, and the rest of an answer of the Model Context Protocol."""

    items: list[object]
    is_repeated: bool = False
    """True if it has structured content that one of its text parts repeats."""
    has_metadata: bool = False


def read_answer(content: object) -> Answer:
    """Return the parts of a result's content; content that is not a list is one part."""
    items = as_list(content)
    if items is not None:
        return Answer(list(items))
    holder = as_object(content) or {}
    given = as_object(holder.get("functionResponse"))
    if given is not None:  # Gemini: media, and an answer next to them
        response = given.get("response")
        answer = Answer([]) if response is None else read_answer(response)
        return answer._replace(items=[*answer.items, *(as_list(given.get("parts")) or ())])
    parts = answer_content(holder)
    if not parts:
        return Answer([content])
    structured = structured_json(holder, parts)
    more = [] if structured is None else [structured]
    is_repeated = bool(holder.get("structuredContent")) and structured is None
    return Answer([*parts, *more], is_repeated, bool(holder.get("_meta")))


def file_name(media: Media) -> str:
    """Return the name of a document, with the extension by which OpenAI recognises its type."""
    name = media.name or "document"
    return name if "." in name else f"{name}.{media.media_type.partition('/')[2]}"


def data_url(media: Media) -> str:
    """Return the URL of media, or a data URL with their bytes."""
    return media.url or f"data:{media.media_type};base64,{media.data}"
