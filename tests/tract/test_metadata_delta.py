"""Metadata folded with its content: what was folded comes back, and both backends fold alike."""

import json
import random
import struct
import time
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.builders.metadata import fold

Both = tuple[ModuleType, ModuleType]

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
def test_folded_metadata_is_restored(both: Both, texts: list[str]) -> None:
    metadata, content = written(texts)
    folded = [fold(kernels, metadata, content) for kernels in both]
    assert folded[0] == folded[1]
    assert folded[0] == metadata or len(folded[0]) <= len(metadata) // 2
    assert [kernels.unfold(folded[0], content) for kernels in both] == [metadata] * 2


@given(st.binary(min_size=512, max_size=700), st.binary(max_size=700), st.data())
def test_any_bytes(both: Both, metadata: bytes, content: bytes, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(metadata)))
    content = content + metadata[start:] + content
    metadata = b"{" + metadata
    folded = [fold(kernels, metadata, content) for kernels in both]
    assert folded[0] == folded[1]
    assert [kernels.unfold(folded[0], content) for kernels in both] == [metadata] * 2


@given(st.lists(BYTES), st.binary(max_size=60))
def test_unfolded_metadata(both: Both, parts: list[bytes], content: bytes) -> None:
    """The same bytes, or the same error."""
    stored = b"\0" + b"".join(parts)
    assert outcome(both[0], stored, content) == outcome(both[1], stored, content)


@given(st.lists(st.tuples(st.binary(max_size=9), st.integers(0, 30), st.integers(0, 30))))
def test_steps_of_any_kind(both: Both, steps: list[tuple[bytes, int, int]]) -> None:
    stored = b"\0" + b"".join(
        struct.pack(">I", len(literal)) + literal + struct.pack(">II", *range_)
        for literal, *range_ in steps
    )
    for content in (bytes(range(40)), b"", stored):
        assert outcome(both[0], stored, content) == outcome(both[1], stored, content)


def outcome(kernels: ModuleType, stored: bytes, content: bytes) -> bytes | str:
    try:
        found: bytes = kernels.unfold(stored, content)
    except ValueError as error:
        return str(error)
    return found


@pytest.mark.parametrize(
    "text",
    ["import os\n" * 400, ("x = 1  # a plain line\n" * 20 + "größer\n") * 5, '\\"\n\t' * 300],
)
def test_arguments_are_kept_once(backend: ModuleType, text: str) -> None:
    metadata, content = written([text])
    assert len(fold(backend, metadata, content)) < max(300, len(metadata) // 4)


def test_short_metadata_stays(backend: ModuleType) -> None:
    metadata = b'{"name":"Read"}'
    assert fold(backend, metadata, metadata) == metadata
    assert backend.unfold(metadata, b"") == metadata


def test_damage_makes_no_more_than_there_is_room(backend: ModuleType) -> None:
    content = bytes(1_000)
    stored = b"\0" + struct.pack(">III", 0, 0, 1_000) * 100_000
    with pytest.raises(ValueError, match="folded with another content"):
        backend.unfold(stored, content)


@pytest.mark.parametrize("size", [1_000_000])
def test_time_is_linear(backend: ModuleType, size: int) -> None:
    """Where nothing is found, and where what is found ends again and again."""
    chance = random.Random(1)
    words = [f"{chance.getrandbits(160):040x}" for _ in range(size // 40)]
    metadata, content = ("".join(words)).encode(), "é".join(words).encode()
    start = time.process_time()
    assert fold(backend, metadata, bytes(size)) == metadata
    folded = fold(backend, metadata, content)
    assert backend.unfold(folded, content) == metadata
    assert time.process_time() - start < 2
