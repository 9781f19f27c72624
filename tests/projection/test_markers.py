"""Markers in place of results, and results that are never touched."""

import copy
from types import ModuleType
from typing import Any

import pytest
from support.builders import wire

from toolcarry import ProjectPolicy

LONG = "".join(f"line {number}\n" for number in range(200))
READ = '{"file_path": "a.py"}'


def chat_read(call_id: str, content: Any) -> list[Any]:
    function = {"name": "Read", "arguments": READ}
    call = {"id": call_id, "type": "function", "function": function}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": call_id, "content": content},
    ]


def ollama_read(_call_id: str, content: Any) -> list[Any]:
    function = {"name": "Read", "arguments": {"file_path": "a.py"}}
    return [
        {"role": "assistant", "content": "", "tool_calls": [{"function": function}]},
        {"role": "tool", "tool_name": "Read", "content": content},
    ]


def responses_read(call_id: str, content: Any) -> list[Any]:
    return [
        {"type": "function_call", "call_id": call_id, "name": "Read", "arguments": READ},
        {"type": "function_call_output", "call_id": call_id, "output": content},
    ]


def gemini_read(_call_id: str, content: Any) -> list[Any]:
    call = {"name": "Read", "args": {"file_path": "a.py"}}
    answer = {"name": "Read", "response": {"output": content}}
    return [
        {"role": "model", "parts": [{"functionCall": call}]},
        {"role": "user", "parts": [{"functionResponse": answer}]},
    ]


def bedrock_read(call_id: str, content: Any) -> list[Any]:
    call = {"toolUseId": call_id, "name": "Read", "input": {"file_path": "a.py"}}
    answer = {"toolUseId": call_id, "content": [{"text": content}], "status": "success"}
    return [
        {"role": "assistant", "content": [{"toolUse": call}]},
        {"role": "user", "content": [{"toolResult": answer}]},
    ]


def anthropic_read(call_id: str, content: Any) -> list[Any]:
    return wire.read("a.py", content, call_id)


SHAPES = {
    "anthropic": (anthropic_read, "t1", "t2"),
    "openai": (chat_read, "t1", "t2"),
    "ollama": (ollama_read, "#1", "#2"),
    "responses": (responses_read, "t1", "t2"),
    "gemini": (gemini_read, "#1", "#2"),
    "bedrock": (bedrock_read, "t1", "t2"),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_marker_takes_the_place_of_the_result(api: ModuleType, shape: str) -> None:
    read, first, second = SHAPES[shape]
    messages = [*read("t1", LONG), *read("t2", "line 0")]
    marker = f"[toolcarry: superseded by call {second}; whole: {first}]"
    projected = api.project(messages)
    assert projected.messages == [*read("t1", marker), *read("t2", "line 0")]
    assert projected.messages[0] is messages[0]
    assert api.resolve(messages, first) == LONG


@pytest.mark.parametrize("shape", SHAPES)
def test_a_long_result_is_cut_to_its_limit(api: ModuleType, shape: str) -> None:
    read, first, _ = SHAPES[shape]
    limit = ProjectPolicy(max_result_chars=200)
    projected = api.project(read("t1", LONG), policy=limit)
    found = projected.report.replacements[0]
    text = f"{LONG[: found.start]}\n[toolcarry: {found.start} of {len(LONG):,} characters; whole: {first}]"
    assert projected.messages == read("t1", text)
    assert len(text) <= 200
    assert (found.reason, found.chars_after, found.end) == ("cut", len(text), len(LONG))


@pytest.mark.parametrize(
    ("keep", "start", "end"), [("head", True, False), ("tail", False, True), ("ends", True, True)]
)
def test_keep_decides_the_remaining_part(
    api: ModuleType, keep: Any, start: bool, end: bool
) -> None:
    policy = ProjectPolicy(max_result_chars=300, keep=keep)
    text = api.project(wire.bash("ls", LONG), policy=policy).messages[1]["content"][0]["content"]
    assert text.startswith("line 0\n") is start
    assert text.endswith("line 199\n") is end
    assert len(text) <= 300
    assert text.count("[toolcarry: ") == 1


def test_limits_in_tokens_hold_with_their_marker(api: ModuleType) -> None:
    policy = ProjectPolicy(max_result_tokens=60)
    text = api.project(wire.bash("ls", LONG), policy=policy).messages[1]["content"][0]["content"]
    assert 40 < api.count_tokens(text) <= 60


def test_a_limit_below_the_marker_leaves_the_marker(api: ModuleType) -> None:
    messages = [*wire.bash("ls", LONG), *wire.bash("pwd", "/", "t2")]
    projected = api.project(messages, policy=ProjectPolicy(max_result_chars=3))
    size = f"{len(LONG):,}"
    assert (
        projected.messages[1]["content"][0]["content"]
        == f"[toolcarry: cleared, {size} characters; whole: t1]"
    )
    assert projected.messages[3] is messages[3]  # a marker would be longer


def test_the_reference_of_a_repeated_id_counts(api: ModuleType) -> None:
    messages = [
        *wire.read("a.py", LONG, "c"),
        *wire.read("a.py", LONG, "c"),
        *wire.read("a.py", "x", "c"),
    ]
    texts = [message["content"][0]["content"] for message in api.project(messages).messages[1::2]]
    assert texts == [
        "[toolcarry: superseded by call c#3; whole: c]",
        "[toolcarry: superseded by call c#3; whole: c#2]",
        "x",
    ]


def test_a_range_names_the_read_that_covers_it(api: ModuleType) -> None:
    messages = wire.join(
        wire.read("a.py", LONG, "t1", offset=10, limit=5),
        wire.read("a.py", "y", "t2", offset=5, limit=50),
        wire.read("a.py", "z", "t3", offset=900, limit=5),
    )
    text = api.project(messages).messages[1]["content"][0]["content"]
    assert text == "[toolcarry: superseded by call t2; whole: t1]"


def test_parts_that_are_no_text_stay_where_a_text_is_cut(api: ModuleType) -> None:
    image = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0="},
    }
    content = [{"type": "text", "text": LONG}, image, {"type": "text", "text": "end"}]
    messages = wire.bash("ls", content)
    projected = api.project(messages, policy=ProjectPolicy(max_result_chars=300))
    first, second = projected.messages[1]["content"][0]["content"]
    assert second is image
    assert first["type"] == "text"
    assert first["text"].endswith("end")


