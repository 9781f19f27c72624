"""The section about a projection: each result that it changes, before and after, with the reason and the setting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, Final, NamedTuple, get_args

from toolcarry import convert, extract_tool_blocks, project
from toolcarry._util.plural import counted
from toolcarry.api.context import setting_of
from toolcarry.api.conversation import Conversation
from toolcarry.api.projection import Style, whole_text
from toolcarry.cli.project import REASONS, summary
from toolcarry.cli.report.page import Page, block
from toolcarry.cli.terminal import one_line
from toolcarry.errors import InputError
from toolcarry.importers.jobs import entry_of
from toolcarry.model.dedupe import Judging
from toolcarry.model.dedupe.rules import DEFAULT_RULE_SET
from toolcarry.model.marker import name_all
from toolcarry.model.titles import title
from toolcarry.types.policy import NO_LIMIT, ProjectPolicy
from toolcarry.types.results import Projected
from toolcarry.types.values import Replacement, ToolBlock

MOST_CHANGES: Final = 100
"""The most results that are shown, those that are shortened by most."""
MOST_OPEN: Final = 5
"""The most results whose texts are not folded away."""
MOST_CHARS: Final = 5_000_000
"""The most characters of whole results in a page."""
PREVIEW_LINES: Final = 6
PREVIEW_CHARS: Final = 600
LIMITED: Final = ("cut", "cut_text", "shortened")


class Change(NamedTuple):
    """A result that the projection changes: its call, and its text before and after."""

    replacement: Replacement
    title: str
    before: str
    after: str
    setting: str


def project_session(
    messages: Sequence[Any], data: bytes, shape: str, policy: ProjectPolicy
) -> tuple[Projected, list[Change]]:
    """Return the projection of a conversation, and its changes, those that save most first.

    What is not a request of a provider, by its ``shape``, becomes one. Raises ``InputError`` if it can't.
    """
    is_request = shape in get_args(Style) and not Conversation.of(data).is_session
    request = list(messages if is_request else convert(data, to="anthropic", repair=False).messages)
    projected = project(request, policy=policy)
    before, after = by_reference(request), by_reference(projected.messages)
    changes: list[Change] = []
    for each in projected.report.replacements:
        old, new = before.get(each.reference), after.get(each.reference)
        changes.append(Change(each, title_of(old), text_of(old), text_of(new), setting(each.reason, policy)))  # fmt: skip
    changes.sort(key=lambda each: each.replacement.chars_after - each.replacement.chars_before)
    return projected, changes


def by_reference(messages: Sequence[Any]) -> Mapping[str, ToolBlock]:
    """Return the blocks by the references that a projection gives them."""
    blocks = extract_tool_blocks(messages)
    return dict(zip(name_all(block.call_id for block in blocks), blocks, strict=True))


def title_of(found: ToolBlock | None) -> str:
    """Return the title of a call, as a context has it."""
    if found is None:
        return ""
    entry = entry_of(found, 0)
    Judging(DEFAULT_RULE_SET).prepare(entry)
    return title(entry)


def text_of(found: ToolBlock | None) -> str:
    """Return the text of a result."""
    return "" if found is None or found.tool_result is None else whole_text(found.tool_result)


def setting(reason: str, policy: ProjectPolicy) -> str:
    """Return the setting that would change what happened for a reason."""
    if reason in LIMITED:
        return setting_of("limit", policy)
    return "content" if reason == "terminal" else setting_of(reason, policy)


def write_changes(
    page: Page,
    messages: Sequence[Any],
    data: bytes,
    shape: str,
    policy: ProjectPolicy,
    *,
    is_private: bool,
) -> None:
    """Write the section about a conversation that has these messages, bytes and shape."""
    with page.section("Before and after a projection"):
        try:
            projected, changes = project_session(messages, data, shape, policy)
        except InputError as error:
            page.say("Not shown: the session can't become a request." if is_private else f"Not shown: {one_line(str(error), 400)}")  # fmt: skip
            return
        limit = None if policy.max_result_tokens == NO_LIMIT else policy.max_result_tokens
        page.say(
            "What project would send instead"
            + ("" if limit is None else f", with at most {limit:,} tokens of a result (--max-result-tokens)")
            + f": {'; '.join(summary(projected.report))}."
        )  # fmt: skip
        again = projected.report.cache_break_tokens
        if again:
            page.say(f"If all of it is in a prompt cache, about {again:,} tokens are written into it again, once.")  # fmt: skip
        rows: list[list[object]] = []
        for each in changes[:MOST_CHANGES]:
            call = [] if is_private else [one_line(each.title)]
            made = each.replacement
            rows.append([one_line(made.tool_name), *call, REASONS.get(made.reason, made.reason), each.setting, made.chars_before, made.chars_after])  # fmt: skip
        if not rows:
            return
        heads = ["tool", *([] if is_private else ["call"]), "what happens", "setting that would change it", "before", "after"]  # fmt: skip
        page.table("changes", heads, rows)
        if len(changes) > len(rows):
            page.say(f"And {len(changes) - len(rows):,} more, which save less each.")
        if not is_private:
            parts = texts_html(changes[:MOST_CHANGES])
            page.body.extend(parts[:MOST_OPEN])
            if len(parts) > MOST_OPEN:
                page.body.append(f"<details><summary>{counted(len(parts) - MOST_OPEN, 'more result')}, before and after</summary>")  # fmt: skip
                page.body.extend([*parts[MOST_OPEN:], "</details>"])


def texts_html(changes: Sequence[Change]) -> list[str]:
    """Return the texts of each change, before and after in two columns."""
    parts: list[str] = []
    left = MOST_CHARS
    for each in changes:
        left -= len(each.before)
        made = each.replacement
        call = escape(f"{one_line(made.tool_name)} {one_line(each.title)}")
        reason = escape(REASONS.get(made.reason, made.reason))
        parts.append(
            f'<article class="change"><h3>{call}</h3><p>{reason}; changed by <code>{escape(each.setting)}</code></p>'
            f'<div class="columns"><div><h4>before: {made.chars_before:,} characters</h4>{text_html(each.before, has_room=left >= 0, reference=made.reference)}</div>'
            f"<div><h4>after: {made.chars_after:,} characters</h4>{text_html(each.after, has_room=True, reference=made.reference)}</div></div></article>"
        )
    return parts


def text_html(text: str, *, has_room: bool, reference: str) -> str:
    """Return the beginning of a text, and the whole of it on demand."""
    lines = text.splitlines()
    start = "\n".join(lines[:PREVIEW_LINES])[:PREVIEW_CHARS]
    if len(start) >= len(text.rstrip()):
        return block(start)
    if not has_room:
        return f"{block(start)}<p>The page has no room for the whole; <code>toolcarry resolve FILE {escape(one_line(reference))}</code> prints it.</p>"
    return f"{block(start)}<details><summary>the whole: {len(lines):,} lines</summary>{block(text)}</details>"
