"""Invariant ``canonical_tool_result_is_lossless``: each way into the history keeps a result in full, whatever its size."""

import ast
import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from support.examples import examples

import toolcarry.tract
from toolcarry import ProjectPolicy
from toolcarry.tract import Tract

Opener = Callable[..., Tract]
Write = Callable[[Tract, str, Path], object]

CALL = {"id": "t1", "name": "Bash", "arguments": {"command": "make"}}


def by_tool_result(tract: Tract, text: str, folder: Path) -> None:
    tract.assistant("", tool_calls=[CALL])
    tract.tool_result("t1", "Bash", text)


def by_messages(tract: Tract, text: str, folder: Path) -> None:
    use = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "make"}}
    result = {
        "type": "tool_result",
        "tool_use_id": "t1",
        "content": [{"type": "text", "text": text}],
    }
    tract.append_many(
        [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
    )


def by_plain_messages(tract: Tract, text: str, folder: Path) -> None:
    function = {"name": "Bash", "arguments": '{"command": "make"}'}
    call = {"id": "t1", "type": "function", "function": function}
    tract.append_many(
        [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "t1", "content": text},
        ]
    )


def by_import(tract: Tract, text: str, folder: Path) -> None:
    path = folder / "session.jsonl"
    use = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "make"}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": text}
    lines = [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    tract.import_transcript(path)


def by_document(tract: Tract, text: str, folder: Path) -> None:
    path = folder / "request.json"
    item = {"type": "function_call_output", "call_id": "t1", "output": text}
    call = {"type": "function_call", "call_id": "t1", "name": "Bash", "arguments": "{}"}
    path.write_text(json.dumps({"model": "m", "input": [call, item]}))
    tract.import_transcript(path)


def by_hook(tract: Tract, text: str, folder: Path) -> None:
    tract.on("tool_result", lambda pending: pending.edit("short"))
    by_tool_result(tract, text, folder)


WAYS: list[Write] = [
    by_tool_result,
    by_messages,
    by_plain_messages,
    by_import,
    by_document,
    by_hook,
]
ways = pytest.mark.parametrize("write", WAYS, ids=lambda write: write.__name__)

TEXTS = {
    "empty": "",
    "long": "line of a log\n" * 400_000,
    "wide": "漢字 \U0001f600 é\n" * 20_000,
    "controls": "\x00\x1b[31mred\x1b[0m\r\n\t\x7f",
    "mark of a host": "<persisted-output>\nOutput too large (9KB). Full output saved to: /a\n\nPreview\n",
    "own marker": "[toolcarry: superseded by call t2; whole: t0]",
    "base64": "data:text/plain;charset=utf-8,aGk=",
}


def whole(tract: Tract) -> str:
    """Return the result as the canonical history has it."""
    (result,) = [commit for commit in tract.log() if commit.kind.name == "RESULT"]
    return tract.get_content(result)


@ways
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_canonical_tool_result_is_lossless(
    history: Opener, write: Write, text: str, tmp_path: Path
) -> None:
    tract = history()
    write(tract, text, tmp_path)
    assert whole(tract) == text
    assert tract.resolve("t1") == text


@examples(400, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(write=st.sampled_from(WAYS), text=st.text())
def test_any_text(write: Write, text: str, tmp_path: Path) -> None:
    with Tract.open() as tract:
        write(tract, text, tmp_path)
        assert whole(tract) == text


@ways
def test_what_reads_the_history_leaves_it_whole(
    history: Opener, write: Write, tmp_path: Path
) -> None:
    tract = history(summarizer=lambda *_: "short")
    text = TEXTS["long"]
    write(tract, text, tmp_path)
    tract.compile(policy=ProjectPolicy(max_result_chars=100))
    tract.compress(content="They ran make.")
    tract.compress_tool_calls()
    assert whole(tract) == text
    assert tract.resolve("t1") == text


KERNELS = {"count_tokens", "count_texts", "has_cut_word", "read_lines", "unread"}
"""The kernels that the way into the history may call: they count, judge and split, and cut nothing."""
MODULES = ("canonical", "commit_codec", "guard", "importing", "truncation")


@pytest.mark.parametrize("name", MODULES)
def test_the_way_in_calls_no_kernel_that_cuts(name: str) -> None:
    """The layer check proves the imports; kernels are called by name, through the backend."""
    tree = ast.parse((Path(inspect.getfile(toolcarry.tract)).parent / f"{name}.py").read_text())
    called: set[Any] = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Attribute)
        and node.value.attr == "kernels"
    }
    assert called <= KERNELS
