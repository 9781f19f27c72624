"""The text that the workloads are cut from: CPython's standard library, and seeded synthetic text.

On one CPython release the seven texts are the same everywhere. Where an interpreter comes without the standard
library's tests, other modules stand in for them and a range of ideographs for the CJK sample: the workloads keep
their shape, but not their checksums.
"""

from __future__ import annotations

import json
import random
import sysconfig
from collections.abc import Iterable
from functools import cache
from pathlib import Path

SEED = 20261121
LONGEST_CODE = 4 << 20

WORDS = ("fix", "test", "error", "build", "done", "warn", "file", "path", "ok", "fail", "user", "data", "run")  # fmt: skip
CJK_ENCODINGS = ("big5", "gb18030", "euc_jp", "euc_kr", "shift_jis")
CJK_PAUSES = "\uff0c\u3002\u3001\uff01\uff1f\n\n "
FIRST_IDEOGRAPH = 0x2E80
PICTOGRAPHS = [chr(code) for code in range(0x1F300, 0x1F650)]
ZERO_WIDTH_JOINER = "\u200d"


@cache
def texts() -> dict[str, str]:
    """The texts by name. One generator makes them all, so that their order matters."""
    source = random.Random(SEED)
    library = Path(sysconfig.get_paths()["stdlib"])
    modules = sorted(path.as_posix() for path in library.rglob("*.py") if is_library_module(path))
    source.shuffle(modules)
    tests = sorted(path.as_posix() for path in library.glob("test/test_*.py"))
    return {
        "code": read_files(modules),
        "tests": read_files(tests or modules[::-1]),
        "prose": prose(),
        "cjk": cjk(source, library),
        "emoji": "".join([emoji_piece(source) for _ in range(120_000)]),
        "log": "\n".join([log_line(source) for _ in range(16_000)]),
        "json": "\n".join([json_record(source) for _ in range(9_000)]),
    }


def is_library_module(path: Path) -> bool:
    name = path.as_posix()
    return not any(part in name for part in ("site-packages", "/test", "pydoc_data"))


def read_files(names: Iterable[str]) -> str:
    """The files that are UTF-8, one after the other, until there is enough."""
    found: list[str] = []
    size = 0
    for name in names:
        try:
            found.append(Path(name).read_text("utf-8"))
        except UnicodeDecodeError:
            continue
        size += len(found[-1])
        if size >= LONGEST_CODE:
            break
    return "\n".join(found)[:LONGEST_CODE]


def prose() -> str:
    """The language reference, as ``help()`` shows it."""
    from pydoc_data.topics import topics

    return "\n".join([text for _, text in sorted(topics.items())])


def cjk(source: random.Random, library: Path) -> str:
    """Samples of five encodings, then sentences of their characters."""
    folder = library / "test" / "cjkencodings"
    if folder.is_dir():
        sample = "".join([(folder / f"{name}.txt").read_text(name) for name in CJK_ENCODINGS])
    else:
        sample = "".join(map(chr, range(0x4E00, 0x5E00)))
    characters = [character for character in sample if ord(character) > FIRST_IDEOGRAPH]
    pieces = [sample]
    for _ in range(20_000):
        length = source.randint(3, 40)
        pieces.extend([source.choice(characters) for _ in range(length)])
        pieces.append(source.choice(CJK_PAUSES))
    return "".join(pieces)


def emoji_piece(source: random.Random) -> str:
    """A pictograph, two of them joined, a word, or a new line: all are drawn, then one is taken."""
    single = source.choice(PICTOGRAPHS)
    first = source.choice(PICTOGRAPHS)
    second = source.choice(PICTOGRAPHS)
    joined = f"{first}{ZERO_WIDTH_JOINER}{second}"
    spaced = f" {source.choice(WORDS)}"
    word = source.choice(WORDS)
    return source.choice([single, joined, spaced, word, "\n"])


def log_line(source: random.Random) -> str:
    """A line of a server's log."""
    number, choice = source.randint, source.choice
    date = f"2026-11-{number(1, 30):02d}"
    time = f"{number(0, 23):02d}:{number(0, 59):02d}:{number(0, 59):02d}.{number(0, 999_999):06d}"
    level = choice(["INFO", "WARN", "ERROR", "DEBUG"])
    thread = f"{choice(['worker', 'http', 'db', 'sched'])}-{number(0, 99)}"
    request = f"req={source.getrandbits(64):016x}"
    path = f"path=/api/v{number(1, 3)}/{choice(WORDS)}/{number(1, 99_999)}"
    outcome = f"status={choice([200, 201, 404, 500])} dur={source.random() * 1000:.3f}ms"
    return f"{date}T{time}Z [{level}] {thread} {request} {path} {outcome}"


def json_record(source: random.Random) -> str:
    """A small object, on one line or indented."""
    record = {
        "id": source.getrandbits(32),
        "name": f"{source.choice(WORDS)}_{source.choice(WORDS)}",
        "values": [round(source.random(), 4) for _ in range(source.randint(1, 8))],
        "nested": {"k": source.choice(WORDS), "flag": source.random() < 0.5},
    }
    return json.dumps(record, indent=source.choice([None, 2]))
