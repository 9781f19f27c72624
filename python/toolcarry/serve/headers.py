"""Which headers go on, and which stay: those of one connection, the proxy's own, and the client's key where the
upstream has one of its own."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from toolcarry.config.serving import Upstream
from toolcarry.serve.secrets import secret

__all__ = ["forwarded", "key_header", "returned"]

Headers = list[tuple[bytes, bytes]]

HOP_BY_HOP: Final = frozenset(
    {
        b"connection",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-authorization",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
    }
)
"""RFC 9110, 7.6.1."""

OF_THIS_HOP: Final = HOP_BY_HOP | {b"host", b"content-length", b"expect"}
"""What a request to the upstream gets anew. The body was read whole, so that there is nothing left to expect."""

CREDENTIALS: Final = frozenset({b"authorization", b"x-api-key"})

OWN: Final = b"x-toolcarry-"


def forwarded(headers: Iterable[tuple[bytes, bytes]], key: tuple[bytes, bytes] | None) -> Headers:
    """The headers for the upstream, of the client's; with ``key``, and without the client's, where there is one.

    >>> forwarded([(b"host", b"here"), (b"x-api-key", b"client's"), (b"accept", b"*/*")], (b"x-api-key", b"ours"))
    [(b'accept', b'*/*'), (b'x-api-key', b'ours')]
    """
    given = list(headers)
    dropped = OF_THIS_HOP | named_by_connection(given) | (CREDENTIALS if key else frozenset())
    kept = [
        (name, value) for name, value in given if name not in dropped and not name.startswith(OWN)
    ]
    return [*kept, key] if key else kept


def returned(headers: Iterable[tuple[bytes, bytes]]) -> Headers:
    """The headers for the client, of the upstream's; names in small letters.

    >>> returned([(b"Content-Type", b"text/event-stream"), (b"Transfer-Encoding", b"chunked")])
    [(b'content-type', b'text/event-stream')]
    """
    given = [(name.lower(), value) for name, value in headers]
    dropped = HOP_BY_HOP | named_by_connection(given)
    return [
        (name, value) for name, value in given if name not in dropped and not name.startswith(OWN)
    ]


def named_by_connection(headers: Iterable[tuple[bytes, bytes]]) -> frozenset[bytes]:
    """The headers that are this connection's because ``connection`` says so."""
    values = (value for name, value in headers if name == b"connection")
    return frozenset(named.strip().lower() for value in values for named in value.split(b","))


def key_header(upstream: Upstream) -> tuple[bytes, bytes] | None:
    """The header with the upstream's own key, where it has one; raises ``ConfigError`` where that is not set."""
    key = secret(upstream.api_key_env, f"serve.upstreams {upstream.name!r}: api_key_env").encode()
    if not key:
        return None
    return (
        (b"x-api-key", key)
        if upstream.shape == "anthropic"
        else (b"authorization", b"Bearer " + key)
    )
