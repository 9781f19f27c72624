"""``toolcarry report``: a page that a browser shows without an error, with the figures of ``inspect --json``."""

from __future__ import annotations

import json
import re
from html import escape
from pathlib import Path
from typing import Any

import pytest
from support.browser import CHROMIUM, browser
from support.builders.claude_session import claude_session

import toolcarry
from toolcarry import ProjectPolicy
from toolcarry._input.document import decode_messages
from toolcarry.api.fidelity import POLICIES, cuts_of, score_of
from toolcarry.api.survey import survey_and_measure, survey_context
from toolcarry.cli import main
from toolcarry.cli.report.fidelity import BUDGETS, MOST_CUTS, SHOWN
from toolcarry.model.text.sanitize import without_controls

pytest.importorskip("plotly", reason="plotly is not installed; it is part of the extra report")
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("rust")]

VALUE = re.compile(r'data-value="([^"]*)"')


@pytest.fixture
def report(tmp_path, capfdbinary):
    """Write a page; its path."""

    def report(*args: object) -> Path:
        path = tmp_path / "page.html"
        assert main(["report", *map(str, args), "-o", str(path)]) == 0
        return path

    return report


def values(page: str, name: str) -> list[list[str]]:
    """The numbers in the rows of a table."""
    table = page[page.index(f'id="{name}"') :]
    rows = table[: table.index("</table>")].split("<tr>")[2:]
    return [VALUE.findall(row) for row in rows]


def check_figures(page: str, data: bytes) -> None:
    context = survey_context(data)
    assert f'id="tokens" data-value="{context.tokens}"' in page
    assert values(page, "parts_table") == [
        [str(count)] for count in context.parts.values() if count
    ]
    assert values(page, "heaviest") == [
        [str(each.position + 1), str(each.tokens)] for each in context.heaviest
    ]
    survey = toolcarry.inspect(data)
    assert values(page, "tools") == [
        [str(size.calls), str(size.results), str(size.errors), str(size.bytes)] for size in survey.tools.values()
    ]  # fmt: skip


def test_the_figures_are_those_of_inspect(report, example):
    page = report(example).read_text()
    check_figures(page, example.read_bytes())
    assert "default-src 'none'" in page
    assert "prompt cache" in page
    usages = {each["message"]["id"]: each["message"]["usage"] for each in records(example) if "usage" in each.get("message", {}) and not each["isSidechain"]}  # fmt: skip
    cached = sum(usage["cache_read_input_tokens"] for usage in usages.values())
    assert values(page, "cache_table")[0] == [str(cached)]


def records(path: Path) -> list[dict[str, dict[str, dict[str, int]]]]:
    lines = path.read_text().splitlines()
    return [json.loads(line) for line in lines if line.startswith("{") and line.endswith("}")]


def test_private(report, example):
    page = report(example, "--private").read_text()
    charts = page[page.index('id="charts"') : page.index("<script>")]
    body = page[page.index("<body>") : page.index('id="charts"')] + charts
    for text in ("mara", "split.py", "pytest", "5b0c6f0e", "session.jsonl", "ruff"):
        assert text not in body
    assert "Bash" in body


def test_hostile_names_are_text(report, write):
    name = "</script><script>alert(1)</script>"
    page = report(write("a.json", (name, {"x": name}, "text " * 99))).read_text()
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page


def test_names_in_a_chart_are_text(report, write):
    page = report(write("a.json", ("<a href='x'>Read</a>", {}, "text " * 99))).read_text()
    text = page[page.index('id="charts"') :]
    charts = text[text.index(">") + 1 : text.index("</script>")]
    assert "Read" in charts
    assert "u003ca href" not in charts


def test_a_folder_is_a_table(report, write, example):
    paths = [example, write("b.json", ("Bash", {"command": "ls"}, "a.py " * 99))]
    page = report(*paths).read_text()
    tokens = [survey_context(path.read_bytes()).tokens for path in paths]
    assert [row[1] for row in values(page, "sessions")] == list(map(str, tokens))
    assert f'id="tokens" data-value="{sum(tokens)}"' in page


def test_a_folder_has_a_curve_for_each_session(report, write, example):
    page = report(example, write("b.json", ("Bash", {"command": "ls"}, "a.py " * 99))).read_text()
    assert page.count("<polyline") == 2
    assert f'aria-label="up to {tokens_of(example):,} tokens"' in page


