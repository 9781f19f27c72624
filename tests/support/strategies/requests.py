"""Generated requests that a provider takes, and requests that it refuses after a few damages.

``requests`` and ``broken_requests`` give lists of messages in the provider's shape. What is repeated (a file read twice,
a command run twice) is what a projection leaves out, and what is damaged is what it repairs.
"""

from collections.abc import Sequence
from typing import Any

from hypothesis import assume
from hypothesis import strategies as st
from support.builders.draft_writers import write
from support.builders.drafts import (
    Call,
    DraftTurn,
    Image,
    Manner,
    Part,
    Result,
    Search,
    Text,
    Thinking,
    has_image,
)
from support.providers.validity import problems
from support.strategies.damages import DAMAGES, damages_of

JsonObject = dict[str, Any]

MAY_END_IN_WORDS = ("anthropic", "openai", "responses", "ollama")
"""Gemini refuses "requests ending with a model turn", and so do most models on Bedrock."""
SEARCHES = ("anthropic", "responses")
ONE_TURN_OF_MESSAGES = ("anthropic", "gemini")
"""Providers for which messages of one side in a row are one turn; for Gemini, only those of the model."""
PREFIXES = {"anthropic": "toolu_", "bedrock": "tooluse_"}

words = st.sampled_from(
    (
        "Look at it.",
        "été, 日本語, Straße",
        "e\u0301 \U0001f468\u200d\U0001f469\u200d\U0001f467 שלום",
        '{"a": [1, 2]}',
        "a line of text\n" * 40,
    )
) | st.text(min_size=1, max_size=12).filter(str.strip)
paths = st.sampled_from(("a.py", "a.py", "src/été.rs"))
commands = st.sampled_from(("pytest -q", "pytest -q", "git status", "echo 'ä' > x"))
ranges = st.sampled_from(({}, {}, {"offset": 10, "limit": 5}))
tools: st.SearchStrategy[tuple[str, JsonObject]] = st.one_of(
    st.builds(lambda path, lines: ("Read", {"file_path": path, **lines}), paths, ranges),
    commands.map(lambda command: ("Bash", {"command": command})),
    words.map(lambda pattern: ("Grep", {"pattern": pattern})),
)
results: st.SearchStrategy[str | tuple[str | Image, ...]] = st.one_of(
    words,
    words,
    st.just(""),
    st.lists(words | st.just(Image()), max_size=3).map(tuple),
)
failures = st.sampled_from((False, False, False, True))
STYLES: dict[str, dict[str, tuple[str, ...]]] = {
    "openai": {"Grep": ("function", "custom")},
    "responses": {
        "Bash": ("function", "shell", "local_shell"),
        "Grep": ("function", "custom", "apply_patch"),
    },
}


@st.composite
def drafts(draw: st.DrawFn, provider: str, least_loops: int = 0) -> list[DraftTurn]:
    """Draw a valid conversation with at least *least_loops* turns of calls."""
    turns = [DraftTurn("user", [Text(draw(words))])]
    # Some backends restart the numbers of the calls in each answer, and OpenAI's Chat takes that.
    is_numbered_anew = provider in ("openai", "ollama", "gemini") and draw(st.booleans())
    number = 0
    loops = draw(st.lists(st.booleans(), max_size=3)) + [True] * least_loops
    for has_calls in draw(st.permutations(loops)):
        said = DraftTurn("assistant", draw(openings(provider, len(turns), not has_calls)))
        turns.append(said)
        if not has_calls:
            turns.append(DraftTurn("user", [Text(draw(words))]))
            continue
        first = 0 if is_numbered_anew else number
        calls = [draw(a_call(provider, first + place)) for place in range(draw(st.integers(1, 3)))]
        number += len(calls)
        said.parts += calls
        answers: list[Part] = [draw(a_result(call)) for call in draw(st.permutations(calls))]
        if draw(st.booleans()):
            answers.append(Text(draw(words)))
        turns.append(DraftTurn("user", answers))
    if provider in MAY_END_IN_WORDS and draw(st.booleans()):
        turns.append(DraftTurn("assistant", [Text(draw(words).rstrip())]))
    return turns


@st.composite
def openings(draw: st.DrawFn, provider: str, number: int, must_speak: bool) -> list[Part]:
    """Draw the assistant's parts before its calls."""
    parts: list[Part] = []
    if draw(st.booleans()):
        parts.append(Thinking(draw(words)))
    if provider in SEARCHES and draw(st.integers(0, 5)) == 0:
        parts.append(Search(number))
    if must_speak or draw(st.booleans()):
        parts.append(Text(draw(words)))
    return parts


@st.composite
def a_call(draw: st.DrawFn, provider: str, number: int) -> Call:
    name, given = draw(tools)
    style = draw(st.sampled_from(STYLES.get(provider, {}).get(name, ("function",))))
    return Call(f"{PREFIXES.get(provider, 'call_')}{number}", name, given, style)


@st.composite
def a_result(draw: st.DrawFn, call: Call) -> Result:
    content, is_error = draw(results), draw(failures)
    if is_error and (not content or has_image(content)):
        content = draw(words)  # Anthropic refuses a failure that says nothing, or shows an image
    return Result(call.call_id, call.name, content, is_error, call.style)


@st.composite
def written(draw: st.DrawFn, provider: str, turns: list[DraftTurn]) -> list[JsonObject]:
    """The messages of a draft, in a manner that the provider leaves open."""
    manner = Manner(draw(st.booleans()), draw(st.booleans()))
    if provider in ONE_TURN_OF_MESSAGES and draw(st.booleans()):
        turns = [
            part
            for said in turns
            for part in draw(split(said, provider == "anthropic" or said.role == "assistant"))
        ]
    return write(provider, turns, manner)


@st.composite
def split(draw: st.DrawFn, said: DraftTurn, may_split: bool) -> list[DraftTurn]:
    """Return the parts of one turn in one message, or split into two that follow each other."""
    if not may_split or len(said.parts) < 2:
        return [said]
    cut = draw(st.integers(1, len(said.parts)))
    halves = (said.parts[:cut], said.parts[cut:])
    return [DraftTurn(said.role, half) for half in halves if half]


def requests(provider: str) -> st.SearchStrategy[list[JsonObject]]:
    """The messages of a request that the provider takes."""
    return drafts(provider).flatmap(lambda turns: written(provider, turns))


@st.composite
def damaged_requests(draw: st.DrawFn, provider: str, kinds: Sequence[str]) -> list[JsonObject]:
    """The messages of a request after these damages, which may have mended each other."""
    turns = draw(drafts(provider, least_loops=2))
    is_damaged = False
    for kind in kinds:
        is_damaged = draw(DAMAGES[kind].apply(turns)) or is_damaged
        turns = [said for said in turns if said.parts]
    assume(is_damaged)
    return draw(written(provider, turns))


def broken_requests(
    provider: str, kinds: Sequence[str] | None = None, most: int = 4
) -> st.SearchStrategy[list[JsonObject]]:
    """The messages of a request that the provider refuses: a good one after 1 to ``most`` damages of these kinds."""
    chosen = st.sampled_from(kinds or damages_of(provider))
    return (
        st.lists(chosen, min_size=1, max_size=most)
        .flatmap(lambda drawn: damaged_requests(provider, drawn))
        .filter(lambda messages: bool(problems(provider, messages)))
    )
