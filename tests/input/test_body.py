"""Bytes input: bytes give the same result as the objects in them, in Rust as in Python."""

import json
from itertools import product
from types import ModuleType
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from msgspec.structs import replace
from support.builders.bodies import FORMS, WRITERS, check_same, outcome
from support.builders.wire import assistant, bash, join, read, turn, use
from support.examples import IS_LONG, examples
from support.rows import for_each
from support.strategies import conversations as strategies
from support.strategies import policies as strategies_policies
from support.strategies.texts import HOSTILE, texts

from toolcarry import NO_LIMIT, CarryPolicy
from toolcarry._input.document import decode_messages, open_body

Both = tuple[ModuleType, ModuleType]

ROOMY = CarryPolicy(max_chars=NO_LIMIT)
SEEDS = st.integers(0, 1 << 16)
WAYS = (
    list(product(WRITERS, FORMS))
    if IS_LONG
    else [*((writer, "request") for writer in WRITERS), *(("not ascii", form) for form in FORMS)]
)
"""Ways to write a body: every writer with every form in the long run, otherwise each of them once."""

forms = st.sampled_from(sorted(FORMS))
writers = st.sampled_from(sorted(WRITERS))


def written(messages: list[Any], form: str, writer: str, seed: int) -> bytes:
    return FORMS[form](messages, writer, seed)


bodies = st.builds(written, strategies.transcripts, forms, writers, SEEDS)


def check_inputs(kernels: ModuleType, body: bytes, summary: str, policy: CarryPolicy) -> None:
    """Compare objects and bytes on every kernel. ``Lines`` is not a list: each kernel gets its own."""

    def objects() -> Any:
        opened = open_body(body)
        return (
            opened.messages
            if kernels.__name__.endswith("fallback.kernels")
            else list(opened.messages)
        )

    def carried() -> Any:
        found = kernels.carry(body, summary, policy)
        report = replace(found.report, skipped_lines=())
        return replace(found, context=found.context.decode(), report=report)

    inputs = {
        "carry": (carried, lambda: kernels.carry(objects(), summary, policy)),
        "dialogue": (
            lambda: kernels.dialogue(body),
            lambda: kernels.dialogue(objects()),
        ),
        "blocks": (
            lambda: kernels.extract_tool_blocks(body),
            lambda: kernels.extract_tool_blocks(objects()),
        ),
    }
    for name, (of_bytes, of_objects) in inputs.items():
        assert (name, outcome(of_bytes)) == (name, outcome(of_objects))


@examples(300)
@given(body=bodies, summary=strategies.summaries, policy=strategies_policies.policies)
def test_bytes_and_objects_lead_to_the_same(
    backend: ModuleType, body: bytes, summary: str, policy: CarryPolicy
) -> None:
    check_inputs(backend, body, summary, policy)


@examples(600)
@given(body=bodies, summary=strategies.summaries, policy=strategies_policies.policies)
def test_rust_is_the_same_as_python(
    both: Both, body: bytes, summary: str, policy: CarryPolicy
) -> None:
    check_same(both, body, summary, policy)


@examples(200)
@given(
    messages=strategies.tangles | strategies.sessions(),
    form=forms,
    writer=writers,
    seed=SEEDS,
    policy=strategies_policies.policies,
)
def test_tangles_and_sessions(
    both: Both, messages: list[Any], form: str, writer: str, seed: int, policy: CarryPolicy
) -> None:
    check_same(both, written(messages, form, writer, seed), "", policy)


@examples(200)
@given(messages=strategies.transcripts, form=forms, writer=writers, seed=SEEDS)
def test_every_way_to_write_is_read_alike(
    messages: list[Any], form: str, writer: str, seed: int
) -> None:
    """The writers of this suite write what they are given: Python's decoder reads it back."""
    assume(form != "lines" and not (form == "mark" and seed % 3 == 2))
    found, _ = decode_messages(written(messages, form, writer, seed))
    expected, _ = decode_messages(json.dumps(messages).encode())
    assert found == expected


@examples(300)
@given(
    texts=st.lists(texts | st.text(max_size=400), min_size=1, max_size=3),
    keep=st.sampled_from(("head", "tail", "ends")),
    limit=st.integers(0, 700),
    total=st.integers(0, 3_000) | st.just(NO_LIMIT),
    writer=writers,
    seed=SEEDS,
)
def test_cuts_of_hostile_texts(
    both: Both, texts: list[str], keep: Any, limit: int, total: int, writer: str, seed: int
) -> None:
    messages = join(*(bash(f"c{number}", text, f"t{number}") for number, text in enumerate(texts)))
    policy = CarryPolicy(max_chars=total, max_result_chars=limit, keep=keep)
    check_same(both, written(messages, "request", writer, seed), "", policy)


KEEPS: Any = ("head", "tail", "ends")


