"""Generated requests, each by its number alone: what a client might send, and what goes wrong with it.

A number draws a conversation in one of the formats, its faults, a policy, and the bytes of a body in one of the
spellings that JSON allows. Only ``random.Random`` draws, whose numbers are the same in all versions of Python.
"""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import dataclass
from random import Random
from typing import Any

from support.builders.draft_writers import write
from support.builders.drafts import (
    Call,
    DraftTurn,
    Image,
    JsonObject,
    Manner,
    Part,
    Result,
    Search,
    Text,
    Thinking,
)
from support.goldens.settings import carry_policy, project_policy, recount_settings
from support.goldens.texts import WORDS, a_text, code

from toolcarry import CarryPolicy, ProjectPolicy

COUNT = 20_000
PROVIDERS = ("anthropic", "openai", "responses", "ollama", "gemini", "bedrock")
SHAPES = (*PROVIDERS, *PROVIDERS, *PROVIDERS, "claude_code", "claude_code", "langchain", "mixed")
HOLDERS = {"responses": "input", "gemini": "contents"}
SPELLINGS = ("plain", "plain", "ascii", "spaced", "escaped", "decoys", "indented")
PATHS = ("a.py", "src/b.rs", "docs/été.md", "a.py")
COMMANDS = ("pytest -q", "ls -la", "git status", "rm -rf build", "cat a.py | head", "echo x > a.py", "cargo test 2>&1")  # fmt: skip
ODD: tuple[Any, ...] = (None, True, 0, -1.5, 1e300, 2**70, "", " ", "x", "\ud800", [], {}, [[]], ["x"], {"type": "text"}, [None])  # fmt: skip


@dataclass(frozen=True)
class Numbered:
    """A request with all that is done to it."""

    number: int
    shape: str
    messages: list[Any]
    later: list[Any]
    """The messages that follow by the next request."""
    body: bytes
    later_body: bytes
    summary: str
    carry: CarryPolicy
    project: ProjectPolicy
    recount: dict[str, Any]


def numbered(number: int) -> Numbered:
    random = Random(number)
    shape = random.choice(SHAPES)
    messages = conversation(random, shape)
    cut = random.randint(0, len(messages)) if random.random() < 0.7 else len(messages)
    messages, later = messages[:cut], messages[cut:]
    if not later:
        later = conversation(random, shape)[:4]
    body, later_body = bodies(random, shape, messages, later)
    summary = random.choice(("", "", "", "# Done\n\n- `a.py` is fixed", "x " * 400))
    return Numbered(
        number,
        shape,
        messages,
        later,
        body,
        later_body,
        summary,
        carry_policy(random),
        project_policy(random, shape),
        recount_settings(random),
    )


# Texts of results


def a_tool(random: Random) -> tuple[str, JsonObject]:
    path = random.choice(PATHS)
    match random.randint(0, 13):
        case 0 | 1 | 2:
            ranges = random.choice(
                ({}, {}, {"offset": 1, "limit": 20}, {"offset": 10, "limit": 30})
            )
            return random.choice(("Read", "read_file")), {"file_path": path, **ranges}
        case 3 | 4 | 5:
            return random.choice(("Bash", "shell")), {"command": random.choice(COMMANDS)}
        case 6:
            given = {"file_path": path, "old_string": code(random), "new_string": code(random)}
            return "Edit", given
        case 7:
            return "Write", {"file_path": path, "content": a_text(random)}
        case 8:
            return "Grep", {"pattern": random.choice(("x", "TODO", "é")), "path": path}
        case 9:
            return "str_replace_editor", {"command": random.choice(("view", "create", "str_replace")), "path": path}  # fmt: skip
        case 10:
            return "mcp__x__search", {"query": random.choice(WORDS), "n": random.randint(0, 9)}
        case 11:
            return "read_tool_result", {"ref": random.choice(("t0", "t1", "ghost"))}
        case 12:
            return random.choice(("bad name!", "", "x" * 80, "été")), {"a": random.choice(ODD)}
        case _:
            return "now", {}


