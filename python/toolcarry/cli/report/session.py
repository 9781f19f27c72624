"""The page of one session."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from html import escape
from itertools import accumulate
from typing import Any

from toolcarry._input.document import decode_messages
from toolcarry._input.objects import as_object
from toolcarry.api.survey import ContextSurvey, Measured
from toolcarry.cli.inspect import Surveyed
from toolcarry.cli.report.cache import Request, requests_of, write_cache
from toolcarry.cli.report.changes import write_changes
from toolcarry.cli.report.fidelity import cuts_in, write_fidelity
from toolcarry.cli.report.page import COLOURS, Page
from toolcarry.cli.report.prices import PriceTable
from toolcarry.cli.survey_words import PARTS, STATES, count_of, times
from toolcarry.cli.terminal import label, one_line
from toolcarry.types.models import scale_of
from toolcarry.types.policy import Policy


def write_session(
    page: Page,
    surveyed: Surveyed,
    measured: Measured,
    data: bytes,
    *,
    is_private: bool,
    policy: Policy,
    prices: PriceTable | None,
) -> None:
    """Write the page of one session, whose bytes are ``data``."""
    context, survey = surveyed.context, surveyed.inspection
    session = context.session
    messages = decode_messages(data)[0]
    marks = compactions(messages)
    requests = requests_of(messages, marks)
    title = "A session" if is_private else label(surveyed.name)
    page.body.append(f"<h1>{escape(title)}</h1>")
    if context.usage is not None:
        page.say(context.usage.label)
    page.body.append(facts_html(context, surveyed, is_private=is_private))
    with page.section("The context, message by message"):
        over_time(page, context, measured, marks, requests)
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
    shown: list[tuple[str, str, object]] = [
        ("tokens", count_of(context.tokens, context.model, exact=context.exact), context.tokens),
        ("messages", f"{survey.messages:,}", survey.messages),
        ("calls", f"{survey.calls:,}", survey.calls),
        ("errors", f"{survey.errors:,}", survey.errors),
        ("orphan calls", f"{survey.orphan_calls:,}", survey.orphan_calls),
        ("orphan results", f"{survey.orphan_results:,}", survey.orphan_results),
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


def over_time(
    page: Page,
    context: ContextSurvey,
    measured: Measured,
    marks: Sequence[int],
    requests: Sequence[Request],
) -> None:
    """Add the chart of the context after each message, stacked by part; the input of each request as its provider
    counted it, the compactions and the window are lines."""
    factor = scale_of(context.model).factor
    numbers = [at for at, sizes in enumerate(measured.by_message) if sizes]
    data: list[Any] = []
    for part, title in PARTS.items():
        sizes = [measured.by_message[at].get(part, 0) for at in numbers]
        whole = [round(total * factor) for total in accumulate(sizes)]
        if whole and whole[-1]:
            data.append({"x": [at + 1 for at in numbers], "y": whole, "name": title, "stackgroup": "one", "mode": "lines", "line": {"color": COLOURS[part], "width": 1, "shape": "hv"}})  # fmt: skip
    if requests:
        data.append({"x": [each.position + 1 for each in requests], "y": [each.total for each in requests], "name": "input by the provider's count", "mode": "lines", "line": {"color": COLOURS["frame"], "width": 2, "dash": "dot"}})  # fmt: skip
    shapes = [{"type": "line", "x0": at + 1, "x1": at + 1, "y0": 0, "y1": 1, "yref": "paper", "line": {"dash": "dot", "color": COLOURS["failed"]}} for at in marks]  # fmt: skip
    notes = [{"x": at + 1, "y": 1, "yref": "paper", "text": "compaction", "showarrow": False, "textangle": -90, "xanchor": "right", "yanchor": "top"} for at in marks]  # fmt: skip
    highest = max([context.tokens, *(each.total for each in requests)])
    limit = 0 if context.usage is None else context.usage.limit
    if limit and highest * 2 > limit:
        shapes.append({"type": "line", "x0": 0, "x1": 1, "xref": "paper", "y0": limit, "y1": limit, "line": {"dash": "dash", "color": COLOURS["failed"]}})  # fmt: skip
        notes.append({"x": 0, "xref": "paper", "y": limit, "text": f"window: {limit:,}", "showarrow": False, "xanchor": "left", "yanchor": "bottom"})  # fmt: skip
    page.chart("over_time", data, {"xaxis": {"title": {"text": "message"}}, "yaxis": {"title": {"text": "tokens"}, "rangemode": "tozero"}, "shapes": shapes, "annotations": notes, "hovermode": "x unified"})  # fmt: skip
    if marks:
        page.say("The areas have the messages before a compaction, too. The line by the provider's count, if there is one, is what was sent.")  # fmt: skip
    if limit and highest * 2 <= limit:
        page.say(f"The window of {limit:,} tokens is far above: its line is left out.")


def compactions(messages: Sequence[Any]) -> list[int]:
    """Return the positions at which the host replaced the conversation by a summary."""
    found: list[int] = []
    for position, item in enumerate(messages):
        record = as_object(item) or {}
        is_claude = record.get("isCompactSummary") is True or record.get("subtype") == "compact_boundary"  # fmt: skip
        is_mark = is_claude or record.get("type") == "compacted"  # Codex
        if is_mark and position - 1 not in found[-1:]:  # Claude Code writes two records
            found.append(position)
    return found
