"""Of a result that was made for a terminal, what the terminal shows in the end is sent."""

import json
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.builders import wire
from support.builders.handovers import word
from support.examples import examples
from support.shortening import check_both_carry

from toolcarry import ProjectPolicy

COLOURED = "\n".join(f"\x1b[1m\x1b[32m  ok\x1b[0m case {number}   " for number in range(20))
PLAIN = "\n".join(f"  ok case {number}" for number in range(20))
PROGRESS = "".join(f"\rFetching [{'#' * share:<20}] {5 * share} %" for share in range(21))
LAST = f"Fetching [{'#' * 20}] 100 %"


def sent(rust: ModuleType, messages: list[Any], **settings: Any) -> tuple[str, list[str]]:
    """Return the first result as it is sent, from objects and from bytes alike, and the reasons in the report."""
    policy = ProjectPolicy(**settings)
    check_both_carry(messages, **settings)
    found = rust.project(messages, policy=policy)
    body = rust.project_body(json.dumps({"messages": messages}).encode(), policy=policy)
    assert json.loads(body.body)["messages"] == found.messages
    assert body.report.replacements == found.report.replacements
    assert rust.project(found.messages, policy=policy).messages == found.messages
    shown: str = found.messages[1]["content"][0]["content"]
    return shown, [each.reason for each in found.report.replacements]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (COLOURED, PLAIN),
        (f"start\n{PROGRESS}\ndone\n", f"start\n{LAST}\ndone\n"),
        (f"{PROGRESS}\r\n", f"{LAST}\n"),
    ],
)
def test_colours_and_progress_are_left_out_without_any_limit(
    rust: ModuleType, text: str, shown: str
) -> None:
    assert sent(rust, wire.bash("make", text, "t1")) == (shown, ["terminal"])


@pytest.mark.parametrize(
    "text",
    [
        PLAIN.replace("\n", "   \n"),
        PLAIN.replace("\n", "\r\n"),
        "\x1b[32mok\x1b[0m",
        json.dumps({"out": COLOURED}),
    ],
    ids=["blanks", "line ends", "few tokens", "escapes in JSON"],
)
def test_another_text_stays(rust: ModuleType, text: str) -> None:
    assert sent(rust, wire.bash("cat a", text, "t1")) == (text, [])


def test_a_file_stays(rust: ModuleType) -> None:
    assert sent(rust, wire.read("a.txt", COLOURED, "t1")) == (COLOURED, [])


def test_lines_that_end_with_a_return_alone_stay(rust: ModuleType) -> None:
    lines = ["alpha beta", "gamma", "delta 4", "epsilon"] * 10
    shown, _ = sent(rust, wire.bash("cat old", "\r".join(lines), "t1"))
    assert shown.replace("\r", "\n").split("\n") == lines


@pytest.mark.parametrize(
    "settings",
    [{"content": "off"}, {"content": ("json",)}, {"keep_last_results": 1}, {"keep_last_turns": 1}],
)
def test_a_policy_may_keep_it(rust: ModuleType, settings: dict[str, Any]) -> None:
    assert sent(rust, wire.bash("make", COLOURED, "t1"), **settings) == (COLOURED, [])


def test_nothing_is_cut_from_what_fits_without_colours(rust: ModuleType) -> None:
    assert sent(rust, wire.bash("make", COLOURED, "t1"), max_result_chars=len(PLAIN)) == (
        PLAIN,
        ["terminal"],
    )


@pytest.mark.parametrize("limit", [{"max_result_chars": 300}, {"max_result_tokens": 100}])
def test_a_longer_one_is_cut_without_colours(rust: ModuleType, limit: dict[str, int]) -> None:
    text = "\n".join(f"\x1b[33mvalue {word(number)}\x1b[0m" for number in range(300))
    shown, reasons = sent(rust, wire.bash("./show", text, "t1"), **limit)
    assert reasons == ["shortened"]
    assert "\x1b" not in shown
    head, marker, tail = shown.partition("[toolcarry: shortened from ")
    assert head.startswith(f"value {word(0)}\nvalue {word(1)}\n")
    assert marker
    assert tail.endswith(f"value {word(298)}\nvalue {word(299)}")


