"""A summary without a model: what was asked for first and last, what was decided, what is to be done, which files.

It is all quotation, so nothing is invented and nothing obeyed; the labels are English, what is quoted is as it was.
The same dialogue and blocks give the same text, in time linear in them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from toolcarry._pure.content import STAND_INS
from toolcarry.errors import ConfigError
from toolcarry.summarize.decisions import find_decisions
from toolcarry.summarize.files import files_touched
from toolcarry.summarize.layout import Items, Part, Quotes, join_parts
from toolcarry.summarize.tasks import Task, read_tasks
from toolcarry.summarize.turns import Turn, read_turns
from toolcarry.tokens import truncate
from toolcarry.types import ToolBlock

__all__ = ["ExtractiveSummarizer"]

SMALLEST: Final = 200
LATEST: Final = 10
"""So many requests are quoted at most, beside the first."""
MOST_DECISIONS: Final = 15
MOST_FILES: Final = 40
INTERRUPTED: Final = STAND_INS[0]
"""How a turn begins in which the user interrupts the model: it says nothing."""
CUT: Final = "\n[...]\n"


class ExtractiveSummarizer:
    """Quotes a dialogue: offline, deterministic, at most ``max_chars`` characters.

    The first request and the latest ones, the latest answer, and sentences that decide something; with blocks also the
    open tasks of todo tools and the files that were changed and read. A text without turns is cut in its middle.
    Instructions are for models, and change nothing. Raises ``ConfigError`` for fewer than 200 characters.

    >>> print(ExtractiveSummarizer()("[USER]\\nFix the test.\\n[/USER]", ""))
    ### First request
    <BLANKLINE>
    > Fix the test.
    """

    def __init__(self, *, max_chars: int = 4_000) -> None:
        if not isinstance(max_chars, int) or isinstance(max_chars, bool) or max_chars < SMALLEST:
            raise ConfigError(
                f"max_chars: {max_chars!r} is not allowed; allowed: an integer >= {SMALLEST}"
            )
        self.max_chars = max_chars
        self._tasks: Sequence[Task] = ()
        self._changed: dict[str, int] = {}
        self._read: dict[str, int] = {}

    @property
    def identity(self) -> str:
        """All that decides what it makes of a dialogue."""
        return repr((self.max_chars, self._tasks, self._changed, self._read))

    def with_blocks(self, blocks: Sequence[ToolBlock]) -> ExtractiveSummarizer:
        """One that says what these blocks did, too; they are oldest first, all of them rather than deduplicated ones."""
        made = ExtractiveSummarizer(max_chars=self.max_chars)
        made._tasks = read_tasks(blocks)
        made._changed, made._read = files_touched(blocks)
        return made

    def __call__(self, text: str, instructions: str, /) -> str:  # noqa: ARG002 - a summarizer is given them
        """The summary of a dialogue as ``toolcarry.dialogue`` writes it."""
        turns = read_turns(text)
        if turns and not any(turn.speaker for turn in turns):
            room = self.max_chars - len(CUT)
            return truncate(turns[0].text, room, keep="ends", marker=CUT)
        return join_parts([*spoken_parts(turns), *self._done_parts()], self.max_chars)

    def _done_parts(self) -> list[Part]:
        parts: list[Part] = []
        left = [task for task in self._tasks if not task.is_done]
        if left:
            left.sort(key=lambda task: not task.is_in_progress)
            title = f"Open tasks ({len(left)} of {len(self._tasks)})"
            parts.append(Items(title, 12, [task_line(task) for task in left], keeps_first=True))
        elif self._tasks:
            parts.append(Items("Open tasks", 12, [f"none: all {len(self._tasks)} are done"]))
        for title, weight, files, word in (
            ("Files changed", 8, self._changed, "edit"),
            ("Files read", 4, self._read, "read"),
        ):
            if files:
                lines = [file_line(path, times, word) for path, times in files.items()]
                parts.append(Items(f"{title} ({len(files)})", weight, lines[-MOST_FILES:]))
        return parts


def spoken_parts(turns: Sequence[Turn]) -> list[Part]:
    """What was asked, answered and decided."""
    requests = [
        turn for turn in turns if turn.speaker == "USER" and not turn.text.startswith(INTERRUPTED)
    ]
    first = requests[:1]
    latest = list(dict.fromkeys(reversed(requests[1:])))[:LATEST][
        ::-1
    ]  # each where it was made last
    answer = [turn for turn in turns if turn.speaker == "ASSISTANT"][-1:]
    quoted = {*first, *latest, *answer}
    decisions = find_decisions(turn for turn in turns if turn.speaker and turn not in quoted)
    parts: list[Part] = [
        Quotes(title, weight, [turn.text.strip("\n") for turn in found])
        for title, weight, found in (
            ("First request", 20, first),
            ("Latest requests", 36, latest),
            ("Latest answer", 8, answer),
        )
        if found
    ]
    if decisions:
        parts.append(Items("Decisions", 12, decisions[-MOST_DECISIONS:]))
    return parts


def task_line(task: Task) -> str:
    return f"[ ] {task.text} (in progress)" if task.is_in_progress else f"[ ] {task.text}"


def file_line(path: str, times: int, word: str) -> str:
    name = path.replace("`", "'")
    return f"`{name}`" if times == 1 else f"`{name}` ({times} {word}s)"
