"""Judge results without an error flag: certainly failed, doubtful, or a success.

Many formats have no flag, and tools say in words that they failed. The known forms are in ``_data/failures.json``. A form
counts by its place and by the length of the whole: a message of a few words is the failure, while a log or a file
that holds the same words is an answer. A certain failure is treated like one with a flag. A doubtful result
supersedes no success, so that the older success stays next to it.

::

    "Error: ENOENT: no such file ..."            failed      a message of a few words
    "Exit code: 1\\nWall time: 2 seconds\\n..."     failed      the line of a harness above the output
    '{"error": "not found"}'                     failed      nothing but the error
    "Error: ...", 40 lines                       doubtful    a log, or a long message
    "$ make\\nerror: ...", or a file with it       success     the words are not at the beginning, or the file is long
"""

from __future__ import annotations

from typing import Any, Final, Literal

from toolcarry._data import read_table
from toolcarry._input.objects import JsonObject, as_list, as_object, first_given, text_or_empty
from toolcarry.model.content import result_text
from toolcarry.model.content.answer import held_object
from toolcarry.model.content.terminal import is_drawn, last_state
from toolcarry.model.pairing.block import Entry
from toolcarry.types.values import Kind

Outcome = Literal[0, 1, 2, 3]
FAILED: Final = 0
DOUBTFUL: Final = 1
UNPROVEN: Final = 2
"""Nothing says that it failed, and nothing that it succeeded."""
SUCCESS: Final = 3

HEAD: Final = 500
"""The characters that are read at the beginning."""
TAIL: Final = 200
"""The characters that are read at the end."""
SHORT: Final = 500
"""The maximum number of characters of a message of a few words."""
LONG: Final = 4_000
"""The maximum number of characters of a message with details."""
MOST_BREAKS: Final = 2
"""The most line breaks in a message of a few words."""
MOST_LINES: Final = 8
"""The maximum number of lines with an exit code and other facts, above or below an output."""
MOST_DIGITS: Final = 10
MOST_CODE: Final = 1 << 32
"""The largest exit code; a larger number is something else."""

_TABLE = read_table("failures")
MARK: Final[str] = _TABLE["mark"]
MARKS: Final = (MARK, read_table("texts")["failed"])
"""The beginnings of results that this library marked as failed."""
EXITS: Final = tuple((form["start"], form["end"]) for form in _TABLE["exits"])
_BEFORE_CODE: Final = " exit code "
"""Words within the form of a line, which follow the number of a shell."""
ASIDES: Final = tuple(_TABLE["asides"])
WRAPPERS: Final = tuple((form["start"], form["end"]) for form in _TABLE["wrappers"])
STARTS: Final = tuple(form["start"] for form in _TABLE["starts"])
LABELS: Final = tuple(form["start"] for form in _TABLE["labels"])
REASONS: Final = tuple(_TABLE["reasons"])
TRACEBACK: Final[str] = _TABLE["traceback"]
SHELL_ENDINGS: Final = tuple(_TABLE["shell_endings"])
SHELL_STARTS: Final = tuple(_TABLE["shell_starts"])
SHELLS: Final = frozenset(_TABLE["shells"])
SILENCES: Final = frozenset(_TABLE["silences"])
CODE_KEYS: Final = tuple(_TABLE["code_keys"])
TRUE_KEYS: Final = tuple(_TABLE["true_keys"])
FALSE_KEYS: Final = tuple(_TABLE["false_keys"])
ERROR_KEYS: Final = tuple(_TABLE["error_keys"])
STATUS: Final[str] = _TABLE["status_key"]
STATUSES: Final = frozenset(_TABLE["statuses"])
_EXPLAINING: Final = frozenset(
    (*_TABLE["explaining_keys"], *TRUE_KEYS, *FALSE_KEYS, *ERROR_KEYS, STATUS)
)
INITIALS: Final = frozenset(
    text[0]
    for text in (
        *MARKS,
        *(start for start, _ in (*EXITS, *WRAPPERS)),
        *ASIDES,
        *STARTS,
        *LABELS,
        TRACEBACK,
    )
)
"""The first characters of texts that may have a form at their beginning, which few have."""
_LAST: Final = frozenset("]>0123456789")
"""The last characters of texts that may end with an exit code, or a fact next to it."""


