"""The proxy counts what requests cost as their provider does, and what sending them unchanged would have cost."""

import json
from collections import Counter
from dataclasses import replace
from itertools import accumulate
from typing import Any, NamedTuple

import pytest
from support.builders import wire
from support.builders.pipelines import ME
from support.economy import session_of
from support.goldens.inputs import workload

from toolcarry import NO_LIMIT, ProjectPolicy
from toolcarry.integrations.costs import sent_parts, without_marks
from toolcarry.integrations.projections import Projections
from toolcarry.metrics import families, told_costs
from toolcarry.types import PriceModel, price_of

SYSTEM = "You are a coding agent. " * 500
TOOLS = [{"name": f"tool_{number}", "input_schema": {"type": "object"}} for number in range(40)]


class Counted(NamedTuple):
    """The tokens that a provider counts, at four bytes each, and their price."""

    written: float = 0
    read: float = 0
    uncached: float = 0
    units: float = 0


class StrictFake:
    """A provider that compares each request with the one before, byte by byte: tools, system prompt, messages."""

    def __init__(self, price: PriceModel, model: str) -> None:
        self.price, self.model = price, model
        self.kept: list[bytes] = []
        self.total = Counted()

    def take(self, body: bytes, *, is_warm: bool = True) -> None:
        request = json.loads(body)
        parts = [request["tools"], request["system"], *request["messages"]]
        now = [json.dumps(part).encode() for part in parts]
        shared = 0
        while (
            is_warm and shared < min(len(now), len(self.kept)) and now[shared] == self.kept[shared]
        ):
            shared += 1
        size, read = sum(map(len, now)) / 4, sum(map(len, now[:shared])) / 4
        self.kept = now
        is_cached = self.price.matching == "prefix" and size >= self.price.least_of(self.model)
        found = Counted(size - read, read, 0, (size - read) * self.price.cache_write + read * self.price.cache_read)  # fmt: skip
        found = found if is_cached else Counted(0, 0, size, size)
        self.total = Counted(*map(sum, zip(self.total, found, strict=True)))


class StrictFakeWithMarks:
    """A provider that keeps the beginnings of requests that end at a mark, and looks for them in the last blocks before
    each mark. Everything up to the last mark is written or read; what comes after it is uncached."""

    def __init__(self, price: PriceModel, model: str) -> None:
        self.price, self.model = price, model
        self.kept: set[int] = set()
        self.total = Counted()

    def take(self, body: bytes) -> None:
        request = json.loads(body)
        blocks = [*request["tools"], *request["system"]]
        for message in request["messages"]:
            first, *others = blocks_of(message["content"])
            blocks += [{**message, "content": [first]}, *others]
        marks = [
            place for place, block in enumerate(blocks) if '"cache_control"' in json.dumps(block)
        ]
        parts = [json.dumps(unmarked(block)).encode() for block in blocks]
        ends = list(accumulate((len(part) + len(", ")) / 4 for part in parts))
        signs = list(accumulate(map(hash, parts), lambda one, other: hash((one, other))))
        assert 0 < len(marks) <= 4
        back = self.price.lookback or len(blocks)
        places = {place for mark in marks for place in range(max(mark - back + 1, 0), mark + 1)}
        hit = max((place for place in places if signs[place] in self.kept), default=None)
        size, cached, read = ends[-1], ends[marks[-1]], 0.0 if hit is None else ends[hit]
        self.kept |= {signs[mark] for mark in marks}
        assert size >= self.price.least_of(self.model)
        units = (cached - read) * self.price.cache_write + read * self.price.cache_read
        found = Counted(cached - read, read, size - cached, units + size - cached)
        self.total = Counted(*map(sum, zip(self.total, found, strict=True)))


def unmarked(block: Any) -> Any:
    """Return a block without its mark, which may be in a message."""
    kept = {key: value for key, value in block.items() if key != "cache_control"}
    return {**kept, "content": [*map(unmarked, kept["content"])]} if "role" in kept else kept


def body_of(model: str, messages: list[Any]) -> bytes:
    metadata = {"user_id": "u" * 1_000}  # no part of the prompt
    request = {"model": model, "system": SYSTEM, "tools": TOOLS, "messages": messages, "metadata": metadata}  # fmt: skip
    return json.dumps(request).encode()


POLICIES = {
    "the default": ProjectPolicy(),
    "no limits": ProjectPolicy(max_result_tokens=NO_LIMIT),
    "results of 500 tokens": ProjectPolicy(max_result_tokens=500),
    "superseded ones at once": ProjectPolicy(clear_at_least_tokens=0, max_result_tokens=NO_LIMIT),
    "a short request": ProjectPolicy(max_request_tokens=20_000),
}


