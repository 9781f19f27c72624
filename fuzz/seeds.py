"""Bodies to begin with: the golden conversations, the JSON cases and the example session, written in several ways.

python fuzz/seeds.py        # writes fuzz/corpus/scan_serde and fuzz/corpus/doors
"""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FUZZ = Path(__file__).resolve().parent
ROOT = FUZZ.parent
CASES = ROOT / "tests" / "cases"
SESSION = ROOT / "examples" / "session.jsonl"

MARK = b"\xef\xbb\xbf"
SETTINGS = (
    b"",
    b"\xff\x40\x02\x01\x01\x40\x03## Done",  # 513 characters in all, 320 of a result, both ends
    b"\xff\x01\x04\x01\xfe\x80\x0a",  # rules "careful", the tail, no files
    b"\xff\x80\x08\x01\x01\x10\x0d# Title\n\n```sh\n",  # rules of a user, the head
)
"""What may stand behind a body in ``fuzz_targets/doors.rs``."""


def bodies() -> Iterator[bytes]:
    """Conversations."""
    for path in sorted((CASES / "golden").glob("*.json")):
        case = json.loads(path.read_bytes())
        messages = case["messages"]
        yield json.dumps(messages).encode()
        yield json.dumps({"model": "m", **case}, indent=1).encode()
        yield as_lines(messages)
        yield b'{"type":"summary"}\nno record\n\n' + as_lines(messages)
        yield MARK + not_ascii({"messages": messages}) + b"\r\n"
    lines = SESSION.read_bytes().splitlines(keepends=True)
    for start in range(0, len(lines), 4):
        yield b"".join(lines[start : start + 8])


def not_ascii(value: Any) -> bytes:
    """Compact JSON with an escape only where there must be one, as for a lone surrogate."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace")


def as_lines(messages: list[Any]) -> bytes:
    """JSONL whose records name their parents, unless they say themselves what they are."""
    records = []
    for number, message in enumerate(messages):
        names = {"uuid": f"u{number}", "parentUuid": f"u{number - 1}" if number else None}
        records.append({**names, "message": message} if "role" in message else message)
    return b"".join(not_ascii(record) + b"\n" for record in records)


def documents() -> Iterator[bytes]:
    """JSON, and what is nearly JSON."""
    for path in sorted((CASES / "json").glob("*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            case = json.loads(line)
            parts = "".join(part * times for part, times in case.get("parts", ()))
            text = parts or case.get("text", "")
            yield bytes.fromhex(case["hex"]) if "hex" in case else text.encode()


def write(folder: Path, seeds: Iterator[bytes]) -> None:
    """A file for each seed, named by what is in it."""
    folder.mkdir(parents=True, exist_ok=True)
    for seed in seeds:
        (folder / hashlib.sha1(seed, usedforsecurity=False).hexdigest()).write_bytes(seed)


def main() -> None:
    write(FUZZ / "corpus" / "scan_serde", (*documents(), *bodies()))
    write(FUZZ / "corpus" / "doors", (body + end for body in bodies() for end in SETTINGS))


if __name__ == "__main__":
    main()
