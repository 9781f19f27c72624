"""opencode: rows in its SQLite store, which are added in one transaction.

Source: github.com/anomalyco/opencode, packages/opencode/src: session/session.sql.ts, session/message-v2.ts, id/id.ts.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import sqlite3
import string
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from toolcarry.errors import InputError
from toolcarry.sessions.draft import Draft
from toolcarry.sessions.steps import Step, StepCall, data_url_of, steps
from toolcarry.sessions.world import git

__all__ = ["DESTINATION", "digest_of", "new_id", "records", "remove", "write"]

DESTINATION: Final = "anthropic"
STORE: Final = "opencode/opencode.db"
WAIT: Final = 5.0
"""The seconds to wait for another writer."""
MASK: Final = (1 << 48) - 1
LETTERS: Final = string.digits + string.ascii_uppercase + string.ascii_lowercase
UNKNOWN: Final = {"providerID": "unknown", "modelID": "unknown"}
NEWEST: Final = 100
"""The number of messages that are searched for the user's model."""


def new_id() -> str:
    """Return the id of a session: newer ones sort before older ones."""
    return named("ses", ~(int(time.time() * 1000) << 12))


def named(prefix: str, number: int) -> str:
    """Return an id: the lower 48 bits of a number that tells the time, and random letters."""
    end = "".join(secrets.choice(LETTERS) for _ in range(14))
    return f"{prefix}_{number & MASK:012x}{end}"


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a store for one transaction. Raises ``InputError`` if it is busy, damaged, or of an unknown structure."""
    try:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True, timeout=WAIT, isolation_level=None)  # fmt: skip
        with closing(connection):
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")
    except sqlite3.Error as error:
        raise InputError(f"{path}: opencode's store can't be used: {error}", None) from None


def write(draft: Draft, root: Path) -> Path:
    """Add a session to the store and return the store.

    Raises ``InputError`` if there is no store, or opencode does not know the directory yet.
    """
    path = root / STORE
    if not path.is_file():
        raise InputError(f"{path}: opencode has no store there; start it once", None)
    with opened(path) as store:
        began = int(draft.began.timestamp() * 1000)
        session = {
            "id": draft.session_id,
            "project_id": project_of(store, draft),
            "slug": draft.session_id[-8:].lower(),
            "directory": str(draft.directory),
            "title": title_of(draft),
            "version": version_of(store),
            "time_created": began,
            "time_updated": began,
        }
        add(store, "session", session)
        for table, row in records(draft, model_of(store)):
            if table != "todo" or has_table(store, table):
                add(store, table, row)
    return path


def add(store: sqlite3.Connection, table: str, row: dict[str, Any]) -> None:
    """Add a row. Raises ``InputError`` if the table has a column that must have a value and is not known."""
    columns = store.execute("SELECT name, \"notnull\", dflt_value, pk FROM pragma_table_info(?)", (table,)).fetchall()  # fmt: skip
    unknown = [name for name, is_needed, default, _ in columns if is_needed and default is None and name not in row]  # fmt: skip
    absent = row.keys() - {name for name, *_ in columns}
    if unknown or absent:
        odd = ", ".join([*unknown, *sorted(absent)])
        raise InputError(f"opencode's table {table} has another structure ({odd}); use --as context", None)  # fmt: skip
    names = ", ".join(f'"{name}"' for name in row)
    marks = ", ".join("?" for _ in row)
    store.execute(
        f'INSERT INTO "{table}" ({names}) VALUES ({marks})',
        [stored(value) for value in row.values()],
    )


def stored(value: Any) -> Any:
    """Return a value as a store holds it: a text without lone surrogates.

    >>> stored("hens \\ud800")
    'hens ?'
    """
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


def project_of(store: sqlite3.Connection, draft: Draft) -> str:
    """Return the project of a directory, as opencode knows it."""
    top = (git(draft.directory, "rev-parse", "--show-toplevel") or "").strip()
    for query, given in (
        ("SELECT id FROM project WHERE worktree = ?", top or str(draft.directory)),
        ("SELECT project_id FROM session WHERE directory = ? ORDER BY time_updated DESC", str(draft.directory)),
        ("SELECT id FROM project WHERE id = ?", "" if top else "global"),
    ):  # fmt: skip
        found = store.execute(query, (given,)).fetchone()
        if found is not None:
            return str(found[0])
    raise InputError(f"opencode does not know {draft.directory} yet; start it there once", None)


def model_of(store: sqlite3.Connection) -> dict[str, str]:
    """Return the model that the user asked last, which opencode goes on with."""
    query = "SELECT data FROM message ORDER BY time_created DESC LIMIT ?"
    for (data,) in store.execute(query, (NEWEST,)):
        with suppress(ValueError, TypeError, KeyError):
            model = json.loads(data)["model"]
            return {key: str(model[key]) for key in UNKNOWN}
    return UNKNOWN


def has_table(store: sqlite3.Connection, name: str) -> bool:
    query = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?"
    return store.execute(query, (name,)).fetchone() is not None


def version_of(store: sqlite3.Connection) -> str:
    found = store.execute("SELECT version FROM session ORDER BY time_updated DESC").fetchone()
    return "1.0.0" if found is None else str(found[0])


def title_of(draft: Draft) -> str:
    """Return the first request as a title."""
    for message in draft.messages:
        content = message["content"]
        texts = [content] if isinstance(content, str) else [block.get("text", "") for block in content]  # fmt: skip
        if message["role"] == "user" and (text := " ".join(" ".join(texts).split())):
            return text[:60]
    return "A session from toolcarry"


def records(draft: Draft, model: dict[str, str] = UNKNOWN) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the rows of messages and parts, and of the last plan. Ids and times rise, which is how opencode orders them.

    ``model`` is the one that goes on; which one answered so far is not known.
    """
    plan: list[dict[str, Any]] = []
    number = int(draft.began.timestamp() * 1000) << 12
    parent = ""
    for count, step in enumerate(steps(draft)):
        now = int(draft.next_time().timestamp() * 1000)
        name = named("msg", number + (count << 12))
        times = {"time_created": now, "time_updated": now}
        if step.role == "user":
            parent = name
        keys = {"id": name, "session_id": draft.session_id, **times}
        yield (
            "message",
            {**keys, "data": json.dumps(info_of(draft, step, parent or name, now, model))},
        )
        for place, part in enumerate(parts_of(step, name, draft.session_id, now)):
            of = {"message_id": name, "session_id": draft.session_id, **times}
            part_id = named("prt", number + (count << 12) + place)
            yield "part", {"id": part_id, **of, "data": json.dumps(part)}
        for call in step.calls:
            if call.name == "todowrite" and isinstance(call.arguments.get("todos"), list):
                plan = [todo for todo in call.arguments["todos"] if isinstance(todo, dict)]
    began = int(draft.began.timestamp() * 1000)
    for position, todo in enumerate(plan):
        told = {key: str(todo.get(key, "")) for key in ("content", "status", "priority")}
        keys = {"session_id": draft.session_id, "position": position}
        yield "todo", {**keys, **told, "time_created": began, "time_updated": began}


