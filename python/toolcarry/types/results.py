"""The values that the public functions return: contexts, projections, conversions, surveys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from msgspec import field

from toolcarry.types.shapes import Target, members_of
from toolcarry.types.unread import NOTHING, Unread
from toolcarry.types.value import Value
from toolcarry.types.values import (
    Decisions,
    Mend,
    ProjectReport,
    RecountReport,
    Report,
    TextMessage,
    ToolSize,
)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Carried:
    """A carry-over context, and the ``report`` about every block.

    A context that was made from bytes is kept as bytes: ``to_bytes()`` costs nothing, and ``text`` decodes it on each
    access.
    """

    _context: str | bytes
    report: Report
    """The report about every block that was read."""
    fates: tuple[Fate, ...] = ()
    """The outcome of every block, if ``carry`` was called with ``explain=True``."""

    @property
    def text(self) -> str:
        """The context."""
        context = self._context
        return context if isinstance(context, str) else context.decode()

    def to_bytes(self) -> bytes:
        """The context as UTF-8."""
        context = self._context
        return context if isinstance(context, bytes) else context.encode()

    def __eq__(self, other: object) -> bool:
        """Return true if text and report are equal, even if one context was made from bytes and the other from
        objects."""
        if not isinstance(other, Carried):
            return NotImplemented
        return self.to_bytes() == other.to_bytes() and self.report == other.report

    __hash__ = None  # type: ignore[assignment]  # a report contains dicts

    def __repr__(self) -> str:
        return f"Carried(text={self.text!r}, report={self.report!r})"


class Fate(Value, frozen=True):
    """The outcome of one block: ``fate`` is ``shown``, ``cut``, ``left_out``, ``superseded`` or ``excluded``.

    ``setting`` names the setting that would change this outcome; it is empty if no setting would.

    >>> from toolcarry import carry
    >>> call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}
    >>> carried = carry([{"role": "assistant", "content": [call]}], explain=True, include_interrupted=False)
    >>> carried.fates[0].fate, carried.fates[0].setting
    ('excluded', 'include_interrupted')
    """

    position: int
    call_id: str
    tool_name: str
    title: str
    scope: str
    fate: str
    reason: str
    setting: str


class Projected(Value, frozen=True):
    """The ``messages`` of a projection, and the ``report`` about them.

    Give the ``decisions`` to the next projection of the same conversation as ``previous``.
    """

    messages: list[Any]
    report: ProjectReport
    decisions: Decisions

    def __repr__(self) -> str:
        """Return the size and the number of changes, since the content may be long."""
        return f"Projected({len(self.messages)} messages, {self.report.changes})"

    @property
    def names(self) -> Mapping[str, str]:
        """The tool names that the destination refuses, by the names that took their place."""
        return self.report.names


class ProjectedBody(Value, frozen=True):
    """The ``body`` of a projection, and the ``report`` about it.

    Give the ``decisions`` to the next projection of the same conversation as ``previous``.
    """

    body: bytes
    report: ProjectReport
    decisions: Decisions

    def __repr__(self) -> str:
        """Return the size and the number of changes, since the content may be long."""
        return f"ProjectedBody({len(self.body)} bytes, {self.report.changes})"

    @property
    def names(self) -> Mapping[str, str]:
        """The tool names that the destination refuses, by the names that took their place."""
        return self.report.names


class Recounted(Value, frozen=True):
    """A text history: ``messages`` with a ``role`` and a ``content`` each, and the ``report`` about them."""

    messages: list[TextMessage]
    report: RecountReport


class Loss(Value, frozen=True):
    """Something that the target cannot hold, or that was changed for it.

    ``position`` is the index of the message, or of the line, from 0; ``None`` if the loss concerns the whole
    conversation. ``kind`` is one of ``KINDS``, ``detail`` a short description.
    """

    position: int | None
    kind: str
    detail: str


class Converted(Value, frozen=True):
    """A conversation in the format ``target``, ready for its destination.

    ``messages``: The messages of the request (for Responses the items of ``input``, for Gemini its ``contents``).
    ``system``: The system prompt if the format keeps it separately (Anthropic, Responses, Gemini, Bedrock), otherwise
    empty.
    ``losses``: Content that the format cannot hold, or that was changed for it. Positions are those of the input.
    ``unread``: The messages whose structure no format knows, and which were left out.
    ``settings``: Other members that the request needs: for Bedrock, definitions of the tools that are called.
    ``mends``: The corrections of the repair. Positions are those of ``convert(..., repair=False).messages``.
    ``not_repaired``: What the repair could not correct, as in ``ProjectReport``, or a note that the repair did not run;
    otherwise empty.
    """

    target: Target
    messages: list[dict[str, Any]]
    system: str = ""
    losses: tuple[Loss, ...] = ()
    unread: Unread = NOTHING
    settings: dict[str, Any] = field(default_factory=dict)
    mends: tuple[Mend, ...] = ()
    not_repaired: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the conversation as members of a request.

        >>> from toolcarry import convert
        >>> convert([{"role": "user", "content": "Go on."}], to="responses").to_dict()
        {'input': [{'role': 'user', 'content': 'Go on.'}]}
        """
        system: Any = self.system
        if system and self.target in ("gemini", "bedrock"):
            texts = [{"text": system}]
            system = {"parts": texts} if self.target == "gemini" else texts
        system_key, key = members_of(self.target)
        return {**({system_key: system} if system else {}), **self.settings, key: self.messages}


