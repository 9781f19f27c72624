"""A summary without a model: first and latest requests, decisions, open tasks, and files.

The summary consists of quotations, so nothing is invented and no instruction in the text is followed. Headings are
English; quotations are unchanged. The same dialogue and blocks give the same text, in linear time. Sections share the
available characters: a short section takes what it needs, and the others share the rest by weight.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple, Protocol

from toolcarry._input.json import loads_arguments
from toolcarry._input.objects import JsonObject, as_list, as_object, first_given
from toolcarry.api.tokens import truncate
from toolcarry.errors import ConfigError
from toolcarry.importers.read import arguments_of, text_of_result
from toolcarry.model.content import STAND_INS
from toolcarry.model.dedupe.place import SEPARATOR
from toolcarry.model.dedupe.rules import name_forms
from toolcarry.model.text.sanitize import clean_line
from toolcarry.summarize.dialogue import DialogueTurn, read_turns, strip_injected
from toolcarry.types.values import ToolBlock

__all__ = ["LEAST_CHARS", "ExtractiveSummarizer"]

SHORTEST_QUOTE: Final = 40
QUOTE_CUT: Final = " [...] "
BETWEEN: Final = "\n\n"


class Section(Protocol):
    """A section of the summary, with a heading and a weight."""

    title: str
    weight: int

    def draw(self, room: int) -> str:
        """Return the section's body in at most ``room`` characters; empty if that is too little."""


