"""Members that a destination refuses, or wants in another form: names, arguments, ids of items, marks, media, ends."""

import json
from types import ModuleType
from typing import Any

import pytest

from toolcarry import ProjectPolicy
from toolcarry.errors import ConfigError

REPAIR = ProjectPolicy(repair=True)
PNG = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
MARK = {"cache_control": {"type": "ephemeral"}}
ASK = {"role": "user", "content": "Go."}


def chat(name: str = "f", arguments: Any = "{}", call_id: str = "c1") -> dict[str, Any]:
    """An assistant message of Chat with one call."""
    function = {"name": name, "arguments": arguments}
    call = {"id": call_id, "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def answer(content: Any = "ok", call_id: str = "c1") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def use(name: str = "f", given: Any = None, call_id: str = "t1") -> list[dict[str, Any]]:
    """A call of Anthropic with its result."""
    call = {
        "type": "tool_use",
        "id": call_id,
        "name": name,
        "input": {} if given is None else given,
    }
    result = {"type": "tool_result", "tool_use_id": call_id, "content": "ok"}
    return [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]


def repaired(
    api: ModuleType,
    messages: list[dict[str, Any]],
    policy: ProjectPolicy = REPAIR,
    *,
    key: str = "messages",
) -> Any:
    """Project objects and bytes, see that both agree and that a second repair changes nothing, and return the first."""
    found = api.project(messages, policy=policy)
    body = api.project_body(json.dumps({key: messages}).encode(), policy=policy)
    assert json.loads(body.body)[key] == found.messages
    assert body.names == found.names
    again = api.project(found.messages, policy=policy)
    assert again.messages == found.messages
    assert again.report.mends == ()
    return found


def kinds(found: Any) -> list[str]:
    return [mend.kind for mend in found.report.mends]


def test_refused_names_are_replaced_and_can_be_mapped_back(api: ModuleType) -> None:
    calls = [
        *use("files.read", call_id="t1"),
        *use("files_read", call_id="t2"),
        *use("files.read", call_id="t3"),
        *use("läse/x", call_id="t4"),
    ]
    found = repaired(api, [ASK, *calls])
    names = [found.messages[index]["content"][0]["name"] for index in (1, 3, 5, 7)]
    assert names == ["files_read_2", "files_read", "files_read_2", "l_se_x"]
    assert found.names == {"files_read_2": "files.read", "l_se_x": "läse/x"}
    assert kinds(found) == ["refused_name"] * 3
    assert found.messages[2] is calls[1]


def test_a_name_is_cut_to_the_length_that_the_destination_takes(api: ModuleType) -> None:
    long, other = "a" * 70, "a" * 70 + "b"
    messages = [
        ASK,
        chat(long, call_id="c1"),
        answer(),
        chat(other, call_id="c2"),
        answer(call_id="c2"),
    ]
    found = repaired(api, messages)
    names = [found.messages[index]["tool_calls"][0]["function"]["name"] for index in (1, 3)]
    assert names == ["a" * 64, "a" * 62 + "_2"]
    assert repaired(api, [ASK, *use("a" * 128)]).report.mends == ()


def test_a_result_follows_the_new_name_of_its_call(api: ModuleType) -> None:
    call = {"role": "model", "parts": [{"functionCall": {"name": "list files", "args": {}}}]}
    result = {"functionResponse": {"name": "list files", "response": {"output": "a.py"}}}
    messages = [
        {"role": "user", "parts": [{"text": "?"}]},
        call,
        {"role": "user", "parts": [result]},
    ]
    found = repaired(api, messages, key="contents")
    assert found.messages[1]["parts"][0]["functionCall"]["name"] == "list_files"
    assert found.messages[2]["parts"][0]["functionResponse"]["name"] == "list_files"
    assert kinds(found) == ["refused_name"]


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ('{"a": [1, 2.5, null]}', {"a": [1, 2.5, None]}),
        ('{"command": "make && ec', {"arguments": '{"command": "make && ec'}),
        ("", {}),
        ([1], {"arguments": [1]}),
        ("ä \ud800", {"arguments": "ä \ufffd"}),
    ],
)
def test_arguments_become_an_object(api: ModuleType, given: Any, sent: dict[str, Any]) -> None:
    found = repaired(api, [ASK, *use(given=given)])
    assert found.messages[1]["content"][0]["input"] == sent
    assert kinds(found) == ["mended_arguments"] + ["lone_surrogate"] * ("\ufffd" in str(sent))


