"""Find the places where a text may be cut: between extended grapheme clusters (UAX #29).

Guaranteed: the boundaries are those of one table, ``_data/graphemes.txt``, which the
Rust core reads too, so that both backends cut alike whatever Unicode version Python or Rust have.
A call takes time linear in the text at worst, and seldom reads more than a few characters.
Any ``str`` is accepted; a lone surrogate has the class that Unicode gives it, Other.  The table is
read when a character beyond U+02FF is first met, not on import.

Left out: rule GB9c (Indic conjuncts), which is younger than the table's Unicode 15.0; tailoring by
language; and a list of clusters, which nothing here needs.

The twins are ``rust/core/src/text/graphemes.rs`` and, for the table, ``grapheme_table.rs``: the same
functions in the same order.
"""

from bisect import bisect_right
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

from toolcarry._data import FOLDER

# Below it no character joins another except CR and LF, and no table is needed to know it.
_FIRST_JOINING: Final = "\u0300"

# The syllables with the same first two jamo: one without a final consonant, 27 with one.
_HANGUL_BLOCK: Final = 28

# The classes are the letters of the table, and LV and LVT in place of its H.
_OTHER: Final = ""
_EXTEND: Final = "E"
_ZWJ: Final = "Z"
_REGIONAL_INDICATOR: Final = "F"
_PREPEND: Final = "P"
_PICTOGRAPHIC: Final = "X"
_HANGUL_SYLLABLE: Final = "H"

_CONTROLS: Final = frozenset({"R", "N", "C"})
_TRAILING: Final = frozenset({_EXTEND, _ZWJ, "S"})
_HANGUL_AFTER: Final = {
    "L": frozenset({"L", "V", "LV", "LVT"}),
    "V": frozenset({"V", "T"}),
    "LV": frozenset({"V", "T"}),
    "T": frozenset({"T"}),
    "LVT": frozenset({"T"}),
}
_NO_CLASSES: Final[frozenset[str]] = frozenset()


def floor_boundary(text: str, index: int) -> int:
    r"""Return the greatest grapheme boundary that is not above an index.

    Source: UAX #29, "Grapheme Cluster Boundaries".

    Args:
        text: any text.
        index: a count of code points, not negative; beyond the end it means the end.

    Returns:
        A number of code points; 0 and ``len(text)`` are boundaries.

    >>> floor_boundary("ne\u0301e", 2)
    1
    """
    index = min(index, len(text))
    while not is_boundary(text, index):
        index -= 1
    return index


def ceil_boundary(text: str, index: int) -> int:
    r"""Return the least grapheme boundary that is not below an index.

    Arguments and source are those of `floor_boundary`.

    >>> ceil_boundary("ne\u0301e", 2)
    3
    """
    index = min(index, len(text))
    while not is_boundary(text, index):
        index += 1
    return index


def is_boundary(text: str, index: int) -> bool:
    r"""Return true if a string may be cut before the character at an index.

    >>> is_boundary("a\r\nb", 2)
    False
    """
    if index <= 0 or index >= len(text):
        return True
    left, right = text[index - 1], text[index]
    if left < _FIRST_JOINING and right < _FIRST_JOINING:
        return left != "\r" or right != "\n"
    return not _is_joined(text, index, _class_of(left), _class_of(right))


def _is_joined(text: str, index: int, left: str, right: str) -> bool:
    """Return whether a rule of UAX #29 joins two characters of these classes at an index."""
    if left in _CONTROLS or right in _CONTROLS:
        return left == "R" and right == "N"  # GB3, GB4, GB5
    if right in _TRAILING or left == _PREPEND:
        return True  # GB9, GB9a, GB9b
    if right == _PICTOGRAPHIC:
        return left == _ZWJ and _has_pictograph_before(text, index - 1)  # GB11
    if right == _REGIONAL_INDICATOR:
        return _count_indicators_before(text, index) % 2 == 1  # GB12, GB13
    return right in _HANGUL_AFTER.get(left, _NO_CLASSES)  # GB6, GB7, GB8


# Both look back over a whole run, and the walks above are linear all the same: the runs that successive
# calls read do not overlap, except that two calls may read the same row of flags.


def _has_pictograph_before(text: str, index: int) -> bool:
    """Return whether a pictograph precedes an index, with only Extend between."""
    while index > 0:
        found = _class_of(text[index - 1])
        if found != _EXTEND:
            return found == _PICTOGRAPHIC
        index -= 1
    return False


def _count_indicators_before(text: str, index: int) -> int:
    """Return the number of regional indicators directly before an index."""
    count = 0
    while count < index and _class_of(text[index - count - 1]) == _REGIONAL_INDICATOR:
        count += 1
    return count


# The long runs that make a walk long repeat few characters, hence the cache.
@lru_cache(maxsize=1024)
def _class_of(character: str) -> str:
    """Return the class of a character."""
    starts, letters = _load_table()
    code = ord(character)
    stretch = bisect_right(starts, code) - 1
    if letters[stretch] == _HANGUL_SYLLABLE:
        return "LVT" if (code - starts[stretch]) % _HANGUL_BLOCK else "LV"
    return letters[stretch]


@cache
def _load_table() -> tuple[list[int], list[str]]:
    """Return where each stretch of one class begins, and its letter; they cover all of Unicode."""
    return _parse_table(Path(FOLDER, "graphemes.txt").read_text("utf-8"))


def _parse_table(table: str) -> tuple[list[int], list[str]]:
    """Return the starts and letters of the stretches that the lines of a table describe."""
    starts, letters = [0], [_OTHER]
    for line in table.splitlines():
        if not line or line.startswith("#"):
            continue
        codes, _, letter = line.partition(" ")
        first, _, last = codes.partition("..")
        if starts[-1] == int(first, 16):  # no gap: the range replaces the Other that would fill it
            starts.pop()
            letters.pop()
        starts += int(first, 16), int(last or first, 16) + 1
        letters += letter, _OTHER
    return starts, letters
