"""Requests that are odd, and yet no reason to fail: members of other kinds, names in snake case, parts that are texts."""

import json
from types import ModuleType

import pytest
from support.builders.wire import turn
from support.oracles.repairs import ASK, answer, chat, kinds, repair

from toolcarry import ProjectPolicy

REPAIR = ProjectPolicy(repair=True)
SHORT = ProjectPolicy(max_result_chars=200)
LONG = "a line of text\n" * 60


def test_an_empty_message_is_removed(api: ModuleType) -> None:
    """An empty list of calls is refused, and so is a message without it that has no content."""
    empty = {"role": "assistant", "content": None, "tool_calls": []}
    call = chat(("t1", "f"))
    found = repair(api, [ASK, empty, call, answer("t1")], "openai")
    assert found.messages[1] == {"role": "assistant", "content": ""}
    assert kinds(found) == ["empty_calls"]
    for said in ({"content": "x"}, {"content": None, "refusal": "No."}):
        found = repair(api, [ASK, {**empty, **said}, call, answer("t1")], "openai")
        assert found.messages[1] == {"role": "assistant", **said}


def test_media_stay_next_to_a_bare_text(api: ModuleType) -> None:
    image = {"type": "image", "source": {"type": "base64", "data": "aGk="}}
    messages = turn("Bash", {"command": "ls"}, [image, LONG])
    content = api.project(messages, policy=SHORT).messages[1]["content"][0]["content"]
    assert content[0] is image
    assert isinstance(content[1], str)
    assert "[toolcarry: " in content[1]
    assert len(content[1]) <= 200


@pytest.mark.parametrize("blank", ["", " \n"])
def test_a_text_without_a_word_hides_nothing(api: ModuleType, blank: str) -> None:
    """The other parts are cut and replaced as if they were alone, since repair removes the blank text."""
    text, image = {"type": "text", "text": blank}, {"type": "image", "source": {"type": "base64"}}
    for content, policy in (
        ([text, {"rows": [LONG] * 3}], SHORT),
        ([image, text], ProjectPolicy(max_result_tokens=1, repair=True)),
    ):
        once = api.project(turn("Bash", {"command": "ls"}, content), policy=policy)
        new = once.messages[1]["content"][0]["content"]
        assert "[toolcarry: " in new
        assert len(new) <= 200
        assert api.project(once.messages, policy=policy).messages == once.messages


