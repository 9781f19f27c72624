"""Metadata folded with its content: what was folded comes back."""

import json
import random
import struct
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcarry.tract.store.metadata_delta import GROWTH, fold, unfold

PIECES = st.lists(
    st.sampled_from(("import os\n", '"', "\\", "é", "漢字", "x" * 40, "y" * 70, "def f():\n    ", "0123456789" * 6))
)  # fmt: skip
TEXTS = st.lists(PIECES.map("".join), min_size=1, max_size=4).map(lambda texts: texts * 3)
BYTES = st.binary(max_size=40) | st.binary(min_size=8, max_size=8)


def written(texts: list[str]) -> tuple[bytes, bytes]:
    """Metadata, and the line that it is from."""
    arguments = {str(key): text for key, text in enumerate(reversed(texts))}
    line = {"role": "assistant", "text": texts, "input": arguments}
    metadata = json.dumps({"tool_calls": [{"arguments": arguments}]}, separators=(",", ":"))
    return metadata.encode(), json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode()


@given(TEXTS)
def test_folded_metadata_is_restored(texts: list[str]) -> None:
    metadata, content = written(texts)
    folded = fold(metadata, content)
    assert folded == metadata or len(folded) <= len(metadata) // 2
    assert unfold(folded, content) == metadata


@given(st.binary(min_size=512, max_size=700), st.binary(max_size=700), st.data())
def test_any_bytes(metadata: bytes, content: bytes, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(metadata)))
    content = content + metadata[start:] + content
    metadata = b"{" + metadata
    folded = fold(metadata, content)
    assert unfold(folded, content) == metadata


@given(st.lists(BYTES), st.binary(max_size=60))
def test_bytes_that_were_never_folded(parts: list[bytes], content: bytes) -> None:
    check_bounded(b"\0" + b"".join(parts), content)


@given(st.lists(st.tuples(st.binary(max_size=9), st.integers(0, 30), st.integers(0, 30))))
def test_steps_of_any_kind(steps: list[tuple[bytes, int, int]]) -> None:
    stored = b"\0" + b"".join(
        struct.pack(">I", len(literal)) + literal + struct.pack(">II", *range_)
        for literal, *range_ in steps
    )
    for content in (bytes(range(40)), b"", stored):
        check_bounded(stored, content)
        if all(at + length <= len(content) for _, at, length in steps):
            pieces = [literal + content[at : at + length] for literal, at, length in steps]
            whole = b"".join(pieces)
            if len(whole) <= GROWTH * len(content):
                assert unfold(stored, content) == whole


def check_bounded(stored: bytes, content: bytes) -> None:
    """Check that unfolding either raises ``ValueError``, or returns no more than folding accepts."""
    try:
        found = unfold(stored, content)
    except ValueError as error:
        assert str(error).startswith("metadata: is folded")  # noqa: PT017
    else:
        assert len(found) <= GROWTH * len(content)


@pytest.mark.parametrize(
    "text",
    ["import os\n" * 400, ("x = 1  # a plain line\n" * 20 + "größer\n") * 5, '\\"\n\t' * 300],
)
def test_arguments_are_kept_once(text: str) -> None:
    metadata, content = written([text])
    assert len(fold(metadata, content)) < max(300, len(metadata) // 4)


def test_short_metadata_stays() -> None:
    metadata = b'{"name":"Read"}'
    assert fold(metadata, metadata) == metadata
    assert unfold(metadata, b"") == metadata


def test_damage_makes_no_more_than_there_is_room() -> None:
    content = bytes(1_000)
    stored = b"\0" + struct.pack(">III", 0, 0, 1_000) * 100_000
    with pytest.raises(ValueError, match="folded with another content"):
        unfold(stored, content)


@pytest.mark.parametrize("size", [1_000_000])
def test_time_is_linear(size: int) -> None:
    """Where nothing is found, and where what is found ends again and again."""
    chance = random.Random(1)
    words = [f"{chance.getrandbits(160):040x}" for _ in range(size // 40)]
    metadata, content = ("".join(words)).encode(), "é".join(words).encode()
    start = time.process_time()
    assert fold(metadata, bytes(size)) == metadata
    folded = fold(metadata, content)
    assert unfold(folded, content) == metadata
    assert time.process_time() - start < 2
