"""Bytes input on unusual documents: generated ones, real ones, and both with bytes changed.

Documents that orjson accepts give the same as its objects; those that neither orjson nor Python's json accepts are refused.
"""

import json
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.builders.bodies import FORMS, MARK, STRUCTURAL, WRITERS, check_same, outcome
from support.builders.wire import assistant, result, use, user
from support.examples import IS_LONG, examples
from support.strategies import conversations as strategies
from support.strategies.texts import hostile
from support.transcripts import TRANSCRIPTS

from toolcarry import InputError
from toolcarry._input.document import holds_conversations, messages_of, with_answer
from toolcarry._input.objects import is_too_deep
from toolcarry.fallback import kernels
from toolcarry.importers.kernels import ImportingKernels

Both = tuple[ModuleType, ModuleType]

CHATS = sorted(TRANSCRIPTS.glob("openai_chat/*.json"))[:20]
SESSIONS = sorted(TRANSCRIPTS.glob("claude_code/**/*.jsonl"))[:20]
REAL = pytest.mark.parametrize(
    "path", [*CHATS, *SESSIONS] or [None], ids=lambda path: path.stem[-24:] if path else "none"
)
SEEDS = st.integers(0, 1 << 32)
forms = st.sampled_from(sorted(FORMS))
writers = st.sampled_from(sorted(WRITERS))


def mutated(body: bytes, seed: int) -> bytes:
    """``body`` with a few changes: bytes replaced, taken out, put in, or said again; or an end of it."""
    random, data = Random(seed), bytearray(body)
    for _ in range(random.choice((1, 1, 2, 5))):
        start = random.randrange(len(data) + 1)
        end = min(start + random.choice((1, 1, 2, 8)), len(data))
        change = random.randrange(6)
        if change == 0:
            data[start:end] = random.choices(STRUCTURAL, k=end - start)
        elif change == 1:
            del data[start:end]
        elif change == 2:
            data[start:start] = random.choices(STRUCTURAL, k=random.choice((1, 2)))
        elif change == 3:
            data[start:start] = data[start:end]
        elif change == 4 and random.random() < 0.3:
            del data[start:]
        elif data:
            data[min(start, len(data) - 1)] ^= 1 << random.randrange(8)
    return bytes(data)


# Documents of any values, where the library hands values on


scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(1 << 63), (1 << 64) - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=90),
    hostile,
)
keys = st.text(max_size=70) | st.sampled_from(("a", "id", "type", "content", "input", "\u00e9"))
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(keys, inner, max_size=5),
    max_leaves=30,
)


def around(value: Any, other: Any) -> list[Any]:
    """A conversation that holds values wherever it may."""
    call = {"function": {"name": "g", "arguments": json.dumps(other)}, "id": "c1", "extra": value}
    return [
        assistant({**use("t1", "f"), "input": {"value": value, "other": other}}),
        user(result("t1", value, extra=other)),
        {"role": "assistant", "content": other, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": value},
    ]


def given_messages(document: Any) -> Any:
    """The messages of a document as orjson reads it, or ``None`` where it has none."""
    if isinstance(document, dict) and isinstance(document.get("messages"), list):
        document = list(with_answer(document, document["messages"]))
    elif isinstance(document, dict) and "messages" in document:
        document = document["messages"]
    elif isinstance(document, dict):
        found = messages_of(document)
        document = [document] if found is None else found
    return document if isinstance(document, list) and not is_too_deep(document) else None


def check_against_orjson(both: Both, body: bytes) -> None:
    """Check that a document orjson accepts gives the same blocks; the fallback gets orjson's own objects."""
    try:
        messages = given_messages(orjson.loads(body))
    except orjson.JSONDecodeError:
        return
    if messages is not None and len(body) - len(body.strip()) < 9:
        expected = outcome(ImportingKernels(kernels).extract_tool_blocks, messages)
        for backend in both:
            found = outcome(backend.extract_tool_blocks, body)
            if "many conversations" in str(found):  # which a list of objects is not asked for
                assert holds_conversations(messages)
            else:
                assert found == expected


@examples(300)
@given(value=values, other=values, form=forms, writer=writers, seed=SEEDS)
def test_any_values(both: Both, value: Any, other: Any, form: str, writer: str, seed: int) -> None:
    body = FORMS[form](around(value, other), writer, seed)
    check_against_orjson(both, body)
    check_same(both, body)


@examples(300)
@given(value=values, writer=writers, seed=SEEDS)
def test_any_document(both: Both, value: Any, writer: str, seed: int) -> None:
    body = WRITERS[writer](value, seed).encode("utf-8", "surrogatepass")
    check_against_orjson(both, body)
    check_same(both, body)


@examples(500)
@given(value=values, form=forms, writer=writers, seed=SEEDS)
def test_any_values_that_were_mutated(
    both: Both, value: Any, form: str, writer: str, seed: int
) -> None:
    body = mutated(FORMS[form](around(value, [value]), writer, seed), seed)
    check_against_orjson(both, body)
    check_same(both, body)


# Conversations that were mutated


def written(messages: list[Any], form: str, writer: str, seed: int) -> bytes:
    return mutated(FORMS[form](messages, writer, seed), seed)


mutants = st.builds(written, strategies.transcripts | strategies.sessions(), forms, writers, SEEDS)


@examples(600)
@given(body=mutants)
def test_conversations_that_were_mutated(both: Both, body: bytes) -> None:
    check_same(both, body)


@examples(300)
@given(body=st.binary(max_size=60) | st.lists(st.sampled_from(STRUCTURAL), max_size=30).map(bytes))
def test_bytes_of_no_sense(both: Both, body: bytes) -> None:
    check_same(both, body)
    for around in (b'[{"content": "%b"}]', b'[{"content": %b}]', b'{"messages": [%b]}', b"{}\n%b"):
        check_same(both, around % body)


def is_json(data: bytes) -> bool:
    """True if at least one of Python's decoders accepts it."""
    try:
        orjson.loads(data)
    except orjson.JSONDecodeError:
        try:
            json.loads(data.removeprefix(MARK).decode())
        except ValueError:
            return False
    return True


@examples(300)
@given(body=mutants)
def test_invalid_bodies_are_refused(both: Both, body: bytes) -> None:
    if is_json(body) or any(is_json(line) for line in body.split(b"\n")):
        return
    for backend in both:
        with pytest.raises(InputError) as caught:
            backend.extract_tool_blocks(body)
        assert caught.value.position is not None


# Real ones


@REAL
def test_real_bodies(both: Both, real_transcripts: Path, path: Path) -> None:
    body = path.read_bytes()
    check_same(both, body, "## Done\n\n- fixed")
    for document in (body, *body.splitlines()[:20]):
        check_against_orjson(both, document)


@REAL
def test_real_bodies_that_were_mutated(both: Both, real_transcripts: Path, path: Path) -> None:
    body = path.read_bytes()[:40_000]
    for seed in range(20 if IS_LONG else 10):
        check_same(both, mutated(body, seed))
        check_same(both, body[: Random(seed).randrange(len(body))])
