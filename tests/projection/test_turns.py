"""Turns that a provider refuses although each call has its result: the wrong role answers, or blocks are in a wrong order."""

from types import ModuleType
from typing import Any

import pytest
from support.builders import wire
from support.oracles.repairs import ASK, INTERRUPTED, REPAIR, kinds, repair

from toolcarry import ProjectPolicy

FAILED = [{"type": "text", "text": "[Tool use failed: no output]"}]
IMAGE = {
    "type": "image",
    "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="},
}
NOTE = {"role": "system", "content": "The user is away."}
NOTE_PARTS = [{"type": "text", "text": "The user is away."}]


def test_a_system_message_takes_no_results(api: ModuleType) -> None:
    """The results come before it, in a user turn, and leave the turn in which they arrived late."""
    call = wire.assistant(wire.use("t1"))
    found = repair(api, [ASK, call, NOTE, wire.user(wire.result("t1"), ASK["content"][0])])
    assert found.messages == [ASK, call, wire.user(wire.result("t1")), NOTE, ASK]
    assert [(mend.kind, mend.position, mend.call_id) for mend in found.report.mends] == [
        ("moved_result", 3, "t1")
    ]


def test_a_system_message_after_an_open_call(api: ModuleType) -> None:
    call = wire.assistant(wire.use("t1"))
    note = {"role": "system", "content": NOTE_PARTS}
    found = repair(api, [ASK, call, note])
    assert found.messages == [ASK, call, wire.user(INTERRUPTED), note]
    assert kinds(found) == ["missing_result"]


def test_a_result_that_a_system_message_gives(api: ModuleType) -> None:
    call = wire.assistant(wire.use("t1"))
    given = {"role": "system", "content": [wire.result("t1"), *NOTE_PARTS]}
    found = repair(api, [ASK, call, given])
    assert found.messages == [
        ASK,
        call,
        wire.user(wire.result("t1")),
        given | {"content": NOTE_PARTS},
    ]
    assert kinds(found) == ["moved_result"]


def test_results_on_both_sides_of_a_system_message(api: ModuleType) -> None:
    call = wire.assistant(wire.use("t1"), wire.use("t2"))
    one, two = wire.result("t1"), wire.result("t2")
    found = repair(api, [ASK, call, wire.user(one), NOTE, wire.user(two), ASK])
    assert found.messages == [ASK, call, wire.user(one, two), NOTE, ASK]
    assert kinds(found) == ["moved_result", "empty_message"]


def test_a_system_message_after_the_results_stays(api: ModuleType) -> None:
    messages = [ASK, *wire.bash("ls"), NOTE, ASK]
    assert repair(api, messages).messages == messages


@pytest.mark.parametrize("role", ["user", "function", None])
def test_whose_turn_answers_gemini(api: ModuleType, role: str | None) -> None:
    call = {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]}
    response = {"functionResponse": {"name": "f", "response": {"output": "ok"}}}
    answer: dict[str, Any] = {"parts": [response]} | ({"role": role} if role else {})
    messages = [{"role": "user", "parts": [{"text": "?"}]}, call, answer]
    assert repair(api, messages, "gemini").messages == messages
    note = {"role": "system", "parts": [{"text": "The user is away."}]}
    found = repair(api, [*messages[:2], note, answer], "gemini")
    both = {"role": "user", "parts": [response, {"text": "The user is away."}]}
    assert found.messages == [*messages[:2], both]
    assert kinds(found) == ["system_message", "moved_result", "empty_message"]


def test_gemini_wants_the_answers_of_a_turn_in_one(api: ModuleType) -> None:
    """One content for each is refused, as one response for two calls is."""
    call = {"functionCall": {"name": "f", "args": {}}}
    one, two = [
        {"functionResponse": {"name": "f", "response": {"output": text}}} for text in ("1", "2")
    ]
    ask, words = {"role": "user", "parts": [{"text": "?"}]}, {"text": "And?"}
    said = {"role": "model", "parts": [call, dict(call)]}
    answers = [{"role": "user", "parts": [one]}, {"role": "user", "parts": [two, words]}]
    found = repair(api, [ask, said, *answers], "gemini")
    assert found.messages[2:] == [
        {"role": "user", "parts": [one, two]},
        {"role": "user", "parts": [words]},
    ]
    assert [(mend.kind, mend.position) for mend in found.report.mends] == [("moved_result", 2)]


