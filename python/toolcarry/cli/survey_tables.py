"""The tables of a survey, for ``inspect`` and ``watch``. Cells are plain text; no number loses a digit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from toolcarry._util.plural import counted
from toolcarry.cli.survey_words import PARTS, STATES, count_of, share, times
from toolcarry.cli.tables import cell, new_table
from toolcarry.cli.terminal import label, one_line
from toolcarry.types.results import ContextSurvey, FileUse, HeavyResult
from toolcarry.types.values import ToolSize

if TYPE_CHECKING:
    from toolcarry.cli.surveyed import Surveyed
    from toolcarry.types.results import Inspection

ROW_WIDTH: Final = 150
"""In a narrower terminal, the rows of several files have fewer columns."""
MIDDLE: Final = 70
"""In a terminal that is even narrower, tables have their most important columns only."""

MOST_TOOLS: Final = 50
"""The maximum number of tools that are listed, largest first; one line sums up the others."""

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


def survey_tables(surveys: Sequence[Surveyed], width: int, sort: str) -> list[RenderableType]:
    """Return tables that fit ``width`` columns: of one file with all details, or of several in rows; and of each tool.

    Rows and tools are sorted by the column ``sort``, if it is one of theirs.
    """
    found: list[RenderableType] = []
    if len(surveys) > 1:
        found = [survey_rows(surveys, width), ""]
    for survey in surveys if len(surveys) == 1 else ():
        found += [survey_fields(survey), ""]
        if survey.is_detailed:
            found += [*survey_details(survey.context, width), ""]
    sizes = add_sizes(survey.inspection for survey in surveys)
    return [*found, tool_table(sizes, width, sort)] if sizes else found


def survey_details(survey: ContextSurvey, width: int) -> list[RenderableType]:
    """Return the tables of what the context is made of, of the results by state, and of the heaviest results and files."""
    found: list[RenderableType] = [parts_table(survey.parts)]
    if any(amount.count for amount in survey.results.values()):
        found += ["", states_table(survey)]
    if survey.heaviest:
        found += ["", heaviest_table(survey.heaviest, width)]
    if survey.files:
        found += ["", files_table(survey.files)]
    return found


def parts_and_states(survey: ContextSurvey, width: int) -> RenderableType:
    """Return both tables, next to each other if there is room."""
    if not any(amount.count for amount in survey.results.values()):
        return parts_table(survey.parts)
    tables = parts_table(survey.parts), states_table(survey)
    if width < MIDDLE:
        return Group(tables[0], "", tables[1])
    grid = Table.grid(padding=(0, 4))
    grid.add_row(*tables)
    return grid


def parts_table(parts: Mapping[str, int]) -> Table:
    """Return a table of the tokens of each part."""
    table = new_table()
    table.add_column("made of", overflow="fold")
    add_numbers(table, "tokens", "share")
    total = sum(parts.values())
    for part, title in PARTS.items():
        if parts.get(part):
            table.add_row(title, f"{parts[part]:,}", share(parts[part], total))
    return table


def states_table(survey: ContextSurvey) -> Table:
    """Return a table of the results in each state."""
    table = new_table()
    table.add_column("results", overflow="fold")
    add_numbers(table, "count", "tokens", "share")
    total = sum(amount.tokens for amount in survey.results.values())
    for state, (title, style) in STATES.items():
        amount = survey.results[state]
        if amount.count:
            table.add_row(
                Text(title, style),
                f"{amount.count:,}",
                f"{amount.tokens:,}",
                share(amount.tokens, total),
            )
    return table


def heaviest_table(results: Sequence[HeavyResult], width: int) -> Table:
    """Return a table of results."""
    table = new_table()
    table.add_column("heaviest results", overflow="fold")
    add_numbers(table, "message", "tokens") if width >= MIDDLE else add_numbers(table, "tokens")
    table.add_column("state", no_wrap=True)
    for each in results:
        title, style = STATES[each.state]
        name = cell(f"{each.tool_name}: {each.title}" if each.title else each.tool_name, 80)
        place = [f"{each.position + 1:,}"] if width >= MIDDLE else []
        table.add_row(name, *place, f"{each.tokens:,}", Text(title, style))
    return table


def files_table(files: Sequence[FileUse]) -> Table:
    """Return a table of files."""
    table = new_table()
    table.add_column("heaviest files", overflow="fold")
    add_numbers(table, "reads", "edits", "tokens")
    for each in files:
        table.add_row(cell(each.path), f"{each.reads:,}", f"{each.edits:,}", f"{each.tokens:,}")
    return table


def add_numbers(table: Table, *titles: str) -> None:
    """Add columns of numbers, which are never wrapped or cut."""
    for title in titles:
        table.add_column(title, justify="right", no_wrap=True, min_width=len(title))


def context_fields(context: ContextSurvey, given: Table | None = None) -> Table:
    """Return a table of a session's facts and tokens, with a line for each; the lines of a given one come first."""
    table = field_table() if given is None else given
    session = context.session
    shown = (
        ("session", one_line(session.session_id)),
        ("directory", one_line(session.directory, 400)),
        ("model", one_line(context.model)),
        ("time", times(session.first, session.last)),
        ("tokens", count_of(context.tokens, one_line(context.model), exact=context.exact)),
        ("compacted", f"{context.compacted:,} tokens, no longer sent" if context.compacted else ""),
    )
    for title, text in shown:
        if text:
            table.add_row(title, Text(text))
    usage = context.usage
    if usage is not None:
        tokens = f"{usage.used:,} of {usage.limit:,} tokens."
        table.add_row("context", Text(f"{tokens} {usage.label}"))
    return table


