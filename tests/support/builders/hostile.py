"""Bodies that are slow to work on: texts of many tags, and documents of very many values."""

import json
from collections.abc import Callable

from support.builders.wire_talks import ANTHROPIC

TEXTS: dict[str, Callable[[int], str]] = {
    "open": lambda size: "<" * size,
    "open and closed": lambda size: "<>" * (size // 2),
    "other tags": lambda size: "<div>" * (size // 5),
    "tags that are not closed": lambda size: "<task" * (size // 5),
    "spaces in tags": lambda size: "<task " + " " * size,
    "tags": lambda size: "<task>" * (size // 6),
    "dropped tags": lambda size: "<user_info>" * (size // 11),
    "dropped and closed": lambda size: "<user_info></user_info>" * (size // 23),
    "backticks": lambda size: "`<task>`" * (size // 8),
    "instructions": lambda size: "# AGENTS.md instructions" + " " * size,
    "instructions again": lambda size: "# AGENTS.md instructions <INSTRUCTIONS>" * (size // 39),
    "thoughts": lambda size: "<think>" * (size // 7),
    "blank lines": lambda size: "<user_info>" + " \n" * (size // 2) + " " * (size // 2),
    "escapes": lambda size: "\x1b]" * (size // 2),
}

VALUES = ("0", "{}", "[[]]", '{"a":{}}', '""', '{"type":"text","text":""}', "[[[[[[[[]]]]]]]]")


def talk(content: str) -> bytes:
    """Return a request with two answers, whose second user message has this content, as JSON."""
    messages = [
        ANTHROPIC.user("Go."),
        ANTHROPIC.says("Done."),
        ANTHROPIC.user("content"),
        ANTHROPIC.says("Done."),
        ANTHROPIC.user("Go on."),
    ]
    body = json.dumps({"model": "m", "max_tokens": 9, "messages": messages})
    return body.replace('"content"}', content + "}").encode()


def array(value: str, size: int) -> str:
    """Return an array of about ``size`` bytes."""
    return f"[{f'{value},' * (size // (len(value) + 1))}0]"


def bodies(size: int) -> dict[str, Callable[[], bytes]]:
    """Return the bodies by name; documents of many values have five times the size of the texts."""
    small = '"messages":[{"role":"user","content":"Go."}]'
    made: dict[str, Callable[[], bytes]] = {
        name: lambda text=text: talk(json.dumps(text(size)))  # type: ignore[misc]
        for name, text in TEXTS.items()
    }
    for value in VALUES:
        many = lambda value=value: array(value, 5 * size)  # noqa: E731
        made |= {
            f"content {value}": lambda many=many: talk(many()),  # type: ignore[misc]
            f"messages {value}": lambda many=many: f'{{"messages":{many()}}}'.encode(),  # type: ignore[misc]
            f"tools {value}": lambda many=many: f'{{{small},"tools":{many()}}}'.encode(),  # type: ignore[misc]
            f"metadata {value}": lambda many=many: f'{{"metadata":{many()},{small}}}'.encode(),  # type: ignore[misc]
            f"unknown {value}": lambda many=many: f'{{"x":{many()},{small}}}'.encode(),  # type: ignore[misc]
        }
    made["no object"] = lambda: array("0", 5 * size).encode()
    made["open brackets"] = lambda: b"[" * (5 * size)
    made["open strings"] = lambda: b'{"messages":["' + b"[" * (5 * size)
    return made