@for_each("writer", ["ascii", "not ascii", "escaped", "some escaped"])
@for_each("unit", ["\\", '"', "\\\\n", "\U0001f600", "a\U0001f600", "\ud800\udc00"[:1], "\u00e9\n"])
def test_cuts_at_every_place(both: Both, unit: str, writer: str) -> None:
    """A cut never falls into an escape, a pair of them, or a character of several bytes."""
    for count in (63, 64, 65, 900) if IS_LONG else (64, 900):
        body = written(bash("ls", unit * count), "array", writer, count)
        for limit in (*range(30, 57), 511, 512, 513):
            for keep in KEEPS if IS_LONG else (KEEPS[limit // 3 % 3],):
                policy = CarryPolicy(max_result_chars=limit, keep=keep)
                python, rust = (kernels.carry(body, "", policy) for kernels in both)
                assert rust == python


@for_each("text", HOSTILE, ids=ascii)
def test_a_hostile_text_in_every_place(both: Both, text: str) -> None:
    messages = join(
        turn(text, {text: text, "x": {text: [text]}}, text, text or "t0"),
        bash(text, [{"type": "text", "text": text}], "t1"),
        read(text, text * 3, "t2"),
        [{"role": "user", "content": text}, {"role": "assistant", "content": text}],
    )
    for writer, form in WAYS if IS_LONG else WAYS[HOSTILE.index(text) % 3 :: 3]:
        check_same(both, written(messages, form, writer, 1), text, ROOMY)


@for_each("size", [*range(56, 73), *range(248, 264), 1_000])
def test_texts_around_the_lengths_that_are_treated_apart(both: Both, size: int) -> None:
    for end in ("", "\n", "\u00e9", '"', "\\", "\U0001f600", "\ud800"):
        messages = join(bash("ls", "a" * size + end, "t1"), bash("pwd", end + "b" * size, "t2"))
        for writer in (
            ("orjson", "ascii", "not ascii", "all at once") if IS_LONG else ("not ascii",)
        ):
            check_same(both, written(messages, "request", writer, size), "", ROOMY)


# Behaviour of bytes input alone


def test_the_walk_ends_where_the_total_is_spent_and_older_lines_stay_unread(
    api: ModuleType,
) -> None:
    turns = join(*(bash(f"c{number}", "x" * 900, f"t{number}") for number in range(300)))
    newer = [json.dumps(message).encode() for message in turns]
    policy = CarryPolicy(max_chars=1_500, layout="sections")
    carried = api.carry(b"bad\n" + b"\n".join(newer), policy=policy)
    assert not carried.report.walked_all
    assert carried.report.skipped_lines == ()
    carried = api.carry(b"\n".join([b"bad", *newer, b"worse"]), policy=policy)
    assert carried.report.skipped_lines == (len(newer) + 2,)


def test_a_request_among_records_is_an_error_where_it_is_come_by(api: ModuleType) -> None:
    line = json.dumps(assistant(use("t1"))).encode()
    request = b'{"messages": []}'
    for body in (line + b"\n" + request, request + b"\n" + line):
        with pytest.raises(api.InputError, match="is a request of its own") as caught:
            api.carry(body)
        assert caught.value.position == body.split(b"\n").index(request)


def test_the_request_that_is_come_by_first_is_named(both: Both) -> None:
    line = json.dumps(assistant(use("t1"))).encode()
    check_same(both, b'{"messages": []}\n{"messages": []}\n' + line)
    record = b'{"uuid": "u", "message": {"role": "user", "content": "hi"}}'
    check_same(both, b'{"messages": []}\n{"messages": []}\n' + record)
    check_same(both, record + b'\n{"messages": []}\n{"messages": []}\n' + line)


def test_text_is_decoded_from_the_bytes(api: ModuleType) -> None:
    messages = bash("ls \u00e9", "\U0001f600 \ud800 x")
    given = json.dumps(messages).encode()
    carried, twin = api.carry(given), api.carry(messages)
    assert carried.to_bytes() == twin.to_bytes() == twin.text.encode()
    assert carried.text == twin.text
    assert carried.report == twin.report


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_every_kind_of_bytes(api: ModuleType, kind: Any) -> None:
    given = json.dumps(bash("ls")).encode()
    assert api.carry(kind(given)).text == api.carry(bash("ls")).text
    assert api.extract_tool_blocks(kind(given)) == api.extract_tool_blocks(bash("ls"))
    assert api.carry(kind(given), explain=True).fates == api.carry(bash("ls"), explain=True).fates


@pytest.mark.slow
@pytest.mark.timeout(15)
def test_sixty_thousand_lines_take_no_longer_each_than_one(backend: ModuleType) -> None:
    lines = [
        json.dumps({"role": "tool", "tool_call_id": f"c{number}", "content": "x" * 100})
        for number in range(60_000)
    ]
    blocks = backend.extract_tool_blocks("\n".join(lines).encode())
    assert [block.position for block in blocks] == list(range(60_000))
