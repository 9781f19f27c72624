"""The async twins: each does what its method does, and the loop goes on meanwhile."""

import asyncio
import inspect
from pathlib import Path

import pytest

from toolcarry.errors import StoreError, UnknownCommitError
from toolcarry.tract import Tract

PLAIN = {"in_conversation", "on", "off", "configure_tool_summarization"}
"""The methods without a twin: they don't wait for the store."""


def methods() -> set[str]:
    found = inspect.getmembers(Tract, inspect.isroutine)
    return {name for name, _ in found if not name.startswith("_")}


def is_async(method: object) -> bool:
    return inspect.iscoroutinefunction(method) or inspect.isasyncgenfunction(method)


def test_each_method_that_touches_the_store_has_a_twin() -> None:
    twins = {name for name in methods() if is_async(getattr(Tract, name))}
    assert {f"a{name}" for name in methods() - twins - PLAIN} == twins
    for name in twins - {"aopen"}:  # which gives all but the first to open by their names
        twin = getattr(Tract, name)
        assert twin.__name__ == name
        parameters = inspect.signature(twin).parameters
        assert parameters == inspect.signature(getattr(Tract, name[1:])).parameters


def test_they_do_the_same(tract: Tract) -> None:
    async def talk() -> None:
        await tract.auser("Run the tests.")
        await tract.aassistant("", tool_calls=[{"id": "t1", "name": "Bash", "arguments": {}}])
        result = await tract.atool_result("t1", "Bash", "3 passed")
        assert await tract.aget_content(result) == "3 passed"
        assert await tract.acompile() == tract.compile()
        assert await tract.afind_tool_turns() == tract.find_tool_turns()
        assert (await tract.averify()).is_whole

    asyncio.run(talk())


def test_a_store_is_opened_and_closed(tmp_path: Path) -> None:
    async def talk() -> None:
        async with await Tract.aopen(tmp_path / "history.db", conversation="one") as tract:
            await tract.auser("Run the tests.")
            assert [line async for line in tract.aexport()] == [*tract.export()]
            assert await tract.aconversations() == ["one"]
        with pytest.raises(StoreError, match="is closed"):
            await tract.alog()

    asyncio.run(talk())


def test_many_at_once(tract: Tract) -> None:
    async def talk() -> None:
        await asyncio.gather(*(tract.auser(str(number)) for number in range(50)))

    asyncio.run(talk())
    assert sorted(tract.get_content(commit) for commit in tract.log()) == sorted(
        map(str, range(50))
    )
    assert [commit.sequence for commit in tract.log()] == list(range(50, 0, -1))
    assert tract.verify().is_whole


def test_errors_come_through(tract: Tract) -> None:
    with pytest.raises(UnknownCommitError):
        asyncio.run(tract.aget_content("0" * 64))
