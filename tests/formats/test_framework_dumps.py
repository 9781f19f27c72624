"""Content of the frameworks' own packages beyond a plain talk, in the structure of their dumps.

``tests/frameworks`` writes them with the packages themselves.
"""

from types import ModuleType
from typing import Any

import pytest
from support.builders.producers import ANSWER, ASKED, FAILURE, FIRST, NAME, SAID, sample
from support.oracles.format_checks import JsonObject, as_lines, blocks
from support.rows import for_each

from toolcarry import InputError

DATA = "iVBORw0KGgoA" + "AAAA" * 36


def requested(*parts: JsonObject) -> list[JsonObject]:
    """pydantic-ai's conversation, whose last request has these parts."""
    return [*sample("pydantic_ai")[:2], {"kind": "request", "parts": list(parts)}]


def returned(content: Any, **more: Any) -> JsonObject:
    return {"part_kind": "tool-return", "tool_name": NAME, "content": content, "tool_call_id": "c1", **more}  # fmt: skip


@for_each("outcome", ["failed", "denied", "retried", "interrupted", "success", 7])
def test_outcomes_of_pydantic_ai(rust: ModuleType, outcome: Any) -> None:
    found = rust.inspect(requested(returned(FAILURE, outcome=outcome)))
    assert found.errors == (outcome not in ("success", 7))


FILE = {"kind": "binary", "media_type": "image/png", "data": DATA}
FILES = [
    FILE,
    {"kind": "image-url", "url": "https://e.test/a.png", "media_type": "image/png"},
    {"kind": "document-url", "url": "https://e.test/a.pdf"},
    {"kind": "audio-url", "url": "https://e.test/a.mp3"},
    {"kind": "uploaded-file", "file_id": "f1", "provider_name": "openai"},
]


def test_files_of_pydantic_ai(api: ModuleType, rust: ModuleType) -> None:
    said = {"part_kind": "user-prompt", "content": ["Look.", *FILES, {"kind": "cache-point", "ttl": "5m"}, {"kind": "text-content", "content": "Well?"}]}  # fmt: skip
    items = requested(said, returned([ANSWER, FILE]))
    assert not rust.inspect(items).unread
    dialogue = api.dialogue(items)
    assert "Look.\n" in dialogue
    assert "Well?" in dialogue
    assert DATA not in dialogue + api.carry(items).text
    assert "[image: image/png" in api.carry(items).text
    request = api.convert(items, to="anthropic")
    assert DATA in str(request.messages)


def test_values_of_pydantic_ai_stay_values(api: ModuleType, rust: ModuleType) -> None:
    for value in ([1, 2], {"kind": "crow", "data": 7}, ["a", {"kind": 3}]):
        (first, _) = blocks(api, requested(returned(value)))
        assert first.tool_result["content"] == value
        assert not rust.inspect(requested(returned(value))).unread


def test_what_pydantic_ai_tells_the_model_is_nobodys(api: ModuleType, rust: ModuleType) -> None:
    kinds = ("instruction", "instruction-delta", "tool-availability-delta", "retry-feedback")
    items = requested(*({"part_kind": kind, "content": "By the framework."} for kind in kinds))
    assert not rust.inspect(items).unread
    assert "framework" not in api.dialogue(items)
    speech = requested({"part_kind": "speech", "speaker": "user", "transcript": "Aloud."})
    assert "[USER]\nAloud.\n[/USER]" in api.dialogue(speech)


def test_a_checkpoint_of_langgraph(rust: ModuleType) -> None:
    (state,) = sample("langgraph")
    checkpoint = {"v": 4, "id": "1", "channel_values": state["values"]}
    for document in (checkpoint, {"checkpoint": checkpoint, "metadata": {}}):
        found = rust.inspect([document])
        assert (found.shape, found.calls, found.results) == ("langgraph", 2, 2)


def test_a_message_of_llama_index_that_only_calls(rust: ModuleType) -> None:
    call = {"id": "c9", "type": "function", "function": {"name": NAME, "arguments": "{}"}}
    only = {"role": "assistant", "blocks": [], "additional_kwargs": {"tool_calls": [call]}}
    items = [*sample("llama_index"), only]
    found = rust.inspect(items)
    assert (found.calls, found.orphan_calls, found.unread.count) == (3, 1, 0)


def test_an_image_of_autogen(api: ModuleType, rust: ModuleType) -> None:
    said = {"type": "MultiModalMessage", "source": "user", "content": ["Look.", {"data": DATA}]}
    items = [*sample("autogen"), said]
    assert not rust.inspect(items).unread
    assert DATA not in api.dialogue(items)
    assert DATA in str(api.convert(items, to="anthropic").messages)