class Problem(Value, frozen=True):
    """Something that the destination would reject in a request.

    ``rule``: A key of ``toolcarry.types.mends.PROBLEMS``.
    ``text``: The sentence that describes the rule.
    ``position``: The index of the message; ``None`` for the request as a whole.
    ``call_id``: The id of the call.
    ``detail``: The replacement that ``project(repair=True)`` would write, the name of the member, or what could not be
    checked.
    """

    rule: str
    text: str
    position: int | None = None
    call_id: str = ""
    detail: str = ""


class Preview(Value, frozen=True):
    """The part of a string that a stream or a screen may show.

    ``text`` is the shown part and, if something is missing, a last line that says so. ``shown`` and ``total`` count the
    characters shown and those of the whole text. ``reference`` names the whole text, as a marker does.
    """

    text: str
    shown: int
    total: int
    reference: str

    @property
    def is_cut(self) -> bool:
        """True if a part of the text is missing."""
        return self.shown < self.total

    @property
    def metadata(self) -> dict[str, Any]:
        """The members that mark a preview as one, for the event or message that carries it."""
        return preview_members(self.shown, self.total, self.reference)


def preview_members(shown: int, total: int, reference: str) -> dict[str, Any]:
    """Return the metadata of a preview with these counts."""
    return {"preview": True, "shown": shown, "total": total, "reference": reference}


CONTEXT_LEVELS: Final[Mapping[str, float]] = {
    "ample": 0.0,
    "filling": 0.75,
    "nearly_full": 0.9,
    "over": 1.0,
}
"""The levels of a context, and the share of the window at which each begins. Set ``max_request_tokens`` to the share of
``nearly_full`` to shorten older tool results from that level on."""


class ContextUsage(Value, frozen=True):
    """How much of a window of ``limit`` tokens a request takes.

    ``remaining`` is negative if the request does not fit. ``level`` is a name of ``CONTEXT_LEVELS``, and ``label``
    describes it in a sentence. ``exact`` is false if the tokens are estimated.
    """

    used: int
    limit: int
    remaining: int
    level: str
    label: str
    exact: bool = True


class Amount(Value, frozen=True):
    """A number of results, and their tokens."""

    count: int = 0
    tokens: int = 0


class HeavyResult(Value, frozen=True):
    """A result in the context. ``resolve`` finds it by its ``reference``; ``state`` is a name of ``STATES``."""

    position: int
    reference: str
    tool_name: str
    title: str
    state: str
    tokens: int


class FileUse(Value, frozen=True):
    """A file in the context: how often it was read and edited, and the tokens of these calls and their results."""

    path: str
    reads: int
    edits: int
    tokens: int


class Session(Value, frozen=True):
    """The facts that a session or a request states about itself; empty or ``None`` if it states none.

    A session may continue in another directory or with another model: ``directory`` and ``model`` are the last ones,
    and ``models`` lists all. ``first`` and ``last`` are the earliest and the latest time.
    """

    session_id: str = ""
    directory: str = ""
    model: str = ""
    models: tuple[str, ...] = ()
    first: datetime | None = None
    last: datetime | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the facts as plain values, times as ISO 8601.

        >>> Session(models=("m",)).to_dict()["models"]
        ['m']
        """
        return {
            "session_id": self.session_id,
            "directory": self.directory,
            "model": self.model,
            "models": list(self.models),
            "first": self.first and self.first.isoformat(),
            "last": self.last and self.last.isoformat(),
        }


class ContextSurvey(Value, frozen=True):
    """A survey of what the next request of a conversation holds: the active branch, from the last compaction on.

    ``tokens``: The tokens of the request, counted for ``model``.
    ``exact``: False if they are estimated.
    ``parts``: ``tokens`` by kind: ``results``, ``inputs`` (of tools), ``text``, ``thinking``, ``media``, and ``frame``
    (for requests: the system prompt, tool definitions, and the protocol around each message).
    ``results``: The amount of results in each of ``STATES``: needed; superseded by a newer result; stale, because the
    file was edited after it was read; repeated verbatim in a newer result; or failed. Media of results count here, and
    in ``heaviest`` and ``files``.
    ``usage``: ``None`` if the model's window is not known.
    ``compacted``: The tokens of the messages before the compaction, which the agent no longer sends.
    """

    tokens: int
    exact: bool
    model: str
    session: Session
    parts: Mapping[str, int] = field(default_factory=dict)
    results: Mapping[str, Amount] = field(default_factory=dict)
    heaviest: tuple[HeavyResult, ...] = ()
    files: tuple[FileUse, ...] = ()
    usage: ContextUsage | None = None
    compacted: int = 0


class Inspection(Value, frozen=True):
    """A survey of every block, including side chains and other branches.

    ``duplicates``: The number of blocks that a newer block with the same key supersedes.
    ``stale_reads``: The number of reads of files that were edited afterwards.
    ``orphan_calls``: The number of calls without a result.
    ``orphan_results``: The number of results without a call.
    ``skipped_lines``: The numbers, from 1, of lines that hold no JSON object.
    ``unread``: The messages and records whose structure no format knows.
    ``context``: What the next request takes, if tokens were requested.
    ``asides``: Counts of what is known not to belong to the conversation: records without a message, by type; in
    imported files also parts, by type, and members with text, by name.
    """

    shape: str
    messages: int
    calls: int
    results: int
    errors: int
    orphan_calls: int
    orphan_results: int
    duplicate_results: int
    repeated_records: int
    duplicates: int
    stale_reads: int
    side_chain_blocks: int
    other_branch_blocks: int
    bytes: int
    chars: int
    tools: dict[str, ToolSize] = field(default_factory=dict)
    skipped_lines: tuple[int, ...] = ()
    unread: Unread = NOTHING
    context: ContextSurvey | None = None
    asides: dict[str, int] = field(default_factory=dict)
