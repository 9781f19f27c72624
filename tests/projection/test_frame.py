"""The frame of a request is repaired with its messages: marks, thinking, definitions, and names of tools."""

import json
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.examples import examples

from toolcarry import ProjectPolicy
from toolcarry.types import Decisions

REPAIR = ProjectPolicy(repair=True)
MARK = {"cache_control": {"type": "ephemeral"}}
ASK = {"role": "user", "content": "Go."}
TURN_THINKING = {"type": "enabled", "budget_tokens": 1_024}


def text(words: str = "x", **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


def use(name: str = "ls", call_id: str = "t1", *before: dict[str, Any]) -> dict[str, Any]:
    call = {"type": "tool_use", "id": call_id, "name": name, "input": {}}
    return {"role": "assistant", "content": [*before, call]}


def result(content: Any = "ok", call_id: str = "t1", **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **more}


def user(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "content": [*parts]}


def repaired(api: ModuleType, body: dict[str, Any], **options: Any) -> Any:
    """Project a body, see that a second repair changes nothing, and return the new one with the report."""
    policy = ProjectPolicy(repair=True, **options)
    found = api.project_body(json.dumps(body).encode(), policy=policy)
    again = api.project_body(found.body, policy=policy)
    assert again.body == found.body
    assert again.report.mends == ()
    return json.loads(found.body), found


def mends(found: Any) -> list[tuple[str, int | None, str]]:
    return [(mend.kind, mend.position, mend.detail) for mend in found.report.mends]


def marks_in(value: Any) -> int:
    return json.dumps(value).count('"cache_control"')


# Marks for the prompt cache


def test_marks_of_the_tools_go_first_and_then_those_of_the_system_prompt(api: ModuleType) -> None:
    tools = [{"name": "a", "input_schema": {}, **MARK}, {"name": "b", "input_schema": {}, **MARK}]
    system = [text("s", **MARK), text("t", **MARK)]
    inner = [text("p", **MARK), text("q")]
    messages = [ASK, use(), user(result(inner, **MARK))]
    made, found = repaired(api, {"tools": tools, "system": system, "messages": messages})
    assert [marks_in(made[key]) for key in ("tools", "system", "messages")] == [0, 2, 2]
    assert mends(found) == [("cache_mark", None, "tools")] * 2


def test_a_mark_of_the_whole_request_counts(api: ModuleType) -> None:
    messages = [user(*(text(str(number), **MARK) for number in range(4))), use(), user(result())]
    made, found = repaired(api, {**MARK, "messages": messages})
    assert marks_in(made) == 4
    assert "cache_control" not in made["messages"][0]["content"][0]
    assert mends(found) == [("cache_mark", 0, "")]


@pytest.mark.parametrize("limit", [None, 60])
def test_marks_inside_results_count(api: ModuleType, limit: int | None) -> None:
    """Also next to a text that was cut: it keeps its mark, and counts."""
    inner = [text("a line\n" * 40), text("end", **MARK)]
    turns = [
        message
        for number in range(3)
        for message in (use("ls", f"t{number}"), user(result(inner, f"t{number}", **MARK)))
    ]
    made, found = repaired(api, {"messages": [ASK, *turns]}, max_result_chars=limit)
    assert marks_in(made) == 4
    assert marks_in(made["messages"][2]) == 0
    assert mends(found) == [("cache_mark", 2, "")] * 2
    alone = api.project([ASK, *turns], policy=ProjectPolicy(repair=True, max_result_chars=limit))
    assert alone.messages == made["messages"]


def test_a_failed_result_keeps_its_text_when_its_mark_goes(api: ModuleType) -> None:
    marked = [text(str(number), **MARK) for number in range(5)]
    made, _ = repaired(api, {"messages": [ASK, use(), user(result(marked, is_error=True))]})
    content = made["messages"][2]["content"][0]["content"]
    assert [part["text"] for part in content] == list("01234")
    assert marks_in(content) == 4


def test_nova_takes_no_mark_between_the_tools(api: ModuleType) -> None:
    point = {"cachePoint": {"type": "default"}}
    tools = [{"toolSpec": {"name": "ls", "inputSchema": {"json": {}}}}, point]
    body = {
        "modelId": "us.amazon.nova-pro-v1:0",
        "system": [{"text": "s"}, point],
        "toolConfig": {"tools": tools},
        "messages": [{"role": "user", "content": [{"text": "Go."}]}, *bedrock("ls")],
    }
    made, found = repaired(api, body)
    assert made == {**body, "toolConfig": {"tools": tools[:1]}}
    assert mends(found) == [("cache_mark", None, "toolConfig")]
    other, found = repaired(api, {**body, "modelId": "anthropic.claude-sonnet-4"})
    assert other["toolConfig"]["tools"] == tools
    assert found.report.mends == ()


@pytest.mark.parametrize("more", [0, 1, 3])
def test_bedrock_takes_four_marks(api: ModuleType, more: int) -> None:
    """The first ones go, and one that lasts longer than one before it is shortened."""
    point, long = (
        {"cachePoint": {"type": "default"}},
        {"cachePoint": {"type": "default", "ttl": "1h"}},
    )
    tool = {"toolSpec": {"name": "ls", "inputSchema": {"json": {}}}}
    said = {"role": "user", "content": [{"text": "Go."}, point]}
    body = {
        "modelId": "anthropic.claude-sonnet-4",
        "toolConfig": {"tools": [point] * more + [tool]},
        "system": [{"text": "s"}, point],
        "messages": [said, *bedrock("ls"), {"role": "assistant", "content": [{"text": "a"}]}, said],
    }
    body["messages"][2]["content"].append(long)
    made, found = repaired(api, body)
    short = {**body["messages"][2], "content": [*body["messages"][2]["content"][:-1], point]}
    messages = [*body["messages"][:2], short, *body["messages"][3:]]
    assert made == {**body, "toolConfig": {"tools": [tool]}, "messages": messages}
    over = [("cache_mark", None, "toolConfig")] * more
    assert mends(found) == [*over, ("cache_mark_order", 2, "")]


def test_bedrock_takes_no_mark_behind_a_thought(api: ModuleType) -> None:
    point = {"cachePoint": {"type": "default"}}
    thought = {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "s"}}}
    turns = bedrock("ls")
    turns[0]["content"] = [thought, point, *turns[0]["content"], point]
    tools = {"tools": [{"toolSpec": {"name": "ls", "inputSchema": {"json": {}}}}]}
    body = {
        "toolConfig": tools,
        "messages": [{"role": "user", "content": [{"text": "Go."}]}, *turns],
    }
    made, found = repaired(api, body)
    assert made["messages"][1]["content"] == [thought, *turns[0]["content"][2:]]
    assert mends(found) == [("cache_mark", 1, "")]