class Quotes:
    """A section of quotations, oldest first; a newer one gets more room than an older one.

    >>> print(Quotes("Requests", 1, ["Fix it."]).draw(100))
    > Fix it.
    """

    def __init__(self, title: str, weight: int, texts: Sequence[str]) -> None:
        self.title, self.weight, self._texts = title, weight, texts

    def draw(self, room: int) -> str:
        """Return the newest quotations that fit.

        Each may use half of the room that is left, or all room that the older ones don't need.
        """
        whole = [quote(text) for text in self._texts]
        older = sum(map(len, whole)) + len(BETWEEN) * (len(whole) - 1)
        if older <= room:
            return BETWEEN.join(whole)
        drawn: list[str] = []
        for text, quoted in zip(reversed(self._texts), reversed(whole), strict=True):
            older -= len(quoted) + len(BETWEEN)
            part = fit(text, max(room // 2, room - len(BETWEEN) - older))
            if not part:
                break
            drawn.append(part)
            room -= len(part) + len(BETWEEN)
        return BETWEEN.join(reversed(drawn))


class Items:
    """A section with a list. If not all lines fit, it keeps the last ones, or with ``keeps_first`` the first ones.

    >>> print(Items("Files", 1, ["a.py", "b.py", "c.py"]).draw(19))
    - ... 2 more
    - c.py
    """

    def __init__(
        self, title: str, weight: int, lines: Sequence[str], *, keeps_first: bool = False
    ) -> None:
        self.title, self.weight, self._lines = title, weight, [f"- {line}" for line in lines]
        self._keeps_first = keeps_first

    def draw(self, room: int) -> str:
        """Return the lines that fit, and the number of the others."""
        lines = self._lines if self._keeps_first else self._lines[::-1]
        used, kept = -1, 0
        for number, line in enumerate(lines, start=1):
            used += len(line) + 1
            left = len(lines) - number
            if used + (len(f"\n- ... {left} more") if left else 0) <= room:
                kept = number
        if not kept:
            return ""
        left = len(lines) - kept
        drawn = lines[:kept] + ([f"- ... {left} more"] if left else [])
        return "\n".join(drawn if self._keeps_first else drawn[::-1])


def quote(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))


def fit(text: str, room: int) -> str:
    """Return ``text`` as a quotation of at most ``room`` characters, cut in its middle; empty if too little is left.

    >>> fit("one two three four five six seven eight nine ten eleven twelve", 52)
    '> one two three four fi [...] nine ten eleven twelve'
    """
    quoted, limit = quote(text), room
    while len(quoted) > room:
        if limit < SHORTEST_QUOTE:
            return ""
        quoted = quote(truncate(text, limit, keep="ends", marker=QUOTE_CUT))
        limit = min(limit - 1, limit * room // len(quoted))
    return quoted


def join_sections(parts: Sequence[Section], max_chars: int) -> str:
    """Join the sections under their headings, in at most ``max_chars`` characters. A section without room is left out.

    >>> print(join_sections([Items("Files", 1, ["a.py"])], 100))
    ### Files
    <BLANKLINE>
    - a.py
    """
    left = list(parts)
    while left:
        drawn = draw_sections(left, max_chars)
        if all(drawn):
            return BETWEEN.join(drawn)
        # Drop the least important section without room, and share its room among the others.
        empty = [part for part, text in zip(left, drawn, strict=True) if not text]
        left.remove(min(empty, key=lambda part: part.weight))
    return ""


def draw_sections(parts: Sequence[Section], max_chars: int) -> list[str]:
    """Return each section with its heading; empty if it has no room."""
    whole = [draw_section(part, max_chars) for part in parts]
    room = max_chars - len(BETWEEN) * (len(parts) - 1)
    shared = list(range(len(parts)))
    while True:
        weights = sum(parts[place].weight for place in shared)
        small = [
            place
            for place in shared
            if whole[place] and len(whole[place]) * weights <= room * parts[place].weight
        ]
        if not small:
            break
        room -= sum(len(whole[place]) for place in small)
        shared = [place for place in shared if place not in small]
    for place in shared:
        whole[place] = draw_section(parts[place], max(0, room) * parts[place].weight // weights)
    return whole


def draw_section(part: Section, room: int) -> str:
    heading = f"### {part.title}\n\n"
    body = part.draw(max(0, room - len(heading)))
    return heading + body if body else ""


DECISION_VERBS: Final = "use|go|keep|stick|stay|switch|drop|skip|avoid|leave|remove|replace|make it"

DECISION_CUES: Final = (
    # English
    r"\b(?:we|i|you) (?:have |'ve )?(?:decided|agreed|settled|chose)\b",
    r"\b(?:decision|conclusion):",
    rf"\blet['\u2019]s (?:not )?(?:{DECISION_VERBS})\b",
    rf"\b(?:we|i)(?: will|['\u2019]ll|'m going to|'re going to) (?:not )?(?:{DECISION_VERBS}) ",
    r"\bwe (?:must|should) (?:not|never|always)\b",
    r"\binstead of\b",
    r"\brather than\b",
    r"\bin favou?r of\b",
    r"\broot cause\b",
    # German
    r"\b(?:entschieden|beschlossen|entscheidung:)",
    r"\b(?:stattdessen|statt dessen|anstatt|anstelle)\b",
    r"\blass(?:t)? uns .{0,40}\b(?:nehmen|verwenden|nutzen|bleiben|lassen)\b",
    r"\bwir (?:nehmen|verwenden|nutzen|bleiben bei|lassen)\b",
    r"\b(?:die|eigentliche) ursache (?:ist|war|liegt)\b",
    # French
    r"\b(?:décidé|décision ?:)",
    r"\bau lieu d(?:e|')",
    r"\bplutôt qu(?:e|')",
    r"\b(?:on|nous) (?:part(?:ons)? sur|gard(?:e|ons)|utilis(?:e|ons))\b",
    r"\bla cause (?:racine|profonde|du|est|était)\b",
    # Spanish
    r"\b(?:decidido|decidimos|decisión:)",
    r"\ben (?:lugar|vez) de\b",
    r"\b(?:usaremos|utilizaremos|vamos a (?:usar|dejar|mantener|utilizar))\b",
    r"\bla causa (?:raíz|es|era|fue|del)\b",
    # Chinese
    "决定|決定采用|改用|而不是|根本原因|我们(?:用|采用|使用|改)",
    # Japanese
    "決定し|決めました|ことにし(?:ます|ました|よう)|の代わりに|ではなく|根本原因|原因は",
)
"""Patterns of sentences that decide something, rule it out, or name a cause."""

DECISION_CUE: Final = re.compile("|".join(DECISION_CUES), re.IGNORECASE)
SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+|(?<=[。\uff01\uff1f])|\n")
FENCE: Final = re.compile(r"^[ \t>]*(?:```|~~~)")
LIST_MARK: Final = re.compile(r"[ \t]*(?:[-*+>]|#{1,6}|\d{1,3}[.)])[ \t]+")

SHORTEST_SENTENCE: Final = 8
LONGEST_SENTENCE: Final = 300


def find_decisions(turns: Iterable[DialogueTurn]) -> list[str]:
    """Return the sentences that decide something, in order of their last mention, without code and questions.

    >>> find_decisions([DialogueTurn("ASSISTANT", "I read both. We decided to keep SQLite. Shall we use WAL instead of it?")])
    ['We decided to keep SQLite.']
    """
    found: dict[str, None] = {}
    for turn in turns:
        for sentence in sentences(turn.text):
            if DECISION_CUE.search(sentence) is not None:
                found.pop(sentence, None)
                found[sentence] = None
    return list(found)


def sentences(text: str) -> Iterable[str]:
    """Yield the sentences of text, except code and questions, without the marks of lists and headings."""
    is_code = False
    for line in text.split("\n"):
        if FENCE.match(line) is not None:
            is_code = not is_code
            continue
        if is_code:
            continue
        mark = LIST_MARK.match(line)
        for part in SENTENCE_END.split(line[mark.end() :] if mark else line):
            sentence = part.strip()
            if (
                SHORTEST_SENTENCE <= len(sentence) <= LONGEST_SENTENCE
                and sentence[-1] not in "?\uff1f"
            ):
                yield sentence


LIST_TOOLS: Final = frozenset({
    "todowrite", "todo_write", "write_todos", "update_todo_list", "update_plan", "manage_todo_list", "todo_list",
    "set_todos", "task_tracker",
})  # fmt: skip
"""Tools whose newest call holds the whole list."""
CREATE_TOOLS: Final = frozenset(("taskcreate", "task_create"))
UPDATE_TOOLS: Final = frozenset(("taskupdate", "task_update"))

LIST_KEYS: Final = ("todos", "plan", "todoList", "todo_list", "task_list", "tasks", "items", "content", "arguments")  # fmt: skip
TEXT_KEYS: Final = ("content", "step", "subject", "title", "description", "task", "text")
ID_KEYS: Final = ("id", "taskId", "task_id")

DONE: Final = frozenset(("completed", "complete", "done", "cancelled", "canceled", "deleted", "skipped", "closed"))  # fmt: skip
IN_PROGRESS: Final = frozenset(("in_progress", "inprogress", "active", "started", "doing"))

CHECKBOX: Final = re.compile(
    r"^[ \t]*(?:[-*+]|\d{1,3}[.)])?[ \t]*\[([ xX~\-/])\][ \t]+(.+)$", re.MULTILINE
)
CREATED: Final = re.compile(r"#([\w-]{1,40})")

LONGEST_TASK: Final = 200


class Task(NamedTuple):
    """A task and its status."""

    text: str
    is_done: bool = False
    is_in_progress: bool = False


def read_tasks(blocks: Iterable[ToolBlock]) -> list[Task]:
    """Return the tasks of the conversation with their status after the last block; ``blocks`` are oldest first.

    >>> read_tasks([ToolBlock({"type": "tool_use", "name": "TodoWrite", "input": {
    ...     "todos": [{"content": "Fix the test", "status": "in_progress"}]}}, {"content": "ok"}, "TodoWrite")])
    [Task(text='Fix the test', is_done=False, is_in_progress=True)]
    """
    tasks: dict[str, Task] = {}
    for block in blocks:
        name = name_forms(block.tool_name)[-1]
        is_known = name in LIST_TOOLS or name in CREATE_TOOLS or name in UPDATE_TOOLS
        if not is_known or block.is_error or not block.notes.is_active:
            continue
        given = arguments_of(block)
        if name in LIST_TOOLS:
            found = task_list(given)
            if found is not None:
                tasks = tasks | found if given.get("merge") is True else found
        elif name in CREATE_TOOLS:
            tasks[created_id(block) or str(len(tasks) + 1)] = task_of(given)
        else:
            key = str(first_given(given, *ID_KEYS) or "")
            if key in tasks:
                tasks[key] = updated_task(tasks[key], given)
    return [task for task in tasks.values() if task.text]


def task_list(given: JsonObject) -> dict[str, Task] | None:
    """Return the tasks of a whole list by their ids, or else by their numbers; ``None`` if there is no list."""
    for key in LIST_KEYS:
        value = given.get(key)
        if isinstance(value, str):
            boxes = [task_of_box(box) for box in CHECKBOX.finditer(value)]
            if boxes:
                return {str(number): task for number, task in enumerate(boxes)}
            value = loads_arguments(value).get("arguments")  # a list as JSON text
        items = as_list(value)
        if items is not None:
            return dict(identified(items))
    return None


def identified(items: Iterable[Any]) -> Iterator[tuple[str, Task]]:
    for number, item in enumerate(items):
        wire = as_object(item)
        if wire is None:
            yield str(number), Task(task_text(item) if isinstance(item, str) else "")
        else:
            yield str(first_given(wire, *ID_KEYS) or number), task_of(wire)


def task_of(wire: JsonObject) -> Task:
    texts = [wire[key] for key in TEXT_KEYS if isinstance(wire.get(key), str) and wire[key].strip()]
    return updated_task(Task(task_text(texts[0]) if texts else ""), {"status": wire.get("status")})


def task_of_box(box: re.Match[str]) -> Task:
    return Task(task_text(box[2]), box[1] in "xX", box[1] in "~-/")


def updated_task(task: Task, given: JsonObject) -> Task:
    """Return a task with the subject and the status of an update."""
    subject, status = given.get("subject"), given.get("status")
    if isinstance(subject, str) and subject.strip():
        task = task._replace(text=task_text(subject))
    if isinstance(status, str):
        word = status.strip().lower().replace(" ", "_").replace("-", "_")
        task = task._replace(is_done=word in DONE, is_in_progress=word in IN_PROGRESS)
    return task


def created_id(block: ToolBlock) -> str:
    """Return the id of a new task from the tool's result, such as ``Task #1 created``."""
    found = CREATED.search(text_of_result(block))
    return "" if found is None else found[1]


def task_text(text: str) -> str:
    return clean_line(" ".join(strip_injected(text[: 20 * LONGEST_TASK]).split()), LONGEST_TASK)


PATCH_TOOLS: Final = frozenset(("apply_patch", "applypatch"))
PATCHED: Final = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.MULTILINE)

LONGEST_PATH: Final = 200


def files_touched(blocks: Iterable[ToolBlock]) -> tuple[dict[str, int], dict[str, int]]:
    """Count the changes of each file, and the reads of each other file; the last touched file comes last.

    ``blocks`` are oldest first. Blocks of sub-agents count; failed blocks and blocks of abandoned branches don't.

    >>> edit = ToolBlock({"name": "Edit"}, {"content": "ok"}, "Edit", "edit:a.py")
    >>> read = ToolBlock({"name": "Read"}, {"content": "1"}, "Read", "read:b.py")
    >>> files_touched([edit, read, edit])
    ({'a.py': 2}, {'b.py': 1})
    """
    changed: dict[str, int] = {}
    read: dict[str, int] = {}
    for block in blocks:
        if block.is_error or block.tool_result is None:
            continue
        if not (block.notes.is_active or block.scope):
            continue
        kind, paths = files_of(block.dedup_key or "")
        if paths:
            for path in paths:
                count_file(changed if kind == "edit" else read, path)
        elif name_forms(block.tool_name)[-1] in PATCH_TOOLS:
            for patched in patched_files(block):
                count_file(changed, patched)
    return changed, {path: times for path, times in read.items() if path not in changed}


def files_of(key: str) -> tuple[str, list[str]]:
    """Return the kind of a block's key, and the files that it names, without their place."""
    kind, _, value = key.partition(":")
    if kind not in ("edit", "read"):
        return kind, []
    value = value.partition(SEPARATOR)[0]
    listed = as_list(loads_arguments(value).get("arguments")) if value.startswith("[") else None
    return kind, [value] if listed is None else [str(path) for path in listed]


def count_file(files: dict[str, int], path: str) -> None:
    path = clean_line(path, LONGEST_PATH)
    files[path] = files.pop(path, 0) + 1


def patched_files(block: ToolBlock) -> list[str]:
    """Return the files that the text of a patch names, since patch tools have no argument for them."""
    texts: list[str] = []
    for value in arguments_of(block).values():
        texts += [
            item
            for item in (value if isinstance(value, list) else [value])
            if isinstance(item, str)
        ]
    return [path.strip() for text in texts for path in PATCHED.findall(text)]


LEAST_CHARS: Final = 200
"""The least ``max_chars``."""
LATEST: Final = 10
"""The maximum number of requests that are quoted in addition to the first."""
MOST_DECISIONS: Final = 15
MOST_FILES: Final = 40
INTERRUPTED: Final = STAND_INS[0]
"""The beginning of a turn that only reports that the user interrupted the model."""
CUT: Final = "\n[...]\n"


class ExtractiveSummarizer:
    """A summarizer that quotes the dialogue: offline, deterministic, at most ``max_chars`` characters.

    It quotes the first request and the latest ones, the latest answer, and sentences that decide something. With
    blocks, it also lists the open tasks of todo tools and the files that were changed and read. Text without turns is
    cut in its middle. Instructions are meant for models, and are ignored. Raises ``ConfigError`` for fewer than 200
    characters.

    >>> print(ExtractiveSummarizer()("[USER]\\nFix the test.\\n[/USER]", ""))
    ### First request
    <BLANKLINE>
    > Fix the test.
    """

    def __init__(self, *, max_chars: int = 4_000) -> None:
        if not isinstance(max_chars, int) or isinstance(max_chars, bool) or max_chars < LEAST_CHARS:
            raise ConfigError(
                f"max_chars: {max_chars!r} is not allowed; allowed: an integer >= {LEAST_CHARS}"
            )
        self.max_chars = max_chars
        self._tasks: Sequence[Task] = ()
        self._changed: dict[str, int] = {}
        self._read: dict[str, int] = {}

    @property
    def identity(self) -> str:
        """A string that covers everything that determines the summary of a dialogue."""
        return repr((self.max_chars, self._tasks, self._changed, self._read))

    def with_blocks(self, blocks: Sequence[ToolBlock]) -> ExtractiveSummarizer:
        """Return a summarizer that also reports these blocks: all of them, not deduplicated, oldest first."""
        made = ExtractiveSummarizer(max_chars=self.max_chars)
        made._tasks = read_tasks(blocks)
        made._changed, made._read = files_touched(blocks)
        return made

    def __call__(self, text: str, instructions: str, /) -> str:  # noqa: ARG002 - the protocol passes them
        """Return the summary of a dialogue as ``toolcarry.dialogue`` writes it."""
        turns = read_turns(text)
        if turns and not any(turn.speaker for turn in turns):
            room = self.max_chars - len(CUT)
            return truncate(turns[0].text, room, keep="ends", marker=CUT)
        return join_sections([*spoken_parts(turns), *self._done_parts()], self.max_chars)

    def _done_parts(self) -> list[Section]:
        parts: list[Section] = []
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


def spoken_parts(turns: Sequence[DialogueTurn]) -> list[Section]:
    """Return the sections for requests, the latest answer, and decisions."""
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
    parts: list[Section] = [
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
