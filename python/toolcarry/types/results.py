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
    """A carry-over context, and the ``report`` of every block.

    A context that was made from bytes stays bytes: ``to_bytes()`` costs nothing, and ``text`` decodes it each time.
    """

    _context: str | bytes
    report: Report
    """The report of every block that was walked."""
    fates: tuple[Fate, ...] = ()
    """The outcome of every block, if ``carry`` was asked to explain."""

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

    ``setting`` names the setting that would change it; empty if no setting would.

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
    """One thing that the target cannot hold, or that was changed for it.

    ``position`` is the index of the message, or of the line, from 0; ``None`` for what concerns the whole.
    ``kind`` is one of ``KINDS``, ``detail`` a short description.
    """

    position: int | None
    kind: str
    detail: str


class Converted(Value, frozen=True):
    """A conversation in the format ``target``, as its destination accepts it.

    ``messages`` are those of the request (of Responses the items of ``input``, of Gemini its ``contents``);
    ``system`` is the system prompt if the format keeps it separately (Anthropic, Responses, Gemini, Bedrock), else empty.
    ``settings`` are other members that the request needs: for Bedrock, definitions of the tools that are called.
    ``losses`` are what the format cannot hold, or what was changed for it. Their positions are those of the input.
    ``mends`` are the corrections of the repair. Their positions are those of ``convert(..., repair=False).messages``.
    ``not_repaired`` names what the repair could not correct, as in ``ProjectReport``, or says that it did not run; it is
    empty otherwise.
    ``unread`` is about the messages whose structure no format knows, and which were left out.
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
    """Something that the destination of a request would refuse.

    ``rule`` is a key of ``toolcarry.types.mends.PROBLEMS``, and ``text`` its sentence. ``position`` is the index of the
    message (``None``: the request as a whole), ``call_id`` the id of the call, and ``detail`` the replacement that
    ``project(repair=True)`` would write, the member, or what could not be checked.
    """

    rule: str
    text: str
    position: int | None = None
    call_id: str = ""
    detail: str = ""


class Preview(Value, frozen=True):
    """The part of a string that a stream or a screen may show.

    ``text`` is the shown part and, if something is missing, a last line that says so. ``shown`` and ``total`` count
    characters of the whole text, and ``reference`` names it, as a marker does.
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
        """The members that tell a preview from a result, for the event or the message that carries it."""
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
``nearly_full``, so that older tool results are shortened from there on."""


class ContextUsage(Value, frozen=True):
    """The tokens that a request takes of a window of ``limit`` tokens.

    ``remaining`` is negative if the request does not fit. ``level`` is a name of ``CONTEXT_LEVELS``, and ``label`` says
    it in sentences. ``exact`` is false if the tokens are estimated.
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
    """A file in the context: how often it was read and edited, and the tokens of these calls with their results."""

    path: str
    reads: int
    edits: int
    tokens: int


class Session(Value, frozen=True):
    """The facts that a session or a request gives about itself; empty or ``None`` if it does not.

    The last one that is named counts, since a session may go on in another place; ``models`` has all. ``first`` and ``last`` are the earliest and the latest time.
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

    ``tokens`` are those of the request, in the count of ``model``: ``exact``, or estimated. ``compacted`` are those of
    the messages of the branch before the compaction, which the agent sends no more. ``parts`` divides ``tokens`` into
    ``results``, ``inputs`` (of tools), ``text``, ``thinking``, ``media``, and ``frame`` (system prompt, tool
    definitions, and the protocol around each message, for requests). ``results`` has an amount for each name of
    ``STATES``: needed; superseded by a newer result; stale, since the file that was read was edited afterwards; repeated
    word by word in a newer result; or failed. These, ``heaviest`` and ``files`` include the media of a result.
    ``usage`` is ``None`` if the model's window is not known.
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

    ``duplicates`` counts the blocks that a newer one with the same key supersedes, ``stale_reads`` the reads of
    files that were edited afterwards; ``orphan_calls`` have no result, ``orphan_results`` no call.
    ``skipped_lines`` are the numbers, from 1, of lines that hold no JSON object, and ``unread`` is about messages and
    records whose structure no format knows. ``context`` says what the next request takes, if tokens were asked for.
    ``asides`` counts what is known to be no part of the conversation: records without a message by their types, and, in
    files that are imported, parts by their types and members by their names, if they hold a text.
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
