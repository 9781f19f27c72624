"""The steps of a conversation, for agents that keep a result next to its call: what was said, then calls with results."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from toolcarry.api.convert import convert
from toolcarry.sessions.draft import Draft
from toolcarry.sessions.words import words_of

__all__ = ["Result", "Step", "StepCall", "data_url_of", "steps"]

Block = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Result:
    """A result: its text, and the blocks in it that are not text."""

    text: str
    media: tuple[Block, ...]
    is_error: bool


@dataclass(frozen=True, slots=True)
class StepCall:
    """A call as the agent makes it."""

    call_id: str
    name: str
    arguments: Block
    result: Result


@dataclass(slots=True)
class Step:
    """The texts and media of one side (blocks in the format of Anthropic), and the calls after them."""

    role: Literal["user", "assistant"]
    blocks: list[Block] = field(default_factory=list)
    calls: list[StepCall] = field(default_factory=list)


def steps(draft: Draft, kept: frozenset[str] = frozenset(("text", "image", "document"))) -> Iterator[Step]:  # fmt: skip
    """Yield the steps of a draft in the format of Anthropic. Blocks of another kind than ``kept`` are reported as lost.

    A text after a call begins a new step, so that the order stays.
    """
    results = {
        block["tool_use_id"]: block
        for message in draft.messages
        for block in blocks_of(message)
        if block["type"].endswith("tool_result")
    }
    for message in draft.messages:
        step = Step(message["role"])
        for block in blocks_of(message):
            kind = block["type"]
            if kind.endswith("tool_use"):
                own = draft.own(block["name"], block["input"])
                answer = results.get(block["id"], {})
                if kind != "tool_use":
                    answer = answer_of_server(block, answer)
                    draft.retell_server_call(block["name"], block["id"])
                result = result_of(draft, answer, kept)
                step.calls.append(StepCall(block["id"], own.name, own.arguments, result))
            elif kind in kept:
                if step.calls:
                    yield step
                    step = Step(message["role"])
                step.blocks.append(block)
            elif not kind.endswith("tool_result"):
                draft.leave_out(kind)
        if step.blocks or step.calls:
            yield step


def answer_of_server(call: Block, result: Block) -> Block:
    """Return the result of a server's tool as a provider without that tool gets it: its own has a form of its own."""
    parts = [call, *([result] if result else [])]
    talk = convert([{"role": "assistant", "content": parts}], to="openai").messages
    return next((message for message in talk if message["role"] == "tool"), {})


def blocks_of(message: Block) -> list[Block]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def result_of(draft: Draft, block: Block, kept: frozenset[str]) -> Result:
    """Return a result with its media."""
    content = block.get("content") or ""
    parts = [] if isinstance(content, str) else content
    for part in parts:
        if part["type"] not in kept:
            draft.leave_out(part["type"])
    media = tuple(part for part in parts if part["type"] in kept - {"text"})
    return Result(words_of(content), media, block.get("is_error") is True)


def data_url_of(block: Block) -> tuple[str, str]:
    """Return the media type and the address of an image or a document; its content, if it is in the block.

    >>> data_url_of({"source": {"type": "base64", "media_type": "image/png", "data": "aGk="}})
    ('image/png', 'data:image/png;base64,aGk=')
    """
    source = block.get("source") or {}
    if source.get("type") == "base64":
        kind = source["media_type"]
        return kind, f"data:{kind};base64,{source['data']}"
    is_image = block.get("type") == "image"
    return ("image/*" if is_image else "application/pdf"), str(source.get("url", ""))
