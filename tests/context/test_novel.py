"""``fill="novel"``: the lines that it chooses, rule by rule, and what holds for all of them."""

import re
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.builders.wire import bash, edit, join, open_call, read, turn, write
from support.examples import IS_LONG, examples
from support.oracles import markdown
from support.rows import for_each

from toolcarry import CarryPolicy
from toolcarry.fallback.context.lines import pieces, without_numbers
from toolcarry.fallback.tokens.count import count_tokens
from toolcarry.fallback.words import estimate
from toolcarry.types import Partial

WORDS = ("alpha", "bravo", "charlie", "delta", "foxtrot", "golf", "hotel", "india", "juliett")


DULL = "nothing that is new in it\n"


def novel(tokens: int, **settings: Any) -> CarryPolicy:
    return CarryPolicy(max_tokens=tokens, fill="novel", **settings)


def prose(name: str, count: int) -> str:
    """Return lines that hold one new word each, and much that is not new."""
    return "".join(f"and then there it was {name}_word_{number}\n" for number in range(count))


def crowded(*turns: Any) -> list[Any]:
    """Return these turns after a result that does not fit."""
    return join(bash("much", prose("much", 400), "t0"), *turns)


def contents(text: str) -> dict[str, list[str]]:
    """Return the lines of each block, by its heading."""
    return {
        shown.heading: [line for _, content in shown.fences for line in content.splitlines()]
        for shown in markdown.shown_blocks(text)
    }


def test_all_is_shown_if_all_fits(api: ModuleType) -> None:
    messages = join(bash("first", "one\ntwo", "t1"), read("a.txt", "three\n\nfour", "t2"))
    carried = api.carry(messages, policy=novel(1_000))
    assert contents(carried.text) == {"first": ["one", "two"], "a.txt": ["three", "", "four"]}
    assert (carried.report.shown, carried.report.cut, carried.report.partial) == (2, 0, ())


def test_it_shows_more_words_than_newest(api: ModuleType) -> None:
    needle = "the secret_name_of_the_server is listed here"
    old = "same line again and again\n" * 60 + needle + "\n" + "same line again and again\n" * 60
    messages = join(bash("old", old, "t1"), bash("new", DULL * 400, "t2"))
    assert needle not in api.carry(messages, policy=CarryPolicy(max_tokens=800, fill="newest")).text
    carried = api.carry(messages, policy=novel(800))
    assert needle in contents(carried.text)["old"]
    assert carried.report.shown == 2


def test_the_newest_is_whole_up_to_a_quarter(api: ModuleType) -> None:
    messages = join(bash("old", prose("old", 300), "t1"), bash("new", DULL * 25, "t2"))
    carried = api.carry(messages, policy=novel(1_000))
    assert contents(carried.text)["new"] == [DULL.strip()] * 25
    assert contents(carried.text)["old"].count("...") >= 1


@pytest.mark.parametrize(("make", "has_end"), [(read, False), (bash, True)])
def test_the_ends_of_a_newest_that_is_larger(api: ModuleType, make: Any, has_end: bool) -> None:
    lines = [f"this is {number}, {DULL}" for number in range(300)]
    messages = join(bash("old", prose("old", 300), "t1"), make("new", "".join(lines), "t2"))
    shown = contents(api.carry(messages, policy=novel(1_000)).text)["new"]
    assert shown[:5] == [line.strip() for line in lines[:5]]
    assert (shown[-1] == lines[-1].strip()) is has_end


def test_files_are_whole_before_lines_of_others(api: ModuleType) -> None:
    dull = "x = 1\n" * 40
    messages = join(
        read("old.py", dull, "t1"),
        *(bash(f"run {n}", prose(f"run{n}", 60), f"r{n}") for n in range(4)),
    )
    shown = contents(api.carry(messages, policy=novel(900)).text)
    assert shown["old.py"] == ["x = 1"] * 40


def test_numbers_of_lines_are_left_out(api: ModuleType) -> None:
    numbered = "".join(f"{number:6}\tline {number}\n" for number in range(7, 20))
    shown = contents(api.carry(crowded(read("a.py", numbered)), policy=novel(1_000)).text)
    assert shown["a.py"] == [f"line {number}" for number in range(7, 20)]
    command = contents(api.carry(crowded(bash("cat -n a.py", numbered)), policy=novel(1_000)).text)
    assert command["cat -n a.py"] == numbered.splitlines()


