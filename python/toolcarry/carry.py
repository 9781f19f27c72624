"""The job that the library is named after: the tool results of a conversation as context for another backend."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING

from toolcarry._backend import kernels
from toolcarry._input.objects import Body, Messages, located, take
from toolcarry.errors import ConfigError, InputError
from toolcarry.policy import Policy, check_arguments
from toolcarry.types import Counts, Report

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Carried", "carry", "carry_files"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Carried:
    """A carry-over context, and the ``report`` of what became of every block.

    What came as bytes stays bytes until it is asked for as text: ``to_bytes()`` costs nothing then, and ``text``
    is decoded each time.
    """

    _context: str | bytes
    _counts: Counts
    _skipped_lines: tuple[int, ...] = ()

    @property
    def text(self) -> str:
        """The context."""
        context = self._context
        return context if isinstance(context, str) else context.decode()

    def to_bytes(self) -> bytes:
        """The context as UTF-8."""
        context = self._context
        return context if isinstance(context, bytes) else context.encode()

    @property
    def report(self) -> Report:
        """What the job did with every block that it walked."""
        return Report(*self._counts, self._skipped_lines)

    def __eq__(self, other: object) -> bool:
        """Whether both say the same: it does not matter which of them came as bytes."""
        if not isinstance(other, Carried):
            return NotImplemented
        return self.to_bytes() == other.to_bytes() and self.report == other.report

    __hash__ = None  # type: ignore[assignment]  # a report counts in dicts

    def __repr__(self) -> str:
        return f"Carried(text={self.text!r}, report={self.report!r})"


def carry(messages: Messages | Body, *, summary: str = "", policy: Policy = Policy()) -> Carried:
    """The context that takes a conversation's tool results to another backend.

    ``messages`` is a list of messages in any of the known shapes, or bytes: a request body, a JSON array or
    JSONL. The newest results come first, until the policy's total is spent; the text is never longer than
    that. ``summary`` is markdown that goes before the results, in half of the total at most.
    Without results and without summary the text is empty. Raises ``InputError`` where the input is no
    conversation.

    >>> carried = carry([
    ...     {"role": "assistant", "content": [
    ...         {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "pytest -q"}}]},
    ...     {"role": "user", "content": [
    ...         {"type": "tool_result", "tool_use_id": "t1", "content": "3 passed"}]},
    ... ])
    >>> "3 passed" in carried.text, carried.report.shown
    (True, 1)
    """
    check_arguments(summary, policy)
    given = take(messages)
    try:
        if isinstance(given, bytes):
            return Carried(*kernels.carry_body(given, summary, policy))
        return Carried(*kernels.carry(given, summary, policy))
    except InputError as error:
        raise located(error, given) from None


def carry_files(
    paths: Iterable[str | PathLike[str]],
    *,
    summary: str = "",
    policy: Policy = Policy(),
    threads: int | None = None,
) -> list[Carried | InputError | OSError]:
    """``carry`` for many session files or request bodies, in ``threads`` threads (one a processor by default).

    In the order of the paths: the context of each, or the error for a file that can't be read or holds no
    conversation; one bad file stops no other. What may never end is refused: a device, and a named pipe. Files are
    mapped and not copied: one that another process cuts shorter meanwhile ends this process, one that grows does no harm.

    >>> carry_files(["no/such/file.jsonl"])
    [FileNotFoundError(2, 'No such file or directory')]
    """
    check_arguments(summary, policy)
    if threads is not None and (threads.__class__ is not int or threads < 1):
        raise ConfigError(
            f"threads: {threads!r} is not allowed; allowed: a whole number from 1 on, or None"
        )
    given = as_paths(paths)
    count = min(threads or os.cpu_count() or 1, max(len(given), 1))
    found = kernels.carry_files(given, summary, policy, count)
    return [item if isinstance(item, Exception) else Carried(*item) for item in found]


def as_paths(paths: object) -> list[Path]:
    """Paths, each a ``Path``; a single one is none, nor are the letters of its name."""
    from pathlib import Path  # noqa: PLC0415 - slow

    if isinstance(paths, (str, bytes)) or not isinstance(paths, Iterable):
        raise InputError(f"paths must be a list of paths, not {type(paths).__name__}")
    found: list[Path] = []
    for position, path in enumerate(paths):
        name = os.fspath(path) if isinstance(path, (str, PathLike)) else path
        if not isinstance(name, str) or "\0" in name:
            raise InputError(f"path {position} can be no path: {path!r}", position)
        found.append(Path(name))
    return found