def tokens_of(path: Path) -> int:
    """The tokens of all messages, before the factor of the model."""
    _, measured = survey_and_measure(path.read_bytes())
    return measured.tokens


@pytest.fixture
def long_session(tmp_path) -> Path:
    path = tmp_path / "long.jsonl"
    path.write_bytes(claude_session())
    return path


def chart_of(page: str, name: str) -> dict[str, Any]:
    """The data and the layout of a chart."""
    text = page[page.index('id="charts"') :]
    charts = json.loads(text[text.index(">") + 1 : text.index("</script>")])
    return next(each for each in charts if each["id"] == name)


def test_the_context_of_each_request(report, long_session):
    chart = chart_of(report(long_session).read_text(), "over_time")
    data = long_session.read_bytes()
    context, measured = survey_and_measure(data)
    areas = [each for each in chart["data"] if "stackgroup" in each]
    assert [each["name"] for each in areas] == ["Bash", "Read", "Edit", "tool inputs", "text"]
    heights = [sum(sizes) for sizes in zip(*(each["y"] for each in areas), strict=True)]
    assert heights[-1] == context.tokens
    assert len(heights) == len(measured.requests) + 1
    lines = data.splitlines(keepends=True)
    for number in (1, 10, 30, len(measured.requests)):
        sent = b"".join(lines[: measured.requests[number - 1]])
        assert heights[number - 1] == survey_context(sent, model=context.model).tokens
    (mark,) = chart["layout"]["shapes"]
    assert heights[int(mark["x0"]) - 1] > 10 * heights[int(mark["x0"])] > 0
    assert chart["data"][-1]["name"] == "window: 200,000"


def test_fidelity_is_that_of_the_bench(report, long_session):
    page = report(long_session).read_text()
    cuts = list(cuts_of(decode_messages(long_session.read_bytes())[0], most=MOST_CUTS))
    assert f"Measured at {len(cuts)} cuts of this session" in page
    expected = []
    for name in SHOWN:
        for budget in BUDGETS:
            score = score_of(POLICIES[name], cuts, budget)
            lines = [] if score.lines is None else [repr(score.lines)]
            expected.append([str(budget), repr(score.words), repr(score.least_words), *lines, str(round(score.tokens))])  # fmt: skip
    assert values(page, "fidelity_table") == expected


def test_fidelity_of_a_short_session_is_not_measured(report, example):
    page = report(example).read_text()
    assert "Not measured" in page
    assert 'id="fidelity_table"' not in page


@pytest.mark.parametrize("limit", ["100", "none"])
def test_the_projection_is_that_of_project(report, example, limit):
    page = report(example, "--max-result-tokens", limit).read_text()
    request = list(toolcarry.convert(example.read_bytes(), to="anthropic").messages)
    policy = ProjectPolicy(
        max_result_tokens=None if limit == "none" else 100, model="claude-sonnet-4-5-20250929"
    )
    made = toolcarry.project(request, policy=policy)
    sizes = sorted(
        (each.chars_after - each.chars_before, str(each.chars_before), str(each.chars_after)) for each in made.report.replacements
    )  # fmt: skip
    assert sorted(values(page, "changes")) == sorted([before, after] for _, before, after in sizes)
    for each in made.report.replacements:
        assert escape(without_controls(toolcarry.resolve(request, each.reference))) in page
        assert escape(toolcarry.resolve(made.messages, each.reference)) in page
    assert "rules (keep=&quot;all&quot;)" in page
    assert ("<code>max_result_tokens</code>" in page) == (limit != "none")


def test_what_is_no_request_becomes_one(report, tmp_path):
    path, output = tmp_path / "chat.json", "total_count = 1\n" * 3_000
    part = {"type": "tool-shell", "toolCallId": "c1", "state": "output-available", "input": {"command": "ls"}, "output": output}  # fmt: skip
    path.write_text(json.dumps([{"id": "m1", "role": "assistant", "parts": [part]}]))
    page = report(path).read_text()
    ((before, after),) = values(page, "changes")
    assert int(before) == len(output)
    assert int(after) < 5_000
    assert escape(output) in page


def test_what_can_not_be_shown_is_said(report, write):
    page = report(write("a.json", ("Bash", {"command": "ls"}, "a.py"))).read_text()
    assert "no usage records" in page
    assert 'id="cache"' not in page
    assert "0 of 1 result replaced" in page


