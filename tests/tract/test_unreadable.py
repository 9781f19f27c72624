"""Messages of any structure: what is taken can be read back, and no single one keeps the others from being read."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcarry import InputError
from toolcarry.tract import Tract
from toolcarry.tract.commit_codec import dump_message
from toolcarry.tract.store.log import Draft
from toolcarry.tract.store.types import Kind

STYLES = ("openai", "anthropic", "responses", "ollama", "gemini", "bedrock")
Memory = Callable[[], Tract]
GOOD = {"role": "user", "content": "Good."}
ODD: list[Any] = [[], {}, 5, True, 1.5, [[]], {"a": 1}, ["user"], ""]


def nested(depth: int) -> Any:
    value: Any = "deep"
    for _ in range(depth):
        value = [value]
    return value


def read_all(tract: Tract) -> None:
    for style in STYLES:
        texts = json.dumps(tract.compile(style=style))  # type: ignore[arg-type]
        assert texts.count("Good.") == 2, style
    list(tract.export())
    for commit in tract.log():
        tract.get_content(commit)
        assert tract.resolve(commit.commit_hash[:16]) is not None
    tract.find_tool_turns()
    tract.find_tool_results()


@pytest.mark.parametrize("value", ODD)
@pytest.mark.parametrize(
    "key",
    [
        "role",
        "content",
        "type",
        "tool_calls",
        "name",
        "tool_call_id",
        "parts",
        "message",
        "function_call",
    ],
)
def test_a_member_of_another_type(memory: Memory, tmp_path: Path, key: str, value: Any) -> None:
    tract = memory()
    odd = {"role": "assistant", "content": "odd", key: value}
    tract.append_many([GOOD, odd, GOOD])
    read_all(tract)
    lines = "".join(json.dumps(each) + "\n" for each in (GOOD, odd, GOOD))
    path = tmp_path / "session.jsonl"
    path.write_text(lines)
    imported = tract.in_conversation("imported")
    imported.import_transcript(path)
    read_all(imported)
    assert b"".join(imported.export()).decode() == lines


def test_a_message_that_no_format_can_take_is_named_by_its_reference(tract: Tract) -> None:
    tract.append_many([GOOD, {"role": [], "content": "odd"}, GOOD])
    commit = tract.log()[1]
    for style in STYLES:
        shown = json.dumps(tract.compile(style=style))  # type: ignore[arg-type]
        assert f"could not be read; whole: {commit.commit_hash[:16]}]" in shown
    assert json.loads(tract.resolve(commit.commit_hash[:16])) == {"role": [], "content": "odd"}


PLACES = {
    "content": lambda value: {"role": "user", "content": value},
    "input": lambda value: {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"a": value}}],
    },
    "extra": lambda value: {"role": "user", "content": "x", "extra": value},
    "result": lambda value: {"role": "tool", "tool_call_id": "t1", "content": [{"x": value}]},
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    "depth", [1, 60, 120, 122, 124, 125, 126, 127, 128, 129, 130, 200, 999, 5_000]
)
def test_a_nested_message_is_read_back_or_refused(memory: Memory, place: str, depth: int) -> None:
    tract = memory()
    deep = PLACES[place](nested(depth))
    # The input and the result are four and three levels deep in their messages.
    if depth + {"input": 4, "result": 3}.get(place, 1) > 128:
        with pytest.raises(InputError) as error:
            tract.append_many([GOOD, deep, GOOD])
        assert error.value.position == 1
        assert tract.log() == []
    else:
        tract.append_many([GOOD, deep, GOOD])
        read_all(tract)


@pytest.mark.parametrize("value", [{1, 2}, float("nan"), object(), {1: "a"}.keys()])
def test_a_message_that_is_no_json_is_refused_with_its_position(tract: Tract, value: Any) -> None:
    with pytest.raises(InputError) as error:
        tract.append_many([GOOD, GOOD, {"role": "user", "content": "x", "extra": value}])
    assert error.value.position == 2
    assert tract.log() == []


def test_commits_of_an_older_version_do_not_block_reading(tract: Tract) -> None:
    """The message is nested too deep: a version that did not look took it."""
    content = dump_message({"role": "user", "content": "x", "extra": nested(200)})
    tract.append_many([GOOD])
    tract._log.append([Draft("user", Kind.MESSAGE, content, {"record": 0}, 1)])
    tract.user("Good.")
    read_all(tract)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.sampled_from(("", "x", "user", "tool_use", "text")),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            ("role", "content", "type", "id", "name", "input", "text", "parts", "tool_calls", "function", "message")
        ),
        inner,
        max_size=4,
    ),
    max_leaves=12,
)  # fmt: skip


@given(
    st.dictionaries(
        st.sampled_from(("role", "content", "type", "parts", "tool_calls", "message", "payload")),
        JSON,
    )
)
def test_any_object(message: dict[str, Any]) -> None:
    with Tract.open() as tract:
        tract.append_many([GOOD])
        tract.append_many([message])
        tract.user("Good.")
        for style in STYLES:
            tract.compile(style=style)  # type: ignore[arg-type]
        list(tract.export())
        for commit in tract.log():
            tract.get_content(commit)
