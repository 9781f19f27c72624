"""The stores of ``toolcarry history``: list, show, verify and export conversations.

Commands that only read open the store read-only. Text of a conversation is shown without control characters and
escapes; ``show --raw`` and ``export`` write the stored bytes, except to a terminal, which gets controls as text.
"""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from msgspec import structs

from toolcarry._util.plural import counted
from toolcarry.cli.exit_codes import FAILED, NOT_FOUND, USAGE, FileError
from toolcarry.cli.io import Output, json_line, reading
from toolcarry.cli.terminal import (
    label,
    one_line,
    render,
)
from toolcarry.errors import InputError, UnknownCommitError
from toolcarry.model.text.sanitize import clean

if TYPE_CHECKING:
    from toolcarry.tract import (
        CommitInfo,
        Damage,
        LegacyResult,
        Stats,
        ToolTurn,
        Tract,
    )
    from toolcarry.tract.store.database import Database
SERVERS: Final = ("postgresql://", "postgres://")
DEFAULT_CONVERSATION: Final = "default"
"""The default name of a conversation, as in ``Tract.open``."""
MOST_NAMED: Final = 5
"""The maximum number of conversations that are listed if the requested one does not exist."""


@dataclass(frozen=True, slots=True)
class Store:
    """The location of a store, and the tenant whose conversations are used; without one, the only one in the store."""

    db: str
    tenant: str | None
    busy_timeout: float

    @property
    def files(self) -> list[str]:
        """The store's file, which no output may overwrite; empty for a server."""
        return [] if self.db.startswith(SERVERS) else [self.db]

    def check(self, *, is_new_allowed: bool) -> None:
        """Raise ``FileError`` if there can't be a store at this place, and ``ConfigError`` if a setting is not allowed.

        Errors in the content of the store are reported when it is opened.
        """
        from toolcarry.tract.store.validate import check_name, check_timeout  # noqa: PLC0415 - imports apsw

        if self.db == ":memory:":
            raise FileError(
                "--db :memory: is lost when the command ends; name a file or a URL", USAGE
            )
        if self.db and "\0" not in self.db and self.files:
            check_file(self.db, is_new_allowed=is_new_allowed)
        check_name("tenant", self.tenant or "")
        check_timeout("busy_timeout", self.busy_timeout)

    def write(self) -> Tract:
        """Open the store for writing; create it if it does not exist."""
        return self._open(is_read_only=False)

    @contextmanager
    def read(self, name: str | None) -> Iterator[Tract]:
        """Open an existing conversation for reading."""
        with self.read_all() as tract:
            yield tract.in_conversation(self.find(name, tract))

    def find(self, name: str | None, tract: Tract) -> str:
        """Return the name of a conversation, as ``find_conversation`` does. Raises ``FileError`` as it does."""
        return find_conversation(name, self.names(tract))

    def names(self, tract: Tract) -> list[str]:
        """Return the names of the tenant's conversations. Raises ``FileError`` if only other tenants have any."""
        there = tract.conversations()
        if not there and (owners := self.owners()):
            whose = "without a tenant" if self.tenant is None else f"of {one_line(self.tenant)!r}"
            found = f"{counted(len(owners), 'tenant')} with conversations"
            raise FileError(
                f"no conversation {whose}; the store has {found}: list them with "
                "'toolcarry history conversations', and name one with --tenant",
                NOT_FOUND,
            )
        return there

    def owners(self) -> list[str]:
        """Return the tenants of the store, in the order in which they began."""
        with self.database() as database:
            return list(dict.fromkeys(owner for owner, _ in all_names(database)))

    @contextmanager
    def database(self) -> Iterator[Database]:
        """Open the whole store for reading, with the conversations of all tenants."""
        from toolcarry.tract.store import open_database  # noqa: PLC0415 - imports apsw

        self.check(is_new_allowed=False)
        opened = open_database(self.db, busy_timeout=self.busy_timeout, is_read_only=True)
        with closing(opened) as database:
            yield database

    def read_all(self) -> Tract:
        """Open the whole store for reading."""
        return self._open(is_read_only=True)

    def _open(self, *, is_read_only: bool) -> Tract:
        from toolcarry.tract import Tract  # noqa: PLC0415 - imports apsw

        self.check(is_new_allowed=not is_read_only)
        options: Any = {"busy_timeout": self.busy_timeout, "read_only": is_read_only}
        tract = Tract.open(self.db, tenant=self.tenant or "", **options)
        if self.tenant is None and not tract.conversations() and len(owners := self.owners()) == 1:
            tract.close()
            tract = Tract.open(self.db, tenant=owners[0], **options)
        return tract