def test_the_cache_is_that_of_the_usage_records(report, long_session):
    page = report(long_session).read_text()
    usages = [each["message"]["usage"] for each in records(long_session) if "usage" in each.get("message", {})]  # fmt: skip
    total = sum(each["input_tokens"] + each["cache_read_input_tokens"] + each["cache_creation_input_tokens"] for each in usages)  # fmt: skip
    cached, again, new, net = (int(row[0]) for row in values(page, "cache_table"))
    assert cached == sum(each["cache_read_input_tokens"] for each in usages)
    assert cached + again + new == total
    assert again > 0
    assert net == cached - again


def test_the_bill_has_both_curves(report, long_session):
    """Those of projecting each request with the decisions of the one before, at the prices of the model."""
    page = report(long_session).read_text()
    unchanged, sent = chart_of(page, "bill")["data"]
    assert (unchanged["name"], sent["name"]) == ("unchanged", "as project would send it")
    assert len(sent["y"]) == len(unchanged["y"]) > 20
    assert sorted(unchanged["y"]) == unchanged["y"]
    assert sent["y"][-1] < unchanged["y"][-1]
    rows = [row[0] for row in values(page, "bill_table")]
    assert rows == [str(unchanged["y"][-1]), str(sent["y"][-1])]
    messages = toolcarry.convert(long_session, to="anthropic", repair=False).messages
    model = survey_context(long_session.read_bytes()).model
    policy = ProjectPolicy(max_result_tokens=1_000, model=model)
    price = policy.price_model
    first = next(place for place, each in enumerate(messages) if each["role"] == "assistant")
    report_of_first = toolcarry.project(messages[:first], policy=policy).report
    assert unchanged["y"][0] == round(price.costs(report_of_first, model)[1].units)


def test_costs(report, long_session, tmp_path):
    prices = tmp_path / "prices.toml"
    prices.write_text(
        'currency = "USD"\ndate = 2026-11-01\n[models."claude-*"]\ninput = 4\ncache_read = 1\n'
    )
    page = report(long_session, "--prices", prices).read_text()
    cached, again, new, _ = (int(row[0]) for row in values(page, "cache_table"))
    costs = [float(row[0]) for row in values(page, "costs")]
    fresh = again + new
    expected = [(cached + 4 * fresh) / 1e6, 4 * (cached + fresh) / 1e6, 3 * cached / 1e6, 3 * again / 1e6]  # fmt: skip
    assert costs == pytest.approx(expected)
    assert "of 2026-11-01" in page


def test_prices_are_for_one_session(example, write, tmp_path, capfdbinary):
    prices = tmp_path / "prices.toml"
    prices.write_text('models."*".input = 1')
    command = ["report", str(example), str(write("b.json", ("Bash", {}, "x"))), "-o", str(tmp_path / "page.html")]  # fmt: skip
    assert main([*command, "--prices", str(prices)]) == 2
    assert b"--prices is not allowed with several files" in capfdbinary.readouterr().err


BIDI, LONG = "\u202egnp.exe", "long" * 10_000
SCRIPT = "</script><script>alert(1)</script>"


def hostile_session() -> bytes:
    """A session whose every text is hostile, with usage of other types."""
    lines = []
    for line in claude_session(30).decode().splitlines():
        record = json.loads(line)
        message = record.get("message")
        if message is not None and isinstance(message["content"], list):
            for part in message["content"]:
                if part["type"] == "tool_result":
                    part["content"] += f"{SCRIPT}{BIDI}\x1b[31m{LONG}"
                elif part["type"] == "tool_use":
                    part["name"] = f"{SCRIPT}{BIDI}"
                    part["input"] = {"file_path": f"{SCRIPT}{BIDI}", "edits": 3}
            if "usage" in message:
                message["model"] = f"{SCRIPT}{BIDI}"
                message["usage"] |= {"cache_creation": 3, "input_tokens": -5}
        lines.append(json.dumps(record))
    return "\n".join(lines).encode()


def test_hostile_texts_are_text(report, tmp_path):
    path, prices = tmp_path / "hostile.jsonl", tmp_path / "prices.toml"
    path.write_bytes(hostile_session())
    prices.write_text(f"currency = {json.dumps(SCRIPT)}\nmodels.gpt.input = 1")
    page = report(path, "--prices", prices).read_text()
    body = page[: page.index("<script>")]
    for bad in ("<script>alert", "</script><script", "\u202e", "\x1b"):
        assert bad not in body
    assert "to models that the table does not name: &lt;/script&gt;" in body


