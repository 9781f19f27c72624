"""Write the grapheme table, and the cases that test it, from Unicode's data files.

    python rust/tools/make_graphemes.py /usr/share/unicode

The folder is laid out as Debian's package ``unicode-data`` lays it out.  Two files are written:
``python/toolcarry/_data/graphemes.txt``, which both backends read, and
``tests/cases/grapheme_breaks.txt``.  The same data give the same bytes.

Guaranteed: every code point has one class, and the Hangul syllables, which the table holds as one
range, alternate between LV and LVT exactly as the backends compute it; data that say otherwise
raise ``ValueError`` and nothing is written.  Left out: the property Indic_Conjunct_Break, by which
Unicode 15.1 and later join Indic conjuncts (rule GB9c); a newer version needs that rule first.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TABLE = ROOT / "python" / "toolcarry" / "_data" / "graphemes.txt"
CASES = ROOT / "tests" / "cases" / "grapheme_breaks.txt"

BREAK_PROPERTY = "auxiliary/GraphemeBreakProperty.txt"
BREAK_TEST = "auxiliary/GraphemeBreakTest.txt"
EMOJI_DATA = "emoji/emoji-data.txt"

LAST_VERSION_WITHOUT_GB9C = (15, 0)
HANGUL_FIRST, HANGUL_LAST, HANGUL_BLOCK = 0xAC00, 0xD7A3, 28

LETTERS = {
    "CR": "R",
    "LF": "N",
    "Control": "C",
    "Extend": "E",
    "ZWJ": "Z",
    "Regional_Indicator": "F",
    "Prepend": "P",
    "SpacingMark": "S",
    "L": "L",
    "V": "V",
    "T": "T",
    "LV": "H",
    "LVT": "H",
    "Extended_Pictographic": "X",
}

TABLE_HEADER = """\
The grapheme cluster class of every code point that has one: what both backends cut text by.
Made by rust/tools/make_graphemes.py; do not edit.

Unicode {version}, from GraphemeBreakProperty.txt (all classes) and emoji-data.txt (X), modified:
only classes are kept, as letters, and neighbouring ranges of one class are one.

A line is a range of code points in hex, ends included, and its class:
  R CR    N LF    C Control    E Extend    Z ZWJ    F Regional_Indicator (half a flag)
  P Prepend    S SpacingMark    X Extended_Pictographic    L V T Hangul jamo
  H Hangul syllable: LV where its distance from the first is a multiple of 28, else LVT
What no line names is Other.
"""

CASES_HEADER = """\
The test cases of Unicode {version} for grapheme clusters.
Made by rust/tools/make_graphemes.py; do not edit.

From GraphemeBreakTest.txt, modified: comments are left out, and a line is a text as code points
in hex where " | " stands for a boundary and " " for none.
"""

# The licence asks that its text stands with the data, and both files leave the tree on their own:
# one in the wheel and the crate, the other in the source archive.
NOTICE = """\
UNICODE LICENSE V3

COPYRIGHT AND PERMISSION NOTICE

Copyright © 1991-2023 Unicode, Inc.

NOTICE TO USER: Carefully read the following legal agreement. BY
DOWNLOADING, INSTALLING, COPYING OR OTHERWISE USING DATA FILES, AND/OR
SOFTWARE, YOU UNEQUIVOCALLY ACCEPT, AND AGREE TO BE BOUND BY, ALL OF THE
TERMS AND CONDITIONS OF THIS AGREEMENT. IF YOU DO NOT AGREE, DO NOT
DOWNLOAD, INSTALL, COPY, DISTRIBUTE OR USE THE DATA FILES OR SOFTWARE.

Permission is hereby granted, free of charge, to any person obtaining a
copy of data files and any associated documentation (the "Data Files") or
software and any associated documentation (the "Software") to deal in the
Data Files or Software without restriction, including without limitation
the rights to use, copy, modify, merge, publish, distribute, and/or sell
copies of the Data Files or Software, and to permit persons to whom the
Data Files or Software are furnished to do so, provided that either (a)
this copyright and permission notice appear with all copies of the Data
Files or Software, or (b) this copyright and permission notice appear in
associated Documentation.

THE DATA FILES AND SOFTWARE ARE PROVIDED "AS IS", WITHOUT WARRANTY OF ANY
KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF
MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT OF
THIRD PARTY RIGHTS.

