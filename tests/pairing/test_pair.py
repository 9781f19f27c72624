"""Pairing, rule by rule, and against a naive oracle on generated conversations."""

from types import ModuleType
from typing import Any

from hypothesis import given
from support.builders.wire import assistant, result, use, user
from support.examples import examples
from support.oracles import pairing as oracle
from support.strategies import conversations as strategies


def ollama_calls(*names: str) -> dict[str, Any]:
    calls = [{"function": {"name": name, "arguments": {"of": name}}} for name in names]
    return {"role": "assistant", "content": "", "tool_calls": calls}


def ollama_result(content: str, name: str | None = None) -> dict[str, Any]:
    return {"role": "tool", "content": content} | ({"tool_name": name} if name else {})


def pairs(api: ModuleType, messages: list[Any]) -> list[tuple[str, Any]]:
    """Return each block's tool and the content of its result; ``None`` for a call without a result."""
    blocks = api.extract_tool_blocks(messages)
    return [
        (block.tool_name, block.tool_result["content"] if block.tool_result else None)
        for block in blocks
    ]


def test_a_call_gets_the_result_with_its_id(api: ModuleType) -> None:
    call, answer = use("t1", command="ls"), result("t1", "a.py")
    (block,) = api.extract_tool_blocks([assistant(call), user(answer)])
    assert block.tool_use is call
    assert block.tool_result is answer
    assert (block.tool_name, block.call_id, block.position, block.scope) == ("Bash", "t1", 0, "")
    assert block.dedup_key == "command:ls"


def test_ids_win_over_positions(api: ModuleType) -> None:
    messages = [
        assistant(use("a", "A"), use("b", "B")),
        user(result("b", "of b"), result("a", "of a")),
    ]
    assert pairs(api, messages) == [("A", "of a"), ("B", "of b")]


def test_two_results_in_one_message_are_both_paired(api: ModuleType) -> None:
    messages = [assistant(use("a")), assistant(use("b")), user(result("a", "1"), result("b", "2"))]
    assert pairs(api, messages) == [("Bash", "1"), ("Bash", "2")]


def test_a_repeated_id_stays_with_its_turn(api: ModuleType) -> None:
    turn = [assistant(use("call_0", "A")), user(result("call_0", "first"))]
    later = [assistant(use("call_0", "B")), user(result("call_0", "second"))]
    assert pairs(api, turn + later) == [("A", "first"), ("B", "second")]


def test_a_repeated_id_goes_to_the_nearest_unanswered_call(api: ModuleType) -> None:
    messages = [
        assistant(use("x", "A")),
        assistant(use("x", "B")),
        user(result("x", "1")),
        user(result("x", "2")),
    ]
    assert pairs(api, messages) == [("A", "2"), ("B", "1")]


def test_a_reused_id_does_not_shadow_an_open_call(api: ModuleType) -> None:
    messages = [assistant(use("x", "A")), assistant(use("x", "B")), user(result("x", "of b"))]
    assert pairs(api, messages) == [("A", None), ("B", "of b")]


def test_no_id_pairs_by_name_within_the_turn(api: ModuleType) -> None:
    messages = [ollama_calls("f", "g"), ollama_result("of g", "g"), ollama_result("of f", "f")]
    assert pairs(api, messages) == [("f", "of f"), ("g", "of g")]


def test_no_id_pairs_parallel_calls_of_one_name_in_order(api: ModuleType) -> None:
    messages = [ollama_calls("f", "f"), ollama_result("1", "f"), ollama_result("2", "f")]
    assert pairs(api, messages) == [("f", "1"), ("f", "2")]


def test_no_id_never_pairs_over_turns(api: ModuleType) -> None:
    messages = [ollama_calls("f"), ollama_calls("f"), ollama_result("1", "f"), ollama_calls("f")]
    messages += [ollama_result("2", "f"), ollama_result("3", "f")]
    assert pairs(api, messages) == [("f", "1"), ("f", None), ("f", "2"), ("f", "3")]


def test_a_result_without_id_stays_in_its_turn_when_the_call_there_has_an_id(
    api: ModuleType,
) -> None:
    messages = [
        ollama_calls("f", "f"),
        ollama_result("first", "f"),
        assistant(use("t1", "g")),
        user(result("t1", "of g")),
        ollama_result("second", "f"),
    ]
    assert pairs(api, messages) == [("f", "first"), ("f", None), ("g", "of g"), ("f", "second")]


def test_an_empty_id_is_no_id(api: ModuleType) -> None:
    messages = [assistant(use("", "A"), use("", "B")), user(result("", "1")), user(result("", "2"))]
    assert pairs(api, messages) == [("A", "1"), ("B", "2")]
    apart = [
        assistant(use("", "A")),
        user(result("", "1")),
        assistant(use("", "B")),
        user(result("", "2")),
    ]
    assert pairs(api, apart) == [("A", "1"), ("B", "2")]