def test_a_result_that_was_sent_waits_until_enough_is_won(rust: ModuleType) -> None:
    messages = wire.bash("make", COLOURED, "t1")
    first = rust.project(messages, policy=ProjectPolicy(content="off"))
    longer = wire.join(messages, wire.bash("ls", "a", "t2"))
    waiting = rust.project(longer, policy=ProjectPolicy(), previous=first.decisions)
    assert waiting.messages == longer
    second = rust.project(
        longer, policy=ProjectPolicy(clear_at_least_tokens=0), previous=first.decisions
    )
    assert second.messages[1]["content"][0]["content"] == PLAIN
    third = rust.project(longer, policy=ProjectPolicy(), previous=second.decisions)
    assert third.messages == second.messages
    assert third.report.cache_break_tokens == 0
    kept = rust.project(second.messages, policy=ProjectPolicy(), previous=second.decisions)
    assert kept.messages == second.messages
    assert kept.report.cache_break_tokens == 0


pieces = st.sampled_from(("\r", "\n", "\r\n", "\x1b[31m", "\x1b[0m", "\x1b[2K", " ", "\t", "ok", "10 %", "Fetching ", "\u00e9", "\u4e2d", "\ud800", "\u001b"))  # fmt: skip


@examples(600)
@given(
    text=st.lists(pieces, max_size=60).map("".join),
    keep=st.sampled_from(("head", "tail", "ends")),
    limit=st.integers(40, 300),
)
def test_both_backends_agree_and_a_second_projection_changes_nothing(
    rust: ModuleType, text: str, keep: Any, limit: int
) -> None:
    messages = wire.bash("make", text * 8, "t1")
    for settings in ({}, {"keep": keep, "max_result_chars": limit}):
        policy = ProjectPolicy(**settings)
        check_both_carry(messages, **settings)
        one = rust.project(messages, policy=policy)
        assert rust.project(one.messages, policy=policy).messages == one.messages


ALIKE = "".join(f"10:{n // 60:02}:{n % 60:02} waiting for port {n}\n" for n in range(600))


def test_lines_that_are_alike_are_counted_before_any_are_chosen(rust: ModuleType) -> None:
    messages = wire.bash("./serve", f"start\n{ALIKE}ready\n", "t1")
    for limit in ({"max_result_tokens": 200}, {}):
        shown, reasons = sent(rust, messages, **limit)
        first, rest = shown.split("\n", 1)
        assert (first, reasons) == ("start", ["shortened"])
        assert rest.startswith(
            "10:00:00 waiting for port 0 [and 598 lines like this, but for numbers]\n"
            "10:09:59 waiting for port 599\nready\n[toolcarry: shortened from "
        )


def test_hits_files_and_kinds_that_are_not_chosen_are_not_counted(rust: ModuleType) -> None:
    for messages in (
        wire.bash("grep -h port log", ALIKE, "t1"),
        wire.read("log.txt", ALIKE, "t1"),
    ):
        assert "lines like this" not in sent(rust, messages, max_result_tokens=200)[0]
    messages = wire.bash("./serve", ALIKE, "t1")
    assert "lines like this" not in sent(rust, messages, max_result_tokens=200, content="off")[0]
    short = sent(rust, wire.bash("./serve", ALIKE[:500], "t1"), max_result_tokens=2_000)[0]
    assert short == ALIKE[:500]


def test_lines_of_progress_go_before_any_are_chosen(rust: ModuleType) -> None:
    progress = "".join(f"0 {word(n)} 0 --:--:-- --:--:-- --:--:-- 0\n" for n in range(400))
    shown, _ = sent(rust, wire.bash("curl -O x", f"{progress}done\n", "t1"), max_result_tokens=200)
    assert shown.startswith("done\n[toolcarry: shortened from ")
