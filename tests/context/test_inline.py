"""Foreign text in headings and lists of a context is shown as text: no HTML, no images, no links."""

from collections.abc import Iterator
from itertools import pairwise
from types import ModuleType

from hypothesis import given
from hypothesis import strategies as st
from markdown_it.token import Token
from support.builders.wire import bash, join, read, turn
from support.examples import examples
from support.oracles import markdown
from support.rows import for_each

from toolcarry import CarryPolicy

ACTIVE = {"html_inline", "html_block", "image", "link_open"}


def inline_tokens(text: str) -> Iterator[Token]:
    """Yield every token that is not in the summary's section, tokens within a line included."""
    is_summary = False
    for token, following in pairwise(markdown.tokens(text)):
        if token.type == "heading_open" and token.tag == "h2":
            is_summary = following.content == "Summary"
        if not is_summary:
            yield token
            yield from token.children or ()


def active(text: str) -> list[str]:
    return [token.type for token in inline_tokens(text) if token.type in ACTIVE]


def headings(text: str) -> list[str]:
    """The text of the headings of level three, as a reader sees it."""
    return [
        "".join(child.content for child in following.children or ())
        for token, following in pairwise(markdown.tokens(text))
        if token.type == "heading_open" and token.tag == "h3"
    ]


TEXTS = (
    "![seen](http://example.org/beacon.png)",
    "[install](javascript:alert)",
    "[![a](b)](c)",
    "[a][b]",
    "[a][]",
    "<img src=http://example.org/x.png>",
    "<IMG SRC='x' onerror='y'/>",
    "</div>",
    "<!-- hidden -->",
    "<?php ?>",
    "<!DOCTYPE x>",
    "<![CDATA[x]]>",
    "<http://example.org>",
    "<someone@example.org>",
    "<a title='<'>",
    "a](b",
    "<<a>>",
    "cat <<EOF > out.txt",
    "\u20ac <b>\U0001f600</b>",
)


@for_each("text", TEXTS)
@for_each("backslashes", ["", "\\", "\\\\"])
def test_a_path_is_shown_as_it_is(api: ModuleType, text: str, backslashes: str) -> None:
    path = text.replace("<", f"{backslashes}<").replace("](", f"{backslashes}](")
    context = api.carry(read(path, "x")).text
    assert active(context) == []
    if not backslashes:
        assert headings(context) == [path]


@for_each("text", ["a < b && c > d", "ls <> x", "a[1](", "if x <= 3", "[ -f a ]", "a <"])
def test_nothing_else_is_escaped(api: ModuleType, text: str) -> None:
    (shown,) = markdown.shown_blocks(api.carry(bash(text, "x")).text)
    assert shown.heading == text.replace("](", "\\](")


def test_a_tool_name_and_its_arguments_make_no_link(api: ModuleType) -> None:
    """The call's own brackets may be a destination."""
    messages = turn("![pixel]", {"http://x": "y"}, "x")
    assert active(api.carry(messages).text) == []
    assert headings(api.carry(messages).text) == ['![pixel](http://x="y")']


def test_the_title_that_is_explained_is_the_text(api: ModuleType) -> None:
    (fate,) = api.carry(read("![a](b) <c>", "x"), explain=True).fates
    assert fate.title == "![a](b) <c>"


@for_each(
    "definition",
    [
        "[a.py]: http://example.org",
        "- [a.py]: http://example.org",
        "> 1. [a.py]:\n> http://example.org",
        "   [a.py]: <http://example.org> 'title'",
        "[\na.py]: http://example.org",
        "text\n\n[A.PY]: http://example.org",
        "[a\\]]: http://example.org",
    ],
)
def test_a_summary_makes_no_link_of_a_heading(api: ModuleType, definition: str) -> None:
    messages = join(read("[a.py]", "x", "t1"), read("[a\\]]", "x", "t2"))
    assert active(api.carry(messages, summary=definition).text) == []


@for_each("line", ["[a](b): c", "- [ ] open", "[x] y: z", "see [a]: b", "`[a]: b`"])
def test_other_brackets_of_a_summary_stay(api: ModuleType, line: str) -> None:
    assert f"## Summary\n{line}\n" in api.carry(bash("ls", "x"), summary=line).text


PIECES = (
    *("<", ">", "![", "[", "]", "](", "][", "(", ")", "[]", "<!--", "-->", "<?", "?>", "<![CDATA["),
    *("]]>", "<a@b.c>", "<b>", "</b>", "http://x.org", "\\", "`", "``", " ", "a", '"', "'", "="),
    *("/", "\n", "\t", ":", "&lt;", "*", "_", "\u00e9", "\u20ac", "\U0001f600", "[a]: b", "\x1b"),
    *("x" * 90, "<x" * 60),
)
foreign = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)


@examples(300)
@given(
    texts=st.lists(st.tuples(foreign, foreign, foreign), min_size=1, max_size=3), summary=foreign
)
def test_nothing_generated_acts(
    api: ModuleType, texts: list[tuple[str, str, str]], summary: str
) -> None:
    calls = [
        each
        for number, (name, key, value) in enumerate(texts)
        for each in (
            turn(name, {key: value}, "x" * 150, f"a{number}"),
            read(value, "x" * 150, f"b{number}"),
            bash(key, "x" * 150, f"c{number}"),
        )
    ]
    for total in (900, 60_000):
        policy = CarryPolicy(max_chars=total)
        text = api.carry(join(*calls), summary=summary, policy=policy).text
        assert len(text) <= total
        assert active(text) == []


def test_the_backends_are_the_same(both: tuple[ModuleType, ModuleType]) -> None:
    python, rust = both

    @examples(200)
    @given(name=foreign, key=foreign, value=foreign, summary=foreign)
    def check(name: str, key: str, value: str, summary: str) -> None:
        messages = join(
            turn(name, {key: value}, "x", "t1"), read(value, "y" * 700, "t2"), bash(key, "z", "t3")
        )
        for total in (500, 1_000, 60_000):
            policy = CarryPolicy(max_chars=total)
            assert rust.carry(messages, summary, policy) == python.carry(messages, summary, policy)

    check()