@pytest.mark.parametrize("model", ["gpt-5", "gpt-4.1"])
@pytest.mark.parametrize("name", POLICIES)
def test_the_counts_are_those_of_a_strict_provider(name: str, model: str) -> None:
    price = price_of(model)
    assert price is not None
    session: Any = session_of(list(workload(66).given))
    projections = Projections(POLICIES[name], 10_000, 60.0, clock=lambda: 1.0)
    sent, unchanged = StrictFake(price, model), StrictFake(price, model)
    counts: dict[str, int] = {}
    for end, _ in session.requests:
        body = body_of(model, session.messages[:end])
        found = projections.project(body, ME, None)
        sent.take(found.body)
        unchanged.take(body)
        for key, number in found.counts.items():
            counts[key] = counts.get(key, 0) + number
    assert counts["cost"] == pytest.approx(sent.total.units, rel=0.01)
    assert counts["cost_without"] == pytest.approx(unchanged.total.units, rel=0.01)
    assert counts["input_written"] == pytest.approx(sent.total.written, rel=0.02)
    assert counts["input_read"] == pytest.approx(sent.total.read, rel=0.02)
    [ratio] = [family for family in families(counts) if family.name == "cost_ratio"]
    expected = sent.total.units / unchanged.total.units
    assert ratio.samples[0][1] == pytest.approx(expected, rel=0.01)
    if name == "the default":
        assert expected < 0.7
    if name == "superseded ones at once":
        assert expected > 1  # honest, also where toolcarry is dearer


EPHEMERAL = {"cache_control": {"type": "ephemeral"}}


