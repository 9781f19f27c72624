"""The values that the switch returns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from toolcarry.summarize import Summary
from toolcarry.types.values import Report

__all__ = ["Reason", "SwitchReport", "Switched", "SwitchedBody"]

Reason = Literal["new", "same_backend", "switched", "resumed", "rewritten"]


@dataclass(frozen=True, slots=True)
class SwitchReport:
    """The outcome of one request, with the reason.

    ``reason`` is ``new`` (no backend is known to have answered), ``same_backend``, ``switched``, ``resumed`` (with the
    same beginning as the last request) or ``rewritten`` (the client changed messages that had been carried, or what was
    carried is not known, so everything is carried again). ``replaced`` counts the messages that went into the context
    or were rewritten before it, and ``kept`` the unchanged ones. ``withheld`` names the parts that are not sent because
    redaction failed on them. ``bound`` has the kinds of state that are not sent because only another backend can
    resolve them: ``file``, ``previous_response_id`` and the others of ``toolcarry.switch.bound.KINDS``.
    """

    reason: Reason
    replaced: int = 0
    kept: int = 0
    summary: Summary | None = None
    carried: Report | None = None
    withheld: str = ""
    bound: tuple[str, ...] = ()

    @property
    def is_switched(self) -> bool:
        """True if the request differs from the client's."""
        return self.reason in ("switched", "resumed", "rewritten")

    @property
    def is_sticky(self) -> bool:
        """True if the beginning is, byte for byte, the one that was sent before."""
        return self.reason == "resumed"

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain values that ``json.dumps`` accepts, without the text of the summary.

        >>> SwitchReport("new").to_dict()["reason"]
        'new'
        """
        summary = self.summary
        return {
            "reason": self.reason,
            "is_switched": self.is_switched,
            "is_sticky": self.is_sticky,
            "replaced": self.replaced,
            "kept": self.kept,
            "summary": None
            if summary is None
            else {"status": summary.status, "error": summary.error},
            "carried": None if self.carried is None else self.carried.to_dict(),
            "withheld": self.withheld,
            "bound": list(self.bound),
        }


@dataclass(frozen=True, slots=True)
class Switched:
    """The ``messages`` for the backend, and the ``report``.

    Pass ``line`` to ``SummarizeTransformer.answered`` to say which of the conversation's requests succeeded.
    """

    messages: Sequence[Any]
    report: SwitchReport
    line: str = ""

    @property
    def is_switched(self) -> bool:
        """True if the messages differ from the client's."""
        return self.report.is_switched


@dataclass(frozen=True, slots=True)
class SwitchedBody:
    """The ``body`` for the backend (the same object if nothing changes), and the ``report``; ``line`` as in ``Switched``.

    ``untouched`` is the reason why the body was passed on unread. ``is_thinking_off`` is true if thinking was turned
    off in the request because another backend began the current turn: Anthropic would reject such a request.
    """

    body: bytes
    report: SwitchReport
    line: str = ""
    untouched: str = ""
    is_thinking_off: bool = False

    @property
    def is_switched(self) -> bool:
        """True if the body differs from the client's."""
        return self.report.is_switched
