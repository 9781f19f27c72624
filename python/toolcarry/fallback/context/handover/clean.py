"""Clean the text of a result before a part of it is chosen: what it repeats, and what is not its own, goes or is counted.

Each step takes time linear in the text, and says what it leaves out unless a reader loses nothing by it: blocks of the
client, colours, progress, states of a line that was written over, the line with an exit code (which the heading of the step
names), and blank lines in a row. Of a long listing of files it names the columns that go.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from toolcarry.fallback.context.handover.kinds import TABLE
from toolcarry.fallback.context.handover.listings import LEFT_OUT, without_columns
from toolcarry.model.content.client_blocks import without_blocks
from toolcarry.model.content.terminal import is_drawn, settled
from toolcarry.model.dedupe.failure import ASIDES, MOST_LINES, SILENCES, exit_code_in
from toolcarry.model.text.sanitize import BREAKS, MARKER_TAIL, clean
from toolcarry.model.text.truncate import cut

_WRAPPERS: Final = tuple((start, end) for start, end in TABLE["wrappers"])
_CLIENT_LINES: Final[tuple[str, ...]] = tuple(TABLE["client_lines"])
_PROGRESS: Final[tuple[str, ...]] = tuple(TABLE["progress"])
_NOISE: Final[tuple[str, ...]] = tuple(TABLE["noise"])
_FOOTERS: Final[tuple[str, ...]] = tuple(TABLE["footers"])
_HEADERS: Final[tuple[str, ...]] = (*ASIDES, *TABLE["headers"])
_OUTPUT: Final = "Output:"
_FEWEST_ALIKE: Final = 8
_MOST_BLANK: Final = 3
"""One line in this number may be blank."""
_LONGEST_COMPARED: Final = 400
_LONGEST_PERIOD: Final = 3
_FEWEST_LETTERS: Final = 2
_NUMBER: Final = re.compile(r"(?<!#)\b[A-Za-z_]*+[0-9]\w*+", re.ASCII)
"""A word with a digit: a number, a time, or an id. One after a hash may be a colour, which is data."""
_KEY_BEGINS, _KEY_NAME, _KEY_ENDS = "-----BEGIN ", "PRIVATE KEY-----", "-----END "
_KEY_BODY: Final = re.compile(r"(?:[A-Za-z0-9+/=\\:,\"'|\u2192 \t\r\n]|-(?!----))*+")
"""The characters of a key's body with its headers, also in a string of code, and in lines with numbers."""
_KEY_CLOSED: Final = re.compile(r"-*+END ")
"""The end of a body. A diff may put one more dash before the line."""
_KEY_LINE: Final = re.compile(r"[A-Za-z0-9+/=]{40,}+")
"""A line of a body. Words of a text are shorter, and so are placeholders."""
_KEY: Final = "(private key left out)"
_GAP: Final = " […] "
"""The sign in place of the middle of a line. It is in no command."""
_SHORTEST_ECHO: Final = 12
_LONGEST_WORD: Final = 16
"""The characters that a cut may leave out so that it splits no word."""


class Output(NamedTuple):
    """A cleaned result: its text, the exit code that it says (empty if none), and what was left out, in words.

    ``frame`` counts the lines around it: those of a harness or a client, and empty ones at both ends.
    """

    text: str
    code: str
    left_out: str
    frame: int


def short_line(text: str, longest: int) -> str:
    """Return a text as one clean line of at most ``longest`` characters. Of a longer one most of the beginning is shown, and
    its end.

    >>> short_line("error: the file that was asked for is not there: /a/b/c.py", 40)
    'error: the file that was […] /a/b/c.py'
    """
    if len(text) <= longest and text.isprintable() and MARKER_TAIL not in text:
        return text
    if len(text) > 4 * longest:
        text = _without_middle(text, 4 * longest)
    text = clean(text).translate(BREAKS)
    return text if len(text) <= longest else _without_middle(text, longest)


