"""``toolcarry convert``: write a conversation as the request of another provider."""

from __future__ import annotations

from collections.abc import Sequence

from toolcarry import convert
from toolcarry.cli.exit_codes import FAILED
from toolcarry.cli.io import Output, for_each, json_line
from toolcarry.cli.options import read_choice
from toolcarry.cli.terminal import Screen, label, one_line
from toolcarry.convert import KINDS, TARGETS, Loss, Target

FINDINGS = ("orphan_call", "orphan_result", "skipped_lines")
"""The kinds of losses that ``--strict`` complains of."""
MOST_SHOWN = 3
"""Of each kind of loss; ``--json`` has all."""


def convert_file(
    name: str, *, target: str, output: str | None, is_json: bool, is_strict: bool
) -> int:
    """Write the conversation of a file in the shape ``target``; the exit code."""
    to: Target = read_choice("--to", target, TARGETS)
    screen = Screen()

    def convert_one(name: str, data: bytes) -> int:
        converted = convert(data, to=to)
        request, losses = converted.to_dict(), converted.losses
        if is_json:
            line: dict[str, object] = {"file": name, "to": to, "request": request}
            line["losses"] = [loss.to_dict() for loss in losses]
            out.write(json_line(line))
        else:
            out.write(json_line(request))
        findings = [loss for loss in losses if loss.kind in FINDINGS] if is_strict else []
        for told in tell(findings if is_json else losses):
            screen.say(f"{label(name)}: {told}")
        return FAILED if findings else 0

    with Output(output, [name]) as out:
        return for_each([name], convert_one, screen, is_free=not out.is_terminal)


def tell(losses: Sequence[Loss]) -> list[str]:
    """A line for each kind of loss: what it is, and the first of its kind with their places, from 1."""
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
    """What was lost, and in which message or line."""
    detail = one_line(loss.detail)
    if loss.position is None:
        return detail
    return f"{loss.position + 1}{f' ({detail})' if detail else ''}"
