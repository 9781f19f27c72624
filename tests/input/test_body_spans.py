"""The members and messages of a body are found without decoding them, and both backends find the same."""

from __future__ import annotations

import json
from types import ModuleType
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from support.rows import for_each

Both = tuple[ModuleType, ModuleType]

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
LISTS = ("messages", "contents", "input")
NAMES = st.sampled_from(["model", "tools", *LISTS]) | st.text(max_size=3)
BODIES = st.dictionaries(NAMES, JSON | st.lists(JSON, max_size=4), max_size=6)


@given(BODIES, st.sampled_from(["", " ", "\r\n\t"]), st.booleans())
def test_each_span_holds_its_value(
    both: Both, document: dict[str, Any], space: str, is_ascii: bool
) -> None:
    separators = (f"{space},{space}", f"{space}:{space}")
    written = json.dumps(document, separators=separators, ensure_ascii=is_ascii)
    body = f"{space}{written}{space}".encode()
    found = both[1].split_body(body)
    assert both[0].split_body(body) == found
    members, key, items = found
    assert {name: json.loads(body[start:end]) for name, (start, end) in members.items()} == document
    assert key == next((name for name in LISTS if isinstance(document.get(name), list)), "")
    assert [json.loads(body[start:end]) for start, end in items] == (document[key] if key else [])


@for_each(
    "body",
    [
        b"", b"[1]", b"1", b"{", b"{} {}", b'{"messages": [1,]}', b'{"a": NaN}', b'{"messages": "\xff"}',
        b'{"a": "\\ud83', b'{"a": ' + b"[" * 2_000 + b"]" * 2_000 + b"}", "{}".encode("utf-16"),
    ],
)  # fmt: skip
def test_what_is_no_object_in_json_has_no_members(backend: ModuleType, body: bytes) -> None:
    assert backend.split_body(body) is None


@for_each(
    ("body", "key", "items"),
    [
        (b"\xef\xbb\xbf{}", "", []),
        (b'{"messages": [1], "messages": [2, 3], "input": 1}', "messages", [b"2", b"3"]),
        (b'{"messages": null, "contents": [1], "input": [2]}', "contents", [b"1"]),
        (b'{"a": "\\ud83d", "input": ["\\ud83d"]}', "input", [b'"\\ud83d"']),
        (b'{"input": [-0, 1e400, 123456789012345678901234567890]}', "input", [b"-0", b"1e400", b"123456789012345678901234567890"]),
        (b'{"messages": []}', "messages", []),
    ],
)  # fmt: skip
def test_odd_bodies(backend: ModuleType, body: bytes, key: str, items: list[bytes]) -> None:
    _, found, spans = backend.split_body(body)
    assert (found, [body[start:end] for start, end in spans]) == (key, items)
