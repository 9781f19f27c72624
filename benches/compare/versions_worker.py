"""One version of the package, for ``versions.py``: it runs jobs that are asked for on stdin, one command per line.

Only public functions are used, since they are what both versions have.
"""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any, Final

LEAST_SAMPLE: Final = 0.005
"""Seconds. A job that takes less is repeated within its round."""
JOBS: Final = (
    "carry, bytes",
    "carry, objects",
    "project_body",
    "project",
    "inspect, bytes",
    "inspect, objects",
    "recount, bytes",
    "recount, objects",
    "count_message_tokens",
    "history: append_many",
    "history: log",
    "history: compile",
    "history: export",
    "history: verify",
)


def policies() -> tuple[Any, Any]:
    """The policies of contexts and of projections; version 0.1 had one class for both, with longer names."""
    import toolcarry

    api: Any = toolcarry
    newest = {"fill": "newest", "content": "off"}
    if hasattr(api, "CarryPolicy"):
        if "fill" not in api.CarryPolicy.__dataclass_fields__:
            newest = {"layout": "sections", "content": "off"}
        return (
            api.CarryPolicy(max_result_chars=2_000, max_chars=200_000, **newest),
            api.ProjectPolicy(max_result_chars=2_000, repair=True),
        )
    return (
        api.Policy(max_tool_result_chars=2_000, max_tool_context_chars=200_000, **newest),
        api.Policy(max_tool_result_chars=2_000, repair=True),
    )


class Jobs:
    """The jobs on one request body."""

    def __init__(self) -> None:
        import toolcarry

        toolcarry.resize_token_memo(0)  # else a text would be counted only once
        self.api: Any = toolcarry
        self.body = b""
        self.messages: list[Any] = []
        self.history: Any = None
        self.context, self.request = policies()

    def version(self) -> str:
        return f"toolcarry {self.api.__version__}, {self.api.backend()}, {self.api.__file__}"

    def load(self, path: str) -> int:
        self.body = Path(path).read_bytes()
        self.messages = json.loads(self.body)["messages"]
        self.history = self.written_history()
        return len(self.body)

    def written_history(self) -> Any:
        """The conversation in a history of its own."""
        from toolcarry.tract import Tract

        history = Tract.open(":memory:")
        history.append_many(self.messages)
        return history

    def find(self, name: str) -> Callable[[], Any]:
        api, body, messages = self.api, self.body, self.messages
        jobs: dict[str, Callable[[], Any]] = {
            "carry, bytes": lambda: api.carry(body, policy=self.context),
            "carry, objects": lambda: api.carry(messages, policy=self.context),
            "project_body": lambda: api.project_body(body, policy=self.request),
            "project": lambda: api.project(messages, policy=self.request),
            "inspect, bytes": lambda: api.inspect(body),
            "inspect, objects": lambda: api.inspect(messages),
            "recount, bytes": lambda: api.recount(body),
            "recount, objects": lambda: api.recount(messages),
            "history: append_many": self.written_history,
            "history: log": self.history.log,
            "history: compile": self.history.compile,
            "history: export": lambda: list(self.history.export()),
            "history: verify": self.history.verify,
            "count_message_tokens": lambda: api.count_message_tokens(messages),
        }
        return jobs[name]

    def write(self, name: str, path: str) -> int:
        """Write the output of a job: its text, its report, and what else it returns. Commits have the time in them."""
        found = self.find(name)()
        if name in ("history: append_many", "history: log"):
            text = str(len(self.history.log()))
        elif not hasattr(found, "report"):
            text = str(found)
        else:
            report = json.dumps(found.report.to_dict(), indent=1)
            output = next(
                getattr(found, member)
                for member in ("text", "body", "messages")
                if hasattr(found, member)
            )
            output = output.decode() if isinstance(output, bytes) else output
            text = (output if isinstance(output, str) else json.dumps(output)) + "\n" + report
        return Path(path).write_bytes(text.encode("utf-8", "surrogatepass"))

    def repetitions(self, name: str) -> int:
        job = self.find(name)
        job()
        return max(1, round(LEAST_SAMPLE / max(self.time(name, 1), 1e-9)))

    def time(self, name: str, repetitions: int) -> float:
        """Return the seconds of one run."""
        job = self.find(name)
        gc.collect()
        gc.disable()
        start = perf_counter()
        for _ in range(repetitions):
            job()
        seconds = perf_counter() - start
        gc.enable()
        return seconds / repetitions


def main() -> None:
    jobs = Jobs()
    for line in sys.stdin:
        command, *arguments = json.loads(line)
        print(json.dumps(getattr(jobs, command)(*arguments)), flush=True)


if __name__ == "__main__":
    main()
