"""Fit turns to the abilities of a target. Everything else is reported as a loss, and a line may replace it.

After this, a turn holds only parts that its writer can write: the content of a result is a string, or a tuple of text
and media parts. A call without an id gets one, ``call_0`` and so on. A repeated id stays if each call with it has one result
and a turn of its own, and the target may accept it. The repair replaces ids that a destination refuses.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeVar

from toolcarry._data import read_table
from toolcarry._input.json import loads_arguments
from toolcarry._input.objects import JsonObject, as_list, as_object, first_given, text_or_empty
from toolcarry._util.plural import counted
from toolcarry.api.convert.losses import Losses, listed
from toolcarry.api.convert.media import (
    Answer,
    is_base64,
    read_answer,
    read_data_url,
    read_image,
    read_media,
)
from toolcarry.api.convert.model import (
    Call,
    Family,
    Item,
    Media,
    Orphan,
    Part,
    PortableTurn,
    Result,
    Text,
    Thought,
)
from toolcarry.api.convert.native import BLOCKS, is_own_call, is_own_result, is_server_call
from toolcarry.model.content import part_text, result_text
from toolcarry.model.content.media import is_data_url
from toolcarry.model.dedupe.failure import MARK, MARKS
from toolcarry.model.formats.anthropic import SERVER_CALL_PARTS
from toolcarry.model.formats.responses import PROGRAMS
from toolcarry.model.formats.responses import SERVER_CALLS as SERVER_ITEMS

# https://ai.google.dev/gemini-api/docs/thought-signatures
UNSIGNED: Final[str] = read_table("texts")["unsigned_call"]
"""The signature that Google accepts for a call that none of its models made: since Gemini 3, a turn whose first call has no signature is refused."""


def signature_of(wire: JsonObject) -> str:
    """Return the signature of a Gemini part, or of a call in Google's OpenAI format; empty if there is none.

    >>> signature_of({"functionCall": {"name": "f"}, "thoughtSignature": "c2ln"})
    'c2ln'
    """
    held = as_object((as_object(wire.get("extra_content")) or {}).get("google")) or {}
    given = text_or_empty(first_given(wire, "thoughtSignature", "thought_signature"))
    found = given or text_or_empty(held.get("thought_signature"))
    return "" if found == UNSIGNED else found


def split_prompt(turns: Sequence[PortableTurn], losses: Losses) -> tuple[str, list[PortableTurn]]:
    """Return the system prompt as one text, and the other turns. System text between turns moves to the prompt, and is reported."""
    prompt: list[str] = []
    others: list[PortableTurn] = []
    for turn in turns:
        if turn.role != "system":
            others.append(turn)
            continue
        prompt += [part.text for part in turn.parts if isinstance(part, Text)]
        if others:
            losses.add(turn.parts[0].position, "moved_system", "")
    return "\n\n".join(prompt), others


BOTH: Final = frozenset(("data", "url"))
DATA: Final = frozenset(("data",))
ON_SOME_SERVER: Final = frozenset(
    (*SERVER_ITEMS, *PROGRAMS, *SERVER_CALL_PARTS, "server_tool_call")
)
"""The types of calls that ran on the provider's server."""
CUSTOM: Final[dict[str, Family]] = {"custom_tool_call": "responses", "custom": "openai"}
"""The types of calls with free text, and the formats that have them."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """The abilities of a target: media as bytes or by URL, and others that not all targets have."""

    family: Family
    media: dict[str, frozenset[str]] = field(default_factory=dict)
    has_media_in_results: bool = False
    has_errors: bool = False
    has_plain_thinking: bool = False
    formats: dict[str, str] = field(default_factory=dict)
    """The accepted media types, and their names in the target; empty if all are accepted."""


ANTHROPIC: Final = Capabilities(
    "anthropic", {"image": BOTH, "document": BOTH}, has_media_in_results=True, has_errors=True
)
OPENAI: Final = Capabilities("openai", {"image": BOTH, "document": DATA, "audio": DATA})
RESPONSES: Final = Capabilities(
    "responses",
    {"image": BOTH, "document": BOTH},
    has_media_in_results=True,
)
GEMINI: Final = Capabilities(
    "gemini",
    {"image": BOTH, "document": BOTH, "audio": BOTH, "video": BOTH},
    has_errors=True,
)
BEDROCK: Final = Capabilities(
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
OLLAMA: Final = Capabilities("ollama", {"image": DATA}, has_plain_thinking=True)


def fit(turns: Sequence[PortableTurn], holds: Capabilities, losses: Losses) -> list[PortableTurn]:
    """Return the turns with only what the target can hold; empty ones are dropped."""
    found: list[PortableTurn] = []
    for turn in turns:
        fitting = Fitting(turn, holds, losses)
        found.append(replace(turn, parts=tuple(fitting.parts())))
        found.append(PortableTurn("user", tuple(fitting.moved)))
    return [turn for turn in found if turn.parts or "audio" in turn.members]


class Fitting:
    """Fits one turn to the target."""

    def __init__(self, turn: PortableTurn, holds: Capabilities, losses: Losses) -> None:
        self._turn = turn
        self._holds = holds
        self._losses = losses
        self.moved: list[Text | Media] = []
        """The media of results that the target takes in a user message alone, after a line that says whose they are."""

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
                yield replace(part, result=self._result(part.result, part.call_id))
            elif self._stays(part):
                yield part

    def _stays(self, part: Thought | Item) -> bool:
        """True if the target accepts a thought, or a part that only its own family knows."""
        if part.family == self._holds.family:
            return True
        if isinstance(part, Item):
            is_sealed = "encrypted_content" in part.wire
            note = ", which only the provider that wrote it can read" if is_sealed else ""
            self._losses.add(part.position, "unknown", f"an item {part.wire.get('type')}{note}")
            return False
        is_signed = part.family in ("anthropic", "responses", "bedrock")
        if self._holds.has_plain_thinking and part.text and not is_signed:
            return True
        self._losses.add(part.position, "thinking", counted(len(part.text), "character"))
        return False

    def _takes(self, part: Text) -> bool:
        """True if the target accepts this text: Anthropic and Bedrock refuse text that is only spaces."""
        if part.text.strip() or self._holds.family not in ("anthropic", "bedrock"):
            return True
        if part.text:
            self._losses.add(part.position, "blank_text", "")
        return False

    def _text(self, part: Text) -> Text:
        self._check_cache(part.wire, part.position)
        self._check_signature(part.wire, part.position, "a text")
        self._check_wrapper(part)
        is_anthropic = self._holds.family == "anthropic"
        is_kept = self._holds.family == "responses" and part.wire.get("type") == "output_text"
        if (part.wire.get("annotations") and not is_kept) or (
            part.wire.get("citations") and not is_anthropic
        ):
            self._losses.add(part.position, "citations", "of a text")
        return part

    def _check_wrapper(self, part: Text) -> None:
        """Report the loss of the wrapper of a text part: of a compaction, of citations or of a guardrail."""
        if part.wire.get("type") == "compaction":
            is_sealed = bool(part.wire.get("encrypted_content"))
            sealed = ", without its encrypted content" if is_sealed else ""
            self._losses.add(part.position, "compaction", f"a summary became text{sealed}")
        if (as_object(part.wire.get("citationsContent")) or {}).get("citations"):
            self._losses.add(part.position, "citations", "of a text")
        if "guardContent" in part.wire:
            self._losses.add(part.position, "guardrail", "of a text")

    def _media(self, part: Media, *, can_stand: bool, result_of: str | None = None) -> Text | Media:
        """Return the part unchanged if the target can hold it, else a line that describes it."""
        self._check_cache(part.wire, part.position)
        is_broken = bool(part.data) and not is_base64(part.data)
        way = "url" if part.url else "data" if part.data and part.media_type else ""
        if is_broken or (self._holds.formats and part.media_type not in self._holds.formats):
            way = ""
        is_own = part.family == self._holds.family
        can_hold = is_own or way in self._holds.media.get(part.kind, ())
        if can_hold and (can_stand or (is_own and result_of is None)):
            return part
        if can_hold and result_of is not None:
            return self._moved(part, result_of)
        where = "" if result_of is None else f", in the result of {result_of}"
        line = part.line
        if len(line) > 100:
            line = f"{part.kind}, {counted(len(line), 'character')}"
        reason = ": its data are not base64" if is_broken else ""
        self._losses.add(part.position, "media", f"{line}{where}{reason}")
        return Text(part.position, part.line, {})

    def _moved(self, part: Media, result_of: str) -> Text:
        """Move a part of a result to the user message after it, and return the line that stays."""
        title = f"[from the result of {result_of}]"
        if not any(isinstance(each, Text) and each.text == title for each in self.moved):
            self.moved.append(Text(part.position, title, {}))
        self.moved.append(part)
        self._losses.add(part.position, "moved_media", f"{part.kind} in the result of {result_of}")
        return Text(part.position, part.line, {})

    def _call(self, call: Call) -> Call:
        wire, position, name = call.wire, call.position, f"{call.name} {call.call_id}".rstrip()
        if not is_own_call(wire, self._holds.family):
            self._check_cache(wire, position)
            self._check_signature(wire, position, name)
        kind = text_or_empty(wire.get("type"))
        is_on_server = any(is_server_call(wire, family) for family in ("gemini", "bedrock"))
        if kind in ON_SOME_SERVER or is_on_server:
            self._losses.add(position, "server_tool", name)
        if CUSTOM.get(kind, self._holds.family) != self._holds.family:
            self._losses.add(position, "custom_tool", name)
        if not is_own_call(wire, self._holds.family) and not is_object(call.arguments):
            self._losses.add(position, "arguments", name)
        results = tuple(self._result(result, name) for result in call.results)
        return replace(call, results=results)

    def _result(self, result: Result, name: str) -> Result:
        is_own = is_own_result(result.wire, self._holds.family)
        if is_own and self._holds.family != "anthropic":
            return result  # stays unchanged
        self._check_cache(result.wire, result.position)
        if result.is_error and not self._holds.has_errors:
            self._losses.add(result.position, "is_error", name)
        content = self._content(result.content, result.position, name, is_own=is_own)
        if result.wire.get("role") is not None:
            content = self._with_images(content, result, name)
        if not self._holds.has_errors:
            return replace(result, content=marked(content, result) if result.is_error else content)
        plain = content if is_own or result.is_error else unmarked(content)
        return replace(result, content=plain, is_error=result.is_error or plain != content)

    def _with_images(self, content: Content, result: Result, name: str) -> Content:
        """Return content with the images that a result of Ollama has next to it."""
        images = (
            each for each in as_list(result.wire.get("images")) or () if isinstance(each, str)
        )
        can_stand = self._holds.has_media_in_results
        found = [
            self._media(read_image(image, result.position), can_stand=can_stand, result_of=name)
            for image in images
        ]
        if not any(isinstance(part, Media) for part in found):
            lines = [part.text for part in found if isinstance(part, Text)]
            return (
                "\n".join(filter(None, (content, *lines))) if isinstance(content, str) else content
            )
        said = (Text(result.position, content, {}),) if isinstance(content, str) else content
        return (*(said if content else ()), *found)

    def _content(
        self, content: object, position: int, name: str, *, is_own: bool
    ) -> str | tuple[Text | Media | Item, ...]:
        """Return the content of a result: its text, or its parts if the target supports parts that are not text.

        If the result is in the target's own format, all parts that the format knows stay unchanged.
        """
        can_stand = self._holds.has_media_in_results
        parts: list[Text | Media | Item] = []
        answer = read_answer(content)
        self._check_answer(answer, position, name)
        for item in answer.items:
            part = as_object(item)
            media = read_media(part, position) if part is not None else None
            text = item if isinstance(item, str) else (part or {}).get("text")
            if media is None and isinstance(text, str) and is_data_url(text):
                media = read_data_url(text, position)
            if is_own and part is not None and text_or_empty(part.get("type")) in BLOCKS:
                parts.append(Item(position, self._holds.family, part))
            elif media is None:
                parts.append(Text(position, part_text(item, 0), part or {}))
            else:
                parts.append(self._media(media, can_stand=can_stand, result_of=name))
        is_whole = is_own and not any(isinstance(part, Text) for part in parts)
        has_parts = is_whole or any(isinstance(part, Media) for part in parts)
        return tuple(parts) if has_parts else result_text(content)

    def _check_answer(self, answer: Answer, position: int, name: str) -> None:
        """Report the rest of an answer of the Model Context Protocol: content that its text repeats, and metadata."""
        if answer.is_repeated:
            detail = f"structuredContent of {name}: its text says the same"
            self._losses.add(position, "repeated", detail)
        if answer.has_metadata:
            self._losses.add(position, "metadata", f"_meta of the result of {name}")

    def _check_cache(self, wire: JsonObject, position: int | None) -> None:
        if wire.get("cache_control") is None:
            return
        if self._holds.family != "anthropic":
            self._losses.add(position, "cache_control", "")
        elif self._turn.role == "system":
            self._losses.add(position, "cache_control", "of the system prompt, which is one text")

    def _check_signature(self, wire: JsonObject, position: int | None, where: str) -> None:
        """Report a thought that only Google's models can read again; the next part holds its signature."""
        if self._holds.family != "gemini" and signature_of(wire):
            self._losses.add(position, "thinking", f"the signature of {where}")


