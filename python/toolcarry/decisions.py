"""What a projection decided and what it did: the values that users hold, and the plain tuples that kernels give."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Mend:
    """What was done to a request so that its provider takes it, in the message at ``position``.

    ``kind`` is one of ``MENDS``; ``call_id`` is the call's id as it was, and ``detail`` the new one of a ``renamed_id``.
    """

    kind: str
    position: int | None
    call_id: str
    detail: str = ""


MENDS: dict[str, str] = {
    "missing_result": "a call without result was given one that says so",
    "orphan_result": "a result without call was left out",
    "duplicate_result": "a second result of a call was left out",
    "moved_result": "a result was put behind its call",
    "moved_call": "a call was put behind the text that its message ended in, or behind what the provider answered itself",
    "moved_media": "what a failure shows beside its text was put behind the results",
    "empty_failure": "a failure without content was given a text that says so",
    "renamed_id": "an id that the provider refuses was replaced",
    "renamed_tool": "a result that names another tool than its call was given the call's",
    "renamed_role": "a message with calls was given the model's role, or a result of the old role `function` today's",
    "empty_text": "a text without a word was left out",
    "empty_message": "a message in which nothing is left was left out",
    "empty_calls": "an empty list of calls was left out",
    "doubled_call": "a call that was given in two ways is given in one",
    "trailing_thought": "a thought that leads to nothing was left out",
    "trailing_space": "white space in which the model's last words ended was left out",
    "merged_message": "a message was joined to the one before it, of the same role",
}
"""The kinds of mends, and what each means."""


@dataclass(frozen=True, slots=True)
class Replacement:
    """A result that a marker stands for, or a part of one.

    ``position`` is that of its message, ``reference`` names the whole, ``reason`` is ``later_read`` and so on for what is
    superseded, else ``cut``, ``cleared``, ``rule``, or ``dropped`` where the call went with it. What is gone stands in the
    text of the whole from ``start`` to ``end``. All sizes are characters.
    """

    position: int
    reference: str
    tool_name: str
    reason: str
    chars_before: int
    chars_after: int
    start: int
    end: int


MendFields = tuple[str, int | None, str, str]
"""The fields of a ``Mend``."""
ReplacementFields = tuple[int, str, str, str, int, int, int, int]
"""The fields of a ``Replacement``."""
Decision = tuple[str, str, int, int]
"""What becomes of a result: ``superseded`` (by which reference), ``cut`` (where the head that stays ends, and where the
tail begins), ``cleared``, or ``rule``."""
Sign = tuple[int, int, int]
"""By what a result is known again: a checksum of its call, how many characters it has, and a checksum of its ends."""


@dataclass(frozen=True, slots=True)
class Decisions:
    """What a projection decided, for the next one of the same conversation. Opaque, but for being small and picklable.

    ``messages`` is how many there were; ``made`` and ``dropped`` go by reference, ``mends`` are those of its report.
    ``signs`` are those of all calls and results that decisions name: a decision about what has another sign now is none.
    """

    messages: int = 0
    made: Mapping[str, Decision] = field(default_factory=dict)
    dropped: frozenset[str] = frozenset()
    mends: frozenset[Mend] = frozenset()
    signs: Mapping[str, Sign] = field(default_factory=dict)

    @classmethod
    def of(cls, fields: DecisionFields) -> Decisions:
        """From what a kernel gives."""
        messages, made, dropped, mends, signs = fields
        own = frozenset(Mend(*mend) for mend in mends)
        return cls(messages, made, frozenset(dropped), own, signs)

    def fields(self) -> DecisionFields:
        """What a kernel would have given."""
        mends = tuple((mend.kind, mend.position, mend.call_id, mend.detail) for mend in self.mends)
        return self.messages, dict(self.made), tuple(self.dropped), mends, dict(self.signs)


@dataclass(frozen=True, slots=True)
class ProjectReport:
    """What a projection did. Sizes are characters of results; tokens are counted only where a limit asks for it.

    ``blocks`` counts calls and results without call; each result that a marker stands for is in ``replacements``.
    ``over_budget`` is how much the results are over their total, and ``over_request`` how many tokens the request is over
    its limit, when all that may go is gone. ``stable_prefix_tokens`` estimates, by bytes, how much of the beginning stands
    as the previous projection had it (without one: as the input has it), and ``cache_break_tokens`` how much of what was
    sent before has to be read anew.
    ``not_repaired`` names the shapes of messages that were to be mended and could not: several in one request, or one of
    no provider's; or the kind of a call that stays without a result, since none can be made (``computer_call``: a screenshot;
    ``tool_search_call`` of a client: the tools that it found); or what a provider asked itself and did not answer
    (``server_tool_use in message 3``), or answered and did not ask (``server_tool_result in message 3``).
    ``untouched`` says why a body came back as it was that could not be read; empty where it could.
    """

    blocks: int = 0
    replacements: tuple[Replacement, ...] = ()
    mends: tuple[Mend, ...] = ()
    orphan_calls: int = 0
    orphan_results: int = 0
    duplicate_results: int = 0
    errors: int = 0
    chars_before: int = 0
    chars_after: int = 0
    tokens_before: int | None = None
    tokens_after: int | None = None
    over_budget: int = 0
    over_request: int = 0
    not_repaired: str = ""
    stable_prefix_tokens: int = 0
    cache_break_tokens: int = 0
    untouched: str = ""

    @classmethod
    def of(cls, outcome: Outcome) -> ProjectReport:
        """From what a kernel gives."""
        replacements = tuple(Replacement(*fields) for fields in outcome[1])
        mends = tuple(Mend(*fields) for fields in outcome[2])
        return cls(outcome[0], replacements, mends, *outcome[3:])

    @property
    def reasons(self) -> dict[str, int]:
        """How many results were replaced for each reason.

        >>> ProjectReport(replacements=(Replacement(3, "t1", "Bash", "cut", 9_000, 2_000, 1_950, 9_000),)).reasons
        {'cut': 1}
        """
        found: dict[str, int] = {}
        for replacement in self.replacements:
            found[replacement.reason] = found.get(replacement.reason, 0) + 1
        return found

    def to_dict(self) -> dict[str, Any]:
        """The report as plain values that ``json.dumps`` takes."""
        return {**asdict(self), "reasons": self.reasons}


DecisionFields = tuple[
    int, dict[str, Decision], tuple[str, ...], tuple[MendFields, ...], dict[str, Sign]
]
"""The fields of ``Decisions``, as a kernel gives them."""

Outcome = tuple[
    int,
    tuple[ReplacementFields, ...],
    tuple[MendFields, ...],
    int,
    int,
    int,
    int,
    int,
    int,
    int | None,
    int | None,
    int,
    int,
    str,
    int,
    int,
    str,
]
"""The fields of a ``ProjectReport``, as a kernel gives them."""
NO_DECISIONS: DecisionFields = (0, {}, (), (), {})
NO_OUTCOME = (0, (), (), 0, 0, 0, 0, 0, 0, None, None, 0, 0, "", 0, 0)
"""Those of a body that was not read, but for the reason."""