# Thinking


THOUGHT = {"type": "thinking", "thinking": "Hm.", "signature": "s"}


def test_an_open_turn_without_a_thought_asks_for_none(api: ModuleType) -> None:
    edits = [{"type": "clear_thinking_20251015"}, {"type": "clear_tool_uses_20250919"}]
    body = {
        "thinking": TURN_THINKING,
        "context_management": {"edits": edits},
        "messages": [ASK, use(), user(result())],
    }
    made, found = repaired(api, body)
    assert made == {"context_management": {"edits": edits[1:]}, "messages": body["messages"]}
    assert mends(found) == [("stopped_thinking", None, "")]
    assert found.report.stable_prefix_tokens == 0


@pytest.mark.parametrize(
    ("thinking", "messages"),
    [
        ({"type": "adaptive"}, [ASK, use(), user(result())]),
        ({"type": "disabled"}, [ASK, use(), user(result())]),
        (TURN_THINKING, [ASK, use("ls", "t1", THOUGHT), user(result())]),
        (TURN_THINKING, [ASK, use("ls", "t1", THOUGHT), user(result()), use("ls", "t2"), user(result(call_id="t2"))]),
        (TURN_THINKING, [ASK, use(), user(result()), {"role": "assistant", "content": "Done."}, ASK]),
        (TURN_THINKING, [ASK]),
    ],
)  # fmt: skip
def test_thinking_stays_where_it_is_accepted(
    api: ModuleType, thinking: dict[str, Any], messages: list[Any]
) -> None:
    body = {"thinking": thinking, "messages": messages}
    made, found = repaired(api, body)
    assert made == body
    assert found.report.mends == ()


