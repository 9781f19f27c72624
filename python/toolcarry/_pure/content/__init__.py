"""The text of a result, whatever kind of thing came back, and what a message says aloud."""

from __future__ import annotations

from typing import Any

from toolcarry._data import read_table
from toolcarry._input.json import compact_json
from toolcarry._input.objects import Wire, as_list, as_object, text_or_empty
from toolcarry._pure.content.media import (
    FILES,
    MEDIA,
    UNTYPED_MEDIA,
    address_line,
    base64_line,
    blob_line,
    found_line,
    holds_media,
    is_opaque,
    is_text,
    is_untyped_data,
    media_line,
)

HINTS = (
    '"data:',
    '"data":',
    '"blob"',
    '"bytes":',
    '"base64":',
    '"file_data":',
    '"encrypted_content":',
)
"""One of these stands in JSON that holds base64: most does not, and is not looked at again."""


def answer_json(value: object) -> str:
    """``value`` as compact JSON without base64, which is never text: every other member stands as it came.

    Of media only the text that is base64 becomes a line, in its place; what stands beside it is part of the answer.
    The Rust backend asks for this where it can't write an object itself.

    >>> answer_json({"a": "data:image/png;base64,aGk="})
    '{"a":"[image: image/png, 2 bytes]"}'
    """
    written = compact_json(value)
    return compact_json(readable(value)) if any(hint in written for hint in HINTS) else written


