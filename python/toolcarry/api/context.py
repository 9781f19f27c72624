"""Context: the tool results of a conversation, written for another backend, and the single steps of this."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Final, Literal, Unpack

from msgspec.structs import replace

from toolcarry import _backend
from toolcarry._input.objects import (
    JsonObject,
    as_list,
    as_object,
    text_or_empty,
)
from toolcarry.api.conversation import Conversation, Given
from toolcarry.errors import ConfigError, InputError
from toolcarry.types.outcomes import CarryOutcome, WalkedBlock
from toolcarry.types.policy import (
    DEFAULT_RULES,
    CarryOptions,
    CarryPolicy,
    ResultPolicy,
    check_rules,
    check_summary,
    in_encoding,
    policy_from,
)
from toolcarry.types.results import Carried, Fate
from toolcarry.types.values import Rule, ToolBlock, checked_list

__all__ = [
    "carry",
    "carry_files",
    "deduplicate_tools",
    "dialogue",
    "extract_tool_blocks",
    "format_tool_context",
    "is_result_part",
    "prepend_summary_to_user_message",
]


def carry(
    messages: Given,
    *,
    summary: str = "",
    policy: CarryPolicy | None = None,
    explain: bool = False,
    **options: Unpack[CarryOptions],
) -> Carried:
    """Return the context that takes a conversation's tool results to another backend.

    ``messages`` is a conversation in any form that ``Conversation.read`` accepts. The text never exceeds the policy's
    limit. ``summary`` is markdown to put before the results; it takes at most half of the limit. ``options`` are fields
    of a ``CarryPolicy``, such as ``max_tokens``; they replace those of ``policy``. With ``explain``, ``fates`` has the
    outcome of every block, in the order of the calls. The text is empty if there are neither results nor a summary.
    Raises ``InputError`` if the input is not a conversation.

    >>> carried = carry([
    ...     {"role": "assistant", "content": [
    ...         {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "pytest -q"}}]},
    ...     {"role": "user", "content": [
    ...         {"type": "tool_result", "tool_use_id": "t1", "content": "3 passed"}]},
    ... ])
    >>> "3 passed" in carried.text, carried.report.shown
    (True, 1)
    """
    check_summary(summary)
    asked = policy_from(CarryPolicy, policy, options)
    counted, factor = in_encoding(asked)
    given = Conversation.of(messages)
    found = given.run(_backend.kernels.carry, summary, counted)
    fates = fates_of(given, summary, asked, counted) if explain else ()
    return counted_in(factor, found, fates)


def counted_in(factor: float, found: CarryOutcome, fates: tuple[Fate, ...] = ()) -> Carried:
    """Return a context whose report counts a model's tokens: ``factor`` tokens for each token of the encoding."""
    report = found.report
    if factor != 1 and report.tokens_after is not None:
        blocks = tuple((place, math.ceil(tokens * factor)) for place, tokens in report.block_tokens)
        tokens = math.ceil(report.tokens_after * factor)
        report = replace(report, tokens_after=tokens, block_tokens=blocks)
    return Carried(found.context, report, fates)


def carry_files(
    paths: Iterable[str | PathLike[str]],
    *,
    summary: str = "",
    policy: CarryPolicy | None = None,
    threads: int | None = None,
    **options: Unpack[CarryOptions],
) -> list[Carried | InputError | OSError]:
    """Run ``carry`` for many session files or request bodies, in ``threads`` threads (by default one per processor).

    Returns the contexts in the order of the paths. A file that can't be read, or has no conversation, gets an error in
    its place and does not stop the rest. Devices and named pipes are refused, since they may never end. Each thread
    reads one file at a time into memory; text that is appended meanwhile is not read.

    >>> carry_files(["no/such/file.jsonl"])
    [FileNotFoundError(2, 'No such file or directory')]
    """
    check_summary(summary)
    counted, factor = in_encoding(policy_from(CarryPolicy, policy, options))
    if threads is not None and (threads.__class__ is not int or threads < 1):
        raise ConfigError(f"threads: {threads!r} is not allowed; allowed: an integer >= 1, None")
    given = as_paths(paths)
    count = min(threads or os.cpu_count() or 1, max(len(given), 1))
    found = _backend.kernels.carry_files(given, summary, counted, count)
    return [item if isinstance(item, Exception) else counted_in(factor, item) for item in found]


def as_paths(paths: object) -> list[Path]:
    """Return paths as ``Path`` objects. A single string is refused, since it would be split into characters."""
    if isinstance(paths, (str, bytes)) or not isinstance(paths, Iterable):
        raise InputError(f"paths must be a list of paths, not {type(paths).__name__}")
    found: list[Path] = []
    for position, path in enumerate(paths):
        name = os.fspath(path) if isinstance(path, (str, PathLike)) else path
        if not isinstance(name, str) or "\0" in name:
            raise InputError(f"path {position} is not a valid path: {path!r}", position)
        found.append(Path(name))
    return found