class Draft:
    """A conversation that is being drawn."""

    def __init__(self, random: Random, provider: str) -> None:
        self.random = random
        self.provider = provider
        self.turns: list[DraftTurn] = []
        self.calls: list[Call] = []
        self.late: list[Result] = []

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def call_id(self) -> str:
        if not self.chance(0.08):
            return f"t{len(self.calls)}"
        known = [call.call_id for call in self.calls] or ["t0"]
        return self.random.choice((*known, "", "a b", "t" * 70, "é", "call|fc_1", "ghost"))

    def call(self) -> Call:
        name, given = a_tool(self.random)
        style = "function"
        if self.provider == "responses" and self.chance(0.3):
            style = self.random.choice(("custom", "shell", "local_shell", "apply_patch"))
        elif self.provider == "openai" and self.chance(0.1):
            style = "custom"
        if self.calls and self.chance(0.3):
            name, given = self.random.choice(self.calls)[1:3]
        made = Call(self.call_id(), name, given, style)
        self.calls.append(made)
        return made

    def result(self, call: Call) -> Result:
        content: str | tuple[str | Image, ...] = a_text(self.random)
        if self.chance(0.12):
            pieces = (a_text(self.random), Image(), a_text(self.random), Image())
            content = pieces[: self.random.randint(0, 4)]
        return Result(call.call_id, call.name, content, self.chance(0.12), call.style)

    def spoken(self, role: str) -> DraftTurn:
        said = DraftTurn(role, [Text(self.random.choice((*WORDS, *WORDS, "", " ")))])
        if self.chance(0.1):
            said.parts.append(Text(a_text(self.random)))
        return said

    def exchange(self) -> None:
        """Add a turn of the model with calls, and the answers to them."""
        said = DraftTurn("assistant", [])
        if self.chance(0.25):
            said.parts.append(Thinking(self.random.choice(("Let me see.", "", "Hm. " * 30))))
        if self.chance(0.5):
            said.parts.append(Text(self.random.choice(WORDS)))
        if self.chance(0.1):
            said.parts.append(Search(len(self.calls)))
        calls = [self.call() for _ in range(self.random.choice((1, 1, 1, 1, 2, 2, 3, 5)))]
        said.parts += calls
        if self.chance(0.06):
            said.parts.append(Text(self.random.choice(WORDS)))
        self.turns.append(said)
        answers: list[Part] = []
        for call in calls:
            if self.chance(0.06):
                continue  # a call without a result
            made = self.result(call)
            if self.chance(0.04):
                self.late.append(made)
                continue
            answers.append(made)
            if self.chance(0.04):
                answers.append(self.result(call))
        if self.chance(0.15):
            self.random.shuffle(answers)
        if self.chance(0.05):
            answers.append(Result("ghost", "Read", a_text(self.random)))
        if self.late and self.chance(0.5):
            answers.insert(self.random.randint(0, len(answers)), self.late.pop())
        if self.chance(0.15):
            place = self.random.choice((0, len(answers)))
            answers.insert(place, Text(self.random.choice(WORDS)))
        if not answers:
            return
        if len(answers) > 1 and self.chance(0.15):
            half = len(answers) // 2
            self.turns += [DraftTurn("user", answers[:half]), DraftTurn("user", answers[half:])]
        else:
            self.turns.append(DraftTurn("user", answers))

    def draw(self) -> list[DraftTurn]:
        if self.chance(0.2):
            self.turns.append(DraftTurn(self.random.choice(("system", "developer")), [Text("Be brief.")]))  # fmt: skip
        if not self.chance(0.08):
            self.turns.append(self.spoken("user"))
        for _ in range(self.random.choice((0, 1, 2, 3, 4, 5, 6, 8, 14))):
            if self.chance(0.75):
                self.exchange()
            else:
                self.turns.append(self.spoken(self.random.choice(("assistant", "user"))))
            if self.chance(0.03):
                self.turns.append(DraftTurn("system", [Text("The user is away.")]))
            if self.chance(0.02):
                self.turns.append(self.random.choice(self.turns))
        if self.chance(0.3):
            self.turns.append(self.spoken("assistant"))
        return self.turns


