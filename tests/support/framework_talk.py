"""The talk that each framework writes with its own classes in ``tests/frameworks``, and the count of what was put in.

Two turns: three parallel calls (an answer, a failure, none), then a call whose result has an image, then the first call
again. Texts have letters beyond ASCII, and one beyond the first 65,536.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from importlib.metadata import version
from types import ModuleType
from typing import Any, NamedTuple

from toolcarry import CarryPolicy

ASKED, SAID, ASKED_AGAIN, DONE = (
    "Färbe den Zaun grün. 🎨",
    "Ich sehe nach.",
    "Und das Tor?",
    "Fertig — drei Meter.",
)
MEASURED, FAILED, SEEN, LONGER = "drei Meter", "der Eimer ist leer", "ein Tor, weiß", "fünf Meter"
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
"""A PNG of one pixel."""


class Call(NamedTuple):
    """A call of the talk; ``result`` is ``None`` for the one that nobody answered."""

    call_id: str
    name: str
    arguments: dict[str, Any]
    result: str | None
    has_failed: bool = False
    has_image: bool = False


FIRST = (
    Call("c1", "measure", {"what": "Zaun"}, MEASURED),
    Call("c2", "paint", {"colour": "grün", "coats": 2}, FAILED, has_failed=True),
    Call("c3", "wait", {"hours": 1}, None),
)
SECOND = (Call("c4", "look", {"at": "Tor"}, SEEN, has_image=True),)
THIRD = (Call("c5", "measure", {"what": "Tor"}, LONGER),)
CALLS = (*FIRST, *SECOND, *THIRD)
TURNS = ((ASKED, FIRST), (ASKED_AGAIN, SECOND), (None, THIRD))
"""The steps of the talk: what the user says before it, if anything, and the calls."""

COUNTED: list[tuple[str, str, str, int, int]] = []
"""The files that were counted right: package, version, file, calls, results."""


def answered(calls: Iterable[Call]) -> list[tuple[Call, str]]:
    """The calls of a step that have a result, each with its text."""
    return [(call, call.result) for call in calls if call.result is not None]


def check(
    api: ModuleType,
    package: str,
    file: str,
    given: Any,
    shape: str,
    *,
    calls: tuple[Call, ...] = CALLS,
    lost_failures: bool = False,
    own_ids: bool = True,
    said: tuple[str, ...] = (ASKED, ASKED_AGAIN),
    answers: tuple[str, ...] = (SAID, DONE),
) -> None:
    """Check that the calls and results in ``given`` are those of the talk, and that nothing is unread.

    ``lost_failures`` says that the producer writes no flag of a failure, ``own_ids`` that its ids are those of the talk.
    """
    results = answered(calls)
    if api.backend() == "rust":  # which has it alone
        found = api.inspect(given)
        assert found.shape == shape, found
        assert not found.unread, found.unread
        assert (found.calls, found.results) == (len(calls), len(results))
        assert found.errors == (0 if lost_failures else sum(call.has_failed for call in calls))
        assert (found.orphan_calls, found.orphan_results) == (len(calls) - len(results), 0)
        assert (found.duplicate_results, found.other_branch_blocks, found.side_chain_blocks) == (0, 0, 0)  # fmt: skip
    blocks = api.extract_tool_blocks(given)
    assert [block.tool_name for block in blocks] == [call.name for call in calls]
    if own_ids:
        assert [block.call_id for block in blocks] == [call.call_id for call in calls]
    context = api.carry(given, policy=CarryPolicy(max_chars=10**6)).text
    for block, call in zip(blocks, calls, strict=True):
        assert all(str(value) in context for value in call.arguments.values())
        if call.result is None:
            assert block.tool_result is None
        else:
            assert call.result in json.dumps(block.tool_result, ensure_ascii=False, default=str)
            assert call.result in context
    dialogue = api.dialogue(given)
    for speaker, texts in (("USER", said), ("ASSISTANT", answers)):
        turns = "\n".join(
            turn.partition(f"\n[/{speaker}]")[0] for turn in dialogue.split(f"[{speaker}]\n")[1:]
        )
        assert all(text in turns for text in texts), dialogue
    assert not any(result in dialogue for result in (FAILED, SEEN, LONGER)), dialogue
    row = (package, version(package), file, len(calls), len(results))
    if row not in COUNTED:
        COUNTED.append(row)
