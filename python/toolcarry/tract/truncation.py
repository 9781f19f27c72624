"""Marks of truncation: texts and members by which a tool result says that a part of it is missing.

The marks are data (``_data/truncation.json``), each with the host or the tool that leaves it, and its place. A word
alone is no mark: a result that quotes one, such as a source file or a search through logs, has it in another place or
more than once. Nothing here changes text.

Some hosts cut in the middle (Codex, OpenHands, Gemini CLI), so the whole text is searched. Text without any word of
``cut_words`` has no mark; this test decides for nearly every text. A path in a mark is text of a tool, which may name
any file, so a mark alone is no reason to read it. A preview is recognised only by its metadata, or if its last line
counts the shown part correctly: it is refused, since the whole was at hand where it was made.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple

from toolcarry import _backend
from toolcarry._data import read_table
from toolcarry._input.json import loads_arguments
from toolcarry._input.objects import JsonObject, as_object

__all__ = [
    "MEMBERS",
    "Mark",
    "find_mark",
    "find_member",
    "has_preview",
    "is_part_of",
    "is_preview",
    "is_truncated",
]

MarkPlace = Literal["start", "ends", "end", "once", "whole"]

_TABLE: Final = read_table("truncation")
MEMBERS: Final[tuple[str, ...]] = tuple(_TABLE["members"])
REFERENCES: Final[tuple[str, ...]] = tuple(_TABLE["references"])
PREVIEW: Final = "preview"
"""The member of a preview's metadata that is true."""

END: Final = 4_000
"""The number of characters at each end of a text that are searched for a mark that must be there."""
LINES: Final = 8
"""The number of lines at each end of a text."""


class Mark(NamedTuple):
    """A mark in a result: the host or tool that left it, and where the whole is, if the mark says so."""

    of: str
    path: str = ""
    """The file in which the host kept the whole."""
    reference: str = ""
    """The id under which the host kept the whole."""


class _Known(NamedTuple):
    of: str
    at: MarkPlace
    pattern: re.Pattern[str]


def _compiled(mark: Mapping[str, str]) -> _Known:
    at: Any = mark["at"]
    tail = r"\s*\Z" if at == "end" else ""
    return _Known(mark["of"], at, re.compile(mark["pattern"] + tail, re.MULTILINE))


_KNOWN: Final = tuple(map(_compiled, _TABLE["marks"]))
_AT_ENDS: Final = tuple(known for known in _KNOWN if known.at != "once")
_ONCE: Final = tuple(known for known in _KNOWN if known.at == "once")
_ANY_ONCE: Final = re.compile("|".join(known.pattern.pattern for known in _ONCE))


def is_truncated(text: str) -> bool:
    """Return true if a text has a mark that it was cut, or is a marker of a superseded result.

    >>> is_truncated("line 1\\n... [truncated]"), is_truncated("3 passed")
    (True, False)
    >>> is_truncated('grep: "[... Observation truncated due to length ...]" is in 4 files')
    False
    """
    return find_mark(text) is not None


def is_part_of(cut: str, whole: str) -> bool:
    """True if a text that was cut is the beginning of the whole, its mark, and the end of the whole.

    One of the two may be missing, and blanks around the mark are not compared. A mark that stands for a whole text shows
    nothing of it, so it may stand for any.

    >>> is_part_of("line 1\\nli... [truncated]", "line 1\\nline 2"), is_part_of("row 1... [truncated]", "line 1")
    (True, False)
    """
    place = _place_of(cut)
    if place is None or place.known.at == "whole":
        return place is not None
    head, tail = cut[: place.start].rstrip(), cut[place.end :].lstrip()
    return (
        0 < len(head) + len(tail) <= len(whole) and whole.startswith(head) and whole.endswith(tail)
    )


def find_mark(text: str) -> Mark | None:
    """Return the mark of a text that was cut; ``None`` if it has none.

    >>> find_mark("Large output has been written to: /tmp/1.txt (36.7 KB, 1207 lines)")
    Mark(of='Cursor', path='/tmp/1.txt', reference='')
    """
    if not _backend.kernels.has_cut_word(text):
        return None
    place = _place_of(text)
    return _json_mark(text) if place is None else Mark(place.known.of, place.path)


