"""Conversations to write into a history."""

from typing import Any

from toolcarry.tract import CommitInfo, Tract

Message = dict[str, Any]

ASKED: Message = {"role": "user", "content": "Run the tests."}
CALLED: Message = {
    "role": "assistant",
    "content": [
        {"type": "thinking", "thinking": "Hm.", "signature": "s"},
        {"type": "text", "text": "I will."},
        {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "pytest"}},
        {"type": "tool_use", "id": "t2", "name": "Read", "input": {"path": "a.py"}},
    ],
}
ANSWERED: Message = {
    "role": "user",
    "content": [
        {"type": "tool_result", "tool_use_id": "t1", "content": "1 failed", "is_error": True},
        {
            "type": "tool_result",
            "tool_use_id": "t2",
            "content": [{"type": "text", "text": "x = 1"}],
        },
        {"type": "text", "text": "And go on."},
    ],
}
TALK = [ASKED, CALLED, ANSWERED]
"""Two Anthropic calls in one message; the first fails."""


def call(tract: Tract, *calls: tuple[str, str], text: str = "") -> CommitInfo:
    """Record a message of the model, with calls given as id and tool."""
    return tract.assistant(
        text, tool_calls=[{"id": call_id, "name": name, "arguments": {}} for call_id, name in calls]
    )


def work(tract: Tract, turns: int = 3) -> list[CommitInfo]:
    """A request, turns of one call and one long result each, and an answer."""
    commits = [tract.user("Find the fault.")]
    for number in range(turns):
        commits.append(call(tract, (f"t{number}", "Grep"), text=f"Look {number}."))
        commits.append(tract.tool_result(f"t{number}", "Grep", f"line {number} of it\n" * 50))
    return [*commits, tract.assistant("It is in line 2.")]


def texts(messages: list[dict[str, Any]]) -> list[Any]:
    return [message["content"] for message in messages]