def test_bedrock_joins_a_system_message_to_the_users(api: ModuleType) -> None:
    """It has none there, and refuses it."""
    call = {"role": "assistant", "content": [{"toolUse": {"toolUseId": "t1", "name": "f"}}]}
    note = {"role": "system", "content": [{"text": "The user is away."}]}
    found = api.project([call, note], policy=REPAIR).messages
    assert [message["role"] for message in found] == ["user", "assistant", "user"]
    assert found[2]["content"][1:] == note["content"]


@pytest.mark.parametrize("content", ["", " ", None, [], [{"type": "text", "text": " "}]])
def test_a_failure_that_says_nothing(api: ModuleType, content: Any) -> None:
    """Anthropic: content cannot be empty if `is_error` is true."""
    call, answer = wire.bash("ls", content, is_error=True)
    found = repair(api, [ASK, call, answer])
    assert found.messages[2] == wire.user(wire.result("t1", FAILED, is_error=True))
    assert [(mend.kind, mend.position, mend.call_id) for mend in found.report.mends][-1:] == [
        ("empty_failure", 2, "t1")
    ]


def test_a_failure_without_content(api: ModuleType) -> None:
    failed = {"type": "tool_result", "tool_use_id": "t1", "is_error": True}
    found = repair(api, [ASK, wire.assistant(wire.use("t1")), wire.user(failed)])
    assert found.messages[2] == wire.user({**failed, "content": FAILED})


def test_a_failure_that_shows_an_image(api: ModuleType) -> None:
    """Anthropic: all content must be type 'text' if 'is_error' is true. The image stays, after all results."""
    words = {"type": "text", "text": "It broke."}
    call = wire.assistant(wire.use("t1"), wire.use("t2"), wire.use("t3"))
    one = wire.result("t1", [IMAGE, words], is_error=True)
    two = wire.result("t2", [IMAGE])
    three = wire.result("t3", [IMAGE], is_error=True)
    found = repair(api, [ASK, call, wire.user(one, two, three, ASK["content"][0])])
    assert found.messages[2] == wire.user(
        wire.result("t1", [words], is_error=True),
        two,
        wire.result("t3", FAILED, is_error=True),
        IMAGE,
        IMAGE,
        ASK["content"][0],
    )
    assert [(mend.kind, mend.position, mend.call_id) for mend in found.report.mends] == [
        ("moved_media", 2, "t1"),
        ("moved_media", 2, "t3"),
        ("empty_failure", 2, "t3"),
    ]


def test_media_of_a_failure_follow_it(api: ModuleType) -> None:
    """The image also follows a result that came late, and one whose text is cut."""
    call = wire.assistant(wire.use("t1"))
    shown = [{"type": "text", "text": "It broke.\n" * 100}, IMAGE]
    late = wire.user(wire.result("t1", shown, is_error=True))
    messages = [ASK, call, ASK, wire.assistant(ASK["content"][0]), late]
    found = repair(api, messages).messages
    assert found[2] == wire.user(
        wire.result("t1", shown[:1], is_error=True), IMAGE, ASK["content"][0]
    )
    cut = ProjectPolicy(repair=True, max_result_chars=200)
    found = api.project([ASK, call, late], policy=cut).messages
    result, image = found[2]["content"]
    assert [part["type"] for part in result["content"]] == ["text"]
    assert "[toolcarry: " in result["content"][0]["text"]
    assert image == IMAGE
    assert api.project(found, policy=cut).messages == found


