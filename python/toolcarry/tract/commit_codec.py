"""Messages of any format as commits: one for the text and calls of a message, one for each tool result.

The metadata of a commit describes its content. With ``record``, the content is a message or a line of a file,
unchanged, and the number is the index of the part that the commit represents. Without ``record``, the content is the
text itself. A result that was truncated before it was committed is stored and flagged.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from toolcarry import _backend
from toolcarry._input.document import loads_line
from toolcarry._input.json import loads
from toolcarry._input.objects import MAX_DEPTH, as_list, as_object, is_too_deep
from toolcarry._pure.content import THINKING_PARTS
from toolcarry._pure.formats import UNKNOWN
from toolcarry._pure.formats.message import MessageParts, ToolResult
from toolcarry._pure.history.session_lines import LinePart, Part, result_metadata
from toolcarry._pure.projection.marker import is_marker
from toolcarry.api.tokens import count_texts, count_tokens
from toolcarry.errors import InputError
from toolcarry.importers.jobs import read_parts
from toolcarry.importers.read import read_message
from toolcarry.tract.store.log import Draft
from toolcarry.tract.store.rows import content_hash
from toolcarry.tract.store.types import CommitInfo, Kind

__all__ = [
    "UNREADABLE",
    "Names",
    "arguments_json",
    "check_readable",
    "count_truncated",
    "counted",
    "decode_text",
    "dump_message",
    "encode_text",
    "flag_truncated",
    "has_thought",
    "is_flagged",
    "is_truncated",
    "line_drafts",
    "message_drafts",
    "object_drafts",
    "part_text",
    "refuse_truncated",
    "result_draft",
    "results_of",
    "stored_parts",
]

FLAG: Final = "legacy_truncated"

# toolcarry's own marks at the end of a cut text or between its two ends, and those of other tools.
CUT_MARK: Final = re.compile(
    r"\.\.\. ?\[truncated(?:\]|: )"
    r"|^\[toolcarry: [0-9,]+ of [0-9,]+ characters; whole: [^\]\n]+\]$"
    r"|\[(?:output |content |response |result )?truncated\]\s*\Z"
    r"|<(?:response|output) clipped>",
    re.MULTILINE | re.IGNORECASE,
)
ENDS: Final = 2_000
"""The number of characters at each end of a text that are searched for a mark."""


def is_truncated(text: str) -> bool:
    """True if a text contains a mark that it was cut, or is a marker of a superseded result.

    Only the ends are searched, where cutting leaves its mark. A mark in the middle of a long text may be quoted.

    >>> is_truncated("line 1\\n... [truncated]"), is_truncated("3 passed")
    (True, False)
    """
    # A quick test that rules most texts out; markers contain one of the words, too.
    if not _backend.kernels.has_cut_word(text, ENDS):
        return False
    return (
        is_marker(text)
        or CUT_MARK.search(text[-ENDS:]) is not None
        or CUT_MARK.search(text[:ENDS]) is not None
    )


def flag_truncated(metadata: dict[str, Any], text: str) -> None:
    """Flag the metadata of a result if its text was cut."""
    if is_truncated(text):
        metadata[FLAG] = True


def count_truncated(found: Iterable[Draft | CommitInfo]) -> int:
    """Return the number of flagged results."""
    return sum(map(is_flagged, found))


def is_flagged(found: Draft | CommitInfo) -> bool:
    """True if it is a result that is flagged as cut."""
    return FLAG in found.metadata


def refuse_truncated(drafts: Iterable[Draft]) -> None:
    """Raise ``InputError`` if a draft is flagged as cut."""
    for draft in drafts:
        if FLAG in draft.metadata:
            name = draft.metadata.get("name")
            raise InputError(f"content: the result of {name!r} was cut before it came here", None)


ENCODING: Final = "o200k_base"
"""The encoding in which the tokens of a commit are counted."""
SOURCE: Final = b'"source":true,'
CACHE_MARK: Final = b'"cache_control"'

encode: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def encode_text(text: str) -> bytes:
    """Encode a text for the history: as UTF-8, with lone surrogates kept."""
    return text.encode("utf-8", "surrogatepass")


def decode_text(content: bytes) -> str:
    return content.decode("utf-8", "surrogatepass")


def part_text(commit: CommitInfo, content: bytes) -> str:
    """Return the text of a commit with this content. A line that is not a message is returned unchanged."""
    index = commit.metadata.get("record")
    if index is None:
        return decode_text(content)
    parts = None if commit.kind is Kind.RECORD else stored_parts(content)
    if parts is None or int(index) >= len(parts):
        return content.decode("utf-8", "replace")
    return parts[int(index)].text


UNREADABLE: Final = (InputError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""The errors of reading a message that has values of other types than any format, or is nested too deep."""