def conversation(random: Random, shape: str) -> list[Any]:
    if shape == "mixed":
        first, second = random.choice(PROVIDERS), random.choice(PROVIDERS)
        return [*conversation(random, first), *conversation(random, second)]
    provider = {"claude_code": "anthropic", "langchain": "openai"}.get(shape, shape)
    turns = Draft(random, provider).draw()
    manner = Manner(random.random() < 0.5, random.random() < 0.7)
    # Copy a part that is drawn twice, so that no two messages share an object.
    messages: list[Any] = list(map(deepcopy, write(provider, turns, manner)))
    if random.random() < 0.35:
        add_extras(random, provider, messages)
    if random.random() < 0.25:
        add_marks(random, provider, messages)
    if random.random() < 0.25:
        change_thoughts(random, provider, messages)
    if shape == "claude_code":
        messages = records(random, messages)
    elif shape == "langchain":
        messages = list(map(langchain, messages))
    if random.random() < 0.15:
        for _ in range(random.randint(1, 4)):
            damage(random, messages)
    if messages and random.random() < 0.02:
        messages.insert(random.randint(0, len(messages)), random.choice(ODD))
    return messages


# Members of one provider

PNG = "iVBORw0KGgo="
SERVER_CALL = {"type": "server_tool_use", "id": "srvtoolu_x", "name": "web_search", "input": {"query": "q"}}  # fmt: skip
BLOCKS: dict[str, tuple[JsonObject, ...]] = {
    "anthropic": (
        SERVER_CALL,
        {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_x", "content": [{"type": "web_search_result", "url": "u", "title": "T", "encrypted_content": "ZW5j"}]},
        {"type": "server_tool_use", "id": "srvtoolu_c", "name": "code_execution", "input": {"code": "1"}},
        {"type": "code_execution_tool_result", "tool_use_id": "srvtoolu_c", "content": {"type": "code_execution_result", "stdout": "1", "stderr": "", "return_code": 0, "content": []}},
        {"type": "mcp_tool_use", "id": "mcptoolu_1", "name": "look", "server_name": "s", "input": {}},
        {"type": "mcp_tool_result", "tool_use_id": "mcptoolu_1", "is_error": False, "content": [{"type": "text", "text": "seen"}]},
        {"type": "redacted_thinking", "data": "cmVk"},
        {"type": "thinking", "thinking": "unsigned"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
        {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "doc"}, "title": "D"},
        {"type": "container_upload", "file_id": "file_1"},
        {"type": "from_the_future", "x": 1},
        {"type": "tool_use", "id": "t0", "name": "Read", "input": "{\"file_path\": \"a.py\"}"},
        {"type": "tool_result", "tool_use_id": "t0", "content": [{"type": "text", "text": "x" * 400}, {"type": "search_result", "source": "s", "title": "t", "content": [{"type": "text", "text": "y"}]}]},
    ),
    "openai": (
        {"type": "text", "text": "part"},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
        {"type": "input_audio", "input_audio": {"data": PNG, "format": "wav"}},
        {"type": "file", "file": {"file_data": f"data:application/pdf;base64,{PNG}", "filename": "a.pdf"}},
        {"type": "refusal", "refusal": "No."},
    ),
    "gemini": (
        {"inlineData": {"mimeType": "image/png", "data": PNG}},
        {"fileData": {"fileUri": "gs://b/x", "mimeType": "image/png"}},
        {"executableCode": {"language": "PYTHON", "code": "print(1)"}},
        {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}},
        {"functionCall": {"name": "Read", "args": {"file_path": "a.py"}}},
        {"functionResponse": {"name": "Read", "response": {"result": {"content": [{"type": "text", "text": "y" * 300}]}}}},
        {"text": "signed", "thoughtSignature": "c2ln"},
    ),
    "bedrock": (
        {"cachePoint": {"type": "default"}},
        {"reasoningContent": {"redactedContent": "cmVk"}},
        {"document": {"format": "pdf", "name": "d", "source": {"bytes": PNG}}},
        {"image": {"format": "png", "source": {"bytes": PNG}}},
        {"guardContent": {"text": {"text": "guard"}}},
        {"toolResult": {"toolUseId": "t0", "content": [{"json": {"rows": [1, 2, 3]}}, {"text": "z" * 300}]}},
    ),
}  # fmt: skip
MESSAGES: dict[str, tuple[JsonObject, ...]] = {
    "openai": (
        {"role": "assistant", "content": None, "function_call": {"name": "Read", "arguments": "{\"file_path\": \"a.py\"}"}},
        {"role": "function", "name": "Read", "content": "old result\n" * 20},
        {"role": "assistant", "content": "", "tool_calls": []},
        {"role": "assistant", "content": "x", "reasoning_content": "thought", "refusal": None},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t0", "name": "Read", "input": {}}], "tool_calls": [{"id": "t0", "type": "function", "function": {"name": "Read", "arguments": "{}"}}]},
        {"role": "developer", "content": "Be kind."},
        {"role": "tool", "content": "without an id"},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "t0", "function": {"name": "Read", "arguments": "{not json"}}]},
    ),
    "ollama": (
        {"role": "tool", "tool_name": "Read", "content": "unnamed result\n" * 20},
        {"role": "user", "content": "see", "images": [PNG]},
        {"role": "assistant", "content": "", "thinking": "only a thought"},
        {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "Read", "arguments": "{}"}}]},
    ),
    "responses": (
        {"type": "item_reference", "id": "msg_1"},
        {"type": "function_call", "id": "fc_1", "call_id": "t0", "name": "Read", "arguments": "{}", "status": "completed"},
        {"type": "function_call_output", "id": "x" * 70, "call_id": "t0", "output": "again\n" * 60},
        {"type": "computer_call", "id": "cu_1", "call_id": "k1", "action": {"type": "screenshot"}, "pending_safety_checks": [], "status": "completed"},
        {"type": "computer_call_output", "call_id": "k1", "output": {"type": "computer_screenshot", "image_url": f"data:image/png;base64,{PNG}"}},
        {"type": "mcp_call", "id": "mcp_1", "server_label": "s", "name": "look", "arguments": "{}", "output": "seen\n" * 60},
        {"type": "file_search_call", "id": "fs_1", "queries": ["q"], "status": "completed", "results": [{"text": "r" * 300}]},
        {"type": "code_interpreter_call", "id": "ci_1", "code": "1", "container_id": "c", "status": "completed", "outputs": [{"type": "logs", "logs": "1\n" * 200}]},
        {"type": "reasoning", "id": "rs_x", "encrypted_content": "ZW5j"},
        {"type": "tool_search_call", "call_id": "ts_1", "execution": "client", "arguments": {"query": "q"}, "status": "completed"},
        {"type": "message", "role": "assistant", "id": "msg_2", "status": "completed", "content": [{"type": "refusal", "refusal": "No."}]},
        {"role": "developer", "content": "Be kind."},
        {"type": "from_the_future", "x": 1},
    ),
    "gemini": ({"parts": [{"text": "no role"}]}, {"role": "model", "parts": []}),
    "bedrock": ({"role": "system", "content": [{"text": "Be kind."}]},),
    "anthropic": ({"role": "user", "content": []}, {"role": "system", "content": "Be kind."}, {"role": "assistant", "content": ""}),
}  # fmt: skip