def test_the_last_step_of_smolagents(rust: ModuleType) -> None:
    items = [*sample("smolagents"), {"output": "Forty."}]
    assert not rust.inspect(items).unread


def test_messages_of_inspect_ai_without_their_log(rust: ModuleType) -> None:
    (log,) = sample("inspect_ai")
    found = rust.inspect(as_lines(log["samples"][0]["messages"]))
    assert (found.shape, found.calls, found.results, found.errors) == ("inspect-ai", 2, 2, 1)


def test_attachments_of_inspect_ai(api: ModuleType) -> None:
    (log,) = sample("inspect_ai")
    held = log["samples"][0]
    held["messages"][2]["content"] = "attachment://a1"
    held["messages"][3]["error"]["message"] = "attachment://unknown"
    held["attachments"] = {"a1": "a very long answer", "a2": 7}
    shown = api.carry([log]).text
    assert "a very long answer" in shown
    assert "attachment://unknown" in shown


def test_responses_of_mini_swe_agent(rust: ModuleType) -> None:
    call = {"type": "function_call", "call_id": "c1", "name": "bash", "arguments": '{"command": "ls"}'}  # fmt: skip
    items: list[JsonObject] = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": ASKED}]},
        {"object": "response", "output": [call], "extra": {"actions": [{"command": "ls"}]}},
        {"type": "function_call_output", "call_id": "c1", "output": "a.py", "extra": {}},
        {"role": "exit", "content": "Submitted", "extra": {"exit_status": "Submitted"}},
    ]
    found = rust.inspect(items)
    assert (found.shape, found.calls, found.results) == ("mini-swe-agent", 1, 1)
    assert not found.unread


def test_a_message_to_exit_may_be_anybodys(api: ModuleType, rust: ModuleType) -> None:
    items = [{"role": "user", "content": ASKED}, {"role": "exit", "content": SAID}]
    assert rust.inspect(items).shape != "mini-swe-agent"
    assert ASKED in api.dialogue(items)
    calling = [*sample("mini_swe_agent")[:1], {"role": "assistant", "content": SAID, "extra": {"actions": [FIRST, FIRST]}}]  # fmt: skip
    assert rust.inspect([*calling, sample("mini_swe_agent")[-1]]).calls == 0


def test_the_dialogue_of_mini_swe_agent_has_no_commands(api: ModuleType) -> None:
    items = sample("mini_swe_agent")
    items[1]["content"] = f"{SAID}\n```mswea_bash_command\nlook barn\n```\n```py\n1\n```"
    told = api.dialogue(items)
    assert f"[ASSISTANT]\n{SAID}\n\n```py\n1\n```\n[/ASSISTANT]" in told
    assert "look" not in told


def version_1(*messages: tuple[str, Any], **agent: Any) -> list[JsonObject]:
    """A trajectory of mini-swe-agent 1 with these messages after the task."""
    (document,) = sample("mini_swe_agent_v1")
    document["info"]["config"] = {"agent": agent}
    document["messages"][1:] = [{"role": role, "content": content} for role, content in messages]
    return [document]


RUN = ("assistant", f"{SAID}\n```bash\nls\n```")


@for_each(
    ("answer", "is_failed"),
    [
        ("<returncode>0</returncode>\n<output>\nan error</output>", False),
        ("<returncode>-9</returncode>\n<output>\n</output>", True),
        ("<returncode>0</returncode>\n<warning>\nlong\n</warning><output_head>\na\n</output_head>", False),
        ("Observation: {'output': 'a', 'returncode': 0}", False),
        ("The last command <command>ls</command> timed out and has been killed.", True),
        ("Command not executed. Switching to human mode", True),
        ("diff --git a/x b/x", False),
    ],
)  # fmt: skip
def test_answers_of_mini_swe_agent_1(
    api: ModuleType, rust: ModuleType, answer: str, is_failed: bool
) -> None:
    items = version_1(RUN, ("user", answer))
    (block,) = blocks(api, items)
    assert block.tool_use["function"]["arguments"] == {"command": "ls"}
    assert block.tool_result is items[0]["messages"][2]
    survey = rust.inspect(items)
    assert (survey.results, survey.errors) == (1, int(is_failed))
    assert answer not in api.dialogue(items)


