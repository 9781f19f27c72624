"""Recorded requests with their responses: cassettes of VCR and Betamax, and HAR."""

from __future__ import annotations

import binascii
from typing import Final, NamedTuple

from toolcarry._input.answers import MOST_ANSWER, Answer, read_answer
from toolcarry._input.archive import unpack
from toolcarry._input.json import dump, loads
from toolcarry._input.objects import (
    JsonObject,
    as_list,
    as_object,
    each_object,
    first_given,
    text_or_empty,
)
from toolcarry.errors import InputError

__all__ = ["Exchange", "Room", "exchanges", "read_exchange"]


class Exchange(NamedTuple):
    """A request with its response."""

    request: JsonObject
    """The body; an empty object if it is not one in JSON."""
    answer: Answer | None
    """The model's messages in the response; ``None`` for any other response."""
    response: bytes


def exchanges(document: JsonObject) -> list[JsonObject]:
    """Return what is recorded in a document; nothing if it records no traffic."""
    log = as_object(document.get("log")) or {}
    held = first_given(document, "interactions", "http_interactions") or log.get("entries")
    found = list(each_object(held))
    sides = [as_object(item.get(side)) for item in found for side in ("request", "response")]
    return found if None not in sides else []


class Room:
    """The bytes that the bodies of a document may still have together: packed ones may be far longer than the document."""

    def __init__(self) -> None:
        self._left = MOST_UNPACKED

    def unpacked(self, body: bytes) -> bytes:
        """Return a body unpacked. Raises ``InputError`` if it is too long."""
        limit = min(self._left, MOST_ANSWER)
        self._left -= limit
        found = unpack(body, limit=limit)
        self._left += limit if found is body else limit - len(found)
        return found


MOST_UNPACKED: Final = 256 << 20
"""The most bytes to which the bodies of a document unpack."""


def read_exchange(item: JsonObject, room: Room) -> Exchange:
    """Read a recorded request with its response.

    Raises ``InputError`` if the request, or the response to one in JSON, is packed or binary, and can't be read.
    """
    try:
        written = room.unpacked(body_in(as_object(item.get("request")) or {}))
        written.decode()
        request = as_object(loads(written)) if written.lstrip().startswith(b"{") else None
        given = body_in(as_object(item.get("response")) or {}) if request else b""
        response = room.unpacked(given)
        answer = read_answer(response)
        if answer is None:
            response.decode()
    except ValueError:  # also of base64
        raise InputError("a body that is packed or binary", None) from None
    return Exchange(request or {}, answer, response)


def body_in(side: JsonObject) -> bytes:
    """Return the body of a request or a response; empty if there is none.

    It is a text, one in base64, or decoded. Raises ``ValueError`` if it may be in a member that is not known.
    """
    held = next((found for key in BODIES if (found := side.get(key))), None)
    if held is None:
        other = [key for key, value in side.items() if key not in ABOUT and not key.startswith("_") and value]  # fmt: skip
        if other and BODIES.isdisjoint(side):
            raise InputError(f"a body in an unknown member: {other[0]}", None)
        return b""
    if isinstance(held, str):
        return held.encode("utf-8", "surrogatepass")
    segments = as_list(held)
    if segments is not None:  # a stream has several
        return dump(segments[0] if len(segments) == 1 else segments)
    body = as_object(held) or {}
    if not WRAPPER.issuperset(body):
        return dump(body)
    packed = text_or_empty(body.get("base64_string"))
    text = packed or text_or_empty(first_given(body, "string", "text", "data"))
    if packed or body.get("encoding") == "base64":
        return binascii.a2b_base64(text)
    return text.encode("utf-8", "surrogatepass")


BODIES: Final = dict.fromkeys(
    ("parsed_body", "body_segments", "body", "postData", "content", "json")
).keys()
"""The members of a request or a response that may hold its body, in this order. Segments are those of google-genai."""
WRAPPER: Final = frozenset((
    "string", "text", "base64_string", "data", "encoding", "mimeType", "size", "compression", "params", "comment",
))  # fmt: skip
"""The members of an object around a text; a body with any other is decoded."""
ABOUT: Final = frozenset((
    "method", "uri", "url", "headers", "cookies", "queryString", "httpVersion", "http_version", "headersSize", "bodySize",
    "redirectURL", "status", "statusText", "status_code", "reason", "comment", "adapter_metadata", "protocol", "timestamp",
))  # fmt: skip
"""The members of a request or a response next to its body."""
