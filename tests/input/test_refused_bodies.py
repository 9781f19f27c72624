"""Bodies that the scan refuses, for the jobs that exist in Rust alone: Python decodes them, or says what is wrong."""

import json
from types import ModuleType
from typing import Any

import pytest
from support.builders.bodies import check_alone
from support.builders.wire import assistant, bash, use

from toolcarry import CarryPolicy

TALK = [{"role": "user", "content": "Go."}, *bash("ls", "a.py"), assistant(use("t2"))]
LINE = json.dumps(TALK[0]).encode()
RECORD = b'{"uuid": "u", "message": {"role": "user", "content": "hi"}}'
REQUEST = b'{"messages": []}'
LONE = b'[{"role": "assistant", "content": [{"type": "tool_use", "id": "a\\ud800", "name": "f", "input": {}}]}]'

DECODED = {
    "a lone surrogate": LONE,
    "a byte-order mark": b"\xef\xbb\xbf" + json.dumps(TALK).encode(),
    "a byte-order mark before lines": b"\xef\xbb\xbf" + b"\n".join([LINE, b"bad", LINE]),
    "a long integer": b'[{"role": "user", "content": "a", "turn_id": %d}]' % (1 << 80),
    "a prompt": b'{"input": "Go."}',
    "the same member twice": b'[{"role": "user", "role": "assistant", "content": "a"}]',
    "lines that hold no object": b"\n".join([b"7", LINE, b"", b"{cut", RECORD, b"[]"]),
}
WRONG: dict[str, tuple[bytes, str, int | None]] = {
    "nothing": (b"", "not JSON at byte 0: expecting value", 0),
    "a number": (b"7", "neither an object nor an array, but int", 0),
    "no list of messages": (b'{"messages": 7}', "messages is not an array, but int", 0),
    "a cut document": (b'[{"role": "user", "content": "a"}, {"ro', "not JSON at byte 36: unterminated string", 36),
    "no UTF-8": (b'[{"role": "user", "content": "\xff"}]', "not UTF-8 at byte 30", 30),
    "a message that is none": (b'[{"role": "user", "content": "a"}, 7]', "message 1 is not an object, but int", 1),
    "conversations": (b"[[" + LINE + b"]]", "many conversations", 0),
    "requests": (REQUEST + b"\n" + REQUEST, "line 2 is a request of its own", 1),
    "a request after messages": (LINE + b"\n" + REQUEST, "line 2 is a request of its own", 1),
    "requests before a message": (REQUEST + b"\n" + REQUEST + b"\n" + LINE, "line 2 is a request of its own", 1),
    "requests before a record": (REQUEST + b"\n" + REQUEST + b"\n" + RECORD, "line 1 is a request of its own", 0),
}  # fmt: skip


@pytest.mark.parametrize("name", DECODED)
def test_they_say_the_same_as_their_objects(both: tuple[ModuleType, ModuleType], name: str) -> None:
    check_alone(both[1], DECODED[name], CarryPolicy())


@pytest.mark.parametrize("name", WRONG)
def test_errors_have_their_position(rust: ModuleType, name: str) -> None:
    body, message, position = WRONG[name]
    for job in (rust.inspect, rust.recount):
        with pytest.raises(rust.InputError, match=message) as caught:
            job(body)
        with pytest.raises(rust.InputError) as expected:
            rust.dialogue(body)
        assert str(caught.value) == str(expected.value)
        assert caught.value.position == expected.value.position == position


def test_lines_without_an_object_are_reported(rust: Any) -> None:
    body = b"\xef\xbb\xbf" + b"\n".join([b"7", LINE, b"", b"{cut", RECORD])
    assert rust.inspect(body).skipped_lines == rust.recount(body).report.skipped_lines == (1, 4)