def all_names(database: Database) -> Iterator[tuple[str, str]]:
    """Yield the tenant and the name of each conversation."""
    from toolcarry.tract.store.verify import all_conversations  # noqa: PLC0415 - imports apsw

    return ((tenant, name) for _, tenant, name in all_conversations(database))


def show_conversations(store: Store, *, is_json: bool) -> None:
    """Write a row for each conversation: its tenant, its name, its commits, and the time of the last one."""
    from toolcarry.tract.store.log import Log  # noqa: PLC0415 - imports apsw

    out = Output()
    rows = []
    with store.database() as database:
        for tenant, name in all_names(database):
            if store.tenant in (None, tenant):
                last = next(Log(database, tenant, name).newest(1), None)
                rows.append((tenant, name, last))
    if not is_json:
        out.draw(conversations_table(rows).encode())
        return
    for tenant, name, last in rows:
        fields: dict[str, Any] = {
            "tenant": tenant,
            "conversation": name,
            "commits": 0,
            "last": None,
        }
        if last is not None:
            fields |= {"commits": last.sequence, "last": last.created_at.isoformat()}
        out.write(json_line(fields))


def conversations_table(rows: list[tuple[str, str, CommitInfo | None]]) -> str:
    """Return the table of the conversations of a store. Names are shown whole, since commands need them."""
    from toolcarry.cli.tables import cell, new_table  # noqa: PLC0415 - imports rich

    table = new_table()
    for title in ("tenant", "conversation"):
        table.add_column(title, overflow="fold")
    table.add_column("commits", justify="right")
    table.add_column("last")
    for tenant, name, last in rows:
        counts = ("0", "") if last is None else (f"{last.sequence:,}", shown_time(last.created_at))
        table.add_row(cell(tenant, 400), cell(name, 400), *counts)
    return render([table], sys.stdout)


def check_file(name: str, *, is_new_allowed: bool) -> None:
    """Raise ``FileError`` if the path can't be a store's file; other errors are reported when the store is opened."""
    path = Path(os.path.realpath(name))
    try:
        if path.is_dir():
            raise FileError(f"--db {label(name)}: is a directory", FAILED)
        if is_new_allowed and not path.parent.is_dir():
            raise FileError(f"--db {label(name)}: no such directory", NOT_FOUND)
        if not is_new_allowed and not path.exists():
            raise FileError(f"--db {label(name)}: no such file", NOT_FOUND)
    except OSError as error:
        code = NOT_FOUND if error.errno == errno.ENAMETOOLONG else FAILED
        raise FileError(f"--db {label(name)}: cannot read: {error.strerror}", code) from None


def find_conversation(name: str | None, there: list[str]) -> str:
    """Return the name of the conversation: the given one, else the only one in the store, else ``default``.

    Raises ``FileError`` if it does not exist; the error lists some that do.
    """
    if name is None:
        name = there[0] if len(there) == 1 else DEFAULT_CONVERSATION
    if name in there:
        return name
    named = ", ".join(repr(one_line(other)) for other in there[:MOST_NAMED])
    more = f" and {len(there) - MOST_NAMED:,} more" if len(there) > MOST_NAMED else ""
    known = f"the store has {named}{more}" if there else "the store has none"
    raise FileError(f"no conversation {one_line(name)!r}; {known}", NOT_FOUND)


DIGITS: Final = 12
"""The digits of a hash that lists show; eight are enough to name a commit."""
LEAST_TEXT: Final = 20
"""The number of characters of a text that are shown even in the narrowest terminal."""
COUNTS: Final = ("commits", "tokens", "content_bytes", "stored_bytes")


def show_commit(
    store: Store, conversation: str | None, given: str, *, is_raw: bool, is_json: bool
) -> None:
    """Write the fields and the text of a commit, or with ``is_raw`` its bytes alone."""
    out = Output()
    with store.read(conversation) as tract:
        try:
            commit = tract.get_commit(given)
        except (UnknownCommitError, InputError) as error:
            show_reference(tract, given, error, out, is_raw=is_raw, is_json=is_json)
            return
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


