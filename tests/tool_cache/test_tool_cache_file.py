"""Definitions in a file: they outlive the process, and nothing that happens to the file fails a request."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import apsw
import pytest
from support.clocks import Clock

from toolcarry.errors import StoreError
from toolcarry.tool_cache import SQLiteToolCache, ToolCache

TOOLS = [{"name": "f", "input_schema": {"type": "object"}, "cache_control": {"type": "ephemeral"}}]


def opened(path: Path, **settings: Any) -> ToolCache:
    return ToolCache(SQLiteToolCache(path, **settings))


def test_definitions_outlive_the_process(tmp_path: Path) -> None:
    path = tmp_path / "tools.db"
    code = (
        "import sys, json\nfrom toolcarry.tool_cache import SQLiteToolCache, ToolCache\n"
        "cache = ToolCache(SQLiteToolCache(sys.argv[1]))\n"
        "cache.resolve('m', json.loads(sys.argv[2]), scope='t', style='anthropic')"
    )

    subprocess.run([sys.executable, "-c", code, str(path), json.dumps(TOOLS)], check=True)
    cache = opened(path)
    assert cache.resolve("m", None, scope="t", style="anthropic").tools == TOOLS
    assert cache.resolve("m", None, scope="t").tools[0]["function"]["name"] == "f"
    assert cache.resolve("m", None, scope="u").source == "none"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    cache.close()


def test_two_processes_share_a_file(tmp_path: Path) -> None:
    one, two = opened(tmp_path / "tools.db"), opened(tmp_path / "tools.db")
    one.resolve("m", TOOLS, style="anthropic")
    assert two.resolve("m", None, style="anthropic").tools == TOOLS
    two.resolve("m", [*TOOLS, {"name": "g"}], style="anthropic")
    assert len(one.resolve("m", None, style="anthropic").tools) == 2
    one.close()
    two.close()


def test_they_live_from_their_last_use_on_and_are_bounded(tmp_path: Path) -> None:
    path, clock = tmp_path / "tools.db", Clock()
    settings = {"ttl": 160.0, "clock": clock, "wall_clock": clock}
    cache = opened(path, max_entries=3, **settings)
    for number in range(6):
        cache.resolve(f"m{number}", TOOLS, style="anthropic")
    fresh = opened(path, max_entries=3, **settings)
    assert [fresh.resolve(f"m{number}", None).source for number in (0, 2, 3, 5)] == [
        "none", "none", "cache", "cache"
    ]  # fmt: skip
    for _ in range(3):
        clock.advance(80)
        assert opened(path, **settings).resolve("m5", None).source == "cache"
    assert opened(path, **settings).resolve("m3", None).source == "none"


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE own (a)")
    connection.close()
    with pytest.raises(StoreError, match="is a SQLite file, but not a tool cache"):
        SQLiteToolCache(path)
    (tmp_path / "text").write_text("no database, and long enough to be looked at as one" * 20)
    with pytest.raises(StoreError, match="can't be opened: NotADBError"):
        SQLiteToolCache(tmp_path / "text")
    with pytest.raises(StoreError, match="can't be created"):
        SQLiteToolCache(tmp_path / "no folder" / "tools.db")


def test_a_foreign_value_is_ignored(tmp_path: Path) -> None:
    path = tmp_path / "tools.db"
    first = opened(
        path
    )  # open until the end: else the connection below would be one of another library
    first.resolve("a", TOOLS, style="anthropic")
    first.resolve("b", [{"name": "g"}], style="anthropic")
    other = apsw.Connection(str(path))
    names = [name for (name,) in other.execute("SELECT name FROM tools ORDER BY name")]
    ((value,),) = other.execute("SELECT value FROM tools WHERE name = ?", (names[1],))
    for foreign in (value, b"", b"x" * 100, value[:-1], bytes(value) + b" ", "text"):
        other.execute(
            "UPDATE tools SET value = CAST(? AS BLOB) WHERE name = ?", (foreign, names[0])
        )
        cache = opened(path)
        assert cache.resolve("a", None, style="anthropic").source == "none"
        assert cache.counts["degrade"] == 1
        assert cache.resolve("b", None, style="anthropic").tools == [{"name": "g"}]
        cache.close()
    other.close()
    first.close()


def test_where_the_file_fails_memory_has_to_do(tmp_path: Path) -> None:
    path = tmp_path / "tools.db"
    cache = opened(path)
    cache.resolve("a", TOOLS, style="anthropic")
    other = apsw.Connection(str(path))
    other.execute("BEGIN EXCLUSIVE")
    cache.resolve("b", TOOLS, style="anthropic")
    assert cache.resolve("a", None, style="anthropic").tools == TOOLS
    assert cache.resolve("b", None, style="anthropic").tools == TOOLS
    assert cache.counts["degrade"] >= 1
    other.execute("COMMIT")
    other.close()
    cache.close()
    assert cache.resolve("a", None, style="anthropic").tools == TOOLS
    cache.close()


def test_a_forked_process_has_its_memory_alone(tmp_path: Path) -> None:
    cache = opened(tmp_path / "tools.db")
    cache.resolve("a", TOOLS, style="anthropic")
    child = os.fork()
    if not child:
        found = cache.resolve("a", None, style="anthropic").tools == TOOLS
        os._exit(0 if found and cache.counts["degrade"] else 1)
    assert os.waitpid(child, 0)[1] == 0
    cache.close()
