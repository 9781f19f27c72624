"""SQLite stores with the schemas that the agents' public sources have, each with two conversations."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from support.builders.producers import ANSWER, ASKED, FAILURE, NAME, SAID, sample

JsonObject = dict[str, Any]
OLD, NEW = "older", "newer"
"""The ids of the conversations. The newer one has the calls ``c1`` and ``c2``; in the older one a greeting is all."""
HELLO = "Good morning."


def write(path: Path, schema: str, rows: list[tuple[str, tuple[Any, ...]]]) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(schema)
        for table, values in rows:
            marks = ", ".join("?" * len(values))
            connection.execute(f"INSERT INTO {table} VALUES ({marks})", values)


def text(value: Any) -> str:
    return json.dumps(value)


# anomalyco/opencode, packages/opencode/src/session/session.sql.ts, without the columns that no reader needs
OPENCODE = """
    CREATE TABLE session (id text PRIMARY KEY, project_id text NOT NULL, parent_id text, slug text NOT NULL,
        directory text NOT NULL, title text NOT NULL, version text NOT NULL, time_created integer NOT NULL,
        time_updated integer NOT NULL);
    CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL REFERENCES session(id) ON DELETE CASCADE,
        time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
    CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL REFERENCES message(id) ON DELETE CASCADE,
        session_id text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
"""


def opencode(path: Path) -> None:
    rows: list[tuple[str, tuple[Any, ...]]] = [
        ("session", (OLD, "p", None, "a", "/w", "A greeting", "1", 1, 1)),
        ("session", (NEW, "p", None, "b", "/w", "The barn", "1", 2, 2)),
        ("session", ("child", "p", NEW, "c", "/w", "A sub-agent", "1", 3, 3)),
        ("message", ("m0", OLD, 1, 1, text({"role": "user"}))),
        ("part", ("p0", "m0", OLD, 1, 1, text({"type": "text", "text": HELLO}))),
    ]
    for number, message in enumerate(sample("opencode"), 1):
        info = {key: value for key, value in message["info"].items() if key not in ("id", "sessionID")}  # fmt: skip
        rows.append(("message", (f"m{number}", NEW, number, number, text(info))))
        for place, part in enumerate(message["parts"]):
            rows.append(("part", (f"p{number}{place}", f"m{number}", NEW, 2, 2, text(part))))
    write(path, OPENCODE, rows)


# charmbracelet/crush, internal/db/migrations/20250424200609_initial.sql and later ones
CRUSH = """
    CREATE TABLE sessions (id TEXT PRIMARY KEY, parent_session_id TEXT, title TEXT NOT NULL,
        message_count INTEGER NOT NULL DEFAULT 0, prompt_tokens INTEGER NOT NULL DEFAULT 0,
        completion_tokens INTEGER NOT NULL DEFAULT 0, cost REAL NOT NULL DEFAULT 0.0, updated_at INTEGER NOT NULL,
        created_at INTEGER NOT NULL);
    CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, role TEXT NOT NULL,
        parts BLOB NOT NULL default '[]', model TEXT, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
        finished_at INTEGER, FOREIGN KEY (session_id) REFERENCES sessions (id) ON DELETE CASCADE);
"""


def crush(path: Path) -> None:
    hello = [
        {"type": "text", "data": {"text": HELLO}},
        {"type": "finish", "data": {"reason": "stop"}},
    ]
    rows: list[tuple[str, tuple[Any, ...]]] = [
        ("sessions", (NEW, None, "The barn", 3, 0, 0, 0.0, 9, 9)),
        ("sessions", (OLD, None, "A greeting", 1, 0, 0, 0.0, 1, 1)),
        ("sessions", ("task", NEW, "A sub-agent", 0, 0, 0, 0.0, 99, 9)),
        ("messages", ("a", OLD, "user", text(hello), None, 1, 1, None)),
    ]
    for name, message in zip("zyx", sample("crush"), strict=True):  # all in the same second
        rows.append(("messages", (name, NEW, message["role"], text(message["parts"]).encode(), "m", 9, 9, 9)))  # fmt: skip
    write(path, CRUSH, rows)


# block/goose, crates/goose/src/session/session_manager.rs
GOOSE = """
    CREATE TABLE schema_version (version INTEGER PRIMARY KEY, applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP);
    CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT NOT NULL DEFAULT '', description TEXT NOT NULL DEFAULT '',
        working_dir TEXT NOT NULL, created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
        updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP);
    CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL REFERENCES sessions(id),
        role TEXT NOT NULL, content_json TEXT NOT NULL, created_timestamp INTEGER NOT NULL,
        timestamp TIMESTAMP DEFAULT CURRENT_TIMESTAMP, tokens INTEGER, metadata_json TEXT);
"""


def goose(path: Path) -> None:
    days = ("2026-01-01 00:00:00", "2026-02-01 00:00:00")
    hello = [{"type": "text", "text": HELLO}]
    rows: list[tuple[str, tuple[Any, ...]]] = [
        ("sessions", (NEW, "", "The barn", "/w", days[0], days[1])),
        ("sessions", (OLD, "", "A greeting", "/w", days[0], days[0])),
        ("messages", (1, OLD, "user", text(hello), 1, days[0], None, None)),
    ]
    for number, message in enumerate(sample("goose"), 2):
        content = text(message["content"])
        rows.append(("messages", (number, NEW, message["role"], content, number, days[1], None, None)))  # fmt: skip
    write(path, GOOSE, rows)


# openai/openai-agents-python, src/agents/memory/sqlite_session.py
AGENTS = """
    CREATE TABLE agent_sessions (session_id TEXT PRIMARY KEY, created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
        updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP);
    CREATE TABLE agent_messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL,
        message_data TEXT NOT NULL, created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
        FOREIGN KEY (session_id) REFERENCES agent_sessions (session_id) ON DELETE CASCADE);
"""


def agents(path: Path) -> None:
    calls = [
        {
            "type": "function_call",
            "call_id": f"c{number}",
            "name": NAME,
            "arguments": "{}",
        }
        for number in (1, 2)
    ]
    outputs = [
        {"type": "function_call_output", "call_id": f"c{number}", "output": output}
        for number, output in enumerate((ANSWER, f"Error: {FAILURE}"), 1)
    ]
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": SAID}]}  # fmt: skip
    items = [{"role": "user", "content": ASKED}, said, *calls, *outputs]
    rows: list[tuple[str, tuple[Any, ...]]] = [
        ("agent_sessions", (NEW, "2026-01-01", "2026-02-01")),
        ("agent_sessions", (OLD, "2026-01-01", "2026-01-02")),
        ("agent_messages", (1, OLD, text({"role": "user", "content": HELLO}), "2026-01-01")),
        *(
            ("agent_messages", (number, NEW, text(item), "2026-01-01"))
            for number, item in enumerate(items, 2)
        ),
    ]
    write(path, AGENTS, rows)


STORES: dict[str, Callable[[Path], None]] = {
    "opencode": opencode,
    "crush": crush,
    "goose": goose,
    "OpenAI Agents SDK": agents,
}
"""Functions that write a store to a path, by the names of the producers."""
