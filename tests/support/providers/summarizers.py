"""Helpers for the tests of summaries: summarizers that keep their input, a dialogue, and blocks."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from toolcarry import ToolBlock, dialogue
from toolcarry.summarize import (
    Summarizer,
    Summary,
)

TALK = dialogue([{"role": "user", "content": "Fix it."}, {"role": "assistant", "content": "Done."}])
SOON = 20.0
"""Seconds that a thread may take to come by; nothing is measured by it."""


def block(name: str, given: dict[str, Any], result: str = "ok") -> ToolBlock:
    use = {"type": "tool_use", "id": "t1", "name": name, "input": given}
    return ToolBlock(use, {"type": "tool_result", "tool_use_id": "t1", "content": result}, name)


TODO = block("TodoWrite", {"todos": [{"content": "Fix the test", "status": "pending"}]})


class Recorder:
    """A summarizer that keeps what it was asked, and answers one after the other: a text, or an error to raise."""

    def __init__(self, *answers: Any) -> None:
        self.asked: list[tuple[str, str]] = []
        self.answers = list(answers)

    def __call__(self, text: str, instructions: str) -> Any:
        self.asked.append((text, instructions))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, BaseException):
            raise answer
        return answer


class AsyncRecorder(Recorder):
    """The same, for a loop."""

    async def __call__(self, text: str, instructions: str) -> Any:
        await asyncio.sleep(0)
        return super().__call__(text, instructions)


class StatusError(Exception):
    """As the clients of providers raise it; what it says is a secret."""

    def __init__(self, status_code: int) -> None:
        super().__init__("the key sk-secret was refused")
        self.status_code = status_code


Ask = Callable[..., Summary]


class Curious:
    """A summarizer that receives blocks and returns everything it saw."""

    def __init__(self, blocks: Sequence[ToolBlock] = ()) -> None:
        self.blocks = blocks

    def with_blocks(self, blocks: Sequence[ToolBlock]) -> Summarizer:
        return Curious(blocks)

    def __call__(self, text: str, instructions: str) -> str | Awaitable[str]:
        return f"{instructions[:3]} {text} {self.blocks}"


class LockedError(Exception):
    """A redaction that can't run."""
