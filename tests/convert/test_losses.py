"""Conversions report what a target cannot hold and convert the rest: thinking, system prompts, ids, server tools."""

import doctest
import json
from collections import Counter
from typing import Any

import pytest
from msgspec.structs import replace
from support.builders.sources_agents import CLAUDE_CODE, record
from support.builders.sources_providers import (
    OLLAMA,
    chat_call,
    function_call,
    output,
    result,
    said,
    text,
    use,
)
from support.builders.wire import assistant, user
from support.oracles.conversions import TARGETS, check_shape, held, kinds

from toolcarry import ConfigError, InputError, convert
from toolcarry.api.convert import KINDS, losses
from toolcarry.types import Converted, Loss
from toolcarry.types.shapes import Target
from toolcarry.types.values import Mend

JsonObject = dict[str, Any]

each_target = pytest.mark.parametrize("to", TARGETS)


def of_kind(converted: Converted, kind: str) -> list[Loss]:
    return [loss for loss in converted.losses if loss.kind == kind]


def test_the_examples_are_true() -> None:
    assert doctest.testmod(losses).failed == 0


def test_thinking_stays_in_its_family() -> None:
    thinking = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
    reasoning = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"}
    call, back = use("t1", "f", {}), user(result("t1", "ok"))
    claude = [assistant(thinking, call), back]
    codex = [reasoning, function_call("t1", "f", {}), output("t1", "ok")]
    assert convert(claude, to="anthropic").messages == claude
    assert convert(codex, to="responses").messages == codex
    assert of_kind(convert(claude, to="responses"), "thinking") == [
        Loss(0, "thinking", "3 characters")
    ]
    assert kinds(convert(claude, to="ollama")) == {"thinking", "no_ids"}
    assert kinds(convert(codex, to="anthropic")) == {"thinking"}


def test_plain_thinking() -> None:
    messages = [said("assistant", "Yes.", reasoning_content="Hm.")]
    assert convert(messages, to="openai").messages == messages
    assert convert(messages, to="ollama").messages == [said("assistant", "Yes.", thinking="Hm.")]
    assert kinds(convert(messages, to="anthropic")) == {"thinking"}


def test_the_system_prompt() -> None:
    body = json.dumps({"system": [text("Be kind.")], "messages": [said("user", "Hi")]}).encode()
    anthropic = convert(body, to="anthropic")
    assert anthropic.to_dict() == {"system": "Be kind.", "messages": [said("user", "Hi")]}
    responses = convert(json.dumps(anthropic.to_dict()).encode(), to="responses")
    assert responses.to_dict() == {"instructions": "Be kind.", "input": [said("user", "Hi")]}
    for to in ("openai", "ollama"):
        converted = convert(json.dumps(responses.to_dict()).encode(), to=to)  # type: ignore[arg-type]
        assert converted.messages == [said("system", "Be kind."), said("user", "Hi")]
        assert converted.system == ""
        again = convert(converted.messages, to="anthropic")
        assert again == replace(anthropic, unread=again.unread)


def test_a_system_message_in_the_conversation() -> None:
    messages = [said("user", "Hi"), said("developer", "Be brief.")]
    anthropic = convert(messages, to="anthropic")
    assert anthropic.system == "Be brief."
    assert anthropic.losses == (Loss(1, "moved_system", ""),)
    assert convert(messages, to="responses").messages[1] == said("system", "Be brief.")


def test_missing_ids_are_made_up() -> None:
    converted = convert(OLLAMA, to="anthropic")
    assert [block.call_id for block in held(converted.messages)] == ["call_0", "call_1", "call_2"]
    assert converted.losses == (Loss(None, "made_up_ids", "call_0, call_1, call_2"),)
    taken = [said("assistant", "", tool_calls=[chat_call("call_0", "f", {})]), *OLLAMA]
    ids = [block.call_id for block in held(convert(taken, to="openai").messages)]
    assert ids == ["call_0", "call_1", "call_2", "call_3"]


