"""Surveys of a context: its tokens by kind, and how much of the tool results is still needed.

``inspect`` counts calls, bytes and defects in one pass of the backend; a survey reads every message in Python.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple, TypeVar

from toolcarry._input.document import messages_of, open_body
from toolcarry._input.json import loads
from toolcarry._input.objects import JsonObject, as_list, as_object
from toolcarry.api.compactions import last_compaction, replacement_of
from toolcarry.api.context_usage import request_tokens, usage_of
from toolcarry.api.conversation import Conversation, Given
from toolcarry.api.tokens import count_message_tokens, count_texts, count_tokens
from toolcarry.importers.messages import Import
from toolcarry.model.content import result_text
from toolcarry.model.dedupe import Judging
from toolcarry.model.dedupe.rules import DEFAULT_RULE_SET
from toolcarry.model.formats import SPEAKERS, read_spoken
from toolcarry.model.marker import name_all
from toolcarry.model.message_pieces import (
    MEDIA_TOKENS,
    PARTS,
    Piece,
    pieces_in_context,
    pieces_of,
)
from toolcarry.model.pairing import Walk
from toolcarry.model.pairing.block import Entry
from toolcarry.model.titles import title
from toolcarry.types.models import Scale, scale_of, window_of
from toolcarry.types.policy import check_type
from toolcarry.types.results import (
    Amount,
    ContextSurvey,
    FileUse,
    HeavyResult,
    Session,
)
from toolcarry.types.values import EncodingName

__all__ = [
    "MOST_LISTED",
    "STATES",
    "Measured",
    "count_context",
    "measure",
    "model_in",
    "read_session",
    "scaled",
    "survey_and_measure",
    "survey_context",
]

STATES: Final = ("needed", "superseded", "stale", "repeated", "failed")
"""The states of a result; if several apply, the last one counts."""
MOST_LISTED: Final = 10
"""The number of results and of files that a survey lists, heaviest first."""
LEAST_REPEATED: Final = 200
"""The least characters of a result that counts as repeated if a newer one has the same text."""


K = TypeVar("K")


def survey_context(messages: Given, *, model: str | None = None) -> ContextSurvey:
    """Survey what fills a model's context: tokens by kind, the states of the results, and the heaviest results.

    ``messages`` is a list of messages in any known format, or bytes: a request body, a JSON array or JSONL. Tokens are
    counted for ``model``, by default for the last model that the input names. If it names none, tokens are counted in
    ``o200k_base`` and are not exact. Raises ``InputError`` if the input is not a conversation.

    >>> call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}
    >>> result = {"type": "tool_result", "tool_use_id": "t1", "content": "a.py b.py"}
    >>> found = survey_context([{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}])
    >>> found.results["needed"], found.heaviest[0].title
    (Amount(count=1, tokens=4), 'ls')
    """
    return survey_and_measure(messages, model=model)[0]


def survey_and_measure(
    messages: Given, *, model: str | None = None
) -> tuple[ContextSurvey, Measured]:
    """Return the survey of ``survey_context``, and the tokens of each message."""
    if model is not None:
        check_type("model", model, str)
    given = Conversation.of(messages)
    session = given.run(read_session)
    name = session.model if model is None else model
    scale = scale_of(name)
    measured = Conversation(given.messages).run(measure, scale.encoding)
    frame = max(request_tokens(given, scale.encoding) - measured.tokens - measured.compacted, 0)
    raw = {part: measured.by_part[part] for part in (*PARTS, "media")} | {"frame": frame}
    parts = scaled(raw, scale.factor)
    tokens = sum(parts.values())
    window = window_of(name)
    survey = ContextSurvey(
        tokens=tokens,
        exact=scale.is_known,
        model=name,
        session=session,
        parts=parts,
        results=measured.amounts(scale),
        heaviest=tuple(measured.heaviest(scale)[:MOST_LISTED]),
        files=tuple(measured.files(scale)[:MOST_LISTED]),
        usage=None if window is None else usage_of(tokens, window, exact=scale.is_known),
        compacted=math.ceil(measured.compacted * scale.factor),
    )
    return survey, measured


def count_context(data: bytes, model: str | None, shape: str = "mixed") -> ContextSurvey:
    """Count the tokens of a file without reading its messages in Python. The facts are the first ones in the file.

    ``shape`` is the file's shape, as reported by ``inspect``.
    """
    named = model_in(data) if model is None else model
    scale = scale_of(named)
    counts = count_message_tokens(data, encoding=scale.encoding)
    compaction = last_compaction(data, counts, shape)
    start, added = (0, []) if compaction is None else compaction
    tokens = sum(counts[start:]) + count_tokens(added, encoding=scale.encoding)
    session = Session(
        session_id=text_at(first_match(SESSION, (b'"sessionId"', b'"session_id"'), data)),
        directory=text_at(first_match(DIRECTORY, (b'"cwd"',), data)),
        model=named,
        models=(named,) if named else (),
        first=time_of(text_at(first_match(TIME, (b'"timestamp"',), data))),
        last=time_of(text_at(next(matches_from_end(TIME, b'"timestamp"', data), None))),
    )
    return ContextSurvey(
        math.ceil(tokens * scale.factor),
        scale.is_known,
        named,
        session,
        compacted=math.ceil(sum(counts[:start]) * scale.factor),
    )


MODEL: Final = re.compile(rb'"model"\s*:\s*"([^"\\\s<>]{1,100})"')
SESSION: Final = re.compile(rb'"(?:sessionId|session_id)"\s*:\s*"([^"\\]{1,100})"')
DIRECTORY: Final = re.compile(rb'"cwd"\s*:\s*"([^"\\]{1,400})"')
TIME: Final = re.compile(rb'"timestamp"\s*:\s*"([^"\\]{1,40})"')


def model_in(data: bytes) -> str:
    """Return the last named model with a known window, otherwise the last named model; empty if none is named.

    A session may change its model, and its text may name others.
    """
    named: dict[bytes, None] = {}
    for match in matches_from_end(MODEL, b'"model"', data):
        if match[1] not in named and window_of(text_at(match)) is not None:
            return text_at(match)
        named[match[1]] = None
    return next(iter(named), b"").decode("utf-8", "replace")


# A search for a text is many times as fast as one for a pattern, and a file of gigabytes may have no match.
def first_match(
    pattern: re.Pattern[bytes], starts: Sequence[bytes], data: bytes
) -> re.Match[bytes] | None:
    """Return the first match of a pattern whose matches begin with one of ``starts``."""
    found, end = None, len(data)
    for start in starts:
        at = -1
        while (at := data.find(start, at + 1, end)) >= 0:
            match = pattern.match(data, at)
            if match is not None:
                found, end = match, at
                break
    return found


def matches_from_end(
    pattern: re.Pattern[bytes], start: bytes, data: bytes
) -> Iterator[re.Match[bytes]]:
    """Yield the matches of a pattern, which begin with ``start``, from the last one on."""
    end = len(data)
    while (end := data.rfind(start, 0, end)) >= 0:
        match = pattern.match(data, end)
        if match is not None:
            yield match


def text_at(match: re.Match[bytes] | None) -> str:
    return "" if match is None else match[1].decode("utf-8", "replace")


def scaled(counts: Mapping[K, int], factor: float) -> dict[K, int]:
    """Return counts times a factor, rounded so that their sum equals the rounded sum.

    >>> scaled({"a": 1, "b": 1, "c": 1}, 1.25)
    {'a': 2, 'b': 1, 'c': 1}
    """
    found: dict[K, int] = {}
    raw = done = 0
    for name, count in counts.items():
        raw += count
        found[name] = math.ceil(raw * factor) - done
        done += found[name]
    return found


class Judged(NamedTuple):
    """A block on the active branch: its entry, its reference, the state of its result, and its tokens."""

    entry: Entry
    reference: str
    state: str
    tokens: int
    input_tokens: int


@dataclass(slots=True)
class Measured:
    """The tokens of a conversation, not scaled. ``by_message`` has the tokens of each part of each message, and
    ``results_by_message`` those of results by tool. ``requests`` are the positions at which the model began an answer,
    and ``compactions`` the positions of summaries. ``blocks`` starts at the last compaction."""

    by_message: list[dict[str, int]]
    results_by_message: list[dict[str, int]]
    blocks: list[Judged]
    second_results: Amount
    requests: list[int]
    compactions: list[int]

    @property
    def start(self) -> int:
        """The position of the first message in the context."""
        return self.compactions[-1] if self.compactions else 0

    @property
    def by_part(self) -> dict[str, int]:
        """The tokens of each part, over all messages in the context."""
        return {
            part: sum(message.get(part, 0) for message in self.by_message[self.start :])
            for part in (*PARTS, "media")
        }

    @property
    def tokens(self) -> int:
        """The tokens of all messages in the context."""
        return sum(sum(message.values()) for message in self.by_message[self.start :])

    @property
    def compacted(self) -> int:
        """The tokens of all messages before the last compaction."""
        return sum(sum(message.values()) for message in self.by_message[: self.start])

    def amounts(self, scale: Scale) -> dict[str, Amount]:
        """Return the amount of results in each state."""
        counts, raw = dict.fromkeys(STATES, 0), dict.fromkeys(STATES, 0)
        counts["repeated"] = self.second_results.count
        raw["repeated"] = self.second_results.tokens
        for block in self.blocks:
            if block.entry.result is not None:
                counts[block.state] += 1
                raw[block.state] += block.tokens
        tokens = scaled(raw, scale.factor)
        return {state: Amount(counts[state], tokens[state]) for state in STATES}

    def heaviest(self, scale: Scale) -> list[HeavyResult]:
        """Return the results, heaviest first."""
        found = [
            HeavyResult(
                position=block.entry.result_position,
                reference=block.reference,
                tool_name=block.entry.name,
                title=title(block.entry),
                state=block.state,
                tokens=math.ceil(block.tokens * scale.factor),
            )
            for block in self.blocks
            if block.entry.result is not None
        ]
        return sorted(found, key=lambda each: (-each.tokens, -each.position))

    def files(self, scale: Scale) -> list[FileUse]:
        """Return the files that were read or edited, those with the most tokens first."""
        raw: dict[str, list[int]] = {}
        for block in self.blocks:
            entry = block.entry
            if entry.kind in ("read", "edit") and entry.value:
                uses = raw.setdefault(entry.value, [0, 0, 0])
                uses[entry.kind == "edit"] += 1
                uses[2] += block.tokens + block.input_tokens
        found = [
            FileUse(path, reads, edits, math.ceil(tokens * scale.factor))
            for path, (reads, edits, tokens) in raw.items()
        ]
        return sorted(found, key=lambda each: (-each.tokens, each.path))


def measure(messages: Sequence[Any], encoding: EncodingName) -> Measured:
    """Count the tokens of every message on the active branch, by part, and judge every result on it."""
    entries = judged_entries(messages)
    if entries is None:
        messages = Import().messages(messages)
        entries = judged_entries(messages) or []
    entries.reverse()  # the oldest call first, as references are numbered
    references = name_all(entry.call_id for entry, _ in entries)
    sizes = Sizes(len(messages))
    sizes.add(list(pieces_in_context(messages, (entry for entry, _ in entries))), encoding)
    compactions: list[int] = []
    for position, record in enumerate(messages):
        added = replacement_of(record)
        if added or (added is not None and sizes.by_message[position]):
            compactions.append(position)
            pieces = [piece for message in added for piece in pieces_of(message)]
            sizes.add([(position, piece._replace(wire=None)) for piece in pieces], encoding)
    start = compactions[-1] if compactions else 0
    blocks: list[Judged] = []
    by_tool: list[dict[str, int]] = [{} for _ in messages]
    seen: set[str] = set()
    for (entry, reason), reference in zip(reversed(entries), reversed(references), strict=True):
        if entry.is_active:
            state = state_of(entry, reason, seen)
            tokens = sizes.by_wire.pop((id(entry.result), "results"), (0, 0))[1]
            inputs = sizes.by_wire.get((id(entry.call), "inputs"), (0, 0))[1]
            if entry.result is not None:
                tools = by_tool[entry.result_position]
                tools[entry.name] = tools.get(entry.name, 0) + tokens
            if max(entry.position, entry.result_position) >= start:
                blocks.append(Judged(entry, reference, state, tokens, inputs))
    second = [tokens for (_, part), (at, tokens) in sizes.by_wire.items() if part == "results" and at >= start]  # fmt: skip
    return Measured(
        sizes.by_message,
        by_tool,
        blocks,
        Amount(len(second), sum(second)),
        requests_in(messages, sizes.by_message),
        compactions,
    )


def requests_in(messages: Sequence[Any], by_message: Sequence[Mapping[str, int]]) -> list[int]:
    """Return the positions of the messages on the active branch at which the model began an answer.

    The records of one message of Claude Code have one ``id``.
    """
    found: list[int] = []
    is_open, ids = False, set[str]()
    for position, item in enumerate(messages):
        if not by_message[position]:
            continue
        record = as_object(item) or {}
        message = as_object(record.get("message")) or record
        name = message.get("id")
        is_models = bool(by_message[position].keys() & {"inputs", "thinking"})
        is_models = is_models or SPEAKERS.get(read_spoken(message).speaker) == "ASSISTANT"
        if is_models and not is_open and name not in ids:
            found.append(position)
        if is_models and isinstance(name, str):
            ids.add(name)
        is_open = is_models
    return found


class Sizes:
    """The tokens of pieces: by message and part, and with the position by call or result and part."""

    def __init__(self, messages: int) -> None:
        self.by_message: list[dict[str, int]] = [{} for _ in range(messages)]
        self.by_wire: dict[tuple[int, str], tuple[int, int]] = {}

    def add(self, pieces: Sequence[tuple[int, Piece]], encoding: EncodingName) -> None:
        """Count pieces of the messages at these positions."""
        counts = count_texts([piece.text for _, piece in pieces], encoding=encoding)
        for (position, piece), count in zip(pieces, counts, strict=True):
            sizes, media = self.by_message[position], MEDIA_TOKENS * piece.media
            own = count + piece.tokens - media
            if own:
                sizes[piece.part] = sizes.get(piece.part, 0) + own
            if media:
                sizes["media"] = sizes.get("media", 0) + media
            if piece.wire is not None:
                key = id(piece.wire), piece.part
                _, before = self.by_wire.get(key, (0, 0))
                self.by_wire[key] = position, before + own + media


def judged_entries(messages: Sequence[Any]) -> list[tuple[Entry, str]] | None:
    """Return every block, newest first, with the reason why a newer block supersedes it; empty if none does.

    ``None`` if only an importer can read one of the messages.
    """
    walk, judging = Walk(messages), Judging(DEFAULT_RULE_SET)
    found = [(entry, judging.judge(entry)[0]) for entry in walk.entries()]
    return None if walk.needs_import else found


def state_of(entry: Entry, reason: str, seen: set[str]) -> str:
    """Return the state of a result. ``seen`` holds the longer texts of newer results."""
    text = "" if entry.result is None else result_text(entry.content)
    is_repeated = text in seen
    if len(text) >= LEAST_REPEATED:
        seen.add(text)
    if entry.is_error:
        return "failed"
    if is_repeated:
        return "repeated"
    return "superseded" if reason else "stale" if entry.is_stale else "needed"


HOLDERS: Final = ("message", "payload", "info", "data")
"""The members of a record that may hold the facts about it."""
IDS: Final = ("sessionId", "session_id", "sessionID")
DIRECTORIES: Final = ("cwd", "working_directory", "workingDirectory", "directory")
MODELS: Final = ("model", "modelID", "model_id", "model_name")
TIMES: Final = ("timestamp", "created_at", "createdAt", "startTime", "lastUpdated", "time", "ts")
FACTS: Final = frozenset((*HOLDERS, *IDS, *DIRECTORIES, *MODELS, *TIMES, "modelInfo"))
NAME: Final = re.compile(r"[^\s<>]{1,100}")
"""The pattern of a model's name: Claude Code writes ``<synthetic>`` for messages that no model wrote."""


