"""Files of a history with pages of every kind, and single bits of them changed."""

import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from toolcarry.tract import Tract

NAMES = ("default", "other", "third")
KINDS = {2: "interior index", 5: "interior table", 10: "leaf index", 13: "leaf table"}
PAGE_KINDS = (*KINDS.values(), "overflow", "freelist", "header")
HEADER = 100


def write_store(path: Path, commits: int, page_size: int = 512) -> dict[str, list[str]]:
    """Write conversations into a file of small pages, and return the hashes of their commits."""
    with closing(sqlite3.connect(path)) as other:
        other.execute(f"PRAGMA page_size = {page_size}")
        other.execute("VACUUM")
    chance = random.Random(1)
    with Tract.open(path) as tract:
        for number in range(commits // 8):
            tract.in_conversation(f"short {number}").user("one")
        gone = tract.in_conversation("gone")
        gone.append_many([{"role": "user", "content": "x" * 4 * page_size}] * 1)
        gone.append_many(
            [{"role": "user", "content": chance.randbytes(100).hex()} for _ in range(60)]
        )
        for name in NAMES:
            talk = tract.in_conversation(name)
            talk.append_many(list(messages(name, commits, chance)))
            (result, *_) = talk.find_tool_results()
            talk.tool_result("", "", "newer", edit=result.commit_hash)
            talk.compress(content="Begun.", to_commit=talk.log()[-3].commit_hash)
        tract.forget("gone")
        return {
            name: [commit.commit_hash for commit in tract.in_conversation(name).log()]
            for name in NAMES
        }


def messages(name: str, count: int, chance: random.Random) -> Iterator[dict[str, Any]]:
    yield {"role": "user", "content": f"Begin {name}."}
    for number in range(count // 2):
        call = {
            "id": f"t{number}",
            "type": "function",
            "function": {"name": "Bash", "arguments": "{}"},
        }
        yield {"role": "assistant", "content": None, "tool_calls": [call]}
        text = chance.randbytes(chance.choice((5, 40, 700))).hex()
        yield {"role": "tool", "tool_call_id": f"t{number}", "content": text}


def page_kinds(data: bytes) -> dict[str, list[int]]:
    """Return the offsets of the pages of each kind, by https://sqlite.org/fileformat.html."""
    size = int.from_bytes(data[16:18], "big")
    size = 65_536 if size == 1 else size
    free = set(freelist(data, size))
    found: dict[str, list[int]] = {kind: [] for kind in PAGE_KINDS}
    for page in range(1, len(data) // size):
        start = page * size
        kind = "freelist" if page + 1 in free else KINDS.get(data[start], "overflow")
        found[kind].append(start)
    return found


def freelist(data: bytes, size: int) -> Iterator[int]:
    trunk = int.from_bytes(data[32:36], "big")
    while trunk:
        yield trunk
        start = (trunk - 1) * size
        trunk, count = (int.from_bytes(data[start + at : start + at + 4], "big") for at in (0, 4))
        for leaf in range(count):
            at = start + 8 + 4 * leaf
            yield int.from_bytes(data[at : at + 4], "big")


def flips(data: bytes, kind: str, count: int, seed: str) -> Iterator[tuple[int, bytes]]:
    """Yield files with one bit changed in a page of a kind, and the number of the bit."""
    size = int.from_bytes(data[16:18], "big")
    chance = random.Random(f"{kind} {seed}")
    pages = [0] if kind == "header" else page_kinds(data)[kind]
    for turn in range(count):
        start = chance.choice(pages)
        # Every second one is near the start, where the pointers to other pages and to the cells are.
        length = HEADER if kind == "header" else 40 if turn % 2 else size
        bit = 8 * start + chance.randrange(8 * length)
        changed = bytearray(data)
        changed[bit // 8] ^= 1 << bit % 8
        yield bit, bytes(changed)
