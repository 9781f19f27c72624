"""Why a context holds what it holds: the fate of every block, and the setting that would change it."""

from __future__ import annotations

from dataclasses import dataclass

from toolcarry._backend import kernels
from toolcarry._input.document import decode_messages
from toolcarry._input.objects import Body, Messages, located, take
from toolcarry.errors import InputError
from toolcarry.policy import Policy, check_arguments

__all__ = ["Fate", "explain"]

REASONS = {
    "later_read": "a later read holds these lines",
    "later_edit": "a later operation changed the same file",
    "later_run": "the same command ran again later",
    "later_call": "the same call was made again later",
    "earlier_call": "the same call was made before, and the rule keeps the first",
    "rule": "a rule keeps none of this tool's results",
    "side_chain": "it belongs to a side chain",
    "other_branch": "it stands on a branch that was left",
    "limit": "it is longer than the limit on one result",
    "total": "the rest did not fit into what newer results left of the total",
    "budget": "the total was spent on newer results",
    "not_walked": "the total was spent before the walk came here",
}
KEEP_ALL = 'rules (keep="all")'
SETTINGS = {
    "later_read": KEEP_ALL,
    "later_edit": 'rules="careful"',
    "later_run": KEEP_ALL,
    "later_call": KEEP_ALL,
    "earlier_call": KEEP_ALL,
    "rule": KEEP_ALL,
    "side_chain": "",
    "other_branch": "",
}
TOTAL = ("total", "budget", "not_walked")
"""The reasons that end with the total."""


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of one block. ``setting`` names what would change it; it is empty where nothing would."""

    position: int
    call_id: str
    tool_name: str
    title: str
    scope: str
    fate: str
    reason: str
    setting: str


def explain(
    messages: Messages | Body, *, summary: str = "", policy: Policy = Policy()
) -> list[Fate]:
    """The fate of every block under ``carry`` with the same arguments, in the order of the calls.

    ``fate`` is ``shown``, ``cut``, ``left_out``, ``superseded`` or ``excluded``.

    >>> call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}
    >>> fates = explain([{"role": "assistant", "content": [call]}], policy=Policy(include_interrupted=False))
    >>> fates[0].fate, fates[0].setting
    ('excluded', 'include_interrupted')
    """
    from toolcarry._pure.context import rule_set
    from toolcarry._pure.context.block import notes, title
    from toolcarry._pure.dedupe import Judging
    from toolcarry.importing.jobs import entry_of

    check_arguments(summary, policy)
    given = take(messages)
    if isinstance(given, bytes):
        given, _ = decode_messages(given)
    judging = Judging(rule_set(policy.rules))
    fates: list[Fate] = []
    try:
        blocks = kernels.extract_tool_blocks(given)
        walked = {age: found for age, *found in kernels.explain(given, summary, policy)}
        for index, block in enumerate(blocks):
            entry = entry_of(block, len(blocks) - 1 - index)
            judging.prepare(entry)
            fate, reason = walked.get(entry.order, ("left_out", "not_walked"))
            fates.append(
                Fate(
                    position=block.position,
                    call_id=block.call_id,
                    tool_name=block.tool_name,
                    title=title(entry) + notes(entry),
                    scope=block.scope,
                    fate=fate,
                    reason=REASONS.get(reason, f"{reason} is off" if reason else ""),
                    setting=setting_of(reason, policy),
                )
            )
    except InputError as error:
        raise located(error, given) from None
    return fates


def setting_of(reason: str, policy: Policy) -> str:
    """What would change a fate that has this reason."""
    if reason in TOTAL:
        counts_tokens = policy.max_tool_context_tokens is not None
        return "max_tool_context_tokens" if counts_tokens else "max_tool_context_chars"
    if reason == "limit":
        limits = ("max_tool_result_chars", "max_tool_result_tokens")
        return ", ".join(name for name in limits if getattr(policy, name) is not None)
    return SETTINGS.get(reason, reason)
