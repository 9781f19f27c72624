"""Previews for streams and screens: they show part of a string, or of a stream's events, while the whole is kept.

A preview is for display only. Its text and its metadata mark it as a preview, so that ``tract`` never stores it in
place of the result.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, overload

from toolcarry._data import read_table
from toolcarry._input.objects import as_list, as_object
from toolcarry.api.tokens import truncate
from toolcarry.errors import InputError
from toolcarry.redact.logs import get_logger
from toolcarry.types.results import Preview, preview_members
from toolcarry.types.values import check_limit

__all__ = [
    "limit_events",
    "preview",
]

logger = get_logger("toolcarry.preview")

_TEXTS: Final = read_table("texts")

Event: TypeAlias = Mapping[str, Any]


def preview(text: str, limit: int, *, reference: str) -> Preview:
    """Return the first ``limit`` characters of a string, and a line with the reference of the whole string.

    A character of several code points is never split. The limit does not include the line. Raises ``InputError`` if an
    argument is of the wrong type.

    >>> shown = preview("line 1\\nline 2", 6, reference="t1")
    >>> print(shown.text)
    line 1
    [toolcarry: preview, 6 of 13 characters; whole: t1]
    >>> shown.metadata
    {'preview': True, 'shown': 6, 'total': 13, 'reference': 't1'}
    >>> preview("line 1", 6, reference="t1").text
    'line 1'
    """
    for key, value in (("text", text), ("reference", reference)):
        if not isinstance(value, str):
            raise InputError(f"{key} must be a string, not {type(value).__name__}", None)
    check_limit("limit", limit)
    kept = truncate(text, limit, marker="")
    shown, total = len(kept), len(text)
    if shown == total:
        return Preview(text, total, total, reference)
    return Preview(f"{kept}\n{preview_line(shown, total, reference)}", shown, total, reference)


def preview_line(shown: int, total: int | None, reference: str) -> str:
    """Return the last line of a preview; without the total if that is not known yet.

    A reference that would break the line is left out.
    """
    is_plain = 0 < len(reference) <= LONGEST_REFERENCE and all(
        "!" <= char <= "~" and char not in "[];" for char in reference
    )
    whole = f"{_TEXTS['marker_whole']}{reference}" if is_plain else ""
    count = f"first {shown:,}" if total is None else f"{shown:,} of {total:,}"
    return f"{_TEXTS['marker_start']}preview, {count} characters{whole}]"


LONGEST_REFERENCE: Final = 210
"""The length of the longest reference that previews show: an id with a number."""


@overload
def limit_events(events: AsyncIterator[Any], limit: int) -> AsyncIterator[Any]: ...
@overload
def limit_events(events: Iterable[Any], limit: int) -> Iterator[Any]: ...
def limit_events(
    events: Iterable[Any] | AsyncIterator[Any], limit: int
) -> Iterator[Any] | AsyncIterator[Any]:
    """Return the events of a stream, with at most ``limit`` characters of each tool result in them.

    Events are parsed server-sent events of Anthropic, OpenAI Chat and Responses, as dicts or SDK objects; or whole
    messages, parts and results of these APIs, of Gemini, Bedrock, Ollama, the AI SDK, AG-UI, LangChain, MCP and Claude
    Code. An event with a longer result is replaced with a new dict, in which the result is a preview with its
    ``metadata``; status, ids and ``is_error`` stay, and so do short strings of data, up to half of the limit. A result
    that arrives in parts is cut where the limit is reached: its later parts are empty, and the event that ends it has
    the final ``metadata``. All other events are the same objects. An event that names a call and has a long text in an
    unknown structure is passed on unchanged and logged. No event is held back, added or dropped, and only the counts of
    a result are kept in memory. If the stream is asynchronous, so are the returned events.

    >>> block = {"type": "mcp_tool_result", "tool_use_id": "t1", "is_error": True, "content": "line 1, line 2"}
    >>> event = {"type": "content_block_start", "index": 0, "content_block": block}
    >>> (shown,) = limit_events(iter([event]), 6)
    >>> shown["content_block"]["content"], shown["content_block"]["is_error"]
    ('line 1\\n[toolcarry: preview, 6 of 14 characters; whole: t1]', True)
    >>> import asyncio
    >>> async def events():
    ...     yield {"type": "tool_result", "tool_use_id": "t1", "content": "3 passed"}
    >>> async def collected():
    ...     return [event["content"] async for event in limit_events(events(), 90)]
    >>> asyncio.run(collected())
    ['3 passed']
    """
    check_limit("limit", limit)
    limiter = Limiter(limit)
    if isinstance(events, AsyncIterable):
        return (limiter.limited(event) async for event in events)
    return (limiter.limited(event) for event in events)


PART: Final = "content_block_delta"
"""The type of an Anthropic event with a part of a block."""
OUTPUT_ITEMS: Final[Mapping[str, tuple[str, ...]]] = {
    "function_call_output": ("output",),
    "custom_tool_call_output": ("output",),
    "local_shell_call_output": ("output",),
    "shell_call_output": ("output",),
    "mcp_call": ("output",),
    "code_interpreter_call": ("outputs",),
}
"""The members that hold a result, by the type of an item of the Responses API."""
TEXT_KEYS: Final = (
    "text",
    "content",
    "output",
    "stdout",
    "stderr",
    "logs",
    "result",
    "value",
    "resource",
    "file",
)
"""The members of a result's parts that hold text. Other values without a type are data, in which all strings count."""
NO_TEXT: Final = frozenset((
    "audio", "blob", "bytes", "data", "document", "fileData", "file_data", "image", "inlineData", "inline_data", "metadata",
    "source", "uri", "url", "video",
))  # fmt: skip
"""The members of data that hold media."""
RESULT_PARTS: Final[Mapping[str, tuple[str, ...]]] = {
    "tool-result": ("output", "result"),
    "tool-output-available": ("output",),
    "tool-output-error": ("errorText",),
    "dynamic-tool": ("output", "errorText"),
    "TOOL_CALL_RESULT": ("content",),
    "tool": ("content",),
}
"""The members that hold a result, by the type of a part or an event of the AI SDK, AG-UI and LangChain."""
HOLDERS: Final[Mapping[str, tuple[str, ...]]] = {
    "functionResponse": ("response",),
    "function_response": ("response",),
    "codeExecutionResult": ("output",),
    "code_execution_result": ("output",),
    "toolResult": ("content",),
    "toolInvocation": ("result",),
}
"""The members of a part of Gemini, Bedrock and the AI SDK that are a result, and the members in them that hold its
content."""
IDS: Final = (
    "tool_use_id",
    "tool_call_id",
    "toolCallId",
    "toolUseId",
    "call_id",
    "id",
    "tool_name",
)
"""The members that name the call of a result, the most certain first."""
CONTAINERS: Final = (
    "message", "messages", "content", "contents", "parts", "candidates", "toolInvocations", "kwargs", "snapshot", "item",
    "result",
)  # fmt: skip
"""The members of an event in which messages and their parts are looked for."""
COPIES: Final = ("toolUseResult", "tool_use_result")
"""The members in which Claude Code repeats a result."""
DEEPEST: Final = 6
ARGUMENTS: Final = frozenset(("input", "args", "arguments", "delta"))


