"""Python and Rust say the same, to the character: on generated conversations, on bad input, and on real sessions."""

from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.examples import IS_LONG, examples
from support.oracles.parity import Dumped, blocks_of, compare
from support.rows import for_each
from support.strategies import conversations as strategies
from support.strategies import policies as strategies_policies
from support.strategies.texts import COMMANDS, commands, json_values, texts
from support.transcripts import TRANSCRIPTS

from toolcarry import (
    NO_LIMIT,
    CarryPolicy,
    ConfigError,
    InputError,
    Rule,
    ToolBlock,
    deduplicate_tools,
)
from toolcarry._input.document import decode_messages
from toolcarry.types import Notes

Both = tuple[ModuleType, ModuleType]

SESSIONS = sorted(TRANSCRIPTS.glob("claude_code/**/*.jsonl"))
CHATS = sorted(TRANSCRIPTS.glob("openai_chat/*.json"))
POLICIES = (
    CarryPolicy(),
    CarryPolicy(max_chars=NO_LIMIT),
    CarryPolicy(max_chars=NO_LIMIT, max_result_chars=300, keep="tail"),
    CarryPolicy(max_chars=8_000, max_result_chars=2_000, rules="careful"),
    CarryPolicy(max_chars=2_000, include_failed=False),
    CarryPolicy(max_tokens=5_000, max_result_tokens=500),
    CarryPolicy(max_tokens=3_000, layout="sections"),
    CarryPolicy(max_result_chars=3_000, layout="sections"),
    CarryPolicy(max_tokens=2_000, max_result_chars=700, encoding="cl100k_base"),
    CarryPolicy(
        max_chars=20_000,
        rules=(Rule("*", kind="other", key=("pattern",), keep="first"),),
    ),
    CarryPolicy(
        max_chars=30_000,
        rules=(Rule("bash", kind="command", key="command", keep="none"),),
    ),
)


def check_all(both: Both, messages: Any, summary: str, *policies: CarryPolicy) -> None:
    """Compare every kernel on one conversation, those that take a policy with each of them."""
    compare(both, "dialogue", messages)
    compare(both, "extract_tool_blocks", messages)
    for encoding in sorted({policy.encoding for policy in policies}):
        compare(both, "message_tokens", messages, encoding)
    blocks = blocks_of(both, messages)
    for policy in policies:
        compare(both, "carry", messages, summary, policy)
        compare(both, "explain", messages, summary, policy)
        if blocks is None:
            continue
        compare(both, "deduplicate_tools", blocks, policy.rules)
        compare(both, "format_tool_context", blocks, summary, policy)
        with suppress(InputError, ConfigError):  # compared above
            kept = both[0].deduplicate_tools(blocks, policy.rules)
            compare(both, "format_tool_context", kept, summary, policy)


@examples(800)
@given(
    messages=strategies.transcripts,
    summary=strategies.summaries,
    policy=strategies_policies.policies,
)
def test_generated_conversations(
    both: Both, messages: list[Any], summary: str, policy: CarryPolicy
) -> None:
    check_all(both, messages, summary, policy)


@examples(400)
@given(messages=strategies.tangles, policy=strategies_policies.policies)
def test_generated_tangles(both: Both, messages: list[Any], policy: CarryPolicy) -> None:
    check_all(both, messages, "", policy)


@examples(200)
@given(
    messages=st.lists(strategies.message | json_values, max_size=6),
    policy=strategies_policies.policies,
)
def test_messages_that_are_invalid(both: Both, messages: list[Any], policy: CarryPolicy) -> None:
    check_all(both, messages, "", policy)


def deep(levels: int) -> Any:
    value: Any = "x"
    for _ in range(levels):
        value = [value]
    return value