def add_extras(random: Random, provider: str, messages: list[Any]) -> None:
    """Add blocks and messages that only this provider has, at random places."""
    for _ in range(random.randint(1, 4)):
        held = [message for message in messages if isinstance(parts_of(message), list)]
        if held and provider in BLOCKS and random.random() < 0.7:
            parts = parts_of(random.choice(held))
            first = random.randrange(len(BLOCKS[provider]))
            count = random.choice((1, 1, 2))
            at = random.randint(0, len(parts))
            parts[at:at] = deepcopy(list(BLOCKS[provider][first : first + count]))
        else:
            first = random.randrange(len(MESSAGES[provider]))
            at = random.randint(0, len(messages))
            count = random.choice((1, 1, 2))
            messages[at:at] = deepcopy(list(MESSAGES[provider][first : first + count]))


def parts_of(message: Any) -> Any:
    return message.get("content", message.get("parts"))


def add_marks(random: Random, provider: str, messages: list[Any]) -> None:
    """Add marks for the prompt cache, more than providers take now and then."""
    for message in messages:
        parts = parts_of(message)
        if not isinstance(parts, list) or random.random() < 0.5:
            continue
        if provider == "bedrock":
            parts.append({"cachePoint": {"type": "default"}})
        elif parts and isinstance(parts[-1], dict) and provider in ("anthropic", "openai"):
            parts[-1]["cache_control"] = {"type": "ephemeral"}