IN NO EVENT SHALL THE COPYRIGHT HOLDER OR HOLDERS INCLUDED IN THIS NOTICE
BE LIABLE FOR ANY CLAIM, OR ANY SPECIAL INDIRECT OR CONSEQUENTIAL DAMAGES,
OR ANY DAMAGES WHATSOEVER RESULTING FROM LOSS OF USE, DATA OR PROFITS,
WHETHER IN AN ACTION OF CONTRACT, NEGLIGENCE OR OTHER TORTIOUS ACTION,
ARISING OUT OF OR IN CONNECTION WITH THE USE OR PERFORMANCE OF THE DATA
FILES OR SOFTWARE.

Except as contained in this notice, the name of a copyright holder shall
not be used in advertising or otherwise to promote the sale, use or other
dealings in these Data Files or Software without prior written
authorization of the copyright holder.
"""


def read_version(text: str) -> str:
    """Return the version that the first line of a data file names, such as ``15.0.0``."""
    found = re.match(r"# \w+-(\d+)\.(\d+)\.(\d+)\.txt", text)
    if found is None:
        raise ValueError("the first line names no Unicode version")
    major, minor, update = (int(part) for part in found.groups())
    if (major, minor) > LAST_VERSION_WITHOUT_GB9C:
        raise ValueError(f"Unicode {major}.{minor} has rule GB9c, which the backends lack")
    return f"{major}.{minor}.{update}"


def read_properties(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield first code point, last code point and property of every line of a property file."""
    for line in text.splitlines():
        fields = line.partition("#")[0].split(";")
        if len(fields) == 2:
            first, _, last = fields[0].strip().partition("..")
            yield int(first, 16), int(last or first, 16), fields[1].strip()


def read_classes(folder: Path) -> dict[int, str]:
    """Return the class letter of every code point that is not Other."""
    letters: dict[int, str] = {}
    for name in (BREAK_PROPERTY, EMOJI_DATA):
        for first, last, value in read_properties((folder / name).read_text("utf-8")):
            if name == EMOJI_DATA and value != "Extended_Pictographic":
                continue
            for code in range(first, last + 1):
                if letters.setdefault(code, LETTERS[value]) != LETTERS[value]:
                    raise ValueError(f"U+{code:04X} has two classes")
                check_hangul(code, value)
    return letters


def check_hangul(code: int, value: str) -> None:
    """Raise if LV and LVT stand elsewhere than where the backends compute them."""
    expected = ""
    if HANGUL_FIRST <= code <= HANGUL_LAST:
        expected = "LVT" if (code - HANGUL_FIRST) % HANGUL_BLOCK else "LV"
    if expected != (value if value in {"LV", "LVT"} else ""):
        raise ValueError(f"U+{code:04X} is not the Hangul syllable that arithmetic makes it")


def merge_ranges(letters: dict[int, str]) -> Iterator[tuple[int, int, str]]:
    """Yield the longest ranges of one class, in order."""
    codes = sorted(letters)
    first = codes[0]
    for code, following in zip(codes, [*codes[1:], -1], strict=True):
        if following != code + 1 or letters[following] != letters[first]:
            yield first, code, letters[first]
            first = following


def format_range(first: int, last: int, letter: str) -> str:
    """Return a line of the table."""
    return f"{first:04X}..{last:04X} {letter}" if first != last else f"{first:04X} {letter}"


def format_case(line: str) -> str:
    """Return a test case as ``CODE CODE | CODE``; empty for a line without one."""
    case = line.partition("#")[0].replace("\u00f7", "|").replace("\u00d7", " ")
    return " ".join(case.split()).strip("| ")


def format_header(text: str) -> str:
    """Return a text as comment lines, the licence notice after it."""
    lines = [*text.splitlines(), "", *NOTICE.splitlines()]
    return "".join(f"# {line}".rstrip() + "\n" for line in lines) + "\n"


def make_table(folder: Path) -> str:
    """Return the contents of the table."""
    version = read_version((folder / BREAK_PROPERTY).read_text("utf-8"))
    lines = [format_range(*found) + "\n" for found in merge_ranges(read_classes(folder))]
    return format_header(TABLE_HEADER.format(version=version)) + "".join(lines)


def make_cases(folder: Path) -> str:
    """Return the contents of the file of test cases."""
    text = (folder / BREAK_TEST).read_text("utf-8")
    lines = [case + "\n" for case in map(format_case, text.splitlines()) if case]
    return format_header(CASES_HEADER.format(version=read_version(text))) + "".join(lines)


def main(arguments: list[str]) -> int:
    """Write both files from the folder that the arguments name; return the exit code."""
    if len(arguments) != 1:
        sys.stderr.write("usage: make_graphemes.py FOLDER\n")
        return 2
    folder = Path(arguments[0])
    table, cases = make_table(folder), make_cases(folder)
    TABLE.write_text(table, "utf-8", newline="\n")
    CASES.write_text(cases, "utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