def info_of(
    draft: Draft, step: Step, parent: str, now: int, model: dict[str, str]
) -> dict[str, Any]:
    """Return what opencode notes about a message."""
    if step.role == "user":
        return {"role": "user", "time": {"created": now}, "agent": "build", "model": model}
    place = str(draft.directory)
    return {
        "role": "assistant",
        "time": {"created": now, "completed": now},
        "parentID": parent,
        **UNKNOWN,
        "mode": "build",
        "agent": "build",
        "path": {"cwd": place, "root": place},
        "cost": 0,
        "tokens": {"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}},
        "finish": "tool-calls" if step.calls else "stop",
    }


def parts_of(step: Step, message: str, session: str, now: int) -> Iterator[dict[str, Any]]:
    for block in step.blocks:
        yield {"type": "text", "text": block["text"]} if block["type"] == "text" else file_of(block)
    for call in step.calls:
        state = state_of(call, message, session, now)
        yield {"type": "tool", "callID": call.call_id, "tool": call.name, "state": state}


def state_of(call: StepCall, message: str, session: str, now: int) -> dict[str, Any]:
    """Return the result of a call. A failed one has no place for media, which are named in it."""
    times = {"time": {"start": now, "end": now}}
    if call.result.is_error:
        return {"status": "error", "input": call.arguments, "error": call.result.text, **times}
    keys = {"sessionID": session, "messageID": message}
    attached = [
        {"id": named("prt", now << 12), **keys, **file_of(block)} for block in call.result.media
    ]
    state = {"status": "completed", "input": call.arguments, "output": call.result.text}
    more = {"attachments": attached} if attached else {}
    return {**state, "title": call.name, "metadata": {}, **times, **more}


def file_of(block: dict[str, Any]) -> dict[str, Any]:
    """Return an image or a document."""
    kind, address = data_url_of(block)
    name = "image" if block["type"] == "image" else str(block.get("title", "document"))
    return {"type": "file", "mime": kind, "filename": name, "url": address}


def digest_of(path: Path, session_id: str) -> str:
    """Return a hash of all rows of a session; empty if it is not there."""
    found = hashlib.sha256()
    is_there = False
    with opened(path) as store:
        for table in ("message", "part"):
            query = f'SELECT id, data FROM "{table}" WHERE session_id = ? ORDER BY id'
            for row in store.execute(query, (session_id,)):
                is_there = True
                found.update(repr(row).encode())
    return found.hexdigest() if is_there else ""


def remove(path: Path, session_id: str) -> None:
    """Remove the rows of a session that was added."""
    with opened(path) as store:
        for table in ("part", "message"):
            store.execute(f'DELETE FROM "{table}" WHERE session_id = ?', (session_id,))
        store.execute("DELETE FROM session WHERE id = ?", (session_id,))
