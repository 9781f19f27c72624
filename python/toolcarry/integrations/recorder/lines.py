"""The lines of a conversation in the history: which line a request continues, and which of its messages are new.

    history c1       u1 a1 r1 a2          the line after its last request and answer
    request          u1 a1 r1 a2 r2       continues c1; r2 is new
    request             a1 r1 a2 r2 u3    a client that drops old messages continues c1, too
    request          u1 a1 r1 b2 s2       another continuation: a new line, c1#4f0c..., with all messages
    request          t1                   a new line as well: another beginning, such as a title or a sub-agent

Each line is a conversation of the history, in which messages are in order, and calls next to their results. Messages
are recognised by what clients leave unchanged: calls by their ids, names and arguments, results by the ids of their
calls and their text, and other text, next to these too, without cache marks, thinking and reminders. A result that a
client cleared, cut or restored is still the same message, and the history keeps it in full; one with another text is
another message. A sign is stored in the names of lines, so it must be the same in every process.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Final, NamedTuple

from toolcarry._input.document import held_message
from toolcarry._input.json import dump, loads, loads_text_or_itself
from toolcarry._input.objects import JsonObject, as_list, as_object
from toolcarry._util.workers import check_wanted
from toolcarry.importers.read import read_message, read_spoken
from toolcarry.integrations.lines import LAST, first
from toolcarry.model.content import result_text
from toolcarry.model.formats.message import MessageParts
from toolcarry.summarize import strip_injected
from toolcarry.switch.request_fields import LazyMessages
from toolcarry.switch.request_view import role_in
from toolcarry.tract.canonical import Names
from toolcarry.tract.commit_codec import UNREADABLE, decode_text
from toolcarry.tract.compile import own_message
from toolcarry.tract.guard import is_flagged
from toolcarry.tract.hydration import is_placeholder, wanted_answer
from toolcarry.tract.recording import INCOMPLETE, names_of
from toolcarry.tract.store.database import Database
from toolcarry.tract.store.log import Head, Log
from toolcarry.tract.store.types import CommitInfo, Kind

__all__ = [
    "Mark",
    "RecordedLine",
    "Spot",
    "find_spot",
    "lacks_result",
    "load_line",
    "name_of_line",
    "nearest",
    "sign_of",
    "signs_of",
]

SPOKEN_TYPES: Final = frozenset(
    ("text", "input_text", "output_text", "thinking", "redacted_thinking", "reasoning")
)
"""The types of parts whose text is compared, or that clients drop."""


@dataclass(slots=True)
class RecordedLine:
    """A line: its log with the newest commit, and the signs of its messages after the last request and answer.

    ``known`` has the signs of that request's messages by the hash of their bytes, ``cut`` the ids of the calls whose
    results were cut before they were written.
    """

    log: Log
    head: Head
    names: Names
    view: tuple[Mark, ...] = ()
    answer: int = 0
    """The number of signs at the end that belong to the last answer."""
    is_broken_off: bool = False
    known: dict[int, Sign] = field(default_factory=dict)
    cut: frozenset[str] = frozenset()


class Mark(NamedTuple):
    """A message in a line: its sign, and a hash of what its results say; 0 if one of them is cut, or it has none."""

    sign: int
    result: int = 0


def is_same(one: Mark, other: Mark) -> bool:
    """Return true if two messages are the same, as far as what they hold is known."""
    return one.sign == other.sign and (
        one.result == other.result or not (one.result and other.result)
    )


def shared_by(one: Sequence[Mark], other: Sequence[Mark]) -> int:
    """Return the number of messages at the beginning that two lists share."""
    most = min(len(one), len(other))
    return next((at for at in range(most) if not is_same(one[at], other[at])), most)


class Spot(NamedTuple):
    """The line that a request continues, ``None`` for a new one, and the number of its messages that the line has."""

    line: RecordedLine | None
    known: int
    is_repeated: bool = False
    """True if the line has all messages of the request and at least one more: the client asks for another answer."""


def find_spot(lines: Sequence[RecordedLine], signs: Sequence[Mark]) -> Spot:
    """Find the line that a request with these signs continues; if there are several, the one with the most messages."""
    found = [(end, line) for line in lines if (end := end_of(line.view, signs)) is not None]
    if found:
        end, line = max(found, key=first)
        return Spot(line, end)
    for line in lines:
        if signs and shared_by(line.view, signs) == len(signs):
            return Spot(line, len(signs), is_repeated=True)
    for line in lines:  # the client dropped or changed the last answer
        end = end_of(line.view[: -line.answer], signs) if line.answer else None
        if end is not None:
            return Spot(line, end)
    return Spot(None, 0)


def end_of(view: Sequence[Mark], signs: Sequence[Mark]) -> int | None:
    """Return the end of a line in a request; ``None`` if the request does not contain it."""
    count = len(view)
    if count and shared_by(view, signs) == count:
        return count
    if count < LAST:
        return None
    tail = view[-LAST:]
    # A client that drops messages has the end of the line nearer to the beginning of its request.
    places = (*range(min(count, len(signs)), LAST - 1, -1), *range(count + 1, len(signs) + 1))
    return next((end for end in places if all(map(is_same, signs[end - LAST : end], tail))), None)


class Sign(NamedTuple):
    """The fingerprint of a message. ``sign`` is a hash of the members that clients leave unchanged, 0 for a message that
    does not count, and ``result`` that of a ``Mark``; ``is_cut`` is true if a result in it is cut, or is a placeholder.
    """

    sign: int
    result: int
    is_cut: bool
    owed: int
    """The sum of the hashes of its calls' ids, less those of its results: of a whole conversation, it is 0."""


