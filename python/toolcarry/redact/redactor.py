"""A redactor: takes the secrets out of a text, and counts them."""

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
    """A text without its secrets, and how many there were by the name of the rule."""

    text: str
    counts: Mapping[str, int]


class Redactor:
    """Puts ``[redacted: name]`` in the place of every secret that a rule finds; in linear time, on RE2.

    ``rules`` are one's own, applied together with the built-in ones unless ``use_default_rules`` is false. Where
    matches overlap, all they cover is replaced, and named after the one that begins first, then the longest. A text
    that was redacted stays as it is. Safe to use from several threads.

    Needs the extra ``redact``. Raises ``ConfigError`` where that is missing, and where a rule has a pattern or a name
    that can't be one.

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
        """How many secrets it took out since it was made, by the name of the rule; a copy."""
        with self._lock:
            return Counter(self._counts)

    def __call__(self, text: str) -> str:
        """The text without its secrets. Raises ``RedactionError`` where that can't be told: withhold the text."""
        return self.redact(text).text

    def redact(self, text: str) -> Redacted:
        """The text without its secrets, and how many there were. Raises ``RedactionError``.

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
                f"redaction.rules: name {rule.name!r} is not allowed; allowed: printable characters but ]"
            )
        if rule.name in seen:
            raise ConfigError(f"redaction.rules: name {rule.name!r} is there twice")
        seen.add(rule.name)


def compile_with_re2() -> Callable[[str, str], Any]:
    try:
        import re2  # type: ignore[import-untyped]  # noqa: PLC0415 - an extra's, and slow to import
    except ImportError:
        raise ConfigError(
            "redaction: needs google-re2, which is not installed; pip install 'toolcarry[redact]'"
        ) from None
    options = re2.Options()
    options.log_errors = False  # it would write what it can't match

    def compile_pattern(name: str, pattern: str) -> Any:
        try:
            return re2.compile(pattern, options)
        except (re2.error, UnicodeEncodeError) as error:
            reason = error.args[0] if error.args else ""
            shown = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else reason
            raise ConfigError(
                f"redaction.rules: rule {name!r}: the pattern is not of RE2's syntax: {shown}"
            ) from None

    return compile_pattern
