"""What ``toolcarry history`` reads: ``log``, ``show``, ``turns``, ``export``, ``verify`` and ``stats``.

What a conversation says of itself is shown without controls and escapes; ``show --raw`` and ``export`` give the bytes.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from toolcarry._pure.text.sanitize import clean
from toolcarry._util.plural import counted
from toolcarry.cli.codes import FAILED
from toolcarry.cli.history_store import Store, find_conversation
from toolcarry.cli.output import Output, json_line
from toolcarry.cli.screen import LONGEST, columns, one_line, render

if TYPE_CHECKING:
    from toolcarry.tract import CommitInfo, Damage, Stats, ToolTurn, Tract

__all__ = [
    "export_lines",
    "show_commit",
    "show_log",
    "show_stats",
    "show_turns",
    "verify_store",
]

DIGITS: Final = 12
"""Of a hash that is shown in a list; eight are enough to name a commit."""
LEAST_TEXT: Final = 20
"""How many characters of a text are shown, however narrow the terminal is."""
COUNTS: Final = ("commits", "tokens", "content_bytes", "stored_bytes")


def show_log(store: Store, conversation: str | None, limit: int | None, *, is_json: bool) -> None:
    """Write a line for each commit, newest first."""
    out = Output()
    with store.read(conversation) as tract:
        for commit in tract.log(limit):
            if is_json:
                out.write(json_line(as_fields(commit)))
            else:
                out.write(f"{log_line(tract, commit, out)}\n".encode())


def log_line(tract: Tract, commit: CommitInfo, out: Output) -> str:
    calls = commit.metadata.get("tool_calls", ())
    name = commit.name or ", ".join(call["name"] for call in calls)
    head = (
        f"{short(commit)}  {shown_time(commit.created_at)}  {one_line(commit.role, 10):10}  "
        f"{one_line(name, 20):20}  {commit.token_count:>8,}  "
    )
    width = columns(sys.stdout) - len(head) if out.is_terminal else LONGEST
    line = tract.get_content(commit).strip().partition("\n")[0].rstrip("\r")
    return f"{head}{one_line(line, max(width, LEAST_TEXT))}".rstrip()


def show_commit(
    store: Store, conversation: str | None, given: str, *, is_raw: bool, is_json: bool
) -> None:
    """Write what a commit is, and its text; or its bytes alone."""
    out = Output()
    with store.read(conversation) as tract:
        commit = tract.get_commit(given)
        if is_raw:
            out.write(tract.get_source(commit))
            return
        text = tract.get_content(commit)
        is_result = commit.kind.name in ("RESULT", "EDIT")
        versions = tract.history_of(commit.commit_hash) if is_result else [commit]
    if is_json:
        hashes = [version.commit_hash for version in versions]
        out.write(json_line({**as_fields(commit), "versions": hashes, "content": text}))
        return
    fields = "".join(f"{title:12}  {value}\n" for title, value in facts(commit, versions))
    body = clean(text)
    end = "" if body.endswith("\n") or not body else "\n"
    out.write(f"{fields}\n{body}{end}".encode())


def facts(commit: CommitInfo, versions: list[CommitInfo]) -> Iterator[tuple[str, str]]:
    """What is known of a commit, each with its title."""
    yield "commit", commit.commit_hash
    yield "parent", commit.parent_hash or "none: the first"
    yield "conversation", one_line(commit.conversation, 400)
    yield "sequence", f"{commit.sequence:,}"
    yield "role", one_line(commit.role)
    yield "kind", commit.kind.name.lower()
    yield "tokens", f"{commit.token_count:,}"
    yield "created", shown_time(commit.created_at)
    for key, value in commit.metadata.items():
        values = value if key == "tool_calls" else [value]
        for each in values:
            text = each if isinstance(each, str) else json.dumps(each, ensure_ascii=False)
            yield one_line(key, 40), one_line(text, 400)
    for version in versions if len(versions) > 1 else ():
        mark = "  (this one)" if version == commit else ""
        size = counted(version.token_count, "token")
        yield "version", f"{short(version)}  {shown_time(version.created_at)}  {size}{mark}"


def show_turns(store: Store, conversation: str | None, name: str | None, *, is_json: bool) -> None:
    """Write each turn: what was called, and below it what came back."""
    out = Output()
    with store.read(conversation) as tract:
        turns = tract.find_tool_turns(name)
    for turn in turns:
        out.write(json_line(turn_fields(turn)) if is_json else turn_lines(turn).encode())


def turn_fields(turn: ToolTurn) -> dict[str, Any]:
    results = [
        {**as_fields(result), "is_error": result.is_error, "name": result.name}
        for result in turn.results
    ]
    return {
        "call": as_fields(turn.call),
        "tool_names": list(turn.tool_names),
        "results": results,
        "total_tokens": turn.total_tokens,
    }


def turn_lines(turn: ToolTurn) -> str:
    names = ", ".join(one_line(name, 40) for name in turn.tool_names)
    lines = [f"{short(turn.call)}  {names}  {counted(turn.total_tokens, 'token')}"]
    for result in turn.results:
        failed = "  failed" if result.is_error else ""
        name = one_line(result.name or "", 40)
        size = counted(result.token_count, "token")
        lines.append(f"  {short(result)}  {name}  {size}{failed}")
    missing = unanswered(turn)
    if missing:
        lines.append(f"  {missing:,} without a result")
    return "".join(f"{line}\n" for line in lines)


def unanswered(turn: ToolTurn) -> int:
    """How many calls have no result. A call may have several, and one without an id is told by its number alone."""
    answers = [result.tool_call_id or "" for result in turn.results]
    ids = [call["id"] for call in turn.call.metadata["tool_calls"]]
    named = sum(bool(each) and each not in answers for each in ids)
    return named + max(0, ids.count("") - answers.count(""))


def export_lines(store: Store, conversation: str | None, output: str | None) -> None:
    """Write a conversation as it came."""
    with store.read(conversation) as tract, Output(output, store.files) as out:
        for chunk in tract.export():
            out.write(chunk)


def verify_store(store: Store, *, is_json: bool) -> int:
    """Check everything, and write what is damaged; 1 where anything is."""
    out = Output()
    with store.read_all() as tract:
        result = tract.verify()
    if is_json:
        out.write(json_line({**asdict(result), "is_whole": result.is_whole}))
        return 0 if result.is_whole else FAILED
    for kind, found in (("damaged", result.damaged), ("lost", result.lost)):
        for damage in found:
            out.write(f"{kind}: {damage_line(damage)}\n".encode())
    whole = "all whole" if result.is_whole else ""
    counts = f"{len(result.damaged):,} damaged, {len(result.lost):,} lost before"
    out.write(f"{counted(result.checked, 'commit')} checked; {whole or counts}\n".encode())
    return 0 if result.is_whole else FAILED


def damage_line(damage: Damage) -> str:
    """What is wrong, and where."""
    place = ""
    if damage.sequence is not None:
        tenant = f"tenant {one_line(damage.tenant)!r}, " if damage.tenant else ""
        found = f" ({damage.commit_hash})" if damage.commit_hash else ""
        conversation = f"conversation {one_line(damage.conversation)!r}"
        place = f"{tenant}{conversation}, commit {damage.sequence:,}{found}: "
    return f"{place}{one_line(damage.reason, 400)}"


def show_stats(store: Store, conversation: str | None, *, is_all: bool, is_json: bool) -> None:
    """Write what a conversation holds, or each of the tenant's."""
    out = Output()
    with store.read_all() as tract:
        there = tract.conversations()
        names = there if is_all else [find_conversation(conversation, there)]
        found = [(name, tract.in_conversation(name).stats()) for name in names]
    if is_json:
        for name, stats in found:
            out.write(json_line({"conversation": name, **asdict(stats)}))
    elif is_all:
        out.write(stats_table(found).encode())
    else:
        out.write(stats_lines(*found[0]).encode())


