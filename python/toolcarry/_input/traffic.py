"""Recorded requests with their responses: cassettes of VCR and Betamax, and HAR."""

from __future__ import annotations

import binascii
from typing import NamedTuple

from toolcarry._input.answers import Answer, read_answer
from toolcarry._input.archive import unpack
from toolcarry._input.json import dump, loads
from toolcarry._input.objects import JsonObject, as_object, each_object, first_given, text_or_empty
from toolcarry.errors import InputError

__all__ = ["Exchange", "exchanges", "read_exchange"]


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


def read_exchange(item: JsonObject) -> Exchange:
    """Read a recorded request with its response.

    Raises ``InputError`` if the request, or the response to one in JSON, is packed or binary, and can't be read.
    """
    try:
        written = unpack(body_in(as_object(item.get("request")) or {}))
        written.decode()
        request = as_object(loads(written)) if written.lstrip().startswith(b"{") else None
        response = body_in(as_object(item.get("response")) or {}) if request else b""
        answer = read_answer(response)
        if answer is None:
            response.decode()
    except ValueError:  # also of base64
        raise InputError("a body that is packed or binary", None) from None
    return Exchange(request or {}, answer, response)


def body_in(side: JsonObject) -> bytes:
    """Return the body of a request or a response: a text, or one in base64. Some cassettes have it decoded."""
    if "parsed_body" in side:
        return dump(side["parsed_body"])
    held = first_given(side, "body", "postData", "content")
    body = {"string": held} if isinstance(held, str) else as_object(held) or {}
    packed = text_or_empty(body.get("base64_string"))
    text = packed or text_or_empty(first_given(body, "string", "text"))
    if packed or body.get("encoding") == "base64":
        return binascii.a2b_base64(text)
    return text.encode("utf-8", "surrogatepass")