def blocks_of(content: Any) -> list[Any]:
    """Return the blocks of a message's content."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def marked_body(model: str, messages: list[Any]) -> bytes:
    """Return a body with marks as Claude Code sets them: after the system prompt, and on the last user messages."""
    found = [{**message, "content": blocks_of(message["content"])} for message in messages]
    for message in [message for message in found if message["role"] == "user"][-2:]:
        *blocks, last = message["content"]
        message["content"] = [*blocks, {**last, **EPHEMERAL}]
    system = [{"type": "text", "text": SYSTEM, **EPHEMERAL}]
    return json.dumps(
        {"model": model, "system": system, "tools": TOOLS, "messages": found}
    ).encode()


@pytest.mark.parametrize("name", POLICIES)
def test_the_counts_are_those_of_a_strict_provider_with_marks(name: str) -> None:
    model = "claude-sonnet-4-5"
    price = price_of(model)
    assert price is not None
    assert price.matching == "marks"
    session: Any = session_of(list(workload(66).given))
    projections = Projections(POLICIES[name], 10_000, 60.0, clock=lambda: 1.0)
    sent, unchanged = StrictFakeWithMarks(price, model), StrictFakeWithMarks(price, model)
    counts: Counter[str] = Counter()
    for end, _ in session.requests:
        body = marked_body(model, session.messages[:end])
        found = projections.project(body, ME, None)
        sent.take(found.body)
        unchanged.take(body)
        counts.update(found.counts)
    assert counts["cost_without"] == pytest.approx(unchanged.total.units, rel=0.01)
    assert counts["cost"] == pytest.approx(sent.total.units, rel=0.01)
    assert counts["input_written"] == pytest.approx(sent.total.written, rel=0.02)
    assert counts["input_read"] == pytest.approx(sent.total.read, rel=0.02)


def test_a_mark_of_the_whole_body_is_after_its_last_message() -> None:
    body = json.loads(body_of("claude-sonnet-4-5", list(wire.bash("make", "x = 1\n" * 4_000))))
    plain, marked = (
        sent_parts(json.dumps({**body, **mark}).encode(), 20) for mark in ({}, EPHEMERAL)
    )
    assert (plain.marks, plain.searched) == (frozenset(), frozenset())
    assert (marked.marks, marked.searched) == (frozenset({2}), frozenset({0, 1, 2}))
    assert plain.signs == marked.signs


def two_requests(model: str, seconds: float, policy: ProjectPolicy, **prices: PriceModel) -> Any:
    """Return the counts of two requests of a conversation, with a pause between them."""
    moments = iter((1.0, 1.0 + seconds))
    projections = Projections(policy, 10_000, 1e9, prices=prices, clock=lambda: next(moments))
    turns = wire.join(*(wire.read("a.py", "x = 1\n" * 4_000, f"t{number}") for number in range(3)))
    talk = [{"role": "user", "content": "Go on."}, *turns]
    for end in (5, 7):
        found = projections.project(body_of(model, talk[:end]), ME, None)
    return found.counts


OWN = {"own": PriceModel("own", 1.0, 0.1, "prefix", lifetime=60, longest_lifetime=600)}


def test_a_pause_makes_the_cache_cold() -> None:
    quiet = ProjectPolicy(max_result_tokens=NO_LIMIT)
    warm, late, cold = (two_requests("own", each, quiet, **OWN) for each in (50, 500, 5_000))
    assert warm["input_read"] > 0
    assert "input_read" not in late
    assert late["cost"] > warm["cost"]
    assert late["cost_without"] > warm["cost_without"]
    assert "projection_cuts" not in late
    assert cold["projection_cuts"] == 1  # a change is free now
    assert cold["cost"] < cold["cost_without"]


def test_another_model_has_a_cold_cache() -> None:
    projections = Projections(ProjectPolicy(max_result_tokens=NO_LIMIT), 10_000, 60.0)
    turns = wire.join(*(wire.read("a.py", "x = 1\n" * 4_000, f"t{number}") for number in range(3)))
    talk = [{"role": "user", "content": "Go on."}, *turns]
    projections.project(body_of("gpt-5", talk[:5]), ME, None)
    found = projections.project(body_of("gpt-5-mini", talk[:7]), ME, None)
    assert found.counts["projection_cuts"] == 1


def test_the_price_that_is_set_counts() -> None:
    free = {"*": PriceModel("*", 1.0, 1.0, "none", input={"": 2.0})}
    counts = two_requests("any-model", 1.0, ProjectPolicy(), **free)
    assert counts["input_uncached"] == pytest.approx(counts["cost"], abs=1)
    assert counts["cost_microdollars"] == pytest.approx(2 * counts["cost"], abs=1)
    assert told_costs(counts).endswith(" of $0.05")
    assert "cost" not in two_requests("any-model", 1.0, ProjectPolicy())


MARK = b'"cache_control": {"type": "ephemeral", "ttl": "5m"}'


@pytest.mark.parametrize(("given", "plain"), [
    (b'{%b, "type": "text", "text": "a"}', b'{"type": "text", "text": "a"}'),
    (b'{"type": "text", %b, "text": "a"}', b'{"type": "text", "text": "a"}'),
    (b'{"type": "text", "text": "a", %b}', b'{"type": "text", "text": "a"}'),
    (b'{\n  %b,\n  "type": "text"\n}', b'{\n  "type": "text"\n}'),
    (b'{\n  "type": "text",\n  %b\n}', b'{\n  "type": "text"\n}'),
    (b'[{%b,"a": 1}, {"b": 2, %b}, {%b}]', b'[{"a": 1}, {"b": 2}, {}]'),
    (b'{"text": "no \\"cache_control\\": {}"}', b'{"text": "no \\"cache_control\\": {}"}'),
])  # fmt: skip
def test_a_part_without_its_marks_is_the_part_that_never_had_any(
    given: bytes, plain: bytes
) -> None:
    assert without_marks(given.replace(b"%b", MARK)) == plain


@pytest.mark.parametrize("piece", [b" ", b", ", b'"cache_control"', b'"cache_control": {', MARK])
def test_marks_are_found_in_linear_time(piece: bytes) -> None:
    """Megabytes of anything: seconds would be hours if it were not."""
    part = piece * (4_000_000 // len(piece))
    assert without_marks(part) == (b"" if piece == MARK else part)


def test_a_request_that_counts_tokens_costs_nothing() -> None:
    """A provider does not charge for it. Its projection is that of the conversation, so that the number is right."""
    projections = Projections(ProjectPolicy(), 10_000, 60.0)
    body = body_of("gpt-5", [{"role": "user", "content": "Go on."}, *wire.bash("make", "x = 1\n" * 4_000)])  # fmt: skip
    found = projections.project(body, replace(ME, is_side_request=True), None)
    assert len(found.body) < len(body)
    assert found.counts == {}
    assert projections.project(body, ME, None).counts["cost"] > 0


def test_without_a_mark_claude_caches_nothing() -> None:
    counts = two_requests("claude-sonnet-4-5", 1.0, ProjectPolicy())
    assert "input_read" not in counts
    assert counts["input_uncached"] == pytest.approx(counts["cost"], abs=1)
