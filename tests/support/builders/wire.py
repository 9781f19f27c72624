"""Short ways to write messages, so that a test shows only what it is about."""

from typing import Any

Message = dict[str, Any]


def use(call_id: str, name: str = "Bash", **given: Any) -> Message:
    return {"type": "tool_use", "id": call_id, "name": name, "input": given}


def result(call_id: str, content: Any = "ok", **more: Any) -> Message:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **more}


def assistant(*blocks: Any) -> Message:
    return {"role": "assistant", "content": list(blocks)}


def user(*blocks: Any) -> Message:
    return {"role": "user", "content": list(blocks)}


def turn(
    name: str, given: Message, content: Any = "ok", call_id: str = "t1", **more: Any
) -> list[Message]:
    """A call and its result."""
    return [assistant(use(call_id, name, **given)), user(result(call_id, content, **more))]


def bash(command: Any, content: Any = "ok", call_id: str = "t1", **more: Any) -> list[Message]:
    return turn("Bash", {"command": command}, content, call_id, **more)


def read(path: str, content: Any = "ok", call_id: str = "t1", **more: Any) -> list[Message]:
    """A read; ``offset``, ``limit`` and the other ranges are arguments, ``is_error`` belongs to the result."""
    failed = {"is_error": more.pop("is_error")} if "is_error" in more else {}
    return turn("Read", {"file_path": path, **more}, content, call_id, **failed)


def edit(path: str, old: str, new: str, call_id: str = "t1", **more: Any) -> list[Message]:
    given = {"file_path": path, "old_string": old, "new_string": new}
    return turn("Edit", given, more.pop("content", "done"), call_id, **more)


def write(path: str, content: str, call_id: str = "t1", **more: Any) -> list[Message]:
    return turn("Write", {"file_path": path, "content": content}, "done", call_id, **more)


def open_call(name: str, given: Message, call_id: str = "t1") -> list[Message]:
    """A call that never got its result."""
    return [assistant(use(call_id, name, **given))]


def join(*turns: list[Message]) -> list[Message]:
    return [message for turn in turns for message in turn]
