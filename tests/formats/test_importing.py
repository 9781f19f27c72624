"""Imported records are returned as the producer wrote them, and content that only resembles a record is left alone."""

import json
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from msgspec.structs import replace
from support.builders.families import ANSWER, FAMILIES, anthropic, chat, langchain
from support.oracles.format_checks import JsonObject, as_lines, blocks
from support.rows import for_each

from toolcarry import CarryPolicy, ProjectPolicy
from toolcarry.importers.messages import Import
from toolcarry.importers.producers import MESSAGES
from toolcarry.importers.producers import SIGNS as ALL_SIGNS

NAMES = [importer.__name__.rpartition(".")[2] for importer in MESSAGES]  # type: ignore[attr-defined]
IMPORTED = for_each("name", NAMES)


@IMPORTED
def test_messages_are_not_changed(api: ModuleType, rust: ModuleType, name: str) -> None:
    messages = FAMILIES[name]("t1")
    before = json.dumps(messages)
    api.carry(messages)
    api.deduplicate_tools(blocks(api, messages))
    rust.project(messages, policy=ProjectPolicy(repair=True))
    assert json.dumps(messages) == before


@IMPORTED
def test_a_backend_leaves_them_to_the_importers(backend: ModuleType, name: str) -> None:
    kernels, messages, policy = import_module(backend.__name__), FAMILIES[name]("t1"), CarryPolicy()
    for given in (messages, as_lines(messages)):
        assert kernels.carry(given, "", policy) is None
        assert kernels.extract_tool_blocks(given) is None
        assert kernels.message_tokens(given, "o200k_base") is None
    assert kernels.explain(messages, "", policy) is None
    assert kernels.unread(as_lines(messages)) is None


@IMPORTED
def test_messages_are_imported_once(name: str) -> None:
    imported = Import().messages(FAMILIES[name]("t1"))
    again = Import().messages(imported)
    assert all(new is old for new, old in zip(again, imported, strict=True))


@pytest.mark.parametrize(
    "name", [name for name in NAMES if name != "atif"]
)  # whose steps hold both
def test_second_results_are_the_producers_own(api: ModuleType, name: str) -> None:
    asked, answered = FAMILIES[name]("t1")
    again = json.loads(json.dumps(answered))
    (block,) = blocks(api, [asked, answered, again])
    (second,) = block.notes.second_results
    (first_alone,), (second_alone,) = blocks(api, [answered]), blocks(api, [again])
    assert block.tool_result is first_alone.tool_result
    assert second is second_alone.tool_result


@IMPORTED
def test_skipped_lines_of_a_file(api: ModuleType, name: str) -> None:
    body = b"not json\n" + as_lines(FAMILIES[name]("t1")) + b"[]\n"
    carried = api.carry(body)
    assert carried.report.skipped_lines == (1, 3 if name == "atif" else 4)
    assert ANSWER in carried.text
    (block,) = blocks(api, body)
    assert block.position == 1


@IMPORTED
def test_many_files(api: ModuleType, name: str, tmp_path: Path) -> None:
    for number, make in enumerate((FAMILIES[name], anthropic, FAMILIES[name])):
        (tmp_path / f"{number}.jsonl").write_bytes(as_lines(make("t1")))
    paths = [tmp_path / f"{number}.jsonl" for number in (0, 1, 9, 2)]
    first, second, missing, last = api.carry_files(paths, summary="S")
    assert first == last == api.carry(FAMILIES[name]("t1"), summary="S")
    assert second == api.carry(anthropic("t1"), summary="S")
    assert isinstance(missing, FileNotFoundError)


@IMPORTED
def test_a_turn_has_the_hosts_name_for_it(rust: ModuleType, name: str) -> None:
    """``recount`` finds the turn of a message by a member that the host chooses."""
    messages = [message | {"turn": 7} for message in FAMILIES[name]("t1")]
    call = {"turn": 7, "name": "f", "result": "of the host"}
    told = rust.recount(messages, tool_calls=[call], turn_id="turn")
    assert told.report.without_turn == ()


@IMPORTED
def test_a_message_in_a_record_of_a_session(api: ModuleType, name: str) -> None:
    records = [
        {"uuid": f"u{number}", "parentUuid": f"u{number - 1}" if number else None, "message": message}
        for number, message in enumerate(FAMILIES[name]("t1"))
    ]  # fmt: skip
    (block,) = blocks(api, records)
    assert block.tool_name == name
    assert api.carry(records).text == api.carry(as_lines(records)).text
    assert ANSWER in api.carry(records).text