@for_each(
    "lines",
    [
        ["1", "2", "3"],
        ["1\ta", "3\tb", "7\tc", "20\td"],
        ["12 monkeys", "wrote", "a book"],
        ["1\ta", "2\tb"],
        ["1234567890\ta", "1234567891\tb", "1234567892\tc"],
    ],
)
def test_other_numbers_stay(lines: list[str]) -> None:
    assert without_numbers(lines) is None


@for_each("mark", ["\u2192", "\t", "|", ": ", ":", " "])
def test_each_way_to_number_lines(mark: str) -> None:
    lines = [f"  {number}{mark}if 4  : 5" for number in range(98, 103)]
    assert without_numbers(["the file:", *lines, ""]) == ["the file:", *["if 4  : 5"] * 5, ""]


def test_an_edit_is_the_snippet_of_its_tool(api: ModuleType) -> None:
    answer = "The file was updated:\n     4\tbefore\n     5\tnew line\n     6\tafter\n"
    messages = crowded(edit("a.py", "old line", "new line", content=answer))
    shown = contents(api.carry(messages, policy=novel(500)).text)
    assert shown["a.py"] == ["The file was updated:", "before", "new line", "after"]


def test_an_edit_without_a_snippet_is_its_new_lines(api: ModuleType) -> None:
    messages = crowded(edit("a.py", "old line", "new line"))
    shown = contents(api.carry(messages, policy=novel(500)).text)
    assert shown["a.py"] == ["new line"]


def test_a_failed_edit_is_its_answer(api: ModuleType) -> None:
    failed = edit("a.py", "old line", "new line", content="text not found", is_error=True)
    shown = contents(api.carry(crowded(failed), policy=novel(500)).text)
    assert shown["a.py (failed)"] == ["text not found"]


def test_what_fits_is_shown_as_newest_shows_it(api: ModuleType) -> None:
    messages = join(
        bash("old", "one\ntwo", "t0"),
        edit("a.py", "1", "first", "t1"),
        read("b.py", "     1\tone\n     2\ttwo\n     3\tthree\n", "t2"),
        bash("old", "one\ntwo", "t3"),
        edit("a.py", "2", "second", "t4"),
    )
    newest = api.carry(messages, policy=CarryPolicy(max_tokens=500))
    carried = api.carry(messages, policy=novel(500))
    assert carried == newest
    assert "### a.py (2 edits, last shown)" in carried.text
    for size in (len(carried.text) + 2, 60_000):  # two more: each "+" of a count that is still open
        of_novel = CarryPolicy(max_chars=size, fill="novel")
        of_newest = CarryPolicy(max_chars=size)
        assert api.carry(messages, policy=of_novel).text == carried.text
        assert (
            api.carry(messages, policy=of_novel, explain=True).fates
            == api.carry(messages, policy=of_newest, explain=True).fates
        )


def test_superseded_blocks_are_left_out(api: ModuleType) -> None:
    messages = crowded(edit("a.py", "1", "first", "t1"), edit("a.py", "2", "second", "t2"))
    carried = api.carry(messages, policy=novel(500))
    assert carried.report.superseded == {"later_edit": 1}
    assert "second" in carried.text
    assert "first" not in carried.text


def test_a_command_that_its_heading_cuts_is_shown(api: ModuleType) -> None:
    command = "grep -rn " + " ".join(f"--include=name_{number}.py" for number in range(8))
    carried = api.carry(crowded(bash(command, "found", "t1")), policy=novel(500))
    assert f"```sh\n{command}\n```" in carried.text


@pytest.mark.parametrize(
    ("make", "gap", "is_filled"),
    [(bash, "so", True), (bash, "it was so", False), (read, "it was so", True)],
)
def test_short_gaps_are_filled(api: ModuleType, make: Any, gap: str, is_filled: bool) -> None:
    lines = [gap] * 400
    lines[100] = "here is a_new_name_of_it, another_new_name, third_new_name"
    lines[102] = "and here_is_one_more, second_one_more, third_one_more"
    messages = join(make("old", "\n".join(lines), "t1"), bash("new", DULL * 300, "t2"))
    shown = contents(api.carry(messages, policy=novel(600)).text)["old"]
    place = shown.index(lines[100])
    assert shown[place + 1] == (gap if is_filled else "...")
    assert shown[place + 2] == lines[102]


