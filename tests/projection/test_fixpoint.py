"""Requests that a second projection used to change: a projection leaves a repaired request unchanged."""

import json
from types import ModuleType
from typing import Any

import pytest
from support.builders import wire
from support.oracles.repairs import ASK, INTERRUPTED, answer, chat, kinds, repair
from support.rows import for_each

from toolcarry import ProjectPolicy
from toolcarry._data import destination_names

THOUGHT = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
NAMED = {"role": "tool", "tool_name": "f", "content": "ok"}


@pytest.mark.parametrize("orphan", [answer("t1"), NAMED, {**NAMED, "content": []}])
def test_results_without_calls_next_to_anothers_thoughts(
    api: ModuleType, orphan: dict[str, Any]
) -> None:
    """They go, so that the thoughts tell whose request it is; it was Chat's first, and Anthropic's the next time."""
    said = wire.assistant(ASK["content"][0], THOUGHT)
    blank = {"role": "user", "content": " "}
    found = repair(api, [ASK, orphan, blank, said])
    assert found.messages == [ASK, wire.assistant(ASK["content"][0])]
    assert kinds(found) == ["orphan_result", "empty_message", "trailing_thought"]
    assert found.report.mends[0].position == 1


def test_an_item_without_call_next_to_anothers_thoughts(api: ModuleType) -> None:
    """Found by fuzzing: the same where the results are of another shape than Chat's."""
    orphan = {"type": "function_call_output", "call_id": "t1", "output": "ok"}
    said = {"role": "assistant", "content": [{"type": "text", "text": "Yes."}]}
    blank = {"role": "user", "content": " "}
    thinking = {**said, "content": [THOUGHT, *said["content"]]}
    found = repair(api, [ASK, orphan, blank, thinking])
    assert found.messages == [ASK, thinking]
    assert kinds(found) == ["orphan_result", "empty_message"]