def change_thoughts(random: Random, provider: str, messages: list[Any]) -> None:
    """Give thoughts to some messages of Chat, and take the signatures of some of Gemini and Anthropic."""
    for message in messages:
        if random.random() < 0.4:
            continue
        if provider == "openai" and message.get("role") == "assistant":
            message["reasoning_content"] = random.choice(("Let me see.", ""))
        for part in parts_of(message) if provider in ("gemini", "anthropic") else ():
            if isinstance(part, dict):
                part.pop("thoughtSignature", None)
                part.pop("signature", None)


def records(random: Random, messages: list[Any]) -> list[Any]:
    """Return the records of a session of Claude Code, with side chains, branches and one record for each block."""
    made: list[Any] = []
    parent = None
    for message in messages:
        pieces = [message]
        content = message.get("content")
        if isinstance(content, list) and message["role"] == "assistant" and random.random() < 0.5:
            pieces = [{**message, "id": f"msg_{len(made)}", "content": [part]} for part in content]
        for piece in pieces:
            uuid = f"u{len(made)}"
            record = {"type": piece["role"], "uuid": uuid, "parentUuid": parent, "message": piece}
            if random.random() < 0.05:
                record["isSidechain"] = True
            if random.random() < 0.3:
                record["cwd"] = "/app"
            made.append(record)
            if random.random() > 0.04:
                parent = uuid
    if random.random() < 0.2:
        made.insert(0, {"type": "summary", "summary": "What was done", "leafUuid": "u0"})
    if made and random.random() < 0.1:
        made.append({"type": "system", "subtype": "compact_boundary", "uuid": "c", "parentUuid": None})  # fmt: skip
    return made


def langchain(message: JsonObject) -> JsonObject:
    """Return a message of Chat as LangChain dumps it."""
    kind = {"user": "human", "assistant": "ai"}.get(message.get("role", ""), message.get("role"))
    data: JsonObject = {"content": message.get("content") or "", "additional_kwargs": {}}
    calls = message.get("tool_calls")
    if calls is not None:
        data["tool_calls"] = [langchain_call(call) for call in calls]
    if "tool_call_id" in message:
        data["tool_call_id"] = message["tool_call_id"]
        data["status"] = "success"
    return {"type": kind, "data": data}


def langchain_call(call: JsonObject) -> JsonObject:
    held = call.get("function") or call.get("custom") or {}
    given = held.get("arguments", held.get("input", "{}"))
    arguments = json.loads(given) if given[1:2] in ('"', "}") else given
    return {"type": "tool_call", "id": call.get("id"), "name": held.get("name"), "args": arguments}