def extract_tool_blocks(messages: Given) -> list[ToolBlock]:
    """Return every call of a conversation with its result, in the order of the calls, including side chains and
    branches.

    ``messages`` is a conversation in any form that ``Conversation.read`` accepts. It is not changed. Calls and results
    of unknown structure get no block; ``inspect(messages).unread`` reports them. Raises ``InputError`` if the input is
    not a conversation.

    >>> blocks = extract_tool_blocks([
    ...     {"role": "assistant", "content": [
    ...         {"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "a.py"}}]},
    ...     {"role": "user", "content": [
    ...         {"type": "tool_result", "tool_use_id": "t1", "content": "print(1)"}]},
    ... ])
    >>> blocks[0].tool_name, blocks[0].dedup_key, blocks[0].tool_result["content"]
    ('Read', 'read:a.py', 'print(1)')
    """
    return Conversation.of(messages).run(_backend.kernels.extract_tool_blocks)


def deduplicate_tools(
    blocks: Sequence[ToolBlock], *, rules: Sequence[Rule] | Literal["careful"] = DEFAULT_RULES
) -> list[ToolBlock]:
    """Return the blocks that no other block supersedes, in order; their ``notes`` say what they superseded.

    ``rules`` come before the built-in ones; ``"careful"`` keeps every edit of a file until the file is written or read
    in full again. Raises ``ConfigError`` for invalid rules, and ``InputError`` for invalid blocks.

    >>> read = {"type": "tool_use", "name": "Read", "input": {"file_path": "a.py"}}
    >>> old = ToolBlock(read, {"content": "1"}, "Read", call_id="t1", position=0)
    >>> new = ToolBlock(read, {"content": "2"}, "Read", call_id="t2", position=2)
    >>> [block.call_id for block in deduplicate_tools([old, new])]
    ['t2']
    """
    return _backend.kernels.deduplicate_tools(check_blocks(blocks), check_rules(rules))


def check_blocks(blocks: Sequence[ToolBlock]) -> list[ToolBlock]:
    """Return the blocks as a list. Raises ``InputError`` for anything but a list of blocks."""
    given = checked_list("blocks", blocks, "ToolBlocks")
    for position, block in enumerate(given):
        if not isinstance(block, ToolBlock):
            kind = type(block).__name__
            raise InputError(f"block {position} is not a ToolBlock, but {kind}", position)
        for age in (block.notes.age, *block.notes.earlier):
            if not 0 <= age <= OLDEST:
                raise ConfigError(
                    f"notes: an age of {age!r} is not allowed; allowed: 0 to {OLDEST}"
                )
    return given


OLDEST: Final = 2**53
"""A larger number of blocks than any conversation has."""


def format_tool_context(
    blocks: Sequence[ToolBlock],
    *,
    summary: str = "",
    policy: CarryPolicy | None = None,
    **options: Unpack[CarryOptions],
) -> str:
    """Return the carry-over context of deduplicated blocks; empty if there is nothing to carry.

    The text is never longer than the policy's total.

    >>> run = {"type": "tool_use", "name": "Bash", "input": {"command": "ls"}}
    >>> print(format_tool_context([ToolBlock(run, {"content": "a.py"}, "Bash")], framing=False))
    [CONTEXT FROM PREVIOUS SESSION]
    <BLANKLINE>
    ## Commands Executed
    ### ls
    ```
    a.py
    ```
    <BLANKLINE>
    [/CONTEXT FROM PREVIOUS SESSION]
    """
    check_summary(summary)
    counted, _ = in_encoding(policy_from(CarryPolicy, policy, options))
    return _backend.kernels.format_tool_context(check_blocks(blocks), summary, counted)


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
    "ledger": "a line of the ledger is about it",
    "file_text": "the current text of its file is shown",
    "merged": "it shares the line, or the plan, of a later call",
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
TOTAL = ("total", "budget", "not_walked", "ledger", "file_text", "merged")
"""The reasons that depend on the total."""


