"""``toolcarry check``: print what the destination of a request would refuse."""

from __future__ import annotations

from typing import Final

from toolcarry.api.check import check
from toolcarry.cli.exit_codes import FAILED
from toolcarry.cli.io import Output, for_each
from toolcarry.cli.request import advice, as_request, counted_from_one, tell
from toolcarry.cli.terminal import Screen, label, one_line, unread_code, unread_note
from toolcarry.errors import InputError
from toolcarry.types.destinations import Destination
from toolcarry.types.results import Problem

REPLACED: Final = ("call_type", "refused_name", "renamed_id", "renamed_tool", "text_type")
"""The rules whose problems name what a repair writes instead."""


def check_file(name: str, *, destination: str | Destination | None, is_json: bool) -> int:
    """Write the problems of a request body and return the exit code: 1 if there are any."""
    screen = Screen()
    out = Output()

    def check_one(name: str, data: bytes) -> int:
        request = as_request(data, destination)
        try:
            problems = check(request.body, destination=destination)
        except InputError as error:
            raise InputError(f"{error}{advice(data)}", error.position) from None
        if is_json:
            found = [each.to_dict() for each in problems]
            out.write_json({"file": name, "problems": found, **request.to_dict()})
        else:
            for line in filter(None, [*tell(request.losses), unread_note(request.unread)]):
                screen.say(f"{label(name)}: {line}")
            for problem in problems:
                out.write(f"{line_of(problem)}\n".encode("utf-8", "replace"))
        return FAILED if problems else unread_code(request.unread, is_strict=False)

    return for_each([name], check_one, screen, is_free=not out.is_terminal)


def line_of(problem: Problem) -> str:
    """Return a line about a problem; messages are counted from 1."""
    place = "request" if problem.position is None else f"message {problem.position + 1:,}"
    call = f", call {one_line(problem.call_id)}" if problem.call_id else ""
    is_rest = problem.rule == "not_repaired"
    detail = one_line(counted_from_one(problem.detail) if is_rest else problem.detail)
    detail = f"becomes {detail}" if problem.rule in REPLACED else detail
    detail = f" ({detail})" if detail else ""
    return f"{place}{call}: {problem.text}{detail} [{problem.rule}]"