def damage(random: Random, messages: list[Any]) -> None:
    """Change one member, anywhere: to an odd value, to none at all, or to a new one."""
    holders = [message for message in messages if isinstance(message, dict) and message]
    if not holders:
        return
    held: Any = random.choice(holders)
    while True:
        inner = [value for value in values_of(held) if isinstance(value, (dict, list)) and value]
        if not inner or random.random() < 0.35:
            break
        held = random.choice(inner)
    place = random.choice(list(held) if isinstance(held, dict) else range(len(held)))
    match random.randint(0, 3):
        case 0:
            del held[place]
        case 1 if isinstance(held, dict):
            held[random.choice(("name", "id", "x", "content", "type", "role"))] = deepcopy(random.choice(ODD))  # fmt: skip
        case 2 if isinstance(held, list):
            held.insert(place, deepcopy(held[place]))
        case _:
            held[place] = deepcopy(random.choice(ODD))


def values_of(held: Any) -> list[Any]:
    return list(held.values()) if isinstance(held, dict) else held


# Bytes


def bodies(random: Random, shape: str, messages: list[Any], later: list[Any]) -> tuple[bytes, bytes]:  # fmt: skip
    """Return the bytes of the request, and of the next one of the same conversation, in the same spelling."""
    spelling = random.choice(SPELLINGS)
    own_frame = FRAMES.get(shape, {"model": "gpt-4o", "stream": True})
    frame = random.choice((None, {}, {"model": "m"}, own_frame, own_frame))
    is_session = shape == "claude_code" and random.random() < 0.7
    noise = "not json\n" if random.random() < 0.1 else ""
    has_tail = random.random() < 0.3

    def body(given: list[Any]) -> bytes:
        if is_session:
            text = noise + "".join(f"{spell(record, spelling)}\n" for record in given)
        elif frame is None:
            text = spell(given, spelling)
        else:
            tail = {"temperature": 0.5} if has_tail else {}
            text = spell({**frame, HOLDERS.get(shape, "messages"): given, **tail}, spelling)
        return text.encode("utf-8", "replace")

    return body(messages), body([*messages, *later])


def spell(value: Any, spelling: str) -> str:
    """Return a value as JSON in one of the spellings. Inside of strings, no quote stands without a backslash."""
    match spelling:
        case "plain":
            return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        case "spaced":
            return " " + json.dumps(value, ensure_ascii=False, separators=(" ,\t", " : ")) + "\r"
        case "escaped":  # no literal of JSON has an o
            return json.dumps(value).replace("o", "\\u006f").replace("/", "\\/")
        case "decoys":  # the last member of a name counts
            text = json.dumps(value)
            for name in ("role", "content", "id", "arguments", "messages"):
                text = text.replace(f'"{name}": ', f'"{name}": ["decoy"], "{name}": ')
            return text
        case "indented":
            return json.dumps(value, indent=1)
    return json.dumps(value)


FRAMES: dict[str, JsonObject] = {
    "anthropic": {"model": "claude-sonnet-4-5", "max_tokens": 100, "system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}], "thinking": {"type": "enabled", "budget_tokens": 1024}, "tools": [{"name": "Read", "description": "Reads.", "input_schema": {"type": "object"}}]},
    "openai": {"model": "gpt-4o", "tools": [{"type": "function", "function": {"name": "Read", "parameters": {"type": "object"}}}]},
    "responses": {"model": "gpt-5", "instructions": "Be brief.", "store": False},
    "gemini": {"systemInstruction": {"parts": [{"text": "Be brief."}]}, "tools": [{"functionDeclarations": [{"name": "Read"}]}]},
    "bedrock": {"modelId": "amazon.nova-pro-v1:0", "system": [{"text": "Be brief."}], "toolConfig": {"tools": [{"toolSpec": {"name": "Read", "inputSchema": {"json": {}}}}]}},
    "ollama": {"model": "qwen3", "options": {"num_ctx": 4096}},
}  # fmt: skip


# Settings