def readable(value: Any, name: str = "") -> Any:
    """A copy of what stands under a name, with lines for base64; ``compact_json`` has refused what is too deep."""
    if isinstance(value, dict):
        return {key: readable_member(value, key, item, name) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [readable(item) for item in value]
    return address_line(value) if isinstance(value, str) else value


def readable_member(holder: Wire, key: str, item: Any, name: str) -> Any:
    """A member of an object that stands under a name itself, which may say that it is media."""
    line = base64_line(holder, key, item, name) if isinstance(item, str) else None
    return readable(item, key) if line is None else line


TABLE = read_table("parts")
STAND_INS: tuple[str, ...] = tuple(read_table("texts")["stand_ins"])
"""How texts begin that stand for a result: for one that never came, was cleared, or was given before."""
INITIALS = frozenset(text[0] for text in STAND_INS)

MAX_PARTS = 8
"""How deep parts may stand in parts: deeper ones are shown as JSON."""
TEXTS: tuple[str, ...] = tuple(TABLE["text_parts"])
"""The kinds of parts that are text, whatever else they say."""
HOLDERS: tuple[str, ...] = tuple(TABLE["held_parts"])
"""The kinds of parts that hold text or data under their name."""
NAMED: tuple[str, ...] = tuple(TABLE["named_parts"])
"""The kinds of parts that are text under their name."""
ASIDE: tuple[str, ...] = tuple(TABLE["aside_keys"])
"""What a part may say beside what it is."""
ANSWER: tuple[str, ...] = tuple(TABLE["answer_keys"])
"""The members of an answer as the Model Context Protocol has it."""


def is_stand_in(content: object) -> bool:
    """Whether the content of a result only stands for one that is not here."""
    text = content if type(content) is str else result_text(content) if content else ""
    return text[:1] in INITIALS and text.startswith(STAND_INS)


def result_text(content: object, depth: int = 0) -> str:
    """The text of a result: parts on lines of their own; what is no text becomes a line that names it."""
    if type(content) is not list:
        if isinstance(content, str):
            return address_line(content)
        if content is None:
            return ""
        if not isinstance(content, (list, tuple)):
            return part_text(content, depth)
    if len(content) == 1:
        part = content[0]
        if type(part) is dict and part.get("type") == "text":  # nearly always: spares a call
            text = part.get("text")
            if isinstance(text, str):
                return text
        return part_text(part, depth)
    return "\n".join([part_text(part, depth) for part in content])


def part_text(item: object, depth: int) -> str:
    """The text of one part of a result; parts may hold parts. What no reader knows is JSON."""
    if isinstance(item, str):
        return address_line(item)
    part = as_object(item)
    if part is None:
        return answer_json(item)
    kind, text = part.get("type"), part.get("text")
    if isinstance(text, str) and (kind in TEXTS or is_bare(part, "text")):
        return text
    is_typed = isinstance(kind, str)
    found = typed_text(part, str(kind), depth) if is_typed else untyped_text(part, depth)
    return answer_json(part) if found is None else found


def is_bare(part: Wire, key: str) -> bool:
    """Whether a part says nothing but what stands under a key, so that nothing is lost with the rest of it."""
    return key in part and len(part) == 1 + sum(name in part for name in ASIDE)


def typed_text(part: Wire, kind: str, depth: int) -> str | None:
    """The text of a part that says its type; ``None`` where it is JSON."""
    if kind == "blob" and isinstance(part.get("content"), str):  # OpenTelemetry
        return blob_line(part, part["content"])
    printed = part.get("stdout")
    if isinstance(printed, str) and kind.endswith("result") and depth < MAX_PARTS:
        errors = [part["stderr"]] if text_or_empty(part.get("stderr")) else []
        files = as_list(part.get("content")) or ()
        return "\n".join([part_text(each, depth + 1) for each in (printed, *errors, *files)])
    held = as_object(part.get("source" if kind == "document" else kind))
    inner = part if held is None else held
    is_known = kind in MEDIA or kind in HOLDERS
    is_text = is_known or (is_bare(part, kind) and is_bare(inner, "text"))
    if is_text and isinstance(inner.get("text"), str):
        text: str = inner["text"]
        return text
    if is_known or kind.endswith("result") or is_bare(part, "content"):
        content = part.get("content") if is_empty(inner.get("content")) else inner["content"]
        if is_followed(content) and depth < MAX_PARTS:
            text = result_text(content, depth + 1)
            return f"{found_line(part)}\n{text}" if kind == "search_result" else text
    if kind in MEDIA or is_opaque(part) or is_opaque(inner):
        return media_line(kind, part)
    named = part.get(kind) if kind in NAMED else None
    return named if isinstance(named, str) else None


def is_empty(content: object) -> bool:
    return content is None or content == "" or (isinstance(content, (list, tuple)) and not content)


def is_followed(content: object) -> bool:
    """Whether content is text or parts: a list, or an object with a type, as what was fetched."""
    if isinstance(content, (str, list, tuple)):
        return True
    part = as_object(content)
    return part is not None and "type" in part


def untyped_text(part: Wire, depth: int) -> str | None:
    """The text of a part that doesn't say its type; ``None`` where it is JSON.

    Of Gemini's and Bedrock's parts the only key tells it.
    """
    medium = untyped_medium(part)
    if medium is not None:
        kind, holder = medium
        return untyped_media(kind, part, holder, depth)
    if len(part) == 1 and "json" in part:
        return answer_json(part["json"])
    answer = as_object(part.get("functionResponse")) if len(part) == 1 else None
    if answer is not None and depth < MAX_PARTS:  # Gemini: media, and an answer beside them
        response = [] if answer.get("response") is None else [answer["response"]]
        parts = as_list(answer.get("parts")) or ()
        return "\n".join([part_text(each, depth + 1) for each in (*response, *parts)])
    content = as_list(part.get("content"))
    if content and depth < MAX_PARTS and len(part) == sum(name in part for name in ANSWER):
        first = as_object(content[0])
        if first is not None and isinstance(first.get("type"), str):
            return result_text(content, depth + 1)
    return media_line("inlineData", part) if is_untyped_data(part) else None


def untyped_medium(part: Wire) -> tuple[str, Wire] | None:
    """The kind of media that a part without a type holds, and what holds them; ``None`` where it holds none."""
    for kind in UNTYPED_MEDIA:
        holder = as_object(part.get(kind))
        is_part = kind in FILES or is_bare(part, kind)
        if holder is not None and is_part and holds_media(holder):
            return kind, holder
    return None


def is_of_media(part: Wire) -> bool:
    """Whether a part is of a kind that holds media, a document's text among them."""
    kind = part.get("type")
    if isinstance(kind, str):
        return kind in MEDIA
    return untyped_medium(part) is not None or is_untyped_data(part)


def is_media(part: Wire) -> bool:
    """Whether a part is an image, a document, a sound or a film, and not a document's text."""
    kind = part.get("type")
    if isinstance(kind, str):
        held = as_object(part.get("source" if kind == "document" else kind))
        return kind in MEDIA and not is_text(part if held is None else held)
    medium = untyped_medium(part)
    if medium is None:
        return is_untyped_data(part)
    held = as_object(medium[1].get("source"))
    return not is_text(medium[1] if held is None else held)


def untyped_media(kind: str, part: Wire, holder: Wire, depth: int) -> str:
    """A part that holds media under their kind: a document may be text all the same."""
    held = as_object(holder.get("source"))
    source = holder if held is None else held
    if kind == "document":
        text = source.get("text")
        if isinstance(text, str):
            return text
        content = as_list(source.get("content"))
        if content and depth < MAX_PARTS:
            return result_text(content, depth + 1)
    return media_line(kind, part)


def spoken_text(content: object) -> str:
    """The text of a message: a string, or the text parts of a list."""
    if isinstance(content, str):
        return content
    texts: list[str] = []
    for item in as_list(content) or ():
        text = item if isinstance(item, str) else spoken_part(as_object(item) or {})
        if text is not None:
            texts.append(text)
    return "\n".join(texts)


def spoken_part(part: Wire) -> str | None:
    """What a part of a message says aloud; ``None`` where it is no text, or a thought."""
    kind = part.get("type")
    if (kind is not None and kind not in TEXTS) or part.get("thought") is True:
        return None
    text = part.get("text")
    if text is None and kind == "text":
        text = part.get("content")  # OpenTelemetry
    return text if isinstance(text, str) else None
