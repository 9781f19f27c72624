"""Failures that are said only in words: which forms count, where, and what they supersede."""

import json
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.rows import for_each

from toolcarry._data import read_table
from toolcarry.tract import Tract

Message = dict[str, Any]
GOOD = "def greet():\n    return 'hello'\n" * 12
READ = ("read_file", {"path": "src/greet.py"})
RUN = ("bash", {"command": "make check"})


def chat(tool: str, given: dict[str, Any], results: list[str]) -> list[Message]:
    found: list[Message] = []
    for index, text in enumerate(results):
        call = {"name": tool, "arguments": json.dumps(given)}
        calls = [{"id": f"c{index}", "type": "function", "function": call}]
        found.append({"role": "assistant", "content": None, "tool_calls": calls})
        found.append({"role": "tool", "tool_call_id": f"c{index}", "content": text})
    return found


def ollama(tool: str, given: dict[str, Any], results: list[str]) -> list[Message]:
    found: list[Message] = []
    for text in results:
        calls = [{"function": {"name": tool, "arguments": given}}]
        found.append({"role": "assistant", "content": "", "tool_calls": calls})
        found.append({"role": "tool", "tool_name": tool, "content": text})
    return found


def responses(tool: str, given: dict[str, Any], results: list[str]) -> list[Message]:
    found: list[Message] = []
    for index, text in enumerate(results):
        call_id = f"c{index}"
        call = {"name": tool, "arguments": json.dumps(given), "call_id": call_id}
        found.append({"type": "function_call", **call})
        found.append({"type": "function_call_output", "call_id": call_id, "output": text})
    return found


def gemini(tool: str, given: dict[str, Any], results: list[str]) -> list[Message]:
    found: list[Message] = []
    for index, text in enumerate(results):
        call = {"id": f"c{index}", "name": tool, "args": given}
        answer = {"id": f"c{index}", "name": tool, "response": {"output": text}}
        found.append({"role": "model", "parts": [{"functionCall": call}]})
        found.append({"role": "user", "parts": [{"functionResponse": answer}]})
    return found


def anthropic(tool: str, given: dict[str, Any], results: list[str]) -> list[Message]:
    found: list[Message] = []
    for index, text in enumerate(results):
        call = {"type": "tool_use", "id": f"c{index}", "name": tool, "input": given}
        answer = {"type": "tool_result", "tool_use_id": f"c{index}", "content": text}
        found.append({"role": "assistant", "content": [call]})
        found.append({"role": "user", "content": [answer]})
    return found


def bedrock(tool: str, given: dict[str, Any], results: list[str]) -> list[Message]:
    found: list[Message] = []
    for index, text in enumerate(results):
        call = {"toolUseId": f"c{index}", "name": tool, "input": given}
        answer = {"toolUseId": f"c{index}", "content": [{"text": text}]}
        found.append({"role": "assistant", "content": [{"toolUse": call}]})
        found.append({"role": "user", "content": [{"toolResult": answer}]})
    return found


SHAPES = [chat, ollama, responses, gemini, anthropic, bedrock]
TOOLS = [READ, RUN]


def kept(api: ModuleType, messages: list[Message]) -> list[bool]:
    """True for each result that no later one supersedes."""
    blocks = api.extract_tool_blocks(messages)
    positions = {block.position for block in api.deduplicate_tools(blocks)}
    return [block.position in positions for block in blocks]


def errors(api: ModuleType, messages: list[Message]) -> list[bool]:
    return [block.is_error for block in api.extract_tool_blocks(messages)]


def rows(texts: list[str], tools: list[Any] | None = None) -> list[Any]:
    """Each text as the result of each tool in one shape, and one of the texts in each other shape."""
    tools = tools or [RUN]
    found = [(chat, text, tool) for text in texts for tool in tools]
    return found + [(shape, texts[0], tool) for shape in SHAPES[1:] for tool in tools]


