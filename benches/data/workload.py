"""The fixed workloads W20, W66, W200, W2000 and W20000: conversations of a coding agent.

Each is a request body in Anthropic's form, of that many messages. Per assistant turn there are one to three calls
(80, 14, 6 %): Read 40 %, Bash 35 % (18 % of them with side effects), Grep 15 %, Edit 10 %, over a pool of files a
sixth as large as the number of messages. Results are log-uniform in 2,000 to 50,000 characters; 70 % are strings,
the others one text block; half of the reads have line numbers. The texts are those of ``corpus``.

The same seed gives the same bytes on the same CPython release. ``CHECKSUMS`` holds for 3.11.7; run as a script,
this checks them: ``python benches/data/workload.py [20 66 200 2000 20000]``.
"""

from __future__ import annotations

import hashlib
import json
import math
import platform
import random
import sys
from collections.abc import Sequence
from typing import Any

import orjson
from corpus import SEED, texts

Message = dict[str, Any]

SIZES = (20, 66, 200, 2_000, 20_000)

CHECKSUMS = {
    20: "d4b7cdab6d403f99",
    66: "b5560f1fc6548890",
    200: "630821103d8d355f",
    2_000: "e6c2f174cda955a9",
    20_000: "993815a5b1a72cfb",
}
"""The beginning of the SHA-256 of each body, on CPython 3.11.7."""

SHORTEST_RESULT, LONGEST_RESULT = 2_000, 50_000

TEXT_SHARES = {"code": 45, "tests": 17, "log": 14, "json": 9, "prose": 10, "cjk": 3, "emoji": 2}
TOOL_SHARES = {"Read": 40, "Bash": 35, "Grep": 15, "Edit": 10}
CALL_COUNT_SHARES = {1: 80, 2: 14, 3: 6}

FOLDERS = ("core", "api", "ui", "db", "util", "tests")
SUFFIXES = ("py", "rs", "ts", "md")
PATTERNS = ("def \\w+", "TODO", "import os", "fn main", "class ")
READING_COMMANDS = (
    "pytest -q", "git status", "ls -la", "cargo test --all", "git diff HEAD~1", "npm test", "rg -n TODO src",
    "cat package.json", "python -m mypy src", "git log --oneline -20", "make build", "docker ps", "env | sort",
    "du -sh *", "tree -L 2",
)  # fmt: skip
WRITING_COMMANDS = (
    "rm -rf build", "git commit -am wip", "npm install lodash", "mv a b", "sed -i s/a/b/ x.py",
    "git push origin main", "pip install requests", "mkdir -p out", "curl -X POST http://localhost/x",
)  # fmt: skip

TOOL_NAMES = ("Read", "Bash", "Grep", "Edit", "Write", "Glob")


