"""Read a log of Inspect AI (``.eval``): a zip file with a header, and a JSON document for each sample.

Its members are packed with Zstandard, which ``zipfile`` reads from Python 3.14 on, so only the directory is read with it.
A log is somebody else's file: what it unpacks to is capped, and a damaged one is reported.
"""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path
from typing import Final

from toolcarry._input.archive import MAX_UNPACKED, unpack_zstandard
from toolcarry._input.json import dump, loads
from toolcarry.errors import InputError

__all__ = ["read_log", "samples_in"]

HEADERS: Final = ("header.json", "_journal/start.json")
"""The members with the facts about a run; the second one is there while it goes on."""
ZSTANDARD_METHOD: Final = 93
"""The number of Zstandard in a zip file (APPNOTE.TXT of PKWARE, 4.4.5)."""
LOCAL_HEADER: Final = 30
"""The bytes of a member's header before its name."""
MOST_LISTED: Final = 20


def read_log(path: Path, chosen: str | None = None) -> bytes:
    """Return a log with one sample as the JSON document that Inspect AI writes for it: the sample ``chosen``, or the only one.

    Raises ``OSError``, and ``InputError`` for another zip file, a damaged one, and several samples without a choice.
    """
    try:
        with path.open("rb") as file, zipfile.ZipFile(file) as log:
            header, samples = members_of(log)
            sample = samples[choose(list(samples), chosen)]
            data = path.read_bytes()
            facts = loads(unpack_member(data, header))
            if not isinstance(facts, dict):
                raise InputError("is a log of Inspect AI whose header is no object")
            start = dump({"eval": {}, **facts, "samples": []}).removesuffix(b"]}")
            return start + unpack_member(data, sample) + b"]}"
    except (zipfile.BadZipFile, UnicodeDecodeError, NotImplementedError) as error:
        raise InputError(f"damaged zip file: {error}") from None


def samples_in(path: Path) -> list[str]:
    """Return the names of the samples in a log. Raises as ``read_log`` does."""
    try:
        with path.open("rb") as file, zipfile.ZipFile(file) as log:
            return list(members_of(log)[1])
    except (zipfile.BadZipFile, UnicodeDecodeError, NotImplementedError) as error:
        raise InputError(f"damaged zip file: {error}") from None


def members_of(log: zipfile.ZipFile) -> tuple[zipfile.ZipInfo, dict[str, zipfile.ZipInfo]]:
    """Return the member with the facts about a run, and those with its samples, by their names."""
    members = {member.filename: member for member in log.infolist()}
    header = next((members[name] for name in HEADERS if name in members), None)
    samples = {
        name.removeprefix("samples/").removesuffix(".json"): member
        for name, member in members.items()
        if name.startswith("samples/") and name.endswith(".json")
    }
    if header is None or not samples:
        raise InputError("is a zip file, but not a log of Inspect AI with samples")
    return header, samples


def choose(names: list[str], chosen: str | None) -> str:
    """Return the name of the sample to read. Raises ``InputError`` if it is not there, or none of several is named."""
    listed = ", ".join(names[:MOST_LISTED]) + (", ..." if len(names) > MOST_LISTED else "")
    if chosen is None and len(names) > 1:
        raise InputError(f"contains {len(names)} samples; read one as FILE#NAME: {listed}")
    if chosen is not None and chosen not in names:
        raise InputError(f"has no sample {chosen!r:.80}; it has: {listed}")
    return names[0] if chosen is None else chosen


def unpack_member(data: bytes, member: zipfile.ZipInfo) -> bytes:
    """Return the bytes of a member of a zip file."""
    start = member.header_offset + LOCAL_HEADER
    lengths = data[start - 4 : start]  # of the name and of the extra field
    start += int.from_bytes(lengths[:2], "little") + int.from_bytes(lengths[2:], "little")
    packed = data[start : start + member.compress_size]
    if member.compress_type == ZSTANDARD_METHOD:
        return unpack_zstandard(packed, MAX_UNPACKED)
    if member.compress_type == zipfile.ZIP_STORED:
        return packed
    if member.compress_type != zipfile.ZIP_DEFLATED:
        raise InputError(f"has a member with the unknown compression {member.compress_type}")
    unpacker = zlib.decompressobj(wbits=-zlib.MAX_WBITS)
    try:
        found = unpacker.decompress(packed, MAX_UNPACKED)
    except zlib.error as error:
        raise InputError(f"damaged zip file: {error}") from None
    if not unpacker.eof:
        raise InputError("damaged zip file: the end of a member is missing, or it is too large")
    return found
