"""Compile the history into the messages of a request: newest versions and compactions, in the order of the log.

A policy projects them. If call ids repeat, a call's reference contains a number. A number counted in the request would
change as soon as a compaction replaces some messages. So it is counted in the whole log, into which nothing is ever
inserted. The log also records which results failed: only Anthropic's format has a mark for that, and a failure must not
supersede a success in any format.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias, cast

from toolcarry import _backend
from toolcarry._input.document import loads_line
from toolcarry._input.json import loads
from toolcarry._input.objects import JsonObject, as_list, as_object
from toolcarry.api.context import extract_tool_blocks
from toolcarry.api.convert import convert
from toolcarry.api.convert.opening import system_prompt
from toolcarry.importers.parts import read_parts
from toolcarry.model.content import TEXT_PARTS
from toolcarry.model.marker import name_all
from toolcarry.model.result_slot import RESPONSE_KEYS, response_key, slot_at
from toolcarry.model.session_lines import Part
from toolcarry.tract.commit_codec import UNREADABLE, arguments_json, decode_text, results_of
from toolcarry.tract.store.log import Log
from toolcarry.tract.store.types import CommitInfo, Kind
from toolcarry.tract.view import BETWEEN, CHANGES, NOTHING, View, sequences, view_of
from toolcarry.types.policy import ProjectPolicy, check_type, in_encoding
from toolcarry.types.results import Converted
from toolcarry.types.shapes import TARGETS, Target, shape_named
from toolcarry.types.values import CallFacts, ToolBlock

__all__ = ["Style", "compile_messages", "compiled", "own_message", "rebuilt", "with_text"]

BlockPlace: TypeAlias = tuple[int, int]
"""The place of a result or a call: the sequence of its commit, and its index among the commit's calls."""


def project_with(
    messages: list[dict[str, Any]], policy: ProjectPolicy, known: Sequence[CallFacts] | None = None
) -> list[dict[str, Any]]:
    """Project messages; ``known`` has the reference and the failure of each call in order, if they are known."""
    check_type("policy", policy, ProjectPolicy)
    outcome = _backend.kernels.project(messages, in_encoding(policy)[0], None, known)
    return messages if outcome.messages is None else outcome.messages


def known_from(blocks: Sequence[ToolBlock]) -> list[CallFacts]:
    """Return the references and failures of blocks, from the blocks alone."""
    return [
        CallFacts(name, block.is_error)
        for name, block in zip(name_all(block.call_id for block in blocks), blocks, strict=True)
    ]


def find_known(
    messages: Sequence[dict[str, Any]], shown: Compiler, whole: Compiler
) -> list[CallFacts]:
    """Return the references and failures of the calls in compiled messages.

    ``shown`` wrote these messages; ``whole`` is the compiled log with nothing left out, which defines the references.
    """
    named = placed(whole)
    names = name_all(block.call_id for block, _ in named)
    by_place = {
        place: name for (_, found), name in zip(named, names, strict=True) for place in found
    }
    found = [
        (block, next((by_place[place] for place in places if place in by_place), block.call_id))
        for block, places in placed(shown)
    ]
    blocks = extract_tool_blocks(messages)
    if len(blocks) != len(found):  # requests contain no side chains and no abandoned branches
        found = [each for each in found if each[0].notes.is_active and not each[0].scope]
    if len(blocks) == len(found):
        return [CallFacts(name, block.is_error) for block, name in found]
    waiting: dict[str, deque[CallFacts]] = {}
    for block, name in found:
        waiting.setdefault(block.call_id, deque()).append(CallFacts(name, block.is_error))
    return [
        waiting[block.call_id].popleft() if waiting.get(block.call_id) else known
        for block, known in zip(blocks, known_from(blocks), strict=True)
    ]


def placed(writer: Compiler) -> list[tuple[ToolBlock, list[BlockPlace]]]:
    """Return the blocks with their places: the result's place first, since a reference names the result."""
    results = result_sequences(writer)
    taken: Counter[int] = Counter()
    found: list[tuple[ToolBlock, list[BlockPlace]]] = []
    for block in extract_tool_blocks(writer.messages):
        places: list[BlockPlace] = []
        if id(block.tool_result) in results:
            places.append((results[id(block.tool_result)], 0))
        if block.tool_use is not None:
            commits = writer.origins[block.position]
            sequence = next((each.sequence for each in commits if each.kind is Kind.CALL), 0)
            places.append((sequence, taken[sequence]))
            taken[sequence] += 1
        found.append((block, places))
    return found


