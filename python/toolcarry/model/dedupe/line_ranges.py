"""Find the lines of a file that a read asks for, and later reads that hold them."""

from __future__ import annotations

from bisect import bisect_left

from toolcarry._data import read_table
from toolcarry._input.objects import JsonObject
from toolcarry.model.pairing.block import Entry

DEFAULT_READ = (1, 2_000)
"""The lines that a read without a range returns, which is the default of reading tools."""

TO_THE_END = 1 << 53
RANGE_KEYS: tuple[str, ...] = tuple(read_table("tool_arguments")["range_keys"])
MOST_DIGITS = 15
UNREADABLE = (0, 0)
"""A range in an unknown form: it neither holds another one nor is held."""
Read = tuple[int, int, Entry]
"""The first and the last line that a block read, and the block."""
MAX_RANGES = 256
"""The maximum number of ranges of one file that are remembered. A read that none of them covers stays, which is never wrong."""


def line_range(given: JsonObject) -> tuple[int, int] | None:
    """Return the lines that a read asks for, from 1, the last included; None if it names none."""
    if len(given) == 1:
        return None
    view = given.get("view_range")
    if isinstance(view, (list, tuple)) and len(view) == 2:
        first, last = line_number(view[0]), line_number(view[1])
        is_open = view[1].__class__ is int and view[1] == -1
        if first is not None and (last is not None or is_open):
            return max(first, 1), TO_THE_END if last is None else last
    first, last = line_number(given.get("start_line")), line_number(given.get("end_line"))
    if first is not None or last is not None:
        start = max(first or 1, 1)
        return start, start + DEFAULT_READ[1] - 1 if last is None else last
    offset, limit = given.get("offset"), given.get("limit")
    first, count = line_number(offset), line_number(limit)
    if (offset is not None and first is None) or (limit is not None and count is None):
        return UNREADABLE
    if first is not None or count is not None:
        start = max(first or 1, 1)
        return start, start + (count or DEFAULT_READ[1]) - 1
    return UNREADABLE if any(given.get(name) is not None for name in RANGE_KEYS) else None


def line_number(value: object) -> int | None:
    """Return ``value`` if it is a whole number that can be a line number."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= MOST_DIGITS:
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < TO_THE_END:
        return value
    return None


def find_covering(wanted: tuple[int, int], ranges: list[Read]) -> Entry | None:
    """Return the entry whose range holds ``wanted``. The ranges are sorted, and none holds another."""
    after = bisect_left(ranges, (wanted[0] + 1,))
    return ranges[after - 1][2] if after > 0 and ranges[after - 1][1] >= wanted[1] else None


def remember_range(read: Read, ranges: list[Read]) -> None:
    """Add a range that was read, and remove those that it holds."""
    first, last, _ = read
    if find_covering((first, last), ranges) is not None:
        return
    start = bisect_left(ranges, (first, last))
    end = start
    while end < len(ranges) and ranges[end][1] <= last:
        end += 1
    del ranges[start:end]
    if len(ranges) < MAX_RANGES:
        ranges.insert(start, read)