@pytest.mark.parametrize("key", ["bole", "role"])
def test_a_first_message_with_calls_gets_its_role_and_a_user_before_it(
    api: ModuleType, key: str
) -> None:
    """Found by fuzzing: the user's message came only with the second projection, when the role was there."""
    call = {"toolUse": {"toolUseId": "t1", "name": "f", "input": {}}}
    result = {"toolResult": {"toolUseId": "t1", "content": [{"text": "ok"}]}}
    window = [{key: "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    found = repair(api, window)
    assert "missing_user" in kinds(found)
    assert [message["role"] for message in found.messages] == ["user", "assistant", "user"]
    again = repair(api, found.messages)
    assert (again.messages, kinds(again)) == (found.messages, [])


def test_a_call_identifies_its_request(api: ModuleType) -> None:
    """So do results that answer it: the thinking in the same message stays, as in a request to a gateway."""
    call = {"id": "t1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    said = {"role": "assistant", "content": [THOUGHT], "tool_calls": [call]}
    messages = [{"role": "user", "content": " "}, said, answer("t1")]
    assert repair(api, messages, "openai").messages == messages


@pytest.mark.parametrize("kind", ["mcp_tool_result", "web_search_tool_result", "tool_result"])
def test_an_answer_within_the_message_that_calls(api: ModuleType, kind: str) -> None:
    """Chat has results in no content: it stayed, and paired with the call before the result that was made up."""
    within = {"type": kind, "tool_use_id": "t1", "content": [ASK["content"][0]]}
    said = chat(("t1", "f"), ("t2", "f"))
    for content in ([within], [within, within], [ASK["content"][0], within]):
        found = repair(api, [{**said, "content": content}, answer("t2")], "openai")
        rest = [part for part in content if part is not within] or ""
        assert found.messages[0] == {**said, "content": rest}
        assert found.messages[1:] == [answer("t2"), answer("t1", INTERRUPTED["content"])]
        assert set(kinds(found)) == {"duplicate_result", "missing_result"}


def test_an_answer_within_a_later_message(api: ModuleType) -> None:
    """Also in one whose call is of the kind that came before `tool_calls`."""
    within = {"type": "mcp_tool_result", "tool_use_id": "t1", "content": []}
    old = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}}
    found = repair(api, [chat(("t1", "f")), {**old, "content": [within]}], "openai")
    made = answer("t1", INTERRUPTED["content"])
    assert found.messages == [chat(("t1", "f")), made, {**old, "content": ""}]


def test_an_answer_of_the_providers_own_within_a_message(api: ModuleType) -> None:
    """As a gateway passes it on: a result that answers no client call stays."""
    own = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
    result = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
    messages = [chat(("t1", "f"), content=[own, result]), answer("t1")]
    assert repair(api, messages, "openai").messages == messages


def test_answers_of_the_providers_own_to_a_call_of_the_clients(api: ModuleType) -> None:
    """The one that is paired with it is left out, and so are others, which would be paired with it the next time."""
    own = {"type": "mcp_tool_result", "tool_use_id": "t1", "content": []}
    text = ASK["content"][0]
    messages = [ASK, wire.assistant(own, wire.use("t1")), wire.assistant(text, own)]
    found = repair(api, messages)
    assert found.messages == [
        ASK,
        wire.assistant(wire.use("t1")),
        wire.user(INTERRUPTED),
        wire.assistant(text),
    ]
    assert sorted(kinds(found)) == ["duplicate_result", "duplicate_result", "missing_result"]


@pytest.mark.parametrize("provider", ["openai", "ollama"])
def test_a_call_given_in_two_ways_is_judged_by_the_one_that_stays(
    api: ModuleType, provider: str
) -> None:
    """By the content, the first call is an old run of the same command; by `tool_calls`, it is another call."""
    page = "a line of text\n" * 20
    ran = {"command": "make test"}

    def run(call_id: str, name: str, given: dict[str, Any]) -> list[Any]:
        arguments = given if provider == "ollama" else json.dumps(given)
        function = {"name": name, "arguments": arguments}
        call = {"id": call_id, "type": "function", "function": function}
        content = [wire.use(call_id, "Bash", **ran)]
        said = {"role": "assistant", "content": content, "tool_calls": [call]}
        return [said, answer(call_id, page)]

    for name, given in (("look", ran), ("Bash", {"command": "ls"})):
        found = repair(api, [*run("t1", name, given), *run("t2", "Bash", ran)], provider)
        assert kinds(found) == ["doubled_call", "doubled_call"]
        assert found.report.replacements == ()
        assert api.extract_tool_blocks(found.messages)[0].tool_name == name
    found = repair(api, [*run("t1", "Bash", ran), *run("t2", "Bash", ran)], provider)
    assert [replaced.reference for replaced in found.report.replacements] == ["t1"]


@pytest.mark.parametrize(
    ("provider", "key", "called", "result"),
    [
        ("gemini", "parts", {"functionCall": {"name": "f", "args": {}}}, "functionResponse"),
        ("bedrock", "content", {"toolUse": {"toolUseId": "t1", "name": "f", "input": {}}}, "toolResult"),
    ],
)  # fmt: skip
def test_a_part_that_is_a_call_and_a_result(
    api: ModuleType, provider: str, key: str, called: dict[str, Any], result: str
) -> None:
    """Found by fuzzing. A part is one or the other: the result goes, and the call is answered as others are."""
    role = "model" if provider == "gemini" else "assistant"
    said = {"role": "user", key: [{"text": "Go on."}]}
    own = (
        {"name": "f"} if provider == "gemini" else {"toolUseId": "t1", "content": [{"text": "ok"}]}
    )
    both = {**called, result: own}
    found = repair(api, [said, {"role": role, key: [both]}], provider)
    assert found.messages[:2] == [said, {"role": role, key: [called]}]
    assert set(kinds(found)) == {"orphan_result", "missing_result"}


TALKS: dict[str, list[dict[str, Any]]] = {
    "gemini": [
        {"role": "user", "parts": [{"text": "Go on."}]},
        {"role": "model", "parts": [{"text": "Done."}]},
        {"role": "user", "parts": [{"text": "Thanks."}]},
    ],
    "texts": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Go on."},
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": "Thanks."},
    ],
    "bare texts": [
        {"role": "user", "content": [{"text": "Go on."}]},
        {"role": "assistant", "content": [{"text": "Done."}]},
        {"role": "user", "content": [{"text": "Thanks."}]},
    ],
}
LOST: list[dict[str, Any]] = [
    {"role": "user", "content": [wire.result("ghost")]},
    {"role": "tool", "tool_call_id": "ghost", "content": "ok"},
    {"type": "function_call_output", "call_id": "ghost", "output": "ok"},
    {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"output": "ok"}}}]},
    {"role": "user", "content": [{"toolResult": {"toolUseId": "ghost", "content": [{"text": "ok"}]}}]},
]  # fmt: skip
TEXTS = {"Go on.", "Done.", "Thanks."}