def test_missing_arguments_are_none(api: ModuleType) -> None:
    for given in ({}, {"input": None}):
        call = {"type": "tool_use", "id": "t1", "name": "f", **given}
        found = repaired(api, [ASK, {"role": "assistant", "content": [call]}, use()[1]])
        assert found.messages[1]["content"][0]["input"] == {}


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ('{"command": "ma', '{"arguments":"{\\"command\\": \\"ma"}'),
        ("", "{}"),
        (None, "{}"),
        ("[1]", '{"arguments":"[1]"}'),
        ("[" * 128 + "]" * 128, '{"arguments":"' + "[" * 128 + "]" * 128 + '"}'),
    ],
)
def test_arguments_become_the_text_of_an_object(api: ModuleType, given: Any, sent: str) -> None:
    found = repaired(api, [ASK, chat(arguments=given), answer()])
    assert found.messages[1]["tool_calls"][0]["function"]["arguments"] == sent
    assert kinds(found) == ["mended_arguments"]


@pytest.mark.parametrize("text", ["{}", ' {"a" : 1}\n', '{"arguments": "x"}'])
def test_the_text_of_an_object_is_unchanged(api: ModuleType, text: str) -> None:
    messages = [ASK, chat(arguments=text), answer()]
    assert repaired(api, messages).messages == messages


def test_arguments_of_ollama_are_an_object(api: ModuleType) -> None:
    """Its calls have no ids, so that they are not taken for Chat's, even with text as arguments."""
    call = {"function": {"name": "find", "arguments": '{"city": "Oslo"}'}}
    messages = [
        ASK,
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_name": "find", "content": "ok"},
    ]
    found = repaired(api, messages)
    assert found.messages[1]["tool_calls"][0]["function"]["arguments"] == {"city": "Oslo"}


def test_free_text_of_a_custom_tool_is_unchanged(api: ModuleType) -> None:
    call = {"id": "c1", "type": "custom", "custom": {"name": "patch", "input": "*** Begin"}}
    messages = [ASK, {"role": "assistant", "content": None, "tool_calls": [call]}, answer()]
    assert repaired(api, messages).messages == messages
    item = {"type": "custom_tool_call", "call_id": "c1", "name": "patch", "input": "*** Begin"}
    items = [ASK, item, {"type": "custom_tool_call_output", "call_id": "c1", "output": "ok"}]
    assert repaired(api, items, key="input").messages == items


def test_members_of_other_providers_are_left_out(api: ModuleType) -> None:
    words = {"role": "assistant", "content": [{"type": "text", "text": "Hi."}], "refusal": None}
    found = repaired(api, [ASK, {**words, "reasoning_details": [], "x": 1}, *use(), ASK])
    assert list(found.messages[1]) == ["role", "content"]
    assert [mend.detail for mend in found.report.mends] == ["refusal", "reasoning_details", "x"]


def test_the_last_marks_for_the_cache_stay(api: ModuleType) -> None:
    turns = [
        {"role": role, "content": [{"type": "text", "text": "x", **MARK}]}
        for role in ("user", "assistant") * 3
    ]
    found = repaired(api, [*turns, *use()])
    marked = ["cache_control" in message["content"][0] for message in found.messages]
    assert marked == [False, False, True, True, True, True, False, False]
    assert kinds(found) == ["cache_mark"] * 2


