"""Members that a destination does not know: of messages, of items, of parts without a type, and of what parts hold."""

import json
from types import ModuleType
from typing import Any

import pytest

from toolcarry import Destination, ProjectPolicy, check

MARK = {"type": "ephemeral"}
TOOL = {"toolSpec": {"name": "f", "inputSchema": {"json": {"type": "object"}}}}


def sent(api: ModuleType, request: dict[str, Any], destination: Any) -> tuple[Any, set[str]]:
    """Return the repaired request and the members that went. Both doors agree, and the repair is over with that."""
    policy = ProjectPolicy(repair=True, destination=destination)
    body = json.dumps(request).encode()
    found = api.project_body(body, policy=policy)
    made = json.loads(found.body)
    key = next(key for key in ("input", "contents", "messages") if key in request)
    assert api.project(request[key], policy=policy).messages == made[key]
    assert {problem.rule for problem in check(body, destination=destination)} <= {"refused_member"}
    assert check(found.body, destination=destination) == ()
    assert api.project_body(found.body, policy=policy).body == found.body
    return made, {mend.detail for mend in found.report.mends}


def test_an_answer_that_is_sent_back_as_it_came(api: ModuleType) -> None:
    words = [{"type": "text", "text": "Hi."}]
    answer = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": words}
    ends = {"stop_reason": "end_turn", "stop_sequence": None, "usage": {"input_tokens": 1}}
    user = {"role": "user", "content": "Go."}
    messages = [{**user, "timestamp": 3}, {**answer, **ends}, user]
    made, gone = sent(api, {"messages": messages}, "anthropic")
    assert made["messages"] == [user, {"role": "assistant", "content": words}, user]
    assert gone == {"id", "type", "model", "timestamp", *ends}
    assert sent(api, {"messages": messages}, "anthropic-compatible")[0]["messages"] == messages


def test_so_many_members_that_quadratic_time_would_be_minutes(api: ModuleType) -> None:
    others = {f"m{number}": 1 for number in range(100_000)}
    text, function = {"type": "text", "text": "Go."}, {"name": "f", "arguments": "{}"}
    call = {"id": "call_1234", "type": "function", "function": function}
    asked = {"role": "assistant", "content": "", "tool_calls": [{**call, **others}]}
    told = {"role": "tool", "tool_call_id": "call_1234", "content": "ok"}
    user = {"role": "user", "content": "Go."}
    requests: list[tuple[str, dict[str, Any], list[Any]]] = [
        ("anthropic", {"messages": [{**user, **others}]}, [user]),
        ("anthropic", {"messages": [{"role": "user", "content": [{**text, **others}]}]}, [{"role": "user", "content": [text]}]),
        ("anthropic", {"system": [{**text, **others}], "messages": [user]}, [user]),
        ("mistral", {"messages": [user, asked, told]}, [user, {**asked, "tool_calls": [call]}, told]),
    ]  # fmt: skip
    for destination, request, messages in requests:
        body = json.dumps(request).encode()
        found = api.project_body(body, policy=ProjectPolicy(repair=True, destination=destination))
        made = json.loads(found.body)
        assert made["messages"][0] == messages[0]
        assert len(found.body) < 1_000
        assert {mend.detail for mend in found.report.mends} >= set(others)


def test_a_part_of_the_system_prompt(api: ModuleType) -> None:
    text = {"type": "text", "text": "Be brief.", "cache_control": MARK}
    request = {"system": [{**text, "index": 0}], "messages": [{"role": "user", "content": "Go."}]}
    made, gone = sent(api, request, "anthropic")
    assert (made["system"], gone) == ([text], {"index"})


def test_parts_of_bedrock(api: ModuleType) -> None:
    call = {"toolUseId": "t1", "name": "f", "input": {"index": 1}}
    result = {"toolUseId": "t1", "content": [{"text": "ok"}]}
    leaked = [
        {"role": "user", "content": [{"text": "Go.", "type": "text", "cache_control": MARK}], "id": "m1"},
        {"role": "assistant", "content": [{"toolUse": {**call, "partial_json": "{}"}, "index": 0}]},
        {"role": "user", "content": [{"toolResult": {**result, "content": [{"text": "ok", "index": 0}], "name": "f", "is_error": False}}]},
    ]  # fmt: skip
    made, gone = sent(api, {"messages": leaked, "toolConfig": {"tools": [TOOL]}}, "bedrock")
    assert made["messages"] == [
        {"role": "user", "content": [{"text": "Go."}]},
        {"role": "assistant", "content": [{"toolUse": call}]},
        {"role": "user", "content": [{"toolResult": result}]},
    ]
    assert gone == {"type", "cache_control", "id", "partial_json", "index", "name", "is_error"}


def test_parts_of_gemini(api: ModuleType) -> None:
    call, result = {"name": "f", "args": {}}, {"name": "f", "response": {"output": "ok"}}
    leaked = [
        {"role": "user", "parts": [{"text": "Go.", "cache_control": MARK}], "timestamp": 1},
        {"role": "model", "parts": [{"functionCall": {**call, "index": 0}, "thoughtSignature": "c2ln", "id": "x"}]},
        {"role": "user", "parts": [{"functionResponse": {**result, "is_error": True}}]},
    ]  # fmt: skip
    made, gone = sent(api, {"contents": leaked}, "gemini")
    assert made["contents"] == [
        {"role": "user", "parts": [{"text": "Go."}]},
        {"role": "model", "parts": [{"functionCall": call, "thoughtSignature": "c2ln"}]},
        {"role": "user", "parts": [{"functionResponse": result}]},
    ]
    assert gone == {"cache_control", "timestamp", "index", "id", "is_error"}