def show_reference(
    tract: Tract, given: str, unknown: Exception, out: Output, *, is_raw: bool, is_json: bool
) -> None:
    """Write the result that a marker's reference names. Raises ``unknown`` if nothing has it."""
    try:
        text = tract.resolve(given)
    except InputError:
        raise unknown from None
    if is_json:
        out.write(json_line({"reference": given, "content": text}))
    elif is_raw:
        out.write(text.encode("utf-8", "replace"))
    else:
        body = clean(text)
        end = "" if body.endswith("\n") or not body else "\n"
        out.write(f"{'reference':12}  {one_line(given)}\n\n{body}{end}".encode())


def facts(commit: CommitInfo, versions: list[CommitInfo]) -> Iterator[tuple[str, str]]:
    """Yield the fields of a commit as titles and values."""
    yield "commit", commit.commit_hash
    yield "parent", commit.parent_hash or "none (first commit)"
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
    """Write each turn: the calls, and below them the results."""
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
    """Return the number of calls without a result.

    A call may have several results. Calls and results without an id are compared by their number alone.
    """
    answers = [result.tool_call_id or "" for result in turn.results]
    ids = [call["id"] for call in turn.call.metadata["tool_calls"]]
    named = sum(bool(each) and each not in answers for each in ids)
    return named + max(0, ids.count("") - answers.count(""))


def export_lines(store: Store, conversation: str | None, output: str | None) -> None:
    """Write a conversation; imported lines are written byte for byte."""
    with store.read(conversation) as tract, Output(output, store.files) as out:
        for chunk in tract.export():
            out.write(chunk)


def verify_store(store: Store, *, is_json: bool) -> int:
    """Verify the store, write a line for each damaged or lost commit, and return 1 if there is any."""
    out = Output()
    with store.read_all() as tract:
        result = tract.verify(all_tenants=True)
    if is_json:
        out.write(json_line({**result.to_dict(), "is_whole": result.is_whole}))
        return 0 if result.is_whole else FAILED
    for kind, found in (("damaged", result.damaged), ("lost", result.lost)):
        for damage in found:
            out.write(f"{kind}: {damage_line(damage)}\n".encode())
    whole = "all intact" if result.is_whole else ""
    counts = f"{len(result.damaged):,} damaged, {len(result.lost):,} already lost"
    out.write(f"{counted(result.checked, 'commit')} checked; {whole or counts}\n".encode())
    return 0 if result.is_whole else FAILED


def damage_line(damage: Damage) -> str:
    """Return a line with the place of one damage and its reason."""
    place = ""
    if damage.sequence is not None:
        tenant = f"tenant {one_line(damage.tenant)!r}, " if damage.tenant else ""
        found = f" ({damage.commit_hash})" if damage.commit_hash else ""
        conversation = f"conversation {one_line(damage.conversation)!r}"
        place = f"{tenant}{conversation}, commit {damage.sequence:,}{found}: "
    return f"{place}{one_line(damage.reason, 400)}"


def show_stats(store: Store, conversation: str | None, *, is_all: bool, is_json: bool) -> None:
    """Write the counts of one conversation, or of all conversations of the tenant."""
    out = Output()
    with store.read_all() as tract:
        names = store.names(tract) if is_all else [store.find(conversation, tract)]
        found = [(name, tract.in_conversation(name).stats()) for name in names]
    if is_json:
        for name, stats in found:
            out.write(json_line({"conversation": name, **stats.to_dict()}))
    elif is_all:
        out.draw(stats_table(found).encode())
    else:
        out.write(stats_lines(*found[0]).encode())


def stats_lines(name: str, stats: Stats) -> str:
    rows = [("conversation", one_line(name, 400))]
    rows += [(title.replace("_", " "), f"{getattr(stats, title):,}") for title in COUNTS]
    rows[2:2] = [(f"  {kind}", f"{count:,}") for kind, count in stats.kinds.items()]
    return "".join(f"{title:13}  {value}\n" for title, value in rows)


def stats_table(found: list[tuple[str, Stats]]) -> str:
    """Return a table with a row for each conversation and a total."""
    from toolcarry.cli.tables import cell, new_table  # noqa: PLC0415 - imports rich

    table = new_table(has_footer=True)
    table.add_column("conversation", "total", overflow="fold")
    for title in COUNTS:
        total = sum(getattr(stats, title) for _, stats in found)
        table.add_column(title.replace("_", " "), f"{total:,}", justify="right")
    for name, stats in found:
        table.add_row(cell(name), *(f"{getattr(stats, title):,}" for title in COUNTS))
    return render([table], sys.stdout)


