"""Read a conversation from a path: a file, a store with several conversations, a session with outputs kept in files.

Claude Code writes a large output into ``SESSION/tool-results/NAME.txt`` next to ``SESSION.jsonl``, and a preview of it
into the session. The path in the preview is a tool's text and may name any file, so only its last part is used: the
file must be a regular one in the session's own folder, may not be reached by a link that leads elsewhere, has a limited
size, and must begin as the preview does. Everything else stays a preview, and is reported.
"""

from __future__ import annotations

import os
import re
import stat
from collections import Counter
from pathlib import Path
from typing import Any, Final, NamedTuple

from toolcarry._input.archive import HEADING, SQLITE, ZIP, first_bytes, is_zip, read_file
from toolcarry._input.document import held_message, loads_line
from toolcarry._input.json import dump
from toolcarry._input.objects import JsonObject, as_list, as_object, first_given
from toolcarry.errors import InputError

__all__ = [
    "MAX_STORED",
    "PREVIEW",
    "Source",
    "check_content",
    "ids_in",
    "is_plain",
    "read_source",
    "reason_of",
]

PREVIEW: Final = "<persisted-output>"
"""The beginning of a result of which Claude Code keeps the whole elsewhere."""
MAX_STORED: Final = 64 << 20
"""The largest stored output that is read, and the most that those of one session may have together."""
PLACE: Final = re.compile(r"saved to: ([^\n]+)")
SHOWN: Final = re.compile(r"\n\nPreview[^\n]*\n([^\n]*)\n")
"""The first line of a preview."""
FLAGS: Final = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)


class Source(NamedTuple):
    """The bytes of a conversation that was read from a path."""

    body: bytes
    remarks: tuple[str, ...] = ()
    """Notes on how the file was read, such as outputs that were found in other files."""


def read_source(path: Path) -> Source:
    """Return the conversation of a path. ``FILE#ID`` names one of a SQLite store, or one of a log of Inspect AI.

    Raises ``OSError``, and ``InputError`` as ``read_file`` does, and for a store that is not known.
    """
    store, chosen = split(path)
    if store is not None and is_zip(store):
        from toolcarry._input.eval_log import read_log  # noqa: PLC0415 - imports zipfile

        return Source(read_log(store, chosen))
    if store is not None:
        from toolcarry._input.stores import read_store  # noqa: PLC0415 - imports sqlite3

        return Source(*read_store(store, chosen))
    return with_stored_outputs(read_file(path), path)


def ids_in(path: Path) -> list[str]:
    """Return the ids of the conversations in a store, the newest first, or of the samples in a log of Inspect AI.

    There is none for another file, and for one conversation of a store.
    """
    store, chosen = split(path)
    if store is None or chosen is not None:
        return []
    if is_zip(store):
        from toolcarry._input.eval_log import samples_in  # noqa: PLC0415 - imports zipfile

        return samples_in(store)
    from toolcarry._input.stores import ids_in_store  # noqa: PLC0415 - imports sqlite3

    return ids_in_store(store)


NOTHING: Final = re.compile(rb"\s*\{\s*\}\s*")
YAML: Final = re.compile(
    rb"(?:---\s+)?(?:version: 1\s+|recorded_with: [^\n]*\s+)?(?:http_)?interactions:\s"
)
"""The beginning of a cassette of VCR, which writes YAML unless it is told to write JSON."""


def check_content(data: bytes) -> bytes:
    """Return the bytes of a conversation. Raises ``InputError`` if they are empty, blank, an empty object, or YAML."""
    if not data or data.isspace():
        raise InputError("is empty", None)
    if len(data) < 100 and NOTHING.fullmatch(data):
        raise InputError("is not a conversation, but an empty object", None)
    if YAML.match(data):
        raise InputError("is a YAML cassette, which toolcarry can't read; record it as JSON", None)
    return data


def reason_of(error: OSError) -> str:
    """Return the reason for which a path can't be read, as reports show it.

    >>> reason_of(FileNotFoundError(2, "No such file or directory"))
    'no such file'
    """
    if isinstance(error, (FileNotFoundError, NotADirectoryError)):
        return "no such file"
    if isinstance(error, IsADirectoryError):
        return "is a directory without events"
    return f"cannot read: {error.strerror or error}"


def is_plain(path: Path) -> bool:
    """Return true if the bytes of a file are all of its conversation, so that a backend may read it by itself.

    It may have to be read again for an importer, so that a pipe is not plain.
    """
    folder = folder_of(path)
    is_whole = split(path)[0] is None and not first_bytes(path).startswith(HEADING)
    is_kept = path.is_file() or path.is_dir()
    return is_kept and is_whole and (folder is None or not folder.is_dir())