def test_only_one_command_of_mini_swe_agent_1_is_run(api: ModuleType, rust: ModuleType) -> None:
    """The client answers any other number of commands itself."""
    twice = ("assistant", "```bash\nls\n```\n```bash\npwd\n```")
    items = version_1(twice, ("user", "EXACTLY ONE"), ("assistant", "Hm."), ("user", "EXACTLY ONE"), RUN, ("user", ANSWER))  # fmt: skip
    assert (rust.inspect(items).calls, rust.inspect(items).orphan_calls) == (1, 0)
    assert api.dialogue(items).count("[CLIENT]\nEXACTLY ONE\n[/CLIENT]") == 2
    converted = api.convert(items, to="openai-chat")
    assert "EXACTLY" not in str(converted.messages)
    assert [loss.kind for loss in converted.losses if "uuid" in loss.detail] == []


@pytest.mark.parametrize(
    ("typed", "results"),
    [
        ("Command not executed. The user rejected your command with the following message: no", 1),
        ("Command not executed: no", 1),
        ("Interrupted by user: no", 1),
        ("The user added a new task: go on", 0),
    ],
)
def test_the_user_of_mini_swe_agent_1_types(
    api: ModuleType, rust: ModuleType, typed: str, results: int
) -> None:
    items = version_1(RUN, ("user", typed))
    assert f"[USER]\n{typed}\n[/USER]" in api.dialogue(items)
    assert (rust.inspect(items).results, rust.inspect(items).errors) == (results, results)


@for_each(
    ("setting", "text", "command"),
    [
        ("<bash_code>(.*?)</bash_code>", "<bash_code>ls</bash_code>", "ls"),
        (r"```bash\s*\n(.*?)\n```", "```bash  \n\nls\n\n```", "ls"),
        (r"```bash\n(.*?)\n```", "```bash \nls\n```", ""),
        (r"(a+)+b(.*?)c", "aaaabc", ""),
        (7, RUN[1], "ls"),
    ],
)
def test_the_marks_of_a_command_are_a_setting(
    api: ModuleType, setting: Any, text: str, command: str
) -> None:
    items = version_1(("assistant", text), ("user", ANSWER), action_regex=setting)
    found = [block.tool_use["function"]["arguments"]["command"] for block in blocks(api, items)]
    assert found == ([command] if command else [])


def test_messages_alone_are_not_mini_swe_agents(rust: ModuleType) -> None:
    (document,) = sample("mini_swe_agent_v1")
    for given in (document["messages"], as_lines(document["messages"])):
        assert rust.inspect(given).calls == 0
    later = {**document, "trajectory_format": "mini-swe-agent-1.1"}
    assert rust.inspect(as_lines([later])).shape != "mini-swe-agent-1"
    with pytest.raises(InputError, match="many conversations"):
        rust.inspect([document, document])
    with pytest.raises(InputError, match="many conversations"):
        rust.inspect(as_lines([document, document]))


@pytest.mark.parametrize("mark", ["<tool_call>", "```bash\n"])
def test_marks_without_an_end_are_found_in_linear_time(rust: ModuleType, mark: str) -> None:
    """A regular expression for both marks reads on to the end from each of them: hours for a megabyte."""
    text = mark * (1 << 16)
    rust.inspect([{"conversations": [{"from": "gpt", "value": text}]}])
    rust.inspect(version_1(("assistant", text)))


def test_several_samples_are_several_conversations(rust: ModuleType) -> None:
    (log,) = sample("inspect_ai")
    with pytest.raises(InputError, match="many conversations"):
        rust.inspect([{**log, "samples": log["samples"] * 2}])


def test_an_answer_of_gemini(api: ModuleType, rust: ModuleType) -> None:
    parts = [{"text": SAID}, {"functionCall": {"id": "c1", "name": NAME, "args": FIRST}}]
    answer = {"candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}], "modelVersion": "gemini"}  # fmt: skip
    found = rust.inspect([answer])
    assert (found.shape, found.calls, found.unread.count) == ("provider-answer", 1, 0)
    assert f"[ASSISTANT]\n{SAID}" in api.dialogue([answer])
    for other in ({"candidates": [{}]}, {"candidates": 7}, {"output": {"message": {}}, "stopReason": ""}):  # fmt: skip
        assert rust.inspect([other]).calls == 0


@pytest.mark.parametrize("told", [None, "Be brief."])
def test_a_response_names_its_instructions(rust: ModuleType, told: Any) -> None:
    """The record at the beginning of old sessions of Codex has them too, and holds no message."""
    call = {"type": "function_call", "call_id": "c1", "name": NAME, "arguments": "{}"}
    response = {"id": "r", "object": "response", "instructions": told, "output": [call], "tools": []}  # fmt: skip
    found = rust.inspect([response])
    assert (found.shape, found.calls) == ("openai-answer", 1)
    assert not rust.inspect([{"id": "s", "timestamp": "t", "instructions": told}]).unread