def field_table() -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    return table


def survey_fields(surveyed: Surveyed) -> Table:
    """Return the table of one file, with a line for each field."""
    survey, table = surveyed.inspection, field_table()
    table.add_row("file", Text(label(surveyed.name)))
    table.add_row("shape", Text(survey.shape))
    context_fields(surveyed.context, table)
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


def survey_rows(surveys: Sequence[Surveyed], width: int) -> Table:
    """Return the table of several files, with a row for each and a total; fewer columns if the terminal is narrow."""
    table = new_table(has_footer=True)
    table.add_column("file", "total", overflow="fold")
    if width >= ROW_WIDTH:
        table.add_column("shape", overflow="fold")
        columns: tuple[tuple[str, str], ...] = (("tokens", "tokens"), *COLUMNS, ("bad lines", "bad_lines"))  # fmt: skip
    else:
        names = ("tokens", "calls", "bytes", "errors") if width >= MIDDLE else ("tokens", "bytes")
        columns = tuple((name, name) for name in names)
    for title, field in columns:
        total = sum(survey.value(field) for survey in surveys)
        table.add_column(title, f"{total:,}", justify="right", no_wrap=True, min_width=len(title))
    for survey in surveys:
        shape = [Text(survey.inspection.shape)] if width >= ROW_WIDTH else []
        cells = [number(title, survey.value(field)) for title, field in columns]
        table.add_row(Text(label(survey.name)), *shape, *cells)
    return table


def tool_table(sizes: dict[str, ToolSize], width: int = ROW_WIDTH, sort: str = "") -> Table:
    """Return a table of the sizes of each tool's results, largest first; fewer columns if the terminal is narrow."""
    table = new_table()
    table.add_column("tool", overflow="fold")
    titles = ("calls", "results", "errors", "bytes", "share")
    shown = titles if width >= MIDDLE else ("calls", "bytes", "share")
    for name in shown:
        table.add_column(name, justify="right", no_wrap=True, min_width=len(name))
    by = sort if sort in ("calls", "results", "errors") else "bytes"
    heaviest = sorted(sizes.items(), key=lambda item: (-getattr(item[1], by), item[0]))
    total = sum(size.bytes for size in sizes.values())
    rows = [(cell(name, 60), size) for name, size in heaviest[:MOST_TOOLS]]
    rest = [size for _, size in heaviest[MOST_TOOLS:]]
    if rest:
        rows.append((Text(counted(len(rest), "other"), "dim"), add(rest)))
    for shown_name, size in rows:
        cells: dict[str, str | Text] = {
            "calls": f"{size.calls:,}",
            "results": f"{size.results:,}",
            "errors": number("errors", size.errors),
            "bytes": f"{size.bytes:,}",
            "share": f"{size.bytes / total:.0%}" if total else "",
        }
        table.add_row(shown_name, *(cells[title] for title in shown))
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


def number(title: str, value: int) -> Text:
    return Text(f"{value:,}", "red" if value and title in WORRYING else "")