def test_names_and_inputs_may_be_of_any_type(report, tmp_path):
    path = tmp_path / "types.json"
    calls = [{"type": "tool_use", "id": 5, "name": 7, "input": [1]}, {"type": "tool_use", "id": "x", "name": None, "input": "text"}]  # fmt: skip
    results = [{"type": "tool_result", "tool_use_id": 5, "content": {"a": 3}}, {"type": "tool_result", "tool_use_id": "x", "content": [{"type": "text", "text": 9}, None, 4]}]  # fmt: skip
    messages = [{"role": "assistant", "content": calls}, {"role": "user", "content": results}]
    path.write_text(json.dumps({"messages": messages, "usage": 3}))
    assert "Before and after a projection" in report(path).read_text()


def test_private_has_none_of_the_texts(report, long_session, tmp_path):
    prices = tmp_path / "secret_prices.toml"
    prices.write_text('models."*".input = 1')
    page = report(long_session, "--private", "--prices", prices).read_text()
    body = page[page.index("<body>") : page.index("<script>")]
    assert values(page, "changes")
    for text in ("mara", "ledger", "pytest", "toolu_", "record-", "message-", "tally", "secret_prices", "totals"):  # fmt: skip
        assert text not in body
    for name in ("fidelity_table", "changes", "costs"):
        assert f'id="{name}"' in body


def rows_shown(name: str) -> str:
    """An expression for the numbers in the rows of a table."""
    return f"[...document.querySelectorAll('#{name} tbody tr')].map(row => [...row.querySelectorAll('[data-value]')].map(cell => cell.dataset.value))"  # fmt: skip


LAST_OF_AREAS = "document.querySelector('#over_time').data.filter(each => each.stackgroup).reduce((sum, each) => sum + each.y.at(-1), 0)"
"""An expression for the height of the areas at the last request."""


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
@pytest.mark.parametrize(("width", "is_dark"), [(390, False), (1_400, True)])
def test_a_browser_shows_it_without_an_error(report, long_session, tmp_path, width, is_dark):
    path = report(long_session)
    page = path.read_text()
    context = survey_context(long_session.read_bytes())
    with browser(tmp_path / "profile") as opened:
        opened.open(path, width=width, is_dark=is_dark)
        assert opened.complaints == []
        assert opened.requests == []
        assert opened.evaluate("document.documentElement.scrollWidth") <= width
        assert opened.evaluate("document.querySelector('#tokens').dataset.value") == str(context.tokens)  # fmt: skip
        for name in ("parts_table", "heaviest", "tools", "fidelity_table", "changes", "cache_table"):  # fmt: skip
            assert opened.evaluate(rows_shown(name)) == values(page, name)
        assert opened.evaluate(LAST_OF_AREAS) == context.tokens
        for name, traces in (("over_time", 7), ("fidelity", 4), ("cache", 3)):
            assert opened.evaluate(f"document.getElementById('{name}').data.length") == traces
            assert opened.evaluate(f"document.querySelectorAll('#{name} .main-svg').length") > 0
        assert opened.evaluate("document.querySelector('#over_time').layout.shapes.length") == 1
        ink = opened.evaluate("document.querySelector('#cache').layout.font.color")
        assert ink == ("#e6edf3" if is_dark else "#1f2328")
        opened.call("Emulation.setEmulatedMedia", media="print")
        opened.wait()
        assert opened.evaluate("document.querySelector('#cache').layout.font.color") == "#1f2328"
        details = "document.querySelector('.change details')"
        assert opened.evaluate(f"{details}.open = true; {details}.innerText.length") > 500


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
def test_a_folder_is_sorted_by_a_click(report, long_session, write, tmp_path):
    path = report(long_session, write("b.json", ("Bash", {"command": "ls"}, "a.py " * 99)))
    with browser(tmp_path / "profile") as opened:
        opened.open(path, width=390)
        before = opened.evaluate(rows_shown("sessions"))
        opened.evaluate("document.querySelectorAll('#sessions th')[4].click()")
        down = opened.evaluate(rows_shown("sessions"))
        opened.evaluate("document.querySelectorAll('#sessions th')[4].click()")
        up = opened.evaluate(rows_shown("sessions"))
        assert down == sorted(before, key=lambda row: -int(row[1])) == up[::-1]
        assert opened.complaints == []