def test_a_cache_mark_is_kept(api: ModuleType) -> None:
    mark = {"type": "ephemeral"}
    content = [{"type": "text", "text": LONG, "cache_control": mark}]
    result = wire.result("t1", content, cache_control=mark)
    messages = [
        *wire.read("a.py", LONG, "t0"),
        wire.assistant(wire.use("t1", "Read", file_path="a.py")),
    ]
    messages += [wire.user(result), *wire.read("a.py", "line 3", "t2")]
    changed = api.project(messages).messages[3]["content"][0]
    assert changed["cache_control"] == mark
    assert changed["content"] == [
        {
            "type": "text",
            "text": "[toolcarry: superseded by call t2; whole: t1]",
            "cache_control": mark,
        }
    ]
    image = {"type": "image", "source": {}, "cache_control": mark}
    messages = [
        *wire.read("a.py", [{"type": "text", "text": LONG}, image], "t1"),
        *wire.read("a.py", "line 3", "t2"),
    ]
    assert api.project(messages).messages == messages


def test_server_results_are_never_changed(api: ModuleType) -> None:
    found = [{"type": "web_search_result", "url": "https://e.org", "title": LONG}]
    search = [
        {
            "type": "server_tool_use",
            "id": "srvtoolu_1",
            "name": "web_search",
            "input": {"query": "q"},
        },
        {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": found},
    ]
    messages = [wire.user({"type": "text", "text": "q"}), wire.assistant(*search)]
    policy = ProjectPolicy(max_result_chars=10, repair=True)
    assert api.project(messages, policy=policy).messages == messages


@pytest.mark.parametrize(
    "name",
    ["read_tool_result", "Read_Tool_Result", "mcp__toolcarry__read_tool_result"],
)
def test_retrieved_results_are_never_cut(api: ModuleType, name: str) -> None:
    messages = wire.turn(name, {"ref": "t1"}, LONG, "t9")
    policy = ProjectPolicy(max_result_chars=10, max_all_results_chars=10)
    projected = api.project(messages, policy=policy)
    assert projected.messages == messages
    assert projected.report.over_budget == len(LONG) - 10


def test_a_foreign_marker_is_text(api: ModuleType) -> None:
    for text in (
        "[Old tool result content cleared]",
        "[toolcarry: nothing]",
        f"{LONG}[toolcarry: cleared; whole: t1]",
    ):
        messages = [*wire.read("a.py", text * 9, "t1"), *wire.read("a.py", "x", "t2")]
        assert api.project(messages).report.reasons == {"later_read": 1}


def test_objects_of_an_sdk_are_read(api: ModuleType) -> None:
    class Block:
        def __init__(self, **members: Any) -> None:
            self.members = members

        def model_dump(self) -> dict[str, Any]:
            return dict(self.members)

    answer = wire.assistant(Block(**wire.use("t1", "Read", file_path="a.py")))
    messages = [answer, wire.user(wire.result("t1", LONG)), *wire.read("a.py", "x", "t2")]
    projected = api.project(messages)
    assert projected.messages[0] is answer
    assert projected.report.reasons == {"later_read": 1}


def test_messages_that_are_shared_are_read_each(api: ModuleType) -> None:
    turn = wire.read("a.py", LONG, "t1")
    messages = [*turn, *turn, *turn]
    before = copy.deepcopy(messages)
    projected = api.project(messages)
    assert messages == before
    assert [found.reference for found in projected.report.replacements] == ["t1", "t1#2"]
    assert projected.messages[5] is messages[5]


def test_errors_name_the_argument(api: ModuleType) -> None:
    with pytest.raises(api.InputError, match="message 1 is not an object, but int"):
        api.project([{"role": "user"}, 7])
    with pytest.raises(api.InputError, match="project_body"):
        api.project(b"[]")
    with pytest.raises(api.ConfigError, match="previous"):
        api.project([], previous={})
    with pytest.raises(api.ConfigError, match="keep_last_turns: -1"):
        ProjectPolicy(keep_last_turns=-1)
    with pytest.raises(api.ConfigError, match="exclude_tools"):
        ProjectPolicy(exclude_tools=7)  # type: ignore[arg-type]
