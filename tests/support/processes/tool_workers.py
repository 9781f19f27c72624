"""Child processes that ask a cache in Redis for tools, one request per line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

WORK = """
import json, sys
from toolcarry.tool_cache import RedisToolCache, ToolCache

cache = ToolCache(RedisToolCache(sys.argv[1], timeout=10.0))
print("ready", flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    found = cache.resolve(asked.pop("model"), asked.pop("tools"), **asked)
    print(json.dumps([found.source, found.tools]), flush=True)
"""


class ToolWorker:
    """A process; what it is asked it answers when ``answer`` is called, so that several may work at a time."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._in, self._out = process.stdin, process.stdout

    def ask(self, model: str, tools: list[dict[str, Any]] | None, **others: Any) -> None:
        self._in.write(json.dumps({"model": model, "tools": tools, **others}) + "\n")
        self._in.flush()

    def answer(self) -> tuple[str, list[dict[str, Any]]]:
        """The source of the tools, and the tools."""
        source, tools = json.loads(self._out.readline())
        return source, tools

    def resolve(
        self, model: str, tools: list[dict[str, Any]] | None = None, **others: Any
    ) -> tuple[str, list[dict[str, Any]]]:
        self.ask(model, tools, **others)
        return self.answer()


@contextmanager
def tool_workers(url: str, count: int) -> Iterator[list[ToolWorker]]:
    """Start *count* processes and end them afterwards; they may have printed nothing but answers."""
    paths = os.pathsep.join(path for path in sys.path if path)
    with ExitStack() as stack:
        processes = [
            stack.enter_context(
                subprocess.Popen(
                    [sys.executable, "-c", WORK, url],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                    env={**os.environ, "PYTHONPATH": paths},
                )
            )
            for _ in range(count)
        ]
        stack.callback(lambda: [process.kill() for process in processes])
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        yield [ToolWorker(process) for process in processes]
        for process in processes:
            process.communicate(timeout=60)
        assert [process.returncode for process in processes] == [0] * count