def stored_parts(content: bytes) -> list[Part] | None:
    """Return the parts of a stored message; ``None`` if it can't be read. It was refused if it came today."""
    try:
        return read_parts(loads(content))
    except UNREADABLE:
        return None


def check_readable(message: Mapping[str, Any], position: int) -> None:
    """Raise ``InputError`` for a message that could never be read back."""
    if is_too_deep(message):
        raise InputError(f"message {position} is nested deeper than {MAX_DEPTH}", position)


THOUGHT: Final = re.compile(rb'"(?:thinking|redacted_thinking|reasoning\w*|thought\w*)"')
THOUGHT_TYPES: Final = frozenset((*THINKING_PARTS, "reasoning"))
THOUGHT_KEYS: Final = (
    *("thinking", "thought", "thoughtSignature", "thought_signature"),
    *("reasoning", "reasoning_content", "reasoning_details", "reasoningContent"),
)


def has_thought(content: bytes) -> bool:
    """Return true if the message in a line or a record contains thinking, in any provider's format.

    >>> has_thought(b'{"role":"assistant","content":[{"type":"thinking","thinking":"Hm.","signature":"x"}]}')
    True
    >>> has_thought(b'{"role":"assistant","content":"What is thinking?"}')
    False
    """
    record = loads_line(content) if THOUGHT.search(content) else None
    if record is None:
        return False
    message = as_object(record.get("message")) or as_object(record.get("payload")) or record
    parts = as_list(message.get("content")) or as_list(message.get("parts")) or ()
    return any(
        part.get("type") in THOUGHT_TYPES or any(part.get(key) for key in THOUGHT_KEYS)
        for part in (message, *parts)
        if isinstance(part, dict)
    )


def results_of(record: Mapping[str, Any]) -> list[ToolResult]:
    """Return the results in a message."""
    message_parts = MessageParts()
    read_message(record, record.get("role"), message_parts)
    return message_parts.results


def arguments_json(call: Mapping[str, Any]) -> str:
    """Return the arguments of a call as JSON text, as in OpenAI's requests; text that is not an object, as it was given."""
    given = call.get("arguments_text")
    return given if isinstance(given, str) else encode(call["arguments"])


class Names:
    """The tool names by call id, since most results don't contain them.

    The names in the history are loaded only if a result needs one; usually its call was noted before.
    """

    def __init__(self, load: Callable[[], Mapping[str, str]]) -> None:
        self._load = load
        self._noted: dict[str, str] = {}
        self._known: Mapping[str, str] | None = None

    def note(self, names: Iterable[tuple[str, str]]) -> None:
        """Note the ids and the names of calls."""
        self._noted.update(names)

    def find(self, call_id: str) -> str:
        """Return the tool name of the latest call with this id; ``unknown`` if no call has it."""
        if call_id in self._noted:
            return self._noted[call_id]
        if self._known is None:
            self._known = self._load()
        return self._known.get(call_id, UNKNOWN)


class Uncounted(NamedTuple):
    """A draft with its text, whose tokens are not counted yet."""

    draft: Draft
    text: str


def message_drafts(
    record: Mapping[str, Any],
    content: bytes,
    names: Names,
    *,
    is_source: bool = False,
    is_inside: bool = False,
) -> list[Uncounted]:
    """Return the drafts of a message whose bytes are ``content``, and note the names of its calls.

    ``is_source``: the first draft represents these bytes of a file. ``is_inside``: another commit already holds them.
    """
    found: list[Uncounted] = []
    for index, (kind, role, text, own, _) in enumerate(read_parts(record)):
        metadata = {**own, "record": index}
        names.note((call["id"], call["name"]) for call in metadata.get("tool_calls", ()))
        if kind == Kind.RESULT:
            metadata["name"] = metadata["name"] or names.find(metadata["tool_call_id"])
            flag_truncated(metadata, text)
        if is_source and index == 0:
            metadata["source"] = True
        if is_inside:
            metadata["inside"] = True
        found.append(Uncounted(Draft(role, Kind(kind), content, metadata, 0), text))
    return found


def line_drafts(lines: Sequence[bytes], names: Names) -> list[list[Draft] | None]:
    """Return the drafts of each line of a file; ``None`` for a line that is not a JSON object."""
    try:
        found = _backend.kernels.read_lines(list(lines), ENDS)
    except ValueError as error:
        raise InputError(f"metadata: {error}", None) from None
    return [
        None if parts is None else [line_draft(line, index, part, names) for index, part in enumerate(parts)]
        for line, parts in zip(lines, found, strict=True)
    ]  # fmt: skip