def test_a_type_that_is_a_list(api: ModuleType) -> None:
    call = {"id": "t1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    result = {"role": "tool", "tool_call_id": "t1", "type": ["x"], "content": LONG}
    messages = [{"role": "assistant", "tool_calls": [call]}, result]
    assert api.project(messages, policy=SHORT).messages == messages


def test_an_id_that_is_a_list(api: ModuleType) -> None:
    foreign = {"type": "tool_result", "tool_use_id": ["t1"], "content": "x"}
    messages = turn("Bash", {"command": "ls"})
    messages.append({"role": "user", "content": [foreign, {"type": "text", "text": "go on"}]})
    projected = api.project(messages, policy=REPAIR)
    assert [mend.kind for mend in projected.report.mends] == ["orphan_result"]
    assert projected.messages[2]["content"] == [{"type": "text", "text": "go on"}]


def test_names_in_snake_case_are_repaired_in_place(api: ModuleType) -> None:
    calls = [{"function_call": {"id": "c", "name": "f", "args": {"n": n}}} for n in (1, 2)]
    results = [
        {"function_response": {"id": "c", "name": name, "response": {"result": name}}}
        for name in ("f", "g")
    ]
    messages = [{"role": "model", "parts": calls}, {"role": "user", "parts": results}]
    _, said, answers = api.project(messages, policy=REPAIR).messages
    assert [part["function_call"]["id"] for part in said["parts"]] == ["c", "c_2"]
    assert [part["function_response"]["id"] for part in answers["parts"]] == ["c", "c_2"]
    assert [part["function_response"]["name"] for part in answers["parts"]] == ["f", "f"]


def test_reasoning_that_leads_nowhere_goes_whole(api: ModuleType) -> None:
    thought = {"type": "reasoning", "summary": []}
    call = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
    result = {"type": "function_call_output", "call_id": "c", "output": "x"}
    messages = [thought, thought, call, result, *[dict(thought) for _ in range(3_000)]]
    projected = api.project(messages, policy=REPAIR)
    assert projected.messages == [thought, thought, call, result]
    assert len(projected.report.mends) == 3_000


def test_a_name_that_is_a_number(api: ModuleType) -> None:
    call = {"functionCall": {"name": "f", "args": {}}}
    result = {"functionResponse": {"name": "f", "response": {5: LONG}}}
    messages = [{"role": "model", "parts": [call]}, {"role": "user", "parts": [result]}]
    response = api.project(messages, policy=SHORT).messages[1]["parts"][0]["functionResponse"]
    assert list(response["response"]) == ["5"]


def test_results_of_calls_that_nobody_here_answers_stay(api: ModuleType) -> None:
    call = {"type": "computer_call", "call_id": "c1", "action": {"type": "screenshot"}}
    output = {"type": "computer_call_output", "call_id": "c1", "output": {"type": "input_image"}}
    other = {"type": "function_call", "call_id": "c2", "name": "f", "arguments": "{}"}
    answer = {"type": "function_call_output", "call_id": "c2", "output": "x"}
    items = [call, output, other, answer]
    assert api.project(items, policy=REPAIR).messages == items
    legacy = {"role": "assistant", "function_call": {"name": "f", "arguments": "{}"}}
    messages = [legacy, {"role": "function", "name": "f", "content": "x"}]
    assert api.project(messages, policy=REPAIR).messages == messages


def test_other_values_among_the_calls_are_left_alone(api: ModuleType) -> None:
    calls = [{"id": "t1", "funcAtion": {"name": "f"}}, {"id": "t2", "function": {"name": "f"}}]
    messages = [
        {"role": "assistant", "tool_calls": calls},
        {"role": "tool", "tool_call_id": "t1", "content": "x"},
        {"role": "tool", "tool_call": "t2", "content": "y"},
    ]
    once = api.project(messages, policy=REPAIR)
    assert once.messages == messages
    assert once.report.not_repaired == "unread in message 0"


def test_a_call_in_the_content_alone_is_not_doubled(api: ModuleType) -> None:
    call = {"id": "t1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    use = {"type": "tool_use", "id": "", "name": "g", "input": {}}
    answer = {"role": "tool", "tool_call_id": "t1", "content": "x"}
    lone = [{"role": "assistant", "content": [use], "tool_calls": [call]}, answer]
    assert api.project(lone, policy=REPAIR).messages == lone
    doubled = [{**lone[0], "content": [{**use, "id": "t1"}]}, answer]
    once = [{**lone[0], "content": ""}, answer]
    assert api.project(doubled, policy=REPAIR).messages == once
    tripled = [{**doubled[0], "tool_calls": [call, call]}, answer]
    assert api.project(tripled, policy=REPAIR).messages == once


def test_a_message_of_another_provider_takes_no_results(api: ModuleType) -> None:
    call = {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]}
    words = {"role": "user", "content": "Go on."}
    once = api.project([words, call, words], policy=REPAIR)
    keys = [list(words), *[["role", "parts"]] * 2, list(words)]
    assert [list(message) for message in once.messages] == keys
    assert api.project(once.messages, policy=REPAIR).report.mends == ()


def test_an_id_is_written_at_the_place_of_the_provider(api: ModuleType) -> None:
    call = {
        "role": "assistant",
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
        ],
    }
    answer = {"role": "tool", "content": "x", "functionResponse": {}}
    once = api.project([call, answer], policy=REPAIR)
    assert once.messages == [call, {**answer, "tool_call_id": "c1"}]
    assert api.project(once.messages, policy=REPAIR).report.mends == ()


def test_a_result_of_a_kind_that_answers_no_client(api: ModuleType) -> None:
    call = {"type": "tool_use", "id": "t1", "name": "f", "input": {}}
    answer = {"type": "web_search_tool_result", "tool_use_id": "t1", "content": []}
    messages = [{"role": "assistant", "content": [call]}, {"role": "user", "content": [answer]}]
    once = api.project(messages, policy=REPAIR)
    assert [mend.kind for mend in once.report.mends] == ["duplicate_result", "missing_result"]
    assert [part["type"] for part in once.messages[1]["content"]] == ["tool_result"]
    assert api.project(once.messages, policy=REPAIR).report.mends == ()


def test_a_response_resolves_to_its_text(api: ModuleType) -> None:
    parts = [{"type": "text", "text": LONG}, {"type": "text", "text": "b"}]
    answer = {"id": "c1", "name": "f", "response": {"error": parts}}
    messages = [{"role": "user", "parts": [{"functionResponse": answer}]}]
    (found,) = api.project(messages, policy=SHORT).report.replacements
    assert found.chars_before == len(api.resolve(messages, "c1")) == len(LONG) + 2


def test_a_content_that_is_null_takes_the_results_that_were_missing(api: ModuleType) -> None:
    call, _ = turn("Bash", {"command": "ls"})
    messages = [call, {"role": "user", "content": None}]
    projected = api.project(messages, policy=REPAIR)
    assert [mend.kind for mend in projected.report.mends] == ["missing_result"]
    assert [part["type"] for part in projected.messages[1]["content"]] == ["tool_result"]
    body = json.dumps({"messages": messages}).encode()
    of_bytes = api.project_body(body, policy=REPAIR)
    assert json.loads(of_bytes.body)["messages"] == projected.messages
    assert of_bytes.report.mends == projected.report.mends


