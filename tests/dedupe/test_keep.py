"""The blocks that a rule keeps for each key, and the careful rules."""

from types import ModuleType
from typing import Any

from support.builders.wire import bash, edit, join, read, turn, write
from support.rows import for_each

from toolcarry import CarryPolicy, Rule


def kept(api: ModuleType, *turns: list[Any], rules: Any = ()) -> list[str]:
    """The ids of the blocks that stay."""
    blocks = api.extract_tool_blocks(join(*turns))
    return [block.call_id for block in api.deduplicate_tools(blocks, rules=rules)]


def rule(keep: Any, kind: Any = "other", key: str = "q") -> tuple[Rule, ...]:
    return (Rule("f", kind=kind, key=key, keep=keep),)


def calls(*names: str) -> list[list[Any]]:
    return [turn("f", {"q": "same"}, name, name) for name in names]


@for_each("kind", ["read", "edit", "command", "other"])
@for_each(
    ("keep", "stay"), [("last", ["c"]), ("first", ["a"]), ("all", ["a", "b", "c"]), ("none", [])]
)
def test_keep_decides_the_surviving_blocks(
    api: ModuleType, kind: Any, keep: Any, stay: list[str]
) -> None:
    assert kept(api, *calls("a", "b", "c"), rules=rule(keep, kind)) == stay


def test_the_reasons_of_a_rule(api: ModuleType) -> None:
    def report(keep: Any) -> Any:
        return api.carry(join(*calls("a", "b", "c")), policy=CarryPolicy(rules=rule(keep))).report

    assert report("last").superseded == {"later_call": 2}
    assert report("first").superseded == {"earlier_call": 2}
    assert report("none").excluded == {"rule": 3}
    assert report("none").superseded == {}


def test_keep_none_is_never_carried(api: ModuleType) -> None:
    carried = api.carry(
        bash("printenv", "SECRET"), policy=CarryPolicy(rules=(Rule("bash", keep="none"),))
    )
    assert carried.text == ""


def test_keep_none_holds_for_a_result_without_call(api: ModuleType) -> None:
    orphan = {"role": "tool", "tool_call_id": "x", "name": "bash", "content": "SECRET"}
    policy = CarryPolicy(rules=(Rule("bash", keep="none"),))
    assert "SECRET" not in api.carry([orphan], policy=policy).text


def test_keep_first_keeps_the_first_success_and_the_failures_before_it(api: ModuleType) -> None:
    turns = [
        turn("f", {"q": "same"}, "no", "a", is_error=True),
        turn("f", {"q": "same"}, "yes", "b"),
        turn("f", {"q": "same"}, "again", "c"),
    ]
    assert "b" in kept(api, *turns, rules=rule("first"))
    assert "c" not in kept(api, *turns, rules=rule("first"))


# The careful rules


def test_careful_keeps_all_edits_since_the_file_was_read_or_written(api: ModuleType) -> None:
    turns = (
        edit("a.py", "0", "1", "e0"),
        write("a.py", "1", "w1"),
        edit("a.py", "1", "2", "e1"),
        edit("a.py", "2", "3", "e2"),
    )
    assert kept(api, *turns, rules="careful") == ["w1", "e1", "e2"]
    assert kept(api, *turns, read("a.py", "3", "r1"), rules="careful") == ["r1"]
    assert kept(api, *turns, write("a.py", "4", "w2"), rules="careful") == ["w2"]


def test_careful_is_not_content_with_a_part(api: ModuleType) -> None:
    part = read("a.py", "1", "r1", offset=1, limit=5)
    assert kept(api, write("a.py", "1", "w1"), part, rules="careful") == ["w1", "r1"]


def test_careful_is_not_content_with_a_failure(api: ModuleType) -> None:
    failed = read("a.py", "no", "r1", is_error=True)
    assert kept(api, write("a.py", "1", "w1"), failed, rules="careful") == ["w1", "r1"]
    bad_write = write("a.py", "2", "w2", is_error=True)
    assert kept(api, write("a.py", "1", "w1"), bad_write, rules="careful") == ["w1", "w2"]