def line_draft(line: bytes, index: int, part: LinePart, names: Names) -> Draft:
    """Return the draft for a part of a line. The first part represents the whole line."""
    role, tokens = part.role, part.token_count
    source = {} if index else {"source": True}
    if part.calls is not None:
        names.note(part.names)
        start = b"" if index else SOURCE
        written = b'{"record":%d,%b"tool_calls":%b}' % (index, start, part.calls)
        return Draft(role, Kind.CALL, line, {}, tokens, written)
    if part.result is None:
        return Draft(role, Kind.MESSAGE, line, {"record": index, **source}, tokens)
    call_id, name, is_error = part.result
    own = result_metadata(call_id, name or names.find(call_id), is_error=is_error)
    metadata = {**own, "record": index, **source}
    if part.suspect is not None:
        flag_truncated(metadata, part.suspect)
    return Draft(role, Kind.RESULT, line, metadata, tokens)


def counted(found: Sequence[Uncounted]) -> list[Draft]:
    """Return the drafts with their token counts; all texts are counted in one call."""
    counts = count_texts([text for _, text in found])
    pairs = zip(found, counts, strict=True)
    return [draft._replace(token_count=count) for (draft, _), count in pairs]


def result_draft(
    call_id: str, name: str, text: str, *, is_error: bool, free: Mapping[str, Any]
) -> Draft:
    """Return the draft for a tool result that is a text, with the caller's metadata ``free``."""
    metadata = {**free, **result_metadata(call_id, name, is_error=is_error)}
    flag_truncated(metadata, text)
    tokens = _backend.kernels.count_tokens(text, ENCODING)
    return Draft("tool", Kind.RESULT, encode_text(text), metadata, tokens)


def object_drafts(message: Mapping[str, Any], names: Names) -> list[Draft]:
    """Return the drafts of a message object. The content is its text alone, if the message has nothing else.

    Clients move their cache marks with each request. So the metadata has ``unmarked``, the hash of the message without
    these marks, by which it is recognised.
    """
    role, text = message.get("role"), message.get("content")
    if isinstance(text, str) and set(message) <= PLAIN.get(str(role), frozenset()):
        if role != "tool":
            return [Draft(str(role), Kind.MESSAGE, encode_text(text), {}, count_tokens(text))]
        call_id, name = message.get("tool_call_id"), message.get("name")
        if isinstance(call_id, str) and (name is None or isinstance(name, str)):
            found = name or names.find(call_id)
            return [result_draft(call_id, found, text, is_error=False, free={})]
    content = dump_message(message)
    drafts = counted(message_drafts(message, content, names))
    drafts = drafts or [Draft("record", Kind.RECORD, content, {"record": 0}, 0)]
    if CACHE_MARK not in content or (bare := dump_message(unmarked(message))) == content:
        return drafts
    known = {"unmarked": content_hash(bare).hex()}
    return [draft._replace(metadata={**draft.metadata, **known}) for draft in drafts]


def unmarked(wire: Mapping[str, Any], depth: int = 2) -> dict[str, Any]:
    """Return a message without cache marks, in its parts and their parts too. Arguments of calls stay unchanged.

    >>> unmarked({"role": "user", "content": [{"type": "text", "text": "Go.", "cache_control": {"type": "ephemeral"}}]})
    {'role': 'user', 'content': [{'type': 'text', 'text': 'Go.'}]}
    """
    new = {key: value for key, value in wire.items() if key != "cache_control"}
    parts = new.get("content")
    if depth and isinstance(parts, list):
        new["content"] = [
            unmarked(part, depth - 1) if isinstance(part, dict) else part for part in parts
        ]
    return new


def dump_message(message: Mapping[str, Any]) -> bytes:
    """Return a message as JSON on one line, in UTF-8, or in ASCII if it contains a lone surrogate."""
    try:
        text = json.dumps(message, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        return text.encode()
    except UnicodeEncodeError:
        return json.dumps(message, separators=(",", ":")).encode()
    except (TypeError, ValueError) as error:
        raise InputError(f"a message is no JSON: {error}", None) from None


PLAIN: Final = {
    "user": frozenset(("role", "content")),
    "system": frozenset(("role", "content")),
    "assistant": frozenset(("role", "content")),
    "tool": frozenset(("role", "content", "tool_call_id", "name")),
}
"""The keys of messages that have only a text, by role."""
