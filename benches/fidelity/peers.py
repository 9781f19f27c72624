"""Requests made smaller: the tokens that are left, and the needs that they still hold, for ``project`` and its peers.

Each peer makes the messages before a cut smaller, with its defaults where it has some, in the format that it takes.
``project`` then cuts each result to the length that gives the same share of the tokens of the request, cut by cut: so the
two columns of needs compare at equal tokens. A peer that can't be imported has no figures.
"""

from __future__ import annotations

import atexit
import json
import logging
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from toolcarry import NO_LIMIT, ProjectPolicy, convert, count_tokens, extract_tool_blocks, project

Messages = list[Any]
Shrink = Callable[[Messages], tuple[Messages, Messages]]
"""Takes messages as Anthropic has them, and returns them in a peer's format, as they were and made smaller."""

TRIGGER = 8_000
"""The tokens at which LangChain's middleware clears, and the total of a row of ours; LangChain's own default of 100,000 is more than most cuts have."""

MODEL = "claude-sonnet-4-5"
"""The model that a body names for llmtrim."""

LONGEST_RESULT, STEP = 16_000, 10


def projected(**settings: Any) -> Shrink:
    """Return ``project`` with these settings."""
    policy = ProjectPolicy(**settings)
    return lambda messages: (messages, list(project(messages, policy=policy).messages))


def at_share(messages: Messages, share: float) -> Messages:
    """Return the projection with the longest results that takes at most this share of the tokens of a request."""
    most = count_tokens(messages) * share
    low, high = 0, LONGEST_RESULT
    found = projected(max_result_tokens=low)(messages)[1]
    while high - low > STEP:
        limit = (low + high) // 2
        after = projected(max_result_tokens=limit)(messages)[1]
        if count_tokens(after) <= most:
            low, found = limit, after
        else:
            high = limit
    return found


@cache
def trimmer() -> Shrink:
    """Return the ``ToolOutputTrimmer`` of OpenAI's Agents SDK, with its defaults."""
    from agents import Agent
    from agents.extensions import ToolOutputTrimmer
    from agents.run_config import CallModelData, ModelInputData

    trim, agent = ToolOutputTrimmer(), Agent(name="bench")

    def shrink(messages: Messages) -> tuple[Messages, Messages]:
        before: Messages = list(convert(messages, to="responses").messages)
        given = ModelInputData(input=before, instructions=None)
        return before, list(trim(CallModelData(model_data=given, agent=agent, context=None)).input)

    return shrink


@cache
def editing() -> Shrink:
    """Return the ``ClearToolUsesEdit`` of LangChain's context editing: all results but the last three are cleared."""
    from langchain.agents.middleware import ClearToolUsesEdit
    from langchain_core.messages import convert_to_messages, convert_to_openai_messages
    from langchain_core.messages.utils import count_tokens_approximately

    edit = ClearToolUsesEdit(trigger=TRIGGER)

    def shrink(messages: Messages) -> tuple[Messages, Messages]:
        before: Messages = list(convert(messages, to="openai").messages)
        given = convert_to_messages(before)
        edit.apply(given, count_tokens=count_tokens_approximately)
        found: Messages = convert_to_openai_messages(given)
        return before, found

    return shrink


@cache
def headroom() -> Shrink:
    """Return headroom's ``compress`` with its defaults, without the model for prose that it would fetch."""
    os.environ["HEADROOM_OFFLINE"] = "1"
    # It keeps what it removes in files; here in a temporary folder, not in the home folder.
    os.environ["HEADROOM_WORKSPACE_DIR"] = tempfile.mkdtemp(prefix="headroom-")
    atexit.register(shutil.rmtree, os.environ["HEADROOM_WORKSPACE_DIR"], ignore_errors=True)
    from headroom import compress

    logging.getLogger("headroom").setLevel(logging.ERROR)
    return lambda messages: (messages, list(compress(messages).messages))


@cache
def llmtrim() -> Shrink:
    """Return llmtrim's ``compress`` with the preset ``auto``, its default.

    It chooses by the tools of a request, so the body names those that were called.
    """
    from llmtrim import Provider, compress

    def shrink(messages: Messages) -> tuple[Messages, Messages]:
        names = sorted({block.tool_name or "tool" for block in extract_tool_blocks(messages)})
        tools = [{"name": name, "input_schema": {"type": "object"}} for name in names]
        body = {"model": MODEL, "max_tokens": 8_192, "tools": tools, "messages": messages}
        found = compress(json.dumps(body), Provider.ANTHROPIC, "auto")
        after: Messages = json.loads(found.request_json)["messages"]
        return messages, after

    return shrink


PEERS: dict[str, Callable[[], Shrink]] = {
    "`project`, nothing set": projected,
    "`project`, no limit on a result": lambda: projected(max_result_tokens=NO_LIMIT),
    "`project`, results of 1,000 tokens": lambda: projected(max_result_tokens=1_000),
    f"`project`, all results in {TRIGGER:,} tokens": lambda: projected(
        max_all_results_tokens=TRIGGER
    ),
    "Agents SDK `ToolOutputTrimmer`": trimmer,
    f"LangChain `ClearToolUsesEdit` at {TRIGGER:,}": editing,
    "headroom `compress`": headroom,
    "llmtrim `compress`": llmtrim,
}


def text_of(value: object) -> str:
    """Return all texts of a request, those in arguments that are JSON included."""
    return "\n".join(_texts(value))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
        if value[:1] == "{":
            try:
                yield from _texts(json.loads(value))
            except ValueError:
                return
    elif isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _texts(item)
