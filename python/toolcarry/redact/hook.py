"""Call a redacting function so that nothing is hidden from it by characters that are removed later.

A context has no control characters, escapes or bidirectional marks. If such characters split a secret, no rule finds
it, but it is whole again once they are removed. So the text is cleaned first, in the same way as for a context, and
then redacted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from toolcarry.errors import RedactionError
from toolcarry.model.text.sanitize import UNSAFE, replacement, without_controls

__all__ = ["Redact", "redact_text"]

Redact = Callable[[str], str]
"""A function that returns a text without its secrets, and raises if it can't be sure."""

HIDDEN: Final = "[redacted: between control characters]"
"""A line that may hold a part of a secret."""


def redact_text(text: str, redact: Redact) -> str:
    """Return the text without the secrets that it shows once its controls are removed.

    If nothing is redacted, the text is returned unchanged, with its control characters. A text with control characters
    is also redacted with spaces in their place, since a control character may be all that separates a secret from its
    neighbours. Raises ``RedactionError`` if ``redact`` raises, or does not return a string.

    >>> redact_text("sk-\x1b[31m1 \x1b[0m", lambda text: text.replace("sk-1", "[secret]"))
    '[secret] '
    """
    plain = without_controls(text)
    if plain == text:
        return call(redact, text)
    apart = with_spaces(text)
    shown, separated = call(redact, plain), call(redact, apart)
    if separated == apart:
        return text if shown == plain else shown
    if shown == plain:
        return separated
    # Both found something. Where they differ, either may hold a secret: of a long token that a control divides, the second
    # has redacted only the first half.
    lines, others = shown.split("\n"), separated.split("\n")
    if len(lines) != len(others):
        return HIDDEN
    return "\n".join(
        line if is_same(line, other) else HIDDEN for line, other in zip(lines, others, strict=True)
    )


def with_spaces(text: str) -> str:
    """Return ``text`` with spaces in place of the controls that a context doesn't have."""
    return UNSAFE.sub(lambda match: replacement(match) or " ", text)


def is_same(line: str, other: str) -> bool:
    return line.replace(" ", "") == other.replace(" ", "")


def call(redact: Redact, text: str) -> str:
    try:
        redacted = redact(text)
    except RedactionError:
        raise
    except Exception as error:  # noqa: BLE001 - a hook may raise anything; raised again, without its message
        raise RedactionError(f"redaction failed: {type(error).__name__}") from None
    if not isinstance(redacted, str):
        raise RedactionError(
            f"redaction failed: the function returned {type(redacted).__name__}, not a string"
        )
    return redacted