class _MarkPlace(NamedTuple):
    known: _Known
    start: int
    end: int
    path: str = ""


def _place_of(text: str) -> _MarkPlace | None:
    return _place_at_ends(text) or _only_place(text)


def _place_at_ends(text: str) -> _MarkPlace | None:
    """Return the place of a mark at the beginning or the end of a text, or of the mark that the whole text is."""
    start, end = text[:END].lstrip(), text[-END:]
    start_at, end_at = len(text[:END]) - len(start), len(text) - len(end)
    first = "\n".join(start.split("\n")[:LINES])
    last = "\n".join(end.rstrip().split("\n")[-LINES:])
    for known in _AT_ENDS:
        pattern, offset = known.pattern, start_at
        if known.at == "start":
            found = pattern.match(start)
        elif known.at == "ends":
            found = pattern.search(first)
            if found is None:
                found, offset = pattern.search(last), end_at + len(end.rstrip()) - len(last)
        elif known.at == "end":
            found, offset = pattern.search(end), end_at
        else:
            found = pattern.fullmatch(start.rstrip()) if len(text) <= END else None
        if found is not None:
            path = found["path"] if "path" in pattern.groupindex else None
            return _MarkPlace(
                known, offset + found.start(), offset + found.end(), (path or "").strip()
            )
    return None


def _only_place(text: str) -> _MarkPlace | None:
    """Return the place of the mark between the two ends of a text, if it has exactly one. Several are quoted, as in a search."""
    all_found = _ANY_ONCE.finditer(text)
    first = next(all_found, None)
    if first is None or next(all_found, None) is not None:
        return None
    known = next(known for known in _ONCE if known.pattern.match(text, first.start()))
    return _MarkPlace(known, first.start(), first.end())


def _json_mark(text: str) -> Mark | None:
    """Return the mark of a text that is a JSON object, by its members."""
    if text[:END].lstrip()[:1] != "{" or not any(f'"{member}"' in text for member in MEMBERS):
        return None
    return find_member(loads_arguments(text))


def find_member(value: object) -> Mark | None:
    """Return the mark of an object, by its members; ``None`` if it has none.

    >>> find_member({"stdout": "line 1", "truncated": True, "logId": "log_7"})
    Mark(of='a member', path='', reference='log_7')
    >>> find_member({"files": [], "truncated": False}) is None
    True
    """
    given = as_object(value)
    if given is None or not any(_is_told(given.get(member)) for member in MEMBERS):
        return None
    named = (given.get(key) for key in REFERENCES)
    return Mark("a member", reference=next((it for it in named if it and isinstance(it, str)), ""))


def _is_told(value: object) -> bool:
    return value is True or (isinstance(value, str) and bool(value))


_PREVIEW_END: Final = re.compile(
    next(known.pattern.pattern for known in _KNOWN if "shown" in known.pattern.groupindex)
)


def is_preview(text: str) -> bool:
    """Return true if a text certainly is one of ``toolcarry.preview``: its last line counts the rest rightly.

    >>> is_preview("line 1\\n[toolcarry: preview, 6 of 900 characters; whole: t1]")
    True
    >>> is_preview("The log: line 1\\n[toolcarry: preview, 6 of 900 characters; whole: t1]")
    False
    """
    start = text.rfind("\n[toolcarry: preview, ", -END)
    found = _PREVIEW_END.match(text, start + 1) if start >= 0 else None
    return found is not None and int(found["shown"].replace(",", "")) == start


def has_preview(value: object) -> bool:
    """Return true if an object says that it is a preview, itself or in its metadata.

    >>> has_preview({"type": "tool_result", "content": "1", "metadata": {"preview": True, "shown": 1, "total": 9}})
    True
    """
    given = as_object(value)
    if given is None:
        return False
    metadata = given.get("metadata")
    return _tells_preview(given) or (metadata is not None and _tells_preview(as_object(metadata)))


def _tells_preview(held: JsonObject | None) -> bool:
    return held is not None and held.get(PREVIEW) is True and "shown" in held and "total" in held