def fates_of(
    conversation: Conversation, summary: str, asked: CarryPolicy, counted: CarryPolicy
) -> tuple[Fate, ...]:
    """Return the fate of every block under ``carry`` with the same arguments, in the order of the calls."""
    # These are not loaded with the package: they take as long as all of `import toolcarry`.
    from toolcarry.importers.jobs import entry_of  # noqa: PLC0415 - slow to load
    from toolcarry.model.dedupe import Judging  # noqa: PLC0415 - slow to load
    from toolcarry.model.dedupe.rules import rule_set  # noqa: PLC0415 - slow to load
    from toolcarry.model.titles import notes, title  # noqa: PLC0415 - slow to load

    given = Conversation(conversation.messages)
    blocks = given.run(_backend.kernels.extract_tool_blocks)
    explained = given.run(_backend.kernels.explain, summary, counted)
    walked = {each.age: each for each in explained}
    judging = Judging(rule_set(asked.rules))
    fates: list[Fate] = []
    for index, block in enumerate(blocks):
        entry = entry_of(block, len(blocks) - 1 - index)
        judging.prepare(entry)
        found = walked.get(entry.order, WalkedBlock(entry.order, "left_out", "not_walked"))
        fates.append(
            Fate(
                position=block.position,
                call_id=block.call_id,
                tool_name=block.tool_name,
                title=title(entry) + notes(entry),
                scope=block.scope,
                fate=found.fate,
                reason=REASONS.get(found.reason, f"{found.reason} is off" if found.reason else ""),
                setting=setting_of(found.reason, asked),
            )
        )
    return tuple(fates)


def setting_of(reason: str, policy: ResultPolicy) -> str:
    """Return the setting that would change a fate with this reason."""
    if reason in TOTAL:
        counts_tokens = isinstance(policy, CarryPolicy) and policy.max_tokens is not None
        return "max_tokens" if counts_tokens else "max_chars"
    if reason == "limit":
        limits = ("max_result_chars", "max_result_tokens")
        return ", ".join(name for name in limits if getattr(policy, name) is not None)
    return SETTINGS.get(reason, reason)


def dialogue(messages: Given) -> str:
    """Return the spoken text of a conversation for a summarizer, without tools and without thinking.

    Only the active branch is included, without side chains. Messages of unknown structure are left out;
    ``inspect(messages).unread`` reports them. Raises ``InputError`` as ``carry`` does.

    >>> print(dialogue([{"role": "user", "content": "Fix it."}, {"role": "assistant", "content": "Done."}]))
    [USER]
    Fix it.
    [/USER]
    <BLANKLINE>
    [ASSISTANT]
    Done.
    [/ASSISTANT]
    """
    return Conversation.of(messages).run(_backend.kernels.dialogue)


RESULTS: Final = ("toolResult", "functionResponse", "function_response", "toolResponse")
"""The members that identify a result in a part of Bedrock or Gemini."""


def prepend_summary_to_user_message(message: Mapping[str, Any], context: str) -> dict[str, Any]:
    """Return a new message with ``context`` before the text of the user. ``message`` is not changed.

    If the message holds a list of parts, the context becomes a text part in the provider's format. The part goes after
    any tool results, since providers require those first. An empty context changes nothing. Raises ``InputError`` for
    an invalid message.

    >>> prepend_summary_to_user_message({"role": "user", "content": "Go on."}, "[CONTEXT ...]")["content"]
    '[CONTEXT ...]\\n\\nGo on.'
    >>> prepend_summary_to_user_message({"role": "user", "parts": [{"text": "Go on."}]}, "[CONTEXT ...]")["parts"]
    [{'text': '[CONTEXT ...]'}, {'text': 'Go on.'}]
    """
    given = as_object(message)
    if given is None:
        raise InputError(f"message 0 is not an object, but {type(message).__name__}")
    new = dict(given)
    if not context:
        return new
    content, parts = new.get("content"), as_list(new.get("parts"))
    if content is None and parts is not None:
        new["parts"] = with_part(parts, {"text": context})  # Gemini
    elif content is None or content == "":
        new["content"] = context
    elif isinstance(content, str):
        new["content"] = f"{context}\n\n{content}"
    else:
        parts = as_list(content)
        if parts is None:
            kind = type(content).__name__
            raise InputError(f"content is neither text nor a list of parts, but {kind}")
        new["content"] = with_part(parts, text_part(new, parts, context))
    return new


def text_part(message: JsonObject, parts: Sequence[object], text: str) -> dict[str, Any]:
    """Return ``text`` as a part in the format of ``parts``: without a type for Bedrock, with ``input_text`` for
    Responses."""
    given = [part for part in map(as_object, parts) if part is not None]
    if any("type" not in part for part in given):
        return {"text": text}
    is_item = message.get("type") == "message" or any(
        text_or_empty(part.get("type")).startswith("input_") for part in given
    )
    return {"type": "input_text" if is_item else "text", "text": text}


def with_part(parts: Sequence[object], part: dict[str, Any]) -> list[Any]:
    """Return ``parts`` with one more, after those that hold tool results."""
    place = 0
    while place < len(parts) and is_result_part(parts[place]):
        place += 1
    return [*parts[:place], part, *parts[place:]]


def is_result_part(item: object) -> bool:
    """Return true if a part of a message is a tool result."""
    part = as_object(item) or {}
    return part.get("type") == "tool_result" or any(key in part for key in RESULTS)
