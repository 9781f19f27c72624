"""The turns of a dialogue as ``toolcarry.dialogue`` writes it, without text that clients inject and without reasoning.

Removing injected text takes linear time and is idempotent; text without such tags is returned as the same object.
A tag in its own backticks is mentioned rather than used, and stays. A tag in a code fence is removed, since a client's
tag may follow a fence that the user did not close.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from toolcarry._util.plural import counted
from toolcarry.api.tokens import truncate

__all__ = [
    "DialogueTurn",
    "cut_turns",
    "join_turns",
    "read_turns",
    "split_turns",
    "strip_injected",
    "strip_reasoning",
]

DROPPED: Final = frozenset({
    # Claude Code
    "system-reminder", "command-name", "command-message", "local-command-stdout", "local-command-stderr",
    "local-command-caveat", "bash-input", "bash-stdout", "bash-stderr", "task-notification", "new-diagnostics",
    "user-prompt-submit-hook", "session-start-hook", "ide_opened_file", "ide_selection", "ide_diagnostics",
    # Cline, Roo Code
    "environment_details", "explicit_instructions", "file_content", "folder_content", "url_content",
    "workspace_diagnostics",
    # Codex
    "environment_context", "user_instructions", "turn_aborted", "user_shell_command", "subagent_notification",
    "skills_instructions",
    # Cursor
    "additional_data", "attached_files", "system_reminder", "open_and_recently_viewed_files", "project_layout",
    "user_info",
    # Copilot, Windsurf, Gemini CLI, OpenHands
    "environment_info", "workspace_info", "editorcontext", "reminderinstructions", "additional_metadata",
    "session_context", "repository_info", "runtime_information", "repository_instructions", "extra_info",
})  # fmt: skip
"""Tags that are removed with their content, which clients wrote and not the user."""

UNWRAPPED: Final = frozenset({
    "command-args", "user-memory-input", "task", "user_message", "user_query", "user_request", "userrequest",
    "feedback", "answer",
})  # fmt: skip
"""Tags around the user's own words: only the tags are removed."""

NAMES: Final = DROPPED | UNWRAPPED

TAG: Final = re.compile(
    r"<(/?+)([A-Za-z_-]{4,32}+)((?:[ \t/][^<>\n]{0,4096}+)?+)>"
    # the line that follows a notification, outside of its tag
    r"(?:\s{0,8}(?:Read the output file to retrieve the result|Full transcript available at):[^\n]*)?",
    re.IGNORECASE,
)
"""A tag of any name. It never spans lines, so the line break that replaces a removed block can't form a new tag. It holds
no second ``<``, and nothing is tried twice: an alternation of the names takes ten times as long.
"""
WINDOW: Final = 65_536
"""Characters that are searched at once: the interpreter is not released within a search."""

PROJECT_INSTRUCTIONS: Final = re.compile(
    r"\s*+# AGENTS\.md instructions[^\n<]*+\s*+<(INSTRUCTIONS)>"
)
"""The beginning of the text with which Codex begins a conversation. The tag alone is too common to be matched."""

REASONING: Final = re.compile(r"\s*+<(think|thinking|reasoning|thought)>")
REASONING_END: Final = re.compile(r"^[ \t]*</think>[ \t]*$", re.MULTILINE)


def strip_injected(text: str) -> str:
    """Return ``text`` without the parts that clients inject into a user's turn; empty if the user said nothing.

    ``<system-reminder>`` and similar tags are removed with their content; if one is not closed, up to the end.
    ``<command-args>``, ``<task>`` and other tags around the user's words are removed without their content.

    >>> strip_injected("<system-reminder>Be brief.</system-reminder>\\nFix the test.")
    'Fix the test.'
    >>> strip_injected("<task>\\nFix the test.\\n</task>\\n<environment_details># Open tabs")
    'Fix the test.'
    """
    if "<" not in text:
        return text
    spans = list(spans_to_keep(text))
    if spans != [(0, len(text))]:
        pieces = [trim(text[start:end]) for start, end in spans]
        text = "\n\n".join(piece for piece in pieces if piece)
    start = end_of_leading(PROJECT_INSTRUCTIONS, text)
    return trim(text[start:]) if start else text


