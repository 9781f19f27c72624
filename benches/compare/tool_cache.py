"""Measure the cache of tool definitions for one request, and the conversion of definitions into another style.

    python benches/compare/tool_cache.py             lists of 9 and of 100 definitions
    python benches/compare/tool_cache.py --smoke     once each: that it runs

Before anything is timed, what comes back is compared with what came in. benches/README.md says what the columns mean.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import orjson
from paired import print_origin, print_table

from toolcarry.tool_cache import STYLES, ToolCache, convert_tools

SIZES = (9, 100)
SCOPE = '["5994471abb01112afcc18159f6cc74b4f511b99806da59b3caf5a9c173cacfc5","Zed/0.210.4",""]'
HEADER = ("tools", "bytes", "hit", "hit, and its list", "the same again", "store")


def definition(number: int) -> dict[str, Any]:
    """A definition of about 550 bytes, as agents have."""
    properties = {
        "file_path": {"type": "string", "description": "The absolute path to the file to read"},
        "offset": {"type": "integer", "description": "The line to start from"},
        "limit": {"type": "integer", "description": "How many lines to read"},
    }
    parameters = {"type": "object", "properties": properties, "required": ["file_path"]}
    text = (
        f"Tool {number}. Reads a file from the file system, and gives its lines with their numbers. "
        * 2
    )
    function = {"name": f"read_file_{number}", "description": text, "parameters": parameters}
    return {"type": "function", "function": function}


def seconds(call: Callable[[], object], rounds: int, count: int) -> float:
    """The median over rounds of a call's time."""
    found = []
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(count):
            call()
        found.append((time.perf_counter() - start) / count)
    return statistics.median(found)


def cache_row(size: int, rounds: int, count: int) -> list[str]:
    """Measure a list of this many definitions in the cache."""
    tools = [definition(number) for number in range(size)]
    body = orjson.dumps(tools)
    cache = ToolCache()
    assert cache.resolve("m", body, scope=SCOPE).tools == tools
    assert cache.resolve("m", None, scope=SCOPE).tools == tools
    times = [
        seconds(lambda: cache.resolve("m", None, scope=SCOPE), rounds, count),
        seconds(lambda: cache.resolve("m", None, scope=SCOPE).tools, rounds, count // 10),
        seconds(lambda: cache.resolve("m", body, scope=SCOPE), rounds, count),
        seconds(lambda: ToolCache().resolve("m", body, scope=SCOPE), rounds, count // 10),
    ]
    return [str(size), f"{len(body):,}", *(f"{each * 1e6:.2f} us" for each in times)]


def conversion_row(size: int, rounds: int, count: int) -> list[str]:
    """Measure the conversion of this many definitions into each style."""
    tools = [definition(number) for number in range(size)]
    row = [str(size)]
    for style in STYLES:
        there = convert_tools(tools, source="openai", target=style)
        back = convert_tools(there, source=style, target="openai")
        assert [tool["function"]["name"] for tool in back] == [
            tool["function"]["name"] for tool in tools
        ]
        convert = partial(convert_tools, tools, source="openai", target=style)
        row.append(f"{seconds(convert, rounds, count // 20 or 1) * 1e6:.0f} us")
    return row


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--smoke", action="store_true", help="once each: that it runs")
    rounds, count = (1, 10) if parser.parse_args().smoke else (15, 2_000)
    print_origin()
    print_table(HEADER, [cache_row(size, rounds, count) for size in SIZES])
    print()
    rows = [conversion_row(size, rounds, count) for size in SIZES]
    print_table(("tools", *(f"to {style}" for style in STYLES)), rows)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