class Signed(NamedTuple):
    """A message that counts, by its position."""

    position: int
    sign: Sign

    @property
    def mark(self) -> Mark:
        return Mark(self.sign.sign, self.sign.result)


def lacks_result(signs: Sequence[Signed]) -> bool:
    """Return true if a result in the messages is cut, a placeholder or missing."""
    return any(each.sign.is_cut for each in signs) or sum(each.sign.owed for each in signs) != 0


def signs_of(
    messages: Sequence[Any], known: Mapping[int, Sign]
) -> tuple[list[Signed], dict[int, Sign]]:
    """Return the messages that count, and the signs of all messages by the hash of their bytes.

    A message whose bytes are ``known`` is not decoded.
    """
    found: list[Signed] = []
    made: dict[int, Sign] = {}
    for position in range(len(messages)):
        check_wanted()
        if isinstance(messages, LazyMessages):
            key = hash(messages.written(position))
            held = known.get(key)
            made[key] = sign = sign_of(messages[position]) if held is None else held
        else:
            sign = sign_of(messages[position])
        if sign.sign:
            found.append(Signed(position, sign))
    return found, made


def sign_of(message: object) -> Sign:
    """Return the sign of a message; it is 0 for a system prompt, and for a message that clients do not keep.

    >>> sent = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "3 passed"}]}
    >>> cleared = sign_of({"role": "tool", "tool_call_id": "t1", "content": "[Old tool result content cleared]"})
    >>> sign_of(sent).sign == cleared.sign, sign_of(sent).is_cut, cleared.is_cut
    (True, False, True)
    """
    record = as_object(message)
    if record is None:
        return NOTHING
    parts = MessageParts()
    try:
        facts = facts_of(record, parts)
        is_cut = any(map(is_placeholder, parts.results))
        texts = [strip_injected(result_text(each.content)).strip() for each in parts.results]
    except UNREADABLE:
        facts, is_cut, texts = sorted(map(str, record)), False, []
    if not facts:
        return NOTHING
    said = 0 if is_cut or not texts or parts.calls else hashed(texts)
    return Sign(hashed(facts), said, is_cut, owed_in(parts))


NOTHING: Final = Sign(0, 0, False, 0)


def hashed(value: object) -> int:
    digest = blake2b(dump(value, is_sorted=True), digest_size=8).digest()
    return int.from_bytes(digest, "big")


def owed_in(parts: MessageParts) -> int:
    """Return the hashes of the calls that the client answers, or those of the results, negative. Valid in this process."""
    if parts.calls:
        return sum(hash((call.call_id,)) for call in parts.calls if wanted_answer(call.wire))
    return -sum(hash((result.call_id,)) for result in parts.results)


