"""A written session reads back as the same conversation, except for the listed losses."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.builders.opencode_store import opencode_store
from support.builders.producers import DOCUMENTS
from support.rows import for_each
from support.strategies.conversations import message

from toolcarry import BackendError, ConfigError, InputError, convert, extract_tool_blocks
from toolcarry.sessions import WrittenSession, write_session
from toolcarry.sessions.agents import AGENTS
from toolcarry.sessions.files import add_file
from toolcarry.sessions.tools import own_call
from toolcarry.sessions.writers import WRITERS
from toolcarry.sessions.writers.claude_code import folder_of

pytestmark = pytest.mark.usefixtures("rust")

EACH_AGENT = for_each("agent", WRITERS)


def written(messages: Any, agent: str, home: Path) -> WrittenSession:
    """Write a session in a store of its own."""
    if agent == "opencode":
        opencode_store(home / "opencode" / "opencode" / "opencode.db")
    variables = {each.variable: str(home / each.name) for each in AGENTS}
    return write_session(messages, agent, directory=home, environment=variables)


def source_of(session: WrittenSession) -> Path:
    """Return what a session is read from again: its file, or its name in a store."""
    is_store = session.path.suffix == ".db"
    return Path(f"{session.path}#{session.session_id}") if is_store else session.path


Fact = tuple[str, Any]
FAILED = re.compile(r"^\[Tool use failed(: no output)?\]")
"""The mark of a failed result where a format has no flag for it."""


def facts(source: Any, agent: str) -> list[Fact]:
    """Return what a model knows of a conversation, in order: texts, media, and calls as ``agent`` makes them, with results."""
    talk = convert(source, to="openai").messages
    results: dict[str, list[Any]] = {}
    for each in talk:
        if each["role"] == "tool":
            results.setdefault(each["tool_call_id"], []).append(result_of(each))
    return [fact for each in talk if each["role"] in ("user", "assistant") for fact in facts_of(each, agent, results)]  # fmt: skip


def parts_of(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message.get("content")
    return [{"type": "text", "text": content}] if isinstance(content, str) else content or []


def result_of(message: dict[str, Any]) -> list[Any]:
    """Return the text and the media of a result. Some agents keep its texts as one, and without a flag for a failure."""
    text = "\n".join(part["text"] for part in parts_of(message) if part["type"] == "text")
    return [FAILED.sub("", text).strip(), *(part for part in parts_of(message) if part["type"] != "text")]  # fmt: skip


def facts_of(message: dict[str, Any], agent: str, results: dict[str, list[Any]]) -> Iterator[Fact]:
    for part in parts_of(message):
        if part["type"] != "text":
            yield message["role"], part
        elif part["text"].strip():
            yield message["role"], part["text"].strip()
    for call in message.get("tool_calls") or ():
        name, arguments = call["function"]["name"], json.loads(call["function"]["arguments"])
        own = own_call(agent, name, arguments)
        if own is not None:
            name, arguments = own.name, own.arguments
        if isinstance(arguments, dict) and list(arguments) == ["input"]:
            arguments = arguments["input"]
        yield "call", (name, arguments, results[call["id"]].pop(0))


@EACH_AGENT
@for_each("name", DOCUMENTS)
def test_a_sample_comes_back(agent: str, name: str, tmp_path: Path) -> None:
    items = DOCUMENTS[name]()
    source = json.dumps(items[0] if len(items) == 1 else items).encode()
    first = written(source, agent, tmp_path)
    back = source_of(first)
    assert facts(back, agent) == facts(source, agent)
    assert len(extract_tool_blocks(back)) == len(extract_tool_blocks(source))
    unread = convert(back, to="anthropic").unread
    assert unread.count == 0


@pytest.mark.timeout(900)  # the long form writes 1,500 sessions
@EACH_AGENT
@given(messages=st.lists(message, max_size=12))
def test_any_conversation_comes_back(agent: str, messages: list[dict[str, Any]]) -> None:
    with TemporaryDirectory() as name:
        try:
            first = written(messages, agent, Path(name))
        except InputError:
            assert convert(messages, to=WRITERS[agent].DESTINATION).messages == []
            return
        if any(loss.kind in BROKEN for loss in first.losses):
            return  # what is left out of a broken conversation depends on the provider; the losses name it
        assert turns(facts(source_of(first), agent)) == turns(facts(messages, agent))


def turns(told: list[Fact]) -> list[Any]:
    """Return what the user said, and between that the order of texts and of calls.

    Texts beside calls have no order: Chat has them first, wherever they stood.
    """
    found: list[Any] = [{}]
    for fact in told:
        if fact in STAND_INS:
            continue
        if fact[0] == "user":
            found += [fact, {}]
        else:
            found[-1].setdefault(fact[0], []).append(fact[1])
    # Two halves of a character are one in JSON, and no provider takes half of one.
    text = json.dumps([each for each in found if each], ensure_ascii=False)
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return list(json.loads(whole))


BROKEN = ("server_call", "orphan_result", "duplicate_result", "moved_call", "refused_name")
STAND_INS = [
    ("user", "[Continue]"),
    ("user", "[Empty message left out]"),
    ("user", "[Thinking left out: nothing followed it]"),
]
"""Messages that stand where a provider needs one of the user; the losses name them."""


@for_each("agent", ["gemini", "opencode", "pi"])
def test_a_call_of_a_server_becomes_one_of_the_agent(agent: str, tmp_path: Path) -> None:
    page = {"type": "web_search_result", "url": "https://barn.example", "encrypted_content": "zz"}
    said = [
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "hens"}},
        {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [page]},
        {"type": "text", "text": "Forty."},
    ]
    talk = [{"role": "user", "content": "Count."}, {"role": "assistant", "content": said}]
    first = written(talk, agent, tmp_path)
    assert facts(source_of(first), agent) == [
        ("user", "Count."),
        ("call", ("web_search", {"query": "hens"}, ["[web_search_result: https://barn.example]"])),
        ("assistant", "Forty."),
    ]
    assert ("server_tool", "web_search s1") in [(each.kind, each.detail) for each in first.losses]


@EACH_AGENT
def test_a_text_with_a_lone_surrogate(agent: str, tmp_path: Path) -> None:
    """Found by generated conversations: SQLite does not take it in a title."""
    talk = [{"role": "user", "content": "Count \ud800 the hens."}]
    first = written(talk, agent, tmp_path)
    [(role, text)] = facts(source_of(first), agent)
    assert (role, text[:6], text[-10:]) == ("user", "Count ", " the hens.")


@EACH_AGENT
def test_a_sub_agent_is_left_out_and_reported(agent: str, tmp_path: Path) -> None:
    records = [
        record("user", "Count the hens.", "u1"),
        record("user", "Count in the loft.", "u2", isSidechain=True),
        record("assistant", "Forty.", "u3", parentUuid="u1"),
    ]
    first = written(records, agent, tmp_path)
    assert ("side_chain", "1 message") in [(each.kind, each.detail) for each in first.losses]
    assert facts(source_of(first), agent) == [("user", "Count the hens."), ("assistant", "Forty.")]


@EACH_AGENT
def test_a_compaction_stays_if_what_it_covers_is_gone(agent: str, tmp_path: Path) -> None:
    records = [
        record("user", "Count the hens.", "u1"),
        record("assistant", "Forty.", "u2", parentUuid="u1"),
        {"type": "system", "subtype": "compact_boundary", "uuid": "u3", "parentUuid": None, "logicalParentUuid": "u2"},
        record("user", "There are forty hens.", "u4", parentUuid="u3", isCompactSummary=True),
        record("user", "And the geese?", "u5", parentUuid="u4"),
    ]  # fmt: skip
    whole = written(records, agent, tmp_path)
    said = [text for _, text in facts(source_of(whole), agent)]
    assert said == ["Count the hens.", "Forty.", "And the geese?"]  # nothing that it covers is lost
    cut = written(records[2:], agent, tmp_path)
    said = [text for _, text in facts(source_of(cut), agent)]
    assert said == [text for _, text in facts(records[2:], agent)]
    assert "There are forty hens." in said[0]


def record(role: str, text: str, uuid: str, **more: Any) -> dict[str, Any]:
    """A record of Claude Code."""
    message = {"role": role, "content": [{"type": "text", "text": text}]}
    return {"type": role, "uuid": uuid, "parentUuid": None, "isSidechain": False, "message": message, **more}  # fmt: skip


@pytest.mark.slow
@EACH_AGENT
@for_each("other", ["claude", "codex"])
@for_each("name", ["ai_sdk_ui", "cline", "genkit", "gemini_cli", "opencode", "pi"])
def test_there_and_back_twice_loses_nothing_more(
    agent: str, other: str, name: str, tmp_path: Path
) -> None:
    items = DOCUMENTS[name]()
    source: Any = json.dumps(items[0] if len(items) == 1 else items).encode()
    rounds = []
    for _ in range(2):
        source = source_of(written(source, other, tmp_path))
        source = source_of(written(source, agent, tmp_path))
        rounds.append(facts(source, agent))
    assert rounds[0] == rounds[1]


EDIT = {"file_path": "/barn/hens.txt", "old_string": "forty\nhens", "new_string": "ten\nhens\n"}
OWN_CALLS = [
    ("claude", "Bash", {"command": "make"}, "codex", "exec_command", {"cmd": "make"}),
    ("claude", "Bash", {"command": "make"}, "gemini", "run_shell_command", {"command": "make"}),
    ("claude", "Edit", EDIT, "opencode", "edit", {"filePath": "/barn/hens.txt", "oldString": "forty\nhens", "newString": "ten\nhens\n"}),
    ("claude", "Edit", EDIT, "pi", "edit", {"path": "/barn/hens.txt", "oldText": "forty\nhens", "newText": "ten\nhens\n"}),
    ("claude", "Edit", EDIT, "codex", "apply_patch", {"input": "*** Begin Patch\n*** Update File: /barn/hens.txt\n@@\n-forty\n-hens\n+ten\n+hens\n+\n*** End Patch"}),
    ("claude", "Edit", {"file_path": "a", "old_string": "b\n", "new_string": ""}, "codex", "apply_patch", {"input": "*** Begin Patch\n*** Update File: a\n@@\n-b\n*** End Patch"}),
    ("claude", "Write", {"file_path": "a", "content": "b\n\n"}, "codex", "apply_patch", {"input": "*** Begin Patch\n*** Add File: a\n+b\n+\n*** End Patch"}),
    ("claude", "Read", {"file_path": "a", "offset": 5, "limit": 10}, "gemini", "read_file", {"file_path": "a", "start_line": 5, "end_line": 14}),
    ("claude", "TodoWrite", {"todos": [{"content": "Count", "status": "pending", "activeForm": "Count"}]}, "codex", "update_plan", {"plan": [{"step": "Count", "status": "pending"}]}),
    ("opencode", "todowrite", {"todos": [{"content": "Count", "status": "pending", "id": "1", "priority": "medium"}]}, "gemini", "write_todos", {"todos": [{"description": "Count", "status": "pending"}]}),
    ("claude", "Grep", {"pattern": "hen", "path": "barn", "glob": "*.txt"}, "pi", "grep", {"pattern": "hen", "path": "barn", "glob": "*.txt"}),
]  # fmt: skip


@for_each("agent, name, arguments, other, own_name, own_arguments", OWN_CALLS)
def test_a_call_of_another_agent_becomes_an_own_one_and_back(
    agent: str, name: str, arguments: Any, other: str, own_name: str, own_arguments: Any
) -> None:
    there = own_call(other, name, arguments)
    assert there is not None
    assert (there.name, there.arguments, there.dropped) == (own_name, own_arguments, ())
    back = own_call(agent, there.name, there.arguments)
    assert back is not None
    assert (back.name, back.arguments) == (name, arguments)


LEFT = [
    ("codex", "Bash", {"command": "make", "run_in_background": True}),
    ("claude", "exec_command", {"cmd": "make", "workdir": "/elsewhere"}),
    ("codex", "Edit", {"file_path": "a", "old_string": "b", "new_string": "c", "replace_all": True}),
    ("codex", "Edit", {"file_path": "a", "old_string": "part", "new_string": ""}),
    ("codex", "Write", {"file_path": "a", "content": "no line break at the end"}),
    ("codex", "Write", {"file_path": "a", "content": "b\r\n"}),
    ("claude", "apply_patch", {"input": "*** Begin Patch\n*** Delete File: a\n*** End Patch"}),
    ("claude", "apply_patch", {"input": "*** Begin Patch\n*** Update File: a\n@@ def b():\n-c\n+d\n*** End Patch"}),
    ("claude", "apply_patch", {"input": "*** Begin Patch\n*** Update File: a\n@@\n-c\n@@\n-d\n*** End Patch"}),
    ("claude", "update_plan", {"plan": [{"step": "a", "status": "cancelled"}]}),
    ("claude", "mcp__barn__look", {"path": "loft"}),
    ("claude", "shell", {"command": ["python", "-c", "print()"]}),
    ("claude", "exec_command", "not an object"),
]  # fmt: skip


@for_each("agent, name, arguments", LEFT)
def test_a_call_that_another_form_cannot_hold_stays(agent: str, name: str, arguments: Any) -> None:
    assert own_call(agent, name, arguments) is None


def test_the_losses_say_what_was_left_out(tmp_path: Path) -> None:
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls", "description": "List", "timeout": 5}}  # fmt: skip
    talk = {"system": "Be brief.", "messages": [{"role": "assistant", "content": [call]}]}
    body = json.dumps(talk).encode()
    told = [(each.kind, each.detail) for each in written(body, "codex", tmp_path).losses]
    assert ("own_tools", "1 call of Bash became exec_command") in told
    assert ("labels", "description of 1 call") in told
    assert ("labels", "timeout of 1 call") in told
    assert ("system", "9 characters") in told
    assert ("missing_result", "t1") in told


def test_messages_that_are_not_read_are_a_loss(tmp_path: Path) -> None:
    talk = [{"role": "user", "content": "Hi."}, {"odd": {"said": "What is here?"}, "by": "me"}]
    told = [(each.position, each.kind, each.detail) for each in written(talk, "claude", tmp_path).losses]  # fmt: skip
    assert (1, "unread", "1 of 2 messages") in told


def test_a_directory_of_the_session_is_no_argument() -> None:
    own = own_call("claude", "exec_command", {"cmd": "ls", "workdir": "/barn"}, directory="/barn")
    assert own is not None
    assert (own.arguments, own.dropped) == ({"command": "ls"}, ("directory",))


@EACH_AGENT
def test_two_at_once_are_two_sessions(agent: str, tmp_path: Path) -> None:
    talk = [{"role": "user", "content": "Count the hens."}]
    written(talk, agent, tmp_path)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: written(talk, agent, tmp_path), range(16)))
    assert len({each.session_id for each in found}) == 16
    for each in found:
        assert facts(source_of(each), agent) == [("user", "Count the hens.")]


def test_nothing_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "session"
    add_file(path, b"first")
    with pytest.raises(FileExistsError):
        add_file(path, b"second")
    assert [each.name for each in path.parent.iterdir()] == ["session"]
    assert path.read_bytes() == b"first"


def test_what_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="agent: 'cursor' is not allowed"):
        written([{"role": "user", "content": "Hi."}], "cursor", tmp_path)
    with pytest.raises(InputError, match="holds no messages"):
        written([], "claude", tmp_path)
    with pytest.raises(InputError):
        written(b"no conversation", "claude", tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_without_the_extension_nothing_is_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:  # fmt: skip
    monkeypatch.setattr("toolcarry._backend.backend", lambda: "python")
    with pytest.raises(BackendError, match="write_session needs the Rust extension"):
        written([{"role": "user", "content": "Hi."}], "claude", tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_folder_of_a_directory() -> None:
    assert folder_of("/home/ann/März 1") == "-home-ann-M-rz-1"
    long = folder_of("/" + "a" * 300)
    assert long[:200] == "-" + "a" * 199
    assert len(long) > 201
