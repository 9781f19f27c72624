"""Conversations to write into a history."""

from typing import Any

from toolcarry.tract import CommitInfo, Tract


def call(tract: Tract, *calls: tuple[str, str], text: str = "") -> CommitInfo:
    """What the model said, with calls given as id and tool."""
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
