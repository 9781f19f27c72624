"""Names of tools that the target refuses are replaced, each by one of its own, and can be mapped back."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.examples import examples

from toolcarry import ConfigError, convert, retrieval_tool
from toolcarry.tool_cache import ToolCache, convert_tools, renamed_tools

ACCEPTED = {
    "openai": r"[a-zA-Z0-9_-]{1,64}",
    "responses": r"[a-zA-Z0-9_-]{1,64}",
    "anthropic": r"[a-zA-Z0-9_-]{1,128}",
    "gemini": r"[a-zA-Z_][a-zA-Z0-9_.-]{0,63}",
    "bedrock": r"[a-zA-Z0-9_-]{1,64}",
}


def tools_of(names: list[str]) -> list[dict[str, Any]]:
    return [{"name": name, "inputSchema": {"type": "object"}} for name in names]


def names_in(tools: list[dict[str, Any]], target: str) -> list[str]:
    if target == "gemini":
        tools = [each for tool in tools for each in tool["functionDeclarations"]]
    return [tool.get("function", tool.get("toolSpec", tool))["name"] for tool in tools]


@examples(400)
@given(
    target=st.sampled_from(sorted(ACCEPTED)),
    names=st.lists(
        st.text(st.sampled_from("aB9._- é/"), min_size=1, max_size=140).filter(str.strip),
        unique=True,
        max_size=8,
    ),
)
def test_each_tool_gets_a_name_of_its_own_that_the_target_accepts(
    target: Any, names: list[str]
) -> None:
    made = names_in(convert_tools(tools_of(names), source="mcp", target=target), target)
    assert len(set(made)) == len(names)
    assert all(re.fullmatch(ACCEPTED[target], name) for name in made)
    back = renamed_tools(tools_of(names), source="mcp", target=target)
    assert [back.get(name, name) for name in made] == names
    kept = [name for name in names if re.fullmatch(ACCEPTED[target], name)]
    assert set(kept) <= set(made)
    assert not set(kept) & back.keys()


def test_refused_characters_become_an_underscore_and_a_number_parts_equal_names() -> None:
    names = ["files.read", "files read", "files_read", "9/x", "x" * 65, "x" * 70]
    back = renamed_tools(tools_of(names), source="mcp", target="openai-responses")
    assert back == {
        "files_read_2": "files.read",
        "files_read_3": "files read",
        "9_x": "9/x",
        "x" * 64: "x" * 65,
        "x" * 62 + "_2": "x" * 70,
    }
    google = renamed_tools(tools_of(["files.read", "9/x"]), source="mcp", target="gemini")
    assert google == {"_9_x": "9/x"}


@pytest.mark.parametrize("target", ["ollama", "mcp"])
def test_a_target_without_a_rule_keeps_all_names(target: Any) -> None:
    tools = [{"name": "a.b c", "input_schema": {}}]
    made = convert_tools(tools, source="anthropic", target=target)
    assert names_in(made, target) == ["a.b c"]
    assert renamed_tools(tools, source="anthropic", target=target) == {}


def test_names_stay_in_their_own_style() -> None:
    tools = [{"type": "function", "function": {"name": "a.b"}}]
    assert convert_tools(tools, source="openai", target="openai-chat") == tools
    assert renamed_tools(tools, source="openai", target="openai-chat") == {}


BOTH_NAMES = [("openai", "openai-chat"), ("responses", "openai-responses")]


@pytest.mark.parametrize(("old", "new"), BOTH_NAMES)
def test_a_shape_has_the_name_of_its_destination_everywhere(old: Any, new: Any) -> None:
    messages = [
        {"role": "user", "content": [{"type": "text", "text": "Hi.", "cache_control": {}}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {}}]},
    ]  # fmt: skip
    assert convert(messages, to=new) == convert(messages, to=old)
    assert retrieval_tool(new) == retrieval_tool(old)
    tools = tools_of(["f"])
    assert convert_tools(tools, source="mcp", target=new) == convert_tools(
        tools, source="mcp", target=old
    )
    made = convert_tools(tools, source="mcp", target=old)
    assert convert_tools(made, source=new, target="mcp") == tools
    cache = ToolCache()
    cache.resolve("m", made, style=new)
    assert cache.resolve("m", None, style=old).tools == made


def test_the_error_names_both_words() -> None:
    with pytest.raises(ConfigError, match=r"'openai'.*'openai-chat', 'openai-responses'"):
        convert([], to="chat")  # type: ignore[arg-type]