def stats_lines(name: str, stats: Stats) -> str:
    rows = [("conversation", one_line(name, 400))]
    rows += [(title.replace("_", " "), f"{getattr(stats, title):,}") for title in COUNTS]
    rows[2:2] = [(f"  {kind}", f"{count:,}") for kind, count in stats.kinds.items()]
    return "".join(f"{title:13}  {value}\n" for title, value in rows)


def stats_table(found: list[tuple[str, Stats]]) -> str:
    """A row for each conversation, and their sum."""
    from toolcarry.cli.show import cell, new_table  # noqa: PLC0415 - slow

    table = new_table(has_footer=True)
    table.add_column("conversation", "total", overflow="fold")
    for title in COUNTS:
        total = sum(getattr(stats, title) for _, stats in found)
        table.add_column(title.replace("_", " "), f"{total:,}", justify="right")
    for name, stats in found:
        table.add_row(cell(name), *(f"{getattr(stats, title):,}" for title in COUNTS))
    return render([table], sys.stdout)


def as_fields(commit: CommitInfo) -> dict[str, Any]:
    """A commit for JSON: its kind as a word, its time as ISO 8601."""
    kind, time = commit.kind.name.lower(), commit.created_at.isoformat()
    return {**asdict(commit), "kind": kind, "created_at": time}


def short(commit: CommitInfo) -> str:
    return commit.commit_hash[:DIGITS]


def shown_time(time: datetime) -> str:
    """A time in UTC, to the second."""
    return f"{time:%Y-%m-%dT%H:%M:%SZ}"
