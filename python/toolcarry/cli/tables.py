"""The tables of ``inspect``, ``--explain`` and ``history stats``. Cells are plain text: no markup, no escapes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from toolcarry._util.plural import counted
from toolcarry.api.context import Fate, Inspection
from toolcarry.api.context_usage import ContextUsage
from toolcarry.cli.terminal import label, one_line
from toolcarry.types.values import ToolSize

ROW_WIDTH: Final = 150
"""In a narrower terminal, each file gets a table of its own instead of a row."""

MOST_TOOLS: Final = 50
"""The most tools that are listed, largest first; one line sums up the others."""

OPTIONS: Final = {
    "max_tool_context_chars": "--max-chars",
    "max_tool_context_tokens": "--max-tokens",
    "max_tool_result_chars": "--max-result-chars",
    "max_tool_result_tokens": "--max-result-tokens",
}

STYLES: Final = {
    "shown": "green",
    "cut": "yellow",
    "superseded": "dim",
    "excluded": "dim",
    "left_out": "red",
}

COLUMNS: Final = (
    ("messages", "messages"),
    ("calls", "calls"),
    ("results", "results"),
    ("bytes", "bytes"),
    ("duplicates", "duplicates"),
    ("stale reads", "stale_reads"),
    ("orphan calls", "orphan_calls"),
    ("orphan results", "orphan_results"),
    ("errors", "errors"),
)
"""The columns of a survey, as titles and fields; a column for bad lines follows."""

DETAILS: Final = (
    ("second results", "duplicate_results"),
    ("repeated records", "repeated_records"),
    ("in side chains", "side_chain_blocks"),
    ("on other branches", "other_branch_blocks"),
)
"""Further lines for a single file, each shown only if it is not 0."""

WORRYING: Final = {"orphan calls", "orphan results", "errors", "bad lines"}


def fate_table(fates: Sequence[Fate]) -> Table:
    """Return a table of the blocks with the outcome, the reason, and the setting that would change it."""
    table = new_table()
    table.add_column("message", justify="right")
    for name in ("tool", "what", "fate", "reason", "changed by"):
        table.add_column(name, overflow="fold")
    for fate in fates:
        table.add_row(
            str(fate.position + 1),
            cell(fate.tool_name, 40),
            cell(fate.title),
            Text(fate.fate.replace("_", " "), STYLES.get(fate.fate, "")),
            cell(fate.reason),
            cell(", ".join(OPTIONS.get(name, name) for name in fate.setting.split(", "))),
        )
    return table


def survey_tables(
    surveys: Sequence[tuple[str, Inspection]], width: int, usage: ContextUsage | None = None
) -> list[RenderableType]:
    """Return tables of the files, and a table of each tool's size over all files, that fit ``width`` columns.

    ``usage`` says how much of its model's context window a single file takes, if that is known.
    """
    found: list[RenderableType] = []
    if len(surveys) > 1 and width >= ROW_WIDTH:
        found = [survey_rows(surveys), ""]
    else:
        for survey in surveys:
            found += [survey_fields(*survey, usage), ""]
    sizes = add_sizes(survey for _, survey in surveys)
    return [*found, tool_table(sizes)] if sizes else found


def survey_fields(name: str, survey: Inspection, usage: ContextUsage | None) -> Table:
    """Return the table of one file, with a line for each field."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    table.add_row("file", Text(label(name)))
    table.add_row("shape", Text(survey.shape))
    if usage is not None:
        tokens = f"{usage.used:,} of {usage.limit:,} tokens."
        table.add_row("context", Text(f"{tokens} {usage.label}"))
    for title, field in COLUMNS:
        table.add_row(title, number(title, getattr(survey, field)))
    for title, field in DETAILS:
        if getattr(survey, field):
            table.add_row(title, number(title, getattr(survey, field)))
    bad = number("bad lines", len(survey.skipped_lines))
    if survey.skipped_lines:
        listed = ", ".join(map(str, survey.skipped_lines[:10]))
        bad.append(f" ({listed}{', ...' if len(survey.skipped_lines) > 10 else ''})")
    table.add_row("bad lines", bad)
    return table


def survey_rows(surveys: Sequence[tuple[str, Inspection]]) -> Table:
    """Return the table of several files, with a row for each and a total."""
    table = new_table(has_footer=True)
    table.add_column("file", "total", overflow="fold")
    table.add_column("shape", overflow="fold")
    for title, field in COLUMNS:
        total = sum(getattr(survey, field) for _, survey in surveys)
        table.add_column(title, f"{total:,}", justify="right")
    bad = sum(len(survey.skipped_lines) for _, survey in surveys)
    table.add_column("bad lines", f"{bad:,}", justify="right")
    for name, survey in surveys:
        table.add_row(
            Text(label(name)),
            Text(survey.shape),
            *(number(title, getattr(survey, field)) for title, field in COLUMNS),
            number("bad lines", len(survey.skipped_lines)),
        )
    return table


def tool_table(sizes: dict[str, ToolSize]) -> Table:
    """Return a table of the sizes of each tool's results, largest first."""
    table = new_table()
    table.add_column("tool", overflow="fold")
    for name in ("calls", "results", "errors", "bytes", "share"):
        table.add_column(name, justify="right")
    heaviest = sorted(sizes.items(), key=lambda item: (-item[1].bytes, item[0]))
    total = sum(size.bytes for size in sizes.values())
    rows = [(cell(name, 60), size) for name, size in heaviest[:MOST_TOOLS]]
    rest = [size for _, size in heaviest[MOST_TOOLS:]]
    if rest:
        rows.append((Text(counted(len(rest), "other"), "dim"), add(rest)))
    for shown, size in rows:
        table.add_row(
            shown,
            f"{size.calls:,}",
            f"{size.results:,}",
            number("errors", size.errors),
            f"{size.bytes:,}",
            f"{size.bytes / total:.0%}" if total else "",
        )
    return table


def add_sizes(surveys: Iterable[Inspection]) -> dict[str, ToolSize]:
    """Return the sizes of each tool's results over all files."""
    found: dict[str, list[ToolSize]] = {}
    for survey in surveys:
        for name, size in survey.tools.items():
            found.setdefault(name, []).append(size)
    return {name: add(sizes) for name, sizes in found.items()}


def add(sizes: Sequence[ToolSize]) -> ToolSize:
    return ToolSize(
        calls=sum(size.calls for size in sizes),
        results=sum(size.results for size in sizes),
        errors=sum(size.errors for size in sizes),
        bytes=sum(size.bytes for size in sizes),
        chars=sum(size.chars for size in sizes),
    )


def new_table(*, has_footer: bool = False) -> Table:
    return Table(
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        collapse_padding=True,
        header_style="bold",
        show_footer=has_footer,
        show_edge=False,
    )


def cell(text: str, limit: int = 100) -> Text:
    """Return text of a conversation as a table cell: one line, safe to print."""
    return Text(one_line(text, limit))


def number(title: str, value: int) -> Text:
    return Text(f"{value:,}", "red" if value and title in WORRYING else "")