Content = str | tuple[Text | Media | Item, ...]


def marked(content: Content, result: Result) -> Content:
    """Return the content of a failed result with a mark in words, by which ``unmarked`` and all readers know it."""
    if isinstance(content, str):
        if content.startswith(MARKS):
            return content
        return f"{MARK}\n{content}" if content else MARK
    return (Text(result.position, MARK, {}), *content)


def unmarked(content: Content) -> Content:
    """Return content without the mark of ``marked``."""
    if isinstance(content, str):
        return content.removeprefix(MARK).removeprefix("\n") if is_marked(content) else content
    first = content[0] if content else None
    return content[1:] if isinstance(first, Text) and first.text == MARK else content


def is_marked(text: str) -> bool:
    return text == MARK or text.startswith(f"{MARK}\n")


def is_object(arguments: object) -> bool:
    """True if arguments are an object, or the JSON text of one."""
    if isinstance(arguments, str):
        given = loads_arguments(arguments)
        return not given or (
            given != {"arguments": arguments} and arguments.lstrip().startswith("{")
        )
    return arguments is None or isinstance(arguments, dict)


MALFORMED: Final = "INVALID_JSON"
"""The only member of an object in place of arguments that are not JSON, such as those of a model that was cut off.

The call stays, so that its result has one, and the model sees its own text next to the error that the tool returned.
pydantic-ai uses this key too (``messages.py``). No tool has an argument of this name; mending the JSON would be a guess.
"""


