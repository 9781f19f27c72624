"""The page of a report: its charts, tables and texts as HTML. All text is escaped here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, Final, NamedTuple

from toolcarry.cli.io import json_line
from toolcarry.cli.survey_words import share
from toolcarry.model.text.sanitize import without_controls

TEMPLATE: Final = Path(__file__).with_name("page.html")
COLOURS: Final = {
    "results": "#4477aa",
    "inputs": "#66ccee",
    "text": "#228833",
    "thinking": "#ccbb44",
    "media": "#aa3377",
    "frame": "#bbbbbb",
    "needed": "#228833",
    "superseded": "#ccbb44",
    "stale": "#ee8866",
    "repeated": "#66ccee",
    "failed": "#ee6677",
}
"""Colours that people with any colour vision tell apart (Paul Tol, https://sronpersonalpages.nl/~pault/, "bright")."""


class Number(NamedTuple):
    """A cell that is sorted by its value, and shown as its text."""

    value: float
    text: str


class Sparkline(NamedTuple):
    """A cell with a small curve of these values."""

    values: Sequence[int]


@dataclass(frozen=True, slots=True)
class Page:
    """The parts of a page: HTML, and the charts as Plotly has them."""

    body: list[str]
    charts: list[dict[str, Any]]

    @contextmanager
    def section(self, title: str) -> Iterator[None]:
        """Add a section with what is added inside."""
        self.body.append(f"<section><h2>{escape(title)}</h2>")
        yield
        self.body.append("</section>")

    def say(self, text: str) -> None:
        """Add a sentence."""
        self.body.append(f"<p>{escape(text)}</p>")

    def chart(self, name: str, data: list[Any], layout: dict[str, Any], css: str = "") -> None:
        """Add a chart. Plotly reads names and labels as a kind of HTML, so that they are escaped."""
        self.body.append(f'<div class="chart {css}" id="{name}"></div>')
        for trace in data:
            trace |= {key: labels(trace[key]) for key in ("name", "x", "y") if key in trace}
        self.charts.append({"id": name, "data": data, "layout": layout})

    def table(self, name: str, heads: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
        """Add a table that can be sorted. Numbers are to the right."""
        numbers = [any(isinstance(row[place], (int, Number)) for row in rows) for place in range(len(heads))]  # fmt: skip
        css = [' class="number"' if is_number else "" for is_number in numbers]
        head = "".join(f'<th data-sort=""{css[place]}>{escape(title)}</th>' for place, title in enumerate(heads))  # fmt: skip
        body = "".join(
            "<tr>" + "".join(cell(value, css[place]) for place, value in enumerate(row)) + "</tr>"
            for row in rows
        )
        self.body.append(
            f'<div class="wide"><table id="{name}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
        )

    def bars(self, name: str, rows: Sequence[tuple[str, int, str]]) -> None:
        """Add a chart with a bar for each row, and the numbers as a table."""
        total = sum(count for _, count, _ in rows)
        texts = [f"{count:,} ({share(count, total)})" for _, count, _ in rows]
        data = [{"type": "bar", "orientation": "h", "y": [title for title, _, _ in rows], "x": [count for _, count, _ in rows], "text": texts, "textposition": "auto", "marker": {"color": [colour for *_, colour in rows]}}]  # fmt: skip
        self.chart(name, data, {"xaxis": {"title": {"text": "tokens"}}, "yaxis": {"autorange": "reversed"}}, "small")  # fmt: skip
        self.table(f"{name}_table", [name, "tokens"], [[title, count] for title, count, _ in rows])

    def bytes(self, library: str) -> bytes:
        """Return the whole page."""
        charts = json_line(self.charts).decode().replace("<", "\\u003c")
        page = TEMPLATE.read_text("utf-8").replace("<!--BODY-->", "\n".join(self.body))
        page = page.replace("<!--CHARTS-->", charts)
        return page.replace("<!--PLOTLY-->", library.replace("</script", "<\\/script")).encode("utf-8", "replace")  # fmt: skip


def cell(value: object, css: str) -> str:
    """Return a cell of a table."""
    if isinstance(value, Sparkline):
        return f'<td data-value="{value.values[-1] if value.values else 0}">{curve(value.values)}</td>'  # fmt: skip
    if isinstance(value, Number):
        return f'<td{css} data-value="{value.value!r}">{escape(value.text)}</td>'
    if isinstance(value, int):
        return f'<td{css} data-value="{value}">{value:,}</td>'
    return f"<td{css}>{escape(str(value))}</td>"


WIDTH: Final = 100
HEIGHT: Final = 24


def curve(values: Sequence[int]) -> str:
    """Return a curve from the left to the right, from 0 to the greatest value."""
    most, last = max(values, default=0), len(values) - 1
    if last < 1 or not most:
        return ""
    points = " ".join(f"{at * WIDTH / last:.0f},{HEIGHT - value * HEIGHT / most:.1f}" for at, value in enumerate(values))  # fmt: skip
    return (
        f'<svg class="spark" viewBox="0 -1 {WIDTH} {HEIGHT + 2}" role="img" aria-label="up to {most:,} tokens">'
        f'<polyline points="{points}"/></svg>'
    )


def labels(value: Any) -> Any:
    """Return a label, or those in a list, escaped; a number unchanged."""
    if isinstance(value, (list, tuple)):
        return [labels(each) for each in value]
    return escape(value) if isinstance(value, str) else value


def block(text: str) -> str:
    """Return a text of several lines, without what could change the direction or the look of others."""
    return f"<pre>{escape(without_controls(text))}</pre>"
