"""Interrupts at every moment of a lookup: neither the cache nor another one of the same file waits for anything."""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from support.clocks import wait_until
from support.interrupts import interrupted

from toolcarry.tool_cache import SQLiteToolCache, ToolCache

pytestmark = pytest.mark.slow
FILES = ("toolcarry/tool_cache", "_util/ttl_cache", "_util/breaker", "concurrent/futures")


def tools(number: int) -> list[object]:
    return [{"type": "function", "function": {"name": f"f{number}"}}]


@pytest.mark.parametrize("is_stored", [False, True], ids=["stored", "given back"])
def test_a_cache_goes_on_after_an_interrupt(tmp_path: Path, is_stored: bool) -> None:
    path = tmp_path / "tools.db"
    with (
        closing(ToolCache(SQLiteToolCache(path))) as cache,
        closing(ToolCache(SQLiteToolCache(path))) as other,
        ThreadPoolExecutor(1) as thread,
    ):
        for step in itertools.count():
            model = f"model {step}"
            if is_stored:
                cache.resolve(model, tools(step))
            given = None if is_stored else tools(step)
            was_interrupted = interrupted(lambda: cache.resolve(model, given), step, *FILES)  # noqa: B023
            for each in (cache, other):
                later = thread.submit(each.resolve, f"later {step}", tools(step))
                assert later.result(10).tools == tools(step)
            # The lookup has a time limit, after which a busy machine is answered from memory.
            wait_until(lambda: other.resolve(f"later {step}", None).tools == tools(step))  # noqa: B023
            if is_stored:
                wait_until(lambda: cache.resolve(model, None).tools == tools(step))  # noqa: B023
            if not was_interrupted:
                break
        assert step > 30
