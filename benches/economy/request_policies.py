"""Policies for the requests of a session: ``project``, and the documented rules of other libraries.

Each policy is a generator: it takes the requests of one conversation in their order, and gives what is sent instead.
Where a peer takes another format, the unchanged request is given in that format, too.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import orjson
from session_requests import Messages, RecordedSession

from toolcarry import NO_LIMIT, ProjectPolicy, project, project_body

sys.path.insert(0, str(Path(__file__).parents[1] / "fidelity"))
from peers import headroom, llmtrim, trimmer

Pair = tuple[Messages, Messages]
"""A request unchanged, and what is sent instead."""
Policy = Callable[[RecordedSession], Iterator[Pair]]

TRIGGER, KEPT = 100_000, 3
"""The tokens of a request from which LangChain's ``ClearToolUsesEdit`` and Anthropic's ``clear_tool_uses_20250919`` clear
results, and the results that both keep, by default."""
WINDOW = 200_000
"""The window for which ``TRIGGER`` is the default."""
CHARS_PER_TOKEN = 4
"""LangChain's approximate count takes so many characters for a token. We use the same number for Anthropic's tokens."""


def ours(**settings: Any) -> Policy:
    """Return ``project`` with these settings; the decisions of each request go to the next one."""
    policy = ProjectPolicy(**settings)

    def run(session: RecordedSession) -> Iterator[Pair]:
        previous: Any = None
        for end, _ in session.requests:
            found = project(session.messages[:end], policy=policy, previous=previous)
            previous = found.decisions
            yield session.messages[:end], list(found.messages)

    return run


def ours_in_bodies(frame: int, **settings: Any) -> Policy:
    """Return ``project_body`` with these settings, in bodies with a system prompt of ``frame`` tokens."""
    policy = ProjectPolicy(**settings)
    system = "x" * (frame * CHARS_PER_TOKEN)

    def run(session: RecordedSession) -> Iterator[Pair]:
        previous: Any = None
        for end, _ in session.requests:
            given = session.messages[:end]
            body = orjson.dumps({"system": system, "messages": given})
            found = project_body(body, policy=policy, previous=previous)
            previous = found.decisions
            sent = orjson.loads(found.body)["messages"]
            pairs = zip(given, sent, strict=True)
            yield given, [own if own == new else new for own, new in pairs]

    return run


def clearing(trigger: int, placeholder: str, *, counts_frame: int = 0) -> Policy:
    """Return the clearing of LangChain and of Anthropic: above the trigger, all results but the last ``KEPT`` become a
    placeholder. The history stays whole, so that each request decides again.

    https://docs.langchain.com/oss/python/langchain/middleware/built-in#context-editing
    https://platform.claude.com/docs/en/build-with-claude/context-editing
    """

    def run(session: RecordedSession) -> Iterator[Pair]:
        lengths = [len(json.dumps(message["content"], ensure_ascii=False)) for message in session.messages]  # fmt: skip
        for end, _ in session.requests:
            given = session.messages[:end]
            tokens = counts_frame + sum(lengths[:end]) // CHARS_PER_TOKEN
            yield given, given if tokens <= trigger else cleared(given, placeholder)

    return run


def cleared(messages: Messages, placeholder: str) -> Messages:
    """Return messages with a placeholder for all results but the last ``KEPT``."""
    places = [
        (position, index)
        for position, message in enumerate(messages)
        if isinstance(message["content"], list)
        for index, part in enumerate(message["content"])
        if part["type"] == "tool_result"
    ]
    found = list(messages)
    for position, index in places[:-KEPT]:
        if found[position] is messages[position]:
            found[position] = {**messages[position], "content": list(messages[position]["content"])}
        part = found[position]["content"][index]
        found[position]["content"][index] = {**part, "content": placeholder}
    return found


def stateless(load: Callable[[], Callable[[Messages], Pair]]) -> Callable[[], Policy]:
    """Return the policy of a peer that makes each request smaller by itself. It may change what it is given."""

    def make() -> Policy:
        shrink = load()

        def run(session: RecordedSession) -> Iterator[Pair]:
            for end, _ in session.requests:
                yield shrink(deepcopy(session.messages[:end]))

        return run

    return make


def policies(window: int, frame: int) -> dict[str, Callable[[], Policy]]:
    """Return the makers of the policies by name. One that raises ``ImportError`` is not installed."""
    trigger = TRIGGER * window // WINDOW
    share = window * 6 // 10
    return {
        "`project`, nothing set": lambda: ours_in_bodies(frame),
        "`project`, no limit on a result": lambda: ours(max_result_tokens=NO_LIMIT),
        "`project`, results of 2,000 tokens": lambda: ours(max_result_tokens=2_000),
        f"`project`, requests of {share:,} tokens (60 % of the window)": lambda: ours(
            max_request_tokens=max(share - frame, 0)
        ),
        f"LangChain `ClearToolUsesEdit` at {trigger:,}": lambda: clearing(trigger, "[cleared]"),
        f"Anthropic `clear_tool_uses_20250919` at {trigger:,}": lambda: clearing(
            trigger, "[Old tool result cleared to save context]", counts_frame=frame
        ),
        "Agents SDK `ToolOutputTrimmer`": stateless(trimmer),
        "headroom `compress`": stateless(headroom),
        "llmtrim `compress`": stateless(llmtrim),
    }
