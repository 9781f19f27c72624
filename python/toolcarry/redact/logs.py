"""Logs without secrets: the loggers of toolcarry, and the filter that each of them carries.

A record passes the filters of the logger that it was given to, and not those of its parents; so every module takes its
logger from here. The filter needs no extra: it matches on Python's ``re``, on lines that are cut first. It compiles
its rules when the first record comes.
"""

from __future__ import annotations

import logging
import re
from functools import cache
from typing import Any, Final

from toolcarry.redact.matcher import Matcher
from toolcarry.redact.rules import DEFAULT_REDACTION_RULES

__all__ = ["RedactingFilter", "get_logger"]

MAX_LINE: Final = 4_000
"""Characters of a line that are logged."""
LAST_WORD: Final = re.compile(r"\S{1,512}\Z")
"""What may be the half of a secret where a line is cut."""
FORMATTER: Final = logging.Formatter()

logging.getLogger("toolcarry").addHandler(logging.NullHandler())


class RedactingFilter(logging.Filter):
    """Takes the secrets out of every record: of its message with the arguments in it, its traceback and its stack.

    What a handler is given has no arguments and no exception any more, but their text. A record of which the text
    can't be made, or not be cleaned, says so instead. Lines are cut to 4,000 characters. Lets every record through.

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
    """The logger of that name; its records have no secrets.

    >>> get_logger("toolcarry.example").name
    'toolcarry.example'
    """
    logger = logging.getLogger(name)
    if not any(isinstance(each, RedactingFilter) for each in logger.filters):
        logger.addFilter(RedactingFilter())
    return logger


def cleaned(make_text: Any, *arguments: Any) -> str:
    """The text that is made, without secrets; never raises."""
    try:
        lines = make_text(*arguments).split("\n")
        return matcher().redact("\n".join(map(cut, lines)))[0]
    except Exception as error:  # noqa: BLE001 - whoever logs must not fail; the log says it
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