def texts(messages: list[Any]) -> set[str]:
    """Return the texts of messages, wherever they stand."""
    contents = [message.get("content") or message.get("parts") for message in messages]
    parts = [
        part for each in contents for part in ([{"text": each}] if isinstance(each, str) else each)
    ]
    return {part["text"] for part in parts if "text" in part}  # fmt: skip


@for_each("destination", sorted(destination_names()))
@for_each("name", TALKS)
def test_texts_for_a_destination_of_another_format(
    api: ModuleType, name: str, destination: str
) -> None:
    """A destination was named: Gemini's texts were taken for empty messages, and left out."""
    policy = ProjectPolicy(repair=True, destination=destination)
    for lost in [[], *([each] for each in LOST)]:
        for messages in ([*lost, *TALKS[name]], [*TALKS[name], *lost]):
            once = api.project(messages, policy=policy)
            assert texts(once.messages) >= TEXTS
            again = api.project(once.messages, policy=policy)
            assert (again.messages, again.report.mends) == (once.messages, ())
    if name == "gemini" and "gemini" not in destination:
        assert f"gemini: {destination} takes" in once.report.not_repaired


@pytest.mark.parametrize("lost", LOST[:3])
def test_a_lost_result_tells_nothing_of_the_destination(
    api: ModuleType, lost: dict[str, Any]
) -> None:
    """It was the only sign of another format, so that the rest was mended for the destination the second time."""
    policy = ProjectPolicy(repair=True, destination="openai-chat")
    once = api.project([*TALKS["texts"], lost], policy=policy)
    assert once.messages == TALKS["texts"]
    assert "orphan_result" in kinds(once)
    assert once.report.not_repaired == ""


def test_the_only_words_of_the_user_are_a_lost_result(api: ModuleType) -> None:
    said = wire.assistant({"type": "text", "text": "Done."})
    found = repair(api, [said, wire.user(wire.result("ghost")), said])
    assert [message["role"] for message in found.messages] == ["assistant", "assistant", "user"]
    assert "missing_user" in kinds(found)


def test_a_dropped_turn_is_another_than_the_next_one(api: ModuleType) -> None:
    """Their calls are the same, without ids, so that the second one has the reference of the first in the projection."""

    def turn(command: str) -> list[Any]:
        call = {"function": {"name": "Bash", "arguments": {"command": command}}}
        result = {"role": "tool", "tool_name": "Bash", "content": "a line of text\n" * 9}
        return [{"role": "assistant", "content": "", "tool_calls": [call]}, result]

    messages = [{"role": "user", "content": "Go."}, *turn("ls"), *turn("ls"), *turn("pwd")]
    policy = ProjectPolicy(
        max_request_tokens=120, clear_at_least_tokens=0, content="off", keep_last_results=2
    )
    once = api.project(messages, policy=policy)
    assert once.messages == [messages[0], *messages[3:]]
    again = api.project(once.messages, policy=policy, previous=once.decisions)
    assert again.messages == once.messages
    resent = api.project(messages, policy=policy, previous=once.decisions)
    assert resent.messages == once.messages


def test_what_dropped_turns_leave_is_judged_as_it_is_joined(api: ModuleType) -> None:
    """Joining it corrects all of it, which made the last turn another one for a second projection."""
    first, last = wire.use("t1", "Read", file_path="a"), wire.use("t1", "Read", file_path="b")
    messages = [
        ASK,
        wire.assistant(wire.use("t0", "Read", file_path="c")),
        wire.user(wire.result("t0", "x " * 400)),
        wire.assistant(first),
        wire.assistant(last),
        wire.user(wire.result("t1", "y " * 400)),
    ]
    policy = ProjectPolicy(max_request_tokens=60, clear_at_least_tokens=0)
    once = api.project(messages, policy=policy)
    assert api.project(once.messages, policy=policy).messages == once.messages


EDIT = {"file_path": "a.py", "old_string": "x" * 300, "new_string": "y" * 300}
DRAWN = ["10%\x1b[0m\r20%\x1b[0m\rnot found\x1b[0m\r2", "a\rb not found at all in the\r2"]