LOOKALIKES: dict[str, JsonObject] = {
    "a key of LangChain": {"role": None, "data": 7, "content": "Hi."},
    "an event of nobody": {"kind": "Unheard", "tool_calls": [{"id": "c", "function": {"name": "f"}}]},
    "a step of nobody": {"step_id": 1, "tool_calls": [{"id": "c", "function": {"name": "f"}}]},
    "no ids": chat("c")[1] | {"tool_call_ids": []},
    "parts of a user interface": {"role": "user", "parts": [{"type": "text", "text": "Hi."}]},
}  # fmt: skip


@for_each("name", LOOKALIKES)
def test_a_key_alone_changes_nothing(api: ModuleType, rust: ModuleType, name: str) -> None:
    """It is read as it would be without that key, and comes back with it."""
    message = LOOKALIKES[name]
    bare = {key: value for key, value in message.items() if key not in ("kind", "step_id", "tool_call_ids", "data")}  # fmt: skip
    assert api.carry([message]).text == api.carry([bare]).text
    assert api.dialogue([message]) == api.dialogue([bare])
    found, other = rust.inspect([message]), rust.inspect([bare])
    assert found.unread.count == other.unread.count  # the keys are its own
    assert replace(found, unread=other.unread) == other
    for block in blocks(api, [message]):
        assert block.tool_use is None or block.tool_use in message["tool_calls"]
        assert block.tool_result is None or block.tool_result is message


def test_blocks_of_several_producers_together(api: ModuleType) -> None:
    messages: list[Any] = [*langchain("c1"), *anthropic("c2"), *chat("c3")]
    kept = api.deduplicate_tools(blocks(api, messages))
    assert [block.tool_use for block in kept] == [block.tool_use for block in blocks(api, messages)]
    assert api.format_tool_context(kept) == api.carry(messages).text


def test_a_history_of_swe_agent_is_projected_in_its_own_format(rust: ModuleType) -> None:
    old, new = FAMILIES["swe_agent"]("t1"), FAMILIES["swe_agent"]("t2")
    old[1]["content"] = "A line of the old one.\n" * 90
    projected = rust.project([*old, *new], policy=ProjectPolicy(max_result_chars=300))
    changed = projected.messages[1]
    assert changed.keys() == old[1].keys()
    assert changed["tool_call_ids"] == ["t1"]
    assert len(changed["content"]) <= 300
    body = json.dumps({"history": [*old, *new], "trajectory": []}).encode()
    made = rust.project_body(body, policy=ProjectPolicy(max_result_chars=300))
    assert json.loads(made.body)["history"] == projected.messages
    assert json.loads(made.body)["trajectory"] == []


@pytest.mark.parametrize("name", [name for name in NAMES if name != "swe_agent"])
def test_results_without_place_for_a_marker_stay(rust: ModuleType, name: str) -> None:
    messages = [*FAMILIES[name]("t1"), *FAMILIES[name]("t2")]
    policy = ProjectPolicy(max_result_chars=1, repair=True)
    projected = rust.project(messages, policy=policy)
    assert all(new is old for new, old in zip(projected.messages, messages, strict=True))
    assert projected.report.blocks == 2
    body = json.dumps(messages).encode()
    assert rust.project_body(body, policy=policy).body == body


def test_a_chat_request_whose_call_looks_like_langchain_is_repaired(rust: ModuleType) -> None:
    listed = {"id": "t1", "name": "Bash", "args": {"command": "ls"}, "type": "tool_call"}
    use = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}
    asked = {"role": "assistant", "content": [use], "tool_calls": [listed]}
    messages = [{"role": "user", "content": "Go."}, asked]
    projected = rust.project(messages, policy=ProjectPolicy(repair=True))
    assert projected.report.not_repaired == ""
    assert projected.messages[2]["tool_call_id"] == "t1"


SIGNS = [
    *({key: "x"} for key in sorted(ALL_SIGNS.keys)),
    *({key: {"a": []}} for key in sorted(ALL_SIGNS.keys)),
    *({"type": f"{kind}x"} for kind in ALL_SIGNS.types),
]


@for_each("sign", SIGNS, ids=str)
def test_calls_and_results_that_no_importer_knows_are_read_as_chats(
    api: ModuleType, sign: JsonObject
) -> None:
    """A member or a type by which an importer is asked, and which none of them knows."""
    call = {"role": "assistant", "function_call": {"name": "f", "arguments": "{}", **sign}}
    answer = {"role": "function", "name": "f", "content": "3 passed", **sign}
    for messages in ([call], [call, answer], [call | sign, answer]):
        found = blocks(api, messages)
        assert [fate.call_id for fate in api.carry(messages, explain=True).fates] == [
            b.call_id for b in found
        ]
        alone = [replace(block, tool_use=sign, tool_result=sign) for block in found]
        for each in (found, alone):
            kept = api.deduplicate_tools(each)
            assert [block.tool_use for block in kept] == [block.tool_use for block in each]
            api.format_tool_context(each)
