"""What clients put into a user's turn beside the user's words, and how it comes out.

Guaranteed: linear time; a text without these tags is the same object; doing it twice is doing it once.
A tag in backticks of its own, as one that is talked about, stays. One in a fence does not: the tag of a client may
follow a fence that the user left open.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

__all__ = ["strip_injected", "strip_reasoning"]

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
"""What stands in these goes with them: nothing of it is the user's own words."""

UNWRAPPED: Final = frozenset({
    "command-args", "user-memory-input", "task", "user_message", "user_query", "user_request", "userrequest",
    "feedback", "answer",
})  # fmt: skip
"""What stands in these is what the user said."""

NAMES: Final = "|".join(sorted(DROPPED | UNWRAPPED))

TAG: Final = re.compile(
    rf"<(/?)({NAMES})((?:[ \t/][^<>\n]*)?)>"
    # what stands behind a notification, outside of its tag
    r"(?:\s{0,8}(?:Read the output file to retrieve the result|Full transcript available at):[^\n]*)?",
    re.IGNORECASE,
)
"""No tag goes over a line feed, so that a line feed in its place can't make a new one."""

PROJECT_INSTRUCTIONS: Final = re.compile(
    r"\s*# AGENTS\.md instructions[^\n]*\s*<INSTRUCTIONS>.*?(?:</INSTRUCTIONS>|\Z)", re.DOTALL
)
"""How Codex begins a conversation. The tag's name by itself is anybody's."""

REASONING: Final = re.compile(r"\s*<(think|thinking|reasoning|thought)>(?:.*?</\1>|.*)", re.DOTALL)
REASONING_END: Final = re.compile(r"^[ \t]*</think>[ \t]*$", re.MULTILINE)

BLANK_LINES: Final = re.compile(r"(?:[ \t]*\n)+")


def strip_injected(text: str) -> str:
    """``text`` without what clients inject into a user's turn; empty where the user said nothing.

    ``<system-reminder>`` and its like go with all that is in them; where one is not closed, to the end. Of
    ``<command-args>``, ``<task>`` and others that hold what the user said, the tags alone go.

    >>> strip_injected("<system-reminder>Be brief.</system-reminder>\\nFix the test.")
    'Fix the test.'
    >>> strip_injected("<task>\\nFix the test.\\n</task>\\n<environment_details># Open tabs")
    'Fix the test.'
    """
    if "<" not in text:
        return text
    spans = list(kept_spans(text))
    if spans != [(0, len(text))]:
        pieces = [trim(text[start:end]) for start, end in spans]
        text = "\n\n".join(piece for piece in pieces if piece)
    start = 0
    while (found := PROJECT_INSTRUCTIONS.match(text, start)) is not None:
        start = found.end()
    return trim(text[start:]) if start else text


def kept_spans(text: str) -> Iterator[tuple[int, int]]:
    """What stands between the tags, but for what is dropped with them.

    A block ends where as many tags of its name closed as opened; where that never comes, at the last that closes.
    """
    last = {tag[2].lower(): tag.start() for tag in tags(text) if tag[1]}
    start, depth, dropping = 0, 0, ""
    for tag in tags(text):
        name, is_empty = tag[2].lower(), tag[3].endswith("/")
        if dropping:
            if name == dropping and not is_empty:
                depth += -1 if tag[1] else 1
            if depth == 0 or tag.start() == last[dropping]:
                start, dropping = tag.end(), ""
            continue
        yield start, tag.start()
        start = tag.end()
        if not (tag[1] or is_empty or name in UNWRAPPED):
            if last.get(name, 0) < start:
                return
            dropping, depth = name, 1
    yield start, len(text)


def tags(text: str) -> Iterator[re.Match[str]]:
    """The tags, but for those that stand in backticks of their own."""
    for tag in TAG.finditer(text):
        end = tag.end(3) + 1
        if text[tag.start() - 1 : tag.start()] != "`" or text[end : end + 1] != "`":
            yield tag


def trim(piece: str) -> str:
    """A piece without blank lines around it; its first line keeps its indent."""
    blank = BLANK_LINES.match(piece)
    return (piece[blank.end() :] if blank else piece).rstrip()


def strip_reasoning(text: str) -> str:
    """``text`` without the reasoning that a model wrote before its answer; empty where there is nothing else.

    >>> strip_reasoning("<think>Which one?</think>\\n\\nThe second test fails.")
    'The second test fails.'
    >>> strip_reasoning("Which one?\\n</think>\\nThe second test fails.")
    'The second test fails.'
    """
    if "<" not in text:
        return text
    start = 0
    while (found := REASONING.match(text, start)) is not None:
        start = found.end()
    if not start and (end := REASONING_END.search(text)) is not None:
        start = end.end()  # a template may open the tag in the prompt
    return trim(text[start:]) if start else text