def test_ids_of_items_begin_with_the_letters_of_their_item(api: ModuleType) -> None:
    def call(item_id: str) -> list[dict[str, Any]]:
        item = {
            "type": "function_call",
            "id": item_id,
            "call_id": "c1",
            "name": "f",
            "arguments": "{}",
        }
        return [ASK, item, {"type": "function_call_output", "call_id": "c1", "output": "ok"}]

    for refused in ("toolu_1", "ctc_1", "fc_" + "x" * 62):
        found = repaired(api, call(refused), key="input")
        assert "id" not in found.messages[1]
        assert kinds(found) == ["dropped_id"]
    assert repaired(api, call("fc_" + "x" * 61), key="input").report.mends == ()


def test_no_item_has_the_id_of_another(api: ModuleType) -> None:
    """Reasoning with one id is one item, which clients repeat for each of its calls."""
    thought = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"}
    said = [{"type": "output_text", "text": "Hi."}]
    words = {"type": "message", "id": "msg_4", "role": "assistant", "content": said}
    calls = [
        {"type": "function_call", "call_id": name, "name": "f", "arguments": "{}"}
        for name in ("c1", "c2")
    ]
    results = [
        {"type": "function_call_output", "call_id": name, "output": "ok"} for name in ("c1", "c2")
    ]
    turns = [thought, calls[0], thought, calls[1], *results]
    found = repaired(api, [ASK, *turns, words, ASK, words, ASK], key="input")
    later = {name: value for name, value in words.items() if name != "id"}
    assert found.messages == [ASK, thought, *calls, *results, words, ASK, later, ASK]
    assert kinds(found) == ["duplicate_reasoning", "dropped_id"]


def test_reasoning_gets_a_summary(api: ModuleType) -> None:
    thought = {"type": "reasoning", "id": "rs_1", "encrypted_content": "gAAA"}
    words = {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "Hi."}],
    }
    found = repaired(api, [ASK, thought, words, ASK], key="input")
    assert found.messages[1] == {**thought, "summary": []}
    assert kinds(found) == ["missing_summary"]


def test_media_of_results_follow_in_a_user_message(api: ModuleType) -> None:
    """Chat takes texts alone in a result."""
    image = {"type": "image_url", "image_url": {"url": PNG}}
    text = {"type": "text", "text": "taken"}
    calls = chat()["tool_calls"] + chat(call_id="c2")["tool_calls"]
    said = {"role": "assistant", "content": None, "tool_calls": calls}
    found = repaired(api, [ASK, said, answer([text, image]), answer([image], "c2"), ASK])
    label = {"type": "text", "text": "[Media of the tool results above]"}
    assert found.messages[2:] == [
        answer([text]),
        answer("[Media: in the next user message]", "c2"),
        {"role": "user", "content": [label, image, image]},
        ASK,
    ]
    assert kinds(found) == ["moved_media"] * 2


def test_bedrocks_own_tools_stay_in_the_models_message(api: ModuleType) -> None:
    call = {
        "toolUse": {
            "toolUseId": "s1",
            "name": "nova_grounding",
            "input": {},
            "type": "server_tool_use",
        }
    }
    result = {
        "toolResult": {
            "toolUseId": "s1",
            "content": [{"text": "x"}],
            "type": "nova_grounding_result",
        }
    }
    messages = [
        {"role": "user", "content": [{"text": "News?"}]},
        {"role": "assistant", "content": [call, result, {"text": "It rains."}]},
        {"role": "user", "content": [{"text": "And now?"}]},
    ]
    assert repaired(api, messages).messages == messages


def test_a_request_without_a_user_gets_one(api: ModuleType) -> None:
    words = {"role": "assistant", "content": [{"type": "text", "text": "Summary."}]}
    found = repaired(api, [words])
    assert found.messages == [
        words,
        {"role": "user", "content": [{"type": "text", "text": "[Continue]"}]},
    ]
    assert kinds(found) == ["missing_user"]
    messages = [ASK, *use(), words]
    assert repaired(api, messages).messages == messages  # older models continue it


