"""Write the first inputs of the targets: the cases of the tests and the examples, in several spellings.

python fuzz/seeds.py        # writes fuzz/corpus/TARGET
"""

import hashlib
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support.builders.families import FAMILIES
from support.builders.media import PLACES

FUZZ = Path(__file__).resolve().parent
ROOT = FUZZ.parent
CASES = ROOT / "tests" / "cases"
SESSION = ROOT / "examples" / "session.jsonl"
CHOICES = 7
"""The number of choices for the first byte in ``fuzz_targets/readers.rs``, which is the format of one message."""

MARK = b"\xef\xbb\xbf"
SETTINGS = (
    b"",
    b"\xff\x40\x02\x01\x01\x40\x03## Done",  # 513 characters in total, 320 per result, both ends
    b"\xff\x01\x04\x01\xfe\x80\x0a",  # rules "careful", the tail, no files
    b"\xff\x80\x08\x01\x01\x10\x0d# Title\n\n```sh\n",  # user rules, the head
)
"""The settings that follow a body in ``fuzz_targets/inputs.rs``."""

PROJECTIONS = (b"\xff\x04", b"\xff\x05\x40", b"\xff\x3f\x80\x10")
"""The settings that follow a body in ``fuzz_targets/project.rs``: with repair, with cuts, and with everything."""

FENCES = (b"```sh\n", b"~~~~\n``` ", b"\x1b[31m\r\n[CONTEXT FROM PREVIOUS SESSION]\n")
"""The beginnings of texts in ``fuzz_targets/render.rs``."""

ODD_RECORDS = rb"""
{"type":"summary","uuid":null,"message":null}
{"uuid":"u1","parentUuid":null,"message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]}}
{"uuid":"u2","parentUuid":"u1","message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"t2","name":"f"}]},"more":{"id":"m9","uuid":"u9","message":{"id":"m8"}}}
{"uuid":"s1","parentUuid":"u2","isSidechain":true,"message":{"role":"assistant","tool_calls":[{"id":"t3","function":{"name":"f"}}]}}
{"uuid":"u0","\u0075uid":"u3","parentUuid":"","logicalParentUuid":"u1","isSidechain":[true],"message":[],"message":{"role":"user","id":{"id":"m7"},"content":[{"type":"tool_result","tool_use_id":"t1","content":"a\u00e9"}]}}
{"uuid":"u4","parentUuid":"u3","logicalParentUuid":"s1","message":{"content":[{"type":"tool_result","tool_use_id":"t2"}],"role":"user"}}
""".lstrip()
"""A session in which every record has something that is easily misread."""

MEDIA = rb"""[{"role":"tool","content":[
{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}},
{"type":"image_url","image_url":{"url":"data:image/png;base64,aGk="}},
{"type":"input_image","image_url":"https://example.com/a.png"},
{"type":"document","source":{"type":"text","media_type":"text/plain","data":"a\nb"}},
{"type":"document","title":"t","source":{"type":"content","content":[{"type":"text","text":"x"}]}},
{"type":"resource","resource":{"mimeType":"text/plain","blob":"aGk"}},
{"type":"input_audio","input_audio":{"data":"aGk=","format":"wav"}},
{"type":"web_search_result","title":"t","encrypted_content":"aGk="},
{"type":"search_result","content":[{"type":"text","text":"x"}]},
{"type":"other","a":[1.50,1e2,null]},7,null,"x"]}]
"""
"""Parts of a result that are not text."""


def command_lines() -> list[str]:
    """Return the shell commands of the tests."""
    lines = (CASES / "shell.txt").read_text("utf-8").splitlines()
    return [json.loads(line[2:]) for line in lines if line.startswith(("R ", "W "))]


def commands() -> Iterator[bytes]:
    """Yield conversations that run each shell command twice."""
    given = command_lines()
    for start in range(0, len(given), 8):
        calls = [
            {"id": f"t{number}", "function": {"name": "Bash", "arguments": {"command": command}}}
            for number, command in enumerate(given[start : start + 8] * 2)
        ]
        results = [{"role": "tool", "tool_call_id": call["id"], "content": "x"} for call in calls]
        yield json.dumps([{"role": "assistant", "tool_calls": calls}, *results]).encode()


