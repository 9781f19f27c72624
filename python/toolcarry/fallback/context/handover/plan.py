"""The last plan of the work: items with their states, by the structure of the call, whatever the tool is called."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

from toolcarry._input.objects import JsonObject
from toolcarry.fallback.context.fence import fence_mark
from toolcarry.fallback.context.handover.clean import without_keys
from toolcarry.fallback.context.handover.kinds import (
    ITEM_STATES,
    ITEM_TEXTS,
    PARTS_OF_PLAN,
    TABLE,
    first_text,
    items_of,
    words,
)
from toolcarry.fallback.context.handover.pieces import inert_line
from toolcarry.fallback.context.handover.steps import Step
from toolcarry.model.dedupe.rules import bare_name
from toolcarry.model.pairing.block import Entry
from toolcarry.model.text.sanitize import clean
from toolcarry.types.values import Rule

Mark = Literal["x", ">", " ", "-"]
HEADING: Final[str] = TABLE["headings"]["plan"]
_LONGEST_ITEM: Final = 300

_TASK_KEYS: Final = words("task_keys")
_MARKS: Final[dict[str, Mark]] = {
    **dict.fromkeys(words("done"), "x"),
    **dict.fromkeys(words("active"), ">"),
    **dict.fromkeys(words("dropped"), "-"),
}
_BOXES: Final[dict[str, Mark]] = {
    "[x]": "x", "[X]": "x", "[>]": ">", "[-]": ">", "[~]": ">", "[/]": ">", "[ ]": " ",
}  # fmt: skip
_CREATED: Final = "#"


class Item(NamedTuple):
    """An item of a plan: done (``x``), in work (``>``), dropped (``-``) or open."""

    mark: Mark
    text: str


class Plan(NamedTuple):
    """The last plan: its items, or its text; and the number of the call that wrote it last."""

    items: tuple[Item, ...]
    text: str
    number: int
    numbers: frozenset[int]
    """The numbers of all calls about plans, which a context shows by the last one."""

    def lines(self) -> list[str]:
        """Return a line for each item."""
        return [f"- [{item.mark}] {inert_line(item.text, _LONGEST_ITEM)}\n" for item in self.items]


def find_plan(steps: Sequence[Step]) -> Plan | None:
    """Return the last plan that a call wrote; ``None`` if there is none."""
    calls = [step for step in steps if step.kind == "plan" and step.state in ("said", "missing")]
    numbers = frozenset([step.number for step in calls])
    parts: dict[str, Item] = {}
    last = 0
    for step in calls:
        if bare_name(step.entry.tool_name) in PARTS_OF_PLAN and _add_part(step, parts):
            last = step.number
    for step in reversed(calls):
        if step.number <= last:
            break
        found = _plan_in(step.entry.given)
        if found is not None:
            return Plan(found[0], found[1], step.number, numbers)
    items = tuple([item for item in parts.values() if item.mark != "-"])
    return Plan(items, "", last, numbers) if items else None


def plan_section(found: Sequence[tuple[Entry, Rule]]) -> str:
    """Return the section of the last plan; empty if there is none. ``found`` are the calls about plans, oldest first."""
    plan = find_plan(
        [Step(entry, number, 0, rule) for number, (entry, rule) in enumerate(found, 1)]
    )
    if plan is None:
        return ""
    if plan.items:
        return "".join([HEADING, *plan.lines(), "\n"])
    text = clean(without_keys(plan.text)).strip("\n")
    mark = fence_mark(text)
    return f"{HEADING}{mark}text\n{text}\n{mark}\n\n"


def _plan_in(given: JsonObject) -> tuple[tuple[Item, ...], str] | None:
    """Return the items or the text of the plan in the arguments of a call."""
    items = items_of(given)
    if items:
        return tuple([Item(_mark_of(item), first_text(item, ITEM_TEXTS)) for item in items]), ""
    for value in given.values():
        if isinstance(value, str) and "[" in value:
            listed = _items_in(value)
            if listed:
                return listed, ""
    text = first_text(given, ("plan",))
    return ((), text) if text else None


def _mark_of(item: JsonObject) -> Mark:
    return _MARKS.get(first_text(item, ITEM_STATES).lower().replace(" ", "_"), " ")


def _items_in(text: str) -> tuple[Item, ...]:
    """Return the items of a list with boxes, as in ``- [x] done``."""
    found = []
    for each in text.split("\n"):
        line = each.strip().removeprefix("- ").removeprefix("* ")
        mark = _BOXES.get(line[:3])
        if mark is not None and line[3:].strip():
            found.append(Item(mark, line[3:].strip()))
    return tuple(found)


def item_name(given: JsonObject) -> str:
    """Return the name of the item that the arguments are about; empty if they have none."""
    return next((str(given[key]) for key in _TASK_KEYS if given.get(key) is not None), "")


def _add_part(step: Step, parts: dict[str, Item]) -> bool:
    """Add or change the item that a call is about; return true if it did."""
    given = step.entry.given
    name = item_name(given)
    if name:
        known = parts.get(name)
        text = first_text(given, ("subject", "title")) or (known.text if known else "")
        state = first_text(given, ITEM_STATES)
        mark = _mark_of(given) if state else (known.mark if known else " ")
        if not text:
            return False
        parts[name] = Item(mark, text)
        return True
    text = first_text(given, ("subject", "title", "description"))
    _, found, rest = step.text.partition(_CREATED)
    name = rest[: len(rest) - len(rest.lstrip("0123456789"))] if found else ""
    if not text or not name:
        return False
    parts[name] = Item(" ", text)
    return True