def result_sequences(writer: Compiler) -> dict[int, int]:
    """Return the sequences of the results' commits, by the ``id()`` of the results' objects in the messages."""
    found: dict[int, int] = {}
    for message, commits in zip(writer.messages, writer.origins, strict=True):
        sequences = [commit.sequence for commit in commits if commit.kind is Kind.RESULT]
        if sequences:
            wires = [id(result.wire) for result in results_of(message)]
            found.update(zip(wires, sequences, strict=False))
    return found


Style: TypeAlias = Target

Swaps: TypeAlias = dict[int, dict[str, Any]]
"""Replacements for parts of a message, by the ``id()`` of the part."""


def compile_messages(log: Log, style: Style, policy: ProjectPolicy | None) -> list[dict[str, Any]]:
    """Return the current messages in a provider's format, projected if there is a policy."""
    style = cast("Style", shape_named("style", style, TARGETS))
    entries = list(log.contents())
    view = view_of([commit for commit, _ in entries if commit.kind in CHANGES])
    writer = compiled(log, view, entries)
    is_converted = style != "openai" or writer.is_mixed
    if is_converted:
        converted = converted_to(style, writer)
        system = [system_message(converted.system, style)] if converted.system else []
        messages = [*system, *converted.messages]
    else:
        messages = writer.without_error_marks()
    if policy is None:
        return messages
    if messages is writer.messages and not (view.left_out or view.compacted):
        return project_with(messages, policy)  # the messages are the whole log, so references agree
    whole = (
        compiled(log, NOTHING, entries)
        if is_converted or view.left_out or view.compacted
        else writer
    )
    return project_with(messages, policy, find_known(messages, writer, whole))


def converted_to(style: Style, writer: Compiler) -> Converted:
    """Return the messages in a provider's format; a message that can't be read is replaced by its reference."""
    try:
        converted = convert(writer.messages, to=style, repair=False)
        if not converted.unread or not writer.mark_unreadable():
            return converted
    except UNREADABLE:
        if not writer.mark_unreadable():
            raise
    return convert(writer.messages, to=style, repair=False)


def system_message(text: str, style: Style) -> dict[str, Any]:
    """Return the system prompt as a message, for a format that keeps it outside of its messages."""
    if style == "gemini":
        return {"role": "system", "parts": [{"text": text}]}
    return {"role": "system", "content": [{"text": text}] if style == "bedrock" else text}


def compiled(
    log: Log, view: View, entries: Iterable[tuple[CommitInfo, bytes]] | None = None
) -> Compiler:
    """Compile the log: stored records in their own format, all other messages in the format of OpenAI Chat.

    ``entries`` has the commits with their contents, if they were read already.
    """
    writer = Compiler(view, log)
    for commit, content in log.contents() if entries is None else entries:
        if commit.kind < Kind.EDIT:
            writer.take(commit, content)
    writer.close()
    return writer


