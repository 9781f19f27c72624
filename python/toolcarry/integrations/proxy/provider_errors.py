"""The proxy's own errors, in the format that the client's SDK reads."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import orjson
from starlette.types import Send

from toolcarry.config.tables import Shape

__all__ = ["error_body", "send_error"]

ANTHROPIC_TYPES: Final = {
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    502: "api_error",
    504: "timeout_error",
}


def error_body(shape: Shape | None, status: int, message: str) -> bytes:
    """Return an error in the provider's format; in that of OpenAI if the path is not a provider's.

    >>> error_body("ollama", 502, "upstream 'a' cannot be reached")
    b'{"error":"upstream \\'a\\' cannot be reached"}'
    """
    body: dict[str, Any]
    if shape == "anthropic":
        body = {
            "type": "error",
            "error": {
                "type": ANTHROPIC_TYPES.get(status, "invalid_request_error"),
                "message": message,
            },
        }
    elif shape == "ollama":
        body = {"error": message}
    else:
        kind = "invalid_request_error" if status < 500 else "server_error"
        body = {"error": {"message": message, "type": kind, "param": None, "code": None}}
    return orjson.dumps(body)


async def send_error(
    send: Send,
    shape: Shape | None,
    status: int,
    message: str,
    *,
    is_last: bool = False,
    headers: Iterable[tuple[bytes, bytes]] = (),
) -> None:
    """Answer with an error. ``is_last`` closes the connection, on which the client may still be sending."""
    body = error_body(shape, status, message)
    all_headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        *headers,
    ]
    if is_last:
        all_headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": status, "headers": all_headers})
    await send({"type": "http.response.body", "body": body})