FAILED_ANYWHERE = [
    "Error: ENOENT: no such file or directory, open '/w/src/greet.py'",
    "Error: File not found: src/greet.py\n Please fix your mistakes.",
    "ENOENT: no such file or directory, stat '/w'",
    "<tool_use_error>File does not exist.</tool_use_error>",
    "The tool execution failed with the following error:\n<error>\nno access\n</error>",
    "An error occurred while running the tool. Please try again. Error: boom",
    "MCP error -32602: Invalid arguments",
    '{"error": "not found"}',
    '{"isError": true, "content": [{"type": "text", "text": "no"}]}',
    '{"status": "error", "message": "no such path"}',
    '{"success": false, "error": {"code": 404}}',
    '{"exit_code": 2, "output": ""}',
    '{"output": "", "metadata": {"exit_code": 1, "duration_seconds": 0.1}, "x": 1}',
    "Exit code: 1\nWall time: 0 seconds\nOutput:\nno",
    "[Tool use failed]\nwhatever it was",
    "Permission to use Edit has been auto-denied in dontAsk mode.",
    "Claude requested permissions to write to /w/a.py, but you haven't granted it yet.",
    "The user doesn't want to proceed with this tool use. The tool use was rejected (STOP).",
    "This command requires approval",
    "String to replace not found in file.\nString: x = 1",
]
FAILED_RUNS = [
    "Exit code: 101\nWall time: 3 seconds\nOutput:\n" + "running\n" * 200,
    "Chunk ID: 0a\nWall time: 0.1 seconds\nProcess exited with code 2\nOutput:\nno rule",
    "Exit code 127\n/bin/bash: make: command not found",
    "[exit 1]\nno rule to make target",
    "<returncode>2</returncode>\n<output>\nno rule</output>",
    "building\n"
    * 300
    + "[The command completed with exit code 2.]\n[Current working directory: /w]\n"
    "[Command finished with exit code 2]",
    "Output: no rule\nExit Code: 2\nProcess Group PGID: 4711",
    "bash: line 1: make: command not found".replace(" line 1:", ""),
    "make: No such file or directory",
    "zsh: command not found: make",
    "error: no target named check",
    "Command failed: make check\nmake: *** no rule",
    'Traceback (most recent call last):\n  File "x.py", line 1, in <module>\n    f()\nValueError: no',
]
DOUBTFUL_RUNS = [
    "Error: 2 of 40 checks failed\n" + "check\n" * 40,
    "Command failed: 2 of 40\n" + "check\n" * 40,
    "Permission to use the camera is asked for once.",
    "tool: x/greet.py: No such file or directory",
    "listing\nls: missing: No such file or directory",
    '{"error": "partial", "rows": [1, 2]}',
    '{"status": "failed", "job": 7}',
]
SUCCESSES = [
    "all checks passed",
    "see: This command requires approval",
    "12:00 start\n12:01 Error: connection lost, retrying\n12:02 done\n" * 3,
    "Exit code: 0\nWall time: 3 seconds\nOutput:\nError: only the words of a program",
    "Chunk ID: 0a\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\nfatal: no",
    '{"exit_code": 0, "output": "", "error": "x"}',
    '{"isError": false, "error": "a field"}',
    '{"error": null, "rows": []}',
    '{"errors": [], "error": 0, "rows": [1]}',
    "Exit code: none of your business",
    "errors: 0, warnings: 2",
    "log\n" * 400 + "Traceback (most recent call last):\n  x\nValueError: y\n" + "log\n" * 400,
]
FILES_WITH_ERRORS = [
    'error: "Not found"\nretry: "Try again"\nok: "Fine"\ncancel: "Stop"\n',
    "Error: disk full\n" + "12:00 retry\n" * 30,
    "Traceback (most recent call last):\n" + "  line\n" * 3 + "Never mind\n",
    "ENOENT: the error of the day\n" + "text\n" * 200,
    "Exit code: 3\n" + "text\n" * 200,
    "<html><error>no</error></html>",
]


@for_each(("shape", "text", "tool"), rows(FAILED_ANYWHERE, TOOLS))
def test_a_failure_in_words(api: ModuleType, shape: Any, text: str, tool: Any) -> None:
    messages = shape(*tool, [GOOD, text])
    assert errors(api, messages) == [False, True]
    assert kept(api, messages) == [True, True]
    assert "failed)" in api.carry(messages).text
    assert "greet" in api.carry(messages).text


@for_each(("shape", "text", "tool"), rows(FAILED_RUNS))
def test_a_failed_run_in_words(api: ModuleType, shape: Any, text: str, tool: Any) -> None:
    messages = shape(*tool, [GOOD, text])
    assert errors(api, messages) == [False, True]
    assert kept(api, messages) == [True, True]


@for_each(("shape", "text", "tool"), rows(DOUBTFUL_RUNS))
def test_in_doubt_the_older_success_stays(
    api: ModuleType, shape: Any, text: str, tool: Any
) -> None:
    messages = shape(*tool, [GOOD, text])
    assert errors(api, messages) == [False, False]
    assert kept(api, messages) == [True, True]


@for_each(
    ("shape", "text", "tool"),
    [*rows(SUCCESSES), *rows(FILES_WITH_ERRORS, [READ])],
)
def test_a_success_supersedes(api: ModuleType, shape: Any, text: str, tool: Any) -> None:
    """The older answer is of the same kind, as those of one command or file are."""
    messages = shape(*tool, [f"{text}\n{GOOD}", text])
    assert errors(api, messages) == [False, False]
    assert kept(api, messages) == [False, True]


@pytest.mark.parametrize("text", ["error: Not found\n", "Error: retry later", '{"error": "no"}'])
def test_a_short_file_may_be_a_failure(api: ModuleType, text: str) -> None:
    tool = "read_file", {"path": "messages.json"}
    messages = chat(*tool, [GOOD, text])
    assert errors(api, messages) == [False, False]
    assert kept(api, messages) == [True, True]


