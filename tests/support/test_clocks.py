"""Waiting in tests: for a condition, with a deadline, and never for a fixed time."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest
from support.clocks import Clock, async_wait_until, wait_until


def test_a_clock_stops_until_it_is_advanced() -> None:
    clock = Clock()
    before = clock()
    assert clock() == before
    clock.advance(60)
    assert clock() == before + 60


def test_the_true_value_is_returned() -> None:
    answers = iter([None, [], "found"])
    assert wait_until(lambda: next(answers)) == "found"
    answers = iter([None, [], "found"])
    assert asyncio.run(async_wait_until(lambda: next(answers))) == "found"


def test_it_fails_at_the_deadline_with_the_condition() -> None:
    said = "waited 0.02 seconds for the moon"
    with pytest.raises(AssertionError, match=said):
        wait_until(lambda: False, seconds=0.02, what="the moon")
    with pytest.raises(AssertionError, match=said):
        asyncio.run(async_wait_until(lambda: False, seconds=0.02, what="the moon"))


def test_a_missed_action_is_repeated() -> None:
    done: list[int] = []
    wait_until(lambda: done, again=lambda: done.append(1))
    assert done == [1]


def test_no_test_sleeps_in_a_loop_for_a_fixed_time() -> None:
    """Ruff refuses ``time.sleep`` (``pyproject.toml``); ``asyncio.sleep(0)`` lets other tasks run."""
    sleep = re.compile(r"asyncio\.sleep\((?!0\))")
    folder = Path(__file__).parents[1]
    found = [path.name for path in folder.rglob("*.py") if sleep.search(path.read_text("utf-8"))]
    assert sorted({*found} - {Path(__file__).name}) == ["clocks.py"]
