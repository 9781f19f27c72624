"""Anthropic Messages.

Documented at https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls, ``.../server-tools``
and https://platform.claude.com/docs/en/api/messages; the errors are those of the API, quoted where they are judged.
"""

import base64
import binascii
import re
from collections.abc import Iterator, Sequence
from itertools import groupby, zip_longest
from typing import Any, NamedTuple

from . import answers

Block = dict[str, Any]

# Error "messages.1.content.1.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
CALL_ID = re.compile(r"[a-zA-Z0-9_-]+")
SERVER_CALLS = ("server_tool_use", "mcp_tool_use")
THINKING = ("thinking", "redacted_thinking")


# Error "messages.1.content.1.tool_use.index: Extra inputs are not permitted"; the members are those of the SDK's types.
MEMBERS = {
    "text": {"type", "text", "cache_control", "citations"},
    "image": {"type", "source", "cache_control"},
    "thinking": {"type", "thinking", "signature"},
    "redacted_thinking": {"type", "data"},
    "tool_use": {"type", "id", "name", "input", "cache_control", "caller"},
    "tool_result": {"type", "tool_use_id", "content", "is_error", "cache_control"},
}
HEADS = {
    "image/png": b"\x89PNG\r\n\x1a\n",
    "image/jpeg": b"\xff\xd8\xff",
    "image/gif": b"GIF8",
    "image/webp": b"RIFF",
}
MOST_MARKS = 4


class MergedTurn(NamedTuple):
    """The blocks of one side before the other side replies."""

    place: str
    role: str
    blocks: list[Block]

    def of_kind(self, kind: str) -> list[Block]:
        return [block for block in self.blocks if block.get("type") == kind]


def problems(messages: Sequence[Any]) -> Iterator[str]:
    turns = list(turns_of(messages))
    yield from content_problems(messages)
    yield from part_problems(messages)
    yield from id_problems(turns)
    yield from result_problems(turns)
    yield from server_problems(turns)
    yield from ending_problems(turns)


def turns_of(messages: Sequence[Any]) -> Iterator[MergedTurn]:
    # Documented as "Consecutive user or assistant turns in your request will be combined into a single turn." (Messages API, `messages`)
    for role, found in groupby(enumerate(messages), lambda pair: pair[1]["role"]):
        members = list(found)
        blocks = [block for _, message in members for block in blocks_of(message["content"])]
        yield MergedTurn(f"messages.{members[0][0]}", role, blocks)


def blocks_of(content: Any) -> list[Block]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return list(content or ())


def content_problems(messages: Sequence[Any]) -> Iterator[str]:
    for position, message in enumerate(messages):
        place = f"messages.{position}"
        blocks = blocks_of(message["content"])
        # Error "messages.0: all messages must have non-empty content except for the optional final assistant message"
        is_last_word = position == len(messages) - 1 and message["role"] == "assistant"
        if not blocks and not is_last_word:
            yield f"{place}: empty content"
        for block in blocks:
            held = block.get("content") if block.get("type") == "tool_result" else None
            inner = held if isinstance(held, list) else []
            # Error "messages: text content blocks must be non-empty"
            # Error "messages: text content blocks must contain non-whitespace text"
            if any(is_blank(part) for part in (block, *inner)):
                yield f"{place}: a text block without text"
            if block.get("type") == "tool_result" and block.get("is_error"):
                # Error "messages.4.content.0.tool_result: content cannot be empty if `is_error` is true"
                if not block.get("content"):
                    yield f"{place}: a failed result without content"
                # Error "all content must be type 'text' if 'is_error' is true"
                if any(part.get("type") != "text" for part in inner):
                    yield f"{place}: a failed result with more than text"


def part_problems(messages: Sequence[Any]) -> Iterator[str]:
    marks = 0
    for position, message in enumerate(messages):
        for block in blocks_of(message["content"]):
            held = block.get("content") if block.get("type") == "tool_result" else None
            for part in (block, *(held if isinstance(held, list) else [])):
                kind = str(part.get("type"))
                own = {name for name, value in part.items() if value is not None}
                more = own - MEMBERS.get(kind, own)
                if more:
                    yield f"messages.{position}: {kind} with {', '.join(sorted(more))}"
                if kind == "image" and not is_image(part.get("source") or {"type": "base64"}):
                    yield f"messages.{position}: an image that cannot be read"
                marks += part.get("cache_control") is not None
    # Error "A maximum of 4 blocks with cache_control may be provided"
    if marks > MOST_MARKS:
        yield f"{marks} marks for the cache"


def is_image(source: Any) -> bool:
    """True for an image at a URL, or one whose bytes are of its type."""
    if source.get("type") != "base64":
        return True
    try:
        data = base64.b64decode(source.get("data") or "", validate=True)
    except binascii.Error:
        return False
    head = HEADS.get(source.get("media_type"))
    return head is not None and data.startswith(head)


def is_blank(block: Any) -> bool:
    return block.get("type") == "text" and not block["text"].strip()