def facts_of(record: JsonObject, parts: MessageParts) -> list[Any] | None:
    """Return the values that identify a message; ``None`` if it does not count."""
    role = role_in(record)
    if role == "system":
        return None
    read_message(record, record.get("role"), parts)
    if parts.calls:
        said, _ = spoken_in(record, parts, role)
        calls = [[call.call_id, call.name, arguments_of(call.arguments)] for call in parts.calls]
        return [*calls, *([said] if said else [])]
    said, others = spoken_in(record, parts, role)
    if parts.results:
        results = [[result.call_id, ""] for result in parts.results]
        return [*results, *([said] if said else []), *others]
    return [role, said, *others] if said or others else None


def spoken_in(record: JsonObject, parts: MessageParts, role: object) -> tuple[str, list[object]]:
    """Return the text of a message next to its calls and results, and its other parts."""
    wires = {id(call.wire) for call in parts.calls} | {id(each.wire) for each in parts.results}
    if id(record) in wires:  # it is itself a call or a result
        return "", []
    spoken = read_spoken(record)
    held = [spoken.content] if isinstance(spoken.content, str) else as_list(spoken.content) or ()
    own = [part for part in held if id(part) not in wires]
    text = "".join(text for text in map(text_of, own) if text is not None)
    said = (text if role == "assistant" else strip_injected(text)).strip()
    return said, [plain(part) for part in own if text_of(part) is None and not is_dropped(part)]


def arguments_of(given: object) -> object:
    return loads_text_or_itself(given) if isinstance(given, str) else given


def text_of(part: object) -> str | None:
    """Return the text of a part; ``None`` if it is not text."""
    if isinstance(part, str):
        return part
    held = as_object(part)
    if held is None or held.get("thought") or held.get("type", "text") not in SPOKEN_TYPES:
        return None
    text = held.get("text")
    return text if isinstance(text, str) else None


def is_dropped(part: object) -> bool:
    """True for thinking, which clients may leave out."""
    held = as_object(part) or {}
    return bool(held.get("thought")) or held.get("type") in SPOKEN_TYPES


def plain(part: object) -> object:
    """Return a part without its cache mark."""
    held = as_object(part)
    return part if held is None else {key: held[key] for key in held if key != "cache_control"}


def name_of_line(conversation: str, marks: Sequence[Mark]) -> str:
    """Return the name for another line of a conversation, the same in every process.

    >>> name_of_line("c1", [Mark(1), Mark(2)])
    'c1#d9fb6ba4dc28b5fa'
    """
    state = blake2b(digest_size=8)
    for mark in marks:
        state.update((mark.sign ^ mark.result).to_bytes(8, "big"))
    return f"{conversation}#{state.hexdigest()}"


def nearest(lines: Sequence[RecordedLine], signs: Sequence[Mark]) -> RecordedLine:
    """Return the line that shares the most messages with a request; if there are several, the first."""
    return max(lines, key=lambda line: shared_by(line.view, signs))


def load_line(database: Database, tenant: str, name: str) -> RecordedLine:
    """Read a line from the history."""
    log = Log(database, tenant, name)
    line = RecordedLine(log, (0, None), names_of(log))
    marks: list[Mark] = []
    cut: set[str] = set()
    for commit, content in log.contents():
        line.head = commit.sequence, bytes.fromhex(commit.commit_hash)
        if is_flagged(commit):
            cut.add(commit.tool_call_id or "")
        for message in messages_of(commit, content):
            if (sign := sign_of(message)).sign:
                marks.append(Mark(sign.sign, sign.result))
                line.answer = line.answer + 1 if commit.role == "assistant" else 0
                line.is_broken_off = INCOMPLETE in commit.metadata
    line.view, line.cut = tuple(marks), frozenset(cut)
    return line


def messages_of(commit: CommitInfo, content: bytes) -> Iterator[JsonObject]:
    """Yield the message that begins with a commit; for a line of a session file, the message in it."""
    if commit.kind > Kind.RECORD or commit.metadata.get("record", 0) > 0:
        return
    if "record" not in commit.metadata:
        yield own_message(commit, decode_text(content))
        return
    try:
        record = as_object(loads(content))
    except UNREADABLE:
        return
    if record is not None:
        yield held_message(record) or record