def split(path: Path) -> tuple[Path | None, str | None]:
    """Return the store or the zip file that a path names, and the id after it; ``None`` for another file, and without an id."""
    if first_bytes(path).startswith((SQLITE, ZIP)):
        return path, None
    name, mark, chosen = str(path).rpartition("#")
    if mark and first_bytes(Path(name)).startswith((SQLITE, ZIP)):
        return Path(name), chosen
    return None, None


def folder_of(path: Path) -> Path | None:
    """Return the folder for the stored outputs of a session, or of the sub-agents of one."""
    if path.suffix != ".jsonl":
        return None
    real = Path(os.path.realpath(path))
    if real.parent.name == "subagents":
        return real.parent.parent / "tool-results"
    return real.with_suffix("") / "tool-results"


def with_stored_outputs(body: bytes, path: Path) -> Source:
    """Return a session with the stored outputs in place of their previews, unless the line itself has the whole."""
    folder = folder_of(path)
    if folder is None or PREVIEW.encode() not in body:
        return Source(body)
    lines = body.split(b"\n")
    filled = 0
    left: Counter[tuple[str, str]] = Counter()
    room = MAX_STORED
    for number, line in enumerate(lines):
        found = preview_in(line)
        if found is None:
            continue
        record, result, text = found
        whole, reason = read_stored(folder, text, room)
        if reason:
            left["cut" if held_output(record) else "previews", reason] += 1
            continue
        filled += 1
        room -= len(whole)
        result["content"] = whole
        lines[number] = dump(record)
    remarks = [f"{filled} stored outputs read from {folder}"] if filled else []
    remarks += [f"{count} results are {kind}: {reason}" for (kind, reason), count in left.items()]
    return Source(b"\n".join(lines) if filled else body, tuple(remarks))


def preview_in(line: bytes) -> tuple[dict[str, Any], dict[str, Any], str] | None:
    """Return the record of a line, its only result, and the text of that, if it is a preview without its whole."""
    if PREVIEW.encode() not in line:
        return None
    record = loads_line(line)
    message = held_message(record or {}) or {}
    content = message.get("content")
    results = [
        part
        for part in (content if isinstance(content, list) else ())
        if isinstance(part, dict) and part.get("type") == "tool_result"
    ]
    if record is None or len(results) != 1:
        return None
    text = results[0].get("content")
    if isinstance(text, list) and len(text) == 1:
        text = (as_object(text[0]) or {}).get("text")
    if not (isinstance(text, str) and text.startswith(PREVIEW)):
        return None
    whole = held_output(record)
    is_whole = bool(whole) and not is_cut(record, whole)
    return None if is_whole else (record, results[0], text)


def held_output(record: JsonObject) -> str | list[Any]:
    """Return the output that a record of Claude Code has next to its message; empty if there is none."""
    held = record.get("toolUseResult")
    tool_result = as_object(held)
    if tool_result is not None:
        held = first_given(tool_result, "stdout", "content", "result")
    elif isinstance(held, str):  # a message about the call
        return ""
    if isinstance(held, str):
        return held
    parts = as_list(held) or ()
    first = (as_object(parts[0]) or {}).get("text") if parts else ""
    return list(parts) if isinstance(first, str) and first else ""


def is_cut(record: JsonObject, output: str | list[Any]) -> bool:
    """Return true if only the stored file has all of an output: a record has up to 30,000 characters of a shell's."""
    size = (as_object(record.get("toolUseResult")) or {}).get("persistedOutputSize")
    return (
        type(size) is int
        and isinstance(output, str)
        and size > len(output.encode("utf-8", "replace"))
    )


def read_stored(folder: Path, preview: str, room: int) -> tuple[str, str]:
    """Return a stored output, or the reason why it is not read."""
    place = PLACE.search(preview)
    name = place[1].strip().replace("\\", "/").rpartition("/")[2] if place else ""
    if name in ("", ".", "..") or "\0" in name:
        return "", "they name no file"
    inside = folder.parent
    real = Path(os.path.realpath(folder / name))
    if not real.is_relative_to(inside):
        return "", "their files are outside of the session's folder"
    try:
        descriptor = os.open(real, FLAGS)
    except (OSError, ValueError):
        return "", "their files cannot be read"
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        return "", "their files are not regular ones"
    with os.fdopen(descriptor, "rb") as file:
        data = file.read(room + 1)
    if len(data) > room:
        return "", f"their files have more than {MAX_STORED:,} bytes together"
    text = data.decode("utf-8", "replace")
    shown = SHOWN.search(preview)
    if shown is None or not text.startswith(shown[1].rstrip("\r")):
        return "", "their files do not begin like the preview"
    return text, ""