def test_no_write_fills_the_total(api: ModuleType) -> None:
    messages = join(
        bash("old", prose("old", 100), "t1"),
        write("plan.md", prose("plan", 900), "t2"),
        bash("new", "done", "t3"),
    )
    shown = contents(api.carry(messages, policy=novel(1_000)).text)
    assert sum("old_word" in line for line in shown["old"]) > sum(
        "plan_word" in line for line in shown.get("plan.md", [])
    )


def test_a_failure_without_a_new_word_is_shown(api: ModuleType) -> None:
    lines = ["ok 1", *["same line again"] * 200, "not ok 3 odd", *["same line again"] * 200]
    output = "\n".join(lines)
    carried = api.carry(crowded(bash("make check", output, "t1")), policy=novel(800))
    assert "not ok 3 odd" in contents(carried.text)["make check"]
    shown = contents(api.carry(crowded(read("a.txt", output)), policy=novel(800)).text)
    assert "not ok 3 odd" not in shown.get("a.txt", [])


def test_failures_take_an_eighth_of_the_total(api: ModuleType) -> None:
    """The first and the last of them; the rest of the total is for lines with new words."""
    failed = [f"not ok {number} is odd, and what was expected is not said" for number in range(300)]
    messages = join(bash("old", prose("old", 200), "t1"), bash("make", "\n".join(failed), "t2"))
    shown = contents(api.carry(messages, policy=novel(2_000, max_result_tokens=4_000)).text)
    assert {failed[0], failed[-1]} <= set(shown["make"])
    assert count_tokens("\n".join(shown["old"]), "o200k_base") > 500


def test_a_long_line_is_shown_once(api: ModuleType) -> None:
    line = "a line of the log that every run prints again"
    messages = crowded(*[bash(f"run {n}", f"{line}\nrun_number_{n}", f"t{n}") for n in range(5)])
    text = api.carry(messages, policy=novel(1_000)).text
    assert text.count(line) == 1
    assert all(f"run_number_{n}" in text for n in range(5))
    assert contents(text)["run 4"] == [line, "run_number_4"]
    assert contents(text)["run 0"] == ["...", "run_number_0"]


def test_parts_of_a_very_long_line(api: ModuleType) -> None:
    items = ", ".join(f"item_{number}_of_the_list" for number in range(400))
    assert "".join(pieces(items)) == items
    assert all(len(part) <= 400 for part in pieces(items))
    carried = api.carry(bash("cat list.json", items), policy=novel(600))
    shown = contents(carried.text)["cat list.json"]
    assert "..." in shown
    assert all(line == "..." or line in items for line in shown)
    assert carried.report.partial == (Partial(0, "t1", True, 1, ((1, 1),)),)


def test_the_line_of_a_medium_stays_whole() -> None:
    line = f"[image: https://example.org/{'a' * 900}.png]"
    assert list(pieces(line)) == [line]


def test_the_report_has_the_numbers_of_the_lines(api: ModuleType) -> None:
    lines = ["same line again"] * 300
    lines[100] = lines[102] = "here is new_word_number_one, and its other_new_words"
    lines[250] = "another_new_word in a line"
    messages = join(bash("old", "\n".join(lines), "t1"), bash("new", DULL * 300, "t2"))
    carried = api.carry(messages, policy=novel(600))
    newest, old = carried.report.partial
    assert (newest.call_id, newest.lines, old.call_id, old.lines) == ("t2", 300, "t1", 300)
    shown = [number for first, last in old.shown for number in range(first, last + 1)]
    assert {101, 251} <= set(shown)
    of_text = [line for line in contents(carried.text)["old"] if line != "..."]
    assert of_text == [lines[number - 1] for number in shown]
    fates = api.carry(messages, policy=novel(600), explain=True).fates
    assert [fate.fate for fate in fates] == ["cut", "cut"]
    assert [fate.reason for fate in fates] == [
        "its lines with the most new words are shown",
        "it is among the newest, and longer than their share of the total",
    ]
    assert {fate.setting for fate in fates} == {"max_tokens"}


