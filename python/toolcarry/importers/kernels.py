"""The kernels of a backend, with the importers in front of those that read messages.

A request of a known format costs one more call in Python. The importing modules are loaded on first use: they
load much of the model, and take several times as long as all of `import toolcarry`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from toolcarry._input.objects import JsonObject
from toolcarry.errors import InputError, NeedsImport
from toolcarry.types.policy import CarryPolicy, ProjectPolicy
from toolcarry.types.results import Inspection
from toolcarry.types.unread import Unread
from toolcarry.types.values import (
    CallFacts,
    CarriedBytes,
    Decisions,
    EncodingName,
    ProjectReport,
    RecountReport,
    Report,
    TextMessage,
    ToolBlock,
)

if TYPE_CHECKING:
    from types import ModuleType

    from toolcarry.importers.bodies import ImportedBody
    from toolcarry.importers.messages import Import
    from toolcarry.model.dedupe.rules import Rules
    from toolcarry.model.session_lines import LinePart

__all__ = ["ImportingKernels"]


def new_import(kept: str = "", *, is_restored: bool = True) -> Import:
    """Return an import for messages that belong together."""
    from toolcarry.importers.messages import Import  # noqa: PLC0415 - loaded on first use

    return Import(kept, is_restored=is_restored)


def import_body(
    body: bytes, given: Import, format_of: Callable[[Sequence[Any]], str] | None = None
) -> ImportedBody:
    """Return the messages of a body in a form that both backends read. ``given`` need not restore anything."""
    from toolcarry.importers import bodies  # noqa: PLC0415 - loaded on first use

    return bodies.import_body(body, given, format_of)


class ImportingKernels:
    """The kernels, with an import where one is needed, under the names of ``toolcarry.fallback.kernels``."""

    def __init__(self, kernels: ModuleType) -> None:
        self._kernels: Any = kernels
        own = vars(type(self))
        vars(self).update({name: each for name, each in vars(kernels).items() if name not in own})

    def carry(
        self, messages: Sequence[Any], summary: str, policy: CarryPolicy
    ) -> tuple[str, Report]:
        try:
            return self._kernels.carry(messages, summary, policy)
        except NeedsImport:
            importing = new_import()
            given = importing.messages(messages)
            text, report = self._kernels.carry(given, summary, policy)
            return text, replace(report, unread=importing.own(report.unread))

    def carry_body(self, body: bytes, summary: str, policy: CarryPolicy) -> CarriedBytes:
        try:
            return self._kernels.carry_body(body, summary, policy)
        except NeedsImport:
            importing = new_import(is_restored=False)
            given = import_body(body, importing)
            text, report = self._kernels.carry_body(given.body, summary, policy)
            unread = importing.own(report.unread)
            return text, replace(report, unread=unread, skipped_lines=given.skipped_lines)

    def carry_files(
        self, paths: Sequence[Path], summary: str, policy: CarryPolicy, threads: int
    ) -> list[CarriedBytes | InputError | OSError]:
        from toolcarry._input.sources import is_plain  # noqa: PLC0415 - loaded on first use

        are_plain = list(map(is_plain, paths))
        plain = [path for path, is_here in zip(paths, are_plain, strict=True) if is_here]
        carried = iter(self._kernels.carry_files(plain, summary, policy, threads))
        found = [next(carried) if is_here else NeedsImport() for is_here in are_plain]
        return [
            self._carry_file(path, each, summary, policy) if isinstance(each, NeedsImport) else each
            for path, each in zip(paths, found, strict=True)
        ]

    def _carry_file(
        self, path: Path, asked: NeedsImport, summary: str, policy: CarryPolicy
    ) -> CarriedBytes | InputError | OSError:
        from toolcarry._input.sources import read_source  # noqa: PLC0415 - loaded on first use
        from toolcarry.types.results import LoadedFile  # noqa: PLC0415 - loaded on first use

        try:
            body, remarks = read_source(path) if asked.body is None else LoadedFile(asked.body)
            text, report = self.carry_body(body, summary, policy)
            return text, replace(report, remarks=remarks) if remarks else report
        except (InputError, OSError) as error:
            return error

    def dialogue(self, messages: Sequence[Any]) -> str:
        try:
            return self._kernels.dialogue(messages)
        except NeedsImport:
            given = new_import().messages(messages)
            return self._kernels.dialogue(given)

    def dialogue_body(self, body: bytes) -> str:
        try:
            return self._kernels.dialogue_body(body)
        except NeedsImport:
            given = import_body(body, new_import(is_restored=False))
            return self._kernels.dialogue_body(given.body)

    def explain(
        self, messages: Sequence[Any], summary: str, policy: CarryPolicy
    ) -> list[tuple[int, str, str]]:
        try:
            return self._kernels.explain(messages, summary, policy)
        except NeedsImport:
            given = new_import().messages(messages)
            return self._kernels.explain(given, summary, policy)

    def extract_tool_blocks(self, messages: Sequence[Any]) -> list[ToolBlock]:
        try:
            return self._kernels.extract_tool_blocks(messages)
        except NeedsImport:
            given = new_import()
            return given.restored(self._kernels.extract_tool_blocks(given.messages(messages)))

    def extract_tool_blocks_body(self, body: bytes) -> list[ToolBlock]:
        try:
            return self._kernels.extract_tool_blocks_body(body)
        except NeedsImport:
            from toolcarry._input.document import open_body  # noqa: PLC0415 - loaded on first use

            return self.extract_tool_blocks(list(open_body(body).messages))

    def deduplicate_tools(self, blocks: Sequence[ToolBlock], rules: Rules) -> list[ToolBlock]:
        try:
            return self._kernels.deduplicate_tools(blocks, rules)
        except NeedsImport:
            given = new_import()
            return given.restored(self._kernels.deduplicate_tools(given.blocks(blocks), rules))

    def format_tool_context(
        self, blocks: Sequence[ToolBlock], summary: str, policy: CarryPolicy
    ) -> str:
        try:
            return self._kernels.format_tool_context(blocks, summary, policy)
        except NeedsImport:
            return self._kernels.format_tool_context(new_import().blocks(blocks), summary, policy)

    def inspect(self, messages: Sequence[Any]) -> Inspection:
        try:
            return self._kernels.inspect(messages)
        except NeedsImport:
            from toolcarry.importers.jobs import format_of  # noqa: PLC0415 - loaded on first use

            importing = new_import()
            survey = self._kernels.inspect(importing.messages(messages))
            shape = importing.shape(messages, format_of)
            return replace(survey, shape=shape, unread=importing.own(survey.unread))

    def inspect_body(self, body: bytes) -> Inspection:
        try:
            return self._kernels.inspect_body(body)
        except NeedsImport:
            from toolcarry.importers.jobs import format_of  # noqa: PLC0415 - loaded on first use

            importing = new_import(is_restored=False)
            given = import_body(body, importing, format_of)
            survey = self._kernels.inspect_body(given.body)
            unread, skipped_lines = importing.own(survey.unread), given.skipped_lines
            return replace(survey, shape=given.shape, unread=unread, skipped_lines=skipped_lines)

    def message_tokens(self, messages: Sequence[Any], encoding: EncodingName) -> list[int]:
        try:
            return self._kernels.message_tokens(messages, encoding)
        except NeedsImport:
            given = new_import().messages(messages)
            return self._kernels.message_tokens(given, encoding)

    def message_tokens_body(self, body: bytes, encoding: EncodingName) -> list[int]:
        try:
            return self._kernels.message_tokens_body(body, encoding)
        except NeedsImport:
            given = import_body(body, new_import(is_restored=False))
            return self._kernels.message_tokens_body(given.body, encoding)[: given.length]

    def project(
        self,
        messages: Sequence[Any],
        policy: ProjectPolicy,
        previous: Decisions | None,
        known: Sequence[CallFacts] | None = None,
    ) -> tuple[list[Any] | None, ProjectReport, Decisions]:
        try:
            return self._kernels.project(messages, policy, previous, known)
        except NeedsImport:
            from toolcarry.importers.projection import project  # noqa: PLC0415 - loaded on first use

            kernel = self._kernels.project_imported
            new, _, report, decisions = project(kernel, messages, policy, previous, known)
            return new, report, decisions

    def project_body(
        self, body: bytes, policy: ProjectPolicy, previous: Decisions | None
    ) -> tuple[bytes | None, ProjectReport, Decisions | None]:
        try:
            return self._kernels.project_body(body, policy, previous)
        except NeedsImport:
            from toolcarry.importers.projection import project_body  # noqa: PLC0415 - loaded on first use

            return project_body(self._kernels.project_imported, body, policy, previous)

    def read_lines(self, lines: list[bytes]) -> list[list[LinePart] | None]:
        try:
            return self._kernels.read_lines(lines)
        except NeedsImport:
            from toolcarry.importers.parts import read_line  # noqa: PLC0415 - loaded on first use

            return [
                read_line(self._kernels.read_lines, self._kernels.count_tokens, line)
                for line in lines
            ]

    def recount(
        self,
        messages: Sequence[Any],
        records: Sequence[JsonObject],
        turn_id: str,
        max_result_length: int,
        total: int | None,
        encoding: EncodingName | None,
    ) -> tuple[list[TextMessage], RecountReport]:
        try:
            return self._kernels.recount(
                messages, records, turn_id, max_result_length, total, encoding
            )
        except NeedsImport:
            importing = new_import(turn_id)
            given = importing.messages(messages)
            found, report = self._kernels.recount(
                given, records, turn_id, max_result_length, total, encoding
            )
            return found, replace(report, unread=importing.own(report.unread))

    def recount_body(
        self,
        body: bytes,
        turn_id: str,
        max_result_length: int,
        total: int | None,
        encoding: EncodingName | None,
    ) -> tuple[list[TextMessage], RecountReport]:
        try:
            return self._kernels.recount_body(body, turn_id, max_result_length, total, encoding)
        except NeedsImport:
            importing = new_import(turn_id, is_restored=False)
            given = import_body(body, importing)
            found, report = self._kernels.recount_body(
                given.body, turn_id, max_result_length, total, encoding
            )
            unread = importing.own(report.unread)
            return found, replace(report, unread=unread, skipped_lines=given.skipped_lines)

    def unread_body(self, body: bytes) -> Unread:
        try:
            return self._kernels.unread_body(body)
        except NeedsImport:
            importing = new_import(is_restored=False)
            given = import_body(body, importing)
            return importing.own(self._kernels.unread_body(given.body))
