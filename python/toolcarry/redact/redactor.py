"""A redactor, which removes the secrets from texts and counts them."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolcarry.errors import ConfigError
from toolcarry.redact.matcher import Matcher
from toolcarry.redact.rules import DEFAULT_REDACTION_RULES, RedactionRule

__all__ = ["Redacted", "Redactor"]


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without its secrets, and the number of secrets by the name of the rule."""

    text: str
    counts: Mapping[str, int]


class Redactor:
    """Replaces every secret that a rule finds with ``[redacted: name]``, in linear time, with RE2.

    ``rules`` are added to the built-in ones; with ``use_default_rules=False`` they replace them. Overlapping matches
    are replaced as one, named after the match that begins first, then the longest. Redacting text again changes
    nothing. Safe to use from several threads.

    Needs the extra ``redact``. Raises ``ConfigError`` if the extra is missing, or if a rule has a pattern or a name
    that is not allowed.

    >>> redactor = Redactor(rules=[RedactionRule("badge", r"badge (?P<secret>[0-9]{6})")])
    >>> redactor("The badge 123456 opens the door.")
    'The badge [redacted: badge] opens the door.'
    >>> redactor.counts
    Counter({'badge': 1})
    """

    def __init__(
        self, *, rules: Sequence[RedactionRule] = (), use_default_rules: bool = True
    ) -> None:
        every = [*rules, *(DEFAULT_REDACTION_RULES if use_default_rules else ())]
        check_names(every)
        self._matcher = Matcher(every, compile_with_re2())
        self._counts: Counter[str] = Counter()
        self._lock = threading.Lock()

    @property
    def counts(self) -> Counter[str]:
        """A copy of the number of secrets removed so far, by the name of the rule."""
        with self._lock:
            return Counter(self._counts)

    def __call__(self, text: str) -> str:
        """Return the text without its secrets. Raises ``RedactionError`` on failure; then the text must not be sent."""
        return self.redact(text).text

    def redact(self, text: str) -> Redacted:
        """Return the text without its secrets, and their number by rule. Raises ``RedactionError``.

        >>> Redactor().redact("DB_PASSWORD=correct-horse").counts
        {'assignment': 1}
        """
        cleaned, counts = self._matcher.redact(text)
        if counts:
            with self._lock:
                self._counts.update(counts)
        return Redacted(cleaned, dict(counts))


def check_names(rules: Sequence[RedactionRule]) -> None:
    seen: set[str] = set()
    for rule in rules:
        if not rule.name or not rule.name.isprintable() or "]" in rule.name:
            raise ConfigError(
                f"redaction.rules: name {rule.name!r} is not allowed; allowed: printable characters except ]"
            )
        if rule.name in seen:
            raise ConfigError(f"redaction.rules: name {rule.name!r} is used twice")
        seen.add(rule.name)


def compile_with_re2() -> Callable[[str, str], Any]:
    try:
        import re2  # type: ignore[import-untyped]  # noqa: PLC0415 - an extra's, and slow to import
    except ImportError:
        raise ConfigError(
            "redaction: needs google-re2, which is not installed; pip install 'toolcarry[redact]'"
        ) from None
    options = re2.Options()
    options.log_errors = False  # else RE2 logs the pattern and the text

    def compile_pattern(name: str, pattern: str) -> Any:
        try:
            return re2.compile(pattern, options)
        except (re2.error, UnicodeEncodeError) as error:
            reason = error.args[0] if error.args else ""
            shown = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else reason
            raise ConfigError(
                f"redaction.rules: rule {name!r}: the pattern is not valid RE2 syntax: {shown}"
            ) from None

    return compile_pattern
