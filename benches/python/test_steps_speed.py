"""The steps one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from toolcarry import DEFAULT_RULES, CarryPolicy

pytestmark = pytest.mark.timeout(0)

Messages = list[dict[str, Any]]
AssertSame = Callable[[Callable[[Any], object]], None]

COMMANDS = {
    "word": "ls",
    "pipe": "git diff HEAD~1 | head -120",
    "chain": "cd /home/user/project && CI=1 cargo test --all -- --nocapture 2>&1 | tail -n 50",
    "script": "bash -lc 'for f in src/*.py; do grep -n TODO \"$f\" || true; done'",
    "heredoc": "python3 - <<'EOF'\n" + "print('line')\n" * 100 + "EOF\n",
}

TEXTS = {
    "ascii": "def main() -> None:\n    pass\n" * 4_000,
    "ideographs": "\u6f22\u5b57\u3001" * 30_000,
    "joined-emoji": "\U0001f469\u200d\U0001f4bb " * 25_000,
}


def test_extract_tool_blocks(
    benchmark: BenchmarkFixture,
    kernels: Any,
    messages: Messages,
    size: int,
    assert_same: AssertSame,
) -> None:
    assert_same(lambda each: each.extract_tool_blocks(messages))
    benchmark.group = f"extract_tool_blocks, W{size}"
    benchmark(kernels.extract_tool_blocks, messages)


def test_deduplicate_tools(
    benchmark: BenchmarkFixture,
    kernels: Any,
    messages: Messages,
    size: int,
    assert_same: AssertSame,
) -> None:
    blocks = kernels.extract_tool_blocks(messages)
    assert_same(lambda each: each.deduplicate_tools(blocks, DEFAULT_RULES))
    benchmark.group = f"deduplicate_tools, W{size}"
    benchmark(kernels.deduplicate_tools, blocks, DEFAULT_RULES)


def test_format_tool_context(
    benchmark: BenchmarkFixture,
    kernels: Any,
    messages: Messages,
    size: int,
    assert_same: AssertSame,
) -> None:
    blocks = kernels.deduplicate_tools(kernels.extract_tool_blocks(messages), DEFAULT_RULES)
    policy = CarryPolicy(max_chars=200_000, max_result_chars=2_000, layout="sections")
    assert_same(lambda each: each.format_tool_context(blocks, "", policy))
    benchmark.group = f"format_tool_context, W{size}"
    benchmark(kernels.format_tool_context, blocks, "", policy)


@pytest.mark.parametrize("keep", ["head", "tail", "ends"])
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_truncate(
    benchmark: BenchmarkFixture,
    kernels: Any,
    text: str,
    keep: Literal["head", "tail", "ends"],
    assert_same: AssertSame,
) -> None:
    assert_same(lambda each: each.truncate(text, 2_000, keep=keep, marker="..."))
    benchmark.group = f"truncate, {keep}"
    benchmark(kernels.truncate, text, 2_000, keep=keep, marker="...")


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS.keys())
def test_has_side_effects(
    benchmark: BenchmarkFixture, kernels: Any, command: str, assert_same: AssertSame
) -> None:
    assert_same(lambda each: each.has_side_effects(command))
    benchmark.group = "has_side_effects"
    benchmark(kernels.has_side_effects, command)