def test_an_empty_failure_in_bedrock(api: ModuleType) -> None:
    """It may show an image, but not be empty."""
    image = {"image": {"format": "png", "source": {"bytes": "iVBORw0KGgo="}}}
    ask = {"role": "user", "content": [{"text": "?"}]}
    call = {
        "role": "assistant",
        "content": [{"toolUse": {"toolUseId": "t1", "name": "f", "input": {}}}],
    }

    def failed(*content: Any) -> dict[str, Any]:
        held = {"toolUseId": "t1", "status": "error", "content": list(content)}
        return {"role": "user", "content": [{"toolResult": held}]}

    for content in ([], [{"text": " "}]):
        found = repair(api, [ask, call, failed(*content)], "bedrock")
        assert found.messages[2] == failed({"text": "[Tool use failed: no output]"})
    messages = [ask, call, failed(image)]
    assert repair(api, messages, "bedrock").messages == messages


def test_a_text_after_the_calls_of_its_message(api: ModuleType) -> None:
    """The calls move after the text, so that the provider's own results stay before the text about them."""
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
    own = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
    answer = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
    calls, text = (wire.use("t1"), wire.use("t2")), ASK["content"][0]
    said = wire.assistant(thought, calls[0], own, answer, text, calls[1], text)
    answers = wire.user(wire.result("t1"), wire.result("t2"))
    found = repair(api, [ASK, said, answers])
    assert found.messages[1] == wire.assistant(thought, own, answer, text, text, *calls)
    assert found.messages[2] is answers
    assert [(mend.kind, mend.position, mend.call_id) for mend in found.report.mends] == [
        ("moved_call", 1, "t1"),
        ("moved_call", 1, "t2"),
    ]


def test_a_text_between_calls_stays(api: ModuleType) -> None:
    said = wire.assistant(wire.use("t1"), ASK["content"][0], wire.use("t2"))
    messages = [ASK, said, wire.user(wire.result("t1"), wire.result("t2"))]
    assert repair(api, messages).messages == messages


def test_an_answer_of_the_providers_own_after_a_call(api: ModuleType) -> None:
    """Anthropic expects the client's results right after its calls, and finds that answer instead."""
    own = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
    answer = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
    calls, text = (wire.use("t1"), wire.use("t2")), ASK["content"][0]
    answers = wire.user(wire.result("t1"), wire.result("t2"))
    for said in ([*calls, own, answer], [calls[0], own, answer, calls[1]]):
        found = repair(api, [ASK, wire.assistant(text, *said), answers])
        assert found.messages[1] == wire.assistant(text, own, answer, *calls)
        assert kinds(found) == ["moved_call", "moved_call"]


def test_a_call_of_the_providers_own_that_waits(api: ModuleType) -> None:
    """It is answered after the client's results, and stays where the model put it."""
    own = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
    answer = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
    said = wire.assistant(wire.use("t1"), own)
    messages = [ASK, said, wire.user(wire.result("t1")), wire.assistant(answer, *ASK["content"])]
    assert repair(api, messages).messages == messages


def test_thinking_at_the_end_of_a_request(api: ModuleType) -> None:
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
    text, blank = ASK["content"][0], {"type": "text", "text": " "}
    ends = wire.assistant(thought, text, thought, blank, thought)
    found = repair(api, [ASK, ends, wire.assistant(thought)])
    assert found.messages == [ASK, wire.assistant(thought, text)]
    assert [(mend.kind, mend.position) for mend in found.report.mends] == [
        ("empty_text", 1),
        ("trailing_thought", 2),
        ("trailing_thought", 1),
    ]
    assert repair(api, [ASK, ends, ASK]).messages[1]["content"][-1] == thought


def test_a_thought_before_an_end_that_says_nothing(api: ModuleType) -> None:
    """An assistant's last message may be empty, and is one turn with the one before it."""
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
    text, ends = ASK["content"][0], {"role": "assistant", "content": ""}
    found = repair(api, [ASK, wire.assistant(text, thought), wire.assistant(thought), ends])
    assert found.messages == [ASK, wire.assistant(text), ends]
    assert kinds(found) == ["trailing_thought", "trailing_thought"]
    messages = [ASK, wire.assistant(thought, text), ends]
    assert repair(api, messages).messages == messages