def id_problems(turns: list[MergedTurn]) -> Iterator[str]:
    seen: set[str] = set()
    for turn in turns:
        for block in turn.of_kind("tool_use"):
            call_id = block.get("id")
            if not isinstance(call_id, str) or not CALL_ID.fullmatch(call_id):
                yield f"{turn.place}: tool_use id {call_id!r} has the wrong form"
            # Error "messages.1.content.1: `tool_use` ids must be unique"
            elif call_id in seen:
                yield f"{turn.place}: tool_use id {call_id!r} is not unique"
            else:
                seen.add(call_id)


def result_problems(turns: list[MergedTurn]) -> Iterator[str]:
    # Error "messages.125: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_01. Each `tool_use`
    # block must have a corresponding `tool_result` block in the next message."
    # Error "messages.8.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_01. Each `tool_result` block
    # must have a corresponding `tool_use` block in the previous message."
    # Error "each tool_use must have a single result. Found multiple `tool_result` blocks with id: toolu_01"
    # Documented as "In the user message containing tool results, the tool_result blocks must come FIRST in the content array. Any
    # text must come AFTER all tool results." (Handle tool calls)
    asked: list[str] = []
    for turn in turns:
        if turn.role == "assistant":
            asked = [str(block.get("id")) for block in turn.of_kind("tool_use")]
            # The first of these errors follows a text after the calls, too: results must come next to the calls.
            if asked and turn.blocks[-1].get("type") == "text":
                yield f"{turn.place}: a text behind the calls"
            # A server tool's result after one of them causes it as well: "regular `tool_use` blocks must be immediately followed
            # by their `tool_result` in the next message" (vercel/ai#16312).
            if has_answer_after_call(turn.blocks):
                yield f"{turn.place}: an answer of the server's behind a call"
            if turn.of_kind("tool_result"):
                yield f"{turn.place}: a result in an assistant's turn"
            continue
        if turn.of_kind("tool_use"):
            yield f"{turn.place}: a call in a turn that is not the assistant's"
        answered = [
            str(block.get("tool_use_id")) if block.get("type") == "tool_result" else None
            for block in turn.blocks
        ]
        yield from answers.problems(turn.place, asked, answered)
        asked = []
    yield from answers.problems("the end", asked, [])


def has_answer_after_call(blocks: list[Block]) -> bool:
    kinds = [str(block.get("type")) for block in blocks]
    behind = kinds[kinds.index("tool_use") :] if "tool_use" in kinds else []
    return any(kind.endswith("_tool_result") for kind in behind)


def server_problems(turns: list[MergedTurn]) -> Iterator[str]:
    waiting: set[str] = set()
    for turn, after in zip_longest(turns, turns[1:]):
        if turn.role != "assistant":
            continue
        for block in turn.blocks:
            kind = str(block.get("type"))
            if kind in SERVER_CALLS:
                waiting.add(str(block.get("id")))
            elif kind.endswith("_tool_result"):
                # Error "unexpected `tool_use_id` found in `web_search_tool_result` blocks: srvtoolu_01. Each
                # `web_search_tool_result` block must have a corresponding `server_tool_use` block before it."
                answered = str(block.get("tool_use_id"))
                if answered not in waiting:
                    yield f"{turn.place}: {kind} {answered!r} has no call before it in its turn"
                waiting.discard(answered)
        # A turn in which the server waits for the client's results continues after them; a paused one
        # (`stop_reason` is "pause_turn") is sent back unchanged, as the last turn. (Server tools)
        # "If the assistant turn also called a server tool that has no result block yet, the user message must contain only
        # `tool_result` blocks. Text after the results ends the turn early; for a server tool Claude called directly, the
        # request then fails with a 400 error that names the unresolved server tool." (Handle tool calls) "If there are
        # pending programmatic tool calls waiting for results, your response message must contain only `tool_result`
        # blocks." (Programmatic tool calling)
        said = after.blocks if after else []
        is_answered = all(block.get("type") == "tool_result" for block in said)
        if after is None or (turn.of_kind("tool_use") and is_answered):
            continue
        # Error "messages.3: `web_search` tool use with id `srvtoolu_01` was found without a corresponding
        # `web_search_tool_result` block"
        for call_id in sorted(waiting):
            yield f"{turn.place}: the server's call {call_id!r} has no result in its turn"
        waiting.clear()


def ending_problems(turns: list[MergedTurn]) -> Iterator[str]:
    # Error "messages.1: The final block in an assistant message cannot be `thinking`." Clients that send such messages in
    # the middle of a conversation are not refused, so that only the end is judged.
    if turns and turns[-1].role == "assistant" and turns[-1].blocks:
        kind = turns[-1].blocks[-1].get("type")
        if kind in THINKING:
            yield f"{turns[-1].place}: the conversation ends in {kind}"
        # Error "messages: final assistant content cannot end with trailing whitespace"
        text = str(turns[-1].blocks[-1].get("text"))
        if kind == "text" and text != text.rstrip():
            yield f"{turns[-1].place}: the conversation ends in white space"