class Writer:
    """Draws a conversation. The order of the draws is the workload: it must not change."""

    def __init__(self, message_count: int, seed: int) -> None:
        self.source = random.Random(seed)
        self.files = [self.path(number) for number in range(max(4, message_count // 6))]

    def path(self, number: int) -> str:
        choice = self.source.choice
        return f"/home/user/project/src/{choice(FOLDERS)}/{choice('abcdefgh')}{number}.{choice(SUFFIXES)}"

    def share(self, shares: dict[Any, int]) -> Any:
        return self.source.choices(list(shares), list(shares.values()))[0]

    def text(self, length: int) -> str:
        """``length`` characters from somewhere in one of the texts."""
        whole = texts()[self.share(TEXT_SHARES)]
        start = self.source.randrange(max(1, len(whole) - length))
        return whole[start : start + length]

    def short_text(self, shortest: int, longest: int) -> str:
        return self.text(self.source.randint(shortest, longest))

    def arguments(self, tool: str) -> dict[str, str]:
        choice = self.source.choice
        if tool == "Read":
            return {"file_path": choice(self.files)}
        if tool == "Bash":
            return {"command": self.command(), "description": "run a command"}
        if tool == "Grep":
            return {"pattern": choice(PATTERNS), "path": choice(self.files)}
        return {
            "file_path": choice(self.files),
            "old_string": self.short_text(20, 300),
            "new_string": self.short_text(20, 400),
        }

    def command(self) -> str:
        source = self.source
        if source.random() < 0.18:
            return source.choice(WRITING_COMMANDS)
        if source.random() < 0.6:
            return source.choice(READING_COMMANDS)
        return f"{source.choice(READING_COMMANDS)} | head -{source.randint(1, 400)}"

    def output(self, tool: str) -> str:
        """Return the result of a call. An edit says little; half of the reads number their lines."""
        if tool == "Edit":
            return self.short_text(40, 300)
        exponent = self.source.uniform(math.log(SHORTEST_RESULT), math.log(LONGEST_RESULT))
        length = int(math.exp(exponent))
        text = self.text(length)
        if tool == "Read" and self.source.random() < 0.5:
            lines = enumerate(text.split("\n"), 1)
            text = "\n".join([f"{number:6d}\t{line}" for number, line in lines])[:length]
        return text

    def exchange(self) -> tuple[Message, Message]:
        """One call and its result, as content blocks."""
        call_id = f"toolu_{self.source.getrandbits(96):024x}"
        tool = self.share(TOOL_SHARES)
        given = self.arguments(tool)
        text = self.output(tool)
        content = text if self.source.random() < 0.7 else [{"type": "text", "text": text}]
        result: Message = {"type": "tool_result", "tool_use_id": call_id, "content": content}
        if self.source.random() < 0.05:
            result["is_error"] = True
        return {"type": "tool_use", "id": call_id, "name": tool, "input": given}, result

    def turn(self) -> list[Message]:
        """An assistant's message with its calls, the results, and now and then a word of the user."""
        exchanges = [self.exchange() for _ in range(self.share(CALL_COUNT_SHARES))]
        said = {"type": "text", "text": self.short_text(20, 300)}
        messages: list[Message] = [
            {"role": "assistant", "content": [said, *[call for call, _ in exchanges]]},
            {"role": "user", "content": [result for _, result in exchanges]},
        ]
        if self.source.random() < 0.05:
            messages.append({"role": "user", "content": self.short_text(20, 200)})
        return messages


def generate(message_count: int, seed: int = SEED) -> list[Message]:
    """A conversation of ``message_count`` messages, or of one fewer, so that it ends with the user's."""
    return written_by(Writer(message_count, seed), message_count)


def written_by(writer: Writer, message_count: int) -> list[Message]:
    request = "Please fix the failing tests. " + writer.text(400)
    messages: list[Message] = [{"role": "user", "content": request}]
    while len(messages) < message_count:
        messages.extend(writer.turn())
    ends_with_user = messages[message_count - 1]["role"] == "user"
    return messages[: message_count if ends_with_user else message_count - 1]


def body(messages: Sequence[Message]) -> bytes:
    """The request body that an agent would send: with a system prompt and six tools."""
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string", "description": 'x \\ "q" ' * 20}},
        "required": ["a"],
    }
    tools = [
        {"name": name, "description": "A tool. " * 60, "input_schema": schema}
        for name in TOOL_NAMES
    ]
    request = {
        "model": "claude-x",
        "max_tokens": 8192,
        "stream": True,
        "system": [{"type": "text", "text": "You are a coding agent. " * 200}],
        "tools": tools,
        "messages": messages,
    }
    return orjson.dumps(request)


def ascii_body(messages: Sequence[Message]) -> bytes:
    """The body with a question mark for every character that is not ASCII."""
    return body(messages).decode().encode("ascii", "replace")


def to_ascii(messages: Sequence[Message]) -> list[Message]:
    """The messages of the ASCII body: one byte per character in CPython's strings too."""
    found: list[Message] = orjson.loads(ascii_body(messages))["messages"]
    return found


def to_openai(messages: Sequence[Message]) -> list[Message]:
    """The conversation in OpenAI's Chat form: arguments as JSON text, a message per result."""
    converted: list[Message] = []
    for message in messages:
        content = message["content"]
        if isinstance(content, str):
            converted.append({"role": message["role"], "content": content})
        elif message["role"] == "assistant":
            converted.append(openai_assistant(content))
        else:
            converted.extend(map(openai_result, content))
    return converted


def openai_assistant(content: Sequence[Message]) -> Message:
    said = "".join([block["text"] for block in content if block["type"] == "text"])
    calls = [openai_call(block) for block in content if block["type"] == "tool_use"]
    message: Message = {"role": "assistant", "content": said}
    return {**message, "tool_calls": calls} if calls else message


def openai_call(block: Message) -> Message:
    arguments = json.dumps(block["input"], ensure_ascii=False)
    function = {"name": block["name"], "arguments": arguments}
    return {"id": block["id"], "type": "function", "function": function}


def openai_result(block: Message) -> Message:
    content = block["content"]
    text = content if isinstance(content, str) else "\n".join([part["text"] for part in content])
    return {"role": "tool", "tool_call_id": block["tool_use_id"], "content": text}


def to_jsonl(messages: Sequence[Message]) -> bytes:
    """The conversation as a Claude Code session file: one chain of records."""
    lines = [
        orjson.dumps(session_record(number, message)) for number, message in enumerate(messages)
    ]
    return b"".join([line + b"\n" for line in lines])


def session_record(number: int, message: Message) -> Message:
    return {
        "parentUuid": f"{number:032x}" if number else None,
        "isSidechain": False,
        "userType": "external",
        "cwd": "/home/user/project",
        "sessionId": "8f14e45f-ceea-4677-9f4b-0d6f7a3b2c11",
        "version": "2.1.0",
        "gitBranch": "main",
        "type": message["role"],
        "message": message,
        "uuid": f"{number + 1:032x}",
        "timestamp": "2026-11-21T10:00:00.000Z",
    }


def main() -> int:
    """Print each workload's size and checksum; 1 where one is not what it should be."""
    sizes = [int(argument) for argument in sys.argv[1:]] or list(SIZES)
    is_known = platform.python_version() == "3.11.7"
    differing = 0
    for size in sizes:
        data = body(generate(size))
        checksum = hashlib.sha256(data).hexdigest()[:16]
        is_same = checksum == CHECKSUMS.get(size, checksum)
        differing += not is_same
        verdict = "as expected" if is_same else f"expected {CHECKSUMS[size]}"
        print(f"W{size}: {len(data):,} bytes, sha256 {checksum}..., {verdict}")
    if differing and not is_known:
        print(f"the checksums are those of CPython 3.11.7; this is {platform.python_version()}")
    return 1 if differing and is_known else 0


if __name__ == "__main__":
    sys.exit(main())