def test_a_call_without_a_result_is_a_heading(api: ModuleType) -> None:
    carried = api.carry(open_call("Bash", {"command": "sleep 9"}), policy=novel(300))
    assert [shown.heading for shown in markdown.shown_blocks(carried.text)] == [
        "sleep 9 (interrupted: no result)"
    ]


def test_headings_are_short(api: ModuleType) -> None:
    messages = turn("Search", {"query": "word " * 40, "path": "src"}, "found")
    (shown,) = markdown.shown_blocks(api.carry(messages, policy=novel(500)).text)
    assert len(shown.heading) <= 100


def test_the_limit_on_one_result_holds(api: ModuleType) -> None:
    carried = api.carry(bash("cat a", "abcdefgh\n" * 100), policy=novel(900, max_result_chars=90))
    assert carried.report.cut == 1
    assert "[truncated: 90 of 900 characters shown; whole: t1]" in carried.text


def test_the_walk_stops_when_it_has_seen_enough(api: ModuleType) -> None:
    messages = join(*[bash(f"run {n}", prose(f"r{n}", 200), f"t{n}") for n in range(60)])
    report = api.carry(messages, policy=novel(500)).report
    assert not report.walked_all
    assert report.walked < 20


lines_of = st.lists(
    st.lists(st.sampled_from((*WORDS, "...", "  ", "", "42", "a_long_name/of.a.file", "\u00e9t\u00e9s-\u65e5\u672c")), max_size=9)
    .map(" ".join),
    min_size=1,
    max_size=40,
)  # fmt: skip
makers = st.sampled_from((read, bash, write))
outputs = st.lists(st.tuples(makers, lines_of), min_size=1, max_size=8)


@examples(40)
@given(outputs=outputs, tokens=st.integers(40, 700))
def test_lines_are_verbatim_in_order_and_numbered(
    both: tuple[ModuleType, ModuleType], outputs: list[Any], tokens: int
) -> None:
    messages = join(
        *[make(f"name {n}", "\n".join(lines), f"t{n}") for n, (make, lines) in enumerate(outputs)]
    )
    results = [kernels.carry(messages, "", novel(tokens)) for kernels in both]
    assert results[0] == results[1]
    text, report = results[0].context, results[0].report
    assert count_tokens(text, "o200k_base") <= tokens
    partial = {part.call_id: part for part in report.partial}
    long_lines: list[str] = []
    for shown in markdown.shown_blocks(text):
        number = int(re.findall(r"name (\d+)", shown.heading)[0])
        original = "\n".join(outputs[number][1]).removesuffix("\n").split("\n")
        found = [line for _, content in shown.fences for line in content.split("\n")[:-1]]
        part = partial.get(f"t{number}")
        if part is None:
            assert found == (original if original != [""] else ["(no output)"])
        else:
            ranges = [original[first - 1 : last] for first, last in part.shown]
            expected = ["...", *(line for lines in ranges for line in (*lines, "..."))]
            if part.shown[0][0] == 1:
                expected.pop(0)
            if part.shown[-1][1] == part.lines:
                expected.pop()
            assert found == expected
            assert part.lines == len(original)
        long_lines += {line for line in found if len(line) >= 40}
    assert len(long_lines) == len(set(long_lines))


@given(line=st.text(max_size=60).filter(lambda text: "\n" not in text))
def test_an_estimate_is_near(line: str) -> None:
    assert 1 <= estimate(line) <= 2 + len(line)


MUCH = {
    "letters": "a",
    "spaces": " ",
    "words": "word_of_it ",
    "empty lines": "\n",
    "one line": "same line\n",
    "fences": "```\n",
    "joined": "\U0001f469\u200d",
}
MANY = 1_000_000 if IS_LONG else 200_000
"""The characters of a text that is no longer than a result may be, and longer than quadratic time would bear."""


@for_each("name", [*MUCH, "names"])
def test_much_text_takes_no_more_than_its_share(api: ModuleType, name: str) -> None:
    if name == "names":
        text = "".join(f"a_name_{number}\n" for number in range(MANY // 12))
    else:
        text = MUCH[name] * (MANY // len(MUCH[name]))
    for make in (bash, read):
        carried = api.carry(make("big", text), policy=CarryPolicy(fill="novel", max_chars=9_000))
        assert len(carried.text) <= 9_000