@for_each("levels", [1, 126, 127, 128, 129, 200, 10_000])
@for_each("place", ["input", "content"])
def test_nested_values(both: Both, levels: int, place: str) -> None:
    call = {"type": "tool_use", "id": "t1", "name": "f", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "ok"}
    if place == "input":
        call["input"] = {"a": deep(levels)}
    else:
        result["content"] = deep(levels)
    messages = [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    check_all(both, messages, "", CarryPolicy())


CALL = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": "ok"}
ALMOST_EXCHANGES = {
    "no object before": (5, [RESULT | {"content": deep(200)}]),
    "calls of a tool": ({"role": "tool", "content": [CALL]}, [RESULT]),
    "one id twice": (
        {"role": "assistant", "content": [CALL, CALL]},
        [RESULT, RESULT | {"content": "second"}],
    ),
    "two results for one call": ({"role": "assistant", "content": [CALL]}, [RESULT, RESULT]),
    "one result for two calls": (
        {"role": "assistant", "content": [CALL, CALL | {"id": "t2"}]},
        [RESULT],
    ),
    "another order": (
        {"role": "assistant", "content": [CALL, CALL | {"id": "t2"}]},
        [RESULT | {"tool_use_id": "t2"}, RESULT],
    ),
    "an id that is no text": (
        {"role": "assistant", "content": [CALL | {"id": ["t1"]}]},
        [RESULT | {"tool_use_id": ["t1"]}],
    ),
    "a result with the call": ({"role": "assistant", "content": [CALL, RESULT]}, [RESULT]),
    "a call elsewhere too": (
        {"role": "assistant", "content": [CALL], "tool_calls": [CALL | {"id": "t2"}]},
        [RESULT],
    ),
}


@for_each("name", ALMOST_EXCHANGES)
def test_almost_an_exchange(both: Both, name: str) -> None:
    """The fast path of the Python walk must leave these exchanges to the general path."""
    said, results = ALMOST_EXCHANGES[name]
    check_all(both, [said, {"role": "user", "content": results}], "", CarryPolicy())


def test_an_object_that_dumps_to_nothing_is_no_message(both: Both) -> None:
    check_all(both, [Dumped({}), Dumped({"role": "user", "content": "hi"})], "", CarryPolicy())


@examples(50)
@given(messages=strategies.transcripts)
def test_objects_of_an_sdk(both: Both, messages: list[Any]) -> None:
    dumped = [None if message is None else Dumped(message) for message in messages]
    check_all(both, dumped, "", CarryPolicy())
    check_all(both, tuple(messages), "", CarryPolicy())


@for_each("age", [0, 3, 1 << 40])
@for_each("earlier", [(), (0, 1), (5, 2)])
def test_notes_made_by_hand(both: Both, age: int, earlier: tuple[int, ...]) -> None:
    call = {"type": "tool_use", "name": "Bash", "input": {"command": "ls"}}
    notes = Notes(age=age, earlier=earlier)
    blocks = [ToolBlock(call, {"content": "x"}, "Bash", notes=notes)] * 2
    compare(both, "format_tool_context", blocks, "", CarryPolicy())


@pytest.mark.parametrize("notes", [{"age": -5}, {"age": 1 << 70}, {"earlier": (3, -1)}])
def test_notes_of_no_age(notes: Any) -> None:
    with pytest.raises(ConfigError):
        deduplicate_tools([ToolBlock(None, {}, "Bash", notes=Notes(**notes))])


@given(command=commands | st.lists(st.sampled_from(COMMANDS), max_size=3).map(" && ".join))
def test_side_effects(both: Both, command: str) -> None:
    python, rust = both
    assert rust.has_side_effects(command) is python.has_side_effects(command)


@given(
    text=texts,
    limit=st.integers(0, 60),
    keep=st.sampled_from(("head", "tail", "ends")),
    marker=st.sampled_from(("... [truncated]", "", "\u0301")),
)
def test_truncate(both: Both, text: str, limit: int, keep: Any, marker: str) -> None:
    python, rust = both
    expected = python.truncate(text, limit, keep=keep, marker=marker)
    assert rust.truncate(text, limit, keep=keep, marker=marker) == expected


@pytest.mark.parametrize(
    "path", SESSIONS or [None], ids=lambda path: path.stem[:12] if path else "none"
)
def test_real_sessions(both: Both, real_transcripts: Path, path: Path) -> None:
    messages, _ = decode_messages(path.read_bytes())
    policies = POLICIES if IS_LONG else POLICIES[SESSIONS.index(path) % 2 :: 2]
    check_all(both, messages, "## Done\n\n- fixed", *policies)


@pytest.mark.parametrize(
    "path", CHATS or [None], ids=lambda path: path.stem[-12:] if path else "none"
)
def test_real_requests(both: Both, real_transcripts: Path, path: Path) -> None:
    messages, _ = decode_messages(path.read_bytes())
    check_all(both, messages, "", *POLICIES)


def test_the_kernels_are_the_same(both: Both) -> None:
    python, rust = both
    assert set(python.__all__) <= set(dir(rust))
