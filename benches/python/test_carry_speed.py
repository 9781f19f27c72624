"""``carry`` over the workloads: three limits on one result, with and without a total, next to a copy of the output."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from toolcarry import NO_LIMIT, CarryPolicy
from toolcarry.fallback import kernels as reference

pytestmark = [
    pytest.mark.timeout(0),
    pytest.mark.parametrize("total", [NO_LIMIT, 200_000], ids=["no-total", "total-200000"]),
    pytest.mark.parametrize("limit", [500, 2_000, 100_000]),
]

Messages = list[dict[str, Any]]


def name_group(benchmark: BenchmarkFixture, size: int, limit: int, total: int) -> None:
    total_name = "no total" if total == NO_LIMIT else f"{total:,} in all"
    benchmark.group = f"W{size}, {limit:,} per result, {total_name}"


def test_carry(
    benchmark: BenchmarkFixture,
    kernels: Any,
    messages: Messages,
    size: int,
    limit: int,
    total: int,
    assert_same: Callable[[Callable[[Any], object]], None],
) -> None:
    policy = CarryPolicy(max_chars=total, max_result_chars=limit, layout="sections")
    assert_same(lambda each: each.carry(messages, "", policy))
    name_group(benchmark, size, limit, total)
    text = benchmark(kernels.carry, messages, "", policy).context
    assert 0 < len(text) <= total


def test_copy(
    benchmark: BenchmarkFixture, messages: Messages, size: int, limit: int, total: int
) -> None:
    """The least that any backend must do: bring the output's characters into a new string."""
    policy = CarryPolicy(max_chars=total, max_result_chars=limit, layout="sections")
    text = reference.carry(messages, "", policy).context
    name_group(benchmark, size, limit, total)
    benchmark("".join, ["", text])
