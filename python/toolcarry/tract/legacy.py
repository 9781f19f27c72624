"""Results that were cut before they were written: what cut them, where their whole is, and how it is put back.

A backfill is an edit whose provenance says where its text comes from. It supersedes the cut result in compiled messages
and is what ``resolve`` and ``hydrate`` take for the canonical result; the cut one stays readable.

A mark is the text of a tool, and the path in it may name any file. So a file is read only if it is in a folder that the
caller gives.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias

from toolcarry._input.archive import read_file
from toolcarry._input.document import loads_line, open_body
from toolcarry._input.objects import JsonObject, as_object
from toolcarry.errors import ConfigError
from toolcarry.importers.parts import read_parts
from toolcarry.tract.canonical import FLAG
from toolcarry.tract.commit_codec import UNREADABLE, StoredParts
from toolcarry.tract.compaction import edit_draft
from toolcarry.tract.store.log import Draft, Log
from toolcarry.tract.store.types import Backfilled, Kind, LegacyResult
from toolcarry.tract.truncation import Mark, find_mark, find_member, is_truncated
from toolcarry.tract.view import RESULTS, read_canonical

__all__ = ["BackfillSource", "backfill", "fill", "legacy_results"]

BackfillSource: TypeAlias = (
    str | os.PathLike[str] | Mapping[str, str] | Callable[[str], str | None] | None
)
"""Where the whole results are: a folder of files, a session file, texts by their ids, or a function of an id."""

KEPT: Final = ("stdout", "content", "output")
"""The members of Claude Code's ``toolUseResult`` that hold the text of a result."""


def legacy_results(log: Log) -> list[LegacyResult]:
    """Return the results that were cut before they were written, oldest first."""
    return [found for found, _ in read_legacy(log)]


def read_legacy(log: Log) -> Iterator[tuple[LegacyResult, str]]:
    """Yield the results that were cut, each with the whole that its own line has; empty if it has none."""
    filled = read_canonical(log).newest
    flagged = [commit for commit in log.commits(RESULTS) if FLAG in commit.metadata]
    parts = StoredParts()
    line, record = b"", None
    for commit, content in zip(flagged, log.contents_of(flagged), strict=True):
        text, wire = parts.text(commit, content), parts.result(commit, content)
        mark = find_mark(text) or find_member(wire) or Mark("a member")
        if wire is not None and content is not line:
            line, record = content, loads_line(content)
        whole = "" if wire is None else whole_in_record(record, text)
        is_filled = commit.commit_hash in filled
        if whole:
            yield LegacyResult(commit, mark.of, "record", "toolUseResult", is_filled), whole
        elif mark.path:
            yield LegacyResult(commit, mark.of, "file", mark.path, is_filled), ""
        elif mark.reference:
            yield LegacyResult(commit, mark.of, "log", mark.reference, is_filled), ""
        else:
            yield LegacyResult(commit, mark.of, is_filled=is_filled), ""


def whole_in_record(record: JsonObject | None, text: str) -> str:
    """Return the whole of a cut result that Claude Code keeps next to it, in ``toolUseResult``; empty without one.

    It must begin with the line with which the preview begins.
    """
    kept = None if record is None else record.get("toolUseResult")
    held = as_object(kept)
    texts = [kept] if held is None else [held.get(key) for key in KEPT]
    _, _, preview = text.partition("\n\nPreview")
    first = preview.partition("\n")[2].partition("\n")[0]
    for found in texts:
        if isinstance(found, str) and len(found) > len(preview) and found.startswith(first):
            errors = "" if held is None else held.get("stderr")
            whole = f"{found}\n{errors}" if isinstance(errors, str) and errors else found
            return "" if is_truncated(whole) else whole
    return ""


Find: TypeAlias = Callable[[LegacyResult], tuple[str, str]]
"""A function that returns the whole of a result, and where it was; an empty text if it is not there."""


def backfill(log: Log, source: BackfillSource) -> Backfilled:
    """Write the whole of each cut result that its own line or ``source`` has, as an edit with its provenance."""
    counts = Counter(commit.tool_call_id for commit in log.commits(RESULTS))
    return fill(log, finder(source, frozenset(key for key in counts if key and counts[key] == 1)))


def fill(log: Log, find: Find) -> Backfilled:
    """Write the whole of each cut result that its own line has or ``find`` returns."""
    drafts: list[Draft] = []
    left: list[LegacyResult] = []
    for found, whole in read_legacy(log):
        if found.is_filled:
            continue
        text, where = (whole, "record") if whole else find(found)
        if not text or is_truncated(text):
            left.append(found)
            continue
        provenance = {"provenance": {"by": "backfill", "from": where}}
        drafts.append(edit_draft(found.commit, text, provenance, is_error=found.commit.is_error))
    return Backfilled(tuple(log.append(drafts)) if drafts else (), tuple(left))


def finder(source: BackfillSource, unique: Container[str]) -> Find:
    """Return the function that looks into a source, by call ids only if they are ``unique`` in the history."""
    if source is None:
        return lambda _: ("", "")
    if isinstance(source, Mapping):
        ask: Callable[[str], object] = source.get
        return lambda found: in_log(found, ask, unique)
    if isinstance(source, (str, os.PathLike)) and os.fspath(source):
        path = Path(source)
        if path.is_dir():
            return lambda found: in_folder(found, path)
        results = session_results(path)
        return lambda found: (results.get(key_in(found, unique), ""), f"file {path}")
    if callable(source):
        call = source
        return lambda found: in_log(found, call, unique)
    allowed = "a folder, a session file, texts by id, a function, None"
    raise ConfigError(f"source: {source!r:.80} is not allowed; allowed: {allowed}")


def key_in(found: LegacyResult, unique: Container[str]) -> str:
    """Return the id of a result's call; empty if it is not the only one with that id."""
    call_id = found.commit.tool_call_id or ""
    return call_id if call_id in unique else ""


def in_log(
    found: LegacyResult, ask: Callable[[str], object], unique: Container[str]
) -> tuple[str, str]:
    """Ask for a result by its id in the host's log, then by the id of its call."""
    for key in (found.where if found.source == "log" else "", key_in(found, unique)):
        text = ask(key) if key else None
        if isinstance(text, str) and text:
            return text, f"log {key}"
    return "", ""


def in_folder(found: LegacyResult, folder: Path) -> tuple[str, str]:
    """Read the file that a mark names, if it is in ``folder``, under its path or its name there."""
    if found.source != "file":
        return "", ""
    inside = folder.resolve()
    name = found.where.replace("\\", "/").rpartition("/")[2]
    for path in (Path(found.where), folder / name):
        real = path.resolve()
        if real.is_relative_to(inside) and real.is_file():
            return real.read_bytes().decode("utf-8", "replace"), f"file {path}"
    return "", ""


def session_results(path: Path) -> dict[str, str]:
    """Return the whole results of a session file or a request by call id, without those whose id repeats."""
    data = read_file(path)
    opened = open_body(data)
    messages: list[Any] = (
        list(opened.messages)
        if opened.lines is None
        else [loads_line(line) for line in data.splitlines()]
    )
    found: dict[str, list[str]] = {}
    for record in messages:
        try:
            parts = read_parts(record) if isinstance(record, dict) else []
        except UNREADABLE:
            continue
        for part in parts:
            call_id = part.metadata["tool_call_id"] if part.kind == Kind.RESULT else ""
            if call_id:
                text = whole_in_record(record, part.text) if is_truncated(part.text) else part.text
                found.setdefault(call_id, []).append(text)
    return {key: texts[0] for key, texts in found.items() if len(texts) == 1}