@pytest.mark.parametrize("tool", [READ, RUN], ids=["read", "run"])
def test_a_flag_decides(api: ModuleType, tool: Any) -> None:
    messages = anthropic(*tool, [GOOD, "Error: ENOENT: not found"])
    messages[-1]["content"][0]["is_error"] = False
    assert errors(api, messages) == [False, False]
    assert kept(api, messages) == [False, True]
    messages = bedrock(*tool, [GOOD, "Error: ENOENT: not found"])
    messages[-1]["content"][0]["toolResult"]["status"] = "success"
    assert kept(api, messages) == [False, True]


def test_codex_says_that_the_command_succeeded(api: ModuleType) -> None:
    packed = json.dumps({"output": "error: only words", "metadata": {"exit_code": 0}})
    messages = responses(*RUN, [GOOD, packed])
    assert errors(api, messages) == [False, False]
    assert kept(api, messages) == [False, True]


def test_failures_supersede_failures_and_doubts_supersede_doubts(api: ModuleType) -> None:
    long_failure = "[exit 2]\n" + "no rule\n" * 40
    doubt = DOUBTFUL_RUNS[0]
    assert kept(api, chat(*RUN, [long_failure, long_failure])) == [False, True]
    assert kept(api, chat(*RUN, [doubt, doubt])) == [False, True]
    assert kept(api, chat(*RUN, [doubt, long_failure])) == [True, True]
    assert kept(api, chat(*RUN, [long_failure, doubt])) == [False, True]
    assert kept(api, chat(*RUN, [GOOD, GOOD, doubt, long_failure])) == [False, True, True, True]


def test_a_failed_edit_in_words_makes_no_read_stale(api: ModuleType) -> None:
    read = chat(*READ, [GOOD])
    edit = {"file_path": "src/greet.py", "old_string": "a", "new_string": "b"}
    failed = chat("edit_file", edit, ["Error: old_string not found in file"])
    for message in failed:
        renamed = json.loads(json.dumps(message).replace('"c0"', '"e0"'))
        read.append(renamed)
    text = api.carry(read).text
    assert "edited after this read" not in text
    assert "failed)" in text


ALL_SUCCESSES = (GOOD, *SUCCESSES)
texts = st.sampled_from([*ALL_SUCCESSES, *FAILED_ANYWHERE, *FAILED_RUNS, *DOUBTFUL_RUNS])


@given(shape=st.sampled_from(SHAPES), results=st.lists(texts, min_size=1, max_size=6))
def test_the_last_success_is_never_hidden(api: ModuleType, shape: Any, results: list[str]) -> None:
    whole = kept(api, shape(*RUN, results))
    assert whole[-1]
    sure = [index for index, text in enumerate(results) if text in ALL_SUCCESSES]
    assert not sure or whole[sure[-1]]


@given(
    results=st.lists(
        st.sampled_from([GOOD, " ".join(map(str, range(99))), "ok\n" * 90]), max_size=6
    )
)
def test_without_failures_only_the_last_stays(api: ModuleType, results: list[str]) -> None:
    whole = kept(api, chat(*RUN, results))
    assert whole == [index == len(results) - 1 for index in range(len(results))]


def test_each_form_has_a_source() -> None:
    table = read_table("failures")
    for kind in ("exits", "wrappers", "starts", "labels"):
        assert all(form["source"] for form in table[kind])


@for_each("to", ["openai", "ollama", "responses"])
@for_each("text", ["denied", "", "line\n\n", "[Tool use failed: no output]"])
def test_a_conversion_keeps_the_flag_as_text(api: ModuleType, to: Any, text: str) -> None:
    messages = anthropic(*RUN, [text])
    messages[-1]["content"][0]["is_error"] = True
    there = api.convert(messages, to=to)
    assert errors(api, there.messages) == [True]
    back = api.convert(there.messages, to="anthropic", repair=False)
    if not text.startswith("[Tool"):
        (found,) = back.messages[-1]["content"]
        assert found["is_error"] is True
        assert found.get("content", "") == text
    assert errors(api, back.messages) == [True]


def test_a_text_of_the_history_is_judged_alike(rust: ModuleType) -> None:
    with Tract.open() as tract:
        for call_id, text in (("a", GOOD), ("b", "Error: ENOENT: no such file")):
            call = {"id": call_id, "name": READ[0], "arguments": READ[1]}
            tract.assistant("", tool_calls=[call])
            tract.tool_result(call_id, READ[0], text)
        shown = tract.compile(policy=rust.ProjectPolicy())
        assert next(message["content"] for message in shown if message["role"] == "tool") == GOOD
        assert len(tract.drop_failed_tool_turns().covered) == 2
