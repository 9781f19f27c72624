"""Logs without secrets: the loggers of toolcarry, and the filter that each of them has.

A record passes the filters of the logger that received it, and not those of the logger's parents. So every module gets
its logger from here. The filter needs no extra: it matches with Python's ``re``, after cutting long lines. It compiles
its rules when it sees the first record.
"""

from __future__ import annotations

import logging
import re
from functools import cache
from typing import Any, Final

from toolcarry.model.text.sanitize import without_controls
from toolcarry.redact.matcher import Matcher
from toolcarry.redact.rules import DEFAULT_REDACTION_RULES

__all__ = ["RedactingFilter", "get_logger"]

MAX_LINE: Final = 4_000
"""The maximum number of characters of a line that are logged."""
LAST_WORD: Final = re.compile(r"\S{1,512}\Z")
"""The last word before a cut, which may be a part of a secret."""
FORMATTER: Final = logging.Formatter()

logging.getLogger("toolcarry").addHandler(logging.NullHandler())


class RedactingFilter(logging.Filter):
    """Removes secrets from every record: from its formatted message, its traceback and its stack.

    Handlers get a record without arguments and exception; the message and ``exc_text`` have their text. If a text can't
    be formatted or cleaned, a note replaces it. Lines are cut to 4,000 characters. No record is dropped.

    >>> record = logging.LogRecord("a", logging.INFO, "", 0, "DB_PASSWORD=%s", ("correct-horse",), None)
    >>> RedactingFilter().filter(record), record.getMessage()
    (True, 'DB_PASSWORD=[redacted: assignment]')
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Clean the record in place."""
        record.msg, record.args = cleaned(record.getMessage), None
        if record.exc_info:
            record.exc_text = cleaned(traceback_of, record)
            record.exc_info = None
        elif record.exc_text:
            record.exc_text = cleaned(str, record.exc_text)
        if record.stack_info:
            record.stack_info = cleaned(str, record.stack_info)
        return True


def get_logger(name: str) -> logging.Logger:
    """Return the logger of that name, with a filter that removes secrets.

    >>> get_logger("toolcarry.example").name
    'toolcarry.example'
    """
    logger = logging.getLogger(name)
    if not any(isinstance(each, RedactingFilter) for each in logger.filters):
        logger.addFilter(RedactingFilter())
    return logger


def cleaned(make_text: Any, *arguments: Any) -> str:
    """Return the text that ``make_text`` returns, without controls, and then without secrets. Never raises."""
    try:
        lines = without_controls(make_text(*arguments)).split("\n")
        return matcher().redact("\n".join(map(cut, lines)))[0]
    except Exception as error:  # noqa: BLE001 - logging must not fail the caller; the log shows the error
        return f"[withheld: {type(error).__name__}]"


def traceback_of(record: logging.LogRecord) -> str:
    if not isinstance(record.exc_info, tuple) or record.exc_info[0] is None:
        return ""
    return FORMATTER.formatException(record.exc_info)


def cut(line: str) -> str:
    if len(line) <= MAX_LINE:
        return line
    return f"{LAST_WORD.sub('', line[:MAX_LINE])}[{len(line)} characters]"


@cache
def matcher() -> Matcher:
    return Matcher(DEFAULT_REDACTION_RULES, lambda _name, pattern: re.compile(pattern.encode()))