def test_a_turn_whose_result_is_made_up_is_open(api: ModuleType) -> None:
    made, found = repaired(api, {"thinking": TURN_THINKING, "messages": [ASK, use()]})
    assert "thinking" not in made
    assert [kind for kind, *_ in mends(found)] == ["missing_result", "stopped_thinking"]


def test_claude_on_bedrock_has_the_same_rule(api: ModuleType) -> None:
    fields = {"thinking": TURN_THINKING, "top_k": 5}
    config = {"tools": [{"toolSpec": {"name": "ls", "inputSchema": {"json": {}}}}]}
    messages = [{"role": "user", "content": [{"text": "Go."}]}, *bedrock("ls")]
    body = {"additionalModelRequestFields": fields, "toolConfig": config, "messages": messages}
    made, found = repaired(api, body)
    assert made["additionalModelRequestFields"] == {"top_k": 5}
    thought = {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "s"}}}
    messages[1]["content"].insert(0, thought)
    assert repaired(api, body)[0] == body
    assert mends(found) == [("stopped_thinking", None, "")]


# Definitions


def bedrock(*names: str) -> list[dict[str, Any]]:
    uses = [{"toolUse": {"toolUseId": f"t{number}", "name": name, "input": {}}} for number, name in enumerate(names)]  # fmt: skip
    results = [{"toolResult": {"toolUseId": f"t{number}", "content": [{"text": "ok"}]}} for number in range(len(names))]  # fmt: skip
    return [{"role": "assistant", "content": uses}, {"role": "user", "content": results}]


@pytest.mark.parametrize("config", [{}, {"toolConfig": {"tools": []}}])
def test_bedrock_gets_definitions_of_the_tools_that_were_called(
    api: ModuleType, config: dict[str, Any]
) -> None:
    messages = [{"role": "user", "content": [{"text": "Go."}]}, *bedrock("ls", "read file", "ls")]
    made, found = repaired(api, {**config, "messages": messages})
    specs = [tool["toolSpec"] for tool in made["toolConfig"]["tools"]]
    assert specs == [
        {"name": name, "inputSchema": {"json": {"type": "object"}}} for name in ("ls", "read_file")
    ]
    assert mends(found)[-1] == ("missing_definitions", None, "ls, read_file")
    assert found.names == {"read_file": "read file"}


def test_bedrock_needs_no_definitions_without_calls(api: ModuleType) -> None:
    body = {"messages": [{"role": "user", "content": [{"text": "Go."}]}]}
    assert repaired(api, body, destination="bedrock")[0] == body
    messages = [*body["messages"], *bedrock("ls")]
    assert api.project(messages, policy=REPAIR).report.mends == ()


# Names


def test_a_definition_has_the_name_of_its_calls(api: ModuleType) -> None:
    body = {
        "tools": [
            {"name": "files_read", "input_schema": {}},
            {"name": "files.read", "input_schema": {}},
            {"name": "never called", "input_schema": {}},
        ],
        "tool_choice": {"type": "tool", "name": "files.read"},
        "messages": [ASK, use("files.read"), user(result())],
    }
    made, found = repaired(api, body)
    names = [tool["name"] for tool in made["tools"]]
    assert names == ["files_read", "files_read_2", "never_called"]
    assert made["tool_choice"]["name"] == "files_read_2"
    assert made["messages"][1]["content"][0]["name"] == "files_read_2"
    assert found.names == {"files_read_2": "files.read", "never_called": "never called"}
    assert mends(found) == [
        ("refused_name", None, "files_read_2"),
        ("refused_name", None, "never_called"),
        ("refused_name", 1, "files_read_2"),
    ]


