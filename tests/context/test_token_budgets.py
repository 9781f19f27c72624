"""Budgets in tokens: the count of the finished text, by tiktoken, is what was promised."""

import json
from itertools import cycle
from types import ModuleType
from typing import Any, get_args

from support.builders.wire import bash, edit, join, read
from support.rows import for_each

from toolcarry import NO_LIMIT, CarryPolicy
from toolcarry.fallback.tokens.count import count_tokens
from toolcarry.types.policy import LayoutName
from toolcarry.types.values import ENCODINGS, EncodingName

encodings = for_each("encoding", ENCODINGS)

LOG = "".join(
    [f"[{n:05}] GET /api/v1/items/{n * 7919 % 9973} 200 {n % 97} ms\n" for n in range(400)]
)
STARTS = (
    "x",
    " x",
    "\n\nx",
    "/usr",
    "//",
    "\t",
    "```",
    "~~~~",
    "\r\n",
    "'s",
    "1",
    "漢",
    "\u0301",
    "🙂",
    "\ud800",
    "",
)
"""Beginnings and ends of texts: the first characters after a seam may merge with the ones before it."""


def within(total: int | None = None, result: int | None = None, **more: Any) -> CarryPolicy:
    return CarryPolicy(max_tokens=total, max_result_tokens=result, **more)


def shown(text: str) -> str:
    """Return the content of the only fence in a context."""
    return text.split("```\n", 1)[1].split("\n```", 1)[0]


@encodings
def test_a_result_is_cut_to_its_tokens(api: ModuleType, encoding: EncodingName) -> None:
    carried = api.carry(
        bash("cat log", LOG), policy=within(None, 100, encoding=encoding, keep="head")
    )
    kept, marker = shown(carried.text).split("\n... [truncated: ", 1)
    assert LOG.startswith(kept)
    assert 95 <= count_tokens(kept, encoding) <= 100
    assert marker.startswith(f"{len(kept):,} of {len(LOG):,} characters shown")
    assert carried.report.cut == 1
    assert "## Commands Executed" in carried.text


@encodings
def test_of_both_ends_each_has_its_half(api: ModuleType, encoding: EncodingName) -> None:
    carried = api.carry(bash("cat log", LOG), policy=within(None, 101, encoding=encoding))
    head, rest = shown(carried.text).split("\n... [truncated: ", 1)
    tail = rest.split("]\n", 1)[1]
    assert LOG.startswith(head)
    assert LOG.rstrip("\n").endswith(tail)
    assert 45 <= count_tokens(head, encoding) <= 50
    assert 45 <= count_tokens(tail + "\n", encoding) <= 51


def test_both_limits_on_a_result_hold(api: ModuleType) -> None:
    for tokens, chars in ((20, 1_000), (1_000, 20)):
        policy = within(None, tokens, max_result_chars=chars, keep="head")
        kept = shown(api.carry(bash("ls", LOG), policy=policy).text).split("\n... [", 1)[0]
        assert len(kept) <= chars
        assert 0 < count_tokens(kept, "o200k_base") <= tokens


def test_a_result_within_its_limits_is_whole(api: ModuleType) -> None:
    carried = api.carry(read("a.txt", " " * 2_000 + "x"), policy=within(None, 60))
    assert " " * 2_000 + "x" in carried.text
    assert carried.report.cut == 0


@for_each(
    ("total", "encoding"),
    zip([0, 1, 30, 41, 60, 100, 333, 1_000, 5_000], cycle(ENCODINGS), strict=False),
)
@for_each("layout", get_args(LayoutName))
def test_no_total_is_ever_passed(
    api: ModuleType, total: int, encoding: EncodingName, layout: LayoutName
) -> None:
    messages = join(
        *[read(f"src/{n}.py", LOG[: n * 300], f"r{n}") for n in range(8)],
        *[edit(f"src/{n}.py", "old\n" * n, "new\n" * n, f"e{n}") for n in range(4)],
        *[bash(f"grep -rn '{n}' /usr/share", LOG[n:500], f"b{n}") for n in range(8)],
    )
    for summary in ("", "Done: 1, 2, 3.", LOG):
        carried = api.carry(
            messages, summary=summary, policy=within(total, encoding=encoding, layout=layout)
        )
        assert carried.report.tokens_after == count_tokens(carried.text, encoding) <= total
        if total >= 1_000 and layout == "sections":
            assert carried.report.tokens_after > total * 0.85


@encodings
def test_text_at_a_seam_is_counted(api: ModuleType, encoding: EncodingName) -> None:
    for start in STARTS:
        for end in STARTS:
            messages = join(
                read("a", f"{start}{end}", "1"), bash("x", f"{start} text {end}\n", "2")
            )
            carried = api.carry(messages, policy=within(NO_LIMIT, encoding=encoding))
            report = carried.report
            assert report.tokens_after == count_tokens(carried.text, encoding), (start, end)
            blocks = carried.text[carried.text.index("### ") :].split("### ")[1:]
            assert [position for position, _ in report.block_tokens] == [0, 2]
            first = blocks[0].removesuffix("## Commands Executed\n")
            assert report.block_tokens[0][1] == count_tokens(f"### {first}", encoding)


def test_the_report_counts_by_block_and_by_message(api: ModuleType) -> None:
    call = [{"type": "tool_use", "id": f"t{n}", "name": "Grep", "input": {"q": n}} for n in (1, 2)]
    answer = [{"type": "tool_result", "tool_use_id": f"t{n}", "content": "one two"} for n in (1, 2)]
    messages = [
        {"role": "user", "content": "Look."},
        {"role": "assistant", "content": call},
        {"role": "user", "content": answer},
    ]
    report = api.carry(messages, policy=within(1_000)).report
    (first, tokens), (second, more) = report.block_tokens
    assert (first, second) == (1, 1)
    assert report.message_tokens == {1: tokens + more}
    assert json.loads(json.dumps(report.to_dict()))["block_tokens"] == [[1, tokens], [1, more]]
    body = json.dumps({"messages": messages}).encode()
    assert api.carry(body, policy=within(1_000)).report == report
    lines = "\n".join(map(json.dumps, messages)).encode()
    assert api.carry(lines, policy=within(1_000)).report == report


def test_characters_count_no_tokens(api: ModuleType) -> None:
    report = api.carry(bash("ls", "a.py"), policy=CarryPolicy(max_result_tokens=5)).report
    assert (report.tokens_after, report.block_tokens) == (None, ())


def test_the_setting_that_would_change_a_fate(api: ModuleType) -> None:
    messages = join(bash("one", LOG, "1"), bash("two", LOG, "2"))
    fates = api.carry(messages, policy=within(220, 100, layout="sections"), explain=True).fates
    assert [fate.setting for fate in fates] == ["max_tokens", "max_result_tokens"]
