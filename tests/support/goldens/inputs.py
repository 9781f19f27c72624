"""The conversations whose outputs are frozen as text: the cases, one of each format and producer, and the workloads."""

from __future__ import annotations

import hashlib
import json
import sys
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from support.builders.families import FAMILIES
from support.builders.producers import sample
from support.builders.sources import SOURCES

from toolcarry import CarryPolicy

TESTS = Path(__file__).parents[2]
CASES = TESTS / "cases"
SIZES = (20, 66, 200)


@dataclass(frozen=True)
class Input:
    """A conversation, with the settings that its case has."""

    given: Any
    """Messages, or the bytes of a file or a request."""
    summary: str = ""
    policy: CarryPolicy = CarryPolicy()
    recount: dict[str, Any] = field(default_factory=dict)


@cache
def corpus() -> dict[str, Input]:
    """Return the small conversations by name, which is also the name of their files."""
    found: dict[str, Input] = {}
    for kind in ("golden", "hard", "recount"):
        for path in sorted((CASES / kind).glob("*.json")):
            found[f"{kind}/{path.stem}"] = case(expand(json.loads(path.read_text("utf-8"))))
    for name, messages in SOURCES.items():
        found[f"formats/{name.replace(' ', '-')}"] = Input(messages)
    families = [message for name, make in FAMILIES.items() for message in make(f"call_{name}")]
    found["formats/all-in-one"] = Input(families)
    return found


def produced(name: str) -> Input:
    """Return the sample of a producer."""
    return Input(sample(name))


def case(held: dict[str, Any]) -> Input:
    """Return the input of a file in ``tests/cases``."""
    summary, policy = held.get("summary", ""), CarryPolicy(**held.get("policy", {}))
    names = ("tool_calls", "max_result_length", "max_chars", "max_tokens")
    recount = {name: held[name] for name in names if name in held}
    if "lines" in held:
        lines = [line if isinstance(line, str) else json.dumps(line) for line in held["lines"]]
        return Input("\n".join(lines).encode(), summary, policy)
    if "body" in held:
        return Input(json.dumps(held["body"]).encode(), summary, policy)
    return Input(held["messages"] if "messages" in held else held["input"], summary, policy, recount)  # fmt: skip


def expand(value: Any) -> Any:
    """Return a value with each ``{"$repeat": [text, count]}`` in it written out."""
    if isinstance(value, list):
        return [expand(item) for item in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {"$repeat"}:
        text, count = value["$repeat"]
        return text * count
    return {key: expand(item) for key, item in value.items()}


def workload(size: int) -> Input:
    """Return a workload of the benchmarks; skip if this interpreter's standard library gives it other texts."""
    folder = TESTS.parent / "benches" / "data"
    sys.path.insert(0, str(folder))
    try:
        from workload import CHECKSUMS, body, generate
    finally:
        sys.path.remove(str(folder))
    messages = generate(size)
    if hashlib.sha256(body(messages)).hexdigest()[:16] != CHECKSUMS[size]:
        pytest.skip("workloads are cut from CPython 3.11.7's standard library; this is another one")
    return Input(messages)