LONG = "n" * 70
CUT = "n" * 64


@pytest.mark.parametrize(
    ("frame", "messages"),
    [
        (
            lambda name: {
                "tools": [{"type": "function", "function": {"name": name}}],
                "tool_choice": {"type": "allowed_tools", "allowed_tools": {"tools": [{"type": "function", "function": {"name": name}}]}},
            },
            {"messages": [ASK, {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}, {"role": "tool", "tool_call_id": "c", "content": "ok"}]},
        ),
        (
            lambda name: {"tools": [{"type": "function", "name": name}], "tool_choice": {"type": "function", "name": name}},
            {"input": [ASK, {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}, {"type": "function_call_output", "call_id": "c", "output": "ok"}]},
        ),
        (
            lambda name: {
                "tools": [{"functionDeclarations": [{"name": "f"}, {"name": name}]}, {"googleSearch": {}}],
                "toolConfig": {"functionCallingConfig": {"allowedFunctionNames": ["f", name]}},
            },
            {"contents": [{"role": "user", "parts": [{"text": "?"}]}, {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]}, {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"output": "ok"}}}]}]},
        ),
        (
            lambda name: {"toolConfig": {"tools": [{"toolSpec": {"name": name}}], "toolChoice": {"tool": {"name": name}}}},
            {"messages": [{"role": "user", "content": [{"text": "?"}]}, *bedrock("f")]},
        ),
    ],
)  # fmt: skip
def test_names_in_every_format(api: ModuleType, frame: Any, messages: dict[str, Any]) -> None:
    made, found = repaired(api, {**frame(LONG), **messages})
    assert made == {**frame(CUT), **messages}
    assert found.names == {CUT: LONG}


def test_a_name_of_gemini_begins_with_a_letter(api: ModuleType) -> None:
    tools = [{"functionDeclarations": [{"name": "9.lives:x"}, {"name": "a.b:c-d"}]}]
    parts = [{"role": "user", "parts": [{"text": "?"}]}]
    made, _ = repaired(api, {"contents": parts, "tools": tools}, destination="gemini")
    assert [each["name"] for each in made["tools"][0]["functionDeclarations"]] == ["_9_lives_x", "a.b:c-d"]  # fmt: skip


def test_everything_else_is_copied_byte_by_byte(api: ModuleType) -> None:
    body = (
        b'\xef\xbb\xbf{ "x":1.50 ,"tools" : [ {"name":"a b", "input_schema":{ }} , {"type":"t","name":"c"} ],\n'
        b' "messages":[ {"role":"user","content":"\\u0041"} ,'
        b'{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"c","input":{}}]},'
        b'{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"ok"}]}] } '
    )
    found = api.project_body(body, policy=REPAIR)
    assert found.body == body.replace(b'"a b"', b'"a_b"')


def test_a_changed_frame_breaks_the_cache_once(api: ModuleType) -> None:
    body = {"tools": [{"name": "a b", "input_schema": {}}], "messages": [ASK, use("a b"), user(result("x" * 900))]}  # fmt: skip
    data = json.dumps(body).encode()
    first = api.project_body(data, policy=REPAIR)
    assert first.report.stable_prefix_tokens == 0
    decisions: Decisions = first.decisions
    again = api.project_body(data, policy=REPAIR, previous=decisions)
    assert again.report.stable_prefix_tokens > 0
    assert again.report.cache_break_tokens == 0


def test_without_repair_the_frame_stays(api: ModuleType) -> None:
    data = json.dumps({"tools": [{"name": "a b"}], "messages": [ASK, use("a b"), user(result())]}).encode()  # fmt: skip
    assert api.project_body(data, policy=ProjectPolicy()).body is data


