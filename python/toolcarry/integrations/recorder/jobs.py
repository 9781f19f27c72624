"""What the recorder has to write: a request and its answer."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from typing import NamedTuple

from toolcarry.integrations.identity import RequestIdentity
from toolcarry.integrations.projections import Forwarded
from toolcarry.switch.request_fields import RequestFields

__all__ = ["Job", "Pending"]


class Job(NamedTuple):
    """A request and the received part of its answer, with its content codings; ``None`` for a part that is too long.

    Without a ``status``, the backend did not answer.
    """

    identity: RequestIdentity
    body: bytes
    fields: RequestFields | None
    answer: bytes | None = b""
    codings: Sequence[str] = ()
    status: int = 0
    forwarded: Forwarded | None = None


class Pending:
    """A request and its answer that are not recorded yet, of ``size`` bytes."""

    __slots__ = ("future", "is_started", "job", "size")

    def __init__(self, job: Job, size: int) -> None:
        self.future: Future[None] = Future()
        self.is_started = False
        self.job = job
        self.size = size