def arguments_of(call: Call) -> dict[str, Any]:
    """Return the arguments of a call as an object.

    >>> arguments_of(Call(0, "t1", "Bash", '{"command": "l', (), {}))
    {'INVALID_JSON': '{"command": "l'}
    """
    return (
        {MALFORMED: call.arguments}
        if is_malformed(call.arguments)
        else loads_arguments(call.arguments)
    )


def is_malformed(arguments: object) -> bool:
    """Return true if arguments are a string that is not JSON."""
    return isinstance(arguments, str) and loads_arguments(arguments) == {"arguments": arguments}


PartOf = TypeVar("PartOf", Call, Item, Orphan)


def wrap_malformed(turns: Iterable[PortableTurn]) -> list[PortableTurn]:
    """Return the turns with an object in place of arguments that are not JSON, which destinations refuse."""

    def wrapped(part: Part) -> Part:
        if isinstance(part, Call) and is_malformed(part.arguments):
            return replace(part, arguments=arguments_of(part))
        return part

    return [replace(turn, parts=tuple(map(wrapped, turn.parts))) for turn in turns]


LONGEST_STEM: Final = 32
"""The most characters of an id that stay before a number."""
REPEATING: Final = ("openai", "responses", "gemini")
"""The targets that accept the same id again in another turn."""