def _without_middle(text: str, longest: int) -> str:
    room = longest - len(_GAP)
    end, _ = cut(text, room - room // 3, "head")
    _, start = cut(text, room // 3, "tail")
    blank = text.rfind(" ", max(end - _LONGEST_WORD, 1), end + 1)
    end = end if blank < 0 else blank
    blank = text.find(" ", start - 1, start + _LONGEST_WORD)
    start = start if blank < 0 else blank + 1
    return f"{text[:end]}{_GAP}{text[start:]}"


def clean_output(text: str, *, folds: bool = True) -> Output:
    """Return what a command or another tool printed, cleaned. The text of a file is cleaned by ``clean_file``.

    Lines that are alike become one only if it ``folds``.
    """
    count = text.count("\n")
    text = without_blocks(text)
    if is_drawn(text):
        text = settled(text)
    elif "\r" in text:
        text = text.replace("\r\n", "\n")
    text, code = _without_exit(without_keys(text).strip("\n"))
    text = _without_footers(_unwrapped(text))
    frame = count - text.count("\n")
    if text in SILENCES:
        return Output("", code, "", frame)
    if not text or text[0] in "[{":
        return Output(text, code, "", frame)
    lines = [
        line
        for line in text.split("\n")
        if not line.startswith(_CLIENT_LINES) and not any(part in line for part in _PROGRESS)
    ]
    blank = sum([not line.strip() for line in lines])
    if _MOST_BLANK * blank > len(lines):  # they hold lines apart that are alike
        lines = [line for line in lines if line.strip()]
    kept = [line for line in lines if not any(part in line for part in _NOISE)]
    left_out = f"{len(lines) - len(kept)} lines of the shell about fork" * (len(kept) < len(lines))
    kept = _single_blanks(kept)
    entries = without_columns(kept)
    if entries is not None:
        left_out = f"{left_out}; {LEFT_OUT}" if left_out else LEFT_OUT
        return Output("\n".join(entries).strip("\n"), code, left_out, frame)
    cleaned = "\n".join(fold_alike(kept) if folds else kept).strip("\n")
    return Output(cleaned, code, left_out, frame)


def without_echo(text: str, command: str) -> str:
    """Return what a command printed, without the command before it, which a terminal repeats and may break into lines.

    >>> without_echo("git log --one\\nline -3\\n353c5cc Merge", "git log --oneline -3")
    '353c5cc Merge'
    """
    words = "".join(command.split())
    if len(words) < _SHORTEST_ECHO:
        return text
    at = 0
    for sign in words:
        while text[at : at + 1].isspace():
            at += 1
        if text[at : at + 1] != sign:
            return text
        at += 1
    rest = text[at:].lstrip(" \t\r")
    return rest.lstrip("\n") if not rest or rest[0] == "\n" else text


def clean_file(text: str) -> str:
    """Return the text of a file, without blocks of the client and private keys. No line is added or removed within."""
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    return without_keys(without_blocks(text))


def printed_file(text: str) -> str:
    """Return the text of a file that a command printed, without what the harness adds."""
    return _without_exit(clean_file(text).rstrip("\n"))[0]


def without_keys(text: str) -> str:
    """Return a text without the bodies of private keys. The number of its lines stays.

    >>> without_keys(f"-----BEGIN PRIVATE KEY-----\\n{'MIIE' * 16}\\nabc\\n-----END PRIVATE KEY-----")
    '-----BEGIN PRIVATE KEY-----\\n(private key left out)\\n\\n-----END PRIVATE KEY-----'
    >>> without_keys('"-----BEGIN PRIVATE KEY-----" in text')
    '"-----BEGIN PRIVATE KEY-----" in text'
    """
    at = text.find(_KEY_NAME)
    if at < 0:
        return text
    kept: list[str] = []
    done = 0
    while at >= 0:
        body = at + len(_KEY_NAME)
        start = text.rfind(_KEY_BEGINS, max(done, at - 40), at)
        if start >= 0 and "\n" not in text[start:at]:
            end = _key_end(text, body)
            if end == body:
                at = text.find(_KEY_NAME, body)
                continue
            breaks = text.count("\n", body, end)
            kept += [text[done:body], "\n" * (breaks > 0), _KEY, "\n" * (breaks - 1)]
            done = body = end
            if text.startswith(_KEY_ENDS, end):
                line_end = text.find("-----", end + len(_KEY_ENDS))
                body = len(text) if line_end < 0 else line_end
        at = text.find(_KEY_NAME, body + 1)
    return "".join([*kept, text[done:]])


def _key_end(text: str, body: int) -> int:
    """Return the end of the body of a private key that begins at a place; this place if no key is there.

    A body without an end, as in a text that was cut, ends with the last of its long lines.
    """
    found = _KEY_BODY.match(text, body)
    end = body if found is None else found.end()
    last = body
    for line in _KEY_LINE.finditer(text, body, end):
        last = line.end()
    return end if last > body and _KEY_CLOSED.match(text, end) else last


def _without_exit(text: str) -> tuple[str, str]:
    """Return a text without the lines of a harness about an exit code, and the code; empty if it says none."""
    at, code, is_headed = 0, "", False
    for _ in range(MOST_LINES):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        line = text[at:end]
        found = exit_code_in(line)
        if not found and not line.startswith(_HEADERS):
            break
        code = code or found
        at = end + 1
        if line == _OUTPUT:
            is_headed = True
            break
        if at > len(text):
            break
    if code or is_headed:
        return text[at:].strip("\n"), code
    end = len(text)
    for _ in range(MOST_LINES):
        start = text.rfind("\n", 0, end) + 1
        code = exit_code_in(text[start:end])
        if code:
            return text[: max(start - 1, 0)].rstrip("\n"), code
        if not start or not text.startswith(ASIDES, start):
            break
        end = start - 1
    return text, ""


def _without_footers(text: str) -> str:
    """Return a text without the last lines in which a harness says where its shell is."""
    while text:
        start = text.rfind("\n") + 1
        if not text.startswith(_FOOTERS, start):
            break
        text = text[: max(start - 1, 0)].rstrip("\n")
    return text


def _unwrapped(text: str) -> str:
    """Return the text inside of a tag around the whole."""
    for start, end in _WRAPPERS:
        if text.startswith(start) and text.endswith(end):
            return text[len(start) : len(text) - len(end)].strip("\n")
    return text


def _single_blanks(lines: list[str]) -> list[str]:
    """Return lines in which no two blank ones follow each other."""
    found: list[str] = []
    was_blank = False
    for line in lines:
        is_blank = not line.strip()
        if not (is_blank and was_blank):
            found.append(line)
        was_blank = is_blank
    return found


def fold_alike(lines: list[str]) -> list[str]:
    """Return lines with a count in place of those that repeat the ones before, except for numbers and ids.

    One, two or three lines may repeat. The first and the last of them stay; the count is a part of an example, so that no
    other shortening parts them.

    >>> fold_alike([f"{number}: waiting" for number in range(40)])
    ['0: waiting [and 38 lines like this, but for numbers]', '39: waiting']
    """
    if len(lines) < _FEWEST_ALIKE:
        return lines
    forms = [_form(line) for line in lines]
    found: list[str] = []
    at = 0
    while at < len(lines):
        period, count = _repeated(forms, at)
        if not period:
            found.append(lines[at])
            at += 1
            continue
        repeated = lines[at : at + count]
        left_out = count - 2 * period
        found += repeated[:period]
        if period == 1 and len(set(repeated)) == 1:
            found[-1] += f" [and {count - 1} times the same line]"
        else:
            these = "this" if period == 1 else "these"
            found[-1] += f" [and {left_out} lines like {these}, but for numbers]"
            found += repeated[count - period :]
        at += count
    return found


def _repeated(forms: list[str], start: int) -> tuple[int, int]:
    """Return how many forms repeat from a place on, and how many lines that are; zeros if too few."""
    for period in range(1, _LONGEST_PERIOD + 1):
        if not all(forms[start : start + period]):
            break
        end = start + period
        while end < len(forms) and forms[end] == forms[end - period]:
            end += 1
        count = (end - start) // period * period
        if count >= max(_FEWEST_ALIKE, 3 * period):
            return period, count
    return 0, 0


def _form(line: str) -> str:
    """Return a line with 0 for each number or id; empty if that is all that it has, which may be data."""
    if len(line) > _LONGEST_COMPARED:
        return line
    form = _NUMBER.sub("0", line)
    return form if sum(map(str.isalpha, form)) > _FEWEST_LETTERS else ""