# Members that all messages of the model have


def test_deepseek_gets_empty_reasoning_where_others_have_some(api: ModuleType) -> None:
    first = {"role": "assistant", "content": "Hi.", "reasoning_content": "Hm."}
    second = {"role": "assistant", "content": "Yes."}
    body = {"model": "deepseek-reasoner", "messages": [ASK, first, ASK, second, ASK]}
    made, found = repaired(api, body, destination="deepseek")
    assert made["messages"][3] == {**second, "reasoning_content": ""}
    assert mends(found) == [("missing_member", 3, "reasoning_content")]
    other = {**body, "messages": [ASK, second, ASK]}
    assert repaired(api, other, destination="deepseek")[0] == other


# Both backends


names = st.sampled_from(("ls", "a b", "a.b", "a_b", "9x", "", "n" * 70, "ä", "n" * 70 + "b"))
marked = st.sampled_from(({}, MARK))
tools = st.lists(
    st.one_of(
        st.builds(lambda name, mark: {"name": name, **mark}, names, marked),
        st.builds(lambda name: {"function": {"name": name}}, names),
        st.builds(lambda name: {"functionDeclarations": [{"name": name}, None]}, names),
        st.just({"name": None, "cache_control": None}),
        st.just("tool"),
    ),
    max_size=6,
)
frames = st.fixed_dictionaries(
    {},
    optional={
        "tools": tools,
        "system": st.lists(st.builds(lambda mark: text("s", **mark), marked), max_size=4),
        "cache_control": st.sampled_from((None, {"type": "ephemeral"})),
        "thinking": st.sampled_from((TURN_THINKING, {"type": "adaptive"}, None, "on")),
        "context_management": st.sampled_from(
            ({"edits": [{"type": "clear_thinking_1"}, "x"]}, {"edits": None}, None)
        ),
        "tool_choice": st.builds(lambda name: {"name": name, "function": {"name": name}}, names),
        "toolConfig": st.builds(
            lambda name: {"tools": [{"toolSpec": {"name": name}}, {"cachePoint": {}}, {}]}, names
        ),
        "model": st.sampled_from(("claude-opus-4-6", "deepseek-chat", "amazon.nova-lite", "")),
    },
)
inner = st.one_of(
    st.just("ok"),
    st.lists(st.builds(lambda mark: text("a line\n" * 30, **mark), marked), max_size=3),
)


@st.composite
def anthropic_messages(draw: st.DrawFn) -> list[dict[str, Any]]:
    messages = [user(text("Go.", **draw(marked)))]
    for number in range(draw(st.integers(0, 4))):
        thought = [THOUGHT] if draw(st.booleans()) else []
        call = use(draw(names), f"t{number}", *thought)
        answer = result(draw(inner), f"t{number}", **draw(marked), is_error=draw(st.booleans()))
        messages += [call, user(answer)] if draw(st.booleans()) else [call]
    return messages


@examples(150)
@given(
    frame=frames,
    messages=st.one_of(
        anthropic_messages(),
        st.lists(names, max_size=4).map(lambda called: [{"role": "user", "content": [{"text": "Go."}]}, *(bedrock(*called) if called else [])]),
    ),
    destination=st.none() | st.sampled_from(("anthropic", "bedrock", "bedrock-nova", "openrouter")),
    limit=st.none() | st.integers(40, 300),
)  # fmt: skip
def test_a_repaired_frame_is_repaired(
    api: ModuleType,
    frame: dict[str, Any],
    messages: list[dict[str, Any]],
    destination: Any,
    limit: int | None,
) -> None:
    policy = ProjectPolicy(repair=True, destination=destination, max_result_chars=limit)
    body = json.dumps({**frame, "messages": messages}).encode()
    again = api.project_body(api.project_body(body, policy=policy).body, policy=policy)
    assert again.report.mends == ()
