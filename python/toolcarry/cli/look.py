"""``toolcarry count`` and ``resolve``: tokens, and whole results."""

from __future__ import annotations

from collections.abc import Sequence

from toolcarry import _backend, resolve
from toolcarry._input.document import decode_messages
from toolcarry._util.plural import counted
from toolcarry.api.survey import survey_context
from toolcarry.api.tokens import estimate_tokens
from toolcarry.cli.exit_codes import NOT_FOUND, FileError
from toolcarry.cli.io import Output, check_stdin, for_each
from toolcarry.cli.sources import expand
from toolcarry.cli.terminal import (
    Screen,
    label,
    one_line,
    skipped_note,
    unread_code,
    unread_note,
)
from toolcarry.errors import InputError


def count_files(names: Sequence[str], *, model: str | None, is_text: bool, is_json: bool) -> int:
    """Write the tokens of every file and return the exit code."""
    screen, out = Screen(), Output()
    found = list(names) if is_text else expand(names, screen)
    check_stdin(found)
    total = 0

    def count_one(name: str, data: bytes) -> int:
        nonlocal total
        if is_text:
            counted_text = estimate_tokens(data.decode("utf-8", "replace"), model=model or "gpt-4o")
            tokens, exact, used, code = counted_text.value, counted_text.exact, model or "gpt-4o", 0
        else:
            survey = survey_context(data, model=model)
            unread = _backend.kernels.unread(data)
            tokens, exact, used = survey.tokens, survey.exact, survey.model
            code = unread_code(unread, is_strict=False)
            notes = (unread_note(unread), skipped_note(decode_messages(data)[1]))
            for note in filter(None, notes):
                screen.say(f"{label(name)}: {note}")
        total += tokens
        if is_json:
            out.write_json({"file": name, "tokens": tokens, "exact": exact, "model": used})
        else:
            way = (
                "" if exact else f"  (estimated for {one_line(used)})" if used else "  (estimated)"
            )
            out.write(f"{tokens:>12,}  {label(name)}{way}\n".encode("utf-8", "replace"))
        return code

    code = for_each(found, count_one, screen, is_free=not out.is_terminal)
    if len(found) > 1 and not is_json:
        out.write(f"{total:>12,}  {counted(len(found), 'file')}\n".encode())
    return code


def resolve_in(name: str, reference: str, *, output: str | None) -> int:
    """Write the whole result that a marker's reference names, and return the exit code."""
    screen = Screen()

    def resolve_one(_: str, data: bytes) -> int:
        try:
            text = resolve(data, reference)
        except InputError as error:
            _backend.kernels.unread(data)  # a file that is no conversation is an error of its own
            raise FileError(one_line(str(error), 400), NOT_FOUND) from None
        out.write(text.encode("utf-8", "replace"))
        if out.is_terminal and not text.endswith("\n"):
            out.write(b"\n")
        return 0

    with Output(output, [name]) as out:
        return for_each([name], resolve_one, screen, is_free=not out.is_terminal)