def test_the_legacy_function_call_pairs_by_name(api: ModuleType) -> None:
    messages = [
        {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
        {"role": "function", "name": "f", "content": "42"},
    ]
    assert pairs(api, messages) == [("f", "42")]


def test_a_second_result_is_counted_and_the_first_stays(api: ModuleType, rust: ModuleType) -> None:
    messages = [assistant(use("t1")), user(result("t1", "first")), user(result("t1", "second"))]
    assert pairs(api, messages) == [("Bash", "first")]
    assert api.carry(messages).report.duplicate_results == 1
    assert rust.inspect(messages).duplicate_results == 1


def test_a_real_result_replaces_a_synthetic_one(api: ModuleType) -> None:
    made_up = result("t1", "[Request interrupted by user for tool use]", is_error=True)
    messages = [assistant(use("t1")), user(made_up), user(result("t1", "real"))]
    assert pairs(api, messages) == [("Bash", "real")]
    assert api.carry(messages).report.duplicate_results == 1
    assert not api.extract_tool_blocks(messages)[0].is_error


def test_a_synthetic_result_does_not_replace_a_real_one(api: ModuleType) -> None:
    made_up = result("t1", "[Request interrupted by user for tool use]")
    messages = [assistant(use("t1")), user(result("t1", "real")), user(made_up)]
    assert pairs(api, messages) == [("Bash", "real")]


def test_the_first_real_one_of_several_replaces_a_synthetic_one(api: ModuleType) -> None:
    made_up = result("t1", "[Request interrupted by user]")
    messages = [
        assistant(use("t1")),
        user(made_up),
        user(result("t1", "one")),
        user(result("t1", "two")),
    ]
    assert pairs(api, messages) == [("Bash", "one")]
    assert api.carry(messages).report.duplicate_results == 2


def test_a_call_without_result_is_interrupted(api: ModuleType) -> None:
    messages = [assistant(use("t1"), use("t2")), user(result("t2", "ok"))]
    assert pairs(api, messages) == [("Bash", None), ("Bash", "ok")]
    assert api.carry(messages).report.orphan_calls == 1


def test_a_result_without_call_is_named_by_itself_or_unknown(api: ModuleType) -> None:
    messages = [
        user(result("gone", "1")),
        {"role": "tool", "tool_call_id": "x", "name": "f", "content": "2"},
    ]
    assert pairs(api, messages) == [("unknown", "1"), ("f", "2")]
    assert [block.tool_use for block in api.extract_tool_blocks(messages)] == [None, None]
    assert api.carry(messages).report.orphan_results == 2


def test_a_result_before_its_call_answers_nothing(api: ModuleType) -> None:
    messages = [user(result("t1", "early")), assistant(use("t1"))]
    assert pairs(api, messages) == [("unknown", "early"), ("Bash", None)]


def test_server_tools_pair_inside_their_message(api: ModuleType) -> None:
    message = assistant(
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "x"}},
        {
            "type": "web_search_tool_result",
            "tool_use_id": "s1",
            "content": [{"type": "text", "text": "found"}],
        },
        use("t1"),
    )
    assert pairs(api, [message, user(result("t1"))]) == [
        ("web_search", [{"type": "text", "text": "found"}]),
        ("Bash", "ok"),
    ]


def test_a_call_given_in_content_and_in_tool_calls_is_one(api: ModuleType) -> None:
    call = {"id": "t1", "type": "function", "function": {"name": "Bash", "arguments": "{}"}}
    messages = [assistant(use("t1")) | {"tool_calls": [call]}, user(result("t1"))]
    assert pairs(api, messages) == [("Bash", "ok")]


def test_order_is_the_order_of_the_calls(api: ModuleType) -> None:
    messages = [
        assistant(use("a", "A"), use("b", "B")),
        user(result("gone", "orphan"), result("b", "2"), result("a", "1")),
        assistant(use("c", "C")),
    ]
    found = api.extract_tool_blocks(messages)
    assert [block.tool_name for block in found] == ["A", "B", "unknown", "C"]
    assert [block.position for block in found] == [0, 0, 1, 2]


def test_side_chains_do_not_share_ids(api: ModuleType) -> None:
    def record(uuid: str, side: bool, message: dict[str, Any]) -> dict[str, Any]:
        return {
            "uuid": uuid,
            "parentUuid": None,
            "isSidechain": side,
            "agentId": "a" if side else None,
            "message": message,
        }

    messages = [
        record("1", False, assistant(use("x", "Main"))),
        record("2", True, assistant(use("x", "Side"))),
        record("3", False, user(result("x", "of main"))),
        record("4", True, user(result("x", "of side"))),
    ]
    assert pairs(api, messages) == [("Main", "of main"), ("Side", "of side")]
    assert [block.scope for block in api.extract_tool_blocks(messages)] == ["", "a"]


def check_against_the_oracle(backend: ModuleType, messages: list[Any]) -> None:
    expected, duplicates = oracle.pair(oracle.read(messages).events)
    blocks = backend.extract_tool_blocks(messages)
    found = [
        oracle.Block(b.tool_use, b.tool_result, b.tool_name, b.call_id, b.position, b.scope)
        for b in blocks
    ]
    assert found == expected
    for block, wanted in zip(blocks, expected, strict=True):
        assert block.tool_use is wanted.tool_use
        assert block.tool_result is wanted.tool_result
    if backend.__name__ == "toolcarry._backend._core":  # the only one that surveys
        survey = backend.inspect(messages)
        assert survey.duplicate_results == duplicates
        assert survey.repeated_records == oracle.read(messages).repeated


@examples(800)
@given(messages=strategies.transcripts)
def test_agrees_with_the_naive_oracle(backend: ModuleType, messages: list[Any]) -> None:
    check_against_the_oracle(backend, messages)


@examples(1_000)
@given(messages=strategies.tangles)
def test_agrees_with_the_naive_oracle_on_tangles(backend: ModuleType, messages: list[Any]) -> None:
    check_against_the_oracle(backend, messages)


def test_results_left_after_a_user_message_answer_the_calls_before_it(api: ModuleType) -> None:
    calls = [ollama_calls("f"), user("Go on."), ollama_calls("g")]
    results = [ollama_result("of g"), ollama_result("of f")]
    assert pairs(api, [*calls, *results]) == [("f", "of f"), ("g", "of g")]


def test_a_result_after_a_user_message_answers_a_call_before_it(api: ModuleType) -> None:
    messages = [ollama_calls("f"), user("Wait."), ollama_result("of f")]
    assert pairs(api, messages) == [("f", "of f")]
    assert pairs(api, messages[1:]) == [("unknown", "of f")]
