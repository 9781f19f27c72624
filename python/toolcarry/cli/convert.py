"""``toolcarry convert``: write a conversation as the request of another provider."""

from __future__ import annotations

from typing import Final, cast

from toolcarry import convert
from toolcarry.api.convert import To
from toolcarry.cli.exit_codes import FAILED
from toolcarry.cli.io import Output, for_each
from toolcarry.cli.options import destination_named
from toolcarry.cli.request import counted_from_one, tell
from toolcarry.cli.terminal import Screen, label, one_line, unread_code, unread_note
from toolcarry.types.results import Loss
from toolcarry.types.shapes import TARGETS
from toolcarry.types.values import Mend

FINDINGS: Final = ("missing_result", "orphan_result", "duplicate_result", "skipped_lines")
"""The kinds of losses and corrections that make ``--strict`` fail."""
WIDEST: Final = 400
"""The maximum length of what is said about the rest that is not repaired."""


def convert_file(
    name: str, *, target: str, output: str | None, is_json: bool, is_strict: bool
) -> int:
    """Write the conversation of a file in the format ``target`` and return the exit code."""
    to = cast("To", destination_named("--destination", target, TARGETS))
    screen = Screen()

    def convert_one(name: str, data: bytes) -> int:
        converted = convert(data, to=to)
        request, rest = converted.to_dict(), converted.not_repaired
        changes: list[Loss | Mend] = [*converted.losses, *converted.mends]
        if is_json:
            record: dict[str, object] = {"file": name, "to": target, "request": request}
            record["losses"] = [loss.to_dict() for loss in converted.losses]
            record["mends"] = [mend.to_dict() for mend in converted.mends]
            record["not_repaired"] = rest
            record["unread"] = converted.unread.to_dict()
            out.write_json(record)
        else:
            out.write_json(request)
        findings = [change for change in changes if change.kind in FINDINGS] if is_strict else []
        lines = tell(findings if is_json else changes)
        if rest and (is_strict or not is_json):
            lines.append(f"not repaired: {one_line(counted_from_one(rest), WIDEST)}")
        for line in [*filter(None, [unread_note(converted.unread)]), *lines]:
            screen.say(f"{label(name)}: {line}")
        is_failed = bool(findings) or (is_strict and rest != "")
        return FAILED if is_failed else unread_code(converted.unread, is_strict=is_strict)

    with Output(output, [name]) as out:
        return for_each([name], convert_one, screen, is_free=not out.is_terminal)