def bodies() -> Iterator[bytes]:
    """Yield conversations in several forms and spellings."""
    for path in sorted((CASES / "golden").glob("*.json")):
        case = json.loads(path.read_bytes())
        messages = case["messages"]
        yield json.dumps(messages).encode()
        yield json.dumps({"model": "m", **case}, indent=1).encode()
        yield as_lines(messages)
        yield b'{"type":"summary"}\nno record\n\n' + as_lines(messages)
        yield MARK + not_ascii({"messages": messages}) + b"\r\n"
    yield from (ODD_RECORDS, MEDIA, *commands(), *hard_cases())
    lines = SESSION.read_bytes().splitlines(keepends=True)
    for start in range(0, len(lines), 4):
        yield b"".join(lines[start : start + 8])


def hard_cases() -> Iterator[bytes]:
    """Yield the conversations of the tests' hard cases, unchanged."""
    for path in sorted((CASES / "hard").glob("*.json")):
        case = json.loads(path.read_bytes())
        if "lines" in case:
            lines = (line if isinstance(line, str) else json.dumps(line) for line in case["lines"])
            yield "\n".join(lines).encode("utf-8", "replace")
        else:
            yield json.dumps(case.get("input", case.get("body"))).encode()


def conversations() -> Iterator[list[Any]]:
    """Yield the conversations of each format family and of the tests' cases, as lists of messages."""
    yield from (make("t1") + make("t2") for make in FAMILIES.values())
    yield from (place("QUJD" * 20) for place in PLACES.values())
    for path in sorted(CASES.glob("*/*.json")):
        case = json.loads(path.read_bytes())
        found = case.get("input", case.get("messages")) if isinstance(case, dict) else None
        if isinstance(found, list):
            yield found


WORDS = {word: number for number, word in enumerate((FUZZ / "words.txt").read_text().splitlines())}


def planned(value: Any) -> bytes:
    """Encode a value as a plan for ``reading.rs``. Members with unknown names are left out, and long texts are cut."""
    if value is None or isinstance(value, bool):
        return {None: b"\0", True: b"\1", False: b"\2"}[value]
    if isinstance(value, (int, float)):
        return bytes((3, int(value) % 256))
    if isinstance(value, str):
        if value in WORDS:
            return bytes((4, WORDS[value]))
        text = value.encode("utf-8", "replace")[:127]
        return bytes((5, len(text))) + text
    if isinstance(value, list):
        return bytes((6, len(value[:15]))) + b"".join(map(planned, value[:15]))
    members = [(WORDS[key], item) for key, item in value.items() if key in WORDS][:15]
    written = b"".join(bytes((number,)) + planned(item) for number, item in members)
    return bytes((7, len(members))) + written


def not_ascii(value: Any) -> bytes:
    """Return compact JSON that escapes only what must be escaped, such as lone surrogates."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace")


def as_lines(messages: list[Any]) -> bytes:
    """Return JSONL in which each message is wrapped in a record with a parent; other items are lines of their own."""
    records = []
    for number, message in enumerate(messages):
        names = {"uuid": f"u{number}", "parentUuid": f"u{number - 1}" if number else None}
        records.append({**names, "message": message} if "role" in message else message)
    return b"".join(not_ascii(record) + b"\n" for record in records)


def documents() -> Iterator[bytes]:
    """Yield documents of JSON and of almost JSON."""
    for path in sorted((CASES / "json").glob("*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            case = json.loads(line)
            parts = "".join(part * times for part, times in case.get("parts", ()))
            text = parts or case.get("text", "")
            yield bytes.fromhex(case["hex"]) if "hex" in case else text.encode()


def write(folder: Path, seeds: Iterable[bytes]) -> None:
    """Write each seed to a file named by its hash."""
    folder.mkdir(parents=True, exist_ok=True)
    for seed in seeds:
        (folder / hashlib.sha1(seed, usedforsecurity=False).hexdigest()).write_bytes(seed)


def main() -> None:
    write(FUZZ / "corpus" / "scan_serde", (*documents(), *bodies()))
    write(FUZZ / "corpus" / "inputs", (body + end for body in bodies() for end in SETTINGS))
    write(FUZZ / "corpus" / "project", (body + end for body in bodies() for end in PROJECTIONS))
    plans = [b"".join(map(planned, messages)) for messages in conversations()]
    chosen = (bytes((choice,)) + plan for plan in plans for choice in range(CHOICES))
    write(FUZZ / "corpus" / "readers", chosen)
    lines = [line.encode("utf-8", "replace") for line in command_lines()]
    write(FUZZ / "corpus" / "shell", lines)
    write(FUZZ / "corpus" / "truncate", (b"\0\x10\2" + line for line in lines))
    write(
        FUZZ / "corpus" / "render",
        (b"\x05\x0a\x02" + fence + line for line in lines for fence in FENCES),
    )


if __name__ == "__main__":
    main()