def test_a_call_without_id_that_is_given_in_both_ways_keeps_its_result(api: ModuleType) -> None:
    use = {"type": "tool_use", "name": "Read", "input": {}}
    given = {"function": {"name": "Read", "arguments": {}}}
    asked = {"role": "assistant", "content": [use], "tool_calls": [given]}
    answer = {"role": "tool", "tool_name": "Read", "content": "x"}
    for answers in ([answer], [answer, answer]):
        once = api.project([asked, *answers], policy=REPAIR)
        assert once.messages == [{**asked, "content": ""}, answer]
        kinds = ["doubled_call", "orphan_result"][: len(answers)]
        assert [mend.kind for mend in once.report.mends] == kinds
        assert api.project(once.messages, policy=REPAIR).report.mends == ()


def test_calls_without_id_are_the_same_in_their_order(api: ModuleType) -> None:
    uses = [{"type": "tool_use", "name": name, "input": {}} for name in ("f", "g", "h")]
    calls = [{"function": {"name": name, "arguments": {}}} for name in ("f", "g")]
    answers = [{"role": "tool", "content": text} for text in ("x", "y")]
    asked = {"role": "assistant", "content": uses, "tool_calls": calls}
    once = api.project([asked, *answers], policy=REPAIR)
    assert once.messages == [{**asked, "content": ""}, *answers]
    assert [mend.kind for mend in once.report.mends] == ["doubled_call"] * 3
    assert api.project(once.messages, policy=REPAIR).report.mends == ()


def test_a_call_that_says_its_id_elsewhere_says_it_where_its_result_does(api: ModuleType) -> None:
    call = {"type": "function_call", "id": "fc_1", "name": "f", "arguments": "{}"}
    asked = {"role": "user", "content": "Go on."}
    once = api.project([asked, call], policy=REPAIR)
    assert [mend.kind for mend in once.report.mends] == ["renamed_id", "missing_result"]
    _, named, answer = once.messages
    assert named == {**call, "call_id": "fc_1"}
    assert answer["call_id"] == "fc_1"
    assert api.project(once.messages, policy=REPAIR).report.mends == ()


def test_turns_are_those_of_a_side_under_any_role_name(api: ModuleType) -> None:
    def call(role: str, name: str) -> dict[str, object]:
        part = {"functionCall": {"name": name, "args": {}, "id": "1"}}
        return {"role": role, "parts": [part]}

    once = api.project([call("model", "f"), call("assistant", "g")], policy=REPAIR)
    answers = [part["functionResponse"] for part in once.messages[-1]["parts"]]
    assert [answer["name"] for answer in answers] == ["f", "g"]
    assert len({answer["id"] for answer in answers}) == 2
    assert api.project(once.messages, policy=REPAIR).report.mends == ()


def test_a_client_answers_no_call_of_the_providers_own(api: ModuleType) -> None:
    use = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}}
    answer = {"type": "tool_result", "tool_use_id": "s1", "content": "x"}
    call = {"type": "tool_use", "id": "t1", "name": "f", "input": {}}
    answered = {**answer, "tool_use_id": "t1"}
    messages = [
        {"role": "assistant", "content": [use, call]},
        {"role": "user", "content": [answered, answer]},
    ]
    once = api.project(messages, policy=REPAIR)
    assert [mend.kind for mend in once.report.mends] == ["orphan_result"]
    assert once.messages[1]["content"] == [answered]
    assert api.project(once.messages, policy=REPAIR).report.mends == ()


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_response_in_the_models_own_content(api: ModuleType, place: int) -> None:
    """Without ids the order tells which call it answers: it goes before those that stand right already."""
    call = {"functionCall": {"name": "f", "args": {}}}
    first, second = (
        {"functionResponse": {"name": "f", "response": {"output": text}}} for text in "12"
    )
    parts = [call, call]
    parts.insert(place, first)
    contents = [
        {"role": "user", "parts": [{"text": "?"}]},
        {"role": "model", "parts": parts},
        {"role": "user", "parts": [second]},
    ]
    found = repair(api, contents, "gemini")
    assert found.messages[1:] == [
        {"role": "model", "parts": [call, call]},
        {"role": "user", "parts": [first, second]},
    ]
    assert kinds(found) == ["moved_result"]


def test_a_dropped_server_call_is_not_reported(api: ModuleType) -> None:
    """Found by fuzzing: the rest is Bedrock's, and was joined, but not repaired."""
    messages = [
        {"tool_calls": [{}]},
        {"role": "assistant", "content": "x"},
        {"content": [{}]},
        {"content": [{"toolUse": {}}]},
    ]
    for policy in (
        ProjectPolicy(max_request_tokens=10),
        ProjectPolicy(max_request_tokens=10, repair=True),
    ):
        assert "message 0" not in str(api.project(messages, policy=policy).report)
