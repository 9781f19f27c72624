"""Unpack the body of a request or an answer by its content codings, up to a limit."""

from __future__ import annotations

import zlib
from importlib.util import find_spec
from typing import Any, Final

from toolcarry._input.archive import zstandard

__all__ = ["CODINGS", "TooLargeError", "codings_of", "readable_codings", "unpack_body"]

CODINGS: Final = frozenset(("gzip", "x-gzip", "deflate", "zstd", "br"))
"""https://www.iana.org/assignments/http-parameters (content codings)"""
MOST_CODINGS: Final = 3
"""The maximum number of codings, one inside of another, that are unpacked."""


class TooLargeError(Exception):
    """A body is larger than the limit once it is unpacked."""


def readable_codings(accepted: str) -> str:
    """Return the codings of an ``accept-encoding`` that can be unpacked here; brotli needs its package.

    >>> readable_codings("gzip;q=0.5, snappy, *")
    'gzip;q=0.5'
    """
    known = CODINGS if find_spec("brotli") else CODINGS - {"br"}
    offered = [each.strip() for each in accepted.split(",")]
    kept = [each for each in offered if each.partition(";")[0].strip().lower() in known]
    return ", ".join(kept) or "identity"


def codings_of(header: str) -> list[str]:
    """Return the codings of a body, the last one outermost.

    >>> codings_of("gzip, ZSTD"), codings_of("identity"), codings_of("")
    (['gzip', 'zstd'], [], [])
    """
    found = (coding.strip().lower() for coding in header.split(","))
    return [coding for coding in found if coding not in ("", "identity")]


def unpack_body(
    body: bytes, codings: list[str], most: int, *, may_break_off: bool = False
) -> bytes | None:
    """Return the body without its codings; ``None`` if it is damaged, a coding is unknown, or brotli is not installed.

    With ``may_break_off``, the part that is there is returned of a body whose end is missing. Raises ``TooLargeError``
    as soon as it has more than ``most`` bytes.

    >>> import gzip
    >>> unpack_body(gzip.compress(b"{}"), ["gzip"], 100), unpack_body(b"{}", ["gzip"], 100)
    (b'{}', None)
    """
    if not CODINGS.issuperset(codings) or len(codings) > MOST_CODINGS:
        return None
    for coding in reversed(codings):
        unpacking = unpack_brotli if coding == "br" else unpack
        try:
            unpacked, is_whole = unpacking(body, coding, most)
        except (zlib.error, ImportError, EOFError, zstandard().ZstdError):
            return None
        if len(unpacked) > most:
            raise TooLargeError
        if not (is_whole or may_break_off):
            return None
        body = unpacked
    return body


def unpack(body: bytes, coding: str, most: int) -> tuple[bytes, bool]:
    """Return up to one byte more than allowed, and true if the end is there.

    There may be several members or frames, one after another.
    """
    parts: list[bytes] = []
    room = most + 1
    is_whole = True
    while body and room > 0 and is_whole:
        decoder = decoder_of(coding, body)
        parts.append(decoder.decompress(body, room))
        room -= len(parts[-1])
        is_whole = decoder.eof
        body = decoder.unused_data if is_whole else b""
    return b"".join(parts), is_whole


def decoder_of(coding: str, body: bytes) -> Any:
    if coding == "zstd":
        return zstandard().ZstdDecompressor()
    if coding == "deflate":
        # RFC 9110, 8.4.1.2: some send it without the zlib header, which is a multiple of 31 (RFC 1950, 2.2).
        is_framed = body[0] & 15 == 8 and int.from_bytes(body[:2], "big") % 31 == 0
        return zlib.decompressobj(15 if is_framed else -15)
    return zlib.decompressobj(31)


def unpack_brotli(body: bytes, _: str, most: int) -> tuple[bytes, bool]:
    import brotli  # noqa: PLC0415 - optional

    decoder = brotli.Decompressor()
    try:
        unpacked: bytes = decoder.process(body, output_buffer_limit=most + 1)
    except brotli.error:
        raise EOFError from None
    return unpacked, decoder.is_finished()