def give_ids(turns: Sequence[PortableTurn], target: Family, losses: Losses) -> list[PortableTurn]:
    """Return the turns with ids that pair calls and results. Ollama gets only the ids that the order cannot replace, and
    for Gemini no id is made up that the order can replace.
    """
    ids = Ids(turns, target, losses)
    found: list[PortableTurn] = []
    for turn in turns:
        parts = (
            ids.named(part) if isinstance(part, (Call, Orphan)) else part for part in turn.parts
        )
        found.append(replace(turn, parts=tuple(parts)))
    ids.tell()
    return found


class Ids:
    """The ids that were assigned, and those of later calls."""

    def __init__(self, turns: Sequence[PortableTurn], target: Family, losses: Losses) -> None:
        self._target = target
        self._losses = losses
        self._given: set[str] = set()
        self._made_up: list[str] = []
        self._next = 0
        self._has_lost = False
        taken = (text_or_empty(item.wire.get("id")) for item in parts_of_kind(turns, Item))
        self._taken = set(taken)
        self._taken |= {part.call_id for part in parts_of_kind(turns, Orphan)}
        self._taken |= {part.call_id for part in parts_of_kind(turns, Call)}
        self._numbers: dict[str, int] = {}
        """The next number for each id that several calls have."""
        self._may_repeat = clear_ids(turns) if target in REPEATING else set()

    def named(self, part: Call | Orphan) -> Call | Orphan:
        """Return the part with its id in the target."""
        call_id = part.call_id
        is_clear = isinstance(part, Call) and len(part.results) == 1
        if is_clear and (self._target == "ollama" or (self._target == "gemini" and not call_id)):
            self._has_lost = self._has_lost or call_id != ""
            return replace(part, call_id="")
        if not call_id:
            return replace(part, call_id=self._make_up())
        new = call_id
        if isinstance(part, Call) and self._is_given(call_id):
            new = self._numbered(call_id)
        if isinstance(part, Call):
            self._given.add(new)
        if new != call_id:
            self._losses.add(part.position, "changed_id", f"{call_id} is {new}")
        return replace(part, call_id=new)

    def _is_given(self, call_id: str) -> bool:
        return call_id in self._given and call_id not in self._may_repeat

    def _numbered(self, call_id: str) -> str:
        """Return an id like ``call_id``, which another call has: with the first free number after it."""
        new = stem = call_id[:LONGEST_STEM]
        number = self._numbers.get(stem, 2)
        while new in self._taken:
            new = f"{stem}_{number}"
            number += 1
        self._numbers[stem] = number
        self._taken.add(new)
        return new

    def _make_up(self) -> str:
        """Return an id for a call without one."""
        while (new := f"call_{self._next}") in self._taken:
            self._next += 1
        self._taken.add(new)
        self._made_up.append(new)
        return new

    def tell(self) -> None:
        if self._made_up:
            self._losses.add(None, "made_up_ids", listed(self._made_up, 5))
        if self._has_lost:
            self._losses.add(None, "no_ids", "calls and results are paired by their order")


def parts_of_kind(turns: Iterable[PortableTurn], kind: type[PartOf]) -> Iterator[PartOf]:
    """Return the parts of one kind."""
    return (part for turn in turns for part in turn.parts if isinstance(part, kind))


def clear_ids(turns: Iterable[PortableTurn]) -> set[str]:
    """Return the repeated ids whose calls can be distinguished by position: each has one result and a separate turn."""
    seen: set[str] = set()
    unclear: set[str] = set()
    for turn in turns:
        in_turn: set[str] = set()
        for call in parts_of_kind([turn], Call):
            if len(call.results) != 1 or call.call_id in in_turn:
                unclear.add(call.call_id)
            in_turn.add(call.call_id)
        seen |= in_turn
    return seen - unclear
