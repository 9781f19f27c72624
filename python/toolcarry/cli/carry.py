"""``toolcarry carry``: files in, contexts out, and where asked for, why each holds what it holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from toolcarry import carry, explain, inspect
from toolcarry.cli.codes import FAILED, NOT_FOUND, USAGE, FileError
from toolcarry.cli.files import STDIN, check_stdin, for_each, read
from toolcarry.cli.notes import counts, findings, notes
from toolcarry.cli.output import Output, json_line
from toolcarry.cli.screen import Screen, label
from toolcarry.context import Carried
from toolcarry.policy import DEFAULT_CONTEXT_CHARS, Policy
from toolcarry.types import Report


def carry_files(
    names: Sequence[str],
    *,
    policy: Policy,
    summary: str,
    output: str | None,
    is_explained: bool,
    is_json: bool,
    is_strict: bool,
) -> int:
    """Write the context of every file; the exit code."""
    screen = Screen()
    inputs = [*names, *summary_file(summary)]
    check_stdin(inputs)
    text = read_summary(summary)
    with Output(output, inputs) as out:
        work = Work(screen, out, policy, text, is_explained, is_json, is_strict, len(names) > 1)
        return for_each(names, work.carry_one, screen, is_free=not out.is_terminal)


class Work:
    """What is done with each file."""

    def __init__(
        self,
        screen: Screen,
        out: Output,
        policy: Policy,
        summary: str,
        is_explained: bool,
        is_json: bool,
        is_strict: bool,
        has_many: bool,
    ) -> None:
        self._screen = screen
        self._out = out
        self._policy = policy
        self._summary = summary
        self._is_explained = is_explained
        self._is_json = is_json
        self._is_strict = is_strict
        self._has_many = has_many

    def carry_one(self, name: str, data: bytes) -> int:
        """Write the context of one file; 1 where ``--strict`` finds something."""
        carried = carry(data, summary=self._summary, policy=self._policy)
        fates = (
            explain(data, summary=self._summary, policy=self._policy) if self._is_explained else []
        )
        report = carried.report
        if self._is_json:
            line: dict[str, object] = {"file": name, "context": carried.text}
            line["report"] = report.to_dict()
            if self._is_explained:
                line["explain"] = [asdict(fate) for fate in fates]
            self._out.write(json_line(line))
        else:
            if self._has_many:
                self._screen.say(f"==> {label(name)}: {counts(report)} <==")
            self._write_context(carried)
            if self._is_explained:
                from toolcarry.cli.show import fate_table  # noqa: PLC0415 - slow

                self._screen.show([fate_table(fates)])
                self._screen.say(f"{label(name)}: {counts(report)}")
            for note in notes(report, is_strict=self._is_strict):
                self._screen.say(f"{label(name)}: {note}")
        return self._check(name, data, report) if self._is_strict else 0

    def _write_context(self, carried: Carried) -> None:
        """The context with a line break behind it, where that breaks no limit or someone is looking."""
        text = carried.to_bytes()
        if not text:
            return
        policy, tokens = self._policy, carried.report.tokens_after
        if tokens is None:
            limit = policy.max_tool_context_chars
            has_room = len(carried.text) < (DEFAULT_CONTEXT_CHARS if limit is None else limit)
        else:
            has_room = tokens < (policy.max_tool_context_tokens or 0)
        is_ended = has_room or self._has_many or self._out.is_terminal
        self._out.write(text + b"\n" if is_ended else text)

    def _check(self, name: str, data: bytes, report: Report) -> int:
        """1 where a call or a result stands alone, or a line was skipped; the whole file counts."""
        calls, results = report.orphan_calls, report.orphan_results
        if not report.walked_all:
            survey = inspect(data)
            calls, results = survey.orphan_calls, survey.orphan_results
        found = findings(calls, results, report.skipped_lines)
        if found:
            self._screen.say(f"{label(name)}: {found}")
        return FAILED if found else 0


def summary_file(given: str) -> list[str]:
    """The file that ``--summary`` names, if it names one."""
    return [given[1:]] if given.startswith("@") and not given.startswith("@@") else []


def read_summary(given: str) -> str:
    """The summary's text: as it was given, or what stands in the file."""
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
