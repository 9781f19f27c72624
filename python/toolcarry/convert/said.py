"""What one message says beside its calls and results: texts, thinking, media, and what only its family knows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from toolcarry._input.objects import Wire, as_list, as_object, text_or_empty
from toolcarry._pure.content import spoken_part
from toolcarry._pure.formats import SPEAKERS
from toolcarry._pure.formats.anthropic import CALLS
from toolcarry._pure.formats.responses import NO_CALLS
from toolcarry.convert.media import read_image, read_media
from toolcarry.convert.parts import Family, Item, Media, Role, Text, Thought
from toolcarry.importing.read import read_spoken

ROLES: Final[dict[str, Role]] = {
    "system": "system",
    "developer": "system",
    "tool": "user",
    "function": "user",
    **{word: "user" if name == "USER" else "assistant" for word, name in SPEAKERS.items()},
}
"""Who speaks, by what the shapes call them. What stands beside results is the user's."""
ITEMS: Final = NO_CALLS | {"compaction", "mcp_approval_request", "mcp_approval_response"}
"""The items of Responses that only Responses knows."""
CALLS_ELSEWHERE: Final = CALLS | {"tool_call", "tool_call_chunk", "function_call"}
"""Parts that write once more what stands among the message's calls."""
THINKING_KEYS: Final[dict[str, Family]] = {
    "thinking": "ollama",
    "reasoning_content": "openai",
    "reasoning": "openai",
}
"""Where messages keep their thinking as a text."""


def holder_of(message: Wire) -> Wire:
    """The object in a message that says what is said: Codex, LangChain and OpenHands wrap it."""
    for key in ("payload", "data", "llm_message"):
        held = as_object(message.get(key))
        if held is not None and message.get("role") is None:
            return held
    return message


def role_of(message: Wire) -> Role | None:
    """Who speaks; ``None`` where nobody does that is known."""
    if message.get("kind") == "SystemPromptEvent":
        return "system"
    speaker = read_spoken(message).speaker
    return ROLES.get(speaker) if isinstance(speaker, str) else None


def content_of(message: Wire) -> list[object]:
    """What is said in a message, part by part. Of a record without speaker, what it says is its own matter."""
    if message.get("kind") == "SystemPromptEvent":
        content: object = [message.get("system_prompt")]
    else:
        speaker, content = read_spoken(message)
        if not speaker and message.get("role") is None:
            return []
    if isinstance(content, str):
        return [content]
    items = as_list(content)
    return [] if content is None else list(items) if items is not None else [content]


def before_content(message: Wire, position: int) -> Iterator[Thought | Item]:
    """The thinking that stands in a message beside its content, and items that are no messages."""
    holder = holder_of(message)
    kind = text_or_empty(holder.get("type"))
    if holder.get("role") is None and kind in ITEMS:
        if kind != "reasoning":
            yield Item(position, "responses", holder)
        elif as_list(holder.get("summary")) is not None or "encrypted_content" in holder:
            texts = [as_object(part) or {} for part in as_list(holder.get("summary")) or ()]
            text = "\n".join(text_or_empty(part.get("text")) for part in texts)
            yield Thought(position, text, "responses", holder)
        return
    for block in as_list(holder.get("thinking_blocks")) or ():
        found = read_thought(as_object(block) or {}, position)
        if found is not None:
            yield found
    more = as_object(holder.get("additional_kwargs")) or {}
    for key, family in THINKING_KEYS.items():
        text = text_or_empty(holder.get(key)) or text_or_empty(more.get(key))
        if text:
            yield Thought(position, text, family, {})
            return


def after_content(message: Wire, position: int) -> Iterator[Text | Media]:
    """What stands in a message behind its content: a refusal, and Ollama's images."""
    holder = holder_of(message)
    refusal = holder.get("refusal")
    if isinstance(refusal, str) and refusal:
        yield Text(position, refusal, {"type": "refusal", "refusal": refusal})
    if holder.get("role") is not None:
        for image in as_list(holder.get("images")) or ():
            if isinstance(image, str):
                yield read_image(image, position)


def read_part(item: object, position: int) -> Text | Thought | Media | None:
    """A part of a content that is no call and no result; ``None`` where nobody knows it."""
    if isinstance(item, str):
        return Text(position, item, {})
    part = as_object(item)
    if part is None:
        return None
    text = spoken_part(part)
    if text is None and part.get("type") == "refusal":
        text = part.get("refusal")
    if isinstance(text, str):
        return Text(position, text, part)
    return read_thought(part, position) or read_media(part, position)


def read_thought(part: Wire, position: int) -> Thought | None:
    """A part that is thinking, in any shape."""
    kind = part.get("type")
    if kind in ("thinking", "redacted_thinking"):
        return Thought(position, text_or_empty(part.get("thinking")), "anthropic", part)
    held = as_object(part.get("reasoningContent"))  # Bedrock
    if held is not None:
        said = as_object(held.get("reasoningText")) or {}
        return Thought(position, text_or_empty(said.get("text")), "bedrock", part)
    if kind == "reasoning" or part.get("thought") is True:  # OpenTelemetry, LangChain; Gemini
        texts = (part.get(key) for key in ("text", "content", "reasoning"))
        text = next((text for text in texts if isinstance(text, str)), "")
        return Thought(position, text, "gemini" if kind is None else "", part)
    return None


def is_said_elsewhere(item: object) -> bool:
    """Whether a part only repeats one of the message's calls."""
    part = as_object(item)
    return part is not None and text_or_empty(part.get("type")) in CALLS_ELSEWHERE


def describe(item: object) -> str:
    """What to call a part that nobody knows."""
    part = as_object(item)
    if part is None:
        return f"a part that is no object, but {type(item).__name__}"
    kind = part.get("type")
    return (
        f"a part {kind}"
        if isinstance(kind, str)
        else f"a part with {', '.join(map(str, part)) or 'nothing'}"
    )