def test_some_models_do_not_continue_an_answer(api: ModuleType) -> None:
    """The model of the body tells, or the policy."""
    words = {"role": "assistant", "content": [{"type": "text", "text": "Well,"}]}
    messages = [ASK, *use(), words]
    for model, is_refused in [
        ("claude-opus-4-6", True),
        ("us.anthropic.claude-opus-4-8-v1", True),
        ("claude-sonnet-4-5", False),
    ]:
        body = json.dumps({"model": model, "messages": messages}).encode()
        found = api.project_body(body, policy=REPAIR)
        assert kinds(found) == ["missing_user"] * is_refused
    policy = ProjectPolicy(repair=True, destination="anthropic-no-prefill")
    assert repaired(api, messages, policy).messages[-1]["role"] == "user"


def test_mistrals_ids_and_order(api: ModuleType) -> None:
    policy = ProjectPolicy(repair=True, destination="mistral")
    said = {**chat(call_id="call_abcdef"), "reasoning_content": "Hm."}
    found = repaired(api, [ASK, said, answer(call_id="call_abcdef"), ASK], policy)
    roles = [message["role"] for message in found.messages]
    assert roles == ["user", "assistant", "tool", "assistant", "user"]
    new = found.messages[1]["tool_calls"][0]["id"]
    assert len(new) == 9
    assert new.isalnum()
    assert found.messages[2]["tool_call_id"] == new
    assert "reasoning_content" not in found.messages[1]
    assert sorted(kinds(found)) == ["missing_model", "refused_member", "renamed_id"]


def test_calls_with_ids_of_nine_characters_are_mistrals(api: ModuleType) -> None:
    said = {**chat(call_id="abcdefghi"), "reasoning_content": "Hm."}
    found = repaired(api, [ASK, said, answer(call_id="abcdefghi")])
    assert "reasoning_content" not in found.messages[1]
    other = {**chat(call_id="call_1"), "reasoning_content": "Hm."}
    assert repaired(api, [ASK, other, answer(call_id="call_1")]).report.mends == ()


def test_a_request_in_another_format_is_repaired_as_its_own(api: ModuleType) -> None:
    found = repaired(api, [ASK, *use()], ProjectPolicy(repair=True, destination="mistral"))
    assert found.report.mends == ()
    assert found.report.not_repaired == "anthropic: mistral takes openai-chat"


def test_an_unknown_destination_is_an_error() -> None:
    with pytest.raises(
        ConfigError, match=r"^destination: 'mistrall' is not allowed; allowed: 'anthropic', "
    ):
        ProjectPolicy(destination="mistrall")


def placeholders() -> list[dict[str, Any]]:
    """The items of a model of Chat, as openai-agents keeps them."""
    said = [{"type": "output_text", "text": "I dig.", "annotations": []}]
    item_id = {"id": "__fake_id__"}
    return [
        ASK,
        {**item_id, "type": "message", "role": "assistant", "status": "completed", "content": said},
        {**item_id, "type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "ok"},
    ]


def test_the_placeholder_of_a_library_stays_in_its_list(api: ModuleType) -> None:
    """The library knows a message by its id, and removes this one as it writes the body."""
    assert api.project(placeholders(), policy=REPAIR).messages == placeholders()


def test_the_placeholder_of_a_library_is_refused_in_a_body(api: ModuleType) -> None:
    body = json.dumps({"model": "gpt-5", "input": placeholders()}).encode()
    found = api.project_body(body, policy=REPAIR)
    assert [mend.kind for mend in found.report.mends] == ["dropped_id", "dropped_id"]
    assert b"__fake_id__" not in found.body


def test_the_system_prompt_stays_next_to_an_unknown_message(api: ModuleType) -> None:
    """A list of messages has no other place for it."""
    call = {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "f", "input": {}}]}  # fmt: skip
    unknown = {"role": "assistant", "source": "from the future"}
    messages = [{"role": "system", "content": "Be kind."}, ASK, unknown, ASK, call]
    found = api.project(messages, policy=ProjectPolicy(repair=True, destination="anthropic-4-5"))
    assert "Be kind." in str(found.messages)