def settle(entry: Entry) -> None:
    """Mark an entry whose kind is known as failed or doubtful, if the words of its result say so and it has no flag."""
    if entry.is_failure:
        return
    outcome = outcome_of(entry.content, entry.kind, entry.value or "")
    entry.is_unproven = outcome == UNPROVEN
    if outcome >= UNPROVEN or has_flag(entry.result or {}, entry.content):
        return
    if outcome == FAILED:
        entry.is_error = entry.is_failure = True
    else:
        entry.is_doubtful = True


def has_flag(wire: JsonObject, content: object) -> bool:
    """Return true if a result that is not marked as failed could have been, and so is certainly a success."""
    kind = text_or_empty(wire.get("type"))
    if wire.get("is_error") is False or kind == "shell_call_output":
        return True
    if kind.endswith(("_call", "_tool_result")):  # a server's tool: Responses, Anthropic
        return True
    if first_given(wire, "codeExecutionResult", "code_execution_result") is not None:
        return True
    if (as_object(wire.get("toolResult")) or {}).get("status") == "success":
        return True
    output = wire.get("output")  # Codex's JSON with an exit code was unpacked
    return isinstance(output, str) and isinstance(content, str) and len(output) != len(content)


def outcome_of(content: object, kind: Kind, value: str) -> Outcome:
    """Return the outcome that the content of a result says. ``value`` is the file that was read, or the command."""
    held = held_object(content)
    if held is not None:
        found = object_outcome(held)
        if found is not None:
            if kind == "read" and value.endswith((".json", ".jsonl")):
                own_words: dict[Outcome, Outcome] = {FAILED: DOUBTFUL, DOUBTFUL: UNPROVEN}
                return own_words.get(found, found)
            return found
        if held.get("content") is None:
            return UNPROVEN
    text = answer(content, kind)
    if text[:1] in INITIALS:
        beginning = head_outcome(text, kind == "read")
        if beginning is not None:
            return beginning
    lines = text[-TAIL:].split("\n") if kind == "command" and text[-1:] in _LAST else []
    has_failed = exit_code_failed(lines[: -MOST_LINES - 1 : -1])
    if has_failed is not None:
        return FAILED if has_failed else SUCCESS
    if kind in ("command", "read") and 0 < len(text) <= SHORT:
        return shell_outcome(text.rstrip("\n"), kind, value)
    return UNPROVEN


def answer(content: object, kind: Kind) -> str:
    """Return the text by which a result is judged: what a terminal shows of it in the end, or a file as it is.

    A long text that a terminal showed has signs of it at an end; no more of it is looked at.

    >>> answer("\\x1b[31mError: no such file\\x1b[0m", "command")
    'Error: no such file'
    """
    text = content if type(content) is str else result_text(content)
    ends = (text,) if len(text) <= LONG else (text[:HEAD], text[-TAIL:])
    if kind in ("read", "edit") or not any(map(is_drawn, ends)):
        return text
    return last_state(text) or text


def head_outcome(text: str, is_read: bool) -> Outcome | None:
    """Return the outcome that the beginning of a result says; ``None`` if it says nothing."""
    size = len(text)
    head, tail = text[:HEAD], text[-TAIL:].rstrip("\n")
    if head.startswith(MARKS):
        return FAILED
    has_failed = exit_code_failed(head.split("\n")[:MOST_LINES])
    if has_failed is not None:
        if has_failed and is_read and size > SHORT:
            return UNPROVEN
        return FAILED if has_failed else SUCCESS
    for start, end in WRAPPERS:
        if head.startswith(start):
            return message_outcome(size, is_read) if tail.endswith(end) else DOUBTFUL
    if head.startswith(STARTS):
        return message_outcome(size, is_read)
    if head.startswith(LABELS):
        return labelled_outcome(head, size, is_read)
    if head.startswith(TRACEBACK):
        is_whole = size <= LONG and is_exception(tail)
        if is_read:
            return DOUBTFUL if is_whole else UNPROVEN
        return FAILED if is_whole else DOUBTFUL
    return None


