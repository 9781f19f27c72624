"""What the target can hold of each turn. What it cannot is told, and a line stands for it where there is one.

After this a turn holds only what its writer writes: a result's content is a text, or a tuple of texts and media.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from toolcarry._input.json import loads_arguments
from toolcarry._input.objects import Wire, as_list, as_object, text_or_empty
from toolcarry._pure.content import part_text, result_text
from toolcarry._pure.formats.responses import ON_SERVER
from toolcarry._util.plural import counted
from toolcarry.convert.losses import Losses
from toolcarry.convert.media import items_of, read_media
from toolcarry.convert.own import BLOCKS, ON_GEMINI, is_own_call, is_own_result
from toolcarry.convert.parts import (
    Call,
    Family,
    Item,
    Media,
    Orphan,
    Part,
    Result,
    Text,
    Thought,
    Turn,
)
from toolcarry.convert.signature import signature_of

BOTH: Final = frozenset(("data", "url"))
DATA: Final = frozenset(("data",))
ON_SOME_SERVER: Final = frozenset(
    (*ON_SERVER, "server_tool_use", "mcp_tool_use", "server_tool_call")
)
"""The types of calls that ran at the provider's."""
CUSTOM: Final[dict[str, Family]] = {"custom_tool_call": "responses", "custom": "openai"}
"""The types of calls with free text, and whose they are."""


@dataclass(frozen=True, slots=True)
class Holds:
    """What a target can hold: media by their bytes or their address, and what else not all of them can."""

    family: Family
    media: dict[str, frozenset[str]] = field(default_factory=dict)
    has_media_in_results: bool = False
    has_errors: bool = False
    has_arguments_as_text: bool = False
    has_plain_thinking: bool = False
    formats: dict[str, str] = field(default_factory=dict)
    """The media types that it takes, and what it calls them; any, where none is named."""


ANTHROPIC: Final = Holds(
    "anthropic", {"image": BOTH, "document": BOTH}, has_media_in_results=True, has_errors=True
)
OPENAI: Final = Holds(
    "openai", {"image": BOTH, "document": DATA, "audio": DATA}, has_arguments_as_text=True
)
RESPONSES: Final = Holds(
    "responses",
    {"image": BOTH, "document": BOTH},
    has_media_in_results=True,
    has_arguments_as_text=True,
)
GEMINI: Final = Holds(
    "gemini",
    {"image": BOTH, "document": BOTH, "audio": BOTH, "video": BOTH},
    has_errors=True,
)
BEDROCK: Final = Holds(
    "bedrock",
    {"image": DATA, "document": DATA},
    has_media_in_results=True,
    has_errors=True,
    formats={
        "image/png": "png",
        "image/jpeg": "jpeg",
        "image/jpg": "jpeg",
        "image/gif": "gif",
        "image/webp": "webp",
        "application/pdf": "pdf",
        "text/csv": "csv",
        "application/msword": "doc",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
        "application/vnd.ms-excel": "xls",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
        "text/html": "html",
        "text/plain": "txt",
        "text/markdown": "md",
    },
)
OLLAMA: Final = Holds("ollama", {"image": DATA}, has_plain_thinking=True)


def fit(turns: Sequence[Turn], holds: Holds, losses: Losses) -> list[Turn]:
    """The turns with what the target can hold; those of which nothing is left go."""
    found = [replace(turn, parts=tuple(Fitting(turn, holds, losses).parts())) for turn in turns]
    return [turn for turn in found if turn.parts]


