"""The rules of single producers: pieces of messages, branches, scopes, documents with several conversations, objects."""

import json
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import pytest
from support.builders.producers import ANSWER, ASKED, FAILURE, NAME, SAID, sample
from support.oracles.format_checks import ASSISTANT, USER, JsonObject, as_lines, blocks, turns
from support.rows import for_each

from toolcarry import InputError, ProjectPolicy, convert
from toolcarry.importers.messages import Import


def active(api: ModuleType, items: Any) -> list[str]:
    return [block.call_id for block in blocks(api, items) if block.notes.is_active]


def test_events_of_ag_ui(api: ModuleType, rust: ModuleType) -> None:
    events = [
        {"type": "RUN_STARTED", "threadId": "t", "runId": "r"},
        {"type": "TEXT_MESSAGE_START", "messageId": "m", "role": "assistant"},
        {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": "I open "},
        {"type": "TOOL_CALL_CHUNK", "toolCallId": "c1", "toolCallName": NAME, "delta": '{"path": '},
        {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": "the door."},
        {"type": "TEXT_MESSAGE_END", "messageId": "m"},
        {"type": "TOOL_CALL_CHUNK", "toolCallId": "c1", "delta": '"barn"}'},
        {"type": "TOOL_CALL_RESULT", "toolCallId": "c1", "content": ANSWER, "role": "tool"},
        {"type": "STATE_SNAPSHOT", "snapshot": {}},
    ]
    for given in (events, as_lines(events)):
        assert api.dialogue(given) == turns((ASSISTANT, SAID))
        (block,) = blocks(api, given)
        assert (block.tool_name, block.position) == (NAME, 3)
        assert json.dumps({"path": "barn"}) in str(Import().messages(events)[3])
        assert not rust.inspect(given).unread


def test_pieces_of_gemini_cli(api: ModuleType, rust: ModuleType) -> None:
    def said(text: str, role: str = "assistant") -> JsonObject:
        return {"type": "message", "role": role, "content": text, "delta": role == "assistant"}

    events = [
        {"type": "init", "session_id": "s", "model": "m"},
        said(ASKED, "user"),
        said("I open "),
        said("the door."),
        {"type": "tool_use", "tool_name": NAME, "tool_id": "c1", "parameters": {}},
        {"type": "tool_result", "tool_id": "c1", "status": "error", "output": "", "error": {"type": "e", "message": FAILURE}},
        said("It is shut."),
        {"type": "result", "status": "success"},
    ]  # fmt: skip
    told = turns((USER, ASKED), (ASSISTANT, SAID), (ASSISTANT, "It is shut."))
    assert api.dialogue(events) == told
    found = rust.inspect(as_lines(events))
    assert (found.calls, found.results, found.errors) == (1, 1, 1)
    assert FAILURE in api.carry(events).text


def test_lines_of_a_gemini_chat_that_was_rewound(api: ModuleType) -> None:
    user, model, _ = sample("gemini_cli")
    early = {**model, "toolCalls": model["toolCalls"][:1]}
    later = {**user, "id": "4", "content": "Once more."}
    again = {"id": "5", "type": "gemini", "content": "Yes.", "toolCalls": [{**model["toolCalls"][0], "id": "c9"}]}  # fmt: skip
    lines = [{"sessionId": "s", "projectHash": "h"}, user, early, model, later, again]
    assert active(api, lines) == ["c1", "c2", "c9"]
    assert active(api, [*lines, {"$rewindTo": "4"}, {**user, "id": "6"}]) == ["c1", "c2"]


def test_the_branch_of_pi(api: ModuleType, rust: ModuleType) -> None:
    entries = sample("pi")
    asked, answered = json.loads(json.dumps([entries[2], entries[3]]))
    asked["message"]["content"] = [{"type": "toolCall", "id": "c9", "name": NAME, "arguments": {}}]
    answered["message"]["toolCallId"] = "c9"
    tried = [*entries, {**asked, "id": "x0", "parentId": "e0"}, {**answered, "id": "x1", "parentId": "x0"}]  # fmt: skip
    assert active(api, tried) == active(api, as_lines(tried)) == ["c9"]
    assert rust.inspect(tried).other_branch_blocks == 2
    compacted = {"type": "compaction", "id": "z", "parentId": "x1", "summary": "The barn was open."}
    assert "[SUMMARY]\nThe barn was open.\n[/SUMMARY]" in api.dialogue([*tried, compacted])
    converted = api.convert([*tried, compacted], to="openai")
    assert "The barn was open." not in str(converted.messages)
    assert "client" in [loss.kind for loss in converted.losses]
    assert not [loss for loss in converted.losses if "parentUuid" in loss.detail]
    assert not rust.inspect([*tried, compacted]).unread
    cut_off = [{**tried[-2], "parentId": "lost"}, tried[-1]]
    assert active(api, [*entries, *cut_off]) == ["c1", "c2", "c9"]


def test_a_command_of_the_user_in_pi(rust: ModuleType) -> None:
    ran = {"role": "bashExecution", "command": "ls", "output": "a.py", "exitCode": 1}
    entry = {"type": "message", "id": "x", "parentId": "e3", "message": ran}
    hidden = {**entry, "message": {**ran, "excludeFromContext": True}}
    assert (rust.inspect([*sample("pi"), entry]).calls, rust.inspect([*sample("pi"), entry]).errors) == (3, 2)  # fmt: skip
    assert rust.inspect([*sample("pi"), hidden]).calls == 2


def test_an_undo_of_kimi(api: ModuleType) -> None:
    lines = sample("kimi")
    begin = {"type": "turn.prompt", "input": []}
    undone = [lines[0], begin, *lines[1:], {"type": "context.undo", "count": 1}]
    assert active(api, undone) == []
    assert ASKED not in api.dialogue(undone)
    assert active(api, [*undone, begin, *lines[1:]]) == ["c1", "c2"]


def test_pieces_and_sub_agents_of_kimi_cli(api: ModuleType, rust: ModuleType) -> None:
    lines = sample("kimi_cli")

    def event(kind: str, payload: JsonObject) -> JsonObject:
        return {"timestamp": 2.0, "message": {"type": kind, "payload": payload}}

    call = lines[5]["message"]["payload"]
    begun = event(
        "ToolCall", {**call, "id": "c9", "function": {"name": NAME, "arguments": '{"path": '}}
    )
    pieces = [
        event("ToolCallPart", {"arguments_part": piece}) for piece in ('"barn and ', 'loft"}')
    ]
    answer = {"is_error": True, "output": ANSWER, "message": FAILURE, "display": []}
    ended = event("ToolResult", {"tool_call_id": "c9", "return_value": answer})
    given = [*lines, begun, *pieces, ended]
    assert not rust.inspect(given).unread
    assert '{\\"path\\": \\"barn and loft\\"}' in json.dumps(Import().messages(given)[len(lines)])
    assert f"{FAILURE}\n{ANSWER}" in api.carry(given).text
    inner = {"type": "ToolCall", "payload": call}
    of_agent = event("SubagentEvent", {"task_tool_call_id": "c1", "event": inner})
    found = rust.inspect([*lines, of_agent])
    assert (found.calls, found.side_chain_blocks, found.unread.count) == (3, 1, 0)


def test_a_rewind_of_adk(api: ModuleType) -> None:
    (session,) = sample("adk")
    rewind = {"author": "user", "invocationId": "j", "actions": {"rewindBeforeInvocationId": "i"}}
    assert active(api, [{**session, "events": [*session["events"], rewind]}]) == []
    assert active(api, session["events"]) == ["c1", "c2"]


SUMMED = "Forty bales; the loft is locked."


def test_a_compaction_of_goose(api: ModuleType) -> None:
    """What the agent no longer sees is not active, and what only it sees was written by the client."""
    seen = [
        {**each, "metadata": {"userVisible": True, "agentVisible": False}}
        for each in sample("goose")
    ]
    summary = {"role": "user", "content": [{"type": "text", "text": SUMMED}]}
    note = {
        "role": "assistant",
        "content": [{"type": "text", "text": "Do not mention the summary."}],
    }
    made = [
        {**each, "metadata": {"userVisible": False, "agentVisible": True}}
        for each in (summary, note)
    ]
    asked = {"role": "user", "content": [{"type": "text", "text": "And the stable?"}]}
    items = [*seen, *made, asked]
    assert active(api, items) == []
    sent = json.dumps(convert(items, to="anthropic").messages)
    assert (
        SUMMED in sent,
        "And the stable?" in sent,
        "forty bales" in sent,
        "mention" in sent,
    ) == (True, True, False, False)


@pytest.mark.parametrize("is_camel", [True, False])
@pytest.mark.parametrize("is_kept", [True, False])
def test_a_compaction_of_adk(api: ModuleType, is_camel: bool, is_kept: bool) -> None:
    """The summary takes the place of what it covers, also if events that it does not cover stand before it."""
    (session,) = sample("adk")
    events = [{**event, "timestamp": number} for number, event in enumerate(session["events"])]
    keys = ("startTimestamp", "endTimestamp", "compactedContent")
    if not is_camel:
        keys = ("start_timestamp", "end_timestamp", "compacted_content")
    values = (0, len(events) - 1, {"role": "model", "parts": [{"text": SUMMED}]})
    compaction = {
        "author": "user",
        "invocationId": "k",
        "timestamp": 9,
        "actions": {"compaction": dict(zip(keys, values, strict=True))},
    }
    asked = {
        "author": "user",
        "invocationId": "l",
        "timestamp": 8 if is_kept else 10,
        "content": {"role": "user", "parts": [{"text": "And the stable?"}]},
    }
    items = [*events, *((asked, compaction) if is_kept else (compaction, asked))]
    assert active(api, items) == []
    assert f"[SUMMARY]\n{SUMMED}\n[/SUMMARY]" in api.dialogue(items)
    sent = json.dumps(convert(items, to="gemini").messages)
    assert (SUMMED in sent, "And the stable?" in sent, "forty bales" in sent) == (True, True, False)
    assert len(api.extract_tool_blocks(items)) == 2


def test_the_last_item_of_an_id_counts(rust: ModuleType) -> None:
    begun = sample("codex_exec")[2]
    found = rust.inspect([begun])
    assert (found.calls, found.results) == (1, 0)


@pytest.mark.parametrize("name", ["copilot_cli", "managed_agents"])
def test_a_sub_agent_has_its_own_scope(api: ModuleType, rust: ModuleType, name: str) -> None:
    items = sample(name)
    for item in items:
        if name == "copilot_cli" and item["data"].get("toolCallId") == "c2":
            item["data"]["parentToolCallId"] = "c1"
        if "c2" in (item["id"], item.get("custom_tool_use_id")):
            item["session_thread_id"] = "t"
    if name == "copilot_cli":
        calls = items[2]["data"]["toolRequests"]
        items.insert(
            3, {**items[2], "data": {"toolRequests": [calls.pop()], "parentToolCallId": "c1"}}
        )
    found = rust.inspect(items)
    assert (found.calls, found.side_chain_blocks, found.orphan_calls) == (2, 1, 0)
    assert active(api, items) == ["c1"]


def test_lines_of_vscode(api: ModuleType) -> None:
    (document,) = sample("vscode")
    request = document["requests"][0]
    lines = [
        {"kind": 0, "v": {**document, "requests": [{**request, "result": None}]}},
        {"kind": 1, "k": ["requests", 0, "result"], "v": request["result"]},
        {"kind": 2, "k": ["requests"], "v": [{"message": {"text": "And now?"}, "response": [{"value": "Bye."}]}]},
        {"kind": 1, "k": ["nowhere", 3, "x"], "v": 1},
        {"kind": 2, "k": ["requests", 0, "message"], "i": -1},
        {"kind": 3, "k": ["responderUsername"]},
    ]  # fmt: skip
    told = turns((USER, ASKED), (ASSISTANT, SAID), (USER, "And now?"), (ASSISTANT, "Bye."))
    assert api.dialogue(as_lines(lines)) == told
    assert active(api, as_lines(lines)) == ["c1", "c2"]


def test_lines_of_vscode_change_no_objects_of_the_user(rust: ModuleType) -> None:
    (document,) = sample("vscode")
    lines = [{"kind": 0, "v": document}, {"kind": 1, "k": ["requests", 0, "message"], "v": {}}]
    before = json.dumps(lines)
    rust.inspect(lines)
    assert json.dumps(lines) == before


@pytest.mark.parametrize("name", ["sessionId", "responderUsername"])
def test_lines_of_a_new_session_of_vscode(api: ModuleType, rust: ModuleType, name: str) -> None:
    """The first line has no requests yet."""
    (document,) = sample("vscode")
    lines = [
        {"kind": 0, "v": {"version": 3, name: "x", "requests": []}},
        {"kind": 2, "k": ["requests"], "v": document["requests"]},
    ]
    assert api.dialogue(as_lines(lines)) == turns((USER, ASKED), (ASSISTANT, SAID))
    assert active(api, as_lines(lines)) == ["c1", "c2"]
    assert rust.inspect(as_lines(lines)).shape == "vscode-chat"


def test_otlp_and_open_inference(api: ModuleType) -> None:
    (span,) = sample("otel_span")
    value = {"stringValue": span["attributes"]["gen_ai.input.messages"]}
    attributes = [{"key": "gen_ai.input.messages", "value": value}, {"key": 7}]
    spans = [{"name": "short", "attributes": []}, {"name": "chat", "attributes": attributes}]
    otlp = {"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}
    start, call = "llm.input_messages.", "message.tool_calls.0.tool_call."
    flat = {
        f"{start}0.message.role": "user",
        f"{start}0.message.content": ASKED,
        f"{start}1.message.role": "assistant",
        f"{start}1.{call}id": "c1",
        f"{start}1.{call}function.name": NAME,
        f"{start}1.{call}function.arguments": "{}",
        f"{start}2.message.role": "tool",
        f"{start}2.message.content": ANSWER,
        f"{start}2.message.tool_call_id": "c1",
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.contents.0.message_content.text": SAID,
    }
    assert active(api, json.dumps(otlp).encode()) == ["c1", "c2"]
    inference = json.dumps({"name": "llm", "attributes": flat}).encode()
    assert active(api, inference) == ["c1"]
    assert api.dialogue(inference) == turns((USER, ASKED), (ASSISTANT, SAID))


@pytest.mark.parametrize("name", ["inspect_ai", "letta", "tau2"])
def test_a_document_with_several_conversations_is_refused(
    api: ModuleType, rust: ModuleType, name: str
) -> None:
    (document,) = sample(name)
    key = {"inspect_ai": "samples", "letta": "agents", "tau2": "simulations"}[name]
    document[key] *= 2
    body = json.dumps(document).encode()
    for job in (rust.inspect, api.carry, api.dialogue, api.extract_tool_blocks):
        with pytest.raises(InputError, match="many conversations"):
            job(body)


def test_older_forms_of_the_ai_sdk(rust: ModuleType) -> None:
    done = {"state": "result", "toolCallId": "c1", "toolName": NAME, "args": {}, "result": ANSWER}
    part = {"type": "tool-invocation", "toolInvocation": done}
    ui = [{"role": "assistant", "content": SAID, "toolInvocations": [done], "parts": [{"type": "text", "text": SAID}, part]}]  # fmt: skip
    assert (rust.inspect(ui).calls, rust.inspect(ui).results) == (1, 1)
    core = [
        {"role": "assistant", "content": [{"type": "tool-call", "toolCallId": "c1", "toolName": NAME, "args": {}}]},
        {"role": "tool", "content": [{"type": "tool-result", "toolCallId": "c1", "toolName": NAME, "result": ANSWER, "isError": True}]},
    ]  # fmt: skip
    assert (rust.inspect(core).results, rust.inspect(core).errors) == (1, 1)


def test_an_answer_of_responses(api: ModuleType, rust: ModuleType) -> None:
    call = {"type": "function_call", "call_id": "c1", "name": NAME, "arguments": "{}"}
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": SAID}]}  # fmt: skip
    body = json.dumps({"id": "r", "object": "response", "output": [call, said]}).encode()
    assert rust.inspect(body).orphan_calls == 1
    assert api.dialogue(body) == turns((ASSISTANT, SAID))


def test_an_unknown_part_is_reported(rust: ModuleType) -> None:
    items = sample("goose")
    items[1]["content"].append({"type": "hologram", "toolCallId": "x"})
    found = rust.inspect(items)
    assert (found.calls, found.unread.count, found.unread.first[0].position) == (2, 1, 1)
    assert found.unread.first[0].keys == ("type", "toolCallId")


class WithToDict:
    """A message that has a ``to_dict``, as those of Haystack."""

    def __init__(self, members: JsonObject) -> None:
        self._members = members

    def to_dict(self) -> JsonObject:
        return self._members


class WithModelDump:
    """A message that has a ``model_dump``, as models of pydantic: LangChain, LlamaIndex, AutoGen."""

    def __init__(self, members: JsonObject) -> None:
        self._members = members

    def model_dump(self) -> JsonObject:
        return self._members


@dataclass
class Part:
    part_kind: str
    content: Any = None
    tool_name: str = ""
    args: Any = None
    tool_call_id: str = ""


@dataclass
class Message:
    """A message that is a dataclass, as those of pydantic-ai."""

    kind: str
    parts: list[Part] = field(default_factory=list)


@for_each("name", ["haystack", "autogen", "llama_index"])
@for_each("make", [WithToDict, WithModelDump])
def test_objects_are_read_by_their_dumps(
    api: ModuleType, rust: ModuleType, name: str, make: Any
) -> None:
    items = sample(name)
    objects = [make(item) for item in items]
    assert api.carry(objects).text == api.carry(items).text
    assert api.dialogue(objects) == api.dialogue(items)
    assert rust.inspect(objects) == rust.inspect(items)


def test_dataclasses_are_read_as_objects(api: ModuleType) -> None:
    items = sample("pydantic_ai")
    objects = [Message(item["kind"], [Part(**part) for part in item["parts"]]) for item in items]
    assert api.carry(objects).text == api.carry(items).text
    assert active(api, objects) == ["c1", "c2"]


def of_cline(*parts: Any) -> list[JsonObject]:
    """The first two messages of Cline's conversation, and these parts of the user's."""
    return [*sample("cline")[:2], {"role": "user", "content": list(parts)}]


def part_of(words: str) -> JsonObject:
    return {"type": "text", "text": words}


IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}


def test_results_of_cline_after_their_header(api: ModuleType) -> None:
    header = part_of(f"[{NAME} for 'a]\nb' in '*.py'] Result:")
    said = part_of("The user provided the following feedback:\n<feedback>\nLeave it.\n</feedback>")
    items = of_cline(header, part_of(ANSWER), IMAGE, said, part_of(f"[{NAME}] Result:\nshut"))
    for given in (items, as_lines(items)):
        first, second = blocks(api, given)
        assert (first.call_id, second.call_id) == ("c1", "c2")
        assert second.tool_result == part_of(f"[{NAME}] Result:\nshut")
        assert ANSWER in api.carry(given).text
        told = api.dialogue(given)
        assert "Leave it." in told
        assert ANSWER not in told
        assert "Result:" not in told


def test_a_header_without_a_result_of_cline(api: ModuleType) -> None:
    items = of_cline(
        part_of(f"[{NAME}] Result:"), part_of("<environment_details>x</environment_details>")
    )
    first, second = blocks(api, items)
    assert first.tool_result == part_of(f"[{NAME}] Result:")
    assert second.tool_result is None


def test_only_calls_of_cline_show_its_results(api: ModuleType, rust: ModuleType) -> None:
    """The same words in another conversation are the user's, and a request with them is repaired as ever."""
    items = of_cline(part_of(f"[{NAME} for 'barn'] Result:\n{ANSWER}"))
    for call in items[1]["content"][1:]:
        del call["call_id"]
    for given in (items, as_lines(items)):
        assert rust.inspect(given).shape == "anthropic"
        assert rust.inspect(given).results == 0
        assert ANSWER in api.dialogue(given)
    mends = rust.project(items, policy=ProjectPolicy(repair=True)).report.mends
    assert [mend.kind for mend in mends].count("missing_result") == 2


def test_cline_with_anthropic_results(api: ModuleType, rust: ModuleType) -> None:
    found = [{"type": "tool_result", "tool_use_id": f"c{number}", "content": ANSWER} for number in (1, 2)]  # fmt: skip
    items = of_cline(*found)
    for given in (items, as_lines(items)):
        survey = rust.inspect(given)
        assert (survey.shape, survey.results, survey.unread.count) == ("cline", 2, 0)
    assert rust.project(items, policy=ProjectPolicy(repair=True)).report.not_repaired == ""


def test_changes_in_kiro(api: ModuleType, rust: ModuleType) -> None:
    lines = sample("kiro")

    def change(kind: str, **data: Any) -> JsonObject:
        return {"version": "v1", "kind": kind, **({"data": data} if data else {})}

    again = json.loads(json.dumps(lines).replace('"c1"', '"c3"').replace('"c2"', '"c4"'))
    both = ["c1", "c2", "c3", "c4"]
    assert active(api, [*lines, *again]) == both
    assert active(api, [*lines, change("Clear"), *again]) == ["c3", "c4"]
    assert active(api, [*lines, *again, change("ResetTo", target_index=len(lines))]) == ["c1", "c2"]
    assert active(api, [*lines, change("Clear"), *again, change("ResetTo", target_index=len(lines))]) == ["c1", "c2"]  # fmt: skip
    assert (
        active(api, [*lines, *again, change("ResetTo", target_index=99), change("ResetTo")]) == both
    )
    cancelled = [*lines, lines[0], change("CancelledPrompt")]
    assert api.dialogue(cancelled) == api.dialogue(lines)
    assert api.dialogue([*lines, change("CancelledPrompt")]).count(ASKED) == 1
    told = api.dialogue(
        [*lines, change("Compaction", summary="All was seen.", messages_snapshot=[])]
    )
    assert "[SUMMARY]\nAll was seen.\n[/SUMMARY]" in told
    for kind in ("Clear", "CancelledPrompt", "ResetTo"):
        assert not rust.inspect([*lines, change(kind, target_index=1)]).unread


def test_events_of_opencode(api: ModuleType, rust: ModuleType) -> None:
    """``opencode run --format json`` writes each part when it has ended."""
    (_, message, *_) = sample("opencode")
    tools = [part for part in message["parts"] if part["type"] == "tool"]
    parts = [("step_start", {"type": "step-start"}), *(("tool_use", part) for part in tools), ("reasoning", {"type": "reasoning", "text": "Hm."}), ("text", {"type": "text", "text": SAID}), ("step_finish", {"type": "step-finish"})]  # fmt: skip
    events = [{"type": kind, "timestamp": 7, "sessionID": "s", "part": part} for kind, part in parts]  # fmt: skip
    for given in (events, as_lines(events)):
        survey = rust.inspect(given)
        assert (survey.shape, survey.calls, survey.results, survey.errors) == ("opencode", 2, 2, 1)
        assert not survey.unread
        assert api.dialogue(given) == turns((ASSISTANT, SAID))


def of_droid() -> list[JsonObject]:
    """A session file of droid: messages of Anthropic in entries like those of pi."""
    call = {"type": "tool_use", "id": "c1", "name": NAME, "input": {}}
    seen = {"type": "tool_result", "tool_use_id": "c1", "content": ANSWER, "is_error": True}
    messages = [("user", [part_of(ASKED)]), ("assistant", [part_of(SAID), call]), ("user", [seen])]
    entries = [
        {"type": "message", "id": f"m{at}", "parentId": f"m{at - 1}", "message": {"role": role, "content": parts}}
        for at, (role, parts) in enumerate(messages)
    ]  # fmt: skip
    return [{"type": "session_start", "id": "s", "title": "x", "cwd": "/"}, *entries]


@pytest.mark.parametrize("start", [0, 1])
def test_a_session_file_of_droid(api: ModuleType, rust: ModuleType, start: int) -> None:
    """Without its first line it may be anybody's, but nothing is lost."""
    items = of_droid()[start:]
    for given in (items, as_lines(items)):
        survey = rust.inspect(given)
        assert (survey.calls, survey.results, survey.errors) == (1, 1, 1)
        assert not survey.unread
        assert start or survey.shape == "droid"
        assert api.dialogue(given) == turns((USER, ASKED), (ASSISTANT, SAID))


def test_results_of_droid_with_the_id_of_their_call(api: ModuleType, rust: ModuleType) -> None:
    call = {"type": "tool_call", "id": "e1", "toolCallId": "c1", "toolName": NAME, "parameters": {}}
    seen = {"type": "tool_result", "id": "e2", "toolCallId": "c1", "value": {"stdout": ANSWER, "exitCode": 0}}  # fmt: skip
    assert (rust.inspect([call, seen]).results, rust.inspect([call, seen]).orphan_calls) == (1, 0)
    assert ANSWER in api.carry([call, seen]).text


def test_an_event_of_ag_ui_has_a_known_name(rust: ModuleType) -> None:
    steps = [{"step_index": 1, "source": "MODEL", "type": "RUN_COMMAND", "content": ANSWER}]
    assert rust.inspect(steps).shape != "ag-ui"
    assert rust.inspect(steps).unread.count == 1


def test_texts_of_the_client_in_grok_and_kimi(api: ModuleType, rust: ModuleType) -> None:
    own = {"type": "user", "content": [part_of("macos")], "synthetic_reason": "environment_context"}
    assert "[CLIENT]\nmacos\n[/CLIENT]" in api.dialogue([own, *sample("grok")])
    compacted = {"type": "context.apply_compaction", "summary": "All was seen.", "compactedCount": 3}  # fmt: skip
    requests = [{"type": kind} for kind in ("llm.request", "plan_mode.enter", "full_compaction.begin")]  # fmt: skip
    items = [*sample("kimi"), *requests, compacted]
    assert "[SUMMARY]\nAll was seen.\n[/SUMMARY]" in api.dialogue(items)
    assert not rust.inspect(items).unread


def test_loglines_of_a_session_of_claude_code(rust: ModuleType) -> None:
    """A session on the web is a document with the records of a session file."""
    call = {"type": "tool_use", "id": "c1", "name": NAME, "input": {}}
    seen = {"type": "tool_result", "tool_use_id": "c1", "content": ANSWER}
    lines = [{"type": role, "message": {"role": role, "content": [part]}} for role, part in (("assistant", call), ("user", seen))]  # fmt: skip
    body = json.dumps({"loglines": lines}).encode()
    assert (rust.inspect(body).calls, rust.inspect(body).results) == (1, 1)


def test_a_call_in_a_content_is_not_lost(api: ModuleType, rust: ModuleType) -> None:
    """An importer that looks for calls elsewhere leaves those of Anthropic to the backends."""
    call = {"type": "tool_use", "id": "c9", "name": NAME, "input": {}}
    turn = {"type": "context.append_message", "message": {"role": "assistant", "content": [call]}}
    for given in ([*sample("kimi"), turn], as_lines([*sample("kimi"), turn])):
        assert rust.inspect(given).calls == 3
        assert "c9" in [block.call_id for block in blocks(api, given)]


def test_pieces_of_kimi_cli_belong_to_the_last_call_of_their_agent(
    api: ModuleType, rust: ModuleType
) -> None:
    """A result of an earlier call, or an event of another agent, may come before the piece."""

    def event(kind: str, **payload: Any) -> JsonObject:
        return {"timestamp": 1.0, "message": {"type": kind, "payload": payload}}

    def begun(call_id: str, arguments: str) -> JsonObject:
        function = {"name": NAME, "arguments": arguments}
        return event("ToolCall", type="function", id=call_id, function=function)

    def within(inner: JsonObject) -> JsonObject:
        return event("SubagentEvent", task_tool_call_id="a", event=inner["message"])

    answer = {"is_error": False, "output": ANSWER, "message": ""}
    events = [
        event("TurnBegin", user_input=ASKED),
        begun("a", '{"path": "barn"}'),
        begun("b", '{"path": "ba'),
        event("ToolResult", tool_call_id="a", return_value=answer),
        within(begun("c", '{"path": "l')),
        event("ToolCallPart", arguments_part='ck"}'),
        within(event("ToolCallPart", arguments_part='oft"}')),
    ]
    read = str(Import().messages(events))
    assert [name for name in ("barn", "back", "loft") if json.dumps({"path": name}) in read] == [
        "barn",
        "back",
        "loft",
    ]
    assert len(blocks(api, events)) == 3
    assert not rust.inspect(as_lines(events)).unread