class Compiler:
    """Builds messages from commits, one commit at a time."""

    def __init__(self, view: View, log: Log) -> None:
        self.is_mixed = False
        """True if a message may be in another format than OpenAI Chat's, and must be converted."""
        self._view = view
        self._log = log
        self.messages: list[dict[str, Any]] = []
        self.origins: list[Sequence[CommitInfo]] = []
        """The commits that each message shows, in order; empty for a summary or a line that is not a message."""
        self._sources: dict[int, CommitInfo] = {}
        """The commits of stored messages, which may have any structure, by the index of the message."""
        self._document: bytes = b""
        self._told: set[tuple[str, int]] = set()
        """The summaries that were added: the hash of each compaction, and the index of the run."""
        self._starts: dict[str, list[int]] = {}
        """The first sequence of each run, by the hash of the compaction."""
        self._record: bytes = b""
        self._pending: list[CommitInfo] = []

    def take(self, commit: CommitInfo, content: bytes) -> None:
        """Add the next commit. The commits of one record are joined when the last of them has been added."""
        if commit.kind is Kind.RECORD:
            self._close_record()
            self._take_record(commit, content)
            return
        index = commit.metadata.get("record")
        if not index or content != self._record:
            self._close_record()
        if index is not None:
            self._record = content
            self._pending.append(commit)
            return
        if not self._is_shown(commit):
            version = self._view.version_of(commit)
            text = content if version is commit else self._log.content(version)
            message = own_message(commit, decode_text(text), is_error=version.is_error)
            self._add(message, [commit])

    def close(self) -> None:
        """Finish the messages, and put the system prompt of an imported document before them."""
        self._close_record()
        prompt = system_prompt(self._document) if self._document else ""
        if prompt:
            self.messages.insert(0, {"role": "system", "content": prompt})
            self.origins.insert(0, ())
            self._sources = {place + 1: source for place, source in self._sources.items()}

    def without_error_marks(self) -> list[dict[str, Any]]:
        """Return the messages without the mark of a failed result, which OpenAI Chat doesn't have."""
        if not any("is_error" in message for message in self.messages):
            return self.messages
        return [
            {key: value for key, value in message.items() if key != "is_error"}
            for message in self.messages
        ]

    def _take_record(self, commit: CommitInfo, content: bytes) -> None:
        """Add a record that is not a message, which may link two messages or belong to a message.

        Two kinds are left out, since their messages are separate commits: a document, and the rest of a line whose
        import was interrupted. The last document is remembered for its system prompt.
        """
        if "document" in commit.metadata:
            self._document = content
            return
        is_rest = "source" in commit.metadata and "inside" in commit.metadata
        record = None if is_rest or self._is_shown(commit) else loads_line(content)
        if record is not None:
            self.is_mixed = True
            self._add(record, source=commit)

    def _is_shown(self, commit: CommitInfo) -> bool:
        """True if a commit is compacted or left out. The summary of a run is added at its first commit."""
        compaction = self._view.compacted.get(commit.sequence)
        if compaction is not None:
            index = self._run_of(compaction, commit.sequence)
            key = (compaction.commit_hash, index)
            if key not in self._told:
                self._told.add(key)
                text = decode_text(self._log.content(compaction))
                self._add({"role": "user", "content": summary_text(compaction, text, index)})
        return compaction is not None or commit.sequence in self._view.left_out

    def _run_of(self, compaction: CommitInfo, sequence: int) -> int:
        """Return the index of the run that a commit belongs to; 0 if the compaction has one text for all."""
        starts = self._starts.get(compaction.commit_hash)
        if starts is None:
            runs = compaction.metadata.get("runs", ())
            starts = self._starts[compaction.commit_hash] = [run["covers"][0][0] for run in runs]
        return max(bisect_right(starts, sequence) - 1, 0)

    def _close_record(self) -> None:
        """Add the pending record, with the edited, compacted and omitted parts replaced or removed."""
        commits, self._pending = self._pending, []
        if not commits:
            return
        self.is_mixed = True
        try:
            record = loads(self._record)
            parts = read_parts(record)
        except UNREADABLE:
            parts = []
        if any(commit.metadata["record"] >= len(parts) for commit in commits):
            self._add(unread_message(commits[0]), commits)
            return
        swaps: Swaps = {}
        told: list[Part] = []
        shown: list[CommitInfo] = []
        for commit in commits:
            part = parts[commit.metadata["record"]]
            version = self._view.version_of(commit)
            if self._is_shown(commit):
                told.append(part)
                continue
            shown.append(commit)
            if version is not commit:
                text = decode_text(self._log.content(version))
                is_changed = version.is_error is not commit.is_error
                mark = version.is_error if is_changed else None
                swaps.update((id(wire), with_text(wire, text, mark)) for wire in part.wires)
        if told and len(told) == len(parts):
            self._add(emptied_record(record))
        elif told or swaps:
            self._add(rebuilt(record, swaps, removed_parts(record, told)), shown, commits[0])
        else:
            self._add(record, shown, commits[0])

    def mark_unreadable(self) -> bool:
        """Replace the messages that can't be converted by themselves, and return true if there are any."""
        is_found = False
        for place, source in self._sources.items():
            if not is_readable(self.messages[place]):
                self.messages[place] = unread_message(source)
                is_found = True
        return is_found

    def _add(
        self,
        message: dict[str, Any] | None,
        shown: Sequence[CommitInfo] = (),
        source: CommitInfo | None = None,
    ) -> None:
        if message is not None:
            if source is not None:
                self._sources[len(self.messages)] = source
            self.messages.append(message)
            self.origins.append(shown)


def is_readable(record: JsonObject) -> bool:
    """Return true if a message or record can be read and converted by itself, and is not left out as unread."""
    try:
        converted = convert([record], to="anthropic", repair=False)
        convert([record], to="openai", repair=False)
    except UNREADABLE:
        return False
    return bool(converted.messages or converted.system or not converted.unread)


