"""Find the secrets that rules describe, and replace them with marks; with RE2 or Python's ``re``.

Texts are matched in all readings of ``views``, as UTF-8. A lone surrogate can't be encoded, so it is matched as U+FFFD, which has as many bytes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from toolcarry.errors import RedactionError
from toolcarry.redact.rules import RedactionRule
from toolcarry.redact.views import base64_texts, views

__all__ = ["Matcher"]

MARK: Final = "[redacted: "
MAX_ROUNDS: Final = 16
"""Replacing a secret may expose another one next to it. So the search is repeated until it finds nothing."""


class Compiled(NamedTuple):
    name: str
    pattern: Any
    group: int
    unless: Any | None

    def spans(self, raw: bytes) -> Iterator[tuple[int, int]]:
        """Yield the start and the end of each secret."""
        for match in self.pattern.finditer(raw):
            start, end = match.span(self.group)
            if start >= end:
                start, end = match.span() if start < 0 else (start, end)
            if start < end and not (self.unless and self.unless.fullmatch(raw[start:end])):
                yield start, end


class Group(NamedTuple):
    """Rules that can only match a text in which ``keywords`` matches: one search rules all of them out."""

    keywords: Any
    parts: Sequence[Group | Compiled]

    def candidates(self, raw: bytes) -> Iterator[Compiled]:
        """Yield the rules that have a keyword in the text."""
        if self.keywords.search(raw):
            for part in self.parts:
                if isinstance(part, Compiled):
                    yield part
                else:
                    yield from part.candidates(raw)


class Secret(NamedTuple):
    start: int
    end: int
    name: str


class Matcher:
    """A set of rules, compiled by ``compile_pattern`` to patterns for bytes. Its errors are not caught."""

    def __init__(
        self, rules: Iterable[RedactionRule], compile_pattern: Callable[[str, str], Any]
    ) -> None:
        rules = list(rules)
        names = "|".join(re.escape(rule.name) for rule in rules)
        self._always = [compiled(rule, compile_pattern) for rule in rules if not rule.keywords]
        named = [rule for rule in rules if rule.keywords]
        self._group = grouped(named, compile_pattern) if named else None
        self._marks = re.compile(rf"\[redacted: (?:{names})\]".encode())

    def redact(self, text: str) -> tuple[str, Counter[str]]:
        """Return the text with marks, and the number of secrets by rule. Raises ``RedactionError``."""
        counts: Counter[str] = Counter()
        original, seen = encoded(text)
        for _ in range(MAX_ROUNDS):
            secrets = self._find(seen)
            if not secrets:
                return (original.decode("utf-8", "surrogatepass") if counts else text), counts
            counts.update(secret.name for secret in secrets)
            original, seen = replaced(original, secrets), replaced(seen, secrets)
        raise RedactionError(
            f"redaction does not end: secrets were still found after {MAX_ROUNDS} rounds"
        )

    def _find(self, seen: bytes) -> list[Secret]:
        """Return the secrets in order of position, without overlaps."""
        marks = (
            [match.span() for match in self._marks.finditer(seen)] if MARK.encode() in seen else []
        )
        raw = self._marks.sub(lambda mark: b"\n" * len(mark[0]), seen) if marks else seen
        found: list[Secret] = []
        for view in views(raw):
            found += [
                Secret(view.origin(start), view.origin(end), name)
                for start, end, name in self._secrets(view.text)
            ]
            for start, end, said in base64_texts(view.text):
                names = [name for inner in views(said) for _, _, name in self._secrets(inner.text)]
                found += [Secret(view.origin(start), view.origin(end), name) for name in names[:1]]
        return merged(found, marks)

    def _secrets(self, raw: bytes) -> list[Secret]:
        """Return what the rules find in one reading of a text."""
        found: list[Secret] = []
        name = "(keywords)"
        try:
            candidates = self._group.candidates(raw) if self._group else ()
            for rule in (*self._always, *candidates):
                name = rule.name
                found += [Secret(start, end, name) for start, end in rule.spans(raw)]
        except Exception as error:  # noqa: BLE001 - the engine may raise anything; raised again, without the text
            raise RedactionError(f"redaction failed: rule {name}: {type(error).__name__}") from None
        return found


def compiled(rule: RedactionRule, compile_pattern: Callable[[str, str], Any]) -> Compiled:
    pattern = compile_pattern(rule.name, rule.pattern)
    return Compiled(
        rule.name,
        pattern,
        pattern.groupindex.get("secret", 0),
        compile_pattern(rule.name, rule.unless) if rule.unless else None,
    )


def grouped(rules: Sequence[RedactionRule], compile_pattern: Callable[[str, str], Any]) -> Group:
    """Build a binary tree of rules, in which each node has the keywords of all rules below it."""
    words = sorted({re.escape(keyword) for rule in rules for keyword in rule.keywords})
    keywords = compile_pattern("keywords", f"(?i){'|'.join(words)}")
    if len(rules) == 1:
        return Group(keywords, [compiled(rules[0], compile_pattern)])
    middle = len(rules) // 2
    halves = rules[:middle], rules[middle:]
    return Group(keywords, [grouped(half, compile_pattern) for half in halves])


def encoded(text: str) -> tuple[bytes, bytes]:
    """Return the text as bytes, and as valid UTF-8 of the same length for the engine."""
    try:
        raw = text.encode()
    except UnicodeEncodeError:
        raw = text.encode("utf-8", "surrogatepass")
        return raw, re.sub("[\ud800-\udfff]", "\ufffd", text).encode()
    return raw, raw


def merged(found: list[Secret], marks: Sequence[tuple[int, int]]) -> list[Secret]:
    """Merge overlapping secrets, named after the earliest, then the longest; leave out any inside of a mark."""
    found.sort(key=lambda secret: (secret.start, -secret.end))
    apart: list[Secret] = []
    position = 0
    for start, end, name in found:
        while position < len(marks) and marks[position][1] <= start:
            position += 1
        if position < len(marks) and marks[position][0] <= start and end <= marks[position][1]:
            continue
        if apart and start < apart[-1].end:
            last = apart[-1]
            apart[-1] = last._replace(end=max(last.end, end))
        else:
            apart.append(Secret(start, end, name))
    return apart


def replaced(raw: bytes, secrets: Sequence[Secret]) -> bytes:
    pieces: list[bytes] = []
    position = 0
    for start, end, name in secrets:
        pieces += (raw[position:start], f"{MARK}{name}]".encode())
        position = end
    pieces.append(raw[position:])
    return b"".join(pieces)