@pytest.mark.parametrize("blank", [" ", "\n", "\u3000"])
def test_an_end_without_a_word(api: ModuleType, blank: str) -> None:
    """Anthropic: text content blocks must contain non-whitespace text."""
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
    ends = {"role": "assistant", "content": blank}
    found = repair(api, [ASK, wire.assistant(thought), ends])
    assert found.messages == [ASK]
    assert kinds(found) == ["empty_message", "trailing_thought"]


def test_white_space_at_the_end_of_a_request(api: ModuleType) -> None:
    """Anthropic: final assistant content cannot end with trailing whitespace."""
    marked = {"type": "text", "text": "Ah, \u00e9: \n ", "cache_control": {"type": "ephemeral"}}
    plain, empty = {"role": "assistant", "content": "I see: "}, {"role": "assistant", "content": ""}
    found = repair(api, [plain, ASK, *wire.bash("ls"), plain])
    assert found.messages[0] is plain
    assert found.messages[4] == {"role": "assistant", "content": "I see:"}
    assert [(mend.kind, mend.position) for mend in found.report.mends] == [("trailing_space", 4)]
    found = repair(api, [*wire.bash("ls"), wire.assistant(ASK["content"][0], marked), empty])
    assert found.messages[2]["content"] == [ASK["content"][0], {**marked, "text": "Ah, \u00e9:"}]


def test_white_space_at_the_end_of_a_body(api: ModuleType) -> None:
    """The rest of the text is copied as it was written."""
    thought = b'{"role": "assistant", "content": [{"type": "redacted_thinking", "data": "x"}]}'
    for last in (rb'"\u00e9\/%b"', rb'[{"type": "text", "text": "\u00e9\/%b"}]'):
        messages = b'{"role": "user", "content": "Go."}, %b, {"role": "assistant", "content": %b}'
        body = b'{"messages": [%b]}' % messages % (thought, last)
        found = api.project_body(body % rb" \n", policy=REPAIR)
        assert found.body == body % b""


def test_bedrocks_last_words_end_in_no_space(api: ModuleType) -> None:
    """As its Claude asks."""
    ask = {"role": "user", "content": [{"text": "?"}]}
    found = repair(api, [ask, {"role": "assistant", "content": [{"text": "Ah: "}]}], "bedrock")
    assert found.messages == [ask, {"role": "assistant", "content": [{"text": "Ah:"}]}]


def test_a_text_after_the_calls_of_two_messages(api: ModuleType) -> None:
    """Where the second would begin with the text, it is a turn of its own, as one of a text alone is."""
    calls, text = (wire.use("t1"), wire.use("t2")), ASK["content"][0]
    one, two = wire.result("t1"), wire.result("t2")
    messages = [ASK, wire.assistant(calls[0]), wire.assistant(calls[1], text), wire.user(one, two)]
    assert repair(api, messages).messages == [
        *messages[:2],
        wire.user(one),
        wire.assistant(text, calls[1]),
        wire.user(two),
    ]


@pytest.mark.parametrize("is_split", [True, False])
def test_llama_takes_results_alone(api: ModuleType, is_split: bool) -> None:
    """A message of the model is put between the results and what else the user says, in one message or in two."""
    call = {"toolUse": {"toolUseId": "t1", "name": "ls", "input": {}}}
    answer = {"toolResult": {"toolUseId": "t1", "content": [{"text": "ok"}]}}
    words = {"text": "Thanks, and now?"}
    told = [[answer], [words]] if is_split else [[answer, words]]
    asked = [wire.user({"text": "Go."}), wire.assistant(call)]
    messages = [*asked, *(wire.user(*parts) for parts in told)]
    policy = ProjectPolicy(repair=True, destination="bedrock-llama")
    found = api.project(messages, policy=policy)
    between = wire.assistant({"text": "[Tool results received]"})
    assert found.messages == [*asked, wire.user(answer), between, wire.user(words)]
    assert kinds(found) == ["merged_message"] * is_split + ["missing_model"]
    assert api.project(found.messages, policy=policy).messages == found.messages
    assert len(api.project(messages, policy=ProjectPolicy(repair=True)).messages) == 3