def read_session(given: Sequence[Any] | bytes) -> Session:
    """Return the facts that the records of a session, or the members of a request, state about it."""
    ids: dict[str, None] = {}
    directories: dict[str, None] = {}
    models: dict[str, None] = {}
    times: list[datetime] = []
    for record in records_of(given):
        if FACTS.isdisjoint(record):  # as most messages of a request
            continue
        held = [each for name in HOLDERS if (each := as_object(record.get(name))) is not None]
        for holder in (record, *held):
            add_texts(ids, holder, IDS)
            add_texts(directories, holder, DIRECTORIES)
            add_texts(models, holder, MODELS)
        if record.get("type") == "session_meta" and held:  # Codex
            add_texts(ids, held[0], ("id",))
        made_by = as_object(record.get("modelInfo")) or {}  # Cline
        add_texts(models, made_by, ("id",))
        times += [time for holder in (record, *held[-1:]) for time in times_of(holder)]
    names = [name for name in models if NAME.fullmatch(name)]
    return Session(
        session_id=next(reversed(ids), ""),
        directory=next(reversed(directories), ""),
        model=names[-1] if names else "",
        models=tuple(names),
        first=min(times, default=None),
        last=max(times, default=None),
    )


def records_of(given: Sequence[Any] | bytes) -> Iterable[JsonObject]:
    """Yield the objects that may have facts: the document without its messages, then the messages or records."""
    if isinstance(given, bytes):
        opened = open_body(given)
        if opened.lines is None:
            document = as_object(loads(given))
            if document is not None and messages_of(dict(document)) is not None:
                yield {key: value for key, value in document.items() if as_list(value) is None}
        given = opened.messages
    for item in given:
        record = as_object(item)
        if record is not None:
            yield record


def add_texts(found: dict[str, None], holder: JsonObject, names: Sequence[str]) -> None:
    """Add the texts of members, the last one last."""
    for name in names:
        text = holder.get(name)
        if isinstance(text, str) and text:
            found.pop(text, None)
            found[text] = None


def times_of(holder: JsonObject) -> list[datetime]:
    """Return the times that an object has: ISO 8601, or seconds or milliseconds since 1970."""
    values = [holder.get(name) for name in TIMES]
    inner = as_object(holder.get("time")) or {}  # opencode
    values += [inner.get("created"), inner.get("completed")]
    return [time for value in values if (time := time_of(value)) is not None]


def time_of(value: object) -> datetime | None:
    """Return a time in UTC; ``None`` if a value is not a time.

    >>> time_of("2026-03-14T09:12:45Z") == time_of(1773479565) == time_of(1773479565000)
    True
    """
    try:
        if isinstance(value, str):
            time = datetime.fromisoformat(value)
            return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and value > 1e8:
            return datetime.fromtimestamp(value / 1_000 if value > 1e11 else value, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return None
