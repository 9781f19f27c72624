"""``toolcarry carry``: write the context of each file and, with ``--explain``, the outcome of each block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from toolcarry import carry, inspect
from toolcarry.cli.exit_codes import FAILED, NOT_FOUND, USAGE, FileError
from toolcarry.cli.io import STDIN, Output, check_stdin, for_each, read
from toolcarry.cli.terminal import (
    Screen,
    label,
    report_counts,
    report_notes,
    strict_findings,
    unread_code,
    unread_note,
)
from toolcarry.types.policy import DEFAULT_CONTEXT_CHARS, CarryPolicy
from toolcarry.types.results import Carried
from toolcarry.types.unread import Unread
from toolcarry.types.values import Report


def carry_files(
    names: Sequence[str],
    *,
    policy: CarryPolicy,
    summary: str,
    output: str | None,
    is_explained: bool,
    is_json: bool,
    is_strict: bool,
) -> int:
    """Write the context of every file and return the exit code."""
    screen = Screen()
    inputs = [*names, *summary_file(summary)]
    check_stdin(inputs)
    text = read_summary(summary)
    with Output(output, inputs) as out:
        job = CarryJob(
            screen=screen,
            out=out,
            policy=policy,
            summary=text,
            is_explained=is_explained,
            is_json=is_json,
            is_strict=is_strict,
            has_many=len(names) > 1,
        )
        return for_each(names, job.carry_one, screen, is_free=not out.is_terminal)


@dataclass(frozen=True, slots=True)
class CarryJob:
    """The settings and outputs that every file of one command shares."""

    screen: Screen
    out: Output
    policy: CarryPolicy
    summary: str
    is_explained: bool
    is_json: bool
    is_strict: bool
    has_many: bool

    def carry_one(self, name: str, data: bytes) -> int:
        """Write the context of one file; return 1 if ``--strict`` finds something."""
        carried = carry(data, summary=self.summary, policy=self.policy, explain=self.is_explained)
        fates = carried.fates
        report = carried.report
        if self.is_json:
            line: dict[str, object] = {"file": name, "context": carried.text}
            line["report"] = report.to_dict()
            if self.is_explained:
                line["explain"] = [fate.to_dict() for fate in fates]
            self.out.write_json(line)
        else:
            if self.has_many:
                self.screen.say(f"==> {label(name)}: {report_counts(report)} <==")
            self._write_context(carried)
            if self.is_explained:
                from toolcarry.cli.tables import fate_table  # noqa: PLC0415 - imports rich

                self.screen.show([fate_table(fates)])
                self.screen.say(f"{label(name)}: {report_counts(report)}")
            for note in report_notes(report, is_strict=self.is_strict):
                self.screen.say(f"{label(name)}: {note}")
        if not self.is_strict:
            self._tell_unread(name, report.unread)
            return unread_code(report.unread, is_strict=False)
        return self._check(name, data, report)

    def _tell_unread(self, name: str, unread: Unread) -> None:
        note = unread_note(unread)
        if note:
            self.screen.say(f"{label(name)}: {note}")

    def _write_context(self, carried: Carried) -> None:
        """Write the context, and a line break if the limit has room for it, or for several files or a terminal."""
        text = carried.to_bytes()
        if not text:
            self.out.write(b"")  # the output replaces an older one
            return
        policy, tokens = self.policy, carried.report.tokens_after
        if tokens is None:
            limit = policy.max_chars
            has_room = len(carried.text) < (DEFAULT_CONTEXT_CHARS if limit is None else limit)
        else:
            limit = policy.tokens_of("max_tokens")
            has_room = tokens < (limit or 0)
        is_ended = has_room or self.has_many or self.out.is_terminal
        self.out.write(text + b"\n" if is_ended else text)

    def _check(self, name: str, data: bytes, report: Report) -> int:
        """Return 1 if a call has no result, a result has no call, a line was skipped, or a message was not read.

        The whole file counts, also the part that the context did not need.
        """
        calls, results, unread = report.orphan_calls, report.orphan_results, report.unread
        if not report.walked_all:
            survey = inspect(data)
            calls, results, unread = survey.orphan_calls, survey.orphan_results, survey.unread
        self._tell_unread(name, unread)
        found = strict_findings(calls, results, report.skipped_lines)
        if found:
            self.screen.say(f"{label(name)}: {found}")
        return FAILED if found else unread_code(unread, is_strict=True)


def summary_file(given: str) -> list[str]:
    """Return the file that ``--summary`` names, as a list that is empty if it names none."""
    return [given[1:]] if given.startswith("@") and not given.startswith("@@") else []


def read_summary(given: str) -> str:
    """Return the text of the summary: the argument itself, or the content of the file that it names."""
    if given.startswith("@@"):
        return given[1:]
    for name in summary_file(given):
        shown = f"--summary @{label(name)}" if name != STDIN else "--summary @-"
        try:
            return read(name).decode("utf-8-sig")
        except FileError as error:
            code = NOT_FOUND if error.code == NOT_FOUND else USAGE
            raise FileError(f"{shown}: {error}", code) from None
        except UnicodeDecodeError as error:
            raise FileError(f"{shown}: not UTF-8 at byte {error.start}", USAGE) from None
    return given