def unread_message(commit: CommitInfo) -> dict[str, Any]:
    """Return a message in place of one that can't be read, with its reference for ``Tract.resolve``."""
    text = f"[toolcarry: a message that could not be read; whole: {commit.commit_hash[:16]}]"
    return {"role": "user", "content": text}


def own_message(commit: CommitInfo, text: str, *, is_error: bool = False) -> dict[str, Any]:
    """Return a commit as a message in the format of OpenAI Chat, with ``is_error`` added to a failed result.

    >>> from toolcarry.tract import Tract
    >>> with Tract.open() as tract:
    ...     own_message(tract.tool_result("t1", "Bash", "3 passed"), "3 passed")
    {'role': 'tool', 'tool_call_id': 't1', 'content': '3 passed'}
    """
    if commit.kind is Kind.RESULT:
        mark = {"is_error": True} if is_error else {}
        return {"role": "tool", "tool_call_id": commit.tool_call_id, "content": text, **mark}
    message: dict[str, Any] = {"role": commit.role, "content": text}
    calls = commit.metadata.get("tool_calls")
    if calls:
        message["content"] = text or None
        message["tool_calls"] = [own_call(call) for call in calls]
    return message


def own_call(call: Mapping[str, Any]) -> dict[str, Any]:
    function = {"name": call["name"], "arguments": arguments_json(call)}
    return {"id": call["id"], "type": "function", "function": function}


def summary_text(compaction: CommitInfo, text: str, index: int = 0) -> str:
    """Return the text that replaces the messages of a run: its summary, and the compaction's reference."""
    covers, runs = compaction.metadata["covers"], compaction.metadata.get("runs")
    if runs:
        start = sum(run["length"] + len(BETWEEN) for run in runs[:index])
        covers, text = runs[index]["covers"], text[start : start + runs[index]["length"]]
    covered = sum(1 for _ in sequences(covers))
    noun = "message" if covered == 1 else "messages"
    return f"{text}\n\n[toolcarry: summary of {covered:,} {noun}; whole: {compaction.commit_hash[:16]}]"


def with_text(wire: JsonObject, text: str, is_error: bool | None = None) -> dict[str, Any]:
    """Return a result with another text as its whole content and, unless it is ``None``, another mark of a failure."""
    slot = slot_at(wire)
    if slot is None or not slot.holder:
        mark = {} if is_error is None else {"is_error": is_error}
        return {**wire, slot.key if slot else "content": text, **mark}
    held = {key: value for key, value in wire[slot.holder].items() if key != "parts"}
    content: object = [{"text": text}]
    if slot.holder in RESPONSE_KEYS:
        key = response_key(slot.content) if is_error is None else "error" if is_error else "output"
        content = {key: text}
    elif is_error is not None:
        held["status"] = "error" if is_error else "success"
    return {**wire, slot.holder: {**held, slot.key: content}}


def emptied_record(record: dict[str, Any]) -> dict[str, Any] | None:
    """Return a record without content, if other records may name it as their parent; else ``None``."""
    message = as_object(record.get("message"))
    if message is None or "uuid" not in record:
        return None
    return {**record, "message": {**message, "content": []}}


def removed_parts(record: dict[str, Any], told: list[Part]) -> set[int]:
    """Return the ``id()`` of the parts to remove from a record: calls with their text and reasoning, and results."""
    found = {id(wire) for part in told for wire in part.wires}
    if any(part.kind != Kind.RESULT for part in told):
        message = as_object(record.get("message")) or record
        content = as_list(message.get("content")) or ()
        found.update(id(item) for item in content if is_said(item))
    return found


def is_said(item: object) -> bool:
    """True if a part is text or reasoning, and neither a call nor a result."""
    kind = (as_object(item) or {}).get("type")
    return isinstance(item, str) or kind in (*TEXT_PARTS, "thinking")


def rebuilt(value: Any, swaps: Swaps, left: set[int]) -> Any:
    """Return a record with the parts in ``swaps`` replaced, and the parts in ``left`` removed."""
    if id(value) in swaps:
        return swaps[id(value)]
    if isinstance(value, list):
        return [rebuilt(item, swaps, left) for item in value if id(item) not in left]
    if isinstance(value, dict):
        return {key: rebuilt(item, swaps, left) for key, item in value.items()}
    return value