def spans_to_keep(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of text between the tags, without the content of dropped tags.

    A dropped block ends at the tag that balances its opening tag; if there is no such tag, at the last closing one.
    """
    is_plain, last = True, {}
    for tag in tags(text):
        is_plain = False
        if tag[1]:
            last[tag[2].lower()] = tag.start()
    if is_plain:
        yield 0, len(text)
        return
    start, depth, dropping = 0, 0, ""
    for tag in tags(text):
        name, is_empty = tag[2].lower(), tag[3].endswith("/")
        if dropping:
            if name == dropping and not is_empty:
                depth += -1 if tag[1] else 1
            if depth == 0 or tag.start() == last[dropping]:
                start, dropping = tag.end(), ""
            continue
        if start < tag.start():
            yield start, tag.start()
        start = tag.end()
        if not (tag[1] or is_empty or name in UNWRAPPED):
            if last.get(name, 0) < start:
                return
            dropping, depth = name, 1
    yield start, len(text)


def tags(text: str) -> Iterator[re.Match[str]]:
    """Yield the tags of clients, except those in their own backticks."""
    for tag in all_tags(text):
        if tag[2].lower() not in NAMES:
            continue
        end = tag.end(3) + 1
        if text[tag.start() - 1 : tag.start()] != "`" or text[end : end + 1] != "`":
            yield tag


def all_tags(text: str) -> Iterator[re.Match[str]]:
    """Yield the tags of any name, window by window. A window ends before a ``<``, where no tag is cut."""
    start = text.find("<")
    while start >= 0:
        stop = text.find("<", start + WINDOW)
        end = len(text) if stop < 0 else stop
        if text.find(">", start, end) < 0:
            start = stop
            continue
        for tag in TAG.finditer(text, start, end):
            if tag.end() == end < len(text):  # the line that follows it may go on
                whole = TAG.match(text, tag.start()) or tag
                stop = text.find("<", whole.end())
                yield whole
            else:
                yield tag
        start = stop


def trim(piece: str) -> str:
    """Return a piece without blank lines around it; the first line keeps its indent."""
    blank = len(piece) - len(piece.lstrip(" \t\n"))
    return piece[piece.rfind("\n", 0, blank) + 1 :].rstrip()


def end_of_leading(opening: re.Pattern[str], text: str) -> int:
    """Return where the elements end with which ``text`` begins; one that is not closed takes all of it."""
    start = 0
    while (found := opening.match(text, start)) is not None:
        closing = f"</{found[1]}>"
        end = text.find(closing, found.end())
        start = len(text) if end < 0 else end + len(closing)
    return start


def strip_reasoning(text: str) -> str:
    """Return ``text`` without the reasoning that a model wrote before its answer; empty if there is nothing else.

    >>> strip_reasoning("<think>Which one?</think>\\n\\nThe second test fails.")
    'The second test fails.'
    >>> strip_reasoning("Which one?\\n</think>\\nThe second test fails.")
    'The second test fails.'
    """
    if "<" not in text:
        return text
    start = end_of_leading(REASONING, text)
    if not start and (end := REASONING_END.search(text)) is not None:
        start = end.end()  # a prompt template may have opened the tag
    return trim(text[start:]) if start else text


TURN_MARK: Final = re.compile(r"\[(/?)(USER|ASSISTANT|SUMMARY|CLIENT)\]$", re.MULTILINE)
CUT: Final = "\n[...]\n"


class DialogueTurn(NamedTuple):
    """A turn of a dialogue, with the speaker ``USER`` or ``ASSISTANT``, or none for text outside of a turn."""

    speaker: str
    text: str

    def __str__(self) -> str:
        if not self.speaker:
            return self.text
        return f"[{self.speaker}]\n{self.text}\n[/{self.speaker}]"


def split_turns(dialogue: str) -> list[DialogueTurn]:
    """Split a dialogue into turns; a turn that is not closed extends to the end of the text.

    >>> split_turns("[USER]\\nFix it.\\n[/USER]")
    [DialogueTurn(speaker='USER', text='Fix it.')]
    """
    turns: list[DialogueTurn] = []
    speaker, start = "", 0
    for mark in turn_marks(dialogue):
        if not speaker and not mark[1]:
            turns.append(DialogueTurn("", dialogue[start : mark.start()].strip("\n")))
            speaker, start = mark[2], mark.end() + 1
        elif mark[1] and mark[2] == speaker:
            turns.append(DialogueTurn(speaker, dialogue[start : mark.start() - 1]))
            speaker, start = "", mark.end()
    turns.append(DialogueTurn(speaker, dialogue[start:].strip("\n")))
    return [turn for turn in turns if turn.text.strip()]


def turn_marks(dialogue: str) -> Iterator[re.Match[str]]:
    """Yield the lines that open or close a turn.

    Only lines that begin with a bracket are matched: one search through a long text would hold the interpreter.
    """
    at = -1
    while True:
        if (mark := TURN_MARK.match(dialogue, at + 1)) is not None:
            yield mark
        at = dialogue.find("\n[", at + 1)
        if at < 0:
            return


def read_turns(dialogue: str) -> list[DialogueTurn]:
    """Return the turns of a dialogue without injected text and reasoning; empty turns are left out.

    >>> read_turns("[USER]\\n<system-reminder>Be brief.</system-reminder>\\n[/USER]")
    []
    """
    turns = (
        DialogueTurn(
            speaker, strip_reasoning(text) if speaker == "ASSISTANT" else strip_injected(text)
        )
        for speaker, text in split_turns(dialogue)
    )
    return [turn for turn in turns if turn.text.strip()]


def join_turns(turns: Iterable[DialogueTurn]) -> str:
    """Return the dialogue of these turns as text.

    >>> join_turns([DialogueTurn("USER", "Fix it.")])
    '[USER]\\nFix it.\\n[/USER]'
    """
    return "\n\n".join(map(str, turns))


def cut_turns(turns: list[DialogueTurn], limit: int) -> list[DialogueTurn]:
    """Cut the turns to about ``limit`` characters: a quarter of them from the beginning, the rest from the end.

    A note in between says how much was left out. A single turn that doesn't fit is cut in its middle.

    >>> cut_turns([DialogueTurn("USER", "a" * 9), DialogueTurn("ASSISTANT", "b" * 50), DialogueTurn("USER", "c" * 9)], 40)[1].text
    '[1 turn left out here: 50 characters]'
    """
    if sum(len(turn.text) for turn in turns) <= limit:
        return turns
    if len(turns) == 1:
        return list(fitting(turns, limit))
    head = list(fitting(turns, limit // 4))
    tail = list(fitting(turns[: len(head) - 1 : -1], limit - limit // 4))
    tail.reverse()
    left_out = turns[len(head) : len(turns) - len(tail)]
    if not left_out:
        return head + tail
    size = sum(len(turn.text) for turn in left_out)
    gone, chars = counted(len(left_out), "turn"), counted(size, "character")
    note = DialogueTurn("", f"[{gone} left out here: {chars}]")
    return [*head, note, *tail]


def fitting(turns: list[DialogueTurn], limit: int) -> Iterator[DialogueTurn]:
    """Yield the first turns that fit into ``limit`` characters; cut the very first if it doesn't fit."""
    for number, (speaker, text) in enumerate(turns):
        if len(text) > limit:
            if number == 0:
                yield DialogueTurn(speaker, truncate(text, limit, keep="ends", marker=CUT))
            return
        yield DialogueTurn(speaker, text)
        limit -= len(text)