def exit_code_failed(lines: list[str]) -> bool | None:
    """Return true if the first of these lines, after asides, says an exit code that is not zero; ``None`` without one."""
    for line in lines:
        code = exit_code_in(line)
        if code:
            return code.strip("-0") != ""
        if not line.startswith(ASIDES):
            return None
    return None


def exit_code_in(line: str) -> str:
    """Return the exit code that a line of a harness says; empty if it says none.

    >>> exit_code_in("Exit code: -1"), exit_code_in("<shellId: 26 completed with exit code 0>")
    ('-1', '0')
    """
    for start, end in EXITS:
        if line.startswith(start) and line.endswith(end):
            code = line[len(start) : len(line) - len(end)].rpartition(_BEFORE_CODE)[2]
            digits = code.removeprefix("-")
            if digits.isascii() and digits.isdigit() and len(digits) <= MOST_DIGITS:
                return code
    return ""


def message_outcome(size: int, is_read: bool) -> Outcome:
    """Return the outcome of text that begins as only a failure does."""
    if is_read:
        return FAILED if size <= SHORT else UNPROVEN
    return FAILED if size <= LONG else DOUBTFUL


def labelled_outcome(head: str, size: int, is_read: bool) -> Outcome:
    """Return the outcome of text that begins with a label such as ``Error:``."""
    is_short = size <= SHORT and head.rstrip("\n").count("\n") <= MOST_BREAKS
    if not is_read:
        return FAILED if is_short else DOUBTFUL if size <= LONG else UNPROVEN
    if not is_short:
        return UNPROVEN
    is_sure = head[0].isupper() and any(reason in head for reason in REASONS)
    return FAILED if is_sure else DOUBTFUL  # a file may begin with a member of this name


def is_exception(tail: str) -> bool:
    """Return true if the last line of a traceback names an exception."""
    line = tail.rpartition("\n")[2]
    name = line.partition(":")[0]
    last = name.rpartition(".")[2]
    is_name = name.replace(".", "").replace("_", "").isalnum() and name.isascii()
    return is_name and "\n" in tail and last[:1].isupper()


def shell_outcome(message: str, kind: Kind, value: str) -> Outcome:
    """Return the outcome of a short text that may be a shell's message, such as ``bash: x: command not found``."""
    if not message.endswith(SHELL_ENDINGS) and not message.startswith(SHELL_STARTS):
        return UNPROVEN
    program = message.partition(":")[0]
    if " " in program:
        return UNPROVEN
    if kind == "read" or "\n" in message:
        return DOUBTFUL
    name = program.rpartition("/")[2]
    is_own = name in SHELLS or ("." not in name and name in value.replace("\n", " ").split(" "))
    return FAILED if is_own else DOUBTFUL


def object_outcome(held: JsonObject) -> Outcome | None:
    """Return the outcome that a JSON result says; ``None`` if it says nothing."""
    for holder in (held, as_object(held.get("metadata")) or {}):
        for key in CODE_KEYS:
            code = holder.get(key)
            if type(code) is int and abs(code) <= MOST_CODE:
                return FAILED if code else SUCCESS
    if any(held.get(key) is True for key in TRUE_KEYS):
        return FAILED
    if any(held.get(key) is False for key in TRUE_KEYS):
        return SUCCESS
    if any(held.get(key) is True for key in FALSE_KEYS):
        return SUCCESS
    has_claim = (
        any(held.get(key) is False for key in FALSE_KEYS)
        or any(not is_void(held.get(key)) for key in ERROR_KEYS)
        or text_or_empty(held.get(STATUS)) in STATUSES
    )
    if not has_claim:
        return SUCCESS if any(key in held for key in ERROR_KEYS) else None
    is_all = all(key in _EXPLAINING or is_void(value) for key, value in held.items())
    return FAILED if is_all else DOUBTFUL  # other members may be an answer


def is_void(value: Any) -> bool:
    """Return true if a member is null, false, zero or empty."""
    if value is None or isinstance(value, (bool, int)):
        return not value
    if isinstance(value, str):
        return value == ""
    items = as_list(value)
    return not (as_object(value) if items is None else items) and not isinstance(value, float)