SOURCES = {
    "record": "its own line has the full text",
    "file": "the full text may be in {}",
    "log": "the full text may be in a log: {}",
    "": "no source is known",
}
"""The wording for each source of a full result."""


def legacy_line(found: LegacyResult) -> str:
    """Return a line about a result that was cut: its commit, call and tool, what cut it, and where its full text may be."""
    commit = found.commit
    where = (
        "filled" if found.is_filled else SOURCES[found.source].format(one_line(found.where, 400))
    )
    call = one_line(commit.tool_call_id or "(no id)")
    return f"{short(commit)}  {call}  {one_line(commit.name or '')}  cut by {found.mark}; {where}"


def write_legacy(out: Output, found: LegacyResult, *, is_json: bool) -> None:
    if is_json:
        fields = {**found.to_dict(), "commit": as_fields(found.commit)}
        out.write(json_line(fields))
    else:
        out.write(f"{legacy_line(found)}\n".encode())


def show_legacy(store: Store, conversation: str | None, *, is_json: bool) -> None:
    """Write a line for each result that was cut before it was written."""
    out = Output()
    with store.read(conversation) as tract:
        for found in tract.legacy_results():
            write_legacy(out, found, is_json=is_json)


def backfill_store(
    store: Store, conversation: str | None, source: str | None, *, is_json: bool
) -> int:
    """Fill in the results that were cut, write a line for each one that is still cut, and return the exit code."""
    out = Output()
    store.check(is_new_allowed=False)
    with store.write() as tract:
        name = store.find(conversation, tract)
        try:
            with reading():
                done = tract.in_conversation(name).backfill(source)
        except (InputError, FileError) as error:
            code = error.code if isinstance(error, FileError) else FAILED
            raise FileError(f"{label(source or '')}: {one_line(str(error), 400)}", code) from None
    for found in done.left:
        write_legacy(out, found, is_json=is_json)
    if not is_json:
        filled = counted(len(done.filled), "result")
        out.write(f"{filled} filled, {len(done.left):,} still cut\n".encode())
    return FAILED if done.left else 0


def compact_store(
    store: Store, conversation: str | None, settings: dict[str, Any], *, is_json: bool
) -> None:
    """Compact a conversation if it takes too much of a window, and write a line about it."""
    store.check(is_new_allowed=False)
    with store.write() as tract:
        name = store.find(conversation, tract)
        done = tract.in_conversation(name).compact(**settings)
    commit = None if done.commit is None else done.commit.commit_hash
    if is_json:
        fields = {"commit": commit, "covered": len(done.covered)}
        tokens = {"tokens_before": done.tokens_before, "tokens_after": done.tokens_after}
        Output().write(json_line({**fields, **tokens}))
    elif done.commit is None:
        Output().write(b"nothing to compact\n")
    else:
        messages = counted(len(done.covered), "message")
        tokens_said = f"{done.tokens_before:,} to {done.tokens_after:,} tokens"
        line = f"{messages} compacted, {tokens_said}; uncompress: {short(done.commit)}\n"
        Output().write(line.encode())


def search_store(
    store: Store, conversation: str | None, query: str, *, limit: int, is_json: bool
) -> None:
    """Write a line for each tool result that has all words."""
    out = Output()
    with store.read(conversation) as tract:
        try:
            matches = tract.search_tool_results(query, limit=limit)
        except InputError as error:
            raise FileError(one_line(str(error), 400), USAGE) from None
        for found in matches:
            commit = found.commit
            if is_json:
                out.write(json_line({**found.to_dict(), "commit": as_fields(commit)}))
                continue
            name, call = one_line(commit.name or ""), one_line(commit.tool_call_id or "(no id)")
            snippet = one_line(found.snippet, 200)
            out.write(f"{short(commit)}  {call}  {name}  {snippet}\n".encode())


def as_fields(commit: CommitInfo) -> dict[str, Any]:
    """Return a commit's fields for JSON: the kind as a word, the time as ISO 8601."""
    kind, time = commit.kind.name.lower(), commit.created_at.isoformat()
    return {**structs.asdict(commit), "kind": kind, "created_at": time}


def short(commit: CommitInfo) -> str:
    return commit.commit_hash[:DIGITS]


def shown_time(time: datetime) -> str:
    """Return a time in UTC, to the second."""
    return f"{time:%Y-%m-%dT%H:%M:%SZ}"