def test_ids_that_repeat() -> None:
    turn = [function_call("call_0", "f", {}), output("call_0", "1")]
    anthropic = convert(turn * 3, to="anthropic")
    ids = [block.call_id for block in held(anthropic.messages)]
    assert ids == ["call_0", "call_0_2", "call_0_3"]
    assert of_kind(anthropic, "changed_id")[0] == Loss(2, "changed_id", "call_0 is call_0_2")
    assert convert(turn * 3, to="openai").losses == ()
    cut_off = [turn[0], said("user", "Go on."), *turn]
    assert of_kind(convert(cut_off, to="openai"), "changed_id")[0].position == 2
    at_once = [*turn[:1] * 2, *turn[1:] * 2]
    assert kinds(convert(at_once, to="openai")) == {"changed_id"}


@pytest.mark.rust
@pytest.mark.parametrize(
    ("call_id", "to", "new"),
    [
        ("functions.f:0", "anthropic", "functions_f_0"),
        ("functions.f:0", "openai", "functions.f:0"),
        ("ws_" + "0" * 48, "openai", "ws_" + "0" * 29),
        ("ws_" + "0" * 48, "responses", "ws_" + "0" * 48),
    ],
)
def test_ids_that_the_target_refuses(call_id: str, to: Target, new: str) -> None:
    converted = convert(
        [said("user", "Go."), function_call(call_id, "f", {}), output(call_id, "x")], to=to
    )
    assert [block.call_id for block in held(converted.messages)] == [new]
    renamed = (Mend("renamed_id", 1, call_id, new),)
    assert converted.mends == (renamed if new != call_id else ())


@pytest.mark.rust
@pytest.mark.parametrize(
    ("kind", "item_id", "is_kept"),
    [
        ("function_call", "toolu_01", False),
        ("function_call", "fc_1", True),
        ("custom_tool_call", "fc_1", False),
        ("message", "x", False),
        ("message", "msg_" + "0" * 60, True),
        ("message", "msg_" + "0" * 61, False),
        ("reasoning", "r" * 65, False),
        ("reasoning", "r1", True),
    ],
)
def test_ids_of_items_that_the_server_refuses(kind: str, item_id: str, is_kept: bool) -> None:
    item = {
        "function_call": function_call("c", "f", {}),
        "custom_tool_call": {"type": kind, "call_id": "c", "name": "f", "input": "x"},
        "message": {"type": kind, "role": "assistant", "content": [{"type": "output_text", "text": "x"}]},
        "reasoning": {"type": kind, "summary": []},
    }[kind]  # fmt: skip
    answer = [output("c", "x") | {"type": f"{kind}_output"}] if "call_id" in item else []
    end = [said("assistant", "x")] if kind == "reasoning" else answer
    converted = convert([said("user", "Go."), {**item, "id": item_id}, *end], to="responses")
    assert converted.messages[1] == ({**item, "id": item_id} if is_kept else item)
    told = [mend.position for mend in converted.mends if mend.kind == "dropped_id"]
    assert told == ([] if is_kept else [1])


@pytest.mark.rust
def test_ollama_keeps_the_ids_that_the_order_cannot_do_without() -> None:
    calls = [function_call(f"c{number}", "f", {"n": number}) for number in range(3)]
    messages = [output("lost", "orphan"), *calls, output("c1", "first"), output("c1", "second")]
    converted = convert(messages, to="ollama", repair=False)
    assert [block.texts for block in held(converted.messages)] == [
        ("orphan",), (), ("first", "second"), (),
    ]  # fmt: skip
    assert kinds(converted) == set()
    again = convert([said("user", "Go."), *messages], to="ollama")
    assert [block.texts for block in held(again.messages)] == [
        ("[Tool use interrupted: no result]",),
        ("first",),
        ("[Tool use interrupted: no result]",),
    ]
    found = Counter((mend.kind, mend.call_id) for mend in again.mends)
    assert found == Counter(
        [
            ("missing_result", "c0"),
            ("missing_result", "c2"),
            ("orphan_result", "lost"),
            ("duplicate_result", "c1"),
        ]
    )