@pytest.mark.parametrize("kind", ["", 5, None, "function"])
@pytest.mark.parametrize("result", ["Error: x failed", None])
def test_arguments_of_a_call_whose_type_is_mended(
    api: ModuleType, kind: object, result: str | None
) -> None:
    """They were cleared only when the type was there."""
    call = {"id": "t1", "type": kind, "function": {"name": "Edit", "arguments": json.dumps(EDIT)}}
    later = [each for name in "abcd" for each in (chat((name, "ls")), answer(name))]
    told = [] if result is None else [{"role": "tool", "tool_call_id": "t1", "content": result}]
    said = {"role": "assistant", "content": None, "tool_calls": [call]}
    policy = ProjectPolicy(repair=True, clear_tool_inputs=True)
    once = api.project([ASK, said, *told, *later], policy=policy)
    assert once.report.reasons
    assert api.project(once.messages, policy=policy).messages == once.messages


@pytest.mark.parametrize("later", DRAWN)
def test_a_result_is_judged_by_what_a_terminal_shows_in_the_end(
    api: ModuleType, later: str
) -> None:
    """It was judged by the states that were written over, which the next projection does not see."""
    messages = [*wire.bash("make", "word one\n" * 30, "t1"), *wire.bash("make", later, "t2")]
    once = api.project(messages)
    assert api.project(once.messages).messages == once.messages


@pytest.mark.parametrize("call_id", [None, "call t1", "call", "call_2", "t1"])
@pytest.mark.parametrize("text", ["w" * 122, "w" * 130, "one two three " * 9])
def test_a_limit_bites_whatever_id_the_repair_gives(
    api: ModuleType, call_id: str | None, text: str
) -> None:
    """A marker was long enough for the id that was there, and not for the one that the call got."""
    call = {"type": "function_call", "name": "f", "arguments": "{}"}
    output = {"type": "function_call_output", "output": text}
    if call_id is not None:
        call["call_id"] = output["call_id"] = call_id
    policy = ProjectPolicy(repair=True, max_result_chars=100)
    once = api.project([{"role": "user", "content": "Go on."}, call, output], policy=policy)
    assert api.project(once.messages, policy=policy).messages == once.messages


# A text whose type is mended: one of Responses, or one without a type that has another member.
OTHER_TYPES = [{"type": "input_text"}, {"type": "output_text"}, {"typ": "text"}]


@pytest.mark.parametrize("kind", OTHER_TYPES)
def test_a_blank_text_whose_type_is_mended(api: ModuleType, kind: dict[str, str]) -> None:
    """Found by fuzzing: it was left out only when it had its type."""
    said = wire.assistant({"type": "tool_use", "id": "t1", "name": "f", "input": {}})
    told = wire.user(wire.result("t1", "ok"), {**kind, "text": " "})
    once = repair(api, [ASK, said, told])
    assert "empty_text" in kinds(once)
    assert repair(api, once.messages).messages == once.messages


@pytest.mark.parametrize("kind", OTHER_TYPES)
def test_a_text_after_a_call_whose_type_is_mended(api: ModuleType, kind: dict[str, str]) -> None:
    """Found by fuzzing: the call moved behind it only when it had its type."""
    call = {"type": "tool_use", "id": "t1", "name": "f", "input": {}}
    said = wire.assistant(call, {**kind, "text": "Done."})
    once = repair(api, [ASK, said, wire.user(wire.result("t1", "ok"))])
    assert "moved_call" in kinds(once)
    assert repair(api, once.messages).messages == once.messages


def test_a_turn_is_not_dropped_before_a_result_without_a_call_that_has_its_id(
    api: ModuleType,
) -> None:
    """Without the turn, that result would be read as the one of the call that has none."""
    image = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="},
    }
    messages = [
        wire.assistant(wire.use("", "Read", file_path="a.py")),
        wire.assistant(wire.use("", "Read", file_path="b.py")),
        wire.user(wire.result("", " "), wire.result("", [image])),
        wire.assistant(wire.use("", "Bash", command="rm x")),
    ]
    policy = ProjectPolicy(max_request_tokens=30, max_result_chars=100)
    once = api.project(messages, policy=policy)
    assert api.project(once.messages, policy=policy).messages == once.messages
