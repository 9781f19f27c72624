"""Repair requests for their providers: each call with one result in its place, no result without call, ids that pair.

Anything that the provider accepts is unchanged. Repairing a repaired request changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from toolcarry._input.objects import JsonObject, as_list, as_object
from toolcarry._pure.content import THINKING_PARTS
from toolcarry._pure.formats import read_message
from toolcarry._pure.formats.message import MessageParts
from toolcarry._pure.projection.edits import Draft
from toolcarry._pure.projection.repair.chat import repair_chat, take_out_empty_calls
from toolcarry._pure.projection.repair.contents import mend_contents
from toolcarry._pure.projection.repair.destinations import DESTINATIONS, SHAPES, Destination
from toolcarry._pure.projection.repair.ends import keep_ends
from toolcarry._pure.projection.repair.frame import Frame
from toolcarry._pure.projection.repair.ids import assign_ids
from toolcarry._pure.projection.repair.items import repair_items
from toolcarry._pure.projection.repair.members import mend_members
from toolcarry._pure.projection.repair.pairs import Pairs
from toolcarry._pure.projection.repair.prompt import write_prompt
from toolcarry._pure.projection.repair.report import Mends
from toolcarry._pure.projection.repair.settings import mend_settings
from toolcarry._pure.projection.repair.state import Repair
from toolcarry._pure.projection.repair.text_types import is_bare_text, is_text_of_responses
from toolcarry._pure.projection.repair.turns import Turns
from toolcarry._pure.projection.request import EditedMessages

_CHATS = {name for name in SHAPES if DESTINATIONS[name].form == "chat"}
"""The formats whose results are messages of their own."""
_WITH_TYPES = {name for name in SHAPES if DESTINATIONS[name].has_types}
"""The formats whose parts have types."""


def repair_messages(
    edited: EditedMessages, destination: Destination, mends: Mends, frame: Frame | None
) -> list[Draft]:
    """Return the messages as their provider accepts them, and add the corrections to ``mends``.

    The changes of the frame are noted in it.
    """
    pairs = Pairs(edited, destination)
    ids: dict[int, str] = {}
    repair = Repair(edited, destination, pairs, ids, mends, frame)
    mend_contents(repair)
    mend_members(repair)
    ids.update(assign_ids(edited, destination, pairs, mends))
    take_out_empty_calls(repair)
    if destination.form == "turns":
        drafts = Turns(repair).repaired()
    else:
        drafts = repair_chat(repair) if destination.form == "chat" else repair_items(repair)
    kept = write_prompt(repair, keep_ends(repair, drafts))
    mend_settings(repair, kept)
    return kept


def formats_of(
    messages: Sequence[Any],
    *,
    is_continued: bool,
    read: Callable[[JsonObject, object, MessageParts], str] = read_message,
    asked: str = "",
) -> list[str]:
    """Return the names of the shapes of messages with calls or results; of Chat and Ollama only one.

    That is Ollama's if the calls have its form, or no ids, which Chat asks for.

    If no message has a call, the results answer nothing and will be left out, unless the provider stores the messages
    before them. So messages with thoughts, media or texts in the form of a single provider decide instead, if there are any;
    and if nothing else does, an empty list of calls, which is Chat's, or else words of the assistant in parts, which are
    Anthropic's. Shapes that are no provider's always count,
    records too, and so does the reasoning of Responses and of Bedrock.

    Texts without a type are Bedrock's, unless something tells of a provider whose parts have types: clients forget them.

    ``asked`` is the shape of the named destination if its parts have types. Texts alone, which have the same type for
    several providers, are of this shape.
    """
    names: set[str] = set()
    callers: set[str] = set()
    answerers: set[str] = set()
    tellers: set[str] = set()
    lists_calls = speaks_in_parts = names_calls = has_bare = has_typed = False
    for message in messages:
        role = message.get("role")
        if role is None and ("uuid" in message or "message" in message):
            names.add("claude-code")
            continue
        message_parts = MessageParts()
        name = read(message, role, message_parts)
        if name and name not in SHAPES:
            names.add(name)
        if message_parts.calls:
            callers.add(name)
            names_calls = names_calls or any(call.call_id for call in message_parts.calls)
        if message_parts.results:
            answerers.add(name)
        if role == "tool" and name != "ollama":
            answerers.add("openai-chat")
        lists_calls = lists_calls or as_list(message.get("tool_calls")) is not None
        parts = [as_object(item) or {} for item in as_list(message.get("content")) or ()]
        if any(part.get("type") == "text" for part in parts):
            has_typed = True
            speaks_in_parts = speaks_in_parts or role == "assistant"
        if any(map(is_bedrocks, parts)):
            names.add("bedrock")
        has_bare = has_bare or any(map(is_bare_text, parts))
        is_reasoning = message.get("type") == "reasoning"
        if is_reasoning and name == "openai-responses":
            names.add(name)
        is_telling = is_reasoning or (role is not None and any(map(is_anthropics, parts)))
        if is_telling and not message_parts.results:
            tellers.add(name or "anthropic")
        if not message_parts.results and any(map(is_text_of_responses, parts)):
            tellers.add("openai-responses")
    names |= callers
    if names or is_continued or not (tellers or speaks_in_parts):
        names |= answerers
    if has_bare and not (names or tellers) <= _WITH_TYPES:
        names.add("bedrock")
    if names == _CHATS:
        return ["openai-chat"] if names_calls and callers != {"ollama"} else ["ollama"]
    if names or tellers:
        return sorted(names or tellers)
    if lists_calls or speaks_in_parts:
        return [asked or "anthropic" if speaks_in_parts else "openai-chat"]
    return [asked or "bedrock"] if has_bare and not has_typed else []


def is_anthropics(part: JsonObject) -> bool:
    """Return true if a part is of a kind that only Anthropic has: a thought, or media with a source."""
    kind = part.get("type")
    is_shown = kind in ("image", "document")
    return kind in THINKING_PARTS or (is_shown and as_object(part.get("source")) is not None)


def is_bedrocks(part: JsonObject) -> bool:
    """Return true if a part is of a kind that only Bedrock has: a thought without a type."""
    return "type" not in part and "reasoningContent" in part
