"""The report of a hand-over: the place of each call, the reasons of ``explain``, and the option itself."""

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from support.builders.wire import bash, edit, join, read, user, write
from typer.testing import CliRunner

from toolcarry import CarryPolicy, ConfigError, carry
from toolcarry.cli.app import app
from toolcarry.types.results import Carried

MANY = join(*[bash(f"step {n % 20}", f"result {n} " + "word " * 90, f"s{n}") for n in range(60)])


def handed_over(api: ModuleType) -> Carried:
    return api.carry(MANY, max_tokens=1_500, layout="handover", explain=True)


def test_each_call_has_a_place(api: ModuleType) -> None:
    carried = handed_over(api)
    steps = carried.report.steps
    assert [step.number for step in steps] == list(range(1, 61))
    assert [step.call_id for step in steps] == [f"s{n}" for n in range(60)]
    places = [step.place for step in steps]
    assert {"step", "ledger", "merged"} <= set(places)
    shown = [f"### #{step.number} " for step in steps if step.place == "step"]
    assert all(heading in carried.text for heading in shown)
    assert carried.text.count("\n### #") == len(shown)


def test_numbers_lead_to_their_calls(api: ModuleType) -> None:
    carried = handed_over(api)
    named = [
        line for line in carried.text.split("\n") if line.startswith("- #") and "$ step" in line
    ]
    for line in named:
        numbers = [
            int(word.strip("#,")) for word in line.split(" $ ")[0][2:].split() if word[0] == "#"
        ]
        command = line.partition("$ ")[2].partition(" →")[0]
        for number in numbers:
            position = carried.report.steps[number - 1].position
            assert MANY[position]["content"][0]["input"]["command"] == command


def test_counts_and_fates_agree(api: ModuleType) -> None:
    carried = handed_over(api)
    report = carried.report
    assert report.walked == report.shown + report.left_out + sum(report.superseded.values())
    fates = [fate.fate for fate in carried.fates]
    assert fates.count("shown") + fates.count("cut") == report.shown
    assert fates.count("superseded") == report.superseded["merged"]
    assert {fate.reason for fate in carried.fates if fate.fate == "superseded"} == {
        "it shares the line, or the plan, of a later call"
    }


def test_what_fits_is_shown_in_sections(api: ModuleType) -> None:
    messages = join(read("a.py", "x = 1"), bash("ls", "a.py", "t2"))
    carried = api.carry(messages, max_tokens=2_000)
    assert carried == api.carry(messages, max_tokens=2_000, layout="sections")
    assert carried.report.steps == ()


def test_what_fits_is_handed_over_on_request(api: ModuleType) -> None:
    messages = [user("Name the file."), *bash("ls", "a.py")]
    carried = api.carry(messages, max_tokens=2_000, layout="handover")
    assert carried.text.index("Name the file.") < carried.text.index("### #1 $ ls")
    assert [step.place for step in carried.report.steps] == ["step"]
    blocks = api.deduplicate_tools(api.extract_tool_blocks(messages))
    assert "### #1 $ ls" in api.format_tool_context(blocks, policy=CarryPolicy(layout="handover"))


@pytest.mark.parametrize("limit", [{"max_result_chars": 600}, {"max_result_tokens": 150}], ids=str)
def test_the_limit_on_one_result_holds_for_a_file(api: ModuleType, limit: dict[str, int]) -> None:
    lines = "\n".join(f"line {number} says something" for number in range(300))
    changed = edit("a.py", "line 2 says something", "line 2 says something else", "e")
    messages = join(write("a.py", lines), changed, bash("make", "ok", "m"))
    text = api.carry(messages, layout="handover", **limit).text
    shown = text.partition("## Files Changed\n")[2].split("```")[1]
    assert shown.count("says something") > 8
    size = len(shown) if "max_result_chars" in limit else api.count_tokens(shown)
    assert size <= next(iter(limit.values())) + 10  # the fence and the language
    assert "(lines 1-" in text


def test_both_backends_write_the_same(both: tuple[Any, Any]) -> None:
    policy = CarryPolicy(max_tokens=900, layout="handover")
    rust, python = (kernels.carry(MANY, "What was done.", policy) for kernels in both)
    assert rust == python


def test_blocks_are_handed_over_without_requests(api: ModuleType) -> None:
    blocks = api.deduplicate_tools(api.extract_tool_blocks(MANY))
    text = api.format_tool_context(blocks, max_tokens=900, layout="handover")
    assert "\n## Latest Steps\n### #" in text
    assert "**User" not in text


def test_an_unknown_layout_is_refused() -> None:
    with pytest.raises(
        ConfigError, match="layout: 'pages' is not allowed; allowed: 'auto', 'sections', 'handover'"
    ):
        CarryPolicy(layout="pages")  # type: ignore[arg-type]


@pytest.mark.parametrize("layout", ["sections", "handover"])
def test_the_option_of_the_command_line(layout: Any, tmp_path: Path) -> None:
    import orjson

    file = tmp_path / "session.json"
    file.write_bytes(orjson.dumps(MANY))
    arguments = ["carry", str(file), "--max-tokens", "900", "--layout", layout]
    found = CliRunner().invoke(app, arguments)
    assert found.exit_code == 0, found.output
    assert found.stdout.rstrip("\n") == carry(MANY, max_tokens=900, layout=layout).text


def test_the_key_of_the_settings_file(tmp_path: Path) -> None:
    from toolcarry.config import load_config

    file = tmp_path / "toolcarry.toml"
    file.write_text('[thinking.summarize]\nlayout = "handover"\n', "utf-8")
    assert load_config(file).carry_policy().layout == "handover"