@dataclass(slots=True)
class Open:
    """The state of a result that arrives in parts; ``total`` counts its characters so far."""

    reference: str
    total: int = 0
    shown: int = 0


class Limiter:
    """Shortens the results in the events of one stream.

    For each result that arrives in parts, it keeps two numbers and the reference until the event that ends it.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._open: dict[object, Open] = {}
        self._told: set[str] = set()

    def limited(self, event: Any) -> Any:
        """Return an event as it may be shown: the same object if nothing in it is too long."""
        if type(event) is dict and event.get("type") == PART:  # most events of a long result
            return self._continued(event)
        given = as_object(event)
        if given is None:
            return event
        shown = self._shown(given)
        return event if shown is given else shown

    def _shown(self, event: Event) -> Event:
        kind = event.get("type")
        if not isinstance(kind, str) and as_list(event.get("choices")) is not None:
            return self._chat(event)
        if kind == "content_block_start":
            return self._started(event)
        if kind == PART:
            return self._continued(event)
        if kind == "content_block_stop":
            return self._ended(event, event.get("index"))
        if isinstance(kind, str) and kind.startswith("response."):
            return self._response(event, kind)
        return self._walked(event, 0)

    def _walked(self, held: Event, depth: int) -> Event:
        """Limit an object if it is a result, otherwise the results in the messages and parts that it holds."""
        if (keys := result_keys(held)) is not None:
            return self._item(held, keys, reference_in(held))
        new: dict[str, Any] = {}
        for key, keys in HOLDERS.items():
            if key in held and (inner := as_object(held[key])) is not None:
                new[key] = self._item(inner, keys, reference_in(inner))
        for key in COPIES:
            if text_size(held.get(key)) > self._limit:
                new |= self._copy(held, key)
        for key in CONTAINERS if depth < DEEPEST else ():
            new[key] = self._walked_value(held.get(key), depth + 1)
        new = {key: value for key, value in new.items() if value is not held.get(key)}
        if not new:
            self._report(held)
        return {**held, **new} if new else held

    def _copy(self, held: Event, key: str) -> Event:
        """Return the second copy of a result and the metadata of its event."""
        message = as_object(held.get("message")) or {}
        parts = map(as_object, as_list(message.get("content")) or ())
        found = (reference_in(part) for part in parts if part is not None)
        reference = next(filter(None, found), "") or reference_in(held)
        own = {name: held[name] for name in (key, "metadata") if name in held}
        return self._item(own, (key,), reference)

    def _walked_value(self, value: object, depth: int) -> object:
        items = as_list(value)
        if items is None:
            held = as_object(value)
            shown = None if held is None else self._walked(held, depth)
            return value if shown is None or shown is held else shown
        new = [self._walked_value(item, depth) for item in items]
        is_same = all(one is other for one, other in zip(new, items, strict=True))
        return value if is_same else new

    def _report(self, held: Event) -> None:
        """Log an object that names a call and has a long text in an unknown structure, once for each type."""
        kind = str(held.get("type", ""))[:80]
        if kind in self._told or not any(key in held for key in IDS if key != "id"):
            return
        rest = {key: value for key, value in held.items() if key not in ARGUMENTS}
        if text_size(rest, is_data=True) > self._limit and len(self._told) < MOST_TOLD:
            self._told.add(kind)
            logger.warning(
                "an event of type %r may have a long result in an unknown structure; it is passed on unchanged",
                kind,
            )

    def _started(self, event: Event) -> Event:
        """An Anthropic block: a result that is whole, or the beginning of one that comes in parts."""
        block = as_object(event.get("content_block"))
        kind = None if block is None else block.get("type")
        if block is None or not isinstance(kind, str) or not kind.endswith("tool_result"):
            return event
        reference = str(block.get("tool_use_id") or "")
        size = text_size(block.get("content"))
        self._open[event.get("index")] = Open(reference, size, min(size, self._limit))
        return self._swap(event, "content_block", self._item(block, ("content",), reference))

    def _continued(self, event: Event) -> Event:
        """Limit a part of an Anthropic result."""
        opened = self._open.get(event.get("index")) if self._open else None
        if opened is None:
            return event
        given = event.get("delta")
        delta = given if type(given) is dict else as_object(given)
        if delta is None:
            return event
        key = "text" if isinstance(delta.get("text"), str) else "partial_json"
        if not isinstance(delta.get(key), str):
            return event
        shown = self._part(opened, delta, key)
        return event if shown is delta else {**event, "delta": shown}

    def _response(self, event: Event, kind: str) -> Event:
        """An event of the Responses API: an item, a part of one, or the response with all its items."""
        if kind.endswith(".delta") and any(f".{name}." in kind for name in RESULT_DELTAS):
            key = event.get("item_id")
            opened = self._open.setdefault(key, Open(str(key or "")))
            is_text = isinstance(event.get("delta"), str)
            return self._part(opened, event, "delta") if is_text else event
        if kind.endswith(".done") and event.get("item_id") in self._open:
            shown = self._item(event, ("output", "text"), self._open[event["item_id"]].reference)
            ended = self._ended(event, event["item_id"])
            return ended if shown is event else shown
        item = as_object(event.get("item"))
        if item is not None:
            return self._swap(event, "item", self._output_item(item))
        response = as_object(event.get("response"))
        items = None if response is None else as_list(response.get("output"))
        if response is None or items is None:
            return event
        new = [
            self._output_item(as_object(each) or {}) if as_object(each) else each for each in items
        ]
        if all(one is other for one, other in zip(new, items, strict=True)):
            return event
        return {**event, "response": {**response, "output": new}}

    def _output_item(self, item: Event) -> Event:
        keys = OUTPUT_ITEMS.get(str(item.get("type")))
        reference = str(item.get("call_id") or item.get("id") or "")
        return item if keys is None else self._item(item, keys, reference)

    def _chat(self, event: Event) -> Event:
        """A chunk of OpenAI Chat, whose choices may carry a result: servers that run tools send role ``tool``."""
        choices = as_list(event.get("choices")) or ()
        new = [
            self._choice(as_object(choice) or {}) if as_object(choice) else choice
            for choice in choices
        ]
        if all(one is other for one, other in zip(new, choices, strict=True)):
            return event
        return {**event, "choices": new}

    def _choice(self, choice: Event) -> Event:
        for key in ("delta", "message"):
            message = as_object(choice.get(key))
            if message is None:
                continue
            index = ("choice", choice.get("index"))
            if message.get("role") == "tool" or (key == "delta" and index in self._open):
                shown = self._message(message, index if key == "delta" else None)
                is_end = choice.get("finish_reason") is not None
                return self._swap(choice, key, self._ended(shown, index) if is_end else shown)
        return choice

    def _message(self, message: Event, index: object) -> Event:
        """A message with role ``tool``, or a part of one if it has an index."""
        role, reference = message.get("role"), str(message.get("tool_call_id") or "")
        if index is None:
            return self._item(message, ("content",), reference)
        if role not in (None, "tool"):
            self._open.pop(index, None)
            return message
        if role == "tool" and reference:
            self._open[index] = Open(reference)
        opened = self._open.setdefault(index, Open(reference))
        is_text = isinstance(message.get("content"), str)
        return self._part(opened, message, "content") if is_text else message

    def _part(self, opened: Open, holder: Event, name: str) -> Event:
        """Return a part of a result up to the limit. The part that reaches it says that the rest is not shown."""
        text: str = holder[name]
        before = opened.total
        opened.total = total = before + len(text)
        if total <= self._limit:
            opened.shown = total
            return holder
        new = ""
        if before <= self._limit:
            kept = truncate(text, self._limit - before, marker="")
            opened.shown = before + len(kept)
            new = f"{kept}\n{preview_line(opened.shown, None, opened.reference)}"
        return {**holder, name: new, "metadata": with_metadata(holder, opened)}

    def _ended(self, event: Event, key: object) -> Event:
        """Return the event that ends a result, with the final counts if it was cut."""
        found = self._open.pop(key, None)
        if found is None or found.total <= self._limit:
            return event
        return {**event, "metadata": with_metadata(event, found)}

    def _item(self, item: Event, keys: tuple[str, ...], reference: str) -> Event:
        """Return a result as it may be shown: its texts share the limit."""
        total = sum(text_size(item.get(key)) for key in keys)
        if total <= self._limit:
            return item
        given = {key: item[key] for key in keys if key in item}
        budget = Budget(self._limit, given.values())
        new = {key: budget.cut(value) for key, value in given.items()}
        shown = self._limit - budget.left
        line = preview_line(shown, total, reference)
        last = list(given)[-1]
        new[last] = with_line(new[last], line, given[last])
        told = Open(reference, total, shown)
        return {**item, **new, "metadata": with_metadata(item, told)}

    @staticmethod
    def _swap(event: Event, key: str, new: Event) -> Event:
        return event if new is event.get(key) else {**event, key: new}


RESULT_DELTAS: Final = (
    *("function_call_output", "custom_tool_call_output", "local_shell_call_output"),
    *("shell_call_output", "mcp_call_output", "code_interpreter_call_output", "tool_result"),
)
"""The names in events of the Responses API that carry a part of a result, as opposed to a part of the arguments."""


MOST_TOLD: Final = 20
"""The maximum number of event types that are logged for one stream."""


def result_keys(held: Event) -> tuple[str, ...] | None:
    """Return the members of an object that hold a result; ``None`` if it is not a result.

    >>> result_keys({"type": "tool-Bash", "toolCallId": "t1", "output": "3 passed"})
    ('output', 'errorText')
    """
    kind = held.get("type")
    if isinstance(kind, str):
        if kind.endswith("tool_result"):
            return ("content",)
        if kind.startswith("tool-") and "toolCallId" in held and kind not in RESULT_PARTS:
            return RESULT_PARTS["dynamic-tool"]
        if kind in OUTPUT_ITEMS or kind in RESULT_PARTS:
            return OUTPUT_ITEMS.get(kind) or RESULT_PARTS[kind]
    if held.get("role") in ("tool", "function") and not holds_parts(held):
        return ("content",)
    if "jsonrpc" in held:  # other results of MCP, such as a list of tools, are no text
        result = as_object(held.get("result"))
        has_content = result is not None and as_list(result.get("content")) is not None
        return ("result",) if has_content else None
    if "toolCallId" in held and "result" in held:
        return ("result",)
    return None


def holds_parts(message: Event) -> bool:
    """True if the content of a message with role ``tool`` is a list of parts that are results themselves."""
    parts = map(as_object, as_list(message.get("content")) or ())
    return any(result_keys(part) is not None for part in parts if part is not None)


def reference_in(held: Event) -> str:
    """Return the id of the call that a result belongs to; empty if it has none."""
    return next((str(held[key]) for key in IDS if held.get(key)), "")


def with_metadata(holder: Event, told: Open) -> dict[str, Any]:
    """Return the metadata of an event with that of a preview."""
    members = preview_members(told.shown, told.total, told.reference)
    own = as_object(holder["metadata"]) if "metadata" in holder else None
    return {**own, **members} if own else members


def text_size(content: object, *, is_data: bool = False) -> int:
    """Return the number of characters in the texts of a result; in all strings of data."""
    if isinstance(content, str):
        return len(content)
    parts = as_list(content)
    if parts is not None:
        return sum(text_size(part, is_data=is_data) for part in parts)
    part = as_object(content)
    if part is None:
        return 0
    keys = part.keys() - NO_TEXT if is_data else text_keys(part)
    return sum(text_size(part[key], is_data=is_data) for key in keys)


def text_keys(part: Event) -> list[str]:
    """Return the members of a part that hold text: known ones in a part with a type, all of them in data.

    >>> text_keys({"type": "text", "text": "a"}), text_keys({"rows": "a", "image": {"data": "iVBO"}})
    (['text'], ['rows'])
    """
    is_untyped = holds_data(part)
    return [key for key in part if (key not in NO_TEXT if is_untyped else key in TEXT_KEYS)]


def holds_data(part: Event) -> bool:
    return not isinstance(part.get("type"), str)


def data_sizes(content: object, *, is_in_data: bool = False) -> Iterator[int]:
    """Yield the lengths of the strings in data."""
    if isinstance(content, str):
        if is_in_data:
            yield len(content)
        return
    for value in as_list(content) or ():
        yield from data_sizes(value, is_in_data=is_in_data)
    if (part := as_object(content)) is not None:
        for key in text_keys(part):
            yield from data_sizes(part[key], is_in_data=holds_data(part))


class Budget:
    """What is left of a limit while the texts of a result use it up in order.

    The shortest strings of data, such as a status or an id, come first and stay whole, up to half of the limit.

    >>> given = {"log": "line 1, line 2", "status": "ok"}
    >>> Budget(8, [given]).cut(given)
    {'log': 'line 1', 'status': 'ok'}
    """

    def __init__(self, limit: int, contents: Iterable[object]) -> None:
        self.left = limit
        self._short = 0
        sizes = Counter(size for content in contents for size in data_sizes(content))
        for size, count in sorted(sizes.items()):
            if limit - self.left + size * count > limit // 2:
                break
            self.left -= size * count
            self._short = size

    def cut(self, content: Any, *, is_in_data: bool = False) -> Any:
        """Return a content with as much of its texts as is left; parts without text stay."""
        if isinstance(content, str):
            if is_in_data and len(content) <= self._short:
                return content
            kept = truncate(content, self.left, marker="")
            self.left -= len(kept)
            return kept
        parts = as_list(content)
        if parts is not None:
            return [self.cut(part, is_in_data=is_in_data) for part in parts]
        part = as_object(content)
        if part is None:
            return content
        keys, is_inner = text_keys(part), holds_data(part)
        return {
            key: self.cut(it, is_in_data=is_inner) if key in keys else it
            for key, it in part.items()
        }


def with_line(content: Any, line: str, whole: Any) -> Any:
    """Return a content that was cut with a last line, in a text that is not whole."""
    if isinstance(content, str):
        return f"{content}\n{line}"
    if isinstance(content, list):
        if content and all(isinstance(part, str) for part in content):
            return [*content, line]
        is_typed = any("type" in (as_object(part) or {}) for part in content)
        return [*content, {"type": "text", "text": line} if is_typed else {"text": line}]
    part, given = as_object(content), as_object(whole)
    if part is None or given is None:
        return content
    last_first = text_keys(part)[::-1]
    # The text of an MCP result goes before the data that repeat it.
    for key in sorted(last_first, key=lambda key: key != "content"):
        if text_size(part[key]) and part[key] != given[key]:
            new = with_line(part[key], line, given[key])
            if new is not part[key]:
                return {**part, key: new}
    return content
