"""Mask the passwords in values of the settings."""

from __future__ import annotations

import re
from typing import Final

from toolcarry.model.text.sanitize import clean_line

__all__ = ["hide", "shown"]

PASSWORD: Final = re.compile(r"(?<=//)([^\s:@/?#]*:).*(?=@)", re.DOTALL)
"""From the first colon to the last ``@``, so that a password with an unquoted slash is hidden as well."""
PARAMETER: Final = re.compile(
    r"([\w.-]*(?:pass|secret|token|key|credential)[\w.-]*\s*=\s*)[^\s&;#]+", re.IGNORECASE
)
LONGEST: Final = 80
MOST_BITS: Final = 128


def hide(text: str) -> str:
    """Return ``text`` with ``***`` in place of passwords.

    >>> hide("postgresql://carry:pa/ss@db.example/history?sslmode=require")
    'postgresql://carry:***@db.example/history?sslmode=require'
    >>> hide("redis://cache.example/0?password=hunter2&db=1")
    'redis://cache.example/0?password=***&db=1'
    """
    return PARAMETER.sub(r"\1***", PASSWORD.sub(r"\1***", text))


def shown(value: object) -> str:
    """Return a value as an error shows it.

    >>> shown(True), shown("a"), shown([1, 2]), shown({})
    ('true', "'a'", 'a list', 'a table')
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return clean_line(repr(hide(value)), LONGEST)
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, (list, tuple)):
        return "a list"
    if isinstance(value, int) and value.bit_length() > MOST_BITS:
        return f"an integer of {value.bit_length():,} bits"
    return str(value)