def test_items_of_responses(api: ModuleType) -> None:
    call = {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"}
    output = {"type": "function_call_output", "call_id": "c1", "output": "ok"}
    thought = {"type": "reasoning", "id": "rs_1", "summary": []}
    said = {"type": "output_text", "text": "Yes.", "annotations": []}
    leaked = [
        {"role": "user", "content": [{"type": "input_text", "text": "Go.", "cache_control": MARK}], "name": "x"},
        {**thought, "status": "completed"},
        {**call, "index": 0},
        {**output, "is_error": False},
        {"role": "assistant", "content": [{**said, "parsed": 1}]},
        {"role": "user", "content": [{"type": "input_text", "text": "Go.", "annotations": []}]},
    ]  # fmt: skip
    made, gone = sent(api, {"input": leaked}, "openai-responses")
    asked = {"role": "user", "content": [{"type": "input_text", "text": "Go."}]}
    answered = {"role": "assistant", "content": [said]}
    assert made["input"] == [asked, thought, call, output, answered, asked]
    assert gone == {"cache_control", "name", "status", "index", "is_error", "parsed", "annotations"}


@pytest.mark.parametrize("destination", ["mistral", "groq"])
def test_strict_servers_of_chat(api: ModuleType, destination: str) -> None:
    """Mistral answers 422 "extra_forbidden", and Groq "property 'timestamp' is unsupported"."""
    call = {"id": "abcdefghi", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    text = {"type": "text", "text": "Go."}
    leaked = [
        {"role": "user", "content": [{**text, "cache_control": MARK}], "timestamp": 1},
        {"role": "assistant", "content": "", "tool_calls": [{**call, "extra_content": {}}], "id": "m1"},
        {"role": "tool", "tool_call_id": "abcdefghi", "content": "ok"},
    ]  # fmt: skip
    made, gone = sent(api, {"messages": leaked}, destination)
    assert made["messages"] == [
        {"role": "user", "content": [text]},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        leaked[2],
    ]
    assert gone == {"cache_control", "timestamp", "extra_content", "id"}
    assert sent(api, {"messages": leaked}, "openai-chat")[0]["messages"] == leaked


def test_members_at_bedrock_in_anthropics_format(api: ModuleType) -> None:
    """ "extraneous key [stream] is not permitted"; the version tells whose request it is."""
    user = {"role": "user", "content": [{"type": "text", "text": "Go."}]}
    request = {"anthropic_version": "bedrock-2023-05-31", "stream": True, "messages": [user]}
    found = api.project_body(json.dumps(request).encode(), policy=ProjectPolicy(repair=True))
    assert "stream" not in json.loads(found.body)


def test_what_is_unread_beside_a_lost_result_stays(api: ModuleType) -> None:
    result = {"functionResponse": {"name": "f", "response": {}}}
    contents = [
        {"role": "user", "parts": [{"text": "Go."}]},
        {"role": "user", "parts": [{**result, "fromTheFuture": 1}]},
    ]
    policy = ProjectPolicy(repair=True, destination="gemini")
    found = api.project(contents, policy=policy).messages
    assert found == [contents[0], {"role": "user", "parts": [{"fromTheFuture": 1}]}]
    assert api.project(found, policy=policy).messages == found


def test_a_destination_of_a_user_knows_other_members(api: ModuleType) -> None:
    rules = {"message_members": {"*": ["role", "content", "name"]}, "held_members": {"source": ["type", "url"]}}  # fmt: skip
    own = Destination("gateway", "anthropic", rules)
    image = {"type": "image", "source": {"type": "url", "url": "https://e.org/a.png", "detail": "low"}}  # fmt: skip
    messages = [{"role": "user", "content": [image], "name": "bob", "id": "m"}]
    made, gone = sent(api, {"messages": messages}, own)
    assert made["messages"][0]["name"] == "bob"
    assert gone == {"id", "detail"}


def test_members_of_a_message_that_was_imported(api: ModuleType) -> None:
    """LangChain's `call_id` sends the messages through an importer, whose own marks are none of theirs."""
    call = {"type": "tool_use", "id": "c1", "name": "look", "input": {}}
    said = {"role": "assistant", "content": [{**call, "call_id": "c1"}], "trace": 1}
    answer = {"type": "tool_result", "tool_use_id": "c1", "content": "ok"}
    ask, result = {"role": "user", "content": "Go."}, {"role": "user", "content": [answer]}
    made, gone = sent(api, {"messages": [ask, said, result]}, "anthropic")
    assert made["messages"] == [ask, {"role": "assistant", "content": [call]}, result]
    assert gone == {"call_id", "trace"}


def test_a_source_whose_type_is_wrong_loses_its_unknown_members_at_once(api: ModuleType) -> None:
    png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII="
    source = {"type": "base64", "media_type": "image/jpeg", "data": png, "detail": "high"}
    given = [{"role": "user", "content": [{"type": "image", "source": source}]}]
    policy = ProjectPolicy(repair=True, destination="anthropic")
    once = api.project(given, policy=policy)
    assert once.messages[0]["content"][0]["source"] == {
        "type": "base64",
        "media_type": "image/png",
        "data": png,
    }
    assert api.project(once.messages, policy=policy).messages == once.messages
