"""``toolcarry convert``: write a conversation as the request of another provider."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from toolcarry import convert
from toolcarry.api.convert import KINDS, Loss, Target
from toolcarry.cli.exit_codes import FAILED
from toolcarry.cli.io import Output, for_each
from toolcarry.cli.options import destination_named, shape_of
from toolcarry.cli.terminal import Screen, label, one_line, unread_code, unread_note

FINDINGS = ("orphan_call", "orphan_result", "skipped_lines")
"""The kinds of losses that make ``--strict`` fail."""
MOST_SHOWN = 3
"""The maximum number of losses of one kind that are listed; ``--json`` lists all."""


def convert_file(
    name: str, *, target: str, output: str | None, is_json: bool, is_strict: bool
) -> int:
    """Write the conversation of a file in the format ``target`` and return the exit code."""
    to = shape_of(destination_named("--destination", target, get_args(Target)))
    screen = Screen()

    def convert_one(name: str, data: bytes) -> int:
        converted = convert(data, to=to)
        request, losses = converted.to_dict(), converted.losses
        if is_json:
            record: dict[str, object] = {"file": name, "to": to, "request": request}
            record["losses"] = [loss.to_dict() for loss in losses]
            record["unread"] = converted.unread.to_dict()
            out.write_json(record)
        else:
            out.write_json(request)
        findings = [loss for loss in losses if loss.kind in FINDINGS] if is_strict else []
        note = unread_note(converted.unread)
        for line in [*filter(None, [note]), *tell(findings if is_json else losses)]:
            screen.say(f"{label(name)}: {line}")
        return FAILED if findings else unread_code(converted.unread, is_strict=is_strict)

    with Output(output, [name]) as out:
        return for_each([name], convert_one, screen, is_free=not out.is_terminal)


def tell(losses: Sequence[Loss]) -> list[str]:
    """Return a line for each kind of loss: its description and the places of the first ones, counted from 1."""
    by_kind: dict[str, list[Loss]] = {}
    for loss in losses:
        by_kind.setdefault(loss.kind, []).append(loss)
    lines: list[str] = []
    for kind, found in by_kind.items():
        shown = [place(loss) for loss in found[:MOST_SHOWN]]
        more = f"; {len(found) - MOST_SHOWN:,} more" if len(found) > MOST_SHOWN else ""
        lines.append(f"{KINDS[kind]}: {'; '.join(shown)}{more}")
    return lines


def place(loss: Loss) -> str:
    """Return the number of the message or line in which something was lost, with the detail."""
    detail = one_line(loss.detail)
    if loss.position is None:
        return detail
    return f"{loss.position + 1}{f' ({detail})' if detail else ''}"