class Fitting:
    """One turn on its way to the target."""

    def __init__(self, turn: Turn, holds: Holds, losses: Losses) -> None:
        self._turn = turn
        self._holds = holds
        self._losses = losses

    def parts(self) -> Iterator[Part]:
        for part in self._turn.parts:
            if isinstance(part, Text):
                if self._takes(part):
                    yield self._text(part)
            elif isinstance(part, Media):
                yield self._media(part, can_stand=self._turn.role == "user")
            elif isinstance(part, Call):
                yield self._call(part)
            elif isinstance(part, Orphan):
                self._losses.add(part.position, "orphan_result", f"{part.name} {part.call_id}")
                yield replace(part, result=self._result(part.result, part.call_id))
            elif self._stays(part):
                yield part

    def _stays(self, part: Thought | Item) -> bool:
        """Whether the target takes thinking, or what only its own family knows."""
        if part.family == self._holds.family:
            return True
        if isinstance(part, Item):
            self._losses.add(part.position, "unknown", f"an item {part.wire.get('type')}")
            return False
        is_signed = part.family in ("anthropic", "responses", "bedrock")
        if self._holds.has_plain_thinking and part.text and not is_signed:
            return True
        self._losses.add(part.position, "thinking", counted(len(part.text), "character"))
        return False

    def _takes(self, part: Text) -> bool:
        """Whether the target takes a text: Anthropic and Bedrock refuse those of nothing but spaces."""
        if part.text.strip() or self._holds.family not in ("anthropic", "bedrock"):
            return True
        if part.text:
            self._losses.add(part.position, "blank_text", "")
        return False

    def _text(self, part: Text) -> Text:
        self._check_cache(part.wire, part.position)
        self._check_signature(part.wire, part.position, "a text")
        is_anthropic = self._holds.family == "anthropic"
        is_kept = self._holds.family == "responses" and part.wire.get("type") == "output_text"
        if (part.wire.get("annotations") and not is_kept) or (
            part.wire.get("citations") and not is_anthropic
        ):
            self._losses.add(part.position, "citations", "of a text")
        return part

    def _media(self, part: Media, *, can_stand: bool, where: str = "") -> Text | Media:
        """The part as it is where the target holds it, else the line that names it."""
        self._check_cache(part.wire, part.position)
        way = "url" if part.url else "data" if part.data and part.media_type else ""
        if self._holds.formats and part.media_type not in self._holds.formats:
            way = ""
        is_own = part.family == self._holds.family
        if can_stand and (is_own or way in self._holds.media.get(part.kind, ())):
            return part
        line = part.line
        if len(line) > 100:
            line = f"{part.kind}, {counted(len(line), 'character')}"
        self._losses.add(part.position, "media", f"{line}{where}")
        return Text(part.position, part.line, {})

    def _call(self, call: Call) -> Call:
        wire, position, name = call.wire, call.position, f"{call.name} {call.call_id}".rstrip()
        if not is_own_call(wire, self._holds.family):
            self._check_cache(wire, position)
            self._check_signature(wire, position, name)
        kind = text_or_empty(wire.get("type"))
        if kind in ON_SOME_SERVER or any(key in wire for key in ON_GEMINI):
            self._losses.add(position, "server_tool", name)
        if CUSTOM.get(kind, self._holds.family) != self._holds.family:
            self._losses.add(position, "custom_tool", name)
        if not self._holds.has_arguments_as_text and not is_object(call.arguments):
            self._losses.add(position, "arguments", name)
        if not call.results:
            self._losses.add(position, "orphan_call", name)
        for result in call.results[1:]:
            self._losses.add(result.position, "second_result", name)
        results = tuple(self._result(result, name) for result in call.results)
        return replace(call, results=results)

    def _result(self, result: Result, name: str) -> Result:
        is_own = is_own_result(result.wire, self._holds.family)
        if is_own and self._holds.family != "anthropic":
            return result  # goes on as it stands
        self._check_cache(result.wire, result.position)
        if result.is_error and not self._holds.has_errors:
            self._losses.add(result.position, "is_error", name)
        if result.wire.get("role") is not None and as_list(result.wire.get("images")):
            self._losses.add(result.position, "media", f"images in the result of {name}")
        content = self._content(result.content, result.position, name, is_own=is_own)
        return replace(result, content=content)

    def _content(
        self, content: object, position: int, name: str, *, is_own: bool
    ) -> str | tuple[Text | Media | Item, ...]:
        """The content of a result: its text, or its parts where the target holds some that are none.

        Of the target's own result, all parts that it knows stay as they are.
        """
        can_stand = self._holds.has_media_in_results
        parts: list[Text | Media | Item] = []
        for item in items_of(content):
            part = as_object(item)
            media = read_media(part, position) if part is not None else None
            if is_own and part is not None and part.get("type") in BLOCKS:
                parts.append(Item(position, self._holds.family, part))
            elif media is None:
                parts.append(Text(position, part_text(item, 0), part or {}))
            else:
                where = f", in the result of {name}"
                parts.append(self._media(media, can_stand=can_stand, where=where))
        is_whole = is_own and not any(isinstance(part, Text) for part in parts)
        has_parts = is_whole or any(isinstance(part, Media) for part in parts)
        return tuple(parts) if has_parts else result_text(content)

    def _check_cache(self, wire: Wire, position: int | None) -> None:
        if wire.get("cache_control") is None:
            return
        if self._holds.family != "anthropic":
            self._losses.add(position, "cache_control", "")
        elif self._turn.role == "system":
            self._losses.add(position, "cache_control", "of the system prompt, which is one text")

    def _check_signature(self, wire: Wire, position: int | None, where: str) -> None:
        """A thought that only Google's models can read again, of which they leave the signature at what follows."""
        if self._holds.family != "gemini" and signature_of(wire):
            self._losses.add(position, "thinking", f"the signature of {where}")


def is_object(arguments: object) -> bool:
    """Whether arguments are an object, or the JSON text of one."""
    if isinstance(arguments, str):
        given = loads_arguments(arguments)
        return not given or (
            given != {"arguments": arguments} and arguments.lstrip().startswith("{")
        )
    return arguments is None or isinstance(arguments, dict)


def arguments_of(call: Call) -> dict[str, Any]:
    """The arguments of a call as an object."""
    return loads_arguments(call.arguments)
