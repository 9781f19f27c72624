"""Conversations as bytes, written in every way that JSON allows, and outcomes that can be compared."""

import json
import math
from collections.abc import Callable
from random import Random
from types import ModuleType
from typing import Any

import orjson
from msgspec.structs import replace

from toolcarry import CarryPolicy, ProjectPolicy
from toolcarry._input.document import decode_messages
from toolcarry._input.json import loads_any_depth
from toolcarry.importers.projection import project_body
from toolcarry.types.policy import ResultOptions

Kernel = Callable[[ModuleType], Any]

MARK = b"\xef\xbb\xbf"
STRUCTURAL = b'{}[]":,\\/ \t\n\r\x00\x0b\x1f\x7f\x80\xbf\xc0\xc3\xed\xef\xf4\xffabnfrtu0189-+.eE'
"""Bytes that mean something to JSON or to UTF-8."""
SHORT_ESCAPES = {"\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "/": "\\/"}
DECOYS = (None, 7, "t1", "tool", [], [{"role": "user"}], {"id": "t9"}, True, -0.0, "x" * 300)


class Writer:
    """JSON as oddly as the grammar allows; the same for the same seed."""

    def __init__(
        self,
        seed: int,
        *,
        spaces: str = "",
        escapes: float = 0.0,
        key_escapes: float = 0.0,
        decoys: float = 0.0,
    ) -> None:
        self._random = Random(seed)
        self._spaces = spaces
        self._escapes = escapes
        self._key_escapes = key_escapes
        self._decoys = decoys

    def write(self, value: Any) -> str:
        """``value`` with space around it."""
        return f"{self._space()}{self._value(value)}{self._space()}"

    def _value(self, value: Any) -> str:
        if isinstance(value, str):
            return self._text(value, self._escapes)
        if isinstance(value, (list, tuple)):
            items = ",".join(self.write(item) for item in value)
            return f"[{items or self._space()}]"
        if isinstance(value, dict):
            members = [
                *self._decoy_members(value),
                *(self._member(*item) for item in value.items()),
            ]
            return f"{{{','.join(members) or self._space()}}}"
        return json.dumps(value)

    def _member(self, name: str, value: Any) -> str:
        key = self._text(name, self._key_escapes)
        return f"{self._space()}{key}{self._space()}:{self.write(value)}"

    def _decoy_members(self, given: dict[str, Any]) -> list[str]:
        """Members whose names come again, so that they do not count."""
        names = [name for name in given if self._random.random() < self._decoys]
        self._random.shuffle(names)
        return [self._member(name, self._random.choice(DECOYS)) for name in names]

    def _space(self) -> str:
        if not self._spaces:
            return ""
        return "".join(self._random.choices(self._spaces, k=self._random.choice((0, 0, 1, 3))))

    def _text(self, text: str, escapes: float) -> str:
        return '"' + "".join(self._character(character, escapes) for character in text) + '"'

    def _character(self, character: str, escapes: float) -> str:
        is_surrogate = "\ud800" <= character <= "\udfff"
        if is_surrogate or self._random.random() < escapes:
            return self._escape(character)
        if character in '"\\':
            return f"\\{character}"
        return self._escape(character) if character < " " else character

    def _escape(self, character: str) -> str:
        """By a letter where there is one, or by numbers, in small or capital digits."""
        if character in SHORT_ESCAPES and self._random.random() < 0.5:
            return SHORT_ESCAPES[character]
        data = character.encode("utf-16-be", "surrogatepass")
        units = [int.from_bytes(data[at : at + 2], "big") for at in range(0, len(data), 2)]
        form = self._random.choice(("\\u{:04x}", "\\u{:04X}"))
        return "".join(form.format(unit) for unit in units)


def by_orjson(value: Any, _seed: int) -> str:
    try:
        return orjson.dumps(value).decode()
    except TypeError:  # lone surrogates, and integers beyond 64 bits
        return json.dumps(value)


def by_writer(**style: Any) -> Callable[[Any, int], str]:
    return lambda value, seed: Writer(seed, **style).write(value)


SPACES = " \t\r"
WRITERS: dict[str, Callable[[Any, int], str]] = {
    "orjson": by_orjson,
    "ascii": lambda value, _: json.dumps(value),
    "not ascii": by_writer(),
    "spaces": by_writer(spaces=SPACES),
    "escaped keys": by_writer(key_escapes=0.2),
    "escaped": by_writer(escapes=1.0, key_escapes=1.0),
    "some escaped": by_writer(escapes=0.3, key_escapes=0.05),
    "decoys": by_writer(decoys=0.4),
    "all at once": by_writer(spaces=SPACES, escapes=0.1, key_escapes=0.1, decoys=0.2),
}
"""Ways to write a value on one line."""


def as_array(messages: list[Any], writer: str, seed: int) -> bytes:
    return WRITERS[writer](messages, seed).encode()


def as_request(messages: list[Any], writer: str, seed: int) -> bytes:
    request = {"model": "m", "messages": messages, "tools": [{"name": "f", "x": [[{}], "y" * 300]}]}
    return WRITERS[writer](request, seed).encode()


def as_lines(messages: list[Any], writer: str, seed: int) -> bytes:
    lines = [WRITERS[writer](message, seed + number) for number, message in enumerate(messages)]
    return "".join(f"{line}\n" for line in lines).encode()


def as_indented(messages: list[Any], _writer: str, seed: int) -> bytes:
    return json.dumps({"messages": messages}, indent=seed % 4).encode()


def with_mark(messages: list[Any], writer: str, seed: int) -> bytes:
    wrap = (as_array, as_request, as_lines)[seed % 3]
    return MARK + wrap(messages, writer, seed)


FORMS: dict[str, Callable[[list[Any], str, int], bytes]] = {
    "array": as_array,
    "request": as_request,
    "lines": as_lines,
    "indented": as_indented,
    "mark": with_mark,
}
"""Ways to write a conversation, each by any of ``WRITERS``."""


def outcome(job: Callable[..., Any], *given: Any) -> Any:
    """Return a job's result, with the order of keys and the type of numbers, or its error's type, message and position."""
    try:
        return repr(job(*given))
    except Exception as error:  # noqa: BLE001  any difference at all is a bug
        return type(error), str(error), getattr(error, "position", None)


def body_kernels(body: bytes, summary: str, policy: CarryPolicy) -> dict[str, Kernel]:
    """Return every kernel that takes bytes and exists in both backends."""
    return {
        "carry": lambda kernels: kernels.carry(body, summary, policy),
        "dialogue": lambda kernels: kernels.dialogue(body),
        "tokens": lambda kernels: kernels.message_tokens(body, policy.encoding),
        "blocks": lambda kernels: kernels.extract_tool_blocks(body),
    }


def check_alone(rust: ModuleType, body: bytes, policy: CarryPolicy) -> None:
    """The jobs that exist in Rust alone give for bytes what they give for the messages that Python decodes."""
    tokens = policy.max_tokens
    total = (policy.max_chars, None) if tokens is None else (tokens, policy.encoding)

    def inspected() -> Any:
        messages, skipped = decode_messages(body)
        return replace(rust.inspect(messages), skipped_lines=skipped)

    def recounted() -> Any:
        messages, skipped = decode_messages(body)
        found = rust.recount(messages, (), "turn_id", 40, *total)
        return replace(found, report=replace(found.report, skipped_lines=skipped))

    assert outcome(rust.inspect, body) == outcome(inspected)
    assert outcome(rust.recount, body, [], "turn_id", 40, *total) == outcome(recounted)
    for is_repaired in (False, True):
        check_projected(rust, body, projection_like(policy, repair=is_repaired))


def projection_like(policy: CarryPolicy, *, repair: bool) -> ProjectPolicy:
    """Return a policy of ``project`` with the limits and rules of one of ``carry``."""
    shared: Any = {name: getattr(policy, name) for name in ResultOptions.__annotations__}
    return ProjectPolicy(
        **shared,
        repair=repair,
        max_all_results_chars=policy.max_chars,
        max_all_results_tokens=policy.max_tokens,
    )


BY_BYTES = {
    "stable_prefix_tokens": 0,
    "cache_break_tokens": 0,
    "written_tokens": 0,
    "read_tokens": 0,
    "unchanged_tokens": 0,
    "write_tokens_saved": 0,
    "read_tokens_saved": 0,
}
"""The estimates that are made from the bytes of a body, and from the texts of objects."""


def has_infinity(value: object) -> bool:
    """Return true if a number of a document is beyond all floats."""
    rest = [value]
    while rest:
        each = rest.pop()
        if isinstance(each, float) and math.isinf(each):
            return True
        rest += each.values() if isinstance(each, dict) else each if isinstance(each, list) else ()
    return False


def check_projected(rust: ModuleType, body: bytes, policy: ProjectPolicy) -> None:
    """A body is projected as the objects that Python decodes, or comes back with the reason."""
    found = rust.project_body(body, policy, None)
    if found.decisions is None:
        assert found.body is None
        assert found.report.untouched
        return
    if has_infinity(loads_any_depth(body)):
        return  # bytes keep 1e999, which is valid JSON; the infinity that Python decodes from it is none
    decoded = project_body(rust.project_imported, body, policy, None)
    assert (found.body is None) == (decoded.body is None)
    assert found.body is None or loads_any_depth(found.body) == loads_any_depth(decoded.body or b"")
    assert replace(found.report, **BY_BYTES) == replace(decoded.report, **BY_BYTES)
    assert found.decisions == decoded.decisions


def check_same(
    both: tuple[ModuleType, ModuleType],
    body: bytes,
    summary: str = "",
    policy: CarryPolicy = CarryPolicy(),
) -> None:
    """Rust gives for bytes what Python gives, and what it gives for the messages if it has a job alone."""
    python, rust = both
    for name, run in body_kernels(body, summary, policy).items():
        assert (name, outcome(run, rust)) == (name, outcome(run, python))
    check_alone(rust, body, policy)