def test_a_servers_tools() -> None:
    search = use("srvtoolu_1", "web_search", {"query": "x"}) | {"type": "server_tool_use"}
    found = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
    claude = [assistant(text("I search."), search, found, text("Nothing."))]
    assert convert(claude, to="anthropic", repair=False).messages == claude
    converted = convert(claude, to="openai")
    check_shape(converted)
    assert [message["role"] for message in converted.messages] == ["assistant", "tool", "assistant"]
    assert converted.losses == (Loss(0, "server_tool", "web_search srvtoolu_1"),)
    item = {
        "type": "web_search_call",
        "id": "ws_1",
        "status": "completed",
        "action": {"query": "x"},
    }
    assert convert([item], to="responses").messages == [item]
    assert kinds(convert([item], to="anthropic")) == {"server_tool"}


def test_custom_tools() -> None:
    call = {"type": "custom_tool_call", "call_id": "c1", "name": "patch", "input": "*** Begin"}
    messages = [call, {"type": "custom_tool_call_output", "call_id": "c1", "output": "done"}]
    assert convert(messages, to="responses").messages == messages
    converted = convert(messages, to="anthropic")
    assert converted.messages[0]["content"] == [use("c1", "patch", {"input": "*** Begin"})]
    assert converted.losses == (Loss(0, "custom_tool", "patch c1"),)


@pytest.mark.rust
def test_arguments_that_are_no_object() -> None:
    messages = [said("assistant", None, tool_calls=[chat_call("c1", "f", [1])])]
    own = convert(messages, to="openai")
    assert own.losses == ()
    assert {mend.kind for mend in own.mends} == {"mended_arguments", "missing_result"}
    converted = convert(messages, to="ollama")
    assert converted.messages[0]["tool_calls"][0]["function"]["arguments"] == {"arguments": [1]}
    assert kinds(converted) == {"arguments"}


def test_cache_marks_and_citations() -> None:
    mark = {"cache_control": {"type": "ephemeral"}}
    cited = {"citations": [{"type": "char_location"}]}
    messages = [
        user(text("See.") | mark),
        assistant(text("So.") | cited, use("t1", "f", {}) | mark),
    ]
    messages.append(user(result("t1", "x") | mark))
    assert convert(messages, to="anthropic").messages == messages
    point = said("user", [{"text": "See."}, {"cachePoint": {"type": "default"}}])
    assert convert([point], to="anthropic").losses == (Loss(0, "cache_control", ""),)
    for to in ("openai", "responses"):
        converted = convert(messages, to=to)  # type: ignore[arg-type]
        assert [loss.position for loss in of_kind(converted, "cache_control")] == [0, 1, 2]
        assert [loss.position for loss in of_kind(converted, "citations")] == [1]


@each_target
def test_a_loss_of_records_is_reported_once(to: Target) -> None:
    records = [{"type": "summary", "summary": "S", "leafUuid": "u1"}, *CLAUDE_CODE]
    side = record(90, said("user", "side"), isSidechain=True, agentId="a1") | {"parentUuid": None}
    converted = convert([*records[:2], side, *records[2:]], to=to)
    assert of_kind(converted, "side_chain") == [Loss(None, "side_chain", "1 message")]
    passed, fields = of_kind(converted, "metadata")
    assert passed.detail == "1 record without message: summary"
    assert fields.detail == "fields of 10 messages: id, parentUuid, timestamp, uuid"


def test_a_branch_that_was_left() -> None:
    left = record(90, assistant(use("t9", "f", {}))) | {"parentUuid": "u0"}
    converted = convert([*CLAUDE_CODE[:1], left, *CLAUDE_CODE[1:]], to="openai")
    assert converted.messages == convert(CLAUDE_CODE, to="openai").messages
    assert of_kind(converted, "other_branch") == [
        Loss(None, "other_branch", "1 message with 1 call")
    ]


