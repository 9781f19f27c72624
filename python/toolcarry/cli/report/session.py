"""The page of one session."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from html import escape
from typing import Any, Final

from toolcarry._input.document import decode_messages
from toolcarry.api.survey import Measured, scaled
from toolcarry.cli.report.bill import write_bill
from toolcarry.cli.report.cache import BilledRequest, requests_of, write_cache
from toolcarry.cli.report.changes import write_changes
from toolcarry.cli.report.fidelity import cuts_in, write_fidelity
from toolcarry.cli.report.page import COLOURS, Page
from toolcarry.cli.report.prices import PriceTable
from toolcarry.cli.survey_words import PARTS, STATES, count_of, times
from toolcarry.cli.surveyed import Surveyed
from toolcarry.cli.terminal import label, one_line
from toolcarry.types.models import scale_of
from toolcarry.types.policy import ProjectPolicy
from toolcarry.types.results import ContextSurvey


def write_session(
    page: Page,
    surveyed: Surveyed,
    measured: Measured,
    data: bytes,
    *,
    is_private: bool,
    policy: ProjectPolicy,
    prices: PriceTable | None,
) -> None:
    """Write the page of one session, whose bytes are ``data``."""
    context, survey = surveyed.context, surveyed.inspection
    session = context.session
    messages = decode_messages(data)[0]
    requests = requests_of(messages, measured.compactions)
    title = "A session" if is_private else label(surveyed.name)
    page.body.append(f"<h1>{escape(title)}</h1>")
    if context.usage is not None:
        page.say(context.usage.label)
    page.body.append(facts_html(context, surveyed, is_private=is_private))
    with page.section("The context, request by request"):
        over_time(page, context, measured, requests)
    with page.section("What it is made of"):
        parts = [(PARTS[name], count, COLOURS[name]) for name, count in context.parts.items() if count]  # fmt: skip
        page.bars("parts", parts)
    states = [
        (STATES[state][0], context.results[state].tokens, COLOURS[state])
        for state in STATES
        if context.results[state].count
    ]
    if states:
        with page.section("The tool results"):
            page.bars("states", states)
    write_fidelity(page, cuts_in(messages))
    limits = replace(policy, model=context.model or None)
    write_changes(page, messages, data, survey.shape, limits, is_private=is_private)
    write_bill(page, data, limits)
    write_cache(page, requests, prices)
    with page.section("Heaviest results"):
        results = [
            [one_line(each.tool_name), *([] if is_private else [one_line(each.title)]), STATES[each.state][0], each.position + 1, each.tokens]
            for each in context.heaviest
        ]  # fmt: skip
        heads = ["tool", *([] if is_private else ["call"]), "state", "message", "tokens"]
        page.table("heaviest", heads, results)
    if not is_private:
        with page.section("Heaviest files"):
            files = [[one_line(each.path, 400), each.reads, each.edits, each.tokens] for each in context.files]  # fmt: skip
            page.table("files", ["file", "reads", "edits", "tokens"], files)
    with page.section("Tools"):
        tools = [[one_line(name), size.calls, size.results, size.errors, size.bytes] for name, size in survey.tools.items()]  # fmt: skip
        page.table("tools", ["tool", "calls", "results", "errors", "bytes"], tools)
    if not is_private and session.directory:
        page.say(f"Working directory: {one_line(session.directory, 400)}")


def facts_html(context: ContextSurvey, surveyed: Surveyed, *, is_private: bool) -> str:
    """Return the figures at the top of a page."""
    survey, session = surveyed.inspection, context.session
    bad_lines = len(survey.skipped_lines)
    shown: list[tuple[str, str, object]] = [
        ("tokens", count_of(context.tokens, context.model, exact=context.exact), context.tokens),
        (
            "compacted",
            f"{context.compacted:,} before" if context.compacted else "",
            context.compacted,
        ),
        ("messages", f"{survey.messages:,}", survey.messages),
        ("calls", f"{survey.calls:,}", survey.calls),
        ("errors", f"{survey.errors:,}", survey.errors),
        ("orphan calls", f"{survey.orphan_calls:,}", survey.orphan_calls),
        ("orphan results", f"{survey.orphan_results:,}", survey.orphan_results),
        ("unread", f"{survey.unread.count:,}" if survey.unread else "", survey.unread.count),
        ("bad lines", f"{bad_lines:,}" if bad_lines else "", bad_lines),
        ("model", one_line(context.model), context.model),
        ("time", times(session.first, session.last), ""),
        ("session", "" if is_private else one_line(session.session_id), ""),
    ]
    cells = [
        f'<div><dt>{title}</dt><dd id="{title.replace(" ", "_")}" data-value="{escape(str(value))}">{escape(text)}</dd></div>'
        for title, text, value in shown
        if text
    ]
    return f"<dl>{''.join(cells)}</dl>"


MOST_TOOLS: Final = 6
"""The number of tools whose results have an area of their own, the heaviest; the others share one."""
SHADES: Final = ("#2b5580", "#4477aa", "#6a97c4", "#8fb3d6", "#b3cde6", "#6d7f99", "#c9d3df")
"""The colours of the results of tools, shades of the colour of results; the last one is for the other tools."""
KINDS: Final = ("inputs", "text", "thinking", "media")
"""The other kinds. Media in results count for their tools."""


def over_time(
    page: Page, context: ContextSurvey, measured: Measured, requests: Sequence[BilledRequest]
) -> None:
    """Add the chart of the context of each request and of the next one: results by tool, then the other kinds, stacked.

    The input of each request as its provider counted it, the compactions and the window are lines.
    """
    tools, sizes = contexts(measured)
    titles = [*(one_line(name, 40) for name in tools), "other tools", *(PARTS[kind] for kind in KINDS)]  # fmt: skip
    colours = [*SHADES[: len(tools)], SHADES[-1], *(COLOURS[kind] for kind in KINDS)]
    factor = scale_of(context.model).factor
    whole = [list(scaled(dict(enumerate(each)), factor).values()) for each in sizes]
    numbers = list(range(1, len(whole) + 1))
    data: list[Any] = []
    for title, colour, area in zip(titles, colours, zip(*whole, strict=True), strict=True):
        if any(area):
            data.append({"x": numbers, "y": area, "name": title, "stackgroup": "one", "mode": "lines", "line": {"color": colour, "width": 1, "shape": "hv"}})  # fmt: skip
    if requests:
        places = [max(bisect_right(measured.requests, each.position), 1) for each in requests]
        data.append({"x": places, "y": [each.total for each in requests], "name": "input by the provider's count", "mode": "lines", "line": {"color": COLOURS["frame"], "width": 2, "dash": "dot"}})  # fmt: skip
    highest = max([*map(sum, whole), *(each.total for each in requests)])
    limit = 0 if context.usage is None else context.usage.limit
    is_near = highest * 2 > limit
    if limit:
        data.append({"x": [1, numbers[-1]], "y": [limit, limit], "name": f"window: {limit:,}", "mode": "lines", "visible": True if is_near else "legendonly", "line": {"color": COLOURS["failed"], "width": 2, "dash": "dash"}})  # fmt: skip
    marks = [bisect_left(measured.requests, at) + 0.5 for at in measured.compactions]
    shapes = [{"type": "line", "x0": at, "x1": at, "y0": 0, "y1": 1, "yref": "paper", "line": {"dash": "dot", "color": COLOURS["failed"]}} for at in marks]  # fmt: skip
    notes = [{"x": at, "y": 1, "yref": "paper", "text": "compaction", "showarrow": False, "textangle": -90, "xanchor": "right", "yanchor": "top"} for at in marks]  # fmt: skip
    page.chart("over_time", data, {"xaxis": {"title": {"text": "request; the last is the next one"}}, "yaxis": {"title": {"text": "tokens"}, "rangemode": "tozero"}, "shapes": shapes, "annotations": notes, "hovermode": "x unified"})  # fmt: skip
    if limit and not is_near:
        page.say(
            f"The window of {limit:,} tokens is far above this chart; the legend shows its line."
        )


def contexts(measured: Measured) -> tuple[list[str], list[list[int]]]:
    """Return the heaviest tools, and the tokens in each request and in the next one, not scaled: of the results of each
    of them, of those of the other tools, and of each of ``KINDS``."""
    totals = Counter[str]()
    for tools in measured.results_by_message:
        totals.update(tools)
    heaviest = [name for name, _ in totals.most_common(MOST_TOOLS)]
    ends = [*measured.requests, len(measured.by_message)]
    found: list[list[int]] = []
    sums = nothing = [0] * (len(heaviest) + 1 + len(KINDS))
    messages = zip(measured.by_message, measured.results_by_message, strict=True)
    for position, (parts, tools) in enumerate(messages):
        if ends[len(found)] == position:
            found.append(sums)
        if position in measured.compactions:
            sums = nothing
        named = [tools.get(name, 0) for name in heaviest]
        others = sum(tools.values()) - sum(named)
        kinds = [parts.get(kind, 0) for kind in KINDS[:-1]]
        rest = sum(parts.values()) - sum(tools.values()) - sum(kinds)
        sums = [sum(pair) for pair in zip(sums, [*named, others, *kinds, rest], strict=True)]
    return heaviest, [*found, sums]
