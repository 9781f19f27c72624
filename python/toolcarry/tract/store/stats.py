"""What a conversation weighs."""

from __future__ import annotations

from collections import Counter

from toolcarry.tract.store.log import Log
from toolcarry.tract.values import Kind, Stats

__all__ = ["count"]


def count(log: Log) -> Stats:
    """Commits by kind, tokens of the messages as they were said, and the bytes of all contents, each once."""
    kinds: Counter[str] = Counter()
    sizes: dict[str, tuple[int, int]] = {}
    tokens = 0
    for commit, size, stored in log.sized():
        kinds[commit.kind.name.lower()] += 1
        sizes[commit.content_hash] = (size, stored)
        if commit.kind < Kind.RECORD:
            tokens += commit.token_count
    return Stats(
        sum(kinds.values()),
        dict(kinds),
        tokens,
        sum(size for size, _ in sizes.values()),
        sum(stored for _, stored in sizes.values()),
    )