def test_other_members_of_a_request() -> None:
    body = json.dumps({"model": "m", "tools": [], "messages": [said("user", "Hi")]}).encode()
    assert convert(body, to="openai").losses == (Loss(None, "settings", "model, tools"),)
    lines = b'{"role": "user", "content": "Hi"}\nno json\n{"role": "user", "content": "Ho"}\n'
    assert convert(lines, to="openai").losses == (Loss(None, "skipped_lines", "2"),)


def test_unknown_parts() -> None:
    messages = [user({"type": "hologram"}, text("Hi")), said("oracle", "Hm."), {}]
    converted = convert(messages, to="anthropic")
    assert converted.messages == [said("user", "Hi")]
    assert [loss.position for loss in of_kind(converted, "unknown")] == [0, 1]


@each_target
def test_odd_spellings(to: Target) -> None:
    call: JsonObject = {"type": ["x"], "id": 7, "function": {"name": None, "arguments": 3}}
    odd = [said("assistant", [{"type": ["x"]}, None, 3], tool_calls=[call]), user({"type": None})]
    converted = convert(odd, to=to)
    check_shape(converted)
    assert [block.name for block in held(converted.messages)] == ["unknown"]


def test_every_kind_has_its_meaning() -> None:
    assert all(meaning and not meaning.endswith(".") for meaning in KINDS.values())


class Dumped:
    """An SDK's object."""

    def __init__(self, **fields: Any) -> None:
        self._fields = fields

    def model_dump(self) -> JsonObject:
        return self._fields


def test_objects_of_an_sdk() -> None:
    function = Dumped(name="f", arguments="{}")
    message: Any = Dumped(role="assistant", tool_calls=(Dumped(id="c1", function=function),))
    assert held(convert([message], to="anthropic").messages)[0].call_id == "c1"


def test_input_without_conversation() -> None:
    with pytest.raises(ConfigError, match="to: 'opnai' is not allowed; allowed: 'anthropic'"):
        convert([], to="opnai")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="message 1 is not an object, but int"):
        convert([{}, 1], to="openai")  # type: ignore[list-item]
    with pytest.raises(InputError, match="not JSON at byte 1"):
        convert(b"{", to="openai")
    deep: Any = "x"
    for _ in range(200):
        deep = [deep]
    with pytest.raises(InputError, match="message 0 is nested deeper than 128") as caught:
        convert([{"role": "user", "content": deep}], to="openai")
    assert caught.value.position == 0


def test_a_blank_text_is_a_loss_if_refused() -> None:
    messages = [{"role": "user", "content": "one"}, {"role": "user", "content": "  "}]
    for to in ("anthropic", "bedrock"):
        assert [loss.kind for loss in convert(messages, to=to).losses] == ["blank_text"]  # type: ignore[arg-type]
    assert convert(messages, to="openai").losses == ()


def test_a_failure_is_marked_once() -> None:
    failed = result("t1", "[Tool use failed]\nno", is_error=True)
    converted = convert(
        [user(text("Go.")), assistant(use("t1", "f", {})), user(failed)], to="openai"
    )
    assert converted.messages[-1]["content"] == "[Tool use failed]\nno"


def test_a_result_of_an_importer_has_no_name_at_anthropic() -> None:
    call = {"type": "tool-call", "toolCallId": "t1", "toolName": "f", "input": {}}
    answer = {
        "type": "tool-result",
        "toolCallId": "t1",
        "toolName": "f",
        "output": {"type": "text", "value": "x"},
    }
    messages = [said("user", "Go."), said("assistant", [call]), said("tool", [answer])]
    (block,) = convert(messages, to="anthropic").messages[-1]["content"]
    assert block.keys() <= {"type", "tool_use_id", "content", "is_error"}
