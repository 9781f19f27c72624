"""The summary is a stranger's markdown: it can neither swallow nor forge a section."""

from types import ModuleType

import pytest
from hypothesis import given
from support.builders.wire import bash
from support.examples import examples
from support.oracles import markdown
from support.rows import for_each
from support.strategies.texts import markdown_lines

from toolcarry import CarryPolicy


def section(api: ModuleType, summary: str) -> str:
    """Return the text of the summary's section in a context."""
    text = api.carry(bash("ls", "x"), summary=summary).text
    start, end = text.index("## Summary\n") + 11, text.index("\n\n## Commands Executed\n")
    return text[start:end]


def test_harmless_markdown_stays_as_it_is(api: ModuleType) -> None:
    summary = (
        "We fixed `a.py`.\n\n- *one*\n- two\n\n```py\n# Title\nx = 1\n```\n\n### Next\n1. Test."
    )
    assert section(api, summary) == summary


@for_each(
    ("summary", "expected"),
    [
        ("# Title", "### Title"),
        ("## Files Read", "### Files Read"),
        ("### Fine", "### Fine"),
        ("#hashtag", "#hashtag"),
        ("  ## Indented", "  ### Indented"),
        ("- ## In a list", "- ### In a list"),
        ("> # Quoted", "> ### Quoted"),
        ("#", "###"),
    ],
)
def test_headings_go_below_level_two(api: ModuleType, summary: str, expected: str) -> None:
    assert section(api, summary) == expected


@for_each("line", ["===", "---", "=", "   ----  ", "-"])
def test_an_underline_makes_no_heading(api: ModuleType, line: str) -> None:
    text = api.carry(bash("ls", "x"), summary=f"Title\n{line}\nmore").text
    assert markdown.sections(text) == ["Summary", "Commands Executed"]
    assert all(token.tag != "h1" for token in markdown.tokens(text))


@for_each(
    ("summary", "closing"),
    [
        ("```py\nx = 1", "```"),
        ("~~~~\nx = 1\n~~~", "~~~~"),
        ("````\n```", "````"),
        ("<!-- note", "-->"),
        ("```\na\n```\n\n```\nb", "```"),
    ],
)
def test_open_structures_are_closed(api: ModuleType, summary: str, closing: str) -> None:
    text = api.carry(bash("ls", "x"), summary=summary).text
    assert markdown.sections(text) == ["Summary", "Commands Executed"]
    assert section(api, summary).split("\n")[-1].strip() == closing


@for_each(
    "summary",
    [
        "   ```\nx",
        "- ```\n  open",
        "> ~~~\n> open",
        "1. - ```",
        "<script>\nalert(1)",
        "<pre>\n\nopen",
        "<style>",
        "<textarea>\n\n",
        "<?php",
        "<!DOCTYPE html",
        "<![CDATA[",
        "- <!-- open",
        "text\n<!-- open\n\n# x",
        "<!-->\n# x",
        "<!--->\n# x",
        "    <!-- code",
        "<div>\n# inside",
        "<div>\n```\n\ntext",
        "</script>\n```\n\ntext",
        "<b>\n~~~\n\ntext",
        "<b>\n<!-- x\n\ntext",
        "- <div>\n  ```\n\ntext",
        "<a\nhref='x",
        "[label]: <unfinished\n'title",
        "\\",
        "a `` ` b",
        "*" * 50,
        "- " * 200 + "x",
        "> " * 200 + "# x",
        "\t# tab",
        "-\t# tab",
        "1)  # numbered",
        "* * *\n# x",
        "Title\n>---",
        "> Title\n---",
        "> Title\n> ===",
        "- Title\n  ---",
        "1. Title\n   ===",
        "```\n````\n``",
        "``` `\n# x",
        "~~~ `\n# x",
    ],
)
def test_nothing_swallows_or_forges_a_section(api: ModuleType, summary: str) -> None:
    check_sections(api, summary)


def check_sections(api: ModuleType, summary: str) -> None:
    """Check that the rest of the context is the same without a summary, and that the summary adds no toolcarry heading."""
    without = markdown.outline(api.carry(bash("ls", "x")).text)[3:]
    text = api.carry(bash("ls", "x"), summary=summary).text
    assert markdown.outline(text)[-len(without) :] == without
    headings = [token.tag for token in markdown.tokens(text) if token.type == "heading_open"]
    assert headings.count("h1") == 0
    assert headings.count("h2") == 1 + ("## Summary\n" in text)


@examples(400)
@given(summary=markdown_lines)
def test_nothing_generated_swallows_or_forges_a_section(api: ModuleType, summary: str) -> None:
    check_sections(api, summary)


@pytest.mark.parametrize("summary", ["", "\n\n", "\x1b[0m", "\u202e"])
def test_an_empty_summary_is_not_one(api: ModuleType, summary: str) -> None:
    assert "## Summary" not in api.carry(bash("ls", "x"), summary=summary).text


def test_a_summary_of_spaces_is_not_one(api: ModuleType) -> None:
    assert api.carry([], summary="  \n \t ").text == ""


def test_markers_are_escaped(api: ModuleType) -> None:
    assert section(api, markdown.CLOSE) == "[\\/CONTEXT FROM PREVIOUS SESSION]"


def test_a_summary_takes_half_of_the_total_at_most(api: ModuleType) -> None:
    for total in (200, 400, 1_000, 5_000):
        policy = CarryPolicy(max_chars=total, layout="sections")
        carried = api.carry(bash("ls", "x" * 5_000), summary="word " * 5_000, policy=policy)
        start, end = carried.text.index("## Summary"), carried.text.find("## Commands")
        assert (end if end > 0 else len(carried.text)) - start <= total // 2 + len(
            markdown.CLOSE
        ) * (end < 0)
        assert carried.report.summary_cut
        assert "... [truncated]" in carried.text


def test_a_summary_that_fits_is_not_cut(api: ModuleType) -> None:
    carried = api.carry([], summary="word " * 100, policy=CarryPolicy(max_chars=1_200))
    assert not carried.report.summary_cut
    assert carried.text.count("word") == 100


def test_a_cut_summary_is_still_closed(api: ModuleType) -> None:
    for total in range(150, 400, 3):
        text = api.carry(
            bash("ls", "x"),
            summary="```\n" + "code\n" * 100 + "```",
            policy=CarryPolicy(max_chars=total),
        ).text
        assert len(text) <= total
        assert markdown.sections(text) in (
            [],
            ["Summary"],
            ["Commands Executed"],
            ["Summary", "Commands Executed"],
        )


def test_a_summary_can_be_left_out(api: ModuleType) -> None:
    assert api.carry([], summary="S", policy=CarryPolicy(include_summary=False)).text == ""
