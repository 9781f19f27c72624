"""An empty store of opencode."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

SCHEMA = """
CREATE TABLE project (id text PRIMARY KEY, worktree text NOT NULL);
CREATE TABLE session (
    id text PRIMARY KEY, project_id text NOT NULL REFERENCES project(id) ON DELETE CASCADE, workspace_id text, parent_id text,
    slug text NOT NULL, directory text NOT NULL, title text NOT NULL, version text NOT NULL, share_url text,
    cost real NOT NULL DEFAULT 0, time_created integer NOT NULL, time_updated integer NOT NULL, time_archived integer);
CREATE TABLE message (
    id text PRIMARY KEY, session_id text NOT NULL REFERENCES session(id) ON DELETE CASCADE,
    time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
CREATE TABLE part (
    id text PRIMARY KEY, message_id text NOT NULL REFERENCES message(id) ON DELETE CASCADE, session_id text NOT NULL,
    time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
CREATE TABLE todo (
    session_id text NOT NULL REFERENCES session(id) ON DELETE CASCADE, content text NOT NULL, status text NOT NULL,
    priority text NOT NULL, position integer NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL,
    PRIMARY KEY (session_id, position));
"""
"""The tables of anomalyco/opencode, packages/opencode/src/session/session.sql.ts, as far as they matter here."""


def opencode_store(path: Path) -> None:
    """Make a store of opencode, which only adds sessions of projects that it knows."""
    if path.exists():
        return
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path)) as store:
        store.executescript(SCHEMA)
        store.execute("INSERT INTO project VALUES ('global', '/')")
        store.commit()
