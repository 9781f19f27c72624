"""Tool calls in a text history: for hosts that send plain turns, and would lose what their tools said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Final

from toolcarry._backend import kernels
from toolcarry._input.document import open_body
from toolcarry._input.objects import Body, Messages, Wire, as_object, is_too_deep, located, take
from toolcarry.errors import ConfigError, InputError
from toolcarry.policy import NO_LIMIT, check_type
from toolcarry.types import ENCODINGS, EncodingName, TextMessage, check_choice, check_limit

__all__ = ["MAX_RESULT_LENGTH", "RecountReport", "Recounted", "TextMessage", "recount"]

MAX_RESULT_LENGTH: Final = 500
"""Characters of a result where nothing else is said."""


@dataclass(frozen=True, slots=True)
class RecountReport:
    """What became of each message and each call. Positions count messages, or lines of a file, from 0.

    ``messages`` are in the history, of ``calls`` in all. A call's result is told whole, or was ``cut`` to its own limit,
    ``cut_further`` for the total, or ``shortened`` away, so that the call alone stands there; or the call went with one of
    the messages ``left_out`` for the total, which ``calls_left_out`` counts.

    ``folded`` are the positions of messages that said nothing themselves, and stand as lines below others: results above
    all. ``silent`` ones held nothing but thoughts, or nothing, and ``without_role`` is what nobody says. ``without_turn``
    are the places of those among the host's own calls whose turn no message has. ``thinking`` counts messages from which
    thoughts were left out, ``excluded`` calls of other branches and of side chains, ``inactive`` their messages.
    """

    messages: int = 0
    calls: int = 0
    cut: int = 0
    cut_further: int = 0
    shortened: int = 0
    calls_left_out: int = 0
    orphan_calls: int = 0
    orphan_results: int = 0
    duplicate_results: int = 0
    repeated_records: int = 0
    errors: int = 0
    excluded: Mapping[str, int] = field(default_factory=dict)
    inactive: int = 0
    thinking: int = 0
    folded: tuple[int, ...] = ()
    silent: tuple[int, ...] = ()
    without_role: tuple[int, ...] = ()
    without_turn: tuple[int, ...] = ()
    left_out: tuple[int, ...] = ()
    chars_before: int = 0
    """Of all results."""
    chars_after: int = 0
    """Of the history."""
    tokens_after: int | None = None
    """Of the history, where the total counts tokens."""
    budget_too_small: bool = False
    skipped_lines: tuple[int, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The report as plain values that ``json.dumps`` takes.

        >>> RecountReport(calls=2, folded=(1,)).to_dict()["folded"]
        [1]
        """
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        values["excluded"] = dict(self.excluded)
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in values.items()
        }


@dataclass(frozen=True, slots=True)
class Recounted:
    """A text history: ``messages`` of a ``role`` and a ``content`` each, and the ``report`` of how they came about."""

    messages: list[TextMessage]
    report: RecountReport


def recount(
    messages: Messages | Body,
    *,
    tool_calls: Sequence[Mapping[str, Any]] = (),
    turn_id: str = "turn_id",
    max_result_length: int = MAX_RESULT_LENGTH,
    max_chars: int | None = None,
    max_tokens: int | None = None,
    encoding: EncodingName = "o200k_base",
) -> Recounted:
    """A conversation as plain turns, with a line below what the assistant said for each tool that was called then.

    ``messages`` are of any known shape, or bytes: a request body, a JSON array or JSONL. A host that keeps its calls apart
    gives them as ``tool_calls``, in their order: each an object with a ``name`` (or ``tool_name``), ``arguments`` (``input``,
    ``args``), and a ``result`` (``output``, ``content``; without one it was interrupted) or an ``error``. ``turn_id`` is what
    the member is called by which messages and calls know their turn; a call without one may have a ``position``, that of its
    message.

    Of each result the first ``max_result_length`` characters are told. Thinking never is. With ``max_chars`` or
    ``max_tokens`` the contents together are never longer than that: the results of the oldest turns are cut further, then
    their lines shortened to the calls, and then the oldest exchanges left out. Raises ``InputError`` as ``carry`` does.

    >>> recounted = recount([
    ...     {"role": "user", "content": "Is it empty?", "turn_id": 1},
    ...     {"role": "assistant", "content": "<think>Let me see.</think>It is not.", "turn_id": 1},
    ... ], tool_calls=[{"turn_id": 1, "name": "ReadFile", "arguments": {"path": "test.cs"}, "result": "class Test {}"}])
    >>> print(recounted.messages[1]["content"])
    It is not.
    <BLANKLINE>
    [Tool: ReadFile(path="test.cs")] → class Test {}
    """
    check_limit("max_result_length", max_result_length)
    check_limit("max_chars", max_chars, optional=True)
    check_limit("max_tokens", max_tokens, optional=True)
    if max_chars is not None and max_tokens is not None:
        raise ConfigError("max_tokens: is not allowed beside max_chars; allowed: one of them")
    check_choice("encoding", encoding, ENCODINGS)
    check_type("turn_id", turn_id, str)
    records = as_records(tool_calls)
    given = take(messages)
    total, unit = (max_chars, None) if max_tokens is None else (max_tokens, encoding)
    total = None if total is None else min(total, NO_LIMIT)
    limits = (min(max_result_length, NO_LIMIT), total, unit)
    skipped_lines: tuple[int, ...] = ()
    try:
        if isinstance(given, bytes) and not records:
            found, counts, skipped_lines = kernels.recount_body(given, turn_id, *limits)
        else:
            if isinstance(given, bytes):
                opened = open_body(given)
                given, skipped_lines = list(opened.messages), opened.skipped_lines
            found, counts = kernels.recount(given, records, turn_id, *limits)
    except InputError as error:
        raise located_in_calls(located(error, given), records) from None
    return Recounted(found, RecountReport(*counts, skipped_lines))


def located_in_calls(error: InputError, records: Sequence[Wire]) -> InputError:
    """``error`` with its place among a host's own calls, where it is one of these that is nested too deep."""
    if error.position is not None:
        return error
    for number, record in enumerate(records):
        if is_too_deep(record):
            return InputError(f"tool call {number} is {error}", number)
    return error


def as_records(tool_calls: object) -> list[Wire]:
    """A host's own calls, as objects."""
    if isinstance(tool_calls, (str, bytes)) or not isinstance(tool_calls, Sequence):
        kind = type(tool_calls).__name__
        raise InputError(f"tool_calls must be a list of objects, not {kind}")
    records: list[Wire] = []
    for number, call in enumerate(tool_calls):
        record = as_object(call)
        if record is None:
            kind = type(call).__name__
            raise InputError(f"tool call {number} is not an object, but {kind}", number)
        records.append(record)
    return records
